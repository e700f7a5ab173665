from __future__ import annotations

import shutil
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest
import yaml

from taskstate.setup.pre_commit import PRE_COMMIT
from taskstate.setup.repository import (
    DRIVER,
    DRIVER_KEY,
    MERGED_PATTERNS,
    MergeDriver,
    SetUpResult,
    configure_git,
    merge_driver_state,
    set_up,
    unconfigure_git,
)
from taskstate.storage import installed
from taskstate.workspace.workspace import find_workspace
from tests.support.place import refusal, tree

if TYPE_CHECKING:
    from pathlib import Path

FRESH = (
    ".gitignore",
    ".gitattributes",
    ".taskstate/.gitignore",
    "taskstate.toml",
    ".taskstate/tasks/.gitkeep",
    ".taskstate/archives/.gitkeep",
    ".taskstate/handoffs/.gitkeep",
    ".taskstate/templates/.gitkeep",
)
REPOS = "repos:\n- repo: https://example.invalid/hooks\n  rev: v1\n  hooks:\n  - id: one\n"


def init(root: Path, *, pre_commit: bool = False, dry_run: bool = False) -> SetUpResult:
    """Set a repository up."""
    return set_up(find_workspace(root, root=str(root)), pre_commit=pre_commit, dry_run=dry_run)


def put(root: Path, name: str, text: str | bytes) -> bytes:
    """Write a file, and return its bytes."""
    data = text if isinstance(text, bytes) else text.encode()
    (root / name).write_bytes(data)
    return data


def validates(path: Path) -> bool:
    """Return whether the real pre-commit accepts a configuration."""
    command = [sys.executable, "-m", "pre_commit", "validate-config", str(path)]
    return subprocess.run(command, check=False, capture_output=True).returncode == 0


def test_empty_folder_is_set_up(tmp_path: Path) -> None:
    """Folders, configuration and git's files are created and returned."""
    done = init(tmp_path)
    assert done == SetUpResult(created=FRESH, changed=(), kept=())
    assert set(tree(tmp_path)) == set(FRESH)
    ignored = (tmp_path / ".taskstate/.gitignore").read_text(encoding="utf-8")
    assert ignored == "/artifacts/\n/private/\n/lock\n.taskstate-*.tmp\n"
    assert ".taskstate/**/*.md text\n" in (tmp_path / ".gitattributes").read_text(encoding="utf-8")
    assert find_workspace(tmp_path).config == find_workspace(tmp_path, root=str(tmp_path)).config


@pytest.mark.parametrize("pre_commit", [False, True])
def test_doing_it_again_changes_nothing(tmp_path: Path, *, pre_commit: bool) -> None:
    """The second time everything is left as it is."""
    init(tmp_path, pre_commit=pre_commit)
    before = tree(tmp_path)
    done = init(tmp_path, pre_commit=pre_commit)
    assert (done.created, done.changed) == ((), ())
    assert tree(tmp_path) == before


def test_dry_run_writes_nothing(tmp_path: Path) -> None:
    """A dry run returns the same and writes nothing."""
    done = init(tmp_path, pre_commit=True, dry_run=True)
    assert set(done.created) == {*FRESH, PRE_COMMIT}
    assert list(tmp_path.iterdir()) == []


def test_folder_in_use_needs_no_placeholder(tmp_path: Path) -> None:
    """A folder that is not empty gets no `.gitkeep`."""
    init(tmp_path)
    keep = tmp_path / ".taskstate" / "tasks" / ".gitkeep"
    keep.rename(keep.with_name("task-1-state.md"))
    assert init(tmp_path).created == ()


@pytest.mark.parametrize("name", [".gitignore", ".gitattributes"])
@pytest.mark.parametrize("text", ["*.pyc\n", "*.pyc", "a\r\nb\r\n", "\ufeff# x\n\n\n", "caf\u00e9/\u2028x\n", "\n"])
def test_lines_are_added_behind_what_is_there(tmp_path: Path, name: str, text: str) -> None:
    """An existing file keeps every byte, and the new lines take its line end."""
    before = put(tmp_path, name, text)
    assert init(tmp_path).changed == (name,)
    after = (tmp_path / name).read_bytes()
    assert after.startswith(before)
    added = after.removeprefix(before)
    newline = b"\r\n" if b"\r\n" in before else b"\n"
    assert added.count(b"\n") == added.count(newline)
    assert after.endswith(newline)
    assert b".taskstate/" in after.split(newline)[-2] or name == ".gitignore"


def test_lines_that_are_there_are_not_doubled(tmp_path: Path) -> None:
    """Only missing lines are added."""
    (tmp_path / ".taskstate").mkdir()
    put(tmp_path, ".taskstate/.gitignore", "  /private/  \n/lock\n")
    init(tmp_path)
    lines = (tmp_path / ".taskstate/.gitignore").read_text(encoding="utf-8").split()
    assert sorted(lines) == [".taskstate-*.tmp", "/artifacts/", "/lock", "/private/"]


def test_git_ignores_what_is_derived(repository: Path) -> None:
    """Git sees the state files and neither lock nor private folder and artifacts, nor what a killed writer left."""
    init(repository)
    derived = [
        "lock",
        "private/cache/x",
        "private/journal/pending-1.json",
        "artifacts/task-1/x",
        "tasks/.taskstate-1-ab.tmp",
    ]
    for name in (*derived, "tasks/task-1-state.md"):
        path = repository / ".taskstate" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("x\n", encoding="utf-8")
    seen = subprocess.run(
        ["git", "status", "--short", "--untracked-files=all"],
        cwd=repository,
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    assert ".taskstate/tasks/task-1-state.md" in seen
    assert not [name for name in derived if f".taskstate/{name}" in seen]


def test_root_with_another_name(repository: Path) -> None:
    """The lines name the folder that is configured, also one with a blank in its name, as git reads them."""
    put(repository, "taskstate.toml", 'root = "my state"\n')
    done = init(repository)
    assert "my state/tasks/.gitkeep" in done.created
    assert "taskstate.toml" not in done.created
    path = repository / "my state" / "tasks" / "x.md"
    path.write_text("x\n", encoding="utf-8")
    process = subprocess.run(
        ["git", "check-attr", "text", "my state/tasks/x.md"], cwd=repository, capture_output=True, text=True, check=True
    )
    assert process.stdout.strip().endswith("text: set")
    assert process.stderr == ""


@pytest.mark.parametrize("toml", ["[tool.taskstate]\n", "[tool.taskstate.size]\nmax-kb = 9\n"])
def test_configuration_in_pyproject_is_one(tmp_path: Path, toml: str) -> None:
    """With a configuration in pyproject.toml no other one is created."""
    put(tmp_path, "pyproject.toml", toml)
    init(tmp_path)
    assert not (tmp_path / "taskstate.toml").exists()


def test_pyproject_without_our_table_is_none(tmp_path: Path) -> None:
    """A pyproject.toml that only depends on taskstate configures nothing."""
    put(tmp_path, "pyproject.toml", '[project]\ndependencies = ["taskstate"]\n')
    assert "taskstate.toml" in init(tmp_path).created


# The pre-commit configuration


def test_pre_commit_configuration_is_made(tmp_path: Path) -> None:
    """Where there is none, pre-commit gets a configuration with our two hooks, local and of language system."""
    assert PRE_COMMIT in init(tmp_path, pre_commit=True).created
    path = tmp_path / PRE_COMMIT
    (repo,) = yaml.safe_load(path.read_text(encoding="utf-8"))["repos"]
    assert repo["repo"] == "local"
    assert [hook["id"] for hook in repo["hooks"]] == ["taskstate-lint", "taskstate-archive-check"]
    assert {hook["language"] for hook in repo["hooks"]} == {"system"}
    assert validates(path)


@pytest.mark.parametrize(
    "text",
    [
        REPOS,
        REPOS.replace("\n", "\r\n"),
        "\n".join(line if line == "repos:" else "    " + line for line in REPOS.split("\n")).rstrip(" "),
        "# mine\n---\nexclude: ^x/\n" + REPOS,
        "---\n" + REPOS.rstrip("\n"),
        REPOS + "\n\n  # the end\n\n",
        REPOS + "    args: [a,   'b']  # as I like it\n    entry: |\n      x\n\n",
        "ci: {skip: [one]}\n" + REPOS,
        "default_install_hook_types: [pre-commit, pre-merge-commit]\n" + REPOS,
        "\ufeff" + REPOS,
    ],
    ids=["plain", "crlf", "indented", "marks", "no end", "comments", "odd", "keys", "types", "bom"],
)
def test_hooks_are_added_to_a_block_list(tmp_path: Path, text: str) -> None:
    """A list over several lines keeps every byte, and our hooks are appended with its indentation."""
    before = put(tmp_path, PRE_COMMIT, text)
    assert PRE_COMMIT in init(tmp_path, pre_commit=True).changed
    after = (tmp_path / PRE_COMMIT).read_bytes()
    assert after.startswith(before)
    new, old = (yaml.safe_load(data.decode("utf-8-sig")) for data in (after, before))
    assert new["repos"][:-1] == old["repos"]
    assert new["repos"][-1]["repo"] == "local"
    types = {"default_install_hook_types": ["pre-commit", "pre-merge-commit"]}  # so that `pre-commit install` is enough
    assert {key: value for key, value in new.items() if key != "repos"} == types | {
        key: value for key, value in old.items() if key != "repos"
    }
    newline = b"\r\n" if b"\r\n" in before else b"\n"
    assert after.count(b"\n") == after.count(newline)
    assert validates(tmp_path / PRE_COMMIT)
    assert init(tmp_path, pre_commit=True).changed == ()


@pytest.mark.parametrize("end", ["ci: {}\n", "...\n", "# of the next\nexclude: ^x/\nfail_fast: true"])
def test_hooks_are_added_before_the_keys_that_follow(tmp_path: Path, end: str) -> None:
    """Where other keys come behind `repos`, our hooks stand between, and every other byte stays."""
    put(tmp_path, PRE_COMMIT, REPOS + end)
    assert PRE_COMMIT in init(tmp_path, pre_commit=True).changed
    after = (tmp_path / PRE_COMMIT).read_text(encoding="utf-8")
    assert after.startswith(REPOS)
    assert after.endswith(end)
    assert "taskstate-lint" in after
    assert validates(tmp_path / PRE_COMMIT)


@pytest.mark.parametrize(
    "text",
    [
        "repos: []\n",
        "repos: [{repo: meta, hooks: [{id: identity}]}]\n",
        "repos:\n",
        "ci: {}\n",
        "- repo: x\n",
        "# nothing\n",
        "repos:\n-\n  repo: meta\n",
        "repos: [\n",
        "repos: &a\n- repo: x\nx: *a\n",
        "repos:\n- repo: x\nrepos:\n- repo: y\n",
    ],
)
def test_other_forms_are_refused(tmp_path: Path, text: str) -> None:
    """A configuration that cannot be extended safely is an error that says what to do, and nothing is set up."""
    put(tmp_path, PRE_COMMIT, text)
    before = tree(tmp_path)
    error = refusal(lambda: init(tmp_path, pre_commit=True))
    assert error.code == "cannot-edit"
    assert "\n" not in str(error)
    assert "repos" in str(error)
    assert tree(tmp_path) == before


def test_hooks_that_are_there_already_stay(tmp_path: Path) -> None:
    """A configuration that has the hook in any form is left alone."""
    text = "repos: [{repo: 'https://example.invalid/taskstate', rev: v1, hooks: [{id: taskstate-lint}]}]\n"
    put(tmp_path, PRE_COMMIT, text)
    assert PRE_COMMIT in init(tmp_path, pre_commit=True).kept
    assert (tmp_path / PRE_COMMIT).read_text(encoding="utf-8") == text


# The merge driver


def configured(root: Path) -> str:
    """Return the command of the merge driver in git's configuration."""
    command = ["git", "config", "--get", DRIVER_KEY]
    return subprocess.run(command, cwd=root, check=False, capture_output=True, text=True).stdout.strip()


def test_git_is_told_of_the_merge_driver(repository: Path) -> None:
    """In a repository the driver is configured once, and git would use it for our files."""
    before = merge_driver_state(find_workspace(repository, root=str(repository)))
    assert before == MergeDriver(repository=True, command="", unreached=MERGED_PATTERNS)
    assert "git config merge.taskstate" in init(repository, dry_run=True).created
    assert configured(repository) == ""
    assert "git config merge.taskstate" in init(repository).created
    assert configured(repository) == DRIVER
    assert init(repository).created == ()
    after = merge_driver_state(find_workspace(repository, root=str(repository)))
    program = shutil.which(installed.command())
    assert after == MergeDriver(repository=True, command=DRIVER, unreached=(), program=program or "")
    subprocess.run(["git", "config", DRIVER_KEY, "taskstate merge-driver -- %O %A %B %P"], cwd=repository, check=True)
    assert "git config merge.taskstate" in init(repository).created, "of an earlier version"
    assert configured(repository) == DRIVER
    subprocess.run(["git", "config", "taskstate.program", "/nonexistent"], cwd=repository, check=True)
    assert init(repository).created == ("git config taskstate.program",)
    unconfigure_git(find_workspace(repository, root=str(repository)))
    left = subprocess.run(["git", "config", "--get-regexp", "taskstate"], cwd=repository, check=False)
    assert left.returncode == 1, "nothing is left"


def test_driver_of_ones_own_stays(repository: Path) -> None:
    """A driver configured by the user and an attribute that they removed are left alone and reported."""
    subprocess.run(["git", "config", DRIVER_KEY, "mine %A"], cwd=repository, check=True)
    assert init(repository).created == (*FRESH, "git config taskstate.program")
    with (repository / ".gitattributes").open("a", encoding="utf-8") as attributes:
        attributes.write("*-archive.md -merge\n")
    state = merge_driver_state(find_workspace(repository, root=str(repository)))
    assert state == MergeDriver(repository=True, command="mine %A", unreached=("task-*-archive.md",), program="mine")


def test_without_a_repository_there_is_no_driver(tmp_path: Path) -> None:
    """Outside of a repository nothing is configured, without an error."""
    init(tmp_path)
    assert merge_driver_state(find_workspace(tmp_path)) == MergeDriver(repository=False, command="", unreached=())


def test_configuration_that_git_cannot_write_is_told(repository: Path) -> None:
    """A locked git configuration is an error."""
    (repository / ".git" / "config.lock").write_text("", encoding="utf-8")
    assert refusal(lambda: init(repository)).code == "git"


# What stands in the way


@pytest.mark.parametrize("name", [".gitignore", ".gitattributes", PRE_COMMIT])
def test_file_that_is_not_utf8_is_refused(tmp_path: Path, name: str) -> None:
    """A file that cannot be read safely is not rewritten."""
    put(tmp_path, name, b"# caf\xe9\n")
    before = tree(tmp_path)
    assert refusal(lambda: init(tmp_path, pre_commit=True)).code == "not-utf8"
    assert tree(tmp_path) == before


def test_link_is_not_written_through(tmp_path: Path) -> None:
    """A `.gitignore` that is a link is refused: its target may be somebody else's."""
    root = tmp_path / "repository"
    root.mkdir()
    put(tmp_path, "theirs", "x\n")
    (root / ".gitignore").symlink_to(tmp_path / "theirs")
    refusal(lambda: init(root))
    assert (tmp_path / "theirs").read_text(encoding="utf-8") == "x\n"
    assert not (root / ".taskstate").exists()


def test_file_in_the_place_of_the_state_folder(tmp_path: Path) -> None:
    """A file with the state folder's name is an error."""
    put(tmp_path, ".taskstate", "x\n")
    before = tree(tmp_path)
    refusal(lambda: init(tmp_path))
    assert tree(tmp_path) == before


def test_repository_that_git_refuses_is_told_by_gits_reason(repository: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In one of another user the reason is that, and not that `git config` finds no repository."""
    monkeypatch.setenv("GIT_TEST_ASSUME_DIFFERENT_OWNER", "1")
    error = refusal(lambda: configure_git(find_workspace(repository, root=str(repository))))
    assert "dubious ownership" in error.message
