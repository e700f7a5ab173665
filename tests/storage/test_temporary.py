"""Temporary folders outside of repositories."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from taskstate.storage import temporary

if TYPE_CHECKING:
    from pathlib import Path


def test_ctrl_c_while_a_folder_is_deleted_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It holds copies of a repository's files, so it is deleted all the same."""
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    really = os.unlink

    def interrupted(*_: str, **_options: int) -> None:
        monkeypatch.setattr(os, "unlink", really)
        raise KeyboardInterrupt

    def work() -> None:
        with temporary.folder("x-") as folder:
            (folder / "copy").write_text("x")
            monkeypatch.setattr(os, "unlink", interrupted)

    with pytest.raises(KeyboardInterrupt):
        work()
    assert list(tmp_path.iterdir()) == []
