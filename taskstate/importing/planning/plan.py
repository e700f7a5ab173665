"""Plans what records become: ids, references, parents, states and parts. Nothing is read or written here."""

from __future__ import annotations

import json
import re
from collections import Counter
from itertools import accumulate, count

from taskstate.importing import words
from taskstate.importing.planning.ids import Ids
from taskstate.importing.planning.mapping import AREA, LEAVE
from taskstate.importing.planning.relations import Relations
from taskstate.importing.planning.tasks import Plan, Said, Task, sha_of
from taskstate.importing.records import Dated, Note, Part
from taskstate.model import names
from taskstate.model.statuses import BLOCKED, COMPLETE, CREATED, DROPPED, IN_PROGRESS, OF_TASKS
from taskstate.typed import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import Any

    from taskstate.importing.planning.tasks import Known, Rules
    from taskstate.importing.records import Record

_MOST_TITLE = 200
MOST_FEATURES = 500
_AT_WORK = (IN_PROGRESS, BLOCKED)
_BY_WORD = (COMPLETE, DROPPED, BLOCKED)  # what a container is by a word, whatever its boxes say
_SESSIONS = 16 * 1024  # bytes of all sessions of a task
_PROGRESS, _SAID = ("did", "next", "issues"), 2_000  # of a session of what the source says of the work; its bytes


def plan(records: Sequence[Record], rules: Rules, here: Sequence[Known]) -> Plan:
    """Return what records become, given the tasks that are here."""
    said = Said(rules)
    ids = Ids(said, here)
    named = ids.given([each for each in records if _is_wanted(each, said)])
    tasks = [_task(record, task_id, ids.known.get(record.id), said) for record, task_id in named if _fits(record, said)]
    tasks = Relations(tasks, ids.resolved, said).related()
    return Plan(_at_work(tasks, said), said.left, said.refused, said.told, said.words)


def _is_wanted(record: Record, said: Said) -> bool:
    """Return whether a record is to come in; one that is not is among those that are left."""
    rules, why = said.rules, ""
    if rules.only and record.id not in rules.only:
        why = "not-asked-for"
    elif any(rules.map.labels.get(label) == LEAVE for label in record.labels):
        why = "label"
    elif rules.done == LEAVE and _status(record, rules)[0] == COMPLETE:
        why = "done"
    if why:
        said.leave(record, why)
    return not why


def _fits(record: Record, said: Said) -> bool:
    """Return whether one task can hold a record; one that it cannot is refused."""
    number = len(record.features)
    if number > MOST_FEATURES:
        why = f"it has {number} features, over {MOST_FEATURES}: `--split` makes several tasks of it"
        said.refuse(record, "too-many", why)
    return number <= MOST_FEATURES


def _task(record: Record, task_id: str, known: Known | None, said: Said) -> Task:
    fields = dict(record.fields)
    status = _known_status(record, fields, said)
    title, description = " ".join(record.title.split()), record.description
    if len(title) > _MOST_TITLE:
        description = f"{title}\n\n{description}".strip()
        title = f"{title[: _MOST_TITLE - 1].rstrip()}\u2026"
    values = {"priority": _priority(record, fields, said), "epic": " ".join(record.epic.split())}
    values |= _mapped(record, fields, said.rules)
    sessions, undated = _sessions(record, said)
    return Task(
        record=record,
        id=task_id,
        sha=sha_of(record),
        title=title,
        status=IN_PROGRESS if status == COMPLETE and said.rules.done == "open" else status,
        values=values,
        depends_on=record.depends_on,
        parent=record.parent,
        subtasks=record.subtasks,
        created_at=_time(record, "created_at", fields, said),
        closed_at=_time(record, "closed_at", fields, said),
        description=description,
        criteria=record.criteria,
        features=tuple(_features(record, said)),
        sessions=sessions,
        fields=fields,
        notes=(*record.notes, *undated),
        is_known=known is not None,
        was=known.sha if known else "",
    )


# Values


def _status(record: Record, rules: Rules) -> tuple[str, str]:
    """Return our status of a record, and the word that no table has."""
    by_label = next((ours for label in record.labels if (ours := rules.map.labels.get(label)) in OF_TASKS), None)
    if by_label and record.state in {"", CREATED}:
        return by_label, ""
    mapped = rules.map.status_of(record.status)
    named = mapped or words.status_of(record.status)
    if record.is_container and named not in _BY_WORD and not mapped:
        is_begun = bool(record.sessions) or any(each.done for each in (*record.features, *record.criteria))
        return record.state or (IN_PROGRESS if is_begun else CREATED), ""
    status = mapped or record.state or named
    return status or CREATED, "" if status else record.status


def _known_status(record: Record, fields: dict[str, object], said: Said) -> str:
    """Return our status of a record; a word that no table has is told, and one that says more than ours is kept."""
    status, unknown = _status(record, said.rules)
    if unknown:
        line = f'in the map: [status] {json.dumps(unknown, ensure_ascii=False)} = "in_progress"'
        said.tell("unknown-status", f"{unknown!r} is no status here, taken as created: {line}", record)
    if record.status:
        said.words.append(("status", record.status, status))
        if words.plain(record.status) not in words.PLAIN:
            fields.setdefault("status", record.status)
    return status


def _priority(record: Record, fields: dict[str, object], said: Said) -> str:
    word = record.priority or next(filter(None, map(words.priority_in_label, record.labels)), "")
    ours = said.rules.map.priority_of(word) if word else ""
    if word:
        said.words.append(("priority", word, ours or "P2"))
    if word and not ours:
        said.tell("unknown-priority", f"{word!r} is no priority here", record)
    if record.priority and (not ours or words.plain(record.priority) == "4"):
        fields.setdefault("priority", record.priority)
    return ours


def _mapped(record: Record, fields: dict[str, object], rules: Rules) -> dict[str, str]:
    """Return our keys that the map takes from fields and labels of the source; they stay in the notes, too."""
    found = {"area": next((label for label in record.labels if rules.map.labels.get(label) == AREA), "")}
    found |= {ours: str(fields[name]) for name, ours in rules.map.fields.items() if fields.get(name)}
    found["priority"] = rules.map.priority_of(found.get("priority", ""))
    return {key: " ".join(value.split()) for key, value in found.items() if value}


def _time(record: Record, key: str, fields: dict[str, object], said: Said) -> str:
    """Return a time in our form; one that cannot be read is kept as it is, and told."""
    text = getattr(record, key)
    time = said.rules.map.time_of(text) if text else ""
    if text and not time:
        fields.setdefault(key, text)
        said.tell("ambiguous-or-bad-date", f"{text!r} cannot be read as a time: kept under Notes", record)
    return time


def _features(record: Record, said: Said) -> Iterator[Part]:
    """Yield the features with ids that ours can be, each once."""
    seen: Counter[str] = Counter()
    numbers = count(1)
    for each in record.features:
        new = wanted = re.sub(r"[\s=]+", "-", each.id.strip())[: names.MAX_ID] or f"f-{next(numbers)}"
        seen[wanted] += 1
        if seen[wanted] > 1:
            new = f"{wanted}-{seen[wanted]}"
            said.tell("duplicate-feature-id", f"the id {wanted} is given twice: the second is {new}", record)
        time = said.rules.map.time_of(each.time) if each.time else ""
        yield each._replace(id=new, text=" ".join(each.text.split()), time=time)


def _sessions(record: Record, said: Said) -> tuple[tuple[tuple[str, Dated], ...], tuple[Note, ...]]:
    """Return the newest sessions in order of time, and as texts the others and those whose time cannot be read."""
    timed = [(said.rules.map.time_of(each.time), each) for each in record.sessions]
    dated = sorted((pair for pair in timed if pair[0]), key=lambda pair: pair[0])
    sizes = accumulate(len("".join(_lines(each)).encode()) for _, each in reversed(dated))
    first = max(len(dated) - max(sum(size <= _SESSIONS for size in sizes), 1), 0)
    if first:
        why = f"{first} older sessions of {record.id} would make the file too long: under Notes"
        said.tell("older-sessions", why, record)
    kept = [_as_note(each.time or "Without a date", each) for time, each in timed if not time]
    return tuple(dated[first:]), (*kept, *(_as_note(each.time, each) for _, each in dated[:first]))


def _lines(session: Dated) -> list[str]:
    return [line for line in (session.state, *session.did, *session.issues, *session.next) if line]


def _as_note(title: str, session: Dated) -> Note:
    return Note(title, "\n".join(f"- {line}" for line in _lines(session)), 1)


# Work


def _at_work(tasks: Sequence[Task], said: Said) -> list[Task]:
    """Return tasks in which, as far as they are at work, the title stands for what they must have."""
    found, without = list[Task](), Counter[str]()
    for task in tasks:
        more: dict[str, Any] = {}
        if task.status in _AT_WORK and not task.record.files:
            more = {} if task.criteria else {"criteria": (Part(task.title),)}
            more |= {} if task.description.strip() else {"description": task.title}
            more |= _with_progress(task, said.rules)
            without.update([] if task.is_known else [*more])
        found.append(task._replace(**more))
    for key, code in (("criteria", "title-as-criterion"), ("description", "title-as-description")):
        if without[key]:
            said.tell(code, f"{without[key]} at work had none: the title stands for it")
    return found


def _with_progress(task: Task, rules: Rules) -> dict[str, Any]:
    """Return the sessions of a task at work with one of what the source says of it, cut between items; or nothing."""
    progress, time = task.record.progress, rules.map.time_of(task.record.updated_at or task.record.created_at)
    if progress is None or not time:
        return {}
    items = [(key, each) for key in _PROGRESS for each in getattr(progress, key)]
    sizes = accumulate(len(each.encode()) for _, each in items)
    kept = [item for item, size in zip(items, sizes, strict=True) if size <= _SAID]
    texts: dict[str, Any] = {key: tuple(each for own, each in kept if own == key) for key in _PROGRESS}
    cut = progress._replace(**texts)
    sessions = sorted([*task.sessions, (time, cut)], key=lambda pair: pair[0])
    return {"sessions": tuple(sessions)} if cut.did else {}
