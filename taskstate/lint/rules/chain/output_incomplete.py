"""output-incomplete: a task is complete, and something that completion asks for is not there.

## What

The task's `status` is `complete`, but a feature of its checklist does not pass, an acceptance criterion is not checked,
the Summary of its Chain Output is absent or empty, or none of the other parts of the Chain Output is written. Each is
one finding, at its place. A feature with `moved_to` does not count. A placeholder in the Chain Output is told by TS906,
a section that is missing by TS201. Nothing is said of what an event `waived` of `audit.events` lists, unless the task
was reopened since; what was lost later is told. An event without that list is one that somebody wrote by hand, and lets
everything pass where `audit.seal` is sound.

## Why

Other tasks begin when this one is complete, and take over its Chain Output. What is not there is then found by somebody
who cannot mend it, while every list says that it is done.

## Example

```markdown
---
status: complete
---

### Acceptance Criteria

- [x] A token is issued on login
- [ ] Protected routes validate the token
```

## Instead

Finish it, or move the feature into a task of its own (`moved_to`), or set `status` back to `in_progress` until it is
done:

```markdown
- [x] A token is issued on login
- [x] Protected routes validate the token
```

`taskstate complete` lists all that is missing at once. What has to be let pass is recorded, with its reason, so that it
can be found again: `taskstate complete 101 --force --note "validation follows in 102"` leaves

```yaml
audit:
  events:
    - at: "2026-01-31T12:00:00Z"
      actor: ann
      event: waived
      note: "validation follows in 102"
      waived: ["criterion:2"]
      missing: ["criterion 2 is not checked: Protected routes validate the token"]
```
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from taskstate.lint.diagnostics import Diagnostic, Rule
from taskstate.lint.facts.outline import is_empty, subsection
from taskstate.lint.facts.waivers import read_waivers
from taskstate.lint.facts.wording import cut
from taskstate.model.statuses import COMPLETE

if TYPE_CHECKING:
    from collections.abc import Iterator

    from taskstate.lint.facts.file_facts import Facts
    from taskstate.lint.facts.outline import Placed
    from taskstate.lint.facts.waivers import Waivers
    from taskstate.syntax.document import Document

RULE = Rule(
    code="TS901",
    name="output-incomplete",
    summary="`status: complete` without a complete Chain Output, with failing features or unchecked criteria",
)

_HELP = "finish it, or set `status` back to in_progress"


def check(document: Document, facts: Facts) -> Iterator[Diagnostic]:
    """Yield what a complete task lacks, each at its place."""
    if facts.values.get("status") != COMPLETE:
        return
    let_pass = read_waivers(facts)
    for criterion in facts.state.criteria:
        if not criterion.checked and not let_pass.covers(f"criterion:{criterion.number}"):
            yield RULE.at(
                criterion.mark, f"the task is complete, and criterion {criterion.number} is not checked", help=_HELP
            )
    for feature in facts.checklist.counted if facts.checklist else ():
        passes = feature.node.get("passes")
        if passes and passes.value() is False and not let_pass.covers(f"feature:{feature.id}"):
            yield RULE.at(
                passes.span,
                f"the task is complete, and feature {cut(feature.id)} does not pass",
                help=f"{_HELP}; a feature that another task takes over has `moved_to`",
            )
    for placed in facts.outline.present:
        if placed.spec.some_filled and COMPLETE in placed.spec.some_filled.statuses:
            yield from _output(document, placed, let_pass)


def _output(document: Document, placed: Placed, let_pass: Waivers) -> Iterator[Diagnostic]:
    """Yield the parts of an output that are absent or empty, those that are absent as one finding at its heading."""
    lacking = []
    group = placed.spec.some_filled.of if placed.spec.some_filled else ()
    written = []
    for spec in placed.spec.subsections:
        section = subsection(document, placed.section, spec)
        empty = section is None or is_empty(section.body.of(document.text))
        needed = COMPLETE in spec.must_be_filled and not let_pass.covers(f"part:{spec.name}")
        if needed and section is None:
            lacking.append(f"{spec.name!r} is missing")
        elif needed and section and empty:
            yield RULE.at(
                section.heading, f"the task is complete, and {spec.name!r} is empty", help="say what was brought about"
            )
        if spec.name in group and not empty:
            written.append(spec.name)
    if group and not written and not let_pass.covers("output"):
        lacking.append(f"none of {', '.join(map(repr, group))} is written")
    if lacking:
        yield RULE.at(
            placed.section.heading,
            f"the task is complete, and in {placed.spec.name!r} {' and '.join(lacking)}",
            help="write what the tasks that depend on this one need",
        )
