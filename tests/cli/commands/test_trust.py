from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

import pytest

from tests.support.place import tree

if TYPE_CHECKING:
    from pathlib import Path

    from tests.cli.conftest import Cli
    from tests.support.place import Place

CONFIG = '[validation]\n"*" = ["make test"]\n[archive]\nsummarizer = "summarise --short"\n'


@pytest.fixture(autouse=True)
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Give the user a state folder in which nothing is remembered yet."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    return tmp_path / "state"


def test_list_is_shown_and_remembered(cli: Cli, place: Place) -> None:
    """All that the repository wants run is shown, what is new is marked, and nothing in the repository changes."""
    assert cli.ok("trust") == "neither the configuration nor the task names a command to run\n"
    place.configure(CONFIG)
    before = tree(place.root)
    listed = "configuration, checks for every area:\n  {0}make test\nconfiguration, archive.summarizer:\n  {0}summarise"
    shown = cli.ok("trust", "--dry-run")
    assert shown.startswith(listed.format("new  "))
    assert shown.endswith(
        "what is marked as new may not run in this repository; without --dry-run this command allows it\n"
    )
    assert cli.json("trust", "--dry-run")["trusted"] is False
    assert cli.ok("trust").startswith(listed.format("new  "))
    assert cli.ok("trust", "101").startswith(listed.format("     "))
    assert cli.ok("trust", "--dry-run").endswith("\nthese may run in this repository\n")
    assert tree(place.root) == before


def test_shape_for_programs(cli: Cli, place: Place) -> None:
    """A program gets each command with its place, its kind and whether it is new."""
    place.configure(CONFIG)
    data = cli.json("trust", "101")
    assert data == {
        "root": str(place.root),
        "commands": [
            {
                "source": "configuration, checks for every area",
                "kind": "shell",
                "command": "make test",
                "new": True,
            },
            {
                "source": "configuration, archive.summarizer",
                "kind": "program",
                "command": "summarise --short",
                "new": True,
            },
        ],
        "trusted": True,
        "changed": True,
    }
    assert cli.json("trust", "101")["changed"] is False


def test_it_is_taken_back(cli: Cli, place: Place) -> None:
    """Revoking forgets all that was allowed in this repository."""
    place.configure(CONFIG)
    cli.ok("trust")
    assert cli.json("trust", "--revoke") == {"root": str(place.root), "changed": True}
    assert "new  make test" in cli.ok("trust", "--dry-run")
    assert cli.ok("trust", "--revoke") == "nothing was allowed\n"
    assert "--revoke is for the whole repository" in cli.refused("trust", "101", "--revoke")
    assert "there is no task 999" in cli.refused("trust", "999")


def test_list_hides_nothing(cli: Cli, place: Place) -> None:
    """What a terminal would obey, line ends, and what cannot be seen are written out."""
    text = r"make\u001b[2K\rrm -rf .\n  new  harmless\u202e\u200b\u00a0"
    place.configure(f'[validation]\n"*" = ["{text}"]\n"a\\u001b]0;x" = ["make"]\n')
    shown = cli.ok("trust", "--dry-run")
    assert "  new  make\\x1b[2K\\rrm -rf .\\n  new  harmless\\u202e\\u200b\\xa0\n" in shown
    assert "checks for a\\x1b]0;x:\n" in shown
    assert shown.count("\n") == 5


def test_what_came_by_git_does_not_run(cli: Cli, place: Place) -> None:
    """A clone, a change, and a move run nothing before the list was looked at again."""
    place.configure('[validation]\n"*" = ["touch ran"]\n')
    error = cli.refused("qa", "baseline", "101")
    assert "nobody has allowed `touch ran` to run in this repository, so nothing was run" in error
    assert (
        "a person runs `taskstate trust 101`, which shows the exact list and allows it; or run them yourself" in error
    )
    cli.ok("trust", "101")
    place.configure('[validation]\n"*" = ["touch ran "]\n')
    assert "nobody has allowed `touch ran `" in cli.refused("qa", "baseline", "101")
    place.configure('[validation]\n"*" = ["touch ran"]\n')
    clone = place.root.parent / "clone"
    shutil.copytree(place.root, clone)
    cli.monkeypatch.chdir(clone)
    assert cli("qa", "baseline", "101").status == 2
    assert not (clone / "ran").exists()
    cli.monkeypatch.chdir(place.root)
    assert "touch ran" in cli.ok("qa", "baseline", "101")
    assert (place.root / "ran").exists()


def test_state_folder_that_cannot_be_written(cli: Cli, place: Place, state: Path) -> None:
    """Where nothing can be remembered, that is one clear error, and nothing counts as allowed."""
    place.configure(CONFIG)
    state.write_text("a file", encoding="utf-8")
    assert "cannot" in cli.refused("trust")
    assert "new  make test" in cli.ok("trust", "--dry-run")


def test_damaged_task_file_is_named(cli: Cli, place: Place) -> None:
    """A task file with a conflict is told, as by each command that reads one."""
    place.text = place.text.replace("## 2. Chain", "<<<<<<< ours\n=======\n>>>>>>> theirs\n## 2. Chain")
    result = cli("trust", "101")
    assert (result.status, "conflict" in result.err) == (1, True)


def test_no_hook_runs_anything(cli: Cli, place: Place) -> None:
    """What looks at files runs no validation command, trusted or not."""
    place.configure('[validation]\n"*" = ["touch ran"]\n')
    cli.ok("trust", "101")
    for arguments in (("lint",), ("brief", "101"), ("archive", "--check"), ("fmt",), ("status",), ("next",)):
        cli.ok(*arguments)
    assert not (place.root / "ran").exists()
