"""`taskstate phase`: manages the phases of a task."""

from __future__ import annotations

from taskstate.cli.arguments import Parser
from taskstate.cli.invocation import Invocation, outcome_shape
from taskstate.messages import counted
from taskstate.model.statuses import DONE, OF_OBJECTIVES
from taskstate.typed import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from typing import Any


def configure(parser: Parser) -> None:
    """Declare the arguments."""
    add = parser.add_action("add", "add a phase", "Add a phase to the Feature Checklist.")
    _add_phase(add, "number or short name of the new phase")
    add.add_argument("--name", required=True, metavar="TEXT", help="title of the phase, in one line")
    add.add_repeatable("--objective", "TEXT", "objective, in one line", dest="objectives")
    add.add_writing(run=run_add)
    set_ = parser.add_action("set", "set the status of an objective", "Set the status of an objective.")
    _add_phase(set_)
    set_.add_argument("objective", metavar="N", help="id of the objective")
    set_.add_argument("--status", required=True, choices=OF_OBJECTIVES, help="new status")
    set_.add_argument("--note", metavar="TEXT", help="what is left to do, or what blocks it (default: keep the note)")
    set_.add_writing(run=run_set)
    extend = parser.add_action("extend", "add an objective", "Add one more objective to a phase.")
    _add_phase(extend)
    extend.add_argument("text", metavar="TEXT", help="objective, in one line")
    extend.add_writing(run=run_extend)
    tried = parser.add_action("tried", "record an attempt", "Record an approach that was tried in a phase.")
    _add_phase(tried)
    tried.add_argument("--approach", required=True, metavar="TEXT", help="approach that was tried")
    tried.add_argument("--result", required=True, metavar="TEXT", help="result of the approach, and its cause")
    tried.add_writing(run=run_tried)
    show = parser.add_action("show", "show the phases", "Show the phases of a task, or one of them.")
    show.add_argument("phase", metavar="P", nargs="?", help="phase to show (default: all)")
    show.add_common(run=run_show)
    export = parser.add_action("export", "export a phase as JSON", "Export a phase as a JSON progress file.")
    _add_phase(export)
    export.add_argument(
        "--output",
        metavar="FILE",
        help="output file (default: print it, and write to the task's artifacts; `-`: only print it)",
    )
    export.add_writing(run=run_export)


def _add_phase(parser: Parser, phase_help: str = "phase, such as 3") -> None:
    parser.add_argument("phase", metavar="P", help=phase_help)


def run_add(invocation: Invocation) -> int:
    """Add a phase."""
    from taskstate.handoff.phases import add_phase

    args = invocation.args
    objectives = tuple(invocation.text_of(text) for text in args.objectives)
    phase = (args.phase, invocation.text_of(args.name))
    outcome = add_phase(invocation.workspace, invocation.task, phase, objectives, invocation.request())
    return invocation.print_outcome(outcome, f"phase {args.phase} added", phase=args.phase)


def run_set(invocation: Invocation) -> int:
    """Set the status of an objective."""
    from taskstate.handoff.phases import ObjectiveUpdate, set_objective

    args = invocation.args
    update = ObjectiveUpdate(args.status, None if args.note is None else invocation.text_of(args.note))
    objective = (args.phase, args.objective)
    outcome = set_objective(invocation.workspace, invocation.task, objective, update, invocation.request())
    return invocation.print_outcome(outcome, f"objective {args.objective} of phase {args.phase} is {args.status}")


def run_extend(invocation: Invocation) -> int:
    """Add an objective."""
    from taskstate.handoff.phases import extend

    args = invocation.args
    outcome = extend(
        invocation.workspace, invocation.task, args.phase, invocation.text_of(args.text), invocation.request()
    )
    return invocation.print_outcome(outcome, f"an objective added to phase {args.phase}")


def run_tried(invocation: Invocation) -> int:
    """Record an approach that was tried."""
    from taskstate.handoff.phases import record_attempt

    args = invocation.args
    attempt = (invocation.text_of(args.approach), invocation.text_of(args.result))
    outcome = record_attempt(invocation.workspace, invocation.task, args.phase, attempt, invocation.request())
    return invocation.print_outcome(outcome, f"recorded what was tried in phase {args.phase}")


def run_show(invocation: Invocation) -> int:
    """Show the phases, or one; of a task without phases that there are none, whichever is asked for."""
    from taskstate.handoff.phases import find_phase, read_phases
    from taskstate.model.phases import phases_in

    state = invocation.load_task().state
    if invocation.args.phase is not None and phases_in(state):
        value = find_phase(state, invocation.args.phase).value
        return invocation.print_result(value, "\n".join(_table(value)))
    values = [phase.value for phase in read_phases(state)]
    text = "\n\n".join("\n".join(_table(value)) for value in values)
    return invocation.print_result({"phases": values}, text or f"task {state.id} has no phases")


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


def run_export(invocation: Invocation) -> int:
    """Export a phase as a JSON file."""
    from pathlib import Path

    from taskstate.handoff.phases import export, find_phase

    args, workspace = invocation.args, invocation.workspace
    task = invocation.task
    if args.output == "-":
        from taskstate.syntax.json_edit import json_text

        value = find_phase(workspace.load(workspace.locate(task)).state, args.phase).value
        return invocation.print_result(value, json_text(value))
    output = Path(args.output) if args.output is not None else None
    exported = export(workspace, task, args.phase, output, invocation.request())
    outcome = exported.outcome
    data = outcome_shape(outcome) | {"progress": exported.value}
    where = f"{outcome.path}: phase {args.phase} {'written' if outcome.changed else 'was there already'}"
    if args.dry_run or output is None:
        invocation.print_notes(() if args.dry_run or invocation.as_json else (where,))
        return invocation.print_result(data, exported.text)
    return invocation.print_result(data, where)
