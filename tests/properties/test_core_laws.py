"""Laws of parsing and editing: nothing is lost, nothing raises, fast parsers are exact, foreign text stays text."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

from hypothesis import example, given
from hypothesis import strategies as st

from taskstate.context.normalization import normalize
from taskstate.model.task_state import read_state
from taskstate.syntax import markdown_blocks, markdown_fast_scanner
from taskstate.syntax.document import forget_parsed, parse
from taskstate.syntax.edits import Edit, apply
from taskstate.syntax.spans import Span, line_starts, position, with_newlines
from taskstate.units.items import named_items, state_items
from taskstate.writing.ledger import section_names
from tests.support.markdown_strategies import LINE_END, any_text, markdown, outside

if TYPE_CHECKING:
    from collections.abc import Iterator

    from taskstate.model.task_state import TaskState
    from taskstate.syntax.document import Document, Section


HEADS = (
    "",
    "---\ntask_id: b\n---\n",
    '---\r\ntask_id: "12"\r\nx-key: [1, 2]\r\n---\r\n',
    "---\rtitle: x\r---\r",
    "---\n- no map\n---\n",
    "\ufeff---\nkind: permanent\n---\n",
)


@st.composite
def edited(draw: st.DrawFn) -> tuple[str, list[Edit]]:
    """Return a text and edits of it that are disjoint, in the order of the text."""
    text = draw(any_text)
    places = sorted(draw(st.lists(st.integers(0, len(text)), max_size=8, unique=True)))
    return text, [
        Edit(start, end, draw(st.text(max_size=5))) for start, end in zip(places[::2], places[1::2], strict=False)
    ]


def parts(state: TaskState) -> Iterator[tuple[Span, Span]]:
    """Yield the spans of everything that a state consists of, each with the span that it must lie in."""
    for section in state.document.sections:
        yield from ((each, section.span) for each in (section.heading, section.title_span, section.body, section.own))
    for criterion in state.criteria:
        yield criterion.span, state.parts["static context"].span
        yield criterion.mark, criterion.span
    for session in state.sessions:
        yield session.span, session.section.span
        for field in session.fields.values():
            yield field.label_span, session.section.body
            yield field.span, session.section.body
    if state.summary:
        yield state.summary.span, state.summary.section.span
    if state.checklist:
        yield state.checklist.fence.content, state.checklist.fence.span
        yield state.checklist.root.span, state.checklist.fence.content
        yield from ((feature.node.span, state.checklist.root.span) for feature in state.checklist.features)


def parts_of(text: str) -> Iterator[Span]:
    """Yield parts of a few lines each: in short texts a scanner has less reason to decline."""
    starts = [*line_starts(text), len(text)]
    for first in range(0, len(starts) - 1, 3):
        for lines in (2, 6):
            yield Span(starts[first], starts[min(first + lines, len(starts) - 1)])


@given(any_text)
def test_reading_keeps_the_text(text: str) -> None:
    """A document's text is the text that was read, and without an edit it stays."""
    assert parse(text).text == text
    assert apply(text, ()) == text


def found_in(document: Document) -> tuple[object, ...]:
    """Return what a document is an index of, as values that can be compared."""
    state = read_state(document)
    sessions = [(each.number, each.time, each.span, each.fields) for each in state.sessions]
    features = state.checklist.features if state.checklist else ()
    return (
        *(document.blocks, document.sections, document.problems, state.problems, dict(state.parts), state.criteria),
        *(sessions, state.summary, features, state_items(state), list(named_items(state)), section_names(state)),
    )


@given(any_text, st.sampled_from(HEADS))
@example("---\ntask_id: a\n---\n\n## 3. Feature Checklist\n\n```json\n{\n```\n\n```\nopen", HEADS[1])
def test_a_body_is_the_same_behind_another_front_matter(text: str, head: str) -> None:
    """What is taken over from a text with the same body, read just before, is what reading it alone finds."""
    first = parse(text)
    changed = head + text[first.body :]
    forget_parsed()
    alone = parse(changed)
    expected = found_in(alone)
    forget_parsed()
    first = parse(text)
    found_in(first)
    again = parse(changed)
    assert (again.twin is first) == (text != changed and text[first.body :] == changed[again.body :])
    assert found_in(again) == expected


@given(edited())
def test_an_edit_changes_nothing_outside_its_span(case: tuple[str, list[Edit]]) -> None:
    """What lies between the edits is there afterwards, in its place, and the edits' new texts between it."""
    text, edits = case
    changed = apply(text, edits)
    old = new = 0
    for edit in edits:
        kept = text[old : edit.start]
        assert changed[new : new + len(kept) + len(edit.new)] == kept + edit.new
        old, new = edit.end, new + len(kept) + len(edit.new)
    assert changed[new:] == text[old:]


@given(edited(), st.randoms(use_true_random=False))
def test_disjoint_edits_commute(case: tuple[str, list[Edit]], random: object) -> None:
    """Edits made at once, in any order, or one after the other from either end give the same text."""
    text, edits = case
    shuffled = sorted(edits, key=lambda edit: hash((edit.start, str(random))))
    one_by_one = text
    for edit in reversed(edits):
        one_by_one = apply(one_by_one, (edit,))
    forwards, shift = text, 0
    for edit in edits:
        forwards = apply(forwards, (Edit(edit.start + shift, edit.end + shift, edit.new),))
        shift += len(edit.new) - (edit.end - edit.start)
    assert apply(text, shuffled) == apply(text, edits) == one_by_one == forwards


@given(any_text)
@example("a\n=\n>>- <!--\n>>")
@example("- " * 500 + "a\n")
def test_reading_never_raises_and_every_part_lies_where_it_belongs(text: str) -> None:
    """Any text gives a document and a state; each part's span lies in that of the part around it."""
    state = read_state(parse(text))
    for inner, outer in parts(state):
        assert outer.start <= inner.start <= inner.end <= outer.end
    for problem in state.problems:
        assert 0 <= problem.span.start <= problem.span.end <= len(text)
        assert problem.message
    for criterion in state.criteria:
        assert criterion.mark.of(text) == ("x" if criterion.checked else " ") or criterion.mark.of(text) == "X"
    assert state.size == len(with_newlines(text, "\n").encode())
    assert [session.number for session in state.sessions] == [
        session.number for session in state.sessions if session.entry
    ]


@given(any_text)
def test_sections_nest_and_tile(text: str) -> None:
    """Each section ends where the next of its level or above begins; headings and own contents are the whole text."""
    document = parse(text)
    sections = document.sections
    front = sections[0].span.start if sections else len(text)
    assert text[:front] + "".join(text[section.span.start : section.own.end] for section in sections) == text
    for section, following in pairwise((*sections, None)):
        assert section is not None
        assert section.heading.start == section.span.start
        assert section.heading.end <= section.own.start == section.body.start
        assert text[section.heading.end : section.own.start] in {"", "\n", "\r", "\r\n"}
        assert section.own.end == (following.span.start if following else len(text))
        assert section.span.end == section.body.end == _end(sections, section, len(text))
        assert document.children(section) == tuple(
            other for other in sections if section.span.start < other.span.start < section.span.end
        )


def _end(sections: tuple[Section, ...], section: Section, end: int) -> int:
    later = [other for other in sections if other.span.start > section.span.start and other.level <= section.level]
    return later[0].span.start if later else end


@given(markdown | any_text)
@example("# # # #")
@example("\ufeff# a\n")
@example("a\r# b\n")
@example("- " * 150 + "a\n\n# b\n")
def test_the_scanner_is_exact_or_declines(text: str) -> None:
    """The fast scanner finds the blocks that markdown-it-py finds, or nothing, in a text and in any part of it."""
    content = parse(text).front_matter.span
    whole = [(text, start) for start in {0, int(text.startswith("\ufeff")), content.end if content else 0}]
    for part, start in (*whole, *((text[: span.end], span.start) for span in parts_of(text))):
        if markdown_fast_scanner.scan(part, start) is not None:
            assert markdown_blocks.read_blocks(part, start) == markdown_blocks.reference_blocks(part, start)


@given(markdown | any_text)
@example("- a\n2. b\n")
@example("## h\r- a\n")
def test_the_item_scanner_is_exact_or_declines(text: str) -> None:
    """The fast reader of lists finds the items that markdown-it-py finds, or nothing, in any part between blocks."""
    for span in (Span(0, len(text)), *parts_of(text), *(section.own for section in parse(text).sections)):
        if markdown_fast_scanner.scan_items(text, *span) is not None:
            assert markdown_blocks.list_items(text, span) == markdown_blocks.reference_items(text, span)


@given(any_text)
@example("# # # #\r")
def test_blocks_say_what_stands_in_the_text(text: str) -> None:
    """Blocks follow each other without overlap; their contents stand at the given spans."""
    blocks = parse(text).blocks
    for block, following in pairwise((*blocks, None)):
        assert block is not None
        assert block.span.start <= block.content.start <= block.content.end <= block.span.end
        assert following is None or block.span.end <= following.span.start
        assert block.span.start == 0 or text[block.span.start - 1] in "\r\n\ufeff"
        assert block.span.end == len(text) or text[block.span.end] in ("\r\n \t" if block.kind == "html" else "\r\n")
        if block.kind == "heading":
            assert 1 <= block.level <= 6
            before = text[block.span.start : block.content.start].strip()
            assert before in {"", "#" * block.level} or not block.text
            assert block.content == block.span or block.content.of(text).replace("\0", "\ufffd") == block.text


@given(any_text, st.integers(min_value=0))
def test_a_position_leads_back_to_its_offset(text: str, number: int) -> None:
    """Line and column of an offset, counted by line ends alone, name that offset and no other."""
    offset = number % (len(text) + 1)
    starts = line_starts(text)
    line, column = position(starts, offset)
    assert starts[line] + column == offset
    lines = LINE_END.split(text[:offset])
    inside = text[offset - 1 : offset + 1] == "\r\n"  # between the two, the line has not ended yet
    assert (line, column) == ((len(lines) - 2, len(lines[-2]) + 1) if inside else (len(lines) - 1, len(lines[-1])))


@given(outside)
@example("\x0c# a")
@example("```\n```\t\n# a")
@example("`" + "word " * 23 + "<!-- x -->`")
@example("# ```\n<!-- x -->```\n")
@example("<!-<!-- x -->- y -->")
def test_normalizing_twice_is_normalizing_once(text: str) -> None:
    """What has been normalised stays as it is, with LF alone and one of them at the end."""
    once = normalize(text)
    assert normalize(once) == once
    assert "\r" not in once
    assert once.endswith("\n")
    assert not once.endswith("\n\n")


@given(outside)
def test_normalizing_keeps_the_words(text: str) -> None:
    """All words outside comment lines are kept, in their order; inside a fence those of comments too.

    HTML comments go, too: here none of them ends.
    """
    text = text.replace("-->", "--")

    def words(source: str) -> list[str]:
        lines = (line for line in LINE_END.split(source) if line != "#" and line[:2] not in {"# ", "#\t"})
        return [word for line in lines for word in line.split()]

    assert words(normalize(text)) == words(text)


@given(outside)
def test_normalizing_keeps_the_headings(text: str) -> None:
    """Headings below the first level, outside HTML, stand there afterwards with the words that they had."""

    def titles(source: str) -> list[tuple[int, str]]:
        return [(b.level, " ".join(b.text.split())) for b in markdown_blocks.reference_blocks(source) if b.level > 1]

    lines = [line for line in LINE_END.split(text) if "<" not in line and (line[:1] != "#" or line[:2] == "##")]
    plain = "\n".join(lines)
    assert titles(normalize(plain)) == titles(plain)
