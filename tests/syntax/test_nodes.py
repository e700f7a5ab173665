"""The span tree: finding values in it, and what they mean."""

from __future__ import annotations

import math

import pytest

from taskstate.syntax.nodes import Node, equals, last_leaf, resolve_plain
from taskstate.syntax.spans import Span
from taskstate.syntax.yaml_parser import read_yaml


def read(text: str) -> Node:
    """Return the mapping that a whole text is."""
    node = read_yaml(text, 0, len(text))
    assert isinstance(node, Node)
    return node


@pytest.mark.parametrize(
    ("source", "value"),
    [
        ("", None),
        ("~", None),
        ("Null", None),
        ("true", True),
        ("FALSE", False),
        ("12", 12),
        ("-0", 0),
        ("+7", 7),
        ("007", 7),
        ("0o17", 15),
        ("0xfF", 255),
        ("1.5", 1.5),
        ("1.", 1.0),
        (".5", 0.5),
        ("-1e3", -1000.0),
        ("-.inf", -math.inf),
        (".Inf", math.inf),
    ],
)
def test_core_schema_scalars(source: str, value: object) -> None:
    """What YAML 1.2 takes for null, a truth value or a number is one."""
    assert resolve_plain(source) == value
    assert type(resolve_plain(source)) is type(value)


@pytest.mark.parametrize(
    "source",
    [
        "yes",
        "no",
        "on",
        "NO",
        "2024-01-01",
        "1:30",
        "1_000",
        "0b1",
        "017x",
        "0o8",
        "0xg",
        ".",
        "-",
        "+",
        "-.nan",
        "nUll",
    ],
)
def test_everything_else_is_text(source: str) -> None:
    """Dates, octals of YAML 1.1, and the words for yes and no stay texts."""
    assert resolve_plain(source) == source


def test_not_a_number_is_one() -> None:
    """`.nan` is the number that equals nothing."""
    value = resolve_plain(".nan")
    assert isinstance(value, float)
    assert math.isnan(value)


@pytest.mark.parametrize("source", ["9" * 5000, "9" * 4300, "-" + "9" * 4300, "0x" + "f" * 5000, "0o" + "7" * 5000])
def test_a_number_too_long_to_print_stays_text(source: str) -> None:
    """An integer with more digits than Python prints, or whose successor has, is a text, however it is written."""
    assert resolve_plain(source) == source


def test_get_follows_keys_and_indices() -> None:
    """`get` finds nested values, and nothing where a step leads nowhere."""
    node = read("a:\n  - x\n  - b: 1\nc:\n")
    child = node.get("a", 1, "b")
    assert child is not None
    assert child.value() == 1
    assert node.get() is node
    assert [node.get("z"), node.get("a", 2), node.get("a", -1), node.get("c", "d"), node.get("c", 0)] == [None] * 5


def test_value_gives_plain_python() -> None:
    """Scalars are resolved unless they are quoted; keys are always texts."""
    assert read("1: '1'\nb: [1, \"x\", null]\nc: {}\n").value() == {"1": "1", "b": [1, "x", None], "c": {}}


def test_last_leaf_is_where_a_block_ends() -> None:
    """The last leaf of nested blocks is the last scalar or bracket; of anything else it is that itself."""
    node = read("a:\n  - b: [x]\n")
    assert last_leaf(node) == Node(
        "sequence", Span(10, 13), "flow", items=(Node("scalar", Span(11, 12), "plain", "x"),)
    )


@pytest.mark.parametrize(
    ("source", "value"),
    [
        ("1", 1),
        ("1.0", 1.0),
        ("true", True),
        ("~", None),
        (".nan", math.nan),
        ("12", "12"),
        ("2024-01-01", "2024-01-01"),
        ("'1'", "1"),
        ("[1, a]", [1, "a"]),
        ("[1]", (1,)),
        ("{a: 1, b: 2}", {"b": 2, "a": 1}),
    ],
)
def test_equal_values(source: str, value: object) -> None:
    """A node equals its value, whatever the order of keys, and a text the plain scalar with that source."""
    node = read(f"k: {source}\n").get("k")
    assert node is not None
    assert equals(node, value)


@pytest.mark.parametrize(
    ("source", "value"),
    [
        ("1", True),
        ("1", 1.0),
        ("true", 1),
        ("'1'", 1),
        ("null", "null"),
        ("~", ""),
        ("a", ["a"]),
        ("[a]", "a"),
        ("{a: 1}", {"a": 2}),
        ("{a: 1}", {"a": 1, "b": 1}),
        ("[1]", [1, 2]),
        ("[]", {}),
    ],
)
def test_different_values(source: str, value: object) -> None:
    """Values of other types are other values, and no text is null."""
    node = read(f"k: {source}\n").get("k")
    assert node is not None
    assert not equals(node, value)
