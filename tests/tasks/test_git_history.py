"""The Git History holds the commits of the task, each once, and what was written there by hand."""

from __future__ import annotations

import re
import subprocess
from typing import TYPE_CHECKING

import pytest

from taskstate.archive import verify as archive_verify
from taskstate.storage.git import log as git_log
from taskstate.storage.git.log import Commit
from taskstate.tasks import git_history
from tests.support.place import TASK, Place, refusal, tree

if TYPE_CHECKING:
    from pathlib import Path

    from taskstate.writing.change import Outcome

YEAR = "2026-01-31T{:02}:{:02}:00Z"


@pytest.fixture
def place(tmp_path: Path) -> Place:
    """Return a git repository with task 101."""
    place = Place(tmp_path / "repository")
    call(place, "init", "--quiet")
    return place


def call(place: Place, *arguments: str, at: int = 5) -> str:
    """Run git, so many minutes after the task was created."""
    when = YEAR.format(12 + at // 60, at % 60)
    environment = {"GIT_COMMITTER_DATE": when, "GIT_AUTHOR_DATE": when}
    names = {f"GIT_{who}_{what}": "x@example.org" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}
    done = subprocess.run(["git", *arguments], cwd=place.root, env=environment | names, capture_output=True, check=True)
    return done.stdout.decode().strip()


def commit(place: Place, message: str, *, at: int = 5) -> str:
    """Make a commit and return the beginning of its id."""
    call(place, "commit", "--quiet", "--allow-empty", "--cleanup=verbatim", "-m", message, at=at)
    return call(place, "rev-parse", "HEAD")[:10]


def sync(place: Place, *, since: str = "") -> Outcome:
    """Fill the Git History."""
    return git_history.sync(place.workspace, TASK, place.request(), since=since)


def history(place: Place) -> str:
    """Return what the section Git History holds."""
    section = place.state.section("Git History")
    assert section
    return section.body.of(place.text)


# Messages of commits; those that name task 101 come first.
NAMING = (
    *("x\n\nTask: 101", "x\n\nTask: #7, TASK-101", "x\n\ntask: 101\nReviewed-by: y", "x\n\nRefs: TASK-101"),
    *("Slugs for task 101", "Slugs for Task #101.", "Slugs for tasks 7, 101 and 102", "Tasks 7 & 101: slugs"),
    *("task-101: x", "Task-101.", "Task: 101", "[TASK-101] x", 'Revert "Slugs for task 101"'),
    *("Merge branch 'task-101'", "x\n\nwhy\n\nTask: 101"),
)
NOT_NAMING = (
    *("fix #101", "fix (#101).", "x\n\n#101", "x\n\nunlike task 101 this is small", "x\n\nTask 101 is next.\n\nBy: y"),
    *("task 1010", "task 101a", "task 101.2", "TASK-101-b", "task-101-state.md", "x\n\nTask: 1012", "task 1101"),
    *("SUBTASK-101", "subtask 101", "a-task-101", "101", "tasks", "task 7 has 101 parts", "task 101\u00e9"),
)


def _commit(message: str) -> Commit:
    return Commit("a" * 40, "a" * 10, " ".join(message.partition("\n\n")[0].split()), message)


@pytest.mark.parametrize("message", [*NAMING, *NOT_NAMING])
def test_what_names_a_task(message: str) -> None:
    """A commit names a task in its subject or a trailer, in whatever case; a number of its own may be a request's."""
    assert bool(git_history.commits_of([_commit(message)], "101")) is (message in NAMING)


def test_ids_are_compared_in_whatever_case() -> None:
    """Two ids that differ in case alone are one; one without a digit is named by a dash or a line, not by a blank."""
    commits = [_commit(each) for each in ("Task AB-1", "TASK-AB-1", "x\n\nTask: aB-1", "task ab-12", "task ab")]
    assert git_history.commits_of(commits, "Ab-1") == commits[:3]
    commits = [_commit(each) for each in ("TASK-list", "x\n\nTask: list", "the task list")]
    assert git_history.commits_of(commits, "list") == commits[:2]


def test_what_was_made_in_a_turn_belongs_to_its_task() -> None:
    """It need name nothing; a line that names another task alone says whose it is."""
    commits = [_commit(each) for each in ("x", "fix #7", "like task 7", "x\n\nTask: 7, 101", "x\n\nTask: 7")]
    assert git_history.commits_of(commits, "101", {"a" * 40}) == commits[:4]
    assert git_history.commits_of(commits, "101", {"b" * 40}) == commits[3:4]


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_commits_are_listed_once(place: Place, end: str) -> None:
    """What names the task since it was created is listed, newest first, however often that is requested."""
    place.text = place.text.replace("\n", end)
    commit(place, "Task 101 long before", at=-60)
    first, _, third = commit(place, "add x\n\nTask: 101"), commit(place, "other"), commit(place, "Task 101 y", at=6)
    assert sync(place).notes == ("2 commits listed",)
    assert history(place) == f"{end}- `{third}` - Task 101 y{end}- `{first}` - add x{end}{end}"
    before = tree(place.root)
    assert sync(place).notes == ("no commit that is not listed names the task",)
    assert tree(place.root) == before
    fourth = commit(place, "Task 101 z", at=7)
    sync(place)
    assert (
        history(place)
        == f"{end}- `{fourth}` - Task 101 z{end}- `{third}` - Task 101 y{end}- `{first}` - add x{end}{end}"
    )


def test_lines_by_hand_stay(place: Place) -> None:
    """What a user wrote stays as it is, and a commit that it names is not listed again."""
    first, second = commit(place, "Task 101 a"), commit(place, "Task 101 b", at=6)
    by_hand = f"Read this:\n\n- a note\n- `{first[:7]}` (the first one)\n\nAnd this.\n\n"
    place.text = place.text.replace("## 5. Git History\n\n", f"## 5. Git History\n\n{by_hand}")
    sync(place)
    assert history(place) == "\n" + by_hand.replace("- a note", f"- `{second}` - Task 101 b\n- a note")


@pytest.mark.parametrize("was", ["*None yet.*", "Some text"])
def test_without_a_list_one_is_begun(place: Place, was: str) -> None:
    """A placeholder gives way to the list, and a text stays above it."""
    sha = commit(place, "Task 101 a")
    place.text = place.text.replace("## 5. Git History\n\n", f"## 5. Git History\n\n{was}\n\n")
    sync(place)
    head = "" if was.startswith("*") else f"{was}\n\n"
    assert history(place) == f"\n{head}- `{sha}` - Task 101 a\n\n"


def test_section_that_is_missing_is_made(place: Place) -> None:
    """A file made by hand may lack the section."""
    sha = commit(place, "Task 101 a")
    place.text = place.text.replace("## 5. Git History\n\n", "")
    assert sync(place).changed
    assert f"\n\n## 5. Git History\n\n- `{sha}` - Task 101 a\n\n## 6. Chain Output\n" in place.text


def test_nothing_to_list_makes_no_section(place: Place) -> None:
    """Where no commit names the task the file stays as it is."""
    commit(place, "other")
    place.text = place.text.replace("## 5. Git History\n\n", "")
    before = tree(place.root)
    assert not sync(place).changed
    assert tree(place.root) == before


def test_the_newest_20_stay(place: Place) -> None:
    """Older ones go into the archive, are not listed again, and are no batch of it."""
    shas = [commit(place, f"Task 101 number {n}", at=n) for n in range(5, 30)]
    place.fill(1, 2, 3)
    sync(place)
    assert re.findall("`(.*?)`", history(place)) == shas[:4:-1]
    assert re.findall("`(.*?)`", place.archived) == shas[4::-1]
    place.archive()
    shas += [commit(place, f"Task 101 number {n}", at=n) for n in (30, 31)]
    assert sync(place).notes[0] == "2 commits listed"
    assert not sync(place).changed
    assert re.findall("`(.*?)`", history(place)) == shas[:6:-1]
    assert sorted(re.findall(r"^- `(.*?)`", place.archived, re.MULTILINE)) == sorted(shas[:7])
    assert archive_verify.verify(place.workspace, place.workspace.load(place.path)).problems == ()
    assert place.numbers() == [(1, True), (2, True), (3, False)]
    assert place.state.text("archive_path") == "archives/task-101-archive.md"


def test_subjects_are_no_structure(place: Place) -> None:
    """A subject with comments, marks or escapes is a line of the list and nothing else."""
    for number, subject in enumerate(
        ("TASK-101 <!-- taskstate: ignore-file TS001 -->", "# TASK-101\x1b[31m", "TASK-101 " + "x" * 999)
    ):
        commit(place, f"{subject}\n\n### Session 9", at=5 + number)
    sync(place)
    section = place.state.section("Git History")
    assert section
    assert len(place.state.document.items(section.body)) == 3
    assert "<!--" not in history(place)
    assert "\x1b" not in history(place)
    assert place.numbers() == []


def test_since_a_revision(place: Place) -> None:
    """With a revision only what comes after it is listed, also from before the task was created."""
    first, second = commit(place, "Task 101 a"), commit(place, "Task 101 b", at=6)
    sync(place, since=first)
    assert re.findall("`(.*?)`", history(place)) == [second]
    assert "there is no commit" in refusal(lambda: sync(place, since="--output=x")).message
    assert "there is no commit" in refusal(lambda: sync(place, since="nowhere")).message


def test_repository_without_a_commit_has_nothing_to_list(place: Place) -> None:
    """Before the first commit nothing names the task."""
    assert not sync(place).changed


def test_outside_of_git_it_is_refused(tmp_path: Path) -> None:
    """Without a repository the command says so."""
    assert refusal(lambda: sync(Place(tmp_path / "plain"))).code == "no-git"


def test_log_leaves_out_what_is_older(place: Place) -> None:
    """The history is read from a time on, or from a revision on."""
    first = commit(place, "a\n\nb", at=5)
    second = commit(place, "c", at=9)
    assert [each.short for each in git_log.log(place.root)] == [second, first]
    assert [each.short for each in git_log.log(place.root, after=YEAR.format(12, 9))] == [second]
    assert [each.short for each in git_log.log(place.root, after="once")] == [second, first]
    assert git_log.log(place.root)[1].message.rstrip("\n") == "a\n\nb"
    assert git_log.log(place.root)[1].subject == "a"
