"""The tree of the working tree is computed for every form of repository, and the repository stays unchanged."""

from __future__ import annotations

import os
import shlex
import shutil
import tempfile
import time
from functools import partial
from typing import TYPE_CHECKING

import pytest

from taskstate.errors import GitFailed
from taskstate.snapshots import accept_drift
from taskstate.storage.git import client as git
from taskstate.storage.git import objects, worktree
from taskstate.workspace.workspace import find_workspace
from tests.support.git_place import GitPlace
from tests.support.place import TASK, Place, refusal

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

pytestmark = pytest.mark.slow  # it starts many processes, most of them git

EMPTY = "4b825dc642cb6eb9a060e54bf8d69288fbee4904"


@pytest.fixture
def place(tmp_path: Path) -> GitPlace:
    """Return a repository."""
    return GitPlace(tmp_path / "repository")


def nothing(path: str) -> bool:
    """Take no path for one of our own files."""
    return path == ""


def _is_a_task(path: str) -> bool:
    return path.endswith("-state.md")


def test_outside_of_a_repository_there_is_no_tree(tmp_path: Path) -> None:
    """Without a repository there is no tree, no dirty file and no branch; a scratch area is refused."""
    assert worktree.tree_id(tmp_path, nothing) is None
    assert worktree.dirty_files(tmp_path, nothing) == ()
    assert git.branch(tmp_path) is None
    assert git.operation_in_progress(tmp_path) is None
    with pytest.raises(GitFailed, match="is not a working tree"), worktree.scratch(tmp_path):
        pass


def test_empty_repository_has_the_empty_tree(repository: Path) -> None:
    """Before the first commit the tree is that of the files that are there."""
    assert worktree.tree_id(repository, nothing) == EMPTY
    assert git.branch(repository) == "main"
    (repository / "a").write_text("a\n")
    (repository / "task-1-state.md").write_text("---\n")
    tree = worktree.tree_id(repository, _is_a_task)
    assert tree == worktree.tree_id(repository, _is_a_task, folder=".taskstate") != EMPTY
    assert worktree.dirty_files(repository, _is_a_task) == ("a",)


def test_dirty_files_are_those_that_differ_or_are_new(place: GitPlace) -> None:
    """Changed, staged, deleted, new and strangely named files are dirty; ignored ones and our own are not."""
    place.write("a.txt", "x\n")
    place.write("staged.txt", "x\n")
    place.git("add", "staged.txt")
    (place.root / "src/b.py").unlink()
    place.write("new\n\u00fc", "x\n")
    place.write(b"caf\xe9", "x\n")
    place.write("task-7-state.md", "x\n")
    place.write(".gitignore", (place.root / ".gitignore").read_text() + "*.log\n")
    place.write("x.log", "x\n")
    dirty = worktree.dirty_files(place.root, place.workspace.is_ours)
    assert dirty == tuple(
        sorted((".gitignore", "a.txt", os.fsdecode(b"caf\xe9"), "new\n\u00fc", "src/b.py", "staged.txt"))
    )


@pytest.mark.parametrize("name", ["main", "feature/x", "\u00fc"])
def test_branch_is_named(place: GitPlace, name: str) -> None:
    """The branch has its short name; a detached HEAD has none."""
    if name != "main":
        place.git("switch", "--quiet", "--create", name)
    assert git.branch(place.root) == name
    place.git("checkout", "--quiet", "--detach")
    assert git.branch(place.root) is None


def _detached(place: GitPlace) -> GitPlace:
    place.git("checkout", "--quiet", "--detach")
    return place


def _linked(place: GitPlace) -> GitPlace:
    other = place.root.with_name("linked")
    place.git("worktree", "add", "--quiet", "--detach", str(other))
    linked = GitPlace.__new__(GitPlace)
    linked.root, linked.now = other, place.now
    return linked


def _below(place: GitPlace) -> GitPlace:
    """Return a workspace in a folder of the repository; what lies above it is no part of it."""
    below = GitPlace.__new__(GitPlace)
    Place.__init__(below, place.root / "src")
    place.commit("below")
    place.write("a.txt", "above\n")
    below.write("a.txt", "one\n")
    return below


def _hooked(place: GitPlace) -> GitPlace:
    for name in ("post-index-change", "fsmonitor"):
        hook = place.write(f".git/hooks/{name}", '#!/bin/sh\ntouch "$(git rev-parse --git-dir)/ran"\n')
        hook.chmod(0o755)
    place.git("config", "core.fsmonitor", ".git/hooks/fsmonitor")
    return place


def _old_index(place: GitPlace) -> GitPlace:
    place.git("config", "splitIndex.maxPercentChange", "0")
    place.git("update-index", "--index-version", "4", "--split-index", "--untracked-cache")
    return place


def _shared(place: GitPlace) -> GitPlace:
    place.git("clone", "--quiet", "--shared", ".", "../shared")
    shared = GitPlace.__new__(GitPlace)
    shared.root, shared.now = place.root.with_name("shared"), place.now
    return shared


def _ignored(place: GitPlace) -> GitPlace:
    place.git("rm", "-rq", "--cached", ".taskstate")
    place.write(".git/info/exclude", ".taskstate/\n")
    place.git("commit", "--quiet", "--message=ours are nobody's business")
    return place


FORMS: dict[str, Callable[[GitPlace], GitPlace]] = {
    "detached HEAD": _detached,
    "linked worktree": _linked,
    "below the top": _below,
    "hooks": _hooked,
    "split index": _old_index,
    "shared clone": _shared,
    "ignored state folder": _ignored,
}


@pytest.mark.parametrize("form", FORMS)
def test_snapshots_are_taken_in_every_form_of_a_repository(place: GitPlace, form: str) -> None:
    """A snapshot is taken, compared, shown and restored without changing the repository."""
    here = FORMS[form](place)
    here.write("new.txt", "new\n")
    (here.root / "b.py" if form == "below the top" else here.root / "data.bin").unlink()
    before = place.kept_by_git()
    here.take()
    assert not here.verify().drift
    paths = [each["path"] for each in here.changed_files()]
    assert paths == {"below the top": ["a.txt", "b.py", "new.txt"]}.get(form, ["data.bin", "new.txt"])
    assert b"+new\n" in here.diff()
    here.write("new.txt", "other\n")
    assert [each.path for each in here.verify().files] == ["new.txt"]
    here.restore("new.txt")
    assert not here.verify().drift
    assert place.kept_by_git() == before


def test_repository_with_longer_hashes_is_as_good(tmp_path: Path) -> None:
    """Where git hashes with SHA-256, so do the trees."""
    root = tmp_path / "repository"
    place = GitPlace(root, init=("--object-format=sha256",))
    place.write("a.txt", "x\n")
    place.take()
    assert len(place.snapshot()["tree"]) == 64
    assert not place.verify().drift
    place.write("a.txt", "y\n")
    assert [each.path for each in place.verify().files] == ["a.txt"]
    place.restore("a.txt")
    assert place.applied("HEAD", place.diff()) == place.snapshot()["tree"]


def test_edit_in_the_second_of_the_index_is_seen(place: GitPlace) -> None:
    """A file changed in the second in which it was staged, to the same size, is found changed, also much later."""
    place.write("a.txt", "one\n")
    place.git("add", "a.txt")
    place.write("a.txt", "two\n")
    time.sleep(1.1)
    tree = worktree.tree_id(place.root, nothing)
    place.git("add", "--renormalize", "a.txt")
    assert place.git("show", ":a.txt") == "two"
    place.git("add", "--all")
    assert tree == place.git("write-tree")


def test_index_named_by_the_environment_is_taken(place: GitPlace, monkeypatch: pytest.MonkeyPatch) -> None:
    """In a hook the index is the one of the commit that is being made."""
    place.write("ignored.log", "x\n")
    place.write(".gitignore", (place.root / ".gitignore").read_text() + "*.log\n")
    without = worktree.tree_id(place.root, nothing)
    (place.root / ".git/other").write_bytes((place.root / ".git/index").read_bytes())
    place.git("add", "--force", "ignored.log", env={"GIT_INDEX_FILE": ".git/other"})
    monkeypatch.setenv("GIT_INDEX_FILE", ".git/other")
    assert worktree.tree_id(place.root, nothing) != without


def test_temporary_files_in_the_working_tree_are_no_work(place: GitPlace, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the system has its temporary files in the working tree, as in some sandboxes, ours are in no snapshot."""
    (place.root / "tmp").mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(place.root / "tmp"))
    place.write("a.txt", "other\n")
    before = place.kept_by_git()
    place.take()
    assert [each["path"] for each in place.changed_files()] == ["a.txt"]
    assert not place.verify().drift
    assert place.kept_by_git() == before


def test_file_that_git_cannot_take_is_one_clear_error(place: GitPlace) -> None:
    """A tracked file that was replaced by something git cannot store is named in the error."""
    (place.root / "a.txt").unlink()
    os.mkfifo(place.root / "a.txt")
    with pytest.raises(GitFailed, match=r"a\.txt"):
        worktree.tree_id(place.root, nothing)


@pytest.mark.parametrize("how", ["stash", "merge --squash"])
def test_conflict_that_git_left_in_the_index_is_refused(place: GitPlace, how: str) -> None:
    """While a file is in conflict, nothing is taken, compared or accepted."""
    place.write("a.txt", "other\n")
    if how == "stash":
        place.git("stash", "push", "--quiet", "a.txt")
    else:
        place.git("switch", "--quiet", "--create", "other")
        place.commit("theirs")
        place.git("switch", "--quiet", "main")
    place.write("a.txt", "committed\n")
    place.commit("ours")
    place.write("src/b.py", "b = 9\n")
    place.take()
    with pytest.raises(AssertionError, match="CONFLICT"):
        place.git(*(("stash", "pop") if how == "stash" else ("merge", "--squash", "other")))
    resolve = partial(accept_drift.resolve, place.workspace, TASK, "x", place.request())
    for call in (place.take, place.verify, resolve):
        error = refusal(call)
        assert (error.code, "not merged a.txt" in error.message) == ("under-way", True)
    place.git("add", "a.txt")
    assert [each.path for each in place.verify().files] == ["a.txt"]


@pytest.mark.parametrize("name", ["docs/task-7-state.md", ".taskstate/tasks/task-101-state.md"])
def test_conflict_in_our_own_file_is_refused_too(place: GitPlace, name: str) -> None:
    """One line names the file, with the command that settles it, which does."""
    blob = place.git("hash-object", "-w", "--stdin", stdin=b"x\n")
    entries = "".join(f"100644 {blob} {stage}\t{name}\n" for stage in (1, 2, 3))
    place.git("update-index", "--index-info", stdin=f"0 {'0' * 40}\t{name}\n{entries}".encode())
    place.write("a.txt", "work\n")
    error = refusal(place.take)
    assert (error.code, f"not merged {name}" in error.message, "\n" in str(error)) == ("under-way", True, False)
    (place.root / name).parent.mkdir(exist_ok=True)
    (place.root / name).touch()
    place.git(*shlex.split(str(error.help).rpartition("`git ")[2].removesuffix("`")))
    place.take()
    assert not place.verify().drift


def _nested(place: GitPlace, name: str) -> Path:
    inner = place.root / name
    inner.mkdir(parents=True)
    place.git("init", "--quiet", str(inner))
    (inner / "inside").write_text("in\n")
    return inner


def test_nested_repository_is_told_and_watched(place: GitPlace) -> None:
    """Files of a nested repository are not in the snapshot, with a warning; as a plain folder it is drift."""
    identity = ("-c", "user.name=x", "-c", "user.email=x@example.invalid")
    for number in range(6):
        inner = _nested(place, f"nest{number}")
        place.git("-C", inner.name, "add", "--all")
        place.git("-C", inner.name, *identity, "commit", "--quiet", "--message=one")
    (note,) = place.take().notes
    assert note.startswith(
        "warning: the files of 6 repositories of their own are not part of the snapshot: nest0, nest1"
    )
    assert "nest4 and 1 more; have git ignore it" in note
    assert not place.verify().drift
    shutil.rmtree(place.root / "nest3" / ".git")
    place.write("nest3/evil", "evil\n")
    assert {each.path for each in place.verify().files} >= {"nest3/evil"}


def test_submodule_is_no_nested_repository(place: GitPlace) -> None:
    """A submodule in the index is recorded by its commit alone, also if it is new or at another commit."""
    inner = place.root.with_name("inner")
    GitPlace(inner)
    place.git("-c", "protocol.file.allow=always", "submodule", "--quiet", "add", str(inner), "sub")
    assert place.take().notes == ()
    place.commit("submodule")
    place.git("-C", "sub", "-c", "user.name=x", "-c", "user.email=x@x", "commit", "-q", "--allow-empty", "-m", "on")
    accept_drift.resolve(place.workspace, TASK, "x", place.request())
    place.write("a.txt", "x\n")
    assert place.take().notes == ()
    assert list(place.root.glob(".taskstate/artifacts/*/*/*/index-*"))


def test_nested_repository_without_a_commit_is_refused_plainly(place: GitPlace) -> None:
    """A nested repository without a commit cannot be added; the error says what to do."""
    _nested(place, "nest it")
    error = refusal(place.take)
    assert error.message == "nest it is a repository of its own without a commit, so git cannot take it in"
    assert "make a commit in it" in error.help


def test_nested_repository_is_told_by_its_path_from_the_top(place: GitPlace) -> None:
    """The error names that repository, also below a folder, and not another one that has a commit."""
    _nested(place, "below/nest")
    GitPlace(place.root / "below" / "ready")
    with pytest.raises(GitFailed, match="below/nest is a repository of its own"):
        worktree.tree_id(place.root / "below", lambda _: False)


def test_place_that_a_killed_process_left_is_swept_away(
    place: GitPlace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A scratch area older than a day is deleted; a younger one, another name, or a link stays."""
    temporary = tmp_path / "temporary"
    monkeypatch.setattr("tempfile.tempdir", str(temporary))
    names = ("scratch-abcd1234", "scratch-young_00", "scratch-longer_name", "other-abcd1234")
    for name in names:
        (temporary / f"taskstate-{name}" / "objects").mkdir(parents=True)
    (temporary / "taskstate-scratch-linked00").symlink_to(tmp_path, target_is_directory=True)
    for each in temporary.iterdir():
        if "young" not in each.name:
            os.utime(each, (0, 0), follow_symlinks=False)
    place.write("a.txt", "work\n")
    place.take()
    left = {each.name.removeprefix("taskstate-") for each in temporary.iterdir()}
    assert left == {*names[1:], "scratch-linked00"}


def test_base_tree_lacks_our_own_files(place: GitPlace) -> None:
    """Our files are removed from a tree at any depth, with folders that contain nothing else."""
    place.write("docs/deep/task-7-state.md", "x\n")
    place.write("docs/deep/task-8-state.md", "x\n")
    place.write("src/task-9-state.md", "x\n")
    head = place.commit("ours")
    whole = place.git("rev-parse", "HEAD^{tree}")
    names = place.git("ls-tree", "-r", "--name-only", "HEAD").split("\n")
    ours = [name for name in names if place.workspace.is_ours(name)]
    with worktree.scratch(place.root) as scratch:
        store = objects.Store(scratch, head)
        assert store.tree_of(head) == whole
        without = store.without(whole, [name.encode() for name in ours])
        assert list(store.paths(without, ())) == [name for name in names if name not in ours]
        assert store.at(without, "docs") is None
        assert store.at(without, "src/b.py") is not None
        store.close()
    assert without == place.applied("HEAD", b"")


def test_workspace_knows_its_tree(place: GitPlace) -> None:
    """The tree is the same with and without the name of the state folder."""
    workspace = find_workspace(place.root, root=str(place.root))
    place.write("docs/task-7-state.md", "x\n")
    tree = worktree.tree_id(place.root, workspace.is_ours, folder=workspace.config.root)
    assert tree == worktree.tree_id(place.root, workspace.is_ours)
    place.write("docs/task-7-state.md", "y\n")
    place.git("add", "docs")
    assert worktree.tree_id(place.root, workspace.is_ours, folder=workspace.config.root) == tree
