"""`report --pull-request` on real branches: what it tells, from where, and what it refuses."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from taskstate.storage.git.bases import TARGETS
from tests.support.git_place import ROLE, GitPlace

if TYPE_CHECKING:
    from pathlib import Path

    from tests.cli.conftest import Cli
    from tests.support.place import Place

FOLDER = ".taskstate/tasks"
TOLD = """\
<!-- taskstate:begin -->
### Task 101: JWT Service \u2013 in progress

- criteria 1 of 2, now also: *Tokens verify*. Open: *Tokens expire*
- features 1 of 1, now passing: `jwt-1` (by a command, exit 0)
- 2 sessions: *Does not fix `#12`, says `@maria`, in `deadbeef1`: `<img` `src=x>`*; *Added expiry*
- implementer: 1 finding open: *the token never expires*

### Task 103: Gone \u2013 its file was removed, was created

### Task 105: Mangled \u2013 cannot be read

- at HEAD: line 4: the bracket that begins here is never closed. The rest is not compared

### Task 110, was 104: Renumbered \u2013 created

- criteria and features as before, no new session

### Task 111: `<b>` fixes `#1` `@all` \u2013 new, created

- criteria 0 of 1. Open: *Slugs are unique*

Tasks without a change of their own, named by commits or the branch: 102, 106. Changed files that no task names: 1.
<!-- taskstate:end -->
"""


@pytest.fixture(autouse=True)
def no_service(monkeypatch: pytest.MonkeyPatch) -> None:
    """Take away what a service says about its job."""
    for name in (*TARGETS, "GITHUB_HEAD_REF", "CI_MERGE_REQUEST_SOURCE_BRANCH_NAME"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def place(tmp_path: Path) -> Place:
    """Return a git repository with some tasks on main, and a branch that begins there."""
    place = GitPlace(tmp_path.resolve() / "repository")
    for number, title in ((102, "Named"), (103, "Gone"), (104, "Renumbered"), (105, "Mangled"), (106, "Of the branch")):
        place.new(str(number), title=title, criteria=("Slugs are unique",), features=())
    place.add("one")
    place.add("two")
    place.commit("tasks")
    place.git("switch", "--quiet", "--create", "me/task-106-x")
    return place


def work(cli: Cli, place: GitPlace) -> None:
    """Do on the branch what `TOLD` tells, and commit it."""
    cli.ok("criterion", "check", "101", "1")
    cli.ok("feature", "pass", "101", "jwt-1", "--run", "true")
    place.add("Does not fix #12, says @maria,\nin deadbeef1: <img src=x>")
    place.add("Added expiry")
    place.archive()
    cli.ok("role", "set", "101", ROLE, "--status", "in_progress")
    cli.ok("role", "block", "101", ROLE, "--finding", "the token never expires")
    for number in (103, 105):
        path = place.root / FOLDER / f"task-{number}-state.md"
        text = path.read_text(encoding="utf-8")
        path.unlink()
        if number == 105:
            path.write_text(text.replace("title:", "title: [", 1), encoding="utf-8")
    cli.ok("doctor", "renumber", "104", "110")
    place.new("111", title="<b> fixes #1 @all", criteria=("Slugs are unique",), features=())
    place.write("src/b.py", "b = 2\n")
    place.commit("Name a task\n\nTask: 102")
    place.write("src/c.py", "c = 2\n")
    place.commit("name no task, and none that there is: TASK-999")


def test_a_branch_is_told(cli: Cli, place: GitPlace) -> None:
    """Each task that changed is told by what a reviewer asks, and what its texts say can act on nothing."""
    work(cli, place)
    assert cli.ok("report", "--pull-request") == TOLD


def test_two_commits_give_the_same_bytes(cli: Cli, place: GitPlace, tmp_path: Path) -> None:
    """Neither the working tree nor what became of the target since changes the report; another clone gives it too."""
    work(cli, place)
    place.write(f"{FOLDER}/task-101-state.md", "nothing")
    place.write("src/new.py", "")
    place.git("switch", "--quiet", "--create", "later", "main", "--discard-changes")
    place.commit("the target goes on")
    place.git("branch", "--force", "main", "later")
    place.git("switch", "--quiet", "me/task-106-x")
    assert cli.ok("report", "--pull-request") == TOLD
    clone = place.clone(tmp_path / "clone")
    clone.git("switch", "--quiet", "--detach", "origin/me/task-106-x")
    cli.monkeypatch.setenv("GITHUB_HEAD_REF", "me/task-106-x")
    assert cli.ok("report", "--pull-request", "--base", "origin/main", "--root", clone.root) == TOLD


def test_records_are_whole(cli: Cli, place: GitPlace) -> None:
    """JSON has the commits and the records, with texts as they are."""
    work(cli, place)
    data = cli.json("report", "--pull-request")
    assert (data["base"], data["head"]) == (place.git("rev-parse", "main"), place.git("rev-parse", "HEAD"))
    assert [each["id"] for each in data["tasks"]] == ["101", "103", "105", "110", "111"]
    assert (data["named"], data["unnamed_files"]) == (["102", "106"], ["src/c.py"])
    first, *_, moved, _ = data["tasks"]
    assert first["sessions"][0] == {"number": 3, "did": "Does not fix #12, says @maria,\nin deadbeef1: <img src=x>"}
    assert first["criteria"]["open"] == ["Tokens expire"]
    assert first["findings"] == [{"role": ROLE, "number": 1, "text": "the token never expires", "is_new": True}]
    assert (moved["former_id"], moved["change"]) == ("104", "changed")


def test_tasks_can_be_chosen(cli: Cli, place: GitPlace) -> None:
    """With ids only they are told, as far as they changed; one that neither side has is refused."""
    place.add("three")
    place.commit("work")
    said = cli.ok("report", "TASK-103", "101", "--pull-request")
    assert said.endswith("- 1 session: *three*\n<!-- taskstate:end -->\n")
    assert "No task changed." in cli.ok("report", "103", "--pull-request")
    assert "no task 999" in cli.refused("report", "999", "--pull-request")


def test_rewritten_history_is_told(cli: Cli, place: GitPlace) -> None:
    """A session that says something else now, and one that is gone, are told; one that was archived is neither."""
    place.add("three")
    place.commit("three sessions")
    place.git("branch", "--force", "main")
    place.archive(keep=1)
    place.commit("archived")
    said = cli.ok("report", "--pull-request")
    assert (
        "JWT Service \u2013 in progress\n\n- criteria and features as before, no new session\n\nTasks without" in said
    )
    path = place.archive_path
    text = path.read_text(encoding="utf-8").replace("one", "another")
    start = text.index("## Session 2")
    path.write_text(text[:start] + text[text.index("---\n\nArchived on", start) :], encoding="utf-8")
    place.commit("rewritten")
    assert "- 1 session rewritten: 1; 1 session gone: 2" in cli.ok("report", "--pull-request")


def test_files_that_are_none(cli: Cli, place: GitPlace) -> None:
    """A state file that is not UTF-8 is named with the reason, and one that became a link is removed."""
    place.path.write_bytes(place.path.read_bytes() + b"\xff")
    path = place.root / FOLDER / "task-103-state.md"
    path.unlink()
    path.symlink_to("task-102-state.md")
    place.commit("no texts")
    said = cli.ok("report", "--pull-request")
    assert "### Task 101: JWT Service \u2013 cannot be read\n\n- at HEAD: it is not `UTF-8`. The rest" in said
    assert "### Task 103: Gone \u2013 its file was removed, was created\n" in said


def test_nothing_to_tell(cli: Cli, place: GitPlace) -> None:
    """A branch that changes no task says so, with the files that it changes."""
    place.write("src/b.py", "b = 2\n")
    place.commit("no task is named")
    place.git("branch", "--move", "work")
    said = cli.ok("report", "--pull-request", "--base", "main")
    assert "^main is not a commit" in cli.refused("report", "--pull-request", "--base", "^main")
    assert said == (
        "<!-- taskstate:begin -->\nNo task changed.\n\nChanged files that no task names: 1.\n<!-- taskstate:end -->\n"
    )


def test_credentials_are_masked(cli: Cli, place: GitPlace) -> None:
    """What looks like a credential is masked before words are made of it."""
    token = f"ghp_{'a1B2' * 9}"
    path = place.path
    place.add("three")
    path.write_text(path.read_text(encoding="utf-8").replace("three", f"password `{token}`"), encoding="utf-8")
    place.commit("leaked")
    for form in ("text", "json"):
        said = cli.ok("report", "--pull-request", "--format", form)
        assert token not in said
        assert "****" in said


def test_the_target_is_found(cli: Cli, place: GitPlace) -> None:
    """A service's variable comes first, then the branch that the remote has for it, then the usual ones."""
    place.add("three")
    first = place.commit("three")
    place.git("branch", "next")
    place.add("four")
    place.commit("four")

    def base() -> str:
        found: str = cli.json("report", "--pull-request")["base"]
        return found

    main = place.git("rev-parse", "main")
    assert base() == main
    place.git("update-ref", "refs/remotes/origin/next", first)
    place.git("symbolic-ref", "refs/remotes/origin/HEAD", "refs/remotes/origin/next")
    assert base() == first
    cli.monkeypatch.setenv("SYSTEM_PULLREQUEST_TARGETBRANCH", "refs/heads/main")
    assert base() == main
    cli.monkeypatch.setenv("GITHUB_BASE_REF", "release")
    said = cli.refused("report", "--pull-request")
    assert said.startswith("the target branch release, which GITHUB_BASE_REF names, is not here: ")
    assert "--base REV" in said
    assert cli.json("report", "--pull-request", "--base", "next")["base"] == first


def test_what_cannot_be_compared(cli: Cli, place: GitPlace, tmp_path: Path) -> None:
    """Without a target, a common commit, a commit or git there is one line that says what to do."""
    assert "no commit nowhere here" in cli.refused("report", "--pull-request", "--base", "nowhere")
    assert "--base is empty" in cli.refused("report", "--pull-request", "--base", "")
    place.git("branch", "--move", "main", "trunk")
    assert "--base REV" in cli.refused("report", "--pull-request")
    shallow = place.clone(tmp_path / "shallow", "--depth=1", "--no-single-branch")
    shallow.git("switch", "--quiet", "--orphan", "other")
    shallow.git("checkout", "--quiet", "origin/trunk", "--", ".")
    assert "there is no commit here" in cli("report", "--pull-request", "--root", shallow.root).err
    shallow.commit("other")
    assert (
        "`git fetch --unshallow`"
        in cli("report", "--pull-request", "--base", "origin/trunk", "--root", shallow.root).err
    )
