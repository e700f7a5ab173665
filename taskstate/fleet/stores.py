"""Reads repositories from an object store through fsspec: each first-level prefix is one, its objects are its files.

Which store an address means, and with which credentials, is the business of the store's own package. An object is read
only if it has the name of an own file, of a configuration or of a declared kind.
"""

from __future__ import annotations

import json
import os
import re
import stat
import time
from functools import partial

from taskstate.errors import TaskstateError
from taskstate.model import names
from taskstate.storage import files, installed
from taskstate.storage.commit_files import ListedFiles
from taskstate.storage.git import client as git
from taskstate.storage.git.contents import Entry
from taskstate.syntax.hashes import sha256
from taskstate.syntax.spans import one_line
from taskstate.typed import TYPE_CHECKING
from taskstate.workspace.config_files import CONFIG_FILES
from taskstate.workspace.workspace import KIND_FOLDER

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from pathlib import Path
    from typing import Any, TypeVar

    from taskstate.error_codes import ErrorCode

    Answer = TypeVar("Answer")

# Those that list what they hold and give each object a tag, with the package that fsspec reads each with.
_PACKAGES = {
    **dict.fromkeys(("s3", "s3a"), "s3fs"),
    **dict.fromkeys(("gs", "gcs"), "gcsfs"),
    **dict.fromkeys(("abfs", "az"), "adlfs"),
}
_ADDRESS = re.compile(r"([A-Za-z][\w+.-]*)://")
_SECRET = re.compile(r"(?<=://)[^/\s]*@|\?\S*")
# Credentials (Azure has the container there), options, a chain of stores; no bucket.
_NO_PLACE = re.compile(r"(?<!\baz)(?<!\babfs)://[^/]*@|://[^/]*:[^/]*@|\?|::|:///*\Z")
WAITS = (1, 4, 16)  # seconds after which is tried again
_AT_ONCE = 500  # objects
_MOST_LISTED = 1_000_000
_MOST_SAID = 300  # characters
_FILE = stat.S_IFREG | 0o644


def is_address(location: str) -> bool:
    """Return whether a source is an address, and no path."""
    return bool(_ADDRESS.match(location))


def is_plain(address: str) -> bool:
    """Return whether an address names a place in a store and nothing else, as fsspec reads it: no option, no chain."""
    return not _NO_PLACE.search(address)


def without_credentials(text: str) -> str:
    """Return an address, or a text with some, as it may be printed: without the names, passwords and options in it."""
    return _SECRET.sub("", text)


def checked(address: str) -> str:
    """Return the address of a store without its final slashes.

    Raises:
        TaskstateError: code "usage": it is none that is read; code "missing-extra": a package is missing.
    """
    from importlib.util import find_spec

    told, protocol = files.shown(without_credentials(address)), address.partition("://")[0]
    if protocol not in _PACKAGES:
        help_ = f"nothing is fetched: mirror it with git, and name the mirror; stores are {', '.join(_PACKAGES)}"
        raise TaskstateError(f"{told} is not a folder", help=help_, code="usage")
    if not is_plain(address):
        help_ = "write it as s3://bucket/prefix/; credentials and options come from the environment"
        raise TaskstateError(f"{told} is not the plain address of a place in a store", help=help_, code="usage")
    if not find_spec("fsspec"):
        help_ = f"run `{installed.adding('fleet')}`"
        raise TaskstateError(f"{told} needs the package fsspec", help=help_, code="missing-extra")
    package = _PACKAGES[protocol]
    if not find_spec(package):
        help_ = f"run `{installed.adding_package(package)}`"
        raise TaskstateError(f"{told} needs the package {package}", help=help_, code="missing-extra")
    return address.rstrip("/")


def prefixes(address: str) -> Iterator[str]:
    """Yield the first-level prefixes at an address.

    Raises:
        TaskstateError: it cannot be listed.
    """
    store, base = _opened(address)
    for each in answer(lambda: store.ls(base, detail=True), address):
        if each["type"] == "directory":
            yield each["name"].removeprefix(f"{base}/")


def listed(address: str, digest: str = "", waits: Sequence[int] = WAITS) -> dict[str, Entry]:
    """Return what is read of the repository at an address, by path; the id of an entry is its tag and size.

    Raises:
        TaskstateError: it cannot be listed, is too large, or is not what the digest was made of.
    """
    store, base = _opened(address)
    found: Mapping[str, Any] = answer(lambda: store.find(base, detail=True), address, waits)
    if len(found) > _MOST_LISTED:
        message = f"{files.shown(address)} holds {len(found)} objects, more than {_MOST_LISTED}"
        raise TaskstateError(message, help="put taskstate's own files alone below a prefix", code="too-many")
    below = ((name.removeprefix(f"{base}/"), about) for name, about in found.items() if name.startswith(f"{base}/"))
    entries = {path: _entry(about, address) for path, about in below if _is_read(path)}
    if digest not in {"", digest_of(entries)}:
        raise _changed(address)
    return entries


def digest_of(entries: Mapping[str, Entry]) -> str:
    """Return the digest of what a listing says: another one where an object has changed, is new, or is gone."""
    return sha256(json.dumps(sorted((path, each.id) for path, each in entries.items())).encode("ascii"))


def opened(root: Path, address: str, entries: Mapping[str, Entry]) -> ListedFiles:
    """Return the files of a repository, all of which are read at once; `root` is an empty folder of git.

    Raises:
        TaskstateError: one cannot be read.
    """
    sizes = {name: each.size for name, each in entries.items() if each.size <= files.MAX_TEXT}
    texts, filled = dict.fromkeys(sizes, b""), [name for name, size in sizes.items() if size]
    for at in range(0, len(filled), _AT_ONCE):
        some = {name: sizes[name] for name in filled[at : at + _AT_ONCE]}
        texts |= zip(some, answer(partial(_read, address, some), address), strict=True)
    return ListedFiles(root, entries, lambda _, path: texts[os.path.relpath(path, root)], git.Objects(root))


def _read(address: str, sizes: Mapping[str, int]) -> list[bytes]:
    """Return the content of objects of these sizes, none of which is 0: no range of an empty one can be asked for."""
    store, base = _opened(address)
    ends = [size + 1 for size in sizes.values()]
    found: list[Any] = store.cat_ranges([f"{base}/{name}" for name in sizes], 0, ends, on_error="return")
    for each, end in zip(found, ends, strict=True):
        if isinstance(each, Exception):
            raise each
        if len(each) + 1 != end:
            raise _changed(address)
    return found


def _is_read(path: str) -> bool:
    """Return whether an object is of use, by its name, which may be any text."""
    *folders, name = path.split("/")
    if not {"", os.curdir, os.pardir}.isdisjoint((*folders, name)):
        return False
    is_kind = folders[-1:] == [KIND_FOLDER] and name.endswith(".json")
    return is_kind or path in CONFIG_FILES or names.own_file(path) is not None


def _entry(about: Mapping[str, Any], address: str) -> Entry:
    tag = about.get("ETag") or about.get("etag")
    if not tag:
        raise TaskstateError(f"{files.shown(address)} gives an object without a tag", code="os-error")
    return Entry(_FILE, f"{tag}-{about['size']}".replace('"', ""), about["size"])


def _changed(address: str) -> TaskstateError:
    return TaskstateError(f"{files.shown(address)} changed while it was read", help="run it again", code="stale")


def _opened(address: str) -> tuple[Any, str]:
    """Return the store of an address, and the path of the address in it."""
    from fsspec.core import url_to_fs

    found: tuple[Any, str] = answer(lambda: url_to_fs(address, use_listings_cache=False), address)
    return found


def answer(ask: Callable[[], Answer], address: str, waits: Sequence[int] = WAITS) -> Answer:
    """Return what a store answers, which may need some tries, so many seconds after each other.

    Raises:
        TaskstateError: code "os-error": it refuses; code "timeout": it does not answer.
    """
    left = [*waits]
    while True:
        try:
            return ask()
        except (MemoryError, TaskstateError):
            raise
        except Exception as error:
            is_refused = isinstance(error, (FileNotFoundError, PermissionError, ImportError))
            if not left or is_refused:
                why = one_line(without_credentials(f"{type(error).__name__}: {error}"))[:_MOST_SAID]
                code: ErrorCode = "os-error" if is_refused else "timeout"
                raise TaskstateError(f"{files.shown(address)} cannot be read: {why}", code=code) from error
        time.sleep(left.pop(0))
