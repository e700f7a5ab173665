"""phase-schema: a phase does not meet its schema, or works on an objective that it does not have.

## What

Below the checklist's fence, each heading `### Phase <P>: <name>` has one json fence with the phase's objectives, the
current one, and the approaches tried. There is one finding for each value that breaks the schema, at its own line, with
its path such as `objectives[1].status` (counted from 0). Also reported are a `current_objective` that is the id of no
objective, or null while an objective is in progress or not begun; an id that two objectives have; and a `phase` that
differs from the heading. A heading without a json fence, or with a second one, is a finding too, and so is a second
heading of the same phase; a placeholder instead of the fence is allowed.

Warnings are: a `phase_name` that differs from the heading; a `current_objective` that is not in progress while another
one is; and, unless it was committed so, one that is done, `started_at: null` although an objective was begun, a
`last_updated` in the future or before `started_at`, and a `handoff_count` that no handoff explains.

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

from collections import Counter

from taskstate.lint.diagnostics import WARNING, Diagnostic, Diagnostics, Rule
from taskstate.lint.facts.moments import is_timestamp
from taskstate.lint.facts.session_history import comparable
from taskstate.lint.facts.wording import cut, first_line_of, shown
from taskstate.model.statuses import DONE, IN_PROGRESS, NOT_STARTED
from taskstate.typed import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from taskstate.lint.facts.feature_facts import Phase
    from taskstate.lint.facts.file_facts import Facts
    from taskstate.lint.facts.json_values import JsonValue
    from taskstate.syntax.nodes import Node

RULE = Rule.of("TS306", __name__, "a phase fence does not meet its schema, or `current_objective` names none")

_BOTH = "write the same in both places"
_COUNT = "handoff_count"


def check(facts: Facts) -> Diagnostics:
    """Yield a finding for each fault of a phase: a repeated heading, a missing or second fence, or its content."""
    names = Counter(phase.name.casefold() for phase in facts.phases)
    committed = {phase.name.casefold() for then in comparable(facts) for phase in then.phases}
    seen: set[str] = set()
    for phase in facts.phases:
        is_again = phase.name.casefold() in seen
        seen.add(phase.name.casefold())
        if is_again and _number(phase.value) in {"", phase.name}:  # else told below: its fence says which one it is
            yield RULE.at(
                phase.section.heading,
                f"phase {phase.name} is there twice",
                help="put both into one, or give one of them another number here and in its fence",
            )
        yield from _fences(phase, facts, is_alone=names[phase.name.casefold()] == 1)
        if phase.value:
            numbers = (_number(phase.value), phase.name) if is_again else (phase.name, _number(phase.value))
            right = next((name for name in numbers if name.casefold() in committed), "")
            for each in faults_of(phase.value, facts, RULE, name=phase.name, where="its heading"):
                yield _as_committed(each, phase, right) if right and each.help == _BOTH else each
            yield from _other_name(phase, facts)
            yield from _uncounted(phase, facts)


def _fences(phase: Phase, facts: Facts, *, is_alone: bool) -> Diagnostics:
    """Yield a finding for a phase without a json fence, and for each fence beside the first.

    Of two headings of one phase, one that is not `is_alone`, it is said that they are two.
    """
    document = facts.document
    if is_alone and not phase.fences and not facts.kind.is_placeholder(phase.section.own.of(document.text)):
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


def _as_committed(found: Diagnostic, phase: Phase, right: str) -> Diagnostic:
    """Return a finding about two numbers of a phase at the wrong one, with the one that was committed."""
    named = found._replace(help=f"write {cut(right)} in both places, as committed")
    return named._replace(span=phase.section.heading) if right == _number(phase.value) != phase.name else named


def _number(value: JsonValue | None) -> str:
    number = value.root.get("phase") if value else None
    return number.text if number else ""


def _other_name(phase: Phase, facts: Facts) -> Diagnostics:
    """Yield a warning where a phase has another name than its heading."""
    name = phase.sound("phase_name")
    if name and phase.title and " ".join(name.text.casefold().split()) != " ".join(phase.title.casefold().split()):
        message = f"`phase_name` is {shown(name.text)}, and its heading says {shown(phase.title)}"
        is_heading = facts.was_there(name.text) and not facts.was_there(phase.section.title)
        yield RULE.at(phase.section.heading if is_heading else name.span, message, help=_BOTH, severity=WARNING)


def _uncounted(phase: Phase, facts: Facts) -> Diagnostics:
    """Yield a warning where the number of a phase's handoffs changed as neither `handoffs` nor the documents did."""
    count, here = phase.sound(_COUNT), facts.blocks.handoffs.number
    earlier = [(then, each) for then in facts.past or () for each in then.phases if each.name == phase.name]
    known = [(old.value(), here - then.blocks.handoffs.number) for then, each in earlier if (old := each.sound(_COUNT))]
    if count is None or not known or any(old <= count.value() <= old + max(more, 0) for old, more in known):
        return
    written = facts.queries.handoffs()
    if written is not None and count.value() != sum(each.phase.casefold() == phase.name.casefold() for each in written):
        message = f"`{_COUNT}` is {count.text} and was {known[0][0]}, and no handoff was written that explains it"
        yield RULE.at(count.span, message, help=f"write {known[0][0]}; commands count them", severity=WARNING)


def faults_of(value: JsonValue, facts: Facts, rule: Rule, *, name: str, where: str) -> Diagnostics:
    """Yield a finding for each fault of a phase: violations of the schema, and contradictions.

    `name` is the number of the phase according to `where`: its heading, or the file's name.
    """
    past = [each.value for then in comparable(facts) for each in then.phases if each.value and each.name == name]
    yield from value.schema_findings(facts.document, rule, past)
    yield from _twice(value, rule)
    yield from _times(value, facts, rule)
    current, number = value.root.get("current_objective"), value.root.get("phase")
    if current and current.value() is None:
        yield from _none_current(value, current, rule)
    elif current:
        yield from _no_such_current(value, current, rule)
        yield from _other_current(value, current, facts, rule)
    if number and value.is_sound("phase") and number.text != name:
        yield rule.at(number.span, f"`phase` is {number.text}, and {where} says {name}", help=_BOTH)


def _none_current(value: JsonValue, current: Node, rule: Rule) -> Diagnostics:
    """Yield a finding where no objective is the current one, and one is open."""
    open_id = _first_open(value)
    if open_id:
        yield rule.at(
            current.span,
            f"`current_objective` is null, and objective {open_id} is open",
            help=f"name the one that is worked on, such as {open_id}; null says that none is open",
        )


def _no_such_current(value: JsonValue, current: Node, rule: Rule) -> Diagnostics:
    """Yield a finding where no objective has the id of the current one."""
    ids = list(_objectives(value))
    if None in ids or current.text in ids or not value.is_sound("current_objective"):
        return
    known, or_null = ", ".join(filter(None, ids)), "" if _first_open(value) else ", or null"
    help_ = f"name one of {known}{or_null}" if ids else "write null, since there is no objective"
    yield rule.at(current.span, f"`current_objective` is {current.text}, and no objective has this id", help=help_)


def _other_current(value: JsonValue, current: Node, facts: Facts, rule: Rule) -> Diagnostics:
    """Yield a warning where the current objective is done, or another one is in progress."""
    open_id, statuses = _first_open(value), dict(_statuses(value))
    status = statuses.get(current.text)
    is_other = status not in {None, IN_PROGRESS} and statuses.get(open_id or "") == IN_PROGRESS
    if is_other or (status == DONE and not facts.was_there(value.root.span.of(facts.document.text))):
        yield rule.at(
            current.span,
            f"`current_objective` is {current.text}, which is {status}{f', and {open_id} is open' if open_id else ''}",
            help=f"name the one that is worked on: {open_id}" if open_id else "write null: no objective is open",
            severity=WARNING,
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
    objectives = list(_statuses(value))
    return next((name for open_ in (IN_PROGRESS, NOT_STARTED) for name, status in objectives if status == open_), None)


def _statuses(value: JsonValue) -> Iterator[tuple[str, str]]:
    """Yield id and status of each objective that has both, where the list meets its schema."""
    node = value.root.get("objectives") if value.is_sound("objectives") else None
    for item in node.items if node else ():
        name, status = item.get("id"), item.get("status")
        if name and status:
            yield name.text, status.text


def _times(value: JsonValue, facts: Facts, rule: Rule) -> Diagnostics:
    """Yield a warning about a beginning that is not told, or about an update that cannot be; not where that is old."""
    started, updated = value.root.get("started_at"), value.root.get("last_updated")
    if not started or not updated or facts.was_there(value.root.span.of(facts.document.text)):
        return
    wrong = None
    if facts.past and started.value() is None and {status for _, status in _statuses(value)} & {IN_PROGRESS, DONE}:
        wrong = started, "`started_at` is null, and the objectives were begun"
    elif is_timestamp(updated.text) and is_timestamp(started.text) and updated.text < started.text:
        wrong = updated, f"`last_updated` is {updated.text}, which is before `started_at`, {started.text}"
    elif is_timestamp(updated.text) and facts.queries.is_future(updated.text):
        wrong = updated, f"`last_updated` is {updated.text}, which is in the future"
    if wrong:
        yield rule.at(wrong[0].span, wrong[1], help="write when it was, in UTC", severity=WARNING)


def _objectives(value: JsonValue) -> Iterator[str | None]:
    """Yield the ids of the objectives, None for an id that breaks the schema."""
    node = value.root.get("objectives")
    if node is None or node.kind != "sequence":
        yield None
        return
    for index, item in enumerate(node.items):
        id_node = item.get("id") if value.is_sound("objectives", index, "id") else None
        yield id_node.text if id_node else None
