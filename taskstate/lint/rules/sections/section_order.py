"""section-order: a section is in the wrong place.

## What

The kind of task gives its sections an order: Static Context, Chain Inputs, Feature Checklist, Progress Log, Git
History, Chain Output, and Notes last. There is a finding for the fewest sections that would have to move; the others
are in order among themselves. Sections that the kind does not know may stand anywhere.

## Why

People and agents read these files from the top and expect the stable parts first and the changing ones last. Sections
in different orders also cause needless differences in git.

## Example

```markdown
## 1. Static Context

## 3. Feature Checklist

## 2. Chain Inputs

## 4. Progress Log
```

## Instead

Move the section with everything under it. `--fix` does so: whole sections are moved without changing a character, while
the blank lines and rules (`---`) between the places stay. A comment directly above a heading moves with it. Nothing is
moved while a section occurs twice, or while a heading of level 1 splits one.
"""

from __future__ import annotations

import re

from taskstate.lint.diagnostics import Diagnostics, Fix, Rule
from taskstate.lint.facts.outline import end_of, headings, start_of, verified_edits
from taskstate.lint.facts.wording import shown
from taskstate.syntax.edits import Edit
from taskstate.syntax.spans import Span, line_start
from taskstate.typed import TYPE_CHECKING

if TYPE_CHECKING:
    from taskstate.lint.facts.file_facts import Facts
    from taskstate.lint.facts.outline import Outline
    from taskstate.syntax.document import Document, Section

RULE = Rule.of("TS202", __name__, "a section is in the wrong place", fixable=True)

_RULE = r"(?:-{3,}|\*{3,}|_{3,})\Z"
_BLANK_ABOVE = r"(?:\n|\r(?!\n))[ \t]*(?:\r\n?|\n)\Z"
_BLANKS = " \t\r\n"
_LOOK_BACK = 100  # characters: the search would otherwise start at the beginning of the text


def check(facts: Facts) -> Diagnostics:
    """Yield a finding for the fewest sections that would have to move; the fix of each sorts all of them."""
    displaced = facts.outline.displaced
    fix = _fix(facts.document, facts.outline) if displaced else None
    for spec, section in displaced:
        before, behind = facts.outline.neighbours(spec)
        position = f"after {shown(before.title)}" if before else f"before {shown(behind.title)}" if behind else "first"
        yield RULE.at(
            section.heading,
            f"the section {spec.name!r} is in the wrong place",
            help=f"move it, with everything under it, {position}",
            fix=fix,
        )


def _fix(document: Document, outline: Outline) -> Fix | None:
    """Return the fix that sorts the declared sections; blank lines and rules between them stay in place."""
    order = [spec.key for spec in outline.kind.sections]
    placed = outline.present
    if outline.is_cut or outline.repeated:  # moving might make another one of two equal sections the first
        return None
    target = sorted(placed, key=lambda each: order.index(each.spec.key))
    spans = {each.spec.key: _content(document, each.section) for each in placed}
    edits = tuple(
        Edit(*spans[old.spec.key], spans[new.spec.key].of(document.text))
        for old, new in zip(placed, target, strict=True)
        if old is not new
    )
    expected: list[tuple[int, str]] = []
    moved = {old.section.span.start: new.section for old, new in zip(placed, target, strict=True)}
    for section in document.sections:
        if section.span.start in moved:
            new = moved[section.span.start]
            expected += headings((new, *document.children(new)))
        elif not any(each.section.span.start < section.span.start < each.section.span.end for each in placed):
            expected += headings((section,))
    edits = verified_edits(document, edits, expected)
    return Fix(edits=edits) if edits else None


def _content(document: Document, section: Section) -> Span:
    """Return a section without the blank lines, and rules behind a blank line, between it and the next one."""
    text = document.text
    start, stop = start_of(document, section), end_of(document, section)
    end = stop
    while True:
        end = start + len(text[start:end].rstrip(_BLANKS))
        line = line_start(text, end, start)
        if not (
            re.compile(_RULE).match(text, line, end)
            and re.compile(_BLANK_ABOVE).search(text, max(line - _LOOK_BACK, 0), line)
        ):
            return Span(start, _end_of_line(text, end, stop))
        end = line


def _end_of_line(text: str, at: int, stop: int) -> int:
    """Return the offset behind the trailing blanks of a line: they belong to the line and move with it."""
    return next((end for end in range(at, stop) if text[end] not in " \t"), stop)
