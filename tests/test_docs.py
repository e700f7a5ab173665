"""The documentation names every command and flag that there is."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.support.command_line import flags, flags_of, operations

DOCS = Path(__file__).parent.parent / "docs"
PACKAGE = DOCS.parent / "taskstate"
PAGES = {path.stem: path.read_text(encoding="utf-8") for path in DOCS.glob("*.md")}


def missing(flags: set[str], text: str) -> list[str]:
    """Return the long flags that a text does not name."""
    return sorted(
        each for each in flags if each.startswith("--") and not re.search(rf"{re.escape(each)}(?![\w-])", text)
    )


def test_every_command_is_documented() -> None:
    """Each operation has its heading, and each of its flags stands on some page."""
    everything = "".join(PAGES.values())
    for each in operations():
        assert re.search(rf"^### `taskstate {each.name}`", PAGES["commands"], re.MULTILINE), each.name
        assert missing(flags(each), everything) == []


def test_linting_has_its_own_page() -> None:
    """Each flag of `lint` is explained there, but for those that all commands share."""
    assert set(missing(flags_of("lint"), PAGES["linting"])) <= flags_of("purge")


@pytest.mark.parametrize("page", ["CONTRIBUTING.md", "docs/architecture.md"])
def test_paths_that_developers_are_sent_to_exist(page: str) -> None:
    """A module that moves takes its mentions in the developers' pages along."""
    text = (DOCS.parent / page).read_text(encoding="utf-8")
    paths = re.findall(r"`([\w/-]+/[\w/.-]*\.(?:py|json))`", text)
    assert len(paths) > 5
    new = "taskstate/operations/rename.py"  # the operation that CONTRIBUTING adds
    root = DOCS.parent
    assert [path for path in paths if path != new and not any((each / path).exists() for each in (root, PACKAGE))] == []
