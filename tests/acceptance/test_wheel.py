"""A wheel has everything in it, and is the same product as the checkout."""

from __future__ import annotations

import importlib.util
import re
import sys
import sysconfig
import zipfile
from typing import TYPE_CHECKING

import pytest

from taskstate.version import VERSION
from tests.support.checkout import ROOT, copy_to, need_index, run, succeed
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
_TIME = re.compile(r"\d{4}-\d{2}-\d{2}[T ]\d{2}:\d{2}(:\d{2}Z)?|\b[0-9a-f]{64}\b|\b\d+-[0-9a-f]{8}\b")


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a wheel that was built from this checkout."""
    folder = tmp_path_factory.mktemp("wheel")
    source = copy_to(folder / "source")
    isolated = importlib.util.find_spec("hatchling") is None
    if isolated:
        need_index()
    flags = () if isolated else ("--no-build-isolation",)
    command = (sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", *flags, "--wheel-dir", folder, source)
    succeed(*command, cwd=folder)
    (built,) = folder.glob("taskstate-*.whl")
    return built


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the `taskstate` of a fresh environment that has the wheel, and what it depends on from this one."""
    folder = tmp_path_factory.mktemp("environment")
    succeed(sys.executable, "-m", "venv", folder / "venv", cwd=folder)
    python = folder / "venv" / "bin" / "python"
    succeed(python, "-m", "pip", "install", "--quiet", "--no-deps", "--no-index", wheel, cwd=folder)
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
