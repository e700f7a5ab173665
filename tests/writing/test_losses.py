from __future__ import annotations

import re
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING

import pytest

from taskstate.doctor.examine import examine
from taskstate.doctor.repairs import let_go, repair
from taskstate.handoff import phases
from taskstate.handoff.accept import accept
from taskstate.handoff.create import HandoffRequest
from taskstate.handoff.document import Handoff
from taskstate.storage import kept_records
from taskstate.tasks import sessions
from taskstate.tasks.session_restore import restore
from taskstate.turn.hand_over import hand_over, handoff_errors
from taskstate.writing import notices
from taskstate.writing.keeping import is_nothing_owed
from taskstate.writing.losses import find_loss
from tests.support.git_place import GitPlace
from tests.support.place import MINUTE, TASK, Place, refusal

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path


@pytest.fixture
def place(tmp_path: Path) -> Place:
    """Return a repository with task 101, without git."""
    return Place(tmp_path / "repository")


def by_rename(path: Path, text: str) -> None:
    """Save as most editors do."""
    beside = path.with_name("beside")
    beside.write_text(text, encoding="utf-8")
    beside.replace(path)


def in_place(path: Path, text: str) -> None:
    """Save as some editors do."""
    path.write_text(text, encoding="utf-8")


def edited(text: str, number: int = 1) -> str:
    """Return the text with a change by hand, outside of the sessions."""
    return text.replace("\n## 6. ", f"\n<!-- by hand {number} -->\n\n## 6. ", 1)


def mend(place: Place) -> tuple[str, ...]:
    """Bring back all that is gone, and return the messages."""
    return repair(place.workspace, examine(place.workspace), place.request())


def add(place: Place, *texts: str) -> None:
    """Add a session for each text."""
    for text in texts:
        place.add(text)


def did(place: Place) -> list[str]:
    """Return what all sessions say was done."""
    return [text for session in sessions.all_sessions(place.workspace, TASK) for text in session.texts["did"]]


def numbers(place: Place) -> list[int]:
    """Return the numbers of all sessions."""
    return [number for number, _ in place.numbers()]


# A stale buffer


@pytest.mark.parametrize("save", [by_rename, in_place])
def test_stale_save_is_told_and_what_it_removed_brought_back(place: Place, save: Callable[[Path, str], None]) -> None:
    """What is gone is named with both ways until it is back, and the editor's own change stays."""
    place.add("First.")
    buffer = edited(place.text)
    place.add("Second.")
    place.prove()
    place.check(2)
    save(place.path, buffer)
    (told,) = place.told()
    assert "session 2, the checked box of criterion 2, the proof of jwt-1 are gone" in told
    assert "`taskstate doctor --fix`" in told
    assert "`taskstate doctor --let-go 101`" in told
    assert place.told() == (told,)
    assert "101-state.md: session 2, the checked box of criterion 2, the proof of jwt-1 are back" in mend(place)[0]
    assert did(place) == ["First.", "Second."]
    assert [criterion.checked for criterion in place.state.criteria] == [False, True]
    assert place.state.checklist
    assert place.state.checklist.passing == 1
    assert "<!-- by hand 1 -->" in place.text
    assert place.told() == ()
    assert mend(place) == ()


def test_edited_session_in_a_stale_save_is_an_edit(place: Place) -> None:
    """Who changes a session in a buffer that holds it, and saves it late, edits it: it is neither told nor doubled."""
    place.add("First.")
    buffer = place.text.replace(" First.", " First, and more.")
    place.add("Second.")
    in_place(place.path, buffer)
    assert "101-state.md: session 2 is gone" in place.told()[0]
    mend(place)
    assert did(place) == ["First, and more.", "Second."]
    assert numbers(place) == [1, 2]


def test_writer_after_a_stale_save_goes_on(place: Place) -> None:
    """A command that writes does its work while something is gone, which comes back later: the numbers rise."""
    place.add("First.")
    buffer = edited(place.text)
    place.add("Second.")
    in_place(place.path, buffer)
    place.add("Third.")
    assert did(place) == ["First.", "Third."]
    assert "session 2 is gone" in place.told()[0]
    mend(place)
    assert sorted(did(place)) == ["First.", "Second.", "Third."]
    assert numbers(place) == [1, 2, 3]
    assert place.told() == ()


def test_several_stale_saves_are_all_mended(place: Place) -> None:
    """What several saves removed, with other writes in between, comes back at once."""
    place.add("First.")
    for number in range(3):
        buffer = edited(place.text, number)
        place.add(f"Gone {number}.")
        in_place(place.path, buffer)
        place.add(f"Kept {number}.")
    mend(place)
    assert sorted(did(place)) == sorted(["First.", *(f"{word} {n}." for word in ("Gone", "Kept") for n in range(3))])
    assert numbers(place) == list(range(1, 8))
    assert place.told() == ()


@pytest.mark.parametrize("writes", [7, 8, 20])
def test_what_was_lost_long_ago_comes_back(place: Place, writes: int) -> None:
    """However many writes came after it."""
    buffer = edited(place.text)
    place.add("First.")
    in_place(place.path, buffer)
    later = [f"Later {number}." for number in range(writes)]
    for text in later:
        place.add(text)
    mend(place)
    assert sorted(did(place)) == sorted(["First.", *later])
    assert place.told() == ()


def test_edit_at_the_end_of_a_session_doubles_nothing(place: Place) -> None:
    """A line added behind the last session is a part of it: the session stands there once, as it was edited."""
    place.add("First.")
    buffer = place.text.replace("## 5. Git", "<!-- by hand -->\n\n## 5. Git")
    place.add("Second.")
    in_place(place.path, buffer)
    mend(place)
    assert did(place) == ["First.", "Second."]
    assert "<!-- by hand -->" in place.text


def test_archived_sessions_that_a_stale_save_brings_back_go_again(place: Place) -> None:
    """A stale copy from before an archiving has sessions that the archive has too: each is merged only once."""
    add(place, "First.", "Second.", "Third.")
    buffer = edited(place.text)
    place.archive(keep=1)
    place.add("Fourth.")
    by_rename(place.path, buffer)
    assert "session 4 is gone" in place.told()[0]
    mend(place)
    assert did(place) == ["First.", "Second.", "Third.", "Fourth."]
    assert place.numbers() == [(1, True), (2, True), (3, False), (4, False)]


def test_stale_save_over_an_archiving_alone_is_mended_too(place: Place) -> None:
    """Nothing is gone and nothing is told, but what stands in both files stands in one after the cure."""
    add(place, "First.", "Second.", "Third.")
    buffer = edited(place.text)
    place.archive(keep=1)
    by_rename(place.path, buffer)
    assert place.told() == ()
    mend(place)
    assert place.numbers() == [(1, True), (2, True), (3, False)]
    assert "<!-- by hand 1 -->" in place.text


def test_revision_that_is_gone_is_never_given_again(place: Place) -> None:
    """The next write gets a higher revision than what is gone had, and so does the cure."""
    buffer = edited(place.text)
    place.add("First.")
    place.add("Second.")
    in_place(place.path, buffer)
    assert place.check().revision.startswith("4-")
    mend(place)
    assert (did(place), place.state.revision) == (["First.", "Second."], 5)


@contextmanager
def after_keeping(name: str, act: Callable[[], None]) -> Iterator[None]:
    """Let somebody act right after a function of `kept` has kept a copy of what was written."""
    really = getattr(kept_records, name)

    def keep_and_act(*arguments: object) -> None:
        really(*arguments)
        act()

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(kept_records, name, keep_and_act)
        yield


def hand(place: Place) -> None:
    """Hand the first phase over."""
    handed = Handoff(phase="1", action="Go on.", file="taskstate.toml", location="top", goal="done")
    hand_over(place.workspace, TASK, HandoffRequest(handed), place.request())


def test_stale_save_right_after_a_write_is_told(place: Place) -> None:
    """A save that comes before the writer has remembered that nothing is gone is not taken for what it wrote."""
    place.add("First.")
    place.told()
    with after_keeping("keep", partial(in_place, place.path, edited(place.text))):
        place.check(1)
    assert "the checked box of criterion 1 is gone" in place.told()[0]
    assert place.check(2).revision.startswith("4-")
    mend(place)
    assert [criterion.checked for criterion in place.state.criteria] == [True, True]


def test_stale_save_over_an_archive_right_after_a_write_is_told(place: Place) -> None:
    """The same goes for the archive, to which the write has added."""
    add(place, "First.", "Second.", "Third.")
    place.archive(keep=2)
    place.told()
    with after_keeping("keep_file", partial(in_place, place.archive_path, place.archived)):
        place.archive(keep=1)
    assert "is damaged" in place.told()[0]
    mend(place)
    assert did(place) == ["First.", "Second.", "Third."]


@pytest.mark.parametrize("earlier", [True, False])
def test_handoff_removed_right_after_a_write_is_told(place: Place, *, earlier: bool) -> None:
    """So does a handoff document, whether that write has made it or an earlier one."""
    phases.add_phase(place.workspace, TASK, ("1", "Tokens"), ("Issue them",), place.request())
    folder = place.workspace.state_root / "handoffs" / "task-101"

    def remove() -> None:
        for path in folder.glob("*handoff*.md"):
            path.unlink()

    if earlier:
        hand(place)
    place.told()
    with after_keeping("keep" if earlier else "keep_file", remove):
        if earlier:
            place.check(1)
        else:
            hand(place)
    assert "the handoff phase-1-handoff-" in place.told()[0]
    mend(place)
    assert len(list(folder.glob("*handoff*.md"))) == 1


def test_what_a_write_does_to_handoffs_is_remembered(place: Place) -> None:
    """After a write of ours nobody has to look again: what it made, moved or left as it was is known to be there."""
    phases.add_phase(place.workspace, TASK, ("1", "Tokens"), ("Issue them",), place.request())
    for write in (
        lambda: hand(place),
        lambda: place.check(1),
        lambda: accept(place.workspace, TASK, "successor", place.request(), errors_in=handoff_errors(place.workspace)),
    ):
        place.told()
        write()
        assert notices.is_quiet(place.workspace, TASK)


def test_two_writes_with_one_revision_in_one_second_are_told_apart(place: Place) -> None:
    """A stale save over an archiving takes its revision back: that the check is gone is no edit of what it left."""
    add(place, "First.", "Second.", "Third.")
    before = edited(place.text)
    place.archive(keep=1)
    archived = edited(place.text)
    in_place(place.path, before)
    place.now -= MINUTE
    revision = place.check(1).revision
    in_place(place.path, archived)
    assert place.state.revision == int(revision.partition("-")[0])
    assert "the checked box of criterion 1 is gone" in place.told()[0]
    mend(place)
    assert [criterion.checked for criterion in place.state.criteria] == [True, False]
    assert place.told() == ()


def test_newer_proof_takes_the_place_of_one_that_is_gone(place: Place) -> None:
    """Who proves a feature again does not miss the older proof, and only the newer one comes back where both go."""
    buffer = edited(place.text)
    place.prove(evidence="Older.")
    in_place(place.path, buffer)
    place.prove(evidence="Newer.")
    assert place.told() == ()
    assert mend(place) == ()
    place.add("First.")
    in_place(place.path, buffer)
    assert "session 1, the proof of jwt-1 are gone" in place.told()[0]
    mend(place)
    assert "Newer." in place.text
    assert did(place) == ["First."]
    assert place.told() == ()


@pytest.mark.parametrize("saved_last", ["neither", "the newer one"])
def test_of_two_proofs_the_newer_one_is_there_in_the_end(place: Place, saved_last: str) -> None:
    """A stale save puts an older proof back, a command writes, and another stale save has none or the newer one."""
    buffers = {"neither": edited(place.text)}
    place.prove(evidence="Older.")
    older = edited(place.text)
    place.prove(evidence="Newer.")
    buffers["the newer one"] = edited(place.text, 2)
    in_place(place.path, older)
    place.add("First.")
    in_place(place.path, buffers[saved_last])
    assert "gone, recorded" in place.told()[0]
    mend(place)
    assert "Newer." in place.text
    assert did(place) == ["First."]
    assert place.told() == ()


def test_what_both_changed_stays_as_it_is_and_is_kept_beside(place: Place) -> None:
    """If both texts changed the same line, the file's stays, the rest is merged, and the text before is kept."""
    place.add("First.")
    buffer = place.text.replace("Issue tokens.", "Issue tokens by hand.")
    place.text = place.text.replace("Issue tokens.", "Issue better tokens.")
    place.add("Second.")
    in_place(place.path, buffer)
    mend(place)
    assert did(place) == ["First.", "Second."]
    assert "Issue tokens by hand." in place.text
    assert place.told() == ()
    assert not is_nothing_owed(place.workspace, TASK)  # what gave way is let go, and no more


def test_hand_edit_of_the_newest_text_is_no_loss(place: Place) -> None:
    """Edits of sessions, ticks and results in the newest text are judged by the linter, and not told."""
    place.add("First.")
    place.check(1)
    place.prove()
    place.text = (
        edited(place.text)
        .replace("- First.", "- First, and more.")
        .replace("- [x] Tokens verify", "- [ ] Tokens verify")
        .replace('"passes": true', '"passes": false')
    )
    assert place.told() == ()
    assert place.add().notes == ("session 2 recorded",)


def test_hand_edit_of_an_older_text_is_no_edit_of_what_came_later(place: Place) -> None:
    """A proof by hand in a stale copy does not stand for the one recorded since: that is told, and comes back."""
    buffer = place.text.replace(
        '"passes": false, "tested_at": null', '"passes": true, "tested_at": "2026-01-31T10:00:00Z", "evidence": "Mine."'
    )
    place.prove()
    in_place(place.path, buffer)
    assert "the proof of jwt-1 is gone" in place.told()[0]
    mend(place)
    assert "Mine." not in place.text
    assert place.told() == ()


def test_session_that_somebody_deleted_is_told(place: Place) -> None:
    """A file of the newest text without one of the sessions that it counts is damaged, and mended."""
    place.add("First.")
    place.add("Second.")
    start, end = place.text.index("### Session 2"), place.text.index("## 5. Git")
    place.text = place.text[:start] + place.text[end:]
    (told,) = place.told()
    assert "is damaged: 1 of the 2 sessions that it counts is missing" in told
    assert "`taskstate doctor --let-go 101`" in told
    assert "101-state.md: session 2 is back" in mend(place)[0]
    assert did(place) == ["First.", "Second."]


# What is withdrawn, or let go


def test_what_a_command_takes_back_is_not_missed(place: Place) -> None:
    """A failing feature, an unchecked criterion and a restored archive are no losses."""
    add(place, "First.", "Second.", "Third.")
    place.prove()
    place.check(1)
    place.archive(keep=1)
    place.prove(passes=False)
    place.check(1, checked=False)
    assert place.told() == ()
    assert find_loss(place.workspace, TASK) is None


@pytest.fixture
def let_go_of(place: Place) -> Place:
    """Return a repository in which a session is gone, and was let go."""
    buffer = place.text
    place.add("Not wanted.")
    in_place(place.path, buffer)
    assert let_go(place.workspace, TASK, place.request()) == "task 101: session 1 is let go"
    return place


def test_what_is_let_go_is_quiet_for_good(let_go_of: Place) -> None:
    """It is told no more, not brought back, and a second time there is nothing to let go."""
    assert let_go_of.told() == ()
    assert mend(let_go_of) == ()
    assert let_go_of.add("Wanted.").notes[0] == "session 1 recorded"
    assert did(let_go_of) == ["Wanted."]
    assert let_go(let_go_of.workspace, TASK, let_go_of.request()) == "task 101: nothing is gone"


def test_revision_of_what_was_let_go_is_not_given_again(let_go_of: Place) -> None:
    """Somebody may have noted it down with what it held."""
    let_go_of.add("Wanted.")
    assert let_go_of.state.revision == 3


def test_what_is_lost_after_letting_go_is_told(let_go_of: Place) -> None:
    """Letting go is about what was gone then: a session recorded later is missed as any other."""
    buffer = let_go_of.text
    let_go_of.add("Wanted.")
    in_place(let_go_of.path, buffer)
    assert "session 1 is gone" in let_go_of.told()[0]
    mend(let_go_of)
    assert did(let_go_of) == ["Wanted."]


# Files that are gone


def test_state_file_that_is_gone_comes_back_with_its_archive(place: Place) -> None:
    """Both are written as the commands left them last."""
    add(place, "First.", "Second.", "Third.")
    place.archive(keep=1)
    before = place.text, place.archived
    place.path.unlink()
    place.archive_path.unlink()
    assert "are gone" in place.told()[0]
    mend(place)
    assert (place.text, place.archived) == before
    assert place.told() == ()


def test_archive_that_is_gone_comes_back(place: Place) -> None:
    """The state file does not hold the archived sessions any more, and the kept batches do."""
    add(place, "First.", "Second.", "Third.", "Fourth.")
    place.archive(keep=3)
    place.archive(keep=1)
    archived = place.archived
    place.archive_path.unlink()
    assert "is damaged: its archive archives/task-101-archive.md is gone" in place.told()[0]
    loss = find_loss(place.workspace, TASK)
    assert loss
    assert "session 1, session 2, session 3 are gone" in loss.message()
    mend(place)
    assert place.archived == archived
    assert did(place) == ["First.", "Second.", "Third.", "Fourth."]


def test_task_of_which_something_is_gone_is_not_made_anew(place: Place) -> None:
    """A new task would take the place of the old one: `new` names both ways, and after letting go it works."""
    place.add("First.")
    place.path.unlink()
    error = refusal(place.new)
    assert error.code == "lost"
    assert "doctor --fix" in str(error)
    assert "doctor --let-go 101" in str(error)
    let_go(place.workspace, TASK, place.request())
    place.new()
    assert numbers(place) == []


def test_handoff_that_is_gone_comes_back(place: Place) -> None:
    """A handoff document is missed by its name, wherever it stands, accepted or not."""
    phases.add_phase(place.workspace, TASK, ("1", "Tokens"), ("Issue them",), place.request())
    hand(place)
    (document,) = (place.workspace.state_root / "handoffs" / "task-101").glob("*handoff*.md")
    text = document.read_bytes()
    document.unlink()
    assert f"the handoff {document.name} is gone" in place.told()[0]
    mend(place)
    assert document.read_bytes() == text
    accept(place.workspace, TASK, "successor", place.request(), errors_in=handoff_errors(place.workspace))
    assert not document.exists()
    assert place.told() == ()


# What commits took


def taken_by_revert(place: GitPlace) -> None:
    """Revert the commit of the last session."""
    place.git("revert", "--no-edit", "HEAD")


def taken_by_checkout(place: GitPlace) -> None:
    """Commit the folder as it was."""
    place.git("checkout", "HEAD~1", "--", ".taskstate")
    place.commit("as before")


def taken_by_merge(place: GitPlace) -> None:
    """Merge without taking anything."""
    place.git("checkout", "-q", "-b", "side", "HEAD~1")
    place.write("a.txt", "side\n")
    place.commit("side")
    place.git("merge", "--quiet", "--no-edit", "--strategy=ours", "main")


def taken_by_a_colleague(place: GitPlace) -> None:
    """Pull a session that somebody without the program has reworded."""
    place.git("clone", "--quiet", ".", "../carl")
    carl = place.root.parent / "carl"
    path = carl / place.path.relative_to(place.root)
    path.write_text(place.text.replace("Second.", "Second, around."), encoding="utf-8")
    place.git("-C", str(carl), "-c", "user.name=C", "-c", "user.email=c@x.invalid", "commit", "--quiet", "-am", "typo")
    place.git("pull", "--quiet", str(carl), "main")


TAKEN = [taken_by_revert, taken_by_checkout, taken_by_merge, taken_by_a_colleague]


@pytest.fixture
def shared(tmp_path: Path) -> GitPlace:
    """Return a git repository in which two sessions are committed, one a commit."""
    place = GitPlace(tmp_path / "repository")
    for text in ("First.", "Second."):
        place.add(text)
        place.commit(text)
    return place


@pytest.mark.parametrize("take", TAKEN)
def test_what_a_commit_took_is_told_and_comes_back(shared: GitPlace, take: Callable[[GitPlace], None]) -> None:
    """The command that is named puts the session back, after which nothing is told, and lint takes it."""
    assert notices.tell(shared.workspace) == ()
    committed = shared.text
    take(shared)
    (said,) = notices.tell(shared.workspace)
    assert "session 2 is not as committed in" in said.message
    command = re.search(r"`taskstate (session restore [^`]+)`", said.message)
    assert command
    _, _, task, number, _, source = command[1].split()
    restore(shared.workspace, task, (int(number),), source, shared.request())
    assert notices.tell(shared.workspace) == ()
    assert did(shared) == ["First.", "Second."]
    shared.commit("back")
    assert notices.tell(shared.workspace) == ()
    assert shared.text.partition("### Session")[2] == committed.partition("### Session")[2]


@pytest.mark.parametrize("take", TAKEN)
def test_what_a_commit_took_may_be_let_go(shared: GitPlace, take: Callable[[GitPlace], None]) -> None:
    """After `--let-go` it is told no more, also after the next write; until then `doctor` is not content."""
    take(shared)
    assert [each.message for each in examine(shared.workspace) if not each.note and "session 2" in each.message]
    assert let_go(shared.workspace, TASK, shared.request()) == f"task {TASK}: session 2 is let go"
    assert notices.tell(shared.workspace) == ()
    shared.add("Third.")
    shared.commit("Third.")
    assert notices.tell(shared.workspace) == ()


def test_what_another_branch_has_is_not_taken(shared: GitPlace) -> None:
    """A branch that never had the session lacks nothing; nor does one whose commits were made anew or taken back."""
    shared.git("checkout", "-q", "-b", "side", "HEAD~1")
    assert notices.tell(shared.workspace) == ()
    shared.git("checkout", "-q", "main")
    shared.git("branch", "--copy", "main", "kept")
    shared.git("reset", "--quiet", "--hard", "HEAD~1")
    assert notices.tell(shared.workspace) == ()
    shared.git("merge", "--quiet", "kept")
    shared.git("commit", "--quiet", "--amend", "--no-verify", "--message=anew")
    assert notices.tell(shared.workspace) == ()


def test_an_edit_that_is_not_committed_is_judged_by_lint(shared: GitPlace) -> None:
    """What a hand changed is told by lint alone, until a commit has it."""
    shared.text = shared.text.replace("Second.", "Second, around.")
    assert notices.tell(shared.workspace) == ()
    shared.commit("edited")
    assert len(notices.tell(shared.workspace)) == 1
