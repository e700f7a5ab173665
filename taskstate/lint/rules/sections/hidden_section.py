"""hidden-section: a required heading is inside a code fence, a list or the like, and so is not a heading.

## What

A required section or subsection is missing, and a line that looks like its heading is inside a code fence, a list, a
quote, an HTML block or a comment, or is indented by four columns; or it has no blank behind its `##`, is only bold, or
has no marks. Markdown treats such a line as content, and so do all readers of the file. This finding replaces
section-missing and subsection-missing.

## Why

People and `grep` see the heading, and so believe that the section is there. Often one line is the cause: a comment or
fence that closes too late, or a list item above that includes the indented lines below.

## Example

````markdown
```
## 4. Progress Log

### Session 1 - 2026-01-31 09:00
```
````

## Instead

Put the heading at the left margin, outside of the fence, list or comment. Where a fence or a comment closes too late,
close it above the heading. There is one finding for all headings that are hidden by the same fence, comment or HTML
block, and one for all that are indented or written alike. `taskstate lint --fix` writes lines such as `##4. Progress
Log` and `**4. Progress Log**` as headings.
"""

from __future__ import annotations

from taskstate.lint.diagnostics import Diagnostic, Diagnostics, Fix, Rule
from taskstate.lint.facts.outline import PARAGRAPH
from taskstate.lint.facts.wording import first_line_of, line_of, shown
from taskstate.syntax.edits import Edit
from taskstate.typed import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from taskstate.lint.facts.file_facts import Facts
    from taskstate.lint.facts.outline import Hidden
    from taskstate.syntax.document import Document

RULE = Rule.of("TS207", __name__, "a required heading is inside a comment, a fence or a list", fixable=True)


def check(facts: Facts) -> Diagnostics:
    """Yield a finding for the first hidden heading of each block, and for each one outside of blocks."""
    names = {spec.key: spec.heading.removeprefix("## ") for spec in facts.outline.absent}
    hidden = [(hidden, names[key]) for key, hidden in facts.outline.hidden.items()]
    hidden += [(each.hidden, each.spec.name) for each in facts.outline.unfilled if each.hidden]
    hidden.sort(key=lambda pair: pair[0].span)
    for group in _by_block(hidden):
        yield _finding(facts.document, group)


def _finding(document: Document, group: list[tuple[Hidden, str]]) -> Diagnostic:
    first, name = group[0]
    if first.within == PARAGRAPH:
        return _no_heading(document, group)
    names = " and ".join(repr(each) for _, each in group)
    subject = f"the headings of {names} are" if len(group) > 1 else f"the heading of {names} is"
    where = f"{first.within} that begins in line {line_of(document, first.block.span)}" if first.block else first.within
    opening = first.block.span.of(document.text).lstrip() if first.block else ""
    is_open = first.block and (first.block.kind == "fence" or (opening.startswith("<!--") and "-->" not in opening))
    return RULE.at(
        first_line_of(document, first.block.span) if first.block and is_open else first.span,
        f"{subject} in {where}, so {'they are' if len(group) > 1 else 'it is'} not read",
        help=_help(document, first, name),
    )


def _help(document: Document, hidden: Hidden, name: str) -> str:
    if hidden.block and hidden.block.span.of(document.text).lstrip().startswith("<!--"):
        text = hidden.block.span.of(document.text)
        if "-->" not in text:
            return "the comment never closes: write `-->` in the line where it ends"
    if hidden.block and hidden.block.kind == "fence":
        marks = hidden.block.span.of(document.text).lstrip()
        marks = marks[: len(marks) - len(marks.lstrip(marks[0]))]
        return f"close the fence: write {marks} in a line above `{'#' * hidden.level} {name}`"
    return f"start `{'#' * hidden.level} {name}` at the left margin, outside of it"


def _by_block(hidden: Iterable[tuple[Hidden, str]]) -> list[list[tuple[Hidden, str]]]:
    groups: dict[object, list[tuple[Hidden, str]]] = {}
    for each in hidden:
        # Lines that are indented alike have one cause: an editor, or a paste.
        container = each[0].block.span if each[0].block else each[0].within
        groups.setdefault(container, []).append(each)
    return list(groups.values())


def _no_heading(document: Document, group: list[tuple[Hidden, str]]) -> Diagnostic:
    """Return the finding for lines that are meant as headings, with the fix that writes them as such."""
    lines = [(hidden.span, f"{'#' * hidden.level} {name}") for hidden, name in group]
    edits = tuple(Edit(*span, heading) for span, heading in lines)
    (first, heading), more = lines[0], len(lines) - 1
    others = f", and {more} more like it" if more else ""
    return RULE.at(
        first,
        f"{shown(first.of(document.text))} is not a heading for Markdown{others}",
        help=f"write `{heading}`; `taskstate lint --fix` does so",
        fix=Fix(edits=edits),
    )
