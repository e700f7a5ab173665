"""`taskstate chain`: shows the output of a task, pulls upstream outputs, and reports the state of inputs."""

from __future__ import annotations

from taskstate.cli.arguments import Parser, usage_error
from taskstate.cli.invocation import Invocation, outcome_shape
from taskstate.errors import TaskstateError
from taskstate.syntax.spans import one_line
from taskstate.typed import TYPE_CHECKING

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterable
    from typing import Any

    from taskstate.tasks.chain_inputs import InputStatus, Link
    from taskstate.workspace.change import Outcome

_SET, _SET_WORDS = "set", 3
_SET_HELP = "`chain output ID` prints; `chain output set ID PART --from FILE` writes"


def configure(parser: Parser) -> None:
    """Declare the arguments."""
    _configure_output(parser)
    pull = parser.add_action(
        "pull",
        "pull the outputs of upstream tasks",
        "Update the Chain Inputs of tasks from the outputs of their upstream tasks.",
        task=False,
    )
    pull.add_argument("ids", metavar="ID", nargs="*", help="tasks: 101, #101, TASK-101, task-101-state.md or a path")
    pull.add_argument("--all", action="store_true", help="pull into all tasks of the repository")
    pull.add_argument("--from", dest="source", metavar="UPSTREAM", help="pull only the output of this task")
    pull.add_writing(run=run_pull)
    status = parser.add_action(
        "status",
        "show the state of the inputs of tasks",
        "Show which Chain Inputs are missing, stale, unknown or circular. Exit with status 1 if any are.",
        task=False,
    )
    status.add_argument(
        "ids", metavar="ID", nargs="*", help="tasks to check (default: all that depend on another task)"
    )
    status.add_common(run=run_status)


def _configure_output(parser: Parser) -> None:
    output = parser.add_action(
        "output",
        "print the output of a task, or write a part of it",
        "Print the Chain Output of a task, verbatim; `set` writes one part of it.",
        task=False,
    )
    output.usage = (
        "%(prog)s ID [--part NAME] [--code] [flags]\n       %(prog)s set ID PART --from FILE [writing flags] [flags]"
    )
    output.epilog = (
        "PART is a title or a short name: summary, files, api, configuration or notes. "
        "Write `#set` for a task with the id `set`."
    )
    # argparse cannot mix an action with a plain id, so the first word decides.
    output.add_argument("words", metavar="ID", nargs="+", help="task: 101, #101, TASK-101, task-101-state.md or a path")
    output.add_argument("--part", metavar="NAME", help="print only this part, such as summary or api")
    output.add_argument("--code", action="store_true", help="print only the contents of code fences")
    output.add_argument("--from", dest="source", metavar="FILE", help="set: file with the new content; `-`: read stdin")
    output.add_writing(run=run_output)


# output


def run_output(invocation: Invocation) -> int:
    """Print a task's output or a part of it, or write a part."""
    args = invocation.args
    is_set = args.words[0] == _SET
    if is_set and (len(args.words) != _SET_WORDS or args.source is None):
        raise usage_error("chain output set takes a task, a part and its content", help=_SET_HELP)
    if len(args.words) != (_SET_WORDS if is_set else 1):
        raise usage_error(f"chain output takes one task, and not {' '.join(args.words[1:])!r}", help=_SET_HELP)
    wrong = _given_flags(args, ("part", "code") if is_set else ("source", "dry_run", "expect_revision", "actor"))
    if wrong:
        raise usage_error(f"chain output{' set' if is_set else ''} does not take {wrong}", help="leave it out")
    args.id = args.words[1 if is_set else 0]
    return _set_part(invocation) if is_set else _print_output(invocation)


def _given_flags(args: argparse.Namespace, names: tuple[str, ...]) -> str:
    given = ("from" if name == "source" else name.replace("_", "-") for name in names if getattr(args, name))
    return ", ".join(f"--{name}" for name in given)


def _set_part(invocation: Invocation) -> int:
    from taskstate.tasks.chain_output import set_part

    text = invocation.read(invocation.args.source)
    outcome = set_part(invocation.workspace, invocation.task, invocation.args.words[2], text, invocation.request())
    return invocation.print_outcome(outcome, f"{outcome.result} written", part=outcome.result)


def _print_output(invocation: Invocation) -> int:
    from taskstate.model.statuses import COMPLETE
    from taskstate.tasks.chain_inputs import output
    from taskstate.tasks.chain_output import find_parts, parts

    invocation.report_damage(invocation.task)
    task_output = output(invocation.workspace, invocation.task)
    chosen = (
        find_parts(task_output.text, invocation.args.part, task_output.id)
        if invocation.args.part
        else parts(task_output.text)
    )
    if task_output.status != COMPLETE:
        invocation.print_notes(
            (f"task {task_output.id} is {task_output.status or 'of no status'}: this may still change",)
        )
    code = [each for part in chosen for each in part.code]
    text = "\n\n".join(part.text for part in chosen) if invocation.args.part else task_output.text
    shape = {
        "id": task_output.id,
        "path": task_output.path,
        "status": task_output.status,
        "complete": task_output.status == COMPLETE,
    }
    part_shapes = [
        {"part": part.slug, "title": part.title, "text": part.text, "code": list(part.code)} for part in chosen
    ]
    return invocation.print_result(
        shape | {"text": text, "parts": part_shapes}, "\n".join(code) if invocation.args.code else text
    )


# pull


def run_pull(invocation: Invocation) -> int:
    """Update the inputs of tasks, each task on its own."""
    from taskstate.tasks.chain_inputs import pull

    args = invocation.args
    if bool(args.ids) == args.all:
        raise usage_error("chain pull takes either the tasks' ids or --all", help="name the tasks, or give --all")
    if args.expect_revision and len(args.ids) != 1:
        raise usage_error("--expect-revision is that of one task", help="name that one alone")
    source = invocation.task_id(args.source) if args.source else ""
    if len(args.ids) == 1:
        pulled = pull(invocation.workspace, invocation.task_id(args.ids[0]), invocation.request(), source=source)
        inputs = pulled.result.rstrip("\n")
        return invocation.print_outcome(pulled, f"inputs brought up to date\n{inputs}", diff=pulled.result)
    return _pull_all(invocation, source)


def _pull_all(invocation: Invocation, source: str) -> int:
    """Pull into several tasks; a failure in one does not stop the others."""
    from taskstate.tasks.chain_inputs import pull

    request = invocation.request()
    results: list[Outcome[str]] = []
    failed: list[str] = []
    tasks: Iterable[str] = dict.fromkeys(map(invocation.task_id, invocation.args.ids))
    if invocation.args.all:
        tasks, unreadable = _dependents(invocation, source)
        failed += unreadable
    for task in tasks:
        try:
            results.append(pull(invocation.workspace, task, request, source=source))
        except TaskstateError as error:
            failed.append(f"not pulled into task {task}: {error}")
    invocation.print_problems((*failed, *(warning for each in results for warning in each.warnings)))
    lines = [line for each in results for line in _lines(each)]
    shape = {"tasks": [_shape(each) for each in results], "failed": failed}
    return invocation.print_result(shape, "\n".join(lines) or "nothing to pull", status=1 if failed else 0)


def _dependents(invocation: Invocation, source: str) -> tuple[list[str], tuple[str, ...]]:
    """Return the tasks that depend on any other one, or on the task `source`, and a line for each unreadable file."""
    statuses, unreadable = _statuses(invocation)
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


# status


def run_status(invocation: Invocation) -> int:
    """Show the state of the inputs."""
    statuses, unreadable = _statuses(invocation)
    invocation.print_problems(unreadable)
    shown = [each for each in statuses if (each.links and not each.is_dropped) or invocation.args.ids]
    wrong = sum(link.is_wrong for each in shown for link in each.links)
    data = {"tasks": [_status_shape(each) for each in shown], "wrong": wrong, "unreadable": list(unreadable)}
    text = "\n".join(_table(each) for each in shown) or "no task builds on another one"
    return invocation.print_result(data, text, status=1 if wrong or unreadable else 0)


def _statuses(invocation: Invocation) -> tuple[tuple[InputStatus, ...], tuple[str, ...]]:
    from taskstate.tasks.chain_inputs import status

    ids = dict.fromkeys(map(invocation.task_id, invocation.args.ids))
    paths = tuple(invocation.workspace.locate(each) for each in ids) or invocation.workspace.state_files()
    return status(invocation.workspace, paths)


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
