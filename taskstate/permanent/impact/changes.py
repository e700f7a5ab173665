"""Writes a changed Impact Map as the next version of the permanent task."""

from __future__ import annotations

from taskstate.model import permanent
from taskstate.model.impact_map import map_level, merged, read_map
from taskstate.model.permanent import IMPACT_MAP
from taskstate.permanent.impact.storage import is_edited, load_map, repository_files, require_valid, with_map
from taskstate.permanent.versions import Revision, raised
from taskstate.typed import TYPE_CHECKING, NamedTuple
from taskstate.writing.change import Change

if TYPE_CHECKING:
    from taskstate.model.impact_map import ImpactMap
    from taskstate.workspace.workspace import Loaded, Workspace
    from taskstate.writing.change import Request

_BY_HAND = "its file was edited by hand, or merged"


class NewMap(NamedTuple):
    """A map that takes the place of another one: what changes, in words, and what that asks of others."""

    before: ImpactMap
    after: ImpactMap
    summary: str
    level: str


def with_entries(workspace: Workspace, loaded: Loaded, content: str) -> NewMap:
    """Return the map of a permanent task with the entries of a newer one, which a JSON or Markdown text holds.

    An entry with an id that the map has replaces that one.

    Raises:
        TaskstateError: code "invalid-input" or "impact-map".
    """
    new, edited = read_map(content, "the content"), is_edited(workspace, loaded)
    before = load_map(workspace, loaded, even_edited=edited)
    joined = merged(before, new)
    require_valid(before, joined.map, repository_files(workspace))
    words = [
        f"{', '.join(names)} {done}"
        for names, done in ((joined.added, "added"), (joined.replaced, "replaced"))
        if names
    ]
    level = permanent.level_of_sections((IMPACT_MAP,)) if edited else map_level(before, joined.map)
    return NewMap(before, joined.map, "; ".join([*words, *([_BY_HAND] if edited else [])]) or "reordered", level)


def written(workspace: Workspace, loaded: Loaded, new: NewMap, request: Request) -> Change[int]:
    """Return the change that writes a map as the next version, and has that version as its result.

    Raises:
        TaskstateError: code "unreadable": the section is missing, or the Change Log is damaged.
    """
    if new.before.values == new.after.values and not is_edited(workspace, loaded):
        return Change(text=loaded.document.text, result=permanent.version_of(loaded.state))
    placed = with_map(workspace, loaded, new.after)
    change = raised(workspace, loaded, placed.text, Revision((IMPACT_MAP,), new.summary, new.level), request)
    version = permanent.version_of(loaded.with_text(change.text).state)
    note = f"PT-v{permanent.version_of(loaded.state)} is now PT-v{version} ({new.level}): {new.summary}"
    return Change(
        text=change.text,
        before=(*placed.before, *change.before),
        after=(*change.after, *placed.after),
        notes=(note,),
        result=version,
    )
