"""Laws of YAML and JSON: parsers agree, a change is read back, nothing else moves."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import frontmatter
import yaml
from hypothesis import assume, given
from hypothesis import strategies as st
from ruamel.yaml import YAML

from taskstate.errors import CannotEdit
from taskstate.syntax.edits import apply
from taskstate.syntax.json_edit import json_text, set_json
from taskstate.syntax.json_parser import DECLINED, loads, read_json
from taskstate.syntax.nodes import Node, equals
from taskstate.syntax.yaml_edit import remove_key, set_key
from taskstate.syntax.yaml_emitter import double_quoted, yaml_flow, yaml_scalar
from taskstate.syntax.yaml_fast_parser import scan_yaml
from taskstate.syntax.yaml_parser import read_yaml
from taskstate.syntax.yaml_reader import read_front_matter
from tests.support.data_strategies import (
    any_front_matters,
    any_json,
    front_matters,
    json_values,
    malformed_front_matters,
    sound_front_matters,
    spaced_json,
    yaml_values,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

HEAD, TAIL = "---\n", "---\nbody: x\n"
keys = st.sampled_from(["new", "a", "title", "context", "evidence", "x y", "yes", "abc"])


def in_document(text: str) -> tuple[str, int, int]:
    """Return a document around a front matter, and the offsets of the front matter in it."""
    inner = text if not text or text.endswith(("\n", "\r")) else f"{text}\n"
    return HEAD + inner + TAIL, len(HEAD), len(HEAD) + len(inner)


def mappings(node: Node) -> Iterator[Node]:
    """Yield a node and everything in it that is a mapping."""
    if node.kind == "mapping":
        yield node
    for child in (*node.items, *(entry.value for entry in node.entries)):
        yield from mappings(child)


def leaves(node: Node, text: str, path: tuple[str | int, ...] = ()) -> dict[tuple[str | int, ...], tuple[str, object]]:
    """Return all scalars and empty collections by path, each as it stands in the text and as what it means."""
    if not node.entries and not node.items:
        return {path: (node.span.of(text), repr(node.value()))}
    by_path: dict[tuple[str | int, ...], tuple[str, object]] = {}
    for entry in node.entries:
        by_path |= leaves(entry.value, text, (*path, entry.key.text))
    for number, item in enumerate(node.items):
        by_path |= leaves(item, text, (*path, number))
    return by_path


def paths_of(node: Node, target: Node, path: tuple[str | int, ...] = ()) -> Iterator[tuple[str | int, ...]]:
    """Yield the paths at which `target` stands below `node`."""
    if node is target:
        yield path
    for entry in node.entries:
        yield from paths_of(entry.value, target, (*path, entry.key.text))
    for number, item in enumerate(node.items):
        yield from paths_of(item, target, (*path, number))


def loaded(text: str, start: int, end: int) -> Any:  # noqa: ANN401 - any YAML value
    """Return what PyYAML makes of a front matter, or `DECLINED` where it refuses."""
    try:
        return yaml.safe_load(text[start:end])
    except (yaml.YAMLError, ValueError, TypeError):
        return DECLINED


@given(any_front_matters)
def test_fast_reader_is_exact_or_declines(inner: str) -> None:
    """The scanner gives the reference's tree, spans and styles included, or nothing."""
    text, start, end = in_document(inner)
    scanned = scan_yaml(text, start, end)
    assert scanned is None or scanned == read_yaml(text, start, end)


@given(any_front_matters)
def test_reading_yaml_never_raises_and_faults_lie_in_the_text(inner: str) -> None:
    """Any text is a mapping or has faults, each inside the text and each repair inside it too."""
    text, start, end = in_document(inner)
    result = read_front_matter(text, start, end)
    if isinstance(result, Node):
        assert start <= result.span.start <= result.span.end <= end
        return
    assert result
    for fault in result:
        assert start <= fault.span.start <= fault.span.end <= end
        assert fault.message
        apply(text, fault.fix)
        assert all(start <= edit.start <= edit.end <= end for edit in fault.fix)


@given(malformed_front_matters())
def test_a_malformed_value_is_diagnosed_and_repaired(case: tuple[str, str, object]) -> None:
    """The repair of a malformed value gives the value that was meant, and all else stays as it is."""
    inner, key, meant = case
    text, start, end = in_document(inner)
    result = read_front_matter(text, start, end)
    assert not isinstance(result, Node)
    (fault,) = result
    repaired = apply(text, fault.fix)
    after = read_front_matter(repaired, start, end + len(repaired) - len(text))
    assert isinstance(after, Node)
    assert after.value()[key] == meant
    line = text.index(f"{key}: ")
    assert repaired[: line + len(key) + 2] == text[: line + len(key) + 2]
    assert repaired.endswith(text[text.index("\n", line) :])


@given(sound_front_matters() | front_matters | any_front_matters, st.data(), yaml_values)
def test_a_key_that_is_set_is_read_back_and_nothing_else_moves(inner: str, data: st.DataObject, value: object) -> None:
    """A set key has its value, all others keep theirs and their source text, PyYAML reads the same."""
    text, start, end = in_document(inner)
    root = read_yaml(text, start, end)
    if not isinstance(root, Node):
        return
    mapping = data.draw(st.sampled_from(list(mappings(root))))
    key = data.draw(st.sampled_from([entry.key.text for entry in mapping.entries]) | keys if mapping.entries else keys)
    path = (*next(paths_of(root, mapping)), key)
    newline = "\r\n" if "\r\n" in inner else "\n"
    try:
        edits = set_key(text, mapping, key, value, newline=newline)
    except CannotEdit:
        return
    changed = apply(text, edits)
    end += len(changed) - len(text)
    assert changed.startswith(HEAD)
    assert changed[end:] == TAIL
    result = read_yaml(changed, start, end)
    assert isinstance(result, Node), (changed, result)
    node = result.get(*path)
    assert node is not None
    assert equals(node, value)
    before = {at: leaf for at, leaf in leaves(root, text).items() if at[: len(path)] != path and at != path[:-1]}
    after = {at: leaf for at, leaf in leaves(result, changed).items() if at[: len(path)] != path and at != path[:-1]}
    assert before == after
    if edits and isinstance(value, str) and isinstance(loaded(text, start, end - len(changed) + len(text)), dict):
        assert value in repr_leaves(loaded(changed, start, end))
    if "\n" not in inner.replace("\r\n", "") and "\r\n" in inner:
        assert "\n" not in changed[start:end].replace("\r\n", "")


def repr_leaves(value: object) -> list[object]:
    """Return all values in a loaded one."""
    if isinstance(value, dict):
        return [leaf for child in value.values() for leaf in repr_leaves(child)]
    if isinstance(value, list):
        return [leaf for child in value for leaf in repr_leaves(child)]
    return [value]


@given(sound_front_matters() | front_matters, st.data())
def test_setting_what_is_there_changes_no_byte(inner: str, data: st.DataObject) -> None:
    """Setting a key to its own value needs no edit, also where the value could not be changed."""
    text, start, end = in_document(inner)
    root = read_yaml(text, start, end)
    assert isinstance(root, Node)
    mapping = data.draw(st.sampled_from(list(mappings(root))))
    for entry in mapping.entries:
        assert set_key(text, mapping, entry.key.text, entry.value.value()) == ()


@given(sound_front_matters() | front_matters, st.data())
def test_a_key_that_is_removed_is_gone_and_nothing_else_moves(inner: str, data: st.DataObject) -> None:
    """A removed key is gone, all other values keep theirs and their source text."""
    text, start, end = in_document(inner)
    root = read_yaml(text, start, end)
    assert isinstance(root, Node)
    mapping = data.draw(st.sampled_from([node for node in mappings(root) if node.entries] or [root]))
    assume(mapping.entries)
    key = data.draw(st.sampled_from([entry.key.text for entry in mapping.entries]))
    path = next(paths_of(root, mapping))
    try:
        changed = apply(text, remove_key(text, mapping, key))
    except CannotEdit:
        return
    end += len(changed) - len(text)
    assert changed[end:] == TAIL
    result = read_yaml(changed, start, end)
    assert isinstance(result, Node), changed
    left = result.get(*path)
    assert left is not None
    assert [entry.key.text for entry in left.entries] == [
        entry.key.text for entry in mapping.entries if entry.key.text != key
    ]
    removed = (*path, key)
    before = {at: leaf for at, leaf in leaves(root, text).items() if at[: len(removed)] != removed}
    after = {at: leaf for at, leaf in leaves(result, changed).items() if at != path}
    assert before == after


@given(
    front_matters,
    st.lists(keys, unique=True),
    st.permutations(["title", "new", "context", "abc", "a", "status", "evidence"]),
)
def test_new_keys_stand_where_the_order_says(inner: str, new: list[str], order: list[str]) -> None:
    """Where the present keys are in order, a new one that the order names keeps them so."""
    text, start, end = in_document(inner)
    root = read_yaml(text, start, end)
    assert isinstance(root, Node)
    key = next((name for name in new if name in order and root.entry(name) is None), None)
    present = [entry.key.text for entry in root.entries if entry.key.text in order]
    assume(key is not None and present == sorted(present, key=order.index))
    assert key is not None
    changed = apply(text, set_key(text, root, key, "x", order=order))
    result = read_yaml(changed, start, end + len(changed) - len(text))
    assert isinstance(result, Node)
    now = [entry.key.text for entry in result.entries if entry.key.text in order]
    assert now == sorted([*present, key], key=order.index)


@given(st.text() | st.from_regex(r"[-+.0-9a-fxoeE_:TZ~]{1,20}", fullmatch=True))
def test_a_text_is_written_so_that_all_readers_take_it_for_the_same(value: str) -> None:
    """A text comes back from every reader, in a block and in brackets."""
    text = f"---\nk: {yaml_scalar(value)}\nl: {yaml_flow([value, {'m': value}])}\nq: {double_quoted(value)}\n---\n"
    expected = {"k": value, "l": [value, {"m": value}], "q": value}
    inner = text[4:-4]
    assert yaml.safe_load(inner) == expected
    assert YAML(typ="safe", pure=True).load(inner) == expected
    assert frontmatter.loads(text).metadata == expected
    node = read_yaml(text, 4, len(text) - 4)
    assert isinstance(node, Node)
    assert node.value() == expected
    assert scan_yaml(text, 4, len(text) - 4) in {None, node}


@given(yaml_values)
def test_what_is_written_is_read_back(value: object) -> None:
    """A nested value set in an empty front matter is read back, and PyYAML takes its texts for the same."""
    text, start, end = in_document("")
    root = read_yaml(text, start, end)
    assert isinstance(root, Node)
    changed = apply(text, set_key(text, root, "k", value))
    node = read_front_matter(changed, start, end + len(changed) - len(text))
    assert isinstance(node, Node)
    assert node.get("k") is not None
    assert repr(node.value()) == repr({"k": value})
    assert repr(frontmatter.loads(changed).metadata) == repr({"k": value})


@given(any_json)
def test_json_is_read_as_the_standard_library_reads_it(inner: str) -> None:
    """The span tree, the quick reader and `json.loads` agree, but for what is refused on purpose."""
    text, start = f"é[{inner}]x", 2
    result, quick = read_json(text, start, start + len(inner)), loads(inner)
    try:
        expected = json.loads(inner)
    except (ValueError, RecursionError):
        expected = DECLINED
    if isinstance(result, Node):
        assert repr(result.value()) == repr(expected)
        assert quick is DECLINED or repr(quick) == repr(expected)
        assert quick is not DECLINED or "\\u" in inner
    else:
        assert quick is DECLINED
        assert start <= result.span.start <= result.span.end <= start + len(inner)
        assert expected is DECLINED or result.kind in {"constant", "duplicate-key", "surrogate", "nesting", "number"}


def nodes(node: Node, path: tuple[str | int, ...] = ()) -> Iterator[tuple[tuple[str | int, ...], Node]]:
    """Yield every value with its path."""
    yield path, node
    for entry in node.entries:
        yield from nodes(entry.value, (*path, entry.key.text))
    for number, item in enumerate(node.items):
        yield from nodes(item, (*path, number))


def json_document(inner: str) -> tuple[str, int, int]:
    """Return a text around some JSON, and its offsets."""
    return f"```json\n{inner}\n```\n", 8, 8 + len(inner)


@given(spaced_json(), st.data(), json_values)
def test_a_json_value_that_is_set_is_read_back_and_nothing_else_moves(
    inner: str, data: st.DataObject, value: object
) -> None:
    """A set value, an added key or an appended item is read back; all others keep theirs and their source text."""
    text, start, end = json_document(inner)
    root = read_json(text, start, end)
    assert isinstance(root, Node)
    path, node = data.draw(st.sampled_from(list(nodes(root))))
    if node.kind == "mapping" and data.draw(st.booleans()):
        path = (*path, data.draw(st.text(max_size=4)))
    elif node.kind == "sequence" and data.draw(st.booleans()):
        path = (*path, len(node.items))
    changed = apply(text, set_json(text, root, path, value))
    end += len(changed) - len(text)
    assert (changed[:start], changed[end:]) == (text[:start], "\n```\n")
    result = read_json(changed, start, end)
    assert isinstance(result, Node), (changed, result)
    changed_node = result.get(*path)
    assert changed_node is not None
    assert repr(changed_node.value()) == repr(value) or equals(changed_node, value)
    before = {at: leaf for at, leaf in leaves(root, text).items() if at[: len(path)] != path and at != path[:-1]}
    after = {at: leaf for at, leaf in leaves(result, changed).items() if at[: len(path)] != path and at != path[:-1]}
    assert before == after


@given(json_values, st.data(), json_values, st.sampled_from(["\r", "\r\n"]))
def test_lines_end_as_the_text_ends_them(value: object, data: st.DataObject, new: object, newline: str) -> None:
    """A change of JSON that is laid out is the same, but for its line ends, whichever the text has."""
    text, start, end = json_document(json_text(value))
    other = text.replace("\n", newline)
    root = read_json(text, start, end)
    other_root = read_json(other, start + len(newline) - 1, len(other) - (len(text) - end) - 2 * (len(newline) - 1))
    assert isinstance(root, Node)
    assert isinstance(other_root, Node)
    path, node = data.draw(st.sampled_from(list(nodes(root))))
    if node.kind == "mapping":
        path = (*path, "added")
    elif node.kind == "sequence":
        path = (*path, len(node.items))
    changed = apply(text, set_json(text, root, path, new))
    assert apply(other, set_json(other, other_root, path, new, newline=newline)) == changed.replace("\n", newline)


@given(spaced_json())
def test_setting_the_json_value_that_is_there_changes_no_byte(inner: str) -> None:
    """Every value of a JSON text can be set to itself without an edit."""
    text, start, end = json_document(inner)
    root = read_json(text, start, end)
    assert isinstance(root, Node)
    for path, node in nodes(root):
        assert set_json(text, root, path, node.value()) == ()


@given(json_values, st.sampled_from(["", "    "]), st.sampled_from(["\n", "\r\n"]))
def test_json_text_is_read_back(value: object, indent: str, newline: str) -> None:
    """What is laid out is read back, in lines with the given line end."""
    written = json_text(value, indent=indent, newline=newline)
    assert repr(json.loads(written)) == repr(value)
    assert newline == "\n" or "\n" not in written.replace("\r\n", "")
