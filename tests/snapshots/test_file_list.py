"""The lists of changed files: read in each form, and compared where there is no tree."""

from __future__ import annotations

from taskstate.snapshots.drift import Difference
from taskstate.snapshots.file_list import (
    ChangedFile,
    item,
    listed_differences,
    not_comparable,
    read_file_list,
    untracked_paths,
)


def test_list_of_files_is_read_back() -> None:
    """What was written as a list gives the same files; what is none gives None."""
    files = (ChangedFile("a", "M", "100644", 3, "0" * 64, None), ChangedFile("b", "D", None, 0, None, "1" * 64))
    assert read_file_list([each._asdict() for each in files]) == files
    assert read_file_list([{"path": "a", "status": "M"}]) == (ChangedFile("a", "M", None, 0, None, None),)
    assert read_file_list(["M a b.txt", "? new"]) == (ChangedFile("a b.txt", "M"), ChangedFile("new", "?"))
    assert [*map(item, files)] == ["M a", "D b"]
    others: tuple[object, ...] = (None, {}, [1], [{"status": "M"}], "x", ["M"])
    assert [read_file_list(result) for result in others] == [None] * 6


def test_lists_are_compared_where_the_tree_is_lost() -> None:
    """Two lists of what differs from one base tell what differs between them."""
    then = (
        ChangedFile("back", "M", "100644", 1, "n", "o"),
        ChangedFile("gone", "?", "100644", 1, "n", None),
        ChangedFile("kept", "M", "100644", 1, "n", "o"),
        ChangedFile("mode", "M", "100644", 1, "n", "o"),
        ChangedFile("returned", "D", None, 0, None, "o"),
    )
    now = (
        ChangedFile("kept", "M", "100644", 1, "n", "o"),
        ChangedFile("later", "M", "100644", 1, "n", "o"),
        ChangedFile("mode", "M", "100755", 1, "n", "o"),
        ChangedFile("new", "?", "100644", 1, "n", None),
    )
    assert listed_differences(then, now) == (
        Difference("back", "modified", "n", "o"),
        Difference("gone", "removed", "n", None),
        Difference("later", "modified", "o", "n"),
        Difference("mode", "mode", "n", "n"),
        Difference("new", "added", None, "n"),
        Difference("returned", "added", None, "o"),
    )


def test_statuses_alone_name_what_appeared_or_vanished() -> None:
    """Of files that are listed without hashes, those differ that only one list names, or that only one has."""
    then = read_file_list(["M both", "M back", "A gone", "D deleted", "D again", "M removed", "? scratch"])
    now = (
        ChangedFile("both", "M", "100644", 1, "n", "o"),
        ChangedFile("deleted", "D", None, 0, None, "o"),
        ChangedFile("again", "M", "100644", 1, "n", "o"),
        ChangedFile("removed", "D", None, 0, None, "o"),
        ChangedFile("later", "M", "100644", 1, "n", "o"),
        ChangedFile("local", "?", "100644", 1, "n", None),
    )
    assert then is not None
    assert [each[:2] for each in listed_differences(then, now)] == [
        ("again", "added"),
        ("back", "modified"),
        ("gone", "removed"),
        ("later", "modified"),
        ("local", "added"),
        ("removed", "removed"),
        ("scratch", "removed"),
    ]
    assert not_comparable(then, now) == ("both",)
    assert untracked_paths(then, now) == {"scratch", "local"}
