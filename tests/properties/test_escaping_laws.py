"""Laws of text from outside: wherever it is put, it is read back word for word and never becomes structure."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from taskstate.errors import TaskstateError
from taskstate.model.config_reader import read_config
from taskstate.model.task_state import read_state
from taskstate.model.write_metadata import WriteMetadata
from taskstate.syntax import escaping, markdown_blocks
from taskstate.syntax.document import parse
from taskstate.syntax.spans import one_line
from taskstate.tasks.create import NewTask, render
from taskstate.tasks.new_session import NewSession
from taskstate.tasks.sessions import plan_add
from taskstate.workspace.workspace import Workspace
from taskstate.writing.change import Request
from tests.support.markdown_strategies import LINE_END, outside, state_files

if TYPE_CHECKING:
    from taskstate.model.task_state import TaskState
    from taskstate.syntax.document import Document

NOW = datetime(2025, 2, 3, 11, 30, tzinfo=UTC)
REQUEST = Request(metadata=WriteMetadata(actor="somebody", now=NOW))
OUTLINE = [
    "Task #7: Parser - State",
    "1. Static Context",
    "Task Description",
    "Scope",
    "Acceptance Criteria",
    "2. Chain Inputs",
    "3. Feature Checklist",
    "4. Progress Log",
    "5. Git History",
    "6. Chain Output",
    "Summary",
    "Files Created/Modified",
    "API Contract",
    "Configuration Required",
    "Integration Notes for Downstream Tasks",
]


@pytest.fixture(scope="module")
def workspace(tmp_path_factory: pytest.TempPathFactory) -> Workspace:
    """Return a workspace without templates of its own."""
    return Workspace(root=tmp_path_factory.mktemp("repository"), config=read_config({}, "the test"))


def acceptable(text: str) -> bool:
    """Return whether `escaping` accepts a text."""
    try:
        escaping.clean(text, what="it")
    except TaskstateError as error:
        return error.code not in {"empty", "control-characters"}
    return True


accepted = outside.filter(acceptable)


def as_read_back(text: str) -> str:
    """Return a text as it is read back: with LF, without trailing blanks and blank lines around it."""
    lines = [line.rstrip(" \t") for line in LINE_END.split(text)]
    return "\n".join(lines).strip("\n").lstrip(" \t")


def outline(document: Document) -> list[tuple[int, str]]:
    """Return the levels and titles of a document's sections."""
    return [(section.level, section.title) for section in document.sections]


@given(
    state_files,
    st.tuples(*[st.lists(accepted, min_size=1, max_size=2)] * 2),
    st.tuples(accepted, st.lists(accepted, max_size=2), st.lists(accepted, max_size=1)),
)
def test_a_session_reads_back_its_fields_and_adds_nothing_else(
    text: str, lists: tuple[list[str], ...], others: tuple[str, list[str], list[str]]
) -> None:
    """Whatever is recorded adds one session with the fields asked for, and is read back; all else stays."""
    (did, following), (current, issues, verification) = lists, others
    entry = NewSession(
        did=tuple(did), state=current, next=tuple(following), issues=tuple(issues), verification=tuple(verification)
    )
    before = read_state(parse(text))
    longer = planned(before, entry)
    assume(longer)
    after = read_state(parse(longer))
    new = after.sessions[-1]
    assert outline(after.document) == _with_one_more(before, f"Session {new.number} - {new.time}")
    assert [session.entry for session in after.sessions[:-1]] == [session.entry for session in before.sessions]
    assert after.criteria == before.criteria
    assert set(new.fields) == {
        *("what i did", "current state", "next steps"),
        *(["issues encountered"] if issues else []),
        *(["verification"] if verification else []),
    }
    assert new.did == tuple(map(as_read_back, did))
    assert new.next == tuple(map(as_read_back, following))
    assert new.state == as_read_back(current)
    assert new.issues == tuple(map(as_read_back, issues))
    assert new.field("verification") == tuple(map(as_read_back, verification))


def planned(state: TaskState, entry: NewSession) -> str:
    """Return the file with the session added, or nothing where the Progress Log is missing or swallows it."""
    try:
        return plan_add(state, entry, now=NOW, archived=0)[0].document.text
    except TaskstateError as error:
        if error.code in {"section-missing", "unsafe", "session-misplaced"}:
            return ""
        raise


def _with_one_more(before: TaskState, title: str) -> list[tuple[int, str]]:
    log = before.section("Progress Log")
    assert log
    index = sum(section.span.start < log.span.end for section in before.document.sections)
    headings = outline(before.document)
    return [*headings[:index], (3, title), *headings[index:]]


@given(accepted, st.lists(accepted, max_size=3), st.lists(accepted, max_size=2))
def test_a_new_task_reads_back_its_texts_and_has_no_other_structure(
    workspace: Workspace, description: str, criteria: list[str], scope: list[str]
) -> None:
    """Description, criteria and scope of any text leave the outline of the new file as it is, and are read back."""
    task = NewTask(
        id="7",
        title="Parser",
        description=description,
        criteria=tuple(criteria),
        scope_in=tuple(scope),
        scope_out=("x",),
    )
    state = read_state(parse(render(workspace, task, REQUEST)))
    # Headings of the description that lie deeper than all that the format knows are its own affair.
    assert [title for level, title in outline(state.document) if level <= escaping.SUBSECTION_LEVEL] == OUTLINE
    assert [criterion.text for criterion in state.criteria] == list(map(as_read_back, criteria))
    assert not any(criterion.checked for criterion in state.criteria)
    assert state.sessions == ()
    section = state.subsection("Static Context", "Scope")
    assert section
    items = state.document.items(section.body)
    assert len(items) == len(scope) + 1


@given(accepted, st.integers(min_value=3, max_value=6))
def test_free_text_keeps_its_words(text: str, deepest: int) -> None:
    """Free text is the cleaned text with backslashes inserted and an open fence closed, or a quote of it."""
    written = escaping.paragraphs(text, deepest=deepest).split("\n")
    cleaned = escaping.clean(text, what="it").split("\n")
    cleaned[0] = cleaned[0].lstrip(" \t")
    assert len(written) in {len(cleaned), len(cleaned) + 1}
    quoted = all(line.startswith(">") for line in written)
    for line, original in zip(written, cleaned, strict=False):
        assert line.replace("\\", "") == original.replace("\\", "") or (quoted and line[1:].lstrip(" ") in original)
    assert not written[len(cleaned) :] or set(written[-1].strip(" ")) in ({"`"}, {"~"})
    for block in markdown_blocks.read_blocks("\n".join(written)):
        assert block.closed
        assert block.kind == "fence" or block.level > deepest


# What services act on, in pieces that a drawn text is put together from.
ACTING = st.sampled_from(
    """@all ¦@¦#12¦#¦GH-12¦PROJ-7¦!7¦deadbeef¦1234567¦abc
o/r#1¦o/r@deadbee¦http://x.y¦www.x.y¦a@b.c¦<img src=x>¦<!--¦-->
![a](b)¦[a](b)¦[^1]¦[x]: y¦&#64;all¦&amp;¦`¦``¦*¦_¦~~¦|¦\\¦:smile:¦:¦$x$¦$`x`$¦~label¦%1¦/close¦\u200b¦\u202e¦\x1b[31m
\u2028¦\ufe0f¦\u200d¦\u0627¦\u0915¦\U0001f600¦\xe9¦"¦'¦(¦)¦.¦,¦-¦!¦?¦+¦=¦ ¦\n¦\t¦# ¦> ¦1. ¦- ¦```""".replace(
        "\n", "¦"
    ).split("¦")
)
ACTED_ON = r"[@#<>&\[\]\\`_~|$%^{}]|://|www\.|[0-9a-f]{7}|[a-z]-\d|!\w|:\w+:|(?:^|\s)/"
acting = st.lists(ACTING | st.text(max_size=4), max_size=12).map("".join)


@given(acting)
def test_inert_text_does_nothing(text: str) -> None:
    """Any text is one line of words and code marks: no mention, number, commit, link, HTML, image, hidden character."""
    inert = escaping.inert(text)
    assert "\n" not in inert
    assert one_line(inert) == inert
    assert inert.count("`") % 2 == 0
    (inline,) = MarkdownIt("commonmark", {"html": True}).parse(f"said: *{inert or 'x'}* and x")[1:-1]
    tokens = inline.children or []
    assert {each.type for each in tokens} <= {"text", "em_open", "em_close", "code_inline"}
    for told in (re.sub(r"`[^`]*`", "\0", inert), "\0".join(each.content for each in tokens if each.type == "text")):
        assert not re.search(r"(?i)[@#<>&\[\]\\`_~|$%^{}]|://|www\.|[0-9a-f]{7}|[a-z]-\d|!\w|:\w+:|(?:^|\s)/", told), (
            told
        )


@given(st.text(alphabet="abc DEF.,;:!?()'\"/+=\xe9\u4e2d-", max_size=30))
def test_inert_words_stay_as_they_are(text: str) -> None:
    """Words of a plain sentence are not changed, but for blanks; what is in code marks stands there in full."""
    assume(not re.search(r"://|:\S*:|!\w|(?:^|\s)/|[a-f]{7}|\w-\d", text, re.IGNORECASE))
    assert escaping.inert(text) == " ".join(text.split())
    assert escaping.inert(f"see #12, `two words` {text}".strip()).startswith("see `#12`, `two words`")
