"""placeholder: template text is left in a part that must be written by now.

## What

A placeholder is a subsection whose whole content is one line in emphasis or in parentheses, such as `*To be
completed.*` or `(To be completed.)`; the same words within other text are not. While a task is `created`, any part may
be a placeholder. From `in_progress` on, Task Description and Acceptance Criteria may not; a `complete` task has a
Summary, and at least one of the other parts of Chain Output. In a permanent task, User Intent must be written from
`in_progress` on. The finding is at the placeholder. Not reported is what an event `waived` of `audit.events` lists,
unless the task was reopened since; an event without a list was written by hand and waives everything.

## Why

A task in progress without a description, or a complete one that hands nothing on, looks fine in every list. Tasks that
depend on it find out late.

## Example

```markdown
---
status: in_progress
---

### Task Description

*To be completed.*
```

## Instead

Write the part, or set `status` back to `created` until it is written:

```markdown
### Task Description

Issue and verify JSON Web Tokens for the login flow.
```
"""

from __future__ import annotations

from taskstate.lint.diagnostics import Diagnostics, Rule
from taskstate.lint.facts.outline import is_empty, subsection
from taskstate.lint.facts.waivers import Waivers, read_waivers
from taskstate.model.statuses import COMPLETE
from taskstate.syntax.spans import Span
from taskstate.typed import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from taskstate.lint.facts.file_facts import Facts
    from taskstate.lint.facts.outline import Placed
    from taskstate.model.document_kinds import SomeFilled
    from taskstate.syntax.document import Document

RULE = Rule.of("TS906", __name__, "template text is left in a part that must be written by now")


def check(facts: Facts) -> Diagnostics:
    """Yield a finding for each placeholder that the status does not allow, and for each group with nothing else."""
    document = facts.document
    status = facts.values.get("status")
    waivers = read_waivers(facts) if status == COMPLETE else Waivers()
    for placed in facts.unwritten_sections:
        for name, span in _required(document, placed, status):
            if facts.kind.is_placeholder(span.of(document.text)) and not waivers.covers(f"part:{name}"):
                yield RULE.at(
                    _line(document, span),
                    f"{name!r} is still a placeholder, and the status is `{status}`",
                    help="write what belongs there; only a task that is `created` may leave it open",
                )
        group = placed.spec.some_filled
        if group and status in group.statuses and not waivers.covers("output"):
            yield from _group(document, facts, placed, group)


def _required(document: Document, placed: Placed, status: object) -> Iterator[tuple[str, Span]]:
    """Yield the name and span of each part of a section that must be written in this status."""
    if status in placed.spec.must_be_filled:
        yield placed.spec.name, placed.section.own
    for spec in placed.spec.subsections:
        section = subsection(document, placed.section, spec) if status in spec.must_be_filled else None
        if section:
            yield spec.name, section.body


def _group(document: Document, facts: Facts, placed: Placed, group: SomeFilled) -> Diagnostics:
    """Yield a finding for a group of subsections that has nothing but placeholders, at the first of them."""
    text = document.text
    sections = [subsection(document, placed.section, spec) for spec in placed.spec.subsections if spec.name in group.of]
    parts = [section.body for section in sections if section and not is_empty(section.body.of(text))]
    if parts and all(facts.kind.is_placeholder(part.of(text)) for part in parts):
        yield RULE.at(
            _line(document, parts[0]),
            f"nothing but placeholders in {placed.spec.name!r}, and the status is `{' or '.join(group.statuses)}`",
            help=f"write at least one of {', '.join(group.of)}",
        )


def _line(document: Document, span: Span) -> Span:
    """Return the span of the placeholder itself, without the blank lines above and below."""
    text = span.of(document.text)
    start = span.start + len(text) - len(text.lstrip())
    return Span(start, start + len(text.strip()))
