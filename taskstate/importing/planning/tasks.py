"""Defines what a plan is made of: how to plan, the tasks that are here, the tasks that records become, and the plan."""

from __future__ import annotations

import hashlib
import json

from taskstate.importing.planning.mapping import Map
from taskstate.importing.records import Left, Refused, Told
from taskstate.model.statuses import COMPLETE, DROPPED
from taskstate.model.tool_blocks import IMPORTED
from taskstate.typed import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from taskstate.importing.records import Dated, Note, Part, Record


class Known(NamedTuple):
    """A task that is here: its id, and of an imported one what it came from (system, id) and the hash of that."""

    id: str
    system: str = ""
    source_id: str = ""
    sha: str = ""


class Rules(NamedTuple):
    """How to plan: the system, the map, and the flags of the command that say how.

    `parts` are the fields of a record whose entries count as records, too.
    """

    system: str
    map: Map = Map()
    prefix: str = ""
    done: str = COMPLETE
    rename: bool = False
    only: frozenset[str] = frozenset()
    parts: frozenset[str] = frozenset()


class Task(NamedTuple):
    """A record as the task that it becomes, in our words. `sha` is the hash of what it says.

    `values` has more keys of the front matter, each with a text: priority, area, epic, and what a map names.

    Of one that `is_known` from an earlier run, `was` is the hash of what it said then.
    """

    record: Record
    id: str
    sha: str
    title: str
    status: str
    values: Mapping[str, str] = {}
    depends_on: tuple[str, ...] = ()
    parent: str = ""
    subtasks: tuple[str, ...] = ()
    created_at: str = ""
    closed_at: str = ""
    description: str = ""
    criteria: tuple[Part, ...] = ()
    features: tuple[Part, ...] = ()
    sessions: tuple[tuple[str, Dated], ...] = ()
    fields: Mapping[str, object] = {}
    notes: tuple[Note, ...] = ()
    is_known: bool = False
    was: str = ""

    def parts(self, kinds: frozenset[str]) -> int:
        """Return how many parts of it are records of the source."""
        own = {"features": len(self.features), "criteria": len(self.criteria) if self.record.criteria else 0}
        own["sessions"] = sum(each in self.record.sessions for _, each in self.sessions)
        return sum(own[kind] for kind in kinds)

    @property
    def kept(self) -> int:
        """How many records of the source stand in its notes."""
        return sum(each.records for each in self.notes)


class Plan(NamedTuple):
    """The tasks of a run, what is left out or refused, what has to be told, and the words that a map could say."""

    tasks: Sequence[Task]
    left: Sequence[Left]
    refused: Sequence[Refused]
    told: Sequence[Told]
    words: Sequence[tuple[str, str, str]] = ()


class Said:
    """What a plan says of records besides the tasks that they become."""

    def __init__(self, rules: Rules) -> None:
        self.rules = rules
        self.left: list[Left] = []
        self.refused: list[Refused] = []
        self.told: list[Told] = []
        self.words: list[tuple[str, str, str]] = []

    def leave(self, record: Record, why: str) -> None:
        """Leave a record out by a rule."""
        self.left.append(Left(record.place, record.id, why, records_in(record, self.rules.parts)))

    def refuse(self, record: Record, code: str, why: str) -> None:
        """Refuse a record."""
        self.refused.append(Refused(record.place, code, why, record.id, records_in(record, self.rules.parts)))

    def tell(self, code: str, why: str, record: Record | None = None) -> None:
        """Tell of something in a record, or in all of them."""
        self.told.append(Told(code, why, record.place if record else None))


def sha_of(record: Record) -> str:
    """Return the first 16 digits of the hash of what the source says of a record."""
    said = json.dumps(record.said, sort_keys=True, ensure_ascii=True, default=str)
    return hashlib.sha256(said.encode()).hexdigest()[:16]


def records_in(record: Record, kinds: frozenset[str]) -> int:
    """Return how many records of the source a record is, with those of its parts that count."""
    return 1 + sum(len(getattr(record, each)) for each in kinds) + sum(each.records for each in record.notes)


def closing_event(task: Task, system: str, now: str, actor: str) -> dict[str, object] | None:
    """Return the event that says how a task came to be closed, at the time of the source; None for an open one."""
    if task.status not in {COMPLETE, DROPPED}:
        return None
    word = task.record.status or task.status
    event = IMPORTED if task.status == COMPLETE else DROPPED
    note = " ".join(f"{word} in {system}: {task.record.id}".split())
    return {"at": task.closed_at or now, "actor": actor, "event": event, "note": note}
