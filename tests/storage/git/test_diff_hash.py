"""The same change of the same lines has the same hash."""

from __future__ import annotations

import hashlib
import subprocess
from typing import TYPE_CHECKING

import pytest

from taskstate.storage.git.diff_hash import diff_sha256

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize(
    ("diff", "as_if"), [(b"a\r\nb\rc", b"a\nb\nc\n"), (b"", b""), (b"a\n", b"a\n"), (b"\xff\r\n", b"\xff\n")]
)
def test_diff_hashes_alike_whatever_its_line_ends(diff: bytes, as_if: bytes) -> None:
    """CRLF and CR count as LF, and so does a last line without one."""
    assert diff_sha256(diff) == hashlib.sha256(as_if).hexdigest()


def test_the_lines_that_name_objects_do_not_count() -> None:
    """Only those between the header of a file and its hunks are such lines."""
    diff = b"diff --git a/x b/x\nindex 12ab..34cd 100644\n--- a/x\n+++ b/x\n@@ -1 +1 @@\n-index 1..2\n+b\n"
    assert diff_sha256(diff) == hashlib.sha256(diff.replace(b"index 12ab..34cd 100644\n", b"")).hexdigest()


def test_the_same_edit_in_a_file_with_other_line_ends_has_the_same_hash(repository: Path) -> None:
    """A file with CRLF and one with LF, each with the same line changed, as git makes their diffs."""
    hashes = set()
    for newline in (b"\n", b"\r\n"):
        (repository / "x").write_bytes(newline.join([b"a", b"b", b"c", b""]))
        subprocess.run(["git", "add", "x"], cwd=repository, check=True)
        (repository / "x").write_bytes(newline.join([b"a", b"B", b"c", b""]))
        made = subprocess.run(["git", "diff", "--full-index"], cwd=repository, check=True, capture_output=True).stdout
        hashes.add(diff_sha256(made))
    assert len(hashes) == 1
