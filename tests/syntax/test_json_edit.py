"""Changing JSON by span: what it looks like afterwards."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from taskstate.errors import CannotEdit
from taskstate.syntax.edits import apply
from taskstate.syntax.json_edit import (
    add_json_key,
    append_json_item,
    json_line,
    json_text,
    set_json,
    update_json,
    update_objects,
)
from taskstate.syntax.json_parser import read_json
from taskstate.syntax.nodes import Node

if TYPE_CHECKING:
    from collections.abc import Sequence

CHECKLIST = """\
{
  "features": [
    {
      "id": "a",
      "passes": false,   "tested_at":null
    },
    {"id": "b", "passes": true}
  ],
  "tags": [],
  "overall_progress": "50%"
}"""


def read(text: str) -> Node:
    """Return the tree of a text that is sound."""
    node = read_json(text, 0, len(text))
    assert isinstance(node, Node)
    return node


def after(text: str, path: Sequence[str | int], value: object) -> str:
    """Return a text after setting the value at a path."""
    return apply(text, set_json(text, read(text), path, value))


def test_one_value_is_replaced_in_place() -> None:
    """Setting one value changes its characters and no other."""
    changed = after(CHECKLIST, ("features", 0, "passes"), value=True)
    assert changed == CHECKLIST.replace("false", "true")
    assert after(CHECKLIST, ("features", 0, "tested_at"), "x") == CHECKLIST.replace("null", '"x"')


def test_list_of_the_same_length_keeps_its_formatting() -> None:
    """Of a list only the items that are other ones are written anew."""
    assert after("[ 1,  2 ,3]", (), [1, 4, 3]) == "[ 1,  4 ,3]"
    assert after("[ 1,  2 ,3]", (), [1, 2, 3, 4]) == "[ 1,  2 ,3,  4]"
    assert after("[ 1,  2 ,3]", (), [1, 2]) == "[1, 2]"


@pytest.mark.parametrize("value", [1, True, None, "x"])
def test_the_whole_can_be_replaced(value: object) -> None:
    """An empty path names the value itself."""
    assert after(" {} ", (), value) == f" {json_line(value)} "


def test_an_equal_value_needs_no_edit() -> None:
    """A value that is there already is left as it is written."""
    assert set_json(CHECKLIST, read(CHECKLIST), (), read(CHECKLIST).value()) == ()


def test_keys_are_added_in_the_formatting_that_is_there() -> None:
    """A new key stands on a line of its own among such, and on the same line among others."""
    changed = after(CHECKLIST, ("features", 1, "notes"), "n")
    assert changed == CHECKLIST.replace('"passes": true}', '"passes": true, "notes": "n"}')
    changed = after(CHECKLIST, ("x-owner",), ["o"])
    assert changed == CHECKLIST.replace('"50%"\n', '"50%",\n  "x-owner": ["o"]\n')
    assert after('{"a":1,"b":2}', ("c",), 3) == '{"a":1,"b":2,"c":3}'
    assert after('{\r\n\t"a": 1\r\n}', ("c",), 3) == '{\r\n\t"a": 1,\n\t"c": 3\r\n}'
    assert after("{}", ("c",), 3) == '{\n  "c": 3\n}'


def test_keys_are_added_where_the_order_says() -> None:
    """The place of a new key is that of `order`, as in YAML."""
    text = '{\n  "b": 1,\n  "d": 2\n}'
    order = ("a", "b", "c", "d")

    def added(key: str) -> str:
        return apply(text, add_json_key(text, read(text), key, 0, order=order))

    assert added("a") == '{\n  "a": 0,\n  "b": 1,\n  "d": 2\n}'
    assert added("c") == '{\n  "b": 1,\n  "c": 0,\n  "d": 2\n}'
    assert added("e") == '{\n  "b": 1,\n  "d": 2,\n  "e": 0\n}'


def test_several_keys_are_set_at_once() -> None:
    """`update_json` sets what is there and adds what is not, in the order of the changes."""
    text = '{"id": "a", "passes": false}'
    changes = {"passes": True, "tested_at": "now", "evidence": {"commit": "c"}}
    assert apply(text, update_json(text, read(text), changes)) == (
        '{"id": "a", "passes": true, "tested_at": "now", "evidence": {"commit": "c"}}'
    )


def test_no_changes_are_no_edits() -> None:
    """Nothing to set sets nothing, also in an empty object."""
    assert update_json("{}", read("{}"), {}) == ()


def test_items_are_appended_in_the_formatting_that_is_there() -> None:
    """A new item follows the form of the last one."""

    def appended(text: str, value: object, *path: str | int) -> str:
        node = read(text).get(*path)
        assert node is not None
        return apply(text, append_json_item(text, node, value))

    assert appended("[1, 2]", 3) == "[1, 2, 3]"
    assert appended("[1,2]", 3) == "[1,2,3]"
    assert appended("[ 1]", [2]) == "[ 1, [2]]"
    assert appended('[\n  {"a": 1}\n]', {"b": [1]}) == '[\n  {"a": 1},\n  {"b": [1]}\n]'
    expanded = '[\n    {\n        "a": 1\n    }\n]'
    assert appended(expanded, {"b": 1}) == '[\n    {\n        "a": 1\n    },\n    {\n      "b": 1\n    }\n]'
    assert appended(CHECKLIST, "t", "tags") == CHECKLIST.replace("[]", '["t"]')
    long = {"id": "c", "description": "x" * 120}
    assert appended(CHECKLIST.replace("[]", "[ ]"), long, "tags") == CHECKLIST.replace(
        "[]", f'[\n    {{\n      "id": "c",\n      "description": "{"x" * 120}"\n    }}\n  ]'
    )
    assert appended('{"a": [], "b": 1}', {"c": 1}, "a") == '{"a": [{"c": 1}], "b": 1}'


def test_a_collection_that_grows_is_changed_part_by_part() -> None:
    """An object with the same keys and more, and a longer list, keep the formatting of what stays."""
    value = read(CHECKLIST).value()
    value["features"][0]["passes"] = True
    value["features"].append({"id": "c"})
    value["new"] = 1
    assert after(CHECKLIST, (), value) == CHECKLIST.replace("false", "true").replace(
        '"passes": true}\n', '"passes": true},\n    {"id": "c"}\n'
    ).replace('"50%"\n', '"50%",\n  "new": 1\n')


def test_what_has_the_form_of_json_text_keeps_it() -> None:
    """The objects of a list stand on a line each until one grows past it; then all of them take several."""
    long = "x" * 80
    features: list[dict[str, object]] = [{"id": "a", "passes": False}, {"id": "b", "notes": long}]
    text = json_text({"features": features})
    assert text.count("\n") == 5
    root = read(text)
    node = root.get("features", 0)
    assert node
    changed = ((node, {"passes": True, "evidence": long + long}),)
    grown = apply(text, update_objects(text, root, changed))
    features[0] |= {"passes": True, "evidence": long + long}
    assert grown == json_text({"features": features})
    assert '    {\n      "id": "b",\n' in grown, "the short one too"
    added: list[dict[str, object]] = [{"id": "c"}, {"id": "d", "notes": long, "evidence": {"command": long}}]
    for new in added:
        features_node = read(grown).get("features")
        assert features_node
        grown = apply(grown, append_json_item(grown, features_node, new))
        features.append(new)
        assert grown == json_text({"features": features})
    assert after(grown, ("features", 1), {"id": "b"}) == json_text(
        {"features": [features[0], {"id": "b"}, *features[2:]]}
    )


def test_a_list_of_scalars_on_one_line_that_grows_past_it_is_broken() -> None:
    """The same holds for a list that is a value, with the line end of the file."""
    text = json_text({"commands": ["make test"]}, newline="\r\n")
    long = ["make test", "x" * 110]
    edits = set_json(text, read(text), ("commands",), long, newline="\r\n")
    assert apply(text, edits) == json_text({"commands": long}, newline="\r\n")


def test_a_collection_that_shrinks_is_written_anew() -> None:
    """A shorter list takes the place of the old one, on one line if that was."""
    assert after('{"a": [1, 2, 3]}', ("a",), [4]) == '{"a": [4]}'
    assert (
        after('{\n  "a": {"b": 1}\n}', ("a",), {"c": "x" * 120}) == f'{{\n  "a": {{\n    "c": "{"x" * 120}"\n  }}\n}}'
    )


def test_layout() -> None:
    """Lists of scalars stand on one line if short, objects of a list if all are; all else has a line for each part."""
    value = {"a": [1, "é"], "b": [{"c": [1], "d": {"e": 1}}, {}], "f": {"g": 1}, "h": {}}
    assert json_text(value) == (
        '{\n  "a": [1, "é"],\n  "b": [\n    {"c": [1], "d": {"e": 1}},\n    {}\n  ],\n'
        '  "f": {\n    "g": 1\n  },\n  "h": {}\n}'
    )
    assert json_text([{"c": [1]}, {"d": {"e": []}}]) == (
        '[\n  {\n    "c": [1]\n  },\n  {\n    "d": {\n      "e": []\n    }\n  }\n]'
    )


def test_invisible_characters_are_escaped() -> None:
    """Line separators, controls and marks of direction are escaped; letters and emoji are not."""
    assert json_line("é😀\u2028\u202e\x7f\x00\n") == '"é😀\\u2028\\u202e\\u007f\\u0000\\n"'


@pytest.mark.parametrize("value", ["\ud800", float("nan"), object(), {"a": {1}}])
def test_what_json_cannot_hold_is_refused(value: object) -> None:
    """Half of a surrogate pair, NaN, and what is no plain value, is refused."""
    with pytest.raises(CannotEdit):
        json_line(value)


@pytest.mark.parametrize(
    "path", [("x", "y"), ("tags", 1), ("features", 9, "id"), ("tags", "x"), ("overall_progress", 0)]
)
def test_a_path_that_leads_nowhere_is_refused(path: tuple[str | int, ...]) -> None:
    """A value can be added at the end of a path, but not below nothing."""
    with pytest.raises(CannotEdit):
        set_json(CHECKLIST, read(CHECKLIST), path, 1)
