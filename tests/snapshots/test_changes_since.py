"""What changed since an earlier tree: as a report, as a diff to read, and after git has forgotten all of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from taskstate.model.delta_block import Left, Turn, with_last_seen, with_left, with_turn
from taskstate.model.write_metadata import blocks_of, set_front_matter
from taskstate.snapshots import base as snapshot_base
from taskstate.snapshots import packs
from taskstate.snapshots import take as snapshot_take
from taskstate.snapshots.changes_since import SHOWN, Since, changes_since
from taskstate.snapshots.diffs import INCREMENTAL, NOW, SEEN, diff_of
from taskstate.snapshots.tree_comparison import Earlier
from taskstate.syntax.edits import apply
from taskstate.writing.change import Change
from taskstate.writing.writer import change
from tests.support.git_place import ROLE, GitPlace
from tests.support.place import TASK, refusal

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from taskstate.model.delta_block import Delta
    from taskstate.workspace.workspace import Loaded

pytestmark = pytest.mark.slow  # it starts many processes, most of them git


@pytest.fixture
def place(tmp_path: Path) -> GitPlace:
    """Return a repository with a changed file."""
    created = GitPlace(tmp_path / "repository")
    created.write("a.txt", "changed\n")
    return created


def keep(place: GitPlace, changed: Callable[[Delta, snapshot_base.CurrentTree], Delta]) -> snapshot_base.CurrentTree:
    """Keep the current tree and write the delta block that names it."""
    kept: list[snapshot_base.CurrentTree] = []

    def job(loaded: Loaded) -> Change:
        kept.append(snapshot_base.keep_current_tree(place.workspace, loaded))
        delta = changed(blocks_of(loaded.document).delta, kept[0])
        return Change(text=apply(loaded.document.text, set_front_matter(loaded.document, "delta", delta.values)))

    change(place.workspace, TASK, job, place.request())
    return kept[0]


def as_left(delta: Delta, now: snapshot_base.CurrentTree) -> Delta:
    """Note what a turn left."""
    return with_left(delta, Left(now.tree, now.head, now.branch))


def since(place: GitPlace, then: snapshot_base.CurrentTree) -> Since:
    """Return what changed since an earlier tree."""
    workspace, loaded = place.workspace, place.workspace.load(place.path)
    now = snapshot_base.require_at_rest(workspace)
    with snapshot_base.snapshot_base(workspace, TASK, blocks_of(loaded.document).delta, now) as current:
        return changes_since(current, loaded, Earlier(then.tree, then.head))


def test_nothing_changed_says_nothing(place: GitPlace) -> None:
    """Where the tree is what was left, there is no drift and no diff."""
    then = keep(place, as_left)
    assert then == snapshot_base.current_tree(place.workspace)
    found = since(place, then)
    assert (found.report.drift, found.stat, found.lines, found.tree) == (False, "", (), then.tree)


def test_change_is_shown_as_a_diff(place: GitPlace) -> None:
    """A drift is shown with its summary, its first lines, and the command for all of it, which works."""
    then = keep(place, as_left)
    place.write("a.txt", "by hand\n")
    found = since(place, then)
    assert [each.path for each in found.report.files] == ["a.txt"]
    assert found.report.message == "the working tree is not what the last turn left; edited by hand since: a.txt"
    assert found.stat == "1 file changed, 1 insertion(+), 1 deletion(-)"
    assert (found.lines[-2:], found.more) == (("-changed", "+by hand"), 0)
    assert found.command == "taskstate snapshot diff 101 --type now"
    assert b"+by hand" in diff_of(place.workspace, TASK, "", NOW).content
    place.write("a.txt", "".join(f"{number}\n" for number in range(100)))
    found = since(place, then)
    assert (len(found.lines), found.more) == (SHOWN, 100 + 6 - SHOWN)


def test_commits_since_are_told_and_are_no_drift(place: GitPlace) -> None:
    """A commit of the same content is told as such, and one of another file is explained."""
    then = keep(place, as_left)
    place.write("other.txt", "other\n")
    place.git("add", "other.txt")
    place.git("commit", "--quiet", "--message=theirs")
    place.git("commit", "--quiet", "--message=early", "--only", "a.txt")
    report = since(place, then).report
    assert (report.drift, report.committed, [each.path for each in report.explained]) == (
        False,
        ("a.txt",),
        ["other.txt"],
    )
    assert [each.partition(" ")[2] for each in report.commits] == ["early", "theirs"]


def test_trees_outlive_reset_and_clean_up(place: GitPlace) -> None:
    """The tree of the open turn, what was left, and what was seen can be compared after reset and gc."""
    place.take()

    def noted(delta: Delta, now: snapshot_base.CurrentTree) -> Delta:
        delta = with_turn(as_left(delta, now), Turn(ROLE, "me", None, now.branch, now.head, now.tree, 2))
        return with_last_seen(delta, "reviewer", now.tree)

    keep(place, noted)
    text = place.text
    place.git("reset", "--quiet", "--hard")
    place.git("reflog", "expire", "--expire=now", "--all")
    place.git("gc", "--quiet", "--prune=now")
    place.text = text
    place.take("reviewer")  # which deletes what nothing names
    for role, kind in (("", NOW), (ROLE, NOW), ("reviewer", SEEN)):
        assert b"-changed" in diff_of(place.workspace, TASK, role, kind).content
    line = next(line for line in place.text.splitlines() if line.startswith("  turn:"))
    assert line.startswith("  turn: {role: implementer, agent: me, branch: main, head: ")


def test_change_of_a_role_outlives_its_base(place: GitPlace) -> None:
    """Start and end of a role's work can be compared when no commit holds either any more."""
    place.git("rm", "--quiet", "-r", "--cached", ".taskstate")
    place.write(".git/info/exclude", ".taskstate/\n")
    start = place.git("rev-parse", "HEAD:a.txt")
    place.take()
    begun, snapshot = place.base_tree, blocks_of(place.state.document).delta.snapshots[ROLE]
    place.git("checkout", "--quiet", "--orphan", "other")
    place.git("rm", "--quiet", "-rf", ".")
    place.git("commit", "--quiet", "--allow-empty", "--message=nothing of it")
    place.git("branch", "--quiet", "-D", "main")
    place.git("reflog", "expire", "--expire=now", "--all")
    place.git("gc", "--quiet", "--prune=now")
    (pack,) = place.root.glob(".taskstate/artifacts/task-101/implementer/*/pack")
    kept = {"GIT_ALTERNATE_OBJECT_DIRECTORIES": str(pack.parent)}
    assert "missing" in place.git("cat-file", "--batch-check", stdin=f"{start}\n".encode())
    shown = place.git("diff-tree", "-r", "-p", begun, str(snapshot.tree), env=kept)
    assert "-one" in shown
    assert "+changed" in shown
    assert place.base_tree == begun
    assert b"+changed" in place.diff()


def test_trees_that_nothing_names_are_deleted(place: GitPlace) -> None:
    """A kept tree goes with the next snapshot once the state file does not name it."""
    then = keep(place, as_left)
    place.write("a.txt", "again\n")
    later = keep(place, as_left)
    place.take()
    assert [packs.has_tree(place.workspace, TASK, each.tree) for each in (then, later)] == [False, True]


def test_roles_change_begins_with_its_turn(place: GitPlace) -> None:
    """A snapshot records the tree of the role's turn, or of its first one if it was paused, as its start."""
    first = keep(place, lambda delta, now: with_turn(delta, Turn(ROLE, "me", None, "main", now.head, now.tree, 0)))
    place.write("a.txt", "more\n")
    place.take()
    assert place.snapshot()["start_tree"] == first.tree
    second = keep(
        place,
        lambda delta, now: with_turn(
            with_left(delta, Left(now.tree, now.head, now.branch, first.tree)),
            Turn(ROLE, "me", None, "main", now.head, now.tree, 0),
        ),
    )
    assert second.tree != first.tree
    place.write("a.txt", "even more\n")
    place.take()
    assert place.snapshot()["start_tree"] == first.tree


def test_what_came_in_stands_above_the_diff(place: GitPlace) -> None:
    """Commits of others between two roles are named above the later one's diff; commits made here are not."""
    place.take()
    place.git("worktree", "add", "--quiet", "../side")
    (place.root.parent / "side/src/c.py").write_text("c = 2\n")
    place.git("-C", "../side", "commit", "--quiet", "--all", "--message=theirs")
    theirs = place.git("-C", "../side", "rev-parse", "HEAD")
    place.git("commit", "--quiet", "--message=work", "--only", "a.txt")
    text = place.text
    place.git("checkout", "--quiet", "--", ".taskstate")
    place.git("pull", "--quiet", "--rebase", ".", "side")
    place.text = text
    place.write("src/b.py", "b = 2\n")
    place.take("reviewer")
    shown = diff_of(place.workspace, TASK, "reviewer", INCREMENTAL)
    assert shown.came_in == (
        "came in meanwhile, and is in this diff: 1 commit, in 1 file: src/c.py",
        f"  {theirs[:10]} theirs",
    )
    assert b"+b = 2" in shown.content
    assert b"+changed" not in shown.content
    assert diff_of(place.workspace, TASK, ROLE, "from-base").came_in == ()


def test_diff_of_nothing_is_refused(place: GitPlace) -> None:
    """Where no turn has left a tree, or a role has seen none, that is one clear line."""
    for role, kind in (("", NOW), ("reviewer", SEEN)):
        assert refusal(lambda role=role, kind=kind: diff_of(place.workspace, TASK, role, kind)).code == "no-diff"  # type: ignore[misc]
    for kind in (SEEN, INCREMENTAL):
        error = refusal(lambda kind=kind: diff_of(place.workspace, TASK, "", kind))  # type: ignore[misc]
        assert (error.code, "--role is missing" in str(error)) == ("usage", True)


def test_snapshot_is_part_of_another_write(place: GitPlace) -> None:
    """A job can record a snapshot together with what else it changes, in one write."""
    before = place.state.revision
    head = snapshot_base.require_at_rest(place.workspace)
    request = place.request()

    def job(loaded: Loaded) -> Change:
        planned = snapshot_take.planned(place.workspace, loaded, ROLE, head, request)
        return planned._replace(text=planned.text.replace("JWT Service", "JWT Server"))

    change(place.workspace, TASK, job, request)
    assert (place.state.revision, place.state.title, place.verify().drift) == (before + 1, "JWT Server", False)
