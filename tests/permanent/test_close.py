"""The permanent task is closed: its full text is archived, a summary is under its Notes, and it counts as none."""

from __future__ import annotations

from typing import TYPE_CHECKING

from taskstate.model.archive_format import DOCUMENT, find_batches
from taskstate.permanent.find import find

if TYPE_CHECKING:
    from tests.support.shared_context import SharedContext

CONTENT = "- **Latency:** 200 ms\n- No new database\n\n```python\n# no heading\n```\n"


def documents(shared: SharedContext) -> tuple[str, ...]:
    """Return the documents in the archive file of the permanent task."""
    path = shared.place.root / ".taskstate/archives/task-1-archive.md"
    batches = find_batches(path.read_text(encoding="utf-8")) if path.exists() else ()
    return tuple(document(each.entries) for each in batches if each.entries.startswith(f"## {DOCUMENT}"))


def document(entries: str) -> str:
    """Return the text of an archived document, which is indented below the item that says when it was closed."""
    item = entries.partition("\n- ")[2]
    return "".join(line.removeprefix("  ") + "\n" for line in item.rstrip("\n").split("\n")[2:])


def test_closing_archives_the_full_text(shared: SharedContext) -> None:
    """The archive's reader gives every line of the document back; the closed one counts as none."""
    shared.update("Constraints", CONTENT)
    shared.cli.ok("permanent", "ack", "--agent", "ada", "--version", "2")
    before = shared.text
    assert "PT-v2 closed" in shared.cli.ok("permanent", "close", "--note", "shipped")
    assert documents(shared) == (before,)
    assert (shared.state.status, find(shared.place.workspace)) == ("complete", None)
    summary = shared.text.partition("### Summary of PT-v2\n\n")[2]
    assert summary.startswith("- **Closed:** ")
    assert "- **Confirmed:** ada PT-v2\n" in summary
    assert "  - Latency: 200 ms\n  - No new database\n" in summary
    assert "No findings" in shared.cli.ok("lint", "--against", "none")


def test_a_document_with_other_line_ends_is_archived_whole(shared: SharedContext) -> None:
    """The archive holds the text with LF line ends."""
    shared.update("Constraints", CONTENT)
    before = shared.text
    shared.text = before.replace("\n", "\r\n")
    shared.cli.ok("permanent", "close")
    assert documents(shared) == (before,)


def test_it_is_reopened_and_closed_again(shared: SharedContext) -> None:
    """Closing a closed one is refused; after reopening it is read again, and its second end is archived too."""
    shared.cli.ok("permanent", "close")
    assert "is closed" in shared.cli.refused("permanent", "close", "1")
    assert "no active permanent task" in shared.cli.refused("permanent", "close")
    shared.cli.ok("reopen", "1", "--note", "more to do")
    assert find(shared.place.workspace)
    shared.cli.ok("permanent", "close")
    first, second = documents(shared)
    assert ("### Summary of" in first, "### Summary of" in second) == (False, True)
    assert shared.text.count("### Summary of PT-v1") == 1


def test_what_was_edited_by_hand_gets_a_version_first(shared: SharedContext) -> None:
    """An edit that nobody was told of is not closed over; the command that is named makes it possible."""
    shared.text = shared.text.replace("One account.", "Two accounts.")
    assert "`taskstate permanent update`" in shared.cli.refused("permanent", "close")
    shared.cli.ok("permanent", "update")
    assert "PT-v2 closed" in shared.cli.ok("permanent", "close")


def test_one_without_content_is_dropped(shared: SharedContext) -> None:
    """Nothing was completed in a permanent task that nobody filled."""
    shared.cli.ok("new", "7", "--kind", "permanent", "--title", "By mistake", "--another")
    shared.cli.ok("permanent", "close", "7")
    assert "status: dropped" in shared.place.workspace.locate("7").read_text()


def test_only_writers_close(shared: SharedContext) -> None:
    """Who may not update it may not close it."""
    shared.place.configure('[permanent]\nwriters = ["ada"]')
    assert "may not update the permanent task" in shared.cli.refused("permanent", "close")
    shared.cli.ok("permanent", "close", "--actor", "ada")


def test_the_summary_fits_on_a_page(shared: SharedContext) -> None:
    """However much a section holds, the summary names the first entries and says how many more there are."""
    shared.update("Phase Status", "".join(f"- item {number} {'word ' * 60}\n" for number in range(40)))
    shared.cli.ok("permanent", "close")
    summary = shared.text.partition("## Notes")[2]
    assert "  - and 32 more" in summary
    assert len(summary.splitlines()) < 60
    assert len(summary) < 4096


def test_notes_of_people_stay(shared: SharedContext) -> None:
    """The summary comes below what stands under Notes."""
    shared.text = shared.text.rstrip() + "\n\n## Notes\n\nAsk Bert about the logs.\n"
    shared.cli.ok("permanent", "close")
    assert "## Notes\n\nAsk Bert about the logs.\n\n### Summary of PT-v1\n" in shared.text


def test_a_dry_run_changes_nothing(shared: SharedContext) -> None:
    """It prints the difference."""
    before = shared.text
    assert "+status: complete" in shared.cli.ok("permanent", "close", "--dry-run")
    assert (shared.text, documents(shared)) == (before, ())
