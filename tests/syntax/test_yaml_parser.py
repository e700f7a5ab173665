"""The reference reader of front matters: places, what is pinned, and faults as values."""

from __future__ import annotations

import pytest

from taskstate.syntax.nodes import Fault, Node
from taskstate.syntax.spans import Span
from taskstate.syntax.yaml_parser import read_yaml
from taskstate.syntax.yaml_reader import read_front_matter


def read(text: str) -> Node:
    """Return the mapping that a whole text is."""
    node = read_yaml(text, 0, len(text))
    assert isinstance(node, Node)
    return node


def faults(text: str) -> tuple[Fault, ...]:
    """Return the faults of a text that cannot be read."""
    result = read_yaml(text, 0, len(text))
    assert not isinstance(result, Node)
    return result


def part(text: str, *path: str | int) -> Node:
    """Return the value at a path of a text."""
    node = read(text).get(*path)
    assert node is not None
    return node


def test_spans_are_absolute() -> None:
    """Offsets count from the start of the text, a byte order mark and what stands before included."""
    text = "\ufeff---\na: é\nb: 'x'\n---\n"
    node = read_yaml(text, 5, 17)
    assert isinstance(node, Node)
    assert [entry.value.span.of(text) for entry in node.entries] == ["é", "'x'"]
    assert node.span == Span(5, 16)


@pytest.mark.parametrize(
    ("value", "style", "content"),
    [
        ("x y", "plain", "x y"),
        ("'it''s'", "single", "it's"),
        ('"a\\tb"', "double", "a\tb"),
        ("|\n  x\n  y", "literal", "x\ny\n"),
        (">-\n  x\n  y", "folded", "x y"),
        ("x\n  y", "plain", "x y"),
    ],
)
def test_scalars_keep_their_style_and_know_their_end(value: str, style: str, content: str) -> None:
    """A scalar's span is its source, trailing comments and blank lines not included, and its text what it says."""
    text = f"k: {value}\n\n# c\nz: 1\n"
    node = part(text, "k")
    assert (node.span.of(text), node.style, node.text, node.pinned) == (value, style, content, "")


@pytest.mark.parametrize("text", ["k:\n  - a\n  - b: 1\n\n  # c\n\nz: 1\n", "k:\n- a\n- b: 1\n# c\nz: 1\n"])
def test_a_block_ends_with_its_last_leaf(text: str) -> None:
    """Comments and blank lines behind a block do not belong to it."""
    assert part(text, "k").span.end == text.index("b: 1") + 4


@pytest.mark.parametrize(
    ("text", "path", "at"),
    [
        ("k:\n", ("k",), 2),
        ("k: # c\nz: 1\n", ("k",), 2),
        ("k :   \nz: 1\n", ("k",), 3),
        ("a:\n  k:\nz: 1\n", ("a", "k"), 7),
        ("k:\n  -\n  - a\n", ("k", 0), 6),
        ("k: {a: , b: 1}\n", ("k", "a"), 6),
        ("k: {a}\n", ("k", "a"), 5),
    ],
)
def test_an_absent_value_is_an_empty_span(text: str, path: tuple[str | int, ...], at: int) -> None:
    """Null has an empty span right behind its colon or dash, wherever ruamel's mark may stand."""
    node = part(text, *path)
    assert (node.span, node.value()) == (Span(at, at), None)


@pytest.mark.parametrize("text", ["", "\n", "# only a comment\n", "\n  \n# c\n"])
def test_nothing_is_an_empty_mapping_at_the_end(text: str) -> None:
    """A front matter without entries is an empty mapping, behind its comments."""
    assert read(text) == Node("mapping", Span(len(text), len(text)), "block")


@pytest.mark.parametrize(
    ("text", "path", "why"),
    [
        ("a: &x 1\n", ("a",), "it is anchored (`&x`)"),
        ("a: &x {b: 1}\n", ("a", "b"), "it is anchored (`&x`)"),
        ("a: &x {b: 1}\nc: *x\n", ("c", "b"), "it is an alias (`*x`)"),
        ("a: {<<: {b: 1}}\n", ("a",), "it merges another mapping (`<<`)"),
        ("? a\n: b\n", ("a",), "it is not written as `key: value`"),
        ("a: {b}\n", ("a", "b"), "it is not written as `key: value`"),
        ("a: [b: c]\n", ("a", 0), "it is a single pair without braces"),
    ],
)
def test_what_cannot_be_changed_by_span_is_pinned(text: str, path: tuple[str | int, ...], why: str) -> None:
    """A value whose change would change something else, or break the form, says why it must stay."""
    assert part(text, *path).pinned == why


def test_a_quoted_merge_key_is_an_ordinary_key() -> None:
    """Only the plain `<<` merges."""
    assert read('"<<": 1\n').pinned == ""


def test_an_alias_has_its_own_place_and_its_anchors_value() -> None:
    """An alias stands where it stands and means what its anchor means."""
    text = "a: &x [1]\nb: *x\n"
    node = part(text, "b")
    assert (node.span.of(text), node.value()) == ("*x", [1])


@pytest.mark.parametrize(
    ("text", "kind", "marked"),
    [
        ("a: 1\na: 2\n", "duplicate-key", "a"),
        ("a: {b: 1, b: 2}\n", "duplicate-key", "b"),
        ("a: !!python/object:os.system x\n", "tag", "!!python/object:os.system"),
        ("a: &x !t [1]\n", "tag", "!t"),
        ("a: ! x\n", "tag", "!"),
        ("- a\n", "not-a-mapping", "- a"),
        ("text\n", "not-a-mapping", "text"),
        ("a: &x [*x]\n", "aliases", "*x"),
        ("a: [" + "[" * 60, "nesting", "["),
        ("a: 1\n---\nb: 2\n", "syntax", "---"),
        ("a: 1\n...\n", "syntax", "..."),
        ("%YAML 1.1\n---\na: 1\n", "syntax", "---"),
        ("? [a]\n: b\n", "syntax", "[a]"),
        ("a: *b\n", "syntax", "*b"),
        ('a: "\\ud800"\n', "syntax", '"\\ud800"'),
        ("a: \x07\n", "syntax", "\x07"),
        ("a:\n\t- b\n", "syntax", "\t"),
    ],
)
def test_faults_have_a_kind_and_a_place(text: str, kind: str, marked: str) -> None:
    """Each fault has its kind and position."""
    (fault,) = faults(text)
    assert (fault.kind, text[fault.span.start :].startswith(marked)) == (kind, True)


def test_all_duplicate_keys_are_reported_at_once() -> None:
    """Faults that do not stop the reading come together, in the order of the text."""
    result = faults("a: !t 1\nb: {c: 1, c: 2}\na: 3\n")
    assert [(fault.kind, fault.span.start) for fault in result] == [
        ("tag", 3),
        ("duplicate-key", 18),
        ("duplicate-key", 24),
    ]


def test_fifty_levels_are_read_and_no_more() -> None:
    """The limit of nesting is 50 levels, the mapping at the top included."""
    assert read("a: " + "[" * 49 + "]" * 49).kind == "mapping"
    assert faults("a: " + "[" * 50 + "]" * 50)[0].kind == "nesting"


def test_aliases_are_limited_in_number_and_in_what_they_stand_for() -> None:
    """A hundred aliases are read, one more is not; few aliases that mean a billion values are not either."""
    some = "a: &x 1\nb: [" + ", ".join(["*x"] * 100) + "]\n"
    assert len(part(some, "b").items) == 100
    assert faults(some + "c: *x\n")[0].kind == "aliases"
    laughs = "a0: &a0 [x]\n" + "".join(f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]\n" for n in range(1, 10))
    assert faults(laughs)[0].kind == "aliases"


def test_anchors_are_limited_in_number() -> None:
    """A hundred anchors are read, on values and on lists alike; at one more the reading ends."""
    some = "".join(f"a{n}: &a{n} 1\n" for n in range(99)) + "b: &b [x]\n"
    assert part(some, "b").items
    for more in ("c: &c 1\n", "c: &c {d: e}\n"):
        assert [each.kind for each in faults(some + more + "d: !tag x\n")] == ["aliases"]


def test_aliases_cannot_nest_deeper_than_brackets() -> None:
    """Nesting through aliases counts like any other."""
    deep = "a: &a " + "[" * 40 + "]" * 40 + "\nb: [[[[[[[[[[*a]]]]]]]]]]\n"
    assert faults(deep)[0].kind == "nesting"


@pytest.mark.parametrize(
    "text",
    ['a: "\\UFFFFFFFF"\n', "a: " + "[" * 100_000, "- " * 50_000, "%TAG ! x\n", "a: !<%zz> b\n", "\x00", "a: |0\n x\n"],
)
def test_hostile_texts_are_faults(text: str) -> None:
    """Whatever ruamel raises, or would overflow on, is a fault and no exception."""
    assert faults(text)


def test_front_matter_is_read_either_way() -> None:
    """The common shape and the uncommon give the same kind of tree; a fault comes with its cause and its repair."""
    common, uncommon, broken = "a: 1\n", "a: &x 1\n", "a: b: c\n"
    for text in (common, uncommon):
        node = read_front_matter(text, 0, len(text))
        assert isinstance(node, Node)
        assert node.value() == {"a": 1}
    result = read_front_matter(broken, 0, len(broken))
    assert not isinstance(result, Node)
    assert (result[0].kind, result[0].fix[0].new) == ("colon-in-value", '"b: c"')
