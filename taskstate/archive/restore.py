"""Moves batches of a task's archive back into its Progress Log, with the summary that each one replaced.

The log is then, byte for byte, what it was before archiving. The state file is written before the archive is cut, so
that after a crash a session may be in both files but never in neither.
"""

from __future__ import annotations

from itertools import pairwise

from taskstate.archive.archiver import link_to, named_sessions
from taskstate.archive.summary import summarise
from taskstate.archive.verify import archive_text, examine
from taskstate.errors import TaskstateError
from taskstate.messages import first_of
from taskstate.model.archive_format import (
    ENTRY_LEVEL,
    entry_hash,
    find_batches,
    headings,
    original_layout,
    text_outside,
)
from taskstate.model.derived_values import is_too_large, shown_kb
from taskstate.model.progress_log import is_summary, session_number
from taskstate.model.task_state import read_state
from taskstate.storage import files, journal
from taskstate.storage.replaced_texts import ReplacedText
from taskstate.syntax.document import parse
from taskstate.syntax.edits import Edit, apply
from taskstate.syntax.spans import Span, size_in_bytes, with_newlines
from taskstate.syntax.yaml_edit import remove_key
from taskstate.typed import TYPE_CHECKING, NamedTuple
from taskstate.writing.change import Change
from taskstate.writing.writer import change

if TYPE_CHECKING:
    from collections.abc import Iterator

    from taskstate.model.archive_format import Batch
    from taskstate.model.task_state import TaskState
    from taskstate.workspace.workspace import Loaded, Workspace
    from taskstate.writing.change import Outcome, Request

_PATH = "archive_path"
_COMMAND = "archive restore"


class StateAndArchive(NamedTuple):
    """The texts of a state file and of its archive, and the sessions moved from the archive to the state file."""

    state: str
    archive: str
    numbers: tuple[int, ...] = ()


def restore(workspace: Workspace, task_id: str, request: Request, *, everything: bool = False) -> Outcome:
    """Move the last batch of a task's archive, or with `everything` all of them, back into the Progress Log.

    Raises:
        TaskstateError: the archive does not verify, or the sessions would not read in the log as they did.
    """

    def job(loaded: Loaded) -> Change:
        text = archive_text(workspace, loaded.state.id)
        path = workspace.relative(workspace.state_root / workspace.archive_path(loaded.state.id))
        verdict = examine(loaded.state, loaded.relative, text, path)
        fatal = [wrong for wrong in verdict.problems if wrong.fatal]
        if fatal:
            why = first_of([wrong.message for wrong in fatal], 1, last=", and ")
            what = f"{path} cannot be restored as it is: {why}"
            advice = f"`taskstate archive verify {loaded.state.id}` says what to do"
            raise TaskstateError(what, help=advice, code="archive-mismatch")
        if text is None or not verdict.batches:
            return Change(text=loaded.document.text, notes=(f"task {loaded.state.id} has no session in an archive",))
        steps = _steps(StateAndArchive(loaded.document.text, text), everything=everything)
        replaced = tuple(each for step in pairwise(steps) for each in _typed(loaded, *step, path))
        return _restoring_change(workspace, steps[-1], text, path)._replace(replaced=replaced)

    return change(workspace, task_id, job, request._replace(even_dropped=True))


def _restoring_change(workspace: Workspace, pair: StateAndArchive, before: str, path: str) -> Change:
    digest = files.digest(before.encode())
    operation = journal.Replace(path, digest, pair.archive.encode()) if pair.archive else journal.Delete(path, digest)
    state = pair.state if pair.archive else _without_path(pair.state)
    numbers = pair.numbers
    are = "is" if numbers[0] == numbers[-1] else "are"
    notes = [f"{named_sessions(numbers[0], numbers[-1])} {are} back in the progress log"]
    if not pair.archive:
        notes.append(f"{path} held nothing else and is gone")
    elif text_outside(pair.archive):
        notes.append(f"what somebody wrote into {path} stays there")
    if is_too_large(state, workspace.config.size):
        size = shown_kb(size_in_bytes(state))
        notes.append(f"the file is now {size}, over the limit: the next session archives again")
    return Change(text=state, after=(operation,), notes=tuple(notes))


def _typed(loaded: Loaded, before: StateAndArchive, after: StateAndArchive, path: str) -> Iterator[ReplacedText]:
    """Yield the summary that goes with a batch, where it is not as archiving wrote it."""
    summary = read_state(parse(before.state)).summary
    if summary:
        first = read_state(parse(after.state))
        again = [session for session in first.sessions if session.number <= summary.last]
        written = summarise(first, again, link_to(path, loaded.relative)) if again else ""
        stood = summary.section.span.of(before.state)
        if with_newlines(stood, "\n").strip() != written.strip():
            yield ReplacedText(loaded.relative, stood.encode(), _COMMAND)


def _without_path(text: str) -> str:
    """Return the state file without the key that names the deleted archive."""
    document = parse(text)
    node = document.front_matter.node
    return apply(text, remove_key(text, node, _PATH)) if node and node.get(_PATH) else text


def _steps(pair: StateAndArchive, *, everything: bool) -> list[StateAndArchive]:
    """Return both texts as they are, and after each batch that is moved back: the last one, or every one.

    Raises:
        TaskstateError: the sessions would not read in the log as they did.
    """
    steps = [pair, _without_last_batch(pair)]
    while everything and any(batch.trailer for batch in find_batches(steps[-1].archive)):
        steps.append(_without_last_batch(steps[-1]))
    _require_agreement(steps[-1])
    return steps


def _without_last_batch(pair: StateAndArchive) -> StateAndArchive:
    batch = next(batch for batch in reversed(find_batches(pair.archive)) if batch.trailer)
    own = Span(batch.start, batch.start + len(batch.text))
    before, behind = pair.archive[: own.start], pair.archive[own.end :]
    words = [span for span in text_outside(pair.archive) if own.start <= span.start < own.end]
    gap = "\r\n\r\n" if "\r\n" in pair.archive else "\n\n"
    if words:
        entries = batch.text.removesuffix(batch.trailer)
        for start, end in reversed(words):
            above, below = entries[: start - own.start], entries[end - own.start :]
            entries = above.rstrip("\r\n") + gap + below.lstrip("\r\n")
        batch = batch._replace(entries=entries.strip("\r\n"))
        before = gap.join([before.rstrip("\r\n"), *(span.of(pair.archive) for span in words)]) + gap[: len(gap) // 2]
    parts = _Parts.of(batch)
    state = _put_back(pair.state, parts)
    if behind.strip() and "\n" not in before:  # the title alone
        before, behind = before + gap, behind.lstrip("\r\n")
    rest = before + behind
    remaining = any(each.entries for each in find_batches(rest))
    return StateAndArchive(state, rest if remaining else "", (*parts.numbers, *pair.numbers))


class _Parts(NamedTuple):
    """The sessions of a batch as the state file had them, and the summary that it replaced, or ""."""

    summary: str
    sessions: tuple[str, ...]
    numbers: tuple[int, ...]
    offsets: tuple[int, ...]

    @classmethod
    def of(cls, batch: Batch) -> _Parts:
        """Return the parts of a batch."""
        entries, offsets = original_layout(batch.entries, batch.trailer)
        sections = [section for section in parse(entries).sections if section.level == ENTRY_LEVEL]
        numbers = [session_number(section.title) for section in sections]
        texts = [section.span.of(entries).replace("##", "###", 1) for section in sections]
        by_number = [*zip(numbers, texts, strict=True)]
        return cls(
            summary="".join(text for section, text in zip(sections, texts, strict=True) if is_summary(section.title)),
            sessions=tuple(text for number, text in by_number if number is not None),
            numbers=tuple(number for number in numbers if number is not None),
            offsets=offsets,
        )


def _put_back(text: str, parts: _Parts) -> str:
    """Return the state file with a batch in place of the summary that stands for it."""
    before = read_state(parse(text))
    if before.summary is None:
        raise _unsafe(before, "it has no Archived Summary in whose place the sessions would come")
    last = max(parts.numbers)
    if before.sessions and before.sessions[0].number <= last:
        what = f"task {before.id}: session {before.sessions[0].number} of the log would come after session {last}"
        raise TaskstateError(what, help="give the log's sessions higher numbers first", code="session-order")
    usual = (len(parts.summary),) * len(parts.sessions)
    for offsets in dict.fromkeys((parts.offsets, usual)):
        if len(offsets) == len(parts.sessions):
            after = _placed(before, parts, offsets)
            if _is_right(before, read_state(parse(after)), parts):
                return after
    raise _unsafe(before, "its sessions would not read the same in the log as it now is")


def _unsafe(state: TaskState, why: str) -> TaskstateError:
    advice = "run `taskstate lint` and fix what it finds first"
    return TaskstateError(f"task {state.id}'s archive cannot be restored safely: {why}", help=advice, code="unsafe")


def _placed(state: TaskState, parts: _Parts, offsets: tuple[int, ...]) -> str:
    text = state.document.text
    if state.summary is None:
        return text
    span = state.summary.section.span
    text = text[: span.start] + parts.summary + text[span.end :]
    positions = [span.start + offset for offset in offsets]
    if any(not 0 <= at <= len(text) for at in positions):
        return text
    return apply(text, [Edit(at, at, session) for at, session in zip(positions, parts.sessions, strict=True)])


def _is_right(before: TaskState, after: TaskState, parts: _Parts) -> bool:
    """Return whether the log holds exactly the sessions of the batch and its own, each with its text."""
    expected = [*zip(parts.numbers, map(entry_hash, parts.sessions), strict=True)]
    expected += [
        (session.number, entry_hash(session.section.span.of(before.document.text))) for session in before.sessions
    ]
    text = after.document.text
    actual = [(session.number, entry_hash(session.section.span.of(text))) for session in after.sessions]
    summary = after.summary.section.span.of(text) if after.summary else ""
    same_summary = entry_hash(summary) == entry_hash(parts.summary)
    return actual == expected and same_summary and len(after.problems) <= len(before.problems)


def _require_agreement(pair: StateAndArchive) -> None:
    """Check that the restored summary stands for what is left in the archive; after some merges it does not."""
    state = read_state(parse(pair.state))
    last_archived = max((number or 0 for number, _ in headings(pair.archive)), default=0)
    last_summarised = state.summary.last if state.summary else 0
    if last_archived != last_summarised and (last_archived or state.summary):
        what = f"task {state.id}: the summary that the last batch replaced does not cover the sessions before it"
        raise TaskstateError(
            what, help=f"restore every batch: `taskstate archive restore {state.id} --all`", code="archive-mismatch"
        )
