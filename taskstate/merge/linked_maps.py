"""Merges the link to an Impact Map that has a file of its own: both sides changed the file, and so its SHA-256.

The driver sees one file at a time. Which content a side means is said by its SHA-256, so the three versions of the map
can be found in git, and the merged one has the SHA-256 that belongs into both sides.
"""

from __future__ import annotations

import posixpath
from typing import TYPE_CHECKING

from taskstate.merge.files import merge_files
from taskstate.merge.three_way import Versions
from taskstate.model.impact_map import digest_of_file, stored_in
from taskstate.model.names import own_file
from taskstate.model.permanent import PERMANENT, VERSION_SEAL, edited_sections, version_of, version_seal
from taskstate.model.task_state import TaskState, read_state
from taskstate.storage.git import history
from taskstate.syntax.document import parse

if TYPE_CHECKING:
    from pathlib import Path

    from taskstate.model.impact_map import Stored


def with_merged_links(versions: Versions[bytes], name: str, top: Path) -> Versions[bytes]:
    """Return the versions of a state file in which both sides name the merged map; unchanged where that is unknown.

    `name` is the path of the state file from `top`, the root of the working tree.
    """
    own = own_file(name)
    if own is None or own.type != "state" or not all(b"impact-map.json" in side for side in versions[1:]):
        return versions
    try:
        states = versions.each(lambda data: read_state(parse(data.decode("utf-8"))))
    except UnicodeDecodeError:
        return versions
    stored = states.each(lambda state: stored_in(state) if state.kind == PERMANENT else None)
    ours, theirs = _digest(stored.ours), _digest(stored.theirs)
    if not ours or not theirs or ours == theirs or _digest(stored.base) in {ours, theirs}:
        return versions
    path = posixpath.join(posixpath.dirname(name), f"task-{own.id}-impact-map.json")
    maps = _maps(top, path, {*filter(None, map(_digest, stored))})
    if not {*filter(None, map(_digest, stored))} <= maps.keys():
        return versions
    base = maps.get(_digest(stored.base)) or ((stored.base and stored.base.text) or "").encode()
    merged = merge_files(Versions(base, maps[ours], maps[theirs]), path)
    if merged.conflicts:
        return versions
    digest = digest_of_file(merged.data)
    sides = (_with_digest(state, old, digest) for state, old in ((states.ours, ours), (states.theirs, theirs)))
    return Versions(versions.base, *sides)


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


def _with_digest(state: TaskState, old: str, new: str) -> bytes:
    """Return a side with another hash in its link, and with a seal of its version that is as sound as before."""
    text, seal = state.document.text.replace(old, new), state.text(VERSION_SEAL)
    if seal and not edited_sections(state):
        text = text.replace(seal, version_seal(read_state(parse(text)), version_of(state)))
    return text.encode()
