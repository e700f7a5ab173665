"""What differs and is no drift: what came in by commits, what another task changed, and what another machine has."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

import pytest

from taskstate.model.delta_block import Left, Turn, with_left, with_turn
from taskstate.model.write_metadata import blocks_of, set_front_matter
from taskstate.roles import role_changes
from taskstate.roles.role_rules import RoleChange
from taskstate.snapshots import accept_drift
from taskstate.snapshots import base as snapshot_base
from taskstate.snapshots import take as snapshot_take
from taskstate.syntax.edits import apply
from taskstate.writing.change import Change
from taskstate.writing.writer import change
from tests.support.git_place import ROLE, GitPlace
from tests.support.place import TASK, refusal

if TYPE_CHECKING:
    from pathlib import Path

    from taskstate.snapshots.drift import DriftReport
    from taskstate.workspace.workspace import Loaded

pytestmark = pytest.mark.slow  # it starts many processes, most of them git

OTHER = "102"


@pytest.fixture
def place(tmp_path: Path) -> GitPlace:
    """Return a repository with two tasks, in which the implementer of the first has left a changed file."""
    created = GitPlace(tmp_path / "repository")
    created.new(OTHER)
    created.commit("tasks")
    created.write("a.txt", "changed\n")
    created.take()
    return created


def explained(report: DriftReport) -> list[tuple[str, str]]:
    """Return each file that is explained, and by what."""
    return [(each.path, each.by) for each in report.explained]


def turn(place: GitPlace, task_id: str, *, ends: bool = False) -> None:
    """Begin or end a turn of a task without roles, as `start` and `finish` note it."""

    def job(loaded: Loaded) -> Change:
        now = snapshot_base.keep_current_tree(place.workspace, loaded)
        delta = blocks_of(loaded.document).delta
        began = delta.turn
        if ends:
            start = began.tree if began else None
            delta = with_left(with_turn(delta, None), Left(now.tree, now.head, now.branch, start))
        else:
            delta = with_turn(delta, Turn(None, "somebody", None, now.branch, now.head, now.tree, 0))
        return Change(text=apply(loaded.document.text, set_front_matter(loaded.document, "delta", delta.values)))

    change(place.workspace, task_id, job, place.request())


# Commits


def test_commit_of_another_file_is_explained(place: GitPlace) -> None:
    """A commit of a file that no snapshot of the task changed is told with the commit, as long as HEAD has it so."""
    place.write("other.txt", "other\n")
    place.git("add", "other.txt")
    place.git("commit", "--quiet", "--message=theirs")
    assert (place.verify().drift, explained(place.verify())) == (False, [("other.txt", "commits")])
    place.write("other.txt", "edited\n")
    assert [each.path for each in place.verify().files] == ["other.txt"]


def test_file_that_a_snapshot_changed_is_never_explained_by_commits(place: GitPlace) -> None:
    """Where a commit brings another content of the role's own file, that is drift."""
    place.write("a.txt", "theirs\n")
    place.git("commit", "--quiet", "--all", "--message=theirs")
    report = place.verify()
    assert (report.drift, [each.path for each in report.files], explained(report)) == (True, ["a.txt"], [])


def test_pull_with_rebase_is_explained(place: GitPlace) -> None:
    """Where each commit that left has an equal one in the new line, what came in is explained."""
    place.commit("work")
    place.take()
    before = place.git("rev-parse", "HEAD")
    place.git("worktree", "add", "--quiet", "../side", "HEAD~1")
    (place.root.parent / "side/src/c.py").write_text("c = 2\n")
    place.git("-C", "../side", "commit", "--quiet", "--all", "--message=theirs")
    place.git("add", "--all")
    place.git("commit", "--quiet", "--message=ours", "--allow-empty")
    place.git("rebase", "--quiet", place.git("-C", "../side", "rev-parse", "HEAD"))
    assert place.git("merge-base", before, "HEAD") != before
    report = place.verify()
    assert (report.drift, explained(report)) == (False, [("src/c.py", "commits")])


def test_commit_that_left_for_good_explains_nothing(place: GitPlace) -> None:
    """Where a commit that HEAD had is gone, what the new line brings is drift."""
    place.write("src/b.py", "b = 2\n")
    place.git("commit", "--quiet", "--message=gone", "--only", "src/b.py")
    place.take()
    place.git("reset", "--quiet", "--soft", "HEAD~1")
    place.git("reset", "--quiet", "src/b.py")
    place.write("src/c.py", "c = 2\n")
    place.git("commit", "--quiet", "--message=theirs", "--only", "src/c.py")
    assert [each.path for each in place.verify().files] == ["src/c.py"]


# Other tasks


@pytest.mark.parametrize("ends", [False, True])
def test_turn_of_another_task_explains_what_it_changed(place: GitPlace, ends: bool) -> None:  # noqa: FBT001 - a parameter
    """What another task changes in this tree, in an open turn or in one that has ended, is named and no drift."""
    turn(place, OTHER)
    place.write("src/b.py", "b = 2\n")
    if ends:
        turn(place, OTHER, ends=True)
    report = place.verify()
    assert (report.drift, explained(report)) == (False, [("src/b.py", OTHER)])
    begin = (
        "task 102 changed, which is not drift"
        if ends
        else "counted as work of the open turn of task 102 (somebody works"
    )
    assert [each.startswith(begin) and each.endswith(": src/b.py") for each in report.notes] == [True]
    place.write("src/b.py", "b = 3\n")
    assert place.verify().drift is ends  # after the turn it is nobody's


def test_snapshot_of_another_task_explains_what_it_changed(place: GitPlace) -> None:
    """What a role of another task has left is explained as long as it is as that role left it."""
    place.write("src/b.py", "b = 2\n")
    snapshot_take.take(place.workspace, OTHER, ROLE, place.request())
    assert explained(place.verify()) == [("src/b.py", OTHER)]
    place.write("src/c.py", "c = 2\n")
    assert [each.path for each in place.verify().files] == ["src/c.py"]


def test_repository_paths_are_the_tasks_own(place: GitPlace) -> None:
    """What lies in the task's Repository Paths refuses whoever changed it; what lies outside is named."""
    place.text = place.text.replace("## 2. Chain Inputs", "### Repository Paths\n\n- src/\n\n## 2. Chain Inputs")
    turn(place, OTHER)
    place.write("src/b.py", "b = 2\n")
    place.write("data.bin", "x\n")
    report = place.verify()
    assert ([each.path for each in report.files], explained(report)) == (["src/b.py"], [("data.bin", OTHER)])


def test_turn_of_another_machine_explains_nothing(place: GitPlace) -> None:
    """A turn whose tree was not kept in this working tree did not take place in it."""
    turn(place, OTHER)
    place.write("src/b.py", "b = 2\n")
    shutil.rmtree(place.root / ".taskstate/artifacts/task-102")
    assert [each.path for each in place.verify().files] == ["src/b.py"]


# A later role at work


def test_later_role_at_work_has_no_drift(place: GitPlace) -> None:
    """While the reviewer is in progress its edits are listed; when it is done, too, and they are counted for nobody."""
    set_role(place, ROLE, "done")
    set_role(place, "reviewer", "in_progress")
    place.write("a.txt", "reviewed\n")
    report = place.verify()
    assert (report.drift, report.at_work, [each.path for each in report.files]) == (False, "reviewer", ["a.txt"])
    assert place.budget() == 0
    before = place.snapshot()
    assert refusal(lambda: resolve(place)).code == "nothing-to-resolve"
    assert place.snapshot() == before
    place.take("reviewer")
    set_role(place, "reviewer", "done")
    report = place.verify()
    assert (report.drift, report.superseded_by, [each.path for each in report.files]) == (False, "reviewer", ["a.txt"])
    assert place.budget() == 0


def test_resolving_never_gives_a_done_role_what_another_edits(place: GitPlace) -> None:
    """A budget that is open while a later role is at work is closed, and the snapshot stays as it was left."""
    set_role(place, ROLE, "done")
    set_role(place, "reviewer", "in_progress")
    place.text = place.text.replace("implementer: {status: done", "implementer: {drift_budget: 1, status: done", 1)
    if "drift_budget" not in place.text:
        place.text = place.text.replace("  implementer:\n", "  implementer:\n    drift_budget: 1\n", 1)
    from taskstate.doctor.repairs import reseal

    reseal(place.workspace, TASK, "for the test", place.request())
    place.write("a.txt", "reviewed\n")
    before = place.snapshot()
    assert resolve(place).retaken == ()
    assert (place.budget(), place.snapshot()) == (0, before)


def set_role(place: GitPlace, role: str, status: str) -> None:
    """Set the status of a role."""
    role_changes.set_role(place.workspace, TASK, role, RoleChange(status), place.request())


def resolve(place: GitPlace) -> accept_drift.AcceptedDrift:
    """Accept what is there."""
    return accept_drift.resolve(place.workspace, TASK, "as it is", place.request()).result


# Another clone


def with_list(place: GitPlace, *entries: str) -> None:
    """Write the changed files of the snapshot into the state file, as earlier versions did."""
    from taskstate.doctor.repairs import reseal

    snapshots = {ROLE: {**place.delta.snapshots[ROLE].values, "files_changed": list(entries)}}
    edits = set_front_matter(place.state.document, "delta", {**place.delta.values, "snapshots": snapshots})
    place.text = apply(place.text, edits)
    reseal(place.workspace, TASK, "for the test", place.request())


def test_another_clone_does_not_know_which_files_differ(place: GitPlace, tmp_path: Path) -> None:
    """Without tree and artifacts the trees alone are compared; nobody need have changed anything here."""
    place.write("scratch.txt", "mine\n")
    place.take()
    place.git("add", ".taskstate", "a.txt")
    place.git("commit", "--quiet", "--message=work")
    other = clone(place, tmp_path)
    report = other.verify()
    assert (report.drift, report.files, report.is_here, other.budget()) == (True, (), False, 0)
    assert "commit" in report.help


def test_another_clone_names_what_differs(place: GitPlace, tmp_path: Path) -> None:
    """In a file of an earlier version the lists decide: tracked files count, those git does not track do not."""
    place.write("scratch.txt", "mine\n")
    place.write("src/b.py", "b = 2\n")
    place.take()
    with_list(place, "M a.txt", "? scratch.txt", "M src/b.py")
    place.git("add", ".taskstate", "a.txt", "src/b.py")
    place.git("commit", "--quiet", "--message=work")
    other = clone(place, tmp_path)
    report = other.verify()
    assert (report.drift, report.files) == (False, ())
    assert any("there is no diff" in note for note in report.notes)
    other.write("local.txt", "mine\n")
    assert not other.verify().drift
    other.write("src/c.py", "by hand\n")
    other.write("src/b.py", "b = 3\n")
    report = other.verify()
    assert [(each.path, each.change) for each in report.files] == [("src/b.py", "modified"), ("src/c.py", "modified")]
    other.git("checkout", "--quiet", "HEAD~1", "--", "a.txt")
    assert [each.path for each in other.verify().files] == ["a.txt", "src/b.py", "src/c.py"]


def clone(place: GitPlace, folder: Path) -> GitPlace:
    """Return a clone of a repository, without its artifacts."""
    place.git("clone", "--quiet", ".", str(folder / "clone"))
    made = GitPlace.__new__(GitPlace)
    made.root, made.now = folder / "clone", place.now
    for key in ("user.name", "user.email"):
        made.git("config", key, "somebody@example.invalid")
    return made
