"""`taskstate chain`: what tasks hand down to one another: shown, pulled, and how it stands."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from taskstate.cli.invocation import add_common, add_task, add_writing
from taskstate.errors import TaskstateError

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterable

    from taskstate.cli.invocation import Invocation
    from taskstate.tasks.chain_inputs import InputStatus, Link, PullResult


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    actions = parser.add_subparsers(title="actions", metavar="ACTION", required=True)
    output = actions.add_parser(
        "output", help="print what a task hands down", description="Print a task's Chain Output, word for word."
    )
    add_task(output)
    output.add_argument("--part", metavar="NAME", help="one part alone, such as summary or api-contract")
    output.add_argument("--code", action="store_true", help="only what stands in code fences, word for word")
    add_common(output)
    output.set_defaults(run=run_output)
    pull = actions.add_parser(
        "pull",
        help="take over what upstream tasks hand down",
        description="Bring the Chain Inputs of tasks up to date with the outputs that they come from.",
    )
    pull.add_argument(
        "ids", metavar="ID", nargs="*", help="the tasks: 101, #101, TASK-101, task-101-state.md or a path"
    )
    pull.add_argument("--all", action="store_true", help="every task of the repository")
    pull.add_argument("--from", dest="source", metavar="UPSTREAM", help="only the output of this task")
    add_writing(pull)
    pull.set_defaults(run=run_pull)
    status = actions.add_parser(
        "status",
        help="tell how the inputs of tasks stand",
        description="Tell which Chain Inputs are missing, stale, unknown or circular; exit with 1 if one is.",
    )
    status.add_argument("ids", metavar="ID", nargs="*", help="the tasks (default: all that build on another one)")
    add_common(status)
    status.set_defaults(run=run_status)


# output


def run_output(invocation: Invocation) -> int:
    """Print a task's output, or a part of it."""
    from taskstate.model.statuses import COMPLETE
    from taskstate.tasks.chain_inputs import output
    from taskstate.tasks.chain_output import find_parts, parts

    found = output(invocation.workspace, invocation.task_id(invocation.args.id))
    chosen = find_parts(found.text, invocation.args.part, found.id) if invocation.args.part else parts(found.text)
    if found.status != COMPLETE:
        invocation.print_notes((f"task {found.id} is {found.status or 'of no status'}: this may still change",))
    code = [each for part in chosen for each in part.code]
    text = "\n\n".join(part.text for part in chosen) if invocation.args.part else found.text
    shape = {"id": found.id, "path": found.path, "status": found.status, "complete": found.status == COMPLETE}
    told = [{"part": part.slug, "title": part.title, "text": part.text, "code": list(part.code)} for part in chosen]
    return invocation.print_result(
        shape | {"text": text, "parts": told}, "\n".join(code) if invocation.args.code else text
    )


# pull


def run_pull(invocation: Invocation) -> int:
    """Bring the inputs of tasks up to date, each for itself."""
    from taskstate.tasks.chain_inputs import pull

    args = invocation.args
    if bool(args.ids) == args.all:
        what = "chain pull takes either the tasks' ids or --all"
        raise TaskstateError(what, help="name the tasks, or give --all", code="usage")
    if args.expect_revision and len(args.ids) != 1:
        what = "--expect-revision is that of one task"
        raise TaskstateError(what, help="name that one alone", code="usage")
    source = invocation.task_id(args.source) if args.source else ""
    if len(args.ids) == 1:
        pulled = pull(invocation.workspace, invocation.task_id(args.ids[0]), invocation.request(), source=source)
        text = "\n".join([f"{pulled.outcome.path}: inputs brought up to date", pulled.inputs.rstrip("\n")])
        return invocation.print_outcome(pulled.outcome, text, diff=pulled.inputs)
    return _pull_all(invocation, source)


def _pull_all(invocation: Invocation, source: str) -> int:
    """Pull into several tasks; one that cannot take its inputs keeps no other from it."""
    from taskstate.tasks.chain_inputs import pull

    request = invocation.request()
    told: list[PullResult] = []
    failed: list[str] = []
    tasks: Iterable[str] = dict.fromkeys(map(invocation.task_id, invocation.args.ids))
    if invocation.args.all:
        tasks, unreadable = _building_on(invocation, source)
        failed += unreadable
    for task in tasks:
        try:
            told.append(pull(invocation.workspace, task, request, source=source))
        except TaskstateError as error:
            failed.append(f"not pulled into task {task}: {error}")
    invocation.print_problems((*failed, *(warning for each in told for warning in each.outcome.warnings)))
    lines = [line for each in told for line in _lines(each)]
    shape = {"tasks": [_shape(each) for each in told], "failed": failed}
    return invocation.print_result(shape, "\n".join(lines) or "nothing to pull", status=1 if failed else 0)


def _building_on(invocation: Invocation, source: str) -> tuple[list[str], tuple[str, ...]]:
    """Return the tasks that build on any other one, or on the task `source`, and a line for each unreadable file."""
    standing, unreadable = _standing(invocation)
    wanted = source.casefold()
    found = (each for each in standing if each.links)
    ids = [each.id for each in found if any(wanted in ("", link.id.casefold()) for link in each.links)]
    return ids, unreadable


def _lines(pulled: PullResult) -> list[str]:
    outcome = pulled.outcome
    if not outcome.changed and not outcome.notes:
        return []
    head = outcome.path if outcome.changed else f"{outcome.path}: nothing to change"
    return [head, *(f"  {note}" for note in outcome.notes), *filter(None, [pulled.inputs.rstrip("\n")])]


def _shape(pulled: PullResult) -> dict[str, Any]:
    outcome = pulled.outcome
    told = {"path": outcome.path, "revision": outcome.revision, "changed": outcome.changed}
    return told | {"notes": list(outcome.notes), "diff": outcome.diff or pulled.inputs}


# status


def run_status(invocation: Invocation) -> int:
    """Tell how the inputs stand."""
    standing, unreadable = _standing(invocation)
    invocation.print_problems(unreadable)
    shown = [each for each in standing if each.links or invocation.args.ids]
    wrong = sum(link.is_wrong for each in shown for link in each.links)
    data = {"tasks": [_standing_shape(each) for each in shown], "wrong": wrong, "unreadable": list(unreadable)}
    text = "\n".join(_table(each) for each in shown) or "no task builds on another one"
    return invocation.print_result(data, text, status=1 if wrong or unreadable else 0)


def _standing(invocation: Invocation) -> tuple[tuple[InputStatus, ...], tuple[str, ...]]:
    from taskstate.tasks.chain_inputs import status

    ids = dict.fromkeys(map(invocation.task_id, invocation.args.ids))
    paths = tuple(invocation.workspace.locate(each) for each in ids) or invocation.workspace.state_files()
    return status(invocation.workspace, paths)


def _standing_shape(standing: InputStatus) -> dict[str, Any]:
    return {"id": standing.id, "path": standing.path, "inputs": [_link_shape(each) for each in standing.links]}


def _link_shape(link: Link) -> dict[str, Any]:
    changed = list(link.changed)
    return {"id": link.id, "state": link.state, "detail": link.detail, "changed_files": changed, "wrong": link.is_wrong}


def _table(standing: InputStatus) -> str:
    """Return how the inputs of one task stand, a line each, and below it what changed."""
    lines = [f"{standing.id}  {standing.title}"]
    if not standing.links:
        lines.append("  builds on no other task")
    wide = max((len(link.id) for link in standing.links), default=0)
    for link in standing.links:
        lines.append(f"  {link.id.ljust(wide)}  {link.state.ljust(10)}  {link.detail}".rstrip())
        lines += [f"  {' ' * wide}  since it was completed: {each}" for each in link.changed]
    return "\n".join(lines)
