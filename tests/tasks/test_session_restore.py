"""Putting single sessions back as a commit has them, and refusing what cannot come back like that."""

from __future__ import annotations

import re
from contextlib import closing
from typing import TYPE_CHECKING

import pytest

from taskstate.lint.runner import LintRequest, check_files, open_run
from taskstate.storage import replaced_texts
from taskstate.tasks.renumber import renumber
from taskstate.tasks.session_restore import restore
from tests.support.git_place import GitPlace
from tests.support.place import TASK, Place, refusal, said, tree

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from taskstate.lint.diagnostics import Diagnostic
    from taskstate.writing.change import Outcome


@pytest.fixture
def place(tmp_path: Path) -> GitPlace:
    """Return a git repository in which four sessions of task 101 are committed."""
    made = GitPlace(tmp_path / "repository")
    for number in range(1, 5):
        made.add(f"did {number}")
    made.commit("four sessions")
    return made


def back(place: Place, *numbers: int, revision: str = "HEAD", dry_run: bool = False) -> Outcome:
    """Restore sessions."""
    return restore(place.workspace, TASK, numbers, revision, place.request(dry_run=dry_run))


def body(text: str) -> str:
    """Return a state file's text behind its front matter."""
    return text[text.index("# Task #") :]


def entries(place: Place) -> dict[int, str]:
    """Return the sessions of the log by number."""
    return {each.number: each.entry for each in place.state.sessions}


def removed(text: str, number: int) -> str:
    """Return a text without a session."""
    return re.sub(rf"(?ms)^### Session {number} - .*?(?=^##)", "", text)


def found(place: Place, path: Path) -> list[Diagnostic]:
    """Return what lint finds in a file against HEAD."""
    wanted = LintRequest(now=f"{place.now:%Y-%m-%dT%H:%M:%SZ}", against=None, remember=False)
    run, _ = open_run(place.workspace, place.workspace.config, wanted)
    with closing(run.repository):
        return [each.diagnostic for each in check_files((path,), run).findings]


def codes(place: Place) -> list[str]:
    """Return the codes of what lint finds in the state file against HEAD."""
    return [each.code for each in found(place, place.path)]


@pytest.mark.parametrize("number", [1, 2, 4])
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_a_removed_session_comes_back_at_its_place(place: GitPlace, number: int, end: str) -> None:
    """The log is byte for byte what it was, whatever the line ends are, and lint finds nothing more."""
    committed = place.text.replace("\n", end)
    place.text = removed(place.text, number).replace("\n", end)
    assert codes(place) == ["TS405"]
    outcome = back(place, number)
    assert outcome.notes[0].startswith(f"session {number} is back as in ")
    assert body(place.text) == body(committed)
    assert list(entries(place)) == [1, 2, 3, 4]
    assert codes(place) == []


@pytest.mark.parametrize(
    "change",
    [
        lambda text: text.replace(":** did 2", ":** did something else"),
        lambda text: text.replace(":** did 2\n", ":** did 2\n\n- and more\n"),
        lambda text: re.sub(r"(?m)^### Session 2 - \d{4}", "### Session 2 - 2024", text),
        lambda text: re.sub(r"(?ms)(^### Session 2 - [^\n]*\n).*?(?=^### )", r"\1\n", text),
        lambda text: re.sub(r"(?m)^### Session 2 - .*\n\n", "", text),
    ],
    ids=["reworded", "longer", "another time", "emptied", "heading lost"],
)
def test_a_reworded_session_makes_way(place: GitPlace, change: Callable[[str], str]) -> None:
    """A session that says something else than its commit is what it was again, and its words are kept beside."""
    committed = place.text
    place.text = change(place.text)
    wanted = (1, 2) if "### Session 2" not in place.text else (2,)
    outcome = back(place, *wanted)
    assert body(place.text) == body(committed)
    assert codes(place) == []
    (kept,) = replaced_texts.texts(place.workspace.private)
    assert outcome.notes[1] == f"what it replaced: `taskstate doctor kept show {kept.id}`"
    assert b"did " in kept.data() or b"### Session 2" in kept.data()


def test_a_rewritten_session_that_was_committed_comes_back(place: GitPlace) -> None:
    """A commit that rewrote a session is no reason: an older revision has it as it was."""
    before = entries(place)
    place.text = place.text.replace("did 3", "did nothing")
    place.commit("rewrite history")
    back(place, 3, revision="HEAD~1")
    assert entries(place) == before


@pytest.mark.parametrize(
    "rewrite",
    [
        lambda text: text.replace(":** did 3", ":** did nothing"),
        lambda text: re.sub(r"(?m)^### Session 3 - \d{4}", "### Session 3 - 2024", text),
    ],
    ids=["reworded", "another time"],
)
def test_what_a_commit_rewrote_may_be_put_back(place: GitPlace, rewrite: Callable[[str], str]) -> None:
    """The text of the first commit is no rewriting of a later one; that later text stays one, whenever it comes."""
    place.text = rewrite(place.text)
    place.commit("rewrite history")
    place.add("did 5")
    place.commit("a session more")
    back(place, 3, revision="HEAD~2")
    assert codes(place) == []
    place.commit("taken back")
    assert codes(place) == []
    place.text = rewrite(place.text)
    assert codes(place) == ["TS405"]


def test_the_end_of_a_turn_is_not_taken_back(place: GitPlace) -> None:
    """A session is put back with what ended its turn: its first commit without that is a rewriting, too."""
    opened = place.text
    ended = opened.replace(":** did 3\n", ":** did 3\n\n**Outcome:** paused\n")
    place.text = ended
    place.commit("the turn ends")
    place.text = ended.replace("did 3", "did nothing")
    place.commit("rewrite history")
    place.text = opened
    assert codes(place) == ["TS405"]
    place.text = ended
    assert codes(place) == []


def test_a_shallow_clone_does_not_know_what_came_first(place: GitPlace, tmp_path: Path) -> None:
    """Where history is cut off, nothing is taken for the first text."""
    for did in ("did nothing", "did 3", "did nothing"):
        place.text = re.sub(":\\*\\* did (?:3|nothing)", f":** {did}", place.text)
        place.commit(did)
    clone = place.clone(tmp_path / "clone", "--depth=2")
    clone.text = clone.text.replace(":** did nothing", ":** did 3")
    assert codes(clone) == ["TS405"]
    clone.git("fetch", "--quiet", "--unshallow")
    assert codes(clone) == []


def test_a_merge_takes_no_rewriting_in(place: GitPlace) -> None:
    """While a branch is merged that rewrote a session, ours comes back in its place, and the merge may be committed."""
    place.git("checkout", "-q", "-b", "theirs")
    place.text = place.text.replace(":** did 3", ":** did nothing")
    place.commit("rewrite history")
    place.git("checkout", "-q", "main")
    place.write("a.txt", "ours\n")
    place.commit("ours")
    before = entries(place)
    place.git("merge", "--quiet", "--no-commit", "--no-ff", "theirs")
    assert codes(place) == ["TS405"]
    back(place, 3)
    assert entries(place) == before
    assert codes(place) == []
    place.commit("merged")
    assert codes(place) == []


def test_an_emptied_log_is_filled_again(place: GitPlace) -> None:
    """All sessions may come back, also where not one is left."""
    committed = place.text
    place.text = re.sub(r"(?ms)^### Session 1 - .*?(?=^## 5)", "", place.text)
    assert codes(place) == ["TS405"]
    back(place, 1, 2, 3, 4)
    assert body(place.text) == body(committed)


def test_several_sessions_come_back_in_one_write(place: GitPlace) -> None:
    """Numbers may be named together; one write brings them back."""
    before, revision = entries(place), place.state.revision
    place.text = removed(removed(place.text, 2), 3)
    outcome = back(place, 3, 2, 3)
    assert entries(place) == before
    assert place.state.revision == revision + 1
    assert outcome.notes[0].startswith("session 3 and session 2 are back as in ")


def test_what_was_done_since_stays(place: GitPlace) -> None:
    """Everything else of the file stays: a newer session, a checked criterion, somebody's notes."""
    place.add("did 5")
    place.check()
    place.text = removed(place.text, 2).replace("did 3", "did 3 well") + "\n## Notes\n\nmine\n"
    now = place.text
    back(place, 2)
    assert removed(body(place.text), 2) == body(now)
    assert list(entries(place)) == [1, 2, 3, 4, 5]


def test_another_session_with_the_number_is_renumbered_not_lost(place: GitPlace) -> None:
    """Where a new session took the number, both stand there afterwards, and a note says under which."""
    place.text = removed(place.text, 4)
    place.forget()
    place.text = re.sub(r"(?m)^sessions: .*\n", "", place.text)
    place.add("a new one")
    assert list(entries(place)) == [1, 2, 3, 4]
    back(place, 4)
    assert list(entries(place)) == [1, 2, 3, 4, 5]
    assert ":** did 4" in place.text
    assert ":** a new one" in place.text
    assert codes(place) == []


def test_the_session_of_another_branch_takes_no_committed_ones_place(place: GitPlace) -> None:
    """A session of a branch that was not merged comes beside ours of the same number and time: both are committed."""
    place.git("checkout", "-q", "-b", "theirs", "HEAD~0")
    at = place.now
    place.add("theirs")
    place.commit("theirs")
    place.git("checkout", "-q", "main")
    place.forget()
    place.now = at
    place.add("ours")
    place.commit("ours")
    outcome = back(place, 5, revision="theirs")
    texts = entries(place)
    assert sorted(texts) == [1, 2, 3, 4, 5, 6]
    assert "ours" in texts[5] + texts[6]
    assert "theirs" in texts[5] + texts[6]
    assert len(outcome.notes) == 1 + ("theirs" in texts[6])


def test_a_file_that_moved_is_found_by_its_id(place: GitPlace) -> None:
    """The revision may have the file in another folder."""
    committed, moved = place.text, place.root / ".taskstate/task-101-state.md"
    place.git("mv", str(place.path), str(moved))
    moved.write_text(removed(committed, 3))
    back(place, 3)
    assert body(moved.read_text()) == body(committed)


def test_a_renumbered_task_names_its_former_path(place: GitPlace) -> None:
    """Where the revision has the task under another id, the finding says which file, and its command works."""
    renumber(place.workspace, place.path, "205", place.request())
    path = place.path.with_name("task-205-state.md")
    committed = path.read_text()
    path.write_text(removed(committed, 3))
    findings = found(place, path)
    assert [each.code for each in findings] == ["TS405"]
    command = "`taskstate session restore 205 3 --from HEAD:.taskstate/tasks/task-101-state.md`"
    assert findings[0].help.startswith(command)
    restore(place.workspace, "205", (3,), "HEAD:.taskstate/tasks/task-101-state.md", place.request())
    assert body(path.read_text()) == body(committed)


def test_a_hand_written_file_takes_its_session_back(place: GitPlace) -> None:
    """A file that no command has written yet takes a session back as any other."""
    place.text = re.sub(r"(?ms)^(updated_at|revision|sessions|file_size_kb|audit):.*?\n(?=\S)", "", place.text)
    place.forget()
    place.commit("by hand")
    committed = place.text
    place.text = removed(place.text, 4)
    back(place, 4)
    assert "### Session 4 - " in place.text
    assert body(place.text) == body(committed)


REFUSED = [
    (3, "HEAD", "unchanged", "is already as in"),
    (9, "HEAD", "not-found", "has no session 9 of task 101: its log has 4 sessions, 1 to 4"),
    (3, "HEAD~1", "not-found", "has no session 3 of task 101: its log has 0 sessions"),
    (3, "nowhere", "no-commit", "there is no commit nowhere here"),
    (3, "--all", "no-commit", "there is no commit --all here"),
    (3, "HEAD:", "no-commit", "there is no commit HEAD: here"),
    (3, "HEAD:a\nb", "not-found", "has no state file of task 101"),
    (3, "x\n:y", "no-commit", "there is no commit"),
]


@pytest.mark.parametrize(("number", "revision", "code", "message"), REFUSED, ids=[repr(each[1:3]) for each in REFUSED])
def test_a_refusal_says_why_and_changes_nothing(
    place: GitPlace, number: int, revision: str, code: str, message: str
) -> None:
    """What the revision does not have, or what stands already, is refused, and nothing on disk changes."""
    before = tree(place.root)
    error = refusal(lambda: back(place, number, revision=revision))
    assert error.code == code
    assert message in str(error)
    assert error.help
    assert tree(place.root) == before


def test_an_archived_session_is_not_restored_beside_itself(place: GitPlace) -> None:
    """Sessions of the archive come back by another command, which the refusal names; then it works."""
    place.archive(keep=2)
    error = refusal(lambda: back(place, 1))
    assert error.code == "archived"
    assert "`taskstate archive restore 101`" in error.help


@pytest.mark.parametrize(
    ("change", "code"),
    [
        (lambda text: text.replace("title:", "title"), "damaged"),
        (lambda text: text.replace("### Session 2", "<<<<<<< a\n=======\n>>>>>>> b\n### Session 2"), "damaged"),
        (lambda text: text.replace('"features": [', '"features": ['[:-1]), "unreadable"),
        (lambda text: text.replace("## 4. Progress Log", "## 4. Journal"), "section-missing"),
        (lambda text: text.replace('task_id: "101"', 'task_id: "7"'), "file-name"),
        (lambda text: text.replace("### Session 4 -", "## Session 4 -"), "session-misplaced"),
    ],
    ids=["yaml", "conflict", "json", "no log", "another id", "misplaced"],
)
def test_a_file_that_does_not_parse_is_refused(place: GitPlace, change: Callable[[str], str], code: str) -> None:
    """What stands in a file that cannot be read is not known, so nothing is put into it."""
    place.text = change(removed(place.text, 3))
    before = tree(place.root)
    error = refusal(lambda: back(place, 3))
    assert error.code == code
    assert tree(place.root) == before


MORE_IS_GONE: dict[str, Callable[[str], str]] = {
    "another session": lambda text: removed(text, 4),
    "a section": lambda text: text[: text.index("## 3.")] + text[text.index("## 4.") :],
    "the end of the archive": lambda text: text,
}


@pytest.mark.parametrize("what", MORE_IS_GONE)
def test_a_file_that_stays_damaged_is_refused(place: GitPlace, what: str) -> None:
    """Where more is gone than what comes back, nothing is written: the next count would say that nothing is."""
    place.archive(keep=2)
    place.commit("archived")
    place.text = MORE_IS_GONE[what](removed(place.text, 3))
    if "archive" in what:
        place.archive_path.write_text(place.archived[: place.archived.index("## Session 2")], newline="")
    before = tree(place.root)
    error = refusal(lambda: back(place, 3))
    assert (error.code, "`taskstate doctor --fix`" in error.help) == ("damaged", True)
    assert tree(place.root) == before


def test_outside_a_repository_there_is_no_revision(tmp_path: Path) -> None:
    """Without git there is no revision to restore from, and the refusal names what is kept."""
    place = Place(tmp_path / "plain")
    place.fill(log=f"### Session 1 - 2026-01-02 10:00\n\n{said(1)}\n\n")
    error = refusal(lambda: back(place, 1))
    assert (error.code, "doctor --fix" in error.help) == ("no-git", True)


def test_a_dry_run_shows_the_session_and_writes_nothing(place: GitPlace) -> None:
    """A dry run prints what would come back."""
    place.text = removed(place.text, 2)
    before = tree(place.root)
    assert "+### Session 2 - " in back(place, 2, dry_run=True).diff
    assert tree(place.root) == before
