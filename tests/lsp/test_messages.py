"""Messages that are wrong, or too large: the real server answers them, or ends with one line."""

from __future__ import annotations

import json
import os
import resource
import signal
import subprocess
import sys
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import pytest

from taskstate.lsp.messages import MOST_BYTES
from tests.support.git_place import GitPlace
from tests.support.language_client import LanguageClient

if TYPE_CHECKING:
    from pathlib import Path

PARSE_ERROR, INVALID, NO_METHOD, WRONG_PARAMS, TOO_EARLY = -32700, -32600, -32601, -32602, -32002
MEMORY = 2 * 1024**3  # of address space: what a header claims does not fit in
DEEP, MUCH = 100_000, 1_000_000


class Ended(NamedTuple):
    """What the server answered to requests, what it said on standard error, and its exit status."""

    answers: list[dict[str, Any]]
    told: list[str]
    said: str
    status: int


def framed(body: object) -> bytes:
    """Return a message with its header; bytes are sent as they are."""
    data = body if isinstance(body, bytes) else json.dumps(body).encode()
    return b"Content-Length: %d\r\n\r\n%s" % (len(data), data)


def request(number: object, method: object, params: object = None) -> bytes:
    """Return a request."""
    return framed({"jsonrpc": "2.0", "id": number, "method": method, "params": params})


FIRST = request("first", "initialize", {"capabilities": {}, "processId": None, "rootUri": None})
LAST = request("last", "shutdown") + framed({"jsonrpc": "2.0", "method": "exit"})


def messages_in(stream: bytes) -> list[dict[str, Any]]:
    """Return the messages that a server sent."""
    found = []
    while stream:
        header, _, rest = stream.partition(b"\r\n\r\n")
        length = int(header.partition(b": ")[2].split(b"\r\n")[0])
        found.append(json.loads(rest[:length]))
        stream = rest[length:]
    return found


def note(method: str, params: object) -> bytes:
    """Return a notification."""
    return framed({"jsonrpc": "2.0", "method": method, "params": params})


def changed(uri: str, *changes: object) -> bytes:
    """Return the notification that a text has changed."""
    return note("textDocument/didChange", {"textDocument": {"uri": uri, "version": 2}, "contentChanges": list(changes)})


def served(root: Path, *messages: bytes, first: bytes = FIRST) -> Ended:
    """Return what the real server does with messages between the first and the last one of a conversation."""
    done = subprocess.run(
        [sys.executable, "-m", "taskstate", "lsp"],
        cwd=root,
        env={**os.environ, "TASKSTATE_ACTOR": "tester"},
        input=b"".join((first, *messages)),
        capture_output=True,
        timeout=60,
        check=False,
        preexec_fn=partial(resource.setrlimit, resource.RLIMIT_AS, (MEMORY, MEMORY)),
    )
    sent = messages_in(done.stdout)
    told = [each["params"]["message"] for each in sent if each.get("method") == "window/showMessage"]
    answers = [each for each in sent if "method" not in each and each["id"] not in {"first", "last"}]
    return Ended(answers, told, done.stderr.decode(), done.returncode)


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a git repository with task 101."""
    return GitPlace(tmp_path_factory.mktemp("lsp").resolve() / "repository").root


# What is sent, and the id and code of the error that answers it.
WRONG: tuple[tuple[bytes, object, int], ...] = (
    (framed(b"oops"), None, PARSE_ERROR),
    (framed(b""), None, PARSE_ERROR),
    (framed(b'"\xff\xfe"'), None, PARSE_ERROR),
    (framed(b"[" * DEEP + b"]" * DEEP), None, PARSE_ERROR),
    (framed(b'{"jsonrpc": "2.0", "id": 5, "x": ' + b'{"a":' * DEEP + b"1" + b"}" * DEEP + b"}"), None, PARSE_ERROR),
    (framed(b'{"jsonrpc": "2.0", "id": 5, "method": "x", "params": ' + b"9" * DEEP + b"}"), None, PARSE_ERROR),
    (framed([]), None, INVALID),
    (framed(7), None, INVALID),
    (framed(None), None, INVALID),
    (framed({"id": 5, "method": "x"}), 5, INVALID),
    (framed({"jsonrpc": 3, "id": [1], "method": "x"}), None, INVALID),
    (framed({"jsonrpc": "2.0", "id": 5, "method": "no/such"}), 5, NO_METHOD),
    (request("\ud800", "no/such", {"jsonrpc": "2.0", "method": 7}), "\ud800", NO_METHOD),
    (request(5, "textDocument/hover", [1]), 5, WRONG_PARAMS),
    (request({}, "textDocument/hover"), None, WRONG_PARAMS),
    (framed(b" " * (MOST_BYTES + 1)), None, INVALID),
)
UNASKED: tuple[dict[str, object], ...] = (
    {"method": 7},
    {"method": {}},
    {},
    {"id": [1], "result": 1},
    {"id": 8, "error": "x"},
    {"method": "textDocument/didOpen", "params": {"textDocument": 5}},
    {"method": "no/such"},
)


def test_what_is_no_message_is_answered(root: Path) -> None:
    """A message that is wrong, too deep or too large has an error as its answer, and the next one is served."""
    ended = served(root, *(message for message, _, _ in WRONG), LAST)
    answers = [(each["id"], each["error"]["code"]) for each in ended.answers]
    assert answers == [(number, code) for _, number, code in WRONG]
    assert len(ended.told) <= len(WRONG)
    assert (ended.said, ended.status) == ("", 0)


def test_what_nobody_waits_for_is_told_at_most(root: Path) -> None:
    """A notification or an answer that is wrong changes nothing, and prints no traceback."""
    ended = served(root, *(framed({"jsonrpc": "2.0", **message}) for message in UNASKED), LAST)
    assert len(ended.told) <= len(UNASKED)
    assert (ended.answers, ended.said, ended.status) == ([], "", 0)


def test_what_comes_at_the_wrong_time_is_answered(root: Path) -> None:
    """Before the conversation has begun and after its end, and where a notification is asked for, there is an error."""
    early = request(1, "textDocument/foldingRange", {"textDocument": {"uri": "file:///x"}}) + note("no/such", None)
    again = request(2, "initialize", {"capabilities": {}, "processId": None, "rootUri": None})
    asked = request(3, "textDocument/didSave", {"textDocument": {"uri": "file:///x"}})
    late = request(4, "textDocument/foldingRange", {"textDocument": {"uri": "file:///x"}})
    end = note("exit", None)
    ended = served(root, early, FIRST, again, asked, request("last", "shutdown"), late, end, first=b"")
    codes = [(each["id"], each["error"]["code"]) for each in ended.answers]
    assert codes == [(1, TOO_EARLY), (2, INVALID), (3, INVALID), (4, INVALID)]
    assert not [each for each in ended.told if "fault" in each]
    assert (ended.said, ended.status) == ("", 0)


@pytest.mark.parametrize("what", ["device", "FIFO", "part", "other"])
def test_a_change_of_a_text_that_is_not_open_reads_no_file(root: Path, tmp_path: Path, what: str) -> None:
    """Neither a device nor a FIFO is read in place of the text that the editor did not send; the next one is served."""
    os.mkfifo(tmp_path / "fifo")
    place = {"start": {"line": 1, "character": 0}, "end": {"line": 0, "character": 0}}
    message = {
        "device": changed("file:///dev/zero"),
        "FIFO": changed((tmp_path / "fifo").as_uri()),
        "part": changed("file:///x", {"range": place, "text": "y"}),
        "other": changed("file:///x", {"text": "y"}),
    }[what]
    ended = served(root, message, LAST)
    assert [each for each in ended.told if "cannot be read" not in each] == []
    assert (ended.answers, ended.said, ended.status) == ([], "", 0)


NOWHERE = (
    "file://[::1/task-101-state.md",
    "file://[x]/task-101-state.md",
    "file://elsewhere.example/task-101-state.md",
    "file:///task-101-state.md%00",
    "file:///task-\ud800-state.md",
    "file:///" + "a/" * 30_000 + "task-101-state.md",
    "http://x/task-101-state.md",
    "",
)


def test_an_address_that_names_no_file_here_has_no_findings(root: Path) -> None:
    """It is answered at once as a file that is none of ours, and a text that has no address at all is told of."""
    sent: list[bytes] = []
    for number, uri in enumerate(NOWHERE):
        item = {"uri": uri, "languageId": "markdown", "version": 1, "text": "x"}
        sent.append(note("textDocument/didOpen", {"textDocument": item}))
        sent.append(request(number, "textDocument/diagnostic", {"textDocument": {"uri": uri}}))
    ended = served(root, *sent, LAST)
    assert {each["id"]: each["result"]["items"] for each in ended.answers} == {n: [] for n in range(len(NOWHERE))}
    assert len(ended.told) == 1  # of two: the same is told once
    assert not [each for each in ended.told if "fault" in each]
    assert (ended.said, ended.status) == ("", 0)


@pytest.mark.parametrize(
    ("message", "code"),
    [
        (request(5, "workspace/diagnostic", {"previousResultIds": "a" * MUCH}), WRONG_PARAMS),
        (request(5, "workspace/diagnostic", {"previousResultIds": [1] * MUCH}), WRONG_PARAMS),
        (request(5, "no/such", {"a": [{"b": 1}] * (MUCH // 2)}), NO_METHOD),
        (framed({"jsonrpc": "2.0", "id": 5, "result": {"a": [{"b": 1}] * (MUCH // 2)}}), None),
        (note("initialized", {}) + note("$/cancelRequest", {"id": {}}), None),
    ],
    ids=["letters", "numbers", "objects", "answer", "cancel"],
)
def test_a_wrong_message_costs_what_its_size_does(root: Path, message: bytes, code: int | None) -> None:
    """A message with a million mistakes is answered like one with a single one, and the next one is served."""
    ended = served(root, message, LAST)
    assert [each["error"]["code"] for each in ended.answers] == ([code] if code else [])
    assert not [each for each in ended.told if "fault" in each]
    assert (ended.said, ended.status) == ("", 0)


@pytest.mark.parametrize(
    "header",
    [
        b"Content-Length: 99999999999999\r\n\r\n{}",
        b"Content-Length: " + b"9" * DEEP + b"\r\n\r\n{}",
        b"Content-Length: -5\r\n\r\n{}",
        b"Content-Type: text\r\n\r\n{}",
        b"\r\n\r\n",
        b"A" * (4 * 1024**2),
        b"X: y\r\n" * DEEP,
    ],
)
def test_a_header_that_is_none_ends_the_conversation(root: Path, header: bytes) -> None:
    """Where nobody knows where the next message begins, the server ends with one line."""
    ended = served(root, header)
    assert ended.status == 2
    assert ended.said.startswith("taskstate: standard input is not a conversation of an editor")
    assert ended.said.count("\n") == 1


def test_what_a_header_claims_is_not_asked_for(root: Path) -> None:
    """A length beyond all memory is answered before anything of it comes."""
    ended = served(root, b"Content-Length: 999999999999\r\n\r\n{}")
    assert [each["error"]["code"] for each in ended.answers] == [INVALID]
    assert (ended.said, ended.status) == ("", 1)


def test_a_message_that_is_cut_short_ends_the_conversation(root: Path) -> None:
    """An editor that ends in the middle of a message has broken off."""
    ended = served(root, b'Content-Length: 500\r\n\r\n{"a": 1')
    assert (ended.answers, ended.said, ended.status) == ([], "", 1)


def test_ctrl_c_ends_the_server(root: Path) -> None:
    """A person who started it on a terminal can end it, although it waits for a message."""
    with LanguageClient(root) as client:
        client.process.send_signal(signal.SIGINT)
        assert client.process.wait(timeout=30) == 130
