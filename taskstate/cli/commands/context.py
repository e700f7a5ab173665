"""`taskstate context`: seals the static part of a task; shows, checks and rebuilds it; exports it and counts tokens."""

from __future__ import annotations

from taskstate.cli.arguments import Parser, usage_error
from taskstate.cli.commands import context_export
from taskstate.cli.invocation import Invocation
from taskstate.typed import TYPE_CHECKING

if TYPE_CHECKING:
    from taskstate.context.capture_plan import CaptureRequest
    from taskstate.context.seal_context import SealResult

_CHANGED = 1  # exit status


def configure(parser: Parser) -> None:
    """Declare the arguments."""
    init = parser.add_action(
        "init",
        "capture and seal the context of a task",
        "Capture and seal title, description, scope, criteria, standards, commands and paths of a task. "
        "Values in the state file take precedence over the task file and the configuration.",
    )
    _add_capturing(init)
    init.add_argument("--base-commit", metavar="SHA", help="commit that the work starts from (default: HEAD)")
    init.add_writing(run=run_init)
    show = parser.add_action("show", "show the sealed context", "Show the sealed context of a task.")
    show.add_common(run=run_show)
    check = parser.add_action(
        "check",
        "check whether the sealed context is still valid",
        "Check the seal, cited sections and task file; exit with status 1 if any of them changed.",
    )
    check.add_common(run=run_check)
    rebuild = parser.add_action(
        "rebuild",
        "capture and seal the context again",
        "Capture a sealed context again from its task file, standards and configuration, show the "
        "changes, and seal it.",
    )
    _add_capturing(rebuild)
    rebuild.add_argument(
        "--note", metavar="T", help="reason; it is recorded, and wanted where a sealed criterion changes"
    )
    rebuild.add_writing(run=run_rebuild)
    context_export.configure(parser)


def _add_capturing(parser: Parser) -> None:
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
    sealed = init(invocation.workspace, invocation.task, capture_request, invocation.request())
    return _print_sealed(invocation, sealed, "sealed")


def run_rebuild(invocation: Invocation) -> int:
    """Show the changes of capturing the context again, and seal it."""
    from taskstate.context.seal_context import rebuild

    note = invocation.text_of(invocation.args.note) if invocation.args.note is not None else ""
    capture_request = _capture_request(invocation)._replace(note=note)
    task_id, request = invocation.task, invocation.request()
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
        raise usage_error(
            "--from - would read the task file from standard input, and nobody could read it again",
            help="name a file of the repository",
        )
    name = path_from_root(invocation.workspace, source) if source else ""
    return CaptureRequest(task_file=name, shorten=invocation.args.shorten)


def _print_sealed(invocation: Invocation, sealed: SealResult, action: str, **more: str) -> int:
    from taskstate.context.view import rows_shape, table

    outcome = sealed.outcome
    text = f"{action}\n\n{table(sealed.rows)}\n"
    return invocation.print_outcome(outcome, text, seal=sealed.seal, parts=rows_shape(sealed.rows), **more)


def run_show(invocation: Invocation) -> int:
    """Show the sealed context."""
    from taskstate.context.check import committed_notes
    from taskstate.context.manifest import sources_of_parts
    from taskstate.context.view import broken_notes, shape, text
    from taskstate.model.write_metadata import blocks_of

    loaded = invocation.load_task()
    context = shape(loaded)
    base = blocks_of(loaded.document).delta.base_commit
    warnings = (*broken_notes(loaded), *committed_notes(invocation.workspace, base))
    invocation.print_notes(warnings)
    parts = sources_of_parts(invocation.workspace, loaded.state.id)
    return invocation.print_result({**context, "parts": parts, "warnings": list(warnings)}, text(loaded, parts))


def run_check(invocation: Invocation) -> int:
    """Check whether the sealed context is still valid."""
    from taskstate.context.check import check
    from taskstate.context.view import check_shape, check_text

    checked = check(invocation.workspace, invocation.task)
    invocation.print_notes(checked.notes)
    return invocation.print_result(
        check_shape(checked), check_text(checked), status=_CHANGED if checked.findings else 0
    )
