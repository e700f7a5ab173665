"""What git says is read within bounds: a repository decides how much that is."""

from __future__ import annotations

from contextlib import closing
from typing import TYPE_CHECKING

import pytest

from taskstate.errors import GitFailed
from taskstate.storage import files
from taskstate.storage.git import client as git

if TYPE_CHECKING:
    from pathlib import Path

LARGE = files.MAX_TEXT + 1


def blob(repository: Path, data: bytes) -> str:
    """Put a blob into git, and return its id."""
    return git.run(["hash-object", "-w", "--stdin"], repository, stdin=data).decode().strip()


def test_output_has_a_bound(repository: Path) -> None:
    """What is longer is refused in one line with its cure, and git is ended."""
    found = blob(repository, bytes(files.MAX_BYTES + 1))
    with pytest.raises(GitFailed, match="git cat-file says more than 64 MiB") as caught:
        git.run(["cat-file", "blob", found], repository)
    assert caught.value.code == "too-large"
    assert caught.value.help
    with pytest.raises(GitFailed, match="says more than"):
        git.start(["cat-file", "blob", found], repository)()


@pytest.mark.slow
def test_much_on_both_sides_does_not_block(repository: Path) -> None:
    """Git reads, answers and complains at the same time, each more than a pipe holds."""
    many = "".join(f"no-such-object-{number}\n" for number in range(50_000)).encode()
    assert git.run(["cat-file", "--batch-check"], repository, stdin=many).count(b" missing\n") == 50_000
    with pytest.raises(GitFailed, match="failed"):
        git.run(["cat-file", "-e", "no-such-object"], repository, stdin=many)


def test_large_object_is_refused_by_its_name(repository: Path) -> None:
    """An object of more than the bound is one clear error, and the next one is read."""
    large, small = blob(repository, bytes(LARGE)), blob(repository, b"small")
    with closing(git.Objects(repository)) as objects:
        with pytest.raises(GitFailed, match=f"the object {large} holds more than 24 MiB") as caught:
            objects.read(large)
        assert caught.value.code == "too-large"
        with pytest.raises(GitFailed, match=r"task-1-state\.md holds more than 24 MiB"):
            objects.read(large, "task-1-state.md")
        assert objects.read(small) == b"small"
    with closing(git.Objects(repository, most=LARGE)) as objects:
        assert objects.read(large) == bytes(LARGE)


def test_large_objects_among_many_are_left_out(repository: Path) -> None:
    """Of many objects those that are too large count as none, and all others are read."""
    large, small, none = blob(repository, bytes(LARGE)), blob(repository, b"small"), "0" * 40
    with closing(git.Objects(repository)) as objects:
        names = [small, large, large, none, "a\nb", small] * 200
        assert [*objects.contents(names)] == [b"small", None, None, None, None, b"small"] * 200


def test_digest_of_an_object_of_any_size(repository: Path) -> None:
    """Size and digest are those of the whole content, however large it is."""
    contents = [bytes(LARGE), b"", b"small"]
    names = [blob(repository, data) for data in contents]
    with closing(git.Objects(repository)) as objects:
        found = [*objects.digests([*names, "0" * 40])]
    assert found == [*((len(data), files.digest(data)) for data in contents), None]


def test_reader_that_is_left_is_ended_at_once(repository: Path) -> None:
    """Who stops in the middle of many objects does not wait for the rest of them."""
    names = [blob(repository, bytes(files.MAX_TEXT))] * 400
    with closing(git.Objects(repository)) as objects:
        assert next(objects.contents(names)) is not None
