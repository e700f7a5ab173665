from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from taskstate.lint.engine import check
from taskstate.lint.fixer import fix_file
from taskstate.tasks import sessions
from taskstate.tasks.new_session import NewSession
from tests.support.lint_corpus import CLEAN
from tests.support.place import Place, refusal, tree

if TYPE_CHECKING:
    from pathlib import Path

    from taskstate.writing.change import Outcome


@pytest.fixture
def place(tmp_path: Path) -> Place:
    """Return a repository with task 101."""
    return Place(tmp_path / "repository")


def fix(place: Place, *, unsafe: bool = False, dry_run: bool = False, path: Path | None = None) -> Outcome:
    """Apply the fixes to task 101's state file, or to another file."""
    return fix_file(place.checking(), path or place.path, place.request(dry_run=dry_run), unsafe=unsafe)


def codes(place: Place) -> list[str]:
    """Return the codes of what is found in task 101's state file."""
    return [each.code for each in check(place.text, place.path.name, place.workspace.config)]


def test_clean_file_is_not_written(place: Place) -> None:
    """Without anything to fix, no byte changes and the revision stays."""
    before = tree(place.root)
    assert not fix(place).changed
    assert tree(place.root) == before


def test_fix_is_a_write_like_every_other(place: Place) -> None:
    """A fix updates the write metadata, and is reported by its codes."""
    place.text = place.text.replace("# Task #101: JWT Service - State", "# Task #101: JWT service - State")
    assert codes(place) == ["TS206"]
    outcome = fix(place)
    assert outcome.notes == ("fixed TS206",)
    assert codes(place) == []
    assert (place.state.revision, place.state.document.front_matter["audit"]["updated_by"]) == (2, "somebody")


def test_front_matter_that_becomes_readable_is_stamped(place: Place) -> None:
    """A front matter that becomes readable by the fix gets its write metadata."""
    place.text = place.text.replace("title: JWT Service", "title: JWT: Service")
    assert "TS003" in codes(place)
    fix(place)
    assert place.state.title == "JWT: Service"
    assert place.state.revision == 2


def test_seal_found_broken_by_the_fix_is_an_error(place: Place) -> None:
    """A front matter that could not be read does not hide that a tool-written block was changed by hand."""
    place.text = place.text.replace("title: JWT Service", "title: JWT: Service").replace(
        "audit:", "context: {}\naudit:"
    )
    before = place.text
    assert refusal(lambda: fix(place)).code == "seal-broken"
    assert place.text == before


def test_front_matter_that_stays_unreadable_is_not(place: Place) -> None:
    """Where the front matter cannot be read, before and after, nothing else is fixed."""
    place.text = place.text.replace("title: JWT Service", "title: [JWT")
    before = place.text
    fix(place)
    assert place.text == before


def test_dry_run_shows_the_diff(place: Place) -> None:
    """A dry run gives the diff and writes nothing."""
    place.text = place.text.replace("# Task #101: JWT Service - State", "# Task #101: JWT service - State")
    before = place.text
    assert "+# Task #101: JWT Service - State" in fix(place, dry_run=True).diff
    assert place.text == before


def test_only_selected_rules_are_fixed(place: Place) -> None:
    """A rule that is not selected fixes nothing."""
    place.text = place.text.replace("# Task #101: JWT Service - State", "# Task #101: JWT service - State")
    config = place.workspace.config
    chosen = config._replace(lint=config.lint._replace(select=("TS1",)))
    assert not fix_file(place.checking(config=chosen), place.path, place.request()).changed


def test_over_the_limit_the_fix_archives(place: Place) -> None:
    """The fix for a file that is too large is the job that archives, together with the edits."""
    place.configure("[size]\nmax-kb = 2\nwarn-kb = 1\nkeep-sessions = 1\n")
    place.fill(*range(1, 13))
    place.text = place.text.replace("# Task #101: JWT Service - State", "# Task #101: JWT service - State")
    assert "TS502" in codes(place)
    assert fix(place).notes[0] == "fixed TS414, TS206, TS105"
    assert place.numbers() == [(number, number < 12) for number in range(1, 13)]
    assert not [code for code in codes(place) if code != "TS501"]


def test_what_cannot_be_archived_is_mended_all_the_same(place: Place) -> None:
    """Where archiving is refused, the edits are made and the refusal is reported."""
    place.configure("[size]\nmax-kb = 2\nwarn-kb = 1\nkeep-sessions = 1\n")
    place.fill(1, 3, 2, *range(4, 13))
    place.text = place.text.replace("# Task #101: JWT Service - State", "# Task #101: JWT service - State")
    outcome = fix(place)
    assert outcome.changed
    assert "not archived: task 101: session 2 comes after session 3" in outcome.notes[-1]
    assert "# Task #101: JWT Service - State" in place.text
    assert not place.archive_path.exists()


def test_file_that_names_another_task_is_not_archived(place: Place) -> None:
    """Sessions never go into the archive of a task that the file's name does not bear."""
    place.configure("[size]\nmax-kb = 2\nwarn-kb = 1\nkeep-sessions = 1\n")
    place.fill(*range(1, 13))
    place.text = place.text.replace('task_id: "101"', 'task_id: "102"')
    assert "not archived" in fix(place).notes[-1]
    assert not list(place.archive_path.parent.glob("*.md"))


def test_broken_seal_is_not_mended(place: Place) -> None:
    """A file whose tool-written blocks were changed by hand is not written, since that would seal the change."""
    place.text = place.text.replace("audit:", "context: {x-a: b}\naudit:").replace("# Task #101", "# Task #110")
    before = tree(place.root)
    assert refusal(lambda: fix(place)).code == "seal-broken"
    assert tree(place.root) == before


def test_newer_format_is_not_mended(place: Place) -> None:
    """A file that a newer version wrote is left to that."""
    place.text = place.text.replace("taskstate: 1", "taskstate: 2")
    assert refusal(lambda: fix(place)).code == "newer-format"


def test_file_outside_of_the_repository_is_refused(place: Place, tmp_path: Path) -> None:
    """A file elsewhere is linted, but not written by this repository's tool."""
    other = tmp_path / place.path.name
    other.write_text(place.text.replace("# Task #101", "# Task #110"), encoding="utf-8")
    error = refusal(lambda: fix(place, path=other))
    assert error.code == "path-escapes"
    assert error.help


@pytest.mark.parametrize("name", ["task-7-archive.md", "task-7-impact-map.json", "phase-1-handoff-20260101T000000Z.md"])
def test_other_own_files_are_not_stamped(place: Place, name: str) -> None:
    """A file of ours that is no state file gets no marks by being looked at."""
    path = place.root / name
    path.write_text("# x\n\n```\nopen\n", encoding="utf-8")
    assert not fix(place, path=path).changed
    assert path.read_text(encoding="utf-8") == "# x\n\n```\nopen\n"


HAND_MADE = (CLEAN / "task-by-hand.2-state.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
@pytest.mark.parametrize(
    ("right", "wrong"),
    [
        ("# Task #BY-HAND.2: Written by hand - State", "# Task #BY-HAND.2: Written by hnad - State"),
        ("## 4. Progress Log", "## 4 progress log"),
        ("created_at: 2026-01-31T12:00:00Z", "created_at: 2026-01-31 12:00:00Z"),
    ],
)
def test_fix_of_a_hand_made_file_changes_its_line_only(place: Place, right: str, wrong: str, newline: str) -> None:
    """In a file that no command has written a fix adds no front matter, and every other byte stays."""
    path = place.path.with_name("task-by-hand.2-state.md")
    path.write_bytes(HAND_MADE.replace(right, wrong).replace("\n", newline).encode())
    outcome = fix(place, path=path)
    assert (outcome.changed, outcome.notes[0].startswith("fixed TS")) == (True, True)
    lines = zip(path.read_bytes().split(newline.encode()), HAND_MADE.encode().split(b"\n"), strict=True)
    assert [new for new, old in lines if new != old] in ([], [b'created_at: "2026-01-31T12:00:00Z"'])


def test_hand_made_file_is_written_by_others_as_before(place: Place) -> None:
    """After a fix without metadata a command writes the file like any other, and nothing is told as gone."""
    path = place.path.with_name("task-by-hand.2-state.md")
    path.write_text(HAND_MADE.replace("## 4. Progress Log", "## 4 progress log"), encoding="utf-8")
    before = path.read_bytes()
    fix(place, path=path)
    path.write_bytes(before)  # as `git checkout` does
    assert place.told() == ()
    sessions.add(place.workspace, "by-hand.2", NewSession(did=("it",), state="So.", next=("Go on.",)), place.request())
    assert b"revision: 1" in path.read_bytes()
    assert place.told() == ()


def test_file_with_tool_written_keys_is_stamped(place: Place) -> None:
    """One key that commands write is enough: then the fix is a write like all others."""
    path = place.path.with_name("task-by-hand.2-state.md")
    text = HAND_MADE.replace("status: created", "status: created\nrevision: 4")
    path.write_text(text.replace("## 4. Progress Log", "## 4 progress log"), encoding="utf-8")
    fix(place, path=path)
    assert "revision: 5" in path.read_text(encoding="utf-8")
    assert "updated_by: " in path.read_text(encoding="utf-8")
