"""The steps of the GitHub Action, run as the shell scripts that they are in scratch repositories."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from tests.support.git_place import GitPlace

ROOT = Path(__file__).parents[2]
STATE = ".taskstate/tasks/task-101-state.md"
STEPS = yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8"))["runs"]["steps"]
LINT, REPORT = (next(step["run"] for step in STEPS if step["name"] == name) for name in ("Lint", "Report"))


@pytest.fixture
def place(tmp_path: Path) -> GitPlace:
    """Return a repository with a session of task 101 on main, and a branch that goes on from there."""
    place = GitPlace(tmp_path.resolve() / "repository")
    place.add("one")
    place.commit("one session")
    place.git("switch", "--quiet", "--create", "work")
    return place


def lint(root: Path, base: str, **inputs: str) -> subprocess.CompletedProcess[str]:
    """Run the script of the step that lints."""
    return run(LINT, root, base, **inputs)


def report(root: Path, base: str) -> tuple[str, str]:
    """Run the script of the step that reports; return the summary that it writes, and its output."""
    written = {name: root.parent / name for name in ("GITHUB_STEP_SUMMARY", "GITHUB_OUTPUT")}
    for each in written.values():
        each.write_text("", encoding="utf-8")
    done = run(REPORT, root, base, RUNNER_TEMP=str(root.parent), **{name: str(path) for name, path in written.items()})
    assert done.returncode == 0, done.stderr
    summary, output = (path.read_text(encoding="utf-8") for path in written.values())
    return summary, output


def run(script: str, root: Path, base: str, **inputs: str) -> subprocess.CompletedProcess[str]:
    """Run the script of a step as the service does."""
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    around = {"PATH": path, "BASE": base, "DEFAULT": "main", "PATHS": "", "STRICT": "false", "SARIF": "false", **inputs}
    return subprocess.run(
        ["bash", "--noprofile", "--norc", "-e", "-o", "pipefail", "-c", script],
        cwd=root,
        env=os.environ | around,
        capture_output=True,
        encoding="utf-8",
        check=False,
    )


def rewrite(place: GitPlace) -> None:
    """Rewrite on the branch what the session says, and commit it."""
    text = (place.root / STATE).read_text(encoding="utf-8")
    assert "** one\n" in text
    place.write(STATE, text.replace("** one\n", "** two\n"))
    place.commit("rewritten")


def test_a_branch_that_rewrote_history_is_refused(place: GitPlace) -> None:
    """A session that was rewritten since the merge base is an annotation at its line, also when main has gone on."""
    base = place.git("rev-parse", "main").strip()
    rewrite(place)
    done = lint(place.root, base)
    assert done.returncode == 1
    assert f"::error title=TS405 session-rewritten,file={STATE},line=" in done.stdout


def test_a_clean_branch_passes(place: GitPlace) -> None:
    """A new session on the branch is no finding; neither is a first push, which has nothing before it."""
    place.add("two")
    place.commit("two sessions")
    for base in (place.git("rev-parse", "main").strip(), "0" * 40, ""):
        done = lint(place.root, base)
        assert (done.returncode, "::error" in done.stdout) == (0, False), done.stdout + done.stderr


def test_a_shallow_clone_is_deepened(place: GitPlace, tmp_path: Path) -> None:
    """Where the service fetched one commit alone, the step fetches what it compares with."""
    base = place.git("rev-parse", "main").strip()
    rewrite(place)
    clone = tmp_path / "clone"
    url = place.root.as_uri()
    subprocess.run(["git", "clone", "--quiet", "--depth=1", "--branch=work", url, str(clone)], check=True)
    done = lint(clone, base)
    assert done.returncode == 1, done.stderr
    assert "TS405" in done.stdout


def test_findings_are_written_for_upload(place: GitPlace) -> None:
    """With `sarif` the findings are in the file that the next step uploads, and the step still fails."""
    base = place.git("rev-parse", "main").strip()
    rewrite(place)
    assert lint(place.root, base, SARIF="true").returncode == 1
    assert '"TS405"' in (place.root / "taskstate.sarif").read_text(encoding="utf-8")


def test_what_changed_is_in_the_summary(place: GitPlace) -> None:
    """The summary of the job tells what the branch changes, and the output names the file; without a base neither."""
    place.add("two")
    place.commit("two sessions")
    summary, output = report(place.root, place.git("rev-parse", "main"))
    assert "- 1 session: *two*\n" in summary
    assert output == f"file={place.root.parent}/taskstate-report.md\n"
    assert Path(output.removeprefix("file=").rstrip()).read_text(encoding="utf-8") == summary
    for base in ("0" * 40, "", "nowhere"):
        assert report(place.root, base) == ("", "")


def test_inputs_are_no_commands(place: GitPlace) -> None:
    """A base or a path with shell syntax, or that looks like a flag, is data."""
    mark = place.root / "ran"
    for base, paths in (
        (f"$(touch {mark})", ""),
        ("main", f"--version\n`touch {mark}`"),
        (f"--upload-pack=touch {mark}", ""),
    ):
        lint(place.root, base, PATHS=paths)
        report(place.root, base)
        assert not mark.exists()


def test_no_input_stands_in_a_script() -> None:
    """Scripts get inputs only as variables: an expression within a script would be a way to run what it holds."""
    assert [step["name"] for step in STEPS if "${{" in step.get("run", "")] == []
