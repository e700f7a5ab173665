"""handoff-too-long: a handoff document is longer than one screen, or has too much critical context.

## What

The body, without the front matter and the blank lines around it, has more than 60 lines or more than 4 KB; or Critical
Context has more than 5 items. Size is bytes of UTF-8 with line ends as LF. In a document of another tool, without our
front matter, both are warnings.

## Why

Handoffs happen because contexts are full. A handoff that retells all of the work fills the next context before it has
begun, and hides the facts that matter among those that do not.

## Example

A document of 140 lines with the whole history of the phase, and nine items under Critical Context.

## Instead

Keep only what a successor cannot begin without. History belongs in a session (`taskstate session add`), failed attempts
in the phase (`taskstate phase tried`), and long material in a file that References names:

```markdown
## References

- `docs/plan.md`, the section on rotation
```

## Configuration

`max-lines` and `max-kb` in `[tool.taskstate.handoff]`.
"""

from __future__ import annotations

from taskstate.handoff.document import CONTEXT, MOST_CONTEXT
from taskstate.lint.diagnostics import WHOLE, Diagnostics, Rule
from taskstate.lint.facts.handoffs import handoff_facts
from taskstate.lint.facts.wording import first_line_of
from taskstate.model.task_state import KB
from taskstate.typed import TYPE_CHECKING

if TYPE_CHECKING:
    from taskstate.lint.facts.file_facts import Facts

RULE = Rule.of("TS803", __name__, "over 60 lines or 4 KB, or over 5 items of critical context", reads=WHOLE)


def check(facts: Facts) -> Diagnostics:
    """Yield a finding for the whole document, at its first line, and for the first item of context beyond the limit."""
    document = facts.document
    handoff = handoff_facts(facts)
    if handoff is None:
        return
    limits, reading = facts.config.handoff, handoff.reading
    excesses = (
        [f"{reading.lines} lines, and the limit is {limits.max_lines}"] if reading.lines > limits.max_lines else []
    )
    if reading.size > limits.max_kb * KB:
        excesses.append(f"{reading.size / KB:.1f} KB, and the limit is {limits.max_kb} KB")
    if excesses:
        help_ = "keep what the successor needs to begin; put the rest into a session, or a file to refer to"
        span = first_line_of(document, reading.body)
        yield from handoff.at(RULE, span, f"the handoff has {'; and '.join(excesses)}", help=help_)
    items = reading.passages(CONTEXT)
    if len(items) > MOST_CONTEXT:
        yield from handoff.at(
            RULE,
            first_line_of(document, items[MOST_CONTEXT].span),
            f"critical context has {len(items)} items, and the limit is {MOST_CONTEXT}",
            help=f"keep the {MOST_CONTEXT} most important ones",
        )
