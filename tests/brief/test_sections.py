from __future__ import annotations

from pathlib import Path

import pytest

from taskstate.brief.sections import ALWAYS, SECTION_SPECS, BriefSection, brief_sections
from taskstate.brief.units import Unit, units_of
from taskstate.model.config import EXPORT_FIELDS
from taskstate.model.task_state import read_state
from taskstate.model.write_metadata import blocks_of
from taskstate.syntax.document import parse

EXAMPLE = (Path(__file__).parents[1] / "cases" / "states" / "reviewed.md").read_text(encoding="utf-8")


def parts(text: str = EXAMPLE) -> dict[str, BriefSection]:
    """Return the sections of a brief by name."""
    state = read_state(parse(text))
    return {
        part.spec.name: part
        for part in brief_sections(
            state, blocks_of(state.document), folder=".taskstate", sessions=9, attention=("drift: x",)
        )
    }


def texts(name: str, text: str = EXAMPLE) -> list[str]:
    """Return the units of one section."""
    return [unit.text for unit in parts(text)[name].units]


def permanent(*sections: str) -> str:
    """Return a permanent task with these sections."""
    front_matter = '---\ntaskstate: 1\nkind: permanent\ntask_id: "1"\ntitle: T\nstatus: in_progress\n---\n'
    return "\n".join([front_matter, "# [PERMANENT] T - State\n", *sections])


def test_table_is_in_order() -> None:
    """Description outlives chain inputs, these earlier sessions, and these the summary; next steps always stay."""
    keep = {row.name: row.keep for row in SECTION_SPECS}
    assert [name for name, rank in keep.items() if rank == ALWAYS] == ["attention", "next", "features"]
    assert (
        keep["session"] < keep["criteria"] <= keep["description"] < keep["inputs"] < keep["sessions"] < keep["summary"]
    )
    assert max(keep.values()) == keep["summary"]
    assert {row.field for row in SECTION_SPECS} - {""} <= set(EXPORT_FIELDS)


SUMMARY = """### Archived Summary (Sessions 1-3)

**Duration:** a week

**Key Accomplishments:** 4 more of S1 are in the archive only

- First (S1)
- Second (S2)
  with a line

**Issues Encountered:**
- Old (S1)
- New (S3)

**Issues Resolved:** None.

**Commits:** abc1234

"""


def test_summary_is_told_from_its_newest_end() -> None:
    """What is open comes before what was done, each list from the newest on; all else follows."""
    before, _, behind = EXAMPLE.partition("### Archived Summary")
    text = f"{before}{SUMMARY}### Session 3{behind.partition('### Session 3')[2]}"
    units = parts(text)["summary"].units
    assert [unit.text for unit in units] == [
        "**Issues Encountered:**\n\n- New (S3)",
        "- Old (S1)",
        "**Key Accomplishments:** 4 more of S1 are in the archive only\n\n- Second (S2)\n  with a line",
        "- First (S1)",
        "**Issues Resolved:** None.",
        "**Duration:** a week",
        "**Commits:** abc1234",
    ]
    assert [unit.keep > 0 for unit in units] == [True, True, False, False, False, False, False]


def test_what_stands_among_the_criteria_is_shown() -> None:
    """A line that is no criterion has its number and the reason, and a paragraph beside them its words."""
    text = EXAMPLE.replace("- [ ] Tokens verify", "Agreed on Monday.\n\n- [~] Tokens verify\n  and expire")
    assert texts("criteria", text) == [
        "Agreed on Monday.",
        "1. no criterion: it begins with neither `- [ ]` nor `- [x]`: - [~] Tokens verify\n     and expire",
        "2. [ ] Keys rotate",
    ]


def test_parts_of_a_task() -> None:
    """Every section with content is there, in the order of the table."""
    assert list(parts()) == [row.name for row in SECTION_SPECS]
    assert texts("next") == ["- Decide on 30 s of leeway", "- Write the test"]
    assert texts("features") == ["- jwt-2: checks the signature", "- jwt-4: rotates keys"]
    assert [unit.short for unit in parts()["features"].units] == ["- jwt-2", "- jwt-4"]
    assert texts("findings") == ["- reviewer: 1. no test of expiry", "- `finish` answers each: `--answer N=T`"]
    path = ".taskstate/handoffs/task-101/phase-1-handoff-20260131T120000Z.md"
    assert texts("handoff") == [f"- `{path}`: read it first, then `taskstate handoff accept 101`"]
    assert texts("phase") == [
        "Phase 1: Token service: objective 2, Verify tokens (expiry open)",
        "- Tried: HS256 with a static key: rotation impossible",
    ]
    assert texts("criteria") == ["1. [ ] Tokens verify", "2. [ ] Keys rotate"]
    assert texts("commands") == ["- `pytest -q`", "- `ruff check`"]
    assert texts("description") == ["Issue and verify tokens.", "The service signs with a rotating key."]
    assert texts("scope") == ["- In: src/auth/**", "- Out: src/ui/**"]
    assert texts("standards")[1] == "- standards/a.md#handlers L42-L89: Handlers stay small."
    assert texts("paths") == ["- :mobile"]  # what is in the scope is not repeated
    assert texts("evidence") == ["- e1: plan.md 1-4"]
    assert parts()["summary"].title == "Archived Summary (Sessions 1-2)"
    assert texts("summary") == ["**Key Accomplishments:**\n\n- Structure set up (S1)"]


def test_inputs_stay_quoted() -> None:
    """Chain inputs are quoted, so that their headings do not become headings of this brief."""
    assert texts("inputs") == [
        "### From Task #100: Schema (revision 9)\n\n> ### Summary\n>\n> Users table: id, email, password_hash.",
        "### From Task #99: By hand\n\nKeep the old endpoint.",
    ]


def test_a_quoted_input_is_one_block_quote() -> None:
    """Blank lines between its paragraphs and items are quoted, too, so that a list stays one list."""
    quoted = "> Users table: id, email, password_hash."
    text = EXAMPLE.replace(quoted, f"{quoted}\n>\n> - one\n> - two\n>\n>   more\n>\n> End.")
    units = [unit for unit in parts(text)["inputs"].units if unit.text.startswith(("### From Task #100", ">"))]
    whole = "".join(unit.text + ("\n" if unit.tight else "\n\n") for unit in units)
    assert [block.kind for block in parse(whole).blocks] == ["heading"]
    assert whole.endswith("> - one\n> - two\n>\n>   more\n>\n> End.\n\n")


def test_inputs_without_a_heading() -> None:
    """Text directly below the heading of the inputs is there, unless it says that there are none."""
    heading = "## 2. Chain Inputs\n\n"
    assert texts("inputs", EXAMPLE.replace(heading, f"{heading}Mind the queue.\n\n"))[0] == "Mind the queue."
    for nothing in ("None.", "*To be completed.*"):
        assert len(texts("inputs", EXAMPLE.replace(heading, f"{heading}{nothing}\n\n"))) == 2


def test_headings_of_ones_own() -> None:
    """Subsections that people added to the static part belong to the description."""
    text = EXAMPLE.replace("### Scope\n", "### Background\n\nIt was slow.\n\n### Scope\n")
    assert texts("description", text)[-1] == "### Background\n\nIt was slow."


def test_hand_made_blocks_are_read_loosely() -> None:
    """A malformed block of the front matter is ignored."""
    text = EXAMPLE.replace("blocking_findings: [no test of expiry]", "blocking_findings: none")
    text = text.replace("handoffs: {count: 1, open:", "handoffs: {count: 1, shut:").replace(
        "evidence:\n", "evidence: 7\nx:\n"
    )
    assert {"findings", "handoff", "evidence"}.isdisjoint(parts(text))


def test_sessions_newest_first() -> None:
    """The newest session is a part of its own, and the earlier ones follow from the newest to the oldest."""
    assert parts()["session"].title == "Newest: Session 5 - 2026-01-31 11:30"
    assert texts("session") == [
        "**What I did:**\n\n- Checked the signature",
        "**Issues encountered:**\n\n- Clock skew is undefined",
        "**Current state:** Expiry open.",
    ]
    assert {unit.number for unit in parts()["session"].units} == {5}
    assert [unit.number for unit in parts()["sessions"].units if unit.text.startswith("#")] == [4, 3]


def test_task_that_has_just_been_made() -> None:
    """Without sessions the next step is the first open feature; placeholders and empty parts are left out."""
    text = EXAMPLE[: EXAMPLE.index("### Archived Summary")] + EXAMPLE[EXAMPLE.index("## 5. Git") :]
    text = text.replace("Issue and verify tokens.\n\nThe service signs with a rotating key.", "*To be completed.*")
    assert texts("next", text) == ["- No session names one: begin with the feature jwt-2."]
    assert {"session", "sessions", "summary", "description"}.isdisjoint(parts(text))
    assert texts("next", text.replace('"passes": false', '"passes": true')) == [
        "- No session names one: begin with the acceptance criteria."
    ]


def test_permanent_task() -> None:
    """The brief of a permanent task has the sections that its kind declares, decisions newest first."""
    found = parts(
        permanent(
            "## 1. User Intent\n\nLog in once.\n",
            "## 2. Codebase Impact Map\n\n*To be completed.*\n",
            "## 3. Architecture Decisions\n\nAll of them.\n",
            "### AD-1: One\n\n**Decision:** a\n",
            "### AD-2: Two\n\n**Decision:** b\n",
            "## 7. Something Else\n\nNobody declared it.\n",
            "## Notes\n\nMine.\n",
        )
    )
    assert list(found) == ["attention", "user intent", "architecture decisions", "notes", "something else"]
    assert [unit.text for unit in found["architecture decisions"].units] == [
        "All of them.",
        "### AD-2: Two\n\n**Decision:** b",
        "### AD-1: One\n\n**Decision:** a",
    ]


@pytest.mark.parametrize(
    ("text", "pieces"),
    [
        ("a\nb\n\nc", ["a\nb", "c"]),
        ("- a\n  - b\n- c\n\n  d\n\n- e", ["- a\n  - b", "- c\n\n  d", "- e"]),
        ("1. a\n2. b", ["1. a", "2. b"]),
        ("a\n\n```\n- b\n\nc\n```\n\nd", ["a", "```\n- b\n\nc\n```", "d"]),
        ("- a\n\n  ```\n  b\n\n  c\n  ```\n- d", ["- a\n\n  ```\n  b\n\n  c\n  ```", "- d"]),
        ("a\n\n<!-- b\n\nc -->\n\nd", ["a", "<!-- b\n\nc -->", "d"]),
        ("### A\n\n**Label:**\n\n- b\n- c\n\n**Other:** d", ["### A\n\n**Label:**\n\n- b", "- c", "**Other:** d"]),
        ("a\n\n~~~~ x\nb", ["a", "~~~~ x\nb\n~~~~"]),
        ("a\r\n\r\nb", ["a", "b"]),
        ("a\n\n    code\n\n    more\n\nb", ["a\n\n    code\n\n    more", "b"]),
    ],
)
def test_texts_are_cut_between_items_and_paragraphs(text: str, pieces: list[str]) -> None:
    """A cut never goes through an item, a fence or a comment, and a heading stays with what it stands over."""
    assert [unit.text for unit in units_of(text)] == pieces


def test_items_stay_together() -> None:
    """Units know whether the next one follows on the next line, and whose session they are."""
    assert units_of("- a\n- b\n\nc", 7) == (
        Unit("- a", tight=True, number=7),
        Unit("- b", tight=False, number=7),
        Unit("c", tight=False, number=7),
    )
