"""A command that a message names works where the refused one was given: elsewhere, for somebody, in a folder below."""

from __future__ import annotations

import json
import re
import shlex
from typing import TYPE_CHECKING

import pytest

from tests.support.cures import filled

if TYPE_CHECKING:
    from pathlib import Path

    from tests.cli.conftest import Cli, Said
    from tests.support.place import Place

WORDS = ("--did", "x", "--state", "s", "--next", "n")


def named(said: Said, verb: str) -> list[str]:
    """Return the words of the command with this verb that a refusal names."""
    (command,) = (each for each in re.findall(r"`taskstate ([^`]+)`", said.err) if each.startswith(verb))
    return shlex.split(command)


@pytest.mark.parametrize("flags", [(), ("--format", "json")])
def test_it_carries_the_repository_and_the_actor(
    cli: Cli, place: Place, tmp_path: Path, flags: tuple[str, ...]
) -> None:
    """The root and the configuration in each command, the actor in those that write, once; in JSON, too."""
    cli.ok("drop", "101", "--note", "n")
    cli.monkeypatch.chdir(tmp_path)
    where = ("--root", str(place.root), "--config", str(place.root / "taskstate.toml"))
    said = cli("start", "101", *where, "--actor", "b o", *flags)
    if flags:
        said = said._replace(err=json.loads(said.out)["error"])
    assert named(said, "reopen") == ["reopen", "101", "--note", "WHY", *where, "--actor", "b o"]
    cli.ok(*filled(shlex.join(named(said, "reopen"))))
    assert "updated_by: b o" in place.text
    assert named(cli("show", "7", *where), "list") == ["list", *where]


def test_the_result_carries_the_repository(cli: Cli, place: Place, tmp_path: Path) -> None:
    """What is named in a text of taskstate's works there, too; the text of a file stays as it is."""
    cli.ok("edit", "101", "--description", "Run `taskstate lint` first.")
    cli.monkeypatch.chdir(tmp_path)
    where = ("--root", str(place.root), "--actor", "b o")
    cli.ok("start", "101", *where)
    (command,) = re.findall(r"`taskstate (complete[^`]*)`", cli.ok("finish", "101", *WORDS, *where))
    assert shlex.split(command) == ["complete", "101", *where]
    assert "`taskstate lint` first" in cli.ok("show", "101", "--section", "Task Description", *where[:2])
    assert "Run `taskstate lint` first" in cli.ok("search", "first.", *where[:2])


@pytest.mark.parametrize("below", [True, False])
def test_a_file_in_it_is_found_from_a_folder_below(cli: Cli, place: Place, tmp_path: Path, below: bool) -> None:  # noqa: FBT001 - both ways
    """Messages name files from the root; another file that the working folder has not is none."""
    (place.root / "notes" / "deep").mkdir(parents=True)
    cli.monkeypatch.chdir(place.root / "notes" / "deep" if below else tmp_path)
    where = () if below else ("--root", str(place.root))
    kept = named(cli("finish", "101", *WORDS, *where), "session add")
    cli.ok(*kept)
    assert "**Current state:**" in place.text
    cli.ok("lint", ".taskstate/tasks/task-101-state.md", *where)
    (place.root / "words.md").write_text("x", encoding="utf-8")
    assert "words.md" in cli.refused("context", "init", "101", "--from", "words.md", *where)
