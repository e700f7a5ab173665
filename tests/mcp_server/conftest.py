"""A repository with task 101, and the server in it: in this process, or as a real one."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import pytest
from mcp import Client, StdioServerParameters

from taskstate.mcp_server.arguments import Place as Root
from taskstate.mcp_server.server import make_server
from tests.support.place import Place

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterator, Sequence
    from pathlib import Path

    from mcp_types import CallToolResult

MODES = ("auto", "legacy")  # the protocol of today, and the one before it
TOKEN = "a-token-for-tests-only"  # noqa: S105 - of a server that ends with its test


def texts(contents: Sequence[object]) -> str:
    """Return the text of what a result, a resource or a prompt holds."""
    return "".join(str(getattr(each, "text", "")) for each in contents)


class Agent:
    """Talks to the server of a repository with the official SDK's client."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.said = ""  # on standard error, by the server over HTTP after its address

    def talk(self, say: Callable[[Client], Awaitable[Any]], *, server: object = None, mode: str = "auto") -> Any:  # noqa: ANN401 - what `say` returns
        """Connect, and return what `say` returns; without a server it is made in this process."""

        async def main() -> Any:  # noqa: ANN401 - the same
            where: Any = make_server(Root(self.root)) if server is None else server
            async with Client(where, mode=mode, read_timeout_seconds=60) as client:
                return await say(client)

        return asyncio.run(main())

    def call(self, tool: str, **fields: Any) -> CallToolResult:  # noqa: ANN401 - the fields of a tool
        """Return the result of one call."""

        async def say(client: Client) -> CallToolResult:
            return await client.call_tool(tool, fields)

        result: CallToolResult = self.talk(say)
        return result

    def answer(self, tool: str, **fields: Any) -> str:  # noqa: ANN401 - the same
        """Return the text of a call that is not refused: all that a model sees of it, in each client."""
        result = self.call(tool, **fields)
        assert not result.is_error, result
        assert result.structured_content is None
        return texts(result.content)

    def refusal(self, tool: str, **fields: Any) -> Any:  # noqa: ANN401 - the same
        """Return code, message and cure of a call that is refused."""
        result = self.call(tool, **fields)
        assert result.is_error, result
        assert set(result.structured_content) == {"code", "message", "cure"}
        assert texts(result.content).startswith(f"{result.structured_content['code']}: ")
        return result.structured_content

    @property
    def process(self) -> StdioServerParameters:
        """The command that serves the repository on standard input and output."""
        return StdioServerParameters(
            command=sys.executable, args=["-m", "taskstate", "mcp"], cwd=self.root, env={**os.environ}
        )

    @contextmanager
    def http(self) -> Iterator[str]:
        """Serve the repository over HTTP as long as the block runs; yields the address."""
        server = subprocess.Popen(
            [sys.executable, "-m", "taskstate", "mcp", "--http"],
            cwd=self.root,
            env=os.environ | {"TASKSTATE_MCP_TOKEN": TOKEN},
            stderr=subprocess.PIPE,
            encoding="utf-8",
        )
        assert server.stderr
        try:
            line = server.stderr.readline()
            assert line.startswith("listening on "), line
            yield line.removeprefix("listening on ").strip()
        finally:
            server.terminate()
            _, self.said = server.communicate(timeout=30)


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Place:
    """Return a repository with task 101, without git."""
    monkeypatch.setenv("TASKSTATE_ACTOR", "somebody")
    return Place(tmp_path / "repository")


@pytest.fixture
def agent(place: Place) -> Agent:
    """Return an agent in that repository."""
    return Agent(place.root)
