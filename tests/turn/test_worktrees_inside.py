"""A linked worktree inside the tree, as clients make them for sub-agents, is no content of it; it has no own turn."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from tests.support.place import TASK

if TYPE_CHECKING:
    from pathlib import Path

    from tests.support.turns import Turns

INSIDE = ".agents/work trees/one"


@pytest.fixture
def inside(turns: Turns) -> Path:
    """Return a linked worktree inside the repository, where the implementer's turn is open and was committed so."""
    turns.start("implementer")
    turns.place.commit("the task, with its turn open")
    turns.place.git("worktree", "add", "--quiet", INSIDE, "-b", "one")
    folder = turns.place.root / INSIDE
    (folder / "a.txt").write_text("a sub-agent's\n")
    return folder


@pytest.mark.parametrize("is_staged", [False, True])
def test_it_is_no_content_of_the_tree(turns: Turns, inside: Path, *, is_staged: bool) -> None:
    """No hook sees a change, no snapshot has it, and that it goes is no drift; so, too, where `git add` took it in."""
    if is_staged:
        turns.place.git("-c", "advice.addEmbeddedRepo=false", "add", "--all")
    hook = json.dumps({"cwd": str(turns.place.root), "hook_event_name": "Stop", "session_id": "1"})
    assert turns.cli.ok("hook", "stop", "--agent", "claude", stdin=hook) in {"", "{}\n"}
    turns.place.write("src/b.py", "b = 2\n")
    said = turns.finish("Built it.")
    assert "repository of its own" not in said
    assert turns.place.snapshot()["files_changed"] == ["M src/b.py"]
    turns.place.git("worktree", "remove", "--force", str(inside))
    assert "drift" not in turns.cli.ok("snapshot", "verify", TASK, "--role", "implementer")
    assert "Subproject" not in turns.start("reviewer")


def test_it_begins_and_ends_no_turn_of_another(turns: Turns, inside: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is said whose turn it is, and what to hand back; what was said is kept, and taking over is a choice."""
    monkeypatch.chdir(inside)
    own = ("--root", str(inside))
    before = (inside / ".taskstate/tasks/task-101-state.md").read_text()
    for arguments in (("start", TASK, "--agent", "ann"), ("finish", TASK, *turns.words("Did a part."))):
        said = turns.cli(*arguments, *own)
        assert (said.status, said.out) == (2, "")
        assert "ann, implementer, works on it in the worktree main since" in said.err
        assert "hand back to ann what you did" in said.err
    assert "taskstate session add 101 --from" in turns.cli("finish", TASK, *turns.words("Did a part."), *own).err
    assert (inside / ".taskstate/tasks/task-101-state.md").read_text() == before
    turns.cli.ok("start", TASK, "--agent", "ann", "--take-over", "told to", *own)
    turns.cli.ok("finish", TASK, *turns.words("Did it all."), *own)
