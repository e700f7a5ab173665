"""Tasks as earlier versions wrote them go on: `tests/cases/earlier/FORM.export` is a repository in a form of its time.

Each was written by the program of its time and is read by `git fast-import`; its branches are a task at work (101), one
that was handed over (102), a complete one (103), one that was given up (104) and one with an archive (105). The first
form has none at work: its snapshots were never published.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from taskstate.syntax.document import parse
from tests.cli.conftest import Cli
from tests.support.git_place import GitPlace

CASES = Path(__file__).parents[1] / "cases" / "earlier"
FORMS = sorted(path.stem for path in CASES.glob("*.export"))
SAID = ("--did", "Went on", "--state", "It goes on", "--next", "Go on")
PLACEHOLDER = {"be", "completed", "none", "to", "agent", "finalize", "will", "append", "entries", "here"}

each_form = pytest.mark.parametrize("form", FORMS)
each_with_turns = pytest.mark.parametrize("form", FORMS[1:])
# Keys of the front matter, and of its blocks, that somebody may cut out who finds that there are too many.
KEYS = (
    "revision",
    "audit",
    "coordination",
    "delta",
    "turn",
    "left",
    "last_seen",
    "snapshots",
    "base_commit",
    "base_tree",
)


class Earlier(Cli):
    """The command line in a clone of such a repository, on the branch of a task."""

    place: GitPlace

    def at(self, task_id: str, branch: str) -> Earlier:
        """Check a task's branch out; no error is found in it."""
        self.place.git("checkout", "--quiet", "--force", branch)
        self.place.git("clean", "-qfd")
        self.task_id, self.before = task_id, self.place.workspace.locate(task_id).read_text(encoding="utf-8")
        found = self("lint")
        assert found.status == 0, found
        return self

    @property
    def text(self) -> str:
        """The text of the task's state file."""
        return self.place.workspace.locate(self.task_id).read_text(encoding="utf-8")

    def has_gone_on(self) -> None:
        """Fail where an error is found in the task, where `fmt` is not done at once, or where a word is gone."""
        found = self("lint")
        assert found.status == 0, found
        self.ok("fmt")
        assert self("fmt", "--check").status == 0
        archive = self.place.workspace.state_root / "archives" / f"task-{self.task_id}-archive.md"
        now = self.text + (archive.read_text(encoding="utf-8") if archive.exists() else "")
        assert words(body(self.before)) - words(now) <= PLACEHOLDER


def body(text: str) -> str:
    """Return a state file's text below its front matter."""
    return text[parse(text).body :]


def words(text: str) -> set[str]:
    """Return the words of a text."""
    return {word.casefold() for word in re.findall(r"\w+", text)}


@pytest.fixture
def earlier(form: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Earlier:
    """Return the command line in a repository of a form."""
    place = GitPlace(tmp_path / "repository")
    place.git("fast-import", "--quiet", stdin=(CASES / f"{form}.export").read_bytes())
    monkeypatch.chdir(place.root)
    return Earlier(place, monkeypatch, capfd)


@each_with_turns
def test_a_task_at_work_goes_on(earlier: Earlier) -> None:
    """It is briefed, shown with its roles, and its turn ends with all that stood there."""
    task = earlier.at("101", "at-work")
    assert "Verify tokens" in task.ok("brief", "101")
    assert {"implementer", "reviewer", "validator"} <= words(task.ok("role", "show", "101"))
    task("trust", "101")
    task.ok("start", "101", "--take-over", "goes on", "--accept-drift", "another clone")
    task.ok("finish", "101", *SAID)
    assert "Went on" in body(task.text)
    task.has_gone_on()


@each_with_turns
def test_a_purge_in_the_middle(earlier: Earlier) -> None:
    """The roles are there without the data of their snapshots, and the task goes on."""
    task = earlier.at("101", "at-work")
    task.ok("purge", "101")
    assert {"implementer", "reviewer", "validator"} <= words(task.ok("role", "show", "101"))
    task.ok("session", "add", "101", *SAID)
    task.has_gone_on()


@each_with_turns
def test_two_branches_of_which_one_has_the_new_form(earlier: Earlier) -> None:
    """What was written in the old form by hand, and what a command wrote, are both in the merged file."""
    task = earlier.at("101", "at-work")
    path = task.place.workspace.locate("101")
    task.ok("session", "add", "101", *SAID)
    texts = task.before, task.text, f"{task.before.rstrip()}\n\n## Notes\n\nSIBLINGMARK\n"
    files = [task.place.write(f"../{number}", text) for number, text in enumerate(texts)]
    task.ok("merge-driver", "--", *files, path.relative_to(task.place.root))
    path.write_bytes(files[1].read_bytes())
    assert {"siblingmark", "went"} <= words(body(task.text))
    task.has_gone_on()


@each_form
def test_a_task_that_was_handed_over_is_taken_over(earlier: Earlier) -> None:
    """The successor's page has the goal, and the turn after it ends."""
    task = earlier.at("102", "handoff")
    task("trust", "102")
    assert "ACTIONMARK" in task.ok("start", "102", "--agent", "cleo", "--accept-drift", "another clone")
    task.ok("finish", "102", *SAID, "--pause")
    task.has_gone_on()


@each_form
def test_tasks_that_are_closed_are_read_and_reopened(earlier: Earlier) -> None:
    """A complete one hands down what it made, and one that was given up says why."""
    task = earlier.at("103", "complete")
    task.ok("new", "203", "--title", "Below", "--depends-on", "103", "--description", "d", "--criterion", "c")
    assert "OUTPUTMARK" in task.text + task.ok("show", "203")
    task.ok("reopen", "103", "--note", "one more thing")
    task.has_gone_on()
    task.at("104", "dropped")
    if "status: dropped" in task.before:
        assert "WHYMARK" in task.before + task.ok("show", "104")
        task.ok("reopen", "104", "--note", "somebody wants it")
    task.has_gone_on()


@each_form
def test_an_archive_grows(earlier: Earlier) -> None:
    """Its sessions verify, and more are archived to those that are there."""
    task = earlier.at("105", "archived")
    for _ in range(3):
        task.ok("session", "add", "105", *SAID)
    task.ok("archive", "105", "--force")
    task.ok("archive", "verify", "105")
    task.has_gone_on()


@pytest.mark.parametrize("form", FORMS[-1:])
def test_a_front_matter_that_was_trimmed_by_hand(earlier: Earlier) -> None:
    """Without any of its keys a task is read, and a turn goes on or says in words what is in the way."""
    task = earlier.at("101", "at-work")
    path = task.place.workspace.locate("101")
    for key in KEYS:
        text = re.sub(rf"(?m)^( *){key}:.*\n(?:\1 .*\n)*", "", task.before, count=1)
        assert text != task.before
        path.write_text(text, encoding="utf-8")
        assert task("role", "show", "101").status == 0, key
        said = task("start", "101", "--take-over", "goes on", "--dry-run")
        assert (said.status, said.err[:1]) in {(0, ""), (2, "t")}, (key, said)
        assert body(task.text) == body(text)
