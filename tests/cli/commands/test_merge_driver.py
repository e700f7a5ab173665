from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from taskstate.model.task_state import read_state
from taskstate.setup.repository import DRIVER, DRIVER_KEY
from taskstate.syntax.document import parse

if TYPE_CHECKING:
    from tests.cli.conftest import Cli
    from tests.support.place import Place

pytestmark = pytest.mark.slow  # it starts many processes, most of them git

CONFLICT = re.compile(r"^<<<<<<< ours\n(.*?)^=======\n(.*?)^>>>>>>> theirs\n", re.MULTILINE | re.DOTALL)


class Repository:
    """The repository of `place` under git, with the merge driver that `taskstate init` has set up."""

    def __init__(self, place: Place, cli: Cli) -> None:
        self.place = place
        self.cli = cli
        self.git("init", "--quiet", "--initial-branch=main")
        self.git("config", "user.name", "Somebody")
        self.git("config", "user.email", "somebody@example.invalid")
        cli.ok("init")
        self.commit("base")

    def git(self, *arguments: str, status: int = 0) -> str:
        """Run git, and return what it said."""
        done = subprocess.run(
            ["git", *arguments], cwd=self.place.root, capture_output=True, encoding="utf-8", check=False
        )
        assert done.returncode == status, done
        return done.stdout + done.stderr

    def commit(self, message: str) -> None:
        """Commit all that there is."""
        self.git("add", "--all")
        self.git("commit", "--quiet", "--message", message)

    def session(self, what: str) -> None:
        """Append a session and commit it."""
        self.cli.ok("session", "add", "101", "--did", what, "--state", f"after {what}", "--next", "go on")
        self.commit(what)

    def branch(self, name: str) -> None:
        """Go to a new branch."""
        self.git("checkout", "--quiet", "-b", name)

    def back(self) -> None:
        """Go back to the branch main."""
        self.git("checkout", "--quiet", "main")

    @property
    def did(self) -> list[tuple[int, str]]:
        """What the sessions of the log say was done, with their numbers."""
        return [(session.number, session.did[0]) for session in self.place.state.sessions]

    def is_clean(self) -> None:
        """Assert that nothing is in conflict, and that the linter finds nothing in any file."""
        assert "<<<<<<<" not in self.place.text
        self.cli.ok("lint")


@pytest.fixture
def repo(place: Place, cli: Cli, monkeypatch: pytest.MonkeyPatch) -> Repository:
    """Return the repository under git; git finds `taskstate` where the tests' own Python is."""
    monkeypatch.setenv("PATH", str(Path(sys.executable).parent), prepend=os.pathsep)
    return Repository(place, cli)


# What git does with it


def test_branches_merge_by_meaning(repo: Repository) -> None:
    """Sessions, features and criteria of both branches are all in the result, and the derived values are right."""
    repo.cli.ok("feature", "add", "101", "jwt-2", "checks a JWT")
    repo.session("common work")
    repo.branch("left")
    repo.session("left work")
    repo.cli.ok("feature", "pass", "101", "jwt-1", "--evidence", "left proof")
    repo.cli.ok("criterion", "check", "101", "1")
    repo.commit("left proof")
    repo.back()
    repo.session("right work")
    repo.cli.ok("feature", "pass", "101", "jwt-2", "--evidence", "right proof")
    repo.cli.ok("criterion", "check", "101", "2")
    repo.commit("right proof")
    revision = repo.place.state.revision
    repo.git("merge", "--no-edit", "left")
    state = repo.place.state
    assert [number for number, _ in repo.did] == [1, 2, 3]
    assert {what for _, what in repo.did} == {"common work", "left work", "right work"}
    assert state.checklist is not None
    assert [(each.passes, each.evidence) for each in state.checklist.features] == [
        (True, "left proof"),
        (True, "right proof"),
    ]
    assert state.checklist.progress == "100%"
    assert [each.checked for each in state.criteria] == [True, True]
    assert state.revision == revision + 1
    repo.is_clean()
    repo.session("work after the merge")
    assert repo.did[-1] == (4, "work after the merge")


def test_branches_that_hand_over_merge(repo: Repository) -> None:
    """Both handoffs are counted and kept, the newer one is open; one accepted on both branches is accepted once."""
    where = ("--file", "app.py", "--location", "line 1", "--goal", "proved")
    (repo.place.root / "app.py").touch()
    for phase in ("1", "2", "3"):
        repo.cli.ok("phase", "add", "101", phase, "--name", "Lemma", "--objective", "Define")
    repo.cli.ok("handoff", "new", "101", "--action", "Start.", "--phase", "1", *where)
    repo.commit("handed over")
    repo.branch("left")
    repo.cli.ok("handoff", "accept", "101", "--agent", "ann")
    repo.session("left work")
    repo.cli.ok("handoff", "new", "101", "--action", "Left.", "--phase", "2", *where)
    repo.commit("left")
    repo.back()
    repo.cli.ok("handoff", "accept", "101", "--agent", "bob")
    repo.session("right work")
    repo.cli.ok("handoff", "new", "101", "--action", "Right.", "--phase", "3", *where)
    repo.commit("right")
    repo.git("merge", "--no-edit", "left")
    result = repo.place.state.document.front_matter["handoffs"]
    listed = repo.cli.json("handoff", "list", "101")
    assert [each["fault"] for each in listed] == [None] * len(listed)
    assert result["count"] == 3
    assert f".taskstate/{result['open']}" == max(each["handoff_path"] for each in listed if each["status"] == "open")
    assert [each["accepted_by"] for each in listed if each["status"] == "accepted"] == ["ann"]
    for _ in range(sum(each["status"] == "open" for each in listed)):
        repo.cli.ok("handoff", "accept", "101")
    repo.cli.ok("lint")


def test_branch_is_rebased(repo: Repository) -> None:
    """Each replayed commit keeps its own session apart from the others, and no number is given twice."""
    repo.session("common work")
    repo.branch("topic")
    for number in (1, 2, 3):
        repo.session(f"topic {number}")
    repo.back()
    for number in (1, 2):
        repo.session(f"main {number}")
    repo.git("checkout", "--quiet", "topic")
    repo.git("rebase", "main")
    assert [number for number, _ in repo.did] == [1, 2, 3, 4, 5, 6]
    values = [what for _, what in repo.did]
    assert sorted(values) == ["common work", "main 1", "main 2", "topic 1", "topic 2", "topic 3"]
    assert [what for what in values if what.startswith("topic")] == ["topic 1", "topic 2", "topic 3"]
    repo.is_clean()


def test_commit_is_picked(repo: Repository) -> None:
    """A session that was picked to another branch is one session still when the branches are merged."""
    repo.branch("topic")
    repo.session("topic 1")
    repo.session("topic 2")
    repo.back()
    repo.session("main 1")
    repo.git("cherry-pick", "topic")
    assert sorted(what for _, what in repo.did) == ["main 1", "topic 2"]
    repo.git("merge", "--no-edit", "topic")
    assert sorted(what for _, what in repo.did) == ["main 1", "topic 1", "topic 2"]
    repo.is_clean()


def test_what_was_committed_is_found_again(repo: Repository) -> None:
    """Compared with either parent no session was rewritten, though numbers and references to them have changed."""
    repo.branch("topic")
    repo.session("topic 1")
    repo.session("topic 2, after Session 1")
    repo.back()
    repo.session("main 1")
    repo.session("main 2, after Session 1")
    repo.git("merge", "--no-edit", "topic")
    numbers = {what.split(",")[0]: number for number, what in repo.did}
    for side in ("topic", "main"):
        assert f"{side} 2, after Session {numbers[f'{side} 1']}" in repo.place.text
    for parent in ("HEAD^1", "HEAD^2"):
        repo.cli.ok("lint", "--against", parent)


def test_archived_here_and_appended_there(repo: Repository) -> None:
    """What one branch archived stays archived, and the other's new session gets a number above those."""
    for number in (1, 2, 3):
        repo.session(f"common {number}")
    repo.branch("topic")
    repo.session("topic")
    repo.back()
    repo.session("main")
    repo.cli.ok("archive", "101", "--force", "--keep", "1")
    repo.commit("archive")
    repo.git("merge", "--no-edit", "topic")
    assert [number for number, _ in repo.did] == [4, 5]
    assert sorted(what for _, what in repo.did) == ["main", "topic"]
    assert repo.place.numbers() == [(1, True), (2, True), (3, True), (4, False), (5, False)]
    repo.is_clean()


@pytest.mark.parametrize(("ours", "theirs"), [("1", "2"), ("2", "1"), ("1", "1")])
def test_both_have_archived(repo: Repository, ours: str, theirs: str) -> None:
    """Each session appears once, in the archive or in the log, whichever batches the branches made."""
    repo.session("common")
    repo.branch("topic")
    for number in (1, 2):
        repo.session(f"topic {number}")
    repo.cli.ok("archive", "101", "--force", "--keep", theirs)
    repo.commit("archive topic")
    repo.back()
    for number in (1, 2):
        repo.session(f"main {number}")
    repo.cli.ok("archive", "101", "--force", "--keep", ours)
    repo.commit("archive main")
    repo.git("merge", "--no-edit", "topic")
    assert [number for number, _ in repo.place.numbers()] == [1, 2, 3, 4, 5]
    data = [repo.cli.json("session", "show", "101", str(number))["did"] for number in range(1, 6)]
    assert sorted(data) == [["common"], ["main 1"], ["main 2"], ["topic 1"], ["topic 2"]]
    repo.is_clean()
    repo.cli.ok("lint", "--against", "HEAD^1")
    repo.cli.ok("lint", "--against", "HEAD^2")
    repo.session("afterwards")
    assert repo.did[-1][0] == 6
    repo.cli.ok("archive", "101", "--force", "--keep", "1")
    repo.is_clean()


def test_branches_are_merged_into_each_other(repo: Repository) -> None:
    """Where both have merged the other, and git has several common versions, every session is still there once."""
    repo.branch("topic")
    repo.session("topic 1")
    repo.back()
    repo.session("main 1")
    repo.git("branch", "before")
    repo.git("merge", "--no-edit", "topic")
    repo.session("main 2")
    repo.git("checkout", "--quiet", "topic")
    repo.git("merge", "--no-edit", "before")
    repo.session("topic 2")
    repo.back()
    repo.git("merge", "--no-edit", "topic")
    assert [number for number, _ in repo.did] == [1, 2, 3, 4]
    assert sorted(what for _, what in repo.did) == ["main 1", "main 2", "topic 1", "topic 2"]
    repo.is_clean()


def test_what_truly_conflicts_is_marked(repo: Repository) -> None:
    """Only the key that both changed has markers, git stops, the linter tells, and one can go on from there."""
    repo.branch("topic")
    repo.place.text = repo.place.text.replace("title: JWT Service\n", "title: Tokens\n")
    repo.session("topic")
    repo.back()
    repo.place.text = repo.place.text.replace("title: JWT Service\n", "title: Keys\n")
    repo.session("main")
    assert "CONFLICT" in repo.git("merge", "--no-edit", "topic", status=1)
    assert CONFLICT.findall(repo.place.text) == [("title: Keys\n", "title: Tokens\n")]
    result = repo.cli("lint")
    assert result.status == 1
    assert "TS007" in result.out
    repo.place.text = CONFLICT.sub("title: Keys\n", repo.place.text)
    assert [number for number, _ in repo.did] == [1, 2]
    repo.cli("lint", "--fix", "--unsafe-fixes")
    repo.commit("merged")
    repo.is_clean()


def test_files_anywhere_are_reached(repo: Repository) -> None:
    """A state file outside of the state folder is merged by meaning too."""
    folder = repo.place.root / "-deep" / "er"
    folder.mkdir(parents=True)
    path = folder / "task-9-state.md"
    text = repo.place.text.replace('"101"', '"9"').replace("#101", "#9")
    for name, key in (("base", ""), ("topic", "epic: Login\n"), ("main", "prd: wishes.md\n")):
        if name == "topic":
            repo.branch(name)
        elif name == "main":
            repo.back()
        path.write_text(text.replace("created_at:", f"{key}created_at:", 1), encoding="utf-8")
        repo.commit(name)
    repo.git("merge", "--no-edit", "topic")
    assert "\nepic: Login\nprd: wishes.md\ncreated_at: " in path.read_text(encoding="utf-8")


def test_without_the_driver_git_merges_as_before(repo: Repository) -> None:
    """A clone without `taskstate init` gets git's own text merge, which fails on two sessions."""
    repo.git("config", "--remove-section", "merge.taskstate")
    repo.branch("topic")
    repo.session("topic")
    repo.back()
    repo.session("main")
    assert "CONFLICT" in repo.git("merge", "--no-edit", "topic", status=1)


# The command by itself


def versions(place: Place, base: str, ours: str, theirs: str) -> list[str]:
    """Write three versions, and return the arguments that name them."""
    names = []
    for name, text in (("base", base), ("ours", ours), ("theirs", theirs)):
        (place.root / name).write_text(text, encoding="utf-8")
        names.append(name)
    return names


def test_result_takes_the_place_of_ours(cli: Cli, place: Place) -> None:
    """Without conflicts the status is 0 and nothing is printed; the other two files stay."""
    names = versions(place, "a\nb\nc\n", "A\nb\nc\n", "a\nb\nC\n")
    assert cli.ok("merge-driver", *names, "notes.md") == ""
    assert [(place.root / name).read_text(encoding="utf-8") for name in names] == [
        "a\nb\nc\n",
        "A\nb\nC\n",
        "a\nb\nC\n",
    ]


def test_conflicts_are_told(cli: Cli, place: Place) -> None:
    """With conflicts the status is 1, and standard error says how many and of which file."""
    names = versions(place, "a\n", "b\n", "c\n")
    result = cli("merge-driver", *names, "docs/notes.md")
    assert (result.status, result.out) == (1, "")
    assert "docs/notes.md: 1 left to decide" in result.err
    assert (place.root / "ours").read_text(encoding="utf-8") == "<<<<<<< ours\nb\n=======\nc\n>>>>>>> theirs\n"


def test_conflicts_in_json(cli: Cli, place: Place) -> None:
    """In JSON the path and the number of conflicts are reported."""
    names = versions(place, "a\n", "b\n", "c\n")
    assert cli.json("merge-driver", *names, "notes.md", status=1) == {"path": "notes.md", "conflicts": 1}


def test_file_that_is_not_there_is_refused(cli: Cli, place: Place) -> None:
    """A version that cannot be read is one line, and nothing is written: git then keeps ours and says unmerged."""
    names = versions(place, "a\n", "b\n", "c\n")
    assert "no-such" in cli.refused("merge-driver", names[0], names[1], "no-such", "notes.md")


def test_damaged_repository_does_not_matter(cli: Cli, place: Place) -> None:
    """The configuration may itself be in conflict while git merges, so that it is not read."""
    names = versions(place, place.text, place.text.replace("JWT", "XML"), place.text.replace("tokens", "keys"))
    (place.root / "taskstate.toml").write_text("<<<<<<< ours\n", encoding="utf-8")
    cli.ok("merge-driver", *names, "task-101-state.md")
    merged = (place.root / "ours").read_text(encoding="utf-8")
    assert read_state(parse(merged)).title == "XML Service"
    assert "Issue keys." in merged


def test_driver_is_what_git_runs(repo: Repository) -> None:
    """The command in git's configuration is the one that is tested here."""
    assert repo.git("config", "--get", DRIVER_KEY).strip() == DRIVER
    assert repo.git("check-attr", "merge", "--", "x/task-1-archive.md").strip().endswith("merge: taskstate")
