"""A command that changes several files is killed between two steps, and then somebody edits some of these files."""

from __future__ import annotations

import shutil
import subprocess
from typing import TYPE_CHECKING

import pytest

from taskstate.storage import journal
from taskstate.storage.transaction import Move, paths_of
from taskstate.workspace.workspace import find_workspace
from tests.acceptance.test_crashes import JOBS, at, make, run
from tests.support.crashing import KILL_EVERY, forks, killed_at_step

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


# Those of the jobs that write a plan of several operations.
MANY = (
    *("first archive", "next archive", "archive restore", "archive restore --all"),
    *("decompose", "complete", "handoff new", "handoff accept", "renumber"),
)
TYPED = "<!-- typed by hand: {} -->\n"


@pytest.fixture(scope="module")
def prepared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Return a repository of git with two tasks, one of which depends on the other, and set an actor."""
    root = tmp_path_factory.mktemp("killed") / "repository"
    root.mkdir()
    subprocess.run(["git", "init", "--quiet", root], check=True)
    with pytest.MonkeyPatch.context() as patch, at(root):
        patch.setenv("TASKSTATE_ACTOR", "somebody")
        parts = ("--description", "d", "--criterion", "c", "--feature", "jwt-1=makes a token")
        assert run("init")[0] == 0
        assert run("new", "101", "--title", "First", *parts)[0] == 0
        assert run("new", "102", "--title", "Second", "--depends-on", "101", *parts)[0] == 0
        yield root


@forks
@pytest.mark.slow
@pytest.mark.parametrize("name", MANY)
def test_an_edit_after_the_kill_is_kept(prepared: Path, tmp_path: Path, name: str) -> None:
    """Between whichever steps, and whichever file is edited then: all stays, one line tells, and doctor is content."""
    origin = tmp_path / "origin"
    make(origin, prepared, JOBS[name])
    tried, step = sorted(JOBS).index(name), 0
    while step := step + 1:
        killed = tmp_path / f"killed-{step}"
        shutil.copytree(origin, killed)
        with at(killed):
            assert killed_at_step(lambda: run(*JOBS[name].command), step)
        ((_, plan),) = journal.waiting(find_workspace(killed, root=str(killed)).private)
        written = [path for each in plan if not isinstance(each, Move) for path in paths_of(each)]
        there = [path for path in written if (killed / path).exists()]
        for paths in (*([path] for path in there), there):
            tried += 1
            if tried % min(KILL_EVERY, 4) == 0:
                root = tmp_path / "edited"
                shutil.copytree(killed, root)
                _edit_and_go_on(root, JOBS[name].command, paths, done=step - 1)
                shutil.rmtree(root)
        if step > len(plan):
            return


def _edit_and_go_on(root: Path, command: tuple[str, ...], paths: list[str], *, done: int) -> None:
    """Add a line to each of the files, and see what the next commands make of it."""
    for path in paths:
        with (root / path).open("a") as stream:
            stream.write(TYPED.format(path))
    with at(root):
        (message,) = run("list")[1].splitlines()[:1]
        if "waits" in message:
            assert len(paths) > 1, message
            subprocess.run(["sh", "-c", message.split("`")[1]], check=True)
            (message,) = run("list")[1].splitlines()
            assert "is finished" in message
        assert "an interrupted change of " in message
        assert ("nothing of it is there" in message) == (done == 0)
        assert run("doctor") == (0, ""), message
        status = run("lint")[0]
    texts = [path.read_text() for path in (root / ".taskstate").rglob("*") if path.is_file()]
    assert [sum(TYPED.format(path) in text for text in texts) for path in paths] == [1] * len(paths)
    assert status == 0
    ids = {path.name for path in (root / ".taskstate/tasks").glob("*-state.md")}
    assert len(ids & {"task-101-state.md", "task-7-state.md"}) == 1
    if "run the command again" in message:
        with at(root):
            assert run(*command) == (0, "")
