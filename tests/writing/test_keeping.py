"""What is kept of writes: how much, for how long, for whom, and what a damaged record does."""

from __future__ import annotations

import stat
from functools import partial
from typing import TYPE_CHECKING

import pytest

from taskstate.doctor.examine import examine
from taskstate.errors import TaskstateError
from taskstate.storage import files, kept_records
from taskstate.writing import keeping
from taskstate.writing.ledger import newest_entry
from tests.support.chained import Chained
from tests.support.crashing import forks, killed
from tests.support.git_place import GitPlace
from tests.support.place import TASK, Place
from tests.writing.test_losses import did, in_place, mend

if TYPE_CHECKING:
    from pathlib import Path

ALL_ARE_OLD = -100_000  # days: the files of a test are younger than its clock


@pytest.fixture
def place(tmp_path: Path) -> Place:
    """Return a repository with task 101, without git."""
    return Place(tmp_path / "repository")


def test_records_are_bounded_in_number(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of what is accounted for, the newest records are kept, and those of the archive's batches."""
    monkeypatch.setattr(keeping, "_MOST_RECORDS", 3)
    place.add()
    place.add()
    place.archive(keep=1)
    for _ in range(12):
        place.check(1)
        place.check(1, checked=False)
    records = kept_records.records(place.workspace.private)[0]
    assert 3 <= sum(not record.batch for record in records) <= 7
    assert sum(record.batch for record in records) == 1


def test_records_are_bounded_in_size(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    """Beyond the limit the oldest go, whether of a batch or not."""
    for _ in range(6):
        place.add()
    monkeypatch.setattr(keeping, "_MOST_BYTES", 12_000)
    place.add()
    place.add()
    records = kept_records.records(place.workspace.private)[0]
    assert 0 < sum(record.path.stat().st_size for record in records[:-1]) <= 12_000
    place.text = place.text.replace("- Worked.", "- Worked.", 1)
    assert place.told() == ()


def test_old_records_go(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is accounted for is kept for some days."""
    place.add()
    monkeypatch.setattr(keeping, "_MOST_DAYS", ALL_ARE_OLD)
    place.add()
    assert len(kept_records.records(place.workspace.private)[0]) == 1


def test_records_of_what_is_gone_stay(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever the limits, as long as something is not accounted for its task's records stay."""
    for name, most in (("_MOST_RECORDS", 0), ("_MOST_BYTES", 0), ("_MOST_DAYS", ALL_ARE_OLD)):
        monkeypatch.setattr(keeping, name, most)
    buffer = place.text
    place.add("Gone.")
    in_place(place.path, buffer)
    for _ in range(3):
        place.check(1)
        place.check(1, checked=False)
    assert "session 1 is gone" in place.told()[0]
    mend(place)
    assert did(place) == ["Gone."]


def test_nobody_else_reads_what_is_kept(tmp_path: Path) -> None:
    """Kept records may hold text that was removed from a file again: folders and files are the owner's alone."""
    git = GitPlace(tmp_path / "repository")
    git.add()
    git.told()
    folder = git.root / ".git" / "taskstate"
    modes = {path.is_dir(): stat.S_IMODE(path.stat().st_mode) for path in (folder, *folder.rglob("*"))}
    assert {stat.S_IMODE(path.stat().st_mode) for path in (folder, *folder.rglob("*")) if path.is_dir()} == {0o700}
    assert modes == {True: 0o700, False: 0o600}
    assert not (git.root / ".taskstate" / "private").exists()


@pytest.mark.parametrize(
    "text",
    [
        b"",
        b"[]",
        b"{",
        b"[" * 100_000,
        b'{"taskstate_journal": 2, "entry": {"tasks": {"101": {}}}}\n[]\n',
        b'{"taskstate_journal": 2, "entry": {"tasks": {"101": {"items": [[1]], "moved": 1, "withdrawn": {}}}}}\n[]\n',
        b'{"taskstate_journal": 2, "entry": {"tasks": []}}\n[]\n',
        b'{"taskstate_journal": 9}\n',
    ],
)
def test_record_that_cannot_be_read_stops_nothing(place: Place, text: bytes) -> None:
    """A damaged record is passed over by commands, and the others still count."""
    buffer = place.text
    place.add("Gone.")
    kept_records.keep(place.workspace.private, text, kept_records.name_for((TASK,), batch=False))
    in_place(place.path, buffer)
    assert "session 1 is gone" in place.told()[0]
    mend(place)
    assert did(place) == ["Gone."]
    place.add()


def test_what_no_record_holds_keeps_nothing_else_from_coming_back(place: Place) -> None:
    """Where the only copy of a session cannot be read, the other one comes back, and this one is told still."""
    buffer = place.text
    for what in ("Unreadable.", "Gone."):
        place.add(what)
        in_place(place.path, buffer)
    record = kept_records.records(place.workspace.private)[0][-2]
    entry, _, _ = record.path.read_bytes().partition(b"\n")
    record.path.write_bytes(entry + b"\n{\n")
    (message,) = mend(place)
    assert did(place) == ["Gone."]
    assert "session 1 is back; 1 session is not; what is kept of it is in .taskstate/artifacts/" in message
    assert "1 session is gone" in place.told()[0]


def test_record_that_was_changed_is_named_by_doctor(place: Place) -> None:
    """A record whose hash is not that in its name is a note, and so is a file that is no record."""
    place.add()
    record = kept_records.records(place.workspace.private)[0][-1]
    record.path.write_bytes(record.path.read_bytes().replace(b"Worked.", b"Idled.."))
    files.create(record.path.parent / "mine.txt", b"")
    found = [problem for problem in examine(place.workspace) if problem.check == "kept"]
    assert [problem.note for problem in found] == [True, True]
    assert "it was changed after it was written" in found[0].message
    assert place.workspace.shown(record.path) == found[0].path
    assert found[1].path.endswith("mine.txt")


@forks
@pytest.mark.parametrize("job", ["check", "prove"])
def test_killed_command_that_takes_back_alarms_nobody(tmp_path: Path, job: str) -> None:
    """Wherever it is killed, what it takes back is in place still or is withdrawn: nothing is told as gone."""
    number, died = 0, True
    while died:
        number += 1
        place = Place(tmp_path / str(number))
        place.check()
        place.prove()
        take_back = partial(place.check, checked=False) if job == "check" else partial(place.prove, passes=False)
        died = killed(take_back, number)
        assert [line for line in place.told() if not line.startswith("finished")] == [], number
    assert number > 5


def test_a_plan_of_two_state_files_keeps_what_each_of_them_holds(tmp_path: Path) -> None:
    """A task that gets the output of another one keeps its own items on record, and not that task's."""
    place = Chained(tmp_path / "chained")
    place.write("101", "(?s)### Summary\n\n.*?\n", "### Summary\n\nTokens are issued.\n")
    place.complete(note="as far as it goes")
    records = kept_records.records(place.workspace.private)[0]
    entries = {task_id: newest_entry(records, task_id) for task_id in ("101", "102")}
    blocks = {task_id: entry and [item.place for item in entry.items] for task_id, entry in entries.items()}
    assert "output" in (blocks["101"] or [])
    assert "output" not in (blocks["102"] or [])


def test_no_file_is_written_that_would_not_be_read_again(place: Place) -> None:
    """A session that would make the file larger than what is read is refused, and nothing has changed."""
    before = place.text
    with pytest.raises(TaskstateError, match="would hold more than 24 MiB") as caught:
        place.add("x" * (files.MAX_TEXT + 1))
    assert caught.value.help
    assert place.text == before
