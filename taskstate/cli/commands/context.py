"""`taskstate context`: seals the static part of a task; shows, checks and rebuilds it; exports it and counts tokens."""

from __future__ import annotations

from typing import TYPE_CHECKING

from taskstate.cli.commands import context_export
from taskstate.cli.invocation import add_common, add_task, add_writing
from taskstate.errors import TaskstateError

if TYPE_CHECKING:
    import argparse

    from taskstate.cli.invocation import Invocation
    from taskstate.context.capture_plan import CaptureRequest
    from taskstate.context.seal_context import SealResult

_CHANGED = 1  # exit status


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    actions = parser.add_subparsers(title="actions", metavar="ACTION", required=True)
    init = actions.add_parser(
        "init",
        help="capture and seal the context of a task",
        description="Capture and seal title, description, scope, criteria, standards, commands and paths of a task. "
        "Values in the state file take precedence over the task file and the configuration.",
    )
    _add_capturing(init)
    init.add_argument("--base-commit", metavar="SHA", help="commit that the work starts from (default: HEAD)")
    add_writing(init)
    init.set_defaults(run=run_init)
    show = actions.add_parser("show", help="show the sealed context", description="Show the sealed context of a task.")
    add_task(show)
    add_common(show)
    show.set_defaults(run=run_show)
    check = actions.add_parser(
        "check",
        help="check whether the sealed context is still valid",
        description="Check the seal, cited sections, task file and HEAD; exit with status 1 if any of them changed.",
    )
    add_task(check)
    add_common(check)
    check.set_defaults(run=run_check)
    rebuild = actions.add_parser(
        "rebuild",
        help="capture and seal the context again",
        description="Capture a sealed context again from its task file, standards and configuration, show the "
        "changes, and seal it.",
    )
    _add_capturing(rebuild)
    add_writing(rebuild)
    rebuild.set_defaults(run=run_rebuild)
    context_export.configure(actions)


def _add_capturing(parser: argparse.ArgumentParser) -> None:
    add_task(parser)
    parser.add_argument(
        "--from", dest="source", metavar="TASK.yaml", help="task file to read (default: the recorded one)"
    )
    parser.add_argument(
        "--shorten", action="store_true", help="cut values over 2 KiB, and refer to the task file for the rest"
    )


def run_init(invocation: Invocation) -> int:
    """Seal a task's context for the first time."""
    from taskstate.context.seal_context import init

    capture_request = _capture_request(invocation)._replace(base_commit=invocation.flag_value("base_commit"))
    sealed = init(invocation.workspace, invocation.task_id(invocation.args.id), capture_request, invocation.request())
    return _print_sealed(invocation, sealed, "sealed")


def run_rebuild(invocation: Invocation) -> int:
    """Show the changes of capturing the context again, and seal it."""
    from taskstate.context.seal_context import rebuild

    task_id, capture_request, request = (
        invocation.task_id(invocation.args.id),
        _capture_request(invocation),
        invocation.request(),
    )
    planned = rebuild(invocation.workspace, task_id, capture_request, request._replace(dry_run=True))
    if request.dry_run:
        return _print_sealed(invocation, planned, "sealed anew")
    if planned.outcome.changed:
        invocation.print_text(planned.outcome.diff)
    sealed = rebuild(invocation.workspace, task_id, capture_request, request)
    return _print_sealed(invocation, sealed, "sealed anew", diff=planned.outcome.diff)


def _capture_request(invocation: Invocation) -> CaptureRequest:
    from taskstate.context.capture_plan import CaptureRequest
    from taskstate.context.sources import path_from_root

    source = invocation.flag_value("source", name="--from")
    if source == "-":
        message = "--from - would read the task file from standard input, and nobody could read it again"
        raise TaskstateError(message, help="name a file of the repository", code="usage")
    name = path_from_root(invocation.workspace, source) if source else ""
    return CaptureRequest(task_file=name, shorten=invocation.args.shorten)


def _print_sealed(invocation: Invocation, sealed: SealResult, action: str, **more: object) -> int:
    from taskstate.context.view import rows_shape, table

    outcome = sealed.outcome
    text = f"{outcome.path}: {action}\n\n{table(sealed.rows)}\n"
    return invocation.print_outcome(outcome, text, seal=sealed.seal, parts=rows_shape(sealed.rows), **more)


def run_show(invocation: Invocation) -> int:
    """Show the sealed context."""
    from taskstate.context.view import broken_notes, moved_notes, shape, text

    loaded = invocation.workspace.load(invocation.workspace.locate(invocation.task_id(invocation.args.id)))
    context = shape(loaded)
    warnings = (*broken_notes(loaded), *moved_notes(invocation.workspace, loaded))
    invocation.print_notes(warnings)
    return invocation.print_result({**context, "warnings": list(warnings)}, text(loaded))


def run_check(invocation: Invocation) -> int:
    """Check whether the sealed context is still valid."""
    from taskstate.context.check import check
    from taskstate.context.view import check_shape, check_text

    checked = check(invocation.workspace, invocation.task_id(invocation.args.id))
    invocation.print_notes(checked.notes)
    return invocation.print_result(
        check_shape(checked), check_text(checked), status=_CHANGED if checked.findings else 0
    )
