"""handoff-one-action: the next action of a handoff is a list, or more than one paragraph.

## What

Immediate Next Action has one paragraph with exactly one step: no list (not even of one item), no second paragraph, no
code block, no quote. Comments do not count. A missing or empty section is reported by TS801. In a document of another
tool, without our front matter, this is a warning.

## Why

A successor with five steps first has to weigh them, and often begins with another one than its predecessor meant. A
single step is begun at once; what comes after it follows from the objectives of the phase.

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

Later steps are objectives: `taskstate phase extend 101 3 "verifyToken() passes it"`.
"""

from __future__ import annotations

from taskstate.handoff.document import ACTION
from taskstate.lint.diagnostics import WHOLE, Diagnostics, Rule
from taskstate.lint.facts.handoffs import handoff_facts
from taskstate.lint.facts.wording import first_line_of
from taskstate.typed import TYPE_CHECKING

if TYPE_CHECKING:
    from taskstate.handoff.document import Piece
    from taskstate.lint.facts.file_facts import Facts

RULE = Rule.of("TS802", __name__, "the next action is a list or more than one paragraph", reads=WHOLE)

_CALLED = {"fence": "a code block", "code": "a code block", "quote": "a quote", "html": "HTML", "heading": "a heading"}


def check(facts: Facts) -> Diagnostics:
    """Yield at most one finding, at the first piece beyond a single paragraph."""
    handoff = handoff_facts(facts)
    if handoff is None or handoff.reading.is_empty(ACTION) or handoff.reading.says_none(ACTION):
        return
    pieces = handoff.reading.pieces(ACTION)
    excess = _excess(pieces)
    if excess:
        piece, problem = excess
        help_ = "keep only the first step, in one paragraph; write later steps as objectives of the phase"
        yield from handoff.at(RULE, first_line_of(facts.document, piece.span), f"the next action {problem}", help=help_)


def _excess(pieces: tuple[Piece, ...]) -> tuple[Piece, str] | None:
    """Return the first piece beyond a single paragraph, with the problem in words; None where there is none."""
    items = [piece for piece in pieces if piece.kind == "item"]
    if items:
        many = f" of {len(items)}" if len(items) > 1 else ""
        return items[min(1, len(items) - 1)], f"{'is' if len(items) == len(pieces) else 'holds'} a list{many}"
    other = next((piece for piece in pieces if piece.kind != "paragraph"), None)
    if len(pieces) > 1:
        second = pieces[1]
        return second, f"holds {_CALLED[second.kind]}" if second.kind in _CALLED else f"has {len(pieces)} paragraphs"
    return (other, f"is {_CALLED[other.kind]} and no paragraph") if other else None
