"""What rules promise for every text and not only for the files of the lint corpus."""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from taskstate.lint import engine
from taskstate.lint.queries.interface import Queries
from taskstate.model.config import Config
from taskstate.model.document_kinds import built_in
from taskstate.syntax.document import parse
from tests.support.lint_corpus import CLEAN, cases
from tests.support.markdown_strategies import any_text, state_files

if TYPE_CHECKING:
    from taskstate.lint.diagnostics import Diagnostic

NAME = "task-101-state.md"
HEAD = """---
taskstate: 1
task_id: "101"
title: JWT Service
status: in_progress
created_at: "2024-11-26T14:00:00Z"
---

# Task #101: JWT Service - State

"""
SESSION = """### Session {} - 2024-11-26 14:30

**What I did:** Went on

**Issues:** None

**Current state:** Works

**Next steps:** Go on

"""
CONTENTS = {
    "Static Context": "### Task Description\n\nIssue tokens.\n\n### Acceptance Criteria\n\n- [ ] A token is issued\n",
    "Chain Inputs": "> ### Summary\n>\n> A table of users.\n",
    "Feature Checklist": '```json\n{"features": [], "overall_progress": "0%"}\n```\n',
    "Progress Log": SESSION.format(1).rstrip("\n") + "\n",
    "Git History": "- `abc1234` - add generateToken\n",
    "Chain Output": "### Summary\n\n*To be completed.*\n",
    "Notes": "Mine.\n",
}
TASK = built_in("task")
REQUIRED = [spec.name for spec in TASK.sections if spec.required]
newlines = st.sampled_from(["\n", "\r\n", "\r"])


def section(name: str) -> str:
    """Return a whole section with something in it."""
    spec = TASK.section(name)
    assert spec
    return f"{spec.heading}\n\n{CONTENTS[name]}"


def check(text: str) -> tuple[Diagnostic, ...]:
    """Return what is found in the text of a state file."""
    return engine.check(text, NAME, Config())


def codes(text: str) -> list[str]:
    """Return the codes of what is found in the text of a state file, whatever ends its lines."""
    return [diagnostic.code for diagnostic in check(text) if diagnostic.code != "TS006"]


def fixed(text: str, *, unsafe: bool = False) -> str:
    """Return the text after its fixes."""
    return engine.fix(text, NAME, Config(), unsafe=unsafe).text


def titles(text: str) -> list[str]:
    """Return the names of the known sections in the order of a text."""
    found = (TASK.section(each.title) for each in parse(text).sections if each.level == 2)
    return [spec.name for spec in found if spec]


@given(any_text)
def test_any_text_can_be_checked_and_fixed(text: str) -> None:
    """No text makes a rule raise, and fixing twice is fixing once."""
    once = engine.fix(text, NAME, Config(), unsafe=True).text
    assert fixed(once, unsafe=True) == once


@given(state_files)
def test_a_safe_fix_of_the_body_loses_no_line(text: str) -> None:
    """A line of the body may move, and a heading or a derived one may be written anew; no other line is lost.

    Of sessions that stand twice, word for word, one stays.
    """
    before, after = _lines(text), _lines(fixed(text))
    has_copies = any("is the copy of" in one.message for one in engine.check(text, NAME, Config()))
    lost = set(before) - set(after) if has_copies else Counter(before) - Counter(after)
    assert not [line for line in lost if "overall_progress" not in line and not line.lstrip().startswith("#")]


def _lines(text: str) -> list[str]:
    body = text[parse(text).front_matter.content.end :]
    return [line for line in re.split(r"\r\n?|\n", body) if line.strip()]


@given(
    st.permutations(list(CONTENTS)),
    st.lists(st.sampled_from(["\n", "\n\n", "\n---\n\n"]), min_size=7, max_size=7),
    newlines,
)
def test_sections_change_places_without_losing_a_character(order: list[str], between: list[str], newline: str) -> None:
    """Whatever the order of the sections, the fix puts them in order; each character stays, and what is between."""
    text = (HEAD + "".join(section(name) + gap for name, gap in zip(order, between, strict=True))).replace(
        "\n", newline
    )
    expected = HEAD + "".join(section(name) + gap for name, gap in zip(CONTENTS, between, strict=True))
    assert fixed(text) == expected.replace("\n", newline)
    assert set(codes(text)) == ({"TS202"} if order != list(CONTENTS) else set())


@given(st.sets(st.sampled_from(REQUIRED), min_size=1), newlines, st.booleans())
def test_missing_sections_are_added_in_their_places(gone: set[str], newline: str, ended: bool) -> None:  # noqa: FBT001 - drawn by hypothesis
    """Each absent section is one finding, and the fix adds it where it belongs, around a text that stays as it is."""
    kept = [name for name in CONTENTS if name not in gone]
    head = HEAD.replace("in_progress", "created")  # only there is a static context added, with placeholders
    text = (head + "\n".join(section(name) for name in kept)).replace("\n", newline)
    text = text if ended else text.rstrip("\r\n")
    assert [code for code in codes(text) if code != "TS414"] == ["TS201"] * len(gone)
    after = fixed(text)
    assert titles(after) == list(CONTENTS)
    assert {*codes(after)} <= {"TS414"}
    rest = iter(after)
    body = text.partition("# Task")[2]
    assert all(char in rest for char in body), "the text is still there, in its order"


@given(st.lists(st.integers(0, 12), min_size=1, max_size=8), st.integers(0, 6))
def test_renumbering_changes_numbers_alone(numbers: list[int], archived: int) -> None:
    """After the fix the numbers rise from the archived ones on; those that could stay stay, and so does all else."""
    summary = f"### Archived Summary (Sessions 1-{archived})\n\nDone.\n\n" if archived else ""
    log = (
        "## 4. Progress Log\n\n"
        + summary
        + "".join(SESSION.format(number).replace("Go on", f"Go on {index}") for index, number in enumerate(numbers))
    )
    text = HEAD + "\n".join(log if name == "Progress Log" else section(name) for name in CONTENTS)
    after = fixed(text, unsafe=True)
    found = [int(number) for number in re.findall(r"### Session (\d+)", after)]
    assert found == sorted(set(found))
    assert found[0] > archived
    assert re.sub(r"### Session \d+", "", after) == re.sub(r"### Session \d+", "", text)
    if numbers == sorted(set(numbers)) and numbers[0] > archived:
        assert found == numbers


@pytest.mark.parametrize("name", REQUIRED)
def test_a_misspelt_section_is_renamed(name: str) -> None:
    """The heading that was probably meant is named and renamed, and nothing is added beside it."""
    text = HEAD + "\n".join(section(each) for each in CONTENTS)
    slip = name[:-2] + name[-1]
    (found,) = check(text.replace(f" {name}\n", f" {slip}\n", 1))
    misspelt = text.replace(f" {name}\n", f" {slip}\n", 1)
    assert (found.code, slip in found.message) == ("TS209", True)
    assert (fixed(misspelt), fixed(misspelt, unsafe=True)) == (misspelt, text)


@pytest.mark.parametrize(("more", "severity", "is_fixed"), [(-1, "warning", True), (1, "error", False)])
def test_counts_of_sessions_that_are_gone_are_an_error(more: int, severity: str, *, is_fixed: bool) -> None:
    """Where fewer sessions are there than counted, no fix hides that; a count that is too low is only a warning."""
    text = (CLEAN / "task-7-state.md").read_text(encoding="utf-8")
    total = int(text.partition("sessions: {total: ")[2].partition(",")[0])
    counted = text.replace(f"{{total: {total},", f"{{total: {total + more},", 1)
    (found,) = (each for each in check(counted) if each.code == "TS105")
    assert (found.severity, found.fix is not None) == (severity, is_fixed)
    assert ("doctor --fix" in found.help) is not is_fixed


def test_a_long_value_is_cut() -> None:
    """No message repeats more than a line of what stands in the file: it may be a secret."""
    secret = "k" * 5000
    text = (CLEAN / "task-7-state.md").read_text(encoding="utf-8")
    worse = text.replace("# Task #7", f"# {secret}", 1).replace("### Session", f"### {secret} Session", 1)
    texts = [f"{each.message} {each.help}" for each in engine.check(worse, "task-7-state.md", Config())]
    assert texts
    assert not [one for one in texts if "k" * 100 in one]


def test_a_finding_says_what_to_do() -> None:
    """Every message is a line without a full stop, and so is the help that comes with it."""
    for case in (case for case in cases() if case.id.startswith(("TS2", "TS3", "TS4", "TS9"))):
        for finding in engine.findings(case.data, case.name, case.config, case.queries):
            for words in (finding.diagnostic.message, finding.diagnostic.help):
                assert words, case.id
                assert not words.endswith("."), words
                assert "\n" not in words, words


class _Clock(Queries):
    """Knows what time it is, and nothing else."""

    def is_future(self, moment: str) -> bool | None:
        """Return whether a timestamp is later than noon of that day."""
        return moment > "2024-11-26T12:00:00Z"


@pytest.mark.parametrize(
    ("time", "severities"),
    [("2024-11-26 12:00", []), ("2024-11-27 12:00", ["warning"]), ("2024-11-27 12:01", ["error"])],
)
def test_a_session_in_the_future_is_a_warning_for_a_day(time: str, severities: list[str]) -> None:
    """Up to 24 hours ahead a writer may have used local time; beyond that the time is wrong."""
    text = HEAD.replace("14:00:00Z", "11:00:00Z") + "\n".join(section(each) for each in CONTENTS)
    found = engine.check(text.replace("2024-11-26 14:30", time), NAME, Config(), _Clock())
    assert [(each.code, each.severity) for each in found] == [("TS412", severity) for severity in severities]
