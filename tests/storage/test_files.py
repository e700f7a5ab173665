from __future__ import annotations

import errno
import os
import socket
import stat
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

import pytest

from taskstate.errors import StaleFile, TaskstateError
from taskstate.storage import files, folders

if TYPE_CHECKING:
    from collections.abc import Callable

not_as_root = pytest.mark.skipif(os.geteuid() == 0, reason="root may do everything")


def refusal(call: Callable[[], object]) -> TaskstateError:
    """Return the error that `call` raises."""
    with pytest.raises(TaskstateError) as caught:
        call()
    return caught.value


def names(folder: Path) -> set[str]:
    """Return the names of everything in `folder`."""
    return {entry.name for entry in folder.iterdir()}


def raising(number: int) -> Callable[..., NoReturn]:
    """Return a stand-in for a system call that always fails with the error `number`."""

    def fail(*_: object, **__: object) -> NoReturn:
        raise OSError(number, os.strerror(number))

    return fail


# reading


@pytest.mark.parametrize("data", [b"", b"\xef\xbb\xbfa\r\nb\rc", b"\xff\x00", b"x" * 3_000_000])
def test_read_returns_the_bytes(tmp_path: Path, data: bytes) -> None:
    """A file is read byte for byte."""
    path = tmp_path / "a.md"
    path.write_bytes(data)
    assert files.read(path) == data


def test_read_says_that_a_file_is_missing(tmp_path: Path) -> None:
    """A missing file is one clear error that names it."""
    error = refusal(lambda: files.read(tmp_path / "none.md"))
    assert error.code == "not-found"
    assert "none.md" in error.message


def test_read_refuses_what_is_no_file(tmp_path: Path) -> None:
    """A folder, a FIFO, a socket and a device are refused at once, instead of hanging or reading for ever."""
    os.mkfifo(tmp_path / "fifo")
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(os.path.relpath(tmp_path / "socket"))
    words = {tmp_path: "folder", tmp_path / "fifo": "FIFO", tmp_path / "socket": "socket"}
    for path, word in words.items():
        error = refusal(lambda path=path: files.read(path))  # type: ignore[misc]  # a default argument in a lambda
        assert (error.code, word in error.message) == ("not-a-file", True)
    assert "device" in refusal(lambda: files.read(Path("/dev/zero"))).message


def test_read_looks_again_after_opening(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A FIFO that replaces the file between the check and the opening neither blocks the reader nor is read."""
    path = tmp_path / "a.md"
    path.write_text("text")
    really_open = folders.open_checked

    def open_swapped(name: Path, flags: int, require: Callable[[os.stat_result], None]) -> tuple[int, os.stat_result]:
        def require_and_swap(status: os.stat_result) -> None:
            require(status)
            path.unlink()
            os.mkfifo(path)

        return really_open(name, flags, require_and_swap)

    monkeypatch.setattr(folders, "open_checked", open_swapped)
    assert refusal(lambda: files.read(path)).code == "not-a-file"


def test_read_refuses_more_than_the_limit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file over the limit is refused without being read, a sparse one of a gigabyte too."""
    path = tmp_path / "a.md"
    with path.open("wb") as stream:
        stream.truncate(1024**3)
    monkeypatch.setattr(os, "read", raising(errno.EIO))
    error = refusal(lambda: files.read(path))
    assert error.code == "too-large"
    assert "24 MiB" in error.message


def test_read_part_returns_a_part(tmp_path: Path) -> None:
    """A part is read from its offset, and ends where the file ends."""
    path = tmp_path / "a.md"
    path.write_bytes(b"0123456789")
    assert files.read_part(path, 3, 4) == b"3456"
    assert files.read_part(path, 8, 100) == b"89"


@not_as_root
def test_read_says_that_permission_is_missing(tmp_path: Path) -> None:
    """A file that may not be read is one clear error."""
    path = tmp_path / "a.md"
    path.touch(mode=0)
    assert refusal(lambda: files.read(path)).code == "no-permission"


def test_size_knows_missing_files_and_refuses_links(tmp_path: Path) -> None:
    """A plain file has its length as size, a missing one None; a link is an error."""
    path = tmp_path / "a.md"
    assert files.size(path) is None
    path.write_bytes(b"abc")
    assert files.size(path) == 3
    (tmp_path / "link.md").symlink_to(path)
    assert refusal(lambda: files.size(tmp_path / "link.md")).code == "is-link"


def test_messages_show_no_terminal_escapes() -> None:
    """Control characters, bidi overrides and bytes that are no UTF-8 appear as escapes."""
    assert files.shown("a\x1b[31m\n\u202e\udcff é.md") == r"a\x1b[31m\n\u202e\udcff é.md"


def test_digest_is_sha256() -> None:
    """The digest of nothing is SHA-256's well-known one."""
    assert files.digest(b"") == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"


# writing


def test_replace_changes_the_content_and_keeps_the_mode(tmp_path: Path) -> None:
    """The file has the new content and the old mode, and nothing else is left in the folder."""
    path = tmp_path / "a.md"
    path.write_bytes(b"old")
    path.chmod(0o640)
    files.replace(path, b"new")
    assert path.read_bytes() == b"new"
    assert stat.S_IMODE(path.stat().st_mode) == 0o640
    assert names(tmp_path) == {"a.md"}


@pytest.mark.skipif(os.geteuid() != 0, reason="only root may give files away")
def test_replace_keeps_the_owner(tmp_path: Path) -> None:
    """A file of somebody else's stays theirs when root changes it."""
    path = tmp_path / "a.md"
    path.write_bytes(b"old")
    os.chown(path, 1234, 4321)
    files.replace(path, b"new")
    assert (path.stat().st_uid, path.stat().st_gid) == (1234, 4321)


def test_replace_makes_a_missing_file(tmp_path: Path) -> None:
    """A file that did not exist gets the usual mode."""
    files.replace(tmp_path / "a.md", b"new")
    (tmp_path / "b.md").touch()
    assert (tmp_path / "a.md").read_bytes() == b"new"
    assert (tmp_path / "a.md").stat().st_mode == (tmp_path / "b.md").stat().st_mode


def test_writers_refuse_a_link(tmp_path: Path) -> None:
    """Replace, append and truncate refuse a symbolic link, and leave link and target alone."""
    target, link = tmp_path / "target.md", tmp_path / "link.md"
    target.write_bytes(b"old")
    link.symlink_to(target)
    calls = (lambda: files.replace(link, b""), lambda: files.append(link, b"", 3), lambda: files.truncate(link, 0))
    assert [refusal(call).code for call in calls] == ["is-link"] * 3
    assert link.is_symlink()
    assert target.read_bytes() == b"old"


@not_as_root
def test_replace_respects_a_read_only_file(tmp_path: Path) -> None:
    """A file that somebody made read-only is not replaced although its folder would allow it."""
    path = tmp_path / "a.md"
    path.write_bytes(b"old")
    path.chmod(0o400)
    assert refusal(lambda: files.replace(path, b"new")).code == "no-permission"
    assert path.read_bytes() == b"old"


def test_replace_honours_what_the_system_says_of_access(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file that may not be written is refused before a temporary file is created."""
    path = tmp_path / "a.md"
    path.write_bytes(b"old")
    monkeypatch.setattr(os, "access", lambda *_, **__: False)
    assert refusal(lambda: files.replace(path, b"new")).code == "no-permission"


def test_create_makes_folders_and_never_overwrites(tmp_path: Path) -> None:
    """A new file appears with its folders; a second one of the same name is refused, also over a dangling link."""
    path = tmp_path / "x" / "y" / "a.md"
    files.create(path, b"one")
    assert refusal(lambda: files.create(path, b"two")).code == "exists"
    assert path.read_bytes() == b"one"
    (tmp_path / "dangling").symlink_to(tmp_path / "nowhere")
    assert refusal(lambda: files.create(tmp_path / "dangling", b"two")).code == "exists"
    assert names(tmp_path / "x" / "y") == {"a.md"}
    assert not (tmp_path / "nowhere").exists()


def test_create_works_without_hard_links(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """On a file system without hard links a new file appears all the same, and an existing one is refused."""
    monkeypatch.setattr(os, "link", raising(errno.EPERM))
    path = tmp_path / "a.md"
    files.create(path, b"one")
    assert refusal(lambda: files.create(path, b"two")).code == "exists"
    assert path.read_bytes() == b"one"
    monkeypatch.setattr(os, "replace", raising(errno.EIO))
    refusal(lambda: files.create(tmp_path / "b.md", b"two"))
    assert names(tmp_path) == {"a.md"}


def test_create_shares_a_folder_that_appears_meanwhile(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """When another process makes the folder in the same instant, the file is created in it."""
    really_make = os.mkdir

    def make_twice(path: str, mode: int, *, dir_fd: int) -> None:
        really_make(path, mode, dir_fd=dir_fd)
        really_make(path, mode, dir_fd=dir_fd)

    monkeypatch.setattr(os, "mkdir", make_twice)
    files.create(tmp_path / "x" / "a.md", b"one")
    assert (tmp_path / "x" / "a.md").read_bytes() == b"one"


def test_create_says_that_a_file_stands_in_the_folders_place(tmp_path: Path) -> None:
    """A path through a file is refused with the reason."""
    (tmp_path / "a").write_bytes(b"")
    error = refusal(lambda: files.create(tmp_path / "a" / "b.md", b""))
    assert (error.code, "is not a folder" in error.message) == ("not-a-file", True)


def test_append_adds_to_the_end(tmp_path: Path) -> None:
    """Appended bytes follow the old ones, and the file stays the same one."""
    path = tmp_path / "a.md"
    path.write_bytes(b"one")
    inode = path.stat().st_ino
    files.append(path, b"two", 3)
    assert path.read_bytes() == b"onetwo"
    assert path.stat().st_ino == inode


def test_append_refuses_another_length(tmp_path: Path) -> None:
    """A file that grew meanwhile is left as it is, and the caller can plan again."""
    path = tmp_path / "a.md"
    path.write_bytes(b"one more")
    with pytest.raises(StaleFile, match=r"a\.md is 8 bytes long and not 3"):
        files.append(path, b"two", 3)
    assert path.read_bytes() == b"one more"


def test_append_that_fails_leaves_nothing_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """When the disk is full in the middle of the text, the file is as long as before."""
    path = tmp_path / "a.md"
    path.write_bytes(b"one")
    really_write = os.write

    def write_a_little(descriptor: int, data: memoryview) -> int:
        if len(data) < 8:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return really_write(descriptor, data[:4])

    monkeypatch.setattr(os, "write", write_a_little)
    assert refusal(lambda: files.append(path, b"0123456789", 3)).code == "disk-full"
    assert path.read_bytes() == b"one"


def test_short_writes_are_continued(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A system that takes one byte at a time still gets all of them."""
    really_write = os.write
    monkeypatch.setattr(os, "write", lambda descriptor, data: really_write(descriptor, data[:1]))
    files.create(tmp_path / "a.md", b"0123456789")
    files.append(tmp_path / "a.md", b"abc", 10)
    assert (tmp_path / "a.md").read_bytes() == b"0123456789abc"


def test_shorten_cuts_back(tmp_path: Path) -> None:
    """A truncated file keeps its first bytes."""
    path = tmp_path / "a.md"
    path.write_bytes(b"0123456789")
    files.truncate(path, 4)
    assert path.read_bytes() == b"0123"


def test_move_never_overwrites(tmp_path: Path) -> None:
    """A file moves into a new folder, and not over another one."""
    source, target = tmp_path / "a.md", tmp_path / "archive" / "a.md"
    source.write_bytes(b"one")
    files.move(source, target)
    assert (source.exists(), target.read_bytes()) == (False, b"one")
    source.write_bytes(b"two")
    error = refusal(lambda: files.move(source, target))
    assert (error.code, str(target) in error.message) == ("exists", True)
    assert (source.read_bytes(), target.read_bytes()) == (b"two", b"one")


def test_move_and_delete_say_that_a_file_is_missing(tmp_path: Path) -> None:
    """A missing file can be neither moved nor deleted."""
    assert refusal(lambda: files.move(tmp_path / "a.md", tmp_path / "b.md")).code == "not-found"
    assert refusal(lambda: files.delete(tmp_path / "a.md")).code == "not-found"


def test_delete_removes_the_file(tmp_path: Path) -> None:
    """A deleted file is gone, and its neighbours stay."""
    (tmp_path / "a.md").touch()
    (tmp_path / "b.md").touch()
    files.delete(tmp_path / "a.md")
    assert names(tmp_path) == {"b.md"}


@pytest.mark.parametrize(
    ("number", "code"),
    [
        (errno.ENOSPC, "disk-full"),
        (errno.EDQUOT, "disk-full"),
        (errno.EACCES, "no-permission"),
        (errno.EROFS, "read-only"),
        (errno.EIO, "os-error"),
    ],
)
@pytest.mark.parametrize("call", ["open", "write", "fsync", "replace"])
def test_a_write_that_fails_changes_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, call: str, number: int, code: str
) -> None:
    """Whatever the system refuses on the way is one clear error; the old file stays, and no temporary one."""
    path = tmp_path / "a.md"
    path.write_bytes(b"old")
    with monkeypatch.context() as patch:
        patch.setattr(os, call, raising(number))
        error = refusal(lambda: files.replace(path, b"new"))
    assert (error.code, str(path) in error.message) == (code, True)
    assert path.read_bytes() == b"old"
    assert names(tmp_path) == {"a.md"}


def test_a_full_disk_leaves_the_old_file(tmp_path: Path) -> None:
    """A limit on the size of files, set by the real system, stops a write without harm."""
    path = tmp_path / "a.md"
    path.write_bytes(b"old")
    program = """
import resource, signal, sys, pathlib
from taskstate import errors; from taskstate.storage import files
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
limits = resource.getrlimit(resource.RLIMIT_FSIZE)
resource.setrlimit(resource.RLIMIT_FSIZE, (1000, limits[1]))
try:
    files.replace(pathlib.Path(sys.argv[1]), b"x" * 5000)
except errors.TaskstateError as error:
    print(error)
finally:
    resource.setrlimit(resource.RLIMIT_FSIZE, limits)
"""
    done = subprocess.run([sys.executable, "-c", program, path], capture_output=True, text=True, check=True)
    assert "File too large" in done.stdout
    assert path.read_bytes() == b"old"
    assert names(tmp_path) == {"a.md"}


def test_bytes_are_durable_before_the_name_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The content is synced before the rename and the folder after it: a power cut leaves the old or the new."""
    path = tmp_path / "a.md"
    path.write_bytes(b"old")
    trace: list[str] = []

    def traced(call: str, really: Callable[..., object]) -> Callable[..., object]:
        def traced_call(*args: object, **options: object) -> object:
            folder = call == "fsync" and stat.S_ISDIR(os.fstat(int(str(args[0]))).st_mode)
            trace.append("fsync folder" if folder else call)
            return really(*args, **options)

        return traced_call

    for call in ("write", "fsync", "replace", "link", "ftruncate"):
        monkeypatch.setattr(os, call, traced(call, getattr(os, call)))
    files.replace(path, b"new")
    assert trace == ["write", "fsync", "replace", "fsync folder"]
    trace.clear()
    files.create(tmp_path / "b.md", b"new")
    assert trace == ["write", "fsync", "link", "fsync folder"]
    trace.clear()
    files.append(path, b"more", 3)
    assert trace == ["write", "fsync"]
    trace.clear()
    files.truncate(path, 3)
    assert trace == ["ftruncate", "fsync"]
    trace.clear()
    files.move(path, tmp_path / "c.md")
    assert trace == ["replace", "fsync folder", "fsync folder"]


def test_a_folder_that_cannot_be_synced_is_no_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """On a system that cannot sync folders the write succeeds; any other error is raised."""
    really = os.fsync

    def on_folders(number: int) -> Callable[..., object]:
        def fail(what: int) -> None:
            if stat.S_ISDIR(os.fstat(what).st_mode):
                raise OSError(number, os.strerror(number))
            really(what)

        return fail

    path = tmp_path / "a.md"
    path.touch()
    monkeypatch.setattr(os, "fsync", on_folders(errno.EINVAL))
    files.append(path, b"1", 0)
    files.move(path, tmp_path / "b.md")
    assert (tmp_path / "b.md").read_bytes() == b"1"
    monkeypatch.setattr(os, "fsync", on_folders(errno.EIO))
    assert refusal(lambda: files.delete(tmp_path / "b.md")).code == "os-error"


def test_sweep_removes_only_what_killed_writers_left(tmp_path: Path) -> None:
    """Our temporary files are deleted, everything else stays, and a missing folder is not an error."""
    left = ".taskstate-123-0123456789ab.tmp"
    for name in (left, "a.md", ".taskstate", "x.tmp"):
        (tmp_path / name).touch()
    assert files.sweep(tmp_path) == (left,)
    assert names(tmp_path) == {"a.md", ".taskstate", "x.tmp"}
    assert files.sweep(tmp_path / "none") == ()


# paths


@pytest.mark.parametrize("relative", ["a.md", "tasks/a.md", "not/there/yet.md", "./a.md", "..a/b..", ".gitignore"])
def test_inside_accepts_what_stays(tmp_path: Path, relative: str) -> None:
    """A path below the root is returned under it, whether it exists or not."""
    assert files.inside(tmp_path, relative) == tmp_path / relative


@pytest.mark.parametrize(
    "relative",
    [
        "",
        ".",
        "..",
        "../x",
        "a/../../x",
        "a/../b",
        "/etc/passwd",
        "a\0b",
        "\ud800",
        "..\\x",
        ".git/config",
        "a/.GIT/hooks/x",
    ],
)
def test_inside_refuses_what_leaves(tmp_path: Path, relative: str) -> None:
    """Absolute paths, `..`, git's own folder and what is no path are refused."""
    assert refusal(lambda: files.inside(tmp_path, relative)).code == "path-escapes"


def test_inside_refuses_an_absolute_path_to_itself(tmp_path: Path) -> None:
    """An absolute path is refused even where it leads into the root."""
    assert refusal(lambda: files.inside(tmp_path, str(tmp_path / "a.md"))).code == "path-escapes"


def test_inside_looks_through_links(tmp_path: Path) -> None:
    """A link that leads out of the root or into .git is refused anywhere in the path; one inside stays unresolved."""
    root = tmp_path / "root"
    (root / ".git").mkdir(parents=True)
    (root / "real").mkdir()
    for name, target in (("out", tmp_path), ("git", root / ".git"), ("in", root / "real"), ("loop", root / "loop")):
        (root / name).symlink_to(target)
    for relative in ("out", "out/x", "git/config"):
        assert refusal(lambda relative=relative: files.inside(root, relative)).code == "path-escapes"  # type: ignore[misc]  # a default argument in a lambda
    assert files.inside(root, "in/a.md") == root / "in" / "a.md"
    looping = files.inside(root, "loop/a.md")
    assert refusal(lambda: files.read(looping)).code == "is-link"


def test_inside_works_under_a_root_that_is_a_link(tmp_path: Path) -> None:
    """A repository that is reached by a link is its own root."""
    (tmp_path / "real").mkdir()
    (tmp_path / "root").symlink_to(tmp_path / "real")
    assert files.inside(tmp_path / "root", "a.md") == tmp_path / "root" / "a.md"
