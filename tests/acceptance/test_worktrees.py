"""Several worktrees and clones of one repository, each with the same task."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from taskstate.workspace.workspace import find_workspace
from tests.support.place import Place

if TYPE_CHECKING:
    from tests.conftest import RunCli

STATE = ".taskstate/tasks/task-101-state.md"
ADD = ("session", "add", "101", "--issue", "none", "--state", "s", "--next", "n", "--did")


@pytest.fixture(autouse=True)
def command_on_the_path(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have git find our merge driver, as where the command is installed."""
    monkeypatch.setenv("PATH", os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]]))


def git(root: Path, *arguments: str) -> str:
    """Run git in a folder, and return what it printed."""
    done = subprocess.run(["git", "-C", str(root), *arguments], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def commit(root: Path, message: str) -> None:
    """Commit everything."""
    git(root, "add", "-A")
    git(root, "commit", "-qm", message)


@pytest.fixture
def trees(repository: Path, tmp_path: Path, run_cli: RunCli) -> tuple[Path, Path]:
    """Return two worktrees of a repository whose task 101 has one session."""
    Place(repository)
    assert run_cli("init").returncode == 0
    assert run_cli(*ADD, "base").returncode == 0
    commit(repository, "base")
    other = tmp_path / "other"
    git(repository, "worktree", "add", "-q", "-b", "side", str(other))
    return repository, other


def numbers(root: Path) -> list[str]:
    """Return the numbers of the sessions in the state file."""
    return re.findall(r"^### Session (\d+) - ", (root / STATE).read_text(encoding="utf-8"), re.MULTILINE)


@pytest.mark.slow
@pytest.mark.parametrize("how", ["--all", "--include", "--only"])
def test_hook_of_another_worktree_lends_no_index(trees: tuple[Path, Path], how: str) -> None:
    """A commit hook that goes to another worktree checks what is staged there, whichever index its commit has."""
    here, other = trees
    state = other / STATE
    state.write_text(state.read_text(encoding="utf-8").replace("base", "rewritten"), encoding="utf-8")
    git(other, "add", "-A")
    hook = here / ".git" / "hooks" / "pre-commit"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text(f'#!/bin/sh\ncd "{other}" && taskstate lint --staged > said 2>&1\nexit 0\n', encoding="utf-8")
    hook.chmod(0o755)
    (here / "a.txt").write_text("a\n", encoding="utf-8")
    git(here, "add", "a.txt")
    git(here, "commit", "-qm", "work", how, *(() if how == "--all" else ("a.txt",)))
    assert "TS405" in (other / "said").read_text(encoding="utf-8")


@pytest.mark.slow
def test_worktrees_have_their_own_locks_and_revisions(trees: tuple[Path, Path], run_cli: RunCli) -> None:
    """Who writes in one worktree waits for nobody in another; each file goes on from its own revision."""
    main, other = trees
    with find_workspace(main, root=str(main)).locked():
        assert run_cli(*ADD, "side", cwd=other).returncode == 0
    assert numbers(main) == ["1"]
    assert numbers(other) == ["1", "2"]
    token = find_workspace(other, root=str(other)).load(other / STATE).token
    refused = run_cli(*ADD, "main", "--expect-revision", token)
    assert (refused.returncode, "not 3-" in refused.stderr) == (2, True)
    assert run_cli("list", cwd=main).stderr == ""  # the other's revision is nothing that is gone here
    assert not (other / ".taskstate/lock").samefile(main / ".taskstate/lock")


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["worktree", "clone"])
def test_what_both_wrote_meets_in_a_merge(trees: tuple[Path, Path], run_cli: RunCli, tmp_path: Path, kind: str) -> None:
    """Sessions of both are kept and numbered anew, the revision is higher than either, and nothing is told as gone."""
    main, other = trees
    if kind == "clone":
        other = tmp_path / "clone"
        git(main, "clone", "-q", "-c", "user.name=a", "-c", "user.email=a@example.invalid", str(main), str(other))
        assert run_cli("init", cwd=other).returncode == 0  # the merge driver is a matter of each clone
        git(other, "checkout", "-q", "-B", "side")
    assert run_cli(*ADD, "from the side", cwd=other).returncode == 0
    commit(other, "side")
    assert run_cli(*ADD, "from main").returncode == 0
    assert run_cli("feature", "pass", "101", "jwt-1", "--evidence", "seen").returncode == 0
    commit(main, "main")
    if kind == "clone":
        git(main, "pull", "-q", "--no-rebase", "--no-edit", str(other), "side")
    else:
        git(main, "merge", "-q", "--no-edit", "side")
    text = (main / STATE).read_text(encoding="utf-8")
    assert numbers(main) == ["1", "2", "3"]
    assert "from the side" in text
    assert "from main" in text
    assert '"overall_progress": "100%"' in text
    done = run_cli("lint")
    assert (done.returncode, done.stderr) == (0, ""), done.stdout
    assert run_cli(*ADD, "after the merge").returncode == 0
    assert numbers(main) == ["1", "2", "3", "4"]


@pytest.mark.slow
def test_switching_branches_is_no_loss(trees: tuple[Path, Path], run_cli: RunCli) -> None:
    """Another branch has another revision of the file: nothing is told, and writing goes on from there."""
    main, _ = trees
    git(main, "checkout", "-q", "-b", "feature")
    for number in range(3):
        assert run_cli(*ADD, f"on the branch {number}").returncode == 0
    commit(main, "more")
    git(main, "checkout", "-q", "main")
    done = run_cli(*ADD, "on main")
    assert (done.returncode, done.stderr) == (0, "")
    assert numbers(main) == ["1", "2"]
    git(main, "stash", "-q")
    assert run_cli("doctor").returncode in {0, 1}
    git(main, "stash", "pop", "-q")
    assert numbers(main) == ["1", "2"]
