"""Reads which commit a repository stands at from its files, without git: a stranger's settings are not even opened.

Each file is opened through no link and only if it is a plain one of a bounded size: a FIFO in the place of HEAD would
be waited for, for ever.
"""

from __future__ import annotations

import os
import re
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from taskstate.errors import TaskstateError
from taskstate.fleet import stores
from taskstate.storage import files, folders
from taskstate.typed import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from taskstate.fleet.sources import Repository, Sources

OK, EMPTY, UNBORN, ERROR, CRASHED = "ok", "empty", "unborn", "error", "crashed"
_MOST_PACKED, _MOST_SMALL = 64 * 1024**2, 64 * 1024
_ID = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")
_AT_ONCE = 8  # of which each may hold all references of a stranger
_MOST_STEPS = 5  # from one reference to another, as for git
_NO_REFERENCE = re.compile(r"(?:\A|/)\.|\.\.|//|[\x00-\x20\x7f~^:?*\[\\]|/\Z|\.lock\Z")


class Head(NamedTuple):
    """Where a repository stands: status, branch, commit, the folder of its objects, or why that is not known.

    In a store the digest of what is listed stands for the commit.
    """

    status: str
    ref: str = ""
    commit: str = ""
    objects: str = ""
    error: str = ""


def read_all(found: Sources) -> list[Head]:
    """Return where each repository stands; several are read at a time, since a disk or a store may be far away."""
    silent = set[str]()
    with ThreadPoolExecutor(_AT_ONCE) as pool:
        return [*pool.map(lambda each: read(each, found.roots, silent), found.repositories)]


def read(repository: Repository, roots: frozenset[str], silent: set[str] | None = None) -> Head:
    """Return where a repository stands; what is wrong is in the answer, since the others go on.

    A store that did not answer in the end is `silent`, and asked only once from then on.
    """
    if repository.error:
        return Head(ERROR, error=repository.error)
    try:
        if stores.is_address(repository.place):
            return _stored(repository.place, set() if silent is None else silent)
        return _read(repository, roots)
    except TaskstateError as error:
        return Head(ERROR, error=str(error))
    except OSError as error:
        return Head(ERROR, error=f"its git folder cannot be read: {error.strerror}")


def _stored(place: str, silent: set[str]) -> Head:
    bucket = "/".join(place.split("/")[:3])
    try:
        entries = stores.listed(place, waits=() if bucket in silent else stores.WAITS)
    except TaskstateError as error:
        silent.update([bucket] if error.code == "timeout" else ())
        raise
    return Head(OK, commit=stores.digest_of(entries), objects=place)


def require_below(path: str, roots: frozenset[str], what: str) -> str:
    """Return where a path really lies.

    Raises:
        TaskstateError: code "path-escapes": that is below none of the sources.
    """
    real = os.path.realpath(path)
    if roots.isdisjoint((real, *map(str, Path(real).parents))):
        message = f"{what} lies outside of the sources: {files.shown(path)}"
        raise TaskstateError(message, help="name a folder above both as the source", code="path-escapes")
    return real


def _read(repository: Repository, roots: frozenset[str]) -> Head:
    own = _git_dir(repository.git_dir, roots)
    shared = own
    if folders.exists(own / "commondir"):
        shared = Path(require_below(os.path.join(own, _line(own / "commondir")), roots, "the git folder"))
    if _is_reftable(shared):
        help_ = "change its form: `git refs migrate --ref-format=files`"
        raise TaskstateError("its references are in a reftable, which is not read", help=help_, code="git")
    objects = require_below(os.path.join(shared, "objects"), roots, "the folder of objects")
    places = (own, shared)
    if repository.ref:
        return Head(OK, repository.ref, _named(places, repository.ref), objects)
    ref, commit = _followed(places, _line(own / "HEAD"))
    if commit:
        return Head(OK, ref.removeprefix("refs/heads/"), commit, objects)
    has_others = b" refs/" in _packed(shared) or any(folder.names for folder in folders.walk(shared / "refs"))
    return Head(UNBORN if has_others else EMPTY, ref.removeprefix("refs/heads/"), "", objects)


def _git_dir(git_dir: str, roots: frozenset[str]) -> Path:
    """Return the git folder of a repository, also of a linked worktree, whose `.git` is a file."""
    if folders.is_folder(git_dir):
        return Path(git_dir)
    line = _line(Path(git_dir))  # refuses a link
    if not line.startswith("gitdir: "):
        raise TaskstateError("its `.git` names no git folder", code="git")
    named = os.path.join(os.path.dirname(git_dir), line.removeprefix("gitdir: "))
    return Path(require_below(named, roots, "the git folder"))


def _line(path: Path) -> str:
    """Return the first line of a small file."""
    return os.fsdecode(files.read(path, _MOST_SMALL).partition(b"\n")[0]).strip().replace("\0", "")


def _is_reftable(shared: Path) -> bool:
    return folders.is_folder(shared / "reftable") or folders.is_file(shared / "refs" / "heads")


def _followed(places: tuple[Path, Path], value: str) -> tuple[str, str]:
    """Return the last reference on the way from a value, and the commit that it leads to; empty where it leads none."""
    ref = ""
    for _ in range(_MOST_STEPS + 1):
        if _ID.fullmatch(value):
            return ref, value
        if not value.startswith("ref: "):
            raise TaskstateError(f"{ref or 'HEAD'} holds neither a commit nor a reference", code="git")
        ref = value.removeprefix("ref: ").strip()
        if not ref.startswith("refs/") or _NO_REFERENCE.search(ref):
            raise TaskstateError(f"HEAD names {files.shown(ref)!r}, which is not a reference", code="git")
        value = _value(places, ref)
        if not value:
            return ref, ""
    raise TaskstateError("HEAD leads from reference to reference, too often", code="git")


def _value(places: tuple[Path, Path], ref: str) -> str:
    for folder in dict.fromkeys(places):
        if folders.is_file(folder / ref) or folders.is_link(folder / ref):
            return _line(folder / ref)
        if folders.exists(folder / ref) and not folders.is_folder(folder / ref):
            files.read(folder / ref, _MOST_SMALL)  # says what it is
    packed = _packed(places[1])
    end = packed.find(b" %s\n" % os.fsencode(ref))
    commit = os.fsdecode(packed[packed.rfind(b"\n", 0, end) + 1 : end]) if end > 0 else ""
    return commit if _ID.fullmatch(commit) else ""


def _packed(shared: Path) -> bytes:
    """Return the packed references, a line each, which are searched as they are: there may be a million of them."""
    path = shared / "packed-refs"
    return files.read(path, _MOST_PACKED) + b"\n" if folders.exists(path) else b""


def _named(places: tuple[Path, Path], ref: str) -> str:
    """Return the commit of a branch, or the one that is named itself.

    Raises:
        TaskstateError: code "no-commit".
    """
    if _ID.fullmatch(ref):
        return ref
    full = ref if ref.startswith("refs/") else f"refs/heads/{ref}"
    commit = "" if _NO_REFERENCE.search(full) else _followed(places, f"ref: {full}")[1]
    if not commit:
        help_ = "name a branch, or a commit in full"
        raise TaskstateError(f"there is no branch {files.shown(ref)!r} in it", help=help_, code="no-commit")
    return commit
