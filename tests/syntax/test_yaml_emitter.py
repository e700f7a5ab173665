"""How single values are written as YAML."""

from __future__ import annotations

import math

import pytest

from taskstate.errors import CannotEdit
from taskstate.syntax.yaml_emitter import (
    Verbatim,
    double_quoted,
    yaml_block,
    yaml_entry,
    yaml_flow,
    yaml_item,
    yaml_key,
    yaml_scalar,
)


@pytest.mark.parametrize(
    "text",
    [
        "x",
        "JWT Service",
        "in_progress",
        "../plans/user-auth.md",
        "src/app.ts",
        ".taskstate/x",
        "Größe",
        "don't",
        "a (b)",
    ],
)
def test_simple_texts_stand_plain(text: str) -> None:
    """A text that no reader could mistake needs no quotes."""
    assert yaml_scalar(text) == text


@pytest.mark.parametrize(
    "text",
    [
        *(
            "",
            " x",
            "x ",
            "a  b",
            "yes",
            "No",
            "TRUE",
            "null",
            "y",
            "~",
            "101",
            "1e3",
            "0x1f",
            "1:30",
            "-1",
            "+1",
            ".5",
            ".inf",
        ),
        *(
            "2024-11-26T14:00:00Z",
            "4f2c1e9a77d0b3c5",
            "deadbeef",
            "cafe1234",
            "a: b",
            "a:",
            "a #b",
            "#a",
            "- a",
            "a, b",
            "[a]",
        ),
        *(
            "{a}",
            "*a",
            "&a",
            "!a",
            "|",
            ">",
            "%a",
            "@a",
            "`a`",
            "'a'",
            '"a"',
            "a\nb",
            "a\tb",
            "?",
            "=",
            "<<",
            "---",
            "...",
            "\ufeff",
        ),
    ],
)
def test_everything_else_is_quoted(text: str) -> None:
    """Numbers, dates, hashes, words with a meaning and anything with a mark in it stand in double quotes."""
    assert yaml_scalar(text).startswith('"')


@pytest.mark.parametrize("word", ["null", "true", "false", "yes", "no", "on", "off", "y", "n"])
def test_words_with_a_meaning_are_quoted(word: str) -> None:
    """What some reader takes for a truth value or for nothing is a text only in quotes, as value and as key."""
    for form in (word, word.upper(), word.title()):
        assert (yaml_scalar(form), yaml_key(form)) == (f'"{form}"', f'"{form}"')


@pytest.mark.parametrize(
    ("value", "written"),
    [
        (None, "null"),
        (True, "true"),
        (False, "false"),
        (0, "0"),
        (-7, "-7"),
        (1.5, "1.5"),
        (1e16, "1.0e+16"),
        (1.5e-7, "1.5e-07"),
        (math.inf, ".inf"),
        (-math.inf, "-.inf"),
        (math.nan, ".nan"),
        (Verbatim("1.50"), "1.50"),
    ],
)
def test_other_scalars(value: object, written: str) -> None:
    """Numbers, truth values and null are written so that YAML 1.1 and 1.2 agree."""
    assert yaml_scalar(value) == written


def test_escapes() -> None:
    """What is not plainly visible is escaped, letters and emoji are not."""
    assert double_quoted('a"\\\n\t\x00\x1b\x85\u2028\u202e\ufeffé😀') == (
        '"a\\"\\\\\\n\\t\\0\\e\\N\\u2028\\u202e\\ufeffé😀"'
    )


@pytest.mark.parametrize("value", ["\ud800", object(), b"x"])
def test_what_yaml_cannot_hold_is_refused(value: object) -> None:
    """Half of a surrogate pair, and what is no plain value, is refused."""
    with pytest.raises(CannotEdit):
        yaml_scalar(value)


def test_a_scalar_is_no_block() -> None:
    """A block needs a mapping or a list."""
    with pytest.raises(CannotEdit):
        yaml_block("x", 0)


@pytest.mark.parametrize(
    ("key", "written"),
    [("a", "a"), ("x-y", "x-y"), ("unit tests", '"unit tests"'), ("no", '"no"'), ("1", '"1"'), ("", '""')],
)
def test_keys(key: str, written: str) -> None:
    """A simple key stands plain, any other in quotes."""
    assert yaml_key(key) == written


def test_flow() -> None:
    """A nested value is written in brackets on one line."""
    value = {"a": [1, "b: c", {}], "d e": {"f": None}, "g": []}
    assert yaml_flow(value) == '{a: [1, "b: c", {}], "d e": {f: null}, g: []}'


def test_short_collections_stand_on_one_line_and_others_below_their_key() -> None:
    """A collection of scalars that fits stands beside its key; a long or nested one is a block."""
    assert yaml_entry("s", {"total": 1, "found": []}) == ["s: {total: 1, found: []}"]
    assert yaml_entry("s", {"a": {"b": 1}}, indent=2) == ["  s:", "    a: {b: 1}"]
    assert yaml_entry("s", ["x" * 60, "y" * 60]) == ["s:", f"  - {'x' * 60}", f"  - {'y' * 60}"]
    assert yaml_entry("s", []) == ["s: []"]


def test_items() -> None:
    """A mapping of scalars is one line of a list, a nested one a block behind the dash."""
    assert yaml_item({"a": 1, "b": "x" * 120}, indent=2) == [f"  - {{a: 1, b: {'x' * 120}}}"]
    assert yaml_item({"a": {"b": 1}, "c": 2}) == ["- a: {b: 1}", "  c: 2"]
    assert yaml_block([1, [2, 3]], 0) == ["- 1", "- [2, 3]"]
