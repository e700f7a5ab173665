from __future__ import annotations

import os
import pickle
import subprocess
from typing import TYPE_CHECKING

import pytest

from taskstate.lint.compared_commits import Trees, Wanted, open_history
from taskstate.lint.compared_revision import ComparedRevision, CurrentFiles
from taskstate.storage.git import client as git
from taskstate.storage.git.client import DISK, INDEX
from taskstate.workspace.workspace import find_workspace
from tests.support.place import Place

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

pytestmark = pytest.mark.slow  # it starts many processes, most of them git

STATE = ".taskstate/tasks/task-101-state.md"
OTHER = ".taskstate/tasks/task-102-state.md"


def call(root: Path, *arguments: str, check: bool = True) -> str:
    """Return what git says."""
    done = subprocess.run(["git", *arguments], cwd=root, check=check, capture_output=True, encoding="utf-8")
    return done.stdout.strip()


def commit(root: Path) -> str:
    """Commit all that there is, and return the commit's id."""
    call(root, "add", "--all")
    call(root, "commit", "--quiet", "--allow-empty", "--message", "work")
    return call(root, "rev-parse", "HEAD")


@pytest.fixture
def place(repository: Path) -> Place:
    """Return a git repository with task 101 in its first commit."""
    place = Place(repository)
    commit(repository)
    return place


class Opened:
    """Opens histories, and closes what they read from."""

    def __init__(self) -> None:
        self.objects: list[git.Objects] = []

    def __call__(self, root: Path, revision: str = "HEAD", *, staged: bool = False) -> ComparedRevision:
        """Return the repository at a revision."""
        found = self.open(root, revision, staged=staged)
        assert isinstance(found, ComparedRevision), found
        return found

    def open(self, root: Path, revision: str = "HEAD", *, staged: bool = False) -> ComparedRevision | str:
        """Return the repository at a revision, or why there is none."""
        self.objects.append(git.Objects(root))
        place, trees = INDEX if staged else DISK, Trees(root)
        workspace = find_workspace(root, root=str(root))
        now = CurrentFiles(workspace, self.objects[-1], place, trees.at(place) if staged else {})
        history = open_history(now, trees, Wanted(revision))
        assert history is not None
        return history


@pytest.fixture
def opened() -> Iterator[Opened]:
    """Return what opens histories."""
    opened = Opened()
    yield opened
    for objects in opened.objects:
        objects.close()


def texts(history: ComparedRevision, path: Path) -> list[str]:
    """Return a file as it was."""
    return [document.text for document in history.documents(path)]


# One file


def test_a_file_as_it_was(place: Place, opened: Opened) -> None:
    """The file at the compared revision is given as it was committed, and as git names it."""
    before = place.text
    place.add("more")
    history = opened(place.root)
    assert texts(history, place.path) == [before]
    assert history.names(place.path) == (f"HEAD:{STATE}",)
    assert call(place.root, "show", history.names(place.path)[0]) == before.strip()


def test_an_earlier_revision(place: Place, opened: Opened) -> None:
    """Any revision may be compared with, by any name that git knows."""
    before = place.text
    call(place.root, "commit", "--quiet", "--amend", "--message", "first")
    place.add("more")
    commit(place.root)
    place.add("still more")
    commit(place.root)
    for name in ("HEAD~2", "main@{2}", ":/first"):
        assert texts(opened(place.root, name), place.path) == [before]


def test_a_new_file(place: Place, opened: Opened) -> None:
    """A file that the revision has not, or that lies elsewhere, is new."""
    place.new("102")
    history = opened(place.root)
    for path in (place.root / OTHER, place.root / "none.md", place.root.parent / STATE):
        assert (history.documents(path), history.names(path), history.mark(path)) == ((), (), "")


def test_marks_tell_states_apart(place: Place, opened: Opened) -> None:
    """A mark stays while the file at the revision stays, and differs where another one is compared."""
    first = opened(place.root).mark(place.path)
    place.add("more")
    assert opened(place.root).mark(place.path) == first
    commit(place.root)
    assert opened(place.root).mark(place.path) not in {first, ""}


def test_what_cannot_be_read_is_no_measure(place: Place, opened: Opened) -> None:
    """A committed file that is not UTF-8, or a link, is as if there were none."""
    good = place.path.read_bytes()
    place.path.write_bytes(b"\xff\xfe")
    link = place.path.with_name("task-9-state.md")
    link.symlink_to(place.path.name)
    commit(place.root)
    place.path.write_bytes(good)
    history = opened(place.root)
    assert (history.documents(place.path), history.names(place.path)) == ((), ())
    assert history.documents(link) == ()


def test_another_process_reads_for_itself(place: Place, opened: Opened) -> None:
    """A history can be handed to another process, with all that was found out."""
    history = opened(place.root)
    history.prepare()
    again, objects = pickle.loads(pickle.dumps((history, opened.objects[-1])))  # noqa: S301 - our own bytes
    opened.objects.append(objects)
    assert texts(again, place.path) == [place.text]


def test_many_files(place: Place, opened: Opened) -> None:
    """Files are read again where they were put aside for others."""
    for number in range(20):
        place.new(f"7.{number}")
    commit(place.root)
    history = opened(place.root)
    paths = place.workspace.state_files()
    assert len(paths) == 21
    for path in (*paths, *paths):
        assert texts(history, path) == [path.read_bytes().decode()]


# Renaming


@pytest.mark.parametrize("staged", [True, False])
def test_a_file_that_moved_is_followed(place: Place, opened: Opened, staged: bool) -> None:  # noqa: FBT001 - both ways
    """A file that moved is followed, staged and before it is."""
    before = place.text
    place.add("more")
    target = place.root / "docs" / "task-101-state.md"
    target.parent.mkdir()
    place.path.rename(target)
    if staged:
        call(place.root, "add", "--all")
    history = opened(place.root, staged=staged)
    assert texts(history, target) == [before]
    assert history.names(target) == (f"HEAD:{STATE}",)
    assert history.removed == ()


@pytest.mark.parametrize("staged", [True, False])
def test_a_renumbered_task_is_followed(place: Place, opened: Opened, staged: bool) -> None:  # noqa: FBT001 - both ways
    """A task that got another id is followed, its archive with it."""
    for _ in range(3):
        place.add("work")
    place.archive()
    commit(place.root)
    before, archived = place.text, place.archived
    target, archive = place.root / OTHER, place.archive_path.with_name("task-102-archive.md")
    place.text = before.replace("101", "102") + "\nMuch more than there was.\n" * 100
    place.path.rename(target)
    place.archive_path.rename(archive)
    if staged:
        call(place.root, "add", "--all")
    history = opened(place.root, staged=staged)
    assert texts(history, target) == [before]
    assert texts(history, archive) == [archived]
    assert [each.path for each in history.removed] == [place.archive_path]  # whether one needs it says the state file


def test_a_new_task_does_not_follow_one_that_went(place: Place, opened: Opened) -> None:
    """A new task is no renamed one, however alike the two files are."""
    place.new("102")
    place.path.unlink()
    call(place.root, "add", "--all")
    assert call(place.root, "diff", "--cached", "-M", "--name-status")[0] == "R"
    history = opened(place.root, staged=True)
    assert history.documents(place.root / OTHER) == ()
    assert [gone.name for gone in history.removed] == [STATE]


# What is gone


@pytest.mark.parametrize("staged", [True, False])
def test_a_file_that_is_gone(place: Place, opened: Opened, staged: bool) -> None:  # noqa: FBT001 - both ways
    """A removed state file is listed with its former content, and an archive; other files of ours are not."""
    place.archive_path.parent.mkdir(exist_ok=True)
    place.archive_path.write_text("# Task #101 Archive - Full Session History\n", encoding="utf-8")
    commit(place.root)
    before = place.text
    place.path.unlink()
    place.archive_path.unlink()
    if staged:
        call(place.root, "add", "--all")
    archive, gone = opened(place.root, staged=staged).removed
    assert archive.path == place.archive_path
    assert (gone.path, gone.name, gone.document.text) == (place.path, STATE, before)


def test_a_file_that_is_no_longer_tracked(place: Place, opened: Opened) -> None:
    """A file removed from the index alone is removed there and not on disk, though git ignores it."""
    (place.root / ".gitignore").write_text("task-101-state.md\n", encoding="utf-8")
    call(place.root, "rm", "--quiet", "--cached", STATE)
    assert opened(place.root).removed == ()
    assert texts(opened(place.root), place.path) == [place.text]
    assert [gone.name for gone in opened(place.root, staged=True).removed] == [STATE]


def test_a_deletion_that_is_not_staged(place: Place, opened: Opened) -> None:
    """What is about to be committed still has a file that was deleted on disk alone."""
    place.path.unlink()
    assert opened(place.root, staged=True).removed == ()


# What has changed


def test_changed_paths(place: Place, opened: Opened) -> None:
    """Changed are the files that differ on disk, new ones included, but for those that git ignores."""
    for name in ("a b.py", "b.py", "c.py", "d.py", "ünï\n\"code'.py"):
        (place.root / name).write_text(f"{name}\n" * 9, encoding="utf-8")
    (place.root / ".gitignore").write_text("*.pyc\n", encoding="utf-8")
    commit(place.root)
    (place.root / "a b.py").write_text("2\n", encoding="utf-8")
    (place.root / "b.py").unlink()
    call(place.root, "mv", "c.py", "moved.py")
    (place.root / "ünï\n\"code'.py").write_text("2\n", encoding="utf-8")
    for name in ("new.py", "new.pyc"):
        (place.root / name).touch()
    expected = ("a b.py", "b.py", "c.py", "moved.py", "new.py", "ünï\n\"code'.py")
    assert opened(place.root).changed_paths == expected


def test_changed_paths_of_the_index(place: Place, opened: Opened) -> None:
    """In the index alone what is staged has changed."""
    for name in ("staged.py", "not.py"):
        (place.root / name).touch()
    call(place.root, "add", "staged.py")
    place.add("more")
    assert opened(place.root, staged=True).changed_paths == ("staged.py",)
    assert opened(place.root).changed_paths == (STATE, "not.py", "staged.py")


@pytest.mark.skipif(os.name != "posix", reason="names are bytes there alone")
def test_names_may_be_any_bytes(place: Place, opened: Opened) -> None:
    """A name that is no UTF-8 is read and followed like any other."""
    folder = place.root / os.fsdecode(b"caf\xe9")
    folder.mkdir()
    path = folder / place.path.name
    place.path.rename(path)
    commit(place.root)
    before = path.read_bytes().decode()
    path.write_bytes(path.read_bytes() + b"\nmore\n")
    history = opened(place.root)
    assert texts(history, path) == [before]
    assert history.changed_paths == (os.fsdecode(b"caf\xe9/task-101-state.md"),)


def test_settings_of_git_change_nothing(place: Place, opened: Opened) -> None:
    """What a user configured for looking at differences does not matter."""
    settings = {"diff.renames": "false", "diff.external": "false", "diff.noprefix": "true", "color.ui": "always"}
    for key, value in {**settings, "core.quotePath": "true", "diff.relative": "false"}.items():
        call(place.root, "config", key, value)
    before = place.text
    (place.root / "docs").mkdir()
    call(place.root, "mv", STATE, "docs/task-101-state.md")
    history = opened(place.root)
    assert texts(history, place.root / "docs" / "task-101-state.md") == [before]
    assert history.changed_paths == (STATE, "docs/task-101-state.md")


# Merging


@pytest.fixture
def merging(place: Place) -> Place:
    """Return a repository in which two branches are being merged that each recorded a session."""
    (place.root / "ours.py").touch()
    (place.root / "both.py").write_text("1\n", encoding="utf-8")
    commit(place.root)
    base = place.text
    call(place.root, "switch", "--quiet", "--create", "theirs")
    place.add("theirs")
    (place.root / "theirs.py").touch()
    (place.root / "both.py").write_text("theirs\n", encoding="utf-8")
    place.new("102")
    commit(place.root)
    call(place.root, "switch", "--quiet", "main")
    assert place.text == base
    place.add("ours")
    (place.root / "both.py").write_text("ours\n", encoding="utf-8")
    commit(place.root)
    call(place.root, "merge", "--no-commit", "theirs", check=False)
    return place


def test_while_merging_there_are_two_pasts(merging: Place, opened: Opened) -> None:
    """While a merge is under way the file of each side is given, and of a file that one side has, that one."""
    history = opened(merging.root)
    merged = call(merging.root, "rev-parse", "--short=10", "theirs")
    ours, theirs = texts(history, merging.path)
    assert ("ours" in ours, "theirs" in theirs) == (True, True)
    assert history.names(merging.path) == (f"HEAD:{STATE}", f"{merged}:{STATE}")
    assert history.names(merging.root / OTHER) == (f"{merged}:{OTHER}",)
    assert len(texts(opened(merging.root, call(merging.root, "rev-parse", "HEAD")), merging.path)) == 2


def test_while_merging_what_one_side_had_has_not_changed(merging: Place, opened: Opened) -> None:
    """While merging, only what differs from every side has changed."""
    assert opened(merging.root).changed_paths == (STATE, "both.py")


def test_another_revision_is_compared_alone(merging: Place, opened: Opened) -> None:
    """While merging, a revision other than HEAD is compared alone."""
    (base,) = texts(opened(merging.root, "HEAD~1"), merging.path)
    assert "ours" not in base
    assert len(texts(opened(merging.root, "theirs"), merging.path)) == 1


def test_while_merging_a_side_may_have_moved_the_file(place: Place, opened: Opened) -> None:
    """A file that one side moved is found in both pasts, under its name in each."""
    before = place.text
    target = place.root / "docs" / "task-101-state.md"
    call(place.root, "switch", "--quiet", "--create", "theirs")
    target.parent.mkdir()
    call(place.root, "mv", STATE, "docs/task-101-state.md")
    target.write_text(f"{before}\n## Notes\n\ntheirs\n", encoding="utf-8")
    commit(place.root)
    call(place.root, "switch", "--quiet", "main")
    (place.root / "ours.py").touch()
    commit(place.root)
    call(place.root, "merge", "--no-commit", "theirs")
    history = opened(place.root)
    merged = call(place.root, "rev-parse", "--short=10", "theirs")
    assert history.names(target) == (f"HEAD:{STATE}", f"{merged}:docs/task-101-state.md")
    assert texts(history, target) == [before, f"{before}\n## Notes\n\ntheirs\n"]
    assert history.removed == ()


def test_while_merging_what_a_side_removed_is_not_missed(place: Place, opened: Opened) -> None:
    """A file that one side removed was reported there."""
    call(place.root, "switch", "--quiet", "--create", "theirs")
    call(place.root, "rm", "--quiet", STATE)
    commit(place.root)
    call(place.root, "switch", "--quiet", "main")
    (place.root / "ours.py").touch()
    commit(place.root)
    call(place.root, "merge", "--no-commit", "theirs")
    assert not place.path.exists()
    assert opened(place.root).removed == ()


# Other forms of repositories


def test_a_folder_of_the_repository(repository: Path, opened: Opened) -> None:
    """Where our root is a folder of the working tree, paths begin there, and git's names at the top."""
    (repository / "packages").mkdir()
    place = Place(repository / "packages" / "app")
    commit(repository)
    before = place.text
    place.add("more")
    for name in ("above.py", "packages/app/inside.py"):
        (repository / name).touch()
    history = opened(place.root)
    assert texts(history, place.path) == [before]
    assert history.names(place.path) == (f"HEAD:packages/app/{STATE}",)
    assert history.changed_paths == (STATE, "inside.py")
    call(repository, "add", "--all")
    assert opened(place.root, staged=True).changed_paths == (STATE, "inside.py")
    place.path.unlink()
    assert [gone.path for gone in opened(place.root).removed] == [place.path]


def test_a_folder_that_the_commit_has_not(repository: Path, opened: Opened) -> None:
    """In a folder that is new since the revision everything is new."""
    call(repository, "commit", "--quiet", "--allow-empty", "--message", "first")
    place = Place(repository / "app")
    history = opened(place.root)
    assert history.documents(place.path) == ()
    assert STATE in history.changed_paths


def test_a_worktree(place: Place, opened: Opened, tmp_path: Path) -> None:
    """A further working tree has a HEAD and a merge of its own."""
    place.add("more")
    commit(place.root)
    other = tmp_path / "other"
    call(place.root, "worktree", "add", "--quiet", "-b", "theirs", str(other), "HEAD~1")
    there = Place(other)
    history = opened(other)
    assert texts(history, there.path) == [call(place.root, "show", f"HEAD~1:{STATE}") + "\n"]
    (other / "x.py").touch()
    commit(other)
    call(other, "merge", "--no-commit", "main")
    assert len(texts(opened(other), there.path)) == 2
    assert len(texts(opened(place.root), place.path)) == 1


def test_before_the_first_commit(repository: Path, opened: Opened) -> None:
    """Before the first commit every file is new, and that is no fault."""
    place = Place(repository)
    for revision in ("HEAD", "@"):
        history = opened(repository, revision)
        history.prepare()
        assert (history.documents(place.path), history.changed_paths, history.removed) == ((), (), ())
    assert "there is no such commit" in str(opened.open(repository, "HEAD~1"))


def test_a_shallow_clone(place: Place, opened: Opened, tmp_path: Path) -> None:
    """The message for a commit that a shallow clone lacks says so; a commit that it has is compared with."""
    place.add("more")
    commit(place.root)
    clone = tmp_path / "clone"
    call(tmp_path, "clone", "--quiet", "--depth", "1", f"file://{place.root}", str(clone))
    assert texts(opened(clone), clone / STATE) == [place.text]
    assert opened.open(clone, "HEAD~1") == (
        "not compared with HEAD~1: this clone is shallow and lacks it; `git fetch --unshallow` brings it"
    )


@pytest.mark.parametrize("revision", ["nope", "--output=x", "-h", "", "HEAD:README.md", "HEAD^{tree}", "a b", "1" * 40])
def test_what_names_no_commit(place: Place, opened: Opened, revision: str) -> None:
    """A name of no commit gives a message of one line, and is never taken for an option."""
    commit(place.root)
    message = opened.open(place.root, revision)
    assert message == f"not compared with {revision}: there is no such commit here; name another one, or fetch it first"
    assert not (place.root / "x").exists()


def test_a_new_branch(place: Place, opened: Opened) -> None:
    """Services give the commit before a new branch as zeros, and the message says what that means."""
    message = opened.open(place.root, "0" * 40)
    assert isinstance(message, str)
    assert message.endswith("the id of no commit; a branch that is new is compared with the one that it left")


def test_a_branch_that_went_on(place: Place, opened: Opened) -> None:
    """A branch that has gone on meanwhile is compared with where it was left."""
    before = place.text
    call(place.root, "switch", "--quiet", "--create", "work")
    call(place.root, "commit", "--quiet", "--allow-empty", "--message", "work")
    call(place.root, "switch", "--quiet", "main")
    place.add("theirs")
    commit(place.root)
    call(place.root, "switch", "--quiet", "work")
    assert texts(opened(place.root, "main"), place.path) == [before]
    assert texts(opened(place.root, "main"), place.path) == [before]


def test_a_commit_that_was_made_anew(place: Place, opened: Opened) -> None:
    """A former place of this very branch is compared with as it was: what was amended is seen."""
    place.add("more")
    was = commit(place.root)
    before = place.text
    place.text = before.replace("- more", "- else")
    call(place.root, "commit", "--quiet", "--all", "--amend", "--message", "work")
    assert texts(opened(place.root, was), place.path) == [before]


def test_without_a_commit_in_common(place: Place, opened: Opened) -> None:
    """A history of its own is no measure."""
    call(place.root, "switch", "--quiet", "--orphan", "alone")
    call(place.root, "commit", "--quiet", "--allow-empty", "--message", "alone")
    message = opened.open(place.root, "main")
    assert message == "not compared with main: it has no commit in common with what is checked"


def test_a_name_with_controls_is_told_on_one_line(place: Place, opened: Opened) -> None:
    """No control character of a revision's name reaches the terminal."""
    message = opened.open(place.root, "a\x1b[31m\nb")
    assert isinstance(message, str)
    assert message.isprintable()


def test_outside_of_git(tmp_path: Path, opened: Opened) -> None:
    """Outside of a repository nothing can be compared."""
    message = opened.open(Place(tmp_path / "plain").root)
    assert message == f"not compared with HEAD: {tmp_path / 'plain'} is in no git repository"


def test_without_git(place: Place, opened: Opened, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Without git the message says so, before the first commit too."""
    monkeypatch.setenv("PATH", str(tmp_path / "nothing"))
    assert opened.open(place.root) == ("not compared with HEAD: git was not found: install git, or put it on the PATH")
    (place.root / ".git" / "refs" / "heads" / "main").unlink()
    assert opened.open(place.root) == ("not compared with HEAD: git was not found: install git, or put it on the PATH")
