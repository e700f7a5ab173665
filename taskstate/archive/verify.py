"""Verifies a task's archive: each entry against its hash, the order of numbers, and the summary against the entries."""

from __future__ import annotations

import shlex

from taskstate.archive.doubled import doubled, is_archived_as, take_out
from taskstate.archive.integrity import (
    MOVE_OUT,
    ArchiveContents,
    describe_runs,
    from_git,
    missing_ends,
    not_archived,
    not_summarised,
    runs_of,
)
from taskstate.messages import decoded
from taskstate.storage import files
from taskstate.storage.git.history import text_at
from taskstate.typed import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator

    from taskstate.model.task_state import TaskState
    from taskstate.workspace.workspace import Loaded, Workspace


class ArchiveProblem(NamedTuple):
    """A problem of an archive: file and line, the sessions concerned, what is wrong, and what to do.

    A `fatal` problem prevents restoring; a missing number that the log never had is not, and text of a person neither.
    """

    path: str
    line: int
    numbers: tuple[int, ...]
    message: str
    help: str
    fatal: bool = True


class ArchiveVerdict(NamedTuple):
    """The contents of a task's archive file and its problems; no batch and no session where there is no file."""

    path: str
    batches: int
    sessions: int
    problems: tuple[ArchiveProblem, ...]


def verify(workspace: Workspace, loaded: Loaded) -> ArchiveVerdict:
    """Check the archive of a task, whose state file is loaded, against its own hashes and the task's summary."""
    path = workspace.relative(workspace.state_root / workspace.archive_path(loaded.state.id))
    text = archive_text(workspace, loaded.state.id)
    verdict = examine(loaded.state, loaded.relative, text, path)
    if not any(each.fatal for each in verdict.problems) or not _would_mend(workspace, loaded.state, text or "", path):
        return verdict
    advice = f"`git restore --source HEAD -- {shlex.quote(path)}` restores the committed file"
    problems = tuple(each._replace(help=advice) if each.fatal else each for each in verdict.problems)
    return verdict._replace(problems=problems)


def _would_mend(workspace: Workspace, state: TaskState, text: str, path: str) -> bool:
    """Return whether the committed archive is another one, is whole, and lacks nothing that was archived since."""
    data = text_at(workspace.root, path, "HEAD") or b""
    committed = ArchiveContents(data.decode("utf-8", "replace"))
    closed = [number for each in ArchiveContents(text).batches if each.trailer is not None for number in each.numbers]
    has_all = max(committed.numbers, default=0) >= max(state.archived, *closed, 1)
    return committed.text != text and not committed.faults and has_all


def archive_text(workspace: Workspace, task_id: str) -> str | None:
    """Return the text of a task's archive file, or None where there is none.

    Raises:
        TaskstateError: it is not UTF-8.
    """
    path = workspace.state_root / workspace.archive_path(task_id)
    if files.size(path) is None:
        return None
    return decoded(files.read(path), workspace.relative(path), advice="restore it from git")


def examine(state: TaskState, state_path: str, text: str | None, path: str) -> ArchiveVerdict:
    """Check the text of an archive file, at `path`, against itself and the state file that it belongs to."""
    archive = ArchiveContents(text or "")
    advice = from_git(path)
    problems = [
        ArchiveProblem(path, _line(archive.text, fault.at), tuple(fault.numbers), fault.message, advice)
        for fault in archive.faults
    ]
    summary_line = _line(state.document.text, state.summary.section.span.start) if state.summary else 1
    problems += _in_both(state, state_path, archive)
    reported = {number for each in problems for number in each.numbers}
    for numbers, message in _disagreements(state, archive):
        if not reported.issuperset(numbers):
            problems.append(ArchiveProblem(state_path, summary_line, numbers, message, advice))
    problems += [
        ArchiveProblem(path, line, numbers, message, "restore the archive from git, if it ever had them", fatal=False)
        for line, numbers, message in _gaps(state, archive, reported)
    ]
    problems += [
        ArchiveProblem(path, _line(archive.text, each.at), (), each.message, MOVE_OUT, fatal=False)
        for each in archive.outside
    ]
    closed = [batch for batch in archive.batches if batch.numbers]
    return ArchiveVerdict(path, len(closed), len(archive.entries), tuple(problems))


def _line(text: str, at: int) -> int:
    return text.count("\n", 0, at) + 1


def _in_both(state: TaskState, state_path: str, archive: ArchiveContents) -> Iterator[ArchiveProblem]:
    """Yield a problem for the numbers that are in log and archive, and for each session that is there under two."""
    text, twice = state.document.text, doubled(state.sessions, archive)
    same = {each.session.number for each in twice}
    both = [each for each in state.sessions if each.number in archive.numbers]
    if both:
        numbers = tuple(sorted(each.number for each in both))
        message = f"{describe_runs(*runs_of(numbers))}: in the Progress Log and in the archive"
        another = "give what is another session in the log the next free number"
        help_ = take_out(state, archive) if same.issuperset(numbers) else another
        yield ArchiveProblem(state_path, _line(text, both[0].section.span.start), numbers, message, help_)
    for session, number in twice:
        if number != session.number:
            line, message = _line(text, session.section.span.start), is_archived_as(session.number, number)
            yield ArchiveProblem(state_path, line, (session.number,), message, take_out(state, archive))


def _disagreements(state: TaskState, archive: ArchiveContents) -> Iterator[tuple[tuple[int, ...], str]]:
    """Yield the sessions about which summary, log and archive disagree, with a message."""
    archived = set(archive.numbers)
    summary = state.summary
    if summary and summary.last:  # a summary without numbers may stand for any session
        missing = missing_ends(range(summary.first, summary.last + 1), archive.numbers)
        if any(missing):  # their ends alone: a summary may claim to stand for a billion sessions
            yield tuple(sorted({end for run in missing if run for end in (run[0], run[-1])})), not_archived(missing)
    first, last = (summary.first, summary.last or max(archived, default=0)) if summary else (0, 0)
    in_log = {session.number for session in state.sessions}
    alone = tuple(sorted(number for number in archived.difference(in_log) if not first <= number <= last))
    if alone:
        yield alone, not_summarised(alone)


def _gaps(state: TaskState, archive: ArchiveContents, reported: set[int]) -> Iterator[tuple[int, tuple[int, ...], str]]:
    """Yield numbers missing between those in the archive: line, numbers and message."""
    present = set(archive.numbers).union(session.number for session in state.sessions)
    before: int | None = None
    for batch in archive.batches:
        for entry in batch.entries:
            missing = () if before is None else tuple(range(before + 1, entry.number))
            if missing and not reported.union(present).intersection(missing):
                message = (
                    f"{describe_runs(*runs_of(missing))} missing between session {before} and session {entry.number}"
                )
                yield _line(archive.text, entry.start), missing, message
            before = entry.number
