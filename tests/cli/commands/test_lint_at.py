"""`lint --at REV` finds in a commit what `lint` finds in a new clone of it, whatever lies on disk."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import pytest

from tests.cli.conftest import Cli
from tests.support.git_place import GitPlace
from tests.support.lint_corpus import varied_cases
from tests.support.place import Place, tree

if TYPE_CHECKING:
    from collections.abc import Callable

    Lint: TypeAlias = Callable[..., tuple[int, list[dict[str, Any]], list[str]]]

pytestmark = pytest.mark.slow  # it starts many processes of git

SCHEMAS = Path(__file__).parents[3] / "schemas"
TASKS = ".taskstate/tasks"
STATE = f"{TASKS}/task-101-state.md"
WRONG = ("# Task #101: JWT Service", "# Task #101: JWT service")
BY_HAND = ("status: created", "status: complete")
HANDOFF = """---
taskstate: 5
kind: handoff
task_id: "101"
phase: 1
created_at: "2026-01-31T12:00:00Z"
status: open
---

# Handoff

## Context

Read `src/b.py`, `src/none.py`, `linked/x.py`, `out/passwd`, `module`, `src` and `docs/../src/c.py`.
"""


def _write_cases(place: GitPlace) -> None:
    """Write one file of each sort that the rules have cases for."""
    for case in varied_cases():
        place.write(f"cases/{case.id}/{case.name}", case.data)


def _configure_kinds(place: GitPlace) -> None:
    """Declare a kind, and move the state folder."""
    (place.root / ".taskstate").rename(place.root / ".work")
    place.write("taskstate.toml", 'root = ".work"\nexclude = ["old/**"]\n[lint]\nignore = ["TS906"]\n')
    kind = json.loads((SCHEMAS / "kinds" / "task.json").read_text("utf-8")) | {"kind": "errand"}
    place.write(".work/kinds/errand.json", json.dumps(kind))
    text = (place.root / ".work/tasks/task-101-state.md").read_text("utf-8").replace(*WRONG)
    place.write(".work/tasks/task-101-state.md", text)
    place.write(".work/tasks/task-7-state.md", text.replace("kind: task", "kind: errand"))
    place.write("old/task-9-state.md", text)
    place.write("sub/task-101-state.md", text)


def _configure_pyproject(place: GitPlace) -> None:
    """Configure with pyproject.toml, below a folder that is not the top."""
    place.write("app/pyproject.toml", '[tool.taskstate.lint]\nseverity = { TS206 = "warning" }\n')
    place.write(f"app/{STATE}", place.text.replace(*WRONG))
    place.write("pyproject.toml", "[project]\nname = 'x'\n")
    place.text = place.text.replace(*WRONG)


def _link(place: GitPlace) -> None:
    """Commit links: within, outside, to nowhere, in a circle, and with the name of a state file; and a submodule."""
    for name, target in {
        "linked": "src",
        "out": "/etc",
        "up": "../..",
        "circle": "circle",
        f"{TASKS}/task-8-state.md": "task-101-state.md",
        "docs/task-6-state.md": "nowhere",
    }.items():
        (place.root / name).parent.mkdir(parents=True, exist_ok=True)
        (place.root / name).symlink_to(target)
    place.write(".taskstate/handoffs/task-101/phase-1-handoff-20260131T120000Z.md", HANDOFF)
    there = f"160000,{place.git('rev-parse', 'HEAD')},module"
    place.git("update-index", "--add", "--cacheinfo", there)
    place.text = place.text.replace(
        "## 2.", "[a](../../src/b.py) [b](../../out/x) [c](../../circle) [d](../../up)\n\n## 2."
    )


def _name_strangely(place: GitPlace) -> None:
    """Use names that are not UTF-8, or that need care."""
    for folder in (b"f\xff", b"with \t tab", "\u00fc".encode(), b"-x", b"line\nend", b"node_modules"):
        place.write(folder + b"/task-11-state.md", place.text.replace(*WRONG))
    place.write(f"{TASKS}/Task-12-State.md", place.text)
    place.write(f"{TASKS}/task_13_state.md", place.text.replace("101", "13"))


def _ignore(place: GitPlace) -> None:
    """Commit what git ignores elsewhere; leave another such file, and artifacts, uncommitted."""
    place.write(".gitignore", "build/\n.taskstate/artifacts/\n")
    place.write("build/task-20-state.md", place.text.replace(*WRONG))
    place.git("add", "--force", "build/task-20-state.md")
    place.write("build/task-21-state.md", place.text.replace(*WRONG))
    place.write(".taskstate/artifacts/task-101/task-30-state.md", place.text)


def _complete_by_hand(place: GitPlace) -> None:
    """Complete a task by hand that names files, a commit and other tasks, and lose its archive."""
    place.fill(1, 2, 3)
    files = "### Files Created/Modified\n\n- `src/b.py`\n- `src/*.py`\n- `none/**/*.py`\n- `gone.py`\n- `up/../x`\n"
    place.text = place.text.replace(*BY_HAND).replace("## 3.", f"{files}\n## 3.")
    place.text = place.text.replace("depends_on: []", "depends_on: [55]")
    place.write(
        f"{TASKS}/task-102-state.md", place.text.replace("101", "102").replace("---\n\n", "<<<<<<< x\n---\n\n", 1)
    )
    place.write(f"{TASKS}/task-103-state.md", "")


BUILDERS: dict[str, Callable[[GitPlace], None]] = {
    "cases of rules": _write_cases,
    "own kinds": _configure_kinds,
    "pyproject": _configure_pyproject,
    "links": _link,
    "names": _name_strangely,
    "ignored": _ignore,
    "completed by hand": _complete_by_hand,
}


def _clone(place: GitPlace, target: Path, *how: str) -> Path:
    """Clone a repository."""
    subprocess.run(["git", "clone", "--quiet", *how, place.root.as_uri(), target], check=True)
    return target


def _go_on(place: GitPlace) -> None:
    """Delete what is committed, add what is not, and configure something else."""
    for path in [*place.root.rglob("task-*"), *place.root.rglob("*.toml"), place.root / "src"]:
        shutil.rmtree(path) if path.is_dir() and not path.is_symlink() else path.unlink(missing_ok=True)
    place.write(f"{TASKS}/task-77-state.md", "not committed")
    place.write("taskstate.toml", "[lint]\nselect = ['TS001']\n")


@pytest.fixture
def lint(monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str], tmp_path: Path) -> Lint:
    """Return a function that lints in a folder, and returns status, findings and what is said besides."""
    cli = Cli(Place(tmp_path / "here"), monkeypatch, capfd)

    def run(folder: Path, *arguments: str) -> tuple[int, list[dict[str, Any]], list[str]]:
        monkeypatch.chdir(folder)
        result = cli("lint", "--output-format", "json", *arguments)
        found = json.loads(result.out)["findings"] if result.out else []
        return result.status, found, result.err.replace(os.fspath(folder), "HERE").splitlines()

    return run


@pytest.mark.parametrize("name", BUILDERS)
def test_a_commit_gives_what_a_clone_gives(tmp_path: Path, lint: Lint, name: str) -> None:
    """Findings, exit status and what cannot be read are those of a clone: in a bare one, and where work has gone on."""
    place = GitPlace(tmp_path / "w")
    BUILDERS[name](place)
    place.commit("built")
    clone, bare = _clone(place, tmp_path / "clone"), _clone(place, tmp_path / "bare.git", "--bare")
    _go_on(place)
    expected = lint(clone, "--against", "HEAD~1")
    assert expected[1]
    assert lint(bare, "--at", "HEAD", "--against", "HEAD~1") == expected
    assert lint(place.root, "--at", "main", "--against", "HEAD~1") == expected


def _sha256(place: GitPlace, folder: Path) -> tuple[Path, Path]:
    """Return a clone and a bare repository with SHA-256."""
    return _clone(place, folder / "c"), _clone(place, folder / "b.git", "--bare")


def _shallow(place: GitPlace, folder: Path) -> tuple[Path, Path]:
    """Return a shallow clone and a shallow bare one."""
    return _clone(place, folder / "c", "--depth=1"), _clone(place, folder / "b.git", "--depth=1", "--bare")


def _packed(place: GitPlace, folder: Path) -> tuple[Path, Path]:
    """Return a clone, and a repository whose references and objects are packed."""
    place.git("gc", "--quiet")
    place.git("pack-refs", "--all")
    return _clone(place, folder / "c"), place.root


def _worktree(place: GitPlace, folder: Path) -> tuple[Path, Path]:
    """Return a clone, and a linked worktree of another branch."""
    place.git("worktree", "add", "--quiet", "-b", "other", str(folder / "linked"), "main~1")
    return _clone(place, folder / "c"), folder / "linked"


def _sparse(place: GitPlace, folder: Path) -> tuple[Path, Path]:
    """Return a clone, and a sparse checkout that leaves the tasks out."""
    sparse = _clone(place, folder / "sparse", "--no-checkout")
    subprocess.run(["git", "sparse-checkout", "set", "docs"], cwd=sparse, check=True, capture_output=True)
    return _clone(place, folder / "c"), sparse


KINDS = {"SHA-256": _sha256, "shallow": _shallow, "packed": _packed, "worktree": _worktree, "sparse": _sparse}


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_of_repository_is_read(tmp_path: Path, lint: Lint, kind: str) -> None:
    """A commit is read whatever the hash, the references, and the files that are checked out."""
    place = GitPlace(tmp_path / "w", init=("--object-format=sha256",) if kind == "SHA-256" else ())
    place.fill(1, 2)
    place.commit("sessions")
    place.text = place.text.replace(*WRONG).replace("- did 1\n", "- another\n")
    place.commit("built")
    clone, other = KINDS[kind](place, tmp_path)
    assert lint(other, "--at", "main") == lint(clone)
    assert lint(clone)[1]
    if kind != "shallow":
        codes = [each["code"] for each in lint(clone, "--against", "HEAD~1")[1]]
        assert "TS405" in codes
        assert [each["code"] for each in lint(other, "--at", "main", "--against", "main~1")[1]] == codes


def test_a_server_refuses_a_push_with_the_hook_as_printed(tmp_path: Path) -> None:
    """New branches, tags and what is deleted pass; a rewritten session is refused, which whoever pushes can read."""
    place, page = GitPlace(tmp_path / "w"), Path(__file__).parents[3] / "docs" / "linting.md"
    place.fill(1, 2)
    place.commit("sessions")
    server = _clone(place, tmp_path / "server.git", "--bare")
    hook = re.findall(r"(?s)^```sh\n(#!/bin/sh\n.*?)^```", page.read_text("utf-8"), flags=re.MULTILINE)
    (server / "hooks" / "pre-receive").write_text(hook[0], "utf-8")
    (server / "hooks" / "pre-receive").chmod(0o755)
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"

    def push(*names: str) -> tuple[int, str]:
        command = ["git", "push", str(server), *names]
        done = subprocess.run(
            command, cwd=place.root, env=os.environ | {"PATH": path}, capture_output=True, check=False
        )
        return done.returncode, done.stderr.decode()

    place.git("tag", "--annotate", "--message=one", "v1")
    status, said = push("main:refs/heads/topic", "v1")
    assert (status, said.count("Found 1 warning in 1 of 1 file")) == (0, 2), said
    place.text = place.text.replace("- did 1\n", "- another\n")
    place.commit("rewritten")
    status, said = push("main")
    assert status == 1, said
    assert "TS405 session-rewritten" in said
    assert "pre-receive hook declined" in said
    status, said = push(":topic")
    assert status == 0, said


def test_paths_and_folders_are_those_of_the_commit(tmp_path: Path, lint: Lint) -> None:
    """A path need not be on disk, and one that the commit lacks is an error; a folder's own configuration counts."""
    place = GitPlace(tmp_path / "w")
    _configure_pyproject(place)
    place.commit("built")
    clone, bare = _clone(place, tmp_path / "clone"), _clone(place, tmp_path / "bare.git", "--bare")
    _go_on(place)
    for against in ((), ("--against", "HEAD~1")):
        status, found, _ = lint(clone / "app", *against)
        assert lint(bare, "--at", "HEAD", "--root", "app", *against) == (status, found, [])
    assert lint(place.root, "--at", "HEAD", STATE) == lint(clone, STATE)
    assert lint(place.root, "--at", "HEAD", ".taskstate") == lint(clone, ".taskstate")
    assert lint(place.root / "app", "--at", "HEAD") == lint(clone / "app")
    assert ("TS206", "warning") in {(each["code"], each["severity"]) for each in lint(clone / "app")[1]}
    status, _, said = lint(place.root, "--at", "HEAD", f"{TASKS}/task-77-state.md")
    assert (status, len(said)) == (2, 1)
    assert said[0].endswith("task-77-state.md does not exist: check the path")


def test_what_was_put_back_is_known_from_the_past(tmp_path: Path, lint: Lint) -> None:
    """A session that one commit rewrote and the next put back is no finding: the commits before tell it."""
    place = GitPlace(tmp_path / "w")
    place.fill(1, 2)
    place.commit("sessions")
    text = place.text
    place.text = text.replace("- did 1\n", "- another\n")
    place.commit("rewritten")
    place.text = text
    place.commit("put back")
    bare = _clone(place, tmp_path / "bare.git", "--bare")
    for against, codes in (("HEAD~1", ["TS414"]), ("HEAD~2", ["TS414"])):
        assert [each["code"] for each in lint(bare, "--at", "HEAD", "--against", against)[1]] == codes
    assert [each["code"] for each in lint(bare, "--at", "HEAD~1", "--against", "HEAD~2")[1]] == ["TS414", "TS405"]


def test_nothing_is_written(tmp_path: Path, lint: Lint) -> None:
    """Neither the working tree nor git's own folder changes, and no cache is made."""
    place = GitPlace(tmp_path / "w")
    before = place.kept_by_git(), tree(place.root)
    assert lint(place.root, "--at", "HEAD")[0] == 0
    assert (place.kept_by_git(), tree(place.root)) == before
    assert not (place.root / ".git" / "taskstate").exists()


REFUSALS = (
    (("--at", "nowhere"), "there is no commit nowhere here: name one that `git log` shows"),
    (("--at", "HEAD:a.txt"), "there is no commit HEAD:a.txt here: name one that `git log` shows"),
    (("--at", ""), "lint: --at names no commit: name one, such as HEAD"),
    *(
        (("--at", "HEAD", flag), f"lint: --at checks a commit, which stays as it is: leave out --at or {flag}")
        for flag in ("--fix", "--add-ignores", "--diff", "--staged", "--watch", "-")
    ),
)


@pytest.mark.parametrize(("arguments", "line"), REFUSALS)
def test_a_wrong_commit_or_flag_is_one_error(tmp_path: Path, lint: Lint, arguments: tuple[str, ...], line: str) -> None:
    """What names no commit, and what does not go with one, is refused with one line."""
    place = GitPlace(tmp_path / "w")
    assert lint(place.root, *arguments) == (2, [], [f"taskstate: {line}"])


def test_without_a_commit_there_is_nothing_to_check(tmp_path: Path, repository: Path, lint: Lint) -> None:
    """An empty repository, a bare one without --at, and a folder without git are one error each, with a way out."""
    bare, alone = tmp_path / "b.git", tmp_path / "alone"
    subprocess.run(["git", "init", "--quiet", "--bare", bare], check=True)
    alone.mkdir()
    for empty in (repository, bare):
        said = ["taskstate: there is no commit HEAD here: name one that `git log` shows"]
        assert lint(empty, "--at", "HEAD") == (2, [], said)
    assert "`taskstate lint --at HEAD` checks a commit of it here" in lint(bare)[2][0]
    line = "taskstate: there is no commit HEAD: HERE is in no git repository: leave out --at"
    assert lint(alone, "--at", "HEAD") == (2, [], [line])


def test_a_bare_repository_of_another_user_is_not_read(
    tmp_path: Path, lint: Lint, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Git refuses it, since its configuration may name programs; whoever trusts it says so to git."""
    place = GitPlace(tmp_path / "w")
    bare = _clone(place, tmp_path / "bare.git", "--bare")
    monkeypatch.setenv("GIT_TEST_ASSUME_DIFFERENT_OWNER", "1")
    status, found, said = lint(bare, "--at", "HEAD")
    assert (status, found) == (2, [])
    assert "dubious ownership" in said[0]


def test_a_merge_in_progress_does_not_count(tmp_path: Path, lint: Lint) -> None:
    """What is being merged into the working tree is nothing that a commit is compared with."""
    place = GitPlace(tmp_path / "w")
    place.fill(1, 2)
    first = place.commit("sessions")
    place.git("checkout", "--quiet", "-b", "side")
    place.text = place.text.replace("- did 1\n", "- another\n")
    place.commit("side")
    place.git("checkout", "--quiet", "main")
    place.git("merge", "--quiet", "--no-ff", "--no-commit", "side")
    for against in ((), ("--against", "HEAD")):
        assert [each["code"] for each in lint(place.root, "--at", first, *against)[1]] == ["TS414"]
