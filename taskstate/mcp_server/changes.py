"""Tells clients which resources have changed, whoever changed them: it watches the state folder."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

import anyio
from mcp.server.subscriptions import InMemorySubscriptionBus, ResourcesListChanged, ResourceUpdated
from mcp.shared.exceptions import MCPError

from taskstate.errors import TaskstateError
from taskstate.mcp_server import resources
from taskstate.storage import folders
from taskstate.typed import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable
    from typing import Any

    from mcp.server.session import ServerSession

    from taskstate.workspace.workspace import Workspace

_PAUSE = 5  # seconds until a folder that cannot be watched is looked for again
_MOST_ADDRESSES, _MOST_CHARACTERS = 1_000, 100_000  # that one client subscribes to
_MOST_SESSIONS = 64  # clients of the earlier protocol; the one that was heard longest ago is forgotten first


class Changes:
    """Who wants to hear of changes: the bus for clients of today's protocol, sessions for those of the earlier one."""

    def __init__(self) -> None:
        self.bus = InMemorySubscriptionBus()
        self._sessions: dict[str, tuple[ServerSession, set[str]]] = {}

    def know(self, key: str, session: ServerSession) -> set[str]:
        """Remember a session of the earlier protocol, and return the addresses that it has subscribed to."""
        _, wanted = self._sessions.pop(key, (None, set[str]()))
        self._sessions[key] = (session, wanted)
        while len(self._sessions) > _MOST_SESSIONS:
            del self._sessions[next(iter(self._sessions))]
        return wanted

    async def watch(self, find: Callable[[], Workspace], stop: anyio.Event) -> None:
        """Watch the state folder until cancelled, also one that goes and comes back.

        `stop` is set before: the thread that watches looks at it many times a second, and sees nothing else.
        """
        while True:
            with suppress(TaskstateError, OSError, RuntimeError):  # it cannot be watched now
                await self._watch(await anyio.to_thread.run_sync(find), stop)
            await anyio.sleep(_PAUSE)

    async def _watch(self, workspace: Workspace, stop: anyio.Event) -> None:
        """Watch the state folder until another one is in its place."""
        from watchfiles import awatch

        folder = workspace.state_root
        identity = _identity(folder)
        known = await anyio.to_thread.run_sync(_uris, workspace)
        wait = _PAUSE * 1_000
        async for changed in awatch(folder, stop_event=stop, yield_on_timeout=True, rust_timeout=wait):
            if _identity(folder) != identity:
                return
            paths = {Path(path) for _, path in changed}
            updated = await anyio.to_thread.run_sync(_updated, workspace, paths)
            now = await anyio.to_thread.run_sync(_uris, workspace) if updated else known
            await self._tell(updated, list_changed=now != known)
            known = now

    async def _tell(self, updated: Iterable[str], *, list_changed: bool) -> None:
        for uri in updated:
            await self.bus.publish(ResourceUpdated(uri=uri))
        if list_changed:
            await self.bus.publish(ResourcesListChanged())
        for key, (session, wanted) in [*self._sessions.items()]:
            try:
                for uri in wanted.intersection(updated):
                    await session.send_resource_updated(uri)
                if list_changed:
                    await session.send_resource_list_changed()
            except (anyio.ClosedResourceError, anyio.BrokenResourceError, MCPError):
                self._sessions.pop(key, None)  # the client has gone


def require_few(addresses: Collection[str]) -> None:
    """Refuse what a client wants to subscribe to if it is more than one client needs: all of it is kept.

    Raises:
        TaskstateError: code "too-many".
    """
    if len(addresses) > _MOST_ADDRESSES or sum(map(len, addresses)) > _MOST_CHARACTERS:
        message = (
            f"a client subscribes to at most {_MOST_ADDRESSES} addresses, of {_MOST_CHARACTERS} characters together"
        )
        raise TaskstateError(message, help="unsubscribe from others first", code="too-many")


def _identity(folder: Path) -> tuple[int, int]:
    found = folders.status(folder)
    return found.st_dev, found.st_ino


def _uris(workspace: Workspace) -> frozenset[str]:
    return frozenset(each.uri for each in resources.resources(workspace))


def _updated(workspace: Workspace, paths: Iterable[Path]) -> tuple[str, ...]:
    """Return the addresses of the resources that changed files hold; a state file's sections are among them."""
    uris: list[str] = []
    for path in paths:
        with suppress(TaskstateError, OSError):  # it may be gone by now
            uri = resources.uri_of(workspace, path)
            if uri:
                uris.append(uri)
            if uri and path.name.endswith("-state.md"):
                uris += resources.section_uris(workspace, path)
    return tuple(uris)


def session_key(request: Any) -> str:  # noqa: ANN401 - the HTTP request, or None on standard input
    """Return what tells one client of the earlier protocol from another; there is one on standard input."""
    headers = getattr(request, "headers", None)
    return headers.get("mcp-session-id", "") if headers is not None else ""
