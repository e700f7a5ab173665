"""Lists taskstate's own files: all under the state folder, and elsewhere those that git does not ignore.

This is the one hand for listing them. What cannot be listed is not empty: a folder that may not be read, a link (none
is followed) or a file in its place is an error. Whatever else bears the name of an own file, be it a folder, is listed
as one, so that whoever reads it says what it is. A folder that is not there is empty.
"""

from __future__ import annotations

import os
from contextlib import closing
from itertools import chain
from pathlib import Path

from taskstate.model import names
from taskstate.storage import files, folders
from taskstate.storage.git import client as git
from taskstate.typed import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Sequence

    from taskstate.storage.commit_files import ListedFiles

IGNORED_FOLDERS = frozenset({".git", "node_modules", ".venv"})  # where git does not say what is ignored
DERIVED_FOLDERS = frozenset({"artifacts", "private"})  # in the state folder
_FILE_FOLDERS = ("tasks", "archives", "handoffs")  # in the state folder: nothing else may stand in their place


def is_own(name: str) -> bool:
    """Return whether a file name or path is one of taskstate's own."""
    return names.own_file(name) is not None


def is_listed(relative: str, state_folder: str) -> bool:
    """Return whether `own_files` would list a file at a path, both from the root: by its name, and by its folder."""
    inside = relative.removeprefix(f"{state_folder}/")
    folders = inside.split("/")[:-1] if inside != relative else []
    hidden = bool(folders) and (folders[0] in DERIVED_FOLDERS or not IGNORED_FOLDERS.isdisjoint(folders))
    return is_own(relative) and not hidden


def own_files(
    folder: Path,
    state_root: Path,
    is_wanted: Callable[[str], bool] = is_own,
    patterns: Sequence[str] = git.OWN_PATTERNS,
    *,
    deep: bool = True,
) -> list[str]:
    """Return the paths of the files in `folder` for which `is_wanted` is true, in no particular order.

    `is_wanted` gets at least a file's name with that of its folder; `patterns` are pathspecs that match no fewer files.
    Without git all files in the folder are candidates, except those in `IGNORED_FOLDERS`; unless it is searched `deep`,
    only those that lie in it directly.
    """
    walked, elsewhere = _own_files(folder, state_root, is_wanted, patterns, deep=deep)
    return [f"{each.path}{os.sep}{name}" for each in walked for name in each.names] + [path for path, _ in elsewhere()]


def own_files_of(source: ListedFiles, folder: Path, state_root: Path) -> list[str]:
    """Return the paths of our own files in a folder of a commit, in no particular order."""
    listed = (os.path.join(folder, name) for name in source.paths(folder))
    return [path for path in listed if is_listed(path, str(state_root))]


def own_statuses(
    folder: Path, state_root: Path, is_wanted: Callable[[str], bool], patterns: Sequence[str], *, deep: bool = True
) -> Iterator[tuple[str, os.stat_result]]:
    """Yield the paths of `own_files`, here from `folder` on, with the status of what is there: of a link, its own.

    Raises:
        TaskstateError: one may be listed and not be looked at.
    """
    walked, elsewhere = _own_files(folder, state_root, is_wanted, patterns, deep=deep)
    start = len(os.path.join(folder, ""))
    try:
        yield from folders.walked_statuses(walked, start)
        yield from ((path[start:], status) for path, status in elsewhere())
    except OSError as error:
        with files.os_errors("look at", Path(error.filename)):
            raise


def _own_files(
    folder: Path, state_root: Path, is_wanted: Callable[[str], bool], patterns: Sequence[str], *, deep: bool
) -> tuple[Iterator[folders.Walked], Callable[[], Iterable[tuple[str, os.stat_result]]]]:
    """Return the files in the state folder, to be looked at first, and those elsewhere, which git lists meanwhile."""
    if folder.is_relative_to(state_root):
        return _walk_state(folder, state_root, is_wanted), lambda: ()
    holds_state = state_root.is_relative_to(folder)
    without = state_root.relative_to(folder).as_posix() if holds_state else ""
    from_git = git.start_listing(folder, patterns, without)

    def elsewhere() -> Iterable[tuple[str, os.stat_result]]:
        names = from_git()
        if names is None:  # the folder may be the root of the disk: what others own there is not told
            return folders.walked_statuses(_walk(folder, is_wanted, {str(state_root)}, deep=deep))
        return _statuses(os.path.join(folder, name) for name in names if is_wanted(name))

    return _walk_state(state_root, state_root, is_wanted) if holds_state else iter(()), elsewhere


def _statuses(paths: Iterable[str]) -> Iterator[tuple[str, os.stat_result]]:
    """Yield the files that git lists with the status of each; it also lists deleted ones."""
    with closing(folders.Lookout()) as lookout:
        for path in paths:
            try:
                yield path, lookout.status(path)
            except (FileNotFoundError, NotADirectoryError):
                continue
            except OSError as error:
                with files.os_errors("look at", path):
                    raise error from None


def _walk_state(folder: Path, state_root: Path, is_wanted: Callable[[str], bool]) -> Iterator[folders.Walked]:
    """Yield each folder under `folder`, which lies in the state folder, with the wanted files.

    Raises:
        TaskstateError: one cannot be listed, or is a link.
    """
    excluded = {f"{state_root}{os.sep}{name}" for name in DERIVED_FOLDERS}
    # Opened by their names: a link to nowhere or a file in their place would not be taken for a folder.
    own = [f"{state_root}{os.sep}{name}" for name in _FILE_FOLDERS] if folder == state_root else []
    for found in chain.from_iterable(_walk(top, is_wanted, {*excluded, *own}) for top in (str(folder), *own)):
        with files.os_errors("list", found.path):
            if found.error:
                raise found.error
        links = found.links if found.path != str(state_root) else ()  # those beside our folders are not ours
        for path in (f"{found.path}{os.sep}{name}" for name in links):
            if not is_own(path) and folders.is_folder(os.path.realpath(path)):
                files.names(Path(path))  # refuses it
        yield found


def _walk(
    top: Path | str, is_wanted: Callable[[str], bool], excluded: Collection[str], *, deep: bool = True
) -> Iterator[folders.Walked]:
    """Yield each folder under `top` with the wanted files, without the `excluded` ones; no link to one is followed."""
    misplaced: list[str] = []  # folders with names of own files, in the folder that is listed

    def enters(path: str, name: str) -> bool:
        if "." in name and is_own(path):
            misplaced.append(name)
            return False
        return deep and name not in IGNORED_FOLDERS and path not in excluded

    for found in folders.walk(top, enters):
        folder = os.path.basename(found.path)
        yield found._replace(names=[name for name in (*found.names, *misplaced) if is_wanted(f"{folder}/{name}")])
        misplaced.clear()
