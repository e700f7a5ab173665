"""Cuts texts into units: the pieces of a brief that are kept or left out as a whole. Pure."""

from __future__ import annotations

from bisect import bisect_left

from taskstate.model.write_metadata import blocks_of
from taskstate.syntax import escaping
from taskstate.syntax.markdown_blocks import read_blocks
from taskstate.syntax.patterns import compiled
from taskstate.syntax.spans import printable, with_newlines
from taskstate.typed import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from taskstate.model.task_state import TaskState
    from taskstate.syntax.spans import Span

_ITEM = r"(?:[-*+]|\d{1,9}[.)])[ \t]"
_CLOSED_FENCE = r"(`{3,}+|~{3,}+)[^`\n]*(?:\n(?! {0,3}[`~]{3}).*)*+\n\1[ \t]*"


class Unit(NamedTuple):
    """A piece of a section that is kept or cut as a whole; after a `tight` one the next follows without a blank line.

    `number` is the number of its session. The `short` form replaces the text where that does not fit. A unit `aside`
    is never in the brief and only listed as left out. `keep` is a priority of its own, instead of its section's.
    """

    text: str
    tight: bool = False
    number: int = 0
    short: str = ""
    aside: bool = False
    keep: int = 0


def units_of(text: str, number: int = 0) -> tuple[Unit, ...]:
    """Split a text between list items and paragraphs, never in a fence or an HTML block.

    After the last unit a blank line stands, whatever follows it in the brief.
    """
    text = with_newlines(text, "\n").strip("\n")
    if not text.strip():
        return ()
    opaque = [block.span for block in read_blocks(text) if block.kind != "heading"]
    starts = [0]
    position, after_blank = 0, False
    begins_item = compiled(_ITEM).match
    for line in text.split("\n"):
        begins = bool(begins_item(line)) or (after_blank and line[:1] not in {" ", "\t"})
        if position and line.strip(" \t") and begins and not _is_inside(position, opaque):
            starts.append(position)
        after_blank = not line.strip(" \t")
        position += len(line) + 1
    pieces = [text[start:end] for start, end in zip(starts, [*starts[1:], len(text)], strict=True)]
    units = [
        Unit(_with_closed_fence(piece.strip("\n")), tight=not piece.endswith("\n\n"), number=number)
        for piece in _with_headings(pieces)
    ]
    return _ended(units)


def _is_inside(position: int, spans: Sequence[Span]) -> bool:
    """Return whether a position lies within one of the sorted `spans`, behind its start."""
    index = bisect_left(spans, (position, 0)) - 1
    return index >= 0 and position < spans[index].end


def _with_headings(pieces: list[str]) -> list[str]:
    """Return the pieces with each heading or label (`**Name:**`) joined to the piece below it."""
    joined: list[str] = []
    pending = ""
    for piece in pieces:
        pending += piece
        line = piece.strip("\n")
        if not (line.startswith("#") or (line.startswith("**") and line.endswith(":**"))) or "\n" in line:
            joined.append(pending)
            pending = ""
    return [*joined, pending] if pending.strip() else joined


def _with_closed_fence(text: str) -> str:
    """Return a text with its last fence closed, so that the fence does not swallow the rest of the brief."""
    if ("```" not in text and "~~~" not in text) or compiled(_CLOSED_FENCE).fullmatch(text):
        return text
    fences = [block for block in read_blocks(text) if block.kind == "fence"]
    if not fences or fences[-1].closed:
        return text
    opening = fences[-1].span.of(text).lstrip(" ")
    return f"{text}\n{opening[: len(opening) - len(opening.lstrip(opening[0]))]}"


def list_units(texts: Iterable[str]) -> tuple[Unit, ...]:
    """Return a unit for each item of a list."""
    return _ended([Unit("- " + text.replace("\n", "\n  "), tight=True) for text in texts])


def newest_first(units: tuple[Unit, ...]) -> tuple[Unit, ...]:
    """Return the units of a list with its label, the last item below the label."""
    label, _, first = units[0].text.partition("\n")
    items = [*([first.strip("\n")] if first else []), *(unit.text for unit in units[1:])]
    if not items:
        return units
    below = [f"{label}\n\n{items[-1]}", *items[-2::-1]]
    return tuple(Unit(item, tight=at < len(below)) for at, item in enumerate(below, 1))


def _ended(units: list[Unit]) -> tuple[Unit, ...]:
    """Return units of which the last is not tight: what comes next is another text."""
    return (*units[:-1], *(unit._replace(tight=False) for unit in units[-1:]))


def foreign(state: TaskState, units: Iterable[Unit]) -> Iterator[Unit]:
    """Yield the units of a description; until the first turn one that was imported is quoted: nobody here wrote it."""
    origin = state.document.front_matter.get("origin")
    if not isinstance(origin, dict) or "left" in blocks_of(state.document).delta.values:
        yield from units
        return
    lead = f"Imported from {printable(str(origin.get('system')))}, as it is there:\n\n"
    for each in units:
        yield each._replace(text=f"{lead}{escaping.quote(each.text)}")
        lead = ""
