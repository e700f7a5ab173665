"""The causes of broken front matters, and their repairs."""

from __future__ import annotations

import pytest

from taskstate.syntax.edits import apply
from taskstate.syntax.nodes import Fault, Node
from taskstate.syntax.yaml_diagnosis import commented_values
from taskstate.syntax.yaml_parser import read_yaml
from taskstate.syntax.yaml_reader import read_front_matter


def faults(text: str) -> tuple[Fault, ...]:
    """Return the faults of a text that cannot be read."""
    result = read_front_matter(text, 0, len(text))
    assert not isinstance(result, Node)
    return result


@pytest.mark.parametrize(
    ("text", "kind", "repaired"),
    [
        ("a: 1\ntitle:JWT Service\nb: 2\nc: 3\n", "no-blank", "a: 1\ntitle: JWT Service\nb: 2\nc: 3\n"),
        ('a: 1\ntitle: "JWT Service\nb: "2"\nc: 3\n', "quote-unclosed", 'a: 1\ntitle: "JWT Service"\nb: "2"\nc: 3\n'),
        ("a: 1\r\ntitle: 'JWT\r\nb: 2\r\n", "quote-unclosed", 'a: 1\r\ntitle: "JWT"\r\nb: 2\r\n'),
        ("title: Fix: the bug\n", "colon-in-value", 'title: "Fix: the bug"\n'),
        ("title: note: # why\n", "colon-in-value", 'title: "note:" # why\n'),
        ("a: 1\r\ntitle: Fix: issue #12\r\nb: 2\r\n", "colon-in-value", 'a: 1\r\ntitle: "Fix: issue #12"\r\nb: 2\r\n'),
        ("a:\n  - b: c: d\n", "colon-in-value", 'a:\n  - b: "c: d"\n'),
        ("agent: @bob\n", "reserved-start", 'agent: "@bob"\n'),
        ("a: `x` y\n", "reserved-start", 'a: "`x` y"\n'),
        ("a: 50\nb: %50\n", "reserved-start", 'a: 50\nb: "%50"\n'),
        ("a: *important* text\n", "reserved-start", 'a: "*important* text"\n'),
        ("paths:\n  - **/x.py\n", "reserved-start", 'paths:\n  - "**/x.py"\n'),
        ("paths: [*.py, @x, ok]\n", "reserved-start", 'paths: ["*.py", "@x", ok]\n'),
        ("ids: [#100, #101]\nb: 1\n", "reserved-start", 'ids: ["#100", "#101"]\nb: 1\n'),
        ("a: {b: @c}\n", "reserved-start", 'a: {b: "@c"}\n'),
        ("a: 'it's broken'\n", "apostrophe", 'a: "it\'s broken"\n'),
        ("a: 'rock 'n' roll' # c\n", "apostrophe", "a: \"rock 'n' roll\" # c\n"),
        ("a: [WIP] fix it\n", "text-after-closing", 'a: "[WIP] fix it"\n'),
        ('a: "b" and c\n', "text-after-closing", 'a: "\\"b\\" and c"\n'),
        ("a:\n\tb: 1\n\tc:\n\t\td: 2\n", "tab-indent", "a:\n  b: 1\n  c:\n    d: 2\n"),
        ("a:\n    b: 1\n\tc: 2\n", "tab-indent", "a:\n    b: 1\n    c: 2\n"),
        ("a:\t1\n", "tab-indent", "a: 1\n"),
    ],
)
def test_malformed_shapes_are_diagnosed_and_repaired(text: str, kind: str, repaired: str) -> None:
    """The shapes that people write get a fault that names the cause, and a repair that leaves all else alone."""
    (fault,) = faults(text)
    assert (fault.kind, apply(text, fault.fix)) == (kind, repaired)
    assert isinstance(read_yaml(repaired, 0, len(repaired)), Node)


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ("@b", "`@` cannot begin an unquoted value; put it in double quotes"),
        ("`b", "a backtick cannot begin an unquoted value; put it in double quotes"),
        ("%b", "`%` cannot begin an unquoted value; put it in double quotes"),
        ("*b c", "an unquoted value that begins with `*` is a reference to an anchor; put it in double quotes"),
        ("&b &c d", "an unquoted value that begins with `&` is an anchor; put it in double quotes"),
        ("|b", "an unquoted value that begins with `|` is the head of a text block; put it in double quotes"),
        (">b", "an unquoted value that begins with `>` is the head of a text block; put it in double quotes"),
    ],
)
def test_each_reserved_character_has_its_message(value: str, message: str) -> None:
    """A message says what a character means to YAML at the beginning of a value."""
    assert faults(f"a: {value}\n")[0].message == message


def test_the_first_of_several_is_repaired_first() -> None:
    """Several malformed lines are repaired one after the other."""
    text = "a: b: c\nd: @e\nf: 'g'h'\n"
    kinds = []
    while not isinstance(result := read_front_matter(text, 0, len(text)), Node):
        kinds.append(result[0].kind)
        text = apply(text, result[0].fix)
    assert kinds == ["colon-in-value", "reserved-start", "apostrophe"]
    assert result.value() == {"a": "b: c", "d": "@e", "f": "g'h"}


def test_tabs_before_another_fault_are_still_repaired() -> None:
    """A tab is repaired where another fault stands further down."""
    text = "a:\n\tb: 1\nc: @d\n"
    assert apply(text, faults(text)[0].fix) == "a:\n  b: 1\nc: @d\n"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a: b: c\n  more\n", "there is a colon where none may be"),
        ('"a: never closed\nb: 1\n', "the quote that begins here is never closed"),
        ("a: 'never closed # c\nb: 1\n", "the quote that begins here is never closed"),
        ("a: [1, 2\nb: 3\n", "the bracket that begins here is never closed"),
        ("a: 1\nfoo\nb: 2\n", "this line is not of the form"),
        ("a: |\n  x: y: z\n- b\n", "there is a list item instead of a key"),
        ("a: b\n\n- c\n", "there is a list item instead of a key"),
        ("a: b\nc = 1\n", "there is an equals sign instead of a colon"),
        ("a: b\n// c\nd: 1\n", "this looks like a remark"),
        (" a: b\nc: 1\n", "this line is not indented like the lines around it"),
        ("a: \x07\n", "there is a character here that YAML does not allow"),
        ('a: "\\q"\n', "a backslash in double quotes must be doubled"),
        ("a: {b: @c, d: 'e'f'}\n", "this character cannot begin a value"),
        ("a: b\n\tc: d\n", "there is a tab here"),
        ("a\t \n", "there is a tab here"),
        ("a:\n" + "\t- b\n" * 61, "there is a tab here"),
        ("%x\n", "this line is not of the form"),
    ],
)
def test_an_uncertain_meaning_has_no_repair(text: str, message: str) -> None:
    """A fault whose repair would be a guess is only described in plain words."""
    (fault,) = faults(text)
    assert fault.message.startswith(message)
    assert fault.fix == ()


def test_other_faults_stay_as_they_are() -> None:
    """A key given twice has no repair, and hides none of the faults beside it."""
    assert faults("a: 1\na: 2\n")[0].kind == "duplicate-key"
    assert [fault.kind for fault in faults("a: {b: 1, b: 2}\nc: @d\n")] == ["duplicate-key", "syntax"]


def test_tabs_in_text_blocks_and_quotes_are_left_alone() -> None:
    """Only the tabs that stand in the way are replaced."""
    text = 'a: |\n  x\n  \ty\nb: "c\td"\ne:\n\tf: 1\n'
    assert apply(text, faults(text)[0].fix) == 'a: |\n  x\n  \ty\nb: "c\td"\ne:\n  f: 1\n'


def repaired_texts(text: str) -> list[str]:
    """Return a valid text after each repair of a value that YAML reads as a comment."""
    root = read_yaml(text, 0, len(text))
    assert isinstance(root, Node)
    return [apply(text, fault.fix) for fault in commented_values(text, root)]


def test_a_value_that_became_a_comment_is_found() -> None:
    """A value that begins with `#` is null for YAML: it is reported, and the repair quotes it."""
    assert repaired_texts("title: #101 login # c\nb: 1\n") == ['title: "#101 login" # c\nb: 1\n']
    assert repaired_texts("a: #7 \t\nb: 1\n") == ['a: "#7" \t\nb: 1\n']
    assert repaired_texts("a:\n  - #7\n  - b: #8\r\n") == ['a:\n  - "#7"\n  - b: #8\r\n', 'a:\n  - #7\n  - b: "#8"\r\n']


@pytest.mark.parametrize(
    "text", ["a: # c\n", "a: 1 #c\n", "a: 'x: #y'\n", "a: #c\n  b: 1\n", "# a: #b\n", "a: |\n  b: #c\n"]
)
def test_comments_are_comments(text: str) -> None:
    """A comment with a blank, one behind a value, and one above a block are what they look like."""
    assert repaired_texts(text) == []


def test_a_sound_line_before_a_fault_is_not_blamed_with_windows_line_ends() -> None:
    """The carriage return behind a quoted value is no text behind its closing quote."""
    text = 'a: "1"\r\nb: [x\r\n'
    faults = read_front_matter(text, 0, len(text))
    assert not isinstance(faults, Node)
    assert [text[: fault.span.start].count("\n") for fault in faults] == [1]
