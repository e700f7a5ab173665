"""Tells what changed in a task between two revisions of its files, as records. Pure.

What a reviewer asks for: which criteria are met now, which features pass and what proves it, what the new sessions say,
what is open, what was let pass. Sessions are the same where their texts are, whatever their numbers, in the state file
or the archive: one that was archived in between is neither new nor gone.
"""

from __future__ import annotations

from taskstate.model.archive_format import content_hash
from taskstate.model.criteria import Criteria, read_criteria
from taskstate.model.loose_values import json_of
from taskstate.model.roles import pipeline
from taskstate.model.write_metadata import blocks_of
from taskstate.qa.results import regressions
from taskstate.syntax.spans import with_newlines
from taskstate.typed import TYPE_CHECKING, NamedTuple
from taskstate.units.items import event_line

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from typing import Any, TypeAlias

    from taskstate.model.progress_log import Session
    from taskstate.model.task_state import TaskState
    from taskstate.model.tool_blocks import ToolBlocks

    _Item: TypeAlias = tuple[str, bool | None, str]

NEW, CHANGED, REMOVED = "new", "changed", "removed"
_WAIVERS = ("waived", "regression-waived")  # events


class Side(NamedTuple):
    """A task at one revision: what its state file says, its archived sessions and events; or why it cannot be read."""

    state: TaskState
    archived: tuple[Session, ...] = ()
    events: tuple[str, ...] = ()
    problem: str = ""


class Reached(NamedTuple):
    """A criterion that is met, or a feature that passes, with the kind of its proof."""

    text: str
    proof: str = ""


class Progress(NamedTuple):
    """How far criteria or features are: how many are reached, of how many, and which ones changed."""

    reached: int
    all: int
    now: tuple[Reached, ...]
    no_longer: tuple[str, ...]
    removed: tuple[str, ...]
    open: tuple[str, ...]


class NewSession(NamedTuple):
    """A session that the earlier revision lacks, and what was done in it."""

    number: int
    did: str


class OpenFinding(NamedTuple):
    """A finding that waits for an answer: on which role, and whether the earlier revision lacks it."""

    role: str
    number: int
    text: str
    is_new: bool


class TaskChange(NamedTuple):
    """What changed in one task; `former_id` is its id before, where it got another one, and `unread` what is damaged.

    `status_before` is None for a task that is new, `status` for one that was removed. `worse` are the checks that are
    worse than the baseline, `waived` the reasons for what was let pass. Of what cannot be read the rest is empty.
    """

    id: str
    title: str
    change: str
    former_id: str | None = None
    status_before: str | None = None
    status: str | None = None
    unread: tuple[str, ...] = ()
    criteria: Progress | None = None
    features: Progress | None = None
    sessions: tuple[NewSession, ...] = ()
    sessions_rewritten: tuple[int, ...] = ()
    sessions_gone: tuple[int, ...] = ()
    findings: tuple[OpenFinding, ...] = ()
    worse: tuple[str, ...] = ()
    handoff: str | None = None
    waived: tuple[str, ...] = ()


def shape_of(value: Any) -> Any:  # noqa: ANN401 - a record, or a value of one
    """Return a record, or a value of one, as JSON values."""
    if hasattr(value, "_asdict"):
        return {key: shape_of(each) for key, each in value._asdict().items()}
    return [*map(shape_of, value)] if isinstance(value, tuple) else value


def change_of(before: Side | None, after: Side | None, roles: tuple[str, ...]) -> TaskChange:
    """Return what changed in a task between two revisions, of which one may lack it, with the configured `roles`."""
    sides = [each for each in (after, before) if each]
    places = (("at the base", before), ("at HEAD", after))
    change = TaskChange(
        id=sides[0].state.id,
        title=next((each.state.title for each in sides if each.state.title), ""),
        change=REMOVED if after is None else CHANGED if before else NEW,
        former_id=before.state.id if before and after and before.state.id != after.state.id else None,
        status_before=before.state.status if before else None,
        status=after.state.status if after else None,
        unread=tuple(f"{place}: {side.problem}" for place, side in places if side and side.problem),
    )
    return change if after is None or change.unread else _with_parts(change, before, after, roles)


def _with_parts(change: TaskChange, before: Side | None, after: Side, roles: tuple[str, ...]) -> TaskChange:
    was = before.state if before else None
    blocks, earlier = blocks_of(after.state.document), blocks_of(was.document) if was else None
    new, gone = _sessions(before, after)
    handoff = "open" if blocks.handoffs.open else "accepted" if earlier and earlier.handoffs.open else None
    return change._replace(
        criteria=_progress(_criteria(was), _criteria(after.state)),
        features=_progress(_features(was), _features(after.state)),
        sessions=tuple(NewSession(number, "; ".join(each.did)) for number, each in new.items() if number not in gone),
        sessions_rewritten=tuple(number for number in gone if number in new),
        sessions_gone=tuple(number for number in gone if number not in new),
        findings=tuple(_findings(earlier, blocks, roles)),
        worse=_worse(blocks, roles),
        handoff=handoff,
        waived=_waived(before, after),
    )


# Criteria and features: a key each, whether it is reached, and what proves it; a feature that was moved counts no more


def _criteria(state: TaskState | None) -> list[_Item]:
    """Return the criteria; what stands among them and is none could be open, so it counts as that."""
    found = read_criteria(state.document) if state else Criteria()
    malformed = [(each.span.of(state.document.text), False, "") for each in found.malformed] if state else []
    return [*((each.text, each.checked, "") for each in found.sound), *malformed]


def _features(state: TaskState | None) -> list[_Item]:
    features = state.checklist.features if state and state.checklist else ()
    return [(each.id, None if each.moved_to else each.passes, _proof(each.evidence)) for each in features]


def _proof(evidence: object) -> str:
    if isinstance(evidence, dict) and "command" in evidence:
        return f"by a command, exit {evidence.get('exit_status')}"
    if isinstance(evidence, dict) and "commit" in evidence:
        return "by a commit"
    return "by words only" if evidence else "without proof"


def _progress(before: list[_Item], after: list[_Item]) -> Progress | None:
    """Return how far it is; None where nothing changed but the order."""
    was, now = ({key: reached for key, reached, _ in each} for each in (before, after))
    if was == now:
        return None
    return Progress(
        reached=sum(bool(reached) for _, reached, _ in after),
        all=sum(reached is not None for _, reached, _ in after),
        now=tuple(Reached(key, proof) for key, reached, proof in after if reached and not was.get(key)),
        no_longer=tuple(key for key, reached, _ in after if reached is False and was.get(key)),
        removed=tuple(key for key, _, _ in before if key not in now),
        open=tuple(key for key, reached, _ in after if reached is False),
    )


# Sessions, findings, checks, waivers


def _sessions(before: Side | None, after: Side) -> tuple[dict[int, Session], dict[int, Session]]:
    """Return the sessions that only the later side has, and those that only the earlier one has, by their numbers."""
    was, now = _entries(before) if before else {}, _entries(after)
    # Few differ, and only those are hashed: it takes long, since numbers that a merge changed must not count.
    new, gone = (
        {content_hash(text): one[text] for text in one if text not in other} for one, other in ((now, was), (was, now))
    )
    first, second = ([one[key] for key in one if key not in other] for one, other in ((new, gone), (gone, new)))
    return {each.number: each for each in first}, {each.number: each for each in second}


def _entries(side: Side) -> Mapping[str, Session]:
    """Return all sessions of a task by their texts, in which the heading has the level of the state file."""
    every = (*side.archived, *side.state.sessions)
    return {f"###{with_newlines(each.entry, chr(10)).lstrip('#').rstrip()}": each for each in every}


def _findings(before: ToolBlocks | None, after: ToolBlocks, roles: tuple[str, ...]) -> Iterator[OpenFinding]:
    known = {each.number for role in (before.roles.values() if before else ()) for each in role.all_findings}
    for role in pipeline(after, roles):
        for each in role.open_findings:
            yield OpenFinding(role.name, each.number, each.text, each.number not in known)


def _worse(blocks: ToolBlocks, roles: tuple[str, ...]) -> tuple[str, ...]:
    """Return the checks of the last role that has results which are worse than the baseline."""
    results = next((role.qa for role in reversed(pipeline(blocks, roles)) if role.qa), None)
    found = regressions(blocks.baseline.results, results, is_late=blocks.baseline.is_late) if results else ()
    return tuple(dict.fromkeys(each.name for each in found))


def _waived(before: Side | None, after: Side) -> tuple[str, ...]:
    """Return the reasons for what was let pass since, also where the event went into the archive meanwhile."""
    known = {*_events(before)} if before else set()
    events = (json_of(line) for line in _events(after) if line not in known)
    waivers = (each for each in events if isinstance(each, dict) and each.get("event") in _WAIVERS)
    return tuple(str(each.get("note") or "") for each in waivers)


def _events(side: Side) -> tuple[str, ...]:
    return (*side.events, *(event_line(each.entry) for each in blocks_of(side.state.document).audit.events))
