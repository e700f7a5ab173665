from __future__ import annotations

import json
import pickle
from typing import TYPE_CHECKING, Any

import pytest
from jsonschema import Draft202012Validator

from taskstate import resources
from taskstate.model import config as module
from taskstate.model.config import EXPORT_FIELDS, Config, matches
from taskstate.model.names import is_result_name
from taskstate.validation.schema import faults, load

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

SCHEMA: Mapping[str, Any] = load("config")


def test_a_configuration_travels_to_other_processes() -> None:
    """A configuration can be pickled, so that files are linted side by side."""
    config = Config(validation={"*": ("just check",)})
    assert pickle.loads(pickle.dumps(config)) == config  # noqa: S301 - what was pickled one call before


def test_the_schema_is_one() -> None:
    """The published schema is valid by its own dialect, and describes every key."""
    Draft202012Validator.check_schema(SCHEMA)
    parts = [SCHEMA, *SCHEMA["properties"].values()]
    parts += [part["items"] for part in parts if "properties" in part.get("items", {})]
    for part in parts:
        assert all(entry.get("description") for entry in part.get("properties", {}).values())
        assert part.get("additionalProperties") is False or "properties" not in part


def loose(value: object) -> object:
    """Return a value of a configuration as a file has it."""
    if hasattr(value, "_asdict"):
        return {name.replace("_", "-"): loose(item) for name, item in value._asdict().items()}
    return list(value) if isinstance(value, tuple) else value


def defaults(properties: Mapping[str, Any]) -> object:
    """Return the defaults that a schema's properties state."""
    return {
        key: defaults(entry["properties"]) if "properties" in entry else entry["default"]
        for key, entry in properties.items()
    }


def test_the_schema_has_the_keys_and_defaults_of_config() -> None:
    """Schema and records have the same keys, in the same order, with the same defaults."""
    stated = defaults(SCHEMA["properties"])
    assert json.dumps(stated) == json.dumps(loose(Config()))
    assert faults(stated, "config") == ()


@pytest.mark.parametrize(
    ("record", "properties"),
    [
        (module.Standard, SCHEMA["properties"]["standards"]["items"]),
        (module.QaReader, SCHEMA["properties"]["qa"]["items"]),
        (module.Export, SCHEMA["properties"]["export"]["additionalProperties"]),
    ],
)
def test_the_schema_has_the_keys_of_repeated_parts(record: type[Any], properties: Mapping[str, Any]) -> None:
    """The parts that occur several times have the same keys, defaults and required keys as their records."""
    fields = {name.replace("_", "-") for name in record._fields}
    assert set(properties["properties"]) == fields
    assert set(properties.get("required", [])) == fields - set(record._field_defaults)
    for key, entry in properties["properties"].items():
        if "default" in entry:
            assert entry["default"] == loose(record._field_defaults[key])


def leaves(properties: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Yield each key with what the schema says of it, the keys of a fixed table one by one."""
    for key, entry in properties.items():
        if "properties" in entry:
            yield from leaves(entry["properties"], f"{prefix}{key}.")
        else:
            yield f"{prefix}{key}", entry


def test_the_documentation_lists_every_key() -> None:
    """The table in docs/configuration.md says of every key what the schema says, the default included."""
    text = (resources.path("schemas/config.schema.json").parent.parent / "docs/configuration.md").read_text("utf-8")
    rows = [
        f"| `{key}` | `{json.dumps(each['default'])}` | {each['description']} |"
        for key, each in leaves(SCHEMA["properties"])
    ]
    assert [line for line in text.splitlines() if line.startswith("| `")] == rows


def test_the_schema_has_the_fields_of_an_export() -> None:
    """What a role's export may leave out is the same in the schema and in the program."""
    drop = SCHEMA["properties"]["export"]["additionalProperties"]["properties"]["drop"]
    assert tuple(drop["items"]["enum"]) == EXPORT_FIELDS


@pytest.mark.parametrize("name", ["a", "a.b-c_d", "a" * 40, "a" * 41, "", "x-a", "a b", "a--b", "a\n", "-a"])
def test_the_schema_has_the_names_of_results(name: str) -> None:
    """A configured result may be called what the program takes as the name of a result."""
    found = faults({"qa": [{"name": name, "pattern": "(?P<text>x)"}]}, "config")
    assert (not found) is is_result_name(name)


@pytest.mark.parametrize(
    ("pattern", "path", "expected"),
    [
        ("task-1-state.md", "a/b/task-1-state.md", True),
        ("task-*-state.md", "a/task-1-state.md", True),
        ("a", "a/b/task-1-state.md", True),
        ("a/", "a/b/task-1-state.md", True),
        ("a/*", "a/b/task-1-state.md", True),
        ("b", "a/b/task-1-state.md", False),
        ("b/task-1-state.md", "a/b/task-1-state.md", False),
        ("state.md", "task-1-state.md", False),
        ("TASK-1-state.md", "a/task-1-state.md", False),
    ],
)
def test_globs_match_paths_and_names_of_files(pattern: str, path: str, expected: bool) -> None:  # noqa: FBT001 - a case
    """A glob matches the path from the root, what lies below it, and without `/` the name of a file in any folder."""
    assert matches(path, pattern) is expected
