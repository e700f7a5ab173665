from __future__ import annotations

from typing import Any

import pytest

from taskstate.setup.origin import command_for

GIT = {"vcs_info": {"vcs": "git", "commit_id": "0123456789abcdef0123456789abcdef01234567"}}


@pytest.mark.parametrize(
    ("recorded", "command"),
    [
        (
            {"url": "https://x.invalid/t.git", **GIT},
            f'pip install "taskstate @ git+https://x.invalid/t.git@{GIT["vcs_info"]["commit_id"]}"',
        ),
        (
            {"url": "ssh://git@x.invalid/t", **GIT, "subdirectory": "py"},
            f'pip install "taskstate @ git+ssh://git@x.invalid/t@{GIT["vcs_info"]["commit_id"]}#subdirectory=py"',
        ),
        ({"url": "https://x.invalid/t.whl", "archive_info": {}}, 'pip install "taskstate @ https://x.invalid/t.whl"'),
        ({"url": "file:///src/t", **GIT}, ""),
        ({"url": "file:///src/t", "dir_info": {"editable": True}}, ""),
        ({"url": "https://me:secret@x.invalid/t", **GIT}, ""),
        ({"url": 'https://x.invalid/"; rm -rf ~; "', **GIT}, ""),
        ({"url": "https://x.invalid/t", "vcs_info": {"vcs": "hg", "commit_id": "01234567"}}, ""),
        ({}, ""),
    ],
)
def test_another_machine_installs_what_runs_here(recorded: dict[str, Any], command: str) -> None:
    """Where the installer recorded an address that others can reach; a path, a password or nothing gives none."""
    assert command_for(recorded) == command
