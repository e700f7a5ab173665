from __future__ import annotations

import json
import os
import shutil
import stat
from pathlib import Path

import pytest

from taskstate.storage import user_records
from taskstate.workspace import allowed_commands
from taskstate.workspace.allowed_commands import Command, Grants, grant, read_grants, revoke
from tests.support.place import refusal

MAKE = Command("shell", "make test")


@pytest.fixture
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the user's state folder."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    return tmp_path / "state"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """Return the root of a repository."""
    (tmp_path / "repository").mkdir()
    return tmp_path / "repository"


def store(state: Path) -> Path:
    """Return the one file in which something is remembered."""
    (path,) = (state / "taskstate" / "trust").glob("*.json")
    return path


def test_exactly_what_was_granted_may_run(state: Path, root: Path) -> None:
    """A command line is granted as it stands, for a shell or as a program; each other one is not."""
    assert read_grants(root) == Grants()
    assert grant(root, [MAKE])
    assert not grant(root, [MAKE])
    granted = read_grants(root)
    assert granted.allows(MAKE)
    others = ("make test ", "make  test", "make test; rm -rf .", "make", "make test\n", "make te\u200bst")
    assert not any(granted.allows(Command("shell", each)) for each in others)
    assert not granted.allows(Command("program", "make test"))
    assert store(state).is_file()


def test_what_was_granted_before_stays(state: Path, root: Path) -> None:
    """Granting adds, and revoking takes all of it back, of this repository alone."""
    other = root.parent / "other"
    other.mkdir()
    for each in (root, other):
        grant(each, [MAKE])
    grant(root, [Command("program", "a"), Command("shell", "lone \ud800 surrogate")])
    assert all(read_grants(root).allows(each) for each in (MAKE, Command("shell", "lone \ud800 surrogate")))
    assert revoke(root)
    assert not revoke(root)
    assert read_grants(root) == Grants()
    assert read_grants(other).allows(MAKE)
    assert store(state).is_file()


def test_moved_repository_is_another_one(state: Path, root: Path) -> None:
    """What was granted is for the real path: through a link it is the same place, moved or copied it is not."""
    grant(root, [MAKE])
    link = root.parent / "link"
    link.symlink_to(root)
    assert read_grants(link).allows(MAKE)
    moved = root.parent / "moved"
    root.rename(moved)
    assert not read_grants(moved).allows(MAKE)
    shutil.copytree(moved, root.parent / "copied")
    assert not read_grants(root.parent / "copied").allows(MAKE)
    assert store(state).is_file()


def test_a_file_under_another_name_grants_nothing(state: Path, root: Path) -> None:
    """A file that was granted for one repository does not serve another that takes its name."""
    grant(root, [MAKE])
    own = store(state)
    other = root.parent / "other"
    other.mkdir()
    own.rename(user_records._place(allowed_commands._TRUST, other)[0])  # noqa: SLF001 - its name is nobody else's business
    found = read_grants(other)
    assert (found.hashes, "is damaged" in found.problem) == (frozenset(), True)


def test_only_the_user_reads_and_writes_it(state: Path, root: Path) -> None:
    """File and folders are private whatever the umask, and no command line stands in it: one may hold a secret."""
    before = os.umask(0)
    try:
        grant(root, [MAKE])
    finally:
        os.umask(before)
    path = store(state)
    modes = [stat.S_IMODE(each.stat().st_mode) for each in (path, path.parent, path.parent.parent)]
    assert modes == [0o600, 0o700, 0o700]
    assert "make" not in path.read_text(encoding="utf-8")


@pytest.mark.parametrize("mode", [0o620, 0o602, 0o666])
def test_what_others_may_write_is_not_believed(state: Path, root: Path, mode: int) -> None:
    """A file or folder that others may write grants nothing, which is told; granting again makes it private."""
    grant(root, [MAKE])
    path = store(state)
    path.chmod(mode)
    found = read_grants(root)
    assert (found.hashes, "may be written by other users" in found.problem) == (frozenset(), True)
    assert grant(root, [MAKE])
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    path.parent.chmod(0o777)
    assert "may be written by other users" in read_grants(root).problem
    assert grant(root, [MAKE])
    assert read_grants(root).allows(MAKE)


def test_what_others_may_only_read_is_made_private(state: Path, root: Path) -> None:
    """A file that others may read is believed, and the next grant takes it from their eyes."""
    grant(root, [MAKE])
    store(state).chmod(0o644)
    assert read_grants(root).allows(MAKE)
    grant(root, [Command("shell", "more")])
    assert stat.S_IMODE(store(state).stat().st_mode) == 0o600


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root gives files away")
def test_what_belongs_to_others_is_not_believed(state: Path, root: Path) -> None:
    """Another user's file grants nothing."""
    grant(root, [MAKE])
    os.chown(store(state), 12345, 12345)
    found = read_grants(root)
    assert (found.hashes, "belongs to another user" in found.problem) == (frozenset(), True)


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"\xff\x00",
        b"[" * 100_000,
        b"{}",
        b"[]",
        b'{"granted": []}',
        b'{"root": "%s", "granted": {}}',
        b'{"root": "%s", "granted": [1]}',
        b'{"root": "%s", "granted": ["make test"]}',
    ],
)
def test_damaged_file_grants_nothing(state: Path, root: Path, content: bytes) -> None:
    """What is not as a grant writes it counts for nothing, which is told, and is written anew by the next grant."""
    grant(root, [MAKE, Command("shell", "more")])
    store(state).write_bytes(content.replace(b"%s", os.fsencode(os.path.realpath(root))))
    found = read_grants(root)
    assert (found.hashes, "is damaged" in found.problem) == (frozenset(), True)
    assert grant(root, [MAKE])
    assert read_grants(root) == Grants(frozenset([MAKE.hash]))


def test_link_is_not_followed(state: Path, root: Path) -> None:
    """A link in the place of the file grants nothing; granting replaces it and leaves what it leads to alone."""
    grant(root, [MAKE])
    path, elsewhere = store(state), state / "elsewhere.json"
    path.rename(elsewhere)
    path.symlink_to(elsewhere)
    assert "is a link" in read_grants(root).problem
    grant(root, [Command("shell", "more")])
    assert not path.is_symlink()
    assert len(json.loads(elsewhere.read_text(encoding="utf-8"))["granted"]) == 1
    assert not read_grants(root).allows(MAKE)


def test_folder_that_is_a_link_is_refused(state: Path, root: Path) -> None:
    """Where the folder leads elsewhere nothing is granted, nor written there."""
    (state / "taskstate").mkdir(parents=True)
    (state / "elsewhere").mkdir()
    (state / "taskstate" / "trust").symlink_to(state / "elsewhere")
    assert "is a link" in read_grants(root).problem
    assert refusal(lambda: grant(root, [MAKE])).code == "is-link"
    assert list((state / "elsewhere").iterdir()) == []


def test_state_folder_in_the_repository_is_not_used(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What lies in the repository could have come by git: there nothing is read or remembered."""
    monkeypatch.setenv("XDG_STATE_HOME", str(root / "state"))
    assert refusal(lambda: grant(root, [MAKE])).code == "no-state-folder"
    assert "lies in the repository itself" in read_grants(root).problem


def test_home_folder_serves_without_the_variable(tmp_path: Path, root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without a valid XDG_STATE_HOME it is `.local/state` of the home folder, as the specification has it."""
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    for value in ("", "relative/state"):
        monkeypatch.setenv("XDG_STATE_HOME", value)
        assert grant(root, [MAKE]) is (value == "")
    assert store(tmp_path / "home" / ".local" / "state").is_file()
    assert not Path("relative").exists()
