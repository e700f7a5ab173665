from __future__ import annotations

import errno
import json
import os
import subprocess
from typing import TYPE_CHECKING

import pytest

from taskstate.errors import StaleFile, TaskstateError
from taskstate.storage import files, folders, journal
from taskstate.storage.journal import Append, Create, Delete, Move, Replace
from taskstate.storage.private import Private
from tests.support.crashing import forks, killed, leave_plan

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path
    from typing import Any

    from taskstate.storage.journal import Plan

pytestmark = pytest.mark.slow  # it starts many processes, most of them git

OLD = {"state.md": b"front\nsession 1\n", "archive.md": b"archived 0\n", "open.md": b"handoff\n", "gone.md": b"gone\n"}
NEW = {
    "state.md": b"front\n",
    "archive.md": b"archived 0\nsession 1\n",
    "new/other.md": "other é\n".encode(),
    "new/open.md": b"handoff\n",
}
PLAN: Plan = (
    Append("archive.md", 11, b"session 1\n"),
    Create("new/other.md", "other é\n".encode()),
    Replace("state.md", files.digest(OLD["state.md"]), b"front\n"),
    Move("open.md", "new/open.md"),
    Delete("gone.md", files.digest(b"gone\n")),
)


class Place:
    """A root with the files of `OLD`, and a private folder with the journal."""

    def __init__(self, folder: Path) -> None:
        self.root = folder / "root"
        self.private = Private((folder / "private",), folder / "private")
        self.journal = folder / "private" / journal.JOURNAL
        for name, data in OLD.items():
            files.create(self.root / name, data)

    def write(self, plan: Plan = PLAN) -> None:
        """Carry out the plan in this root."""
        journal.write(self.root, self.private, plan)

    def recover(self) -> tuple[str, ...]:
        """Recover the interrupted plans of this root."""
        return journal.recover(self.root, self.private, lambda _: True)

    @property
    def pending(self) -> bool:
        """Whether a plan waits to be finished."""
        return journal.pending(self.private)

    def content(self) -> dict[str, bytes]:
        """Return all files under the root by path, including temporary ones."""
        paths = (path for path in self.root.rglob("*") if path.is_file())
        return {path.relative_to(self.root).as_posix(): path.read_bytes() for path in paths}

    def left(self) -> tuple[str, ...]:
        """Return the names in the journal folder."""
        return files.names(self.journal)

    def interrupt(self, plan: Plan = PLAN, *, after: int = 0) -> None:
        """Leave a recorded plan with its first operations carried out, as a killed writer does."""
        before = journal.texts_before(self.root, plan)
        for operation in plan[:after]:
            self.write((operation,))
        leave_plan(self.private, plan, before)


@pytest.fixture
def place(tmp_path: Path) -> Place:
    """Return a fresh root."""
    return Place(tmp_path)


def test_a_plan_changes_every_file(place: Place) -> None:
    """All operations are carried out, and neither record nor temporary file stays."""
    place.write()
    assert place.content() == NEW
    assert place.left() == ()
    assert not place.pending


@pytest.mark.parametrize("operation", PLAN)
def test_a_single_operation_needs_no_record(place: Place, operation: journal.Operation) -> None:
    """One operation is atomic by itself; only an append, which a kill can cut short, is recorded."""
    place.write((operation,))
    assert place.content() != OLD
    assert place.journal.exists() == isinstance(operation, Append)
    assert place.left() == ()


def test_an_empty_plan_changes_nothing(place: Place) -> None:
    """Without operations nothing changes."""
    place.write(())
    assert place.content() == OLD


def test_a_folder_is_moved(place: Place) -> None:
    """A folder goes with all that is in it, also in a plan of several operations."""
    files.create(place.root / "old/a.md", b"a")
    place.write((Move("old", "new/folder"), Create("x.md", b"x")))
    assert place.content() == OLD | {"new/folder/a.md": b"a", "x.md": b"x"}


STALE: dict[str, Callable[[Path], object]] = {
    "appended to": lambda root: (root / "archive.md").write_bytes(b"archived 0\nby hand\n"),
    "cut": lambda root: (root / "archive.md").write_bytes(b"arch"),
    "archive removed": lambda root: (root / "archive.md").unlink(),
    "edited": lambda root: (root / "state.md").write_bytes(b"front\nby hand\n"),
    "removed": lambda root: (root / "state.md").unlink(),
    "created": lambda root: files.create(root / "new/other.md", b"by hand\n"),
    "target taken": lambda root: files.create(root / "new/open.md", b"by hand\n"),
    "moved away": lambda root: (root / "open.md").unlink(),
    "deleted one edited": lambda root: (root / "gone.md").write_bytes(b"by hand\n"),
    "deleted already": lambda root: (root / "gone.md").unlink(),
}


@pytest.mark.parametrize("change", STALE)
def test_a_stale_plan_changes_nothing(place: Place, change: str) -> None:
    """A plan is refused as a whole if any of its files was changed, and nothing is left behind."""
    STALE[change](place.root)
    before = place.content()
    with pytest.raises(StaleFile, match="changed by somebody else"):
        place.write()
    assert place.content() == before
    assert place.left() == ()


@pytest.mark.parametrize("operation", PLAN[:3])
def test_a_single_stale_operation_changes_nothing(place: Place, operation: journal.Operation) -> None:
    """The check holds for one operation as well."""
    place.write((operation,))
    before = place.content()
    with pytest.raises(StaleFile):
        place.write((operation,))
    assert place.content() == before


def test_a_change_while_the_plan_is_recorded_is_noticed(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file that changes after the first check is not overwritten, and the record is deleted."""
    record = journal._record  # noqa: SLF001 - the moment that the test is about

    def record_slowly(private: Private, plan: Plan, *entry: Any) -> Path | None:  # noqa: ANN401 - passed on as it is
        path = record(private, plan, *entry)
        (place.root / "state.md").write_bytes(b"by hand\n")
        return path

    monkeypatch.setattr(journal, "_record", record_slowly)
    with pytest.raises(StaleFile):
        place.write()
    assert place.content() == OLD | {"state.md": b"by hand\n"}
    assert place.left() == ()


def test_a_path_that_escapes_is_refused(place: Place) -> None:
    """No operation reaches out of the root, and none before it is carried out."""
    plan = (Replace("state.md", files.digest(OLD["state.md"]), b"new"), Create("../outside.md", b""))
    with pytest.raises(TaskstateError) as caught:
        place.write(plan)
    assert caught.value.code == "path-escapes"
    assert place.content() == OLD


def test_a_link_is_refused(place: Place) -> None:
    """A file that is a link is neither read nor replaced."""
    (place.root / "state.md").rename(place.root / "real.md")
    (place.root / "state.md").symlink_to("real.md")
    with pytest.raises(TaskstateError) as caught:
        place.write()
    assert caught.value.code == "is-link"
    assert (place.root / "real.md").read_bytes() == OLD["state.md"]
    assert (place.root / "archive.md").read_bytes() == OLD["archive.md"]


def test_a_plan_names_each_path_once(place: Place) -> None:
    """A plan that touches a file twice is refused before anything is changed."""
    with pytest.raises(ValueError, match="a path twice"):
        place.write((*PLAN, Delete("state.md", "")))
    assert place.content() == OLD


def test_nothing_is_written_over_an_unfinished_plan(place: Place) -> None:
    """A plan on a file of an unfinished one is refused: it would turn that one into a conflict."""
    place.interrupt()
    with pytest.raises(TaskstateError) as caught:
        place.write((PLAN[4],))
    assert caught.value.code == "pending"
    assert caught.value.message == "an interrupted change of gone.md has to be finished first"
    assert place.content() == OLD


def test_an_unfinished_plan_stops_only_its_own_files(place: Place) -> None:
    """A plan on other files is carried out while one waits, which is finished afterwards."""
    place.interrupt()
    place.write((Create("x.md", b"x"), Create("y.md", b"y")))
    assert place.content() == OLD | {"x.md": b"x", "y.md": b"y"}
    place.recover()
    assert place.content() == NEW | {"x.md": b"x", "y.md": b"y"}


def test_a_plan_that_cannot_be_read_stops_nothing(place: Place) -> None:
    """What a newer version left waiting does not block a command of this one, which cannot know its files."""
    files.create(place.journal / "pending-x.json", b'{"taskstate_journal": 3}\n[]\n')
    place.write()
    assert place.content() == NEW


# what the system refuses


@pytest.mark.parametrize("name", ["state.md", "new"])
def test_a_plan_is_looked_at_before_its_first_step(place: Place, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    """A file or a folder that may not be written, in whatever step, refuses the whole plan: nothing is changed."""
    (place.root / "new").mkdir()
    really = folders.may  # root may write everything, so permissions alone would not show it

    def refuse(path: Path, mode: int) -> bool:
        return path != place.root / name and really(path, mode)

    monkeypatch.setattr(folders, "may", refuse)
    with pytest.raises(TaskstateError) as caught:
        place.write()
    assert caught.value.code == "no-permission"
    assert place.content() == OLD
    assert place.left() == ()


def test_a_disk_without_room_for_the_plan_refuses_it(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    """Free space is looked at before the first step."""

    def full(_: object) -> os.statvfs_result:
        return os.statvfs_result((4096, 4096, 100, 0, 0, 10, 10, 10, 0, 255))

    monkeypatch.setattr(os, "statvfs", full)
    with pytest.raises(TaskstateError) as caught:
        place.write()
    assert caught.value.code == "disk-full"
    assert place.content() == OLD
    assert place.left() == ()


def test_a_failure_before_the_first_change_leaves_nothing(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    """When the first operation is refused, nothing was changed and nothing is pending."""

    def no_space(*_: object) -> None:
        raise TaskstateError("cannot append", code="disk-full", help="free some space")

    monkeypatch.setattr(files, "append", no_space)
    with pytest.raises(TaskstateError) as caught:
        place.write()
    assert str(caught.value) == "cannot append: free some space"
    assert place.content() == OLD
    assert place.left() == ()


def test_a_failure_in_the_middle_is_finished_later(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    """When a later operation is refused, the message says that the rest follows, and it does."""

    def no_space(*_: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with monkeypatch.context() as patch:
        patch.setattr(folders, "rename", no_space)
        with pytest.raises(TaskstateError) as caught:
            place.write()
    assert caught.value.code == "disk-full"
    assert "the next taskstate command finishes it" in caught.value.message
    assert place.pending
    assert len(place.recover()) == 1
    assert place.content() == NEW
    assert place.left() == ()


def test_a_passing_refusal_keeps_the_plan(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    """When recovery itself meets a full disk, the plan waits for the next command."""
    place.interrupt(after=1)

    def no_space(*_: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", no_space)
        (message,) = place.recover()
    assert "waits until it can be finished" in message
    assert "no space is left on the disk" in message
    assert place.pending
    place.recover()
    assert place.content() == NEW


def test_what_cannot_be_seen_counts_as_begun(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    """When a failure leaves unclear how far the plan got, its record stays, and the next command looks again."""

    def refuse(*_: object) -> None:
        raise TaskstateError("cannot read", code="no-permission")

    def fail(*_: object) -> None:
        monkeypatch.setattr(files, "read", refuse)
        raise TaskstateError("cannot append", code="os-error")

    monkeypatch.setattr(files, "append", fail)
    with pytest.raises(TaskstateError, match="the next taskstate command finishes it"):
        place.write()
    assert place.pending
    (message,) = place.recover()
    assert "waits: cannot read" in message
    assert place.pending
    monkeypatch.undo()
    place.recover()
    assert place.content() == NEW


def test_a_change_in_the_last_instant_is_noticed(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file that changes after the second check is not overwritten either: what was done by then is undone."""
    look = journal._require_untouched  # noqa: SLF001 - the moment that the test is about

    def look_slowly(root: Path, plan: Plan) -> None:
        look(root, plan)
        if place.pending:
            (place.root / "state.md").write_bytes(b"by hand\n")

    monkeypatch.setattr(journal, "_require_untouched", look_slowly)
    with pytest.raises(StaleFile):
        place.write()
    assert place.content() == OLD | {"state.md": b"by hand\n"}
    assert place.left() == ()


def test_what_was_replaced_or_deleted_before_that_instant_is_put_back(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A plan that finds an edited file at its last step undoes all that it did."""
    plan = (PLAN[2], PLAN[4], Replace("archive.md", files.digest(OLD["archive.md"]), b"new\n"))
    look = journal._require_untouched  # noqa: SLF001 - the moment that the test is about

    def look_slowly(root: Path, plan: Plan) -> None:
        look(root, plan)
        if place.pending:
            (place.root / "archive.md").write_bytes(MINE)

    monkeypatch.setattr(journal, "_require_untouched", look_slowly)
    with pytest.raises(StaleFile):
        place.write(plan)
    assert place.content() == OLD | {"archive.md": MINE}
    assert place.left() == ()


# recovery


@pytest.mark.parametrize("after", range(len(PLAN) + 1))
def test_recovery_finishes_from_every_step(place: Place, after: int) -> None:
    """However many operations were carried out, recovery carries out the others and says so; a second does nothing."""
    place.interrupt(after=after)
    assert place.pending
    (message,) = place.recover()
    assert "state.md" in message
    assert place.content() == NEW
    assert place.left() == ()
    assert place.recover() == ()
    assert place.content() == NEW


@pytest.mark.parametrize("tail", [b"s", b"session 1", b"sess\0\0\0", b"\0" * 10])
def test_recovery_mends_a_torn_append(place: Place, tail: bytes) -> None:
    """A part of our own text at the end, with zeros where a power cut left some, is replaced by the whole text."""
    place.interrupt()
    (place.root / "archive.md").write_bytes(OLD["archive.md"] + tail)
    place.recover()
    assert place.content() == NEW


def test_recovery_mends_a_torn_creation(place: Place) -> None:
    """Where hard links are missing a kill leaves an empty file: it is filled."""
    place.interrupt(after=1)
    files.create(place.root / "new/other.md", b"")
    place.recover()
    assert place.content() == NEW


def test_recovery_accepts_what_was_added_behind(place: Place) -> None:
    """An append that was carried out is not made again when somebody added more behind it."""
    place.interrupt(after=1)
    files.append(place.root / "archive.md", b"more\n", len(NEW["archive.md"]))
    place.recover()
    assert place.content() == NEW | {"archive.md": NEW["archive.md"] + b"more\n"}


MINE = b"by hand\n"
NAMES = ("archive.md", "new/other.md", "state.md", "gone.md")


def edit(place: Place, names: tuple[str, ...]) -> set[str]:
    """Add a line to those of the files that exist, as somebody does who knows of no plan, and return their names."""
    paths = {name: place.root / name for name in names if (place.root / name).exists()}
    for path in paths.values():
        path.write_bytes(path.read_bytes() + MINE)
    return set(paths)


def follow(message: str) -> None:
    """Run the command that a message names."""
    subprocess.run(["sh", "-c", message.split("`")[1]], check=True)


@pytest.mark.parametrize("names", [*((name,) for name in NAMES), NAMES], ids="+".join)
@pytest.mark.parametrize("after", range(len(PLAN) + 1))
def test_recovery_keeps_an_edit(place: Place, after: int, names: tuple[str, ...]) -> None:
    """Whatever step it got to, and whatever file was edited since: the plan is whole or taken back, with every edit."""
    place.interrupt(after=after)
    edited = edit(place, names)
    (message,) = place.recover()
    if "waits" in message:
        assert len(names) > 1
        follow(message)
        (message,) = place.recover()
        assert "is finished" in message
    left = place.content()
    assert {name.removesuffix(".mine") for name, data in left.items() if MINE in data} == edited
    whole = {name: data.replace(MINE, b"") for name, data in left.items() if not name.endswith(".mine")}
    if "run the command again" in message:
        assert (whole, "dropped, as nothing of it is there" in message) == (OLD, after == 0)
    elif after < len(PLAN) or edited:
        assert whole == NEW
    assert (place.left(), place.recover()) == ((), ())


@pytest.mark.parametrize("after", [1, 2])
def test_an_edit_in_appended_text_is_kept(place: Place, after: int) -> None:
    """Who edits the very text that was appended keeps it, once, and the plan is finished."""
    added = b"".join(b"line %d\n" % number for number in range(8))
    place.interrupt((Append("archive.md", 11, added), *PLAN[1:]), after=after)
    edited = (OLD["archive.md"] + added).replace(b"line 3\n", b"line three\n")
    (place.root / "archive.md").write_bytes(edited)
    assert "is finished" in place.recover()[0]
    assert place.content() == NEW | {"archive.md": edited}


def test_a_torn_text_is_made_whole_beside_an_edit(place: Place) -> None:
    """What a killed writer left of its text counts for nothing where another file was edited."""
    place.interrupt()
    (place.root / "archive.md").write_bytes(OLD["archive.md"] + b"sess")
    (place.root / "state.md").write_bytes(OLD["state.md"] + MINE)
    assert "is taken back" in place.recover()[0]
    assert place.content() == OLD | {"state.md": OLD["state.md"] + MINE}


IN_THE_WAY: dict[str, Callable[[Path], object]] = {
    "new/other.md": lambda root: files.create(root / "new/other.md", b"another one's\n"),
    "new/open.md": lambda root: files.create(root / "new/open.md", b"another one's\n"),
    "state.md": lambda root: (root / "state.md").write_bytes(b"an\nother\ntext\n"),
}


@pytest.mark.parametrize("path", IN_THE_WAY)
def test_another_ones_text_stays_somewhere(place: Place, path: str) -> None:
    """A text that is neither the old nor the new one stays, where it is or where the command that is named puts it."""
    place.interrupt(after=1)
    IN_THE_WAY[path](place.root)
    text = (place.root / path).read_bytes()
    (message,) = place.recover()
    while "waits" in message:
        follow(message)
        (message,) = place.recover()
    assert text in place.content().values()
    assert place.left() == ()


@pytest.mark.parametrize("form", ["link", "folder", "link to a folder outside"])
def test_recovery_refuses_what_took_a_files_place(place: Place, tmp_path: Path, form: str) -> None:
    """A link or a folder instead of a file is not followed: the command that is named puts it aside."""
    place.interrupt(after=1)
    (place.root / "state.md").unlink()
    if form == "folder":
        (place.root / "state.md").mkdir()
    else:
        (place.root / "state.md").symlink_to("archive.md" if form == "link" else tmp_path)
    (message,) = place.recover()
    if form == "link to a folder outside":
        assert place.left()[0].startswith("unreadable-")
        return
    assert "waits" in message
    follow(message)
    assert "is finished" in place.recover()[0]
    assert place.content().keys() - {"state.md.mine"} == NEW.keys()


def test_without_the_texts_from_before_it_waits(place: Place) -> None:
    """A record that an older version left says what is in the way, and the command that it names helps."""
    place.interrupt(after=1)
    (record,) = place.journal.iterdir()
    record.write_bytes(b"".join(record.read_bytes().splitlines(keepends=True)[:2]))
    (place.root / "state.md").write_bytes(OLD["state.md"] + MINE)
    follow(place.recover()[0])
    assert "finished" in place.recover()[0]
    assert place.content() == NEW | {"state.md.mine": OLD["state.md"] + MINE}


def test_a_second_file_is_put_aside_beside_the_first(place: Place) -> None:
    """The command that is named never overwrites what was put aside before."""
    (place.root / "state.md.mine").write_bytes(MINE)
    place.interrupt(after=2)
    edit(place, NAMES)
    follow(place.recover()[0])
    assert place.content()["state.md.mine"] == MINE
    assert place.content()["state.md.mine1"] == OLD["state.md"] + MINE


def test_recovery_sweeps_temporary_files(place: Place) -> None:
    """Temporary files beside the changed files and in the journal folder are deleted, also without a plan."""
    stray = ".taskstate-1-abcdef.tmp"
    place.interrupt()
    for folder in (place.root, place.journal):
        (folder / stray).write_bytes(b"half")
    place.recover()
    assert place.content() == NEW
    assert place.left() == ()
    (place.journal / stray).write_bytes(b"half")
    assert place.pending
    assert place.recover() == ()
    assert place.left() == ()


# records that nobody can have meant

GOOD = {"operation": "delete", "path": "gone.md", "expected_digest": files.digest(b"gone\n")}
BAD_OPERATIONS: tuple[object, ...] = (
    None,
    [],
    {},
    GOOD | {"operation": "format"},
    GOOD | {"operation": ["delete"]},
    GOOD | {"more": 1},
    GOOD | {"path": 1},
    GOOD | {"expected_digest": None},
    {"operation": "append", "path": "archive.md", "expected_size": -1, "data": ""},
    {"operation": "append", "path": "archive.md", "expected_size": True, "data": ""},
    {"operation": "append", "path": "archive.md", "expected_size": "11", "data": ""},
    {"operation": "create", "path": "x.md", "data": "\ud800"},
    {"operation": "create", "path": "x.md"},
)
BAD_HEADS = (
    b"",
    b"\0" * 100,
    b"\xff\xfe",
    b"[]",
    b"{}",
    b"null",
    b'{"taskstate_journal": 2, "ent',
    b'{"taskstate_journal": 1}',
    b'{"taskstate_journal": "2", "entry": {}}',
    b'{"taskstate_journal": 2, "entry": []}',
    b"[" * 100_000,
)
HEAD = b'{"taskstate_journal": 2, "entry": {}}\n'
BAD_RECORDS = [
    *(head + b"\n[]\n" for head in BAD_HEADS),
    HEAD,
    HEAD + b"{}\n",
    HEAD + b'[{"operation": "del',
    HEAD + b"[" * 100_000,
    *(HEAD + json.dumps([bad]).encode() for bad in BAD_OPERATIONS),
    HEAD + json.dumps([GOOD, GOOD]).encode(),
    *(HEAD + json.dumps([GOOD]).encode() + before for before in (b"\n[]\n", b'\n{"gone.md": 1}\n', b"\n{")),
    b'{\n "taskstate_journal": 1\n}\n',
    b'{\n "taskstate_journal": 0,\n "operations": []\n}\n',
    b'{\n "taskstate_journal": 1, "oper',
]


@pytest.mark.parametrize("record", BAD_RECORDS)
def test_an_unreadable_record_is_set_aside(place: Place, record: bytes) -> None:
    """A torn record, or one of another form, changes no file and is renamed so that it blocks no command."""
    files.create(place.journal / "pending-x.json", record)
    (message,) = place.recover()
    assert "pending-x.json is not a plan" in message
    assert place.content() == OLD
    assert place.left() == ("unreadable-x.json",)
    assert (place.journal / "unreadable-x.json").read_bytes() == record


@pytest.mark.parametrize("form", ["folder", "fifo", "link", "device", "huge"])
def test_a_record_that_is_no_file_is_set_aside(place: Place, form: str) -> None:
    """Whatever has a record's name, the command neither hangs nor fails."""
    record = place.journal / "pending-x.json"
    place.journal.mkdir(parents=True)
    if form == "folder":
        record.mkdir()
    elif form == "fifo":
        os.mkfifo(record)
    elif form == "huge":
        with record.open("wb") as stream:
            stream.truncate(files.MAX_BYTES + 1)
    else:
        record.symlink_to("/dev/zero" if form == "device" else place.root / "state.md")
    assert len(place.recover()) == 1
    assert place.left() == ("unreadable-x.json",)
    assert place.content() == OLD


@pytest.mark.parametrize("path", ["../x.md", "/taskstate-x.md", ".git/config", "out/x.md", "a\0b", "\udcff/../../x"])
def test_a_record_cannot_reach_out_of_the_root(place: Place, tmp_path: Path, path: str) -> None:
    """A record that names a place outside the root, or git's own folder, is refused and kept."""
    (place.root / ".git").mkdir()
    (place.root / "out").symlink_to(tmp_path)
    record = HEAD + json.dumps([{"operation": "create", "path": path, "data": "x"}]).encode()
    files.create(place.journal / "pending-x.json", record)
    assert "is not a plan that can be carried out: nothing more" in place.recover()[0]
    assert place.left() == ("unreadable-x.json",)
    assert sorted(entry.name for entry in tmp_path.iterdir()) == ["private", "root"]
    assert list((place.root / ".git").iterdir()) == []


def test_a_newer_record_is_left_to_the_newer_tool(place: Place) -> None:
    """A record written by a newer version is neither carried out nor lost."""
    files.create(place.journal / "pending-x.json", b'{"taskstate_journal": 3, "steps": []}')
    assert "pending-x.json waits: a newer taskstate was interrupted" in place.recover()[0]
    assert place.left() == ("pending-x.json",)


def test_a_record_keeps_every_byte(place: Place) -> None:
    """Text, line ends and bytes that are no UTF-8 come back from the record as they were."""
    data = 'é\r\n\u2028"\\\x00'.encode() + bytes(range(256))
    place.interrupt((Create("x.md", data), Create("y.md", b"")))
    place.recover()
    assert place.content() == OLD | {"x.md": data, "y.md": b""}


def test_a_plan_too_large_to_be_read_back_is_refused(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    """A plan that recovery could not read is not begun."""
    monkeypatch.setattr(files, "MAX_BYTES", 500)
    with pytest.raises(TaskstateError) as caught:
        place.write((Create("x.md", b"x" * 600), Create("y.md", b"")))
    assert caught.value.code == "too-large"
    assert place.content() == OLD


# crashes


def copies(tmp_path: Path) -> Callable[[], Place]:
    """Return a function that creates a fresh root."""
    count = iter(range(1_000_000))
    return lambda: Place(tmp_path / str(next(count)))


@forks
@pytest.mark.parametrize("torn", [False, True])
@pytest.mark.parametrize("plan", [PLAN, (PLAN[0], PLAN[2])], ids=["all kinds", "archiving"])
def test_a_kill_at_any_instant_loses_nothing(tmp_path: Path, plan: Plan, *, torn: bool) -> None:
    """Wherever a writer is killed, afterwards the plan was carried out wholly or not at all, each text exactly once."""
    fresh = copies(tmp_path)
    whole = fresh()
    whole.write(plan)
    outcomes = {"old": 0, "new": 0}
    number = 1
    while True:
        place = fresh()
        died = killed(lambda place=place: place.write(plan), number, torn=torn)  # type: ignore[misc]  # a default argument in a lambda
        between = place.content()
        assert OLD["archive.md"] in between["archive.md"]
        assert b"session 1" in between["archive.md"] + between["state.md"]  # before recovery, too
        place.recover()
        after = place.content()
        assert after in (OLD, whole.content())
        assert place.left() == ()
        assert not place.pending
        outcomes["old" if after == OLD else "new"] += 1
        if not died:
            break
        number += 1
    assert number > 20
    assert min(outcomes.values()) > 5


@forks
@pytest.mark.parametrize("operation", PLAN)
def test_a_kill_in_a_single_operation_leaves_old_or_new(tmp_path: Path, operation: journal.Operation) -> None:
    """Without a record, too, a killed writer leaves the old or the new."""
    fresh = copies(tmp_path)
    whole = fresh()
    whole.write((operation,))
    number = 1
    while True:
        place = fresh()
        died = killed(lambda place=place: place.write((operation,)), number, torn=True)  # type: ignore[misc]  # a default argument in a lambda
        place.recover()
        for folder in (place.root, place.root / "new"):
            files.sweep(folder)
        assert place.content() in (OLD, whole.content())
        if not died:
            break
        number += 1
    assert number > 2


@forks
@pytest.mark.parametrize("after", [0, 1, 3])
def test_a_kill_of_the_recovery_loses_nothing(tmp_path: Path, after: int) -> None:
    """Recovery may be killed at any instant itself: the next one finishes the plan."""
    fresh = copies(tmp_path)
    number = 1
    while True:
        place = fresh()
        place.interrupt(after=after)
        died = killed(place.recover, number, torn=True)
        place.recover()
        assert place.content() == NEW
        assert place.left() == ()
        if not died:
            break
        number += 1
    assert number > 5
