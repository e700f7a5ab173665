"""Artifacts are written in one form, stay inside their folder, and are read back whole or not at all."""

from __future__ import annotations

import gzip
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from taskstate.errors import TaskstateError
from taskstate.model.config import Config
from taskstate.workspace import artifacts
from taskstate.workspace.workspace import Workspace

if TYPE_CHECKING:
    from pathlib import Path


@given(st.binary(max_size=5000))
def test_what_is_packed_is_what_gzip_reads(data: bytes) -> None:
    """A packed artifact is a plain gzip file, the same bytes for the same content, and comes back whole."""
    packed = artifacts.gzipped(data)
    assert gzip.decompress(packed) == data == artifacts.gunzipped(packed, "x")
    assert packed == artifacts.gzipped(data)
    assert packed[4:8] == bytes(4), "no time stands in the header"


@pytest.mark.parametrize("torn", [b"", b"no gzip", artifacts.gzipped(b"some text" * 50)[:-9]])
def test_a_torn_artifact_is_told(torn: bytes) -> None:
    """A file that is not gzip, or only the beginning of one, is an error that names it."""
    with pytest.raises(TaskstateError, match=r"artifacts/a\.gz is broken"):
        artifacts.gunzipped(torn, "artifacts/a.gz")


def test_an_artifact_is_written_read_and_removed(tmp_path: Path) -> None:
    """An artifact is in the folder of its task, a second one of its name replaces it, and all are deleted together."""
    workspace = Workspace(root=tmp_path, config=Config())
    workspace.state_root.mkdir()
    name = artifacts.write(workspace, "101", "qa.log", b"one")
    assert name == "artifacts/task-101/qa.log"
    artifacts.write(workspace, "101", "qa.log", b"two")
    assert artifacts.read(workspace, name) == b"two"
    assert artifacts.read(workspace, "artifacts/task-101/none") is None
    assert artifacts.remove_all(workspace, "101")
    assert not artifacts.remove_all(workspace, "101")
    assert artifacts.read(workspace, name) is None


@pytest.mark.parametrize("path", ["../x", "/etc/passwd", "tasks/task-1-state.md", "artifacts/../tasks/x", "artifacts"])
def test_no_artifact_lies_elsewhere(tmp_path: Path, path: str) -> None:
    """A path from a state file is followed only inside the artifacts folder."""
    workspace = Workspace(root=tmp_path, config=Config())
    workspace.state_root.mkdir()
    with pytest.raises(TaskstateError) as refused:
        artifacts.read(workspace, path)
    assert refused.value.code == "path-escapes"


def test_a_linked_folder_is_not_removed(tmp_path: Path) -> None:
    """If a task's artifact folder is a link, its target is left alone."""
    workspace = Workspace(root=tmp_path, config=Config())
    inside, outside = workspace.state_root / "kept", tmp_path / "kept"
    for kept in (inside, outside):
        kept.mkdir(parents=True)
        (kept / "file").write_text("x")
    folder = workspace.state_root / "artifacts"
    folder.mkdir()
    (folder / "task-1").symlink_to(inside)
    assert not artifacts.remove_all(workspace, "1")
    (folder / "task-2").symlink_to(outside)
    with pytest.raises(TaskstateError, match="names nothing inside"):
        artifacts.remove_all(workspace, "2")
    assert (inside / "file").exists()
    assert (outside / "file").exists()
