from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from taskstate.errors import StaleFile
from taskstate.storage import files, folders, journal
from taskstate.tasks import sessions
from taskstate.workspace.workspace import Loaded
from taskstate.writing.change import Change
from taskstate.writing.startup import recover
from taskstate.writing.writer import change, unified_diff
from tests.support.crashing import leave_plan
from tests.support.place import TASK, Place, refusal, tree

if TYPE_CHECKING:
    from taskstate.writing.change import Outcome


@pytest.fixture
def place(tmp_path: Path) -> Place:
    """Return a repository with task 101."""
    return Place(tmp_path / "repository")


# The expected revision


@pytest.mark.parametrize("form", ["{number}", "{number}-{digest}", "{number}-{digest:.4}", "{number}-{upper}"])
def test_right_revision_is_accepted(place: Place, form: str) -> None:
    """The number alone, or with the beginning of the hash, in any case of letters."""
    digest = files.digest(place.path.read_bytes())
    expect = form.format(number=1, digest=digest, upper=digest[:8].upper())
    assert place.check(request=place.request(expect=expect)).changed


@pytest.mark.parametrize("expect", ["0", "2", "1-00000000", "2-{digest}"])
def test_other_revision_is_refused(place: Place, expect: str) -> None:
    """A file at another revision is not changed, and the error has the right token."""
    before = tree(place.root)
    token = place.workspace.load(place.path).token
    expect = expect.format(digest=token.partition("-")[2])
    error = refusal(lambda: place.check(request=place.request(expect=expect)))
    assert error.code == "revision"
    assert token in error.message
    assert tree(place.root) == before


def test_hand_edit_is_seen_by_the_token_and_not_by_the_number(place: Place) -> None:
    """A hand edit leaves the revision number: only the full token detects it."""
    token = place.workspace.load(place.path).token
    place.text += "\n"
    assert refusal(lambda: place.check(request=place.request(expect=token))).code == "revision"
    assert place.check(request=place.request(expect="1")).changed


@pytest.mark.parametrize("expect", ["x", "1-", "-1", "1.0", " 1", "1-x-y ", "\u0661", "9" * 5_000, "v1"])
def test_what_is_no_revision_is_refused(place: Place, expect: str) -> None:
    """A word that is no revision changes nothing."""
    before = tree(place.root)
    assert refusal(lambda: place.check(request=place.request(expect=expect))).code in {"usage", "revision"}
    assert tree(place.root) == before


def test_outcome_tells_the_next_token(place: Place) -> None:
    """The token that a change returns is what the next one may expect."""
    token = place.check(1).revision
    assert token == place.workspace.load(place.path).token
    assert place.check(2, request=place.request(expect=token)).changed


# The outcome


def test_outcome_carries_the_new_state(place: Place) -> None:
    """The outcome has the state after the change, or on a dry run the state that it would have."""
    tried = place.add("Mine.", request=place.request(dry_run=True))
    assert (tried.state.revision, [each.did for each in tried.state.sessions]) == (2, [("Mine.",)])
    assert place.state.sessions == ()
    for job, *given in (("new", "7"), ("add",), ("check",), ("check",)):  # the last one changes nothing
        outcome: Outcome = getattr(place, job)(*given)
        assert outcome.text == (place.root / outcome.path).read_text(encoding="utf-8")
        assert outcome.state.revision == int(outcome.revision.partition("-")[0])


def test_state_without_an_id_has_that_of_the_file_name(place: Place) -> None:
    """A file by hand may leave its `task_id` out, and is the same task after a change as before."""
    lines = place.text.split("\n")
    place.text = "\n".join(line for line in lines if not line.startswith(("task_id:", "  seal:")))
    assert place.check(1).state.id == TASK


def test_outcome_carries_the_result_of_the_plan_that_was_written(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    """The result of a job whose file changed meanwhile is dropped with its plan."""

    def job(loaded: Loaded) -> Change[int]:
        text = loaded.document.text
        return Change(text=text.replace("JWT Service", "JWT"), result=text.count("<!-- by hand"))

    monkeypatch.setattr(journal, "write", Racing(place, 2))
    assert change(place.workspace, TASK, job, place.request()).result == 2
    assert change(place.workspace, TASK, job, place.request()).result == 2


def test_outcome_is_the_file_as_it_is_read_again(place: Place) -> None:
    """What a step returns is what the next one would read: the same bytes, revision and place."""
    for job, *given in (("add",), ("check", 1), ("check", 1)):  # the last one changes nothing
        outcome: Outcome = getattr(place, job)(*given)
        again = place.workspace.load(place.path)
        assert (outcome.loaded.relative, outcome.loaded.data) == (again.relative, again.data)
        assert (outcome.loaded.token, outcome.loaded.document.text) == (again.token, again.document.text)


# What is known of the file before


def test_known_file_is_taken_as_it_was_read(place: Place) -> None:
    """Where the file still holds the bytes that were read, the job gets what was read, and nothing is parsed again."""
    known, given = place.check(1).loaded, list[Loaded]()

    def job(loaded: Loaded) -> Change:
        given.append(loaded)
        return Change(text=loaded.document.text.replace("JWT Service", "JWT"))

    assert change(place.workspace, TASK, job, place.request()._replace(known=known)).changed
    assert given[0] is known


def test_known_file_that_somebody_changed_is_read_anew(place: Place) -> None:
    """A change is planned on what the file holds under the lock, and an expected revision is compared with that."""
    known = place.check(1).loaded
    theirs = place.add("Theirs.")
    error = refusal(lambda: place.check(2, request=place.request(expect=known.token)._replace(known=known)))
    assert (error.code, theirs.revision in error.message) == ("revision", True)
    assert place.check(2, request=place.request()._replace(known=known)).changed
    assert ("Theirs." in place.text, place.state.revision) == (True, 4)


# Writing


def test_every_write_raises_the_revision_by_one(place: Place) -> None:
    """Each change raises the update count, and a write without a change does not."""
    jobs = {"add": 2, "check": 3, "prove": 4, "archive": 4, "add again": 5, "archive again": 6, "check again": 6}
    for job, revision in jobs.items():
        getattr(place, job.split(maxsplit=1)[0])()
        assert place.state.revision == revision, job


def test_mode_of_the_file_stays(place: Place) -> None:
    """A state file keeps the permissions that it has."""
    place.path.chmod(0o640)
    place.add()
    assert place.path.stat().st_mode & 0o777 == 0o640


def test_result_that_reads_worse_is_not_written(place: Place) -> None:
    """A change whose text could not be read, or would be another task, is refused."""
    before = place.text
    for wrong in (
        before.replace("## 5. Git History", "```\n\n## 5. Git History"),
        before.replace("title: JWT Service", "title: JWT: Service\nx: ["),
        before.replace('"passes": false', '"passes": maybe'),
        before.replace('task_id: "101"', 'task_id: "7"'),
    ):
        assert wrong != before
        error = refusal(lambda: change(place.workspace, TASK, lambda _: Change(text=wrong), place.request()))  # noqa: B023 - called at once
        assert error.code in {"unsafe", "unreadable"}
        assert place.text == before


def test_damage_that_was_there_before_is_no_obstacle(place: Place) -> None:
    """A file that could not be read in one place can still be changed in another."""
    place.text = place.text.replace('"passes": false', '"passes": maybe')
    place.add()
    assert place.numbers() == [(1, False)]
    assert '"passes": maybe' in place.text


class Racing:
    """Somebody who changes the state file just before each of the first `times` writes."""

    def __init__(self, place: Place, times: int) -> None:
        self.place, self.times, self.seen = place, times, 0
        self.write = journal.write

    def __call__(self, *args: Any, **options: Any) -> None:  # noqa: ANN401 - handed on as they come
        """Change the file, then write."""
        if self.seen < self.times:
            self.seen += 1
            self.place.text = self.place.text.replace("## 5. Git", f"<!-- by hand {self.seen} -->\n\n## 5. Git")
        self.write(*args, **options)


@pytest.mark.parametrize("times", [1, 4])
def test_change_in_between_is_planned_for_anew(place: Place, monkeypatch: pytest.MonkeyPatch, times: int) -> None:
    """A file that somebody changed meanwhile is read again, and neither change is lost."""
    monkeypatch.setattr(journal, "write", Racing(place, times))
    place.add("Mine.")
    assert all(f"<!-- by hand {number} -->" in place.text for number in range(1, times + 1))
    assert sessions.find_session(place.workspace, TASK, 1).texts["did"] == ("Mine.",)
    assert place.state.revision == 2


def test_change_in_between_is_refused_where_a_revision_was_expected(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With an expected token a file that changed meanwhile is an error."""
    monkeypatch.setattr(journal, "write", Racing(place, 1))
    token = place.workspace.load(place.path).token
    assert refusal(lambda: place.check(request=place.request(expect=token))).code == "revision"
    assert "[x]" not in place.text


def test_file_that_keeps_changing_is_given_up(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    """If the file changes at every attempt, nothing is overwritten, and the write fails with an error."""
    monkeypatch.setattr(journal, "write", Racing(place, 1_000))
    with pytest.raises(StaleFile, match="keeps being changed") as caught:
        place.add()
    assert caught.value.help == "run this again"
    assert place.numbers() == []


def test_save_in_the_instant_of_the_replace_is_kept(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    """After a save in place in the instant of the rename, the command plans anew: save and session are both there."""
    place.add("First.")
    really, seen, old = folders.rename, [False], place.text
    editor = place.path.open("r+b", buffering=0)

    def replace_and_save(source: Path, target: Path) -> None:
        really(source, target)
        if target == place.path and not seen[0]:
            seen[0] = True
            editor.write(by_hand(old).encode())
            editor.close()

    monkeypatch.setattr(folders, "rename", replace_and_save)
    place.add("Second.")
    assert seen == [True]
    recorded = sessions.all_sessions(place.workspace, TASK)
    assert [session.texts["did"] for session in recorded] == [("First.",), ("Second.",)]
    assert "<!-- by hand -->" in place.text


def test_archiving_that_meets_such_a_save_is_taken_back_and_made_anew(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What was appended to the archive is undone before the change is planned again: no session is there twice."""
    for text in ("First.", "Second.", "Third."):
        place.add(text)
    really, seen = folders.rename, [False]

    def save_and_replace(source: Path, target: Path) -> None:
        if target == place.path and not seen[0]:
            seen[0] = True
            beside = place.path.with_name("beside")
            beside.write_text(by_hand(place.text), encoding="utf-8")
            really(beside, place.path)
            raise StaleFile("changed")
        really(source, target)

    monkeypatch.setattr(folders, "rename", save_and_replace)
    place.archive(keep=1)
    assert seen == [True]
    assert place.numbers() == [(1, True), (2, True), (3, False)]
    assert "<!-- by hand -->" in place.text


def by_hand(text: str) -> str:
    """Return the text with a change that no command makes."""
    return text.replace("## 6. ", "<!-- by hand -->\n\n## 6. ", 1)


@pytest.mark.slow
def test_many_writers_lose_nothing(place: Place) -> None:
    """Processes that write at once wait for each other, and every session is there."""
    script = (
        "import sys; from datetime import UTC, datetime; from pathlib import Path\n"
        "from taskstate.tasks import sessions\n"
        "from taskstate.tasks.new_session import NewSession\n"
        "from taskstate.model.write_metadata import WriteMetadata\n"
        "from taskstate.workspace.workspace import find_workspace\n"
        "from taskstate.writing.change import Request\n"
        "at = find_workspace(Path(sys.argv[1]), root=sys.argv[1])\n"
        "for n in range(5):\n"
        "    request = Request(metadata=WriteMetadata(actor='a', now=datetime.now(UTC)))\n"
        "    entry = NewSession(did=(f'{sys.argv[2]}.{n}',), state='s', next=('n',))\n"
        "    sessions.add(at, '101', entry, request)\n"
    )
    command = [sys.executable, "-c", script, str(place.root)]
    writers = [subprocess.Popen([*command, str(number)], cwd=Path(__file__).parents[2]) for number in range(4)]
    assert [writer.wait(60) for writer in writers] == [0, 0, 0, 0]
    recorded = sessions.all_sessions(place.workspace, TASK)
    assert [each.number for each in recorded] == list(range(1, 21))
    did = sorted(each.texts["did"][0] for each in recorded)
    assert did == [f"{writer}.{n}" for writer in range(4) for n in range(5)]


# The seal


def test_broken_seal_is_refused(place: Place) -> None:
    """A file whose tool-written blocks were changed by hand is not written."""
    before = place.text = place.text.replace("audit:", "output: {sha256: x}\naudit:")
    error = refusal(place.add)
    assert error.code == "seal-broken"
    assert "git" in error.help
    assert place.text == before


def test_absent_seal_is_accepted(place: Place) -> None:
    """A file without a seal gets one."""
    place.text = "\n".join(line for line in place.text.split("\n") if not line.startswith("  seal:"))
    place.add()
    assert len(place.state.document.front_matter["audit"]["seal"]) == 64


def test_a_kind_that_is_none_is_refused(place: Place) -> None:
    """A file with a misspelt kind is not written: what it holds would be judged by another one."""
    before = place.text = place.text.replace("taskstate: 1\n", "taskstate: 1\nkind: tsk\n")
    assert refusal(place.add).code == "unknown-kind"
    assert place.text == before


# What a killed command left


def test_plan_of_a_killed_command_is_finished_first(place: Place) -> None:
    """The next command of any kind finishes a recorded plan and reports it."""
    at = place.workspace
    assert recover(at) == ()
    text = place.text.replace("- [ ] Tokens verify", "- [x] Tokens verify")
    plan = (
        journal.Create(".taskstate/archives/task-101-archive.md", b"# Archive\n"),
        journal.Replace(at.relative(place.path), files.digest(place.path.read_bytes()), text.encode()),
    )
    leave_plan(at.private, plan)
    outcome = place.add()
    assert "finished an interrupted change" in outcome.notes[0]
    assert place.archive_path.exists()
    assert [each.checked for each in place.state.criteria] == [True, False]
    assert place.numbers() == [(1, False)]


def test_a_plan_that_an_edit_stopped_is_told_once(place: Place) -> None:
    """A plan of which nothing was done is dropped where a file was edited since, and does not block later commands."""
    at = place.workspace
    other = ".taskstate/archives/task-102-archive.md"
    plan = (journal.Create(other, b"a"), journal.Replace(at.relative(place.path), "0" * 64, b"x"))
    leave_plan(at.private, plan, {at.relative(place.path): place.path.read_bytes() + b"more\n"})
    assert "is dropped, as nothing of it is there" in place.add().notes[0]
    assert place.add().notes == ("session 2 recorded",)


# Diffs


def test_diff_is_unified_and_ends_lines_with_lf() -> None:
    """Line ends make no difference, and a last line without one counts as a line."""
    assert (
        unified_diff("a.md", "a\r\nb\r\nc", "a\nB\nc\n") == "--- a/a.md\n+++ b/a.md\n@@ -1,3 +1,3 @@\n a\n-b\n+B\n c\n"
    )
    assert unified_diff("a.md", "", "a\n", is_new=True) == "--- /dev/null\n+++ b/a.md\n@@ -0,0 +1 @@\n+a\n"
    assert unified_diff("a.md", "a\r\n", "a\n") == ""


# The size of the file


def test_every_write_that_makes_a_large_file_larger_says_so(place: Place) -> None:
    """Over its limit a file that grows is told of with the command that helps; one that shrinks is not."""
    place.configure("[size]\nmax-kb = 3\nwarn-kb = 1\nkeep-sessions = 1\n")
    place.fill(1, 2, 3, 4, 5, 6, 7, 8, 9, 10)
    warnings = place.prove(evidence="seen " * 100).warnings
    assert len(warnings) == 1
    assert "the limit is 3 KB: `taskstate archive 101` archives older sessions" in warnings[0]
    assert place.prove(evidence="seen").warnings == ()
    place.archive()
    (warning,) = place.prove(evidence="seen " * 700).warnings
    assert "there is no session to archive: the largest parts are" in warning
    place.configure("")
    assert place.prove(evidence="seen " * 701).warnings == ()
