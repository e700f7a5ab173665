"""Keeps the Impact Map: in the json fence of its section, or over 16 KB in a file of its own that the section names.

Everything that reads the map calls `load_map`, which follows the link.
"""

from __future__ import annotations

import posixpath
from contextlib import closing

from taskstate.errors import TaskstateError
from taskstate.formatting.schema_order import schema_root, with_ordered_keys
from taskstate.messages import decoded, first_of, typed_path
from taskstate.model.impact_faults import faults, unmatched
from taskstate.model.impact_map import EMPTY, MAX_BYTES, SCHEMA, ImpactMap, Stored, digest_of_file, read_map, stored_in
from taskstate.model.permanent import IMPACT_MAP
from taskstate.permanent import find
from taskstate.storage import files, folders, journal
from taskstate.storage.git import client as git
from taskstate.syntax.edits import Edit, apply
from taskstate.syntax.json_edit import json_text
from taskstate.syntax.spans import with_newlines
from taskstate.typed import TYPE_CHECKING, NamedTuple
from taskstate.workspace import listing
from taskstate.writing import damage, notices

if TYPE_CHECKING:
    from pathlib import Path

    from taskstate.workspace.workspace import Loaded, Workspace

_NAMED = 3  # faults in a message


class Placed(NamedTuple):
    """A permanent task's text with another map, and the operations before and after it on the file of the map."""

    text: str
    before: journal.Plan = ()
    after: journal.Plan = ()


# Reading


def load_map(workspace: Workspace, loaded: Loaded, *, even_edited: bool = False) -> ImpactMap:
    """Return the Impact Map of a permanent task, an empty one where it has none yet.

    A file that was edited by hand is read only where `even_edited` says so: to give the edit its version.

    Raises:
        TaskstateError: code "impact-map": the map cannot be read, or its file is missing or is not what the section
            says; code "unreadable": there is no section for it; code "damaged".
    """
    if not notices.is_quiet(workspace, loaded.state.id.casefold()):  # else it was looked at, and has not changed since
        damage.require_undamaged(workspace, loaded)
    stored = _require_section(loaded)
    if stored.sha256 is not None:
        return _map_in_file(workspace, loaded, stored.sha256, even_edited=even_edited)
    if stored.text is None:
        return EMPTY
    return _read(stored.text, f"the Impact Map of task {loaded.state.id}", loaded.relative)


def require_map(workspace: Workspace, loaded: Loaded) -> ImpactMap:
    """Return the Impact Map of a permanent task, in which claims can be looked up.

    Raises:
        TaskstateError: code "no-map": there is none; code "impact-map": it cannot be read, or contradicts itself.
    """
    map_ = load_map(workspace, loaded)
    if not map_.modules:
        message = f"the permanent task {loaded.state.id} has no Impact Map"
        help_ = "`taskstate impact scan` proposes one; `taskstate impact add module NAME --path GLOB` begins one"
        raise TaskstateError(message, help=help_, code="no-map")
    wrong = faults(map_)
    if wrong:
        message = f"the Impact Map of task {loaded.state.id} is wrong: {first_of(wrong, _NAMED, separator='; ')}"
        stored, path = stored_in(loaded.state), workspace.relative(workspace.map_file(loaded.state.id))
        place = path if stored and stored.sha256 is not None else loaded.relative
        raise TaskstateError(message, help=f"fix it in {place}", code="impact-map")
    return map_


def _require_section(loaded: Loaded) -> Stored:
    stored = stored_in(loaded.state)
    if stored is None:
        find.require_permanent(loaded)
        message, path = f"task {loaded.state.id} has no section {IMPACT_MAP}", typed_path(loaded.relative)
        raise TaskstateError(message, help=f"`taskstate lint {path} --fix` adds it", code="unreadable")
    return stored


def is_edited(workspace: Workspace, loaded: Loaded) -> bool:
    """Return whether the map has a file of its own that is not what the section says."""
    stored, path = stored_in(loaded.state), workspace.map_file(loaded.state.id)
    if stored is None or stored.sha256 is None or not folders.is_file(path):
        return False
    return digest_of_file(workspace.read(path)) != stored.sha256


def _map_in_file(workspace: Workspace, loaded: Loaded, sha256: str, *, even_edited: bool) -> ImpactMap:
    path = workspace.map_file(loaded.state.id)
    name = workspace.relative(path)
    if not folders.is_file(path):
        message = f"{loaded.relative} says that the Impact Map is in {name}, which does not exist"
        help_ = f"{_cure(workspace, name, sha256) or '`taskstate doctor --fix`'} brings it back"
        raise TaskstateError(message, help=help_, code="impact-map")
    data = workspace.read(path)
    if digest_of_file(data) != sha256 and not even_edited:
        message = f"{name} is not the Impact Map that {loaded.relative} names: its SHA-256 differs"
        command = f'taskstate permanent update {loaded.state.id} --section "{IMPACT_MAP}" --from {typed_path(name)}'
        cure = _cure(workspace, name, sha256)
        help_ = f"{f'{cure} restores it, ' if cure else ''}`{command}` makes it the next version"
        raise TaskstateError(message, help=help_, code="impact-map")
    return _read(decoded(data, name), name, name)


def _cure(workspace: Workspace, name: str, sha256: str) -> str:
    """Return the git command that brings back what a section names; empty where the last commit does not have it."""
    with closing(git.Objects(workspace.root)) as objects:
        data = objects.read(f"HEAD:./{name}") if git.head(workspace.root) and "\n" not in name else None
    import shlex

    return f"`git checkout HEAD -- {shlex.quote(name)}`" if data is not None and digest_of_file(data) == sha256 else ""


def _read(text: str, name: str, path: str) -> ImpactMap:
    try:
        return read_map(text, name)
    except TaskstateError as error:
        raise TaskstateError(
            error.message, help=f"fix it in {path}, or restore it from git", code="impact-map"
        ) from error


# Checking


def repository_files(workspace: Workspace) -> tuple[str, ...]:
    """Return the repository's files that git tracks or does not ignore, without taskstate's own, sorted."""
    found = listing.own_files(workspace.root, workspace.state_root, lambda _: True, ("*",))
    start = len(str(workspace.root)) + 1
    names = (path[start:].replace("\\", "/") for path in found)
    return tuple(sorted({each for each in names if not workspace.is_ours(each)}))


def require_valid(before: ImpactMap, after: ImpactMap, paths: tuple[str, ...]) -> None:
    """Refuse a change of the map that brings in something wrong; `paths` are the repository's files.

    What was wrong before may stay, so that a map can be mended step by step.

    Raises:
        TaskstateError: code "impact-map".
    """
    known = {*faults(before), *unmatched(before, paths)}
    wrong = [each for each in (*faults(after), *unmatched(after, paths)) if each not in known]
    if wrong:
        advice = [help_ for words, help_ in _ADVICE.items() if any(words in each for each in wrong)]
        message = f"this is no Impact Map: {first_of(wrong, _NAMED, separator='; ')}"
        raise TaskstateError(message, help="; ".join(advice) or "fix that, then run this again", code="impact-map")


_ADVICE = {
    "no file matches": "correct the glob, or mark a module that has no files yet as planned (`--planned`)",
    "depends on itself": "break the circle, or say that it is meant (`--allow-circle`)",
    "which is not a module": "correct the id, or add that module first",
    "the glob": "write globs that begin at the repository's root and stay inside",
}


# Writing


def with_map(workspace: Workspace, loaded: Loaded, map_: ImpactMap) -> Placed:
    """Return a permanent task's text with another map: in its section, or over 16 KB in its own file.

    The operations on that file belong into the same plan as the text, before and after it.

    Raises:
        TaskstateError: code "unreadable": there is no section for it.
    """
    stored = _require_section(loaded)
    path, text = workspace.map_file(loaded.state.id), f"{rendered(map_)}\n"
    data = text.encode()
    if len(data) > MAX_BYTES:
        return Placed(
            _placed(loaded, stored, _link(workspace, loaded, path, digest_of_file(data))), _write(workspace, path, data)
        )
    return Placed(_placed(loaded, stored, f"```json\n{text}```"), after=_removal(workspace, path))


def rendered(map_: ImpactMap) -> str:
    """Return a map as JSON in its canonical form: keys in the schema's order, a short entry on one line."""
    return json_text(with_ordered_keys(map_.values, schema_root(SCHEMA)))


def _link(workspace: Workspace, loaded: Loaded, path: Path, sha256: str) -> str:
    target = posixpath.relpath(workspace.relative(path), posixpath.dirname(loaded.relative))
    target = f"<{target}>" if " " in target else target
    return f"The map is in [{path.name}]({target}), sha256:{sha256}"


def _placed(loaded: Loaded, stored: Stored, new: str) -> str:
    """Return the text with its map replaced; as the first one it takes the place of a placeholder, or comes last."""
    document, place = loaded.document, stored.place
    new, nl = with_newlines(new, document.newline), document.newline
    if stored.text is not None or stored.sha256 is not None:
        return apply(document.text, [Edit(*place, new)])
    from taskstate.model.permanent import content_of

    standing = content_of(loaded.state, IMPACT_MAP).strip()
    parts = [nl, *((standing, nl, nl) if standing else ()), new, nl]
    between = nl if place.end < len(document.text) else ""
    return apply(document.text, [Edit(*place, "".join(parts) + between)])


def _write(workspace: Workspace, path: Path, data: bytes) -> journal.Plan:
    name = workspace.relative(path)
    if not folders.is_file(path):
        return (journal.Create(name, data),)
    old = workspace.read(path)
    return () if old == data else (journal.Replace(name, files.digest(old), data),)


def _removal(workspace: Workspace, path: Path) -> journal.Plan:
    if not folders.is_file(path):
        return ()
    return (journal.Delete(workspace.relative(path), files.digest(workspace.read(path))),)
