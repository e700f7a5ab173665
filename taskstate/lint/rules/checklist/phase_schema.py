"""phase-schema: a phase does not meet its schema, or works on an objective that it does not have.

## What

Below the checklist's fence, each heading `### Phase <P>: <name>` holds one json fence with the phase's objectives, the
one that is worked on, and what was tried. Each value that breaks the schema is one finding, at its own line, with its
path such as `objectives[1].status` (counted from 0); so is a `current_objective` that is the id of no objective, or
null while an objective is in progress or not begun; an id that two objectives have; and a `phase` that is not the one
of the heading. A heading without any json fence, or with a second one, is a finding too, and so is a second heading of
the same phase; a placeholder in the fence's place is none.

## Why

Whoever takes over in the middle of a phase begins with the current objective. Where the fence names none that exists,
the successor guesses, and tries again what has failed already.

## Example

```json
{
  "phase": 1, "phase_name": "Tokens", "started_at": "2026-01-31T12:00:00Z", "last_updated": null,
  "objectives": [{"id": 1, "description": "Issue tokens", "status": "doing"}],
  "current_objective": 2, "approaches_tried": [], "handoff_count": 0
}
```

## Instead

`status` is one of not_started, in_progress, done and blocked, and `current_objective` is an id of the list, or null
when none is open:

```json
  "objectives": [{"id": 1, "description": "Issue tokens", "status": "in_progress"}],
  "current_objective": 1, "approaches_tried": [], "handoff_count": 0
```

The schema itself is `schemas/phase.schema.json`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from taskstate.lint.diagnostics import Diagnostic, Rule
from taskstate.lint.facts.wording import first_line_of
from taskstate.lint.rules.phases import faults_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from taskstate.lint.facts.file_facts import Facts
    from taskstate.syntax.document import Document

RULE = Rule(
    code="TS306",
    name="phase-schema",
    summary="a phase fence does not meet its schema, or `current_objective` names none",
)


def check(document: Document, facts: Facts) -> Iterator[Diagnostic]:
    """Yield what is wrong with each phase: its fence missing, a second one, or what stands in it."""
    seen: set[str] = set()
    for phase in facts.phases:
        if phase.name.casefold() in seen:
            yield RULE.at(
                phase.section.heading,
                f"phase {phase.name} stands twice",
                help="put both into one, or give one of them another number here and in its fence",
            )
        seen.add(phase.name.casefold())
        if not phase.fences and not facts.kind.is_placeholder(phase.section.own.of(document.text)):
            yield RULE.at(
                phase.section.heading,
                f"phase {phase.name} has no json fence",
                help="add a fence marked `json` that holds its objectives; `taskstate rule TS306` shows the form",
            )
        for fence in phase.fences[1:]:
            yield RULE.at(
                first_line_of(document, fence.span),
                f"a second json fence in phase {phase.name}: only the first is read",
                help="put its content into the first one, or give it a heading of its own",
            )
        if phase.value:
            yield from faults_of(phase.value, document, RULE, name=phase.name, where="its heading")
