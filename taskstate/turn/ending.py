"""Writes what ends a turn in one step: what its arguments say, the role and its snapshot, and what the turn leaves."""

from __future__ import annotations

from taskstate.errors import TaskstateError
from taskstate.messages import first_of
from taskstate.model import delta_block, roles
from taskstate.model.delta_block import Left
from taskstate.model.session_texts import HANDED_OVER
from taskstate.model.statuses import DONE, PENDING
from taskstate.model.write_metadata import blocks_of, set_front_matter, with_event
from taskstate.roles import findings
from taskstate.roles.findings import Writing
from taskstate.roles.role_rules import RoleChange, role_in_task
from taskstate.snapshots import packs
from taskstate.syntax.edits import apply
from taskstate.tasks import git_history
from taskstate.turn.entry import TurnEnd, with_entry
from taskstate.turn.ownership import is_own, with_taken_over
from taskstate.turn.situation import beginning
from taskstate.typed import TYPE_CHECKING, NamedTuple
from taskstate.workspace import open_turns
from taskstate.writing.change import Change, Outcome
from taskstate.writing.joined_changes import joined
from taskstate.writing.writer import change

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from taskstate.model.delta_block import Turn
    from taskstate.model.tool_blocks import ToolBlocks
    from taskstate.storage.git.log import Commit
    from taskstate.tasks.new_session import NewSession
    from taskstate.turn.checks import Checks, Gate
    from taskstate.turn.situation import Position
    from taskstate.turn.turn_request import TurnRequest
    from taskstate.workspace.workspace import Loaded, Workspace
    from taskstate.writing.change import Request, Step

DONE_ENDING, PAUSE, ABANDON = "done", "pause", "abandon"
_NAMED = 5  # features in a line
WAIVED, ABANDONED = "regression-waived", "turn-abandoned"  # events


class FinishRequest(NamedTuple):
    """How a turn ends: the words of its session, what they prove, and whether it is done, paused or given up.

    `log` has the results of the validation commands, which are run without it. `waive` names regressions to let pass,
    `note` says why, or why the turn is given up. `send_back` is the earlier role that takes the work back with
    `found`; `answers` are those of the role to its findings, `keep` the answered
    ones that are not cleared. With `handoff` a document for the successor is written.
    `agent` names who ends the turn, `take_over` says why it is somebody else's.
    """

    words: NewSession | None = None
    passes: tuple[str, ...] = ()
    checked: tuple[int, ...] = ()
    log: bytes | None = None
    waive: tuple[str, ...] = ()
    note: str = ""
    evidence: str = ""
    ending: str = DONE_ENDING
    complete: bool = False
    output: str | None = None
    send_back: str = ""
    found: tuple[str, ...] = ()
    keep: tuple[int, ...] = ()
    answers: Mapping[int, str] = {}
    handoff: bool = False
    agent: str = ""
    take_over: str = ""

    @property
    def is_done(self) -> bool:
        """Whether the turn is to end with its work done."""
        return self.ending == DONE_ENDING and not self.send_back

    @property
    def runs_checks(self) -> bool:
        """Whether the checks are to run: at the end of the work, and where features pass by nothing else."""
        return self.is_done or bool(self.passes and not self.evidence)


class Ending(NamedTuple):
    """A turn that ends: the task after its session, what was asked, what the checks gave, and where the tree is.

    `handing` is the step that hands over, where one was asked for.
    """

    loaded: Loaded
    turn: Turn
    asked: FinishRequest
    checks: Checks
    held: Gate
    where: Position
    handing: Step | None = None


def end(call: TurnRequest, ending: Ending) -> Outcome:
    """Write all that ends the turn in one step.

    Raises:
        TaskstateError: somebody else ended the turn meanwhile (code "turn-changed"); completion is refused.
    """
    workspace, task_id, request, _ = call
    role, asked, known = ending.turn.role or "", ending.asked, ending.loaded
    listing, made = git_history.listing(workspace, known)

    def job(loaded: Loaded) -> Change:
        turn = blocks_of(loaded.document).delta.turn
        if turn is None or turn.started_at != ending.turn.started_at:
            message = f"task {task_id}: somebody else ended this turn meanwhile"
            raise TaskstateError(message, help=f"{beginning(loaded.state)} begins another", code="turn-changed")
        steps = [listing, *given_steps(call, role, asked, ending.checks)]
        steps += [*([ending.handing] if ending.handing else []), *_ending_steps(workspace, role, ending, request)]
        steps.append(lambda now: with_entry(now, _told(ending, blocks_of(loaded.document), made)))
        return joined(loaded, [*steps, _last_step(workspace, request, is_complete=asked.complete)])

    try:
        if asked.complete and workspace.config.archive.summarizer:
            from taskstate.archive import archiver

            archiver.rehearse(workspace, task_id, job)
        outcome = change(workspace, task_id, job, request._replace(known=known))
        known = outcome.loaded
    finally:  # after a failure too, or the artifacts of an unrecorded snapshot would stay
        packs.sweep(workspace, task_id, known)
    open_turns.clear(workspace, task_id)
    if not asked.complete:
        return outcome
    from taskstate.snapshots import purge

    return purge.without_artifacts(workspace, outcome)


def _told(ending: Ending, before: ToolBlocks, commits: tuple[Commit, ...]) -> TurnEnd:
    """Return what the entry of a turn is to tell besides its words."""
    asked, turn = ending.asked, ending.turn
    verb = "passes" if len(asked.passes) == 1 else "pass"
    how = f" ({asked.evidence})" if asked.evidence else ""
    proved = [f"{first_of(asked.passes, _NAMED)} {verb}{how}"] if asked.passes else []
    proved += [f"criterion {number} is met" for number in asked.checked]
    ends = (
        asked.send_back and f"sent back to {asked.send_back}",
        (HANDED_OVER if before.handoffs.open or ending.handing else "paused") if asked.ending == PAUSE else "",
        "task complete" if asked.complete else "",
    )
    return TurnEnd(turn, before, ending.checks.results, "; ".join(proved), tuple(filter(None, ends)), commits)


def _last_step(workspace: Workspace, request: Request, *, is_complete: bool) -> Step:
    """Return the step that moves the oldest events and commits to the archive; completing moves events itself."""
    if not is_complete:
        return git_history.moving_older(workspace)
    from taskstate.tasks.complete import completing

    return completing(workspace, request)


def given_steps(call: TurnRequest, role: str, asked: FinishRequest, checks: Checks) -> list[Step]:
    """Return the steps for what the arguments say of features, criteria, findings and output."""
    request = call.request
    steps: list[Step] = []
    if asked.passes or asked.checked:
        from taskstate.tasks import checklist

        evidence = asked.evidence or checks.evidence
        result = checklist.FeatureResult(passes=True, evidence=evidence, log=None if asked.evidence else checks.log)
        steps += [checklist.testing(feature, result, request) for feature in asked.passes]
        steps += [checklist.checking(number, checked=True) for number in asked.checked]
    if asked.answers:
        writing = Writing(call.workspace.config.roles, request.metadata, in_log=True)
        steps.append(lambda now: Change(findings.with_answers(now.document.text, role, asked.answers, writing)))
    if asked.output is not None:
        from taskstate.chain.output import filling

        steps.append(filling(asked.output))
    return steps


def _ending_steps(workspace: Workspace, role: str, ending: Ending, request: Request) -> Iterator[Step]:
    """Yield the steps that end a turn: role and snapshot, and the delta block with what is left."""
    asked, names = ending.asked, workspace.config.roles
    if asked.take_over and not is_own(ending.turn, request.metadata.actor, asked.agent):
        yield lambda now: Change(with_taken_over(now.document.text, ending.turn, asked.take_over, request))
    forced = ending.checks.accepted.event
    if forced:
        yield lambda now: Change(with_event(now.document.text, forced))
    if ending.held.waived or asked.ending == ABANDON:
        name = WAIVED if ending.held.waived else ABANDONED
        checks = {"checks": list(ending.held.waived)} if name == WAIVED else {}
        event = request.metadata.event(name, note=asked.note, **checks)
        yield lambda now: Change(with_event(now.document.text, event))
    if asked.send_back:
        yield lambda now: _sent_back(now, role, asked, names, request)
    elif role and asked.ending == ABANDON:
        yield lambda now: _pending_again(now, role, names)
    elif role and asked.ending == DONE_ENDING:
        yield from _done_steps(workspace, role, ending, request)
    yield lambda now: _closed(now, role, ending)


def _done_steps(workspace: Workspace, role: str, ending: Ending, request: Request) -> Iterator[Step]:
    """Yield the steps that set a role done: what it looked at again is cleared, its snapshot taken, its status set."""
    from taskstate.roles.role_changes import with_role_set

    writing, keep = Writing(workspace.config.roles, request.metadata, in_log=True), ending.asked.keep
    yield lambda now: Change(findings.with_cleared(now.document.text, role, writing, keep=keep))
    if ending.where.tree is not None:  # else nothing watches the tree
        from taskstate.snapshots import take

        yield lambda now: take.planned(workspace, now, role, str(ending.where.head), request)
    done = RoleChange(DONE, ending.checks.log, results=ending.checks.results, waived=ending.held.waived)
    yield lambda now: with_role_set(workspace, now, role, done, request)


def _sent_back(loaded: Loaded, role: str, asked: FinishRequest, names: tuple[str, ...], request: Request) -> Change:
    """Return the change that gives the work back to an earlier role, with what this one found."""
    from taskstate.roles.role_changes import with_sent_back

    place = role_in_task(loaded.state, asked.send_back, names)
    sent = with_sent_back(place, asked.found, by=role, metadata=request.metadata, keep=asked.keep)
    return Change(sent)


def _pending_again(loaded: Loaded, role: str, names: tuple[str, ...]) -> Change:
    """Return the change that makes a role pending again, without a snapshot of an earlier round."""
    blocks = blocks_of(loaded.document)
    values = roles.with_role_values(blocks, {role: {"status": PENDING}}, names)
    text = apply(loaded.document.text, set_front_matter(loaded.document, "coordination", values))
    delta = delta_block.without_snapshots(blocks.delta, (role,))
    return Change(text=apply(text, set_front_matter(loaded.with_text(text).document, "delta", delta.values)))


def _closed(loaded: Loaded, role: str, ending: Ending) -> Change:
    """Return the change that closes the turn, and says what it leaves.

    Raises:
        TaskstateError: code "tree-changed": somebody changed files since the checks ran.
    """
    delta = blocks_of(loaded.document).delta
    snapshot = delta.snapshots.get(role)
    if ending.asked.ending == DONE_ENDING and snapshot and snapshot.tree not in {None, ending.where.tree}:
        message = f"task {loaded.state.id}: somebody changed files while the turn was ending"
        raise TaskstateError(
            message, help="look at them (`git status`), then give the command again", code="tree-changed"
        )
    turn, asked = ending.turn, ending.asked
    start = (delta.left and delta.left.start_tree) or turn.tree
    left = ending.where.left(start if asked.ending == PAUSE or not role else None)
    if asked.ending == ABANDON and turn.tree:  # nobody answers for what it changed
        left = Left(turn.tree, turn.head, turn.branch, start)
    delta = delta_block.with_left(delta_block.with_turn(delta, None), left)
    if role and ending.where.tree and ending.asked.ending == DONE_ENDING:
        delta = delta_block.with_last_seen(delta, role, ending.where.tree)
    return Change(text=apply(loaded.document.text, set_front_matter(loaded.document, "delta", delta.values)))
