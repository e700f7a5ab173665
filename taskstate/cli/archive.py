"""`taskstate archive`: moves older sessions into the archive."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from taskstate.cli.door import add_writing
from taskstate.errors import TaskstateError
from taskstate.kinds import own_file

if TYPE_CHECKING:
    import argparse

    from taskstate.cli.door import Door
    from taskstate.writing import Outcome


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("ids", metavar="ID", nargs="*", help="the tasks (default: every task that is over the limit)")
    parser.add_argument("--all", action="store_true", help="every task that is over the limit, as without an ID")
    parser.add_argument(
        "--keep", type=int, metavar="N", help="how many of the newest sessions stay in full (default: 5)"
    )
    parser.add_argument("--force", action="store_true", help="archive also where the file is within the limit")
    parser.add_argument(
        "--check", action="store_true", help="archive nothing; exit with 1 if a task should be archived"
    )
    add_writing(parser)
    parser.set_defaults(run=run)


def run(door: Door) -> int:
    """Archive, or check whether something should be archived."""
    keep = door.workspace.config.size.keep_sessions if door.args.keep is None else door.args.keep
    if keep < 1:
        raise TaskstateError(
            f"--keep {keep}: at least one session stays in the state file", help="give 1 or more", code="usage"
        )
    if door.args.all and door.args.ids:
        raise TaskstateError("archive takes either --all or the tasks' ids", help="leave one of them out", code="usage")
    if door.args.force and not (door.args.ids or door.args.all):
        raise TaskstateError("archive --force needs the tasks' ids, or --all", help="name the tasks", code="usage")
    if door.args.expect_revision and len(door.args.ids) != 1:
        raise TaskstateError("--expect-revision is that of one task", help="name that one alone", code="usage")
    return _check(door, keep) if door.args.check else _archive(door, keep)


def _archive(door: Door, keep: int) -> int:
    named = list(dict.fromkeys(door.task_id(task) for task in door.args.ids))
    outcomes = _archived(door, named or _fitting(door, keep), keep)
    if len(named) == 1:
        return door.done(outcomes[0], f"{outcomes[0].path}: archived")
    data = [
        {"path": o.path, "revision": o.revision, "changed": o.changed, "notes": list(o.notes), "diff": o.diff}
        for o in outcomes
    ]
    return door.tell(data, "\n".join(_line(door, outcome) for outcome in outcomes) or "no task is over the limit")


def _archived(door: Door, tasks: list[str], keep: int) -> list[Outcome]:
    """Archive the tasks, all of them or none: what keeps one of several from it is found in a dry run first."""
    from taskstate.archive import archive

    request = door.request()
    if len(tasks) > 1 and not request.dry_run:
        for task in tasks:
            archive(door.workspace, task, request._replace(dry_run=True), keep=keep, force=door.args.force)
    return [archive(door.workspace, task, request, keep=keep, force=door.args.force) for task in tasks]


def _fitting(door: Door, keep: int) -> list[str]:
    """Return the tasks that are over the limit, or with `--force` all that have more sessions than are kept."""
    from taskstate.archive import tasks_over_limit

    paths = door.workspace.state_files()
    fitting, unreadable = tasks_over_limit(door.workspace, paths, keep=keep, force=door.args.force)
    door.complain(unreadable)
    return fitting


def _line(door: Door, outcome: Outcome) -> str:
    return outcome.diff if door.args.dry_run else "\n".join([outcome.path, *(f"  {note}" for note in outcome.notes)])


def _check(door: Door, keep: int) -> int:
    from taskstate.archive import tasks_over_limit

    paths = [_state_file(door, name) for name in door.args.ids] or door.workspace.state_files()
    paths = [path for path in paths if not door.workspace.excludes(path)]
    over, unreadable = tasks_over_limit(door.workspace, paths, keep=keep)
    door.complain(unreadable)
    text = "\n".join(f"task {task} is over the limit: run `taskstate archive {task}`" for task in over)
    status = 1 if over else 2 if unreadable else 0
    return door.tell({"over": over}, text or "no task is over the limit", status=status)


def _state_file(door: Door, name: str) -> Path:
    """Return the state file that an argument names: a hook names the very file, also one that the tool leaves out."""
    path = Path(os.path.realpath(name))
    named = own_file(path.name) is not None and path.is_file()
    return path if named else door.workspace.locate(door.task_id(name))
