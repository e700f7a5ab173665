"""The laws of the canonical form: nothing that a file says changes, and what has its form keeps it."""

from __future__ import annotations

import re
import shutil
import tempfile
from collections import Counter
from datetime import UTC, datetime
from pathlib import Path

from hypothesis import example, given, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from taskstate.errors import TaskstateError
from taskstate.formatting.formatter import format_text, unreadable
from taskstate.model.document_kinds import kind_of
from taskstate.model.static_context import is_sealed
from taskstate.model.task_state import json_fence, read_state
from taskstate.model.write_metadata import WriteMetadata, with_write_metadata
from taskstate.syntax import escaping, invisible
from taskstate.syntax.document import Document, Section, parse
from taskstate.syntax.nodes import Node
from taskstate.tasks import checklist
from taskstate.validation.schema import typed_value
from tests.properties.test_lint_laws import damaged
from tests.support.markdown_strategies import any_text, markdown, outside, state_files
from tests.support.place import TASK, Place

NAME = "task-101-state.md"
DERIVED = {"sessions", "file_size_kb"}
STAMP = WriteMetadata(actor="somebody", now=datetime(2026, 1, 31, tzinfo=UTC), git_head=None)
HEAD = '---\ntaskstate: 1\ntask_id: "101"\ntitle: T\nstatus: created\ncreated_at: "2026-01-31T12:00:00Z"\n---\n'
PLACES = ("## 1. Static Context\n\n### Scope", "## 1. Static Context\n\n### Task Description", "## 5. Git History")
SPOILED = (
    ("## ", "##  "),
    ("### ", " ### "),
    ("\n\n", "\n\n\n"),
    ("\n\n", "\n"),
    ("\n", "  \n"),
    ("\n- ", "\n* "),
    ('"', '" '),
    (": ", ":  "),
    ("\n", "\r\n"),
)


@st.composite
def states(draw: st.DrawFn) -> str:
    """Return the text of a state file of the corpus with more damage, to its form as well."""
    _, text = draw(damaged())
    for old, new in draw(st.lists(st.sampled_from(SPOILED), max_size=3)):
        text = text.replace(old, new, draw(st.sampled_from([-1, 1, 5])))
    return text


@st.composite
def with_markdown(draw: st.DrawFn) -> str:
    """Return a state file with any Markdown in a part that may be laid out."""
    return f"{HEAD}\n# Task #101: T - State\n\n{draw(st.sampled_from(PLACES))}\n\n{draw(markdown)}"


def frozen(document: Document) -> list[str]:
    """Return the parts that must stay byte for byte, from below their headings to their last line that is not blank."""
    kind = kind_of(document)
    sealed = is_sealed(document.front_matter.node)
    found: list[Section] = [session.section for session in read_state(document).sessions]
    for section in document.sections:
        spec = kind.section(section.title) if section.level == 2 else None
        if section.level == 2 and (spec is None or spec.untouchable or (sealed and spec is kind.sections[0])):
            found.append(section)
    return [section.body.of(document.text).rstrip(" \t\r\n") for section in found]


def values(document: Document) -> dict[str, object]:
    """Return what the front matter says, but for what is derived."""
    node = document.front_matter.node
    typed = typed_value(node, "task") if node else {}
    return {key: value for key, value in typed.items() if key not in DERIVED}


def words(text: str) -> Counter[str]:
    """Return how often each word stands in a text, escapes of JSON told as what they mean; numbers are none."""
    text = re.sub(r"\\u([0-9a-fA-F]{4})", lambda escape: chr(int(escape[1], 16)), text)
    return Counter(re.findall(r"[^\W\d_]{2,}", text))


def body_words(document: Document) -> Counter[str]:
    """Return the words below the front matter."""
    span = document.front_matter.span
    return words(document.text[span.end if span else 0 :])


def headings(document: Document) -> Counter[str]:
    """Return the words of all headings, which may change."""
    return words(" ".join(section.heading.of(document.text) for section in document.sections))


def fences(document: Document) -> list[object]:
    """Return the values of all json fences, but for what is derived."""
    found: list[object] = []
    for section in document.sections:
        fence = json_fence(document, section.own)
        read = document.json(fence) if fence else None
        value = read.value() if isinstance(read, Node) else None
        if isinstance(value, dict):
            value.pop("overall_progress", None)
        found.append(value)
    return found


@given(st.one_of(any_text, states(), with_markdown()))
@example("---\n---\n")
@example("---\ntaskstate: 1\n---")
@example("\ufeff---\r---\r")
def test_any_text_can_be_formatted(text: str) -> None:
    """Formatting raises on no text, and what cannot be read stays as it is."""
    after = format_text(text, NAME)
    if unreadable(parse(text)):
        assert after == text


@given(st.one_of(states(), with_markdown(), state_files))
def test_formatting_twice_is_formatting_once(text: str) -> None:
    """The form of a text is a text in its form."""
    once = format_text(text, NAME)
    assert format_text(once, NAME) == once


@given(st.one_of(states(), with_markdown(), state_files))
def test_what_a_file_says_stays(text: str) -> None:
    """Values, headings, sessions and words are the same before and after, and no comment changes."""
    before, after = parse(text), parse(format_text(text, NAME))
    assert values(after) == values(before)
    assert frozen(after) == frozen(before)
    assert fences(after) == fences(before)
    assert [section.level for section in after.sections] == [section.level for section in before.sections]
    assert not body_words(before) - body_words(after) - headings(before)
    old, new = read_state(before), read_state(after)
    assert [each.entry.split("\n", 1)[1:] for each in old.sessions] == [
        each.entry.split("\n", 1)[1:] for each in new.sessions
    ]
    assert [(each.text.split(), each.checked) for each in old.criteria] == [
        (each.text.split(), each.checked) for each in new.criteria
    ]
    comments = [block.span.of(text) for block in before.blocks if block.kind == "html"]
    assert [block.span.of(after.text) for block in after.blocks if block.kind == "html"] == comments


@given(states())
def test_a_write_keeps_the_form(text: str) -> None:
    """The marks that a write leaves in a file in its form have their form too."""
    once = format_text(text, NAME)
    document = parse(once)
    if not document.front_matter or unreadable(document):
        return
    try:
        written = with_write_metadata(once, STAMP, revision=7)
    except TaskstateError:
        return
    assert format_text(written, NAME) == written


def accepted(text: str) -> bool:
    """Return whether a text can be said in a session, and does not fill the file by itself."""
    try:
        return len(escaping.clean(text, what="it").encode()) < 400 and not any(invisible.find(text))
    except TaskstateError:
        return False


texts = outside.map(lambda text: text if accepted(text) else "Worked.")
lines = texts.map(lambda text: " ".join(text.split()))


class Written(RuleBasedStateMachine):
    """A task to which only the tool writes: its file has its form after every write."""

    def __init__(self) -> None:
        super().__init__()
        self.folder = Path(tempfile.mkdtemp(prefix="taskstate-form-"))
        self.place: Place

    def teardown(self) -> None:
        """Leave nothing behind."""
        shutil.rmtree(self.folder)

    @initialize(title=lines, description=texts, criteria=st.lists(texts, max_size=2), scope=st.lists(texts, max_size=2))
    def create(self, title: str, description: str, criteria: list[str], scope: list[str]) -> None:
        """Create a task from any texts."""
        self.place = Place(
            self.folder / "repository",
            title=title,
            description=description,
            criteria=(*criteria, "Tokens verify"),
            scope_in=tuple(scope),
        )

    @rule(did=texts, state=texts, following=texts)
    def add(self, did: str, state: str, following: str) -> None:
        """Append a session."""
        self.place.add(did, state=state, next=(following,))

    @rule(description=lines)
    def add_feature(self, description: str) -> None:
        """Add a feature."""
        number = len(self.place.state.checklist.features) if self.place.state.checklist else 0
        checklist.add_feature(self.place.workspace, TASK, f"f-{number}", description, self.place.request())

    @rule(passes=st.booleans(), evidence=texts | texts.map(lambda text: {"command": text, "exit_status": 0}))
    def prove(self, *, passes: bool, evidence: object) -> None:
        """Record that a feature passes or fails."""
        self.place.prove("jwt-1", passes=passes, evidence=evidence)

    @rule(checked=st.booleans())
    def check(self, *, checked: bool) -> None:
        """Check or uncheck a criterion."""
        self.place.check(1, checked=checked)

    @rule()
    def archive(self) -> None:
        """Archive all but the newest session."""
        self.place.archive()

    @invariant()
    def has_its_form(self) -> None:
        """What the tool has written is as it would be formatted."""
        if hasattr(self, "place"):
            assert format_text(self.place.text, NAME) == self.place.text


TestWritten = Written.TestCase
# An example is a whole life of a task with several durable writes each: a twentieth as many are enough.
TestWritten.settings = settings(
    max_examples=max(1, settings().max_examples // 20), stateful_step_count=12, deadline=None
)
