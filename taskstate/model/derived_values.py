"""Computes the values that follow from the rest of a state file: session counts, overall progress, size and tokens.

Every write updates them, and the linter reports wrong ones. Only the state file's text is used: the number of archived
sessions is taken from the Archived Summary, not from the archive file.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right

from taskstate.model.task_state import KB, SECTION_LEVEL, read_state
from taskstate.syntax.edits import Edit, apply
from taskstate.syntax.spans import size_in_bytes
from taskstate.typed import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from taskstate.model.config import Size
    from taskstate.model.task_state import Checklist, TaskState
    from taskstate.syntax.document import Document
    from taskstate.syntax.nodes import Node


BYTES_A_TOKEN = 4
_MAX_PARTS = 3  # listed of a file that is too large


def is_over_limit(size: int, limits: Size) -> bool:
    """Return whether a file of `size` bytes is larger than the configuration allows."""
    return bool(exceeded(size, kb=limits.max_kb, tokens=limits.max_tokens))


def is_too_large(text: str, limits: Size) -> bool:
    """Return whether a state file's text is larger than the configuration allows."""
    return is_over_limit(size_in_bytes(text), limits)


def exceeded(size: int, *, kb: int, tokens: int) -> str:
    """Return in words which limit a file of `size` bytes exceeds, or "" where it is within; 0 tokens means no limit."""
    if size > kb * KB:
        return f"{shown_kb(size)}, and the limit is {kb} KB"
    if 0 < tokens * BYTES_A_TOKEN < size:
        return f"about {-(-size // BYTES_A_TOKEN):,} tokens, and the limit is {tokens:,}"
    return ""


def shown_kb(size: int) -> str:
    """Return a number of bytes in KB for a message, rounded up as everywhere."""
    return f"{-(-size // KB)} KB"


def largest_parts(state: TaskState) -> str:
    """Return in words the largest parts of a file: sections, and each session of the Progress Log by itself."""
    parts = sorted(_parts(state), reverse=True)[:_MAX_PARTS]
    return ", ".join(f"{name} ({shown_kb(size)})" for size, name in parts)


def how_to_shorten(state: TaskState, shown_id: str, *, forced: bool = False) -> str:
    """Return what makes a large file smaller that has no more sessions than are kept; `forced`: it is within limits."""
    shorter = "move long output into files and link them; a task this large may be several tasks"
    if len(state.sessions) > 1:
        command = f"taskstate archive {shown_id}{' --force' if forced else ''} --keep 1"
        return f"`{command}` leaves only the newest session here; if that is not enough, {shorter}"
    return shorter


def _parts(state: TaskState) -> Iterator[tuple[int, str]]:
    document, text = state.document, state.document.text
    sections = [section for section in document.sections if section.level == SECTION_LEVEL]
    begin = document.front_matter.content.end
    yield size_in_bytes(document.front_matter.content.of(text)), "the front matter"
    yield size_in_bytes(text[begin : sections[0].span.start if sections else len(text)]), "the text above the sections"
    starts = [session.span.start for session in state.sessions]
    for section in sections:
        first, stop = bisect_right(starts, section.span.start), bisect_left(starts, section.span.end)
        inside = state.sessions[first:stop]
        rest = size_in_bytes(section.span.of(text)) - sum(size_in_bytes(session.entry) for session in inside)
        yield rest, f"{section.title!r}"
    for session in state.sessions:
        yield size_in_bytes(session.entry), f"session {session.number}"


COUNTS = "sessions"
SIZE = "file_size_kb"
PROGRESS = "overall_progress"

_LOG = "Progress Log"


class SessionCounts(NamedTuple):
    """Number of sessions: all, those in the archive, those in the Progress Log."""

    total: int
    archived: int
    recent: int


def session_counts(state: TaskState) -> SessionCounts:
    """Return the session counts, from the Archived Summary and the Progress Log."""
    summary = state.summary
    archived = summary.last - summary.first + 1 if summary and 0 < summary.first <= summary.last else 0
    return SessionCounts(total=archived + len(state.sessions), archived=archived, recent=len(state.sessions))


def size_kb(text: str) -> int:
    """Return the size of a text in KB of 1,024 bytes, rounded up, line ends counted as LF."""
    return -(-size_in_bytes(text) // KB)


def overall_progress(checklist: Checklist) -> str:
    """Return the percentage of features that pass, rounded down; features moved to subtasks do not count."""
    counted = len(checklist.counted)
    return f"{100 * checklist.passing // counted}%" if counted else "0%"


def derived_edits(document: Document, more: Iterable[Edit] = (), state: TaskState | None = None) -> tuple[Edit, ...]:
    """Return the edits that update all derived values of a file, and add those that its front matter lacks.

    `more` are edits made in the same step: they are returned too, and counted in the size. `state` spares reading the
    document a second time.

    Raises:
        CannotEdit: the form of the front matter or of the checklist does not allow a safe change.
    """
    state = state or read_state(document)
    return front_matter_edits(document, state, (*more, *progress_edits(document, state)))


def front_matter_edits(document: Document, state: TaskState, more: tuple[Edit, ...] = ()) -> tuple[Edit, ...]:
    """Return the edits that update the derived values of the front matter, and `more` as `derived_edits` does.

    Of the document only the front matter is read: `state` may be that of an earlier text with the same body.

    Raises:
        CannotEdit: the form of the front matter does not allow a safe change.
    """
    root = document.front_matter.node
    if root is None:
        return more
    edits = (*more, *_count_edits(document, state, root)) if state.section(_LOG) else more
    return _with_size(document, root, edits)


def fix_edits(document: Document, state: TaskState, *values: str, more: Iterable[Edit] = ()) -> tuple[Edit, ...]:
    """Return the edits that update the named derived values of a state file, and its size where it has that key.

    `more` is as for `derived_edits`.

    Raises:
        CannotEdit: the form of the front matter or of the checklist does not allow a safe change.
    """
    root = document.front_matter.node
    edits = (*more, *(progress_edits(document, state) if PROGRESS in values else ()))
    if root is None:
        return edits
    if COUNTS in values:
        edits = (*edits, *_count_edits(document, state, root))
    return _with_size(document, root, edits) if root.entry(SIZE) else edits


def progress_edits(document: Document, state: TaskState) -> tuple[Edit, ...]:
    """Return the edits that update the overall progress in the checklist.

    Raises:
        CannotEdit: the form of the checklist does not allow a safe change.
    """
    checklist = state.checklist
    values = checklist.root.plain if checklist and checklist.root.kind == "mapping" else {}
    entries = values.get("features")
    if checklist is None or not isinstance(entries, list) or len(entries) != len(checklist.features):
        return ()  # an unreadable feature would make the percentage wrong
    if values.get(PROGRESS) == overall_progress(checklist):
        return ()  # no part has to be looked for
    from taskstate.syntax.json_edit import set_json

    return set_json(document.text, checklist.root, (PROGRESS,), overall_progress(checklist), newline=document.newline)


def _count_edits(document: Document, state: TaskState, root: Node) -> tuple[Edit, ...]:
    counts = session_counts(state)._asdict()
    node = root.get(COUNTS)
    existing = node.value() if node and node.kind == "mapping" else {}  # keys that people added are kept
    return set_value(document, root, COUNTS, {**existing, **counts})


def _with_size(document: Document, root: Node, edits: tuple[Edit, ...]) -> tuple[Edit, ...]:
    """Return `edits` and one that sets the size of the resulting text, the digits of that number included."""
    node = root.get(SIZE)
    current = node.value() if node else None
    size = (
        current if isinstance(current, int) and not isinstance(current, bool) else size_kb(apply(document.text, edits))
    )
    all_edits = (*edits, *set_value(document, root, SIZE, size))
    # One more digit can push the text over the next KB: repeat until the number is that of the text that holds it.
    while (actual := size_kb(apply(document.text, all_edits))) != size:
        size = actual
        all_edits = (*edits, *set_value(document, root, SIZE, size))
    return all_edits


def set_value(
    document: Document, mapping: Node, key: str, value: object, *, order: tuple[str, ...] = ()
) -> tuple[Edit, ...]:
    """Return the edits that set a key in a mapping of the front matter; `order` defaults to that of its own keys."""
    from taskstate.syntax.yaml_edit import set_key  # slow to import, and linting a sound file does not need it
    from taskstate.validation.schema import load

    order = order or tuple(load("task")["properties"])
    return set_key(document.text, mapping, key, value, order=order, newline=document.newline)
