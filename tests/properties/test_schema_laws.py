from __future__ import annotations

import json
from copy import deepcopy
from functools import cache
from typing import TYPE_CHECKING

from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from taskstate.model.document_kinds import section_key
from taskstate.model.names import id_key, is_id, own_file, parse_task_id
from taskstate.syntax.json_parser import read_json
from taskstate.syntax.nodes import Node
from taskstate.syntax.yaml_parser import read_yaml
from taskstate.validation import schema
from taskstate.validation.schema_errors import format_checker
from taskstate.validation.schema_files import load
from tests.support.schema_samples import SAMPLES

if TYPE_CHECKING:
    from typing import Any

KEYS = st.sampled_from(["id", "status", "path", "x-own", "x", "pases", "sha256", "a.b", "\x1b[2J"]) | st.text(
    max_size=4
)
NUMBERS = st.integers(-2, 3) | st.sampled_from([0.0, -0.0, 1.0, 1.5, 1e300]) | st.integers()
TEXTS = st.sampled_from(["", "P1", "done", "40%", "101", "abc1234", "a\n", "0" * 40, "0" * 64]) | st.text(max_size=4)
LEAVES = st.none() | st.booleans() | NUMBERS | TEXTS
VALUES = st.recursive(
    LEAVES, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=3), max_leaves=6
)


def places(value: object) -> list[dict[str, Any] | list[Any]]:
    """Return every map and list in a value, the value itself first."""
    children: list[Any] = []
    if isinstance(value, dict):
        children = [*value.values()]
    elif isinstance(value, list):
        children = value
    else:
        return []
    return [value, *(place for child in children for place in places(child))]


def changed(draw: st.DrawFn, value: Any) -> Any:  # noqa: ANN401 - any JSON value
    """Return a value with one change somewhere: a part replaced, left out, added or given twice."""
    containers = places(value)
    if not containers:
        return draw(VALUES)
    place = draw(st.sampled_from(containers))
    if isinstance(place, dict):
        key = draw(st.sampled_from(sorted(place)) if place else KEYS)
        match draw(st.sampled_from(["replace", "leave out", "add", "rename"])):
            case "replace":
                place[key] = draw(VALUES)
            case "leave out":
                place.pop(key, None)
            case "add":
                place[draw(KEYS)] = draw(VALUES)
            case _:
                place[draw(KEYS)] = place.pop(key, None)
    elif place and draw(st.booleans()):
        place.append(deepcopy(draw(st.sampled_from(place))))
    else:
        place[draw(st.integers(0, len(place))) :] = [draw(VALUES)]
    return value


@st.composite
def near_the_schemas(draw: st.DrawFn) -> tuple[str, Any]:
    """Return a schema's name and a value that is, or nearly is, valid by it."""
    name = draw(st.sampled_from(sorted(SAMPLES)))
    value = deepcopy(SAMPLES[name])
    for _ in range(draw(st.integers(0, 3))):
        value = changed(draw, value)
    return name, value


def schemas(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[dict[str, Any]]:
    """Return schemas of any of the keywords that can be compiled, and one that cannot."""
    types = st.sampled_from(["string", "integer", "number", "boolean", "null", "object", "array"])
    lengths = st.integers(0, 2)
    keywords: dict[str, st.SearchStrategy[Any]] = {
        "type": types | st.lists(types, min_size=1, max_size=3, unique=True),
        "enum": st.lists(LEAVES, min_size=1, max_size=3),
        "const": LEAVES,
        "pattern": st.sampled_from(["^a", "[0-9]$", "^$", "b"]),
        "minLength": lengths,
        "maxLength": lengths,
        "minimum": NUMBERS,
        "maximum": NUMBERS,
        "minItems": lengths,
        "maxItems": lengths,
        "required": st.lists(st.sampled_from(["id", "x-own", "status"]), max_size=2, unique=True),
        "properties": st.dictionaries(KEYS, inner, max_size=3),
        "patternProperties": st.dictionaries(st.sampled_from(["^x-", "s", "^id$"]), inner, max_size=2),
        "additionalProperties": inner | st.booleans(),
        "propertyNames": inner,
        "items": inner,
        "uniqueItems": st.booleans(),
        "anyOf": st.lists(inner, min_size=1, max_size=2),
        "oneOf": st.lists(inner, min_size=1, max_size=2),
        "not": inner,
        "$ref": st.just("#/$defs/other"),
        "format": st.sampled_from(["printable", "linear-regex", "qa-pattern", "date"]),
        "contains": inner,
        "x-form": TEXTS,
        "description": TEXTS,
    }
    chosen = st.lists(st.sampled_from(sorted(keywords)), max_size=4, unique=True)
    return chosen.flatmap(lambda names: st.fixed_dictionaries({name: keywords[name] for name in names}))


ANY_SCHEMA = st.builds(
    lambda other, root: root | {"$defs": {"other": other}},
    schemas(st.just({"type": "string"})),
    st.recursive(schemas(st.booleans()), schemas, max_leaves=3),
)


@cache
def reference(name: str) -> Draft202012Validator:
    """Return jsonschema's own validator of a published schema."""
    return Draft202012Validator(load(name), format_checker=format_checker())


@given(near_the_schemas())
def test_compiled_schemas_agree_with_jsonschema(case: tuple[str, Any]) -> None:
    """A compiled schema decides as jsonschema does, and never declines one of our schemas."""
    name, value = case
    assert schema.is_valid(value, name) is reference(name).is_valid(value)


@given(ANY_SCHEMA, VALUES)
def test_a_compiled_schema_is_exact_or_declines(any_schema: dict[str, Any], value: object) -> None:
    """Any compiled schema decides as jsonschema does, or declines."""
    quick = schema.is_valid(value, any_schema)
    assert quick is None or quick is Draft202012Validator(any_schema, format_checker=format_checker()).is_valid(value)


@given(near_the_schemas())
def test_faults_are_what_is_wrong_and_where(case: tuple[str, Any]) -> None:
    """There are faults exactly where a value is not valid; each stands at a place of its own, and can be shown."""
    name, value = case
    faults = schema.faults(value, name)
    assert bool(faults) is not reference(name).is_valid(value)
    assert len({(fault.path, fault.key) for fault in faults}) == len(faults)
    for fault in faults:
        assert fault.message.replace("\u00a0", " ").isprintable()
        at = value
        for step in fault.path:
            at = at[step]
        assert fault.keyword != "required" or fault.key not in at
        assert fault.keyword != "unknown-key" or fault.path[-1] == fault.key


@given(near_the_schemas())
def test_typed_values_of_json_are_those_of_json(case: tuple[str, Any]) -> None:
    """A JSON value is read as it is, whatever its schema wants."""
    name, value = case
    text = json.dumps(value)
    node = read_json(text, 0, len(text))
    assert not isinstance(node, Node) or schema.typed_value(node, name) == value


@given(st.text(alphabet=st.characters(codec="ascii", categories=["L", "N"], include_characters="+-._:~"), max_size=12))
def test_strings_are_strings(scalar: str) -> None:
    """Whatever an unquoted scalar looks like, where the schema says string it is its source text."""
    text = f"title: {scalar}\narchive_path: {scalar}\n"
    node = read_yaml(text, 0, len(text))
    if isinstance(node, Node) and node.get("title") and all(entry.value.style == "plain" for entry in node.entries):
        value = schema.typed_value(node, "task")
        assert value["title"] == scalar
        assert value["archive_path"] in {scalar, None}


@given(st.from_regex(r"[A-Za-z0-9._-]{1,66}", fullmatch=True))
def test_ids_come_back_from_their_files(task_id: str) -> None:
    """An id names its own files and is case by them; what is no id is refused as the name of a file too."""
    for name in (f"task-{task_id}-state.md", f"a/task-{task_id}-archive.md", f"task-{task_id}-impact-map.json"):
        file = own_file(name)
        assert file is not None
        assert file.id == task_id
        assert not is_id(task_id) or parse_task_id(name) == task_id


@given(st.text(max_size=12), st.text(max_size=12))
def test_id_keys_are_of_ids_without_case(one: str, other: str) -> None:
    """Two keys are equal exactly where the ids differ in case at most, and any two can be compared."""
    assert (id_key(one) == id_key(other)) is (one.casefold() == other.casefold())
    assert id_key(one) <= id_key(other) or id_key(one) > id_key(other)


@given(st.text(alphabet="a1 .)(][\t", max_size=20))
def test_section_keys_are_stable(title: str) -> None:
    """A key has no spacing and no case of its own, and a number or a suffix more does not change it."""
    key = section_key(title)
    assert key == " ".join(key.split()).casefold()
    assert section_key(f"  {title}\t(updated)  ") == key or not key
