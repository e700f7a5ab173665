"""Each recipe for continuous integration in the documentation refuses a branch that rewrote what was committed."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

import pytest

from tests.support.checkout import ROOT, run, succeed
from tests.support.place import Place

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.slow

PAGE = (ROOT / "docs" / "linting.md").read_text(encoding="utf-8").split("## In continuous integration")[1]
RECIPES = re.findall(r"^ +(?:- )?(?:run: )?((?:taskstate lint|pre-commit run) .*)$", PAGE, re.MULTILINE)
ZEROS = "0" * 40
STATE = ".taskstate/tasks/task-101-state.md"


class Commits(NamedTuple):
    """The commits of a branch: where it left the main one, the one before the last push, and its last."""

    base: str
    before: str
    last: str


def values(event: str, commits: Commits) -> dict[str, str]:
    """Return the variables that the services set, as the recipes name them."""
    if event == "a pull request":
        return {"BASE": commits.base, "CI_MERGE_REQUEST_DIFF_BASE_SHA": commits.base, "CI_COMMIT_BEFORE_SHA": ZEROS}
    return {"BASE": commits.before, "CI_COMMIT_BEFORE_SHA": commits.before}


def git(root: Path, *arguments: str) -> str:
    """Return what git says."""
    return succeed("git", *arguments, cwd=root).strip()


def commit(root: Path, *flags: str) -> str:
    """Commit everything, and return the commit's id."""
    git(root, "add", "--all")
    git(root, "commit", "--quiet", "--message", "work", *flags)
    return git(root, "rev-parse", "HEAD")


@pytest.fixture
def place(repository: Path) -> Place:
    """Return a repository with the hooks, and on main a session of task 101."""
    place = Place(repository)
    env = {"TASKSTATE_ACTOR": "somebody"}
    succeed("taskstate", "init", "--pre-commit", cwd=repository, env=env)
    place.add("one")
    commit(repository)
    return place


def checkout_of(place: Place, tmp_path: Path, *, rewritten: bool) -> tuple[Path, Commits]:
    """Return what a service checks out: a branch with two more sessions, while main has gone on, too."""
    root = place.root
    base = git(root, "rev-parse", "HEAD")
    git(root, "switch", "--quiet", "--create", "work")
    place.add("two")
    before = commit(root)
    place.add("three")
    if rewritten:
        place.text = place.text.replace("** one\n", "** another\n")
    last = commit(root, "--no-verify")
    git(root, "switch", "--quiet", "main")
    place.add("theirs")
    commit(root)
    git(root, "switch", "--quiet", "work")
    clone = tmp_path / "checkout"
    git(root, "clone", "--quiet", "--branch", "work", f"file://{root}", str(clone))
    git(clone, "switch", "--quiet", "--detach", last)
    return clone, Commits(base, before, last)


def test_every_recipe_names_what_to_compare_with() -> None:
    """No recipe compares a commit with itself, and the variables are those that the services set."""
    assert len(RECIPES) >= 5
    assert all("--against" in recipe or "--from-ref" in recipe for recipe in RECIPES)
    bases = re.findall(r"^ +(?:BASE: |- BASE=)(.*)$", PAGE, re.MULTILINE)
    assert bases == [
        "${{ github.event.pull_request.base.sha || github.event.before }}",
        "${CI_MERGE_REQUEST_DIFF_BASE_SHA:-$CI_COMMIT_BEFORE_SHA}",
    ]


@pytest.mark.parametrize("event", ["a pull request", "a push"])
def test_a_recipe_refuses_a_rewritten_history(place: Place, tmp_path: Path, event: str) -> None:
    """A session that was rewritten past the hooks is refused by every recipe, with its finding in the report."""
    clone, commits = checkout_of(place, tmp_path, rewritten=True)
    homes = {"PRE_COMMIT_HOME": str(tmp_path / "home")}
    for recipe in RECIPES:
        done = run("bash", "-c", recipe, cwd=clone, env=values(event, commits) | homes)
        report = done.stdout + "".join((clone / name).read_text() for name in re.findall(r"> (\S+)$", recipe))
        assert done.returncode == 1, (recipe, report)
        assert "TS405" in report, recipe


@pytest.mark.parametrize("event", ["a pull request", "a push"])
def test_a_recipe_passes_an_honest_branch(place: Place, tmp_path: Path, event: str) -> None:
    """A branch that only added sessions passes, though the main branch has gone on meanwhile."""
    clone, commits = checkout_of(place, tmp_path, rewritten=False)
    homes = {"PRE_COMMIT_HOME": str(tmp_path / "home")}
    for recipe in RECIPES:
        done = run("bash", "-c", recipe, cwd=clone, env=values(event, commits) | homes)
        assert done.returncode == 0, (recipe, done.stdout)
