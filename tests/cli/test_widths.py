"""How wide the lines are that commands print which only look: on terminals of all widths, and in a pipe."""

from __future__ import annotations

import os
import pty
import re
import sys
import termios
import threading
import tty
from contextlib import suppress
from typing import TYPE_CHECKING

import pytest

from taskstate.__main__ import main
from taskstate.operations.index import COMMANDS, operations_of
from taskstate.views.layout import cells
from tests.support.git_place import GitPlace
from tests.support.terminal import pieces
from tests.support.turns import PASSING, Turns

if TYPE_CHECKING:
    from pathlib import Path

    from tests.cli.conftest import Cli

WORDS = "a replayed challenge is accepted, because nothing remembers which challenges were used, nor when"
# What the operations that only look are asked, and some that do so without their flags.
LINES = (
    "status",
    "status 101",
    "status 1",
    "board",
    "board --status ready",
    "log",
    "log 101 --kind finding",
    "show 101",
    "show 1",
    "list",
    "search challenge",
    "graph",
    "next",
    "session list 101",
    "autosave list",
    "phase show 101",
    "handoff list 101",
    "protocol 101",
    "role show 101",
    "permanent notify --since 1",
    "permanent status",
    "impact show",
    "impact scan",
    "impact challenge 101 --files a.txt",
    "chain status",
    "context show 101",
    "context check 101",
    "context budget 101",
    "evidence show 101",
    "qa compare 101 --role implementer",
    "doctor",
    "doctor kept list",
    "decompose 101",
    "archive verify 101",
    "archive search 101 challenge",
    "rule",
)
DOCUMENT = "a document, whose lines are its own"
# What has lines as wide as they are, and why.
WHOLE = {
    "report": "Markdown for another program",
    "trust": "commands that are shown as they would run",
    "snapshot diff": "a patch for git",
    "chain output": DOCUMENT,
    "context export": DOCUMENT,
    "session show": DOCUMENT,
    "handoff show": DOCUMENT,
    "handoff successor": DOCUMENT,
    "brief": DOCUMENT,
    "doctor kept show": DOCUMENT,
    "autosave show": DOCUMENT,
    "autosave discard": "it deletes",
    "export": "a file for another program",
    "query": "rows of what was asked, for another program too",
    **dict.fromkeys(("fleet index", "fleet lint", "fleet status", "fleet clean"), "it is about other repositories"),
}
WHOLE_IN_A_PIPE = {
    "search": "a line for each hit, as grep prints them",
    "archive search": "the same",
    "archive verify": "a line for each fault, which editors read",
    "rule": "a line for each rule",
    "protocol": DOCUMENT,
    "doctor": "a line for each finding",
    "context check": "the same",
    "handoff list": "a line for each document",
    "doctor kept discard": "it writes",
}


@pytest.fixture
def place(tmp_path: Path) -> GitPlace:
    """Return a git repository with task 101."""
    return GitPlace(tmp_path / "repository")


@pytest.fixture
def rich(cli: Cli) -> Cli:
    """Return the command line in a repository whose every text is long."""
    turns = Turns(cli)
    turns.check(PASSING)
    cli.ok("new", "1", "--kind", "permanent", "--title", WORDS, "--description", WORDS)
    cli.ok("new", "102", "--title", WORDS, "--area", "authentication", "--depends-on", "101", "--priority", "P0")
    cli.ok("new", "103", "--title", "\u6f22\u5b57 " * 30, "--epic", "x")
    cli.ok("permanent", "decide", "--title", WORDS, "--decision", WORDS, "--rationale", WORDS)
    cli.ok("impact", "add", "module", "core", "--path", "a.txt")
    turns.build()
    for number in (1, 2):
        turns.start("reviewer", agent="somebody-with-a-long-name")
        turns.finish(WORDS, "--send-back", "implementer", "--finding", f"{number}: {WORDS}")
        turns.start(agent="ann")
        turns.finish(WORDS, "--answer", f"{number}=Fixed: {WORDS}")
    cli.ok("edit", "101", "--title", WORDS)
    cli.ok("criterion", "add", "101", WORDS)
    cli.ok("feature", "add", "101", "a-very-long-name-of-a-feature", WORDS)
    cli.ok("phase", "add", "101", "3", "--name", WORDS, "--objective", WORDS)
    cli.ok("evidence", "add", "101", "--type", "log", "--path", "a.txt")
    cli.ok("context", "init", "101")
    turns.place.write("a.txt", "by hand\n")
    return cli


def ends_quietly(cli: Cli, line: str) -> None:
    """Run a command whose output nobody takes."""
    reading, writing = os.pipe()
    os.close(reading)
    cli.capfd.readouterr()
    with (
        cli.monkeypatch.context() as changed,
        suppress(BrokenPipeError),
        os.fdopen(writing, "w") as stream,
    ):
        changed.setattr(sys, "stdout", stream)
        assert main(line.split()) == 0, line
    assert not re.search("Traceback|Broken", cli.capfd.readouterr().err), line


def printed(cli: Cli, line: str, width: int) -> str:
    """Return what a command prints on a terminal so wide, without colours; in a pipe for 0."""
    if not width:
        return cli(*line.split()).out
    ours, theirs = pty.openpty()
    tty.setraw(theirs, termios.TCSANOW)
    termios.tcsetwinsize(theirs, (40, width))
    found = list[bytes]()
    reader = threading.Thread(target=lambda: found.extend(pieces(ours)))
    reader.start()
    with cli.monkeypatch.context() as changed, os.fdopen(theirs, "w", encoding="utf-8") as stream:
        changed.setattr(sys, "stdout", stream)
        changed.setenv("TERM", "xterm")
        assert main(line.split()) < 2, line
    reader.join()
    os.close(ours)
    return re.sub(r"\x1b\[[0-9;]*m", "", b"".join(found).decode())


@pytest.mark.slow
def test_no_line_is_wider_than_it_may_be(rich: Cli) -> None:
    """A line is too wide only where it is one word, or one command, which works when it is copied.

    A pipe gets no colours, and one that closes ends the command quietly.
    """
    looking = {each.name for name in COMMANDS for each in operations_of(name) if not each.writes}
    named = {name for name in looking for line in LINES if f"{line} ".startswith(f"{name} ")}
    assert looking - named - WHOLE.keys() - WHOLE_IN_A_PIPE.keys() == set()
    for line in LINES:
        ends_quietly(rich, line)
    for width in (40, 80, 100, 0):
        for line in LINES:
            is_whole = not width and any(f"{line} ".startswith(f"{name} ") for name in WHOLE_IN_A_PIPE)
            text = printed(rich, line, width)
            assert text.strip(), line
            wide = [each for each in text.splitlines() if cells(each) > (width or 100) and not is_whole]
            assert [each for each in wide if len(re.findall(r"(?:`[^`]+`|\S)+", each)) > 1] == [], (width, line)
            assert "\x1b" not in text, line
