"""Directives: what they speak of, and what is none; the lint corpus has what they do to findings."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import given

from taskstate.lint import engine
from taskstate.lint.suppressions import GUARDS, directives
from taskstate.model.config import Config
from taskstate.syntax.document import parse
from tests.support.markdown_strategies import any_text, state_files

if TYPE_CHECKING:
    from taskstate.lint.suppressions import Directive

HEAD = "---\ntaskstate: 1\n---\n\n"


def found(text: str) -> tuple[Directive, ...]:
    """Return the directives of a text."""
    return directives(parse(text))


def targets(text: str) -> list[list[str]]:
    """Return the texts that the directives of a text speak of."""
    return [[span.of(text) for span in directive.target] for directive in found(text)]


def test_codes_come_before_the_reason() -> None:
    """Several codes stand one behind the other, with commas or without, in any case; what follows is prose."""
    text = f"{HEAD}<!-- taskstate: ignore TS404, ts101 TS5 since TS999 is gone -->\n## A\n"
    (directive,) = found(text)
    assert [code for code, _ in directive.codes] == ["TS404", "TS101", "TS5"]
    assert [span.of(text) for _, span in directive.codes] == ["TS404", "ts101", "TS5"]


def test_a_directive_speaks_of_the_next_line_or_fence() -> None:
    """Several in a row speak of the line below them all."""
    assert targets(f"{HEAD}<!-- taskstate: ignore TS404 -->\n## A\ntext\n") == [["## A"]]
    assert targets(f"{HEAD}<!-- taskstate: ignore TS301 -->\n```json\n{{}}\n```\ntext\n") == [["```json\n{}\n```"]]
    one, two = "<!-- taskstate: ignore TS404 -->\r\n", "<!-- taskstate: ignore TS405 -->\r\n"
    assert targets(f"{HEAD}{one}{two}## A\r\ntext") == [["## A"], ["## A"]]
    assert targets(f"{HEAD}<!-- taskstate: ignore TS404 -->") == [[""]]


@pytest.mark.parametrize("verb", ["ignore", "ignore-file", "ignore-start"])
def test_the_words_of_an_item_are_no_directive(verb: str) -> None:
    """What a session says silences nothing: a line of an item is indented, and looks like a directive else."""
    text = (
        f"{HEAD}## A\n\n- did\n  <!-- taskstate: {verb} TS951 -->\n  more\n\n<!-- taskstate: ignore TS404 -->\n## B\n"
    )
    assert [[code for code, _ in each.codes] for each in found(text)] == [[], ["TS404"]]
    assert found(text)[0].target == ()


def test_above_the_first_key_a_directive_speaks_of_the_file_too() -> None:
    """What concerns the file as such stands on its first line, above which there is no room."""
    text = "---\n# taskstate: ignore TS501\ntaskstate: 1\n# taskstate: ignore TS103\ncreated_at: x\n---\n"
    assert targets(text) == [["taskstate: 1", "---"], ["created_at: x"]]


def test_a_range_and_a_whole_file() -> None:
    """A range reaches from its begin to its end, the innermost first; `ignore-file` covers everything, wherever."""
    start, end = "<!-- taskstate: ignore-start TS404 -->\n", "<!-- taskstate: ignore-end -->\n"
    text = f"{HEAD}## A\n{start}## B\n{start}## C\n{end}## D\n{end}## E\n"
    assert targets(text) == [[f"## B\n{start}## C\n{end}## D\n"], ["## C\n"]]
    front = "---\n# taskstate: ignore-file TS404 x\na: 1\n---\n"
    for comment in (front, "## A\n\n<!-- taskstate: ignore-file TS404 -->"):
        assert targets(comment) == [[comment]]
    front = "---\n# taskstate: ignore-start TS104\na: 1\n# taskstate: ignore-end\nb: 2\n---\n"
    assert targets(front) == [["a: 1\n"]]


def test_half_a_range_silences_nothing() -> None:
    """A range without end or begin is told, with the line that it lacks, and so is one over the edge of a part."""
    start, end = "<!-- taskstate: ignore-start TS404 -->", "<!-- taskstate: ignore-end -->"
    for text, lacks in (
        (f"{HEAD}{start}\n## A\n", end),
        (f"{HEAD}## A\n{end}\n", "<!-- taskstate: ignore-start -->"),
        ("---\na: 1\n# taskstate: ignore-end\n---\n", "# taskstate: ignore-start"),
    ):
        (directive,) = found(text)
        assert directive.target == ()
        assert f"write `{lacks}` " in directive.cure
    assert len(found(f"---\n# taskstate: ignore-start TS404\na: 1\n---\n{end}\n")) == 2


@pytest.mark.parametrize(
    "line",
    [
        "See <!-- taskstate: ignore TS404 -->",
        "## 1. A <!-- taskstate: ignore TS404 why -->",
        "<!-- taskstate:ignore TS404 -->",
        "<!-- taskstate ignore TS404 -->",
        "<!--taskstate: Ignore ts404-->",
        "<!-- taskstate: ignored TS404 -->",
        "<!-- taskstate: ignore-next-line TS404 -->",
        "<!-- taskstate: disable TS404 -->",
        "<!-- taskstate: ignore TS404 --> text",
        "<!-- taskstate: ignore TS404",
        "# taskstate: ignore TS404",
        "### Session 1 - 2026-01-01 10:00 # taskstate: ignore TS404",
        "- `a` and `b` # taskstate: ignore TS404",
    ],
)
def test_what_is_meant_as_a_directive_and_is_none_is_told(line: str) -> None:
    """It has a fault and a cure, which shows the directive as it is written, and it silences nothing."""
    (directive,) = found(f"{HEAD}{line}\n")
    assert (directive.codes, directive.target) == ((), ())
    assert "`<!-- taskstate: ignore TS404 reason -->` on a line of its own" in directive.cure


@pytest.mark.parametrize(
    "line", ["x-a: b # taskstate: ignore TS404", "x-a: 1  #taskstate:ignore TS404", "# TaskState: ignore TS404"]
)
def test_what_is_meant_as_a_directive_in_front_matter_is_told(line: str) -> None:
    """A comment behind a value, or written differently, is told as well."""
    (directive,) = found(f"---\ntitle: x\n{line}\n---\n")
    assert directive.target == ()
    assert "`# taskstate: ignore TS404` on a line of its own" in directive.cure


def test_what_only_looks_like_a_directive_is_none() -> None:
    """Not in a fence, a quote, code, a comment that says more, prose without a code, or a value."""
    for text in (
        "```\n<!-- taskstate: ignore TS404 -->\n```\n",
        "> <!-- taskstate: ignore TS404 -->\n",
        "    <!-- taskstate: ignore TS404 -->\n",
        "Write `<!-- taskstate: ignore TS404 -->` above it.\n",
        "<!-- a\n  taskstate: ignore TS404 -->\n",
        "We taught taskstate to ignore TS404.\n",
        "# taskstate ignores the clock\n",
        "<!-- taskstate: ignored files are not read -->\n",
    ):
        assert found(HEAD + text) == ()
    assert found('---\ntitle: "# taskstate: ignore TS404"\nx-a: |\n  b # taskstate: ignore TS404\n---\n') == ()


@given(any_text)
def test_any_text_can_be_searched(text: str) -> None:
    """Whatever a text holds, each directive has its comment inside its own line."""
    document = parse(text.replace("text", "<!-- taskstate: ignore TS404 -->\n# taskstate: ignore TS101\n"))
    for directive in (each for each in directives(document) if not each.fault):
        assert directive.lines[0].start <= directive.span.start < directive.span.end <= directive.lines[0].end


@given(state_files)
def test_a_directive_for_each_finding_leaves_none(text: str) -> None:
    """A finding on a line is silenced by a directive directly above it, but for those that guard history."""
    found = engine.check(text, "task-7-state.md", Config())
    before = [one for one in found if one.span.start and one.code not in GUARDS]
    headings = {section.heading for section in parse(text).sections}
    silent = next((one for one in before if one.span in headings), None)
    if silent is None:
        return
    line = f"<!-- taskstate: ignore {silent.code} a reason -->\n"
    changed = text[: silent.span.start] + line + text[silent.span.start :]
    findings = [(one.code, one.span.start) for one in engine.check(changed, "task-7-state.md", Config())]
    assert (silent.code, silent.span.start + len(line)) not in findings
