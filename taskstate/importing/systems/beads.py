"""Reads the issues of beads: what `bd export` or `br` writes, a line each, or `bd list --json` prints."""

from __future__ import annotations

import re

from taskstate.errors import TaskstateError
from taskstate.importing.reading.items import items
from taskstate.importing.reading.markdown import outline, part_of
from taskstate.importing.reading.values import Located, Taking, objects, places_in
from taskstate.importing.records import Count, Dated, Left, Note, Part, Record, Refused
from taskstate.importing.words import status_of
from taskstate.model.statuses import COMPLETE, DROPPED
from taskstate.typed import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from taskstate.importing.reading.sources import Source
    from taskstate.importing.records import Found, Options, Place

_PATHS = (".beads/issues.jsonl", "issues.jsonl", ".beads/beads.jsonl", "beads.jsonl")
_SQLITE = b"SQLite format 3\0"
_LISTS = ("items", "issues")
_NO_TASKS = frozenset({"message", "event", "gate", "molecule", "role", "agent"})
_WAITS = ("blocks", "conditional-blocks", "waits-for")
_PARENT = "parent-child"
_EDGE = frozenset({"issue_id", "depends_on_id", "type", "created_at", "created_by"})
_MACHINE = frozenset({"_type", "schema_version", "content_hash"})
_NOTHING = frozenset({"", "0", "[]", "{}"})  # so values are spelled that say nothing, besides null and false
_DEFAULTS = {"issue_type": "task", "source_repo": "."}
_DROPPED = re.compile(r"(?i)won.?t.?fix|cancel|abandon|duplicate|reject")
_FIXED = frozenset({"fixed", "added"})  # as the words for complete: a reason that begins so tells of work done
_LOWEST = "4"
_CLOSED = "closed"  # the reason that beads gives where nobody gave one


def read(source: Source, options: Options) -> Iterator[Found]:  # noqa: ARG001 - every reader is asked alike
    """Yield the issues; each line stands for itself, and what is no issue of work is left."""
    names = source.at(*_PATHS)
    is_database = any(source.content(name).startswith(_SQLITE) for name in names)
    if is_database or not names:
        what = "is a database, which is not read" if is_database else "has no issues.jsonl"
        help_ = "run `bd export -o issues.jsonl`, and import that file"
        raise TaskstateError(f"{source.own_name} {what}", help=help_, code="not-found")
    for name in names:
        for each in _entries(source, name):
            yield Count(1)
            yield each if isinstance(each, Refused) else _issue(*each)


def _entries(source: Source, name: str) -> Iterator[Located | Refused]:
    """Yield the entries of a file: a line or an element of an array each, or those of a list in one object."""
    for each in objects(source, name):
        value = each.value if isinstance(each, Located) else None
        key = next((key for key in _LISTS if isinstance(value, dict) and isinstance(value.get(key), list)), "")
        if not key or value is None or "id" in value:
            yield each
            continue
        place_of = places_in(source, name)
        yield from (Located(one, place_of(key, number)) for number, one in enumerate(value[key]))


def _issue(value: Any, place: Place) -> Record | Left | Refused:  # noqa: ANN401 - any JSON value
    if not isinstance(value, dict):
        return Refused(place, "bad-record", "it is a single value, not an issue")
    own, why = Taking(value).text("id", "key"), _left(value)
    if why:
        return Left(place, own, why)
    return _record(Taking(value), place) if value.get("id") else Refused(place, "bad-record", "it has no `id`")


def _left(value: dict[str, Any]) -> str:
    """Return why a record is no task; empty for one that is."""
    kind, issue_type = value.get("_type") or "issue", value.get("issue_type")
    reasons = {
        "header": "_schema" in value,
        "memory": kind == "memory",
        "other-kind": kind != "issue",
        "tombstone": value.get("status") == "tombstone",
        "template": value.get("is_template") is True,
        str(issue_type): isinstance(issue_type, str) and issue_type in _NO_TASKS,
        "ephemeral": value.get("ephemeral") is True,
    }
    return next((why for why, is_so in reasons.items() if is_so), "")


def _record(taking: Taking, place: Place) -> Record:
    own, title, status, priority = (taking.text(key) for key in ("id", "title", "status", "priority"))
    texts = [_text(taking, key) for key in ("description", "acceptance_criteria", "design", "notes")]
    description, wanted, design, said_of_work = texts
    state, summary, closed = _closing(taking, status)
    parent, depends_on = _edges(taking, own)
    criteria, others = _criteria(wanted)
    whole = outline(description, bullets=not criteria)
    notes = (("Acceptance criteria", others), ("Design", design), ("Notes", said_of_work), _comments(taking))
    created, updated = taking.text("created_at"), str(taking.rest.get("updated_at") or "")
    if priority == _LOWEST:
        taking.rest["priority"] = int(priority)  # ours end at 3
    given = taking.rest.get("labels")
    labels = tuple(each for each in given if isinstance(each, str)) if isinstance(given, list) else ()
    fields = {key: each for key, each in taking.fields().items() if _says(key, each)}
    return Record(
        id=own,
        title=title,
        place=place,
        said=[title, status, priority, *texts, summary, parent, depends_on, fields, notes[-1][1]],
        status=status,
        state=state,
        is_epic=fields.get("issue_type") == "epic",
        priority=priority,
        created_at=created,
        updated_at=updated,
        closed_at=closed,
        description=whole.rest,
        summary=summary,
        criteria=(*criteria, *(part_of(box) for box in whole.boxes if box.is_criterion)),
        features=tuple(part_of(box) for box in whole.boxes if not box.is_criterion),
        progress=_progress(said_of_work),
        depends_on=depends_on,
        parent=parent,
        labels=labels,
        fields=fields,
        notes=tuple(Note(heading, text) for heading, text in notes if text),
        became=(status, priority, parent, *depends_on),
    )


def _text(taking: Taking, key: str) -> str:
    return taking.text(key).replace("\r\n", "\n").strip()


def _says(key: str, value: object) -> bool:
    """Return whether a value says something that a person would miss."""
    is_nothing = value is None or value is False or str(value) in _NOTHING or value == _DEFAULTS.get(key)
    return not (is_nothing or key in _MACHINE)


def _closing(taking: Taking, status: str) -> tuple[str, str, str]:
    """Take how an issue was closed: our status where it was given up, what was said of it, and when."""
    if status_of(status) != COMPLETE:
        return "", "", ""
    reason = _text(taking, "close_reason")
    summary = reason if reason.casefold() != _CLOSED else ""
    return DROPPED if _is_dropped(reason) else "", summary, taking.text("closed_at")


def _is_dropped(reason: str) -> bool:
    """Return whether a reason says that the work was given up; one that begins with what was done does not."""
    first = reason.partition(" ")[0].rstrip(":.,;")
    is_done = status_of(first) == COMPLETE or first.casefold() in _FIXED
    return not is_done and _DROPPED.search(reason) is not None


def _criteria(text: str) -> tuple[tuple[Part, ...], str]:
    """Return the criteria in a text, its items or else its lines, and what else it says."""
    whole = outline(f"# Acceptance criteria\n\n{text}", bullets=True)
    rest = whole.rest.removeprefix("# Acceptance criteria").strip()
    if whole.boxes:
        return tuple(part_of(box) for box in whole.boxes), rest
    return tuple(Part(line.strip()) for line in text.split("\n") if line.strip()), ""


def _progress(text: str) -> Dated | None:
    """Return what the notes say of the work: open boxes are next steps, and everything else was done."""
    following = tuple(box.text for box in outline(text).boxes if not box.done)
    did = tuple(each.text for each in items(text) if each.text not in following)
    return Dated("", did, following) if text else None


def _edges(taking: Taking, own: str) -> tuple[str, tuple[str, ...]]:
    """Take the parent, and what an issue waits for; every other relation stays, and what says more than these."""
    parent, waits = taking.text("parent"), list[str]()
    others: list[object] = []
    for each in taking.list("dependencies"):
        edge = each if isinstance(each, dict) else {}
        kind, target = str(edge.get("type") or edge.get("dependency_type")), edge.get("depends_on_id") or edge.get("id")
        is_own = isinstance(target, str) and edge.get("issue_id", own) == own and not target.startswith("external:")
        is_taken = is_own and (kind in _WAITS or (kind == _PARENT and parent in {"", target}))
        if is_taken and kind == _PARENT:
            parent = str(target)
        elif is_taken:
            waits.append(str(target))
        says_more = any(key not in _EDGE and _says(key, value) for key, value in edge.items())
        if not is_taken or kind not in {"blocks", _PARENT} or (says_more and "issue_id" in edge):
            others.append({key: value for key, value in edge.items() if _says(key, value)} or each)
    if others:
        taking.rest["dependencies"] = others
    return parent, tuple(dict.fromkeys(waits))


def _comments(taking: Taking) -> tuple[str, str]:
    """Return the comments, each below its author and time."""
    texts = list[str]()
    for each in taking.list("comments"):
        comment = Taking(each) if isinstance(each, dict) else Taking({"text": str(each)})
        by = ", ".join(filter(None, (comment.text("author"), comment.text("created_at"))))
        texts.append(f"**{by or '?'}:**\n\n{_text(comment, 'text')}")
    return "Comments", "\n\n".join(texts)
