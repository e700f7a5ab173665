"""The page about the MCP server: its commands run, and its tables are those of the server."""

from __future__ import annotations

import json
import os
import re
import shlex
import socket
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING

import anyio
import httpx2
import pytest
from mcp import Client, StdioServerParameters
from mcp.client.streamable_http import streamable_http_client

from taskstate.mcp_server.tools import TOOLS
from tests.mcp_server.conftest import MODES, texts

if TYPE_CHECKING:
    from tests.mcp_server.conftest import Agent
    from tests.support.place import Place

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "mcp.md").read_text(encoding="utf-8")
COMMANDS = re.findall(r"^\$ (.*)$", PAGE, re.MULTILINE)
INSTALL, STDIO, HTTP = COMMANDS
_SHORT = "TASKSTATE_MCP_TOKEN=short"


@pytest.fixture(autouse=True)
def _path(monkeypatch: pytest.MonkeyPatch) -> None:
    """Find the command `taskstate` as the page calls it."""
    monkeypatch.setenv("PATH", f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}")


def rows(heading: str) -> list[list[str]]:
    """Return the cells of the first table below a heading."""
    table = re.search(r"(?:^\|.*\n)+", PAGE[PAGE.index(f"\n## {heading}\n") :], re.MULTILINE)
    assert table
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in table[0].splitlines()[2:]]


def test_the_extra_that_is_installed_exists() -> None:
    """What the page installs is an extra of the package, with the official SDK in it."""
    extra = re.match(r"pip install '\.\[(\w+)\]' +#", INSTALL)
    assert extra
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["optional-dependencies"]
    assert [each.startswith("mcp>=") for each in extras[extra[1]]] == [True]


@pytest.mark.parametrize("mode", MODES)
def test_the_command_and_the_configuration_serve_this_repository(agent: Agent, place: Place, mode: str) -> None:
    """The entry for a client starts the command of the page, and what it writes is recorded under the entry's name."""
    fence = re.search(r"^```json\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)
    assert fence
    entry = json.loads(fence[1])["mcpServers"]["taskstate"]
    assert [entry["command"], *entry["args"]] == shlex.split(STDIO)
    process = StdioServerParameters(**{**entry, "env": os.environ | entry["env"]}, cwd=agent.root)

    async def say(client: Client) -> None:
        words = {"do": "add", "id": "101", "did": ["Wrote it."], "state": "x", "next": ["y"]}
        assert not (await client.call_tool("session", words)).is_error

    agent.talk(say, server=process, mode=mode)
    assert f"updated_by: {entry['env']['TASKSTATE_ACTOR']}" in place.text


def test_the_table_of_tools_is_that_of_the_server() -> None:
    """Each tool with what its `do` may be, in the order of the server."""
    told = {cells[0].strip("`"): re.findall(r"`(\w+)`", cells[1]) for cells in rows("The tools")}
    assert told == {tool.name: [word for word in tool.operations if word] for tool in TOOLS}
    for cells in rows("The tools"):
        tool = next(tool for tool in TOOLS if tool.name == cells[0].strip("`"))
        assert {*re.findall(r"`(\w+)`", cells[2])} == {each.name.split()[0] for each in tool.operations.values()}


def test_resources_and_prompts_of_the_page_are_there(agent: Agent, place: Place) -> None:
    """Each address of the page can be read, and the prompts are those that it names."""
    place.fill(1, 2, 3)
    place.archive()
    handoff = place.workspace.state_root / "handoffs/task-101/phase-1-handoff-20260131T120000Z.md"
    handoff.parent.mkdir(parents=True)
    handoff.write_text("# Handoff\n", encoding="utf-8")
    named = {"NAME": "progress%20log", "FILE": handoff.name}
    addresses = [
        re.sub("NAME|FILE", lambda m: named[m[0]], cells[0].strip("`")) for cells in rows("Resources and prompts")
    ]
    sentence = re.search(r"^The prompts are (.*?);", PAGE, re.MULTILINE | re.DOTALL)
    assert sentence

    async def say(client: Client) -> None:
        for address in addresses:
            assert texts((await client.read_resource(address)).contents), address
        assert texts((await client.read_resource(f"{addresses[0]}?page=1")).contents) == place.text
        prompts = (await client.list_prompts()).prompts
        assert {each.name for each in prompts} == {*re.findall(r"`(\w+)`", sentence[1])}
        assert {argument.name for each in prompts for argument in each.arguments or ()} >= {"id"}

    agent.talk(say)
    assert len(addresses) == 4


def test_over_http_it_prints_what_the_page_shows(agent: Agent) -> None:
    """The command of the page (at a free port) says address and token; with that token a client works."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = str(free.getsockname()[1])
    fence = re.search(rf"^\$ {re.escape(HTTP)}\n(.*)\n(.*)\n```", PAGE, re.MULTILINE)
    assert fence
    command = [sys.executable, "-m", *shlex.split(HTTP.replace("8731", port))]
    environment = {key: value for key, value in os.environ.items() if key != "TASKSTATE_MCP_TOKEN"}
    server = subprocess.Popen(command, cwd=agent.root, env=environment, stderr=subprocess.PIPE, encoding="utf-8")
    assert server.stderr
    try:
        address, token = (server.stderr.readline().strip() for _ in range(2))
        assert address == fence[1].replace("8731", port)
        assert token.startswith(fence[2].removesuffix("…"))
        headers = {"Authorization": f"Bearer {token.removeprefix('token: ')}"}

        async def say() -> int:
            url = address.removeprefix("listening on ")
            async with (
                httpx2.AsyncClient(headers=headers, timeout=60) as own,
                Client(streamable_http_client(url, http_client=own)) as client,
            ):
                return len((await client.list_tools()).tools)

        assert anyio.run(say) == len(TOOLS)
    finally:
        server.terminate()
        server.communicate(timeout=30)


def test_a_token_that_is_too_short_is_refused(agent: Agent) -> None:
    """As the page says, the environment's token has 16 characters or more."""
    environment = os.environ | dict([_SHORT.split("=")])
    done = subprocess.run(
        shlex.split(HTTP), cwd=agent.root, env=environment, capture_output=True, text=True, check=False, timeout=60
    )
    assert (done.returncode, done.stdout) == (2, "")
    assert "TASKSTATE_MCP_TOKEN" in done.stderr
    assert "16" in done.stderr
