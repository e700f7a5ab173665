"""`taskstate archive`: moves older sessions into the archive; `verify`, `restore` and `search` come before the ids.

A task whose id is one of these words is named as `#verify` or by its file.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from taskstate.cli.commands.archive_actions import VERBS
from taskstate.cli.invocation import add_writing
from taskstate.errors import TaskstateError
from taskstate.model.names import own_file

if TYPE_CHECKING:
    import argparse

    from taskstate.cli.invocation import Door
    from taskstate.workspace.change import Outcome
    from taskstate.workspace.workspace import Workspace


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.usage = (
        "%(prog)s [ID ...] [--all] [--keep N] [--force] [--check [--fix]] [flags]\n"
        "       %(prog)s verify ID [ID ...]\n"
        "       %(prog)s restore ID [--all]\n"
        "       %(prog)s search ID TEXT"
    )
    parser.epilog = (
        "`verify` checks each archived session against its hash, `restore` takes the last batch (--all: every one) "
        "back into the progress log, `search` finds a text in all sessions. A task with such a name: `#verify`."
    )
    parser.add_argument("ids", metavar="ID", nargs="*", help="the tasks (default: every task that is over the limit)")
    parser.add_argument(
        "--all", action="store_true", help="every task that is over the limit, as without an ID; restore: every batch"
    )
    parser.add_argument(
        "--keep", type=int, metavar="N", help="how many of the newest sessions stay in full (default: 5)"
    )
    parser.add_argument("--force", action="store_true", help="archive also where the file is within the limit")
    parser.add_argument(
        "--check", action="store_true", help="archive nothing; exit with 1 if a task should be archived"
    )
    parser.add_argument(
        "--summarizer", metavar="CMD", help="a program that writes the summary ('': the built-in one; see the manual)"
    )
    parser.add_argument(
        "--fix",
        action="store_true",
        help="with --check: archive what is over the limit, and stage what that changed of files that are staged",
    )
    add_writing(parser)
    parser.set_defaults(run=run)


def run(door: Door) -> int:
    """Archive, check whether something should be archived, or do what the first word says."""
    if door.args.ids and door.args.ids[0] in VERBS:
        return VERBS[door.args.ids[0]](door, *door.args.ids[1:])
    keep = door.workspace.config.size.keep_sessions if door.args.keep is None else door.args.keep
    for wrong, what, help_ in _clashes(door.args, keep):
        if wrong:
            raise TaskstateError(what, help=help_, code="usage")
    return _check(door, keep) if door.args.check else _archive(door, keep)


def _clashes(args: argparse.Namespace, keep: int) -> tuple[tuple[object, str, str], ...]:
    """Return what cannot be asked for together: whether it was, what is wrong with it, and what to do."""
    return (
        (keep < 1, f"--keep {keep}: at least one session stays in the state file", "give 1 or more"),
        (args.all and args.ids, "archive takes either --all or the tasks' ids", "leave one of them out"),
        (args.force and not (args.ids or args.all), "archive --force needs the tasks' ids, or --all", "name the tasks"),
        (args.expect_revision and len(args.ids) != 1, "--expect-revision is that of one task", "name that one alone"),
        (args.fix and not args.check, "archive --fix goes with --check", "add --check, or leave it out to archive"),
        (args.fix and args.dry_run, "--fix writes, and --dry-run does not", "leave one of them out"),
    )


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
    from taskstate.archive.archiver import archive

    request, workspace = door.request(), _summarized(door)
    if len(tasks) > 1 and not request.dry_run:
        for task in tasks:
            archive(workspace, task, request._replace(dry_run=True), keep=keep, force=door.args.force)
    outcomes = [archive(workspace, task, request, keep=keep, force=door.args.force) for task in tasks]
    for outcome in outcomes if len(tasks) > 1 or door.args.check else ():
        door.complain(outcome.warnings)
    return outcomes


def _summarized(door: Door) -> Workspace:
    """Return the workspace with the summarizer that was given."""
    command, config = door.args.summarizer, door.workspace.config
    if command is None:
        return door.workspace
    return door.workspace._replace(config=config._replace(archive=config.archive._replace(summarizer=command)))


def _fitting(door: Door, keep: int) -> list[str]:
    """Return the tasks that are over the limit, or with `--force` all that have more sessions than are kept."""
    from taskstate.archive.archiver import tasks_over_limit

    paths = door.workspace.state_files()
    fitting, unreadable = tasks_over_limit(door.workspace, paths, keep=keep, force=door.args.force)
    door.complain(unreadable)
    return fitting


def _line(door: Door, outcome: Outcome) -> str:
    return outcome.diff if door.args.dry_run else "\n".join([outcome.path, *(f"  {note}" for note in outcome.notes)])


def _check(door: Door, keep: int) -> int:
    from taskstate.archive.archiver import tasks_over_limit

    paths = [_state_file(door, name) for name in door.args.ids] or door.workspace.state_files()
    paths = [path for path in paths if not door.workspace.excludes(path)]
    over, unreadable = tasks_over_limit(door.workspace, paths, keep=keep)
    door.complain(unreadable)
    if door.args.fix:
        return _fix(door, over, keep, status=2 if unreadable else 0)
    text = "\n".join(f"task {task} is over the limit: run `taskstate archive {task}`" for task in over)
    status = 1 if over else 2 if unreadable else 0
    return door.tell({"over": over}, text or "no task is over the limit", status=status)


def _fix(door: Door, tasks: list[str], keep: int, *, status: int) -> int:
    """Archive the tasks, and stage what changed: a commit then holds what it would have been refused for."""
    from taskstate.archive.restage import require_staged, restage

    require_staged(door.workspace, tasks)
    outcomes = _archived(door, tasks, keep)
    staged = restage(door.workspace, tasks)
    data = {
        "archived": [
            {"path": o.path, "revision": o.revision, "changed": o.changed, "notes": list(o.notes)} for o in outcomes
        ],
        "staged": list(staged),
    }
    text = "\n".join([*(_line(door, outcome) for outcome in outcomes), *(f"staged {path}" for path in staged)])
    return door.tell(data, text or "no task is over the limit", status=status)


def _state_file(door: Door, name: str) -> Path:
    """Return the state file that an argument names: a hook names the very file, also one that the tool leaves out."""
    path = Path(os.path.realpath(name))
    named = own_file(path.name) is not None and path.is_file()
    return path if named else door.workspace.locate(door.task_id(name))
