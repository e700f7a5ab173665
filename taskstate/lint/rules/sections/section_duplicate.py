"""section-duplicate: the same section occurs twice.

## What

Two headings of level 2 name the same section of the kind: they have the same title, whatever their numbers, case or
remarks in brackets; or two of level 3 name the same part of one, such as Task Description, or an input of one task. The
finding is at the second one.

## Why

Only the first is read. Sessions or features under the second are not counted and not archived, and nobody notices. The
cause is usually a merge that took both sides, or an agent that appended a section which was already there.

## Example

```markdown
## 4. Progress Log

### Session 1 - 2026-01-30 09:00

## 4. Progress Log

### Session 2 - 2026-01-31 09:00
```

## Instead

Move what is worth keeping into the first one and delete the second heading. Until then no other rule checks the second
one. There is no fix, since only you can decide which of two texts is right.
"""

from __future__ import annotations

from taskstate.lint.diagnostics import Diagnostics, Rule
from taskstate.lint.facts.wording import line_of
from taskstate.typed import TYPE_CHECKING

if TYPE_CHECKING:
    from taskstate.lint.facts.file_facts import Facts

RULE = Rule.of("TS203", __name__, "the same section is there twice")


def check(facts: Facts) -> Diagnostics:
    """Yield a finding for a section whose title an earlier one has; of several, as of a doubled text, only one."""
    for part, again, first_part in facts.repeated_parts:
        line = line_of(facts.document, first_part.span)
        help_ = f"only the one in line {line} is read: move what is worth keeping there, and delete this heading"
        yield RULE.at(again.heading, f"{part.name!r} is here again", help=help_)
    repeated = facts.outline.repeated
    if len(repeated) > 1:
        yield RULE.at(
            repeated[0][1].heading,
            _several([spec.name for spec, _ in repeated]),
            help="only the first of each is read: move what is worth keeping there, and delete these",
        )
        return
    for spec, section in repeated:
        first = facts.outline.section(spec)
        line = line_of(facts.document, first.span) if first else 0
        yield RULE.at(
            section.heading,
            f"the section {spec.name!r} is here again",
            help=f"only the one in line {line} is read: move what is worth keeping there, and delete this heading",
        )


def _several(names: list[str]) -> str:
    if len(set(names)) == 1:
        return f"the section {names[0]!r} appears {len(names)} more times from here on"
    return f"{len(names)} sections appear a second time from here on, {names[0]!r} to {names[-1]!r}"
