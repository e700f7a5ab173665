"""Makes a state file from `TASK-<id>/context.json`: a task, frozen at its start, with the roles that worked on it.

What the present form has a place for goes there; the rest of the object goes under Notes, as JSON. Pure.
"""

from __future__ import annotations

import json
import re

from taskstate.context.citations import slug_of
from taskstate.errors import TaskstateError
from taskstate.messages import decoded, first_of
from taskstate.migration.checklist import json_fence_of
from taskstate.migration.facts import timestamp_in
from taskstate.model import names
from taskstate.model.statuses import IN_PROGRESS
from taskstate.model.write_metadata import set_front_matter
from taskstate.syntax.conservation import plain_line
from taskstate.syntax.document import parse
from taskstate.syntax.edits import apply
from taskstate.syntax.json_input import read_object
from taskstate.syntax.nodes import Node
from taskstate.tasks.create import NewTask
from taskstate.typed import TYPE_CHECKING, NamedTuple
from taskstate.validation import schema

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from typing import Any

FILE = "context.json"
FOLDER = re.compile(r"(?i)TASK-(?P<id>[A-Za-z0-9]+(?:[._-][A-Za-z0-9]+)*)")
_VERSION = 1
_PRIORITIES, _STATUSES = ("P0", "P1", "P2", "P3"), ("pending", "in_progress", "done", "blocked")
_SPAN = re.compile(r"L[1-9][0-9]*-L[1-9][0-9]*\Z")
_SHA = re.compile(r"[0-9a-f]{16}(?=[0-9a-f]{0,48}\Z)")
_LONGEST_REQUIREMENT = 140


class CachedContext(NamedTuple):
    """What a context.json says: the task, keys of the front matter, its roles, and the rest, which has no place.

    `logs` are the paths of the logs of the roles' checks, by role.
    """

    task: NewTask
    keys: Mapping[str, object]
    roles: dict[str, dict[str, Any]]
    logs: Mapping[str, str]
    rest: Mapping[str, Any]


def read_context(data: bytes, name: str, task_id: str) -> CachedContext:
    """Return what a context.json says; `name` is that of the file, for messages, `task_id` the id of its folder.

    Raises:
        TaskstateError: code "invalid-input": it is no context of version 1; code "file-name": of another task.
    """
    loose = _object(data, name)
    said = str(loose.get("task_id") or "")
    if said and said.casefold().removeprefix("task-") != task_id.casefold():
        message = f"{name}: its folder says {task_id}, and its text says {said}"
        raise TaskstateError(message, help="make them agree, then run this again", code="file-name")
    rest = json.loads(json.dumps(loose))  # what is placed is taken out of it
    immutable = _map(rest, "immutable")
    snapshot = _map(immutable, "task_snapshot") if "task_snapshot" in immutable else immutable
    baseline, coordination = _map(immutable, "validation_baseline"), _map(rest, "coordination")
    task = NewTask(
        id=task_id,
        title=_line(snapshot, "title") or f"Task {task_id}",
        description=_text(snapshot, "description"),
        criteria=_texts(snapshot, "acceptance_criteria"),
        scope_in=_texts(snapshot, "scope_in"),
        scope_out=_texts(snapshot, "scope_out"),
        priority=snapshot.pop("priority") if snapshot.get("priority") in _PRIORITIES else "",
        area=_line(snapshot, "area"),
        commands=_texts(baseline, "commands"),
        standards=_standards(immutable),
        paths=_texts(immutable, "repo_paths") if _are_paths(immutable.get("repo_paths")) else (),
    )
    keys: dict[str, object] = {}
    roles = _roles(coordination)
    if any(each["status"] != "pending" for each in roles.values()):
        keys["status"] = IN_PROGRESS
    created = timestamp_in(str(rest.get("created_at") or ""))
    if created:
        keys["created_at"] = created
    logs = {name: path for name in roles if isinstance(path := coordination[name].get("qa_log_path"), str) and path}
    return CachedContext(task, keys, roles, logs, _pruned(rest))


def with_context(text: str, context: CachedContext, source: str) -> str:
    """Return the text of a new state file with the keys of a context, and with the rest of it under Notes."""
    keys = {"coordination": context.roles, **context.keys} if context.roles else context.keys
    for key, value in keys.items():
        text = apply(text, set_front_matter(parse(text), key, value))
    if not context.rest:
        return text
    return f"{text.rstrip()}\n\n## Notes\n\n### Rest of {source}\n\n{json_fence_of(context.rest)}\n"


def require_values(name: str, data: bytes, result: str) -> None:
    """Refuse a result that lacks a value of the source.

    Raises:
        TaskstateError: code "unsafe".
    """
    document = parse(result)
    fences = (document.json(each) for each in document.blocks if each.kind == "fence" and each.text == "json")
    values = [each.value() for each in fences if isinstance(each, Node)]
    lines = [*_lines([*values, dict(document.front_matter)]), *map(_plain, result.split("\n"))]
    everything = "\n".join(lines)
    gone = [line for line in _lines(_object(data, name)) if line not in everything]
    if gone:
        message = f"{name} cannot be taken over, since these values would get lost: {first_of(gone, 3)}"
        raise TaskstateError(message, help="nothing was written; take it over by hand", code="unsafe")


def _lines(value: object) -> Iterator[str]:
    """Yield the lines of all plain values in a value."""
    if isinstance(value, dict):
        for each in value.values():
            yield from _lines(each)
    elif isinstance(value, list):
        for each in value:
            yield from _lines(each)
    elif value is not None:
        yield from filter(None, map(_plain, str(value).split("\n")))


def _plain(line: str) -> str:
    """Return a line without the marks that only its place asks for: of a list, a task id, an escape."""
    return re.sub(r"^(?:- )?(?:\[ \] )?", "", plain_line(line.replace("\\", "")))


def _object(data: bytes, name: str) -> dict[str, Any]:
    value = read_object(decoded(data, name), name, "a context of version 1")
    if not isinstance(value.get("immutable"), dict):
        message = f"{name} is not a context of a task: it has no object `immutable`"
        raise TaskstateError(message, help="name another file", code="invalid-input")
    if value.get("version", _VERSION) != _VERSION:
        message = f"{name} has version {value['version']}, and {_VERSION} is the only one known here"
        raise TaskstateError(message, help="write it as version 1 with the tool that made it", code="invalid-input")
    return value


def _map(value: Mapping[str, Any], key: str) -> dict[str, Any]:
    child = value.get(key)
    return child if isinstance(child, dict) else {}


def _line(value: dict[str, Any], key: str) -> str:
    """Take a text of one line out of a map; one of another kind stays in it."""
    text = value.get(key)
    if not isinstance(text, str) or not text.strip() or "\n" in text.strip():
        return ""
    return str(value.pop(key)).strip()


def _text(value: dict[str, Any], key: str) -> str:
    return str(value.pop(key)) if isinstance(value.get(key), str) and value[key].strip() else ""


def _texts(value: dict[str, Any], key: str) -> tuple[str, ...]:
    """Take a list of texts out of a map; one with anything else in it stays."""
    texts = value.get(key)
    if not isinstance(texts, list) or not all(isinstance(each, str) and each.strip() for each in texts):
        return ()
    return tuple(value.pop(key))


def _are_paths(value: object) -> bool:
    from taskstate.validation.paths import escape_reason

    return isinstance(value, list) and not any(escape_reason(str(each).removeprefix("!")) for each in value)


def _standards(immutable: dict[str, Any]) -> tuple[Mapping[str, str], ...]:
    """Take the citations out of a map; one that says more than the present form, or that is none, stays in it."""
    listed = immutable.get("standards_citations")
    if not isinstance(listed, list):
        return ()
    read = map(_citation, listed)
    citations = [each if schema.is_valid([each], "citations") else {} for each in read]
    immutable["standards_citations"] = [old for old, new in zip(listed, citations, strict=True) if old != new]
    return tuple(filter(None, citations))


def _citation(entry: object) -> dict[str, str]:
    values = entry if isinstance(entry, dict) else {}
    citation = {key: str(values.get(key, "")) for key in ("file", "section", "requirement")}
    citation["section"] = slug_of(citation["section"].removeprefix("#"))
    citation["requirement"] = citation["requirement"][:_LONGEST_REQUIREMENT]
    for key, form in (("line_span", _SPAN), ("content_sha", _SHA)):
        found = form.match(str(values.get(key) or ""))
        citation |= {key: found[0]} if found else {}
    return citation


def _roles(coordination: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """Take what the present form has of the roles out of a map; what it has not stays."""
    roles: dict[str, dict[str, Any]] = {}
    number = 0
    for name, values in coordination.items():
        if not isinstance(values, dict) or values.get("status") not in _STATUSES or not names.is_result_name(name):
            continue
        role = roles[name] = {"status": values.pop("status")}
        time = values.get("completed_at")
        if isinstance(time, str) and timestamp_in(time):
            role["completed_at"] = timestamp_in(time)
            if role["completed_at"] == time:
                del values["completed_at"]
        session = _line(values, "session_id")
        role |= {"session_id": session} if session else {}
        findings = [" ".join(text.split()) for text in _texts(values, "blocking_findings")]
        if findings:
            role["findings"] = [{"id": number + at, "text": text} for at, text in enumerate(findings, 1)]
            number += len(findings)
    return roles


def _pruned(value: Any) -> Any:  # noqa: ANN401 - any JSON value
    """Return a value without what is empty in it."""
    if isinstance(value, dict):
        children = {key: _pruned(each) for key, each in value.items()}
        return {key: each for key, each in children.items() if each not in (None, "", [], {})}
    return [_pruned(each) for each in value] if isinstance(value, list) else value


def task_of(folder: str) -> str:
    """Return the id of the task that a folder such as `TASK-0824` belongs to, or ""."""
    match = FOLDER.fullmatch(folder)
    return match["id"] if match and names.is_id(match["id"]) else ""
