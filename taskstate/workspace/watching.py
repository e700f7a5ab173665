"""Watches the files of repositories for changes on disk: of tasks, of the configuration, of what is checked out.

For servers, of an editor or of a page: many editors do not watch, and none of them looks at git.
"""

from __future__ import annotations

import os
from contextlib import suppress

from taskstate.errors import TaskstateError
from taskstate.model import names
from taskstate.storage import files
from taskstate.storage import folders as disk
from taskstate.storage.git import client as git
from taskstate.typed import TYPE_CHECKING
from taskstate.workspace.config_files import CONFIG_FILES

if TYPE_CHECKING:
    import asyncio
    from collections.abc import AsyncIterator
    from pathlib import Path

    from taskstate.workspace.workspace import Workspace

_GIT_FILES = frozenset({"HEAD", "index", "MERGE_HEAD"})
_POLL = 500  # milliseconds after which the watcher looks whether it is to end, and says that it has begun
_WAIT = 100  # milliseconds for which changes are gathered
_CALM = 20  # milliseconds without a change after which they are told
_OF_GIT = ("logs", "refs/heads", "worktrees")  # a commit writes the log of HEAD, if there is one, and the branch


async def changes(workspaces: tuple[Workspace, ...], stop: asyncio.Event) -> AsyncIterator[frozenset[str]]:
    """Yield the paths of files that changed, and on which findings in some repositories may depend, until `stop`.

    Yields none when watching has begun, soon after it has, and again when other folders are watched.

    Raises:
        OSError: the system limits what can be watched.
    """
    folders = _folders(workspaces)
    try:
        while folders and not stop.is_set():
            async for changed in _changes_in(folders, stop):
                yield frozenset(path for _, path in changed)
                if _folders(workspaces) != folders:  # also those that came before the others were watched
                    break
            folders = _folders(workspaces)
    except BaseExceptionGroup as error:
        # The watcher's group of tasks wraps what comes while it waits. Wrapped, Ctrl-C and SIGTERM would end this task
        # alone, and the server would live on.
        first: BaseException = error
        while isinstance(first, BaseExceptionGroup):
            first = (first.subgroup(KeyboardInterrupt) or first).exceptions[0]
        raise first from None


async def _changes_in(folders: frozenset[str], stop: asyncio.Event) -> AsyncIterator[set[tuple[object, str]]]:
    """Yield what changed in some folders; once nothing, as soon as they are watched."""
    from watchfiles import awatch

    def concerns(_change: object, path: str) -> bool:
        return _is_relevant(path)

    has_begun = False
    async for changed in awatch(
        *folders,
        watch_filter=concerns,
        stop_event=stop,
        recursive=False,
        debounce=_WAIT,
        step=_CALM,
        rust_timeout=_POLL,
        yield_on_timeout=True,
    ):
        if changed or not has_begun:
            yield {*changed}
        has_begun = has_begun or not changed


def _is_relevant(path: str) -> bool:
    """Return whether findings may depend on a file, or on a folder that may hold such files."""
    name = os.path.basename(path)
    return name in _GIT_FILES or name in CONFIG_FILES or names.own_file(path) is not None or "." not in name


def _folders(workspaces: tuple[Workspace, ...]) -> frozenset[str]:
    """Return the folders that exist of those that are watched: with our own files, with the configuration, of git."""
    folders: set[Path] = set()
    for each in workspaces:
        at = git.folders(each.root)
        folders |= {each.root, *(at or ())} | {each / name for each in (at or ())[1:] for name in _OF_GIT}
        with suppress(TaskstateError):  # the check tells what cannot be listed
            folders |= {each.state_root, each.tasks, each.state_root / "archives", each.state_root / "handoffs"}
            folders |= {path.parent for path in each.own_files()}
        with suppress(TaskstateError):  # of a worktree that is being made, too
            folders |= {*files.children(at.common_dir / "worktrees")} if at else set()
    return frozenset(str(folder) for folder in folders if disk.is_folder(folder))
