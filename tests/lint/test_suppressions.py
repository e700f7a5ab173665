"""Directives: what they speak of, and what is none; the lint corpus has what they do to findings."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hypothesis import given

from taskstate.lint import engine
from taskstate.lint.suppressions import directives
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


def test_above_the_first_key_a_directive_speaks_of_the_file_too() -> None:
    """What concerns the file as such stands on its first line, above which there is no room."""
    text = "---\n# taskstate: ignore TS501\ntaskstate: 1\n# taskstate: ignore TS103\ncreated_at: x\n---\n"
    assert targets(text) == [["taskstate: 1", "---"], ["created_at: x"]]


def test_what_only_looks_like_a_directive_is_none() -> None:
    """Not in a fence, a quote, prose, a comment that says more, or a value."""
    for text in (
        "```\n<!-- taskstate: ignore TS404 -->\n```\n",
        "> <!-- taskstate: ignore TS404 -->\n",
        "See <!-- taskstate: ignore TS404 -->\n",
        "<!-- a\n  taskstate: ignore TS404 -->\n",
        "<!-- taskstate: ignored TS404 -->\n",
        "# taskstate: ignore TS404\n",
    ):
        assert found(HEAD + text) == ()
    assert found('---\ntitle: "# taskstate: ignore TS404"\nx-a: b # taskstate: ignore TS404\n---\n') == ()


@given(any_text)
def test_any_text_can_be_searched(text: str) -> None:
    """Whatever a text holds, each directive has its comment inside its own line."""
    document = parse(text.replace("text", "<!-- taskstate: ignore TS404 -->\n# taskstate: ignore TS101\n"))
    for directive in directives(document):
        assert directive.lines.start <= directive.span.start < directive.span.end <= directive.lines.end


@given(state_files)
def test_a_directive_for_each_finding_leaves_none(text: str) -> None:
    """A finding on a line is silenced by a directive directly above it, and by nothing else."""
    before = [one for one in engine.check(text, "task-7-state.md", Config()) if one.span.start]
    headings = {section.heading for section in parse(text).sections}
    silent = next((one for one in before if one.span in headings), None)
    if silent is None:
        return
    line = f"<!-- taskstate: ignore {silent.code} a reason -->\n"
    changed = text[: silent.span.start] + line + text[silent.span.start :]
    findings = [(one.code, one.span.start) for one in engine.check(changed, "task-7-state.md", Config())]
    assert (silent.code, silent.span.start + len(line)) not in findings
