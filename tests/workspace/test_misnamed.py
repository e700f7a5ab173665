"""Files whose name and `task_id` differ: what is said of them makes the two agree, and nothing is deleted."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from tests.support.kept_place import ARCHIVE, STATE, Repo, Story, story

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

RENAMED = ".taskstate/tasks/task-201-state.md"
ARTIFACT = ".taskstate/artifacts/task-101/note.txt"


@pytest.fixture
def repo(tmp_path: Path) -> Repo:
    """Return a repository whose task 101 has an archive and artifacts, all of it committed."""
    made = story(tmp_path / "repository", Story(archived=True))
    made.write(ARTIFACT, "wanted")
    made.commit("archived")
    made.quiet()
    return made


def rename(repo: Repo) -> None:
    """Give the file another name."""
    (repo.root / STATE).rename(repo.root / RENAMED)


def change_id(repo: Repo) -> None:
    """Write another id into the file."""
    repo.edit('task_id: "101"', 'task_id: "201"')


def follow(repo: Repo, cure: str) -> None:
    """Do what a cure says."""
    if command := re.search(r"`(mv [^`]+)`", cure):
        subprocess.run(shlex.split(command[1]), cwd=repo.root, check=True)
    else:
        assert 'write `task_id: "101"` in it' in cure
        repo.edit('task_id: "201"', 'task_id: "101"')


@pytest.mark.parametrize("happen", [rename, change_id])
def test_the_cure_makes_both_agree(repo: Repo, happen: Callable[[Repo], None]) -> None:
    """`doctor` names one thing as wrong; done as it says, everything is as it was."""
    before = repo.tree()
    happen(repo)
    found = repo.run("doctor").out
    assert [line.split()[1] for line in found.splitlines() if line.startswith("wrong")] == ["ids"], found
    assert re.findall(r" (TS\d+) ", repo.run("lint").out) == ["TS008"]
    follow(repo, found)
    repo.quiet()
    assert repo.tree() == before


@pytest.mark.parametrize("happen", [rename, change_id])
@pytest.mark.parametrize(
    "command", ["purge 101", "purge 201", "doctor --fix", "doctor --let-go 101", "doctor --let-go 201"]
)
def test_nothing_is_deleted_or_accepted_meanwhile(repo: Repo, happen: Callable[[Repo], None], command: str) -> None:
    """Neither what deletes artifacts nor what accepts a damaged file takes anything of the task away."""
    happen(repo)
    before = repo.tree()
    done = repo.run(*shlex.split(command))
    assert repo.tree() == before, done
    assert (repo.root / ARTIFACT).read_text() == "wanted"
    assert (repo.root / ARCHIVE).exists()


def test_after_the_cure_the_id_can_be_changed_everywhere(repo: Repo) -> None:
    """What the file was renamed for is done by the command that the cure names."""
    rename(repo)
    found = repo.run("doctor").out
    follow(repo, found)
    command = re.search(r"`taskstate (doctor renumber 101 201)`", found)
    assert command, found
    repo.ok(*shlex.split(command[1]))
    assert (repo.root / ".taskstate/artifacts/task-201/note.txt").exists()
    assert repo.run("lint").status == 0


def test_a_copy_is_not_to_take_the_place_of_its_original(repo: Repo) -> None:
    """Where the task of that id is there, the copy is to be deleted, or to become a task of its own."""
    repo.write(RENAMED, repo.text)
    found = repo.run("doctor").out
    assert 'delete it if it is a copy of .taskstate/tasks/task-101-state.md; else write `task_id: "201"` in it' in found
    repo.remove(RENAMED)
    repo.quiet()


def test_a_refused_session_is_kept(repo: Repo) -> None:
    """What was to be recorded meanwhile is not lost."""
    change_id(repo)
    refused = repo.try_session("meanwhile")
    assert refused.status == 2
    repo.edit('task_id: "201"', 'task_id: "101"')
    command = re.search(r"`taskstate (session add [^`]+)`", refused.err)
    assert command, refused
    repo.ok(*shlex.split(command[1]))
    assert repo.count("meanwhile") == 1


NEAR = {
    "task-105.md": "mv -n .taskstate/tasks/task-105.md .taskstate/tasks/task-105-state.md",
    "Task-106-State.md": "mv -n .taskstate/tasks/Task-106-State.md .taskstate/tasks/task-106-state.md",
    "task-108-stat.md": "mv -n .taskstate/tasks/task-108-stat.md .taskstate/tasks/task-108-state.md",
    "task_107_state.markdown": "mv -n .taskstate/tasks/task_107_state.markdown",
    "login.md": "delete it if it is a copy of task-101-state.md",
    "README.md": "",
    "task-notes.md": "",
}
TOLD = {"login.md": "101", "task-108-stat.md": "108"}


def test_near_miss_of_a_name_is_found(repo: Repo) -> None:
    """By lint and by doctor, which names the command that makes a state file of it; other notes are left alone."""
    for name in NEAR:
        repo.write(f".taskstate/tasks/{name}", f'---\ntask_id: "{TOLD[name]}"\n---\n' if name in TOLD else "Notes.\n")
    linted, examined = repo.run("lint"), repo.run("doctor")
    for name, cure in NEAR.items():
        said = [line for line in examined.out.split("\n") if name in line]
        assert (f"{name}:1:1 TS008" in linted.out, len(said)) == (bool(cure), int(bool(cure)))
        assert all(cure in line for line in said)
        for command in re.findall("`(mv [^`]*)`", "".join(said)):
            subprocess.run(shlex.split(command), cwd=repo.root, check=True)
    assert repo.run("doctor").out.count("no command sees") == 1


def test_near_miss_of_a_name_is_found_when_it_is_staged(repo: Repo) -> None:
    """Of what is staged, as of what lies there; a commit that does not touch such a file goes through."""
    name = ".taskstate/tasks/task-108-stat.md"
    repo.write(name, 'task_id: "108"\n')
    assert "TS008" not in repo.run("lint", "--staged").out
    repo.git("add", name)
    assert f"{name}:1:1 TS008" in repo.run("lint", "--staged").out
    repo.git("commit", "--quiet", "--no-verify", "-m", "a near miss")
    assert f"{name}:1:1 TS008" in repo.run("lint", "--staged").out
    hook = repo.root / ".git/hooks/pre-commit"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text(f"#!/bin/sh\n{shlex.quote(sys.executable)} -m taskstate lint --staged >&2\n", encoding="utf-8")
    hook.chmod(0o755)
    repo.write("other.txt", "x\n")
    repo.git("add", "other.txt")
    repo.git("commit", "--quiet", "-m", "another file")
    repo.write(name, "Changed.\n")
    repo.git("commit", "--quiet", "-a", "-m", "the near miss itself", fails=True)
    assert repo.git("log", "-1", "--format=%s").strip() == "another file"
