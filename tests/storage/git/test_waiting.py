"""Git that hangs does not make a command hang; git that works may take its time."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from taskstate.errors import GitFailed, TaskstateError
from taskstate.storage.git import client as git
from taskstate.storage.git import program, waiting
from taskstate.workflow.doctor import examine
from tests.support.git_place import GitPlace

pytestmark = pytest.mark.skipif(not Path("/proc/self/task").is_dir(), reason="only /proc says what a process does")


@pytest.fixture
def place(tmp_path: Path) -> GitPlace:
    """Return a git repository with task 101."""
    return GitPlace(tmp_path / "repository")


def as_ignore_file(place: GitPlace) -> None:
    """Put a FIFO where git reads what it ignores."""
    ignored = place.root / "folder" / ".gitignore"
    ignored.parent.mkdir()
    os.mkfifo(ignored)


def as_exclude_file(place: GitPlace) -> None:
    """Put a FIFO in the place of `info/exclude`."""
    exclude = place.root / ".git" / "info" / "exclude"
    exclude.parent.mkdir(exist_ok=True)
    exclude.unlink(missing_ok=True)
    os.mkfifo(exclude)


def as_included_file(place: GitPlace) -> None:
    """Let git's configuration include a FIFO."""
    place.git("config", "include.path", str(place.root / "pipe"))
    os.mkfifo(place.root / "pipe")


def as_configuration(place: GitPlace) -> None:
    """Put a FIFO in the place of git's configuration."""
    (place.root / ".git" / "config").unlink()
    os.mkfifo(place.root / ".git" / "config")


@pytest.mark.parametrize(
    ("put", "words"),
    [
        (as_ignore_file, ("list",)),
        (as_included_file, ("lint",)),
        (as_configuration, ("list",)),
        (as_exclude_file, ("start", "101")),
    ],
)
def test_a_pipe_where_git_reads_a_file_hangs_no_command(place: GitPlace, put: object, words: tuple[str, ...]) -> None:
    """The command ends with one line that says what to do."""
    assert callable(put)
    put(place)
    done = subprocess.run(
        [sys.executable, "-m", "taskstate", *words], cwd=place.root, capture_output=True, timeout=120, check=False
    )
    assert done.returncode == 2, done.stderr
    assert b"waits for a file that says nothing: remove the pipes" in done.stderr


def test_doctor_waits_for_a_pipe_once(place: GitPlace, monkeypatch: pytest.MonkeyPatch) -> None:
    """A FIFO where git reads its configuration of a worktree is told by the first check that asks git, the last one."""
    place.git("config", "extensions.worktreeConfig", "true")
    os.mkfifo(place.root / ".git" / "config.worktree")
    told: list[str] = []

    def end(process: subprocess.Popen[bytes], message: str, help_: str) -> None:
        told.append(message)
        waiting.end(process.pid)
        raise TaskstateError(message, help=help_, code=program.WAITS)

    monkeypatch.setattr(program, "_end", end)
    with pytest.raises(TaskstateError, match="waits for a file that says nothing"):
        examine(place.workspace)
    assert len(told) == 1


def device_as_attributes(place: GitPlace) -> None:
    """Let `info/attributes` lead to a device that says zeros without end."""
    attributes = place.root / ".git" / "info" / "attributes"
    attributes.parent.mkdir(exist_ok=True)
    attributes.symlink_to("/dev/zero")
    os.utime(place.path, (1, 1))  # what git knows of the file is out of date: it reads it, and asks for its attributes


def device_as_branch(place: GitPlace) -> None:
    """Let another branch lead to such a device: git reads it to find a commit by its name."""
    (place.root / ".git" / "refs" / "heads" / "other").symlink_to("/dev/zero")


def device_in_the_configuration(place: GitPlace) -> None:
    """Let the configuration name such a device for the names of people."""
    place.git("config", "mailmap.file", "/dev/zero")


@pytest.mark.parametrize(
    ("put", "words"),
    [
        (device_as_attributes, ("start", "101")),
        (device_as_branch, ("lint", "--against", "other")),
        (device_in_the_configuration, ("git-history", "sync", "101")),
    ],
)
def test_a_device_where_git_reads_a_file_takes_neither_time_nor_memory(
    place: GitPlace, put: object, words: tuple[str, ...]
) -> None:
    """The command ends at once with one line that says what to do."""
    assert callable(put)
    put(place)
    command = ["sh", "-c", 'ulimit -v 2000000; exec "$@"', "sh", sys.executable, "-m", "taskstate", *words]
    done = subprocess.run(command, cwd=place.root, capture_output=True, timeout=60, check=False)
    assert done.returncode == 2, done.stderr
    assert b"reads a device, which has no end: remove the links to devices" in done.stderr


def test_a_file_of_any_size_takes_no_more_memory_than_its_bound(place: GitPlace) -> None:
    """An archive of a few bytes can hold a file of terabytes, which git reads as one line."""
    import resource

    with (place.root / ".git" / "objects" / "info" / "alternates").open("wb") as stream:
        stream.truncate(1024**4)
    with pytest.raises(GitFailed, match=r"(?i)out of memory"):
        git.run(["log", "--format=%H"], place.root)
    assert resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss < 3 * 1024**2


def test_a_pipe_in_a_submodule_hangs_no_command(place: GitPlace, tmp_path: Path) -> None:
    """There another process waits, which the first one has started; none of them is left."""
    GitPlace(tmp_path / "library")
    place.git("-c", "protocol.file.allow=always", "submodule", "--quiet", "add", str(tmp_path / "library"), "sub")
    exclude = place.root / ".git" / "modules" / "sub" / "info" / "exclude"
    exclude.parent.mkdir(exist_ok=True)
    exclude.unlink(missing_ok=True)
    os.mkfifo(exclude)
    with pytest.raises(TaskstateError, match="waits for a file that says nothing"):
        git.run(["status", "--ignore-submodules=none"], place.root)
    with pytest.raises(OSError, match="No such device"):  # nobody reads it any more
        os.open(exclude, os.O_WRONLY | os.O_NONBLOCK)


def test_git_that_works_without_a_word_is_waited_for(place: GitPlace, monkeypatch: pytest.MonkeyPatch) -> None:
    """A program that git has started may take longer than git itself may do nothing."""
    monkeypatch.setattr(program, "_PATIENCE", 20)
    place.git("config", "filter.slow.clean", "sleep 0.5; cat")
    (place.root / ".gitattributes").write_text("*.x filter=slow\n", encoding="utf-8")
    (place.root / "a.x").write_text("x", encoding="utf-8")
    assert git.run(["hash-object", "--path=a.x", "a.x"], place.root).strip()


def test_a_pipe_in_the_place_of_merge_head_says_nothing(repository: Path) -> None:
    """Who opened it would wait for somebody who writes into it."""
    os.mkfifo(repository / ".git" / "MERGE_HEAD")
    assert git.merge_heads(repository) == ()
