"""`criterion`: adds, checks and unchecks acceptance criteria."""

from __future__ import annotations

from taskstate.operations.operation import TASK, Operation, positional
from taskstate.operations.result import changed
from taskstate.typed import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from taskstate.operations.call import Call
    from taskstate.operations.operation import TaskId, Text
    from taskstate.operations.result import Result


class Add(NamedTuple):
    """The arguments of `criterion add`."""

    id: TaskId = TASK
    criteria: tuple[Text, ...] = positional("TEXT", "text of the criterion", is_required=True)


class Criterion(NamedTuple):
    """The arguments of `criterion check` and `criterion uncheck`."""

    id: TaskId = TASK
    number: int = positional("N", "number of the criterion, counted from 1")


def add(call: Call, asked: Add) -> Result:
    """Add acceptance criteria, unchecked; a sealed context is sealed again in the same write."""
    from taskstate.tasks.edit import add_criteria

    outcome = add_criteria(call.workspace, call.task_id(asked.id), asked.criteria, call.request())
    return changed(call, outcome, f"{len(asked.criteria)} criteria added" if asked.criteria[1:] else "criterion added")


def check(call: Call, asked: Criterion) -> Result:
    """Check an acceptance criterion."""
    return _set(call, asked, checked=True)


def uncheck(call: Call, asked: Criterion) -> Result:
    """Uncheck an acceptance criterion."""
    return _set(call, asked, checked=False)


def _set(call: Call, asked: Criterion, *, checked: bool) -> Result:
    from taskstate.tasks.checklist import set_criterion

    outcome = set_criterion(call.workspace, call.task_id(asked.id), asked.number, call.request(), checked=checked)
    return changed(call, outcome, f"criterion {asked.number} {'checked' if checked else 'unchecked'}")


OPERATIONS = (
    Operation("criterion add", "add criteria", add, Add, writes=True),
    Operation("criterion check", "check a criterion", check, Criterion, writes=True),
    Operation("criterion uncheck", "uncheck a criterion", uncheck, Criterion, writes=True),
)
