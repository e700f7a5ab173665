"""Measures the MCP server: the tokens that its definitions cost each agent, and its memory over a thousand calls."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import anyio
from mcp import Client
from mcp.client.stdio import StdioServerParameters

from benchmarks.measurement import Measurement, repository
from taskstate.handoff.token_count import count, counter
from taskstate.mcp_server.server import INSTRUCTIONS, tool_definitions

if TYPE_CHECKING:
    from collections.abc import Iterator

_MOST_TOKENS, _CALLS, _WARM, _MOST_GROWTH = 2_000, 1_000, 100, 1.1
_NEW = ("new", "7", "--title=Slugs", "--description=Give the words of a slug.", "--criterion=It works", "--feature=a=b")


def mcp(folder: Path) -> Iterator[Measurement]:
    """Measure the definitions, and the memory of a real server."""
    definitions = [each.model_dump(by_alias=True, exclude_none=True, mode="json") for each in tool_definitions()]
    tokens = count(json.dumps(definitions, separators=(",", ":"))) + count(INSTRUCTIONS)
    what = f"tokens of the definitions of {len(definitions)} MCP tools, with the instructions"
    yield Measurement(f"{what} ({tokens:,})", "one", tokens, _MOST_TOKENS, f"by {counter().name}")
    root = repository(folder)
    subprocess.run([sys.executable, "-m", "taskstate", *_NEW], cwd=root, check=True, stdout=subprocess.DEVNULL)
    before, after = anyio.run(_grow, root)
    note = f"{before:,} KB, then {after:,} KB"
    yield Measurement(
        f"memory of the MCP server after {_CALLS:,} calls", "before them", after / before, _MOST_GROWTH, note
    )


async def _grow(root: Path) -> tuple[int, int]:
    """Return the memory of a server in KB before and after a thousand calls."""
    # The server names its own process, so that the one whose memory counts is known.
    code = "import os; open('pid', 'w').write(str(os.getpid())); from taskstate.__main__ import main; main(['mcp'])"
    server = StdioServerParameters(command=sys.executable, args=["-c", code], cwd=root)
    async with Client(server) as client:
        await _call(client, _WARM)
        status = Path("/proc", (root / "pid").read_text(encoding="utf-8"), "status")
        before = _resident(status)
        await _call(client, _CALLS)
        return before, _resident(status)


async def _call(client: Client, times: int) -> None:
    calls: tuple[tuple[str, dict[str, Any]], ...] = (
        ("brief", {"id": "7"}),
        ("search", {"do": "list"}),
        ("lint", {}),
        ("brief", {"id": "none"}),
    )
    for number in range(times):
        name, fields = calls[number % len(calls)]
        await client.call_tool(name, fields)


def _resident(status: Path) -> int:
    lines = status.read_text(encoding="utf-8").splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmRSS:"))
