"""Purging drops what snapshots and logs left, and remembers who left what."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from taskstate.model.write_metadata import front_matter_values
from taskstate.snapshots import accept_drift, purge
from taskstate.snapshots.drift import Artifacts
from taskstate.syntax.document import parse
from taskstate.workspace import artifacts
from tests.support.git_place import ROLE, GitPlace
from tests.support.place import TASK, refusal, tree

if TYPE_CHECKING:
    from pathlib import Path

    from taskstate.writing.change import Outcome

pytestmark = pytest.mark.slow  # it starts many processes, most of them git


@pytest.fixture
def place(tmp_path: Path) -> GitPlace:
    """Return a repository in which the implementer and the reviewer have taken snapshots."""
    created = GitPlace(tmp_path / "repository")
    for number in range(21):
        created.write(f"n{number}", "x\n")
    created.take()
    created.write("a.txt", "reviewed\n")
    created.take("reviewer")
    return created


def drop(place: GitPlace, *, dry_run: bool = False) -> Outcome:
    """Purge the task."""
    return purge.purge(place.workspace, TASK, place.request(dry_run=dry_run))


def test_purge_drops_data_and_keeps_who_left_what(place: GitPlace) -> None:
    """The artifacts are deleted, and the file keeps of each role who left which tree when, and the size of its diff."""
    before = {role: place.snapshot(role) for role in (ROLE, "reviewer")}
    assert drop(place).changed
    assert not (place.root / ".taskstate/artifacts/task-101").exists()
    assert "artifacts/" not in place.text
    for role, was in before.items():
        kept = place.values["delta"]["snapshots"][role]
        assert {key: kept.get(key) for key in ("snapshot_time", "actor", "tree", "diff_stat", "pack")} == {
            **{key: was[key] for key in ("snapshot_time", "actor", "tree", "diff_stat")},
            "pack": None,
        }
    assert "events" not in place.values["audit"]


def test_purging_twice_is_no_error(place: GitPlace) -> None:
    """The second time there is nothing to drop, and nothing changes."""
    drop(place)
    before = tree(place.root)
    assert not drop(place).changed
    assert tree(place.root) == before


def test_purged_snapshot_still_decides(place: GitPlace) -> None:
    """The tree id stays, so a drift is still seen; what would need the objects is refused."""
    drop(place)
    assert not place.verify("reviewer").drift
    assert refusal(lambda: place.diff(role="reviewer")).code == "no-diff"
    error = refusal(lambda: place.restore("a.txt", role="reviewer"))
    assert (error.code, "was purged" in error.message, "copy" in error.help) == ("objects-lost", True, False)
    place.write("a.txt", "by hand\n")
    verified = place.verify("reviewer")
    assert (verified.drift, verified.notes) == (True, (Artifacts.PURGED.value,))
    assert "which files differ cannot be told, since the snapshot's artifacts were purged" in verified.message
    assert "--restore" not in verified.help


def test_purged_work_that_is_gone_is_not_looked_for(place: GitPlace) -> None:
    """Where nothing differs from HEAD any more, nobody is sent to bring back what is not kept."""
    drop(place)
    place.git("stash", "--include-untracked", "--", ".", ":(exclude).taskstate")
    verified = place.verify("reviewer")
    assert (verified.drift, "stash" in verified.help + verified.message) == (True, False)


def test_drift_that_is_open_keeps_everything(place: GitPlace) -> None:
    """Nothing is dropped while drift is unresolved, since the snapshot may be the only copy of the work."""
    place.git("checkout", "--", "a.txt")
    assert place.verify("reviewer").drift
    before = tree(place.root)
    assert refusal(lambda: drop(place)).code == "drift-unresolved"
    assert tree(place.root) == before
    place.restore("a.txt", role="reviewer")
    accept_drift.resolve(place.workspace, TASK, "put back", place.request())
    assert drop(place).changed


def test_logs_lose_their_places_too(place: GitPlace) -> None:
    """The logs of the baseline and of the roles lie among the artifacts, so their paths go as well."""
    block = "baseline: {status: recorded, log: artifacts/task-101/qa.log.gz}\ncoordination:\n  implementer: "
    block += "{status: done, qa_log_path: artifacts/task-101/qa-implementer.log.gz}\ndelta:"
    text = place.text.replace("\ndelta:", f"\n{block}", 1)
    text = purge.purged_text(place.workspace, text)
    values = front_matter_values(parse(text))
    assert values["baseline"] == {"status": "recorded"}
    assert values["coordination"] == {"implementer": {"status": "done"}}


def test_dry_run_drops_nothing(place: GitPlace) -> None:
    """A dry run shows the change of the file, and deletes nothing."""
    before = tree(place.root)
    assert "-" in drop(place, dry_run=True).diff
    assert tree(place.root) == before


def test_task_without_anything_is_left_alone(tmp_path: Path) -> None:
    """Where nothing was ever recorded there is nothing to do."""
    place = GitPlace(tmp_path / "repository")
    before = tree(place.root)
    assert not drop(place).changed
    assert tree(place.root) == before


def test_artifacts_that_cannot_be_deleted_are_told(place: GitPlace, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the system refuses, that is one clear error; the file names the artifacts no more, and again works."""

    def refuse(*_: object, **__: object) -> None:
        raise PermissionError(13, os.strerror(13))

    with monkeypatch.context() as patch:
        patch.setattr("shutil.rmtree", refuse)
        assert refusal(lambda: drop(place)).code == "no-permission"
    assert (place.root / ".taskstate/artifacts/task-101").exists()
    assert drop(place).changed
    assert not artifacts.absolute_path(place.workspace, artifacts.relative_path(TASK)).exists()
