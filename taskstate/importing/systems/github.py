"""Reads GitHub's issues: what `gh issue list --json` prints, or the REST interface; pull requests are left."""

from __future__ import annotations

import re
from collections import Counter

from taskstate.errors import TaskstateError
from taskstate.importing.reading.markdown import outline, parts_of, prose
from taskstate.importing.reading.values import Taking, comments_in, name_in, records
from taskstate.importing.records import Left, Record, Refused, Told
from taskstate.importing.words import status_in_label, status_of
from taskstate.messages import first_of
from taskstate.model.statuses import CLOSED, COMPLETE, CREATED, DROPPED
from taskstate.typed import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from taskstate.importing.reading.sources import Source
    from taskstate.importing.records import Found, Options, Place

# Addresses of the interface and ids of the database, which follow from the number and mean nothing to people.
_MACHINE = frozenset({"url", "id", "node_id", "color", "performed_via_github_app", "reactions"})
_REASONS = {"completed": COMPLETE, "not_planned": DROPPED, "duplicate": DROPPED, "reopened": CREATED}
_TEXTS = {"id": "number", "title": "title"}
_TEXTS |= {
    "created_at": "createdAt created_at",
    "updated_at": "updatedAt updated_at",
    "closed_at": "closedAt closed_at",
}
_TOLD = frozenset({"not_planned", "duplicate"})
_GH = (
    "state",
    "body",
    "labels",
    "assignees",
    "author",
    "milestone",
    "comments",
    "createdAt",
    "closedAt",
    "stateReason",
)
_REST = ("state", "body", "labels", "assignees", "user", "milestone", "created_at", "closed_at")
_LINKS = re.compile(r"(?im)\b(?:depends on|blocked by|requires)\b:?((?:[\s,]|and|&|[\w.-]*/?[\w.-]*#\d+)+)")
_REFERENCE = re.compile(r"(?:(?<![\w./-])([\w.-]{1,100}/[\w.-]{1,100}))?#(\d{1,9})")
_ADDRESS = re.compile(r"/([\w.-]{1,100}/[\w.-]{1,100})/(?:issues|pull)/(\d{1,9})/?(?:$|[#?])")
_REPOSITORY = r"(.+)/(?:issues|pull)/\d+(?:$|[#?])"
_SHOWN = 5  # names in a line
_ONLY_REFERENCE = re.compile(r"#(\d+)\.?")


def read(source: Source, options: Options) -> Iterator[Found]:  # noqa: ARG001 - every reader is asked alike
    """Yield the issues of a file.

    Raises:
        TaskstateError: code "ambiguous": it holds those of two repositories, whose numbers clash.
    """
    lacking, repositories, described = Counter[str](), dict[str, None](), dict[str, None]()

    def issue(value: Any, place: Place) -> Found:  # noqa: ANN401 - any JSON value
        match = re.match(_REPOSITORY, str(Taking(value).text("html_url", "url")))
        repositories.update({match[1]: None} if match else {})
        if len(repositories) > 1:
            message = f"{place}: the issues of {' and '.join(reversed(repositories))} have the same numbers"
            help_ = "import a file of each, and one of them with `--prefix`"
            raise TaskstateError(message, help=help_, code="ambiguous")
        found = _issue(value, place)
        lacking.update(found.absent if isinstance(found, Record) else ())
        described.update(dict.fromkeys(_described(Taking(value))))
        return found

    yield from records(source, source.names, issue)
    if lacking:
        named = ", ".join(f"{key} ({count})" for key, count in sorted(lacking.items()))
        yield Told("not-exported", f"the file has not all that an issue has: {named}")
    if described:
        what = "what is said of a label, a type or a milestone, and when one is due, has no place here"
        yield Told("file-metadata", f"{what}: {first_of([*described], _SHOWN)}")


def _described(issue: Taking) -> Iterator[str]:
    """Yield the names of the labels, the type and the milestone of an issue of which more is said than the name."""
    for each in map(Taking, (*issue.list("labels"), issue.get("type"), issue.get("milestone"))):
        if each.text("description", "dueOn", "due_on"):
            yield name_in(each)


def _issue(value: Any, place: Place) -> Record | Left | Refused:  # noqa: ANN401 - any JSON value
    number = Taking(value).text("number")
    if not number.isdecimal():
        return Refused(place, "bad-record", "it is not an issue: it has no `number`")
    if "pull_request" in value or "/pull/" in str(value.get("url", "")):
        return Left(place, number, "pull-request")
    if not isinstance(value.get("title"), str):
        return Refused(place, "bad-record", "it has no `title`", number)
    is_rest = "html_url" in value or "created_at" in value
    absent = tuple(key for key in (_REST if is_rest else _GH) if key not in value)
    return _record(Taking(value), place)._replace(absent=absent)


def _record(taking: Taking, place: Place) -> Record:
    texts, body = taking.texts(**_TEXTS), taking.text("body").replace("\r\n", "\n")
    labels, people = ([*filter(None, map(name_in, taking.list(key)))] for key in ("labels", "assignees"))
    kind, milestone = name_in(taking.pop("type", None)), name_in(taking.pop("milestone", None))
    whole = outline(body)
    listed = [match[1] for box in whole.boxes if (match := _ONLY_REFERENCE.fullmatch(box.text))]
    state, status, reason = _state(taking, [*labels, kind])
    notes = comments_in(taking.list("comments"))
    address = _ADDRESS.search(Taking(taking).text("html_url", "url"))
    above = [taking.pop("parent", None) or taking.pop("parent_issue_url", None)]
    blockers, children, parent = (
        _references(each, address[1] if address else "")
        for each in (taking.pop("blockedBy", None), taking.pop("subIssues", None), above)
    )
    related = (*blockers, *parent, *children)
    kept = {
        "author": name_in(taking.pop("user", None)) or name_in(taking.pop("author", None)),
        "assignees": people,
        "labels": labels,
        "type": kind,
        "updatedAt": texts["updated_at"],
        "stateReason": reason if reason in _TOLD else "",
        "url": taking.text("html_url", "url"),
    }
    first = name_in(taking.pop("assignee", None))  # of REST: it stands among the assignees, too
    kept |= {"assignees": people or [*filter(None, [first])]}
    kept |= {
        key: name_in(rest) if isinstance(rest, dict) and "login" in rest else rest
        for key, rest in taking.fields().items()
        if key not in _MACHINE and not key.endswith("_url")
    }
    kept = {key: rest for key, rest in kept.items() if rest not in (None, "", [], {}, 0)}
    return Record(
        **texts,
        place=place,
        said=[texts["title"], body, milestone, kept, [note.text for note in notes], state, *related],
        status=status,
        state=state,
        epic=milestone,
        description=whole.rest,
        **parts_of([box for box in whole.boxes if not _ONLY_REFERENCE.fullmatch(box.text)]),
        depends_on=(*blockers, *_named(body)),
        parent=next(iter(parent), ""),
        subtasks=tuple(dict.fromkeys((*children, *listed))),
        labels=tuple(labels),
        fields=kept,
        notes=notes,
        became=(state, *(f"#{each}" for each in listed), *related),
    )


def _state(taking: Taking, labels: list[str]) -> tuple[str, str, str]:
    """Return our status by the state and its reason, the word of an open issue's label or type, and the reason."""
    state = str(taking.pop("state", "") or "").casefold()
    reasons = [taking.pop(key, "") for key in ("stateReason", "state_reason")]
    reason = str(next(filter(None, reasons), "")).casefold()
    if state == "closed":
        return _REASONS.get(reason, COMPLETE), "", reason
    # No label closes an issue: that is what its state says, and work that is still open would get lost.
    word = next((word for label in labels if status_of(word := status_in_label(label)) not in {*CLOSED, ""}), "")
    return ("", word, reason) if word else (CREATED, "", reason)


def _references(value: object, own: str) -> list[str]:
    """Return the numbers in a list of issues, or in `{nodes: [...]}`; before one elsewhere stands its repository."""
    nodes, found = Taking(value).get("nodes", value), list[str]()
    for each in nodes if isinstance(nodes, list) else ():
        address = _ADDRESS.search(Taking(each).text("html_url", "url") or (each if isinstance(each, str) else ""))
        number = str(Taking(each).get("number", address[2] if address else each))
        if number.isdecimal():
            repository = address[1] if address and own else own
            found.append(number if repository == own else f"{repository}#{number}")
    return found


def _named(body: str) -> list[str]:
    """Return the issues that a sentence says it depends on, outside code and quotes; others are mere mentions."""
    found = (ref for match in _LINKS.finditer(prose(body)) for ref in _REFERENCE.finditer(match[1]))
    return [*dict.fromkeys(f"{ref[1]}#{ref[2]}" if ref[1] else ref[2] for ref in found)]
