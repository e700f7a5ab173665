from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from taskstate.workspace.setup import PRE_COMMIT
from tests.support.place import tree

if TYPE_CHECKING:
    from pathlib import Path

    from tests.cli.conftest import Cli


@pytest.fixture
def empty(tmp_path: Path, cli: Cli, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return an empty folder to set up, which is the working folder."""
    folder = tmp_path / "empty"
    folder.mkdir()
    monkeypatch.chdir(folder)
    monkeypatch.setenv("TASKSTATE_ROOT", str(folder))
    cli.place.root = folder
    return folder


def test_what_was_done_is_told(cli: Cli, empty: Path) -> None:
    """Each file that was made or changed has a line, and the second time there is nothing to do."""
    (empty / ".gitignore").write_text("x\n", encoding="utf-8")
    assert cli.ok("init").splitlines() == [
        "created  .gitattributes",
        "created  taskstate.toml",
        "created  .taskstate/tasks/.gitkeep",
        "created  .taskstate/archives/.gitkeep",
        "created  .taskstate/handoffs/.gitkeep",
        "created  .taskstate/templates/.gitkeep",
        "changed  .gitignore",
    ]
    before = tree(empty)
    assert cli.ok("init") == "nothing to do: the repository is set up\n"
    assert tree(empty) == before


def test_shape_of_what_was_done(cli: Cli, empty: Path) -> None:
    """In JSON the root and the three lists are reported."""
    data = cli.json("init", "--pre-commit")
    assert data["root"] == str(empty)
    assert PRE_COMMIT in data["created"]
    assert cli.json("init", "--pre-commit") == {
        "root": str(empty),
        "created": [],
        "changed": [],
        "kept": [".gitignore", ".gitattributes", PRE_COMMIT],
    }


def test_next_step_is_told(cli: Cli, empty: Path) -> None:
    """With --pre-commit the command that installs the hooks is reported, until nothing is left to do."""
    assert "pre-commit install" in cli.ok("init", "--pre-commit")
    assert (empty / PRE_COMMIT).exists()
    assert "pre-commit install" not in cli.ok("init", "--pre-commit")


def test_dry_run_does_nothing(cli: Cli, empty: Path) -> None:
    """A dry run tells what would be done."""
    assert "would be created  .gitignore\n" in cli.ok("init", "--dry-run")
    assert list(empty.iterdir()) == []


def test_quiet_prints_nothing(cli: Cli, empty: Path) -> None:
    """With --quiet it is done without a word."""
    assert cli.ok("init", "--pre-commit", "--quiet") == ""
    assert (empty / ".taskstate").is_dir()


def test_form_that_cannot_be_added_to_is_refused(cli: Cli, empty: Path) -> None:
    """A pre-commit configuration in another form is one line with what to do, and nothing is set up."""
    (empty / PRE_COMMIT).write_text("repos: []\n", encoding="utf-8")
    assert "`repos` must be its last key" in cli.refused("init", "--pre-commit")


@pytest.mark.parametrize(
    ("arguments", "what"), [(("x",), "unrecognized arguments"), (("--root", "/nonexistent"), "no folder /nonexistent")]
)
def test_what_cannot_be_set_up_is_refused(cli: Cli, arguments: tuple[str, ...], what: str) -> None:
    """A wrong argument gives a one-line error."""
    assert what in cli.refused("init", *arguments)
