from __future__ import annotations

import pytest

from taskstate.syntax.nodes import Node
from taskstate.syntax.yaml_reader import read_yaml_file


@pytest.mark.parametrize(
    "text",
    [
        "a: 1\n",
        "---\na: 1\n",
        "\ufeff---\r\na: 1\r\n",
        "# c\n\n  # d\n--- # e\na: 1\n",
        "---\ra: 1\r",
        "a: 1\n...\n",
        "---\na: 1\n...\n\n",
        '{"a": 1}',
    ],
)
def test_document_marks_are_no_part_of_the_document(text: str) -> None:
    """A file may begin with `---` and end with `...`; its places are those in the whole text."""
    node = read_yaml_file(text)
    assert isinstance(node, Node)
    assert node.value() == {"a": 1}
    assert node.entries[0].value.span.of(text) == "1"


@pytest.mark.parametrize(
    "text", ["a: 1\n---\nb: 2\n", "---\n---\na: 1\n", "%YAML 1.2\n---\na: 1\n", "a: b: c\n", "- a\n", ""]
)
def test_anything_but_a_single_mapping_is_a_fault(text: str) -> None:
    """Several documents, directives, and what is no map are faults with a place, or an empty map."""
    node = read_yaml_file(text)
    assert not isinstance(node, Node) or node.value() == {}


@pytest.mark.parametrize("newline", ["\n", "\r\n", "\r"])
def test_many_comments_take_no_time(newline: str) -> None:
    """Many lines of comment without a mark are read without backtracking, with any line end."""
    node = read_yaml_file(f"#{newline}" * 100_000 + "a: 1\n")
    assert isinstance(node, Node)
