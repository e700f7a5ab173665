"""Tells open pages which tasks have changed: one watcher for all of them, and a stream of events for each.

What changed is said by its id and nothing else; a page then reads its own address again.
"""

from __future__ import annotations

import asyncio
import os
from contextlib import suppress
from threading import Lock

from taskstate.errors import TaskstateError
from taskstate.model import names
from taskstate.page.reading import Reading
from taskstate.storage.git import client as git
from taskstate.typed import TYPE_CHECKING, NamedTuple
from taskstate.views.repository import trees_of
from taskstate.workspace import watching
from taskstate.workspace.config_files import CONFIG_FILES

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterable

    from taskstate.page.reading import Site
    from taskstate.views.needs import Need
    from taskstate.workspace.workspace import Workspace

MOST = 20  # streams: the other connections are for what else is asked
_BEAT = 15  # seconds after which a stream says something, so that one that is gone is found
LOOK = 30  # seconds after which the working tree is looked at: nothing watches it
_PAUSE = 5  # seconds until what cannot be watched is tried again
_BEAT_EVENT = b"event: beat\ndata:\n\n"  # the tabs of a browser share a stream, and tell by it that it lives
_FIRST = b"retry: 1000\n\n"  # milliseconds after which a browser connects again


class Changes:
    """What has changed, for each page that listens."""

    def __init__(self, site: Site, look: float = LOOK) -> None:
        self.reading = Lock()  # one document is made at a time: a second would wait for the first anyway
        self.site, self._look_after = site, look
        self._shown = set[Seen]()  # what pages were made of since the last look
        self._listening: dict[asyncio.Event, set[str]] = {}
        self._tasks: list[asyncio.Task[None]] = []
        self._stop = asyncio.Event()
        self._is_blind = self._is_watching = False

    @property
    def is_open(self) -> bool:
        """Whether one page more may listen: there are not too many, and the files can be watched."""
        return len(self._listening) < MOST and not self._is_blind and not self._stop.is_set()

    async def stream(self) -> AsyncIterator[bytes]:
        """Yield the events of one page, until it or the server ends; the first, without a task, once it is live."""
        if not self._tasks:
            self._tasks = [asyncio.create_task(self._watch()), asyncio.create_task(self._look())]
        told, changed = asyncio.Event(), set[str]()
        self._listening[told] = changed
        if self._is_watching:
            told.set()
        try:
            yield _FIRST
            while not self._stop.is_set() and not self._is_blind:
                with suppress(TimeoutError):
                    await asyncio.wait_for(told.wait(), _BEAT)
                beat = _BEAT_EVENT if self._is_watching else b":\n\n"
                yield f"event: changed\ndata: {' '.join(sorted(changed))}\n\n".encode() if told.is_set() else beat
                told.clear()
                changed.clear()
        finally:
            del self._listening[told]

    def end(self) -> None:
        """End all streams, and the watching."""
        self._stop.set()
        for each in self._tasks:
            each.cancel()
        for told in self._listening:
            told.set()

    def _tell(self, ids: Iterable[str]) -> None:
        for told, changed in self._listening.items():
            changed.update(ids)
            told.set()

    async def _watch(self) -> None:
        """Watch the files of all worktrees; where that fails, the streams end, so that pages say so and try again."""
        while not self._stop.is_set():
            try:
                await self._watch_worktrees()
            except (TaskstateError, OSError, RuntimeError):  # the state folder is gone, or the system has limits
                self._is_blind, self._is_watching = True, False
                self._tell(())
                await asyncio.sleep(_PAUSE)
                self._is_blind = False

    async def _watch_worktrees(self) -> None:
        """Watch until there may be other worktrees."""
        workspaces = await asyncio.to_thread(self._workspaces)
        known = {str(at.git_dir) for at in (git.folders(each.root) for each in workspaces) if at}
        async for paths in watching.changes(workspaces, self._stop):
            self._is_watching = True
            self._tell(filter(None, map(task_of, paths)))
            if any(_moves_worktrees(each, known) for each in paths):
                break
        self._is_watching = False

    def _workspaces(self) -> tuple[Workspace, ...]:
        return tuple(each.workspace for each in trees_of(self.site.call().workspace)[0])

    async def _look(self) -> None:
        """Look at the working tree now and then, while a page is open: drift shows in no file of ours."""
        while not self._stop.is_set():
            await asyncio.sleep(self._look_after)
            changed = await asyncio.to_thread(self._differing) if self._listening else None
            if changed is not None:
                self._tell(changed)

    def has_read(self, reading: Reading) -> None:
        """Remember what a page was made of, so that it is told when that changes."""
        if self._listening:
            self._shown.add(_seen(reading))

    def _differing(self) -> set[str] | None:
        """Return the tasks of which something is not as pages show it; None where all is as each of them has it.

        They were made at different times, and a change that is taken back differs from those between.
        """
        try:
            with self.reading:
                now = _seen(Reading(self.site))
                before, self._shown = self._shown - {now}, {now}
        except (TaskstateError, OSError):  # pages say so, when they read it
            return None
        return {need.task for each in before for need in set(each.needs) ^ set(now.needs)} if before else None


class Seen(NamedTuple):
    """What a page shows that changes without a file of ours: the working trees, and what needs a person."""

    trees: tuple[str, ...]
    needs: tuple[Need, ...]


def _seen(reading: Reading) -> Seen:
    return Seen(tuple(each.known_tree for each in reading.repository.trees), tuple(reading.needs))


def task_of(path: str) -> str:
    """Return the id of the task whose file this is, as well as it tells."""
    own = names.own_file(path)
    return own.id if own and own.id and names.is_id(own.id) else ""  # a name of a file may hold anything


def _moves_worktrees(path: str, known: set[str]) -> bool:
    """Return whether other worktrees, or other folders in them, may have to be watched after this change.

    Git makes a worktree's own folder at first, and writes its index there when its files stand. Those of worktrees that
    are watched are `known`.
    """
    folder, name = os.path.split(path)
    above, folder_name = os.path.split(folder)
    is_half_made = os.path.basename(above) == "worktrees" and folder not in known
    return name in CONFIG_FILES or folder_name == "worktrees" or is_half_made
