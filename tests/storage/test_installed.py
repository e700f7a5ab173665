"""Advice fits the installation, as pip, `uv tool` and pipx record it in the environment that they make."""

from __future__ import annotations

import importlib.metadata
import importlib.util
import json
import shlex
import sys
import tomllib
from typing import TYPE_CHECKING

import pytest

from taskstate.storage import installed
from taskstate.version import VERSION
from tests.support.checkout import ROOT

if TYPE_CHECKING:
    from pathlib import Path

FOLDER = {"url": "file:///home/ann/taskstate", "dir_info": {}}
COMMIT = {"url": "https://example.invalid/taskstate", "vcs_info": {"vcs": "git", "commit_id": "abc123"}}
EDITABLE = {"url": "file:///home/ann/task%20state", "dir_info": {"editable": True}}
BELOW = COMMIT | {"subdirectory": "python"}
SECRET = {"url": "https://ann:s3cret@example.invalid/taskstate", "vcs_info": {"vcs": "git", "commit_id": "abc123"}}
SECRET_WHEEL = {"url": "https://ann:s3cret@example.invalid/taskstate.whl", "archive_info": {}}
STRANGE = {"url": "https://example.invalid/$(x)'\"", "vcs_info": {"vcs": "git", "commit_id": "abc123"}}
SSH = COMMIT | {"url": "ssh://git@example.invalid/taskstate"}
WHEEL = {"url": "https://example.invalid/taskstate.whl", "archive_info": {}}
MERCURIAL = COMMIT | {"vcs_info": {"vcs": "hg", "commit_id": "abc123"}}


@pytest.fixture
def environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a new environment that this Python seems to run in, with a command; nothing else is on the PATH."""
    for name in ("python", "taskstate"):
        put(tmp_path / "bin" / name)
    monkeypatch.setattr(sys, "prefix", str(tmp_path))
    monkeypatch.setattr(sys, "executable", str(tmp_path / "bin/python"))
    monkeypatch.setenv("PATH", str(tmp_path / "empty"))
    return tmp_path


def put(path: Path) -> None:
    """Write a program."""
    path.parent.mkdir(exist_ok=True)
    path.write_text("#!/bin/sh\n", encoding="utf-8")
    path.chmod(0o755)


def came_from(monkeypatch: pytest.MonkeyPatch, values: object) -> None:
    """Have the installation record that it came from there, and have no extra."""
    monkeypatch.setattr(installed, "lacks", lambda _: True)

    class Recorded:
        def read_text(self, name: str) -> str | None:
            assert name == "direct_url.json"
            return json.dumps(values) if values else None

    monkeypatch.setattr(importlib.metadata, "distribution", lambda _: Recorded())


@pytest.mark.parametrize(
    ("mark", "source", "command"),
    [
        ("uv-receipt.toml", None, "uv tool install 'taskstate[mcp]'"),
        ("uv-receipt.toml", FOLDER, "uv tool install 'taskstate[mcp] @ file:///home/ann/taskstate'"),
        (
            "pipx_metadata.json",
            COMMIT,
            "pipx install --force 'taskstate[mcp] @ git+https://example.invalid/taskstate@abc123'",
        ),
        ("uv-receipt.toml", EDITABLE, "uv tool install --editable '/home/ann/task state[mcp]'"),
        ("pipx_metadata.json", EDITABLE, "pipx install --force --editable '/home/ann/task state[mcp]'"),
        (
            "uv-receipt.toml",
            BELOW,
            "uv tool install 'taskstate[mcp] @ git+https://example.invalid/taskstate@abc123#subdirectory=python'",
        ),
        ("", FOLDER, "PYTHON -m pip install 'taskstate[mcp]'"),
    ],
)
def test_extra_is_added_to_the_installation(
    environment: Path,
    monkeypatch: pytest.MonkeyPatch,
    mark: str,
    source: object,
    command: str,
) -> None:
    """A tool is installed anew from where it came from; an environment of pip gets what is missing."""
    if mark:
        (environment / mark).touch()
    came_from(monkeypatch, source)
    assert installed.adding("mcp") == command.replace("PYTHON", shlex.quote(sys.executable))


def test_a_tool_keeps_the_extras_that_it_has(environment: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """`uv tool install` and pipx make the environment anew: what is there is named besides what is added."""
    (environment / "uv-receipt.toml").touch()
    came_from(monkeypatch, None)
    monkeypatch.setattr(installed, "lacks", lambda extra: extra not in {"page", "tokens"})
    assert installed.adding("mcp") == "uv tool install 'taskstate[mcp,page,tokens]'"
    (environment / "uv-receipt.toml").unlink()
    assert installed.adding("mcp").endswith("pip install 'taskstate[mcp]'")


def test_pip_of_the_path_is_named_if_it_is_the_own_one(environment: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The `pip` of another environment would install it there."""
    put(environment / "other/pip")
    monkeypatch.setenv("PATH", f"{environment / 'other'}:{environment / 'bin'}")
    assert installed.adding("lsp").startswith(sys.executable)
    put(environment / "bin/pip")
    (environment / "other/pip").unlink()
    assert installed.adding("lsp") == "pip install 'taskstate[lsp]'"


def test_manager_of_hooks_is_the_one_that_is_there(environment: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The line runs as it is: with the manager of the PATH, else with the own one by its path, else it installs one."""
    bin_ = environment / "bin"
    assert (
        installed.hook_manager()
        == f"{sys.executable} -m pip install 'taskstate[pre-commit]' && {bin_}/pre-commit install"
    )
    (environment / "uv-receipt.toml").touch()
    assert installed.hook_manager() == "uv tool install pre-commit && pre-commit install"
    put(bin_ / "pre-commit")
    assert installed.hook_manager() == f"{bin_}/pre-commit install"
    put(environment / "other/prek")
    monkeypatch.setenv("PATH", str(environment / "other"))
    assert installed.hook_manager() == "prek install"


@pytest.mark.parametrize(
    ("source", "command"),
    [
        (None, f'pip install "taskstate=={VERSION}"'),
        (COMMIT, 'pip install "taskstate @ git+https://example.invalid/taskstate@abc123"'),
        (
            BELOW,
            'pip install "taskstate @ git+https://example.invalid/taskstate@abc123#subdirectory=python"',
        ),
        (SSH, 'pip install "taskstate @ git+ssh://git@example.invalid/taskstate@abc123"'),
        (WHEEL, 'pip install "taskstate @ https://example.invalid/taskstate.whl"'),
        (FOLDER, ""),
        (EDITABLE, ""),
        (SECRET, ""),
        (SECRET_WHEEL, ""),
        (STRANGE, ""),
        (MERCURIAL, ""),
    ],
)
@pytest.mark.usefixtures("environment")
def test_the_same_elsewhere(monkeypatch: pytest.MonkeyPatch, source: object, command: str) -> None:
    """Only an address that others reach, and that holds no password, is passed on."""
    came_from(monkeypatch, source)
    assert installed.elsewhere() == command


def test_ci_installs_with_pip_what_a_tool_installed_here(environment: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The machine of a workflow has a Python with pip, and perhaps neither uv nor pipx."""
    came_from(monkeypatch, WHEEL)
    (environment / "uv-receipt.toml").touch()
    wanted = '"taskstate @ https://example.invalid/taskstate.whl"'
    assert installed.elsewhere() == f"uv tool install {wanted}"
    assert installed.elsewhere(by_pip=True) == f"pip install {wanted}"


def test_an_extra_is_there_once_its_packages_are(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each extra of the package that a person may lack is known by what it brings."""
    metadata = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    of_developers = {"audit", "dev", "fleet-check", "fuzz", "mutants", "neovim"}
    extras = metadata["optional-dependencies"].keys() - of_developers
    assert not [extra for extra in extras - {"fleet"} if installed.lacks(extra)]  # with it come 21 packages
    monkeypatch.setattr(importlib.util, "find_spec", lambda _: None)
    assert all(installed.lacks(extra) for extra in extras)


def test_command_is_the_one_of_this_environment(environment: Path) -> None:
    """Git's hooks are told of the program that set the repository up."""
    assert installed.command() == str(environment / "bin/taskstate")
    (environment / "bin/taskstate").unlink()
    assert installed.command() == ""
