"""Changing a front matter by span: what it looks like afterwards."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from taskstate.errors import CannotEdit
from taskstate.syntax.edits import apply
from taskstate.syntax.nodes import Node
from taskstate.syntax.yaml_edit import remove_key, set_key
from taskstate.syntax.yaml_parser import read_yaml

if TYPE_CHECKING:
    from collections.abc import Sequence


def node_at(text: str, path: Sequence[str | int]) -> Node:
    """Return the value at a path of a text."""
    root = read_yaml(text, 0, len(text))
    assert isinstance(root, Node)
    node = root.get(*path)
    assert node is not None
    return node


def after(text: str, path: str, value: object, *, order: Sequence[str] = (), newline: str = "\n") -> str:
    """Return a text after setting the value at a dotted path."""
    *above, key = [int(step) if step.isdigit() else step for step in path.split(".")]
    return apply(text, set_key(text, node_at(text, above), str(key), value, order=order, newline=newline))


def without(text: str, path: str) -> str:
    """Return a text after removing the key at a dotted path."""
    *above, key = [int(step) if step.isdigit() else step for step in path.split(".")]
    return apply(text, remove_key(text, node_at(text, above), str(key)))


@pytest.mark.parametrize(
    ("text", "path", "value", "changed"),
    [
        ("a: 1 # one\n", "a", 2, "a: 2 # one\n"),
        ("a:    x   # one\n", "a", "y: z", 'a:    "y: z"   # one\n'),
        ("a: 'x'\n", "a", None, "a: null\n"),
        ("a:\nb: 1\n", "a", "x", "a: x\nb: 1\n"),
        ("a:   # none\n", "a", "x", "a: x   # none\n"),
        ("a: |\n  x\n  y\n\n# c\nb: 1\n", "a", "z", "a: z\n\n# c\nb: 1\n"),
        ("a: x\n  y # c\nb: 1\n", "a", "z", "a: z # c\nb: 1\n"),
        ("a:\n  x\n", "a", "z", "a:\n  z\n"),
        ("a: {b: 1, c: 2}\n", "a.b", 3, "a: {b: 3, c: 2}\n"),
        ("a: {b: , c: 2}\n", "a.b", 3, "a: {b: 3 , c: 2}\n"),
        ("a: [x, y]\n", "a", [], "a: []\n"),
        ("a:\n  - b: 1\n    c: 2\n", "a.0.c", 3, "a:\n  - b: 1\n    c: 3\n"),
    ],
)
def test_a_value_is_replaced_in_place(text: str, path: str, value: object, changed: str) -> None:
    """Only the value's own characters change; comments and blanks beside it stay."""
    assert after(text, path, value) == changed


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("a: x\n", "x"),
        ("a: 101\n", "101"),
        ("a: 2024-01-01\n", "2024-01-01"),
        ("a: 'x'\n", "x"),
        ("a:\n", None),
        ("a: {b: [1]}\n", {"b": [1]}),
    ],
)
def test_an_equal_value_needs_no_edit(text: str, value: object) -> None:
    """A value that is there already is left as it is written; strings are strings."""
    assert after(text, "a", value) == text


def test_a_text_is_not_null() -> None:
    """A text that YAML would take for null is written in quotes in the place of null."""
    assert after("a: null\n", "a", "null") == 'a: "null"\n'
    assert after("a:\n", "a", "") == 'a: ""\n'


@pytest.mark.parametrize(
    ("text", "value", "changed"),
    [
        ("a: x # c\nb: 1\n", {"c": {"d": 1}}, "a: # c\n  c: {d: 1}\nb: 1\n"),
        ("a:\nb: 1\n", {"c": {"d": 1}}, "a:\n  c: {d: 1}\nb: 1\n"),
        ("a: # c\n  # d\n  x: 1 # e\n  # f\nb: 1\n", "v", "a: v # c\n  # d\n  # f\nb: 1\n"),
        ("a:\n- 1\n- 2\nb: 1\n", [], "a: []\nb: 1\n"),
        ("a:\n    x: {u: 1}\n", {"z": {"u": 1}}, "a:\n    z: {u: 1}\n"),
        ("a:\n- x\n- y\n", {"z": {"u": 1}}, "a:\n  z: {u: 1}\n"),
        ("a: {x: 1}\n", {"x": 1, "u": "long, " * 20}, f'a:\n  x: 1\n  u: "{"long, " * 20}"\n'),
        ("a:\n  x: 1\n", None, "a: null\n"),
    ],
)
def test_a_value_takes_another_shape(text: str, value: object, changed: str) -> None:
    """A block in the place of a scalar stands below its key, a scalar in the place of a block beside it."""
    assert after(text, "a", value) == changed


@pytest.mark.parametrize(
    ("text", "value", "changed"),
    [
        (
            "a:\n  b: 1 # one\n  # c\n  d: '2'\n",
            {"b": 3, "d": "2", "e": 4},
            "a:\n  b: 3 # one\n  # c\n  d: '2'\n  e: 4\n",
        ),
        ("a: {b: 1,  d: '2'}\n", {"b": 3, "d": "2", "e": 4}, "a: {b: 3,  d: '2', e: 4}\n"),
        ("a:\n  - x # c\n  - {y: 1}\n", ["x", {"y": 2}, "z"], "a:\n  - x # c\n  - {y: 2}\n  - z\n"),
        ("a: [x, 'y']\n", ["x", "y", "z"], "a: [x, 'y', z]\n"),
        ("a:\n  - b: 1\n    c: 2\n", [{"b": 1, "c": 3, "d": {"e": 1}}], "a:\n  - b: 1\n    c: 3\n    d: {e: 1}\n"),
        ("a:\n  - 1\n  -\n", [1, {"b": {"c": 1}}], "a:\n  - 1\n  - b: {c: 1}\n"),
        ("a:\n  - 1\n  -   b: 1\n", [1, {"c": {"d": 1}, "e": 2}], "a:\n  - 1\n  -   c: {d: 1}\n      e: 2\n"),
        ("a:\n  - b: 1\n    c: 2\n  - 3\n", ["x", 3], "a:\n  - x\n  - 3\n"),
    ],
)
def test_a_collection_that_grows_is_changed_part_by_part(text: str, value: object, changed: str) -> None:
    """Comments, quotes and spacing of the parts that stay are kept."""
    assert after(text, "a", value) == changed


ORDER = ("id", "title", "status", "notes", "end")


@pytest.mark.parametrize(
    ("text", "path", "changed"),
    [
        ("id: 1\nstatus: x\n", "title", "id: 1\ntitle: v\nstatus: x\n"),
        ("status: x # s\n\n# e\nend: 1\n", "notes", "status: x # s\nnotes: v\n\n# e\nend: 1\n"),
        ("# head\nstatus: x\n", "id", "id: v\n# head\nstatus: x\n"),
        ("status: x\nid: 1\nend: 2\n", "notes", "status: x\nnotes: v\nid: 1\nend: 2\n"),
        ("end: 1\nnotes: x\n", "title", "end: 1\ntitle: v\nnotes: x\n"),
        ("x: 1\n# s\nstatus: x\n", "id", "x: 1\nid: v\n# s\nstatus: x\n"),
        ("id: 1\nx: 2\n# tail\n", "other", "id: 1\nx: 2\nother: v\n# tail\n"),
        (
            "status:\n  a:\n    - b # c\n  # d\nend: 1\n",
            "notes",
            "status:\n  a:\n    - b # c\nnotes: v\n  # d\nend: 1\n",
        ),
        ("# c\n", "id", "# c\nid: v\n"),
        ("# c", "id", "# c\nid: v"),
        ("", "id", "id: v\n"),
        ("a: {id: 1, end: 2}\n", "a.title", "a: {id: 1, title: v, end: 2}\n"),
        ("a: {end: 2}\n", "a.id", "a: {id: v, end: 2}\n"),
        ("a: {}\n", "a.id", "a: {id: v}\n"),
        ("a: {x:, y: 1}\n", "a.id", "a: {x:, y: 1, id: v}\n"),
        ("a: {b: }\n", "a.id", "a: {b: , id: v }\n"),
        ("a:\n  - end: 1\n", "a.0.id", "a:\n  - end: 1\n    id: v\n"),
        ("a:\n    end: 1\n", "a.id", "a:\n    id: v\n    end: 1\n"),
    ],
)
def test_a_new_key_stands_in_its_place(text: str, path: str, changed: str) -> None:
    """A new key comes behind its nearest predecessor in order, else before its nearest follower, else last."""
    assert after(text, path, "v", order=ORDER) == changed


def test_a_new_nested_value_is_a_block_with_the_files_line_ends() -> None:
    """New lines have the given line end and the indentation of their mapping."""
    text = "a:\r\n  b: 1\r\nc: 2\r\n"
    assert (
        after(text, "a.d", {"e": {"f": [1]}}, newline="\r\n") == "a:\r\n  b: 1\r\n  d:\r\n    e: {f: [1]}\r\nc: 2\r\n"
    )


@pytest.mark.parametrize(
    ("text", "path", "changed"),
    [
        ("# a\na: 1 # one\n# b\nb: 2\n", "a", "# a\n# b\nb: 2\n"),
        ("a: 1\nb:\n  - x\n  # y\n  - z # z\n\nc: 3\n", "b", "a: 1\n\nc: 3\n"),
        ("a: 1\nb: 2", "b", "a: 1\n"),
        ("a: 1\n", "a", ""),
        ("a:\n  b: 1\n", "a.b", "a:\n  {}\n"),
        ("a: {b: 1, c: 2}\n", "a.b", "a: {c: 2}\n"),
        ("a: {b: 1, c: 2}\n", "a.c", "a: {b: 1}\n"),
        ("a: { b: 1 }\n", "a.b", "a: {}\n"),
        ("a:\n  - b: 1\n    c: 2\n", "a.0.b", "a:\n  - c: 2\n"),
        ("a:\n  - b: 1\n    c: 2\n", "a.0.c", "a:\n  - b: 1\n"),
        ("a: 1\n", "z", "a: 1\n"),
        ("a: 1\r\nb: 2\r\n", "a", "b: 2\r\n"),
    ],
)
def test_a_key_is_removed_with_its_lines(text: str, path: str, changed: str) -> None:
    """The lines of an entry go, comments above and below stay; an emptied mapping inside another stays a mapping."""
    assert without(text, path) == changed


@pytest.mark.parametrize(
    ("text", "path", "message"),
    [
        ("a: &x 1\n", "a", "it is anchored"),
        ("a: &x 1\nb: *x\n", "b", "it is an alias"),
        ("a:\n  b: &x 1\n", "a", "it is anchored"),
        ("<<: {a: 1}\n", "b", "it merges another mapping"),
        ("? a\n: b\n", "a", "it is not written as `key: value`"),
        ("a: [b: c]\n", "a.0.d", "single pair without braces"),
        ("a: 1\n", "a.b", "there is no mapping"),
        ("a: |+\n  x\n\nb: 1\n", "c.d", ""),
    ],
)
def test_what_cannot_be_changed_safely_is_refused(text: str, path: str, message: str) -> None:
    """An anchor, alias, merge or uncommon form is refused in words, never guessed at."""
    if path == "c.d":
        with pytest.raises(CannotEdit, match="after a text block"):
            after("a: |+\n  x\n\n", "b", 1)
        return
    with pytest.raises(CannotEdit, match=message):
        after(text, path, 2)


@pytest.mark.parametrize(
    ("text", "path"),
    [
        ("a: &x 1\n", "a"),
        ("a: {b: 1, # c\n  d: 2}\n", "a.b"),
        ("a: {b: 1, # c\n  d: 2}\n", "a.d"),
        ("a: { # c\n  b: 1}\n", "a.b"),
        ("a:\n  - b: 1 # c\n    d: 2\n", "a.0.b"),
        ("a: |+\n  x\nb: 1\n\nc: 2\n", "b"),
        ("a: |\n  x\nb: 1\n  # c\n", "b"),
    ],
)
def test_what_cannot_be_removed_safely_is_refused(text: str, path: str) -> None:
    """Where a comment would be lost, or a text block would take in what follows, nothing is removed."""
    with pytest.raises(CannotEdit) as caught:
        without(text, path)
    assert caught.value.help == "change it by hand"


def test_lines_behind_a_text_block_move_only_where_they_are_no_part_of_it() -> None:
    """A key can follow a text block, and be removed behind it, where blank lines do not count."""
    assert after("a: |\n  x\n\nb: 1\n", "c", 2, order=("a", "c")) == "a: |\n  x\nc: 2\n\nb: 1\n"
    assert without("a: |\n  x\nb: 1\n\nc: 2\n", "b") == "a: |\n  x\n\nc: 2\n"
    with pytest.raises(CannotEdit):
        after("a: |\n  x", "b", 1)
