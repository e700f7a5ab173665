"""section-duplicate: the same section stands twice.

## What

Two headings of level 2 name the same section of the kind: the same title, whatever their numbers, case or remarks in
brackets. The finding stands at the second one.

## Why

Only the first is read. What stands under the second, such as sessions or features, counts nowhere and is not archived,
and nobody notices. It usually comes from a merge that took both sides, or from an agent that appended a section which
was there already.

## Example

```markdown
## 4. Progress Log

### Session 1 - 2026-01-30 09:00

## 4. Progress Log

### Session 2 - 2026-01-31 09:00
```

## Instead

Move what is worth keeping into the first one and delete the second heading. Nothing else is said of the second one
until then, and nothing is mended by itself: which of two texts holds is yours to decide.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from taskstate.lint.diagnostics import Diagnostic, Rule
from taskstate.lint.facts.wording import line_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from taskstate.lint.facts.file_facts import Facts
    from taskstate.syntax.document import Document

RULE = Rule(code="TS203", name="section-duplicate", summary="the same section stands twice")


def check(document: Document, facts: Facts) -> Iterator[Diagnostic]:
    """Yield each section whose title an earlier one has already."""
    for spec, section in facts.outline.repeated:
        first = facts.outline.section(spec)
        line = line_of(document, first.span) if first else 0
        yield RULE.at(
            section.heading,
            f"the section {spec.name!r} stands here again",
            help=f"only the one in line {line} is read: move what is worth keeping there, and delete this heading",
        )
