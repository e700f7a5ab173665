"""Finds the repositories that arguments name: working trees, bare ones, folders above such, prefixes of a store.

Nothing of a repository is read here but the names in its folders. A link is not followed below what somebody named.
"""

from __future__ import annotations

import os
import re
from pathlib import Path

from taskstate.errors import TaskstateError
from taskstate.fleet import stores
from taskstate.messages import decoded
from taskstate.storage import files, folders
from taskstate.typed import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

_MOST_DEPTH = 4
_MOST_LIST = 64 * 1024**2  # bytes of a file that lists sources
_IN_BARE = {"HEAD", "objects", "refs"}
_NAME = re.compile(r"[^\x00-\x1f\x7f]{1,500}")


class Repository(NamedTuple):
    """A repository: its name in all tables, its folder, its git folder, and the branch or commit in place of HEAD.

    `error` says why there is none to read.
    """

    name: str
    place: str
    git_dir: str
    ref: str = ""
    error: str = ""


class Sources(NamedTuple):
    """What was found: the repositories by name, and the folders that git may read objects below."""

    repositories: tuple[Repository, ...]
    roots: frozenset[str]


class _Source(NamedTuple):
    location: str
    name: str = ""
    ref: str = ""


def find(given: Sequence[str], folder: Path) -> Sources:
    """Return the repositories that arguments name, seen from a folder; `@FILE` is a file that lists more.

    Raises:
        TaskstateError: code "usage": a source is none that is read here, or two repositories have the same name.
    """
    sources = [each for text in given for each in _listed(text, folder)]
    if not sources:
        raise TaskstateError("the list of sources is empty", help="name a folder in it", code="usage")
    found = [(each, [*_found(each)], _base(each)) for each in sources]
    bases = dict.fromkeys(base for _, _, base in found if not stores.is_address(base))
    common = os.path.commonpath(bases) if bases else ""
    repositories: dict[str, Repository] = {}
    for source, listed, _ in found:
        for each in listed:
            named = each._replace(name=_name(source, each, common), ref=source.ref)
            _require_new(named, repositories)
            repositories[named.name] = named
    return Sources(tuple(repositories[name] for name in sorted(repositories)), frozenset(bases))


def _listed(text: str, folder: Path) -> Iterator[_Source]:
    """Yield the source that an argument is, or those of the file that it names."""
    if not text.startswith("@"):
        yield _source(text, folder)
        return
    path = Path(os.path.realpath(folder / text[1:]))
    text = decoded(files.read(path, _MOST_LIST), files.shown(path)).removeprefix("\ufeff")
    for line in re.split(r"\r?\n", text):
        if line.strip() and not line.startswith("#"):
            name, tab, rest = line.partition("\t")
            location, _, ref = rest.partition("\t")
            named = _source(location if tab else line.strip(), path.parent)
            yield named._replace(name=stores.without_credentials(name), ref=ref.strip()) if tab else named


def _source(location: str, folder: Path) -> _Source:
    if not location or "\0" in location:
        raise TaskstateError("a source is empty, or holds a NUL", help="name a folder", code="usage")
    if stores.is_address(location):
        return _Source(stores.checked(location))
    return _Source(os.path.realpath(folder / location))


def _base(source: _Source) -> str:
    """Return the folder that names of a source count from, below which its objects may lie."""
    if stores.is_address(source.location):
        return source.location
    is_above = not _kind(source.location) and folders.is_folder(source.location)
    return source.location if is_above else os.path.dirname(source.location)


def _name(source: _Source, found: Repository, common: str) -> str:
    below = os.path.relpath(found.place, source.location)
    if stores.is_address(source.location):
        below = found.place.removeprefix(source.location)
        name = f"{source.name}{below}".strip("/") or source.location
    elif not source.name:
        name = os.path.relpath(found.place, common)
    else:
        name = source.name if below == os.curdir else f"{source.name}/{below}"
    if not _NAME.fullmatch(name):
        name = "".join(char if char.isprintable() else "\ufffd" for char in name)[:500]
    return name.encode("utf-8", "replace").decode("utf-8")  # what is no Unicode in the name of a folder


def _require_new(named: Repository, others: dict[str, Repository]) -> None:
    other = others.get(named.name)
    if other:
        places = f"{files.shown(other.place)} and {files.shown(named.place)}"
        help_ = "give each a name of its own: `@FILE` with a line NAME<TAB>LOCATION for each"
        raise TaskstateError(f"two repositories are called {named.name!r}: {places}", help=help_, code="usage")


def _kind(folder: str) -> str:
    """Return ".git" for a working tree, "bare" for a bare repository, else an empty text."""
    try:
        names = {*folders.names(folder)}
    except OSError:
        return ""
    return ".git" if ".git" in names else "bare" if names >= _IN_BARE else ""


def _found(source: _Source) -> Iterator[Repository]:
    """Yield the repositories of a source; one with an error where it has none."""
    is_address = stores.is_address(source.location)
    found = [*(_prefixes(source) if is_address else _below(source.location, _MOST_DEPTH))]
    if not found:
        is_there = is_address or folders.exists(source.location)
        why = "there is no repository in it" if is_there else "it does not exist"
        found.append(Repository("", source.location, "", error=why))
    yield from found


def _prefixes(source: _Source) -> Iterator[Repository]:
    try:
        for name in stores.prefixes(source.location):
            place = f"{source.location}/{name}"
            wrong = "" if name.strip(".") and stores.is_plain(place) else "its name is not that of a folder"
            why = "a store has no branches: leave out the branch" if source.ref else wrong
            yield Repository("", place, "", error=why)
    except TaskstateError as error:
        yield Repository("", source.location, "", error=str(error))


def _below(folder: str, depth: int) -> Iterator[Repository]:
    kind = _kind(folder)
    if kind:
        yield Repository("", folder, os.path.join(folder, ".git") if kind == ".git" else folder)
        return
    try:
        below = _folders_in(folder)
    except FileNotFoundError:
        return
    except OSError as error:
        yield Repository("", folder, "", error=f"it cannot be listed: {error.strerror}")
        return
    if depth:
        for each in below:
            yield from _below(each, depth - 1)


def _folders_in(folder: str) -> Iterable[str]:
    return [os.path.join(folder, name) for name, is_folder in sorted(folders.entries(folder)) if is_folder]
