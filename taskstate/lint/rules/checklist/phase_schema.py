"""phase-schema: a phase does not meet its schema, or works on an objective that it does not have.

## What

Below the checklist's fence, each heading `### Phase <P>: <name>` has one json fence with the phase's objectives, the
current one, and the approaches tried. There is one finding for each value that breaks the schema, at its own line, with
its path such as `objectives[1].status` (counted from 0). Also reported are a `current_objective` that is the id of no
objective, or null while an objective is in progress or not begun; an id that two objectives have; and a `phase` that
differs from the heading. A heading without a json fence, or with a second one, is a finding too, and so is a second
heading of the same phase; a placeholder instead of the fence is allowed.

## Why

Whoever takes over in the middle of a phase begins with the current objective. If the fence names none that exists, the
successor guesses, and tries again what has failed already.

## Example

```json
{
  "phase": 1, "phase_name": "Tokens", "started_at": "2026-01-31T12:00:00Z", "last_updated": null,
  "objectives": [{"id": 1, "description": "Issue tokens", "status": "doing"}],
  "current_objective": 2, "approaches_tried": [], "handoff_count": 0
}
```

## Instead

`status` is one of not_started, in_progress, done and blocked, and `current_objective` is an id from the list, or null
when no objective is open:

```json
  "objectives": [{"id": 1, "description": "Issue tokens", "status": "in_progress"}],
  "current_objective": 1, "approaches_tried": [], "handoff_count": 0
```

The schema itself is `schemas/phase.schema.json`.
"""

from __future__ import annotations

from taskstate.lint.diagnostics import Diagnostics, Rule
from taskstate.lint.facts.wording import first_line_of
from taskstate.model.statuses import IN_PROGRESS, NOT_STARTED
from taskstate.typed import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from taskstate.lint.facts.file_facts import Facts
    from taskstate.lint.facts.json_values import JsonValue
    from taskstate.syntax.document import Document

RULE = Rule.of("TS306", __name__, "a phase fence does not meet its schema, or `current_objective` names none")


def check(facts: Facts) -> Diagnostics:
    """Yield a finding for each fault of a phase: a repeated heading, a missing or second fence, or its content."""
    document = facts.document
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


def faults_of(value: JsonValue, document: Document, rule: Rule, *, name: str, where: str) -> Diagnostics:
    """Yield a finding for each fault of a phase: violations of the schema, and contradictions.

    `name` is the number of the phase according to `where`: its heading, or the file's name.
    """
    yield from value.schema_findings(document, rule)
    yield from _twice(value, rule)
    current, number = value.root.get("current_objective"), value.root.get("phase")
    if current and value.is_sound("current_objective") and current.value() is not None:
        ids = list(_objectives(value))
        if None not in ids and current.text not in ids:
            yield rule.at(
                current.span,
                f"`current_objective` is {current.text}, and no objective has this id",
                help=f"name one of {', '.join(each for each in ids if each)}, or null"
                if ids
                else "write null, since there is no objective",
            )
    open_id = _first_open(value) if current and current.value() is None else None
    if current and open_id:
        yield rule.at(
            current.span,
            f"`current_objective` is null, and objective {open_id} is open",
            help=f"name the one that is worked on, such as {open_id}; null says that none is open",
        )
    if number and value.is_sound("phase") and number.text != name:
        yield rule.at(
            number.span,
            f"`phase` is {number.text}, and {where} says {name}",
            help="write the same in both places",
        )


def _twice(value: JsonValue, rule: Rule) -> Diagnostics:
    """Yield a finding for each objective whose id an earlier one has."""
    node = value.root.get("objectives")
    seen: set[str] = set()
    for index, name in enumerate(_objectives(value)):
        id_node = node.items[index].get("id") if node and name is not None else None
        if id_node and name in seen:
            yield rule.at(
                id_node.span,
                f"a second objective has the id {name}",
                help="give it an id of its own, so that `phase set` can tell both apart",
            )
        seen.add(name or "")


def _first_open(value: JsonValue) -> str | None:
    """Return the id of the first objective in progress, or else of the first not begun, or None.

    Blocked objectives do not count: while all others wait, a phase may have no current objective.
    """
    node = value.root.get("objectives")
    if node is None or not value.is_sound("objectives"):
        return None
    objectives = [(item.get("id"), item.get("status")) for item in node.items]
    for open_status in (IN_PROGRESS, NOT_STARTED):
        for name, status in objectives:
            if name and status and status.text == open_status:
                return name.text
    return None


def _objectives(value: JsonValue) -> Iterator[str | None]:
    """Yield the ids of the objectives, None for an id that breaks the schema."""
    node = value.root.get("objectives")
    if node is None or node.kind != "sequence":
        yield None
        return
    for index, item in enumerate(node.items):
        id_node = item.get("id") if value.is_sound("objectives", index, "id") else None
        yield id_node.text if id_node else None
