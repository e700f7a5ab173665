"""Commands that read the permanent task name its damage, and none takes one that is damaged for none."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING

import pytest

from tests.support.kept_damage import conflict, cut
from tests.support.kept_place import BACK, Repo

if TYPE_CHECKING:
    from pathlib import Path

    from tests.support.kept_damage import Damage

FILE = ".taskstate/tasks/task-P1-state.md"
READERS = (
    "permanent status",
    "permanent status P1",
    "permanent notify --since 1",
    "permanent recover",
)
READABLE: dict[str, Damage] = {
    "conflict": conflict("A login for all.\n", "A login for some.\n"),
    "a section gone": cut("## 6. Change Log"),
    "no JSON": lambda text: text.replace('"modules"', "modules"),
}
RUINS: dict[str, Damage] = {
    "empty": lambda _: "",
    "YAML": lambda text: text.replace("title: Login", "title: [Login"),
    "not UTF-8": lambda text: text.encode() + b"\xff",
}


@pytest.fixture
def repo(tmp_path: Path) -> Repo:
    """Return a repository with a permanent task that has an Impact Map and two versions."""
    made = Repo(tmp_path / "repository")
    made.ok("new", "P1", "--title", "Login", "--kind", "permanent")
    made.write("intent.md", "A login for all.\n")
    made.ok("permanent", "update", "P1", "--section", "User Intent", "--from", "intent.md")
    made.ok("impact", "add", "module", "app", "--path", "app.py")
    for command in READERS:
        made.ok(*shlex.split(command))
    return made


def damage(repo: Repo, how: Damage) -> None:
    """Damage the file of the permanent task."""
    before = (repo.root / FILE).read_text()
    repo.write(FILE, how(before))
    assert (repo.root / FILE).read_bytes() != before.encode()


@pytest.mark.parametrize("how", READABLE.values(), ids=READABLE)
@pytest.mark.parametrize("command", READERS)
def test_damage_is_named(repo: Repo, command: str, how: Damage) -> None:
    """Each says what is damaged, and ends with exit status 1."""
    damage(repo, how)
    done = repo.run(*shlex.split(command))
    assert (done.status, FILE in done.err) == (1, True), done


@pytest.mark.parametrize("how", RUINS.values(), ids=RUINS)
@pytest.mark.parametrize("command", READERS)
def test_a_file_that_cannot_be_read_is_not_taken_for_none(repo: Repo, command: str, how: Damage) -> None:
    """No command proposes to create another permanent task; the cure of the file is named."""
    damage(repo, how)
    done = repo.run(*shlex.split(command))
    assert done.status in {1, 2}
    assert (BACK in done.err, "--kind permanent" in done.err) == (True, False), done


def test_another_task_that_is_damaged_is_told_and_no_fault_of_these(repo: Repo) -> None:
    """Who reads the permanent task is not stopped by another file."""
    assert repo.new().status == 0
    repo.text = ""
    for command in READERS:
        assert repo.run(*shlex.split(command)).status == 0, command
