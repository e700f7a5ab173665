"""What must hold of a task's context before work goes on: one precondition, for each command that relies on it.

A sealed context holds as `check` sees it. One that is not sealed can be: what it cites is there. Each refusal names a
cure that works: where the context cannot be captured anew, what keeps it from that comes first.
"""

from __future__ import annotations

from taskstate.context.capture_plan import CaptureRequest, plan_capture
from taskstate.context.check import check, source_findings
from taskstate.errors import SeveralReasons, TaskstateError
from taskstate.model.static_context import is_sealed, read_static
from taskstate.model.write_metadata import blocks_of
from taskstate.typed import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from taskstate.context.check import ContextFinding
    from taskstate.workspace.workspace import Loaded, Workspace


def require_current(workspace: Workspace, loaded: Loaded) -> None:
    """Refuse a task whose context does not hold, or that cannot be sealed since what it cites is not there.

    Raises:
        SeveralReasons, TaskstateError: code "stale", or that of what keeps the context from being captured.
    """
    _require_none(loaded, faults(workspace, loaded, _accept(loaded)))


def require_exportable(workspace: Workspace, loaded: Loaded) -> None:
    """Refuse to hand on a sealed context that does not hold; the exports that are there do not count.

    Raises:
        SeveralReasons, TaskstateError: as `require_current`.
    """
    if is_sealed(loaded.document.front_matter.node):
        _require_none(loaded, _faults(workspace, loaded, source_findings(workspace, loaded), _accept(loaded)))


def faults(workspace: Workspace, loaded: Loaded, accept: str) -> tuple[TaskstateError, ...]:
    """Return what does not hold of a task's context; `accept` is the cure that seals it as it is now."""
    if is_sealed(loaded.document.front_matter.node):
        return _faults(workspace, loaded, check(workspace, loaded.state.id).findings, accept)
    refusal = capture_refusal(workspace, loaded) if has_sources(loaded) else None
    return (refusal,) if refusal else ()


def has_sources(loaded: Loaded) -> bool:
    """Return whether a context is taken from other files: a task file, or standards that it cites."""
    return bool(blocks_of(loaded.document).context.task_file or read_static(loaded.state).standards)


def capture_refusal(workspace: Workspace, loaded: Loaded) -> TaskstateError | None:
    """Return why a task's context cannot be captured, or None where it can."""
    try:
        plan_capture(workspace, loaded, CaptureRequest(), rebuild=is_sealed(loaded.document.front_matter.node))
    except TaskstateError as error:
        return error
    return None


def _faults(
    workspace: Workspace, loaded: Loaded, findings: Iterable[ContextFinding], accept: str
) -> tuple[TaskstateError, ...]:
    found = tuple(TaskstateError(each.message, help=accept, code="stale") for each in findings)
    refusal = capture_refusal(workspace, loaded) if found else None
    return (refusal,) if refusal else found


def _accept(loaded: Loaded) -> str:
    return f'`taskstate context rebuild {loaded.state.id} --note "WHY"` seals what is there now'


def _require_none(loaded: Loaded, found: tuple[TaskstateError, ...]) -> None:
    if len(found) == 1:
        raise found[0]
    if found:
        message = f"task {loaded.state.id}: {len(found)} parts of its context are out of date"
        reasons = tuple(each.message for each in found)
        raise SeveralReasons(message, reasons, help=found[0].help, code="stale")
