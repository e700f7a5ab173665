from __future__ import annotations

import json
import os
import stat
import subprocess
from typing import TYPE_CHECKING

import pytest

from taskstate.errors import StaleFile
from taskstate.merge.recovery import restore_lost_update, write_proposal
from taskstate.storage import backups, files, journal
from taskstate.storage.backups import compare_and_swap
from taskstate.tasks import sessions
from taskstate.workspace import lost_updates
from taskstate.workspace.lost_updates import PROPOSAL
from taskstate.workspace.startup import recover
from tests.support.place import TASK, Place, refusal

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


@pytest.fixture
def place(tmp_path: Path) -> Place:
    """Return a repository with task 101."""
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
    """Return the text with a change by hand."""
    return text.replace("\n## 5. Git History", f"\n<!-- by hand {number} -->\n\n## 5. Git History")


def mend(place: Place) -> list[str]:
    """Merge all lost updates back, and return the messages."""
    return [
        restore_lost_update(place.workspace, update, place.request())
        for update in lost_updates.records(place.workspace)[0]
    ]


def did(place: Place) -> list[str]:
    """Return what all sessions say was done."""
    return [text for session in sessions.all_sessions(place.workspace, TASK) for text in session.did]


# A stale buffer


@pytest.mark.parametrize("save", [by_rename, in_place])
def test_stale_save_is_noticed_and_what_it_removed_put_back(place: Place, save: Callable[[Path, str], None]) -> None:
    """A lost update is merged back, and the editor's own change stays."""
    place.add("First.")
    buffer = edited(place.text)
    place.add("Second.")
    place.prove()
    place.check(2)
    save(place.path, buffer)
    assert place.numbers() == [(1, False)]
    (message,) = recover(place.workspace)
    assert "revision 5 is gone, somebody saved a copy of revision 2 over it" in message
    assert "doctor --fix" in message
    assert recover(place.workspace) == ()
    assert "is in it again, at revision 6-" in mend(place)[0]
    assert did(place) == ["First.", "Second."]
    assert [criterion.checked for criterion in place.state.criteria] == [False, True]
    assert place.state.checklist
    assert place.state.checklist.passing == 1
    assert "<!-- by hand 1 -->" in place.text
    assert place.state.revision == 6
    assert lost_updates.records(place.workspace) == ([], [])


def test_next_writer_notices_and_goes_on(place: Place) -> None:
    """A command that writes after a stale save reports it and does its work; the lost text is merged later."""
    place.add("First.")
    buffer = edited(place.text)
    place.add("Second.")
    in_place(place.path, buffer)
    assert "revision 3 is gone" in place.add("Third.").notes[0]
    assert did(place) == ["First.", "Third."]
    mend(place)
    assert sorted(did(place)) == ["First.", "Second.", "Third."]
    assert place.numbers() == [(1, False), (2, False), (3, False)]


def test_revision_that_is_gone_is_never_given_again(place: Place) -> None:
    """A merged update gets a higher revision than it had, even if only its record still has that revision."""
    buffer = edited(place.text)
    place.add("First.")
    place.add("Second.")
    in_place(place.path, buffer)
    assert "revision 3 is gone" in recover(place.workspace)[0]
    backups.forget(place.workspace.journal, place.workspace.relative(place.path))
    assert "is in it again, at revision 4-" in mend(place)[0]
    assert (did(place), place.state.revision) == (["First.", "Second."], 4)


def test_archived_sessions_that_a_stale_save_brings_back_go_again(place: Place) -> None:
    """A stale copy from before an archiving has sessions that the archive has too: each is merged only once."""
    for text in ("First.", "Second.", "Third."):
        place.add(text)
    buffer = edited(place.text)
    place.archive(keep=1)
    place.add("Fourth.")
    by_rename(place.path, buffer)
    recover(place.workspace)
    mend(place)
    assert did(place) == ["First.", "Second.", "Third.", "Fourth."]
    assert place.numbers() == [(1, True), (2, True), (3, False), (4, False)]


def test_loss_that_was_meant_is_told_once(place: Place) -> None:
    """A deleted record is not reported again, and its revision is not given again."""
    buffer = place.text
    place.add("Not wanted.")
    in_place(place.path, buffer)
    recover(place.workspace)
    lost_updates.records(place.workspace)[0][0].record.unlink()
    assert recover(place.workspace) == ()
    assert place.add("Wanted.").notes[0] == "session 1 recorded"
    assert (did(place), place.state.revision) == (["Wanted."], 3)


def test_several_stale_saves_are_all_mended(place: Place) -> None:
    """Each lost update has its own record, and they are merged one after the other."""
    place.add("First.")
    for number in range(3):
        buffer = edited(place.text, number)
        place.add(f"Gone {number}.")
        in_place(place.path, buffer)
        place.add(f"Kept {number}.")
    assert len(lost_updates.records(place.workspace)[0]) == 3
    mend(place)
    assert sorted(did(place)) == sorted(["First.", *(f"{word} {n}." for word in ("Gone", "Kept") for n in range(3))])
    assert [number for number, _ in place.numbers()] == list(range(1, 8))


def test_hand_edit_of_the_newest_text_is_no_loss(place: Place) -> None:
    """An edit of the newest text is not reported as a lost update."""
    place.add()
    place.text = edited(place.text)
    assert recover(place.workspace) == ()
    assert place.add().notes == ("session 2 recorded",)


def test_what_both_changed_becomes_a_proposal(place: Place) -> None:
    """If both texts changed the same line, the file's stays, the rest is merged, and the lost text is written out."""
    place.add("First.")
    buffer = place.text.replace("Issue tokens.", "Issue tokens by hand.")
    place.text = place.text.replace("Issue tokens.", "Issue better tokens.")
    place.add("Second.")
    in_place(place.path, buffer)
    recover(place.workspace)
    (message,) = mend(place)
    assert did(place) == ["First.", "Second."]
    assert "Issue tokens by hand." in place.text
    (proposal,) = place.workspace.journal.glob(f"{PROPOSAL}*.md")
    assert place.workspace.relative(proposal) in message
    assert "Issue better tokens." in proposal.read_text(encoding="utf-8")


def test_text_without_a_known_base_is_written_out(place: Place) -> None:
    """Without the common ancestor nothing is merged."""
    buffer = place.text
    place.add("Gone.")
    for version in backups.versions_of(place.workspace.journal, place.workspace.relative(place.path))[:-1]:
        version.path.unlink()
    in_place(place.path, edited(buffer))
    recover(place.workspace)
    (update,) = lost_updates.records(place.workspace)[0]
    assert update.base is None
    before = place.text
    assert refusal(lambda: restore_lost_update(place.workspace, update, place.request())).code == "no-base"
    assert place.text == before
    assert PROPOSAL in write_proposal(place.workspace, update)
    assert lost_updates.records(place.workspace) == ([], [])
    (proposal,) = place.workspace.journal.glob(f"{PROPOSAL}*.md")
    assert "Gone." in proposal.read_text(encoding="utf-8")


def test_checking_out_another_commit_is_no_loss(repository: Path) -> None:
    """A file that git itself set back is not reported."""
    place = Place(repository)
    git = ["git", "-C", str(repository)]

    def commit() -> str:
        subprocess.run([*git, "add", "-A"], check=True)
        subprocess.run([*git, "commit", "-qm", "state"], check=True)
        head = subprocess.run([*git, "rev-parse", "HEAD"], check=True, capture_output=True, text=True).stdout.strip()
        metadata = place.request().metadata._replace(git_head=head)
        place.add("More.", request=place.request()._replace(metadata=metadata))
        return head

    commit()
    commit()
    subprocess.run([*git, "commit", "-qam", "last"], check=True)
    subprocess.run([*git, "checkout", "-q", "HEAD~1"], check=True)
    assert recover(place.workspace) == ()
    subprocess.run([*git, "checkout", "-q", "main"], check=True)
    subprocess.run([*git, "reset", "-q", "--hard", "HEAD~2"], check=True)
    assert place.add().notes[0].startswith("session 1 recorded")
    assert lost_updates.records(place.workspace) == ([], [])


@pytest.mark.parametrize("record", ["", "[]", "{", '{"path": 1, "text": "", "base": null, "late": false}', "[" * 9_000])
def test_record_that_cannot_be_read_is_told_and_stops_nothing(place: Place, record: str) -> None:
    """A damaged file is not reported as a lost update."""
    place.add()
    (place.workspace.journal / "lost-x.json").write_text(record, encoding="utf-8")
    assert lost_updates.records(place.workspace) == ([], [place.workspace.journal / "lost-x.json"])
    place.add()


# A save in the instant of a replace


def test_save_in_place_in_the_instant_of_the_replace_is_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Somebody who opened the file before the rename, and writes after it, has saved: our change gives way."""
    path = tmp_path / "a.md"
    path.write_bytes(b"old")
    with path.open("r+b", buffering=0) as editor:
        really = os.replace

        def replace_and_save(source: Path, target: Path) -> None:
            really(source, target)
            if source.suffix == ".tmp":
                editor.write(b"by hand")

        monkeypatch.setattr(os, "replace", replace_and_save)
        refused = refusal(lambda: compare_and_swap(path, b"new", files.digest(b"old"), tmp_path / "kept"))
        editor.write(b", and more")  # what is still to come arrives as well
    assert isinstance(refused, StaleFile)
    assert path.read_bytes() == b"by hand, and more"


def test_command_plans_anew_after_such_a_save(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    """After a save in the instant of the rename, both the save and the session are there."""
    place.add("First.")
    really, seen = os.replace, [False]
    editor = place.path.open("r+b", buffering=0)

    def replace_and_save(source: Path, target: Path) -> None:
        really(source, target)
        if target == place.path and not seen[0]:
            seen[0] = True
            editor.write(edited(old).encode())
            editor.close()

    old = place.text
    monkeypatch.setattr(os, "replace", replace_and_save)
    place.add("Second.")
    assert did(place) == ["First.", "Second."]
    assert "<!-- by hand 1 -->" in place.text


def test_archiving_that_meets_such_a_save_is_taken_back_and_made_anew(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What was appended to the archive is undone before the change is planned again: no session is there twice."""
    for text in ("First.", "Second.", "Third."):
        place.add(text)
    really, seen = os.replace, [False]

    def save_and_replace(source: Path, target: Path) -> None:
        if target == place.path and not seen[0]:
            seen[0] = True
            by_hand = place.path.with_name("beside")
            by_hand.write_text(edited(place.text), encoding="utf-8")
            really(by_hand, place.path)
            raise StaleFile("changed")
        really(source, target)

    monkeypatch.setattr(os, "replace", save_and_replace)
    place.archive(keep=1)
    assert seen == [True]
    assert place.numbers() == [(1, True), (2, True), (3, False)]
    assert "<!-- by hand 1 -->" in place.text


def test_save_that_comes_later_still_is_noticed(place: Place) -> None:
    """A save into the replaced file by an editor that had it open is recorded and merged."""
    place.add("First.")
    old = place.text
    with place.path.open("r+b", buffering=0) as editor:
        place.add("Second.")
        editor.write(edited(old).encode())
    os.utime(next((place.workspace.journal / backups.FOLDER).glob("*/watched-*")))
    (message,) = recover(place.workspace)
    assert "came when the file had just been replaced" in message
    mend(place)
    assert did(place) == ["First.", "Second."]
    assert "<!-- by hand 1 -->" in place.text


# What is kept


def test_versions_are_bounded_in_number_and_size(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of each file the newest versions are kept, and of all files those written last."""
    monkeypatch.setattr(backups, "_MAX_VERSIONS", 4)
    monkeypatch.setattr(backups, "_MAX_FILES", 3)
    path, folder = tmp_path / "a.md", tmp_path / "journal"
    path.write_bytes(b"0")
    for number in range(9):
        backups.replace(folder, "a.md", path, files.digest(path.read_bytes()), str(number + 1).encode())
    assert [version.read() for version in backups.versions_of(folder, "a.md")] == [b"6", b"7", b"8", b"9"]
    for name in ("b", "c", "d"):
        (tmp_path / name).write_bytes(b"0")
        backups.replace(folder, name, tmp_path / name, files.digest(b"0"), b"1")
    assert files.names(folder / backups.FOLDER) == ("b", "c", "d")
    (tmp_path / "c").write_bytes(b"long")
    assert "c" in backups.possibly_changed(folder, tmp_path)


@pytest.mark.parametrize("what", ["folder", "place"])
def test_versions_follow_no_link(tmp_path: Path, what: str) -> None:
    """If the backup folder is a link, nothing is kept, and the write is made all the same."""
    path, folder, outside = tmp_path / "a.md", tmp_path / "journal", tmp_path / "outside"
    path.write_bytes(b"0")
    outside.mkdir()
    link = folder / backups.FOLDER if what == "folder" else folder / backups.FOLDER / "a.md"
    link.parent.mkdir(parents=True)
    link.symlink_to(outside)
    backups.replace(folder, "a.md", path, files.digest(b"0"), b"1")
    assert path.read_bytes() == b"1"
    assert list(outside.iterdir()) == []


def test_records_hold_what_json_can(place: Place) -> None:
    """A record is JSON that anybody can read."""
    buffer = place.text
    place.add("Gone é.")
    in_place(place.path, buffer)
    recover(place.workspace)
    (update,) = lost_updates.records(place.workspace)[0]
    loose = json.loads(update.record.read_text(encoding="utf-8"))
    assert (loose["taskstate_lost"], loose["path"], loose["late"]) == (1, place.workspace.relative(place.path), False)
    assert "Gone é." in loose["text"]
    assert journal.pending(place.workspace.journal) is False


def test_nobody_else_reads_what_was_kept(place: Place) -> None:
    """Backups may contain text that was removed from a file again: the folder is readable by its owner alone."""
    place.add()
    folder = place.workspace.journal / "recent"
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    folder.chmod(0o755)
    place.add()
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert ".taskstate/journal" in (place.root / ".gitignore").read_text(encoding="utf-8")
