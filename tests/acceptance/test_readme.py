"""The README's example, and the page on roles that goes on with it, work as they stand, with git and its hooks."""

from __future__ import annotations

import re
import sys
from typing import TYPE_CHECKING

import pytest

from tests.support.checkout import ROOT, run, succeed

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.slow

_SLUG = 'def slug(title):\n    return title.lower().replace("ä", "ae").replace(" ", "-")\n'
_UNIQUE = _SLUG + "\n\ndef unique(title, taken):\n    return slug(title) + ('-2' if slug(title) in taken else '')\n"
_COUNTED = _SLUG + "\n\ndef unique(title, taken):\n    return slug(title) + f'-{len(taken)}' * bool(taken)\n"
_TEST = "import unittest\n\nimport slug\n\n\nclass Slugs(unittest.TestCase):\n"
_TEST += "    def test_umlauts(self):\n        self.assertEqual(slug.slug('Ä b'), 'ae-b')\n"
_MORE = _TEST + "\n    def test_taken(self):\n        self.assertNotEqual(slug.unique('a', ['a']), 'a')\n"
_VERSIONS = ((_SLUG, _TEST), (_UNIQUE, _MORE), (_COUNTED, _MORE))  # what the editor saves, each time it is called
_EDITOR = """\
import pathlib, sys
versions = {versions!r}
count = pathlib.Path({count!r})
number = int(count.read_text()) if count.exists() else 0
for name, text in zip(sys.argv[1:], versions[number], strict=True):
    pathlib.Path(name).write_text(text, encoding="utf-8")
count.write_text(str(number + 1))
"""


def blocks() -> list[tuple[str, str]]:
    """Return the blocks of the README and the page on roles that show turns, each with its language."""
    parts = (part("README.md", "A turn"), part("docs/coordination.md", "One task, three agents"))
    return re.findall(r"^```(\w+)\n(.*?)^```$", "".join(parts), re.MULTILINE | re.DOTALL)


def part(name: str, title: str) -> str:
    """Return the section of a page."""
    return (ROOT / name).read_text(encoding="utf-8").partition(f"\n## {title}\n")[2].partition("\n## ")[0]


def commands(block: str) -> list[str]:
    """Return the commands of a console block, each with its continued lines and its here-document."""
    return [each.rstrip("\n") for each in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]]


def test_the_turns_of_the_readme(repository: Path, tmp_path: Path) -> None:
    """In an empty repository each command ends well, and the first `start` has nothing to say but what stands there.

    Both tasks are complete, all is committed, and what was sent back was answered.
    """
    editor = tmp_path / "editor.py"
    editor.write_text(_EDITOR.format(versions=_VERSIONS, count=str(tmp_path / "count")), encoding="utf-8")
    env = {
        "EDITOR": f"{sys.executable} {editor}",
        "PRE_COMMIT_HOME": str(tmp_path / "pre-commit"),
        "XDG_STATE_HOME": str(tmp_path / "state"),
    }
    printed: list[tuple[str, str]] = []
    for language, block in blocks():
        if language == "toml":
            with (repository / "taskstate.toml").open("a", encoding="utf-8") as file:
                file.write("\n" + block)
            continue
        for command in commands(block):
            done = run("bash", "-c", command, cwd=repository, env=env)
            assert done.returncode == 0, f"{command}\n{done.stdout}"
            printed.append((command, done.stdout))
    assert len(printed) > 20
    listed = succeed("taskstate", "list", "--status", "complete", cwd=repository, env=env)
    assert re.findall(r"^\S*(10\d)", listed, re.MULTILINE) == ["101", "102"]
    assert succeed("git", "status", "--porcelain", cwd=repository) == ""
    notes = [line for line in after(printed, "taskstate start").splitlines()[:4] if line.startswith("- ")]
    assert notes[0].startswith("- baseline: ")
    assert len(notes) == 1
    assert "+def unique(title, taken):" in after(printed, "snapshot diff")
    assert "a third equal title" in after(printed, "--send-back", 1)
    assert "It counts on" in after(printed, "--answer", 2)


def after(printed: list[tuple[str, str]], word: str, steps: int = 0) -> str:
    """Return what the first command with a word printed, or the one some steps after it."""
    at = next(at for at, (command, _) in enumerate(printed) if word in command)
    return printed[at + steps][1]
