from __future__ import annotations

import subprocess
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tests.cli.conftest import Cli
    from tests.support.place import Place


def commit(place: Place, message: str) -> None:
    """Commit all that is there."""
    call(place, "add", "--all")
    call(place, "commit", "--quiet", "--allow-empty", "--message", message)


def call(place: Place, *arguments: str) -> str:
    """Return what git says."""
    command = ["git", "-c", "user.name=x", "-c", "user.email=x@example.org", *arguments]
    return subprocess.run(command, cwd=place.root, check=True, capture_output=True, text=True).stdout


def test_git_history_is_written_and_lints(cli: Cli, place: Place) -> None:
    """Commits that name the task are listed; lint and fmt have nothing to say about that."""
    call(place, "init", "--quiet")
    commit(place, "begin")
    for number in range(25):
        commit(place, f"Step {number} <!-- x\n\nTask: 101")
    data = cli.json("git-history", "sync", "101")
    assert data["notes"][0] == "25 commits listed"
    assert data["changed"] is True
    assert "Step 24" in place.text
    assert "Step 4 " in place.archived
    assert cli.ok("lint", place.path, place.archive_path, "--strict") == "No findings in 2 files.\n"
    cli.ok("fmt", "--check", place.path)
    cli.ok("archive", "verify", "101")
    assert cli.ok("git-history", "sync", "101").startswith(".taskstate/tasks/task-101-state.md: nothing to change\n")


def test_dry_run_and_what_is_refused(cli: Cli, place: Place) -> None:
    """A dry run shows the list; outside of git and for a revision that is none the command is refused."""
    assert "is in no git repository" in cli.refused("git-history", "sync", "101")
    call(place, "init", "--quiet")
    commit(place, "Task 101: begin")
    first = place.text
    commit(place, "Task 101: go on")
    shown = cli.ok("git-history", "sync", "101", "--since", "HEAD~1", "--dry-run")
    assert "go on" in shown
    assert "begin" not in shown
    assert place.text == first
    assert "no commit nowhere here" in cli.refused("git-history", "sync", "101", "--since", "nowhere")
