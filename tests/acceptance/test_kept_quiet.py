"""What is in place, in another branch, withdrawn or let go is not told; what is gone is told until one way is taken."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

from tests.support.kept_place import ARCHIVE, BACK, LAST, STATE, TASK, Repo, Story, lines_of_loss, story

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

Steps = tuple[str, ...]

SIDE = ("git checkout -qb side", "session side")
BY_HAND = "edit 'Did side.' 'Did side, by hand.'"
MAIN = "git checkout -q main"
DIVERGED = (*SIDE, "write app.py side", "commit side", MAIN, "session main", "write app.py main", "commit main")
HANDOFF = "taskstate handoff new 101 --action Go --file app.py --location 'line 1' --goal Works --context fact"

# All was committed before, and nothing is lost by any of this.
QUIET: dict[str, Steps] = {
    "switch": (*SIDE, "commit side", MAIN),
    "switch, and a session there": (*SIDE, "commit side", MAIN, "session main", "git stash -q", "git stash pop -q"),
    "switch after a hand edit in a commit of its own": (*SIDE, "commit side", BY_HAND, "commit hand", MAIN),
    "switch and back": (*SIDE, BY_HAND, "commit side", MAIN, "git checkout -q side"),
    "switch, archived there": (*SIDE, "archive", "commit side", MAIN),
    "switch, completed there": (*SIDE, "taskstate criterion check 101 1", "commit side", MAIN),
    "older branch": ("git branch older HEAD~1", "git checkout -q older"),
    "switch, and no reflog": (*SIDE, "commit side", MAIN, "git reflog expire --expire=now --all"),
    "commit on no branch": (
        "git checkout -q --detach",
        "session 6",
        "commit six",
        f"git checkout -q HEAD~1 -- {STATE}",
    ),
    "older commit": ("git checkout -q --detach HEAD~2",),
    "before there was a task": ("git checkout -q --detach HEAD~3",),
    "tag": ("git tag kept", "git reset -q --hard HEAD~1"),
    "another branch keeps it": ("git branch kept", "git reset -q --hard HEAD~1"),
    "the remote keeps it": ("git update-ref refs/remotes/origin/main HEAD", "git reset -q --hard HEAD~1"),
    "reset --mixed": ("git reset -q --mixed HEAD~1",),
    "amend": ("git commit -q --amend -m other", "git gc -q --prune=now"),
    "gc": ("git reflog expire --expire=now --all", "git gc -q --prune=now"),
    "checkout of the file": (f"git checkout -q -- {STATE}",),
    "removed in a commit": (f"git rm -q {STATE}", "git commit -qm removed"),
    "merge --abort, looked at in between": (*DIVERGED, "fails merge -q side", "taskstate list", "git merge --abort"),
    "rebase --abort, looked at in between": (*DIVERGED, "fails rebase -q side", "taskstate list", "git rebase --abort"),
    "merge": (*SIDE, "commit side", MAIN, "session main", "commit main", "git merge -q --no-edit side"),
    "squash": (*SIDE, "commit side", MAIN, "git merge -q --squash side"),
    "rebase": (*SIDE, "commit side", MAIN, "session main", "commit main", "git checkout -q side", "git rebase -q main"),
    "cherry-pick": (*SIDE, "commit side", MAIN, "session main", "commit main", "git cherry-pick side"),
    "hand edit": ("edit 'Did 5.' 'Did 5, and more.'",),
    "hand edit of the newest": ("session 6", "edit thing-6-end thing-six"),
    "hand edit, committed": ("session 6", "edit thing-6-end thing-six", "commit six"),
    "hand edit of an item": ("session 6", "edit thing-6-end thing-six", "session 7", "commit seven"),
    "feature fail": ("taskstate feature fail 101 jwt-1 --evidence broken",),
    "criterion uncheck": ("taskstate criterion check 101 1", "taskstate criterion uncheck 101 1"),
    "archive restore": ("archive", "taskstate archive restore 101 --all"),
    "handoff": (HANDOFF, "taskstate handoff accept 101"),
    "two of everything": ("session 6", "session 7", "archive", "session 8", "archive", "commit all"),
    "reopened": ("taskstate complete 101 --force --note n", "taskstate reopen 101 --note n"),
    "fmt": ("session 6", "taskstate fmt"),
}


@pytest.mark.slow
@pytest.mark.parametrize("steps", QUIET.values(), ids=QUIET)
def test_nothing_is_told_where_nothing_is_lost(tmp_path: Path, steps: Steps) -> None:
    """Ordinary work with branches, hand edits and commands that withdraw are no loss; `doctor --fix` does nothing."""
    repo = story(tmp_path / "repository")
    repo.do("commit five", *steps)
    assert "only in commits that no branch reaches" not in repo.silent()


@pytest.mark.parametrize(
    "change",
    [
        pytest.param(lambda text: text.replace("\n", "\r\n"), id="CRLF"),
        pytest.param(lambda text: text + "\n", id="a line at the end"),
        pytest.param(lambda text: text.rstrip("\n"), id="no line end at the end"),
        pytest.param(lambda text: text.replace("- Did ", "* Did "), id="other bullets"),
    ],
)
def test_an_editor_that_keeps_the_text_loses_nothing(tmp_path: Path, change: Callable[[str], str]) -> None:
    """What an editor does to line ends and bullets takes no item away."""
    repo = story(tmp_path / "repository")
    repo.text = change(repo.text)
    for command in ("list", "lint", "doctor"):
        assert lines_of_loss(repo.run(command)) == []
    assert repo.run("doctor").status == 0


# Work that no commit held is gone, on purpose.
MEANT: dict[str, tuple[Story, Steps]] = {
    "reset": (Story(), ("git reset -q --hard",)),
    "sealed": (Story(sealed=True), ("git reset -q --hard",)),
    "reset and clean": (Story(archived=True), ("git reset -q --hard", "git clean -qfd")),
    "HEAD moved": (Story(), ("git reset -q --hard HEAD~1",)),
    "an archive": (Story(archived=True, tracked=True), (f"git checkout -q -- {STATE} {ARCHIVE}",)),
    "removed": (Story(), (f"rm {STATE}",)),
    "removed in a commit": (Story(), (f"rm {STATE}", "commit removed")),
    "stashed": (Story(), ("git stash -q", "git stash drop -q")),
}


@pytest.mark.parametrize(("how", "steps"), MEANT.values(), ids=MEANT)
def test_a_loss_that_was_meant_is_quiet_for_good(tmp_path: Path, how: Story, steps: Steps) -> None:
    """`doctor --let-go` ends the telling for what is gone now, whatever is done afterwards; nothing else is changed."""
    repo = story(tmp_path / "repository", how)
    repo.do(*steps)
    repo.tells()
    before = repo.tree()
    repo.ok("doctor", "--let-go", TASK)
    assert repo.tree() == before
    repo.silent()
    if not repo.state.exists():
        assert repo.new().status == 0
    repo.do("session later", "commit later")
    repo.silent()
    repo.do("git checkout -qb side", "session side", "commit side", "git checkout -q main")
    repo.silent()
    assert repo.count(LAST) == 0


def test_what_is_lost_after_a_letting_go_is_told_again(tmp_path: Path) -> None:
    """Letting go is of what is gone at that time, not of the task."""
    repo = story(tmp_path / "repository")
    repo.do("git reset -q --hard", f"taskstate doctor --let-go {TASK}", "session 6", "git reset -q --hard")
    repo.tells()
    repo.ok("doctor", "--fix")
    assert (repo.count(6), repo.count(LAST)) == (1, 0)
    repo.silent()


def test_letting_go_of_one_task_tells_of_the_other(tmp_path: Path) -> None:
    """Each task has a line of its own, and a way of its own."""
    repo = story(tmp_path / "repository")
    assert repo.new("7").status == 0
    repo.session("seven", "7")
    repo.do("commit seven", "session 6")
    repo.session("eight", "7")
    repo.do("git reset -q --hard")
    assert [len(repo.told(task)) for task in (TASK, "7")] == [1, 1]
    repo.ok("doctor", "--let-go", TASK)
    assert [len(repo.told(task)) for task in (TASK, "7")] == [0, 1]
    repo.ok("doctor", "--fix")
    assert ["thing-eight-end" in repo.everything(), repo.count(6)] == [True, 0]
    repo.silent()


def test_letting_go_of_nothing_is_no_error(tmp_path: Path) -> None:
    """Where nothing is gone, letting go changes nothing."""
    repo = story(tmp_path / "repository")
    repo.ok("doctor", "--let-go", TASK)
    repo.quiet()


EVERY_COMMAND: tuple[Steps, ...] = (
    ("list",),
    ("lint",),
    ("show", TASK),
    ("session", "list", TASK),
    ("brief", TASK),
    ("next",),
    ("status",),
    ("session", "add", TASK, "--did", "x", "--state", "y", "--next", "z"),
    ("feature", "pass", TASK, "jwt-2", "--evidence", "seen"),
    ("criterion", "check", TASK, "1"),
    ("archive", TASK, "--force", "--keep", "1"),
    ("fmt",),
    ("session", "add", "7", "--did", "x", "--state", "y", "--next", "z"),
    ("show", "7"),
    ("list", "--format", "json"),
)


def test_every_command_tells_the_loss_in_one_line(tmp_path: Path) -> None:
    """Reading and writing commands alike tell it on standard error, do their work, and go on telling it.

    `status` has it in its list.
    """
    repo = story(tmp_path / "repository")
    assert repo.new("7").status == 0
    repo.do("git add .taskstate/tasks/task-7-state.md", "git commit -qm seven", "git reset -q --hard")
    for command in EVERY_COMMAND:
        done = repo.run(*command)
        assert done.status == 0, (command, done)
        listed = command == ("status",) and f"  damaged   {TASK} " in done.out
        assert [len(lines_of_loss(done, task)) + (listed and task == TASK) for task in (TASK, "7")] == [1, 0], (
            command,
            done,
        )
    repo.ok("doctor", "--fix")
    assert [repo.count(number) for number in range(1, LAST + 1)] == [1] * LAST


def test_the_line_says_what_and_since_when(tmp_path: Path) -> None:
    """It names the sessions that are gone, and a time."""
    repo = story(tmp_path / "repository")
    repo.do("git reset -q --hard")
    line = repo.tells()
    assert "session" in line
    assert re.search(r"\d\d:\d\d|\d{4}-\d\d-\d\d|\bago\b", line)


def test_a_loss_after_the_cure_is_told_again(tmp_path: Path) -> None:
    """What came back and is taken away once more is missed once more; once committed, it is safe."""
    repo = story(tmp_path / "repository")
    repo.do("git reset -q --hard", "taskstate doctor --fix", f"git checkout -q -- {STATE}")
    repo.whole()
    repo.do("commit five", f"git checkout -q -- {STATE}")
    repo.silent()


def never_committed(root: Path) -> Repo:
    """Return a repository whose task 101 no commit ever held."""
    repo = Repo(root)
    assert repo.new().status == 0
    for number in range(1, LAST + 1):
        repo.session(number)
    return repo


# The state file goes, and `new` is asked for the same id.
REMOVED: dict[str, tuple[Callable[[Path], Repo], Steps]] = {
    "rm": (story, (f"rm {STATE}",)),
    "rm of a task that was never committed": (never_committed, (f"rm {STATE}",)),
    "clean of a task that was never committed": (never_committed, ("git clean -qfd",)),
    "git rm -f": (story, (f"git rm -qf {STATE}",)),
    "rm, committed": (story, (f"rm {STATE}", "commit removed")),
    "rm of the folder": (story, ("rm .taskstate/tasks",)),
    "rm of the state root": (story, ("rm .taskstate", "taskstate init")),
}


WAYS_OUT = [(name, "back") for name in REMOVED] + [("rm", "let go"), ("rm, committed", "let go")]


@pytest.mark.parametrize(("removed", "way"), WAYS_OUT, ids=lambda value: value)
def test_a_removed_file_is_told_and_not_built_over(tmp_path: Path, removed: str, way: str) -> None:
    """`new` is refused where a task of that id had work that is gone; both ways out work, then `new` does, too."""
    make, steps = REMOVED[removed]
    repo = make(tmp_path / "repository")
    repo.do(*steps)
    line = repo.tells()
    assert "doctor --let-go 101" in line
    refused = repo.new()
    assert (refused.status, refused.out) == (2, "")
    assert BACK in refused.err
    assert "--let-go 101" in refused.err
    assert not repo.state.exists()
    if way == "back":
        repo.whole()
    else:
        repo.ok("doctor", "--let-go", TASK)
        assert repo.new().status == 0
        assert repo.told() == []
        assert repo.count(LAST) == 0


def test_all_is_cleaned_and_set_up_anew(tmp_path: Path) -> None:
    """`git clean -x` in a repository that never committed anything leaves what was kept: after `init` it is told."""
    repo = never_committed(tmp_path / "repository")
    repo.do("git rm -rqf --cached .taskstate taskstate.toml", "git commit -qm without")
    repo.do("git clean -qfdx", "taskstate init")
    repo.whole()
