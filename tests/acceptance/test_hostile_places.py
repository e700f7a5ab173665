"""Whatever stands in the place of one of taskstate's files: another kind of file, or one that has a second name."""

from __future__ import annotations

import contextlib
import os
import shutil
import socket
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from taskstate.storage.private import Private
from taskstate.storage.replaced_texts import ReplacedText, keep
from tests.acceptance.test_kept_hostile import SECRET, SWEEP, attacker, contents, held, victim
from tests.support.kept_place import ARCHIVE, LAST, STATE, TASK, Repo, story
from tests.support.terminal import seen

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.slow  # each runs dozens of commands

FILES = (
    STATE,
    ARCHIVE,
    ".taskstate/lock",
    ".taskstate/private",
    ".taskstate/artifacts",
    ".taskstate/archives",
    ".taskstate/handoffs",
    "taskstate.toml",
    ".git/taskstate",
    ".git/taskstate/main/journal",
    ".git/taskstate/main/kept",
    ".git/taskstate/main/cache",
)
KINDS = ("fifo", "socket", "folder", "file", "device", "link in a circle")


def put(path: Path, kind: str) -> None:
    """Put something of this kind in the place of what is at `path`."""
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    path.unlink(missing_ok=True)
    path.parent.mkdir(parents=True, exist_ok=True)
    if kind == "fifo":
        os.mkfifo(path)
    elif kind == "socket":
        with socket.socket(socket.AF_UNIX) as server, contextlib.chdir(path.parent):  # its path may not be long
            server.bind(path.name)
    elif kind == "folder":
        (path / "inner").mkdir(parents=True)
    elif kind == "file":
        path.write_bytes(b"\x00\xff")
    elif kind == "device":
        path.symlink_to("/dev/zero")
    else:
        path.symlink_to(path.name)


# Each file with two of the kinds in turn: one that is no file at all, and one that is or leads to one.
IN_PLACE = [(name, kind) for turn, name in enumerate(FILES) for kind in (KINDS[turn % 3], KINDS[3 + turn % 3])]


@pytest.mark.parametrize(("name", "kind"), IN_PLACE)
def test_no_kind_of_file_hangs_or_breaks_a_command(tmp_path: Path, name: str, kind: str) -> None:
    """Each command does its work or refuses it with a message; none waits, and none ends with a fault of its own."""
    repo = story(tmp_path / "repository")
    put(repo.root / name, kind)
    for command in SWEEP:
        said = repo.run(*command)  # which asserts that there is neither a traceback nor a fault
        assert said.status != 2 or said.err, command


def second_name(repo: Repo, name: str, outside: Path) -> None:
    """Make a file of the repository another name of one outside, with the content that it has."""
    path = repo.root / name
    path.parent.mkdir(parents=True, exist_ok=True)
    if path.exists():
        (outside / "one.txt").write_bytes(path.read_bytes())
        path.unlink()
    os.link(outside / "one.txt", path)


@pytest.mark.parametrize("name", [STATE, ARCHIVE, ".taskstate/lock", ".taskstate/.gitignore", ".gitattributes"])
def test_file_with_a_second_name_does_not_change_the_other_one(tmp_path: Path, name: str) -> None:
    """An archive that was unpacked can hold hard links: what is written under one name does not reach the other."""
    outside, _ = victim(tmp_path)
    repo = story(tmp_path / "repository")
    if name == ARCHIVE:
        repo.ok("archive", TASK, "--force", "--keep", "3")
    second_name(repo, name, outside)
    before = (outside / "one.txt").read_bytes()
    for command in SWEEP:
        repo.run(*command)
    assert (outside / "one.txt").read_bytes() == before


def test_copies_are_for_their_owner_alone(tmp_path: Path) -> None:
    """Logs, excerpts and snapshots of files that others may not read are not to be read by them either."""
    repo = story(tmp_path / "repository")
    for name, text in (("log", "5 passed in 1s\n"), ("private.txt", SECRET)):
        repo.write(name, text).chmod(0o600)
    repo.ok("evidence", "add", TASK, "--type", "code", "--path", "private.txt")
    repo.ok("start", TASK, "--role", "implementer")
    repo.ok("qa", "record", TASK, "--role", "implementer", "--from", "log", "--result", "test=5 passed, 0 failed")
    repo.ok("snapshot", "take", TASK, "--role", "implementer")
    copies = [path for path in (repo.root / ".taskstate/artifacts").rglob("*") if path.is_file()]
    assert {path.name.split("-")[0] for path in copies} >= {"qa", "evidence", "pack", "implementer"}
    assert {oct(path.stat().st_mode & 0o077) for path in copies} == {"0o0"}


def test_hostile_clone_is_as_harmless_where_nothing_private_can_be_kept(tmp_path: Path) -> None:
    """Links to folders outside in all places at once, in the working tree and in git's folder."""
    outside, before = victim(tmp_path)
    repo = attacker(tmp_path)
    for name in (".git/taskstate", ".taskstate/private"):
        put(repo.root / name, "file")
        (repo.root / name).unlink()
        (repo.root / name).symlink_to(outside)
    for command in SWEEP:
        repo.run(*command)
    assert contents(outside) == before
    assert held(repo.root, SECRET.encode()) == []
    assert repo.count(LAST) == 1


# What a file says of others

FIELDS = (
    'depends_on: ["\\0"]',
    'depends_on: ["\\e[31m", "../x", "\\a"]',
    'parent: "\\0"',
    'evidence:\n  - {id: "\\0", type: code, path: "\\0", lines: "1-2", sha256: "x", added_at: "\\e"}',
    'delta: {base_commit: "\\0", snapshots: {implementer: {pack: "\\0", tree: "\\0", head: "../../x"}}}',
    'context: {task_file: "\\0", task_file_sha: "\\0", standards: [{file: "\\0", section: "\\e"}]}',
    'baseline: {status: recorded, log: "\\0", log_sha256: "\\0"}',
)
READERS = (
    *(("list",), ("next",), ("status",), ("graph",), ("show", TASK), ("lint",), ("handoff", "show", TASK)),
    *(("chain", "show", TASK), ("chain", "pull", TASK), ("context", "check", TASK), ("start", TASK)),
)


@pytest.mark.parametrize("field", FIELDS)
def test_no_value_of_a_field_is_a_fault_or_reaches_a_terminal(tmp_path: Path, field: str) -> None:
    """A NUL, an escape or a path that leads out, wherever a name or a path is expected, is one message."""
    repo = story(tmp_path / "repository")
    repo.edit("taskstate: 1\n", f"taskstate: 1\n{field}\n")
    for command in (*READERS, *SWEEP):
        said = repo.run(*command)  # which asserts that there is no fault
        assert {char for char in said.out + said.err if not char.isprintable() and char != "\n"} == set(), command


def test_diff_is_raw_in_a_pipe_and_printable_on_a_terminal(tmp_path: Path) -> None:
    """`snapshot diff` gives programs the exact bytes, which `git apply` needs, and people what a terminal may show."""
    repo = story(tmp_path / "repository")
    repo.ok("start", TASK, "--role", "implementer")
    repo.write("app.py", "print('\x1b]0;owned\x07\u202e')\n")
    repo.ok("snapshot", "take", TASK, "--role", "implementer")
    command = (sys.executable, "-m", "taskstate", "snapshot", "diff", TASK, "--role", "implementer")
    piped = subprocess.run(command, cwd=repo.root, capture_output=True, check=True).stdout
    assert b"\x1b]0;owned\x07" in piped
    _, shown = seen(command, cwd=repo.root, env={"NO_COLOR": "1"})
    assert "owned" in shown
    assert {char for char in shown if not char.isprintable() and char != "\n"} == set()


def test_a_replaced_text_is_raw_in_a_pipe_and_printable_on_a_terminal(tmp_path: Path) -> None:
    """`doctor kept show` gives programs the exact bytes, and people what a terminal may show."""
    repo = story(tmp_path / "repository")
    typed = b"mine \x1b]0;owned\x07\r\n\xff\n"
    own_id = keep(Private((repo.common,), repo.common), ReplacedText("a.md", typed, "migrate"), "")
    command = (sys.executable, "-m", "taskstate", "doctor", "kept", "show", own_id)
    assert subprocess.run(command, cwd=repo.root, capture_output=True, check=True).stdout == typed
    _, shown = seen(command, cwd=repo.root, env={"NO_COLOR": "1"})
    assert "owned" in shown
    assert {char for char in shown if not char.isprintable() and char != "\n"} == set()
