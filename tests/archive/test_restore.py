"""Restoring archived sessions byte for byte, and refusing a faulty archive."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

from taskstate.archive import restore as archive_restore
from taskstate.archive import verify as archive_verify
from taskstate.model.archive_format import find_batches, is_rolled_list, rolled_items
from taskstate.storage import replaced_texts
from tests.archive.test_archiver import entries_of, forged
from tests.support.git_place import GitPlace
from tests.support.place import TASK, Place, refusal, said, tree

if TYPE_CHECKING:
    from pathlib import Path

    from taskstate.writing.change import Outcome

ROLL = "\n## Git History\n\n- `abc1234` - old\n- `abd1234` - older\n"


@pytest.fixture
def place(tmp_path: Path) -> Place:
    """Return a repository with task 101."""
    return Place(tmp_path / "repository")


def log_of(place: Place) -> str:
    """Return the Progress Log as it stands."""
    section = place.state.section("Progress Log")
    assert section
    return section.span.of(place.text)


def renumbered(place: Place, old: int, new: int) -> str:
    """Return the text with another number for a session, and without the counts, which would say that one is gone."""
    return re.sub(r"(?m)^sessions: .*\n", "", place.text).replace(f"### Session {old} -", f"### Session {new} -")


def restore(place: Place, *, everything: bool = False, dry_run: bool = False) -> Outcome:
    """Take the last batch back, or every one."""
    return archive_restore.restore(place.workspace, TASK, place.request(dry_run=dry_run), everything=everything)


def wrong(place: Place) -> list[str]:
    """Return what verifying says."""
    return [each.message for each in archive_verify.verify(place.workspace, place.workspace.load(place.path)).problems]


@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize(
    "more", ["", "  \n \n\n\n", "\n---\n\n" + forged(1, 2), "#### Detail\n\n```\n## Session 9\n```\n"]
)
def test_the_log_comes_back_byte_for_byte(place: Place, end: str, more: str) -> None:
    """Whatever an entry holds, and however many blank lines follow it, the log is what it was."""
    place.fill(1, 2, 3)
    place.text = place.text.replace("### Session 3", f"{more}### Session 3").replace("\n", end)
    before = log_of(place)
    place.archive()
    assert log_of(place) != before
    outcome = restore(place)
    assert outcome.notes[0] == "sessions 1-2 are back in the progress log"
    assert log_of(place) == before
    assert not place.archive_path.exists()
    assert "archive_path" not in place.text
    assert wrong(place) == []


@pytest.mark.parametrize("ends", ["\r\n\n\r\n \n\r\n", "\r\n\r\r\n", "\r\r\r\n\n"])
def test_mixed_line_ends_come_back(place: Place, ends: str) -> None:
    """Line ends of several kinds behind the last entry are those that stood there."""
    place.fill(1, 2, 3)
    place.text = place.text.replace("next 2\n\n", f"next 2{ends}")
    before = log_of(place)
    place.archive()
    restore(place)
    assert log_of(place) == before


def test_what_stood_between_the_sessions_stands_there_again(place: Place) -> None:
    """Headings of somebody's own among the sessions keep their place."""
    place.fill(1, 2, 3, 4)
    place.text = place.text.replace("### Session 2 -", "### Ideas\n\nkeep me\n\n### Session 2 -")
    before = log_of(place)
    place.archive()
    assert "Offsets: " in place.archived
    assert wrong(place) == []
    changed = place.text
    restore(place)
    assert log_of(place) == before
    place.archive()
    place.text = changed.replace("keep me", "keep me, and this")  # the places are not what they were
    restore(place)
    assert [*entries_of(place)] == [1, 2, 3, 4]
    assert "keep me, and this" in place.text


def test_batches_come_back_one_by_one_or_all(place: Place) -> None:
    """The last batch comes first, with the summary that it replaced; `everything` gives what there was at first."""
    place.fill(1, 2, 3, 4, 5, 6)
    first = log_of(place)
    place.archive(keep=4)
    second, archived = log_of(place), place.archived
    place.archive(keep=2)
    restore(place)
    assert log_of(place) == second
    assert place.archived == archived
    restore(place)
    assert log_of(place) == first
    place.archive(keep=4)
    place.archive(keep=2)
    assert restore(place, everything=True).notes[0] == "sessions 1-4 are back in the progress log"
    assert log_of(place) == first
    assert not place.archive_path.exists()


def test_sessions_added_since_stay_behind(place: Place) -> None:
    """What was done after the archiving follows what comes back."""
    place.fill(1, 2)
    place.archive()
    place.add("later")
    restore(place)
    assert place.numbers() == [(1, False), (2, False), (3, False)]
    place.archive()
    assert re.findall(r"^## Session (\d)", place.archived, re.MULTILINE) == ["1", "2"]
    assert wrong(place) == []


def test_what_is_rolled_out_besides_stays(place: Place) -> None:
    """A list of old commits in the archive is no batch, is found again, and stays when the sessions go."""
    place.fill(1, 2, 3)
    before = log_of(place)
    place.archive(keep=2)
    with place.archive_path.open("a") as file:
        file.write(ROLL)
    place.archive(keep=1)
    assert [is_rolled_list(batch) for batch in find_batches(place.archived)] == [False, True, False]
    assert wrong(place) == []
    restore(place, everything=True)
    assert log_of(place) == before
    assert place.archived == f"# Task #101 Archive - Full Session History\n{ROLL}"
    assert rolled_items(place.archived, "Git History") == ("`abc1234` - old", "`abd1234` - older")
    assert "archive_path" in place.text
    assert wrong(place) == []
    assert not restore(place).changed
    place.archive()
    assert place.numbers() == [(1, True), (2, True), (3, False)]
    assert wrong(place) == []


def test_nothing_archived(place: Place) -> None:
    """Without an archive there is nothing to take back, and that is told."""
    place.fill(1, 2)
    before = tree(place.root)
    assert restore(place).notes == ("task 101 has no session in an archive",)
    assert tree(place.root) == before


def test_dry_run_writes_nothing(place: Place) -> None:
    """A dry run shows the state file as it would be."""
    place.fill(1, 2)
    place.archive()
    before = tree(place.root)
    assert "+### Session 1" in restore(place, dry_run=True).diff
    assert tree(place.root) == before


def test_an_altered_archive_is_not_taken_back(place: Place) -> None:
    """Where an entry is not what its hash says, nothing is changed."""
    place.fill(1, 2)
    place.archive()
    place.archive_path.write_text(place.archived.replace("did 1", "did one"))
    before = tree(place.root)
    error = refusal(lambda: restore(place))
    assert error.code == "archive-mismatch"
    assert "session 1 was altered" in error.message
    assert tree(place.root) == before


def test_numbers_that_would_collide_are_refused(place: Place) -> None:
    """A session of the log with a number that is archived keeps the archive where it is."""
    place.fill(1, 2, 3)
    place.archive()
    place.text = renumbered(place, 3, 2)
    before = tree(place.root)
    assert "session 2: in the Progress Log and in the archive" in refusal(lambda: restore(place)).message
    assert tree(place.root) == before


def test_a_lower_number_in_the_log_is_refused(place: Place) -> None:
    """A session whose number is below those that would come before it is mended first."""
    place.fill(2, 4, 5)
    place.archive()
    place.text = renumbered(place, 5, 3)
    before = tree(place.root)
    assert refusal(lambda: restore(place)).code == "session-order"
    assert tree(place.root) == before


def test_without_its_summary_nothing_comes_back(place: Place) -> None:
    """Where somebody removed the summary, the disagreement is told, and nothing is changed."""
    place.fill(1, 2)
    place.archive()
    place.text = re.sub(r"### Archived Summary .*?(?=### Session)", "", place.text, flags=re.DOTALL)
    before = tree(place.root)
    assert refusal(lambda: restore(place)).code == "archive-mismatch"
    assert tree(place.root) == before


def test_archive_that_is_gone_is_told(place: Place) -> None:
    """A summary without an archive file is a fault of verifying, and a damaged state file to every writer."""
    place.fill(1, 2, 3)
    place.archive()
    place.archive_path.unlink()
    assert wrong(place) == ["the archive lacks the sessions 1 and 2, and the Archived Summary covers them"]
    assert refusal(lambda: restore(place)).code == "damaged"


# Verifying


def test_committed_archive_is_taken_back_by_the_command_that_is_named(tmp_path: Path) -> None:
    """Where HEAD has it whole, the advice is that command, and it mends; where HEAD lacks sessions, it is not."""
    git = GitPlace(tmp_path / "with-git")
    git.fill(1, 2, 3)
    git.archive(keep=2)
    git.commit("archived")
    git.archive_path.write_text(git.archive_path.read_text().replace("did 1", "did one"))
    (problem,) = archive_verify.verify(git.workspace, git.workspace.load(git.path)).problems
    command = re.search(r"`git (restore .*)` restores the committed file", problem.help)
    assert command
    git.git(*command[1].split())
    assert archive_verify.verify(git.workspace, git.workspace.load(git.path)).problems == ()
    git.archive(keep=1)
    git.archive_path.write_text(git.archive_path.read_text().replace("did 1", "did one"))
    (problem,) = archive_verify.verify(git.workspace, git.workspace.load(git.path)).problems
    assert "git log --oneline" in problem.help


def test_verdict_on_a_whole_archive(place: Place) -> None:
    """A whole archive has nothing wrong, and its batches and sessions are counted."""
    place.fill(1, 2, 3, 4)
    place.archive(keep=3)
    place.archive(keep=1)
    verdict = archive_verify.verify(place.workspace, place.workspace.load(place.path))
    assert (verdict.batches, verdict.sessions, verdict.problems) == (2, 3, ())


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("did 2", "did two", "session 2 was altered: its SHA-256 differs"),
        (
            "(Sessions 1-3)",
            "(Sessions 1-9)",
            "the archive lacks the sessions 4 to 9, and the Archived Summary covers them",
        ),
        ("(Sessions 1-3)", "(Sessions 1-2)", "session 3 is in the archive, and no Archived Summary covers it"),
    ],
)
def test_what_is_wrong_is_told_with_its_place(place: Place, old: str, new: str, message: str) -> None:
    """Each fault says the file and the line where it stands."""
    place.fill(1, 2, 3, 4)
    place.archive()
    for path in (place.path, place.archive_path):
        path.write_text(path.read_text().replace(old, new))
    (problem,) = archive_verify.verify(place.workspace, place.workspace.load(place.path)).problems
    lines = (place.root / problem.path).read_text().split("\n")
    assert problem.message == message
    assert lines[problem.line - 1].startswith(("## Session 2", "### Archived Summary"))
    assert "git restore --source COMMIT" in problem.help


def test_without_a_summary_the_first_line_is_meant(place: Place) -> None:
    """A summary that the state file lacks is reported at its first line."""
    place.fill(1, 2)
    place.archive()
    place.text = re.sub(r"### Archived Summary .*?(?=### Session)", "", place.text, flags=re.DOTALL)
    (found,) = archive_verify.verify(place.workspace, place.workspace.load(place.path)).problems
    assert (found.path, found.line) == (place.path.relative_to(place.root).as_posix(), 1)


def test_a_gap_is_told_and_can_be_taken_back(place: Place) -> None:
    """Numbers that were never there are told; they keep nothing from the log."""
    place.fill(2, 5, 9)
    before = log_of(place)
    place.archive()
    assert wrong(place) == ["the sessions 3 and 4 missing between session 2 and session 5"]
    restore(place)
    assert log_of(place) == before


def test_archive_that_is_not_utf8_is_refused(place: Place) -> None:
    """Bytes that are no text are never taken for text."""
    place.archive_path.write_bytes(b"# Archive \xff\n")
    assert refusal(lambda: wrong(place)).code == "not-utf8"


def test_entry_without_any_label_is_kept(place: Place) -> None:
    """What a session says by hand, without any form, comes back all the same."""
    place.fill(log=f"### Session 1\nx\n### Session 2 - 2026-01-01 10:00\n{said(2)}\n\n\n\n### Session 3\ny\n")
    before = log_of(place)
    place.archive(keep=1)
    restore(place)
    assert log_of(place) == before


def kept(place: Place) -> list[bytes]:
    """Return the texts that are kept."""
    return [each.data() for each in replaced_texts.texts(place.workspace.private)]


@pytest.mark.parametrize("everything", [False, True])
def test_what_archiving_wrote_is_not_kept(place: Place, *, everything: bool) -> None:
    """The summaries of two batches go, and can be written again."""
    place.fill(1, 2, 3, 4, 5)
    place.archive(keep=3)
    place.archive(keep=1)
    assert "what it replaced" not in "".join(restore(place, everything=everything).notes)
    assert kept(place) == []


def test_words_in_a_summary_are_kept(place: Place) -> None:
    """Somebody typed a line into the summary that the sessions take the place of: it is kept, and the note says so."""
    place.fill(1, 2, 3)
    place.archive()
    place.text = place.text.replace("**Duration:**", "Mine.\n\n**Duration:**")
    summary = place.state.summary
    assert summary
    stood = summary.section.span.of(place.text)
    restore(place, dry_run=True)
    assert kept(place) == []
    outcome = restore(place)
    assert outcome.notes[-1].startswith("what it replaced: `taskstate doctor kept show ")
    assert "Mine." not in place.text
    assert kept(place) == [stood.encode()]


def test_words_in_an_archived_summary_are_kept(place: Place) -> None:
    """Somebody wrote into the summary that a batch holds: it is named, and kept when its own batch goes."""
    place.fill(1, 2, 3, 4, 5)
    place.archive(keep=3)
    place.archive(keep=1)
    text = place.archived
    place.archive_path.write_text(text.replace("**Duration:**", "Mine.\n\n**Duration:**"))
    problems = archive_verify.verify(place.workspace, place.workspace.load(place.path)).problems
    line = text[: text.index("## Archived")].count("\n") + 1
    assert [(each.line, each.message) for each in problems] == [
        (line, "somebody wrote into this summary after it was archived")
    ]
    restore(place, everything=True)
    assert [b"Mine." in each for each in kept(place)] == [True]


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_words_in_an_archive_stay_there(place: Place, newline: str) -> None:
    """What a person wrote between batches, or behind the link of a summary, stays, batch by batch and at once."""
    place.fill(1, 2, 3, 4, 5)
    before = log_of(place)
    place.archive(keep=3)
    place.archive(keep=1)
    data = place.archive_path.read_bytes().decode()
    data = data.replace("## Session 1", "Above.\n\n## Session 1", 1).replace(
        "## Archived", "Between.\n\n## Archived", 1
    )
    data = data.replace("archive.md)\n\n## Session 3", "archive.md)\n\nBehind a link.\n\n## Session 3", 1)
    data += "\n## Events\n\n- purged\n\nBehind.\n\n## Remarks\n\nBelow a heading.\n"
    place.archive_path.write_bytes(data.replace("\n", newline).encode())
    words = ("Above.", "Between.", "Behind a link.", "Behind.", "Below a heading.", "- purged")
    notes = archive_verify.verify(place.workspace, place.workspace.load(place.path)).problems
    assert [each.message.rpartition(": ")[2] for each in notes] == [
        *("'Above.'", "'Between.'", "'Behind a link.'", "'Behind.'", "'## Remarks Below a heading.'")
    ]
    assert not any(each.fatal for each in notes)
    restore(place)
    assert all(word in place.archive_path.read_text() for word in words)
    assert "what somebody wrote" in restore(place, everything=True).notes[1]
    assert log_of(place).replace("\r\n", "\n") == before
    left = place.archive_path.read_bytes().decode()
    assert re.findall("|".join(map(re.escape, words)), left) == [*words[:3], "- purged", *words[3:5]]
    assert left.startswith(data.partition("\n")[0] + newline)
    assert "## Session" not in left
    assert kept(place) == []
