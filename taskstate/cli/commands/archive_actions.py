"""`taskstate archive verify`, `restore` and `search`: what else is done with an archive."""

from __future__ import annotations

from typing import TYPE_CHECKING

from taskstate.errors import TaskstateError

if TYPE_CHECKING:
    from taskstate.archive.verify import ArchiveVerdict
    from taskstate.cli.invocation import Invocation

_WRITING = ("dry_run", "expect_revision", "actor")


def run_verify(invocation: Invocation, *names: str) -> int:
    """Verify the archives of the tasks named."""
    from taskstate.archive.verify import verify

    _refuse_flags(invocation, "verify", *_WRITING, "all")
    if not names:
        raise TaskstateError("archive verify: ID is missing", help="name a task, or several", code="usage")
    verdicts = [verify(invocation.workspace, invocation.task_id(name)) for name in names]
    data = [_shape(verdict) for verdict in verdicts]
    text = "\n".join(_told(verdict) for verdict in verdicts)
    status = 1 if any(verdict.problems for verdict in verdicts) else 0
    return invocation.print_result(data[0] if len(data) == 1 else data, text, status=status)


def _shape(verdict: ArchiveVerdict) -> dict[str, object]:
    found = [
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
        "faults": found,
    }


def _told(verdict: ArchiveVerdict) -> str:
    if verdict.problems:
        return "\n".join(f"{each.path}:{each.line}: {each.message}; {each.help}" for each in verdict.problems)
    if not verdict.batches:
        return f"{verdict.path}: nothing is archived"
    return (
        f"{verdict.path}: {_counted(verdict.sessions, 'session')} in {_counted(verdict.batches, 'batch', 'es')}, whole"
    )


def _counted(number: int, word: str, plural: str = "s") -> str:
    return f"{number} {word}{'' if number == 1 else plural}"


def run_restore(invocation: Invocation, *names: str) -> int:
    """Take the last batch of a task's archive back into its log, or with `--all` every one."""
    from taskstate.archive.restore import restore

    _refuse_flags(invocation, "restore")
    if len(names) != 1:
        what = "archive restore takes one task" if names else "archive restore: ID is missing"
        raise TaskstateError(what, help="`taskstate archive restore ID [--all]`", code="usage")
    outcome = restore(
        invocation.workspace, invocation.task_id(names[0]), invocation.request(), everything=invocation.args.all
    )
    return invocation.print_outcome(outcome, f"{outcome.path}: restored")


def run_search(invocation: Invocation, *words: str) -> int:
    """Search all sessions of a task, archived or not."""
    from taskstate.tasks.sessions import search

    _refuse_flags(invocation, "search", *_WRITING, "all")
    name, *texts = words or ("",)
    text = " ".join(texts)
    if not name or not text.strip():
        what = f"archive search: {'TEXT' if name else 'ID'} is missing"
        raise TaskstateError(what, help="`taskstate archive search ID TEXT`", code="usage")
    found = search(invocation.workspace, invocation.task_id(name), text)
    lines = [
        f"{each.number:>4}  {each.time or '?':16}  {'archived' if each.archived else '':8}  {each.line}"
        for each in found
    ]
    return invocation.print_result([each._asdict() for each in found], "\n".join(lines) or "no session says that")


def _refuse_flags(invocation: Invocation, verb: str, *more: str) -> None:
    """Refuse a flag that means nothing here: whoever gives it expects something of it."""
    for flag in ("keep", "force", "check", "fix", "summarizer", *more):
        if getattr(invocation.args, flag) not in (None, False):
            what = f"archive {verb} does not take --{flag.replace('_', '-')}"
            raise TaskstateError(what, help="leave it out", code="usage")


VERBS = {"verify": run_verify, "restore": run_restore, "search": run_search}
