"""`taskstate archive`: moves older sessions to the archive; `verify`, `restore` and `search` are words before the ids.

A task whose id is one of these words is named as `#verify` or by its file.
"""

from __future__ import annotations

import os
from functools import partial
from pathlib import Path

from taskstate.cli import hook_scope
from taskstate.cli.arguments import Parser, usage_error
from taskstate.cli.commands.archive_actions import VERBS
from taskstate.cli.invocation import Invocation, outcome_shape
from taskstate.model.names import own_file
from taskstate.storage import files, folders
from taskstate.typed import TYPE_CHECKING

if TYPE_CHECKING:
    import argparse

    from taskstate.archive.archiver import Summarizing
    from taskstate.workspace.change import Outcome


_NONE_OVER = "no task is over the limit"


def configure(parser: Parser) -> None:
    """Declare the arguments."""
    parser.usage = (
        "%(prog)s [ID ...] [--all] [--keep N] [--force] [--check [--fix]] [flags]\n"
        "       %(prog)s verify ID [ID ...]\n"
        "       %(prog)s restore ID [--all]\n"
        "       %(prog)s search ID TEXT"
    )
    parser.epilog = (
        "`verify` checks each archived session against its hash. `restore` moves the last batch (--all: all batches) "
        "back to the progress log. `search` finds a text in all sessions. Write `#verify` for a task with such an id."
    )
    parser.add_argument("ids", metavar="ID", nargs="*", help="tasks to archive (default: all tasks over the limit)")
    parser.add_argument(
        "--all", action="store_true", help="archive all tasks over the limit, as without an ID; restore: all batches"
    )
    parser.add_argument(
        "--keep", type=int, metavar="N", help="number of newest sessions to keep in the state file (default: 5)"
    )
    parser.add_argument("--force", action="store_true", help="archive even if the file is within the limit")
    parser.add_argument(
        "--check", action="store_true", help="archive nothing; exit with status 1 if a task is over the limit"
    )
    parser.add_argument("--summarizer", metavar="CMD", help="program that writes the summary ('': the built-in one)")
    parser.add_argument(
        "--fix",
        action="store_true",
        help="with --check: archive the tasks over the limit, and stage the changes of files that are staged",
    )
    parser.add_writing(run=run)


def run(invocation: Invocation) -> int:
    """Archive, check for tasks over the limit, or run the action that the first word names."""
    in_hook = invocation.args.check and hook_scope.is_commit_hook(invocation.any_workspace.root)
    if in_hook and not folders.is_folder(invocation.any_workspace.state_root):
        return invocation.print_result({"over": []}, _NONE_OVER)  # hooks may be shared by repositories without tasks
    # argparse cannot mix sub-commands with plain ids, so the first word decides.
    if invocation.args.ids and invocation.args.ids[0] in VERBS:
        return VERBS[invocation.args.ids[0]](invocation, *invocation.args.ids[1:])
    keep = invocation.workspace.config.size.keep_sessions if invocation.args.keep is None else invocation.args.keep
    for wrong, message, help_ in _clashes(invocation.args, keep):
        if wrong:
            raise usage_error(message, help=help_)
    return _check(invocation, keep) if invocation.args.check else _archive(invocation, keep)


def _clashes(args: argparse.Namespace, keep: int) -> tuple[tuple[object, str, str], ...]:
    """Return the invalid combinations of flags: whether each applies, the message, and the advice."""
    return (
        (keep < 1, f"--keep {keep}: at least one session stays in the state file", "give 1 or more"),
        (args.all and args.ids, "archive takes either --all or the tasks' ids", "leave one of them out"),
        (args.force and not (args.ids or args.all), "archive --force needs the tasks' ids, or --all", "name the tasks"),
        (args.expect_revision and len(args.ids) != 1, "--expect-revision is that of one task", "name that one alone"),
        (args.fix and not args.check, "archive --fix goes with --check", "add --check, or leave it out to archive"),
        (args.fix and args.dry_run, "--fix writes, and --dry-run does not", "leave one of them out"),
    )


def _archive(invocation: Invocation, keep: int) -> int:
    tasks = list(dict.fromkeys(invocation.task_id(task) for task in invocation.args.ids))
    outcomes = _archived(invocation, tasks or _tasks_to_archive(invocation, keep), keep)
    if len(tasks) == 1:
        return invocation.print_outcome(outcomes[0], "archived")
    data = [{**outcome_shape(each), "notes": list(each.notes), "diff": each.diff} for each in outcomes]
    return invocation.print_result(data, "\n".join(_line(invocation, outcome) for outcome in outcomes) or _NONE_OVER)


def _archived(invocation: Invocation, tasks: list[str], keep: int) -> list[Outcome]:
    """Archive all tasks or none: a dry run of several tasks finds first what prevents one of them."""
    from taskstate.archive.archiver import archive_sessions

    request, summarizing = invocation.request(), _summarizing(invocation)
    archive = partial(
        archive_sessions, invocation.workspace, keep=keep, force=invocation.args.force, summarizing=summarizing
    )
    if len(tasks) > 1 and not request.dry_run:
        for task in tasks:
            archive(task, request._replace(dry_run=True))
    outcomes = [archive(task, request) for task in tasks]
    for outcome in outcomes if len(tasks) > 1 or invocation.args.check else ():
        invocation.print_problems(outcome.warnings)
    return outcomes


def _summarizing(invocation: Invocation) -> Summarizing | None:
    """Return the program of the flag, if given, else None: that of the configuration, which a hook never runs."""
    from taskstate.archive.archiver import Summarizing

    args = invocation.args
    if args.summarizer is not None:
        return Summarizing(args.summarizer)
    if not (args.check and invocation.workspace.config.archive.summarizer):
        return None
    return Summarizing(
        notes=("the summarizer of the configuration is not run by --check: the built-in summary serves",)
    )


def _tasks_to_archive(invocation: Invocation, keep: int) -> list[str]:
    """Return the tasks over the limit, or with `--force` all that have more sessions than are kept."""
    from taskstate.archive.archiver import tasks_over_limit

    paths = invocation.workspace.state_files()
    tasks, unreadable = tasks_over_limit(invocation.workspace, paths, keep=keep, force=invocation.args.force)
    invocation.print_problems(unreadable)
    return tasks


def _line(invocation: Invocation, outcome: Outcome) -> str:
    return (
        outcome.diff if invocation.args.dry_run else "\n".join([outcome.path, *(f"  {note}" for note in outcome.notes)])
    )


def _check(invocation: Invocation, keep: int) -> int:
    from taskstate.archive.archiver import tasks_over_limit

    named = [_state_file(invocation, name) for name in invocation.args.ids]
    paths = named or hook_scope.in_commit(invocation.workspace, invocation.workspace.state_files())
    paths = [path for path in paths if not invocation.workspace.excludes(path)]
    over, unreadable = tasks_over_limit(invocation.workspace, paths, keep=keep)
    invocation.print_problems(unreadable)
    if invocation.args.fix:
        return _fix(invocation, over, keep, status=2 if unreadable else 0)
    text = "\n".join(f"task {task} is over the limit: run `taskstate archive {task}`" for task in over)
    status = 1 if over else 2 if unreadable else 0
    return invocation.print_result({"over": over}, text or _none_over(invocation, paths), status=status)


def _none_over(invocation: Invocation, paths: list[Path]) -> str:
    """Return the words for no task to archive: a file may be too large for other reasons than its sessions."""
    limit = invocation.workspace.config.size.max_kb * 1024
    large = [path for path in paths if (files.size(path) or 0) > limit]
    if not large:
        return _NONE_OVER
    return "\n".join(
        f"{path.name} is over the limit, and has no sessions to archive: `taskstate lint` names its largest parts"
        for path in large
    )


def _fix(invocation: Invocation, tasks: list[str], keep: int, *, status: int) -> int:
    """Archive the tasks and stage the changes, so that the commit contains what the hook would refuse it for."""
    from taskstate.archive.restage import require_staged, restage

    require_staged(invocation.workspace, tasks)
    outcomes = _archived(invocation, tasks, keep)
    staged = restage(invocation.workspace, tasks)
    data = {
        "archived": [{**outcome_shape(each), "notes": list(each.notes)} for each in outcomes],
        "staged": list(staged),
    }
    text = "\n".join([*(_line(invocation, outcome) for outcome in outcomes), *(f"staged {path}" for path in staged)])
    return invocation.print_result(data, text or _NONE_OVER, status=status)


def _state_file(invocation: Invocation, name: str) -> Path:
    """Return the state file that an argument names; a hook passes paths, also of files that are excluded."""
    path = Path(os.path.realpath(name))
    is_state_file = own_file(path.name) is not None and folders.is_file(path)
    return path if is_state_file else invocation.workspace.locate(invocation.task_id(name))
