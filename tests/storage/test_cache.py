"""A cache keeps entries from run to run; a damaged or outdated one counts as empty."""

from __future__ import annotations

import errno
import json
import os
from typing import TYPE_CHECKING, NamedTuple

import pytest

from taskstate.storage import cache, folders
from taskstate.storage.cache import Cache

if TYPE_CHECKING:
    from pathlib import Path


class Seen(NamedTuple):
    """An entry."""

    mark: str
    ids: tuple[str, ...]


def _seen(values: list[object]) -> Seen:
    mark, ids = values
    if not (isinstance(mark, str) and isinstance(ids, (list, tuple))):
        raise TypeError
    return Seen(mark, tuple(map(str, ids)))


def opened(folder: Path, rests_on: str = "", max_entries: int = 10, max_files: int = 1) -> Cache[Seen]:
    """Open the cache in a folder as a new run does."""
    return Cache(folder / "seen.json", _seen, rests_on=rests_on, max_entries=max_entries, max_files=max_files)


def saved(folder: Path, *names: str, rests_on: str = "", max_entries: int = 10, max_files: int = 1) -> None:
    """Put entries into the cache, as one run does."""
    run = opened(folder, rests_on, max_entries, max_files)
    for name in names:
        run.put(name, Seen(name, ("7",)))
    run.save()


def test_next_run_finds_what_was_kept(tmp_path: Path) -> None:
    """The folder is created, a lone surrogate survives, and no temporary file stays."""
    saved(tmp_path / "cache", "a\udcff")
    assert opened(tmp_path / "cache").get("a\udcff") == Seen("a\udcff", ("7",))
    assert opened(tmp_path / "cache").get("b") is None
    assert [each.name for each in (tmp_path / "cache").iterdir()] == ["seen.json"]


def test_nothing_is_written_where_nothing_is_new(tmp_path: Path) -> None:
    """A run that only reads leaves no file behind."""
    run = opened(tmp_path)
    assert run.get("a") is None
    run.save()
    assert list(tmp_path.iterdir()) == []


def test_where_nothing_can_be_written_nothing_happens(tmp_path: Path) -> None:
    """A folder that cannot be created is not an error."""
    (tmp_path / "cache").write_bytes(b"")
    saved(tmp_path / "cache", "a")
    assert (tmp_path / "cache").read_bytes() == b""


def test_full_disk_leaves_no_file_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each run on a full disk would leave another one."""

    def full(_source: object, _target: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    saved(tmp_path, "a")
    before = sorted(tmp_path.iterdir())
    monkeypatch.setattr(folders, "rename", full)
    saved(tmp_path, "b")
    assert sorted(tmp_path.iterdir()) == before


@pytest.mark.parametrize(
    "data", [b"", b"{", b"[]", b"\xff", b"[" * 100_000, b'{"entries": {}}', b'{"rests_on": "", "entries": {"a": 1}}']
)
def test_damaged_cache_is_none(tmp_path: Path, data: bytes) -> None:
    """Whatever the file contains, the cache counts as empty and can be written."""
    (tmp_path / "seen.json").write_bytes(data)
    assert opened(tmp_path).get("a") is None
    saved(tmp_path, "a")
    assert opened(tmp_path).get("a")


@pytest.mark.parametrize("entry", [1, [], ["a"], [1, []], ["a", 1], None])
def test_damaged_entry_is_none(tmp_path: Path, entry: object) -> None:
    """An entry of another form counts as missing, and the other entries stay usable."""
    saved(tmp_path, "a", "b")
    path = tmp_path / "seen.json"
    whole = json.loads(path.read_text())
    whole["entries"]["a"] = entry
    path.write_text(json.dumps(whole))
    assert opened(tmp_path).get("a") is None
    assert opened(tmp_path).get("b")


def test_what_rests_on_something_else_is_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Entries written by another version of the tool or with other settings are not used."""
    saved(tmp_path, "a", rests_on="x")
    assert opened(tmp_path, "x").get("a")
    assert opened(tmp_path, "y").get("a") is None
    monkeypatch.setattr(cache, "VERSION", "0")
    assert opened(tmp_path, "x").get("a") is None


def test_newest_entries_are_kept(tmp_path: Path) -> None:
    """Beyond the limit the oldest entries are dropped; an entry that is put again is the newest."""
    saved(tmp_path, "a", "b", "c", "a", max_entries=2)
    assert [bool(opened(tmp_path).get(name)) for name in "abc"] == [True, False, True]


def test_what_is_gone_is_forgotten(tmp_path: Path) -> None:
    """`keep` removes all entries except the named ones."""
    saved(tmp_path, "a", "b")
    run = opened(tmp_path)
    run.keep(["b", "c"])
    run.save()
    assert [bool(opened(tmp_path).get(name)) for name in "abc"] == [False, True, False]


def test_newest_variants_are_kept(tmp_path: Path) -> None:
    """Each combination of settings has a file of its own, and the oldest file is deleted."""
    for rests_on in "xyz":
        saved(tmp_path, "a", rests_on=rests_on, max_files=2)
        for path in tmp_path.iterdir():
            os.utime(path, (0, path.stat().st_mtime - 60))
    assert [bool(opened(tmp_path, rests_on, max_files=2).get("a")) for rests_on in "xyz"] == [False, True, True]
    assert len(list(tmp_path.iterdir())) == 2
