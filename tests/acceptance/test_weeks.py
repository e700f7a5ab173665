"""What the pages on a team, several packages and many closed tasks say was tried: here it is tried again."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

from tests.support.checkout import ROOT, run, succeed

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.slow

_WORDS = ("--state", "Half-way", "--next", "Go on")
_TEST = (
    "import unittest\n\n\nclass Tests(unittest.TestCase):\n    def test_it(self):\n        self.assertTrue({value})\n"
)


def page(name: str) -> str:
    """Return the text of a page."""
    return (ROOT / "docs" / f"{name}.md").read_text(encoding="utf-8")


@pytest.fixture
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Keep what a person allows away from the machine's own folder."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))


def commit(root: Path, message: str) -> None:
    """Commit all that there is."""
    succeed("git", "add", "--all", cwd=root)
    succeed("git", "commit", "--quiet", "--message", message, cwd=root)


def new(root: Path, task: str, *flags: str) -> None:
    """Create a task that can be worked on."""
    words = ("--title", f"Task {task}", "--description", "It works.", "--criterion", "It works")
    succeed("taskstate", "new", task, *words, *flags, cwd=root)


def clone(origin: Path, root: Path) -> Path:
    """Return a new clone with an author, set up as the page says."""
    succeed("git", "clone", "--quiet", str(origin), str(root), cwd=origin.parent)
    succeed("git", "config", "user.name", root.name, cwd=root)
    succeed("git", "config", "user.email", "somebody@example.invalid", cwd=root)
    assert "set up git config merge.taskstate" in succeed("taskstate", "doctor", "--fix", cwd=root)
    succeed("taskstate", "trust", cwd=root)
    return root


def turn(root: Path, did: str, *flags: str) -> str:
    """Take a turn that writes a file, commit it, and return what `finish` said."""
    succeed("taskstate", "start", "101", cwd=root)
    (root / f"{did}.py").write_text(f"{did} = 1\n", encoding="utf-8")
    said = run("taskstate", "finish", "101", "--did", did, *_WORDS, *flags, cwd=root).stdout
    commit(root, f"{did} for task 101")
    return said


@pytest.fixture
def clones(repository: Path, tmp_path: Path, state: None) -> tuple[Path, Path]:
    """Return two clones of one repository that have a task and a check."""
    del state
    succeed("taskstate", "init", cwd=repository)
    with (repository / "taskstate.toml").open("a", encoding="utf-8") as file:
        file.write('\n[validation]\n"*" = ["true"]\n')
    new(repository, "101")
    commit(repository, "Task 101")
    origin = tmp_path / "origin.git"
    succeed("git", "clone", "--quiet", "--bare", str(repository), str(origin), cwd=tmp_path)
    return clone(origin, tmp_path / "ann"), clone(origin, tmp_path / "bo")


def test_two_clones_of_one_task_are_merged(clones: tuple[Path, Path]) -> None:
    """Both sessions are there after a pull, what came in is no drift, and nothing is wrong."""
    ann, bo = clones
    turn(ann, "y")
    succeed("git", "push", "--quiet", cwd=ann)
    turn(bo, "z")
    assert run("git", "push", "--quiet", cwd=bo).returncode != 0
    succeed("git", "pull", "--quiet", "--no-rebase", "--no-edit", cwd=bo)
    listed = succeed("taskstate", "session", "list", "101", cwd=bo)
    assert re.findall(r"([yz])$", listed, re.MULTILINE) == ["y", "z"]
    assert "nothing is wrong" in succeed("taskstate", "doctor", cwd=bo)
    assert "not what the last turn left" not in succeed("taskstate", "start", "101", cwd=bo)


def test_a_repository_that_was_moved_asks_for_trust_again(clones: tuple[Path, Path]) -> None:
    """The session is recorded and the turn stays open, until the same words are given after `trust`."""
    root = clones[0].rename(clones[0].parent / "moved")
    assert "nobody has allowed" in turn(root, "y")
    succeed("taskstate", "trust", cwd=root)
    succeed("taskstate", "finish", "101", "--did", "y", *_WORDS, cwd=root)
    assert len(succeed("taskstate", "session", "list", "101", cwd=root).splitlines()) == 1


def test_a_turn_is_undone_before_and_after_its_commit(clones: tuple[Path, Path]) -> None:
    """A session that was not committed is let go; one that was stays, and the code goes back."""
    root, _ = clones
    turn(root, "x")
    succeed("taskstate", "start", "101", cwd=root)
    succeed("taskstate", "finish", "101", "--did", "wrong", *_WORDS, cwd=root)
    succeed("git", "checkout", "--quiet", "--", ".", cwd=root)
    assert re.search(r"session 2\b.* gone, ", run("taskstate", "show", "101", cwd=root).stdout)
    succeed("taskstate", "doctor", "--let-go", "101", cwd=root)
    assert " gone, " not in run("taskstate", "show", "101", cwd=root).stdout
    turn(root, "q")
    succeed("taskstate", "criterion", "add", "101", "It is documented", cwd=root)
    commit(root, "A criterion")
    said = run("git", "revert", "--no-commit", "HEAD~1", cwd=root)
    assert (said.returncode, "session 2 would get lost" in said.stdout) == (1, True)
    succeed("git", "checkout", "HEAD", "--", ".taskstate", cwd=root)
    commit(root, "Take back q, for task 101")
    assert not (root / "q.py").exists()
    assert len(succeed("taskstate", "session", "list", "101", cwd=root).splitlines()) == 2
    assert "nothing is wrong" in succeed("taskstate", "doctor", cwd=root)


def test_removal_leaves_the_tasks(clones: tuple[Path, Path]) -> None:
    """What `init` put in is gone; the state file and the configuration that was edited are there."""
    root, _ = clones
    succeed("taskstate", "init", "--pre-commit", "--agent", "claude", cwd=root)
    succeed("taskstate", "init", "--remove", cwd=root)
    assert sorted(path.name for path in root.iterdir()) == [".git", ".taskstate", "taskstate.toml"]
    assert (root / ".taskstate/tasks/task-101-state.md").is_file()
    assert run("git", "config", "--get-regexp", "taskstate", cwd=root).stdout == ""


def test_packages_have_checks_of_their_own(repository: Path, state: None) -> None:
    """The configuration of the page: the area chooses what runs, from every folder; a second root knows no task."""
    del state
    for name in ("lib", "api", "web"):
        folder = repository / "packages" / name
        folder.mkdir(parents=True)
        (folder / "test_it.py").write_text(_TEST.format(value=name != "web"), encoding="utf-8")
    succeed("taskstate", "init", cwd=repository)
    (toml,) = re.findall(r"^```toml\n(.*?)^```$", page("monorepo"), re.MULTILINE | re.DOTALL)
    with (repository / "taskstate.toml").open("a", encoding="utf-8") as file:
        file.write("\n" + toml)
    allowed = succeed("taskstate", "trust", cwd=repository)
    assert f"$ taskstate trust\n{allowed}```" in page("monorepo")
    for task, area in ("101", "api"), ("102", "web"), ("103", "lib"):
        new(repository, task, "--area", area)
    commit(repository, "Tasks")
    assert "1 of 1 checks pass" in succeed("taskstate", "start", "101", cwd=repository / "packages" / "web")
    assert "0 of 1 checks pass" in succeed("taskstate", "start", "102", cwd=repository)
    assert "1 of 1 checks pass" in succeed("taskstate", "start", "103", cwd=repository)
    package = repository / "packages" / "web"
    assert "102" in succeed("taskstate", "list", cwd=package)
    succeed("taskstate", "init", "--root", ".", cwd=package)
    assert succeed("taskstate", "list", cwd=package) == "no tasks\n"


def test_closed_tasks_can_be_taken_out(repository: Path) -> None:
    """Their removal in a commit is no loss, their numbers are not given again, and one comes back from the tag."""
    succeed("taskstate", "init", cwd=repository)
    for task in ("1", "2"):
        new(repository, task)
    commit(repository, "Tasks")
    succeed("git", "tag", "closed-2026", cwd=repository)
    succeed(
        "git", "rm", "--quiet", ".taskstate/tasks/task-1-state.md", ".taskstate/tasks/task-2-state.md", cwd=repository
    )
    succeed("git", "commit", "--quiet", "--message", "Closed tasks are in the tag closed-2026", cwd=repository)
    assert "nothing is wrong" in succeed("taskstate", "doctor", cwd=repository)
    refused = run("taskstate", "new", "4", "--title", "Next", "--depends-on", "1", cwd=repository)
    assert refused.returncode == 2
    made = succeed("taskstate", "new", "--title", "Next", cwd=repository)
    assert "task-3-state.md" in made
    succeed("git", "checkout", "closed-2026", "--", ".taskstate/tasks/task-1-state.md", cwd=repository)
    assert "Task 1" in succeed("taskstate", "show", "1", cwd=repository)
