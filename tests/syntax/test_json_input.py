"""JSON objects that a user hands to a command."""

from __future__ import annotations

import pytest

from taskstate.syntax.json_input import read_object, unknown_key, wrong_value
from tests.support.place import refusal


def test_object_is_read() -> None:
    """A JSON object is read, also behind a byte order mark."""
    assert read_object('\ufeff {"a": [1]}', "a.json", "{}") == {"a": [1]}


@pytest.mark.parametrize(
    ("text", "message"),
    [('{\n"a" 1}', "a.json, line 2: "), ("[]", "a.json holds no JSON object"), ("", "a.json, line 1: ")],
)
def test_anything_else_is_refused(text: str, message: str) -> None:
    """What is no JSON, or no object, is refused with its line and an example of the form."""
    error = refusal(lambda: read_object(text, "a.json", '{"a": ".."}'))
    assert (error.code, error.help) == ("invalid-input", 'write {"a": ".."}')
    assert error.message.startswith(message)


def test_wrong_keys_and_values_are_named() -> None:
    """The errors name the file, the key, and the known keys or the expected value."""
    assert str(unknown_key("a.json", "b", ("c", "d"))) == "a.json has an unknown key 'b': choose from c, d"
    assert str(wrong_value("a.json", "b", "a text")) == ("a.json: b must be a text: correct it, then run this again")
