"""handoff-too-long: a handoff document is longer than one screen, or has too much critical context.

## What

The body, behind the front matter and without blank lines around it, has more than 60 lines or more than 4 KB; or
Critical Context has more than 5 items. Size is bytes of UTF-8 with line ends as LF. In a document of another tool,
without our front matter, both are warnings.

## Why

Contexts run out because they are full. A handoff that retells the work fills the next one before it has begun, and the
facts that matter are lost among those that do not.

## Example

A document of 140 lines with the whole history of the phase, and nine items under Critical Context.

## Instead

Leave what a successor cannot begin without. History belongs to a session (`taskstate session add`), failed attempts to
the phase (`taskstate phase tried`), and long material to a file that References names:

```markdown
## References

- `docs/plan.md`, the section on rotation
```

## Configuration

`max-lines` and `max-kb` in `[tool.taskstate.handoff]`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from taskstate.handoff.document import CONTEXT, MOST_CONTEXT
from taskstate.lint.diagnostics import WHOLE, Diagnostic, Rule
from taskstate.lint.facts.handoffs import handoff_facts
from taskstate.lint.facts.wording import first_line_of
from taskstate.model.task_state import KB

if TYPE_CHECKING:
    from collections.abc import Iterator

    from taskstate.lint.facts.file_facts import Facts
    from taskstate.syntax.document import Document

RULE = Rule(
    code="TS803",
    name="handoff-too-long",
    summary="over 60 lines or 4 KB, or over 5 items of critical context",
    reads=WHOLE,
)


def check(document: Document, facts: Facts) -> Iterator[Diagnostic]:
    """Yield one finding for the whole, at its first line, and one at the first item of context too many."""
    sheet = handoff_facts(facts)
    if sheet is None:
        return
    limits, reading = facts.config.handoff, sheet.reading
    said = [f"{reading.lines} lines, and the limit is {limits.max_lines}"] if reading.lines > limits.max_lines else []
    if reading.size > limits.max_kb * KB:
        said.append(f"{reading.size / KB:.1f} KB, and the limit is {limits.max_kb} KB")
    if said:
        help_ = "leave what the successor cannot begin without; put the rest into a session, or a file to refer to"
        place = first_line_of(document, reading.body)
        yield from sheet.at(RULE, place, f"the handoff has {'; and '.join(said)}", help=help_)
    items = reading.passages(CONTEXT)
    if len(items) > MOST_CONTEXT:
        yield from sheet.at(
            RULE,
            first_line_of(document, items[MOST_CONTEXT].span),
            f"critical context has {len(items)} items, and the limit is {MOST_CONTEXT}",
            help=f"keep the {MOST_CONTEXT} that nobody can go on without",
        )
