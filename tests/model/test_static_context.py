"""The static part: its sealed text, its seal, and edits to it."""

from __future__ import annotations

import hashlib

import pytest

from taskstate.context.static_context_edits import changed_parts, with_parts
from taskstate.model.canonical_json import canonical_json
from taskstate.model.static_context import StaticPart, context_seal, is_sealed, read_static, seal_of, static_text
from taskstate.model.task_state import read_state
from taskstate.model.write_metadata import front_matter_values
from taskstate.syntax.document import parse

HEAD = '---\ntaskstate: 1\ntask_id: "7"\ntitle: T\npriority: P1\n---\n\n# Task #7: T - State\n\n'
STATIC = """\
## 1. Static Context

### Task Description

Issue tokens.

### Scope

**In:**

- `src/auth/**`
- two
  lines

**Out:**

- src/ui

### Acceptance Criteria

- [ ] A
- [x] B
  - [x] nested

### Own part

Kept.

"""
REST = "## 2. Chain Inputs\n\nNone.\n"
SEALED = STATIC.split("\n\n", 1)[1].strip("\n").replace("- [x] B", "- [ ] B")


def seal(text: str) -> str | None:
    """Return the seal over a text's static part."""
    document = parse(text)
    return context_seal(document, front_matter_values(document))


def static(text: str) -> StaticPart:
    """Return what section 1 of a text says."""
    return read_static(read_state(parse(text)))


def test_sealed_text() -> None:
    """It is section 1 without its heading, criteria unchecked, boxes of other lists as they are."""
    assert static_text(parse(HEAD + STATIC + REST)) == SEALED
    assert "  - [x] nested" in SEALED


@pytest.mark.parametrize("newline", ["\r\n", "\r"])
def test_what_does_not_count(newline: str) -> None:
    """Line ends, blanks at line ends, blank lines around the section, its heading, and check marks."""
    loose = STATIC.replace("tokens.", "tokens. \t").replace("## 1. Static Context\n", "## static context ##\n\n \n")
    loose = loose.replace("- [ ] A", "- [X] A").replace("Kept.\n", "Kept.\n\n\n")
    text = "\ufeff" + (HEAD + loose + REST).replace("\n", newline)
    assert static_text(parse(text)) == SEALED
    assert seal(text) == seal(HEAD + STATIC + REST)


def test_seal_vector() -> None:
    """The seal is the SHA-256 of the canonical JSON of title, priority, area and the text."""
    result = seal(HEAD + STATIC + REST)
    text = '{\n  "area": null,\n  "priority": "P1",\n  "static": "x\\ny",\n  "title": "Größe"\n}\n'
    assert seal_of({"title": "Größe", "priority": "P1"}, "x\ny") == hashlib.sha256(text.encode()).hexdigest()
    assert seal_of({"title": "Größe", "priority": "P1"}, "x\ny") == (
        "209230b3ffe4366db914594904c97398311be3ad772492dab9ed1d5520bc9f2b"
    )
    value = {"title": "T", "priority": "P1", "area": None, "static": SEALED}
    assert result == hashlib.sha256(canonical_json(value).encode()).hexdigest()


@pytest.mark.parametrize(
    "change",
    [
        ("Issue tokens.", "Issue Tokens."),
        ("Issue tokens.", "Issue  tokens."),
        ("  lines", "   lines"),
        ("  - [x] nested", "  - [ ] nested"),
        ("### Scope", "### Scope (all)"),
        ("Kept.", ""),
        ("title: T", "title: U"),
        ("priority: P1", "priority: P2"),
        ("priority: P1", "area: backend\npriority: P1"),
        ("\n\n### Scope", "\n\n\n### Scope"),
    ],
)
def test_what_counts(change: tuple[str, str]) -> None:
    """Every other change of the section, and of title, priority and area, breaks the seal."""
    assert change[0] in HEAD + STATIC
    assert seal((HEAD + STATIC).replace(*change) + REST) != seal(HEAD + STATIC + REST)


def test_without_the_section_there_is_no_seal() -> None:
    """Where section 1 is not there, nothing can be sealed."""
    assert seal(HEAD + REST) is None


def test_permanent_tasks_have_another_first_section() -> None:
    """What is sealed is the first section of the kind."""
    text = HEAD.replace("taskstate: 1", "taskstate: 1\nkind: permanent") + "## 1. User Intent\n\nWin.\n\n" + STATIC
    assert static_text(parse(text)) == "Win."


@pytest.mark.parametrize(
    ("line", "sealed"), [("context: {seal: x}", True), ("context: {seal: null}", False), ("context: {}", False)]
)
def test_is_sealed(line: str, *, sealed: bool) -> None:
    """A file is sealed where its context holds a seal."""
    node = parse(HEAD.replace("---\n\n", f"{line}\n---\n\n", 1)).front_matter.node
    assert is_sealed(node) is sealed
    assert not is_sealed(None)


# What it says, and changes to it


def test_read_static() -> None:
    """Each part is read; what is in code marks as a whole loses them."""
    result = static(HEAD + STATIC + REST)
    assert result.description == "Issue tokens."
    assert (result.scope_in, result.scope_out) == (("src/auth/**", "two\nlines"), ("src/ui",))
    assert result.criteria == ("A", "B\n- [x] nested")
    assert static(HEAD + REST) == StaticPart()


def test_changed_parts_are_laid_out() -> None:
    """Only what differs is written, as the formatter would write it."""
    held = static(HEAD + STATIC + REST)
    new = held._replace(description="One\n- x\n- y", commands=("a", "b"), paths=("src/**", "`a` - remark"))
    assert changed_parts(held, new) == {
        "Task Description": "One\n\n- x\n- y",
        "Validation": '```json\n{\n  "commands": ["a", "b"]\n}\n```',
        "Repository Paths": "- `src/**`\n- `a` - remark",
    }
    assert changed_parts(held, held) == {}


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_parts_get_their_place(newline: str) -> None:
    """A part that is there is replaced, a new one stands where the kind has it, all else keeps its bytes."""
    text = (HEAD + STATIC.replace("Kept.", "Kept.  \n\n\n") + REST).replace("\n", newline)
    after = with_parts(parse(text), {"Validation": "V", "Task Description": "New.\nLines.", "Scope": "S"})
    head, rest = text.split("### Task Description")
    criteria = rest[rest.index("### Acceptance") : rest.index("## 2.")]
    nl = newline * 2
    new = f"### Task Description{nl}New.{newline}Lines.{nl}### Scope{nl}S{nl}"
    before, own = criteria.split("### Own part")
    assert after == f"{head}{new}{before}### Validation{nl}V{nl}### Own part{own}{REST.replace(chr(10), newline)}"


def test_an_empty_section_is_filled() -> None:
    """Parts of a section that has none stand in their order; a section at the end of the file ends with it."""
    text = HEAD + "## 1. Static Context"
    assert with_parts(parse(text), {"Scope": "S", "Task Description": "D"}) == (
        f"{text}\n\n### Task Description\n\nD\n\n### Scope\n\nS\n"
    )
    assert with_parts(parse(text), {}) == text
    assert with_parts(parse(HEAD), {"Scope": "S"}) == HEAD
