"""Adds entries to the Impact Map and removes them, each time as a new version of the permanent task."""

from __future__ import annotations

import re

from taskstate.errors import TaskstateError
from taskstate.messages import closest, first_of
from taskstate.model import impact_map
from taskstate.model.impact_map import EMPTY, KINDS, MODULES, map_level, map_of, merged
from taskstate.permanent.find import require
from taskstate.permanent.impact.changes import NewMap, written
from taskstate.permanent.impact.storage import load_map, repository_files, require_valid
from taskstate.permanent.update import require_open, require_writer
from taskstate.storage.files import shown
from taskstate.typed import TYPE_CHECKING
from taskstate.writing.writer import change

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any

    from taskstate.model.impact_map import ImpactMap
    from taskstate.workspace.workspace import Loaded, Workspace
    from taskstate.writing.change import Change, Outcome, Request

_MAX_ID = 64
_ID = rf"[^\s,]{{1,{_MAX_ID}}}"
_NAMED = 5


def add(
    workspace: Workspace, key: str, entry: Mapping[str, Any], request: Request, *, replace: bool = False
) -> Outcome[int]:
    """Add an entry to the list `key` of the map, or with `replace` put it in the place of the one with its id.

    An entry that is replaced hands on the keys of people's own.

    Raises:
        TaskstateError: code "exists", "bad-id", "impact-map", "no-permanent", "writer" or "task-closed".
    """
    name = _require_id(entry["id"])

    def plan(before: ImpactMap) -> NewMap:
        standing = next((each for each in before.values[key] if each["id"] == name), None)
        if standing is not None and not replace:
            message = f"the Impact Map has a {KINDS[key]} {name} already"
            raise TaskstateError(message, help="add `--replace` to put this one in its place", code="exists")
        own = {each: value for each, value in (standing or {}).items() if each.startswith("x-")}
        joined = merged(before, map_of({**EMPTY.values, key: [{**entry, **own}]}))
        done = "replaced" if joined.replaced else "added"
        return NewMap(before, joined.map, f"{KINDS[key]} {name} {done}", map_level(before, joined.map))

    return _change(workspace, plan, request)


def remove(
    workspace: Workspace, key: str, name: str, request: Request, *, with_references: bool = False
) -> Outcome[int]:
    """Remove an entry from the list `key` of the map; a module `with_references` also from all that names it.

    Raises:
        TaskstateError: code "not-found"; code "referenced": other entries name the module; code "no-permanent",
            "writer" or "task-closed".
    """

    def plan(before: ImpactMap) -> NewMap:
        _require_entry(before, key, name)
        named_by = impact_map.references(before, name) if key == MODULES else ()
        if named_by and not with_references:
            message = f"module {name} is named by {first_of(named_by, _NAMED)}"
            help_ = "add `--with-references` to remove it from them, too"
            raise TaskstateError(message, help=help_, code="referenced")
        after = impact_map.without(before, key, name)
        after = impact_map.without_references(after, name) if named_by else after
        also = f", also from {', '.join(named_by)}" if named_by else ""
        return NewMap(before, after, f"{KINDS[key]} {name} removed{also}", map_level(before, after))

    return _change(workspace, plan, request)


def _change(workspace: Workspace, plan: Callable[[ImpactMap], NewMap], request: Request) -> Outcome[int]:
    found = require(workspace)
    require_writer(workspace, request)
    paths = repository_files(workspace)

    def job(loaded: Loaded) -> Change[int]:
        require_open(loaded)
        new = plan(load_map(workspace, loaded))
        require_valid(new.before, new.after, paths)
        return written(workspace, loaded, new, request)

    outcome = change(workspace, found.id, job, request)
    return outcome._replace(notes=(*found.notes, *outcome.notes))


def _require_id(name: str) -> str:
    if not name.isprintable() or not re.fullmatch(_ID, name):
        message = f"{shown(name)!r} is not an id of an entry"
        help_ = f"it has at most {_MAX_ID} characters, without spaces and commas, such as auth-api"
        raise TaskstateError(message, help=help_, code="bad-id")
    return name


def _require_entry(map_: ImpactMap, key: str, name: str) -> None:
    known = [each["id"] for each in map_.values[key]]
    if name not in known:
        near = closest(name, known)
        help_ = f"did you mean {near}?" if near else "`taskstate impact show` lists what it has"
        raise TaskstateError(f"the Impact Map has no {KINDS[key]} {shown(name)}", help=help_, code="not-found")
