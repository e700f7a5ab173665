"""Ends a turn: records the session first, runs the checks, and where these let it, sets the role done in one step.

Recording work is never refused. What the checks keep from being done is said, and the turn stays open: the same
command, given again, adds nothing twice.
"""

from __future__ import annotations

from taskstate.errors import SeveralReasons, TaskstateError
from taskstate.messages import counted, first_of
from taskstate.model import delta_block, roles
from taskstate.model.statuses import COMPLETE, DONE, PENDING
from taskstate.model.write_metadata import blocks_of, set_front_matter, timestamp, with_event
from taskstate.syntax.edits import apply
from taskstate.tasks import checklist, findings, role_changes, sessions
from taskstate.tasks.chain_output import with_output
from taskstate.tasks.complete import completing
from taskstate.tasks.findings import Writing
from taskstate.tasks.role_rules import RoleChange, role_in_task
from taskstate.turn.checks import Checks, Gate, checks_of, failing_output, gate
from taskstate.turn.position import kept_position, require_open
from taskstate.turn.what_next import lint_lines, next_lines
from taskstate.typed import TYPE_CHECKING, NamedTuple
from taskstate.verification.qa import record as qa_record
from taskstate.verification.qa import trust
from taskstate.verification.snapshots import base as snapshot_base
from taskstate.verification.snapshots import packs, purge, take
from taskstate.workspace import artifacts, damage, open_turns, preconditions
from taskstate.workspace.change import Change, Outcome
from taskstate.workspace.event_log import with_oldest_moved
from taskstate.workspace.steps import joined
from taskstate.workspace.writer import change

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from taskstate.model.delta_block import Turn
    from taskstate.model.findings import Finding
    from taskstate.tasks.sessions import NewSession
    from taskstate.turn.call import Call
    from taskstate.turn.position import Position
    from taskstate.workspace.change import Request
    from taskstate.workspace.workspace import Loaded, Workspace

    Step = Callable[[Loaded], Change]

DONE_ENDING, PAUSE, ABANDON = "done", "pause", "abandon"
WAIVED, ABANDONED = "regression-waived", "turn-abandoned"  # events
_NAMED = 5  # features in a line
_RECORDED = "what was said is recorded, once"
_OPEN = f"{_RECORDED}, and the turn stays open: mend this, then give the command again"


class FinishRequest(NamedTuple):
    """How a turn ends: the words of its session, what they prove, and whether it is done, paused or given up.

    `log` has the results of the validation commands, which are run without it. `waive` names regressions to let pass,
    `note` says why, or why the turn is given up. `send_back` is the earlier role that takes the work back with
    `found`; `answers` are those of the role to its findings, `keep` the answered ones that are not cleared.
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


class Finished(NamedTuple):
    """How a turn ended: `problems` are what keeps it from being done, `lines` what was done and what comes next."""

    outcome: Outcome
    role: str
    done: bool
    problems: tuple[str, ...]
    lines: tuple[str, ...]


def finish(call: Call, asked: FinishRequest) -> Finished:
    """End the open turn of a task.

    What is refused after its session was recorded is a problem of the result: an error means that nothing was.

    Raises:
        TaskstateError: no turn is open (code "no-turn": the session is kept in a file); nothing was recorded in it
            (code "no-session"); without words of a session, what was asked for does not fit the task.
    """
    workspace, request = call.workspace, call.request
    loaded = _readable(workspace, asked, call)
    turn = blocks_of(loaded.document).delta.turn
    if turn is None:
        return _without_turn(workspace, loaded, asked, request)
    role, outcome = turn.role or "", _recorded(workspace, loaded, turn, asked, request)
    if request.dry_run:
        return Finished(outcome, role, done=False, problems=(), lines=(_intent(asked),))
    try:
        return _ended(call, turn, asked, outcome)
    except TaskstateError as error:
        if asked.words is None:
            raise
        then = _RECORDED if error.code == "turn-changed" else _OPEN
        return Finished(outcome, role, done=False, problems=_reasons(error), lines=(*outcome.notes, then))


def _ended(call: Call, turn: Turn, asked: FinishRequest, outcome: Outcome) -> Finished:
    """End a turn whose session was recorded with `outcome`, if its checks let it."""
    workspace, role = call.workspace, turn.role or ""
    loaded = workspace.load(workspace.locate(call.task_id))
    _require_possible(call, loaded, role, asked)
    checks, held = Checks(), Gate((), ())
    if _is_done(asked):
        instead = f"give their log: `taskstate finish {loaded.state.id} --qa-log LOG`"
        checks = checks_of(call, loaded, asked.log, instead=instead)
        held = gate(loaded, checks, asked.waive)
        held = held._replace(problems=(*held.problems, *_unproved(asked, checks)))
    if held.problems:
        lines = (*outcome.notes, *failing_output(checks, held.problems), *_kept_log(workspace, loaded, checks), _OPEN)
        return Finished(outcome, role, done=False, problems=held.problems, lines=lines)
    ending = _Ending(turn, asked, checks, held, kept_position(workspace, loaded))
    ended = _end(call, ending)
    problems = lint_lines(workspace, ended)
    done = _done_lines(ended, role, asked, checks, held)
    ended = ended._replace(warnings=(*checks.accepted.warnings, *ended.warnings))
    lines = (*outcome.notes, *ended.notes, *done, *checks.notes, *next_lines(workspace, call.task_id))
    return Finished(ended, role, done=not problems, problems=problems, lines=lines)


def _reasons(error: TaskstateError) -> tuple[str, ...]:
    """Return the lines of a refusal: what to do, then all that is in the way."""
    reasons = error.reasons if isinstance(error, SeveralReasons) else ()
    return (str(error), *(f"- {each}" for each in reasons))


def _readable(workspace: Workspace, asked: FinishRequest, call: Call) -> Loaded:
    """Return the task; where its file cannot take a session, the words are kept in a file."""
    try:
        loaded = workspace.load(workspace.locate(call.task_id))
        damage.require_undamaged(workspace, loaded)
        preconditions.require_whole(loaded)
        preconditions.require_work(loaded.state, "turns", "`taskstate permanent update` records what changed in it")
    except TaskstateError as error:
        if asked.words is None or error.code not in sessions.KEPT_REFUSALS or call.request.dry_run:
            raise
        force = call.request.force_secrets
        raise sessions.with_kept_input(workspace, call.task_id, asked.words, error, force=force) from error
    return loaded


# The session


def _without_turn(workspace: Workspace, loaded: Loaded, asked: FinishRequest, request: Request) -> Finished:
    """Refuse a task without an open turn, and keep the words; the same `finish` again changes nothing."""
    task_id = loaded.state.id
    last = loaded.state.last_session
    unchanged = Outcome(loaded.relative, loaded.token, changed=False, text=loaded.document.text)
    if asked.words and sessions.says_already(loaded.state, asked.words, last - 1):
        said, undone = f"the turn has ended, and session {last} says this already", tuple(_undone(loaded, asked))
        if not undone:
            return Finished(unchanged, "", done=True, problems=(), lines=(said, *next_lines(workspace, task_id)))
        message = f"task {task_id}: {said}; not done: {first_of(undone, _NAMED)}"
        help_ = f"`taskstate start {task_id}` begins a turn; then say what was done since, with these options"
        raise TaskstateError(message, help=help_, code="no-turn")
    if asked.ending == ABANDON and not asked.words:
        return Finished(unchanged, "", done=True, problems=(), lines=("no turn is open: there is nothing to give up",))
    help_ = f"`taskstate start {task_id}` begins one"
    error = TaskstateError(f"task {task_id}: no turn is open", help=help_, code="no-turn")
    if asked.words and not request.dry_run:
        raise sessions.with_kept_input(workspace, task_id, asked.words, error, force=request.force_secrets)
    raise error


def _undone(loaded: Loaded, asked: FinishRequest) -> Iterator[str]:
    """Yield the options with which something was asked for that has not been done."""
    state = loaded.state
    passing = {each.id for each in state.checklist.features if each.passes} if state.checklist else frozenset[str]()
    checked = {each.number for each in state.criteria if each.checked}
    yield from (f"--pass {each}" for each in asked.passes if each not in passing)
    yield from (f"--check {each}" for each in asked.checked if each not in checked)
    if asked.complete and state.status != COMPLETE:
        yield "--complete"
    if asked.send_back and blocks_of(loaded.document).role(asked.send_back).status == DONE:
        yield f"--send-back {asked.send_back}"


def _recorded(workspace: Workspace, loaded: Loaded, turn: Turn, asked: FinishRequest, request: Request) -> Outcome:
    """Record the session of the turn, on disk before anything long begins; once, however often it is said.

    Raises:
        TaskstateError: code "no-session": nothing is said, and nobody wrote a session by hand in this turn.
    """
    if asked.words:
        words = asked.words._replace(agent=asked.words.agent or turn.agent or "")
        return sessions.add(workspace, loaded.state.id, words, request, since=turn.session)
    if asked.ending != ABANDON and not any(each.number > turn.session for each in loaded.state.sessions):
        message = f"task {loaded.state.id}: nothing was recorded in this turn"
        help_ = "say what was done: --did, --state and --next, or --from FILE"
        raise TaskstateError(message, help=help_, code="no-session")
    return Outcome(loaded.relative, loaded.token, changed=False, text=loaded.document.text)


# What must fit before the checks run


def _require_possible(call: Call, loaded: Loaded, role: str, asked: FinishRequest) -> None:
    """Refuse early what could not be written later, since the checks may run for long.

    Raises:
        TaskstateError: a feature, criterion or finding is not there; a proof is missing; a finding has no answer; git
            is in the middle of an operation.
    """
    require_open(loaded.state)
    snapshot_base.require_no_git_operation(call.workspace)
    if asked.send_back and not role:
        message = "--send-back goes with the turn of a role, and this one has none"
        raise TaskstateError(message, help="leave it out; the next turn begins with your next steps", code="usage")
    runs = asked.log is None and bool(trust.validation_commands(call.workspace, loaded))
    if asked.passes and not asked.evidence and not runs:
        message = "--pass wants --evidence, since no command was run that proves it"
        raise TaskstateError(message, help='say how it was tested: --evidence "HOW"', code="usage")
    joined(loaded, _given_steps(call, role, asked, Checks()))
    unanswered = [each for each in _findings(loaded, role) if each.is_open and each.number not in asked.answers]
    if _is_done(asked) and unanswered:
        gaps = "; ".join(f"finding {each.number} has no answer: {each.text}" for each in unanswered)
        flags = " ".join(f'--answer {each.number}="WHAT WAS DONE"' for each in unanswered)
        raise TaskstateError(f"task {loaded.state.id}: {gaps}", help=f"add {flags}", code="findings-open")


def _unproved(asked: FinishRequest, checks: Checks) -> tuple[str, ...]:
    """Return a line where a run of the checks is to prove features, and not all of them pass."""
    failing = [name for name, each in checks.results.items() if not each.ok]
    if not asked.passes or asked.evidence or not failing:
        return ()
    return (f"--pass wants a run in which all checks pass, or --evidence: {first_of(failing, _NAMED)} fails",)


def _findings(loaded: Loaded, role: str) -> tuple[Finding, ...]:
    return blocks_of(loaded.document).role(role).findings if role else ()


def _is_done(asked: FinishRequest) -> bool:
    """Return whether the turn is to end with its work done."""
    return asked.ending == DONE_ENDING and not asked.send_back


def _intent(asked: FinishRequest) -> str:
    """Return what a dry run leaves out: the checks, and what depends on them."""
    what = f"send the work back to {asked.send_back}" if asked.send_back else "run the checks, take the snapshot"
    return f"would then {what if asked.ending == DONE_ENDING else asked.ending} and end the turn"


# The end


class _Ending(NamedTuple):
    """A turn that ends: what was asked, what the checks gave, and where the working tree is."""

    turn: Turn
    asked: FinishRequest
    checks: Checks
    held: Gate
    where: Position


def _end(call: Call, ending: _Ending) -> Outcome:
    """Write all that ends the turn in one step.

    Raises:
        TaskstateError: somebody else ended the turn meanwhile (code "turn-changed"); completion is refused.
    """
    workspace, task_id, request, _ = call
    role, asked = ending.turn.role or "", ending.asked

    def job(loaded: Loaded) -> Change:
        turn = blocks_of(loaded.document).delta.turn
        if turn is None or turn.started_at != ending.turn.started_at:
            message = f"task {task_id}: somebody else ended this turn meanwhile"
            raise TaskstateError(message, help=f"`taskstate start {task_id}` begins another", code="turn-changed")
        steps = _given_steps(call, role, asked, ending.checks)
        steps += _ending_steps(workspace, role, ending, request)
        whole = joined(loaded, steps)
        if not asked.complete:
            text, moved = with_oldest_moved(workspace, whole.text)
            return whole._replace(text=text, before=(*whole.before, *moved))
        completed = completing(workspace, request)(loaded.with_text(whole.text))  # it moves the oldest events itself
        return completed._replace(
            before=(*whole.before, *completed.before),
            notes=(*whole.notes, *completed.notes),
            artifacts=(*whole.artifacts, *completed.artifacts),
        )

    try:
        if asked.complete and workspace.config.archive.summarizer:
            from taskstate.archive import archiver

            archiver.rehearse(workspace, task_id, job)
        outcome = change(workspace, task_id, job, request)
    finally:  # after a failure too, or the artifacts of an unrecorded snapshot would stay
        packs.sweep(workspace, task_id)
    open_turns.clear(workspace, task_id)
    return purge.without_artifacts(workspace, outcome) if asked.complete else outcome


def _given_steps(call: Call, role: str, asked: FinishRequest, checks: Checks) -> list[Step]:
    """Return the steps for what the arguments say of features, criteria, findings and output."""
    request = call.request
    evidence = asked.evidence or checks.evidence
    log = None if asked.evidence else checks.log
    result = checklist.FeatureResult(passes=True, evidence=evidence, log=log)
    steps: list[Step] = [checklist.testing(feature, result, request) for feature in asked.passes]
    steps += [checklist.checking(number, checked=True) for number in asked.checked]
    if asked.answers:
        writing = Writing(call.workspace.config.roles, request.metadata)
        steps.append(lambda now: Change(findings.with_answers(now.document.text, role, asked.answers, writing)))
    if asked.output is not None:
        output = asked.output
        steps.append(lambda now: Change(with_output(now.state, output)))
    return steps


def _ending_steps(workspace: Workspace, role: str, ending: _Ending, request: Request) -> Iterator[Step]:
    """Yield the steps that end a turn: role and snapshot, and the delta block with what is left."""
    asked, names = ending.asked, workspace.config.roles
    writing = Writing(names, request.metadata)
    forced = ending.checks.accepted.event
    if forced:
        yield lambda now: Change(with_event(now.document.text, forced))
    if ending.held.waived or asked.ending == ABANDON:
        name = WAIVED if ending.held.waived else ABANDONED
        event = {"event": name, "note": asked.note, **({"checks": list(ending.held.waived)} if name == WAIVED else {})}
        yield lambda now: Change(_with_event(now.document.text, event, request))
    if asked.send_back:
        yield lambda now: _sent_back(now, role, asked, names, request)
    elif role and asked.ending == ABANDON:
        yield lambda now: _pending_again(now, role, names)
    elif role and asked.ending == DONE_ENDING:
        yield lambda now: Change(findings.with_cleared(now.document.text, role, writing, keep=asked.keep))
        if ending.where.tree is None:  # as a purge says it: there is no snapshot, and none is missed
            unwatched = {"event": purge.EVENT, "role": role, "note": "nothing watched the working tree"}
            yield lambda now: Change(_with_event(now.document.text, unwatched, request))
        else:
            yield lambda now: take.planned(workspace, now, role, str(ending.where.head), request)
        done = RoleChange(DONE, ending.checks.log, results=ending.checks.results, waived=ending.held.waived)
        yield lambda now: role_changes.with_role_set(workspace, now, role, done, request)
    yield lambda now: _closed(now, role, ending)


def _sent_back(loaded: Loaded, role: str, asked: FinishRequest, names: tuple[str, ...], request: Request) -> Change:
    """Return the change that gives the work back to an earlier role, with what this one found."""
    place = role_in_task(loaded.state, asked.send_back, names)
    sent = role_changes.with_sent_back(place, asked.found, by=role, metadata=request.metadata, keep=asked.keep)
    return Change(sent)


def _pending_again(loaded: Loaded, role: str, names: tuple[str, ...]) -> Change:
    """Return the change that makes a role pending again, without a snapshot of an earlier round."""
    blocks = blocks_of(loaded.document)
    values = roles.with_role_values(blocks, {role: {"status": PENDING}}, names)
    text = apply(loaded.document.text, set_front_matter(loaded.document, "coordination", values))
    delta = delta_block.without_snapshots(blocks.delta, (role,))
    return Change(text=apply(text, set_front_matter(loaded.with_text(text).document, "delta", delta.values)))


def _with_event(text: str, event: Mapping[str, object], request: Request) -> str:
    at, actor = timestamp(request.metadata.now), request.metadata.actor
    return with_event(text, {"at": at, "actor": actor, **event})


def _closed(loaded: Loaded, role: str, ending: _Ending) -> Change:
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
    start = (delta.left and delta.left.start_tree) or ending.turn.tree
    goes_on = start if ending.asked.ending == PAUSE else None
    delta = delta_block.with_left(delta_block.with_turn(delta, None), ending.where.left(goes_on))
    if role and ending.where.tree and ending.asked.ending == DONE_ENDING:
        delta = delta_block.with_last_seen(delta, role, ending.where.tree)
    return Change(text=apply(loaded.document.text, set_front_matter(loaded.document, "delta", delta.values)))


def _done_lines(ended: Outcome, role: str, asked: FinishRequest, checks: Checks, held: Gate) -> Iterator[str]:
    """Yield in a line each what the end of the turn has settled."""
    if checks.results:
        passing = sum(each.ok for each in checks.results.values())
        waived = f", let pass: {'; '.join(held.waived)}" if held.waived else ""
        yield f"checks: {passing} of {len(checks.results)} pass{waived}"
    if asked.passes:
        yield f"{first_of(asked.passes, _NAMED)} {'passes' if len(asked.passes) == 1 else 'pass'}"
    snapshot = blocks_of(ended.state.document).delta.snapshots.get(role)
    if asked.send_back:
        yield f"sent back to {asked.send_back}, with {counted(len(asked.found), 'finding')}"
    elif asked.ending == PAUSE:
        yield f"paused{f': {role} is still in progress' if role else ''}"
    elif asked.ending == ABANDON:
        yield "given up: nothing is done, and the files are left as they are"
    elif role and snapshot:
        yield f"{role} is done: {snapshot.diff_stat or 'no changes'} since the base"


def _kept_log(workspace: Workspace, loaded: Loaded, checks: Checks) -> tuple[str, ...]:
    """Keep the log of checks that hold a turn back, and return a line that says where."""
    if not checks.log or not checks.ran:
        return ()
    log = qa_record.log_artifact(loaded.state.id, "finish", checks.log)
    artifacts.write_all(workspace, (log,))
    return (f"their output: {workspace.config.root}/{log.path}",)
