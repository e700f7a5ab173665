"""What is kept from run to run may be lost, and is then none."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from taskstate.storage import json_cache

if TYPE_CHECKING:
    from pathlib import Path


def test_what_is_saved_is_loaded(tmp_path: Path) -> None:
    """The folder is made, half of a surrogate pair survives, and no temporary file stays."""
    path = tmp_path / "cache" / "a.json"
    json_cache.save(path, {"a\udcff": [1, None]})
    assert json_cache.load(path) == {"a\udcff": [1, None]}
    json_cache.save(path, [])
    assert json_cache.load(path) == []
    assert [each.name for each in path.parent.iterdir()] == ["a.json"]


def test_where_nothing_can_be_written_nothing_happens(tmp_path: Path) -> None:
    """A folder that cannot be made is no error."""
    (tmp_path / "cache").write_bytes(b"")
    json_cache.save(tmp_path / "cache" / "a.json", 1)
    assert (tmp_path / "cache").read_bytes() == b""


@pytest.mark.parametrize("data", [None, b"", b"{", b"\xff", b"[" * 100_000])
def test_damage_is_among_what_readers_expect(tmp_path: Path, data: bytes | None) -> None:
    """Whatever stands there, or nothing: it is one of the errors that mean there is no memory."""
    path = tmp_path / "a.json"
    if data is not None:
        path.write_bytes(data)
    with pytest.raises(json_cache.DAMAGED):
        json_cache.load(path)
