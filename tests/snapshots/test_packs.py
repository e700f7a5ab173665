"""Only the folders that no command names are swept away."""

from __future__ import annotations

from typing import TYPE_CHECKING

from taskstate.lint.runner import check_files
from taskstate.snapshots import packs
from taskstate.storage.git.diff_hash import diff_sha256
from taskstate.workspace import artifacts
from tests.support.git_place import ROLE, GitPlace
from tests.support.place import TASK

if TYPE_CHECKING:
    from pathlib import Path


def test_what_the_file_leaves_out_is_in_the_record(tmp_path: Path) -> None:
    """The hashes of diffs, scope and files lie with the artifacts; nothing is told by a record that was changed."""
    place = GitPlace(tmp_path / "repository")
    place.write("a.txt", "first\n")
    place.take()
    snapshot = place.delta.snapshots[ROLE]
    left_out = {"diff_sha", "scope_hash", "files_changed", "incremental_diff_sha", "base_tree", "start_tree"}
    assert left_out.isdisjoint(snapshot.values)
    whole = packs.whole(place.workspace, snapshot)
    assert (whole.diff_sha, whole.base_tree) == (diff_sha256(place.diff()), place.base_tree)
    assert (whole.start_tree, whole.values) == (place.base_tree, snapshot.values)
    record = place.workspace.state_root / str(snapshot.record)
    assert codes(place) == []
    record.write_bytes(record.read_bytes().replace(b'"diff_stat": "1', b'"diff_stat": "2'))
    assert packs.whole(place.workspace, snapshot) == snapshot
    assert codes(place) == ["TS704"]
    assert place.diff().startswith(b"diff --git")


def test_diffs_are_held_against_the_record(tmp_path: Path) -> None:
    """The linter sees a diff that is not the one of the snapshot, and the list of files, too."""
    place = GitPlace(tmp_path / "repository")
    place.write("a.txt", "first\n")
    place.take()
    folder = place.workspace.state_root / place.snapshot()["pack"]
    (folder / f"{ROLE}-from-base.diff.gz").write_bytes(artifacts.gzipped(b"another"))
    (folder / f"{ROLE}-files.json").write_bytes(b"[]")
    assert codes(place) == ["TS704", "TS704"]


def codes(place: GitPlace) -> list[str]:
    """Return the codes of what the linter finds in the task, artifacts included."""
    return [each.diagnostic.code for each in check_files([place.path], place.checking()).findings]


def test_folder_that_the_file_names_by_now_stays(tmp_path: Path) -> None:
    """Whoever knows an older text than there is reads the file again, and deletes what that does not name either."""
    place = GitPlace(tmp_path / "repository")
    place.write("a.txt", "first\n")
    known = place.take().loaded
    place.write("a.txt", "second\n")
    place.take()
    kept = place.workspace.state_root / place.snapshot()["pack"]
    stray = kept.with_name("stray")
    stray.mkdir()
    packs.sweep(place.workspace, TASK, known)
    assert [each.name for each in kept.parent.iterdir()] == [kept.name]
    assert kept.parent.name == ROLE
