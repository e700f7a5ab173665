"""The page on JSON is true: its keys are those that the commands print, and its codes are all that there are."""

from __future__ import annotations

import json
import re
import shlex
import subprocess
from typing import TYPE_CHECKING, Any, get_args

import pytest

from taskstate.error_codes import ErrorCode
from tests.support.checkout import ROOT, run

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.slow

PAGE = (ROOT / "docs" / "json.md").read_text(encoding="utf-8")
COMMANDS = (  # one after the other, in a new repository
    'new 101 --title T --description D --criterion C --feature "f=It works"',
    "start 101",
    "session add 101 --did Began --state Half-way --next End",
    "finish 101 --did More --state Half-way --next End",
    "status",
    "status 101",
    "board",
    "log",
    "show 101",
    "list",
    "next",
    "search works",
    "graph",
    "brief 101",
    "session list 101",
    "session show 101 1",
    "role show 101",
    "lint",
    "doctor",
)


def row_of(command: str) -> str:
    """Return how the page names a command: its words, and whether it is about one task."""
    words = [each for each in shlex.split(command.partition(" --")[0]) if not each.isdigit() and each != "works"]
    return " ".join([*words, "ID"] if command == "status 101" else words)


def shape(data: Any, *, depth: int = 0) -> str:  # noqa: ANN401 - any JSON
    """Return the keys of data, two levels deep, as the page writes them."""
    if isinstance(data, list):
        entry = shape(data[0], depth=depth) if data else ""
        return f"[]{entry}"
    if isinstance(data, dict):
        if depth > 1:
            return ""
        keys = ", ".join(f"{key}{shape(value, depth=depth + 1)}" for key, value in data.items())
        return f"{{{keys}}}"
    return ""


def printed(repository: Path) -> dict[str, str]:
    """Return what each command prints, by how the page names it."""
    subprocess.run(["git", "commit", "--quiet", "--allow-empty", "--message", "Begin"], cwd=repository, check=True)
    assert run("taskstate", "init", cwd=repository).returncode == 0
    found = {}
    for command in COMMANDS:
        done = run("taskstate", *shlex.split(command), "--format", "json", cwd=repository)
        answer = json.loads(done.stdout)
        assert (list(answer), answer["success"]) == (["success", "data", "error", "code"], True), done.stdout
        found[row_of(command)] = shape(answer["data"])
    return found


def test_the_keys_are_those_that_are_printed(repository: Path) -> None:
    """In the order in which they are printed; none is left out, and none is there that is not printed."""
    rows = dict(re.findall(r"^\| `([a-z ]+(?:ID)?)` \| `(.*)` \|$", PAGE, re.MULTILINE))
    assert rows == printed(repository)


def test_every_code_of_an_error_is_on_the_page() -> None:
    """A program can look up all that there are."""
    _, _, part = PAGE.partition("## Codes of errors")
    assert sorted(re.findall(r"`([a-z0-9-]+)`", part)) == sorted(get_args(ErrorCode))
