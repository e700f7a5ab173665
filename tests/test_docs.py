"""The documentation names every command and flag that there is."""

from __future__ import annotations

import argparse
import re
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from taskstate.cli import main
from taskstate.cli.arguments import Parser

if TYPE_CHECKING:
    from collections.abc import Iterator

DOCS = Path(__file__).parent.parent / "docs"
PACKAGE = DOCS.parent / "taskstate"
PAGES = {path.stem: path.read_text(encoding="utf-8") for path in DOCS.glob("*.md")}


def flags(parser: argparse.ArgumentParser) -> Iterator[str]:
    """Yield the long flags of a parser and of its actions."""
    for action in parser._actions:  # noqa: SLF001 - argparse tells them nowhere else
        yield from (flag for flag in action.option_strings if flag.startswith("--"))
        if isinstance(action, argparse._SubParsersAction):  # noqa: SLF001 - the same
            for child in action.choices.values():
                yield from flags(child)


def missing(parser: argparse.ArgumentParser, text: str) -> list[str]:
    """Return the flags of a parser that a text does not name."""
    return sorted({flag for flag in flags(parser) if not re.search(rf"{re.escape(flag)}(?![\w-])", text)})


def test_every_command_is_documented() -> None:
    """A command has its row, and each of its flags stands on some page."""
    for command in main.COMMANDS:
        assert re.search(rf"^\| `taskstate {command}\b", PAGES["commands"], re.MULTILINE), command
        assert missing(main.parser_of(command), "".join(PAGES.values())) == [], command


def test_linting_has_its_own_page() -> None:
    """Each flag of `lint` is explained there, but for those that all commands share."""
    shared = Parser()
    shared.add_writing(run=lambda _: 0)
    own = set(missing(main.parser_of("lint"), PAGES["linting"])) - set(flags(shared))
    assert own == set()


@pytest.mark.parametrize("page", ["CONTRIBUTING.md", "docs/architecture.md"])
def test_paths_that_developers_are_sent_to_exist(page: str) -> None:
    """A module that moves takes its mentions in the developers' pages along."""
    text = (DOCS.parent / page).read_text(encoding="utf-8")
    paths = re.findall(r"`([\w/-]+/[\w/.-]*\.(?:py|json))`", text)
    assert len(paths) > 5
    new = "taskstate/cli/commands/rename.py"  # the command that CONTRIBUTING adds
    root = DOCS.parent
    assert [path for path in paths if path != new and not any((each / path).exists() for each in (root, PACKAGE))] == []
