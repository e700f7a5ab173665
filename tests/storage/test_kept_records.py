from __future__ import annotations

import stat
from typing import TYPE_CHECKING

import pytest

from taskstate.errors import TaskstateError
from taskstate.storage import files, journal, kept_records
from taskstate.storage.private import Private
from taskstate.storage.transaction import Create, encode

if TYPE_CHECKING:
    from pathlib import Path

PLAN = (Create("a.md", b"a \xff"), Create("b.md", b"b"))
ENTRY = {"tasks": {"101": {"revision": 1}}}
DATA = encode(PLAN, ENTRY)


@pytest.fixture
def private(tmp_path: Path) -> Private:
    """Return a private folder that does not exist yet."""
    return Private((tmp_path / "private",), tmp_path / "private")


def keep(private: Private, *ids: str, data: bytes = DATA, batch: bool = False) -> None:
    """Keep a record of these tasks."""
    kept_records.keep(private, data, kept_records.name_for(ids, batch=batch))


def test_record_is_read_as_it_was_kept(private: Private) -> None:
    """Its name tells order, tasks and whether it added to an archive; its bytes hold entry and plan."""
    keep(private, "101", "TASK-X", batch=True)
    keep(private, "2")
    (first, second), strange = kept_records.records(private)
    assert (first.number, first.ids, first.batch) == (1, frozenset({"101", "task-x"}), True)
    assert (second.number, second.ids, second.batch) == (2, frozenset({"2"}), False)
    assert (first.entry(), first.plan()) == (ENTRY, PLAN)
    assert strange == ()


def test_plan_with_an_entry_is_kept_when_it_is_done(private: Private, tmp_path: Path) -> None:
    """Whether it was recorded in the journal before (several files) or not (one file); without an entry nothing is."""
    journal.write(tmp_path, private, PLAN, journal.Keeping(ENTRY, "101"))
    journal.write(tmp_path, private, (Create("c.md", b"c"),), journal.Keeping(ENTRY, "102"))
    journal.write(tmp_path, private, (Create("d.md", b"d"), Create("e.md", b"e")))
    assert [(record.number, min(record.ids)) for record in kept_records.records(private)[0]] == [(1, "101"), (2, "102")]
    assert kept_records.records(private)[0][0].plan() == PLAN
    assert not journal.pending(private)
    assert list(private.files(journal.JOURNAL)) == []


def test_plan_that_recovery_finishes_is_kept_too(private: Private, tmp_path: Path) -> None:
    """What a killed command had begun counts as acknowledged once it is done, under the same name."""
    journal._record(private, PLAN, journal.Keeping(ENTRY, "101~batch"))  # noqa: SLF001 - what a killed writer leaves
    journal.recover(tmp_path, private, lambda _: True)
    (record,) = kept_records.records(private)[0]
    assert (min(record.ids), record.batch) == ("101", True)
    assert (record.entry(), record.plan()) == (ENTRY, PLAN)


def test_ids_that_make_too_long_a_name_are_read_from_the_record(private: Private) -> None:
    """A change of many tasks has its ids in its entry alone."""
    ids = [f"task-{number}-with-a-long-id" for number in range(20)]
    keep(private, *ids, data=encode((), {"tasks": {each.upper(): {} for each in ids}}))
    (record,) = kept_records.records(private)[0]
    assert record.ids == frozenset(ids)
    assert len(record.path.name) < 200


def test_records_are_numbered_over_both_folders(private: Private, tmp_path: Path) -> None:
    """Where the folder in git could not be written for a while, the order is kept."""
    keep(private, "1")
    both = Private((*private.read, tmp_path / "other"), tmp_path / "other")
    keep(both, "2")
    keep(both._replace(write=private.write), "3")
    assert [min(record.ids) for record in kept_records.records(both)[0]] == ["1", "2", "3"]


def test_only_the_owner_reads_records(private: Private) -> None:
    """Folders are 0700, files 0600."""
    keep(private, "1")
    (record,) = kept_records.records(private)[0]
    modes = [stat.S_IMODE(path.stat().st_mode) for path in (record.path.parent.parent, record.path.parent, record.path)]
    assert modes == [0o700, 0o700, 0o600]


def test_nothing_is_kept_where_nothing_can_be_written(private: Private, monkeypatch: pytest.MonkeyPatch) -> None:
    """That is no error: what was written stays written."""
    keep(private._replace(write=None), "1")

    def refuse(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(files, "write_all", refuse)
    keep(private, "1")
    assert kept_records.records(private)[0] == ()


def test_files_that_are_no_records_are_told_apart(private: Private) -> None:
    """A name of another form is strange, one of our temporary files is neither."""
    keep(private, "1")
    folder = kept_records.records(private)[0][0].path.parent
    for name in ("mine.txt", "1-x-1.json", ".taskstate-1-ab.tmp", "000009-0123456789abcdef-..x.json"):
        (folder / name).write_bytes(b"")
    records, strange = kept_records.records(private)
    assert len(records) == 2
    assert [path.name for path in strange] == ["1-x-1.json", "mine.txt"]


@pytest.mark.parametrize(
    "data", [b"", b"{", b"[]", b"{}", b"\xff", DATA[:30], DATA[:-5], DATA.replace(b"a.md", b"c.md")]
)
def test_damaged_record_is_refused_on_reading(private: Private, data: bytes) -> None:
    """A record that is not as it was written raises, and never gives other bytes."""
    keep(private, "1")
    (record,) = kept_records.records(private)[0]
    record.path.write_bytes(data)
    with pytest.raises((ValueError, TaskstateError)):
        record.plan()


def test_records_of_removed_worktrees_are_adopted(private: Private, tmp_path: Path) -> None:
    """They come behind the own ones, in their order, once."""
    other = Private((tmp_path / "gone",), tmp_path / "gone")
    keep(other, "2")
    keep(other, "3", batch=True)
    keep(private, "1")
    both = private._replace(removed=(tmp_path / "gone",))
    assert kept_records.adopt(both)
    records = kept_records.records(private)[0]
    assert [(record.number, min(record.ids), record.batch) for record in records] == [
        (1, "1", False),
        (2, "2", False),
        (3, "3", True),
    ]
    assert records[2].plan() == PLAN
    assert not kept_records.adopt(both)
