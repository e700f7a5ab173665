"""`next`: which task and feature to work on next, and why."""

from __future__ import annotations

from taskstate.operations.call import usage_error
from taskstate.operations.operation import Operation, option
from taskstate.operations.result import Result
from taskstate.typed import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from typing import Any

    from taskstate.operations.call import Call
    from taskstate.tasks.next_task import Choice, Ready

_MAX_LISTED = 10  # waiting tasks listed, or ready tasks in JSON


class Next(NamedTuple):
    """The arguments of `next`."""

    number: int = option("N", "number of ready tasks to show (default: 1)", flag="count", default=1)


def next_(call: Call, asked: Next) -> Result:
    """Show which task and feature to work on next, and why."""
    from taskstate.tasks.next_task import choose

    if asked.number < 1:
        raise usage_error(f"--count {asked.number} names nothing", help="give 1 or more")
    choice = choose(call.workspace, max(asked.number, _MAX_LISTED) if call.as_data else asked.number, actor=call.reader)
    call.report_all_damage(choice.unreadable)
    call.notes(choice.elsewhere)
    return Result(_shape(choice), "\n".join(_lines(choice)))


def _lines(choice: Choice) -> list[str]:
    ready = choice.order.ready
    if not ready:
        waiting = [f"  {each.task.id}  {each.task.title}: {each.why}" for each in choice.waiting[:_MAX_LISTED]]
        rest = len(choice.waiting) - len(waiting)
        return [choice.why, *waiting, *([f"  and {rest} more"] if rest else [])]
    first = ready[0].task
    lines = [f"{first.id}  {first.title}"]
    if choice.feature:
        lines.append(f"  feature {choice.feature.id}: {choice.feature.description}")
    lines.append(f"  why: {choice.why}")
    if len(ready) > 1:
        lines += ["  then:", *(f"    {_ready_line(each)}" for each in ready[1:])]
    return lines


def _ready_line(ready: Ready) -> str:
    task = ready.task
    details = [task.status, *filter(None, [task.priority])]
    if ready.unblocks:
        details.append(f"{ready.unblocks} waiting for it")
    if task.open_turn:
        details.append(task.open_turn.words)
    return f"{task.id}  {task.title} ({', '.join(details)})"


def _shape(choice: Choice) -> dict[str, Any]:
    feature, ready = choice.feature, choice.order.ready
    return {
        "task": _task(ready[0]) if ready else None,
        "feature": {"id": feature.id, "description": feature.description} if feature else None,
        "why": choice.why,
        "ready": [_task(each) for each in ready],
        "ready_total": choice.order.total,
        "waiting": [{"id": each.task.id, "why": each.why} for each in choice.waiting[:_MAX_LISTED]],
        "waiting_total": len(choice.waiting),
    }


def _task(ready: Ready) -> dict[str, Any]:
    task = ready.task
    shape = {"id": task.id, "path": task.path, "title": task.title, "status": task.status}
    turn = task.open_turn
    return shape | {
        "priority": task.priority or None,
        "unblocks": ready.unblocks,
        "turn": turn.shape if turn else None,
    }


OPERATIONS = (Operation("next", "show which task and feature to work on next, and why", next_, Next),)
