"""Reading handoff documents of many forms, and reading back what was written."""

from __future__ import annotations

from functools import cache

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jinja2 import Environment, Template

from taskstate import resources
from taskstate.handoff.document import (
    ACTION,
    CONTEXT,
    DECISIONS,
    Handoff,
    HandoffReader,
    front_matter_text,
    split_reason,
    template_values,
    with_values,
)
from taskstate.handoff.references import referenced_path, without_position, written_reference
from taskstate.lint import engine
from taskstate.model.config import Config
from taskstate.syntax.document import parse

NAME = "handoffs/task-101/phase-1-handoff-20260131T120000Z.md"
FRONT = {
    "taskstate": 1,
    "kind": "handoff",
    "task_id": "101",
    "phase": 1,
    "created_at": "2026-01-31T12:00:00Z",
    "status": "open",
    "do_not_reread": ["docs/plan.md"],
}
plain = st.characters(
    exclude_categories=("Cc", "Cs"), exclude_characters="\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"
)
line = st.text(plain, min_size=1, max_size=30).map(str.strip).filter(bool)
tricky = st.sampled_from(
    [
        "## References",
        "```",
        "~~~ x",
        "- a",
        "1. b",
        "> q",
        "<!-- c",
        "<div>",
        "# T",
        "===",
        "---",
        "***",
        "None.",
        "*x*",
    ]
)
words = st.lists(line | tricky, min_size=1, max_size=3).map("\n".join)
# A colon between two backticks is code and separates nothing, so a pair has none.
prose = line.filter(lambda text: "`" not in text)
pairs = st.tuples(prose, prose).map(lambda pair: f"said {pair[0]}: because {pair[1]}")


def rendered(handoff: Handoff) -> str:
    """Return the document of a handoff, by the shipped template."""
    return front_matter_text(FRONT) + _template().render(template_values(handoff, "2026-01-31T12:00:00Z"))


@cache
def _template() -> Template:
    source = resources.text("templates/handoff.md.j2")
    return Environment(trim_blocks=True, keep_trailing_newline=True).from_string(source)  # noqa: S701 - no HTML


@given(
    action=words, location=words, goal=words, context=st.lists(words, max_size=5), decisions=st.lists(pairs, max_size=4)
)
def test_what_is_written_is_read(
    action: str, location: str, goal: str, context: list[str], decisions: list[str]
) -> None:
    """Whatever a handoff says, the document has its six sections and no other, and each text stays where it was put."""
    handoff = Handoff(
        phase="1",
        action="Go " + action,
        file="src/a.py",
        location="at " + location,
        goal="so " + goal,
        decisions=tuple(decisions),
        avoid=tuple(decisions),
        context=tuple("that " + text for text in context),
        references=("src/a.py, the part", "docs/b.md"),
        do_not_reread=("docs/plan.md",),
    )
    document = parse(rendered(handoff))
    assert [each.title for each in document.sections if each.level == 2] == [
        "Immediate Next Action",
        "Current State",
        "Key Decisions Made",
        "What NOT to Try",
        "Critical Context",
        "References",
    ]
    assert document.problems == ()
    read = HandoffReader(document)
    assert (read.handoff.phase, read.handoff.file, read.handoff.do_not_reread) == ("1", "src/a.py", ("docs/plan.md",))
    assert len(read.passages(CONTEXT)) == len(context)
    assert [_flat(text) for text in read.handoff.context] == [_flat("that " + text) for text in context]
    assert [_flat(text) for text in read.handoff.decisions] == [_flat(text) for text in decisions]
    assert _flat(read.handoff.location) == _flat("at " + location)
    assert _flat(read.handoff.goal) == _flat("so " + goal)
    assert [path.text for path in read.paths] == ["src/a.py", "src/a.py", "docs/b.md"]
    codes = {each.code for each in engine.check(document.text, NAME, Config())}
    assert codes <= {"TS802", "TS803", "TS951", "TS953"}, "of what a writer says only its form can be wrong"
    assert ("TS802" in codes) == (len(read.pieces(ACTION)) != 1 or read.pieces(ACTION)[0].kind != "paragraph")


def _flat(text: str) -> str:
    return "".join(text.replace("\\", "").split())


@given(st.lists(words | st.just(""), max_size=8).map("\n\n".join), st.sampled_from(["\n", "\r\n", "\r"]))
def test_any_text_can_be_read(text: str, newline: str) -> None:
    """No body makes reading fail, every passage is at its span, and pieces do not overlap."""
    whole = (front_matter_text(FRONT) + f"## {CONTEXT}\n\n{text}\n\n## {ACTION}\n\n{text}").replace("\n", newline)
    read = HandoffReader(parse(whole))
    for name in (CONTEXT, ACTION):
        ends = [0]
        for piece in read.pieces(name):
            assert piece.span.of(whole).strip()
            assert piece.span.start >= ends[-1]
            ends.append(piece.span.end)
    assert read.handoff
    assert all(path.span.of(whole) == path.text for path in read.paths)
    assert engine.check(whole, NAME, Config())


@pytest.mark.parametrize(
    ("text", "what", "why"),
    [
        ("RS256: keys rotate", "RS256", "keys rotate"),
        ("**RS256:** keys rotate", "RS256", "keys rotate"),
        ("RS256:\n- keys rotate", "RS256", "- keys rotate"),
        ("read `a: b`: it is short", "read `a: b`", "it is short"),
        ("RS256", "RS256", ""),
        ("see https://x.example/a", "see https://x.example/a", ""),
        ("std::vector", "std::vector", ""),
        ("RS256:", "RS256:", ""),
        (": why", "", "why"),
    ],
)
def test_a_reason_stands_behind_a_colon(text: str, what: str, why: str) -> None:
    """A colon in code marks, in an address, or with nothing behind it divides no reason."""
    assert split_reason(text) == (what, why)


def test_other_tools_divide_otherwise() -> None:
    """In documents of other tools a dash, an arrow or a word divides the reason."""
    for text in ("A - b", "A \u2014 b", "A -> b", "A because b", "A: b"):
        assert split_reason(text, loose=True)[1], text
        assert split_reason(text)[1] or not text.startswith("A: ")
    assert split_reason("well-known", loose=True)[1] == ""


@pytest.mark.parametrize(
    ("text", "path"),
    [
        ("`a b.md`, why", "a b.md"),
        ("``a`b.md``", "a`b.md"),
        ("docs/a.md, the part on x, y", "docs/a.md"),
        ("[the plan](docs/plan.md), why", "docs/plan.md"),
        ("Plan: `docs/plan.md`, Phase 3", "docs/plan.md"),
        ("Plan: docs/plan.md, Phase 3", "docs/plan.md"),
        ("the plan: docs/plan.md", "docs/plan.md"),
        ("**Plan:** docs/plan.md, x: y", "docs/plan.md"),
        ("docs: docs", "docs"),
        ("`src/new.py` (to be created)", "src/new.py"),
        ("src/new.py (To be created).", "src/new.py"),
        ("docs/a.md:12", "docs/a.md:12"),
        ("a.md\nmore", "a.md"),
        ("", ""),
    ],
)
def test_a_reference_begins_with_its_path(text: str, path: str) -> None:
    """The path of a reference is in code marks, a link, behind a label, or up to a comma."""
    assert referenced_path(text) == path


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("docs/a.md, part: x", "`docs/a.md`, part: x"),
        ("Plan: docs/a.md, phase 3", "Plan: `docs/a.md`, phase 3"),
        ("docs: docs", "docs: `docs`"),
        ("Plan: `docs/a.md`", "Plan: `docs/a.md`"),
        ("[the plan](docs/a.md), why", "[the plan](docs/a.md), why"),
        ("Plan: [it](<docs/a.md>)", "Plan: [it](<docs/a.md>)"),
    ],
)
def test_a_reference_is_written_as_it_is_read(text: str, written: str) -> None:
    """The path, and neither its label nor what to look for, is put into code marks; the linter reads the same path."""
    assert written_reference(text) == written
    assert referenced_path(written) == referenced_path(text)


def test_a_position_is_no_part_of_a_path() -> None:
    """A line, a span of lines or a heading behind a path is removed."""
    texts = ("a.py:8", "a.py:L8-L9", "a.py:8:9", "a.md#part", "a.py", "a:b/c.py")
    assert [without_position(text) for text in texts] == ["a.py", "a.py", "a.py", "a.md", "a.py", "a:b/c.py"]


def test_values_are_set_in_their_place() -> None:
    """The keys of the front matter keep their order and their neighbours; the body is not touched."""
    text = rendered(Handoff(phase="1", action="Go.")).replace("status: open", "status: open  # nobody yet")
    after = with_values(
        parse(text), {"status": "accepted", "accepted_by": "1e3", "accepted_at": "2026-01-31T13:00:00Z"}
    )
    front = parse(after).front_matter
    assert list(front) == [
        "taskstate",
        "kind",
        "task_id",
        "phase",
        "created_at",
        "status",
        "accepted_by",
        "accepted_at",
        "do_not_reread",
    ]
    assert 'status: accepted  # nobody yet\naccepted_by: "1e3"\n' in after
    assert after.partition("\n# Phase")[2] == text.partition("\n# Phase")[2]
    assert DECISIONS in after
