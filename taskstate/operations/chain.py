"""`chain`: shows the output of a task, pulls upstream outputs, and reports the state of inputs."""

from __future__ import annotations

from taskstate.errors import TaskstateError
from taskstate.operations.call import usage_error
from taskstate.operations.operation import TASK, Operation, option, positional, switch
from taskstate.operations.result import Result, changed, outcome_shape
from taskstate.syntax.spans import one_line
from taskstate.typed import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence
    from pathlib import Path
    from typing import Any

    from taskstate.chain.inputs import InputStatus, Link
    from taskstate.operations.call import Call, Source
    from taskstate.operations.operation import TaskId
    from taskstate.writing.change import Outcome


class Output(NamedTuple):
    """The arguments of `chain output`."""

    id: TaskId = TASK
    part: str = option("NAME", "print only this part, such as summary or api")
    code: bool = switch("print only the contents of code fences")


class SetPart(NamedTuple):
    """The arguments of `chain output set`."""

    id: TaskId = TASK
    part: str = positional("PART", "title or short name of the part: summary, files, api, configuration or notes")
    source: Source = option("FILE", "file with the new content; `-`: read stdin", flag="from", is_required=True)


class Pull(NamedTuple):
    """The arguments of `chain pull`."""

    ids: tuple[TaskId, ...] = positional("ID", "tasks: 101, #101, TASK-101, task-101-state.md or a path")
    all: bool = switch("pull into all tasks of the repository")
    source: str = option("UPSTREAM", "pull only the output of this task", flag="from")


class Status(NamedTuple):
    """The arguments of `chain status`."""

    ids: tuple[TaskId, ...] = positional("ID", "tasks to check (default: all that depend on another task)")


def output(call: Call, asked: Output) -> Result:
    """Print the Chain Output of a task, verbatim; `set` writes one part of it.

    Write `#set` for a task with the id `set`.
    """
    from taskstate.chain.inputs import output as read_output
    from taskstate.chain.output import find_parts, parts
    from taskstate.model.statuses import COMPLETE

    found = read_output(call.workspace, call.task_id(asked.id))
    chosen = find_parts(found.text, asked.part, found.id) if asked.part else parts(found.text)
    if found.status != COMPLETE:
        call.notes((f"task {found.id} is {found.status or 'of no status'}: this may still change",))
    text = "\n\n".join(part.text for part in chosen) if asked.part else found.text
    code = "\n".join(each for part in chosen for each in part.code)
    data = {"id": found.id, "path": found.path, "status": found.status, "complete": found.status == COMPLETE}
    shapes = [{"part": part.slug, "title": part.title, "text": part.text, "code": list(part.code)} for part in chosen]
    return Result(data | {"text": text, "parts": shapes}, code if asked.code else text, is_verbatim=True)


def set_part(call: Call, asked: SetPart) -> Result:
    """Write one part of the Chain Output of a task."""
    from taskstate.chain.output import set_part as write_part

    outcome = write_part(call.workspace, call.task_id(asked.id), asked.part, asked.source.text(), call.request())
    return changed(call, outcome, f"{outcome.result} written", part=outcome.result)


def pull(call: Call, asked: Pull) -> Result:
    """Update the Chain Inputs of tasks from the outputs of their upstream tasks."""
    from taskstate.chain.inputs import pull as pull_into

    if bool(asked.ids) == asked.all:
        raise usage_error("chain pull takes either the tasks' ids or --all", help="name the tasks, or give --all")
    if call.conditions.expect and len(asked.ids) != 1:
        raise usage_error("--expect-revision is that of one task", help="name that one alone")
    source = call.task_id(asked.source) if asked.source else ""
    if len(asked.ids) == 1:
        pulled = pull_into(call.workspace, call.task_id(asked.ids[0]), call.request(), source=source)
        inputs = pulled.result.rstrip("\n")
        return changed(call, pulled, f"inputs brought up to date\n{inputs}", diff=pulled.result)
    return _pull_all(call, asked, source)


def _pull_all(call: Call, asked: Pull, source: str) -> Result:
    """Pull into several tasks; a failure in one does not stop the others."""
    from taskstate.chain.inputs import pull as pull_into

    request = call.request()
    results: list[Outcome[str]] = []
    failed: list[str] = []
    tasks: Collection[str] = dict.fromkeys(map(call.task_id, asked.ids))
    if asked.all:
        tasks, unreadable = _dependents(call, source)
        failed += unreadable
    for task in call.workspace.counted("pulling", tasks):
        try:
            results.append(pull_into(call.workspace, task, request, source=source))
        except TaskstateError as error:
            failed.append(f"not pulled into task {task}: {error}")
    call.problems((*failed, *(warning for each in results for warning in each.warnings)))
    lines = [line for each in results for line in _lines(each)]
    data = {"tasks": [_shape(each) for each in results], "failed": failed}
    return Result(data, "\n".join(lines) or "nothing to pull", status=1 if failed else 0)


def _dependents(call: Call, source: str) -> tuple[list[str], tuple[str, ...]]:
    """Return the tasks that depend on any other one, or on the task `source`, and a line for each unreadable file."""
    statuses, unreadable = _statuses(call, ())
    source_key = source.casefold()
    dependents = (each for each in statuses if each.links and not each.is_dropped)
    ids = [each.id for each in dependents if any(source_key in ("", link.id.casefold()) for link in each.links)]
    return ids, unreadable


def _lines(outcome: Outcome[str]) -> list[str]:
    if not outcome.changed and not outcome.notes:
        return []
    head = outcome.path if outcome.changed else f"{outcome.path}: nothing to change"
    return [head, *(f"  {note}" for note in outcome.notes), *filter(None, [outcome.result.rstrip("\n")])]


def _shape(outcome: Outcome[str]) -> dict[str, Any]:
    return outcome_shape(outcome) | {"notes": list(outcome.notes), "diff": outcome.diff or outcome.result}


def status(call: Call, asked: Status) -> Result:
    """Show which Chain Inputs are missing, stale, unknown or circular.

    Exit with status 1 if any are.
    """
    statuses, unreadable = _statuses(call, asked.ids)
    call.problems(unreadable)
    shown = [each for each in statuses if (each.links and not each.is_dropped) or asked.ids]
    wrong = sum(link.is_wrong for each in shown for link in each.links)
    data = {"tasks": [_status_shape(each) for each in shown], "wrong": wrong, "unreadable": list(unreadable)}
    text = "\n".join(_table(each) for each in shown) or "no task builds on another one"
    return Result(data, text, status=1 if wrong or unreadable else 0)


def _statuses(call: Call, ids: Sequence[str]) -> tuple[tuple[InputStatus, ...], tuple[str, ...]]:
    from taskstate.chain.inputs import status as input_status

    named = dict.fromkeys(map(call.task_id, ids))
    paths = tuple(call.workspace.locate(each) for each in named) or _building(call)
    return input_status(call.workspace, paths)


def _building(call: Call) -> tuple[Path, ...]:
    """Return the paths of the tasks that build on another one, and of those whose file cannot be read as a whole."""
    from taskstate.views.task_list import list_tasks

    workspace, found = call.workspace, list_tasks(call.workspace)
    alone = {each.path for each in found.tasks if each.is_whole and not each.builds_on} - found.problems.keys()
    return tuple(path for path in workspace.state_files() if workspace.relative(path) not in alone)


def _status_shape(status: InputStatus) -> dict[str, Any]:
    return {"id": status.id, "path": status.path, "inputs": [_link_shape(each) for each in status.links]}


def _link_shape(link: Link) -> dict[str, Any]:
    changed = list(link.changed)
    return {"id": link.id, "state": link.state, "detail": link.detail, "changed_files": changed, "wrong": link.is_wrong}


def _table(status: InputStatus) -> str:
    """Return the state of the inputs of one task, one line each, with the changed files below."""
    lines = [f"{status.id}  {status.title}"]
    if not status.links:
        lines.append("  builds on no other task")
    width = max((len(link.id) for link in status.links), default=0)
    for link in status.links:
        lines.append(f"  {link.id.ljust(width)}  {link.state.ljust(10)}  {link.detail}".rstrip())
        lines += [f"  {' ' * width}  since it was completed: {each}" for each in link.changed]
    return "\n".join(map(one_line, lines))


OPERATIONS = (
    Operation("chain output", "print the output of a task", output, Output),
    Operation("chain output set", "write a part of the output of a task", set_part, SetPart, writes=True),
    Operation("chain pull", "pull the outputs of upstream tasks", pull, Pull, writes=True),
    Operation("chain status", "show the state of the inputs of tasks", status, Status),
)
