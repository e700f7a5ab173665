"""Laws of the linter, over the damaged corpus damaged further, and over any text at all."""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING

from hypothesis import example, given
from hypothesis import strategies as st

from taskstate.lint import engine
from taskstate.model.config import Config
from taskstate.syntax.document import parse
from taskstate.syntax.edits import apply
from tests.support.lint_corpus import cases, clean_files

if TYPE_CHECKING:
    from taskstate.lint.diagnostics import Diagnostic

CASES = [case for case in cases() if case.text is not None and len(case.text) < 20_000 and not case.gone]
CORPUS = [
    *((case.name, case.text) for case in CASES if case.text is not None),
    *((path.name, path.read_text(encoding="utf-8")) for path in clean_files()),
]
NAMES = (
    "task-101-state.md",
    "archives/task-101-archive.md",
    "handoffs/task-101/phase-1-handoff-20241126T174000Z.md",
    "task-101-impact-map.json",
    "task-101/phase-1-progress.json",
    "task-..-state.md",
    "-",
)
SNIPPETS = (
    *(
        "---\n",
        "\n---\n",
        "```\n",
        "```json\n",
        "~~~\n",
        "<!--\n",
        "-->\n",
        "<div>\n",
        "\n\n",
        "\r\n",
        "\t",
        "    ",
        "> ",
        "- ",
        "# ",
    ),
    *(
        "## ",
        "### ",
        "## 4. Progress Log\n",
        "## 2. Chain Inputs\n\n",
        "### Session 3 - 2026-01-31 12:00\n\n",
        "### Session x\n",
    ),
    *(
        "<<<<<<< a\n",
        "=======\n",
        ">>>>>>> b\n",
        "\x1b",
        "\u202e",
        "\0",
        "\ufeff",
        "é",
        "😀",
        "\u2028",
        "\x0c",
        "#",
        ": ",
        "'",
        '"',
    ),
    *(
        "task_id: 7\n",
        "kind: permanent\n",
        "kind: handoff\n",
        "taskstate: 2\n",
        "sessions: 4\n",
        "file_size_kb: 99\n",
        "x: [\n",
    ),
    *(
        "sessions: {total: 1, archived: 0, recent: 9}\n",
        "status: complete\n",
        "updated_at: 2026-01-31\n",
        "{",
        "}",
        "[",
        "]",
        ",",
        "1",
    ),
    *(
        '"passes": true',
        '"overall_progress": "7%"',
        "null",
        "*To be completed.*\n",
        "**What I did:**\n",
        "title: #x\n",
        "a: &a\n",
        "*a",
    ),
)
# What rewrites a value, a heading or a directive may drop the words that stood there; other safe fixes drop none.
REWRITING = {"TS003", "TS010", "TS103", "TS205", "TS206", "TS414"}


@st.composite
def damaged(draw: st.DrawFn) -> tuple[str, str]:
    """Return a name and a text of the corpus with some more damage."""
    name, text = draw(st.sampled_from(CORPUS))
    for _change in range(draw(st.integers(0, 4))):
        start = draw(st.integers(0, len(text)))
        stop = draw(st.integers(start, min(len(text), start + draw(st.sampled_from([0, 1, 20, 400])))))
        lines = text.splitlines(keepends=True) or [""]
        line = draw(st.sampled_from(lines))
        new = draw(st.sampled_from(["", *SNIPPETS, line, text[start:stop] * 2]))
        text = text[:start] + new + text[stop:]
    if draw(st.booleans()):
        text = draw(
            st.sampled_from([text.replace("\n", "\r\n"), text.replace("\n", "\r"), "\ufeff" + text, text.rstrip("\n")])
        )
    return name, text


def words(text: str) -> Counter[str]:
    """Return how often each word stands in a text; numbers are none."""
    return Counter(re.findall(r"[^\W\d_]{2,}", text))


def safe_edits(diagnostics: tuple[Diagnostic, ...]) -> tuple[Diagnostic, ...]:
    """Return those that can be mended safely by edits."""
    return tuple(one for one in diagnostics if one.fix and one.fix.safe and one.fix.edits)


def check(name: str, text: str) -> tuple[Diagnostic, ...]:
    """Return what is found in a text."""
    return engine.check(text, name, Config())


@given(st.sampled_from(NAMES), st.text(st.characters(codec="utf-8"), max_size=300))
@example("task-1-state.md", "---\n---\n")
@example("task-1-state.md", "---\r---")
def test_any_text_can_be_checked(name: str, text: str) -> None:
    """Checking raises on no text."""
    check(name, text)


@given(damaged())
def test_findings_stand_in_the_text(case: tuple[str, str]) -> None:
    """Checking raises on no damaged file, and every finding has a place in it, a message and advice."""
    name, text = case
    for finding in engine.findings(text.encode("utf-8", "replace"), name, Config()):
        one = finding.diagnostic
        assert 0 <= one.span.start <= one.span.end <= len(text)
        assert (1, 1) <= (finding.line, finding.column) <= (finding.end_line, finding.end_column)
        assert one.message
        assert one.help
        assert len(one.message) < 600


@given(damaged())
def test_bytes_of_any_kind_can_be_checked(case: tuple[str, str]) -> None:
    """Bytes that are no UTF-8 give the one finding that says so."""
    name, text = case
    data = text.encode("utf-8", "replace")
    at = len(data) // 2
    found = engine.findings(data[:at] + b"\xff" + data[at:], name, Config())
    assert [finding.diagnostic.code for finding in found] == ["TS001"]


@given(damaged())
def test_no_fault_is_told_twice(case: tuple[str, str]) -> None:
    """No two findings of one rule stand at one place and say the same."""
    name, text = case
    found = Counter((one.code, one.span, one.message) for one in check(name, text))
    assert not [told for told, count in found.items() if count > 1]


@given(damaged(), st.booleans())
def test_fixing_twice_is_fixing_once(case: tuple[str, str], unsafe: bool) -> None:  # noqa: FBT001 - hypothesis fills it
    """A fixed text has nothing left to fix, and no error that it had not before, unless it could not be read before."""
    name, text = case
    fixed = engine.fix(text, name, Config(), unsafe=unsafe)
    again = engine.fix(fixed.text, name, Config(), unsafe=unsafe)
    assert (again.text, again.applied) == (fixed.text, ())
    if not any(code.startswith(("TS00", "TS102", "TS201", "TS209", "TS411")) for code in fixed.applied):
        before = {one.code for one in check(name, text) if one.severity == "error"}
        assert {one.code for one in fixed.diagnostics if one.severity == "error"} <= before


@given(damaged())
def test_a_fix_can_be_applied(case: tuple[str, str]) -> None:
    """The edits of every fix lie in the text, do not overlap, change something, and keep what they do not name."""
    name, text = case
    for one in check(name, text):
        if one.fix and one.fix.edits:
            after = apply(text, one.fix.edits)
            assert after != text
            first, last = min(edit.start for edit in one.fix.edits), max(edit.end for edit in one.fix.edits)
            assert after.startswith(text[:first])
            assert after.endswith(text[last:])


@given(damaged())
def test_a_safe_fix_loses_no_words(case: tuple[str, str]) -> None:
    """Every word survives a safe fix, but for those of a value or a title line that it rewrites."""
    name, text = case
    for one in safe_edits(check(name, text)):
        assert one.fix
        rewritten = one.fix.edits if one.code in REWRITING else ()
        lost = words(text) - words(apply(text, one.fix.edits))
        assert not lost - words(" ".join(text[edit.start : edit.end] for edit in rewritten))


@given(damaged())
def test_a_fix_mends(case: tuple[str, str]) -> None:
    """After fixing, nothing is left that could be mended safely, unless all of it was thrown away."""
    name, text = case
    fixed = engine.fix(text, name, Config())
    if fixed.applied:
        assert not safe_edits(fixed.diagnostics)
        assert parse(fixed.text).text == fixed.text
