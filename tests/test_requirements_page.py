"""The page that says what there is, and where it is shown: each command, page and test on it exists."""

from __future__ import annotations

import re
from pathlib import Path

from tests.support.command_line import operations

ROOT = Path(__file__).parent.parent
TEXT = (ROOT / "docs" / "requirements.md").read_text(encoding="utf-8")
ROWS = [
    tuple(cell.strip() for cell in line.strip("|").split("|"))
    for line in TEXT.splitlines()
    if line.startswith("| ") and not line.startswith(("| what ", "| ---"))
]


OPERATIONS = {each.name for each in operations()}


def anchors(page: Path) -> set[str]:
    """Return the anchors of a page's headings."""
    titles = re.findall(r"^#+ (.*)$", page.read_text(encoding="utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w -]", "", title.lower()).replace(" ", "-") for title in titles}


def test_every_row_is_whole() -> None:
    """A row says what, how, and where it is shown; none is there twice."""
    assert len(ROWS) > 200
    assert [row for row in ROWS if len(row) != 4 or not all(row[:3])] == []
    assert len({(row[0], row[1]) for row in ROWS}) == len(ROWS)


def test_every_command_and_page_exists() -> None:
    """A row names one command, or an action of it, or links to a page, and to a heading that is there."""
    for how in {row[1] for row in ROWS}:
        command = re.fullmatch(r"`taskstate ([a-z-]+)((?: [a-z-]+)*)`", how)
        link = re.fullmatch(r"\[[^\]]+\]\(([\w/-]+\.md)(?:#([\w-]+))?\)", how)
        assert command or link, how
        if command:
            named = f"{command[1]}{command[2]}"
            assert any(f"{each} ".startswith(f"{named} ") for each in OPERATIONS), how
        if link:
            assert (ROOT / "docs" / link[1]).is_file(), how
            assert link[2] is None or link[2] in anchors(ROOT / "docs" / link[1]), how


def test_every_test_exists() -> None:
    """A row names a file of tests, or one test in it."""
    for shown in {row[2] for row in ROWS}:
        place = re.fullmatch(r"`(tests/[\w/]+\.py)(?:::(test_\w+))?`", shown)
        assert place, shown
        text = (ROOT / place[1]).read_text(encoding="utf-8")
        assert f"def {place[2]}(" in text if place[2] else "\ndef test_" in text, shown
