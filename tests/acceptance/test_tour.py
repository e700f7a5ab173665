"""The tour of the documentation is true: each command runs in a new repository, and prints what the page shows."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

from tests.support.checkout import ROOT, run, succeed

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.slow

PAGE = (ROOT / "docs" / "index.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r'^```(\w+)(?: title="([^"\n]*)")?\n(.*?)^```$', PAGE, re.MULTILINE | re.DOTALL)
CUT = "…"  # on the page: more is printed here
_DIFFERS = (  # what is another one in each run
    (r"\b[0-9a-f]{7,64}\b", "HASH"),
    (r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\dZ)?", "TIME"),
    (r"\d\.\d{3}s", "SECONDS"),
    (r", in /\S+$", ", in FOLDER"),
)


def same(text: str) -> list[str]:
    """Return the lines of a text without what differs from run to run."""
    for pattern, word in _DIFFERS:
        text = re.sub(pattern, word, text, flags=re.MULTILINE)
    return text.rstrip("\n").split("\n")


def steps(block: str) -> list[tuple[str, str]]:
    """Return the commands of a console block, each with what the page shows of its output."""
    found = []
    for step in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
        whole = re.match(r"(?:.*\\\n)*.*<<'END'\n(?:.*\n)*?END\n|(?:.*\\\n)*.*\n", step)
        assert whole, step
        found.append((whole[0].rstrip("\n"), step[whole.end() :]))
    return found


def test_the_tour_prints_what_it_shows(repository: Path, tmp_path: Path) -> None:
    """Files, configuration and commands in the order of the page; a command that says nothing there is not compared."""
    env = {"XDG_STATE_HOME": str(tmp_path / "state")}
    compared = 0
    for language, name, block in BLOCKS:
        if name:
            (repository / name).write_text(block, encoding="utf-8")
        elif language == "toml":
            with (repository / "taskstate.toml").open("a", encoding="utf-8") as file:
                file.write("\n" + block)
        elif language == "console":
            if not compared:
                succeed("git", "add", "--all", cwd=repository)
                succeed("git", "commit", "--quiet", "--message", "Begin", cwd=repository)
            for command, shown in steps(block):
                done = run("bash", "-c", command, cwd=repository, env=env)
                status = re.search(r"# exits with (\d)", command)
                assert done.returncode == int(status[1] if status else 0), f"{command}\n{done.stdout}"
                expected = same(shown)
                if expected != [""]:
                    printed = same(done.stdout)
                    if expected[-1] == CUT:
                        expected, printed = expected[:-1], printed[: len(expected) - 1]
                    assert printed == expected, command
                    compared += 1
    assert compared > 10
    assert succeed("git", "status", "--porcelain", cwd=repository) == ""


def test_the_pictures_of_the_tour_exist() -> None:
    """A picture that was renamed is noticed."""
    pictures = re.findall(r"^!\[[^\]]+\]\(([\w/.]+)\)$", PAGE, re.MULTILINE)
    assert pictures
    assert [each for each in pictures if not (ROOT / "docs" / each).is_file()] == []
