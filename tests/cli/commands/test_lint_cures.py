"""The cures of the table of cells: each that is announced is taken as printed, on a copy, and nothing is lost by it."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.support import coverage, cures

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.cli.conftest import Cli

FOLDER = ".taskstate/tasks"
STATE = coverage.TABLES[0]
FILE = STATE.files[0]
COMMIT = "4f2c1e9"  # that the file names; a repository has others
DERIVED = re.compile(r"(?m)^(?:revision|updated_at): .*\n")
WORD = re.compile(r"\w+")
COMMAND = re.compile(r"`(taskstate [^`\n]+)`")
# What shows something, and what brings back texts that were kept, of which there are none here.
NOT_TRIED = ("taskstate rule", "taskstate context check", "taskstate doctor --fix")


def announced(said: str) -> Iterator[list[list[str]]]:
    """Yield the commands of each cure that a report announces."""
    if ", fixable)" in said or "(fixable)" in said:
        yield [["lint", "--fix", FILE]]
    if "unsafe fix)" in said:
        yield [["lint", "--fix", "--unsafe-fixes", FILE]]
    for help_ in (line for line in said.splitlines() if "= help:" in line):
        command = COMMAND.search(help_)
        cure = command and cures.Said((), "", command[1], help_[: command.start()], help_[command.end() - 1 :])
        if cure and cure.is_next and not cure.cure.startswith(NOT_TRIED):
            yield [cures.filled(step)[1:] for step in cure.cure.split(" && ")]


def words(root: Path) -> Counter[str]:
    """Return the words of all texts in a repository, what is kept beside them included."""
    found = Counter[str]()
    for path in root.rglob("*"):
        if path.is_file() and (".git" not in path.parts or "taskstate" in path.parts):
            found.update(WORD.findall(path.read_bytes().decode(errors="replace")))
    return found


def begin(root: Path) -> None:
    """Write the task that the file depends on, and what else it names."""
    others = {f"{FOLDER}/task-100-state.md": coverage.UPSTREAM_FILE, "standards/auth.md": coverage.STANDARD}
    for name, text in {"src/auth/a.py": "a = 1\n", **others}.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text, encoding="utf-8")


def git(root: Path, *words: str) -> str:
    """Run git, and return what it prints."""
    done = subprocess.run(["git", *words], cwd=root, check=True, capture_output=True, text=True)
    return done.stdout.strip()


def committed(root: Path, text: str) -> str:
    """Commit the file, and return the id of a commit that is there."""
    git(root, "add", "--all")
    git(root, "commit", "-qm", "begin")
    commit = git(root, "rev-parse", "HEAD")[: len(COMMIT)]
    (root / FILE).write_text(text.replace(COMMIT, commit), encoding="utf-8")
    git(root, "add", "--all")
    git(root, "commit", "-qm", "the task")
    git(root, "gc", "--quiet")
    shutil.rmtree(root / ".git" / "hooks")
    return commit


def begun(cli: Cli, repository: Path, text: str) -> str:
    """Write this text of the file into a new copy of the repository, and return what lint says of it there."""
    copy = repository.with_name(f"copy-{len([*repository.parent.iterdir()])}")
    shutil.copytree(repository, copy)
    cli.monkeypatch.chdir(copy)
    return said_of(cli, text)


def said_of(cli: Cli, text: str) -> str:
    """Write the file, and return what lint says of it."""
    Path(FILE).write_text(text, encoding="utf-8")
    return cli("lint", FILE).out


@pytest.mark.parametrize("history", ["none", "committed", "changed"])
def test_a_cure_leaves_nothing_to_be_told_and_loses_no_word(history: str, cli: Cli, repository: Path) -> None:
    """Taken as printed, the file is clean after it, and what stood there stands somewhere, or was named."""
    earlier = {"none": None, "committed": coverage.committed(FILE), "changed": coverage.whole(FILE)}[history]
    begin(repository)
    commit = COMMIT if earlier is None else committed(repository, earlier)
    if earlier is None:
        shutil.rmtree(repository / ".git")
    table, seen, tried, wrong = STATE.said, set[str](), 0, []
    begun(cli, repository, coverage.whole(FILE))
    for cell in (each for each in STATE.cells() if each.name == FILE):
        code = table[cell.part][cell.damage]
        is_other = (cell.damage == coverage.CHANGED) != (history == "changed")
        if code == coverage.ABSENT or not coverage.CODE.fullmatch(code) or is_other or (code in seen and not cures.ALL):
            continue
        seen.add(code)
        text = cell.text.replace(COMMIT, commit)
        for steps in announced(said_of(cli, text)):
            said = begun(cli, repository, text) + "".join(f"{cli(*step)}" for step in steps)
            left, tried = cli("lint", FILE), tried + 1
            lost = Counter(WORD.findall(DERIVED.sub("", text))) - words(Path.cwd()) - Counter(WORD.findall(said))
            if left.status or "TS" in left.out or lost:
                wrong.append((cell.part, cell.damage, steps, left.out, lost))
            begun(cli, repository, text)
    assert wrong == []
    assert tried
