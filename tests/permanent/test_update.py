"""Updates of the permanent task: one version a change, a Change Log that says what was replaced, nothing lost."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

from taskstate.model import permanent
from taskstate.model.permanent import ARCHITECTURE, COSMETIC, INTERFACE
from tests.cli.conftest import Cli
from tests.support.cures import filled
from tests.support.permanent_text import PERMANENT_TEXT
from tests.support.place import TASK
from tests.support.processes import run_at_once

if TYPE_CHECKING:
    from tests.support.git_place import GitPlace
    from tests.support.shared_context import SharedContext


def test_an_update_raises_the_version_by_one(shared: SharedContext) -> None:
    """The Change Log gets a line with the section and what was added; the same again changes nothing."""
    said = shared.update("Constraints", "- **Latency:** 200 ms\n")
    assert "PT-v1 is now PT-v2 (interface change): added Latency: 200 ms" in said
    assert shared.version == 2
    assert (shared.log[0].sections, shared.log[0].summary) == (("Constraints",), "added Latency: 200 ms")
    before = shared.text
    assert "nothing to change" in shared.update("constraints", "- **Latency:** 200 ms.\n")
    assert shared.text == before


def test_what_is_replaced_is_named(shared: SharedContext) -> None:
    """The older value stands in the Change Log alone."""
    shared.update("Constraints", "- **Latency:** 200 ms\n- No new database\n")
    shared.update("Constraints", "- **Latency:** 100 ms\n- no new database\n")
    assert shared.section("Constraints") == "- **Latency:** 100 ms\n- No new database"
    assert shared.log[0].summary == "Latency: 100 ms (was 200 ms)"


@pytest.mark.parametrize(
    ("section", "level"),
    [("Phase Status", COSMETIC), ("Constraints", INTERFACE), ("User Intent", ARCHITECTURE)],
)
def test_the_level_is_derived_from_the_section(shared: SharedContext, section: str, level: str) -> None:
    """What a change asks of others is shown and stands in the Change Log."""
    assert f"({level})" in shared.update(section, "- Something else\n")
    assert shared.log[0].level == level


def test_another_level_needs_a_reason(shared: SharedContext) -> None:
    """It stands in the Change Log."""
    assert "--note" in shared.refused("Constraints", "- x\n", "--level", "architecture")
    shared.update("Constraints", "- x\n", "--level", "architecture", "--note", "all must replan")
    assert (shared.log[0].level, shared.log[0].summary) == (ARCHITECTURE, "added x; all must replan")


@pytest.mark.parametrize(
    ("section", "words"),
    [
        ("Constraint", "did you mean Constraints?"),
        ("Change Log", "no command updates the section Change Log"),
        ("Notes", "no command updates the section Notes"),
        ("Nothing", "the sections are User Intent"),
        ("\x1b[31m", "has no section"),
    ],
)
def test_a_section_that_nobody_updates(shared: SharedContext, section: str, words: str) -> None:
    """One line says which sections there are."""
    assert words in shared.refused(section, "- x\n")


@pytest.mark.parametrize("content", ["", "\n", "## Another section\n", "```\nopen\n", "- a\x07b\n"])
def test_content_that_cannot_be_taken(shared: SharedContext, content: str) -> None:
    """Nothing is changed by what is empty, or would change the structure."""
    shared.refused("Constraints", content)


def test_only_writers_may_update(shared: SharedContext) -> None:
    """Who is not named in the configuration is refused, and told who is; reading stays free."""
    shared.cli.place.configure('[permanent]\nwriters = ["lead"]\n')
    shared.update("Constraints", "- x\n")
    assert "its writers are lead" in shared.refused("Constraints", "- y\n", "--actor", "ann")
    assert "ann may not update" in shared.cli.refused(
        "permanent", "decide", "--title", "T", "--decision", "D", "--actor", "ann"
    )
    shared.cli.ok("permanent", "ack", "--agent", "ann", "--version", "2", "--actor", "ann")


def test_a_stale_revision_says_what_changed_meanwhile(shared: SharedContext) -> None:
    """With --merge it is planned on top of that."""
    stale = str(shared.state.revision)
    shared.update("Constraints", "- x\n")
    said = shared.refused("Constraints", "- y\n", "--expect-revision", stale)
    assert "meanwhile: v2 - " in said
    assert "added x" in said
    shared.update("Constraints", "- y\n", "--expect-revision", stale, "--merge")
    assert shared.section("Constraints") == "- x\n- y"


def test_a_dry_run_shows_the_plan_and_the_diff(shared: SharedContext) -> None:
    """Nothing is written."""
    before = shared.text
    said = shared.cli("permanent", "update", "--section", "Constraints", "--from", "-", "--dry-run", stdin="- x\n")
    assert "PT-v1 is now PT-v2" in said.err
    assert "+- x" in said.out
    assert shared.text == before


def test_an_edit_by_hand_gets_its_own_version(shared: SharedContext) -> None:
    """`status` says that there is one; the next update, or one without a section, gives it a version."""
    shared.text = shared.text.replace("One account.", "Two accounts.")
    assert "edited by hand since: User Intent" in shared.cli.ok("permanent", "status")
    assert "edited by hand before" in shared.update("Constraints", "- x\n")
    assert [each.summary for each in shared.log[:2]] == ["added x", "edited by hand"]
    shared.text = shared.text.replace("Two accounts.", "Three.")
    shared.cli.ok("permanent", "update")
    assert (shared.version, shared.log[0].sections) == (4, ("User Intent",))
    assert "nothing to change" in shared.cli.ok("permanent", "update")


def test_a_file_written_by_hand_is_adopted_as_its_own_version(shared: SharedContext) -> None:
    """Without a seal nothing tells what its version had: the first write gives it one, with its line in the log."""
    by_hand = re.sub(r"(?m)^version_seal: .*\n", "", shared.text).replace("One account.", "Two accounts.")
    shared.text = by_hand
    assert "edited by hand before" in shared.update("Constraints", "- x\n")
    assert [each.summary for each in shared.log[:2]] == ["added x", "written by hand, and adopted as it is"]
    assert "User Intent" in shared.log[1].sections


def test_a_file_written_by_hand_without_a_log_becomes_version_1(
    place: GitPlace, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """Where no version is in the log yet, the file as it stands is the first."""
    text = re.sub(r"(?m)^(version|acks): .*\n", "", PERMANENT_TEXT)
    path = place.write(".taskstate/tasks/task-1-state.md", text[: text.index("- v3 ")] + "*To be completed.*\n")
    monkeypatch.chdir(place.root)
    cli = Cli(place, monkeypatch, capfd)
    cli.ok("permanent", "update")
    assert "- v1 - " in path.read_text(encoding="utf-8")
    assert "nothing to change" in cli.ok("permanent", "update")


@pytest.mark.parametrize(
    ("decision", "words"),
    [
        ("### AD-1: A\n\n**Decision:** b\n", "AD-1 has no **Status:**"),
        ("### AD-1: A\n\n**Status:** agreed\n\n**Decision:** b\n", "AD-1 has no **Status:**"),
        ("### AD-1: A\n\n**Status:** accepted\n\n**Decision:**\n", "AD-1 does not say what was decided"),
        ("### AD-1: A\n\n**Status:** superseded\n\n**Decision:** b\n", "does not say by which decision"),
        ("### AD-1: A\n\n**Status:** accepted\n\n### AD-1: B\n\n**Status:** accepted\n", "there are 2 decisions AD-1"),
    ],
)
def test_wrong_decisions_are_not_published(shared: SharedContext, decision: str, words: str) -> None:
    """What lint calls an error gets no version: neither as an edit by hand, nor as an update."""
    if "2 decisions" not in words:  # an update joins these
        assert words in shared.refused("Architecture Decisions", decision)
    before = shared.text = shared.text.replace("## 4. Phase Status", f"{decision}\n## 4. Phase Status")
    assert words in shared.cli("permanent", "update").err
    assert shared.text == before


def test_an_emptied_section_is_not_published(shared: SharedContext) -> None:
    """A section that was emptied by hand gets no version: what stood there is put back."""
    shared.update("Constraints", "- one\n")
    shared.text = shared.text.replace("- one\n", "")
    assert "Constraints was emptied by hand" in shared.cli("permanent", "update").err
    assert "Constraints was emptied by hand" in shared.refused("Phase Status", "- more\n")


def test_formatting_is_no_edit(shared: SharedContext) -> None:
    """Bullets, blanks and the layout of JSON may change without a version."""
    shared.update("Constraints", "- one\n- two\n")
    shared.text = shared.text.replace("- one\n- two\n", "*  one\n\n\n*  two\n")
    assert permanent.edited_sections(shared.state) == ()


def test_a_version_raised_by_hand_counts(shared: SharedContext) -> None:
    """Who follows the protocol by hand, with a line in the Change Log, has made a version."""
    text = shared.text.replace("One account.", "Two.").replace("version: 1\n", "version: 2\n", 1)
    shared.text = text.replace("- v1 - ", "- v2 - 2026-02-01T10:00:00Z - ann - User Intent: two\n- v1 - ", 1)
    assert permanent.edited_sections(shared.state) == ()
    shared.update("Constraints", "- x\n")
    assert [each.number for each in shared.log] == [3, 2, 1]


def test_the_oldest_versions_go_to_the_archive(shared: SharedContext) -> None:
    """The newest 50 stay in the document, and the archive has the others, each once."""
    for number in range(60):
        shared.update("Constraints", f"- **Limit:** {number}\n")
    assert [each.number for each in shared.log] == [*range(61, 11, -1)]
    archive = (shared.cli.place.workspace.state_root / shared.values["archive_path"]).read_text()
    assert [f"- v{number} - " in archive for number in (1, 11, 12)] == [True, True, False]
    assert shared.cli("lint").status == 0


@pytest.mark.parametrize(
    ("damage", "words"),
    [
        (("- v1 - ", "v1: "), "a line that is not a version"),
        (("version: 1\n", "version: 4\n"), "lacks version 4"),
        (("## 6. Change Log", "## 6. Changes"), "change log is gone"),
    ],
)
def test_a_damaged_change_log(shared: SharedContext, damage: tuple[str, str], words: str) -> None:
    """Nothing is written into a document whose versions cannot be read."""
    shared.text = shared.text.replace(*damage, 1)
    assert words in shared.refused("Constraints", "- x\n")


def test_a_task_of_another_kind_and_none_at_all(shared: SharedContext) -> None:
    """Each is refused with what to do."""
    assert "task 101 is not a permanent task" in shared.cli.refused("permanent", "update", TASK)
    shared.path.unlink()
    for given in ((), (TASK,)):
        refused = shared.cli.refused("permanent", "status", *given)
        assert "there is no active permanent task: `taskstate new --kind permanent" in refused


def test_the_advice_works_as_printed(shared: SharedContext) -> None:
    """Where there is no permanent task, the command that is named creates one, though the first ids are taken."""
    shared.path.unlink()
    for number in ("1", "2"):
        shared.cli.ok("new", number, "--title", "T")
    advice = shared.cli.refused("permanent", "status").split("`")[1]
    assert shared.cli.ok(*filled(advice)[1:]).startswith(".taskstate/tasks/task-102-state.md: created, PT-v1")


def test_a_second_permanent_task_must_be_asked_for(shared: SharedContext) -> None:
    """With --another there are two; the lowest id counts, with a warning."""
    said = shared.cli.refused("new", "2", "--kind", "permanent", "--title", "Other")
    assert "--another" in said
    shared.cli.ok("new", "2", "--kind", "permanent", "--title", "Other", "--another")
    result = shared.cli("permanent", "status")
    assert result.out.startswith("1  Login platform")
    assert "1 counts, and not 2" in result.err


def test_updates_of_different_sections_at_once_all_succeed(shared: SharedContext) -> None:
    """Each becomes a version of its own."""
    jobs = {"Constraints": "- a\n", "Phase Status": "- b\n", "User Intent": "- c\n"}
    commands = [
        (["permanent", "update", "--section", section, "--from", "-"], content) for section, content in jobs.items()
    ]
    assert run_at_once(shared.cli.place.root, commands) == [0, 0, 0]
    assert shared.version == 4
    assert all(content.strip() in shared.section(section) for section, content in jobs.items())
