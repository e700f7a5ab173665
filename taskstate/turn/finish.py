"""Ends a turn: records the session first, runs the checks, and where these let it, sets the role done in one step.

Recording work is refused only where the file cannot take it, and the words are kept then, and for a slip in the
arguments: with a number or a name that is not there nothing is recorded. What the checks keep from being done is said,
and the turn stays open: the same command, given again, adds nothing twice.
"""

from __future__ import annotations

from taskstate.autosave import consent
from taskstate.errors import SeveralReasons, TaskstateError
from taskstate.messages import counted, first_of
from taskstate.model.session_texts import by_text
from taskstate.model.statuses import COMPLETE, DONE
from taskstate.model.write_metadata import blocks_of, timestamp
from taskstate.qa import trust
from taskstate.roles.findings import Writing, with_cleared
from taskstate.snapshots import base as snapshot_base
from taskstate.tasks import sessions
from taskstate.tasks.size_warning import suggestion
from taskstate.turn import ownership
from taskstate.turn.checks import Checks, Gate, checks_of, failing_output, gate
from taskstate.turn.ending import ABANDON, DONE_ENDING, PAUSE, Ending, end, given_steps
from taskstate.turn.found_by_lint import UNTESTED, lint_findings, lint_lines
from taskstate.turn.ownership import is_own
from taskstate.turn.situation import beginning, kept_position, require_open, turn_elsewhere
from taskstate.turn.what_next import next_lines
from taskstate.typed import TYPE_CHECKING, NamedTuple
from taskstate.workspace import artifacts, open_turns
from taskstate.writing import notices, preconditions
from taskstate.writing.change import Change, Outcome
from taskstate.writing.joined_changes import joined

if TYPE_CHECKING:
    from collections.abc import Iterator

    from taskstate.model.delta_block import Turn
    from taskstate.model.role_findings import Finding
    from taskstate.turn.ending import FinishRequest
    from taskstate.turn.turn_request import TurnRequest
    from taskstate.workspace.workspace import Loaded, Workspace
    from taskstate.writing.change import Request

_NAMED = 5  # features in a line
_RECORDED = "your session is recorded (once)"
_OPEN = f"{_RECORDED}, and the turn stays open: fix this, then run the command again"


class Finished(NamedTuple):
    """How a turn ended: `problems` are what keeps it from being done, `lines` what was done and what comes next."""

    outcome: Outcome
    role: str
    done: bool
    problems: tuple[str, ...]
    lines: tuple[str, ...]


def finish(call: TurnRequest, asked: FinishRequest) -> Finished:
    """End the open turn of a task.

    What is refused after its session was recorded is a problem of the result: an error means that nothing was.

    Raises:
        TaskstateError: no turn is open, or it is somebody else's (code "no-turn", "turn-open": the session is kept in a
            file); something is named that the task does not have (code "not-found"); nothing was recorded in it (code
            "no-session"); without words of a session, what was asked for does not fit the task.
    """
    metadata = call.request.metadata._replace(agent=asked.agent)
    call = call._replace(request=call.request._replace(metadata=metadata))
    workspace, request = call.workspace, call.request
    words = asked.words
    signed = words and words._replace(agent=words.agent or asked.agent or request.metadata.actor)
    kept = asked._replace(words=signed)  # as the words are kept, if they cannot be recorded
    loaded = _readable(workspace, kept, call)
    _require_here(workspace, loaded, kept, request)
    turn = blocks_of(loaded.document).delta.turn
    if turn is None:
        return _without_turn(workspace, loaded, kept, request)
    _require_own(call, loaded, turn, kept)
    role = turn.role or ""
    _require_there(call, loaded, role, asked)
    _require_tested(workspace, loaded, kept, request)
    outcome = _recorded(workspace, loaded, turn, asked, request)
    if request.dry_run:
        return Finished(outcome, role, done=False, problems=(), lines=(_intent(asked),))
    try:
        return _ended(call, turn, asked, outcome)
    except TaskstateError as error:
        if asked.words is None:
            raise
        then = _RECORDED if error.code == "turn-changed" else _OPEN
        return Finished(outcome, role, done=False, problems=_reasons(error), lines=(*outcome.notes, then))


def _ended(call: TurnRequest, turn: Turn, asked: FinishRequest, outcome: Outcome) -> Finished:
    """End a turn whose session was recorded with `outcome`, if its checks let it."""
    workspace, role = call.workspace, turn.role or ""
    loaded = outcome.loaded
    _require_possible(call, loaded, role, asked)
    checks, held = Checks(), Gate((), ())
    if asked.runs_checks:
        instead = f"give their log: `taskstate finish {loaded.state.id} --qa-log LOG`"
        checks = checks_of(call, loaded, asked.log, instead=instead)
        held = gate(loaded, checks, asked.waive)
        held = held._replace(problems=(*held.problems, *_unproved(asked, checks)))
    if held.problems:
        lines = (*outcome.notes, *failing_output(checks, held.problems), *_kept_log(workspace, loaded, checks), _OPEN)
        return Finished(outcome, role, done=False, problems=held.problems, lines=lines)
    handing = None
    if asked.handoff:
        from taskstate.turn.hand_over import handing_over

        handing = handing_over(workspace, loaded, call.request)
    ending = Ending(loaded, turn, asked, checks, held, kept_position(workspace, loaded), handing)
    ended = end(call, ending)
    problems = lint_lines(workspace, ended, call.request.metadata.now)
    done = _done_lines(ended, role, asked, checks, held)
    ended = ended._replace(warnings=(*checks.accepted.warnings, *ended.warnings))
    told = suggestion(workspace, ended.state, added=sum(each.number > turn.session for each in ended.state.sessions))
    following = next_lines(workspace, ended.loaded, goes_on=asked.ending != DONE_ENDING)
    lines = (*outcome.notes, *ended.notes, *done, *checks.notes, *following, *told)
    return Finished(ended, role, done=not problems, problems=problems, lines=lines)


def _reasons(error: TaskstateError) -> tuple[str, ...]:
    """Return the lines of a refusal: what to do, then all that is in the way."""
    reasons = error.reasons if isinstance(error, SeveralReasons) else ()
    return (str(error), *(f"- {each}" for each in reasons))


def _readable(workspace: Workspace, asked: FinishRequest, call: TurnRequest) -> Loaded:
    """Return the task; where its file cannot take a session, the words are kept in a file."""
    try:
        loaded = workspace.load(workspace.locate(call.task_id))
        notices.require_undamaged(workspace, loaded)
        preconditions.require_whole(loaded)
        help_ = "`taskstate permanent update --section S --from FILE` records what changed in it"
        preconditions.require_work(loaded.state, "turns", help_)
    except TaskstateError as error:
        if asked.words is None or error.code not in sessions.KEPT_REFUSALS or call.request.dry_run:
            raise
        force = call.request.force_secrets
        raise sessions.with_kept_input(workspace, call.task_id, asked.words, error, force=force) from error
    return loaded


def _require_here(workspace: Workspace, loaded: Loaded, asked: FinishRequest, request: Request) -> None:
    """Refuse a turn that is open in another worktree; the words are kept in a file.

    Raises:
        TaskstateError: code "turn-open".
    """
    theirs = open_turns.in_another_worktree(workspace, loaded.state.id)
    if theirs and asked.words and not request.dry_run:
        force = request.force_secrets
        raise sessions.with_kept_input(workspace, loaded.state.id, asked.words, turn_elsewhere(theirs), force=force)
    if theirs:
        raise turn_elsewhere(theirs)


def _require_there(call: TurnRequest, loaded: Loaded, role: str, asked: FinishRequest) -> None:
    """Refuse what names a feature, a criterion or a finding that is not there, before anything is recorded.

    Raises:
        SeveralReasons: code "not-found": several are not there.
        TaskstateError: code "not-found": one is not.
    """
    steps = given_steps(call, role, asked, Checks())
    if asked.keep:
        writing = Writing(call.workspace.config.roles, call.request.metadata, in_log=True)
        steps.append(lambda now: Change(with_cleared(now.document.text, role, writing, keep=asked.keep)))
    missing: list[TaskstateError] = []
    for step in steps:
        try:
            step(loaded)
        except TaskstateError as error:
            missing += [error] if error.code == "not-found" else []
    if len(missing) == 1:
        raise missing[0]
    if missing:
        message = f"task {loaded.state.id}: nothing is recorded, {len(missing)} things are not there"
        raise SeveralReasons(message, tuple(map(str, missing)), code="not-found")


# The session


def _without_turn(workspace: Workspace, loaded: Loaded, asked: FinishRequest, request: Request) -> Finished:
    """Refuse a task without an open turn, and keep the words; the same `finish` again changes nothing."""
    task_id = loaded.state.id
    last = loaded.state.last_session
    unchanged = _unchanged(loaded)
    if asked.words and sessions.says_already(loaded.state, asked.words, last - 1):
        said, undone = f"the turn has ended, and session {last} says this already", tuple(_undone(loaded, asked))
        if not undone:
            return Finished(unchanged, "", done=True, problems=(), lines=(said, *next_lines(workspace, loaded)))
        message = f"task {task_id}: {said}; not done: {first_of(undone, _NAMED)}"
        help_ = f"{beginning(loaded.state)} begins a turn; then say what was done since, with these options"
        help_ = f"`taskstate handoff new {task_id} --draft` does it" if undone == ("--handoff",) else help_
        raise TaskstateError(message, help=help_, code="no-turn")
    if asked.ending == ABANDON and not asked.words:
        return Finished(unchanged, "", done=True, problems=(), lines=("no turn is open: there is nothing to give up",))
    help_ = f"{beginning(loaded.state)} begins one"
    error = TaskstateError(f"task {task_id}: no turn is open", help=help_, code="no-turn")
    if asked.words and not request.dry_run:
        raise sessions.with_kept_input(workspace, task_id, asked.words, error, force=request.force_secrets)
    raise error


def _require_own(call: TurnRequest, loaded: Loaded, turn: Turn, asked: FinishRequest) -> None:
    """Refuse to end somebody else's turn without a word; the words of the session are kept.

    Raises:
        TaskstateError: code "turn-open".
    """
    request = call.request
    actor = request.metadata.actor
    if asked.take_over or is_own(turn, actor, asked.agent):
        return
    task_id, kept = loaded.state.id, ""
    if asked.words and not request.dry_run:
        kept = sessions.kept_input(call.workspace, task_id, asked.words, force=request.force_secrets)
    shown = kept and f"{call.workspace.config.root}/{kept}"
    raise ownership.refusal(turn, task_id, asked.agent or actor, shown)


def _require_tested(workspace: Workspace, loaded: Loaded, asked: FinishRequest, request: Request) -> None:
    """Refuse a file in which a feature passes that no command says was tested; the words are kept in a file.

    Recorded, it would count as progress. What this `finish` proves is tested by it.

    Raises:
        TaskstateError: code "lint".
    """
    features = loaded.state.checklist.features if loaded.state.checklist else ()
    if not any(each.passes and not each.tested_at and each.id not in asked.passes for each in features):
        return
    found = lint_findings(workspace, loaded.relative, request.metadata.now)
    error = next((each.refusal for each in found if each.code == UNTESTED), None)
    if error and asked.words and not request.dry_run:
        raise sessions.with_kept_input(workspace, loaded.state.id, asked.words, error, force=request.force_secrets)
    if error:
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
    if asked.handoff and not blocks_of(loaded.document).handoffs.open:
        yield "--handoff"


def _recorded(workspace: Workspace, loaded: Loaded, turn: Turn, asked: FinishRequest, request: Request) -> Outcome:
    """Record the session of the turn, on disk before anything long begins; once, however often it is said.

    Raises:
        TaskstateError: code "no-session": nothing is said, and nobody wrote a session by hand in this turn.
    """
    if asked.words:
        is_ours = is_own(turn, request.metadata.actor, asked.agent)
        agent = asked.agent or (turn.agent if is_ours else request.metadata.actor) or ""
        words = asked.words._replace(agent=by_text(asked.words.agent or agent, turn.role or ""))
        known = request._replace(known=loaded)
        outcome = sessions.add(workspace, loaded.state.id, words, known, since=turn.session)
        if not request.dry_run and consent.is_given(workspace.root):
            from taskstate.autosave import catch_up

            catch_up.told_itself(workspace, outcome.state, timestamp(request.metadata.now))
        return outcome
    own = (each for each in loaded.state.sessions if each.number > turn.session and not each.is_autosaved)
    if asked.ending != ABANDON and not any(own):
        message = f"task {loaded.state.id}: nothing was recorded in this turn"
        help_ = "say what was done: --did, --state and --next, or --from FILE"
        raise TaskstateError(message, help=help_, code="no-session")
    return _unchanged(loaded)


def _unchanged(loaded: Loaded) -> Outcome:
    return Outcome(loaded.relative, loaded.token, changed=False, text=loaded.document.text, read=loaded.state)


# What must fit before the checks run


def _require_possible(call: TurnRequest, loaded: Loaded, role: str, asked: FinishRequest) -> None:
    """Refuse early what could not be written later, since the checks may run for long.

    Raises:
        TaskstateError: a feature, criterion or finding is not there; a proof is missing; a finding has no answer; git
            is in the middle of an operation.
    """
    require_open(loaded.state)
    snapshot_base.require_no_git_operation(call.workspace)
    _require_sent_back(loaded, asked, call.workspace.config.roles)
    if asked.send_back and not role:
        message = "--send-back goes with the turn of a role, and this one has none"
        raise TaskstateError(message, help="leave it out; the next turn begins with your next steps", code="usage")
    runs = asked.log is None and bool(trust.validation_commands(call.workspace, loaded))
    if asked.passes and not asked.evidence and not runs:
        message = "--pass needs --evidence, since no command was run that proves it"
        raise TaskstateError(message, help='say how it was tested: --evidence "HOW"', code="usage")
    joined(loaded, given_steps(call, role, asked, Checks()))
    unanswered = [each for each in _findings(loaded, role) if each.is_open and each.number not in asked.answers]
    if asked.is_done and unanswered:
        gaps = "; ".join(f"finding {each.number} has no answer: {each.text}" for each in unanswered)
        flags = " ".join(f'--answer {each.number}="WHAT WAS DONE"' for each in unanswered)
        raise TaskstateError(f"task {loaded.state.id}: {gaps}", help=f"add {flags}", code="findings-open")


def _require_sent_back(loaded: Loaded, asked: FinishRequest, names: tuple[str, ...]) -> None:
    """Refuse to keep a finding without giving the work back to the role that has to answer it.

    Raises:
        TaskstateError: code "findings-open".
    """
    kept = (name for name in names if any(each.number in asked.keep for each in _findings(loaded, name)))
    back, task_id = next(kept, ""), loaded.state.id
    if back and (asked.send_back not in names or names.index(back) < names.index(asked.send_back)):
        message = f"task {task_id}: a finding that is kept is not settled, so {back} gets the work back"
        numbers = ",".join(map(str, asked.keep))
        cure = f"send it back: `taskstate finish {task_id} --send-back {back} --keep {numbers}`; or leave --keep out"
        raise TaskstateError(message, help=cure, code="findings-open")


def _unproved(asked: FinishRequest, checks: Checks) -> tuple[str, ...]:
    """Return a line where a run of the checks is to prove features, and not all of them pass."""
    failing = [name for name, each in checks.results.items() if not each.ok]
    if not asked.passes or asked.evidence or not failing:
        return ()
    else_ = "" if asked.is_done else "; without --pass the turn ends as it is"
    return (f"--pass needs a run in which all checks pass, or --evidence: {first_of(failing, _NAMED)} fails{else_}",)


def _findings(loaded: Loaded, role: str) -> tuple[Finding, ...]:
    return blocks_of(loaded.document).role(role).findings if role else ()


def _intent(asked: FinishRequest) -> str:
    """Return what a dry run leaves out: the checks, and what depends on them."""
    what = f"send the work back to {asked.send_back}" if asked.send_back else "take the snapshot"
    what = what if asked.ending == DONE_ENDING else f"hand over, {asked.ending}" if asked.handoff else asked.ending
    return f"would then {'run the checks, ' if asked.runs_checks else ''}{what} and end the turn"


# What is said


def _done_lines(ended: Outcome, role: str, asked: FinishRequest, checks: Checks, held: Gate) -> Iterator[str]:
    """Yield in a line each what the end of the turn has settled."""
    if checks.results:
        passing = sum(each.ok for each in checks.results.values())
        waived = f", waived: {'; '.join(held.waived)}" if held.waived else ""
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
    from taskstate.qa.record import log_artifact

    log = log_artifact(loaded.state.id, "finish", checks.log)
    artifacts.write_all(workspace, (log,))
    return (f"their output: {workspace.config.root}/{log.path}",)
