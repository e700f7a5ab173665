"""Every example of the CommonMark specification as the content of a state file's parts."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from markdown_it import MarkdownIt

from taskstate.model.task_state import read_state
from taskstate.syntax.document import parse
from taskstate.syntax.edits import apply
from taskstate.syntax.markdown_blocks import list_items, read_blocks, reference_blocks, reference_items
from taskstate.syntax.markdown_fast_scanner import scan, scan_items
from taskstate.syntax.spans import Span
from taskstate.syntax.yaml_edit import set_key

if TYPE_CHECKING:
    from collections.abc import Iterator

    from taskstate.syntax.document import Document

EXAMPLES: dict[str, list[str]] = {}
for example in json.loads((Path(__file__).parents[1] / "cases/commonmark/spec.json").read_text("utf-8")):
    EXAMPLES.setdefault(example["section"], []).append(example["markdown"])
FRONT_MATTER = '---\ntaskstate: 1\ntask_id: "7"\ntitle: Tables\nstatus: created\n---\n'
BEFORE = "\n# Task #7: Tables - State\n\n## 1. Static Context\n\n### Task Description\n\n"
BETWEEN = "\n### Acceptance Criteria\n\n- [ ] one\n\n## 4. Progress Log\n\n### Session 1 - 2025-02-03 10:00\n\n"
NOTES = "\n## Notes\n\n"

in_every_section = pytest.mark.parametrize("section", EXAMPLES)


def file_with(description: str = "", session: str = "", notes: str = "") -> str:
    """Return a state file with these contents."""
    return FRONT_MATTER + BEFORE + description + BETWEEN + session + NOTES + notes


def files_of(section: str) -> Iterator[str]:
    """Yield state files with an example in the Task Description, in a session, or in the Notes."""
    for markdown in EXAMPLES[section]:
        yield from (file_with(description=markdown), file_with(session=markdown), file_with(notes=markdown))


def headings(text: str) -> list[tuple[int, str]]:
    """Return levels and titles of a body's top-level headings, as markdown-it-py sees them when it renders."""
    tokens = MarkdownIt("commonmark").parse(text)
    return [
        (int(token.tag[1:]), tokens[number + 1].content)
        for number, token in enumerate(tokens)
        if token.type == "heading_open" and token.level == 0
    ]


def titles(document: Document) -> list[str]:
    """Return the titles of a document's sections."""
    return [section.title for section in document.sections]


@in_every_section
def test_sections_are_the_headings_that_the_reference_sees(section: str) -> None:
    """In whichever part an example stands, the file has the sections that a Markdown renderer shows, and its text."""
    for text in files_of(section):
        document = parse(text)
        assert document.text == text
        assert [(found.level, found.title) for found in document.sections] == headings(text[len(FRONT_MATTER) :])


@in_every_section
def test_an_edit_elsewhere_leaves_an_example_alone(section: str) -> None:
    """Setting a key of the front matter, or a heading's title, keeps every byte of the example."""
    for text in files_of(section):
        document = parse(text)
        assert document.front_matter.node
        edits = set_key(text, document.front_matter.node, "status", "in_progress")
        changed = apply(text, edits)
        assert changed == text.replace("status: created", "status: in_progress", 1)
        assert titles(parse(changed)) == titles(document)


@in_every_section
def test_the_scanner_is_exact_or_declines(section: str) -> None:
    """The scanners find what markdown-it-py finds, or nothing, in an example alone and in a file with it."""
    places = [(text, 0) for text in EXAMPLES[section]] + [(text, len(FRONT_MATTER)) for text in files_of(section)]
    for text, start in places:
        if scan(text, start) is not None:
            assert read_blocks(text, start) == reference_blocks(text, start)
        if scan_items(text, start, len(text)) is not None:
            assert list_items(text, Span(start, len(text))) == reference_items(text, Span(start, len(text)))


@in_every_section
def test_line_ends_change_nothing_of_what_is_read(section: str) -> None:
    """With CRLF, a file with an example has the same sections, sessions and criteria."""
    for text in files_of(section):
        state, other = read_state(parse(text)), read_state(parse(text.replace("\n", "\r\n")))
        assert titles(state.document) == titles(other.document)
        assert [session.did for session in state.sessions] == [session.did for session in other.sessions]
        assert [criterion.text for criterion in state.criteria] == [criterion.text for criterion in other.criteria]
