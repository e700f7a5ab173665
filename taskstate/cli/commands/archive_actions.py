"""`taskstate archive verify`, `restore` and `search`."""

from __future__ import annotations

from taskstate.cli.arguments import usage_error
from taskstate.cli.invocation import Invocation
from taskstate.messages import counted
from taskstate.typed import TYPE_CHECKING

if TYPE_CHECKING:
    from taskstate.archive.verify import ArchiveVerdict

_WRITING = ("dry_run", "expect_revision", "actor")


def run_verify(invocation: Invocation, *names: str) -> int:
    """Verify the archives of tasks."""
    from taskstate.archive.verify import verify

    _refuse_flags(invocation, "verify", *_WRITING, "all")
    if not names:
        raise usage_error("archive verify: ID is missing", help="name a task, or several")
    tasks = [invocation.task_id(name) for name in names]
    for task_id in tasks:
        invocation.report_damage(task_id)
    verdicts = [verify(invocation.workspace, task_id) for task_id in tasks]
    data = [_shape(verdict) for verdict in verdicts]
    text = "\n".join(_text(verdict) for verdict in verdicts)
    status = 1 if any(verdict.problems for verdict in verdicts) else 0
    return invocation.print_result(data[0] if len(data) == 1 else data, text, status=status)


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


def run_restore(invocation: Invocation, *names: str) -> int:
    """Restore the last batch of a task's archive to its log, or all batches with `--all`."""
    from taskstate.archive.restore import restore

    _refuse_flags(invocation, "restore")
    if len(names) != 1:
        message = "archive restore takes one task" if names else "archive restore: ID is missing"
        raise usage_error(message, help=f"`taskstate archive restore {names[0] if names else 'ID'}`")
    outcome = restore(
        invocation.workspace, invocation.task_id(names[0]), invocation.request(), everything=invocation.args.all
    )
    return invocation.print_outcome(outcome, "restored")


def run_search(invocation: Invocation, *words: str) -> int:
    """Search all sessions of a task, archived ones included."""
    from taskstate.tasks.sessions import search

    _refuse_flags(invocation, "search", *_WRITING, "all")
    name, *texts = words or ("",)
    text = " ".join(texts)
    if not name or not text.strip():
        message = f"archive search: {'TEXT' if name else 'ID'} is missing"
        raise usage_error(message, help=f"`taskstate archive search {name or 'ID'} TEXT`")
    hits = search(invocation.workspace, invocation.task_id(name), text)
    lines = [
        f"{each.number:>4}  {each.time or '?':16}  {'archived' if each.archived else '':8}  {each.line}"
        for each in hits
    ]
    return invocation.print_result([each._asdict() for each in hits], "\n".join(lines) or "no session says that")


def _refuse_flags(invocation: Invocation, verb: str, *more: str) -> None:
    """Refuse flags that have no effect on this action, since their user expects one."""
    for flag in ("keep", "force", "check", "fix", "summarizer", *more):
        if getattr(invocation.args, flag) not in (None, False):
            raise usage_error(f"archive {verb} does not take --{flag.replace('_', '-')}", help="leave it out")


VERBS = {"verify": run_verify, "restore": run_restore, "search": run_search}
