from __future__ import annotations

import errno
import os
import pickle
import shutil
import stat
import subprocess
import sys
from contextlib import closing
from functools import partial
from typing import TYPE_CHECKING

import pytest

from taskstate.errors import TaskstateError
from taskstate.storage import files, folders

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

MINE = b"mine"


def fresh(top: Path) -> Path:
    """Return a folder outside with two files and a folder in it."""
    outside = top / "outside"
    (outside / "deep").mkdir(parents=True)
    for name in ("a", "deep/b"):
        (outside / name).write_bytes(MINE)
    return outside


def contents(folder: Path) -> dict[str, tuple[bytes, int]]:
    """Return what is in a folder: bytes and modes."""
    found = sorted(folder.rglob("*"))
    return {str(each): (each.read_bytes() if each.is_file() else b"", each.lstat().st_mode) for each in found}


ACTS: dict[str, Callable[[Path], object]] = {
    "status": folders.status,
    "names": lambda path: folders.names(path.parent),
    "entries": lambda path: folders.entries(path.parent),
    "read": files.read,
    "read a part": lambda path: files.read_part(path, 0, 2),
    "size": files.size,
    "open": lambda path: os.close(folders.open_file(path, os.O_RDWR)),
    "make": lambda path: folders.make(path.parent / "new"),
    "make folders": lambda path: files.make_folder(path.parent / "new" / "more"),
    "rename from": lambda path: folders.rename(path, path.parent.parent / "here"),
    "rename to": lambda path: folders.rename(own(path), path),
    "move": lambda path: files.move(path, own(path).with_name("moved")),
    "second name": lambda path: folders.give_second_name(path, own(path).with_name("second")),
    "link": lambda path: folders.make_link(path.parent / "new", b"x"),
    "mode": lambda path: folders.set_mode(path, 0o777),
    "remove": folders.remove,
    "remove a folder": lambda path: folders.remove_empty(path.parent / "empty"),
    "remove all": lambda path: folders.remove_all(path.parent / "deep"),
    "sweep": lambda path: (files.sweep(path.parent) and []) or folders.entries(path.parent),
    "copy": lambda path: folders.copy(own(path), path.parent / "copied"),
    "replace": lambda path: files.replace(path, b"theirs"),
    "replace privately": lambda path: files.replace_private(path, b"theirs"),
    "create": lambda path: files.create(path.parent / "new", b"theirs"),
    "append": lambda path: files.append(path, b"theirs", len(MINE)),
    "truncate": lambda path: files.truncate(path, 0),
    "delete": files.delete,
    "sync": lambda path: folders.sync(path.parent),
}


def own(path: Path) -> Path:
    """Return a file in the repository above a link."""
    root = next(each for each in path.parents if each.name == "root")
    (root / "own").write_bytes(b"theirs")
    return root / "own"


@pytest.mark.parametrize("name", ACTS)
@pytest.mark.parametrize("place", ["link", "deep/er/link", "link/over"])
def test_no_link_in_a_folders_place_is_followed(tmp_path: Path, name: str, place: str) -> None:
    """Whatever is done through a link, at whatever depth, is an error, and the folder that it names stays as it is."""
    tmp_path = tmp_path.resolve()
    outside = fresh(tmp_path)
    link = tmp_path / "root" / place.removesuffix("/over")
    link.parent.mkdir(parents=True)
    link.symlink_to(outside if place != "link/over" else outside.parent)
    path = link / ("outside/a" if place == "link/over" else "a")
    before = contents(outside)
    with pytest.raises((OSError, TaskstateError)) as caught:
        ACTS[name](path)
    error = caught.value.__cause__ if isinstance(caught.value, TaskstateError) else caught.value
    assert isinstance(error, OSError)
    assert error.errno == errno.ELOOP
    assert contents(outside) == before


@pytest.mark.parametrize("name", ACTS)
def test_same_is_done_where_no_link_is(tmp_path: Path, name: str) -> None:
    """The same acts succeed in an ordinary folder: it is the link that is refused."""
    root = tmp_path.resolve() / "root"
    (root / "folder" / "deep").mkdir(parents=True)
    (root / "folder" / "empty").mkdir()
    (root / "folder" / "a").write_bytes(MINE)
    ACTS[name](root / "folder" / "a")


def test_link_at_the_end_is_changed_itself(tmp_path: Path) -> None:
    """Deleting or renaming a link concerns the link; reading and writing through it is refused."""
    outside, link = fresh(tmp_path), tmp_path / "link"
    before = contents(outside)
    for act in (files.read, lambda path: files.append(path, b"x", 4), lambda path: files.replace(path, b"x")):
        link.symlink_to(outside / "a")
        with pytest.raises(TaskstateError) as caught:
            act(link)
        assert caught.value.code == "is-link"
        folders.remove(link)
    link.symlink_to(outside)
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "inner").symlink_to(outside)
    with pytest.raises(OSError, match="symbolic link"):
        folders.remove_all(link)
    folders.remove_all(tmp_path / "folder")
    assert contents(outside) == before


def test_folder_that_becomes_a_link_in_the_middle_is_not_followed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Between the opening of a folder and what is done in it the folder may be exchanged: it is done in the old one."""
    outside = fresh(tmp_path)
    folder = tmp_path / "root" / "folder"
    folder.mkdir(parents=True)
    (folder / "a").write_bytes(b"theirs")
    really = os.unlink

    def exchanged(name: str, *, dir_fd: int) -> None:
        folder.rename(folder.with_name("moved"))
        folder.symlink_to(outside)
        really(name, dir_fd=dir_fd)

    monkeypatch.setattr(os, "unlink", exchanged)
    folders.remove(folder / "a")
    assert (outside / "a").read_bytes() == MINE
    assert not (folder.with_name("moved") / "a").exists()


def test_listing_enters_no_link(tmp_path: Path) -> None:
    """A walk yields a link as a name and nothing behind it; what is gone holds nothing, what is closed says why."""
    outside = fresh(tmp_path)
    top = tmp_path / "top"
    (top / "real").mkdir(parents=True)
    (top / "real" / "x").write_bytes(b"")
    (top / "link").symlink_to(outside)

    def walked(*enters: Callable[[str, str], bool]) -> list[tuple[str, str]]:
        return sorted((each.path, name) for each in folders.walk(top, *enters) for name in each.names)

    assert walked() == [(str(top), "link"), (str(top / "real"), "x")]
    assert walked(lambda _path, name: name != "real") == [(str(top), "link")]
    assert list(folders.walk(top / "none")) == []
    (refused,) = folders.walk(top / "link")
    assert refused.names == []
    assert refused.error is not None
    assert refused.error.errno == errno.ELOOP
    assert [each.links for each in folders.walk(top)] == [["link"], []]


def test_looking_is_no_error(tmp_path: Path) -> None:
    """What is behind a link, in no folder, or cannot have such a name does not exist."""
    outside = fresh(tmp_path)
    (tmp_path / "link").symlink_to(outside)
    for path in (
        tmp_path / "link" / "a",
        outside / "a" / "b",
        tmp_path / "none",
        tmp_path / "a\0b",
        tmp_path / "\ud800",
    ):
        assert not folders.exists(path)
        looks = (folders.is_file(path), folders.is_folder(path), folders.is_link(path), folders.may(path, os.R_OK))
        assert looks == (False,) * 4
    paths = [str(outside / "a"), str(tmp_path / "link" / "a"), str(outside / "none"), str(outside / "deep" / "b")]
    assert [path for path, _ in folders.statuses(paths)] == [paths[0], paths[3]]


def test_lookout_sees_what_is_there_and_follows_no_link(tmp_path: Path) -> None:
    """In more folders than it holds open, and again after it let go of them; a folder made meanwhile is seen then."""
    lookout = folders.Lookout()
    paths = [tmp_path / str(number) / "a" for number in range(70)]
    for path in paths:
        path.parent.mkdir()
        path.write_text("x")
    (tmp_path / "link").symlink_to(tmp_path / "1")
    assert [lookout.status(path) for path in paths * 2] == [path.stat() for path in paths * 2]
    with pytest.raises(OSError, match="link"):
        lookout.status(tmp_path / "link" / "a")
    late = tmp_path / "late" / "a"
    with pytest.raises(FileNotFoundError):
        lookout.status(late)
    late.parent.mkdir()
    late.write_text("x")
    with pytest.raises(FileNotFoundError):
        lookout.status(late)
    lookout.close()
    assert lookout.status(late) == late.stat()
    assert pickle.loads(pickle.dumps(lookout)).status(late) == late.stat()  # noqa: S301 - our own bytes
    lookout.close()


@pytest.mark.parametrize("name", ["a\0b", "\ud800", "x" * 300])
def test_name_that_the_system_does_not_take_is_one_clear_error(tmp_path: Path, name: str) -> None:
    """A name from a file's text may be anything."""
    with closing(folders.Lookout()) as lookout:
        read_many = partial(files.read, lookout=lookout)
        for act in (files.read, read_many, files.size, files.delete, lambda path: files.create(path, b"")):
            with pytest.raises(TaskstateError) as caught:
                act(tmp_path / name)
            assert caught.value.code == "bad-name"
        with pytest.raises(OSError, match=r"Invalid|too long"):
            lookout.status(tmp_path / name)


def test_a_lookout_opens_plain_files_alone(tmp_path: Path) -> None:
    """What is read by the folder that is held open is checked like any other file."""
    (tmp_path / "a").write_bytes(b"text")
    (tmp_path / "link").symlink_to("a")
    os.mkfifo(tmp_path / "pipe")
    with closing(folders.Lookout()) as lookout:
        assert files.read(tmp_path / "a", lookout=lookout) == b"text"
        for name, code in (("link", "is-link"), ("pipe", "not-a-file"), ("none", "not-found")):
            with pytest.raises(TaskstateError) as caught:
                files.read(tmp_path / name, lookout=lookout)
            assert caught.value.code == code


def test_folder_that_may_be_entered_but_not_listed_is_passed(tmp_path: Path) -> None:
    """As on the way to a home folder on a shared machine; as a process that permissions bind."""
    closed = tmp_path / "closed"
    (closed / "open").mkdir(parents=True)
    (closed / "open" / "a").write_bytes(MINE)
    closed.chmod(0o711)
    program = (
        "import os, sys, pathlib; os.setuid(65534); from taskstate.storage import files;"
        "sys.stdout.buffer.write(files.read(pathlib.Path(sys.argv[1])))"
    )
    if os.geteuid() or sys.platform != "linux":
        pytest.skip("only root can become another user")
    for each in (tmp_path, *tmp_path.parents[:-1]):
        if not each.stat().st_mode & stat.S_IXOTH:
            each.chmod(each.stat().st_mode | stat.S_IXOTH)
    done = subprocess.run(
        [sys.executable, "-c", program, closed / "open" / "a"], capture_output=True, check=False, cwd="/"
    )
    if b"No module" in done.stderr or b"Permission" in done.stderr:
        pytest.skip("the other user cannot read this Python")
    assert done.stdout == MINE, done.stderr


# A file with two names


def test_second_name_keeps_the_old_text(tmp_path: Path) -> None:
    """What is appended to a file or replaces it does not reach the other name that somebody gave it."""
    path, other = tmp_path / "a.md", tmp_path / "other"
    for name in ("append", "replace"):
        other.unlink(missing_ok=True)
        path.write_bytes(MINE)
        os.link(path, other)
        ACTS[name](path)
        assert other.read_bytes() == MINE
        assert path.read_bytes() != MINE
    shutil.rmtree(tmp_path)
