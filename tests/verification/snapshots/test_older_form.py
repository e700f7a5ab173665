"""Snapshots as earlier versions wrote them: read, compared, shown, and rewritten when they are taken again."""

from __future__ import annotations

from pathlib import Path

import pytest

from taskstate.verification.snapshots import purge
from taskstate.workflow.repairs import reseal
from tests.support.git_place import ROLE, GitPlace
from tests.support.place import TASK

pytestmark = pytest.mark.slow  # it starts many processes, most of them git

OLDER = Path(__file__).parents[2] / "cases" / "states" / "older-delta.txt"
FOLDERS = {"implementer": "bbed61b49b4020ea", "reviewer": "5a6a045118dc7a23"}


@pytest.fixture
def place(tmp_path: Path) -> GitPlace:
    """Return a repository in which an earlier version has taken the snapshots of two roles."""
    created = GitPlace(tmp_path / "repository")
    created.write("a.txt", "changed\n")
    created.write("src/b.py", "b = 2\n")
    created.write("new.txt", "new\n")
    created.take()
    created.write("a.txt", "reviewed\n")
    created.take("reviewer")
    start, end = created.text.index("delta:\n"), created.text.index("audit:\n")
    older = OLDER.read_text(encoding="utf-8").replace("BASE", created.values["delta"]["base_commit"])
    for role, name in FOLDERS.items():
        folder = created.workspace.state_root / created.snapshot(role)["pack"]
        (folder / f"{role}-files.json").unlink()
        folder.rename(folder.with_name(name))
    created.text = created.text[:start] + older + created.text[end:]
    reseal(created.workspace, TASK, "for the test", created.request())
    return created


def test_older_snapshot_is_compared_and_shown(place: GitPlace) -> None:
    """It matches, a drift is named with the recorded hash, its files can be restored, and both its diffs are shown."""
    assert (place.verify("reviewer").drift, place.verify("reviewer").notes) == (False, ())
    assert b"+reviewed" in place.diff("incremental", "reviewer")
    assert b"+changed" in place.diff()
    place.write("a.txt", "by hand\n")
    (changed,) = place.verify("reviewer").files
    assert (changed.path, changed.expected) == ("a.txt", place.snapshot("reviewer")["files_changed"][0]["sha256"])
    place.restore("a.txt", role="reviewer")
    assert not place.verify("reviewer").drift


def test_older_snapshot_of_another_clone_names_files_by_its_hashes(place: GitPlace) -> None:
    """Its list has the hash of each file, so what differs is known without the tree."""
    for name in FOLDERS:
        for path in place.root.glob(f".taskstate/artifacts/task-101/{name}/*/pack/*"):
            path.unlink()
    place.write("a.txt", "by hand\n")
    place.git("add", "a.txt")
    assert [each.path for each in place.verify("reviewer").files] == ["a.txt"]


def test_only_what_is_taken_again_takes_the_new_form(place: GitPlace) -> None:
    """A role that takes its snapshot again has one line; the other one stays to the byte."""
    implementer = place.text[place.text.index("    implementer:") : place.text.index("    reviewer:")]
    place.write("a.txt", "reviewed again\n")
    place.take("reviewer")
    assert implementer in place.text
    (line,) = [line for line in place.text.splitlines() if line.startswith("    reviewer:")]
    assert line.startswith("    reviewer: {snapshot_time: ")
    assert "base_commit" not in line
    assert f"/{ROLE}/" not in line
    assert not place.verify("reviewer").drift


def test_older_snapshot_is_purged(place: GitPlace) -> None:
    """Purging leaves no path of an artifact, and the trees can still be compared."""
    purge.purge(place.workspace, TASK, place.request())
    assert "artifacts/" not in place.text
    assert not place.verify("reviewer").drift
