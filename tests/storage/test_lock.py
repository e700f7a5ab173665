from __future__ import annotations

import fcntl
import subprocess
import sys
from typing import TYPE_CHECKING
from unittest.mock import Mock

import pytest

from taskstate.errors import LockTimeout, TaskstateError
from taskstate.storage import folders, lock

if TYPE_CHECKING:
    from pathlib import Path


def test_the_lock_keeps_a_second_writer_out(tmp_path: Path) -> None:
    """While one process holds the lock another one times out with advice; afterwards it gets it."""
    path = tmp_path / "state" / "lock"
    program = """
import sys, pathlib
from taskstate import errors; from taskstate.storage import lock
try:
    with lock.locked(pathlib.Path(sys.argv[1]), timeout=0.1):
        print("held")
except errors.LockTimeout as error:
    print(error.code, error)
"""
    command = [sys.executable, "-c", program, str(path)]
    with lock.locked(path):
        inner = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    outer = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    assert inner.startswith("lock-timeout another command is writing")
    assert "wait until it has ended" in inner
    assert outer == "held\n"


def test_who_waits_keeps_the_file_open(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Waiting asks the system for the lock again and again, and goes the way to its file only now and then."""
    opened, asked = Mock(wraps=folders.open_file), Mock(wraps=fcntl.flock)
    monkeypatch.setattr(folders, "open_file", opened)
    monkeypatch.setattr(fcntl, "flock", asked)
    with lock.locked(tmp_path / "lock"), pytest.raises(LockTimeout), lock.locked(tmp_path / "lock", timeout=0.25):
        pass
    assert asked.call_count > 2 * opened.call_count


def test_a_lock_file_that_was_made_anew_meanwhile_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Who waits for the lock on a file that is deleted takes that of the new file, although the old one is held."""
    path = tmp_path / "lock"
    flock = fcntl.flock

    def deleting(descriptor: int, operation: int) -> None:
        monkeypatch.setattr(fcntl, "flock", flock)
        path.unlink()
        flock(descriptor, operation)

    with lock.locked(path):
        monkeypatch.setattr(fcntl, "flock", deleting)
        with lock.locked(path, timeout=5):
            assert path.exists()


def test_a_killed_holder_leaves_no_lock(tmp_path: Path) -> None:
    """The lock of a process that was killed is free at once."""
    path = tmp_path / "lock"
    program = """
import os, signal, sys, pathlib
from taskstate.storage import lock
with lock.locked(pathlib.Path(sys.argv[1])):
    os.kill(os.getpid(), signal.SIGKILL)
"""
    killed = subprocess.run([sys.executable, "-c", program, path], check=False)
    assert killed.returncode == -9
    with lock.locked(path, timeout=0):
        pass


def test_the_lock_is_freed_by_an_error(tmp_path: Path) -> None:
    """An error under the lock is raised, and the lock is free afterwards."""
    path = tmp_path / "lock"
    with pytest.raises(KeyError), lock.locked(path):
        raise KeyError
    with lock.locked(path, timeout=0):
        pass


def test_a_lock_that_cannot_be_made_is_told(tmp_path: Path) -> None:
    """A link or a folder instead of the lock file is one clear error, not an endless wait."""
    (tmp_path / "link").symlink_to(tmp_path / "target")
    (tmp_path / "folder").mkdir()
    for name in ("link", "folder"):
        with pytest.raises(TaskstateError, match="cannot lock") as caught, lock.locked(tmp_path / name, timeout=0):
            pass
        assert not isinstance(caught.value, LockTimeout)
    assert not (tmp_path / "target").exists()


def test_the_message_names_the_holder(tmp_path: Path) -> None:
    """A time-out names the command, process and time of the holder; after the release the name is gone."""
    path = tmp_path / "lock"
    program = """
import sys, pathlib
from taskstate.storage import lock
sys.argv[1:1] = ["archive", "--summarizer", "sk-not-for-others"]
with lock.locked(pathlib.Path(sys.argv[-1])):
    print("held", flush=True)
    sys.stdin.read()
"""
    command = [sys.executable, "-c", program, str(path)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == "held\n"
        with pytest.raises(LockTimeout) as caught, lock.locked(path, timeout=0.1):
            pass
        holder.communicate("")
    assert f"held by process {holder.pid} on " in caught.value.message
    assert "(`taskstate archive`) since 20" in caught.value.message
    assert "sk-" not in caught.value.message
    assert lock.holder(path) == ""
    assert lock.is_free(path)


@pytest.mark.parametrize("text", [b"", b"\xff\x1b[31m\nx", b"x" * 5_000])
def test_whatever_the_lock_file_says_is_safe_to_show(tmp_path: Path, text: bytes) -> None:
    """The text in the lock file decides nothing, and is shown without escapes and with limited length."""
    path = tmp_path / "lock"
    path.write_bytes(text)
    assert len(lock.holder(path)) < 1_700
    assert lock.holder(path).isprintable()
    with lock.locked(path, timeout=0):
        assert not lock.holder(path).startswith("x")
