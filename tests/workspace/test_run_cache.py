"""What is remembered of the tasks' dependencies holds as long as the files are the same, and is never relied on."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from taskstate.workspace.run_cache import Heads

if TYPE_CHECKING:
    from pathlib import Path


def test_what_was_put_is_there_in_the_next_run(tmp_path: Path) -> None:
    """A value comes back for the same mark alone."""
    heads = Heads(tmp_path / "cache" / "depends-on.json")
    assert heads.get("a", "1") is None
    heads.put("a", "1", ("100", "auth-2"))
    heads.save()
    again = Heads(tmp_path / "cache" / "depends-on.json")
    assert again.get("a", "1") == ("100", "auth-2")
    assert again.get("a", "2") is None
    assert again.get("a", "") is None


def test_nothing_is_written_where_nothing_is_new(tmp_path: Path) -> None:
    """A run that only reads leaves no file behind."""
    heads = Heads(tmp_path / "depends-on.json")
    heads.get("a", "1")
    heads.save()
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("data", [b"", b"{", b"[]", b"\xff", b'{"version": 0, "files": {}}', b'{"files": {"a": 1}}'])
def test_damaged_memory_is_none(tmp_path: Path, data: bytes) -> None:
    """What cannot be read is found out again."""
    path = tmp_path / "depends-on.json"
    path.write_bytes(data)
    assert Heads(path).get("a", "1") is None
    heads = Heads(path)
    heads.put("a", "1", ())
    heads.save()
    assert Heads(path).get("a", "1") == ()


def test_memory_that_cannot_be_written_is_no_fault(tmp_path: Path) -> None:
    """Where the folder is a file, the next run is slower and nothing else."""
    (tmp_path / "cache").write_text("x", encoding="utf-8")
    heads = Heads(tmp_path / "cache" / "depends-on.json")
    heads.put("a", "1", ())
    heads.save()
    assert (tmp_path / "cache").read_text(encoding="utf-8") == "x"
