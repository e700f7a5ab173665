from __future__ import annotations

import gc
import re
import subprocess
import sys
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from taskstate.errors import TaskstateError
from taskstate.mcp_server import call
from taskstate.mcp_server.arguments import Place as Root
from taskstate.mcp_server.arguments import read_call
from taskstate.mcp_server.results import result_of
from taskstate.mcp_server.tools import TOOLS
from tests.mcp_server.conftest import MODES, texts
from tests.support.place import tree

if TYPE_CHECKING:
    from mcp import Client

    from tests.conftest import RunCli
    from tests.mcp_server.conftest import Agent
    from tests.support.place import Place

_WORDS = {"did": ["Wrote it."], "state": "Half-way.", "next": ["Go on."]}


@pytest.mark.parametrize("mode", MODES)
def test_a_turn_over_standard_input_and_output(agent: Agent, place: Place, mode: str) -> None:
    """The real server, driven by the official client: a turn begins, records its session and ends."""

    async def say(client: Client) -> None:
        started = await client.call_tool("start", {"id": "101"})
        assert "Task 101" in texts(started.content)
        finished = await client.call_tool("finish", {"id": "101", **_WORDS})
        assert "session 1 recorded" in texts(finished.content)
        assert not (await client.call_tool("search", {"do": "next"})).is_error
        assert (await client.call_tool("brief", {"id": 7.0})).is_error
        assert not (await client.call_tool("brief", {"id": "101"})).is_error

    agent.talk(say, server=agent.process, mode=mode)
    assert "Wrote it." in place.text
    assert place.state.sessions[0].number == 1


def test_calls_at_the_same_time_do_not_lose_anything(agent: Agent, place: Place) -> None:
    """Calls of one client are carried out one after the other, whatever their order."""
    import anyio

    async def say(client: Client) -> None:
        async with anyio.create_task_group() as group:
            for number in range(8):
                words = {"do": "add", "id": "101", "did": [f"part {number}"], "state": "x", "next": ["y"]}
                group.start_soon(client.call_tool, "session", words)

    agent.talk(say, server=agent.process)
    assert [each.number for each in place.state.sessions] == [*range(1, 9)]


def test_long_answers_come_in_pages(agent: Agent, place: Place) -> None:
    """An answer has at most one page of readable text, which names the next, and the pages together hold all of it."""
    place.add("w" * 70, *(f"line {number} " + "x" * 80 for number in range(400)))
    section = place.text.partition("## 4. Progress Log")[2].partition("## 5.")[0]
    pages, more = [], "; page 1 is the next"
    while "next" in more:
        page = re.findall("page ([0-9]+) is the next", more)[0]
        text = agent.answer("search", do="show", id="101", section="Progress Log", page=page)
        shown, _, more = text.rpartition("\n\n(page ")
        assert len(shown) <= 12_000
        pages.append(shown)
    assert more == f"{len(pages)} of {len(pages)})"
    assert len(pages) > 2
    assert "\n".join(pages).partition("Progress Log")[2].split() == section.split()


def test_what_is_found_and_what_cannot_be_asked_again_is_told_as_a_whole() -> None:
    """The exit status is told where something was found; an answer that has no other pages is not cut into them."""
    said = call.Answer("x" * 30_000, ("note",), 1)
    text = texts(result_of(said, 0).content)
    assert text == f"{said.text}\n\nnote\n\n(exit status 1: something was found)"
    assert texts(result_of(said, 1).content).endswith("(page 1 of 3; page 2 is the next)")


@pytest.mark.slow
def test_hundreds_of_calls_leave_nothing_behind(place: Place) -> None:
    """Neither objects nor open files grow with the number of calls, refused ones included."""
    tools = {tool.name: tool for tool in TOOLS}
    asked: tuple[tuple[str, dict[str, Any]], ...] = (
        ("brief", {"id": "101"}),
        ("search", {"do": "list"}),
        ("lint", {}),
        ("session", {"do": "list", "id": "9"}),
    )

    def calls(times: int) -> tuple[int, int]:
        for number in range(times):
            name, fields = asked[number % len(asked)]
            with suppress(TaskstateError):
                call.run(read_call(tools[name], fields), Root(place.root))
        gc.collect()
        return len(gc.get_objects()), len([*Path("/dev/fd").iterdir()])

    calls(40)  # what is loaded and remembered once
    before, files = calls(20)
    after, files_after = calls(300)
    assert after < before * 1.01
    assert files_after <= files


def test_without_the_extra_it_says_what_to_install(place: Place) -> None:
    """One line with the cure and exit status 2, where the SDK is missing."""
    code = "import sys; sys.modules['mcp'] = None; from taskstate.__main__ import main; sys.exit(main(['mcp']))"
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=place.root,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        encoding="utf-8",
        check=False,
    )
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1)
    assert "pip install 'taskstate[mcp]'" in done.stderr


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--port", "8080"), "give --http"),
        (("--http", "--port", "70000"), "0 to 65535"),
        (("--http", "--port=-1"), "0 to 65535"),
    ],
)
def test_wrong_flags_are_refused(run_cli: RunCli, place: Place, arguments: tuple[str, ...], words: str) -> None:
    """One line, exit status 2, and nothing is served."""
    done = run_cli("mcp", *arguments, cwd=place.root)
    assert (done.returncode, done.stdout) == (2, "")
    assert words in done.stderr


def test_a_short_token_and_a_taken_port_are_refused(agent: Agent, place: Place, run_cli: RunCli) -> None:
    """The server does not start with a token that can be guessed, nor where another program listens."""
    done = run_cli("mcp", "--http", cwd=place.root, env={"TASKSTATE_MCP_TOKEN": "short"})
    assert (done.returncode, "fewer than 16 characters" in done.stderr) == (2, True)
    with agent.http() as url:
        port = url.split(":")[2].removesuffix("/mcp")
        done = run_cli("mcp", "--http", "--port", port, cwd=place.root)
    assert (done.returncode, "name another one with --port" in done.stderr) == (2, True)


def test_a_folder_that_is_not_set_up_is_not_served(run_cli: RunCli) -> None:
    """The server starts only in a repository that was set up."""
    done = run_cli("mcp")
    assert (done.returncode, "taskstate init" in done.stderr) == (2, True)


def test_input_that_is_no_message_does_not_end_the_server(agent: Agent, place: Place) -> None:
    """Broken JSON, an unknown method and a binary line are answered or passed over; then a call still works."""
    hello = (
        '{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},'
        '"clientInfo":{"name":"x","version":"1"}}}\n{"jsonrpc":"2.0","method":"notifications/initialized"}\n'
    )
    broken = '{"jsonrpc"\n\x00\x01\n[]\n{"jsonrpc":"2.0","id":2,"method":"nothing/here"}\n{"jsonrpc":"2.0","id":3}\n'
    ask = (
        '{"jsonrpc":"2.0","id":9,"method":"tools/call","params":{"name":"brief","arguments":{"id":"101"}}}\n'
        '{"jsonrpc":"2.0","id":10,"method":"tools/call","params":{"name":"brief","arguments":[1]}}\n'
    )
    before = tree(place.root)
    server = subprocess.Popen(
        [sys.executable, "-m", "taskstate", "mcp"],
        cwd=agent.root,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        encoding="utf-8",
    )
    assert server.stdin
    assert server.stdout
    server.stdin.write(hello + broken + ask)
    server.stdin.flush()
    answers: list[str] = []
    while len(answers) < 3 or not any('"id":9' in each for each in answers):
        line = server.stdout.readline()
        assert line, answers
        answers.append(line)
    server.stdin.close()
    assert server.wait(timeout=30) == 0
    server.stdout.close()
    assert any('"id":9' in each and "Task 101" in each for each in answers)
    assert tree(place.root) == before
