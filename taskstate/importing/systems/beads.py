"""Reads the issues of beads: what `bd export` or `br` writes, a line each, or `bd list --json` prints."""

from __future__ import annotations

import re

from taskstate.errors import TaskstateError
from taskstate.importing.reading.items import items
from taskstate.importing.reading.markdown import outline, part_of, parts_of
from taskstate.importing.reading.values import Taking, comments_in, records
from taskstate.importing.records import Dated, Left, Note, Part, Record, Refused
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
    yield from records(source, names, _issue, lists=_LISTS)


def _issue(value: Any, place: Place) -> Record | Left | Refused:  # noqa: ANN401 - any JSON value
    if not isinstance(value, dict):
        return Refused(place, "bad-record", "it is a single value, not an issue")
    if why := _left(value):
        return Left(place, Taking(value).text("id", "key"), why)
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
    head = taking.texts("id", "title", "status", "priority")
    words = [head[key] for key in ("title", "status", "priority")]
    given = taking.texts("description", "acceptance_criteria", "design", "notes")
    description, wanted, design, work = texts = [each.replace("\r\n", "\n").strip() for each in given.values()]
    is_closed = status_of(head["status"]) == COMPLETE
    reason = taking.text("close_reason").replace("\r\n", "\n").strip() if is_closed else ""
    summary = reason if reason.casefold() != _CLOSED else ""
    closed = taking.text("closed_at") if is_closed else ""
    parent, depends_on = _edges(taking, head["id"])
    criteria, others = _criteria(wanted)
    whole = outline(description, bullets=not criteria)
    found = parts_of(whole.boxes)
    comments = comments_in(taking.list("comments"))
    created, updated = taking.text("created_at"), str(taking.get("updated_at") or "")
    if head["priority"] == _LOWEST:
        taking["priority"] = int(_LOWEST)  # ours end at 3
    labels = taking.get("labels")
    fields = {key: each for key, each in taking.fields().items() if _says(key, each)}
    notes = (("Acceptance criteria", others), ("Design", design), ("Notes", work))
    return Record(
        **head,
        place=place,
        said=[*words, *texts, summary, parent, depends_on, fields, "".join(each.text for each in comments)],
        state=DROPPED if _is_dropped(reason) else "",
        is_epic=fields.get("issue_type") == "epic",
        created_at=created,
        updated_at=updated,
        closed_at=closed,
        description=whole.rest,
        summary=summary,
        criteria=(*criteria, *found["criteria"]),
        features=found["features"],
        progress=_progress(work),
        depends_on=depends_on,
        parent=parent,
        labels=tuple(each for each in labels if isinstance(each, str)) if isinstance(labels, list) else (),
        fields=fields,
        notes=(*(Note(heading, text) for heading, text in notes if text), *comments),
        became=(*words[1:], parent, *depends_on),
    )


def _says(key: str, value: object) -> bool:
    """Return whether a value says something that a person would miss."""
    is_nothing = value is None or value is False or str(value) in _NOTHING or value == _DEFAULTS.get(key)
    return not (is_nothing or key in _MACHINE)


def _is_dropped(reason: str) -> bool:
    """Return whether a reason says that the work was given up; one that begins with what was done does not."""
    first = reason.partition(" ")[0].rstrip(":.,;")
    is_done = status_of(first) == COMPLETE or first.casefold() in _FIXED
    return not is_done and _DROPPED.search(reason) is not None


def _criteria(text: str) -> tuple[tuple[Part, ...], str]:
    """Return the criteria in a text, its items or else its lines, and what else it says."""
    whole = outline(f"# Acceptance criteria\n\n{text}", bullets=True)
    if whole.boxes:
        return tuple(map(part_of, whole.boxes)), whole.rest.removeprefix("# Acceptance criteria").strip()
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
        edge = Taking(each)
        kind, target = str(edge.get("type") or edge.get("dependency_type")), edge.get("depends_on_id") or edge.get("id")
        is_own = isinstance(target, str) and edge.get("issue_id", own) == own and not target.startswith("external:")
        is_parent = is_own and kind == _PARENT and parent in {"", target}
        parent = str(target) if is_parent else parent
        waits += [str(target)] if is_own and kind in _WAITS else []
        said = {key: value for key, value in edge.items() if _says(key, value)}
        says_more = "issue_id" in edge and not said.keys() <= _EDGE
        if says_more or not (is_parent or (is_own and kind == "blocks")):
            others.append(said or each)
    if others:
        taking["dependencies"] = others
    return parent, tuple(dict.fromkeys(waits))
