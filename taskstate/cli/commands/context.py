"""`taskstate context`: seals the static part of a task, shows and checks it, seals it anew; exports and counts it."""

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

_FOUND = 1


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    actions = parser.add_subparsers(title="actions", metavar="ACTION", required=True)
    init = actions.add_parser(
        "init",
        help="capture the static part of a task, and seal it",
        description="Capture title, description, scope, criteria, standards, commands and paths of a task, and seal "
        "them. What the state file says already is kept; its task file and the configuration fill the rest.",
    )
    _add_capturing(init)
    init.add_argument("--base-commit", metavar="SHA", help="the commit that the work starts from (HEAD)")
    add_writing(init)
    init.set_defaults(run=run_init)
    show = actions.add_parser("show", help="show the sealed context", description="Show the sealed context of a task.")
    add_task(show)
    add_common(show)
    show.set_defaults(run=run_show)
    check = actions.add_parser(
        "check",
        help="say whether the sealed context still holds",
        description="Say what no longer holds: the seal, cited sections, the task file, HEAD. Exit status 1 if so.",
    )
    add_task(check)
    add_common(check)
    check.set_defaults(run=run_check)
    rebuild = actions.add_parser(
        "rebuild",
        help="capture a sealed context anew",
        description="Capture a sealed context anew from its task file, standards and configuration, show what that "
        "changes, and seal it.",
    )
    _add_capturing(rebuild)
    add_writing(rebuild)
    rebuild.set_defaults(run=run_rebuild)
    context_export.configure(actions)


def _add_capturing(parser: argparse.ArgumentParser) -> None:
    add_task(parser)
    parser.add_argument(
        "--from", dest="source", metavar="TASK.yaml", help="the task file (default: the one that is recorded)"
    )
    parser.add_argument(
        "--shorten", action="store_true", help="cut values over 2 KiB, and point to the whole in the task file"
    )


def run_init(invocation: Invocation) -> int:
    """Seal a task's static part for the first time."""
    from taskstate.context.seal_context import init

    wanted = _wanted(invocation)._replace(base_commit=invocation.flag_value("base_commit"))
    sealed = init(invocation.workspace, invocation.task_id(invocation.args.id), wanted, invocation.request())
    return _done(invocation, sealed, "sealed")


def run_rebuild(invocation: Invocation) -> int:
    """Show what capturing anew changes, and do it."""
    from taskstate.context.seal_context import rebuild

    task_id, wanted, request = invocation.task_id(invocation.args.id), _wanted(invocation), invocation.request()
    planned = rebuild(invocation.workspace, task_id, wanted, request._replace(dry_run=True))
    if request.dry_run:
        return _done(invocation, planned, "sealed anew")
    if planned.outcome.changed:
        invocation.print_text(planned.outcome.diff)
    sealed = rebuild(invocation.workspace, task_id, wanted, request)
    return _done(invocation, sealed, "sealed anew", diff=planned.outcome.diff)


def _wanted(invocation: Invocation) -> CaptureRequest:
    from taskstate.context.capture_plan import CaptureRequest
    from taskstate.context.sources import path_from_root

    source = invocation.flag_value("source", name="--from")
    if source == "-":
        what = "--from - would read the task file from standard input, and nobody could read it again"
        raise TaskstateError(what, help="name a file of the repository", code="usage")
    name = path_from_root(invocation.workspace, source) if source else ""
    return CaptureRequest(task_file=name, shorten=invocation.args.shorten)


def _done(invocation: Invocation, sealed: SealResult, what: str, **more: object) -> int:
    from taskstate.context.view import rows_shape, table

    outcome = sealed.outcome
    text = f"{outcome.path}: {what}\n\n{table(sealed.rows)}\n"
    return invocation.print_outcome(outcome, text, seal=sealed.seal, parts=rows_shape(sealed.rows), **more)


def run_show(invocation: Invocation) -> int:
    """Show the sealed context."""
    from taskstate.context.view import broken_notes, moved_notes, shape, text

    loaded = invocation.workspace.load(invocation.workspace.locate(invocation.task_id(invocation.args.id)))
    told = shape(loaded)
    warnings = (*broken_notes(loaded), *moved_notes(invocation.workspace, loaded))
    invocation.print_notes(warnings)
    return invocation.print_result({**told, "warnings": list(warnings)}, text(loaded))


def run_check(invocation: Invocation) -> int:
    """Say what no longer holds."""
    from taskstate.context.check import check
    from taskstate.context.view import check_shape, check_text

    checked = check(invocation.workspace, invocation.task_id(invocation.args.id))
    invocation.print_notes(checked.notes)
    return invocation.print_result(check_shape(checked), check_text(checked), status=_FOUND if checked.findings else 0)
