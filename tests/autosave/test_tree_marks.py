from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from taskstate.autosave import tree_marks
from taskstate.autosave.tree_marks import Change, changes, mark_now
from taskstate.errors import GitFailed
from tests.support.git_place import GitPlace
from tests.support.place import Place

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from taskstate.autosave.notes import TreeMark


@pytest.fixture
def place(tmp_path: Path) -> GitPlace:
    """Return a repository whose files are committed."""
    return GitPlace(tmp_path / "place")


def mark(place: Place) -> TreeMark:
    """Return how the working tree is now."""
    found = mark_now(place.workspace)
    assert found is not None
    return found


def edited(place: GitPlace) -> None:
    """Change a file, make one, take one away."""
    place.write("a.txt", "other\n")
    place.write("new/file.py", "x = 1\n")
    (place.root / "src/c.py").unlink()


EDITED = (Change("a.txt", "changed"), Change("new/file.py", "new"), Change("src/c.py", "deleted"))


def committed(place: GitPlace) -> None:
    """Do the same, and commit it."""
    edited(place)
    place.commit("work")


def renamed(place: GitPlace) -> None:
    """Give a file another name."""
    place.git("mv", "a.txt", "z.txt")


def own(place: GitPlace) -> None:
    """Change a file of ours, alone."""
    place.path.write_bytes(place.path.read_bytes() + b"\n")


def linked(place: GitPlace) -> None:
    """Make a link, also to what is not there, and a name that no list of lines can hold."""
    (place.root / "link").symlink_to("/nowhere")
    place.write("two\nlines", "x")


@pytest.mark.parametrize(
    ("done", "expected"),
    [
        (edited, EDITED),
        (committed, EDITED),
        (renamed, (Change("a.txt", "deleted"), Change("z.txt", "new"))),
        (own, ()),
        (linked, (Change("link", "new"), Change("two\nlines", "new"))),
    ],
)
def test_what_changed_between_two_marks(
    place: GitPlace, done: Callable[[GitPlace], None], expected: tuple[Change, ...]
) -> None:
    """Files that are new, changed and gone are told, whether they were committed or not; our own are not."""
    before = mark(place)
    done(place)
    assert changes(place.workspace, before, mark(place)) == expected


def test_what_was_there_before_is_no_change(place: GitPlace) -> None:
    """Work that lay uncommitted at the first mark is not told at the second, also where it was committed between."""
    edited(place)
    before = mark(place)
    assert changes(place.workspace, before, mark(place)) == ()
    place.commit("work of before")
    assert changes(place.workspace, before, mark(place)) == ()
    place.write("a.txt", "once more\n")
    assert changes(place.workspace, before, mark(place)) == (Change("a.txt", "changed"),)


def test_what_was_taken_back_is_a_change(place: GitPlace) -> None:
    """A file that is again as its commit has it differs from the mark at which it did not."""
    edited(place)
    before = mark(place)
    place.git("checkout", "--quiet", "--", ".")
    place.git("clean", "--quiet", "-fd", "new")
    assert changes(place.workspace, before, mark(place)) == (
        Change("a.txt", "changed"),
        Change("new/file.py", "deleted"),
        Change("src/c.py", "new"),
    )


def test_only_a_folder_of_the_repository_counts(place: GitPlace) -> None:
    """Where the tasks lie below the top of git's tree, paths go out from there, and what is outside does not count."""
    inner = Place(place.root / "inner")
    place.commit("a folder with tasks of its own")
    before = mark(inner)
    place.write("a.txt", "outside\n")
    place.write("inner/b.txt", "inside\n")
    assert changes(inner.workspace, before, mark(inner)) == (Change("b.txt", "new"),)
    place.commit("both")
    assert changes(inner.workspace, before, mark(inner)) == (Change("b.txt", "new"),)


def test_before_the_first_commit(tmp_path: Path) -> None:
    """A repository without a commit has marks, too; without git there are none."""
    place = Place(tmp_path / "place")
    assert mark_now(place.workspace) is None
    git = object.__new__(GitPlace)
    git.root, git.now = place.root, place.now
    git.git("init", "--quiet")
    before = mark(git)
    git.write("a.txt", "one\n")
    assert changes(git.workspace, before, mark(git)) == (Change("a.txt", "new"),)
    git.git("config", "user.name", "Somebody")
    git.git("config", "user.email", "somebody@example.invalid")
    git.commit("first")
    assert Change("a.txt", "new") in changes(git.workspace, before, mark(git))


def test_a_mark_is_bounded(place: GitPlace, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of too many files the deepest are left out, and nothing is said of what a full mark may not know."""
    monkeypatch.setattr(tree_marks, "MOST", 3)
    before = mark(place)
    for name in ("x/y/1", "x/y/2", "x/y/3", "top.txt", "src/new.py"):
        place.write(name, name)
    full = mark(place)
    assert list(full.files) == ["top.txt", "src/new.py", "x/y/1"]
    place.write("top.txt", "again")
    place.write("x/y/2", "again")
    assert changes(place.workspace, full, mark(place)) == (Change("top.txt", "changed"),)
    told = changes(place.workspace, before, full)
    assert told == (Change("src/new.py", "new"), Change("top.txt", "new"), Change("x/y/1", "new"))


def test_large_files_are_not_read(place: GitPlace, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of a large file its size and time stand for the content."""
    monkeypatch.setattr(tree_marks, "_READ", 3)
    place.write("a.txt", "large enough")
    status = (place.root / "a.txt").stat()
    assert mark(place).files == {"a.txt": f"{status.st_size}-{status.st_mtime_ns}"}


def test_repositories_inside_are_none_of_ours(place: GitPlace) -> None:
    """Another repository, or a worktree, that lies in this one has no content."""
    place.git("worktree", "add", "--quiet", "inside")
    (place.root / "other").mkdir()
    place.git("init", "--quiet", "other")
    place.write("other/file", "x")
    assert mark(place).files == {}


def test_a_commit_that_is_gone_is_an_error(place: GitPlace) -> None:
    """Where the commit of a mark is no more, nothing can be said."""
    with pytest.raises(GitFailed):
        changes(place.workspace, mark(place)._replace(head="0123456789" * 4), mark(place))


def test_what_one_mark_alone_has_read_is_no_change(place: GitPlace, monkeypatch: pytest.MonkeyPatch) -> None:
    """The smallest files are read first, up to a sum; one that is left out then is known by its size and time."""
    monkeypatch.setattr(tree_marks, "_READ", 20)
    monkeypatch.setattr(tree_marks, "_ALWAYS_READ", 0)
    place.write("a.txt", "x" * 15)
    before = mark(place)
    place.write("b.txt", "y" * 10)
    after = mark(place)
    assert before.files["a.txt"].endswith(f" {after.files['a.txt']}")
    assert changes(place.workspace, before, after) == (Change("b.txt", "new"),)
    place.write("a.txt", "z" * 16)
    assert changes(place.workspace, after, mark(place)) == (Change("a.txt", "changed"),)
    place.write("a.txt", "z" * 4)
    read = mark(place)
    assert changes(place.workspace, after, read) == (Change("a.txt", "changed"),)
    assert changes(place.workspace, read, mark(place)) == ()


def test_a_broken_filter_costs_its_own_files_alone(place: GitPlace) -> None:
    """Where git cannot make a blob of a file, the others have theirs."""
    place.write(".gitattributes", "*.bad filter=broken\n")
    place.git("config", "filter.broken.clean", "exit 1")
    place.git("config", "filter.broken.required", "true")
    place.write("one.bad", "x")
    for number in range(9):
        place.write(f"{number}.txt", str(number))
    found = mark(place).files
    assert {path for path, content in found.items() if "-" in content} == {"one.bad"}
    assert len(found) == len((".gitattributes", "one.bad")) + 9


def test_names_that_no_command_line_holds(place: GitPlace) -> None:
    """However long the names of files that were committed between are, they are asked for in parts."""
    folder = "/".join(["d" * 200] * 5)
    names = [f"{folder}/{number:04}{'x' * 190}" for number in range(1990)]
    for name in names:
        place.write(name, "x")
    before = mark(place)
    place.commit("all")
    place.write("late.txt", "x")
    assert changes(place.workspace, before, mark(place)) == (Change("late.txt", "new"),)
