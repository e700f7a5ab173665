"""Builds the wheel and the source distribution of a folder, and proves that whoever builds them gets these bytes."""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
import tarfile
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

ROOT = Path(__file__).resolve().parents[2]


class NotMade(Exception):
    """What stands against a release, or could not be built: what, and what to do."""


def listed(root: Path) -> list[str]:
    """Return the files that belong to a checkout, as they are now: git's, and new ones that it does not ignore."""
    names = said("git", "ls-files", "-z", "--cached", "--others", "--exclude-standard", cwd=root).split("\0")
    return sorted(name for name in names if name and (root / name).is_file())


def copied(root: Path, folder: Path) -> Path:
    """Return a new folder with the files of a checkout, and nothing else that lies there."""
    for name in listed(root):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(root / name, folder / name)  # with its permissions
    return folder


def build(source: Path, target: Path) -> tuple[Path, ...]:
    """Build both archives of a folder into another one, without an index, and return them.

    A time in the environment does not count: what is built is the same wherever and whenever it is built.
    """
    environment = {name: value for name, value in os.environ.items() if name != "SOURCE_DATE_EPOCH"}
    said(sys.executable, "-m", "hatchling", "build", "--directory", str(target), cwd=source, env=environment)
    return tuple(sorted(target.iterdir()))


def build_twice(source: Path, scratch: Path) -> tuple[Path, ...]:
    """Build both archives, build them again from the unpacked source distribution, and return them if they are equal.

    Raises:
        NotMade: a byte differs.
    """
    first = build(source, scratch / "first")
    (sdist,) = (path for path in first if path.name.endswith(".tar.gz"))
    with tarfile.open(sdist) as archive:
        archive.extractall(scratch / "unpacked", filter="data")
    (unpacked,) = (scratch / "unpacked").iterdir()
    second = {path.name: sha256(path) for path in build(unpacked, scratch / "second")}
    differ = [path.name for path in first if second.get(path.name) != sha256(path)]
    if differ:
        what = f"{', '.join(differ)} is not the same when built from the unpacked source distribution"
        raise NotMade(f"{what}: name what it lacks in `[tool.hatch.build.targets.sdist]` of pyproject.toml")
    return first


def sha256(path: Path) -> str:
    """Return the SHA-256 of a file."""
    return hashlib.sha256(path.read_bytes()).hexdigest()


def said(*command: str, cwd: Path, env: Mapping[str, str] | None = None) -> str:
    """Run a command that must end well, and return what it printed.

    Raises:
        NotMade: it did not, with the last of what it said.
    """
    done = subprocess.run(command, cwd=cwd, env=env, capture_output=True, text=True, check=False)
    if done.returncode:
        told = (done.stderr or done.stdout).strip()[-1500:]
        raise NotMade(f"`{' '.join(command)}` ended with {done.returncode}: {told}")
    return done.stdout
