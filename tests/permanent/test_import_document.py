"""An older shared context becomes the permanent task: its version stays, and no line is lost."""

from __future__ import annotations

from pathlib import Path

import pytest

from taskstate.model.permanent import CONTENT, change_log, content_of, decisions, edited_sections, version_of
from taskstate.model.task_state import TaskState, read_state
from taskstate.syntax.document import parse
from tests.cli.conftest import Cli
from tests.support.git_place import GitPlace

SOURCE = """\
---
version: GC-v3
feature: login
---
# Global Context: Login platform

The team's shared context.

## Scope (2026)
- users log in

### Details
* one account

## 2. Decisions

### AD-1: Tokens
**Status:** accepted

## Phase Status
| phase | state |
| --- | --- |
| 1 | done |

## Constraints
1. fast

## Constraints
2. safe

Open Questions
--------------
- who?
"""


@pytest.fixture
def cli(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Cli:
    """Return the command line in a git repository with task 101 and the file gc.md."""
    place = GitPlace(tmp_path / "repository")
    monkeypatch.chdir(place.root)
    (place.root / "gc.md").write_text(SOURCE)
    return Cli(place, monkeypatch, capfd)


def state(cli: Cli, task_id: str = "102") -> TaskState:
    """Return the state of a task."""
    return read_state(parse(cli.place.workspace.locate(task_id).read_bytes().decode()))


def test_sections_are_mapped_by_title(cli: Cli) -> None:
    """Each section goes to the one that its title stands for, and what has no place goes under Notes."""
    said = cli.ok("permanent", "import", "gc.md")
    assert "imported, PT-v3" in said
    assert "Scope (2026) -> User Intent" in said
    taken = state(cli)
    assert (taken.title, taken.status, version_of(taken)) == ("Global Context: Login platform", "in_progress", 3)
    assert (
        content_of(taken, "User Intent").strip() == "### Scope (2026)\n\n- users log in\n\n#### Details\n* one account"
    )
    assert [(each.number, each.status) for each in decisions(taken)] == [(1, "accepted")]
    assert content_of(taken, "Phase Status").strip().startswith("| phase | state |")
    assert content_of(taken, "Constraints").strip() == "1. fast\n\n### Constraints\n\n2. safe"
    notes = content_of(taken, "Notes")
    assert "```yaml\nversion: GC-v3\nfeature: login\n```" in notes
    assert "The team's shared context." in notes
    assert "### Open Questions\n\n- who?" in notes
    assert [(each.number, each.summary) for each in change_log(taken)] == [(3, "imported from gc.md")]
    assert (edited_sections(taken), cli.ok("lint").split(".")[0]) == ((), "No findings in 2 files")


def test_the_next_update_goes_on_from_that_version(cli: Cli) -> None:
    """An imported permanent task is like any other."""
    cli.ok("permanent", "import", "gc.md")
    cli.ok("permanent", "update", "--section", "Constraints", "--from", "-", stdin="- **Region:** EU\n")
    assert version_of(state(cli)) == 4
    assert "No findings" in cli.ok("lint")


def test_windows_line_ends_and_a_byte_order_mark_change_nothing(cli: Cli) -> None:
    """The result is that of the same text with other line ends."""
    (cli.place.root / "gc.md").write_bytes(b"\xef\xbb\xbf" + SOURCE.replace("\n", "\r\n").encode())
    cli.ok("permanent", "import", "gc.md")
    assert content_of(state(cli), "Phase Status").strip().startswith("| phase | state |")
    assert "\r" not in state(cli).document.text


def test_again_changes_nothing(cli: Cli) -> None:
    """A second import is refused and says that the task exists; a dry run writes nothing."""
    assert "+version: 3" in cli.ok("permanent", "import", "gc.md", "--dry-run")
    assert "no task 102" in cli.refused("show", "102")
    cli.ok("permanent", "import", "gc.md")
    assert "there is a permanent task already: 1" in cli.refused("permanent", "import", "gc.md")


def test_the_id_is_the_next_number(cli: Cli) -> None:
    """Without --id it is the number behind the highest; a taken one is refused."""
    cli.ok("new", "1", "--title", "An ordinary task")
    assert "exists already" in cli.refused("permanent", "import", "gc.md", "--id", "101")
    cli.ok("permanent", "import", "gc.md")
    assert state(cli, "102").kind == "permanent"


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("version: GC-v3", "version: latest", "the version 'latest' has no number"),
        ("version: GC-v3", "version: [GC-v3", "gc.md, line"),
        ("- who?", "```\nwho?", "a code fence that is not closed"),
        ("- who?", "<<<<<<< ours\n- who?", "conflict markers"),
        ("- who?", "who\x1b[31m?", "ESCAPE"),
    ],
)
def test_what_cannot_be_taken_over_is_refused(cli: Cli, old: str, new: str, words: str) -> None:
    """One line says what is wrong, and nothing is created."""
    (cli.place.root / "gc.md").write_text(SOURCE.replace(old, new))
    assert words.casefold() in cli.refused("permanent", "import", "gc.md").casefold()


def test_a_document_without_version_and_sections_is_notes(cli: Cli) -> None:
    """It becomes version 1; whatever it says is kept."""
    (cli.place.root / "gc.md").write_text("Just a line.\n")
    cli.ok("permanent", "import", "gc.md")
    taken = state(cli)
    assert (taken.title, taken.status, version_of(taken)) == ("gc", "created", 1)
    assert "Just a line." in content_of(taken, "Notes")


def test_a_map_that_is_none_goes_under_notes(cli: Cli) -> None:
    """JSON of another shape is kept, and does not become a broken map; a sound one becomes the map."""
    sound = '{"modules": [{"id": "a", "paths": ["a/**"], "depends_on": []}], "interfaces": [], "ripple_paths": []}'
    for number, (text, place) in enumerate((('{"x": 1}', "Notes"), (sound, "Codebase Impact Map"))):
        (cli.place.root / "gc.md").write_text(f"## Codebase Impact Map\n\n```json\n{text}\n```\n")
        assert f"Codebase Impact Map -> {place}" in cli.ok("permanent", "import", "gc.md", "--id", str(number + 1))
        assert "No findings" in cli.ok("lint", "--ignore", "TS906")
        cli.ok("permanent", "close")


def test_a_real_shared_context_is_taken_over_whole(cli: Cli) -> None:
    """Its five sections are those of the permanent task, with nothing but the front matter under Notes."""
    text = (Path(__file__).parents[1] / "cases" / "permanent" / "shared-context.md").read_text(encoding="utf-8")
    (cli.place.root / "gc.md").write_text(text)
    cli.ok("permanent", "import", "gc.md")
    taken = state(cli)
    assert [each.number for each in decisions(taken)] == [7, 8, 9]
    for name in CONTENT:
        assert content_of(taken, name).strip() == text.partition(f"## {name}\n")[2].partition("\n## ")[0].strip()
    assert content_of(taken, "Notes").strip() == ("### Front matter of gc.md\n\n```yaml\nversion: GC-v3\nphase: 3\n```")
    cli.ok("permanent", "decide", "--title", "Tasks have numbers", "--decision", "Task 1.", "--supersedes", "7")
    assert version_of(state(cli)) == 4
    assert "No findings" in cli.ok("lint")


@pytest.mark.parametrize(
    "front",
    [
        "\n---\n# from the old wiki\nversion: GC-v3\n---\n",
        "-----\nversion: GC-v3\nreviewed: 2025-02-03\n-----\n",
        '{\n"version": "GC-v3"\n}\n',
    ],
)
def test_any_front_matter_of_others_is_read(cli: Cli, front: str) -> None:
    """With comments, below a blank line, between longer rules, or in JSON; it is kept under Notes as it is written."""
    body = "\n---\n\n# Login\n\n## Constraints\n\n- fast\n"
    (cli.place.root / "gc.md").write_text(front + body)
    cli.ok("permanent", "import", "gc.md")
    taken = state(cli)
    assert version_of(taken) == 3
    assert "```yaml\n" in taken.document.text
    assert all(line in taken.document.text for line in front.splitlines() if line.strip("-{}"))
