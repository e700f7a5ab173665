"""The files that a record names are hashed and compared with what is recorded."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

import pytest

from taskstate.storage import file_state
from taskstate.storage.file_state import changes_since, exists, sha256_of
from tests.support.place import refusal

if TYPE_CHECKING:
    from pathlib import Path


def test_file_is_hashed_in_pieces(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file that is read in several pieces has the hash of all its bytes."""
    monkeypatch.setattr(file_state, "_CHUNK", 3)
    for data in (b"", b"abc", b"abcdefgh"):
        (tmp_path / "f").write_bytes(data)
        assert sha256_of(tmp_path, "f") == hashlib.sha256(data).hexdigest()
    (tmp_path / "d").mkdir()
    assert (sha256_of(tmp_path, "d"), sha256_of(tmp_path, "gone")) == (None, None)


def test_what_is_there(tmp_path: Path) -> None:
    """A file, a folder, and a pattern that matches something exist."""
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "a.py").touch()
    (tmp_path / "a[1].py").touch()
    there = ("src", "src/", "src/a.py", "src/*.py", "**/a.py", "a[1].py")
    assert [exists(tmp_path, path) for path in there] == [True] * len(there)
    assert [exists(tmp_path, path) for path in ("b.py", "src/*.ts", "b**c")] == [False] * 3


@pytest.mark.parametrize("path", ["../x", "/etc/passwd", "a/../../x", ".git/config", "out/x", "x\0"])
def test_path_that_leads_out_is_refused(tmp_path: Path, path: str) -> None:
    """A path that leads out of the repository, also through a link, is refused."""
    root = tmp_path / "root"
    root.mkdir()
    (root / "out").symlink_to(tmp_path)
    assert refusal(lambda: exists(root, path)).code == "path-escapes"
    assert refusal(lambda: sha256_of(root, path)).code == "path-escapes"
    assert "cannot be read" in changes_since(root, [(path, None)])[0].words


def test_changes_are_told(tmp_path: Path) -> None:
    """A file that changed, was deleted or exists again has a line; an unchanged one has none."""
    (tmp_path / "a").write_bytes(b"new")
    (tmp_path / "b").write_bytes(b"same")
    same = hashlib.sha256(b"same").hexdigest()
    known = [("a", same), ("b", same), ("c", same), ("d", None), ("a", None)]
    assert tuple(each.words for each in changes_since(tmp_path, known)) == (
        "a changed",
        "c is gone",
        "a is there again",
    )
