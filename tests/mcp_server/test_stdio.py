"""Lines on standard input that are wrong, or too long: the real server answers each, and serves the next."""

from __future__ import annotations

import json
import resource
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING, Any

import pytest

from taskstate.mcp_server.stdio import MOST_BYTES
from tests.support.processes import is_gone

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.support.place import Place

PARSE_ERROR, INVALID, NO_METHOD, WRONG_PARAMS = -32700, -32600, -32601, -32602
DEEP = 100_000
MEMORY = 4 * 1024**3  # of address space


def line(body: object) -> bytes:
    """Return a message as a line; bytes are sent as they are."""
    return (body if isinstance(body, bytes) else json.dumps(body).encode()) + b"\n"


def request(number: object, method: object, params: object) -> bytes:
    """Return a request as a line."""
    return line({"jsonrpc": "2.0", "id": number, "method": method, "params": params})


HELLO = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}
FIRST = request(1, "initialize", HELLO) + line({"jsonrpc": "2.0", "method": "notifications/initialized"})
PING = request("ping", "ping", {})
NOTE = line({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 99}})


@contextmanager
def started(root: Path) -> Iterator[subprocess.Popen[bytes]]:
    """Start the real server; one that hangs is ended."""
    server = subprocess.Popen(
        [sys.executable, "-m", "taskstate", "mcp"],
        cwd=root,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        preexec_fn=partial(resource.setrlimit, resource.RLIMIT_AS, (MEMORY, MEMORY)),  # noqa: PLW1509 - starts no thread
    )
    hanging = threading.Timer(60, server.kill)
    hanging.start()
    with server:
        try:
            yield server
        finally:
            hanging.cancel()


def answers(root: Path, *messages: bytes, count: int) -> list[dict[str, Any]]:
    """Return so many answers to lines between the first one and a ping, which is answered too, maybe before them."""
    found: list[dict[str, Any]] = []
    with started(root) as server:
        assert server.stdin
        assert server.stdout
        assert server.stderr
        for each in (FIRST, *messages, PING):
            server.stdin.write(each)
            server.stdin.flush()
        while len(found) < count + 2:
            found.append(json.loads(server.stdout.readline()))
        server.stdin.close()
        assert server.stderr.read() == b""
        assert server.wait(timeout=60) == 0
    return [each for each in found if each["id"] not in {1, "ping"}]


# What is sent, and the id and code of the error that answers it.
WRONG: tuple[tuple[bytes, object, int], ...] = (
    (line(b"oops"), None, PARSE_ERROR),
    (line(b"\xff\xfe"), None, PARSE_ERROR),
    (line(b"[" * DEEP + b"]" * DEEP), None, PARSE_ERROR),
    (request(5, "tools/call", {}).replace(b"{}", b'{"a":' * DEEP + b"1" + b"}" * DEEP), None, PARSE_ERROR),
    (line(b"x" * (100 * 1024**2)), None, PARSE_ERROR),
    (line(b'"' + b"x" * MOST_BYTES + b'"'), None, PARSE_ERROR),
    (line([]), None, INVALID),
    (line(None), None, INVALID),
    (request(5, 7, {}), 5, INVALID),
    (request(5, "no/such", {}), 5, NO_METHOD),
    (request(5, "tools/call", [1]), 5, INVALID),
    (request("a", "tools/call", {"name": "show", "arguments": {"id": "\ud83d"}}), "a", INVALID),
    (request("\ud83d", "tools/call", {"name": "show"}), None, PARSE_ERROR),
    (line({"jsonrpc": "2.0", "id": True, "method": "tools/call", "params": 1}), None, INVALID),
    (request(5, "tools/call", {"name": 4}), 5, WRONG_PARAMS),
    (request(5, "resources/list", {"cursor": "9" * 5000}), 5, WRONG_PARAMS),
    (request(5, "resources/read", {"uri": "taskstate://task/101?page=" + "9" * 5000}), 5, WRONG_PARAMS),
)


def test_what_is_no_message_is_answered(place: Place) -> None:
    """A line that is wrong, too deep or too long has an error as its answer, and the next one is served."""
    found = answers(place.root, *(message for message, _, _ in WRONG), count=len(WRONG))
    told = Counter((each["id"], each["error"]["code"]) for each in found)
    assert told == Counter((number, code) for _, number, code in WRONG)


def test_what_asks_for_nothing_has_no_answer(place: Place) -> None:
    """Neither an empty line, as a person at a terminal sends it, nor a notification with wrong parameters.

    The library says not a word of it on the terminal.
    """
    wrong = line({"jsonrpc": "2.0", "method": "notifications/progress", "params": {"a": 1}})
    assert answers(place.root, b"\n", b" \r\n", wrong, count=0) == []


@pytest.mark.parametrize("messages", [0, 400])
def test_ctrl_c_ends_the_server(place: Place, messages: int) -> None:
    """A person who started it on a terminal can end it: while it waits for a message, and while many wait for it."""
    with started(place.root) as server:
        assert server.stdin
        assert server.stdout
        server.stdin.write(FIRST)
        server.stdin.flush()
        server.stdout.readline()
        server.stdin.write(NOTE * messages)
        server.stdin.flush()
        server.send_signal(signal.SIGINT)
        assert server.wait(timeout=60) == 130


def test_a_client_that_goes_is_no_fault(place: Place) -> None:
    """A client that is killed takes no answers any more: the server ends and says nothing."""
    with started(place.root) as server:
        assert server.stdin
        assert server.stdout
        assert server.stderr
        server.stdin.write(FIRST)
        server.stdin.flush()
        server.stdout.readline()
        server.stdout.close()
        server.stdin.write(b"".join(request(number, "tools/list", {}) for number in range(100)))
        server.stdin.close()
        assert (server.wait(timeout=60), server.stderr.read()) == (0, b"")


def test_an_address_that_is_none_is_no_fault(place: Place) -> None:
    """Such a resource does not exist; nothing is wrong with taskstate."""
    addresses = enumerate(("taskstate://[::1/101", "taskstate://[x]/101"))
    asked = [request(f"read {number}", "resources/read", {"uri": uri}) for number, uri in addresses]
    found = answers(place.root, *asked, count=len(asked))
    assert [each["error"]["data"]["code"] for each in found] == ["not-found"] * len(asked)


def test_a_refusal_repeats_a_part_of_what_was_sent(place: Place) -> None:
    """An answer has a bound, however long the name is that it refuses."""
    message = request(5, "prompts/get", {"name": "successor", "arguments": {"x" * 100_000: "1"}})
    (answer,) = answers(place.root, message, count=1)
    assert len(json.dumps(answer)) < 30_000


@pytest.mark.parametrize("how", [signal.SIGTERM, "cancel"])
def test_a_command_ends_with_who_asked_for_it(place: Place, how: signal.Signals | str) -> None:
    """A signal ends the server with the command that it runs, and a cancelled request only the command."""
    place.configure('[validation]\n"*" = ["echo $$ > begun; sleep 60"]\n')
    place.trust()
    with started(place.root) as server:
        assert server.stdin
        assert server.stdout
        server.stdin.write(FIRST + request("begin", "tools/call", {"name": "start", "arguments": {"id": "101"}}))
        server.stdin.flush()
        begun, deadline = place.root / "begun", time.monotonic() + 30
        while not (begun.exists() and begun.read_text()) and time.monotonic() < deadline:
            time.sleep(0.02)
        if isinstance(how, signal.Signals):
            server.send_signal(how)
            assert server.wait(timeout=20) == 128 + how
        else:
            server.stdin.write(
                line({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": "begin"}})
            )
            server.stdin.write(request(5, "tools/call", {"name": "search", "arguments": {"do": "list"}}))
            server.stdin.flush()
            while json.loads(server.stdout.readline())["id"] != 5:
                continue
        assert is_gone(int(begun.read_text()))
