"""Writes tasks as files of Backlog.md: a folder that the tool shows, and that comes back with `import backlog-md`.

The mark stands among the references, since the tool drops every key that it does not know when it edits a file. The
hash of what was written stands beside it: a file that was edited there is another one.
"""

from __future__ import annotations

import re

from taskstate.exporting.items import MARK
from taskstate.model.canonical_json import sha256
from taskstate.model.session_texts import SESSION_TEXTS
from taskstate.model.statuses import BLOCKED, COMPLETE, CREATED, DROPPED, IN_PROGRESS
from taskstate.syntax.escaping import item
from taskstate.syntax.yaml_emitter import yaml_entry, yaml_scalar
from taskstate.typed import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from typing import Any

    from taskstate.exporting.items import Item
    from taskstate.exporting.run import Wanted

CONFIG = "config.yml"
FEATURES = "Feature Checklist"  # the section that `import` takes them back from
_STATUSES = {CREATED: "To Do", IN_PROGRESS: "In Progress", BLOCKED: "Blocked", COMPLETE: "Done", DROPPED: "To Do"}
_PRIORITIES = {"P0": "critical", "P1": "high", "P2": "medium", "P3": "low"}
_SHA = "taskstate-sha256:"
_SHA_LINE = re.compile(rf"(?m)^  - \"?{_SHA}([0-9a-f]{{16}})\"?\n")
_MARKED = re.compile(rf"(?m)^\s{{1,8}}- ['\"]?{MARK}([A-Za-z0-9._-]{{1,64}})['\"]?$")
_MARKER = re.compile(r"<!--(?=\s{0,99}(?:SECTION|AC|DOD|COMMENTS):)")  # what the tool reads as a section's end
_NO_COMMENT = "&lt;!--"
_LONGEST = 60  # characters of a title in a file's name


def render(items: Sequence[Item], wanted: Wanted) -> Mapping[str, str]:
    """Return the files by path in the folder, with a configuration where there is none.

    One that is dropped stands in the archive.
    """
    found = {} if wanted.has_config else {CONFIG: _config()}
    for each in items:
        folder = "archive/tasks" if each.values["status"] == DROPPED else "tasks"
        found[f"{folder}/task-{each.id} - {_slug(each.values['title'])}.md"] = _text(each)
    return found


def ids_in(text: str) -> tuple[str, ...]:
    """Return the ids of the marks in the front matter of a file."""
    return tuple(match[1] for match in _MARKED.finditer(text.partition("\n---")[0]))


def is_ours(data: bytes) -> bool:
    """Return whether a file is just as it was written."""
    text = data.decode("utf-8", "replace")
    match = _SHA_LINE.search(text)
    return _sha(text.replace(match[0], "", 1)) == match[1] if match else text == _config()


def _sha(text: str) -> str:
    return sha256(text)[:16]


def _slug(title: str) -> str:
    return re.sub(r"[^\w]+", "-", title)[:_LONGEST].strip("-_") or "task"


def _config() -> str:
    statuses = ", ".join(f'"{each}"' for each in dict.fromkeys(_STATUSES.values()))
    return f'project_name: "taskstate"\ndefault_status: "To Do"\nstatuses: [{statuses}]\ntask_prefix: "task"\n'


def _text(each: Item) -> str:
    values, reference = each.values, f"  - {yaml_scalar(each.mark)}\n"
    text = f"---\n{_head(values)}references:\n{reference}---\n\n" + "\n\n".join(_sections(values)) + "\n"
    sha = f"  - {yaml_scalar(f'{_SHA}{_sha(text)}')}\n"
    return text.replace(reference, f"{reference}{sha}", 1)


def _head(values: Mapping[str, Any]) -> str:
    created = f"{values['created_at'][:10]} {values['created_at'][11:16]}".strip()
    keys = {
        "id": f"TASK-{values['id']}",
        "title": values["title"],
        "status": _STATUSES.get(values["status"], values["status"]),
        "assignee": [],
        "created_date": created,
        "labels": [values["area"]] if values["area"] else [],
        "milestone": values["epic"],
        "dependencies": [f"TASK-{each}" for each in values["depends_on"]],
        "parent_task_id": f"TASK-{values['parent']}" if values["parent"] else "",
        "priority": _PRIORITIES.get(values["priority"], values["priority"]),
    }
    return "".join(f"{line}\n" for key, value in keys.items() if value != "" for line in yaml_entry(key, value))


def _sections(values: Mapping[str, Any]) -> Iterator[str]:
    if values["description"]:
        yield _section("Description", "DESCRIPTION", values["description"])
    if values["criteria"]:
        boxes = (
            _box(f"#{number} {each['text']}", each["checked"]) for number, each in enumerate(values["criteria"], 1)
        )
        yield "\n".join(("## Acceptance Criteria", "<!-- AC:BEGIN -->", *boxes, "<!-- AC:END -->"))
    notes = [*map(_session, values["sessions"]), *([values["notes"]] if values["notes"] else [])]
    if notes:
        yield _section("Implementation Notes", "NOTES", "\n\n".join(notes))
    if values["summary"]:
        yield _section("Final Summary", "FINAL_SUMMARY", values["summary"])
    if values["features"]:
        boxes = (_box(f"{each['id']}: {each['description']}", each["passes"]) for each in values["features"])
        yield "\n".join((f"## {FEATURES}", "", *boxes))


def _section(title: str, name: str, text: str) -> str:
    text = _MARKER.sub(_NO_COMMENT, text)
    return f"## {title}\n\n<!-- SECTION:{name}:BEGIN -->\n{text}\n<!-- SECTION:{name}:END -->"


def _box(text: str, is_done: object) -> str:
    text = " ".join(text.split()).replace("<!--", _NO_COMMENT)  # one that never ends would hide all below it
    return f"- [{'x' if is_done else ' '}] {text}"


def _session(session: Mapping[str, Any]) -> str:
    parts = [" - ".join(filter(None, (f"### Session {session['number']}", session["time"])))]
    for text in SESSION_TEXTS:
        said = session.get(text.key)
        if said:
            body = said if isinstance(said, str) else "\n".join(item(each) for each in said)
            parts.append(f"**{text.label}:**\n\n{body}")
    return "\n\n".join(parts)
