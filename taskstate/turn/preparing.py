"""Makes a task ready for work: accepts an open handoff, seals the context or finds it current, pulls the inputs."""

from __future__ import annotations

from taskstate.chain import inputs as chain_inputs
from taskstate.errors import TaskstateError
from taskstate.handoff.document import OPEN
from taskstate.handoff.document_files import list_documents
from taskstate.model.static_context import is_sealed
from taskstate.model.write_metadata import blocks_of
from taskstate.turn.tree_changes import START
from taskstate.typed import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from taskstate.turn.obstacles import Obstacles
    from taskstate.turn.turn_request import TurnRequest
    from taskstate.workspace.workspace import Loaded, Workspace
    from taskstate.writing.change import Request, Step


def preparing(
    call: TurnRequest, loaded: Loaded, agent: str, accept_stale: str, obstacles: Obstacles
) -> tuple[list[Step], tuple[str, ...]]:
    """Return the steps that make a task ready for work of an agent, and notes; what is in the way is collected.

    `accept_stale` is why a context that does not hold is sealed as it is now.
    """
    workspace, request = call.workspace, call.request
    steps: list[Step] = []
    with obstacles.collected():
        steps += _handoff_steps(workspace, loaded, agent, request)
    with obstacles.collected():
        steps += _context_steps(call, loaded, accept_stale, obstacles)
    pulled, notes = _input_steps(workspace, loaded, request)
    return [*steps, *pulled], notes


def _input_steps(workspace: Workspace, loaded: Loaded, request: Request) -> tuple[list[Step], tuple[str, ...]]:
    """Return the step that brings the inputs up to date, or a note why they cannot be; work can begin without."""
    if not chain_inputs.upstream_ids(loaded.state):
        return [], ()
    pulling = chain_inputs.pulling(workspace, request, once=True)
    try:
        pulling(loaded)
    except TaskstateError as error:
        return [], (f"the inputs are not brought up to date: {error}",)
    return [pulling], ()


def _handoff_steps(workspace: Workspace, loaded: Loaded, agent: str, request: Request) -> Iterator[Step]:
    named = blocks_of(loaded.document).handoffs.open
    documents = list_documents(workspace, loaded.state.id)
    if documents.strays:  # by hand, and not complete or of another name: nobody begins as if there were none
        from taskstate.handoff.invalid import require_valid
        from taskstate.turn.hand_over import handoff_errors

        require_valid(workspace, loaded.state.id, documents, handoff_errors(workspace))
    others = (each.path for each in documents.read if each.status == OPEN and each.path != named)
    for path in (*([""] if named else []), *others):  # several after a merge of two branches
        from taskstate.handoff.accept import accepting
        from taskstate.turn.hand_over import handoff_errors

        step = accepting(workspace, agent, request, errors_in=handoff_errors(workspace), path=path)
        step(loaded)  # a document that cannot be accepted is in the way
        yield step


def _context_steps(call: TurnRequest, loaded: Loaded, accept_stale: str, obstacles: Obstacles) -> list[Step]:
    """Return the step that seals the context, or seals it anew where what is stale is accepted."""
    from taskstate.context import precondition

    workspace, request = call.workspace, call.request
    if not is_sealed(loaded.document.front_matter.node):
        return _sealing_steps(workspace, loaded, request) if precondition.has_sources(loaded) else []
    faults = precondition.faults(workspace, loaded, f"{START} seals what is there now and goes on")
    if faults and accept_stale:
        from taskstate.context.capture_plan import CaptureRequest
        from taskstate.context.seal_context import with_rebuilt

        accepted = CaptureRequest(note=accept_stale)
        with_rebuilt(workspace, loaded, accepted, request)
        return [lambda current: with_rebuilt(workspace, current, accepted, request)]
    for fault in faults:
        obstacles.add(fault, "--accept-stale")
    return []


def _sealing_steps(workspace: Workspace, loaded: Loaded, request: Request) -> list[Step]:
    from taskstate.context.capture_plan import CaptureRequest
    from taskstate.context.seal_context import sealing

    step = sealing(workspace, CaptureRequest(), request)
    step(loaded)
    return [step]
