from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from taskstate.snapshots import drift
from tests.support.git_place import GitPlace

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize(
    ("items", "paths"),
    [
        (["src/"], ["src/b.py", "src/c.py"]),
        (["src/b*", "a.txt"], ["a.txt", "src/b.py"]),
        (["**/*.py"], ["src/b.py", "src/c.py"]),
        (["*.bin", "src/c.py"], ["data.bin", "src/c.py"]),
        (["nothing/"], []),
    ],
)
def test_scope_hash_is_that_of_the_files_of_the_task(tmp_path: Path, items: list[str], paths: list[str]) -> None:
    """A snapshot records the hash of the paths that the Repository Paths cover, whatever form these have."""
    place = GitPlace(tmp_path / "repository")
    listed = "".join(f"- `{item}`\n" for item in items)
    place.text = place.text.replace("## 2. Chain Inputs", f"### Repository Paths\n\n{listed}\n## 2. Chain Inputs")
    place.write("a.txt", "four\n")
    place.take()
    held = place.git("ls-files", "--cached", "--others", "--exclude-standard")  # for the message of a failure
    assert place.snapshot()["scope_hash"] == drift.scope_hash(paths), held


def test_without_repository_paths_there_is_no_scope_hash(tmp_path: Path) -> None:
    """A task that does not say which files belong to it has no hash of their paths."""
    place = GitPlace(tmp_path / "repository")
    place.write("a.txt", "four\n")
    place.take()
    assert "scope_hash" not in place.snapshot()
