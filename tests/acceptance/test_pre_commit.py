"""Real hook managers refuse a malformed file, with the finding shown, and take the mended one."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from tests.support.checkout import copy_to, need_index, run, succeed
from tests.support.place import Place

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = [pytest.mark.slow, pytest.mark.parametrize("manager", ["pre-commit", "prek"])]

STATE = ".taskstate/tasks/task-101-state.md"
NO_NETWORK = dict.fromkeys(
    ("http_proxy", "https_proxy", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"), "http://127.0.0.1:9"
)


class Repository:
    """A git repository with hooks that are to be tried, by one of the managers that there are."""

    def __init__(self, root: Path, manager: str, env: dict[str, str]) -> None:
        self.root = root
        self.manager = manager
        homes = {"PRE_COMMIT_HOME": str(root.parent / "pre-commit"), "PREK_HOME": str(root.parent / "prek")}
        self.env = env | homes | {"TASKSTATE_ACTOR": "somebody"}

    def ok(self, *command: str) -> str:
        """Run a command that must end well."""
        return succeed(*command, cwd=self.root, env=self.env)

    def commit(self) -> str:
        """Commit everything, and return what git and the hooks said."""
        self.ok("git", "add", "--all")
        done = run("git", "commit", "--message", "work", cwd=self.root, env=self.env)
        return f"status {done.returncode}\n{done.stdout}"

    def commits(self) -> int:
        """Return how many commits there are."""
        done = run("git", "rev-list", "--count", "HEAD", cwd=self.root, env=self.env)
        return int(done.stdout) if done.returncode == 0 else 0

    def edit(self, old: str, new: str) -> None:
        """Change the state file by hand."""
        path = self.root / STATE
        text = path.read_text(encoding="utf-8")
        assert old in text
        path.write_text(text.replace(old, new), encoding="utf-8")


def try_hooks(there: Repository) -> None:
    """Break the task's file, see it refused, mend it, see it accepted; and the same with a file over its limit."""
    there.ok(there.manager, "install")
    there.edit('"passes": false', '"passes": maybe')
    line = (there.root / STATE).read_text(encoding="utf-8").split("maybe")[0].count("\n") + 1
    refused = there.commit()
    assert refused.startswith("status 1\n")
    assert "taskstate lint" in refused
    assert f"{STATE}:{line}:" in refused
    assert "TS005" in refused
    assert there.commits() == 0
    there.edit('"passes": maybe', '"passes": false')
    accepted = there.commit()
    assert accepted.startswith("status 0\n"), accepted
    assert "Passed" in accepted
    assert there.commits() == 1
    grow(there)
    refused = there.commit()
    assert refused.startswith("status 1\n")
    assert "task 101 is over the limit: run `taskstate archive 101`" in refused
    assert "TS502" in refused
    there.ok("taskstate", "archive", "101")
    accepted = there.commit()
    assert accepted.startswith("status 0\n"), accepted
    assert there.commits() == 2


def grow(there: Repository) -> None:
    """Let the task's file pass its limit, with sessions written by hand."""
    body = "**What I did:** {0}\n\n**Issues:** None\n\n**Current state:** s\n\n**Next steps:** n\n\n"
    entry = "### Session {1} - 2026-01-01 10:00\n\n" + body
    there.edit("## 5. Git", "".join(entry.format("word " * 2_000, number) for number in range(1, 10)) + "## 5. Git")
    there.ok("taskstate", "lint", "--fix", "--select", "TS1")


def test_hooks_that_init_writes_work_offline(repository: Path, manager: str) -> None:
    """What `taskstate init --pre-commit` writes needs no network: the hooks run the installed command."""
    there = Repository(repository, manager, NO_NETWORK | {"PIP_NO_INDEX": "1"})
    there.ok("taskstate", "init", "--pre-commit")
    there.ok(
        *("taskstate", "new", "101", "--title", "JWT Service", "--description", "Issue tokens."),
        *("--criterion", "Tokens verify", "--feature", "jwt-1=makes a JWT"),
    )
    try_hooks(there)


def test_hooks_of_this_checkout_work_elsewhere(repository: Path, tmp_path: Path, manager: str) -> None:
    """Another repository names this one in its configuration, and the manager builds and runs the hooks."""
    if manager == "prek" and "INSTALL_CHECK" not in os.environ:
        pytest.skip("`make install-check` runs it; pre-commit builds the same hooks")
    need_index()
    hooks = copy_to(tmp_path / "hooks")
    for command in (
        ("init", "--quiet"),
        ("add", "--all"),
        (
            "-c",
            "user.name=Somebody",
            "-c",
            "user.email=somebody@example.invalid",
            "commit",
            "--quiet",
            "--message",
            "x",
        ),
    ):
        succeed("git", *command, cwd=hooks)
    revision = succeed("git", "rev-parse", "HEAD", cwd=hooks).strip()
    Place(repository)
    (repository / ".pre-commit-config.yaml").write_text(
        f"repos:\n  - repo: {hooks}\n    rev: {revision}\n    hooks:\n"
        "      - id: taskstate-lint\n      - id: taskstate-archive-check\n",
        encoding="utf-8",
    )
    try_hooks(Repository(repository, manager, {}))


def test_other_files_are_left_alone(repository: Path, manager: str) -> None:
    """A commit without any of our own files passes in a line, and names alone decide which files are ours."""
    there = Repository(repository, manager, NO_NETWORK)
    there.ok("taskstate", "init", "--pre-commit")
    there.ok(manager, "install")
    (repository / "notes-state.md").write_text("no front matter\n", encoding="utf-8")
    first = there.commit()
    assert first.startswith("status 0\n"), first
    assert "No findings in 0 files." in first
    (repository / "task-7-state.md").write_bytes(b"\xff\x00")
    second = there.commit()
    assert second.startswith("status 1\n")
    assert "TS001" in second
    assert there.commits() == 1
