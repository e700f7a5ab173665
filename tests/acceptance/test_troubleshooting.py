"""The recipes on the troubleshooting page work: each symptom is made, seen, and gone after the recipe."""

from __future__ import annotations

import re
import time
from typing import TYPE_CHECKING, NamedTuple

import pytest

from tests.support.checkout import ROOT, run
from tests.support.git_place import GitPlace

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

pytestmark = pytest.mark.slow

PAGE = (ROOT / "docs" / "troubleshooting.md").read_text(encoding="utf-8")
RECIPES = re.findall(r"^## (.*)\n(?:(?!## |```).*\n)+```console\n((?:\$ .*\n)+)```$", PAGE, re.MULTILINE)
SESSION = ("session", "add", "101", "--did", "Worked.", "--state", "Half-way.", "--next", "Go on.")


class Symptom(NamedTuple):
    """How a symptom is made, the command that shows it, and the words that it says."""

    make: Callable[[GitPlace], None]
    seen_by: tuple[str, ...]
    words: str


def taskstate(place: GitPlace, *arguments: str) -> str:
    """Run a command, and return all that it says."""
    return run("taskstate", *arguments, cwd=place.root).stdout


def lost(place: GitPlace) -> None:
    """Reset away a session that was recorded and not committed."""
    taskstate(place, *SESSION)
    place.git("reset", "--quiet", "--hard")


def conflict(place: GitPlace) -> None:
    """Merge two branches without the driver."""
    place.commit("before")
    for branch in ("theirs", "ours"):
        place.git("checkout", "-q", "-b", branch, "main")
        taskstate(place, *SESSION, "--issue", branch)
        place.commit(branch)
        time.sleep(1)  # as a rule two writes are not of one second, and then the front matter is in conflict, too
    run("git", "merge", "theirs", cwd=place.root)


def unquoted(place: GitPlace) -> None:
    """Write a title with a colon by hand."""
    place.text = re.sub(r"(?m)^title: .*$", "title: Fix: the bug", place.text)


def copied(place: GitPlace) -> None:
    """Let `.git` be a file that names the git directory of another folder."""
    other = place.root.parent / "other"
    other.mkdir()
    (place.root / ".git").rename(other / ".git")
    place.write(".git", f"gitdir: {other / '.git'}\n")


def linked(place: GitPlace) -> None:
    """Let the folder of the tasks be a link."""
    tasks = place.workspace.tasks
    tasks.rename(place.root.parent / "away")
    tasks.symlink_to(place.root.parent / "away")


def large(place: GitPlace) -> None:
    """Write more sessions by hand than fit."""
    place.configure("[size]\nmax-kb = 3\nwarn-kb = 1\nkeep-sessions = 1\n")
    place.fill(*range(1, 12))


def drifted(place: GitPlace) -> None:
    """Change a file of a role that is done, and add another."""
    work(place)
    place.write("a.txt", "not meant\n")
    place.write("notes.txt", "wanted\n")


def work(place: GitPlace) -> None:
    """Let the implementer begin and finish, with changes of several kinds."""
    taskstate(place, "start", "101", "--role", "implementer")
    place.write("a.txt", b"one\r\nTWO\r\nthree\r\n")
    place.write("new.txt", "new\n")
    place.write("data.bin", bytes(range(255)))
    (place.root / "src" / "c.py").unlink()
    taskstate(place, "finish", "101", "--did", "x", "--state", "y", "--next", "z")


def edited(place: GitPlace) -> None:
    """Change a file after a turn of work without roles."""
    taskstate(place, "start", "101")
    taskstate(place, "finish", "101", "--pause", "--did", "x", "--state", "y", "--next", "z")
    place.write("a.txt", "not meant\n")


def unsealed(place: GitPlace) -> None:
    """Edit the description of a sealed task."""
    taskstate(place, "context", "init", "101")
    place.text = place.text.replace("Issue tokens.", "Issue and verify tokens.")


def begun(place: GitPlace) -> None:
    """Begin a turn as somebody else."""
    taskstate(place, "start", "101", "--agent", "other")


def unnamed(place: GitPlace) -> None:
    """Set commit hooks up, have git's configuration name a program that is gone."""
    taskstate(place, "init", "--pre-commit")
    place.git("config", "taskstate.program", "/nonexistent/taskstate")
    place.git("add", "--all")


def left_over(place: GitPlace) -> None:
    """Leave a file of a task that is given up."""
    taskstate(place, "init")
    taskstate(place, "drop", "101", "--note", "not wanted")
    folder = place.workspace.state_root / "artifacts" / "task-101"
    folder.mkdir(parents=True)
    (folder / "x").write_bytes(b"x")


SYMPTOMS = {
    '"1 session is gone"': Symptom(lost, ("list",), "session"),
    '"is damaged: … it holds a merge conflict"': Symptom(conflict, ("show", "101"), "it holds a merge conflict"),
    '"the front matter is not valid YAML"': Symptom(unquoted, ("lint",), "TS003"),
    '"the file … is over the limit"': Symptom(large, ("archive", "--check"), "is over the limit"),
    '"drift: …"': Symptom(drifted, ("snapshot", "verify", "101", "--role", "implementer"), "drift: "),
    '"the working tree is not what the last turn left"': Symptom(
        edited, ("start", "101"), "the working tree is not what the last turn left"
    ),
    '"the context is not as it was sealed"': Symptom(unsealed, ("context", "check", "101"), "not as it was sealed"),
    '"`.git` points to …, the repository of another folder"': Symptom(
        copied, ("list",), "the repository of another folder"
    ),
    '"cannot list …"': Symptom(linked, ("list",), "links are not followed"),
    '"a turn is open"': Symptom(begun, ("start", "101"), "other"),
    '"not checked, since taskstate is not found here"': Symptom(unnamed, ("doctor",), "git config taskstate.program"),
    '"artifacts … are left"': Symptom(left_over, ("doctor",), "are left"),
    "Is that diff really what the role did?": Symptom(
        work, ("snapshot", "diff", "101", "--role", "implementer"), "TWO"
    ),
}


def test_every_recipe_is_tried() -> None:
    """A new section of the page needs its symptom here."""
    assert [title for title, _ in RECIPES] == list(SYMPTOMS)
    assert len(re.findall(r"(?m)^## ", PAGE)) == len(RECIPES)


@pytest.mark.parametrize(("title", "console"), RECIPES)
def test_a_recipe_removes_its_symptom(tmp_path: Path, title: str, console: str) -> None:
    """The symptom is seen before; each command of the recipe ends well; then lint finds no error."""
    symptom, place = SYMPTOMS[title], GitPlace(tmp_path / "repository")
    symptom.make(place)
    before = taskstate(place, *symptom.seen_by)
    assert symptom.words in before
    commands = [line.removeprefix("$ ") for line in console.splitlines()]
    done = run("bash", "-euc", "\n".join(commands), cwd=place.root)
    assert done.returncode == 0, done.stdout
    linted = run("taskstate", "lint", cwd=place.root)
    assert linted.returncode == 0, linted.stdout
