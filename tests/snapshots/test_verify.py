"""A comparison tells exactly what differs from a snapshot, what happened as far as one can tell, and what to do."""

from __future__ import annotations

import gzip
import hashlib
import os
import re
import shutil
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from taskstate.model.tool_blocks import read_tool_blocks
from taskstate.snapshots import accept_drift
from taskstate.snapshots import take as snapshot_take
from taskstate.snapshots import verify as snapshot_verify
from taskstate.snapshots.diffs import INCREMENTAL
from taskstate.snapshots.drift import STAGED_OTHERWISE, Artifacts
from taskstate.storage.git import log as git_log
from taskstate.writing.startup import recover
from tests.support.git_place import ROLE, GitPlace
from tests.support.place import TASK, refusal, tree

if TYPE_CHECKING:
    from collections.abc import Callable

    from taskstate.snapshots.drift import DriftReport

pytestmark = pytest.mark.slow  # it starts many processes, most of them git


CHECKS = ["base_commit", "tree_state", "checksums", "status", "metadata", "scope", "diff"]
X = hashlib.sha256(b"x\n").hexdigest()


@pytest.fixture
def place(tmp_path: Path) -> GitPlace:
    """Return a repository in which two files are changed and one is new, and the implementer has taken a snapshot."""
    created = GitPlace(tmp_path / "repository")
    created.write("a.txt", "changed\n")
    created.write("src/b.py", "b = 2\n")
    created.write("new.txt", "new\n")
    created.take()
    return created


def failed(verified: DriftReport) -> set[str]:
    """Return the names of the checks that failed."""
    assert [each.name for each in verified.checks] == CHECKS
    return {each.name for each in verified.checks if not each.ok}


def told(verified: DriftReport) -> list[tuple[str, str]]:
    """Return each file that differs, and how."""
    return [(each.path, each.change) for each in verified.files]


def changed(place: GitPlace, path: str) -> dict[str, object]:
    """Return what the artifacts of the snapshot say of a changed file."""
    result: dict[str, object] = next(each for each in place.changed_files() if each["path"] == path)
    return result


# No drift


def test_same_tree_is_no_drift(place: GitPlace) -> None:
    """Where nothing happened, nothing failed, nothing is written and no budget rises."""
    before = tree(place.root)
    verified = place.verify()
    assert (verified.drift, verified.files, verified.notes, failed(verified)) == (False, (), (), set())
    assert tree(place.root) == before


@pytest.mark.parametrize("index", ["kept", "copied", "broken", "gone"])
def test_same_tree_is_found_with_and_without_the_kept_index(place: GitPlace, index: str) -> None:
    """The index that a snapshot kept only saves time: without it, and where it cannot be trusted, the tree decides."""
    (kept,) = place.root.glob(".taskstate/artifacts/task-101/implementer/*/index-*")
    if index == "copied":
        place.write("src/b.py", "b = 4\n")  # in the second in which the index was written, and of the same size
        later = kept.stat().st_mtime + 5
        os.utime(kept, (later, later))
        assert told(place.verify()) == [("src/b.py", "modified")]
        place.write("src/b.py", "b = 2\n")
    elif index == "broken":
        metadata = kept.stat().st_mtime_ns
        kept.write_bytes(b"DIRC no index")
        os.utime(kept, ns=(metadata, metadata))
    elif index == "gone":
        kept.unlink()
    assert not place.verify().drift
    place.write("src/b.py", "b = 3\n")
    assert told(place.verify()) == [("src/b.py", "modified")]


def test_edit_of_the_same_size_in_the_same_instant_is_seen(place: GitPlace) -> None:
    """A file that is changed again at once, and keeps its size, is looked into."""
    workspace = place.workspace
    for number in range(3, 9):
        place.write("src/b.py", f"b = {number}\n")
        place.take()
        place.write("src/b.py", "b = 0\n")
        verified = snapshot_verify.compare(workspace, workspace.load(place.path), ROLE)
        assert told(verified) == [("src/b.py", "modified")]


def test_file_that_git_was_told_not_to_look_at_is_seen(place: GitPlace) -> None:
    """What git takes for unchanged, or skips, is taken as it is; in the user's index it stays marked."""
    place.git("update-index", "--assume-unchanged", "a.txt")
    place.git("update-index", "--skip-worktree", "src/b.py", "src/c.py")
    (place.root / "src/c.py").unlink()  # as a sparse checkout leaves it out
    marks = place.git("ls-files", "-v")
    place.write("a.txt", "first\n")
    place.write("src/b.py", "b = 7\n")
    place.take()
    assert "first" in place.diff().decode()
    assert "b = 7" in place.diff().decode()
    assert not place.verify().drift
    place.write("a.txt", "other\n")
    assert told(place.verify()) == [("a.txt", "modified")]
    place.write("src/b.py", "b = 8\n")
    assert told(place.verify()) == [("a.txt", "modified"), ("src/b.py", "modified")]
    assert place.git("ls-files", "-v") == marks


def test_touched_file_is_no_drift(place: GitPlace) -> None:
    """A file that was written again with the same content does not differ."""
    for name in ("a.txt", "data.bin", "new.txt"):
        path = place.root / name
        path.write_bytes(path.read_bytes())
        os.utime(path, (1, 1))
    assert not place.verify().drift


@pytest.mark.parametrize("refreshed", [False, True])
def test_staging_is_told_and_no_drift(place: GitPlace, refreshed: bool) -> None:  # noqa: FBT001 - a parameter
    """What is only staged otherwise is a note."""
    if refreshed:
        place.git("status")
        assert place.verify().notes == ()
    place.git("add", "a.txt", "new.txt")
    verified = place.verify()
    assert (verified.drift, verified.notes, failed(verified)) == (False, (STAGED_OTHERWISE,), set())
    place.git("reset", "--quiet")
    assert place.verify().notes == ()


def test_our_own_files_are_no_drift(place: GitPlace) -> None:
    """Our own files, tracked or not, inside the state folder or not, may change and be committed at any time."""
    place.write("docs/task-7-state.md", "---\ntaskstate: 1\n---\n")
    place.write(".taskstate/tasks/notes.txt", "mine\n")
    place.write(".taskstate/handoffs/task-101/x.md", "x\n")
    assert not place.verify().drift
    place.git("add", "docs/task-7-state.md", ".taskstate")
    place.git("commit", "--quiet", "--message=ours")
    verified = place.verify()
    assert (verified.drift, failed(verified)) == (False, set())
    place.write("docs/task-7-state.md", "---\ntaskstate: 1\ntitle: x\n---\n")
    (place.root / ".taskstate/tasks/notes.txt").unlink()
    assert not place.verify().drift
    place.take()
    assert place.snapshot()["files_changed"] == ["M a.txt", "? new.txt", "M src/b.py"]
    assert b"taskstate: 1" not in place.diff()
    assert place.values["delta"]["base_commit"] != place.git("rev-parse", "HEAD")


# Drift


def test_edited_file_is_named_with_both_hashes(place: GitPlace) -> None:
    """An edit by hand is named with the hash of what was left and of what is there, and counted."""
    place.write("a.txt", "by hand\n")
    verified = place.verify()
    assert told(verified) == [("a.txt", "modified")]
    assert (verified.files[0].expected, failed(verified)) == (changed(place, "a.txt")["sha256"], {"checksums", "diff"})
    assert verified.message == "the working tree is not what implementer left; edited by hand since: a.txt"
    assert "--restore a.txt`" in verified.help
    assert "snapshot resolve 101" in verified.help
    assert place.budget() == 1
    place.verify()
    assert place.budget() == 2


def _relink(place: GitPlace) -> None:
    (place.root / "a.txt").unlink()
    (place.root / "a.txt").symlink_to("data.bin")


CHANGES: dict[str, tuple[Callable[[GitPlace], object], list[tuple[str, str]], set[str]]] = {
    "added": (lambda p: p.write("x", "x\n"), [("x", "added")], {"checksums", "status", "diff"}),
    "removed": (lambda p: (p.root / "new.txt").unlink(), [("new.txt", "removed")], {"checksums", "status", "diff"}),
    "removed, once unchanged": (
        lambda p: (p.root / "src/c.py").unlink(),
        [("src/c.py", "removed")],
        {"checksums", "status", "diff"},
    ),
    "mode": (lambda p: (p.root / "a.txt").chmod(0o755), [("a.txt", "mode")], {"metadata", "diff"}),
    "put back": (lambda p: p.git("checkout", "a.txt"), [("a.txt", "modified")], {"checksums", "status", "diff"}),
    "renamed": (
        lambda p: (p.root / "src/c.py").rename(p.root / "src/d.py"),
        [("src/c.py", "removed"), ("src/d.py", "renamed")],
        {"checksums", "status", "diff"},
    ),
    "ignored": (
        lambda p: p.write(".git/info/exclude", "new.txt\n"),
        [("new.txt", "removed")],
        {"checksums", "status", "diff"},
    ),
    "link": (
        _relink,
        [("a.txt", "modified")],
        {"checksums", "status", "metadata", "diff"},
    ),
}


@pytest.mark.parametrize("change", CHANGES)
def test_each_kind_of_change_is_told_exactly(place: GitPlace, change: str) -> None:
    """The files that differ are reported, with how they differ and which checks failed."""
    make, files, checks = CHANGES[change]
    make(place)
    verified = place.verify()
    assert (verified.drift, told(verified), failed(verified)) == (True, files, checks)
    renamed = [each for each in verified.files if each.change == "renamed"]
    assert [(each.origin, each.expected == each.current) for each in renamed] == [("src/c.py", True)] * len(renamed)


def test_an_edit_that_was_committed_is_told_with_its_commit(place: GitPlace) -> None:
    """Nothing was taken back: the commit is named that holds the other content, and no stash is spoken of."""
    place.write("a.txt", "by hand\n")
    place.commit("by hand, afterwards")
    verified = place.verify()
    assert re.search(r"edited and committed since: a.txt \([0-9a-f]{10} by hand, afterwards\)", verified.message)
    assert "stash" not in verified.message + verified.help


@pytest.mark.parametrize(
    ("taken", "why"),
    [
        (("stash", "--include-untracked"), "stash@{0} has them"),
        (("reset", "--hard"), "`git reset`, of which git's reflog tells"),
        (("checkout", "--", "."), "put back to what HEAD has"),
    ],
)
def test_reset_and_stash_are_told(place: GitPlace, taken: tuple[str, ...], why: str) -> None:
    """Where no change is left, git's own record says what took them, and the message says how to get them back."""
    text = place.text
    place.git(*taken)
    (place.root / "new.txt").unlink(missing_ok=True)
    place.text = text
    verified = place.verify()
    assert why in verified.message
    assert "--restore" in verified.help
    assert "git stash" not in verified.help
    assert failed(verified) == {"tree_state", "checksums", "status", "diff"}
    assert [each.path for each in verified.files] == ["a.txt", "new.txt", "src/b.py"]


def test_commit_of_the_same_content_is_a_note(place: GitPlace) -> None:
    """Work that was committed as it was left is no drift: the files and the commit are told, and nothing is counted."""
    commit = place.commit("too early")
    verified = place.verify()
    assert (verified.drift, verified.files, failed(verified), place.budget()) == (False, (), set(), 0)
    assert verified.committed == ("a.txt", "new.txt", "src/b.py")
    assert verified.notes == (
        f"committed since, as implementer left it: a.txt, new.txt, src/b.py ({commit[:10]} too early)",
    )
    place.git("commit", "--quiet", "--amend", "--message=better words")
    assert (place.verify().drift, "better words" in place.verify().notes[0]) == (False, True)
    place.git("reset", "--quiet", "--soft", "HEAD~1")
    assert (place.verify().drift, place.verify().committed) == (False, ())


def test_edit_after_the_commit_is_drift(place: GitPlace) -> None:
    """A file that was committed and then edited differs, and only that file is named."""
    place.commit("early")
    place.write("a.txt", "by hand\n")
    verified = place.verify()
    assert (verified.drift, told(verified), verified.explained) == (True, [("a.txt", "modified")], ())
    place.commit("edited")
    assert told(place.verify()) == [("a.txt", "modified")]  # the snapshot changed it, so a commit does not explain it


def test_commit_that_was_taken_back_is_no_drift(place: GitPlace) -> None:
    """Where all is again as it was, it does not matter which way HEAD went."""
    place.git("commit", "--quiet", "--message=early", "--only", "src/b.py")
    place.git("revert", "--no-edit", "--no-commit", "HEAD")
    place.git("commit", "--quiet", "--message=back")
    place.write("src/b.py", "b = 2\n")
    assert (place.verify().drift, place.verify().files) == (False, ())


def test_commits_are_drift_where_they_are_held(place: GitPlace) -> None:
    """With `commits = "held"` a commit over more than our own files is drift, even of the same content."""
    hold_commits(place)
    resolve(place)
    place.git("add", ".taskstate")
    place.git("commit", "--quiet", "--message=ours", "--only", ".taskstate")
    assert not place.verify().drift
    place.commit("too early")
    verified = place.verify()
    assert verified.message.startswith("commits are held, and work was committed before the task was complete: a.txt")
    assert (verified.files, failed(verified)) == ((), {"base_commit"})
    assert "git reset" not in verified.help
    assert refusal(lambda: place.take("reviewer")).code == "drift-unresolved"
    assert resolve(place).base == place.git("rev-parse", "HEAD")
    assert not place.verify().drift


def test_merge_of_other_work_is_seen_whatever_came_of_it(place: GitPlace) -> None:
    """Files that a merge left out were still touched by a commit before HEAD; in a folder, only its own files count."""
    place.git("add", ".taskstate")
    place.git("commit", "--quiet", "--message=ours")
    assert not place.verify().drift
    base = place.git("rev-parse", "HEAD")
    place.git("worktree", "add", "--quiet", "../side")
    (place.root.parent / "side/src/c.py").write_text("other\n")
    place.git("-C", "../side", "commit", "--quiet", "--all", "--message=other")
    place.git("merge", "--quiet", "--no-edit", "--strategy=ours", "side")
    assert git_log.changed_paths(place.root, base) == ()
    assert git_log.paths_touched_by_commits(place.root, base) == ("src/c.py",)
    assert git_log.paths_touched_by_commits(place.root / "src", base) == ("c.py",)
    assert git_log.paths_touched_by_commits(place.root / ".taskstate", base) == ()
    assert not place.verify().drift


@pytest.mark.parametrize("how", ["merge", "rebase"])
def test_other_work_that_comes_in_is_explained(place: GitPlace, how: str) -> None:
    """What a merge, or a rebase of one's own commits, brought in is told with its commits, and is no drift."""
    place.git("add", ".taskstate")
    place.git("commit", "--quiet", "--message=ours")
    place.git("worktree", "add", "--quiet", "../side", "HEAD~1")
    (place.root.parent / "side/other.txt").write_text("other\n")
    place.git("-C", "../side", "add", "other.txt")
    place.git("-C", "../side", "commit", "--quiet", "--message=other")
    other = place.git("-C", "../side", "rev-parse", "HEAD")
    text = place.text
    if how == "merge":
        place.git("merge", "--quiet", "--no-ff", "--no-edit", other)
    else:
        place.commit("work")
        place.git("rebase", "--quiet", other)
    place.text = text
    verified = place.verify()
    assert (verified.drift, verified.files) == (False, ())
    assert [each[:3] for each in verified.explained] == [("other.txt", "added", "commits")]
    assert f"came in by commits, which is not drift: other.txt ({other[:10]} other)" in verified.notes


def test_other_line_of_commits_explains_nothing(place: GitPlace) -> None:
    """Where a commit that HEAD had has no equal in the new line, what differs is drift, and the commit is named."""
    place.git("switch", "--quiet", "--create", "other", "HEAD")
    place.write("c.txt", "c\n")
    place.git("add", "c.txt")
    place.git("commit", "--quiet", "--message=left behind")
    place.take()
    text = place.text
    place.git("switch", "--quiet", "main")
    place.text = text
    verified = place.verify()
    assert (verified.drift, told(verified)) == (True, [("c.txt", "removed")])
    assert "HEAD does not contain" in verified.message
    assert "left behind" in verified.message


def test_files_outside_of_the_scope_are_told(tmp_path: Path) -> None:
    """The first five changed files outside of the Repository Paths are listed; a removed one inside is reported."""
    place = GitPlace(tmp_path / "repository")
    place.text = place.text.replace("## 2. Chain Inputs", "### Repository Paths\n\n- src/\n\n## 2. Chain Inputs")
    for number in range(7):
        place.write(f"out{number}.txt", "x\n")
    place.write("src/b.py", "b = 2\n")
    notes = place.take().notes
    assert notes == (
        "warning: 7 files outside of the Repository Paths: out0.txt, out1.txt, out2.txt, out3.txt, out4.txt and 2 more",
    )
    (place.root / "src/c.py").rename(place.root / "src/d.py")
    place.write("elsewhere.txt", "x\n")
    verified = place.verify()
    assert verified.notes == ("outside of the task's Repository Paths: elsewhere.txt",)
    assert {"scope"} <= failed(verified)


def test_many_files_are_listed_beside_the_state_file(tmp_path: Path) -> None:
    """The front matter has none of the files that changed, the artifacts all; messages name five, the report all."""
    place = GitPlace(tmp_path / "repository")
    for number in range(21):
        place.write(f"n{number:02}.txt", "x\n")
    place.take()
    assert (len(place.snapshot()["files_changed"]), "n00.txt" in place.text) == (21, False)
    assert (place.root / ".taskstate" / place.snapshot()["pack"] / "implementer-files.json").exists()
    for number in range(21):
        place.write(f"n{number:02}.txt", "y\n")
    verified = place.verify()
    assert len(verified.files) == 21
    assert verified.message.endswith("n00.txt, n01.txt, n02.txt, n03.txt, n04.txt and 16 more")


# Artifacts that are lost


@pytest.mark.parametrize("what", ["all", "pack", "broken pack", "list"])
def test_lost_artifacts_are_told(tmp_path: Path, what: str) -> None:
    """Without its objects a snapshot decides by its tree id, names what its list can tell, and says what is lost."""
    place = GitPlace(tmp_path / "repository")
    for number in range(22):
        place.write(f"n{number:02}.txt", "x\n")
    place.take()
    home = place.root / ".taskstate/artifacts/task-101/implementer"
    (pack,) = home.glob("*/pack/*.pack")
    if what == "all":
        shutil.rmtree(home)
    elif what == "list":
        path = place.root / ".taskstate" / place.snapshot()["pack"] / "implementer-files.json"
        path.write_text(path.read_text().replace(X, "0" * 64))
    elif what == "pack":
        shutil.rmtree(pack.parent)
    else:
        pack.chmod(0o644)
        pack.write_bytes(b"PACK" + bytes(40))
    assert not place.verify().drift
    place.write("n00.txt", "y\n")
    place.write("src/b.py", "b = 2\n")
    (place.root / "n01.txt").unlink()
    verified = place.verify()
    assert verified.drift
    if what == "all":
        assert (verified.files, "cannot be told" in verified.message) == ((), True)
    else:
        expected = [("n00.txt", "modified"), ("n01.txt", "removed"), ("src/b.py", "modified")]
        assert told(verified) == expected
        assert verified.files[0].expected == X
    assert (verified.notes == ()) == (what == "list")
    if what != "list":
        assert refusal(lambda: place.restore("n00.txt")).code == "objects-lost"


@pytest.mark.parametrize("ending", [".pack", ".idx"])
@pytest.mark.parametrize("size", [None, 0, 100])
def test_lost_pack_is_told_while_the_tree_matches(place: GitPlace, ending: str, size: int | None) -> None:
    """A pack, or its index, that is missing or torn is noted in time."""
    assert place.verify().notes == ()
    (path,) = place.root.glob(f".taskstate/artifacts/*/*/*/pack/*{ending}")
    path.chmod(0o600)
    content = path.read_bytes()
    path.unlink()
    if size is not None:
        path.write_bytes(content[:size])
    verified = place.verify()
    assert (verified.drift, verified.notes) == (False, (Artifacts.BROKEN.value,))


def test_tree_that_somebody_wrote_by_hand_is_not_believed(place: GitPlace) -> None:
    """The index that was kept stands for the tree that it was kept with, and for no other."""
    place.text = place.text.replace(place.snapshot()["tree"], place.git("rev-parse", "HEAD^{tree}"))
    reseal(place)
    assert place.verify().drift


def test_torn_and_missing_diffs_are_refused(place: GitPlace) -> None:
    """A diff that is not what was recorded is never shown: it is made again from the trees, or said to be missing."""
    path = place.root / ".taskstate" / place.snapshot()["pack"] / "implementer-from-base.diff.gz"
    whole, content = path.read_bytes(), place.diff()
    path.write_bytes(whole[:-9])
    assert place.diff() == content
    shutil.rmtree(path.parent / "pack")
    for data in (whole[:-9], b"", gzip.compress(b"another")):
        path.write_bytes(data)
        assert refusal(place.diff).code == "artifact-broken"
    path.unlink()
    assert refusal(place.diff).code == "artifact-lost"


# Roles


def test_incremental_diff_is_the_roles_own_change(place: GitPlace) -> None:
    """The reviewer's diff goes from the implementer's tree to his own, though both edit the same lines."""
    before = place.snapshot()["tree"]
    place.write("a.txt", "changed again\n")
    (place.root / "new.txt").unlink()
    place.take("reviewer")
    snapshot, diff = place.snapshot("reviewer"), place.diff(INCREMENTAL, "reviewer")
    assert place.applied(before, diff) == snapshot["tree"]
    assert (b"+changed again" in diff, b"b = 2" in diff) == (True, False)
    assert "incremental_diff_sha" not in place.snapshot()
    assert "incremental_diff_error" not in snapshot
    error = refusal(lambda: place.diff(INCREMENTAL))
    assert error.message == "implementer has no incremental diff: no role comes before it"
    assert error.help == "its diff from the base commit is all that it did: leave --type out"


@pytest.mark.parametrize("why", ["left no snapshot", "left is not here"])
def test_incremental_diff_that_cannot_be_is_explained(place: GitPlace, why: str) -> None:
    """Where the tree of the role before is lost, the snapshot is taken and says why it has no such diff."""
    role, before = ("reviewer", "implementer") if why == "left is not here" else ("validator", "reviewer")
    shutil.rmtree(place.root / ".taskstate/artifacts")
    place.write("a.txt", "reviewed\n")
    notes = place.take(role).notes
    assert why in place.snapshot(role)["incremental_diff_error"]
    assert notes == (f"there is no diff from the role before: {place.snapshot(role)['incremental_diff_error']}",)
    assert before in refusal(lambda: place.diff(INCREMENTAL, role)).message


def test_newest_role_is_the_one_that_took_its_snapshot_last() -> None:
    """The time of the snapshots decides; in the same second the tree that was left, and then the order of the roles."""
    names = ("implementer", "reviewer", "validator")
    implementer, reviewer = "1" * 40, "2" * 40

    def newest(implementer_at: str, reviewer_at: str, left: str = "", names: tuple[str, ...] = names) -> str | None:
        snapshots = {
            "implementer": {"snapshot_time": implementer_at, "tree": implementer},
            "reviewer": {"snapshot_time": reviewer_at, "tree": reviewer},
        }
        delta = {"snapshots": snapshots, **({"left": {"tree": left}} if left else {})}
        return snapshot_verify.newest_role(read_tool_blocks({"delta": delta}).delta, names)

    early, late = "2026-01-01T00:00:00Z", "2026-01-01T00:00:01Z"
    assert newest(late, early) == newest(late, early, names=names[::-1]) == "implementer"
    assert newest(early, late, left=implementer) == "reviewer"
    assert newest(late, late) == newest(late, late, left=reviewer) == "reviewer"
    assert newest(late, late, left=implementer) == "implementer"
    assert newest(late, late, names=("validator",)) is None


def test_match_is_required(place: GitPlace) -> None:
    """Who needs a role's tree as it was left is refused with the files named, and that is counted."""
    snapshot_verify.require_match(place.workspace, TASK, ROLE, place.request())
    for number in range(7):
        place.write(f"x{number}", "x\n")
    error = refusal(lambda: snapshot_verify.require_match(place.workspace, TASK, ROLE, place.request()))
    assert error.code == "drift"
    assert error.message.endswith("x0, x1, x2, x3, x4 and 2 more")
    assert place.budget() == 1
    error = refusal(lambda: snapshot_verify.require_match(place.workspace, TASK, "reviewer", place.request()))
    assert (error.code, "snapshot take 101 --role reviewer" in error.help) == ("no-snapshot", True)


def test_dry_run_counts_nothing(place: GitPlace) -> None:
    """A comparison for show leaves the budget alone."""
    place.write("a.txt", "by hand\n")
    before = tree(place.root)
    request = place.request(dry_run=True)
    assert snapshot_verify.verify(place.workspace, TASK, ROLE, request).drift
    assert tree(place.root) == before


def test_tree_committed_as_left_is_recognised(place: GitPlace) -> None:
    """Whether HEAD holds what the newest snapshot recorded does not depend on our own files or the working tree."""
    workspace = place.workspace

    def is_so() -> bool:
        return snapshot_verify.committed_as_left(workspace, workspace.load(place.path))

    assert not is_so()
    place.git("add", "--all")
    place.git("commit", "--quiet", "--message=done")
    assert is_so()
    place.write("a.txt", "later\n")
    assert is_so()
    place.commit("later")
    assert not is_so()


# Resolving


def resolve(place: GitPlace, note: str = "meant so") -> accept_drift.AcceptedDrift:
    """Accept what is there."""
    return accept_drift.resolve(place.workspace, TASK, note, place.request()).result


def events(place: GitPlace) -> list[dict[str, object]]:
    """Return the events of the task, without their times."""
    return [{key: each[key] for key in each if key != "at"} for each in place.values["audit"]["events"]]


def test_drift_stops_until_it_is_resolved(place: GitPlace) -> None:
    """With unresolved drift none is taken; resolving takes it again, resets the budget and records who and why."""
    place.write("a.txt", "by hand\n")
    place.verify()
    assert refusal(place.take).code == "drift-unresolved"
    resolved = resolve(place)
    assert (resolved.retaken, place.budget()) == ((ROLE,), 0)
    assert events(place) == [
        {"actor": "somebody", "event": "drift-accepted", "note": "meant so", "role": ROLE, "files": ["a.txt"]}
    ]
    assert not place.verify().drift
    assert b"+by hand" in place.diff()
    assert len(list(place.root.glob(".taskstate/artifacts/task-101/implementer/*"))) == 1


def test_tree_that_was_put_back_is_not_taken_anew(place: GitPlace) -> None:
    """Where the tree is again what was left, resolving only closes the budget."""
    place.write("a.txt", "by hand\n")
    place.verify()
    place.write("a.txt", "changed\n")
    before = place.snapshot()
    assert resolve(place).retaken == ()
    assert (place.budget(), place.snapshot() == before, events(place)[0]["files"]) == (0, True, [])


def test_committed_work_begins_anew_at_head(place: GitPlace) -> None:
    """Where commits are held, the next snapshot is refused after one; resolving takes HEAD as the base."""
    hold_commits(place)
    head = place.commit("on purpose")
    error = refusal(lambda: place.take("reviewer"))
    assert (error.code, "snapshot resolve 101" in error.help) == ("committed", True)
    assert resolve(place).base == head
    assert place.values["delta"]["base_commit"] == head
    snapshot = place.snapshot()
    assert (snapshot["files_changed"], snapshot["diff_stat"], place.diff()) == ([], "no changes", b"")
    assert not place.verify().drift
    place.write("a.txt", "reviewed\n")
    assert told(place.verify()) == [("a.txt", "modified")]


def test_base_without_snapshots_begins_anew_too(tmp_path: Path) -> None:
    """Where commits are held, work was committed, and nobody has taken a snapshot yet, resolving names HEAD."""
    place = GitPlace(tmp_path / "repository")
    hold_commits(place)
    base = place.git("rev-parse", "HEAD")
    place.text = place.text.replace("\naudit:\n", f'\ndelta:\n  base_commit: "{base}"\naudit:\n', 1)
    reseal(place)
    place.write("a.txt", "x\n")
    head = place.commit("work")
    place.write("a.txt", "y\n")
    assert refusal(place.take).code == "committed"
    assert (resolve(place).retaken, place.values["delta"]["base_commit"]) == ((), head)
    place.take()
    assert place.snapshot()["files_changed"] == ["M a.txt"]


def hold_commits(place: GitPlace) -> None:
    """Configure that work is not committed between roles."""
    place.write("taskstate.toml", '[coordination]\ncommits = "held"\n')
    place.write(".git/info/exclude", "taskstate.toml\n")
    place.git("rm", "--quiet", "--cached", "taskstate.toml")
    place.git("commit", "--quiet", "--message=settings")


def reseal(place: GitPlace) -> None:
    """Accept what was written into the front matter by hand."""
    from taskstate.doctor.repairs import reseal as accept

    accept(place.workspace, TASK, "for the test", place.request())


def test_nothing_to_resolve_is_refused(place: GitPlace) -> None:
    """Where all is as it was left there is nothing to accept."""
    before = tree(place.root)
    assert refusal(lambda: resolve(place)).code == "nothing-to-resolve"
    assert tree(place.root) == before


def test_base_that_is_gone_is_told_and_resolved(place: GitPlace) -> None:
    """A base that is not here is one clear error for a snapshot, not for a comparison; resolving begins at HEAD."""
    removed = "ab" * 20
    place.text = place.text.replace(place.values["delta"]["base_commit"], removed)
    reseal(place)
    assert not place.verify().drift
    error = refusal(lambda: place.take("reviewer"))
    assert (error.code, error.message) == ("no-commit", f"the base commit {removed} is not in this repository")
    assert "snapshot resolve 101 --note" in error.help
    place.write("a.txt", "by hand\n")
    place.restore("a.txt")
    assert (place.root / "a.txt").read_text() == "changed\n"
    assert resolve(place).base == place.git("rev-parse", "HEAD")
    assert not place.verify().drift


@pytest.mark.parametrize("base", ["--output=/tmp/x", "-n", "HEAD", "", "zz"])
def test_base_that_is_no_commit_id_is_harmless(place: GitPlace, base: str) -> None:
    """A base commit that a user wrote by hand is never taken for an option of git's."""
    delta = place.values["delta"]
    place.text = place.text.replace(delta["base_commit"], base)
    reseal(place)
    before = tree(place.root)
    assert refusal(lambda: place.take("reviewer")).code == "no-commit"
    assert not place.verify().drift
    assert tree(place.root) == before


# Restoring


def test_files_are_put_back(place: GitPlace) -> None:
    """Changed, deleted and never changed files come back with content and mode; what is not asked for stays."""
    place.write("run.sh", "#!/bin/sh\n").chmod(0o755)
    (place.root / "to").symlink_to("a.txt")
    place.take()
    for name in ("a.txt", "src/b.py", "src/c.py", "run.sh", "to"):
        (place.root / name).unlink()
    shutil.rmtree(place.root / "src")
    (place.root / "a.txt").symlink_to("/etc/passwd")
    place.write("to", "no link\n")
    place.write("new.txt", "by hand\n")
    assert place.restore("a.txt", "src/b.py", "src/c.py", "run.sh", "to").notes == ()
    assert told(place.verify()) == [("new.txt", "modified")]
    assert (place.root / "to").is_symlink()
    assert (place.root / "run.sh").stat().st_mode & 0o777 == 0o755
    assert Path("/etc/passwd").read_text(encoding="utf-8") != "changed\n"


@pytest.mark.parametrize(
    ("name", "code"),
    [
        ("nothing", "not-found"),
        ("", "not-found"),
        ("src", "not-a-file"),
        ("data.bin/x", "not-found"),
        ("../repository/a.txt", "path-escapes"),
        ("/etc/passwd", "path-escapes"),
        (".git/config", "path-escapes"),
        ("taskstate.toml/../a.txt", "path-escapes"),
        (".taskstate/tasks/task-101-state.md", "not-found"),
        ("src/c.py", "not-a-file"),
    ],
)
def test_what_cannot_be_put_back_is_refused_before_anything_is(place: GitPlace, name: str, code: str) -> None:
    """A name that the snapshot has not, or that leads elsewhere, is refused, and none of the others is written."""
    (place.root / "src/c.py").unlink()
    place.write("src/c.py/folder", "x\n")
    place.write("a.txt", "by hand\n")
    before = tree(place.root)
    assert refusal(lambda: place.restore("a.txt", name)).code == code
    assert tree(place.root) == before


def test_link_on_the_way_is_not_followed(place: GitPlace, tmp_path: Path) -> None:
    """A folder that was replaced by a link to elsewhere is not written into."""
    shutil.rmtree(place.root / "src")
    (tmp_path / "elsewhere").mkdir()
    (place.root / "src").symlink_to(tmp_path / "elsewhere")
    assert refusal(lambda: place.restore("src/b.py")).code == "path-escapes"
    assert list((tmp_path / "elsewhere").iterdir()) == []


@pytest.mark.parametrize("name", [".git", ".GIT", ".g\u200cit", "git~1", ".git "])
def test_a_name_that_git_never_checks_out_is_not_put_back(place: GitPlace, name: str) -> None:
    """A tree made by hand holds `docs/.git`, which would lead git there to somebody else's configuration."""
    place.take()
    blob = place.git("hash-object", "-w", "--stdin", stdin=b"gitdir: ../evil\n")
    inner = place.git("mktree", stdin=f"100644 blob {blob}\t{name}\n".encode())
    made = place.git("mktree", stdin=f"040000 tree {inner}\tdocs\n".encode())
    place.text = place.text.replace(place.snapshot()["tree"], made)
    assert refusal(lambda: place.restore(f"docs/{name}")).code == "path-escapes"
    assert not (place.root / "docs").exists()


@pytest.mark.parametrize("key", ["tree", "index_tree"])
@pytest.mark.parametrize("expected", ["--output=VICTIM", "HEAD", "", "A" * 40, "a" * 41])
def test_tree_that_is_no_object_id_is_never_given_to_git(
    place: GitPlace, tmp_path: Path, key: str, expected: str
) -> None:
    """What a user wrote as a tree is refused, and is no option of git's for who takes or accepts either."""
    victim = tmp_path / "victim"
    victim.write_text("precious\n")
    value = expected.replace("VICTIM", str(victim))
    place.git("add", "a.txt")
    place.take()
    place.text = place.text.replace(f' {key}: "{place.snapshot()[key]}"', f' {key}: "{value}"')
    assert place.snapshot()[key] == value
    reseal(place)
    before = tree(place.root)
    for call in (place.verify, lambda: place.restore("a.txt"), place.diff):
        assert refusal(call).code == "bad-snapshot"
    assert tree(place.root) == before
    request = place.request(dry_run=True)
    snapshot_take.take(place.workspace, TASK, "reviewer", request)
    if key == "tree":
        accept_drift.resolve(place.workspace, TASK, "tampered with", request)
    assert tree(place.root) == before
    assert victim.read_text() == "precious\n"


@pytest.mark.parametrize("conflict", [False, True])
def test_nothing_is_put_back_during_a_merge(place: GitPlace, conflict: bool) -> None:  # noqa: FBT001 - a parameter
    """While git is in the middle of something, or something is left to merge, nothing is written."""
    place.write("a.txt", "by hand\n")
    if conflict:
        blob = place.git("rev-parse", "HEAD:a.txt")
        sides = "".join(f"100644 {blob} {stage}\ta.txt\n" for stage in (1, 2, 3))
        place.git("rm", "--quiet", "--cached", "a.txt")
        place.git("update-index", "--index-info", stdin=sides.encode())
    else:
        (place.root / ".git/MERGE_HEAD").write_text(place.git("rev-parse", "HEAD") + "\n")
    before = tree(place.root)
    assert refusal(lambda: place.restore("a.txt")).code == "under-way"
    assert tree(place.root) == before


def test_file_in_the_place_of_a_folder_is_told_before_anything_is_written(place: GitPlace) -> None:
    """Where a folder of the snapshot is a file now, none of the files is put back."""
    shutil.rmtree(place.root / "src")
    place.write("src", "a file\n")
    place.write("a.txt", "by hand\n")
    before = tree(place.root)
    error = refusal(lambda: place.restore("a.txt", "src/b.py"))
    assert (error.code, error.message) == ("not-a-file", "src/b.py cannot be put back: src is not a folder now")
    assert tree(place.root) == before


def test_attributes_come_back_before_what_they_govern(tmp_path: Path) -> None:
    """A filter that the snapshot's own attributes name gives the bytes that were there."""
    rot = "tr a-zA-Z n-za-mN-ZA-M"
    place = GitPlace(tmp_path / "repository", f"filter.rot.clean={rot}", f"filter.rot.smudge={rot}")
    place.write(".gitattributes", "*.enc filter=rot\n")
    place.write("f.enc", "hello\n")
    place.write("x/g.enc", "hello\n")
    place.take()
    text = place.text
    place.git("stash", "--include-untracked")
    place.text = text
    assert place.restore("f.enc", "x/g.enc", ".gitattributes").notes == ()
    assert (place.root / "f.enc").read_text() == (place.root / "x/g.enc").read_text() == "hello\n"
    assert not place.verify().drift


@pytest.mark.parametrize(
    ("mode", "program", "then"), [(0o600, False, 0o600), (0o600, True, 0o700), (0o750, False, 0o640)]
)
def test_mode_of_a_file_that_is_there_is_kept(place: GitPlace, mode: int, program: bool, then: int) -> None:  # noqa: FBT001 - a parameter
    """Git knows only whether a file is a program: what else its mode says stays."""
    path = place.root / "a.txt"
    path.chmod(0o755 if program else 0o644)
    place.take()
    place.write("a.txt", "by hand\n").chmod(mode)
    place.restore("a.txt")
    assert (path.stat().st_mode & 0o777, path.read_text()) == (then, "changed\n")


@pytest.mark.parametrize("name", ["./a.txt", "././a.txt", "src/.././a.txt", "./src//b.py", "./-dash"])
def test_path_is_taken_with_parts_that_say_nothing(place: GitPlace, name: str) -> None:
    """A path may begin with `./`; `..` is refused nevertheless."""
    place.write("-dash", "x\n")
    place.take()
    if ".." in name:
        assert refusal(lambda: place.restore(name)).code == "path-escapes"
    else:
        assert tuple(place.restore(name).kept) in {("a.txt",), ("src/b.py",), ("-dash",)}


def test_broken_pack_is_told_in_words(tmp_path: Path) -> None:
    """Where the data of a file is broken, the artifacts are named as what is, and nothing is written."""
    place = GitPlace(tmp_path / "repository")
    place.write("noise", os.urandom(5000))
    place.take()
    (pack,) = place.root.glob(".taskstate/artifacts/task-101/implementer/*/pack/*.pack")
    pack.chmod(0o644)
    data = bytearray(pack.read_bytes())
    data[len(data) // 2] ^= 0xFF
    pack.write_bytes(data)
    place.write("noise", "gone\n")
    error = refusal(lambda: place.restore("noise"))
    assert (error.code, "its artifacts are broken" in error.message) == ("objects-lost", True)
    assert (place.root / "noise").read_text() == "gone\n"


def test_object_that_the_repository_lacks_is_told(tmp_path: Path) -> None:
    """Where git itself has lost what the base commit holds, its artifacts are not blamed."""
    place = GitPlace(tmp_path / "repository")
    place.write("a.txt", "changed\n")
    blob = place.git("rev-parse", "HEAD:a.txt")
    (place.root / ".git/objects" / blob[:2] / blob[2:]).unlink()
    error = refusal(place.take)
    assert "the repository lacks a git object" in error.message
    assert "git fsck" in error.help


def test_what_git_ignores_now_is_told(place: GitPlace) -> None:
    """A file that is there, and that git takes in no more, is neither stashed nor edited."""
    place.write(".git/info/exclude", "new.txt\n")
    verified = place.verify()
    assert verified.message.endswith("git now ignores files of the snapshot: new.txt")
    assert "git check-ignore -v FILE" in verified.help
    place.write("a.txt", "by hand\n")
    assert place.verify().message.endswith("edited by hand since: a.txt; git ignores now: new.txt")


def test_commits_pulled_in_are_not_taken_for_the_work(place: GitPlace) -> None:
    """A fast-forward that brings other files is explained; a file of the work in it was committed as it was left."""
    place.write("other.txt", "other\n")
    place.git("add", "other.txt")
    place.git("commit", "--quiet", "--message=other")
    assert [each.path for each in place.verify().explained] == ["other.txt"]
    place.git("add", "a.txt")
    place.git("commit", "--quiet", "--message=work")
    verified = place.verify()
    assert (verified.drift, verified.committed, [each.path for each in verified.explained]) == (
        False,
        ("a.txt",),
        ["other.txt"],
    )


def test_moved_submodule_is_told_with_its_commits(place: GitPlace, tmp_path: Path) -> None:
    """For a submodule, its expected and current commits are reported."""
    inner = GitPlace(tmp_path / "inner")
    place.git("-c", "protocol.file.allow=always", "submodule", "--quiet", "add", str(inner.root), "sub")
    place.take()
    then = inner.git("rev-parse", "HEAD")
    inside = GitPlace.__new__(GitPlace)
    inside.root = place.root / "sub"
    inside.git("-c", "user.name=x", "-c", "user.email=x@x", "commit", "--quiet", "--allow-empty", "--message=more")
    (result,) = place.verify().files
    assert result[:4] == ("sub", "modified", then, inside.git("rev-parse", "HEAD"))
    inside.git("checkout", "--quiet", then)
    assert (place.verify().drift, place.verify().notes) == (False, ())
    inside.write("a.txt", "by hand\n")
    dirty = "changed inside a submodule, which no snapshot holds: sub"
    assert (place.verify().drift, place.verify().notes) == (False, (dirty,))
    shutil.rmtree(inside.root)
    inside.root.mkdir()
    assert place.verify().notes == ("not checked out, so not compared: submodule sub",)


# A world that refuses


def test_clean_tree_is_refused(tmp_path: Path) -> None:
    """Where nothing differs from the base commit there is nothing to snapshot, whatever our own files do."""
    place = GitPlace(tmp_path / "repository")
    place.write(".taskstate/tasks/more.txt", "x\n")
    before = tree(place.root)
    error = refusal(place.take)
    assert (error.code, "nothing to snapshot" in error.message) == ("nothing-to-snapshot", True)
    assert tree(place.root) == before


def test_role_that_takes_all_back_leaves_a_clean_tree(place: GitPlace) -> None:
    """After another role's work, a tree that does not differ from the base is what a role leaves."""
    place.git("checkout", "--", "a.txt", "src/b.py")
    (place.root / "new.txt").unlink()
    assert refusal(place.take).code == "nothing-to-snapshot"
    assert place.take("reviewer").result.stat == "no changes"
    assert (place.snapshot("reviewer")["files_changed"], place.diff("from-base", "reviewer")) == ([], b"")
    assert b"-b = 2" in place.diff("incremental", "reviewer")
    assert not place.verify("reviewer").drift


def test_clean_tree_after_accepted_commits_is_taken(place: GitPlace) -> None:
    """Where commits are held, accepted work is in the base: whose it was, and who comes then, may leave that."""
    hold_commits(place)
    place.commit("early")
    resolve(place)
    for role in (ROLE, "reviewer"):
        assert place.take(role).result.stat == "no changes"
        assert not place.verify(role).drift


def test_role_whose_work_was_all_committed_can_be_done(tmp_path: Path) -> None:
    """Where commits are held, and the first role committed before any snapshot, accepting that leads on."""
    place = GitPlace(tmp_path / "repository")
    hold_commits(place)
    base = place.git("rev-parse", "HEAD")
    place.text = place.text.replace("\naudit:", f'\ndelta:\n  base_commit: "{base}"\naudit:', 1)
    reseal(place)
    place.write("a.txt", "work\n")
    place.commit("early")
    assert refusal(place.take).code == "committed"
    resolve(place)
    assert place.take().result.stat == "no changes"
    assert not place.verify().drift


def test_complete_task_is_left_alone(place: GitPlace) -> None:
    """Nothing is taken, compared, put back or accepted in a task that is complete; nothing accuses, or is counted."""
    place.text = place.text.replace("status: created", "status: complete", 1)
    reseal(place)
    place.commit("all of it")
    before = tree(place.root)
    for call in (place.take, place.verify, lambda: resolve(place), lambda: place.restore("a.txt")):
        error = refusal(call)
        assert (error.code, "taskstate reopen 101" in error.help) == ("task-complete", True)
    assert tree(place.root) == before


@pytest.mark.parametrize("role", ["nobody", "implementor"])
def test_unknown_role_is_refused(place: GitPlace, role: str) -> None:
    """A role that is not configured is one clear error, whatever is asked of it."""
    for call in (
        lambda: place.take(role),
        lambda: place.verify(role),
        lambda: place.restore("a.txt", role=role),
        lambda: place.diff(role=role),
    ):
        assert refusal(call).code == "usage"


def test_role_without_a_snapshot_is_told_the_command(place: GitPlace) -> None:
    """Where a role has left no snapshot, the command that makes one is reported."""
    for call in (lambda: place.verify("reviewer"), lambda: place.restore("a.txt", role="reviewer")):
        error = refusal(call)
        assert (error.code, "snapshot take 101 --role reviewer" in error.help) == ("no-snapshot", True)


def test_state_file_that_git_set_back_is_told(place: GitPlace) -> None:
    """After `git reset --hard` a tracked state file knows of no snapshot; how to get it back is reported, and works."""
    from taskstate.doctor.examine import examine
    from taskstate.doctor.repairs import repair

    place.git("reset", "--quiet", "--hard")
    error = refusal(place.verify)
    assert (error.code, "`taskstate doctor --fix`" in error.help) == ("no-snapshot", True)
    recover(place.workspace)
    repair(place.workspace, examine(place.workspace), place.request())
    place.restore("a.txt", "src/b.py")
    assert not place.verify().drift


def test_branch_without_a_commit_is_refused(place: GitPlace) -> None:
    """Before the first commit there is nothing to compare with."""
    place.git("update-ref", "-d", "HEAD")
    before = tree(place.root)
    for call in (place.take, lambda: resolve(place), place.verify):
        assert refusal(call).code == "unborn"
    assert tree(place.root) == before


UNDER_WAY: dict[str, tuple[str, Callable[[GitPlace], object]]] = {
    "merge": ("a merge", lambda p: _conflict(p, "merge", "other")),
    "rebase": ("a rebase", lambda p: _conflict(p, "rebase", "other")),
    "cherry-pick": ("a cherry-pick", lambda p: _conflict(p, "cherry-pick", "other")),
    "revert": ("a revert", lambda p: _conflict(p, "revert", "HEAD~2")),
    "bisect": ("a bisection", lambda p: p.git("bisect", "start")),
}


def _conflict(place: GitPlace, *command: str) -> None:
    with pytest.raises(AssertionError, match=r"(?i)conflict|could not"):
        place.git("-c", "core.editor=true", *command)


@pytest.mark.parametrize("what", UNDER_WAY)
def test_repository_in_the_middle_of_something_is_refused(tmp_path: Path, what: str) -> None:
    """During a merge, a rebase and the like nothing is taken, compared or accepted, and nothing changes."""
    place = GitPlace(tmp_path / "repository")
    place.git("switch", "--quiet", "--create", "other")
    place.write("a.txt", "theirs\n")
    place.commit("theirs")
    place.git("switch", "--quiet", "main")
    place.write("a.txt", "ours\n")
    place.commit("ours")
    place.write("a.txt", "ours, and more\n")
    place.commit("more")
    place.write("new.txt", "new\n")
    place.take()
    place.git("add", ".taskstate")
    place.git("commit", "--quiet", "--message=task")
    words, begin = UNDER_WAY[what]
    begin(place)
    before = tree(place.root)
    for call in (lambda: place.take("reviewer"), place.verify, lambda: resolve(place)):
        error = refusal(call)
        assert (error.code, words in error.message) == ("under-way", True)
    assert tree(place.root) == before


@pytest.mark.parametrize("text", ["git version 2.17.1", "git version 1.9", "nonsense", None])
def test_old_or_missing_git_is_refused(
    place: GitPlace, tmp_path: Path, text: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A git that is too old, strange or missing is reported, with what is needed."""
    bin_ = tmp_path / "bin"
    bin_.mkdir()
    if text is not None:
        (bin_ / "git").write_text(f"#!/bin/sh\necho {text}\n")
        (bin_ / "git").chmod(0o755)
    before = tree(place.root)
    workspace, request = place.workspace, place.request()
    place.write("a.txt", "by hand\n")
    before = tree(place.root)
    monkeypatch.setenv("PATH", str(bin_))
    error = refusal(lambda: snapshot_take.take(workspace, TASK, ROLE, request))
    monkeypatch.undo()
    assert (error.code, "2.30" in error.help) == ("git", True)
    assert tree(place.root) == before


def test_folder_without_git_is_refused(tmp_path: Path) -> None:
    """Outside of a repository there are no snapshots."""
    place = GitPlace(tmp_path / "repository")
    shutil.rmtree(place.root / ".git")
    assert refusal(place.take).code == "no-git"


def test_large_diff_warns_and_goes_on(tmp_path: Path) -> None:
    """A diff over 10 MB is taken, kept and shown exactly, with a warning."""
    place = GitPlace(tmp_path / "repository")
    place.write("large.txt", ("x" * 10_000 + "\n") * 1_100)
    note, more = place.take().notes
    assert note.startswith("warning: the diff holds 1")
    assert more == "warning: only the first 10 MB of the added lines were searched for credentials"
    assert place.applied("HEAD", place.diff()) == place.snapshot()["tree"]
    assert not place.verify().drift


def test_credential_in_the_diff_is_kept_and_told(tmp_path: Path) -> None:
    """What looks like a credential in the work is warned of, without its value, and the diff is exact nevertheless."""
    place = GitPlace(tmp_path / "repository")
    token = "ghp_" + "a1B2c3D4e5F6" * 3
    place.write("config.py", f'TOKEN = "{token}"\n')
    (note,) = place.take().notes
    assert note.startswith("warning: the diff adds what looks like a GitHub token")
    assert token not in note + place.text
    assert token.encode() in place.diff()


def test_credential_in_a_large_diff_is_told(tmp_path: Path) -> None:
    """Of a diff over 10 MB the first 10 MB are searched, and it is said that the rest was not."""
    place = GitPlace(tmp_path / "repository")
    place.write("a-config.py", 'TOKEN = "ghp_' + "a1B2c3D4e5F6" * 3 + '"\n')
    place.write("large.txt", ("x" * 10_000 + "\n") * 1_100)
    notes = place.take().notes
    assert [" ".join(note.split()[:4]) for note in notes] == [
        "warning: the diff holds",
        "warning: the diff adds",
        "warning: only the first",
    ]


def test_dry_run_writes_nothing(tmp_path: Path) -> None:
    """For show, a snapshot tells what the front matter would say, and leaves no artifact."""
    place = GitPlace(tmp_path / "repository")
    place.write("a.txt", "x\n")
    before = tree(place.root)
    outcome = snapshot_take.take(place.workspace, TASK, ROLE, place.request(dry_run=True))
    assert "+    implementer:" in outcome.diff
    assert tree(place.root) == before


def test_snapshot_taken_again_leaves_no_older_data(place: GitPlace) -> None:
    """Each role's folder holds its newest snapshot alone, and the other roles' are untouched."""
    place.take("reviewer")
    kept = tree(place.root / ".taskstate/artifacts/task-101/reviewer")
    place.write("a.txt", "once more\n")
    place.take()
    assert len(list((place.root / ".taskstate/artifacts/task-101/implementer").iterdir())) == 1
    assert tree(place.root / ".taskstate/artifacts/task-101/reviewer") == kept
    assert b"+once more" in place.diff()
