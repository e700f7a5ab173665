"""`lint --add-ignores`: a repository that exists already begins without findings, as docs/linting.md shows."""

from __future__ import annotations

import re
import shlex
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.cli.commands.test_lint_history import commit, git
from tests.support.lint_corpus import CLEAN
from tests.support.place import Place, tree

if TYPE_CHECKING:
    from tests.cli.conftest import Cli

PAGE = Path(__file__).parents[3] / "docs" / "linting.md"
HAND_MADE = (CLEAN / "task-by-hand.2-state.md").read_text(encoding="utf-8")
OLD = ".taskstate/tasks/task-by-hand.2-state.md"

pytestmark = pytest.mark.slow  # it starts many processes, most of them git


@pytest.fixture
def place(repository: Path) -> Place:
    """Return a git repository with a file that people made, which has an own section and a status of their own."""
    place = Place(repository)
    text = HAND_MADE.replace("## 2. Chain Inputs", "## Risks\n\nThe deadline.\n\n## 2. Chain Inputs")
    (place.root / OLD).write_text(text.replace("status: created", "status: waiting"), encoding="utf-8")
    commit(place)
    return place


def test_the_page_shows_what_happens(cli: Cli, place: Place) -> None:
    """Each command of the page is carried out, and says what the page says."""
    part = PAGE.read_text(encoding="utf-8").split("## In a repository that exists already", 1)[1].split("\n## ", 1)[0]
    console = re.findall(r"```console\n(.*?)```", part, re.DOTALL)
    steps = [step for block in console for step in re.split(r"(?m)^\$ ", block) if step]
    assert len(steps) > 3
    for step in steps:
        command, _, shown = step.partition("\n")
        program, *arguments = shlex.split(command)
        said = git(place.root, *arguments) if program == "git" else "".join(cli(*arguments)[:0:-1])
        assert said.strip() == shown.strip(), command


def test_the_next_fault_is_found(cli: Cli, place: Place) -> None:
    """After the comments nothing is found; a new fault of another kind is, and of the same kind at another place."""
    cli.ok("lint", "--add-ignores")
    assert cli("lint", "-q") == (0, "", "")
    path = place.root / OLD
    path.write_text(
        path.read_text(encoding="utf-8").replace("## 3. Feature", "## Costs\n\n## 3. feature"), encoding="utf-8"
    )
    assert [each["code"] for each in cli.json("lint")["findings"]] == ["TS204", "TS205"]


def test_committed_sessions_stay_as_they_are(cli: Cli, place: Place) -> None:
    """Against HEAD, too, nothing is found: no session, archive or sealed part is changed by a comment."""
    place.fill(1, 2, 3)
    place.text = place.text.replace("**Next steps:** next 2", "", 1).replace("### Session 3 -", "### Session 4 -")
    commit(place)
    assert cli("lint").status == 1
    cli.ok("lint", "--add-ignores")
    assert cli("lint", "-q", "--against", "HEAD") == (0, "", "")
    assert cli("session", "add", "101", "--did", "x", "--state", "y", "--next", "z").status == 0


def test_dry_run_shows_the_comments_only(cli: Cli, place: Place) -> None:
    """--dry-run prints the diff, and writes nothing."""
    before = tree(place.root)
    shown = cli("lint", "--add-ignores", "--dry-run").out
    assert "+# taskstate: ignore TS101 accepted by --add-ignores\n" in shown
    assert tree(place.root) == before


def test_only_selected_rules_are_ignored(cli: Cli, place: Place) -> None:
    """With --select the comments name the selected rules, and the others are found as before."""
    cli.ok("lint", "--add-ignores", "--select", "section-unknown")
    text = (place.root / OLD).read_text(encoding="utf-8")
    assert re.findall(r"taskstate: ignore (\w+)", text) == ["TS204"]
    assert [each["code"] for each in cli.json("lint", status=1)["findings"]] == ["TS101"]


@pytest.mark.parametrize("flag", ["--fix", "--diff", "--staged", "-"])
def test_what_it_does_not_go_with(cli: Cli, place: Place, flag: str) -> None:
    """It writes into the files, so that it cannot be had with another way of reading or writing."""
    before = tree(place.root)
    result = cli("lint", "--add-ignores", flag)
    assert (result.status, "--add-ignores writes into the files" in result.err) == (2, True)
    assert tree(place.root) == before
