from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

import pytest

from taskstate.evidence import run_command

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize(
    ("command", "status", "log"),
    [
        ("true", 0, b""),
        ("echo out; echo err >&2", 0, b"out\nerr\n"),
        ("printf '\\377\\033'; exit 3", 3, b"\xff\x1b"),
        ("cat", 0, b""),
        ("no-such-program 2>/dev/null", 127, b""),
        ("kill -9 $$", -9, b""),
    ],
)
def test_command_is_run_and_remembered(tmp_path: Path, command: str, status: int, log: bytes) -> None:
    """A command is kept with its exit status and the hash of all that it printed; it reads nothing."""
    told = run_command(tmp_path, command)
    assert told == {"command": command, "exit_status": status, "log_sha256": hashlib.sha256(log).hexdigest()}


def test_command_runs_in_the_root(tmp_path: Path) -> None:
    """A relative path in a command is one from the repository's root."""
    run_command(tmp_path, "touch here")
    assert (tmp_path / "here").exists()
