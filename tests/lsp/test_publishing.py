"""The watching of files, as the server ends it."""

from __future__ import annotations

import asyncio
import io
import json
from contextlib import suppress
from threading import Event, Thread
from typing import TYPE_CHECKING

import pytest

from taskstate.api import request_for
from taskstate.lsp.checking import Surroundings
from taskstate.lsp.server import serve
from taskstate.storage.signals import Ended
from taskstate.workspace import watching
from tests.support.git_place import GitPlace

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

PATIENCE = 30.0  # seconds


class Editor(io.BytesIO):
    """Begins a conversation, and breaks off as soon as the server watches its folder."""

    def __init__(self, root: Path) -> None:
        begin: dict[str, object] = {"processId": None, "rootUri": root.as_uri(), "capabilities": {}}
        messages = ({"id": 1, "method": "initialize", "params": begin}, {"method": "initialized", "params": {}})
        bodies = [json.dumps({"jsonrpc": "2.0", **each}).encode() for each in messages]
        super().__init__(b"".join(b"Content-Length: %d\r\n\r\n%s" % (len(body), body) for body in bodies))
        self.is_watched = Event()

    def readline(self, size: int | None = -1, /) -> bytes:
        """Return a line; the end comes only after watching has begun."""
        line = super().readline(size)
        assert line or self.is_watched.wait(PATIENCE)
        return line


def test_a_watcher_that_loses_its_cancellation_ends(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The server ends with its editor, also if a change on disk comes in the instant in which watching is cancelled."""
    editor = Editor(GitPlace(tmp_path / "here").root)

    async def deaf(_workspaces: object, stop: asyncio.Event) -> AsyncIterator[None]:
        editor.is_watched.set()
        with suppress(asyncio.CancelledError):  # as `watchfiles` does when it has just seen a change
            await stop.wait()
        yield
        await stop.wait()

    monkeypatch.setattr(watching, "changes", deaf)
    surroundings = Surroundings(lambda: "2026-01-31T12:00:00Z", lambda workspace: request_for(workspace, ""))
    server = Thread(target=serve, args=(surroundings, editor, io.BytesIO()), daemon=True)
    server.start()
    server.join(PATIENCE)
    assert not server.is_alive()


def test_a_signal_that_comes_while_the_watcher_waits_ends_the_server(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The watcher's group of tasks wraps what comes; wrapped, it would end the watching alone."""

    def signalled(*_folders: str, **_options: object) -> AsyncIterator[None]:
        message = "unhandled errors in a TaskGroup"
        raise BaseExceptionGroup(message, [OSError("lost"), BaseExceptionGroup(message, [Ended(15)])])

    async def watched() -> None:
        await anext(watching.changes((place.workspace,), asyncio.Event()))

    place = GitPlace(tmp_path / "here")
    monkeypatch.setattr("watchfiles.awatch", signalled)
    with pytest.raises(Ended):
        asyncio.run(watched())


@pytest.mark.parametrize("hidden", [".git/worktrees", ".taskstate"])
def test_what_cannot_be_listed_does_not_end_the_watching(tmp_path: Path, hidden: str) -> None:
    """The folders that can be are watched all the same: a server would not see that it is mended."""

    async def watched() -> frozenset[str]:
        return await anext(watching.changes((place.workspace,), asyncio.Event()))

    place = GitPlace(tmp_path / "here")
    (place.root / "taskstate.toml").write_text("[lint]\n", encoding="utf-8")
    path = place.root / hidden
    if path.exists():
        path.rename(tmp_path / "elsewhere")
    path.symlink_to(tmp_path / "elsewhere")
    assert asyncio.run(watched()) == frozenset()
