"""What a role changed, or what changed since, and the brief that the next agent gets: pages beside that of a task."""

from __future__ import annotations

from taskstate.model.write_metadata import blocks_of
from taskstate.page import diff
from taskstate.page.versions import asked_task, said
from taskstate.typed import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from starlette.requests import Request

    from taskstate.page.reading import Reading

# What `against` is called in an address, and what the operation calls it.
BASE, PREVIOUS, NOW = "base", "previous", "now"
AGAINST = {BASE: "from-base", PREVIOUS: "incremental", NOW: "now"}
_WORDS = {BASE: "since the work began", PREVIOUS: "since the role before", NOW: "from then to now"}


def changes(reading: Reading, request: Request) -> Mapping[str, object]:
    """Return what the template of changes shows: the diff of a role, by default the newest that has left one."""
    task, asked = asked_task(reading, request), request.query_params
    snapshots = blocks_of(task.loaded.document).delta.snapshots
    names = [name for name in task.workspace.config.roles if name in snapshots]
    role = asked.get("role", names[-1] if names and asked.get("against") != NOW else "")
    against = asked.get("against", BASE if role else NOW)
    kind = AGAINST.get(against, AGAINST[BASE])
    found = said(task.call, "snapshot diff", id=task.id, role=role, type=kind)
    files = diff.files_of(found.data["diff"] if found.data else "", _number(asked.get("file", "")))
    heads = {BASE: f"What {role} changed", PREVIOUS: f"What {role} changed since the role before"}
    since = f"What changed since {role or 'the last turn'} left it"
    return {
        "title": f"Changes of {task.id}",
        "heading": heads.get(against, since) if role else since,
        "task": task,
        "roles": names,
        "role": role,
        "against": against,
        "kinds": _WORDS,
        "said": found,
        "files": files[: diff.MOST_FILES],
        "more": len(files[diff.MOST_FILES :]),
        "totals": diff.totals(files),
        "command": f"taskstate snapshot diff {task.id}{f' --role {role}' if role else ''} --type {kind}",
    }


def brief(reading: Reading, request: Request) -> Mapping[str, object]:
    """Return what the template of a brief shows: its text, its size, and what was cut."""
    task = asked_task(reading, request)
    role, budget = request.query_params.get("role", ""), _number(request.query_params.get("budget", ""))
    given = {"id": task.id, "role": role} | ({"budget": budget} if budget else {})
    found = said(task.call, "brief", **given)
    roles = task.workspace.config.roles
    return {"title": f"Brief of {task.id}", "task": task, "roles": roles, "role": role, "said": found}


def _number(text: str) -> int:
    return int(text) if text.isascii() and text.isdecimal() and len(text) < len("1000000000") else 0
