"""What a comparison is made of: paths as text, lists, hashes, verdicts."""

from __future__ import annotations

import hashlib
import subprocess
from typing import TYPE_CHECKING

from hypothesis import given
from hypothesis import strategies as st

from taskstate.snapshots import drift
from taskstate.snapshots.drift import COMMITS, Difference, Explained, TreeDifferences
from taskstate.snapshots.drift_report import drift_report
from taskstate.storage.git.movement import Commit

if TYPE_CHECKING:
    from pathlib import Path

PATHS = st.binary(min_size=1).filter(lambda path: b"\0" not in path)


@given(PATHS)
def test_path_as_text_stands_for_one_path(path: bytes) -> None:
    """Whatever bytes a path has, its text is UTF-8 and gives them back."""
    text = drift.quoted(path)
    assert drift.unquoted(text) == path
    assert text.encode().decode() == text


@given(st.binary(min_size=1).filter(lambda path: b"\0" not in path and b"/" not in path and path not in {b".", b".."}))
def test_path_that_is_no_text_is_quoted_as_git_does(path: bytes) -> None:
    """Every byte of a quoted path is written as git writes it."""
    text = drift.quoted(path)
    if text.startswith('"'):
        inside = drift.unquoted(text)
        assert text == '"' + "".join(_as_git(byte) for byte in inside) + '"'


def _as_git(byte: int) -> str:
    letters = dict(zip(b'\a\b\t\n\v\f\r"\\', 'abtnvfr"\\', strict=True))
    if byte in letters:
        return f"\\{letters[byte]}"
    return chr(byte) if 0x20 <= byte < 0x7F else f"\\{byte:03o}"


def test_quoting_is_gits_own(repository: Path) -> None:
    """Git itself lists such a path in the very same form."""
    names = [b"caf\xe9", b"tab\t\xff", b'q"\x80', b"\x01\x7f\xfe"]
    for name in names:
        (repository / name.decode("utf-8", "surrogateescape")).write_text("x")
    result = subprocess.run(
        ["git", "ls-files", "--others"], cwd=repository, capture_output=True, check=True, encoding="ascii"
    )
    assert sorted(result.stdout.splitlines()) == sorted(map(drift.quoted, names))


def test_names_are_counted_from_the_sixth_on() -> None:
    """A message names five paths and how many more there are, each on the one line."""
    assert drift.first_paths(["a", "b\nc"]) == 'a, "b\\nc"'
    assert drift.first_paths([str(number) for number in range(5)]) == "0, 1, 2, 3, 4"
    assert drift.first_paths([str(number) for number in range(7)]) == "0, 1, 2, 3, 4 and 2 more"
    assert (drift.count_files(1), drift.count_files(1234)) == ("1 file", "1,234 files")


@given(PATHS)
def test_path_in_a_report_is_one_printable_line(path: bytes) -> None:
    """For people every path is printable, and what they see can be given back to the command."""
    shown = drift.printable_path(drift.quoted(path))
    assert shown.isprintable()
    assert drift.unquoted(shown) == path


def test_scope_hash_is_over_the_sorted_paths() -> None:
    """The hash is the same whatever the order, and another when a path is."""
    expected = hashlib.sha256(b"a/b\nc\n").hexdigest()[:16]
    assert drift.scope_hash(["c", "a/b"]) == drift.scope_hash(["a/b", "c"]) == expected
    assert drift.scope_hash(["a/b"]) != expected


def test_verdict_without_anything_is_no_drift() -> None:
    """Nothing seen is nothing failed."""
    verified = drift_report(TreeDifferences("101", "implementer", "0" * 40))
    assert (verified.drift, verified.message, verified.help) == (False, "", "")
    assert all(check.ok and check.detail == "" for check in verified.checks)


def test_submodule_is_not_to_be_restored() -> None:
    """Where only submodules differ, the advice is to check their commits out, since nothing can be put back."""
    moved = Difference("sub", "modified", "a" * 40, "b" * 40, is_submodule=True)
    verified = drift_report(TreeDifferences("101", "implementer", "0" * 40, same_tree=False, files=(moved,)))
    assert "another commit is checked out in the submodule sub" in verified.message
    assert "--restore" not in verified.help
    both = drift_report(
        TreeDifferences(
            "101", "implementer", "0" * 40, same_tree=False, files=(moved, moved._replace(path="x", is_submodule=False))
        )
    )
    assert "--restore" in both.help


def test_difference_as_json() -> None:
    """JSON gives a difference its four keys, and `from` where the file was elsewhere before."""
    four = {"path": "a", "change": "modified", "expected": "1", "current": None}
    assert Difference("a", "modified", "1", None).as_json() == four
    assert Difference("a", "modified", "1", None, origin="b").as_json() == {**four, "from": "b"}


def test_explained_files_are_told_with_the_commits_that_touched_them() -> None:
    """What commits or another task explain is no drift, and of the commits those are named that touched the files."""
    came = (Commit("a" * 40, 1, "first", ("x",)), Commit("b" * 40, 1, "second", ("y",)))
    explained = (Explained("x", "modified", COMMITS), Explained("z", "added", "102"))
    found = TreeDifferences("101", "implementer", same_tree=False, commits=came, explained=explained)
    report = drift_report(found)
    assert (report.drift, report.notes) == (
        False,
        ("task 102 changed, which is not drift: z", "came in by commits, which is not drift: x (aaaaaaaaaa first)"),
    )
    assert report.commits == ("aaaaaaaaaa first", "bbbbbbbbbb second")


def test_role_at_work_has_no_drift() -> None:
    """While a later role is in progress, what differs is listed and every check passes."""
    changed = Difference("a", "modified", "1", "2")
    report = drift_report(
        TreeDifferences("101", "implementer", same_tree=False, files=(changed,), at_work="reviewer", same_scope=False)
    )
    assert (report.drift, report.files, report.at_work, report.message) == (False, (changed,), "reviewer", "")
    assert all(check.ok for check in report.checks)
    assert report.notes == ("reviewer is at work: 1 file differ so far, which is not drift",)
