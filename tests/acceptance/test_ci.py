"""The commands of the workflow of `init --ci`, and of the recipes, run in clean clones as a service runs them."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import pytest
import yaml

from tests.support.git_place import GitPlace

if TYPE_CHECKING:
    from collections.abc import Callable

ROOT = Path(__file__).parents[2]
STATE = ".taskstate/tasks/task-101-state.md"
RECIPES = re.findall(r"(?ms)^```yaml\n(.*?)^```", (ROOT / "docs" / "linting.md").read_text(encoding="utf-8"))
GITLAB = next(yaml.safe_load(each) for each in RECIPES if each.startswith("taskstate:\n"))["taskstate"]
UNKNOWN = "0" * 40


class Happened(NamedTuple):
    """What a service says of an event: the place where a request left its target, the commit before, the branch."""

    base: str
    before: str
    branch: str


@pytest.fixture
def hub(tmp_path: Path) -> GitPlace:
    """Return what a service holds: main with a session of task 101 and the workflow, and a branch of it."""
    place = GitPlace(tmp_path.resolve() / "hub")
    place.add("one")
    taskstate(place.root, "init", "--ci", "--install", "true")
    place.commit("one session")
    place.git("switch", "--quiet", "--create", "work")
    return place


def taskstate(root: Path, *arguments: str) -> None:
    """Run the program."""
    subprocess.run([sys.executable, "-m", "taskstate", *arguments], cwd=root, check=True, capture_output=True)


def github(hub: GitPlace, folder: Path, happened: Happened) -> subprocess.CompletedProcess[str]:
    """Run the last step of the workflow in a clone as the action that checks out makes it."""
    written = yaml.safe_load((hub.root / ".github/workflows/taskstate.yml").read_text(encoding="utf-8"))
    steps = written["jobs"]["lint"]["steps"]
    assert steps[0]["with"] == {"fetch-depth": 0}
    said = {
        "github.event.pull_request.base.sha || github.event.before": happened.base or happened.before,
        "github.event.repository.default_branch": "main",
    }
    around = {name: said[value[len("${{ ") : -len(" }}")]] for name, value in steps[-1]["env"].items()}
    return run(steps[-1]["run"], hub.clone(folder, f"--branch={happened.branch}").root, around)


def gitlab(hub: GitPlace, folder: Path, happened: Happened) -> subprocess.CompletedProcess[str]:
    """Run the script of the recipe in a clone with all commits, without the line that installs."""
    assert GITLAB["variables"] == {"GIT_DEPTH": "0"}
    around = {"CI_COMMIT_BEFORE_SHA": happened.before, "CI_DEFAULT_BRANCH": "main"}
    around |= {"CI_MERGE_REQUEST_DIFF_BASE_SHA": happened.base} if happened.base else {}
    root = hub.clone(folder, f"--branch={happened.branch}").root
    done = run("\n".join(GITLAB["script"][1:]), root, around)
    done.stdout += (root / "gl-code-quality-report.json").read_text(encoding="utf-8")
    return done


def run(script: str, root: Path, around: dict[str, str]) -> subprocess.CompletedProcess[str]:
    """Run a script as both services do."""
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    return subprocess.run(
        ["bash", "--noprofile", "--norc", "-e", "-o", "pipefail", "-c", script],
        cwd=root,
        env=os.environ | around | {"PATH": path},
        capture_output=True,
        encoding="utf-8",
        check=False,
    )


def rewritten(hub: GitPlace) -> str:
    """Reword a committed session."""
    text = (hub.root / STATE).read_text(encoding="utf-8")
    assert "** one\n" in text
    hub.write(STATE, text.replace("** one\n", "** two\n"))
    return "TS405"


def deleted(hub: GitPlace) -> str:
    """Delete the state file of an open task."""
    (hub.root / STATE).unlink()
    return "TS012"


def requested(hub: GitPlace) -> Happened:
    """Return a pull request, whose target has gone on."""
    base = hub.git("merge-base", "main", "work")
    hub.git("switch", "--quiet", "main")
    hub.write("a.txt", "gone on\n")
    hub.commit("gone on")
    return Happened(base, UNKNOWN, "work")


def pushed(hub: GitPlace) -> Happened:
    """Return a push to main."""
    before = hub.git("rev-parse", "main")
    hub.git("branch", "--force", "main", "work")
    return Happened("", before, "main")


def pushed_first(_: GitPlace) -> Happened:
    """Return the first push of a branch."""
    return Happened("", UNKNOWN, "work")


def forced(hub: GitPlace) -> Happened:
    """Return a forced push of a branch, after which the commit before it is gone from the service."""
    return Happened("", hub.git("commit-tree", "-m", "gone", "HEAD^{tree}")[::-1], "work")


SERVICES = (github, gitlab)
EVENTS = (requested, pushed, pushed_first, forced)


@pytest.mark.parametrize("service", SERVICES)
@pytest.mark.parametrize("event", EVENTS)
@pytest.mark.parametrize("harm", [rewritten, deleted])
def test_history_that_was_harmed_is_refused(
    hub: GitPlace,
    tmp_path: Path,
    service: Callable[[GitPlace, Path, Happened], subprocess.CompletedProcess[str]],
    event: Callable[[GitPlace], Happened],
    harm: Callable[[GitPlace], str],
) -> None:
    """A rewritten session and a deleted state file that are committed fail the job, whatever started it."""
    code = harm(hub)
    hub.commit("harm")
    done = service(hub, tmp_path / "clone", event(hub))
    assert (done.returncode, code in done.stdout) == (1, True), done.stdout + done.stderr


@pytest.mark.parametrize("service", SERVICES)
@pytest.mark.parametrize("event", EVENTS)
def test_what_is_new_passes(
    hub: GitPlace,
    tmp_path: Path,
    service: Callable[[GitPlace, Path, Happened], subprocess.CompletedProcess[str]],
    event: Callable[[GitPlace], Happened],
) -> None:
    """A session more is no finding, and it was compared: nothing says that it could not be."""
    hub.add("two")
    hub.commit("two sessions")
    done = service(hub, tmp_path / "clone", event(hub))
    assert (done.returncode, "not compared" in done.stderr) == (0, False), done.stdout + done.stderr


def test_the_recipe_in_steps_is_the_workflow(hub: GitPlace) -> None:
    """The documentation shows the step that `init --ci` writes."""
    written = yaml.safe_load((hub.root / ".github/workflows/taskstate.yml").read_text(encoding="utf-8"))
    shown = next(yaml.safe_load(each)["jobs"]["lint"] for each in RECIPES if "\n  lint:" in each)
    shown["steps"][2] = {"run": True}
    written["jobs"]["lint"]["steps"][2] = {"run": True}
    assert shown == written["jobs"]["lint"]
