"""The files of this checkout, as a repository or a wheel for others, and what it takes to try them."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from functools import cache
from pathlib import Path

import pytest

from tests.support import cures

ROOT = Path(__file__).parents[2]
PROGRAMS = Path(sys.executable).parent  # where `taskstate` and `pre-commit` are


def run(*command: str | Path, cwd: Path, env: dict[str, str] | None = None) -> subprocess.CompletedProcess[str]:
    """Run a command with this environment's programs on the path, and return what it said, errors among the rest."""
    path = os.pathsep.join([str(PROGRAMS), os.environ.get("PATH", os.defpath)])
    done = subprocess.run(
        [*map(str, command)],
        cwd=cwd,
        env=os.environ | {"PATH": path} | (env or {}),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        encoding="utf-8",
        timeout=600,
        check=False,
    )
    if command[0] == "taskstate":
        cures.met([*map(str, command[1:])], cwd, done.returncode, done.stdout)
    return done


def succeed(*command: str | Path, cwd: Path, env: dict[str, str] | None = None) -> str:
    """Run a command that must end well, and return what it said."""
    done = run(*command, cwd=cwd, env=env)
    assert done.returncode == 0, f"{command}: {done.stdout}"
    return done.stdout


def copy_to(folder: Path) -> Path:
    """Copy the files that belong to this checkout, as they are now, into a new folder."""
    listed = run("git", "ls-files", "-z", "--cached", "--others", "--exclude-standard", cwd=ROOT)
    if listed.returncode:
        pytest.skip("this is no git checkout, so that nobody says which files belong to it")
    for name in filter(None, listed.stdout.split("\0")):
        if (ROOT / name).is_file():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, folder / name)
    return folder


def need_index() -> None:
    """Skip the test where pip reaches no package index."""
    if not _index_is_reached():
        pytest.skip("pip reaches no package index, which building an environment for the hooks needs")


@cache
def _index_is_reached() -> bool:
    with tempfile.TemporaryDirectory() as folder:
        command = (sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--dest", folder, "hatchling")
        return run(*command, cwd=Path(folder)).returncode == 0
