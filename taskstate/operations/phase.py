"""`phase`: manages the phases of a task."""

from __future__ import annotations

from taskstate.messages import counted
from taskstate.model.statuses import DONE, OF_OBJECTIVES
from taskstate.operations.operation import TASK, Operation, option, positional
from taskstate.operations.result import Result, changed, outcome_shape
from taskstate.typed import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from typing import Any

    from taskstate.operations.call import Call
    from taskstate.operations.operation import TaskId, Text

_PHASE = positional("P", "phase, such as 3")


class Add(NamedTuple):
    """The arguments of `phase add`."""

    id: TaskId = TASK
    phase: str = positional("P", "number or short name of the new phase")
    name: Text = option("TEXT", "title of the phase, in one line", is_required=True)
    objectives: tuple[Text, ...] = option("TEXT", "objective, in one line", flag="objective")


class Set(NamedTuple):
    """The arguments of `phase set`."""

    id: TaskId = TASK
    phase: str = _PHASE
    objective: str = positional("N", "id of the objective")
    status: str = option("", "new status", choices=OF_OBJECTIVES, is_required=True)
    note: Text | None = option("TEXT", "what is left to do, or what blocks it (default: keep the note)")


class Extend(NamedTuple):
    """The arguments of `phase extend`."""

    id: TaskId = TASK
    phase: str = _PHASE
    text: Text = positional("TEXT", "objective, in one line")


class Tried(NamedTuple):
    """The arguments of `phase tried`."""

    id: TaskId = TASK
    phase: str = _PHASE
    approach: Text = option("TEXT", "approach that was tried", is_required=True)
    result: Text = option("TEXT", "result of the approach, and its cause", is_required=True)


class Show(NamedTuple):
    """The arguments of `phase show`."""

    id: TaskId = TASK
    phase: str | None = positional("P", "phase to show (default: all)")


class Export(NamedTuple):
    """The arguments of `phase export`."""

    id: TaskId = TASK
    phase: str = _PHASE
    output: str | None = option(
        "FILE", "output file (default: print it, and write to the task's artifacts; `-`: only print it)"
    )


def add(call: Call, asked: Add) -> Result:
    """Add a phase to the Feature Checklist."""
    from taskstate.handoff.phases import add_phase

    phase = (asked.phase, asked.name)
    outcome = add_phase(call.workspace, call.task_id(asked.id), phase, asked.objectives, call.request())
    return changed(call, outcome, f"phase {asked.phase} added", phase=asked.phase)


def set_(call: Call, asked: Set) -> Result:
    """Set the status of an objective."""
    from taskstate.handoff.phases import ObjectiveUpdate, set_objective

    update, objective = ObjectiveUpdate(asked.status, asked.note), (asked.phase, asked.objective)
    outcome = set_objective(call.workspace, call.task_id(asked.id), objective, update, call.request())
    return changed(call, outcome, f"objective {asked.objective} of phase {asked.phase} is {asked.status}")


def extend(call: Call, asked: Extend) -> Result:
    """Add one more objective to a phase."""
    from taskstate.handoff.phases import extend as add_objective

    outcome = add_objective(call.workspace, call.task_id(asked.id), asked.phase, asked.text, call.request())
    return changed(call, outcome, f"an objective added to phase {asked.phase}")


def tried(call: Call, asked: Tried) -> Result:
    """Record an approach that was tried in a phase."""
    from taskstate.handoff.phases import record_attempt

    attempt = (asked.approach, asked.result)
    outcome = record_attempt(call.workspace, call.task_id(asked.id), asked.phase, attempt, call.request())
    return changed(call, outcome, f"recorded what was tried in phase {asked.phase}")


def show(call: Call, asked: Show) -> Result:
    """Show the phases of a task, or one of them."""
    from taskstate.handoff.phases import find_phase, read_phases
    from taskstate.model.phases import phases_in

    state = call.load(asked.id).state
    if asked.phase is not None and phases_in(state):  # of a task without phases that there are none, whichever is asked
        value = find_phase(state, asked.phase).value
        return Result(value, "\n".join(_table(value)))
    values = [phase.value for phase in read_phases(state)]
    text = "\n\n".join("\n".join(_table(value)) for value in values)
    return Result({"phases": values}, text or f"task {state.id} has no phases")


def _table(phase: Mapping[str, Any]) -> Iterator[str]:
    """Yield the lines of a phase: its title, its objectives, and the approaches tried."""
    objectives = phase["objectives"]
    done = sum(each["status"] == DONE for each in objectives)
    progress = f"{done} of {len(objectives)} done, {counted(phase['handoff_count'], 'handoff')}"
    yield f"Phase {phase['phase']}: {_flat(phase['phase_name'])} ({progress})"
    for each in objectives:
        mark = ">" if each["id"] == phase["current_objective"] else " "
        note = f" ({_flat(each['note'])})" if each.get("note") else ""
        yield f"{mark} {each['id']!s:>3}  {each['status']:11}  {_flat(each['description'])}{note}"
    for each in phase["approaches_tried"]:
        yield f"  tried  {_flat(each['approach'])}: {_flat(each['result'])}"


def _flat(text: str) -> str:
    return " ".join(text.split())


def export(call: Call, asked: Export) -> Result:
    """Export a phase as a JSON progress file."""
    from pathlib import Path

    from taskstate.handoff.phases import export as export_phase
    from taskstate.handoff.phases import find_phase

    if asked.output == "-":
        from taskstate.syntax.json_edit import json_text

        value = find_phase(call.load(asked.id).state, asked.phase).value
        return Result(value, json_text(value), is_verbatim=True)
    output = Path(asked.output) if asked.output is not None else None
    exported = export_phase(call.workspace, call.task_id(asked.id), asked.phase, output, call.request())
    outcome = exported.outcome
    data = outcome_shape(outcome) | {"progress": exported.value}
    where = f"{outcome.path}: phase {asked.phase} {'written' if outcome.changed else 'was there already'}"
    if call.dry_run or output is None:
        call.notes(() if call.dry_run or call.as_data else (where,))
        return Result(data, exported.text, is_verbatim=True)
    return Result(data, where, is_verbatim=True)


OPERATIONS = (
    Operation("phase add", "add a phase", add, Add, writes=True),
    Operation("phase set", "set the status of an objective", set_, Set, writes=True),
    Operation("phase extend", "add an objective", extend, Extend, writes=True),
    Operation("phase tried", "record an attempt", tried, Tried, writes=True),
    Operation("phase show", "show the phases", show, Show),
    Operation("phase export", "export a phase as JSON", export, Export, writes=True),
)
