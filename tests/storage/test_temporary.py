"""Temporary folders outside of repositories."""

from __future__ import annotations

import os
import signal
import tempfile
from typing import TYPE_CHECKING, Any

import pytest

from taskstate.storage import folders, temporary

if TYPE_CHECKING:
    from pathlib import Path


def test_ctrl_c_while_a_folder_is_deleted_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It holds copies of a repository's files, so it is deleted all the same."""
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    really = os.unlink

    def interrupted(*path: str, **options: Any) -> None:  # noqa: ANN401 - whatever it takes
        monkeypatch.setattr(os, "unlink", really)
        signal.raise_signal(signal.SIGINT)
        really(*path, **options)

    def work() -> None:
        with temporary.folder("x-") as folder:
            (folder / "copy").write_text("x")
            monkeypatch.setattr(os, "unlink", interrupted)

    with pytest.raises(KeyboardInterrupt):
        work()
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("made", ["mkdtemp", "TemporaryFile"])
def test_ctrl_c_as_something_is_made_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, made: str) -> None:
    """Nobody knows of it yet, so that is obeyed when it is known."""
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    really = getattr(tempfile, made)

    def interrupted(*args: Any, **options: Any) -> Any:  # noqa: ANN401 - whatever it takes
        result = really(*args, **options)
        signal.raise_signal(signal.SIGINT)
        return result

    monkeypatch.setattr(tempfile, made, interrupted)
    place = temporary.folder("x-") if made == "mkdtemp" else temporary.nameless_file()
    with pytest.raises(KeyboardInterrupt), place:
        pass
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(("error", "stays"), [(KeyboardInterrupt, False), (ValueError, True)])
def test_a_lasting_folder_stays_unless_it_is_interrupted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: type[BaseException], *, stays: bool
) -> None:
    """After a failure one wants to look at it."""
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))

    def work() -> None:
        with temporary.lasting_folder("x-") as folder:
            (folder / "kept").write_text("x")
            raise error

    with pytest.raises(error):
        work()
    assert bool(list(tmp_path.iterdir())) is stays


def test_ctrl_c_as_a_log_gets_its_place_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In a folder of ours it has a name for an instant."""
    really = folders.open_file

    def interrupted(*args: Any) -> int:  # noqa: ANN401 - whatever it takes
        descriptor = really(*args)
        signal.raise_signal(signal.SIGINT)
        return descriptor

    monkeypatch.setattr(folders, "open_file", interrupted)
    with pytest.raises(KeyboardInterrupt), temporary.nameless_file(tmp_path):
        pass
    assert list(tmp_path.iterdir()) == []
