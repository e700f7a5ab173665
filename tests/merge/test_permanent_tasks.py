"""Two branches that both updated the permanent task merge by meaning."""

from __future__ import annotations

import pytest

from taskstate.lint import engine
from taskstate.model.config import Config
from taskstate.model.permanent import change_log, edited_sections, shown_version, version_of, version_seal
from taskstate.model.task_state import TaskState, read_state
from taskstate.syntax.document import parse
from tests.support.merging import edited, merge_texts
from tests.support.permanent_text import PERMANENT_TEXT, sealed_version

LOG = "## 6. Change Log\n\n"


def revised(text: str, at: str, sections: str, *changes: tuple[str, str], actor: str = "lead") -> str:
    """Return a permanent task with its next version: some places changed, its line, and its seal."""
    state = read_state(parse(edited(text, *changes)))
    number = version_of(state) + 1
    line = f"- v{number} - 2026-02-{at}T10:00:00Z - {actor} - {sections}: changed [cosmetic]\n"
    text = edited(state.document.text, (f"version: {number - 1}\n", f"version: {number}\n"), (LOG, LOG + line))
    return sealed_version(text)


def read(text: str) -> TaskState:
    """Return the state of a text."""
    return read_state(parse(text))


def errors(text: str) -> list[str]:
    """Return the codes of the findings in a text."""
    return [each.code for each in engine.check(text, "task-1-state.md", Config())]


BASE = sealed_version(PERMANENT_TEXT)
FASTER = ("- **Latency:** 200 ms", "- **Latency:** 100 ms")
BEGUN = ("- **Build:** not started", "- **Build:** begun")


@pytest.mark.parametrize("swap", [False, True])
def test_two_branches_give_one_more_version_that_names_both(swap: bool) -> None:  # noqa: FBT001 - each side in turn
    """Two branches at v4 give v5 with the sections of both, whichever side is ours; an ack of either counts as v3."""
    one = edited(revised(BASE, "11", "Constraints", FASTER), ("acks: {ada: 3}", "acks: {ada: 4}"))
    other = edited(revised(BASE, "12", "Phase Status", BEGUN), ("acks: {ada: 3}", "acks: {ada: 3, bert: 4}"))
    text, conflicts = merge_texts(BASE, *((other, one) if swap else (one, other)), name="task-1-state.md")
    state = read(text)
    assert conflicts == 0
    assert FASTER[1] in text
    assert BEGUN[1] in text
    assert (shown_version(version_of(state)), state.document.front_matter.get("acks")) == (
        "PT-v5",
        {"ada": 3, "bert": 3},
    )
    newest, before, *_ = change_log(state)
    assert newest.line.endswith("lead - Phase Status, Constraints: changed; merged with v4 (Constraints) [cosmetic]")
    assert (newest.number, before.number, before.sections) == (5, 4, ("Constraints",))
    assert errors(text) == []


def test_items_of_one_section_are_merged_one_by_one() -> None:
    """Items that one side added, changed or removed are so in the result, though they stand on neighbouring lines."""
    one = revised(BASE, "11", "Constraints", FASTER, ("- No new database\n", "- No new database\n- EU only\n"))
    other = revised(BASE, "12", "Constraints", ("- No new database\n", "- **Budget:** one server\n"))
    text, conflicts = merge_texts(BASE, one, other, name="task-1-state.md")
    assert (conflicts, errors(text)) == (0, [])
    assert "## 5. Constraints\n\n- **Latency:** 100 ms\n- **Budget:** one server\n- EU only\n\n" in text


def test_an_item_that_both_changed_is_left_to_decide() -> None:
    """Two values under one label exclude each other: markers stand around that item alone."""
    one, other = (
        revised(BASE, day, "Constraints", ("Latency:** 200 ms", f"Latency:** {value} ms"))
        for day, value in (("11", 100), ("12", 50))
    )
    text, conflicts = merge_texts(BASE, one, other, name="task-1-state.md")
    assert conflicts == 1
    assert "<<<<<<< ours\n- **Latency:** 100 ms\n=======\n- **Latency:** 50 ms\n>>>>>>> theirs\n- No new" in text


def test_the_same_decision_number_twice_is_given_anew() -> None:
    """Where both sides took AD-3, the later one's becomes AD-4, wherever that side names it."""
    new = "### AD-3: {}\n\n**Status:** accepted\n\n**Decision:** {}, as AD-3 says.\n\n## 4. Phase Status"
    one, other = (
        revised(BASE, day, "Architecture Decisions", ("## 4. Phase Status", new.format(name, name)))
        for day, name in (("12", "Queue"), ("11", "Cache"))
    )
    both = [merge_texts(BASE, *sides, name="task-1-state.md") for sides in ((one, other), (other, one))]
    assert [(conflicts, errors(text)) for text, conflicts in both] == [(0, []), (0, [])]
    assert both[0][0].partition("## 1.")[2] == both[1][0].partition("## 1.")[2]
    assert "### AD-3: Cache" in both[0][0]
    assert "### AD-4: Queue\n\n**Status:** accepted\n\n**Decision:** Queue, as AD-4 says." in both[0][0]


def test_the_impact_map_is_merged_by_id() -> None:
    """Each side's changes of modules and interfaces are in the merged map, in one order for both."""
    core = '{"id": "core", "paths": ["core/**"], "depends_on": []}'
    one = revised(
        BASE,
        "11",
        "Codebase Impact Map",
        (core, f'{core},\n    {{"id": "web", "paths": ["web/**"], "depends_on": []}}'),
    )
    other = revised(
        BASE,
        "12",
        "Codebase Impact Map",
        (core, f'{core},\n    {{"id": "db", "paths": ["db/**"], "depends_on": []}}'),
        ("verify(token) -> user", "verify(token) -> user or None"),
    )
    both = [merge_texts(BASE, *sides, name="task-1-state.md") for sides in ((one, other), (other, one))]
    assert [(conflicts, errors(text)) for text, conflicts in both] == [(0, []), (0, [])]
    assert [text.index('"id": "db"') < text.index('"id": "web"') for text, _ in both] == [True, True]
    assert all("or None" in text for text, _ in both)


def test_an_edit_by_hand_stays_one() -> None:
    """A section that one side edited without a version shows as such in the merged file."""
    by_hand = edited(BASE, FASTER)
    text, conflicts = merge_texts(BASE, by_hand, revised(BASE, "12", "Phase Status", BEGUN), name="task-1-state.md")
    assert (conflicts, edited_sections(read(text)), errors(text)) == (0, ("Constraints",), ["TSP07"])


def test_the_seal_is_that_of_the_merged_content() -> None:
    """The merged file has the seal of its own version."""
    one, other = revised(BASE, "11", "Constraints", FASTER), revised(BASE, "12", "Phase Status", BEGUN)
    state = read(merge_texts(BASE, one, other, name="task-1-state.md")[0])
    assert state.text("version_seal") == version_seal(state, 5)


def test_a_cherry_picked_version_is_there_once() -> None:
    """A version that both sides have is one version, whatever its number on each side."""
    one = revised(BASE, "11", "Constraints", FASTER)
    other = revised(revised(BASE, "10", "Phase Status", BEGUN), "11", "Constraints", FASTER)
    text, conflicts = merge_texts(BASE, one, other, name="task-1-state.md")
    assert conflicts == 0
    assert [each.number for each in change_log(read(text))] == [5, 4, 3, 2, 1]
    assert errors(text) == []


def test_a_damaged_change_log_is_merged_by_line() -> None:
    """Nothing is numbered in a Change Log with a line that is no version."""
    one = edited(revised(BASE, "11", "Constraints", FASTER), ("- v2 - ", "- w2 - "))
    text, conflicts = merge_texts(BASE, one, revised(BASE, "12", "Phase Status", BEGUN), name="task-1-state.md")
    assert conflicts == 1
    assert "<<<<<<< ours\n- v4 - 2026-02-11" in text
