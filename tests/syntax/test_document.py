from __future__ import annotations

import pytest

from taskstate.syntax.document import Document, FrontMatter, parse, parse_head
from taskstate.syntax.nodes import Fault, Node
from taskstate.syntax.spans import Position, Span

TEXT = """\
---
task_id: "7"
---

# Title

## 1. A

text

### B

```json
{"x": 1}
```

#### C

- one
- two

### D

## E
"""


def problems(document: Document) -> list[tuple[str, str]]:
    """Return kind and text of a document's problems."""
    return [(problem.kind, problem.span.of(document.text)) for problem in document.problems]


def test_a_document_has_front_matter_and_sections() -> None:
    """A section ends where the next of its level or above begins; what is its own ends at any heading."""
    document = parse(TEXT)
    assert dict(document.front_matter) == {"task_id": "7"}
    assert [(section.title, section.level) for section in document.sections] == [
        *(("Title", 1), ("1. A", 2), ("B", 3), ("C", 4), ("D", 3), ("E", 2))
    ]
    _, first, second, *_ = document.sections
    assert first.body.of(TEXT) == TEXT[TEXT.index("\ntext") : TEXT.index("## E")]
    assert first.own.of(TEXT) == "\ntext\n\n"
    assert second.span.of(TEXT) == TEXT[TEXT.index("### B") : TEXT.index("### D")]
    assert second.heading.of(TEXT) == "### B"
    assert second.title_span.of(TEXT) == "B"
    assert document.problems == ()


def test_sections_within_a_section_are_its_children() -> None:
    """All of them, or those of one level; the last section has none."""
    document = parse(TEXT)
    sections = document.sections
    assert document.children(sections[1]) == sections[2:5]
    assert document.children(sections[1], 3) == (sections[2], sections[4])
    assert document.children(sections[-1]) == ()


def test_blocks_of_a_part() -> None:
    """The blocks that begin within a span, all of them or those of one kind."""
    document = parse(TEXT)
    section = document.sections[2]
    assert [block.kind for block in document.blocks_in(section.body)] == ["fence", "heading"]
    assert [block.text for block in document.blocks_in(section.span, "fence")] == ["json"]
    assert document.blocks_in(Span(len(TEXT), len(TEXT))) == ()
    assert [item.content.of(TEXT) for item in document.items(document.sections[3].body)] == ["one", "two"]


def test_the_json_of_a_fence_is_read_once() -> None:
    """A fence gives its span tree, at its place in the whole text, or the fault that keeps it from being read."""
    document = parse(TEXT + "```json\n{\n```\n")
    good, bad = document.blocks_in(Span(0, len(document.text)), "fence")
    node = document.json(good)
    assert isinstance(node, Node)
    assert node.span.of(TEXT) == '{"x": 1}'
    assert document.json(good) is node
    assert isinstance(document.json(bad), Fault)


def test_positions_are_counted_without_the_byte_order_mark() -> None:
    """The mark takes no column; later lines are as in any text."""
    document = parse("\ufeff# a\n# b\n")
    assert [document.position(offset) for offset in (0, 1, 4, 7)] == [(0, 0), (0, 0), (0, 3), (1, 2)]
    assert parse("# a").position(2) == Position(0, 2)


@pytest.mark.parametrize("newline", ["\n", "\r\n", "\r"])
def test_line_ends_and_a_byte_order_mark_change_nothing(newline: str) -> None:
    """With any line ends, and behind a byte order mark, the same is read."""
    document = parse("\ufeff" + TEXT.replace("\n", newline))
    assert dict(document.front_matter) == {"task_id": "7"}
    assert [section.title for section in document.sections] == ["Title", "1. A", "B", "C", "D", "E"]
    assert document.sections[-1].body == document.sections[-1].own
    assert document.newline == newline
    assert document.problems == ()


def test_front_matter_is_a_mapping() -> None:
    """It shows its values, and is empty where there are none."""
    front_matter = parse("---\na: 1\nb: [x]\n---\n").front_matter
    assert len(front_matter) == 2
    assert repr(front_matter) == "FrontMatter({'a': 1, 'b': ['x']})"
    assert front_matter.span == (0, 20)
    assert front_matter.content == (4, 16)
    assert dict(FrontMatter(None, Span(0, 0), None)) == {}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", [("front-matter-missing", "")]),
        ("# a\n", [("front-matter-missing", "# a")]),
        ("\n---\na: 1\n---\n", [("front-matter-missing", "")]),
        ("---\na: 1\n", [("front-matter-unclosed", "---")]),
        ("\ufeff--- \r\na: 1\r\n----\r\n", [("front-matter-unclosed", "--- ")]),
        ("---\n---", []),
        ("---\na: 1\n--- \n```\n", [("fence-unclosed", "```")]),
        ("---\n- a\n---\n  ~~~~ x\n", [("front-matter-not-a-mapping", "- a"), ("fence-unclosed", "  ~~~~ x")]),
    ],
)
def test_what_cannot_be_read_is_a_problem(text: str, expected: list[tuple[str, str]]) -> None:
    """Whatever is missing, open or broken is named with its place, and the rest stays readable."""
    document = parse(text)
    assert problems(document) == expected
    assert [problem.fix for problem in document.problems] == [()] * len(expected)
    assert document.front_matter.get("a", 1) == 1


def test_a_fault_of_the_front_matter_carries_its_repair() -> None:
    """The repair that the YAML reader knows is passed on."""
    (problem,) = parse("---\ntitle: a: b\n---\n").problems
    assert problem.kind.startswith("front-matter-")
    assert problem.fix
    assert problem.message


@pytest.mark.parametrize("head", ["", "---\na: 1\n---\n", "\ufeff---\na: 1\n---\n", "---\na: {\n---\n"])
def test_a_head_is_read_without_the_body(head: str) -> None:
    """Who needs the front matter alone gets a document that ends with it, and has nothing of what follows."""
    whole, document = parse(f"{head}# a\n\n```\n"), parse_head(f"{head}# a\n\n```\n")
    assert (document.text, document.blocks, document.sections) == (head, (), ())
    assert document.front_matter == whole.front_matter
    assert document.problems == whole.problems[:-1]  # its last one is the fence


def test_a_body_without_front_matter_is_read() -> None:
    """A file that has no front matter, or an open one, still has its sections."""
    assert [section.title for section in parse("# a\n\n## b").sections] == ["a", "b"]
    assert [section.title for section in parse("---\na: 1\n\n# b").sections] == ["b"]
    assert [section.title for section in parse("\ufeff# a\n").sections] == ["a"]
