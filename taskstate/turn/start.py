"""Begins a turn, or says everything that is in the way and changes nothing.

The working tree is looked at before the lock is taken, since that may take seconds; everything is then written in one
step. The baseline comes last: it may take long, and a turn without it has begun all the same.
"""

from __future__ import annotations

from taskstate.autosave import consent
from taskstate.chain import inputs as chain_inputs
from taskstate.errors import TaskstateError
from taskstate.messages import quoted
from taskstate.model import delta_block, roles
from taskstate.model.delta_block import Turn
from taskstate.model.start_of_work import start_of_work
from taskstate.model.statuses import BLOCKED, DONE, IN_PROGRESS
from taskstate.model.write_metadata import blocks_of, set_front_matter, timestamp, with_event
from taskstate.permanent.find import find
from taskstate.permanent.impact.claims import first_analysis, missing_analysis
from taskstate.permanent.readers import require_confirmed
from taskstate.roles import role_rules
from taskstate.roles.role_changes import with_role_set
from taskstate.roles.role_rules import RoleChange
from taskstate.snapshots import base as snapshot_base
from taskstate.snapshots.drift import require_tree
from taskstate.storage import files
from taskstate.storage.git import client as git
from taskstate.syntax.edits import apply
from taskstate.tasks import git_history
from taskstate.tasks.size_warning import suggestion
from taskstate.turn.baseline import take_baseline
from taskstate.turn.first_page import first_page
from taskstate.turn.found_by_lint import faults
from taskstate.turn.obstacles import Obstacles
from taskstate.turn.ownership import is_own, owner, with_taken_over
from taskstate.turn.preparing import preparing
from taskstate.turn.situation import (
    NOWHERE,
    Look,
    begun_notes,
    due_role,
    look,
    require_open,
    resumed_notes,
    turn_elsewhere,
)
from taskstate.turn.tree_changes import START, EarlierTree, TreeChanges, left_before
from taskstate.typed import TYPE_CHECKING, NamedTuple
from taskstate.workspace import open_turns
from taskstate.writing import notices, preconditions
from taskstate.writing.change import Change, Outcome
from taskstate.writing.joined_changes import joined
from taskstate.writing.writer import change

if TYPE_CHECKING:
    from taskstate.model.task_state import TaskState
    from taskstate.model.tool_blocks import ToolBlocks
    from taskstate.roles.role_rules import RoleInTask
    from taskstate.turn.turn_request import TurnRequest
    from taskstate.workspace.workspace import Loaded, Workspace
    from taskstate.writing.change import Request, Step

ACCEPTED, FOUND, COMMITTED = "drift-accepted", "drift-found", "committed-as-left"  # events
_NAMED = 5  # files in an event
_ATTEMPTS = 3


class StartRequest(NamedTuple):
    """How a turn is to begin: the role, the agent's name, the budget of the brief, and what is accepted, with why.

    `log` has the results of the validation commands, for the baseline.
    """

    role: str = ""
    agent: str = ""
    budget: int | None = None
    take_over: str = ""
    accept_stale: str = ""
    accept_drift: str = ""
    log: bytes | None = None


class Started(NamedTuple):
    """A turn that has begun: the outcome of the write, the role, remarks, and the text that the agent reads first."""

    outcome: Outcome
    role: str
    resumed: bool
    where: str
    notes: tuple[str, ...]
    text: str


class _Plan(NamedTuple):
    """What `start` found, and the steps that it will take."""

    loaded: Loaded
    role: str
    seen: Look
    steps: tuple[Step, ...]
    notes: tuple[str, ...]
    resumed: bool = False


def start(call: TurnRequest, asked: StartRequest) -> Started:
    """Begin a turn on a task, or resume the one that is open.

    Raises:
        SeveralReasons, TaskstateError: something is in the way; nothing was changed.
    """
    metadata = call.request.metadata
    asked = asked._replace(agent=asked.agent or metadata.actor)
    call = call._replace(request=call.request._replace(metadata=metadata._replace(agent=asked.agent)))
    plan, outcome = _begun(call, asked)
    is_real, where = not call.request.dry_run, plan.seen.where
    baseline: tuple[str, ...] = ()
    text = ""
    if is_real:
        loaded, baseline = take_baseline(call, outcome.loaded, plan.seen, asked.log)
        text = first_page(call.workspace, loaded, plan.role, asked.budget)
        baseline += () if plan.resumed else suggestion(call.workspace, loaded.state)
    if is_real and plan.steps and chain_inputs.upstream_ids(outcome.loaded.state):
        chain_inputs.remember_told(call.workspace, outcome.loaded)
    if is_real and not plan.resumed and consent.is_given(call.workspace.root):
        from taskstate.autosave import catch_up

        catch_up.begin(call.workspace, outcome.state, timestamp(metadata.now))
    if is_real and asked.take_over:
        open_turns.clear_elsewhere(call.workspace, plan.loaded.state.id)
    who = f"task {plan.loaded.state.id}, {plan.role}" if plan.role else f"task {plan.loaded.state.id}"
    head_line = f"{who}: {where.words}, in {call.workspace.root}"
    return Started(outcome, plan.role, plan.resumed, head_line, (*plan.notes, *outcome.notes, *baseline), text)


def _begun(call: TurnRequest, asked: StartRequest) -> tuple[_Plan, Outcome]:
    """Plan and write; again from the start where somebody else wrote the file while the tree was looked at.

    What sessions before it did not tell is recorded first, once nothing is in the way.
    """
    saved = tuple[str, ...]()
    for attempt in range(1, _ATTEMPTS + 1):
        plan = _plan(call, asked)
        if attempt == 1 and not call.request.dry_run and consent.is_given(call.workspace.root):
            from taskstate.autosave import catch_up

            saved = catch_up.record(call.workspace, plan.loaded.state.id, call.request)
            call = call._replace(request=call.request._replace(expect=""))  # that revision was looked at
            plan = _plan(call, asked) if saved else plan
        plan = plan._replace(notes=(*saved, *plan.notes))
        try:
            if plan.steps and not call.request.dry_run:
                _keep_tree(call.workspace, plan)
            return plan, _write(call.workspace, plan, call.request)
        except TaskstateError as error:
            if error.code != "stale-plan" or attempt == _ATTEMPTS:
                raise
    raise AssertionError


def _keep_tree(workspace: Workspace, plan: _Plan) -> None:
    """Keep the objects of the tree that the turn begins with, so that it can be compared later."""
    where = plan.seen.where
    if where.tree and snapshot_base.keep_current_tree(workspace, plan.loaded).tree != where.tree:
        raise TaskstateError("files were changed while the turn began", help="run this again", code="stale-plan")


def _write(workspace: Workspace, plan: _Plan, request: Request) -> Outcome:
    loaded = plan.loaded

    def job(current: Loaded) -> Change:
        if current.digest != loaded.digest:
            raise TaskstateError(f"{loaded.relative} was changed meanwhile", help="run this again", code="stale-plan")
        return joined(current, (*plan.steps, git_history.moving_older(workspace)))

    outcome = change(workspace, loaded.state.id, job, request._replace(known=loaded))
    turn = open_turns.of_document(outcome.state.document, loaded.state.id)
    if turn and not request.dry_run:
        open_turns.note(workspace, turn)
    return outcome


# What is done before the work


def _plan(call: TurnRequest, asked: StartRequest) -> _Plan:
    workspace, request = call.workspace, call.request
    loaded = _loaded(call)
    blocks, names = blocks_of(loaded.document), workspace.config.roles
    role = due_role(blocks, names, asked.role, loaded.state.id)
    turn = blocks.delta.turn
    theirs = open_turns.in_another_worktree(workspace, loaded.state.id)
    if theirs and not asked.take_over:
        raise turn_elsewhere(theirs)
    is_ours = not theirs and turn is not None and is_own(turn, request.metadata.actor, asked.agent)
    resumes = turn is not None and (turn.role or "") == role and is_ours
    taken = _taken_over(turn, role, asked)
    obstacles, seen = Obstacles(_given(call, asked, role)), Look(NOWHERE, None, TreeChanges())
    with obstacles.collected():
        earlier = _begun_with(turn) if turn and (resumes or taken) else left_before(blocks.delta, role, names)
        seen = look(workspace, loaded, _with_log(earlier, asked.log))
        since = seen.changes.since
        require_tree(seen.where.tree, request.expect_tree, loaded.state.id, since.command if since else "git status")
    if not resumes:
        with obstacles.collected("--take-over"):
            _require_free(call, loaded.state, turn, asked)
    with obstacles.collected():
        require_confirmed(workspace, asked.agent)
    analysis = (*_missing_analysis(workspace, loaded, obstacles), *faults(call, loaded, obstacles, begins=not resumes))
    if turn and resumes:
        obstacles.raise_all(loaded.state.id)
        return _Plan(loaded, role, seen, (), (*analysis, *resumed_notes(workspace, turn, seen)), resumed=True)
    steps, notes = preparing(call, loaded, asked.agent, asked.accept_stale, obstacles)
    if role:
        with obstacles.collected():
            steps.append(_role_step(workspace, loaded, role, request))
    drifted = TreeChanges() if asked.accept_drift or _begins_no_role(blocks, role) else seen.changes
    if drifted.drift and not obstacles.has(
        "drift-unresolved"
    ):  # that is the same drift, with the cure that comes first
        hooked = git.has_hook(workspace.root, "pre-commit")
        obstacles.add(drifted.refusal(in_turn=bool(turn and not asked.take_over), hooked=hooked), "--accept-drift")
    obstacles.raise_all(loaded.state.id, shown=drifted.shown() if drifted.drift else ())
    steps.append(git_history.listing(workspace, loaded)[0])
    steps.append(lambda current: _opened(current, _Opening(role, asked, seen), request))
    begun = start_of_work(loaded.state)
    steps.append(lambda current: Change(apply(current.document.text, start_of_work(current.state).edits)))
    notes += () if begun.edits else begun.notes  # the page says the status
    return _Plan(loaded, role, seen, tuple(steps), (*notes, *analysis, *begun_notes(workspace, loaded, role, seen)))


def _loaded(call: TurnRequest) -> Loaded:
    """Return the task as a turn can begin on it.

    Raises:
        TaskstateError: its file is damaged, was changed meanwhile, or the task is closed.
    """
    loaded = call.workspace.load(call.workspace.locate(call.task_id))
    notices.require_undamaged(call.workspace, loaded)
    preconditions.require_whole(loaded)
    preconditions.require_writable(loaded, call.request.expect)
    require_open(loaded.state)
    return loaded


def _given(call: TurnRequest, asked: StartRequest, role: str) -> str:
    """Return the `start` that was given, as a command line."""
    words = ["taskstate", "start", call.task_id, *(["--role", role] if role else [])]
    if asked.agent != call.request.metadata.actor:
        words += ["--agent", asked.agent]
    accepted = {
        "--take-over": asked.take_over,
        "--accept-stale": asked.accept_stale,
        "--accept-drift": asked.accept_drift,
    }
    words += [word for flag, why in accepted.items() if why for word in (flag, why)]
    return " ".join(map(quoted, words))


def _missing_analysis(workspace: Workspace, loaded: Loaded, obstacles: Obstacles) -> tuple[str, ...]:
    """Return a note that the impact analysis is missing; where acks are required, that is in the way instead."""
    shared = find(workspace)
    state = workspace.load(workspace.locate(shared.id)).state if shared else None
    missing = missing_analysis(workspace, loaded.state, state) if state else ""
    if state and not missing:
        first = first_analysis(workspace, loaded.state, state)
        return (first,) if first else ()
    if missing and workspace.config.permanent.require_ack != "never":
        message, _, help_ = missing.partition(": ")
        obstacles.add(TaskstateError(message, help=help_, code="not-confirmed"))
        return ()
    return (missing,) if missing else ()


def _role_step(workspace: Workspace, loaded: Loaded, role: str, request: Request) -> Step:
    """Return the step that sets a role in progress.

    Raises:
        TaskstateError: code "role-order" or "role-status": it is not due.
    """
    names, begins = workspace.config.roles, RoleChange(IN_PROGRESS)
    if blocks_of(loaded.document).role(role).status == BLOCKED:  # it begins with the findings that block it
        return lambda current: _unblocked(current, role, names)
    _require_due(role_rules.role_in_task(loaded.state, role, names), begins)
    return lambda current: with_role_set(workspace, current, role, begins, request)._replace(notes=())


def _require_due(place: RoleInTask, begins: RoleChange) -> None:
    """Refuse a role that is not due.

    Raises:
        TaskstateError: code "role-order" or "role-status".
    """
    try:
        role_rules.snapshots_needed_to_set(place, begins)
    except TaskstateError as error:
        if error.code == "role-order" and place.previous:
            due = next(name for name in place.names if place.blocks.role(name).status != DONE)
            help_ = f"`taskstate start {place.task_id} --role {due}` comes first"
            raise TaskstateError(error.message, help=help_, code=error.code) from error
        raise


def _unblocked(loaded: Loaded, role: str, names: tuple[str, ...]) -> Change:
    values = roles.with_role_values(blocks_of(loaded.document), {role: {"status": IN_PROGRESS}}, names)
    return Change(apply(loaded.document.text, set_front_matter(loaded.document, "coordination", values)))


def _begun_with(turn: Turn) -> EarlierTree | None:
    return EarlierTree(turn.tree, turn.head) if turn.tree else None


def _with_log(earlier: EarlierTree | None, log: bytes | None) -> EarlierTree | None:
    return earlier._replace(log=files.digest(log)) if earlier and log is not None else earlier


def _taken_over(turn: Turn | None, role: str, asked: StartRequest) -> Turn | None:
    """Return the open turn of the same role that is taken over, whose change goes on; else None."""
    return turn if turn and asked.take_over and (turn.role or "") == role else None


def _begins_no_role(blocks: ToolBlocks, role: str) -> bool:
    """Return whether no role begins with a turn, or one that is at work and goes on with what is in the tree.

    Such a one is taken over, was paused, or works without turns so far.
    """
    left, turn = blocks.delta.left, blocks.delta.turn
    if not role or (turn is not None and (turn.role or "") == role):
        return True
    return blocks.role(role).status == IN_PROGRESS and (left is None or left.start_tree is not None)


def _require_free(call: TurnRequest, state: TaskState, turn: Turn | None, asked: StartRequest) -> None:
    """Refuse a task on which a turn is open that another agent began, or another role.

    Raises:
        TaskstateError: code "turn-open".
    """
    if asked.take_over:
        return
    help_ = f"let it finish, or take it over: {START}"
    if turn and is_own(turn, call.request.metadata.actor, asked.agent):
        kind = f"as {turn.role}" if turn.role else "without a role"
        message = f"your own turn {kind} is open since {turn.started_at}"
        words = '--did "WHAT" --state "HOW IT STANDS" --next "STEP"'
        help_ = f"end it, or pause it with --pause: `taskstate finish {state.id} {words}`"
        raise TaskstateError(message, help=help_, code="turn-open")
    if turn:
        role = f"{turn.role} of " if turn.role else ""
        message = f"a turn of {role}{owner(turn)} is open since {turn.started_at}"
        raise TaskstateError(message, help=help_, code="turn-open")


class _Opening(NamedTuple):
    role: str
    asked: StartRequest
    seen: Look


def _opened(loaded: Loaded, opening: _Opening, request: Request) -> Change:
    """Return the change that opens the turn, with the events of what was accepted for that."""
    role, asked, (where, base, tree) = opening
    delta = blocks_of(loaded.document).delta
    metadata = request.metadata
    text = loaded.document.text
    if asked.take_over and delta.turn:
        text = with_taken_over(text, delta.turn, asked.take_over, request)
        begun_with = (delta.left and delta.left.start_tree) or delta.turn.tree
        delta = delta_block.with_left(delta, where.left(begun_with))  # it is paused
    if asked.accept_drift and tree.drift:
        text = with_event(text, metadata.event(ACCEPTED, note=asked.accept_drift, files=list(tree.named)))
    if tree.named and tree.is_of_here and not (asked.accept_drift or asked.take_over):
        more = {"more": len(tree.named) - _NAMED} if len(tree.named) > _NAMED else {}
        text = with_event(text, metadata.event(FOUND, files=list(tree.named[:_NAMED]), **more))
    if role and tree.committed:
        text = with_event(text, metadata.event(COMMITTED, role=role, files=list(tree.committed[:_NAMED])))
    turn = Turn(
        role=role or None,
        agent=asked.agent,
        started_at=timestamp(metadata.now),
        branch=where.branch,
        head=where.head,
        tree=where.tree,
        session=loaded.state.last_session,
        actor=metadata.actor,
    )
    if base and base.is_said:
        delta = delta_block.with_base(delta, base.commit)
    if delta.left and delta.left.start_tree and not _goes_on(blocks_of(loaded.document), role):
        delta = delta_block.with_left(delta, delta.left._replace(start_tree=None))
    document = loaded.with_text(text).document
    opened = delta_block.with_turn(delta, turn)
    return Change(text=apply(text, set_front_matter(document, "delta", opened.values)))


def _goes_on(blocks: ToolBlocks, role: str) -> bool:
    """Return whether the paused turn was one of this role, so that its change goes on from where that began."""
    return not role or blocks.role(role).status == IN_PROGRESS
