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

    from taskstate.cli.invocation import Invocation
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


def run(invocation: Invocation) -> int:
    """Archive, check whether something should be archived, or do what the first word says."""
    if invocation.args.ids and invocation.args.ids[0] in VERBS:
        return VERBS[invocation.args.ids[0]](invocation, *invocation.args.ids[1:])
    keep = invocation.workspace.config.size.keep_sessions if invocation.args.keep is None else invocation.args.keep
    for wrong, what, help_ in _clashes(invocation.args, keep):
        if wrong:
            raise TaskstateError(what, help=help_, code="usage")
    return _check(invocation, keep) if invocation.args.check else _archive(invocation, keep)


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


def _archive(invocation: Invocation, keep: int) -> int:
    named = list(dict.fromkeys(invocation.task_id(task) for task in invocation.args.ids))
    outcomes = _archived(invocation, named or _fitting(invocation, keep), keep)
    if len(named) == 1:
        return invocation.print_outcome(outcomes[0], f"{outcomes[0].path}: archived")
    data = [
        {"path": o.path, "revision": o.revision, "changed": o.changed, "notes": list(o.notes), "diff": o.diff}
        for o in outcomes
    ]
    return invocation.print_result(
        data, "\n".join(_line(invocation, outcome) for outcome in outcomes) or "no task is over the limit"
    )


def _archived(invocation: Invocation, tasks: list[str], keep: int) -> list[Outcome]:
    """Archive the tasks, all of them or none: what keeps one of several from it is found in a dry run first."""
    from taskstate.archive.archiver import archive_sessions

    request, workspace = invocation.request(), _summarized(invocation)
    if len(tasks) > 1 and not request.dry_run:
        for task in tasks:
            archive_sessions(workspace, task, request._replace(dry_run=True), keep=keep, force=invocation.args.force)
    outcomes = [archive_sessions(workspace, task, request, keep=keep, force=invocation.args.force) for task in tasks]
    for outcome in outcomes if len(tasks) > 1 or invocation.args.check else ():
        invocation.print_problems(outcome.warnings)
    return outcomes


def _summarized(invocation: Invocation) -> Workspace:
    """Return the workspace with the summarizer that was given."""
    command, config = invocation.args.summarizer, invocation.workspace.config
    if command is None:
        return invocation.workspace
    return invocation.workspace._replace(config=config._replace(archive=config.archive._replace(summarizer=command)))


def _fitting(invocation: Invocation, keep: int) -> list[str]:
    """Return the tasks that are over the limit, or with `--force` all that have more sessions than are kept."""
    from taskstate.archive.archiver import tasks_over_limit

    paths = invocation.workspace.state_files()
    fitting, unreadable = tasks_over_limit(invocation.workspace, paths, keep=keep, force=invocation.args.force)
    invocation.print_problems(unreadable)
    return fitting


def _line(invocation: Invocation, outcome: Outcome) -> str:
    return (
        outcome.diff if invocation.args.dry_run else "\n".join([outcome.path, *(f"  {note}" for note in outcome.notes)])
    )


def _check(invocation: Invocation, keep: int) -> int:
    from taskstate.archive.archiver import tasks_over_limit

    paths = [_state_file(invocation, name) for name in invocation.args.ids] or invocation.workspace.state_files()
    paths = [path for path in paths if not invocation.workspace.excludes(path)]
    over, unreadable = tasks_over_limit(invocation.workspace, paths, keep=keep)
    invocation.print_problems(unreadable)
    if invocation.args.fix:
        return _fix(invocation, over, keep, status=2 if unreadable else 0)
    text = "\n".join(f"task {task} is over the limit: run `taskstate archive {task}`" for task in over)
    status = 1 if over else 2 if unreadable else 0
    return invocation.print_result({"over": over}, text or "no task is over the limit", status=status)


def _fix(invocation: Invocation, tasks: list[str], keep: int, *, status: int) -> int:
    """Archive the tasks, and stage what changed: a commit then holds what it would have been refused for."""
    from taskstate.archive.restage import require_staged, restage

    require_staged(invocation.workspace, tasks)
    outcomes = _archived(invocation, tasks, keep)
    staged = restage(invocation.workspace, tasks)
    data = {
        "archived": [
            {"path": o.path, "revision": o.revision, "changed": o.changed, "notes": list(o.notes)} for o in outcomes
        ],
        "staged": list(staged),
    }
    text = "\n".join([*(_line(invocation, outcome) for outcome in outcomes), *(f"staged {path}" for path in staged)])
    return invocation.print_result(data, text or "no task is over the limit", status=status)


def _state_file(invocation: Invocation, name: str) -> Path:
    """Return the state file that an argument names: a hook names the very file, also one that the tool leaves out."""
    path = Path(os.path.realpath(name))
    named = own_file(path.name) is not None and path.is_file()
    return path if named else invocation.workspace.locate(invocation.task_id(name))
