"""`context`: seals the static part of a task; shows, checks and rebuilds it; exports it and counts its tokens."""

from __future__ import annotations

from taskstate.operations.operation import TASK, OfTask, Operation, option, switch
from taskstate.operations.result import Result, changed
from taskstate.typed import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from taskstate.context.capture_plan import CaptureRequest
    from taskstate.context.seal_context import SealResult
    from taskstate.operations.call import Call
    from taskstate.operations.operation import Name, TaskId, Text

_FROM = option("TASK.yaml", "task file to read (default: the recorded one)", flag="from")
_SHORTEN = switch("cut values over 2 KiB, and refer to the task file for the rest")


class Init(NamedTuple):
    """The arguments of `context init`."""

    id: TaskId = TASK
    source: Name = _FROM
    shorten: bool = _SHORTEN
    base_commit: Name = option("SHA", "commit that the work starts from (default: HEAD)")


class Rebuild(NamedTuple):
    """The arguments of `context rebuild`."""

    id: TaskId = TASK
    source: Name = _FROM
    shorten: bool = _SHORTEN
    note: Text = option("T", "reason; it is recorded, and required if a sealed criterion changes")


class Export(NamedTuple):
    """The arguments of `context export`."""

    id: TaskId = TASK
    role: str = option("R", "role to export for", is_required=True)
    output: str | None = option("FILE", "write to a file instead of standard output")
    force: bool = switch("with --output: replace a file that is not an export")


def init(call: Call, asked: Init) -> Result:
    """Capture and seal title, description, scope, criteria, standards, commands and paths of a task.

    Values in the state file take precedence over the task file and the configuration.
    """
    from taskstate.context import seal_context

    capture_request = _capture_request(call, asked)._replace(base_commit=asked.base_commit)
    sealed = seal_context.init(call.workspace, call.task_id(asked.id), capture_request, call.request())
    return _sealed(call, sealed, "sealed")


def rebuild(call: Call, asked: Rebuild) -> Result:
    """Capture a sealed context again from its task file, standards and configuration, show the changes, and seal it."""
    from taskstate.context import seal_context

    capture_request = _capture_request(call, asked)._replace(note=asked.note)
    task, request = call.task_id(asked.id), call.request()
    planned = seal_context.rebuild(call.workspace, task, capture_request, request._replace(dry_run=True))
    if request.dry_run:
        return _sealed(call, planned, "sealed again")
    sealed = seal_context.rebuild(call.workspace, task, capture_request, request)
    result = _sealed(call, sealed, "sealed again", diff=planned.outcome.diff)
    shown = planned.outcome.diff.rstrip("\n") if planned.outcome.changed else ""
    return result._replace(text=f"{shown}\n{result.text}".lstrip("\n"))


def _capture_request(call: Call, asked: Init | Rebuild) -> CaptureRequest:
    from taskstate.context.capture_plan import CaptureRequest
    from taskstate.context.sources import path_from_root
    from taskstate.operations.call import usage_error

    if asked.source == "-":
        raise usage_error(
            "--from - would read the task file from standard input, and nobody could read it again",
            help="name a file of the repository",
        )
    name = path_from_root(call.workspace, asked.source) if asked.source else ""
    return CaptureRequest(task_file=name, shorten=asked.shorten)


def _sealed(call: Call, sealed: SealResult, action: str, **more: str) -> Result:
    from taskstate.context.view import rows_shape, table

    text = f"{action}\n\n{table(sealed.rows)}\n"
    return changed(call, sealed.outcome, text, seal=sealed.seal, parts=rows_shape(sealed.rows), **more)


def show(call: Call, asked: OfTask) -> Result:
    """Show the sealed context of a task."""
    from taskstate.context.check import committed_notes
    from taskstate.context.manifest import sources_of_parts
    from taskstate.context.view import broken_notes, shape, text
    from taskstate.model.write_metadata import blocks_of

    loaded = call.load(asked.id)
    context = shape(loaded)
    base = blocks_of(loaded.document).delta.base_commit
    warnings = (*broken_notes(loaded), *committed_notes(call.workspace, base))
    call.notes(warnings)
    parts = sources_of_parts(call.workspace, loaded.state.id)
    return Result({**context, "parts": parts, "warnings": list(warnings)}, text(loaded, parts))


def check(call: Call, asked: OfTask) -> Result:
    """Check the seal, cited sections and task file; exit with status 1 if any of them changed."""
    from taskstate.context.check import check as check_context
    from taskstate.context.view import check_shape, check_text

    checked = check_context(call.workspace, call.task_id(asked.id))
    call.notes(checked.notes)
    return Result(check_shape(checked), check_text(checked), status=1 if checked.findings else 0, is_in_rows=True)


def export(call: Call, asked: Export) -> Result:
    """Print the context that a role needs, as canonical JSON."""
    from taskstate.context import export as exports
    from taskstate.context import precondition
    from taskstate.context.manifest import refresh
    from taskstate.context.readable_parts import require_exportable
    from taskstate.model.canonical_json import canonical_json, sha256
    from taskstate.storage.paths import real
    from taskstate.syntax.spans import printable_json
    from taskstate.writing.preconditions import require_writable

    workspace, role, output = call.workspace, asked.role, asked.output
    loaded = call.load(asked.id)
    task = loaded.state.id
    require_exportable(loaded)
    require_writable(loaded, "")
    precondition.require_exportable(workspace, loaded)
    exported = exports.export(workspace.config, loaded.state, role)
    text = canonical_json(exported)
    data: dict[str, object] = {
        "path": loaded.relative,
        "role": role,
        "sha256": sha256(text),
        "output": output,
        "export": exported,
        "warnings": [],
    }
    if output is None:
        raw = printable_json(text).encode()  # the same bytes on every system
        return Result(data, "", raw=raw, is_json=True, is_verbatim=True)
    if real(output) == workspace.state_root / exports.export_path(task, role):  # its place, which the manifest lists
        refresh(workspace, task, role, text)
    else:
        exports.save(workspace, real(output), text, force=asked.force)
    return Result(data, f"{output}: what the {role} needs of task {task}", is_verbatim=True)


def budget(call: Call, asked: OfTask) -> Result:
    """Count the tokens of a task by part and role: as a whole, as an export, and as a brief."""
    from taskstate.brief.token_budget import budget as count
    from taskstate.brief.token_budget import shape, table
    from taskstate.context.readable_parts import require_exportable

    loaded = call.load(asked.id)
    require_exportable(loaded)
    counts = count(call.workspace, loaded)
    return Result(shape(counts), table(counts))


OPERATIONS = (
    Operation("context init", "capture and seal the context of a task", init, Init, writes=True),
    Operation("context show", "show the sealed context", show, OfTask),
    Operation("context check", "check whether the sealed context is still valid", check, OfTask),
    Operation("context rebuild", "capture and seal the context again", rebuild, Rebuild, writes=True),
    Operation("context export", "print the context for a role", export, Export),
    Operation("context budget", "count tokens", budget, OfTask),
)
