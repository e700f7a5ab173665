"""The examples in the help of each command: one story, run as it is printed."""

from __future__ import annotations

import os
import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from taskstate import resources
from tests.cli.conftest import Cli
from tests.support.command_line import COMMANDS
from tests.support.git_place import GitPlace

if TYPE_CHECKING:
    import pytest

STORY = [line for line in resources.text("templates/examples.txt").splitlines() if not line.startswith("#")]
OF_ITS_OWN = {"demo"}  # it has one form, takes seconds, and is run by its own tests
LASTING = {"serve"}  # until Ctrl-C, which its own tests press
ENDING = {"lsp": 1}  # an editor that leaves without a word


def prepared(root: Path) -> GitPlace:
    """Return a repository with five tasks, a check, and the files that the examples name."""
    place = GitPlace(root)
    for number in ("102", "103", "104", "105"):
        place.new(number)
    for name in ("base.md", "ours.md", "theirs.md"):
        place.write(name, place.text)
    place.write("qa.log", "=== 3 passed in 0.1s ===\n")
    place.write("repos.txt", ".\n")
    place.write("TODO.md", "- [ ] Paint the fence\n")
    place.write("summary.md", "Tokens are issued by `src/b.py`.\n")
    place.configure('[validation]\n"*" = ["echo 3 passed"]\n')
    place.commit("prepared")
    place.trust()
    return place


def test_the_story_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> None:
    """Each example can be given as it is printed, in the order in which they stand, and nothing is amiss behind it."""
    # `doctor` looks for the program that a client would start.
    monkeypatch.setenv("PATH", f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}")
    place = prepared(tmp_path / "repository")
    monkeypatch.chdir(place.root)
    monkeypatch.setattr(sys, "stdout", sys.stdout)  # the language server replaces it
    cli = Cli(place, monkeypatch, capfd)
    for line in STORY:
        program, command, *rest = shlex.split(line)
        assert program == "taskstate"
        if command not in OF_ITS_OWN | LASTING:
            said = cli(command, *rest)
            assert said.status == ENDING.get(command, 0), (line, said)


def test_every_command_shows_two_examples(cli: Cli) -> None:
    """The help of a command has its own, and that of an action those of the action."""
    for command in set(COMMANDS) - OF_ITS_OWN:
        own = [line for line in STORY if line.split()[1] == command]
        assert len(own) > 1, f"write two examples of `taskstate {command}` into templates/examples.txt"
        assert cli.ok(command, "--help").endswith("\nexamples:\n" + "".join(f"  {line}\n" for line in own)), command
    out = cli.ok("role", "show", "--help")
    assert out.endswith("\nexamples:\n  taskstate role show 101\n")
    assert "examples" not in cli.ok("role", "unblock", "--help")
