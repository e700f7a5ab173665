"""What the views show of an open task that only its whole file says; remembered with its row of the list.

Everything here follows from the file alone: what also rests on the working tree, git or the clock is looked at anew.
"""

from __future__ import annotations

import re
from contextlib import suppress

from taskstate.context.readable_parts import broken_fences
from taskstate.errors import TaskstateError
from taskstate.model import permanent, roles
from taskstate.model.document_kinds import PERMANENT, TASK
from taskstate.model.session_texts import FINDING_VERBS, FINDINGS, by_of
from taskstate.model.statuses import BLOCKED, CLOSED, DONE, IN_PROGRESS
from taskstate.model.write_metadata import blocks_of
from taskstate.permanent.impact.claims import CLAIMED, CONFIRMED
from taskstate.qa import trust
from taskstate.roles.findings import ANSWERED
from taskstate.snapshots.verify import newest_role
from taskstate.tasks.completion_checks import gaps_in
from taskstate.typed import TYPE_CHECKING, NamedTuple
from taskstate.views.status import next_step

if TYPE_CHECKING:
    from collections.abc import Iterator

    from taskstate.model.tool_blocks import Role, ToolBlocks
    from taskstate.workspace.workspace import Loaded, Workspace

_NAMED = r"\bAD-(\d{1,9})"  # a decision, in the Change Log
_TWICE = 2  # answers that did not settle a finding


class SentBack(NamedTuple):
    """A finding that was answered at least twice and is open again; `at` is when it was sent back, if known."""

    number: int
    role: str
    text: str
    answers: int
    at: str


class Proposed(NamedTuple):
    """A decision that nobody has accepted, and when and by whom the Change Log first names it."""

    number: int
    title: str
    at: str
    by: str


class Facts(NamedTuple):
    """What the whole file of an open task says.

    It `is_active` if it, or one of its roles, is at work. The `role` works on it, `words` are the last that a
    session says. `drifted` roles wait for somebody to accept what became of their work; `left` is the tree to compare
    with while nobody is at work, by `left_by`. `commands` are its own checks. Nothing is left to do where it `is_done`.
    A claim `is_claimed` that nobody has confirmed; its context `is_sealed`. `blocked_at` is when a command blocked it
    last; where one of its roles is blocked, `stuck` says why. `agents` have written its sessions, the last of which is
    of the minute `said_at`; since then the `next_role` waits to take the `next_step`.
    """

    is_active: bool
    role: str
    words: str
    drifted: tuple[str, ...]
    left: str
    sent_back: tuple[SentBack, ...]
    commands: tuple[str, ...]
    is_done: bool
    proposed: tuple[Proposed, ...]
    handoff: str
    is_claimed: bool
    is_sealed: bool
    blocked_at: str
    stuck: str
    agents: tuple[str, ...]
    left_by: str
    next_role: str
    next_step: str
    said_at: str

    @classmethod
    def read(cls, values: list[object]) -> Facts:
        """Return the facts that were stored as JSON; raises `TypeError` where they are none."""
        known = cls._make(tuple(each) if isinstance(each, list) else each for each in values)
        found, decisions = map(SentBack._make, known.sent_back), map(Proposed._make, known.proposed)
        return known._replace(sent_back=tuple(found), proposed=tuple(decisions))


def facts_of(workspace: Workspace, loaded: Loaded) -> Facts:
    """Return what the views show of an open task."""
    state, blocks, names = loaded.state, blocks_of(loaded.document), workspace.config.roles
    turn, pipeline = blocks.delta.turn, roles.pipeline(blocks, names)
    working = next((role.name for role in pipeline if role.status in {IN_PROGRESS, BLOCKED}), "")
    said = state.sessions[-1].did if state.sessions else ()
    waiting = [role.name for role in pipeline if role.status != DONE and role.name in names]
    events = [each.event for each in blocks.audit.events if each.event in {CLAIMED, CONFIRMED}]
    return Facts(
        is_active=is_active(loaded),
        role=(turn and turn.role) or working,
        words=said[0].partition("\n")[0] if said else "",
        drifted=roles.unresolved(blocks),
        left="" if turn or working else _left(blocks, names),
        sent_back=tuple(_sent_back(workspace, loaded, blocks)),
        commands=_commands(loaded),
        is_done=state.kind == TASK and not turn and not state.problems and _is_done(loaded, blocks, names),
        proposed=tuple(_proposed(loaded)),
        handoff=blocks.handoffs.open or "",
        is_claimed=events[-1:] == [CLAIMED],
        is_sealed=blocks.context.seal is not None,
        blocked_at=blocks.blocked_at,
        stuck=next((_stuck(role) for role in pipeline if role.status == BLOCKED and not turn), ""),
        agents=tuple(dict.fromkeys(by_of(each.agent).name for each in state.sessions if each.agent)),
        left_by=_left_by(loaded, blocks, names),
        next_role=waiting[0] if waiting and state.kind == TASK else "",
        next_step=(next_step(loaded) or "") if state.kind == TASK else "",
        said_at=next((f"{each.time.replace(' ', 'T')}:00Z" for each in state.sessions[-1:] if each.time), ""),
    )


def _stuck(role: Role) -> str:
    first = role.open_findings[0].text if role.open_findings else "no finding says why"
    return f"{role.name} is blocked: {first}"


def _left_by(loaded: Loaded, blocks: ToolBlocks, names: tuple[str, ...]) -> str:
    """Return who left what the working tree is compared with: the newest session of its role, or of all, says that."""
    role = next(iter(roles.unresolved(blocks)), newest_role(blocks.delta, names) or "")
    told = (by_of(each.agent) for each in reversed(loaded.state.sessions))
    snapshot = blocks.delta.snapshots.get(role)
    return next((each.name for each in told if not role or each.role == role), (snapshot and snapshot.actor) or "")


def is_active(loaded: Loaded) -> bool:
    """Return whether a task, or one of its roles, is at work, or a drift waits."""
    status, blocks = loaded.state.status, blocks_of(loaded.document)
    has_begun = blocks.delta.turn is not None or roles.has_begun(blocks)
    return status in {IN_PROGRESS, BLOCKED} or bool(roles.unresolved(blocks)) or (status not in CLOSED and has_begun)


def _left(blocks: ToolBlocks, names: tuple[str, ...]) -> str:
    """Return the tree that the working tree should be: that of the newest snapshot, else what the last turn left."""
    newest, left = newest_role(blocks.delta, names), blocks.delta.left
    return str(blocks.delta.snapshots[newest].tree) if newest else (left and left.tree) or ""


def _sent_back(workspace: Workspace, loaded: Loaded, blocks: ToolBlocks) -> Iterator[SentBack]:
    """Yield the open findings with several answers: an event tells of each, or the session of its turn does."""
    from taskstate.archive.archiver import sessions_in
    from taskstate.archive.verify import archive_text

    state, sessions = loaded.state, [*loaded.state.sessions]
    with suppress(TaskstateError):  # what is wrong with the archive is told of the file
        if state.archived and any(role.open_findings for role in blocks.roles.values()):
            sessions += sessions_in(archive_text(workspace, state.id) or "")
    for role in blocks.roles.values():
        for each in role.open_findings:
            own = {"finding": each.number, "role": role.name}
            entries = [event.entry for event in blocks.audit.events if event.event == ANSWERED]
            told = [entry for entry in entries if isinstance(entry, dict) and own.items() <= entry.items()]
            at, begin = [str(entry.get("at")) for entry in told], f"{FINDING_VERBS[1]} {each.number} ("
            lines = [(line, session.time) for session in sessions for line in session.values(FINDINGS)]
            answers = len(told) + sum(line.startswith(begin) for line, _ in lines)
            kept = f"{FINDING_VERBS[2]} {each.number}:"
            at += [f"{time.replace(' ', 'T')}:00Z" for line, time in lines if time and line.startswith(kept)]
            if answers >= _TWICE:
                yield SentBack(each.number, role.name, each.text, answers, max(at, default=""))


def _commands(loaded: Loaded) -> tuple[str, ...]:
    try:
        return trust.own_commands(loaded)
    except TaskstateError:  # the fence is broken, which is a problem of the file
        return ()


def _is_done(loaded: Loaded, blocks: ToolBlocks, names: tuple[str, ...]) -> bool:
    """Return whether roles, and the file as `complete` looks at it, leave nothing to do, though the task is open."""
    state, features = loaded.state, loaded.state.checklist.counted if loaded.state.checklist else ()
    if state.status in CLOSED or not (features or state.criteria) or any(broken_fences(state)):
        return False
    pipeline = roles.pipeline(blocks, names)
    if roles.unresolved(blocks) or any(role.findings for role in pipeline):
        return False
    is_left = not roles.has_begun(blocks) or all(role.status == DONE for role in pipeline if role.name in names)
    return is_left and not gaps_in(state)


def _proposed(loaded: Loaded) -> Iterator[Proposed]:
    if loaded.state.kind != PERMANENT:
        return
    log = permanent.change_log(loaded.state)
    for each in permanent.decisions(loaded.state):
        if each.status == permanent.PROPOSED:
            named = (line for line in reversed(log) if str(each.number) in re.findall(_NAMED, line.summary))
            first = next(named, None)
            yield Proposed(each.number, each.title, first.at if first else "", first.actor if first else "")
