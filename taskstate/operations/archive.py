"""`archive`: moves older sessions to the archive; verifies it, moves sessions back, and searches them all."""

from __future__ import annotations

import os
from functools import partial
from pathlib import Path

from taskstate.messages import counted
from taskstate.model.names import own_file
from taskstate.operations.call import usage_error
from taskstate.operations.operation import TASK, Operation, option, positional, switch
from taskstate.operations.result import Result, changed, outcome_shape
from taskstate.storage import folders
from taskstate.typed import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from taskstate.archive.archiver import OverLimit, Summarizing
    from taskstate.archive.verify import ArchiveVerdict
    from taskstate.operations.call import Call
    from taskstate.operations.operation import TaskId
    from taskstate.writing.change import Outcome


_NONE_OVER = "no task is over the limit"


class Archive(NamedTuple):
    """The arguments of `archive`."""

    ids: tuple[TaskId, ...] = positional("ID", "tasks to archive (default: all tasks over the limit)")
    everything: bool = switch("archive all tasks over the limit, as without an ID", flag="all")
    keep: int | None = option("N", "number of newest sessions to keep in the state file (default: 5)")
    force: bool = switch("archive even if the file is within the limit")
    check: bool = switch("archive nothing; exit with status 1 if a task is over the limit")
    summarizer: str | None = option("CMD", "program that writes the summary ('': the built-in one)")
    fix: bool = switch("with --check: archive the tasks over the limit, and stage the changes of files that are staged")


class Verify(NamedTuple):
    """The arguments of `archive verify`."""

    ids: tuple[TaskId, ...] = positional("ID", "tasks whose archives to verify", is_required=True)


class Restore(NamedTuple):
    """The arguments of `archive restore`."""

    id: TaskId = TASK
    everything: bool = switch("all batches, not only the last one", flag="all")


class Search(NamedTuple):
    """The arguments of `archive search`."""

    id: TaskId = TASK
    text: tuple[str, ...] = positional("TEXT", "text to look for, within one line", is_required=True)


def archive(call: Call, asked: Archive) -> Result:
    """Move older sessions to the archive, or check for tasks over the limit.

    `archive verify` checks archived sessions against their hashes, `archive restore` moves them back to the progress
    log, and `archive search` finds a text in all sessions. Write `#verify` for a task with such an id.
    """
    from taskstate.workspace.hook_scope import is_commit_hook

    workspace = call.any_workspace
    if asked.check and not folders.is_folder(workspace.state_root) and is_commit_hook(workspace.root):
        return Result({"over": []}, _NONE_OVER)  # hooks may be shared by repositories without tasks
    keep = call.workspace.config.size.keep_sessions if asked.keep is None else asked.keep
    for wrong, message, help_ in _clashes(call, asked, keep):
        if wrong:
            raise usage_error(message, help=help_)
    return _check(call, asked, keep) if asked.check else _archive(call, asked, keep)


def _clashes(call: Call, asked: Archive, keep: int) -> tuple[tuple[object, str, str], ...]:
    """Return the invalid combinations of flags: whether each applies, the message, and the advice."""
    several, ids, everything = len(asked.ids) != 1, asked.ids, asked.everything
    return (
        (keep < 1, f"--keep {keep}: at least one session stays in the state file", "give 1 or more"),
        (everything and ids, "archive takes either --all or the tasks' ids", "leave one of them out"),
        (asked.force and not (ids or everything), "archive --force needs the tasks' ids, or --all", "name the tasks"),
        (call.conditions.expect and several, "--expect-revision is that of one task", "name that one alone"),
        (asked.fix and call.dry_run, "--fix writes, and --dry-run does not", "leave one of them out"),
    )


def _archive(call: Call, asked: Archive, keep: int) -> Result:
    tasks = list(dict.fromkeys(map(call.task_id, asked.ids)))
    over = None if tasks else _tasks_to_archive(call, asked, keep)
    outcomes = _archived(call, asked, over.ids if over else tasks, keep)
    if len(tasks) == 1:
        return changed(call, outcomes[0], "archived")
    data = [{**outcome_shape(each), "notes": list(each.notes), "diff": each.diff} for each in outcomes]
    lines = [*(_line(call, outcome) for outcome in outcomes), *(over.notes if over else ())]
    return Result(data, "\n".join(lines) or _NONE_OVER)


def _archived(call: Call, asked: Archive, tasks: list[str], keep: int) -> list[Outcome]:
    """Archive all tasks or none: a dry run of several tasks finds first what prevents one of them."""
    from taskstate.archive.archiver import archive_sessions

    request, summarizing = call.request(), _summarizing(call, asked)
    archive_one = partial(archive_sessions, call.workspace, keep=keep, force=asked.force, summarizing=summarizing)
    if len(tasks) > 1 and not request.dry_run:
        for task in call.workspace.counted("looking", tasks):
            archive_one(task, request._replace(dry_run=True))
    outcomes = [archive_one(task, request) for task in call.workspace.counted("archiving", tasks)]
    for outcome in outcomes if len(tasks) > 1 or asked.check else ():
        call.problems(outcome.warnings)
    return outcomes


def _summarizing(call: Call, asked: Archive) -> Summarizing | None:
    """Return the program of the flag, if given, else None: that of the configuration, which a hook never runs."""
    from taskstate.archive.archiver import Summarizing

    if asked.summarizer is not None:
        return Summarizing(asked.summarizer)
    if not (asked.check and call.workspace.config.archive.summarizer):
        return None
    return Summarizing(
        notes=("the summarizer of the configuration is not run by --check: the built-in summary was used",)
    )


def _tasks_to_archive(call: Call, asked: Archive, keep: int) -> OverLimit:
    """Return the tasks over the limit, or with `--force` all that have more sessions than are kept."""
    from taskstate.archive.archiver import tasks_over_limit

    found = tasks_over_limit(call.workspace, call.workspace.state_files(), keep=keep, force=asked.force)
    call.problems(found.errors)
    return found


def _line(call: Call, outcome: Outcome) -> str:
    return outcome.diff if call.dry_run else "\n".join([outcome.path, *(f"  {note}" for note in outcome.notes)])


def _check(call: Call, asked: Archive, keep: int) -> Result:
    from taskstate.archive.archiver import tasks_over_limit
    from taskstate.workspace.hook_scope import in_commit

    workspace = call.workspace
    named = [_state_file(call, name) for name in asked.ids]
    paths = [path for path in named or in_commit(workspace, workspace.state_files()) if not workspace.excludes(path)]
    over = tasks_over_limit(workspace, paths, keep=keep)
    call.problems(over.errors)
    if asked.fix:
        return _fix(call, asked, over, keep)._replace(status=2 if over.errors else 0)
    if over.errors and not over.ids:
        return Result({"over": over.ids}, "", status=2)
    lines = [f"task {task} is over the limit: run `taskstate archive {task}`" for task in over.ids]
    return Result({"over": over.ids}, "\n".join([*lines, *over.notes]) or _NONE_OVER, status=1 if over.ids else 0)


def _fix(call: Call, asked: Archive, over: OverLimit, keep: int) -> Result:
    """Archive the tasks and stage the changes, so that the commit contains what the hook would refuse it for."""
    from taskstate.archive.restage import require_staged, restage

    require_staged(call.workspace, over.ids)
    outcomes = _archived(call, asked, over.ids, keep)
    staged = restage(call.workspace, over.ids)
    data = {
        "archived": [{**outcome_shape(each), "notes": list(each.notes)} for each in outcomes],
        "staged": list(staged),
    }
    lines = [*(_line(call, outcome) for outcome in outcomes), *(f"staged {path}" for path in staged), *over.notes]
    return Result(data, "\n".join(lines) or _NONE_OVER)


def _state_file(call: Call, name: str) -> Path:
    """Return the state file that an argument names; a hook passes paths, also of files that are excluded."""
    path = Path(os.path.realpath(name))
    is_state_file = own_file(path.name) is not None and folders.is_file(path)
    return path if is_state_file else call.workspace.locate(call.task_id(name))


def verify(call: Call, asked: Verify) -> Result:
    """Check each archived session against its hash; exit with status 1 if one was altered or is missing."""
    from taskstate.recovery.archives import verified

    workspace = call.workspace
    verdicts = [verified(workspace, workspace.load(workspace.locate(call.task_id(each)))) for each in asked.ids]
    data = [_shape(verdict) for verdict in verdicts]
    text = "\n".join(_text(verdict) for verdict in verdicts)
    status = 1 if any(verdict.problems for verdict in verdicts) else 0
    return Result(data[0] if len(data) == 1 else data, text, status=status, is_in_rows=True)


def _shape(verdict: ArchiveVerdict) -> dict[str, object]:
    faults = [
        {
            "path": wrong.path,
            "line": wrong.line,
            "sessions": wrong.numbers,
            "message": wrong.message,
            "help": wrong.help,
        }
        for wrong in verdict.problems
    ]
    return {
        "path": verdict.path,
        "ok": not verdict.problems,
        "batches": verdict.batches,
        "sessions": verdict.sessions,
        "faults": faults,
    }


def _text(verdict: ArchiveVerdict) -> str:
    if verdict.problems:
        return "\n".join(f"{each.path}:{each.line}: {each.message}; {each.help}" for each in verdict.problems)
    if not verdict.batches:
        return f"{verdict.path}: nothing is archived"
    return f"{verdict.path}: {counted(verdict.sessions, 'session')} in {counted(verdict.batches, 'batch', 'es')}, whole"


def restore(call: Call, asked: Restore) -> Result:
    """Move the last batch of a task's archive back to the progress log, or all batches with `--all`."""
    from taskstate.archive.restore import restore as restore_batches

    outcome = restore_batches(call.workspace, call.task_id(asked.id), call.request(), everything=asked.everything)
    return changed(call, outcome, "restored")


def search(call: Call, asked: Search) -> Result:
    """Find a text in all sessions of a task, archived ones included, ignoring case."""
    from taskstate.tasks.sessions import search as search_sessions

    text = " ".join(asked.text)
    if not text.strip():
        raise usage_error("archive search: TEXT is missing", help=f"`taskstate archive search {asked.id} TEXT`")
    hits = search_sessions(call.workspace, call.task_id(asked.id), text)
    lines = [
        f"{each.number:>4}  {each.time or '?':16}  {'archived' if each.archived else '':8}  {each.line}"
        for each in hits
    ]
    return Result([each._asdict() for each in hits], "\n".join(lines) or "no session says that", is_in_rows=True)


OPERATIONS = (
    Operation(
        "archive",
        "move older sessions to the archive",
        archive,
        Archive,
        writes=True,
        together=(("--fix", "--check", "add --check, or leave it out to archive"),),
    ),
    Operation("archive verify", "check archived sessions against their hashes", verify, Verify),
    Operation("archive restore", "move archived sessions back to the progress log", restore, Restore, writes=True),
    Operation("archive search", "find a text in all sessions of a task", search, Search),
)
