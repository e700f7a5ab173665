"""handoff-one-action: the next action of a handoff is a list, or more than one paragraph.

## What

Immediate Next Action holds one paragraph, and in it exactly one step: no list (not even of one item), no second
paragraph, no code block, no quote. Comments do not count. A section that is missing or empty is told by TS801. In a
document of another tool, without our front matter, this is a warning.

## Why

A successor that is given five steps begins by weighing them, and often with another one than its predecessor meant. One
step is begun at once; what comes after it follows from the objectives of the phase.

## Example

```markdown
## Immediate Next Action

- Write the failing test for an expired token
- Then make verifyToken() pass it
```

## Instead

```markdown
## Immediate Next Action

Write the failing test for an expired token with 30 s of leeway in `src/auth/jwt.test.ts`.
```

What is to be done later is an objective: `taskstate phase extend 101 3 "verifyToken() passes it"`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from taskstate.handoff.document import ACTION
from taskstate.lint.diagnostics import WHOLE, Diagnostic, Rule
from taskstate.lint.facts.handoffs import handoff_facts
from taskstate.lint.facts.wording import first_line_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from taskstate.handoff.document import Piece
    from taskstate.lint.facts.file_facts import Facts
    from taskstate.syntax.document import Document

RULE = Rule(
    code="TS802",
    name="handoff-one-action",
    summary="the next action is a list or more than one paragraph",
    reads=WHOLE,
)

_CALLED = {"fence": "a code block", "code": "a code block", "quote": "a quote", "html": "HTML", "heading": "a heading"}


def check(document: Document, facts: Facts) -> Iterator[Diagnostic]:
    """Yield at most one finding, at what is too much."""
    sheet = handoff_facts(facts)
    if sheet is None or sheet.reading.is_empty(ACTION) or sheet.reading.says_none(ACTION):
        return
    pieces = sheet.reading.pieces(ACTION)
    found = _too_much(pieces)
    if found:
        piece, what = found
        help_ = "leave the one step to begin with, in one paragraph; what comes after it is an objective of the phase"
        yield from sheet.at(RULE, first_line_of(document, piece.span), f"the next action {what}", help=help_)


def _too_much(pieces: tuple[Piece, ...]) -> tuple[Piece, str] | None:
    """Return the piece that is too much, and what it makes of the section."""
    items = [piece for piece in pieces if piece.kind == "item"]
    if items:
        many = f" of {len(items)}" if len(items) > 1 else ""
        return items[min(1, len(items) - 1)], f"{'is' if len(items) == len(pieces) else 'holds'} a list{many}"
    other = next((piece for piece in pieces if piece.kind != "paragraph"), None)
    if len(pieces) > 1:
        second = pieces[1]
        return second, f"holds {_CALLED[second.kind]}" if second.kind in _CALLED else f"has {len(pieces)} paragraphs"
    return (other, f"is {_CALLED[other.kind]} and no paragraph") if other else None
