from __future__ import annotations

import errno
import os
from typing import TYPE_CHECKING

import pytest

from taskstate.errors import StaleFile
from taskstate.storage import files, folders
from taskstate.storage.swap import compare_and_swap
from tests.support.place import refusal

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Return a file that holds `old`, alone in its folder."""
    path = tmp_path / "a.md"
    path.write_bytes(b"old")
    return path


def swap(path: Path, data: bytes = b"new", expected: bytes = b"old") -> None:
    """Replace the file's content if it is the expected one."""
    compare_and_swap(path, data, files.digest(expected))


def test_expected_content_is_replaced(path: Path) -> None:
    """The file holds the new content and keeps its mode; nothing else stays in the folder."""
    path.chmod(0o640)
    swap(path)
    assert path.read_bytes() == b"new"
    assert path.stat().st_mode & 0o777 == 0o640
    assert files.names(path.parent) == ("a.md",)


def test_other_content_is_left_alone(path: Path) -> None:
    """A file with other content is refused and stays as it is."""
    assert isinstance(refusal(lambda: swap(path, expected=b"older")), StaleFile)
    assert path.read_bytes() == b"old"
    assert files.names(path.parent) == ("a.md",)


def test_missing_file_is_refused(path: Path) -> None:
    """A file that somebody removed is not made again."""
    path.unlink()
    assert isinstance(refusal(lambda: swap(path)), StaleFile)
    assert files.names(path.parent) == ()


def test_link_is_refused(path: Path) -> None:
    """A link is not replaced, nor is what it leads to."""
    link = path.with_name("link.md")
    link.symlink_to(path)
    assert refusal(lambda: swap(link)).code == "is-link"
    assert (link.is_symlink(), path.read_bytes()) == (True, b"old")


def test_save_in_place_in_the_instant_of_the_replace_is_kept(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Somebody who opened the file before the rename, and writes after it, has saved: our change gives way."""
    with path.open("r+b", buffering=0) as editor:
        really = folders.rename

        def replace_and_save(source: Path, target: Path) -> None:
            really(source, target)
            if source.suffix == ".tmp" and files.read(target) == b"new":
                editor.write(b"by hand")

        monkeypatch.setattr(folders, "rename", replace_and_save)
        refused = refusal(lambda: swap(path))
        editor.write(b", and more")  # what is still to come arrives as well
    assert isinstance(refused, StaleFile)
    assert path.read_bytes() == b"by hand, and more"
    assert files.names(path.parent) == ("a.md",)


def test_save_by_rename_before_the_replace_is_kept(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An editor that put another file in the place after the link was made has saved: it is not replaced."""
    really = folders.give_second_name

    def link_and_save(source: Path, target: Path) -> None:
        really(source, target)
        beside = path.with_name("beside")
        beside.write_bytes(b"by hand")
        beside.replace(path)

    monkeypatch.setattr(folders, "give_second_name", link_and_save)
    assert isinstance(refusal(lambda: swap(path)), StaleFile)
    assert path.read_bytes() == b"by hand"
    assert files.names(path.parent) == ("a.md",)


def test_file_system_without_hard_links_is_enough(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where a file cannot have a second name, it is replaced after the check alone."""

    def refuse(*_: object, **__: object) -> None:
        raise OSError(errno.EOPNOTSUPP, os.strerror(errno.EOPNOTSUPP))

    monkeypatch.setattr(os, "link", refuse)
    assert isinstance(refusal(lambda: swap(path, expected=b"older")), StaleFile)
    swap(path)
    assert path.read_bytes() == b"new"


def test_full_disk_leaves_the_old_content(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """When the folder cannot be synced after the rename, the old file has its name again."""
    really = folders.sync
    syncs = []

    def refuse(folder: Path) -> None:
        syncs.append(folder)
        if len(syncs) == 1:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        really(folder)

    monkeypatch.setattr(folders, "sync", refuse)
    assert refusal(lambda: swap(path)).code == "disk-full"
    assert path.read_bytes() == b"old"
    assert files.names(path.parent) == ("a.md",)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root gives files away")
def test_file_of_another_user_in_a_sticky_folder_gets_no_second_name(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The system would refuse the rename, and then that the second name is taken away again."""
    path.parent.chmod(0o1777)
    path.chmod(0o666)
    for each in (path, path.parent):
        os.chown(each, 65533, 65533)
    linked: list[object] = []
    monkeypatch.setattr(folders, "give_second_name", lambda *names: linked.append(names))
    monkeypatch.setattr(os, "geteuid", lambda: 65534)
    assert (
        "permission denied" in refusal(lambda: compare_and_swap(path, b"new", files.digest(path.read_bytes()))).message
    )
    assert linked == []


def test_temporary_file_that_the_system_keeps_is_in_nobodys_way(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Another user's, in a sticky folder, stays; ours beside it goes."""
    theirs, ours = (files.temporary_name(path.parent / "x") for _ in range(2))
    for each in (theirs, ours):
        each.touch()
    remove = folders.remove

    def guarded(name: Path) -> None:
        if name == theirs:
            raise PermissionError(errno.EPERM, "no", str(name))
        remove(name)

    monkeypatch.setattr(folders, "remove", guarded)
    assert files.sweep(path.parent) == (ours.name,)
    assert theirs.exists()
