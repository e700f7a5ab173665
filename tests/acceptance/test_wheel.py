"""A wheel has everything in it, and is the same product as the checkout."""

from __future__ import annotations

import os
import re
import sys
import sysconfig
import tarfile
import zipfile
from datetime import UTC, datetime
from email import message_from_bytes
from typing import TYPE_CHECKING

import pytest

from scripts.release.distributions import build_twice, listed
from taskstate.version import VERSION
from tests.support.checkout import ROOT, copy_to, run, succeed
from tests.support.place import files_in

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.slow

COMMANDS = (
    ("init", "--pre-commit"),
    ("new", "101", "--title", "T", "--description", "D", "--criterion", "C", "--feature", "f-1=x"),
    ("session", "add", "101", "--did", "x", "--state", "s", "--next", "n"),
    ("session", "add", "101", "--did", "y", "--state", "s", "--next", "n"),
    ("feature", "pass", "101", "f-1", "--evidence", "seen"),
    ("archive", "101", "--force", "--keep", "1"),
    ("lint",),
    ("show", "101"),
    ("rule", "TS404"),
    ("feature", "pass", "101", "f-2", "--evidence", "seen"),
)
DATE = (2020, 2, 2, 0, 0, 0)  # of all that hatchling builds without a time in the environment
_TIME = re.compile(r"\d{4}-\d{2}-\d{2}[T ]\d{2}:\d{2}(:\d{2}Z)?|\b[0-9a-f]{64}\b|\b\d+-[0-9a-f]{8}\b")


@pytest.fixture(scope="module")
def archives(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, ...]:
    """Return the source distribution and the wheel of this checkout, built twice and equal.

    The first are built among strange files and times; the second from what is in the source distribution alone.
    """
    folder = tmp_path_factory.mktemp("wheel")
    source = copy_to(folder / "source")
    (source / "notes.txt").write_text("private", encoding="utf-8")
    (source / ".env").write_text("private", encoding="utf-8")
    for path in files_in(source):
        os.utime(path, (1_000_000_000, 1_000_000_000))
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SOURCE_DATE_EPOCH", "1700000000")
        return build_twice(source, folder)


@pytest.fixture(scope="module")
def wheel(archives: tuple[Path, ...]) -> Path:
    """Return the wheel of this checkout."""
    return next(path for path in archives if path.suffix == ".whl")


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the `taskstate` of a fresh environment that has the wheel, and what it depends on from this one."""
    folder = tmp_path_factory.mktemp("environment")
    succeed(sys.executable, "-m", "venv", "--without-pip", folder / "venv", cwd=folder)
    pip = (sys.executable, "-m", "pip", "--python", folder / "venv")
    succeed(*pip, "install", "--quiet", "--no-deps", "--no-index", wheel, cwd=folder)
    (site,) = (folder / "venv" / "lib").glob("python*/site-packages")
    (site / "dependencies.pth").write_text(sysconfig.get_path("purelib") + "\n", encoding="utf-8")
    return folder / "venv" / "bin" / "taskstate"


def test_wheel_holds_every_resource(wheel: Path) -> None:
    """Schemas, templates and hook stubs are in the wheel, and neither tests nor anything of this machine."""
    names = set(zipfile.ZipFile(wheel).namelist())
    resources = {
        f"taskstate/_data/{path.relative_to(ROOT).as_posix()}"
        for folder in ("schemas", "templates", "hooks")
        for path in (ROOT / folder).rglob("*")
        if path.is_file()
    }
    assert resources
    assert resources <= names
    tops = {name.split("/")[0] for name in names}
    assert tops == {"taskstate", f"taskstate-{VERSION}.dist-info"}
    assert "taskstate/py.typed" in names
    assert not [name for name in names if name.endswith((".pyc", ".orig", ".tmp"))]


def test_archives_are_the_same_whoever_builds_them(archives: tuple[Path, ...], wheel: Path) -> None:
    """Neither the times of files, as `archives` sees, nor one in the environment change a byte; no stray file is in."""
    with zipfile.ZipFile(wheel) as archive:
        assert {each.date_time for each in archive.infolist()} == {DATE}
    sdist = next(path for path in archives if path != wheel)
    with tarfile.open(sdist) as source:
        assert {each.mtime for each in source} == {datetime(*DATE, tzinfo=UTC).timestamp()}


def test_source_distribution_holds_what_belongs_to_the_checkout(archives: tuple[Path, ...]) -> None:
    """All files of git but those for one editor or one service are in it, so that one can build and test from it."""
    sdist = next(path for path in archives if path.name.endswith(".tar.gz"))
    with tarfile.open(sdist) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    committed = {name for name in succeed("git", "ls-files", cwd=ROOT).splitlines() if (ROOT / name).is_file()}
    assert committed - names == {".ci/run", ".editorconfig"}
    assert names - set(listed(ROOT)) == {"PKG-INFO"}


def test_metadata_are_right_on_an_index(archives: tuple[Path, ...], wheel: Path) -> None:
    """The description can be shown, no link in it needs the repository, and licences and Pythons are named."""
    told = succeed(sys.executable, "-m", "twine", "check", "--strict", *archives, cwd=wheel.parent)
    assert told.count("PASSED") == len(archives)
    with zipfile.ZipFile(wheel) as archive:
        about = message_from_bytes(archive.read(f"taskstate-{VERSION}.dist-info/METADATA"))
        licences = [name for name in archive.namelist() if "/licenses/" in name]
    description = str(about.get_payload())
    assert "# taskstate" in description
    assert not [link for link in re.findall(r"\]\(([^)]*)\)", description) if not link.startswith("https://")]
    assert len(licences) == len(about.get_all("License-File", []))
    claimed = {each.rpartition(" ")[2] for each in about.get_all("Classifier", []) if "Python :: 3." in each}
    run_on = re.findall(r"^\| ([\d., ]+) \| .*\bsuite\b", (ROOT / "docs/stability.md").read_text("utf-8"), re.MULTILINE)
    assert claimed == set(", ".join(run_on).split(", "))


def test_installed_command_is_not_the_checkout(installed: Path, tmp_path: Path) -> None:
    """What is tried here is the wheel."""
    assert succeed(installed, "--version", cwd=tmp_path) == f"taskstate {VERSION}\n"
    code = "import taskstate; print(taskstate.__file__)"
    assert succeed(installed.parent / "python", "-c", code, cwd=tmp_path).startswith(str(installed.parent.parent))


def test_wheel_does_the_same_as_the_checkout(installed: Path, tmp_path: Path) -> None:
    """The same commands say the same and write the same files, from the wheel as from the checkout."""
    said: dict[str, list[str]] = {}
    held: dict[str, dict[str, str]] = {}
    commands: dict[str, tuple[str | Path, ...]] = {
        "wheel": (installed,),
        "checkout": (sys.executable, "-m", "taskstate"),
    }
    for name, command in commands.items():
        root = tmp_path / name / "repository"
        root.mkdir(parents=True)
        env = {"TASKSTATE_ACTOR": "somebody", "TASKSTATE_ROOT": str(root)}
        done = [run(*command, *arguments, cwd=root, env=env) for arguments in COMMANDS]
        assert [each.returncode for each in done] == [0] * (len(COMMANDS) - 1) + [2]
        said[name] = [_TIME.sub("*", each.stdout) for each in done]
        held[name] = {
            path.relative_to(root).as_posix(): _TIME.sub("*", path.read_text(encoding="utf-8"))
            for path in files_in(root)
        }
    assert said["wheel"] == said["checkout"]
    assert held["wheel"] == held["checkout"]
