"""Finds what stands among the acceptance criteria and is none: `- [] two`, `- two`, `-[ ] two`.

Only `- [ ]` and `- [x]` are read as criteria, so such a line could be open, and the task complete.
"""

from __future__ import annotations

import re
from bisect import bisect_right

from taskstate.model.document_kinds import kind_of
from taskstate.model.task_state import CRITERION, read_state
from taskstate.syntax.edits import Edit, apply
from taskstate.syntax.patterns import compiled
from taskstate.syntax.spans import Span, first_line, trimmed
from taskstate.typed import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator

    from taskstate.model.task_state import TaskState
    from taskstate.syntax.document import Document, Section
    from taskstate.syntax.markdown_blocks import Item

# Nothing but criteria, with continuation lines: so are nearly all files, and nothing in them needs a closer look.
_USUAL = r"(?:(?:[-*+] \[[ xX]\][ \t][^\r\n]*|[ \t]{2,}[^-*+\d\[\s][^\r\n]*|[ \t]*)(?:\r\n?+|\n|\Z))*+"
_PLAIN = ("- [ ] ", "- [x] ")
# Something in brackets that is no link, reference or word: `[]`, `[ x]`, `[-]`, `\[ ]`, `[ ]two`.
_BRACKETS = r"\\?\[[ \t]*(?P<mark>[xX]|[^\w\s\]\[\\])?[ \t]*\\?\](?![(\[:])[ \t]*"
_SYMBOL = r"(?P<symbol>[\u2610-\u2612\u2705\u2713\u2714\u274c])\ufe0f?[ \t]*"
_MARKED = f"{_BRACKETS}|{_SYMBOL}"
# A line that looks like a criterion to a person, without the list that would make it one.
_BULLET = r"(?:(?:[-*+\u2022\u2013\u2014]|\d{1,9}[.)])[ \t]*)?"
_LINE = rf"(?m)(?:^|(?<=\r)) {{0,3}}{_BULLET}(?P<found>\[[ \t]*(?P<mark>[xX])?[ \t]*\](?![(\[:])[ \t]*)(?=\S)"
_CHECKED = "xX"


class MalformedCriterion(NamedTuple):
    """A line that is no criterion; `edit` makes it one, `is_clear` tells whether it is certain that it is unchecked."""

    span: Span
    edit: Edit
    is_clear: bool


def malformed_criteria(state: TaskState) -> tuple[MalformedCriterion, ...]:
    """Return what looks like an acceptance criterion of a state file and is read as none, in order."""
    return state.document.derived(_malformed, None)


def _malformed(document: Document, _given: None) -> tuple[MalformedCriterion, ...]:
    section = read_state(document).subsection("Static Context", "Acceptance Criteria")
    if section is None or _are_usual(section.body.of(document.text)):
        return ()
    if kind_of(document).is_placeholder(section.body.of(document.text)):
        return ()
    parts = [section, *document.children(section)]
    return tuple(each for part in parts for each in _in_part(document, part, is_list=part is section))


def _are_usual(body: str) -> bool:
    """Return whether a text has nothing but criteria; of most texts the beginnings of the lines tell that."""
    is_plain = "\r" not in body and all(not line or line.startswith(_PLAIN) for line in body.split("\n"))
    return is_plain or re.compile(_USUAL).fullmatch(body) is not None


def mended_text(state: TaskState) -> str:
    """Return the text of a state file with everything among its criteria written as a criterion."""
    edits = [each.edit for each in malformed_criteria(state)]
    return apply(state.document.text, edits) if edits else state.document.text


def _in_part(document: Document, part: Section, *, is_list: bool) -> Iterator[MalformedCriterion]:
    """Yield what is malformed below one heading; below a further one a list without any brackets is just a list."""
    items = document.items(part.own)
    is_list = is_list or any(re.compile(_MARKED).match(document.text, *each.content) for each in items)
    found = [each for item in items if is_list and (each := _in_item(document, item))]
    found += _in_lines(document, part, items)
    yield from sorted(found)


def _in_item(document: Document, item: Item) -> MalformedCriterion | None:
    text, (start, end) = document.text, item.content
    if compiled(CRITERION).match(text, start, end) or not text[start:end].strip():
        return None
    match = compiled(_MARKED).match(text, start, end)
    mark = (match["mark"] or match["symbol"]) if match else None
    checked = "x" if mark and mark in _CHECKED else " "
    edit = Edit(start, match.end() if match else start, f"[{checked}] ")
    return MalformedCriterion(_first_line(text, item.span), edit, not mark or mark in _CHECKED)


def _in_lines(document: Document, part: Section, items: tuple[Item, ...]) -> Iterator[MalformedCriterion]:
    """Yield the lines with brackets that are not the beginning of an item."""
    opaque = [block.span for block in document.blocks_in(part.own) if block.kind != "heading"]
    for match in re.compile(_LINE).finditer(document.text, *part.own):
        indent = len(match[0]) - len(match[0].lstrip(" "))
        begin = match.start() + indent
        above = bisect_right(opaque, begin, key=lambda span: span.start) - 1
        if (above >= 0 and begin < opaque[above].end) or _belongs_to_item(document, begin, indent, items):
            continue
        checked = "x" if match["mark"] else " "
        span = _first_line(document.text, Span(begin, part.own.end))
        yield MalformedCriterion(span, Edit(begin, match.end("found"), f"- [{checked}] "), is_clear=True)


def _belongs_to_item(document: Document, begin: int, indent: int, items: tuple[Item, ...]) -> bool:
    """Return whether a line begins an item, or is indented as the rest of one is."""
    above = bisect_right(items, begin, key=lambda item: item.span.start) - 1
    if above < 0 or begin >= items[above].span.end:
        return False
    column = document.position(items[above].content.start).column
    return begin == items[above].span.start or indent >= column


def _first_line(text: str, span: Span) -> Span:
    return trimmed(text, first_line(text, span))
