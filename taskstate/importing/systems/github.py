"""Reads GitHub's issues: what `gh issue list --json` prints, or the REST interface; pull requests are left."""

from __future__ import annotations

import re

from taskstate.errors import TaskstateError
from taskstate.importing.reading.markdown import outline, part_of, prose
from taskstate.importing.reading.values import Located, Taking, objects
from taskstate.importing.records import Count, Left, Note, Record, Refused, Told
from taskstate.importing.words import status_in_label
from taskstate.model.statuses import COMPLETE, CREATED, DROPPED
from taskstate.typed import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from taskstate.importing.reading.sources import Source
    from taskstate.importing.records import Found, Options, Place

# Addresses of the interface and ids of the database, which follow from the number and mean nothing to people.
_MACHINE = frozenset({"url", "id", "node_id", "color", "performed_via_github_app", "reactions"})
_REASONS = {"completed": COMPLETE, "not_planned": DROPPED, "duplicate": DROPPED, "reopened": CREATED}
_GH = ("body", "labels", "assignees", "author", "milestone", "comments", "createdAt", "closedAt", "stateReason")
_REST = ("body", "labels", "assignees", "user", "milestone", "created_at", "closed_at")
_LINKS = re.compile(r"(?im)\b(?:depends on|blocked by|requires)\b:?((?:[\s,]|and|&|[\w.-]*/?[\w.-]*#\d+)+)")
_REFERENCE = re.compile(r"(?:(?<![\w./-])([\w.-]{1,100}/[\w.-]{1,100}))?#(\d{1,9})")
_REPOSITORY = r"(.+)/(?:issues|pull)/\d+(?:$|[#?])"
_ONLY_REFERENCE = re.compile(r"#(\d+)\.?")


def read(source: Source, options: Options) -> Iterator[Found]:  # noqa: ARG001 - every reader is asked alike
    """Yield the issues of a file.

    Raises:
        TaskstateError: code "ambiguous": it holds those of two repositories, whose numbers clash.
    """
    number, lacking, repository = 0, dict[str, int](), ""
    for name in source.names:
        for each in objects(source, name):
            number += 1
            if isinstance(each, Refused):
                yield each
                continue
            repository = _repository(each, repository)
            found = _issue(each)
            yield found
            for key in found.absent if isinstance(found, Record) else ():
                lacking[key] = lacking.get(key, 0) + 1
    yield Count(number)
    if lacking:
        named = ", ".join(f"{key} ({count})" for key, count in sorted(lacking.items()))
        yield Told("not-exported", f"the file has not all that an issue has: {named}")


def _repository(each: Located, known: str) -> str:
    """Return the address of the repository that an issue belongs to, which must be the `known` one."""
    url = each.value.get("html_url") or each.value.get("url") if isinstance(each.value, dict) else ""
    match = re.match(_REPOSITORY, url) if isinstance(url, str) else None
    if match and known and match[1] != known:
        message = f"{each.place}: the issues of {match[1]} and {known} have the same numbers"
        raise TaskstateError(message, help="import a file of each, and one of them with `--prefix`", code="ambiguous")
    return match[1] if match else known


def _issue(each: Located) -> Record | Left | Refused:
    value, place = each
    if not isinstance(value, dict) or not isinstance(value.get("number"), int):
        return Refused(place, "bad-record", "it is not an issue: it has no `number`")
    number = str(value["number"])
    if "pull_request" in value or "/pull/" in str(value.get("url", "")):
        return Left(place, number, "pull-request")
    if not isinstance(value.get("title"), str):
        return Refused(place, "bad-record", "it has no `title`", number)
    return _record(Taking(value), value, number, place)


def _record(taking: Taking, value: dict[str, Any], number: str, place: Place) -> Record:
    taking.rest.pop("number")
    is_rest = "html_url" in value or "created_at" in value
    title, body = taking.text("title"), taking.text("body").replace("\r\n", "\n")
    labels = tuple(filter(None, (_name(label) for label in taking.list("labels"))))
    whole = outline(body)
    boxes = [box for box in whole.boxes if not _ONLY_REFERENCE.fullmatch(box.text)]
    listed = tuple(match[1] for box in whole.boxes if (match := _ONLY_REFERENCE.fullmatch(box.text)))
    criteria, features = [box for box in boxes if box.is_criterion], [box for box in boxes if not box.is_criterion]
    state, status, reason = _state(taking, (*labels, _name(value.get("type"))))
    milestone = _name(taking.rest.pop("milestone", None), "title")
    people = {key: [_name(user, "login") for user in taking.list(key)] for key in ("assignees",) if value.get(key)}
    author = _name(taking.rest.pop("user" if is_rest else "author", None), "login")
    notes, depends_on = _comments(taking), _references(taking.rest.pop("blockedBy", None))
    parent = _references([taking.rest.pop("parent", None) or taking.rest.pop("parent_issue_url", None)])
    children = _references(taking.rest.pop("subIssues", None))
    updated = taking.text("updatedAt", "updated_at")
    address = taking.text("html_url") if is_rest else taking.text("url")
    created, closed = taking.text("createdAt", "created_at"), taking.text("closedAt", "closed_at")
    kept = {"author": author, **people, "labels": list(labels), "type": _name(taking.rest.pop("type", None))}
    kept |= {"updatedAt": updated, "stateReason": reason if reason in {"not_planned", "duplicate"} else ""}
    kept |= {
        "url": address,
        **{key: rest for key, rest in taking.fields().items() if key not in _MACHINE and not key.endswith("_url")},
    }
    return Record(
        id=number,
        title=title,
        place=place,
        said=[title, body, milestone, kept, [note.text for note in notes]],
        status=status,
        state=state,
        created_at=created,
        updated_at=updated,
        closed_at=closed,
        epic=milestone,
        description=whole.rest,
        criteria=tuple(part_of(box) for box in criteria),
        features=tuple(part_of(box) for box in features),
        depends_on=(*depends_on, *_named(body)),
        parent=parent[0] if parent else "",
        subtasks=tuple(dict.fromkeys((*children, *listed))),
        labels=labels,
        fields={key: rest for key, rest in kept.items() if rest not in (None, "", [], {}, 0)},
        notes=notes,
        became=tuple(f"#{each}" for each in listed),
        absent=tuple(key for key in (_REST if is_rest else _GH) if key not in value),
    )


def _state(taking: Taking, labels: tuple[str, ...]) -> tuple[str, str, str]:
    """Return our status by the state and its reason, the word of an open issue's label or type, and the reason."""
    state = str(taking.rest.pop("state", "") or "").casefold()
    reason = str(taking.rest.pop("stateReason", "") or taking.rest.pop("state_reason", "") or "").casefold()
    taking.rest.pop("state_reason", None)
    if state == "closed":
        return _REASONS.get(reason, COMPLETE), "", reason
    word = next((word for label in labels if (word := status_in_label(label))), "")
    return ("", word, reason) if word else (CREATED, "", reason)


def _name(value: object, key: str = "name") -> str:
    """Return the name of a label, a user or a milestone, which are objects or plain texts."""
    if isinstance(value, dict):
        found = value.get(key) or value.get("name")
        return found if isinstance(found, str) else ""
    return value if isinstance(value, str) else ""


def _comments(taking: Taking) -> tuple[Note, ...]:
    """Return the comments with author and time; where the interface gives only their number, that is kept."""
    texts = list[str]()
    for each in taking.list("comments"):
        body = str(each.get("body") or "") if isinstance(each, dict) else str(each)
        user = _name(each.get("author") or each.get("user"), "login") if isinstance(each, dict) else ""
        time = str(each.get("createdAt") or each.get("created_at") or "") if isinstance(each, dict) else ""
        texts.append("\n\n".join(filter(None, (f"**{', '.join(filter(None, (user, time))) or '?'}:**", body))))
    return (Note("Comments", "\n\n".join(texts).replace("\r\n", "\n")),) if texts else ()


def _references(value: object) -> tuple[str, ...]:
    """Return the numbers in a list of issues, or in `{nodes: [...]}`; an address names one by its last part."""
    nodes = value.get("nodes") if isinstance(value, dict) else value
    found = list[str]()
    for each in nodes if isinstance(nodes, list) else ():
        number = each.get("number") if isinstance(each, dict) else each
        if isinstance(number, str):
            number = number.rstrip("/").rpartition("/")[2]
        found += [str(number)] if str(number or "").isdecimal() else []
    return tuple(found)


def _named(body: str) -> tuple[str, ...]:
    """Return the issues that a sentence says it depends on, outside code and quotes; others are mere mentions."""
    found = (ref for match in _LINKS.finditer(prose(body)) for ref in _REFERENCE.finditer(match[1]))
    return tuple(dict.fromkeys(f"{ref[1]}#{ref[2]}" if ref[1] else ref[2] for ref in found))
