"""placeholder: template text is left in a part that must be written by now.

## What

A placeholder is a part whose whole content is one line in emphasis, such as `*To be completed.*`; the same words
within other text are none. While a task is `created`, any part may be one. From `in_progress` on, Task Description and
Acceptance Criteria may not; a `complete` task has a Summary, and at least one of the other parts of Chain Output. In a
permanent task, User Intent must be written from `in_progress` on. The finding stands at the placeholder. Nothing is
said of what an event `waived` of `audit.events` lists, unless the task was reopened since; an event that somebody wrote
without that list lets everything pass.

## Why

A task that is worked on without a description, or that is complete and hands nothing on, looks fine in every list.
Whoever depends on it finds out late.

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

from typing import TYPE_CHECKING

from taskstate.lint.diagnostics import Diagnostic, Rule
from taskstate.lint.facts.outline import is_empty, subsection
from taskstate.lint.facts.waivers import Waivers, read_waivers
from taskstate.model.statuses import COMPLETE
from taskstate.syntax.spans import Span

if TYPE_CHECKING:
    from collections.abc import Iterator

    from taskstate.lint.facts.file_facts import Facts
    from taskstate.lint.facts.outline import Placed
    from taskstate.model.document_kinds import SomeFilled
    from taskstate.syntax.document import Document

RULE = Rule(code="TS906", name="placeholder", summary="template text is left in a part that must be written by now")


def check(document: Document, facts: Facts) -> Iterator[Diagnostic]:
    """Yield each placeholder that the status no longer allows, and one for a group that has nothing else."""
    status = facts.values.get("status")
    let_pass = read_waivers(facts) if status == COMPLETE else Waivers()
    for placed in facts.outline.present:
        for name, span in _required(document, placed, status):
            if facts.kind.is_placeholder(span.of(document.text)) and not let_pass.covers(f"part:{name}"):
                yield RULE.at(
                    _line(document, span),
                    f"{name!r} is still a placeholder, and the task is {status}",
                    help="write what belongs there; only a task that is `created` may leave it open",
                )
        group = placed.spec.some_filled
        if group and status in group.statuses and not let_pass.covers("output"):
            yield from _group(document, facts, placed, group)


def _required(document: Document, placed: Placed, status: object) -> Iterator[tuple[str, Span]]:
    """Yield name and place of the parts of a section that must be filled in this status."""
    if status in placed.spec.must_be_filled:
        yield placed.spec.name, placed.section.own
    for spec in placed.spec.subsections:
        section = subsection(document, placed.section, spec) if status in spec.must_be_filled else None
        if section:
            yield spec.name, section.body


def _group(document: Document, facts: Facts, placed: Placed, group: SomeFilled) -> Iterator[Diagnostic]:
    """Yield the first placeholder of a group of subsections none of which is written."""
    text = document.text
    sections = [subsection(document, placed.section, spec) for spec in placed.spec.subsections if spec.name in group.of]
    parts = [section.body for section in sections if section and not is_empty(section.body.of(text))]
    if parts and all(facts.kind.is_placeholder(part.of(text)) for part in parts):
        yield RULE.at(
            _line(document, parts[0]),
            f"nothing but placeholders in {placed.spec.name!r}, and the task is {' or '.join(group.statuses)}",
            help=f"write at least one of {', '.join(group.of)}",
        )


def _line(document: Document, span: Span) -> Span:
    """Return the place of the placeholder itself, without the blank lines around it."""
    text = span.of(document.text)
    start = span.start + len(text) - len(text.lstrip())
    return Span(start, start + len(text.strip()))
