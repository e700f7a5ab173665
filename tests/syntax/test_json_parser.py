"""Reading JSON with places: spans, and the words for what is wrong."""

from __future__ import annotations

import json

import pytest

from taskstate.syntax.json_parser import DECLINED, loads, read_json
from taskstate.syntax.nodes import Fault, Node


def read(text: str) -> Node:
    """Return the span tree of valid JSON."""
    node = read_json(text, 0, len(text))
    assert isinstance(node, Node)
    return node


def fault(text: str) -> Fault:
    """Return the fault of invalid JSON."""
    result = read_json(text, 0, len(text))
    assert isinstance(result, Fault)
    assert loads(text) is DECLINED
    return result


def test_spans_are_absolute_and_cover_the_value_itself() -> None:
    """Every node's span is the source text of its value, quotes and brackets included, wherever the JSON stands."""
    inner = ' {"a" : [1, "x\\n", {"b": null}], "c": -1.5e3}\n'
    text = f"{{]é{inner}]"
    node = read_json(text, 3, 3 + len(inner))
    assert isinstance(node, Node)
    assert node.value() == json.loads(inner)
    assert node.span.of(text) == inner.strip()
    (first, second) = node.entries
    assert [first.key.span.of(text), first.value.span.of(text)] == ['"a"', '[1, "x\\n", {"b": null}]']
    assert [item.span.of(text) for item in first.value.items] == ["1", '"x\\n"', '{"b": null}']
    assert second.value.span.of(text) == "-1.5e3"


def test_styles() -> None:
    """Texts are unescaped and of style double; numbers and words keep their source; collections are of style json."""
    node = read('["\\u00e9", 1E2, true]')
    assert [(item.style, item.text) for item in node.items] == [("double", "é"), ("json", "1E2"), ("json", "true")]
    assert (node.style, read("{}").style) == ("json", "json")


@pytest.mark.parametrize(
    ("text", "marked", "message"),
    [
        ("", "", "there is no JSON here, only blank space"),
        (" \n", " \n", "there is no JSON here, only blank space"),
        ('{"a": maybe}', "maybe", "maybe is not a JSON value; put a text in double quotes"),
        ('{"a": True}', "True", "True is not a JSON value; write true"),
        ('{"a": None}', "None", "None is not a JSON value; write null"),
        ("{'a': 1}", "'a'", "a key in double quotes is expected, not 'a'"),
        ("['a']", "'a'", "JSON puts texts in double quotes, not single ones"),
        ("{a: 1}", "a", "a key in double quotes is expected, not a"),
        ('{"a": 1 "b": 2}', '"', 'a comma is missing before "b"'),
        ('{"a": 1\n"b": 2}', '"', 'a comma is missing before "b"'),
        ("[1 2]", "2", "a comma is missing before 2"),
        ('{"a": 1,}', ",", "there is a comma right before the closing '}'"),
        ("[1, ]", ",", "there is a comma right before the closing ']'"),
        ("[,]", ",", "a value is expected before ','"),
        ('{"a" 1}', "1", "a colon is missing between the key 'a' and 1"),
        ('{"a": }', '"a"', "the key 'a' has no value"),
        ('{"a"', "{", "the object that begins here is never closed"),
        ('{"a": 1, ', "{", "the object that begins here is never closed"),
        ("[1, 2", "[", "the array that begins here is never closed"),
        ("[1, ", "[1, ", "the JSON ends where a value is expected"),
        ("[1}", "}", "'}' closes what '[' opened"),
        ("{} {}", "{", "{ comes after the end of the JSON value"),
        ("1 // one", "//", "// comes after the end of the JSON value"),
        ("[ // one\n1]", "//", "JSON has no comments"),
        ('["a', '"a', "a quoted text is not closed on its line"),
        ('["a\nb"]', '"a', "a quoted text is not closed on its line"),
        ('["a\rb"]', '"a', "a quoted text is not closed on its line"),
        ("[:1]", ":", "a value is expected before ':'"),
        ("[1,,2]", ",", "a value is expected before ','"),
        ("[X1]", "X1", "X1 is not a JSON value; put a text in double quotes"),
        ('["a\tb"]', "\t", "there is a control character in a quoted text; write it as an escape such as \\t"),
        ('["\\x"]', "\\x", "'\\\\x' is not a JSON escape; a backslash is written \\\\"),
        ("[01]", "01", "01 is not a JSON number"),
        ("[+1]", "+1", "+1 is not a JSON number"),
        ("[1.]", "1.", "1. is not a JSON number"),
    ],
)
def test_faults_name_the_cause_and_cover_it(text: str, marked: str, message: str) -> None:
    """A fault names its cause in plain words, and its span covers the cause."""
    result = fault(text)
    assert (result.span.of(text), result.message) == (marked, message)
    assert result.fix == ()


@pytest.mark.parametrize(
    ("text", "kind", "marked"),
    [
        ('{"passes": 1, "passes": 2}', "duplicate-key", '"passes"'),
        ("[NaN]", "constant", "NaN"),
        ("-Infinity", "constant", "-Infinity"),
        ('"\\ud800"', "surrogate", '"\\ud800"'),
        ("[" * 101 + "]" * 101, "nesting", "["),
        ("9" * 5000, "number", "9" * 5000),
        ('"a\x00b"', "control", "\x00"),
    ],
)
def test_what_is_refused_beyond_syntax_has_a_kind(text: str, kind: str, marked: str) -> None:
    """What `json` takes and other readers do not is refused, with a kind of its own."""
    result = fault(text)
    assert (result.kind, result.span.of(text)) == (kind, marked)


def test_the_second_of_two_keys_is_named() -> None:
    """The fault of a key given twice stands at the second one and names it."""
    result = fault('{"passes": 1, "passes": 2}')
    assert result.span.start == 14
    assert result.message == "a key is given twice: 'passes'"


def test_nesting_of_100_is_read() -> None:
    """A hundred levels are the most that is read, and enough."""
    text = "[" * 100 + "]" * 100
    assert read(text).value() == json.loads(text) == loads(text)


def test_very_deep_nesting_raises_nothing() -> None:
    """Brackets enough to overflow a stack are a fault like any other."""
    assert fault("[" * 200_000).kind == "nesting"
    assert fault('{"a":' * 50_000).kind == "nesting"


def test_a_surrogate_pair_is_one_character() -> None:
    """A whole pair of escapes is read; the quick reader leaves it to the slow one."""
    assert read('"\\ud83d\\ude00"').value() == "😀"
    assert loads('"\\ud83d\\ude00"') is DECLINED


def test_declined_has_a_name() -> None:
    """The mark for "ask the other reader" shows what it is."""
    assert repr(DECLINED) == "DECLINED"
