"""Finds the blocks of a text that is nearly another one: only what differs is read, and what is around it is reused.

Every write makes one text out of another, a session more in 75 KB, and reads it. A heading at the top level ends all
that is open before it. So up to the last heading before the difference the blocks are those of the other text, and so
they are from the first heading behind it on, unless something in between never ends.
"""

from __future__ import annotations

from bisect import bisect_left

from taskstate.syntax.markdown_blocks import Block, read_blocks
from taskstate.syntax.spans import Span, common_length
from taskstate.typed import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

_SIGN = 20  # characters at the beginning of a body: where they differ, one text was hardly made out of the other
_new = tuple.__new__  # hot: builds records without calling their Python constructors


def read_changed_blocks(
    text: str, start: int, other: str, other_start: int, known: tuple[Block, ...]
) -> tuple[Block, ...]:
    """Return the same as `read_blocks(text, start)`, given another text, where its body begins, and its blocks."""
    body = text[start:]
    if not other.startswith(body[:_SIGN], other_start) or any(each in one for one in (other, text) for each in "\r\0"):
        return read_blocks(text, start)
    other_body = other[other_start:]
    same = common_length(other_body, body)
    first = _last_heading(known, other_start + same)
    begin = known[first].span.end + 1 + start - other_start if first >= 0 else start
    unchanged = _moved(known[: first + 1], start - other_start)
    index = _heading_from(other, known, len(other) - common_length(other_body, body, same, backwards=True))
    if index < len(known):
        shift = len(text) - len(other)
        changed = read_blocks(text[: known[index].span.start + shift], begin)
        if not changed or (changed[-1].kind != "html" and changed[-1].closed):  # else it may reach further
            return (*unchanged, *changed, *_moved(known[index:], shift))
    return (*unchanged, *read_blocks(text, begin))


def _last_heading(known: Sequence[Block], until: int) -> int:
    """Return the index of the last heading whose line ends before an offset, its line end included; -1 if none does."""
    index = bisect_left(known, until, key=lambda block: block.span.end) - 1
    while index >= 0 and known[index].kind != "heading":
        index -= 1
    return index


def _heading_from(text: str, known: Sequence[Block], begin: int) -> int:
    """Return the index of the first heading behind an offset that begins a line with `#`: no text above changes it."""
    index = bisect_left(known, begin + 1, key=lambda block: block.span.start)
    while index < len(known) and not (known[index].kind == "heading" and text[known[index].span.start] == "#"):
        index += 1
    return index


def _moved(blocks: tuple[Block, ...], shift: int) -> tuple[Block, ...]:
    """Return blocks of a text that stand so many characters further behind in another one."""
    if not shift:
        return blocks
    return tuple(
        [
            _new(
                Block,
                (
                    kind,
                    _new(Span, (start + shift, end + shift)),
                    _new(Span, (first + shift, last + shift)),
                    *rest,
                ),
            )
            for kind, (start, end), (first, last), *rest in blocks
        ]
    )
