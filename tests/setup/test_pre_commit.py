from __future__ import annotations

import os
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from taskstate.setup.installation import Wanted, install, remove
from taskstate.setup.pre_commit import PRE_COMMIT, with_hooks
from taskstate.workspace.workspace import find_workspace
from tests.support.place import tree

OLD = """repos:
  - repo: local
    hooks:
      - id: taskstate-lint
        name: taskstate lint --staged
        entry: taskstate lint --staged
        language: system
"""


def run_entry(root: Path, text: str, path: str) -> subprocess.CompletedProcess[str]:
    """Run the first hook of a configuration as pre-commit does, with a PATH that has git and `path`."""
    entry = shlex.split(yaml.safe_load(text)["repos"][0]["hooks"][0]["entry"])
    tools = root.parent / "tools"
    tools.mkdir(exist_ok=True)
    for name in ("git", "sh"):
        if not (tools / name).exists():
            (tools / name).symlink_to(f"/usr/bin/{name}" if os.access(f"/usr/bin/{name}", os.X_OK) else f"/bin/{name}")
    env = {**os.environ, "PATH": f"{path}:{tools}"}
    return subprocess.run(entry, cwd=root, env=env, capture_output=True, text=True, check=False)


def put_program(folder: Path, *, interpreter: str = "/bin/sh") -> Path:
    """Write a program that says where it is and how it was called, and ends with status 3."""
    folder.mkdir(exist_ok=True)
    path = folder / "taskstate"
    path.write_text(f'#!{interpreter}\necho "{folder.name} $*"\nexit 3\n', encoding="utf-8")
    path.chmod(0o755)
    return path


@pytest.mark.parametrize(
    ("named", "on_path", "says", "status"),
    [
        ("named", "", "named lint --staged\n", 3),
        ("named", "path", "named lint --staged\n", 3),
        ("gone", "path", "path lint --staged\n", 3),
        ("", "path", "path lint --staged\n", 3),
        ("", "", "taskstate lint --staged: not checked, ", 0),
        ("gone", "", "taskstate lint --staged: not checked, ", 1),
        ("broken", "", "taskstate lint --staged: not checked, ", 1),
        ("", "broken", "taskstate lint --staged: not checked, ", 0),
    ],
)
def test_the_program_is_looked_for(repository: Path, named: str, on_path: str, says: str, status: int) -> None:
    """By git's configuration, else by the PATH; without it a clone passes if it was never set up, with one line."""
    places = repository.parent
    put_program(places / "named")
    put_program(places / "path")
    put_program(places / "broken", interpreter="/nonexistent/python")
    if named:
        subprocess.run(
            ["git", "config", "taskstate.program", str(places / named / "taskstate")], cwd=repository, check=True
        )
    done = run_entry(repository, with_hooks("", require=False), str(places / on_path) if on_path else "")
    assert (done.returncode, done.stdout.startswith(says), done.stdout.count("\n")) == (status, True, 1), done
    strict = run_entry(repository, with_hooks("", require=True), str(places / on_path) if on_path else "")
    assert strict.returncode == (status or 1)


def test_the_cure_that_is_printed_works(repository: Path) -> None:
    """A clone that was set up refuses; with the program named as the line says, it runs."""
    subprocess.run(["git", "config", "merge.taskstate.driver", "x"], cwd=repository, check=True)
    text = with_hooks("", require=False)
    refused = run_entry(repository, text, "")
    assert refused.returncode == 1
    cure = shlex.split(refused.stdout.partition("name it: ")[2])
    assert cure[:3] == ["git", "config", "taskstate.program"]
    subprocess.run([*cure[:3], str(put_program(repository.parent / "named"))], cwd=repository, check=True)
    assert run_entry(repository, text, "").stdout == "named lint --staged\n"


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_hooks_of_earlier_versions_look_for_the_program_now(repository: Path, newline: str) -> None:
    """Setting up again changes how they call it, `--require` makes them strict, and what was there comes back."""
    path, text = repository / PRE_COMMIT, OLD.replace("\n", newline)
    path.write_bytes(text.encode())
    before = tree(repository)
    workspace = find_workspace(repository, root=str(repository))
    install(workspace, Wanted(pre_commit=True))
    hook = yaml.safe_load(path.read_bytes())["repos"][0]["hooks"][0]
    assert (hook["entry"].startswith("sh -c "), hook["language"]) == (True, "system")
    assert path.read_bytes().count(b"\n") == path.read_bytes().count(newline.encode())
    install(workspace, Wanted(pre_commit=True, require=True))
    subprocess.run(["git", "config", "taskstate.program", "/nonexistent"], cwd=repository, check=True)
    assert run_entry(repository, path.read_text(encoding="utf-8"), "").returncode == 1
    assert PRE_COMMIT in install(workspace, Wanted(pre_commit=True, require=True)).kept
    remove(workspace)
    assert tree(repository) == before


@pytest.mark.parametrize("manager", ["pre-commit", "prek"])
def test_hooks_that_git_would_still_call_are_named(
    repository: Path, monkeypatch: pytest.MonkeyPatch, manager: str
) -> None:
    """With its configuration gone a manager refuses each commit: what takes its hooks out is said, and does it."""
    monkeypatch.setenv("PATH", str(Path(sys.executable).parent), prepend=os.pathsep)
    workspace = find_workspace(repository, root=str(repository))
    install(workspace, Wanted(pre_commit=True))
    assert remove(workspace, dry_run=True).lacking == ()
    subprocess.run([manager, "install"], cwd=repository, check=True, capture_output=True)
    (line,) = remove(workspace).lacking
    subprocess.run(shlex.split(line.split("`")[1]), cwd=repository, check=True, capture_output=True)
    subprocess.run(["git", "commit", "--allow-empty", "-qm", "Work"], cwd=repository, check=True)
