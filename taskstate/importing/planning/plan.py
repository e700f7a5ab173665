"""Plans what records become: ids, references, parents, states and parts. Nothing is read or written here."""

from __future__ import annotations

import json
import re
from collections import Counter
from itertools import count

from taskstate.importing import words
from taskstate.importing.planning.ids import Ids
from taskstate.importing.planning.mapping import AREA, LEAVE
from taskstate.importing.planning.relations import Relations
from taskstate.importing.planning.tasks import Plan, Task, records_in, sha_of
from taskstate.importing.records import Dated, Left, Note, Part, Refused, Told
from taskstate.model import names
from taskstate.model.statuses import BLOCKED, COMPLETE, CREATED, DROPPED, IN_PROGRESS, OF_TASKS
from taskstate.typed import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from taskstate.importing.planning.tasks import Known, Rules
    from taskstate.importing.records import Record

_MOST_TITLE = 200
MOST_FEATURES = 500
_AT_WORK = (IN_PROGRESS, BLOCKED)
_BY_WORD = (COMPLETE, DROPPED, BLOCKED)  # what a container is by a word, whatever its boxes say
_SESSIONS = 16 * 1024  # bytes of all sessions of a task
_SAID = 2_000  # bytes of a session that is made of what the source says of the work


def plan(records: Sequence[Record], rules: Rules, here: Sequence[Known]) -> Plan:
    """Return what records become, given the tasks that are here."""
    return _Planner(rules, Ids(rules, here)).plan(records)


class _Planner:
    def __init__(self, rules: Rules, ids: Ids) -> None:
        self.rules, self.ids = rules, ids
        self.left: list[Left] = []
        self.refused: list[Refused] = []
        self.told: list[Told] = []
        self.words: list[tuple[str, str, str]] = []

    def plan(self, records: Sequence[Record]) -> Plan:
        """Return what the records become."""
        named = self.ids.given([each for each in records if self._is_wanted(each)])
        relations = Relations(self.ids.resolved)
        tasks = relations.related([task for task in (self._task(*each) for each in named) if task])
        tasks = self._at_work(tasks)
        return Plan(
            tasks=tuple(tasks),
            left=(*self.left, *self.ids.left),
            refused=(*self.refused, *self.ids.refused),
            told=(*self.told, *self.ids.told, *relations.told),
            words=tuple(self.words),
        )

    def _is_wanted(self, record: Record) -> bool:
        """Return whether a record is to come in; one that is not is among those that are left."""
        why = ""
        labels = self.rules.map.labels
        if self.rules.only and record.id not in self.rules.only:
            why = "not-asked-for"
        elif any(labels.get(label) == LEAVE for label in record.labels):
            why = "label"
        elif self.rules.done == LEAVE and self._status(record)[0] == COMPLETE:
            why = "done"
        if why:
            self.left.append(Left(record.place, record.id, why, records_in(record, self.rules.parts)))
        return not why

    def _refuse(self, record: Record, code: str, why: str) -> None:
        self.refused.append(Refused(record.place, code, why, record.id, records_in(record, self.rules.parts)))

    # Values

    def _status(self, record: Record) -> tuple[str, str]:
        """Return our status of a record, and the word that no table has."""
        labels = [self.rules.map.labels.get(label, "") for label in record.labels]
        by_label = next((each for each in labels if each in OF_TASKS), "")
        if by_label and record.state in {"", CREATED}:
            return by_label, ""
        mapped = self.rules.map.status_of(record.status) if record.status else ""
        named = mapped or words.status_of(record.status)
        if record.is_container and named not in _BY_WORD and not mapped:
            is_begun = bool(record.sessions) or any(each.done for each in (*record.features, *record.criteria))
            return record.state or (IN_PROGRESS if is_begun else CREATED), ""
        status = mapped or record.state or named
        return status or CREATED, "" if status or not record.status else record.status

    def _priority(self, record: Record, fields: dict[str, object]) -> str:
        named = [words.priority_in_label(label) for label in record.labels]
        word = record.priority or next(filter(None, named), "")
        ours = self.rules.map.priority_of(word) if word else ""
        if word:
            self.words.append(("priority", word, ours or "P2"))
        if word and not ours:
            self.told.append(Told("unknown-priority", f"{word!r} is no priority here", record.place))
        if record.priority and (not ours or (words.plain(record.priority) == "4")):
            fields.setdefault("priority", record.priority)
        return ours

    def _task(self, record: Record, task_id: str) -> Task | None:
        fields = dict(record.fields)
        status, unknown = self._status(record)
        if unknown:
            line = f'in the map: [status] {json.dumps(unknown, ensure_ascii=False)} = "in_progress"'
            self.told.append(
                Told("unknown-status", f"{unknown!r} is no status here, taken as created: {line}", record.place)
            )
        if record.status:
            self.words.append(("status", record.status, status))
            if words.plain(record.status) not in words.PLAIN:
                fields.setdefault("status", record.status)
        title = " ".join(record.title.split())
        description = record.description
        if len(title) > _MOST_TITLE:
            description = f"{title}\n\n{description}".strip()
            title = f"{title[: _MOST_TITLE - 1].rstrip()}\u2026"
        if len(record.features) > MOST_FEATURES:
            why = f"it has {len(record.features)} features, over {MOST_FEATURES}: `--split` makes several tasks of it"
            self._refuse(record, "too-many", why)
            return None
        priority = self._priority(record, fields)
        more = self._mapped(record, fields)
        sessions, undated = self._sessions(record)
        known = self.ids.known.get(record.id)
        return Task(
            record=record,
            id=task_id,
            sha=sha_of(record),
            title=title,
            status=IN_PROGRESS if status == COMPLETE and self.rules.done == "open" else status,
            priority=more.pop("priority", priority),
            area=more.pop("area", ""),
            epic=more.pop("epic", " ".join(record.epic.split())),
            more=more,
            depends_on=record.depends_on,
            parent=record.parent,
            subtasks=record.subtasks,
            created_at=self._time(record, "created_at", record.created_at, fields),
            closed_at=self._time(record, "closed_at", record.closed_at, fields),
            description=description,
            criteria=record.criteria,
            features=self._features(record),
            sessions=sessions,
            fields=fields,
            notes=(*record.notes, *undated),
            is_known=known is not None,
            was=known.sha if known else "",
        )

    def _mapped(self, record: Record, fields: dict[str, object]) -> dict[str, str]:
        """Return our keys that the map takes from fields and labels of the source; they stay in the notes, too."""
        found = {ours: str(fields[name]) for name, ours in self.rules.map.fields.items() if fields.get(name)}
        areas = [label for label in record.labels if self.rules.map.labels.get(label) == AREA]
        if "priority" in found:
            found["priority"] = self.rules.map.priority_of(found["priority"])
        return {
            **({"area": areas[0]} if areas else {}),
            **{key: " ".join(value.split()) for key, value in found.items()},
        }

    def _time(self, record: Record, key: str, text: str, fields: dict[str, object]) -> str:
        """Return a time in our form; one that cannot be read is kept as it is, and told."""
        time = self.rules.map.time_of(text) if text else ""
        if text and not time:
            fields.setdefault(key, text)
            self.told.append(
                Told("ambiguous-or-bad-date", f"{text!r} cannot be read as a time: kept under Notes", record.place)
            )
        return time

    def _features(self, record: Record) -> tuple[Part, ...]:
        """Return the features with ids that ours can be, each once."""
        seen: Counter[str] = Counter()
        found = list[Part]()
        numbers = count(1)
        for each in record.features:
            wanted = re.sub(r"[\s=]+", "-", each.id.strip())[: names.MAX_ID] or f"f-{next(numbers)}"
            seen[wanted] += 1
            new = wanted if seen[wanted] == 1 else f"{wanted}-{seen[wanted]}"
            if new != wanted:
                why = f"the id {wanted} is given twice: the second is {new}"
                self.told.append(Told("duplicate-feature-id", why, record.place))
            found.append(
                each._replace(
                    id=new,
                    text=" ".join(each.text.split()),
                    time=self.rules.map.time_of(each.time) if each.time else "",
                )
            )
        return tuple(found)

    def _sessions(self, record: Record) -> tuple[tuple[tuple[str, Dated], ...], tuple[Note, ...]]:
        """Return the newest sessions in order of time, and as texts the others and those whose time cannot be read."""
        dated, kept = list[tuple[str, Dated]](), list[Note]()
        for each in record.sessions:
            time = self.rules.map.time_of(each.time)
            if time:
                dated.append((time, each))
            else:
                kept.append(_as_note(each.time or "Without a date", each))
        dated.sort(key=lambda pair: pair[0])
        size, first = 0, len(dated)
        while first and size <= _SESSIONS:
            first -= 1
            size += len("".join(_lines(dated[first][1])).encode())
        if size > _SESSIONS and first < len(dated) - 1:
            first += 1
        if first:
            why = f"{first} older sessions of {record.id} would make the file too long: under Notes"
            self.told.append(Told("older-sessions", why, record.place))
        return tuple(dated[first:]), (*kept, *(_as_note(each.time, each) for _, each in dated[:first]))

    def _at_work(self, tasks: Sequence[Task]) -> list[Task]:
        """Return tasks in which, as far as they are at work, the title stands for what they must have."""
        found, without = list[Task](), Counter[str]()
        for task in tasks:
            if task.record.files:
                found.append(task)
                continue
            if task.status in _AT_WORK and not task.criteria:
                without["title-as-criterion"] += not task.is_known
                task = task._replace(criteria=(Part(task.title),))  # noqa: PLW2901 - the task as it goes on
            if task.status in _AT_WORK and not task.description.strip():
                without["title-as-description"] += not task.is_known
                task = task._replace(description=task.title)  # noqa: PLW2901 - the same
            found.append(_with_progress(task, self.rules))
        for code, number in without.items():
            if number:
                self.told.append(Told(code, f"{number} at work had none: the title stands for it"))
        return found


def _lines(session: Dated) -> list[str]:
    return [line for line in (session.state, *session.did, *session.issues, *session.next) if line]


def _as_note(title: str, session: Dated) -> Note:
    return Note(title, "\n".join(f"- {line}" for line in _lines(session)), 1)


def _with_progress(task: Task, rules: Rules) -> Task:
    """Return a task at work with a session of what the source says of it, cut between items."""
    progress, time = task.record.progress, rules.map.time_of(task.record.updated_at or task.record.created_at)
    if task.status not in _AT_WORK or progress is None or not time:
        return task
    size, cut = 0, dict[str, tuple[str, ...]]()
    for key in ("did", "next", "issues"):
        kept = list[str]()
        for each in getattr(progress, key):
            size += len(each.encode())
            if size > _SAID:
                break
            kept.append(each)
        cut[key] = tuple(kept)
    if not cut["did"]:
        return task
    sessions = sorted(
        [*task.sessions, (time, progress._replace(did=cut["did"], next=cut["next"], issues=cut["issues"]))],
        key=lambda pair: pair[0],
    )
    return task._replace(sessions=tuple(sessions))
