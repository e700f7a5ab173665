"""Merges the links to an Impact Map that has a file of its own: a side that changed the file changed its SHA-256.

The driver sees one file at a time. Which content a side means is said by its SHA-256, so the three versions of the map
can be found in git, and the merged one has the SHA-256 that belongs into both sides.
"""

from __future__ import annotations

import posixpath

from taskstate.merge.merge_files import merge_files
from taskstate.model.impact_map import digest_of_file, stored_in
from taskstate.model.names import own_file
from taskstate.model.permanent import PERMANENT, VERSION_SEAL, edited_sections, version_of, version_seal
from taskstate.model.task_state import TaskState, read_state
from taskstate.storage.git import history
from taskstate.syntax.document import parse
from taskstate.syntax.edits import Edit, apply
from taskstate.syntax.spans import with_newlines
from taskstate.typed import TYPE_CHECKING
from taskstate.units.three_way import Versions, trivial_merge

if TYPE_CHECKING:
    from pathlib import Path

    from taskstate.model.impact_map import Stored


def with_merged_links(versions: Versions[bytes], name: str, top: Path) -> Versions[bytes]:
    """Return the versions of a state file with maps that can be merged; unchanged where a map is unknown.

    Where both sides name a file, they name the merged one. Where only one does, git takes its file as it is, so the
    maps come back into their sections, where their entries are merged; the next change of the map moves it out again.
    `name` is the path of the state file from `top`, the root of the working tree.
    """
    own = own_file(name)
    if own is None or own.type != "state" or not any(b"impact-map.json" in version for version in versions):
        return versions
    try:
        states = versions.each(lambda data: read_state(parse(data.decode("utf-8"))))
    except UnicodeDecodeError:
        return versions
    stored = states.each(lambda state: stored_in(state) if state.kind == PERMANENT else None)
    contents = stored.each(lambda each: (each.sha256 or each.text or "") if each else None)
    if None in {contents.ours, contents.theirs} or trivial_merge(contents):
        return versions
    path = posixpath.join(posixpath.dirname(name), f"task-{own.id}-impact-map.json")
    digests = {*filter(None, map(_digest, stored))}
    maps = _maps(top, path, digests)
    if not digests or not digests <= maps.keys():
        return versions
    if _digest(stored.ours) and _digest(stored.theirs):
        return _naming_the_merged_file(versions, states, stored.each(_digest), maps, path)
    return Versions(*(_with_map(state, each, maps) for state, each in zip(states, stored, strict=True)))


def _naming_the_merged_file(
    versions: Versions[bytes], states: Versions[TaskState], digests: Versions[str], maps: dict[str, bytes], path: str
) -> Versions[bytes]:
    """Return the versions in which both sides name the file that git merges; unchanged where that has conflicts."""
    merged = merge_files(digests.each(lambda digest: maps.get(digest, b"")), path)
    if merged.conflicts:
        return versions
    new = digest_of_file(merged.data)
    sides = ((states.ours, digests.ours), (states.theirs, digests.theirs))
    return Versions(versions.base, *(_resealed(state, state.document.text.replace(old, new)) for state, old in sides))


def _digest(stored: Stored | None) -> str:
    return (stored and stored.sha256) or ""


def _maps(top: Path, path: str, digests: set[str]) -> dict[str, bytes]:
    """Return the contents that the file has had with these hashes, as far as git has them."""
    found: dict[str, bytes] = {}
    for where in (history.REFS, history.REFLOG):
        for _, (data,) in history.versions(top, [path], where):
            digest = digest_of_file(data) if data is not None else ""
            if data is not None and digest in digests:
                found[digest] = data
            if digests <= found.keys():
                return found
    return found


def _with_map(state: TaskState, stored: Stored | None, maps: dict[str, bytes]) -> bytes:
    """Return a version with the map in its section, whose link is replaced."""
    if stored is None or not stored.sha256:
        return state.document.text.encode()
    fence = f"```json\n{maps[stored.sha256].decode('utf-8', 'replace').strip()}\n```"
    new = with_newlines(fence, state.document.newline)
    return _resealed(state, apply(state.document.text, [Edit(*stored.place, new)]))


def _resealed(state: TaskState, text: str) -> bytes:
    """Return a side with another text of its map, and with a seal of its version that is as sound as before."""
    seal = state.text(VERSION_SEAL)
    if seal and not edited_sections(state):
        text = text.replace(seal, version_seal(read_state(parse(text)), version_of(state)))
    return text.encode()
