"""handoff-reason: a decision without its rationale, or an approach without why it failed.

## What

Each item of Key Decisions Made has the form `<Decision>: <rationale>`, and each item of What NOT to Try `<Approach>:
<why it failed>`. A reason must have letters or digits; `n/a`, `none`, `tbd` or a placeholder do not count. Without a
list each paragraph counts as an item. A colon inside backticks is no separator. In a document of another tool, without
our front matter, a dash, an arrow or `because` is accepted as well, and a missing reason is a warning.

## Why

A decision without a reason is made again, perhaps differently; an approach that failed for no stated reason is tried
again by whoever believes they can do better. The reason is what the successor can judge.

## Example

```markdown
## Key Decisions Made

1. RS256 with rotating keys

## What NOT to Try

1. HS256
```

## Instead

```markdown
## Key Decisions Made

1. RS256 with rotating keys: a static key cannot be rotated without logging everyone out

## What NOT to Try

1. HS256: its key is static, so rotation is impossible
```
"""

from __future__ import annotations

from taskstate.handoff.document import AVOID, DECISIONS, split_reason
from taskstate.lint.diagnostics import WHOLE, Diagnostics, Rule
from taskstate.lint.facts.handoffs import handoff_facts
from taskstate.lint.facts.wording import first_line_of, shown
from taskstate.syntax.escaping import is_none
from taskstate.typed import TYPE_CHECKING

if TYPE_CHECKING:
    from taskstate.lint.facts.file_facts import Facts

RULE = Rule.of("TS804", __name__, "a decision without rationale, or an approach without why it failed", reads=WHOLE)

_SECTIONS = (
    (DECISIONS, "the decision {} has no rationale", "write it as `<Decision>: <rationale>`"),
    (AVOID, "the approach {} does not say why it failed", "write it as `<Approach>: <why it failed>`"),
)


def check(facts: Facts) -> Diagnostics:
    """Yield a finding for each item without a reason."""
    handoff = handoff_facts(facts)
    if handoff is None:
        return
    for name, message, help_ in _SECTIONS:
        for passage in handoff.reading.passages(name):
            statement, reason = split_reason(passage.text, loose=not handoff.is_ours)
            if not is_none(passage.text) and not (statement and reason):
                span = first_line_of(facts.document, passage.span)
                quoted = shown(passage.text.split("\n", 1)[0])
                yield from handoff.at(RULE, span, message.format(quoted), help=help_)
