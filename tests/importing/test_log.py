"""A log of work is read in every form that agents write, and becomes sessions in order of time."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from taskstate.importing.reading.items import items
from taskstate.importing.reading.log import entries_in, log
from tests.support.importing import shape_of, text_of

if TYPE_CHECKING:
    from pathlib import Path

    from tests.cli.conftest import Cli

HEADS = {
    "Session 1 - 2026-07-01": ("2026-07-01", ()),
    "## Session: 2026-07-01": ("2026-07-01", ()),
    "## Session: 2026-07-01 (the wheel)": ("2026-07-01", ("the wheel",)),
    "### Session 12: The wheel (2026-07-01)": ("2026-07-01", ("The wheel",)),
    "## 2026-07-01 - Session 3": ("2026-07-01", ()),
    "## July 1, 2026": ("July 1, 2026", ()),
    "**Session 2 \u2013 2026-07-01 14:30**": ("2026-07-01 14:30", ()),
    "=== Session: 2026-07-01 (Session 9) ===": ("2026-07-01", ()),
    "[2026-07-01 14:30] - The wheel": ("2026-07-01 14:30", ("The wheel",)),
    "## Session: [DATE]": ("Session: [DATE]", ()),
}
PLAIN = (
    "Session handling was mended",
    "## Sessions",
    "2026-07-01 was warm",
    "Session 3 of the parser broke",
    "# Progress Log",
)


@pytest.mark.parametrize("head", HEADS)
def test_an_entry_is_known_by_its_first_line(head: str) -> None:
    """Its time and its remark; the text below it is what was done."""
    time, remark = HEADS[head]
    found = log(f"# Log\n\n{head}\nTurned it.\n")
    assert [(each.time, each.did) for each in found.sessions] == [(time, (*remark, "Turned it."))]
    assert (found.rest, entries_in(head)) == ("# Log", 1)


@pytest.mark.parametrize("line", PLAIN)
def test_other_lines_begin_no_entry(line: str) -> None:
    """A word or a date within a sentence is text."""
    assert log(line) == ((), line, ())


def test_the_parts_of_an_entry_have_many_labels() -> None:
    """As headings, in bold, as items with others below them, or before a text on the same line."""
    found = log(
        "## 2026-07-01\n- Actions taken:\n  - Oiled\n- Errors:\n  - Loud\n- Files changed:\n  - a.md\n"
        "**Next Steps:**\n1. Brake\n   gently\n### Blockers\nThe gear\nNext: rest\n### Summary\nFine\n"
    )
    (session,) = found.sessions
    assert session.did == ("Oiled", "a.md", "Fine")
    assert session.issues == ("Loud", "The gear")
    assert session.next == ("Brake gently", "rest")


def test_a_log_with_its_newest_first_is_read_backwards() -> None:
    """Within a day, too: the entries of one day keep the order in which they happened."""
    text = "## 2026-07-02 - Session 3\nc\n## 2026-07-01 - Session 2\nb\n## 2026-07-01 - Session 1\na\n"
    assert [each.did[-1] for each in log(text).sessions] == ["a", "b", "c"]


def test_items_are_in_one_line_each() -> None:
    """Boxes, items that go on, and paragraphs; code, headings, rules and comments are none."""
    text = "First\nline\n\n---\n## Head\n1. One\n   more\n- [ ] open\n- [x] done\n"
    text += "<!-- no -->\n```\ncode\n```\n#4 is an issue\n"
    assert [(each.text, each.is_open) for each in items(text)] == [
        ("First line", False),
        ("One more", False),
        ("open", True),
        ("done", False),
        ("#4 is an issue", False),
    ]


def test_a_long_log_keeps_its_newest_sessions(cli: Cli, tmp_path: Path) -> None:
    """The older ones are kept as text in the file beside the state file, and counted as kept."""
    entries = [f"## Session {day} - 2026-07-{day:02}\n{f'Stone {day} was dressed. ' * 150}\n" for day in range(1, 21)]
    (tmp_path / "progress.md").write_text("".join(entries), encoding="utf-8")
    (tmp_path / "feature_list.json").write_text(json.dumps(["Grinds"]), encoding="utf-8")
    done = cli.json("import", "feature-list", tmp_path / "feature_list.json")
    counts, shape = done["counts"], shape_of(cli.place.workspace, "features")
    assert "older-sessions" in done["warnings"]
    assert (counts["in"], counts["kept"]) == (22, 20 - shape["sessions"])
    assert 2 < shape["sessions"] < 8
    assert shape["session_times"][-1] == "2026-07-20 00:00"
    assert "Stone 1 was dressed." in text_of(cli.place.workspace, "features")
