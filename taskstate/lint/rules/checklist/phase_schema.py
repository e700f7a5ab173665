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
from taskstate.model.statuses import IN_PROGRESS, NOT_STARTED

if TYPE_CHECKING:
    from collections.abc import Iterator

    from taskstate.lint.facts.file_facts import Facts
    from taskstate.lint.facts.json_values import JsonValue
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


def faults_of(value: JsonValue, document: Document, rule: Rule, *, name: str, where: str) -> Iterator[Diagnostic]:
    """Yield what is wrong with a phase that `where` calls `name`: what breaks the schema, and what contradicts it."""
    yield from value.schema_findings(document, rule)
    yield from _twice(value, rule)
    current, told = value.root.get("current_objective"), value.root.get("phase")
    if current and value.is_sound("current_objective") and current.value() is not None:
        known = list(_objectives(value))
        if None not in known and current.text not in known:
            yield rule.at(
                current.span,
                f"`current_objective` is {current.text}, and no objective has this id",
                help=f"name one of {', '.join(each for each in known if each)}, or null"
                if known
                else "write null, since there is no objective",
            )
    waiting = _first_open(value) if current and current.value() is None else None
    if current and waiting:
        yield rule.at(
            current.span,
            f"`current_objective` is null, and objective {waiting} is open",
            help=f"name the one that is worked on, such as {waiting}; null says that none is open",
        )
    if told and value.is_sound("phase") and told.text != name:
        yield rule.at(
            told.span,
            f"`phase` is {told.text}, and {where} says {name}",
            help="write the same in both places",
        )


def _twice(value: JsonValue, rule: Rule) -> Iterator[Diagnostic]:
    """Yield each objective whose id another one before it has."""
    node = value.root.get("objectives")
    seen: set[str] = set()
    for index, name in enumerate(_objectives(value)):
        found = node.items[index].get("id") if node and name is not None else None
        if found and name in seen:
            yield rule.at(
                found.span,
                f"a second objective has the id {name}",
                help="give it an id of its own, so that `taskstate phase set` can tell both apart",
            )
        seen.add(name or "")


def _first_open(value: JsonValue) -> str | None:
    """Return the id of the first objective that somebody works on, or else that nobody has begun, or None.

    What is blocked waits for something else, so that a phase by hand may name none then.
    """
    node = value.root.get("objectives")
    if node is None or not value.is_sound("objectives"):
        return None
    told = [(item.get("id"), item.get("status")) for item in node.items]
    for wanted in (IN_PROGRESS, NOT_STARTED):
        for name, status in told:
            if name and status and status.text == wanted:
                return name.text
    return None


def _objectives(value: JsonValue) -> Iterator[str | None]:
    """Yield the ids of the objectives, None for one that cannot be relied on."""
    node = value.root.get("objectives")
    if node is None or node.kind != "sequence":
        yield None
        return
    for index, item in enumerate(node.items):
        found = item.get("id") if value.is_sound("objectives", index, "id") else None
        yield found.text if found else None
