"""Values that follow from the rest of a state file: session counts, overall progress, its size and its tokens.

Whoever writes the file brings them up to date, and the linter reports where they are wrong. The text is all there is:
what the archive file holds is taken from the Archived Summary.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from taskstate.model.task_state import KB, SECTION_LEVEL, read_state
from taskstate.syntax.edits import Edit, apply
from taskstate.syntax.spans import size_in_bytes

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from taskstate.model.config import Size
    from taskstate.model.task_state import Checklist, TaskState
    from taskstate.syntax.document import Document
    from taskstate.syntax.nodes import Node


BYTES_A_TOKEN = 4
_NAMED = 3  # of the parts of a file that is too large


def is_over_limit(size: int, limits: Size) -> bool:
    """Return whether a file of `size` bytes is larger than the configuration allows."""
    return bool(exceeded(size, kb=limits.max_kb, tokens=limits.max_tokens))


def exceeded(size: int, *, kb: int, tokens: int) -> str:
    """Return in words what a file of `size` bytes exceeds, or nothing where it is within; 0 tokens are no limit."""
    if size > kb * KB:
        return f"{shown_kb(size)}, and the limit is {kb} KB"
    if 0 < tokens * BYTES_A_TOKEN < size:
        return f"about {-(-size // BYTES_A_TOKEN):,} tokens, and the limit is {tokens:,}"
    return ""


def shown_kb(size: int) -> str:
    """Return a number of bytes as KB, rounded up as everywhere."""
    return f"{-(-size // KB)} KB"


def largest_parts(state: TaskState) -> str:
    """Return in words the largest parts of a file: its sections, and of the Progress Log each session for itself."""
    parts = sorted(_parts(state), reverse=True)[:_NAMED]
    return ", ".join(f"{name} ({shown_kb(size)})" for size, name in parts)


def _parts(state: TaskState) -> Iterator[tuple[int, str]]:
    document, text = state.document, state.document.text
    sections = [section for section in document.sections if section.level == SECTION_LEVEL]
    begin = document.front_matter.content.end
    yield size_in_bytes(document.front_matter.content.of(text)), "the front matter"
    yield size_in_bytes(text[begin : sections[0].span.start if sections else len(text)]), "the text above the sections"
    for section in sections:
        inside = [session for session in state.sessions if section.span.start < session.span.start < section.span.end]
        rest = size_in_bytes(section.span.of(text)) - sum(size_in_bytes(session.entry) for session in inside)
        yield rest, f"{section.title!r}"
    for session in state.sessions:
        yield size_in_bytes(session.entry), f"session {session.number}"


COUNTS = "sessions"
SIZE = "file_size_kb"
PROGRESS = "overall_progress"

_LOG = "Progress Log"


class SessionCounts(NamedTuple):
    """How many sessions there are: all, those in the archive, those in the Progress Log."""

    total: int
    archived: int
    recent: int


def session_counts(state: TaskState) -> SessionCounts:
    """Return the counts of sessions that the body tells."""
    summary = state.summary
    archived = summary.last - summary.first + 1 if summary and 0 < summary.first <= summary.last else 0
    return SessionCounts(total=archived + len(state.sessions), archived=archived, recent=len(state.sessions))


def size_kb(text: str) -> int:
    """Return the size of a text in KB of 1,024 bytes, rounded up, line ends counted as LF."""
    return -(-size_in_bytes(text) // KB)


def overall_progress(checklist: Checklist) -> str:
    """Return the share of the features that pass, those moved elsewhere left out, rounded down."""
    counted = len(checklist.counted)
    return f"{100 * checklist.passing // counted}%" if counted else "0%"


def derived_edits(document: Document, more: Iterable[Edit] = (), state: TaskState | None = None) -> tuple[Edit, ...]:
    """Return the edits that bring all derived values of a file up to date, adding those that its front matter lacks.

    The size is that of the text after these very edits and `more`, which are among those returned. Who has read the
    document's state already gives it too.

    Raises:
        CannotEdit: the form of the front matter or of the checklist does not allow a safe change.
    """
    state = state or read_state(document)
    root = document.front_matter.node
    edits = (*more, *_progress_edits(document, state))
    if root is None:
        return edits
    if state.section(_LOG):
        edits = (*edits, *_count_edits(document, state, root))
    return _with_size(document, root, edits)


def fix_edits(document: Document, state: TaskState, *values: str) -> tuple[Edit, ...]:
    """Return the edits that mend the named derived values of a state file, and its size, as far as it has them.

    Raises:
        CannotEdit: the form of the front matter or of the checklist does not allow a safe change.
    """
    root = document.front_matter.node
    edits = _progress_edits(document, state) if PROGRESS in values else ()
    if root is None:
        return edits
    if COUNTS in values:
        edits = (*edits, *_count_edits(document, state, root))
    return _with_size(document, root, edits) if root.entry(SIZE) else edits


def _progress_edits(document: Document, state: TaskState) -> tuple[Edit, ...]:
    checklist = state.checklist
    entries = checklist.root.get("features") if checklist else None
    if checklist is None or entries is None or len(entries.items) != len(checklist.features):
        return ()  # a feature that cannot be read makes every share wrong
    from taskstate.syntax.json_edit import set_json

    return set_json(document.text, checklist.root, (PROGRESS,), overall_progress(checklist), newline=document.newline)


def _count_edits(document: Document, state: TaskState, root: Node) -> tuple[Edit, ...]:
    counts = session_counts(state)._asdict()
    node = root.get(COUNTS)
    own = node.value() if node and node.kind == "mapping" else {}  # a key of one's own in it stays
    return _set(document, root, COUNTS, {**own, **counts})


def _with_size(document: Document, root: Node, edits: tuple[Edit, ...]) -> tuple[Edit, ...]:
    """Return `edits` and those that make the size right for the text after them all, its own digits included."""
    node = root.get(SIZE)
    told = node.value() if node else None
    size = told if isinstance(told, int) and not isinstance(told, bool) else size_kb(apply(document.text, edits))
    whole = (*edits, *_set(document, root, SIZE, size))
    while (
        actual := size_kb(apply(document.text, whole))
    ) != size:  # more digits, larger text: it rises or falls, and ends
        size = actual
        whole = (*edits, *_set(document, root, SIZE, size))
    return whole


def _set(document: Document, mapping: Node, key: str, value: object) -> tuple[Edit, ...]:
    from taskstate.syntax.yaml_edit import set_key  # linting a sound file needs none of this
    from taskstate.validation.schema import load

    return set_key(
        document.text, mapping, key, value, order=tuple(load("task")["properties"]), newline=document.newline
    )
