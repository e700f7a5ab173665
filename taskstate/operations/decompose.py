"""`decompose`: suggests subtasks for a task that has grown too long, or creates them."""

from __future__ import annotations

from taskstate.messages import counted
from taskstate.operations.call import usage_error
from taskstate.operations.operation import TASK, Operation, switch
from taskstate.operations.result import Result, changed
from taskstate.typed import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from typing import Any

    from taskstate.operations.call import Call
    from taskstate.operations.operation import TaskId
    from taskstate.tasks.decompose import Suggestion

_COLUMNS = ("ID", "NAME", "SESSIONS", "WORK", "AFTER", "FEATURES")


class Decompose(NamedTuple):
    """The arguments of `decompose`."""

    id: TaskId = TASK
    apply: bool = switch("create the subtasks, and move the open features there")
    dismiss: bool = switch("suggest nothing until it has ten more sessions")


def decompose(call: Call, asked: Decompose) -> Result:
    """Suggest subtasks for a task that has grown too long; create them, or dismiss the suggestion for a while."""
    from taskstate.tasks import decompose as subtasks

    task = call.task_id(asked.id)
    if asked.dismiss:
        from taskstate.tasks.size_warning import dismiss

        return changed(call, dismiss(call.workspace, task, call.request()), "dismissed")
    if asked.apply:
        outcome = subtasks.decompose(call.workspace, task, call.request())
        text = f"divided into {', '.join(each.id for each in outcome.result.subtasks)}"
        return changed(call, outcome, text, **_shape(outcome.result))
    if call.conditions.expect or call.dry_run:
        raise usage_error(
            "without --apply or --dismiss nothing is written, so there is nothing to do dry or to expect a revision of",
            help="add --apply, or leave that flag out",
        )
    suggestion = subtasks.suggest(call.workspace, task)
    data = {"path": suggestion.path, "revision": suggestion.token, "changed": False, **_shape(suggestion)}
    return Result(data, _text(suggestion, call.width))


def _shape(suggestion: Suggestion) -> dict[str, Any]:
    """Return a suggestion as programs read it."""
    return {
        "id": suggestion.id,
        "pace": suggestion.pace._asdict(),
        "subtasks": [each._asdict() for each in suggestion.subtasks],
    }


def _text(suggestion: Suggestion, width: int) -> str:
    """Return a suggestion as a table."""
    from taskstate.views.layout import EMPTY, table

    rows = [_COLUMNS]
    for each in suggestion.subtasks:
        after = ", ".join(each.depends_on) or EMPTY
        rows.append((each.id, each.name, str(each.sessions), each.work, after, ", ".join(each.features)))
    pace, count = suggestion.pace, sum(len(each.features) for each in suggestion.subtasks)
    pace_text = f"{counted(pace.sessions, 'session')} for {counted(pace.features, 'feature')}"
    basis = "as so far" if pace.own else "assumed: none passes yet"
    head = f"task {suggestion.id}: {counted(count, 'open feature')}, at {pace_text} ({basis})"
    return "\n".join([head, "", *table(rows, width), "", f"`taskstate decompose {suggestion.id} --apply` creates them"])


DECOMPOSE = Operation(
    "decompose",
    "suggest subtasks for a task that has grown too long, or create them",
    decompose,
    Decompose,
    writes=True,
    apart=(("--apply", "--dismiss"),),
)
OPERATIONS = (DECOMPOSE,)
