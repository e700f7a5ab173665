from __future__ import annotations

import json
from copy import deepcopy
from typing import TYPE_CHECKING

import pytest
from jsonschema import Draft202012Validator

from taskstate import resources
from taskstate.errors import TaskstateError
from taskstate.syntax.json_parser import read_json
from taskstate.syntax.nodes import Fault, Node
from taskstate.syntax.yaml_parser import read_yaml
from taskstate.validation import schema, schema_errors
from taskstate.validation.schema_errors import format_checker, json_path, nearest
from tests.support.schema_samples import SAMPLES

if TYPE_CHECKING:
    from typing import Any

SHIPPED = tuple(
    name.removeprefix("schemas/").removesuffix(".schema.json")
    for name in resources.names("schemas")
    if name.endswith(".schema.json")
)
FRONT_MATTER = {
    key: SAMPLES["task"][key] for key in ("taskstate", "task_id", "title", "status", "created_at")
}  # what every state file must have


def broken(name: str, *path: str | int, value: object = None, without: str = "") -> Any:  # noqa: ANN401 - a JSON value
    """Return the sample of a schema with another value at `path`, or the map there without a key."""
    sample = deepcopy(SAMPLES[name])
    at = sample
    for step in path if without else path[:-1]:
        at = at[step]
    if without:
        del at[without]
    else:
        at[path[-1]] = value
    return sample


def yaml(text: str) -> Node:
    """Return the span tree of a valid YAML text."""
    node = read_yaml(text, 0, len(text))
    assert isinstance(node, Node)
    return node


def only_fault(value: object, name: str) -> schema_errors.SchemaFault:
    """Return the fault of a value that has just one."""
    faults = schema.faults(value, name)
    assert len(faults) == 1, faults
    return faults[0]


def keys_of(part: object) -> list[tuple[str, dict[str, Any]]]:
    """Return each key that a schema describes, with its schema."""
    if isinstance(part, list):
        return [key for each in part for key in keys_of(each)]
    if not isinstance(part, dict):
        return []
    properties = part.get("properties", {})
    own = list(properties.items()) if isinstance(properties, dict) else []
    return own + [key for each in part.values() for key in keys_of(each)]


@pytest.mark.parametrize("name", SHIPPED)
def test_is_json_schema_2020_12(name: str) -> None:
    """Every published schema is itself valid, and says which edition of JSON Schema it is written in."""
    loaded = schema.load(name)
    Draft202012Validator.check_schema(loaded)
    assert loaded["$schema"] == "https://json-schema.org/draft/2020-12/schema"


@pytest.mark.parametrize("name", SHIPPED)
def test_says_what_it_is(name: str) -> None:
    """Every published schema has an id, a title and a description, and describes each of its keys."""
    loaded = schema.load(name)
    assert loaded["$id"]
    assert loaded["title"]
    assert loaded["description"]
    assert [key for key, part in keys_of(loaded) if not part.get("description")] == []


def test_ids_differ() -> None:
    """No two schemas share an id."""
    ids = [schema.load(name)["$id"] for name in SHIPPED]
    assert len(set(ids)) == len(ids)


def test_there_is_no_other() -> None:
    """A schema that is not shipped is an error of the installation, and is named."""
    with pytest.raises(TaskstateError, match=r"schemas/other\.schema\.json"):
        schema.load("other")


def test_the_canonical_order_of_the_front_matter() -> None:
    """The keys of the front matter stand in the order in which the tool writes them."""
    assert [*schema.load("task")["properties"]][:6] == ["taskstate", "kind", "task_id", "title", "status", "agent"]


@pytest.mark.parametrize("name", SAMPLES)
def test_knows_the_shipped_schemas(name: str) -> None:
    """A full value of each schema is valid by the compiled schema and by jsonschema."""
    assert schema.is_valid(SAMPLES[name], name) is True
    assert Draft202012Validator(schema.load(name)).is_valid(SAMPLES[name])


@pytest.mark.parametrize("name", SHIPPED)
def test_the_samples_have_every_key(name: str) -> None:
    """The sample for a schema holds every key that the schema describes."""
    text = json.dumps(SAMPLES[name])
    assert [key for key, _ in keys_of(schema.load(name)) if f'"{key}": ' not in text] == []


@pytest.mark.parametrize(
    "unknown",
    [
        {"dependentRequired": {"a": ["b"]}},
        {"$ref": "https://example.invalid/schema"},
        {"$ref": "#/$defs/missing"},
        {"enum": [[1]]},
        {"const": {}},
        {"uniqueItems": True},
        {"items": {"type": "array"}, "uniqueItems": True},
        {"pattern": "("},
        {"$ref": "#/$defs/a", "$defs": {"a": {"anyOf": [{"$ref": "#/$defs/a"}]}}},
    ],
    ids=json.dumps,
)
def test_declines_what_it_does_not_know(unknown: dict[str, Any]) -> None:
    """A schema outside the known keywords, or with an unusual form of one, gets no answer."""
    assert schema.is_valid({"a": [1]}, unknown) is None


@pytest.mark.parametrize(
    ("value", "given", "expected"),
    [
        (True, {"type": "integer"}, False),
        (1.0, {"type": "integer"}, True),
        (1.5, {"type": "integer"}, False),
        (1, {"enum": [True]}, False),
        (True, {"enum": [1, "1"]}, False),
        (1.0, {"const": 1}, True),
        (None, {"type": ["string", "null"]}, True),
        ("a\n", {"pattern": "^a$"}, True),
        ([1, 1.0], {"items": {"type": "integer"}, "uniqueItems": True}, False),
        ([1, "1"], {"items": {"type": ["integer", "string"]}, "uniqueItems": True}, True),
        ({"a": 1}, {"properties": {"a": True}, "additionalProperties": False}, True),
        ({"b": 1}, {"properties": {"a": True}, "additionalProperties": False}, False),
        ({"ab": 1}, {"patternProperties": {"^a": {"type": "string"}}}, False),
        ({"ab": 1}, {"propertyNames": {"maxLength": 1}}, False),
        (1, {"oneOf": [{"minimum": 0}, {"maximum": 2}]}, False),
        (1, {"not": {"type": "string"}}, True),
        ("(", {"format": "linear-regex"}, False),
        (1, {"format": "linear-regex"}, True),
        ("a", {"format": "date"}, True),
        (1, {}, True),
    ],
    ids=repr,
)
def test_is_exact(value: object, given: dict[str, Any], *, expected: bool) -> None:
    """The compiled schema keeps to JSON Schema where Python's own equality and types would not."""
    assert schema.is_valid(value, given) is expected
    assert Draft202012Validator(given, format_checker=format_checker()).is_valid(value) is expected


@pytest.mark.parametrize("name", SAMPLES)
def test_a_sound_value_has_none(name: str) -> None:
    """A valid value has no faults."""
    assert schema.faults(SAMPLES[name], name) == ()


def test_a_wrong_type_says_what_is_allowed() -> None:
    """A value of the wrong type is reported with its path, its type, the required type and the remedy."""
    fault = only_fault(broken("checklist", "features", 1, "passes", value="true"), "checklist")
    assert (fault.path, json_path(fault.path), fault.keyword) == (
        ("features", 1, "passes"),
        "features[1].passes",
        "type",
    )
    assert fault.message == '`features[1].passes` is "true"; it must be true or false; drop the quotes'


def test_a_word_outside_its_set_says_the_nearest() -> None:
    """A value outside its set is reported with the set, and the most similar member as suggestion."""
    fault = only_fault(broken("task", "status", value="in-progress"), "task")
    assert fault.suggestion == "in_progress"
    assert fault.message == (
        '`status` is "in-progress"; it must be one of created, in_progress, blocked, complete, dropped;'
        " did you mean in_progress?"
    )


def test_a_missing_key_is_reported_at_its_map() -> None:
    """Each missing key is one fault, at the map that lacks it."""
    faults = schema.faults({"taskstate": 1, "title": "T", "status": "created"}, "task")
    assert [(fault.path, fault.keyword, fault.key) for fault in faults] == [
        ((), "required", "task_id"),
        ((), "required", "created_at"),
    ]
    assert faults[1].message == "the key `created_at` is missing: a time in UTC such as 2026-01-31T12:00:00Z"


def test_a_missing_key_deeper_down() -> None:
    """A missing key of an inner map names the map."""
    fault = only_fault(broken("task", "delta", "snapshots", "reviewer", without="tree"), "task")
    assert json_path(fault.path) == "delta.snapshots.reviewer"
    assert fault.message.startswith("`delta.snapshots.reviewer` lacks the key `tree`: a full git object id")


def test_each_unknown_key_is_one_fault() -> None:
    """Each unknown key is a fault of its own at that key, with the nearest key that is not there yet."""
    faults = schema.faults(FRONT_MATTER | {"prority": "P1", "Depends-On": [], "titel": "T", "owner": "me"}, "task")
    assert {fault.keyword for fault in faults} == {"unknown-key"}
    assert {fault.path: fault.suggestion for fault in faults} == {
        ("prority",): "priority",
        ("Depends-On",): "depends_on",
        ("titel",): "",
        ("owner",): "",
    }
    assert faults[-1].message == "`titel` is not a known key; a key of your own begins with x-"


def test_each_key_that_is_not_allowed_is_one_fault() -> None:
    """A key of the wrong form is a fault of its own at that key, beside what is wrong with its value."""
    faults = schema.faults({"scope": {"a b": 1, "c d": []}}, "config")
    assert [(json_path(fault.path), fault.keyword, fault.key) for fault in faults] == [
        ('scope["a b"]', "type", ""),
        ('scope["a b"]', "unknown-key", "a b"),
        ('scope["c d"]', "unknown-key", "c d"),
    ]


def test_a_misspelt_key_is_reported_once() -> None:
    """A required key that is misspelt is one fault, not an unknown key and a missing one."""
    value = broken("checklist", "features", 1, without="passes")
    value["features"][1]["pases"] = True
    fault = only_fault(value, "checklist")
    assert (fault.keyword, fault.suggestion) == ("unknown-key", "passes")
    assert fault.message == "`features[1].pases` is not a known key; did you mean `passes`, which is missing?"


@pytest.mark.parametrize(
    ("evidence", "keyword", "where"),
    [
        ({"comit": "abc1"}, "unknown-key", "features[0].evidence.comit"),
        ({"commit": 1}, "type", "features[0].evidence.commit"),
        ({"command": "x", "exit_status": 0}, "required", "features[0].evidence"),
        ([], "type", "features[0].evidence"),
    ],
    ids=repr,
)
def test_of_several_forms_the_intended_one_is_reported(evidence: object, keyword: str, where: str) -> None:
    """Where a value may have several forms, the faults are those of the form that it comes nearest to."""
    fault = only_fault(broken("checklist", "features", 0, "evidence", value=evidence), "checklist")
    assert (fault.keyword, json_path(fault.path)) == (keyword, where)


def test_one_value_has_one_fault() -> None:
    """A value that violates several keywords is reported once."""
    assert only_fault(broken("task", "status", value=5), "task").keyword == "type"
    assert json_path(only_fault(broken("task", "task_id", value="-" * 70), "task").path) == "task_id"


@pytest.mark.parametrize(
    ("name", "path", "value", "message"),
    [
        ("task", ("title",), "", "`title` is empty"),
        ("task", ("depends_on",), None, "`depends_on` is empty (null); it must be a list"),
        ("task", ("depends_on",), ["1", "2", "1"], '`depends_on` names "1" twice'),
        ("task", ("revision",), -1, "`revision` is -1; it must be at least 0"),
        ("task", ("sessions",), [], "`sessions` is a list; it must be a map of keys and values"),
        ("task", ("revision",), {}, "`revision` is a map of keys and values; it must be a whole number"),
        ("handoff", ("kind",), "task", '`kind` is "task"; it must be handoff'),
        ("citations", (0, "requirement"), "x" * 141, "`[0].requirement` has 141 characters; at most 140 are allowed"),
        (
            "impact-map",
            ("interfaces", 0, "between"),
            ["a"],
            "`interfaces[0].between` has 1 item; it must have at least 2",
        ),
        (
            "impact-map",
            ("interfaces", 0, "between"),
            ["a"] * 3,
            "`interfaces[0].between` has 3 items; it must have at most 2",
        ),
        (
            "config",
            ("secrets", "allow", 0),
            "[",
            "`secrets.allow[0]` is no regular expression of RE2 (it has no look-around): missing ]: [",
        ),
        (
            "config",
            ("scope", "a b"),
            [],
            '`scope["a b"]` is not an allowed key; it must be letters and digits, joined by . _ or -',
        ),
        ("config", ("chain", "kb"), 3, "`chain.kb` is not a known key; choose from max-input-kb"),
        ("task-file", ("priority",), "high", '`priority` is "high"; it must be one of P0, P1, P2, P3, null'),
    ],
)
def test_the_wording(name: str, path: tuple[str | int, ...], value: object, message: str) -> None:
    """A message says what stands there, and what is allowed."""
    assert only_fault(broken(name, *path, value=value), name).message == message


def test_the_whole_value() -> None:
    """A fault of the value as a whole has no path, and says so."""
    fault = only_fault([], "checklist")
    assert (fault.path, json_path(fault.path)) == ((), "")
    assert fault.message == "the value as a whole is a list; it must be a map of keys and values"


def test_control_characters_are_not_repeated() -> None:
    """Control characters and long values never reach a message."""
    fault = only_fault(broken("task", "status", value="\x1b]0;owned\x07\u202e" + "a" * 100), "task")
    assert fault.message.isprintable()
    assert "a" * 50 not in fault.message
    assert only_fault(FRONT_MATTER | {"\x1b[2J": 1}, "task").message.isprintable()


def test_of_a_list_of_plain_values_the_first_thousand_violations_do() -> None:
    """A list of wrong ids hides no fault of another key; of a list of maps every violation is reported."""
    many = 1_500
    wrong = {**FRONT_MATTER, "depends_on": [f"no {number}" for number in range(many)], "status": "never"}
    paths = [fault.path[0] for fault in schema.faults(wrong, "task")]
    assert (paths.count("depends_on"), paths.count("status")) == (1_000, 1)
    checklist = {**SAMPLES["checklist"], "features": [{"id": f"f-{number}"} for number in range(many)]}
    faulty = {fault.path[1] for fault in schema.faults(checklist, "checklist") if fault.path[0] == "features"}
    assert faulty == set(range(many))


def test_they_stand_in_order() -> None:
    """Faults are sorted by path, items by their number."""
    features: list[object] = [1] * 11
    faults = schema.faults({"features": features, "overall_progress": 1}, "checklist")
    assert [json_path(fault.path) for fault in faults] == [*(f"features[{at}]" for at in range(11)), "overall_progress"]


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("task_id: 101", "101"),
        ("task_id: 0x10", "0x10"),
        ("task_id: 1e3", "1e3"),
        ("title: 007", "007"),
        ("prd: 2024-11-26", "2024-11-26"),
        ("status: no", "no"),
        ("title: null", "null"),
        ("title: ~", "~"),
        ("title:", ""),
        ("title: true", "true"),
        ('title: "true"', "true"),
        ("title: |\n  a\n  b\n", "a\nb\n"),
        ("archive_path:", None),
        ("archive_path: null", None),
        ("archive_path: 'null'", "null"),
        ("archive_path: 12", "12"),
        ("revision: 14", 14),
        ("revision: '14'", "14"),
        ("revision: 0o17", 15),
        ("depends_on: [100, 1.10, x]", ["100", "1.10", "x"]),
        ("depends_on: 100", 100),
        ("acks: {no: 1}", {"no": 1}),
        (
            "baseline: {status: pending, results: {tests: {ok: yes}}}",
            {"status": "pending", "results": {"tests": {"ok": "yes"}}},
        ),
        ("baseline: {results: {tests: {ok: true, text: 8}}}", {"results": {"tests": {"ok": True, "text": "8"}}}),
        (
            "coordination: {tester: {session_id: 7, drift_budget: 7}}",
            {"tester": {"session_id": "7", "drift_budget": 7}},
        ),
        ("x-own: 101", 101),
        ("x-own: {a: 1.5, b: 2024-11-26}", {"a": 1.5, "b": "2024-11-26"}),
        ("other: true", True),
    ],
)
def test_strings_are_strings(text: str, value: object) -> None:
    """Where the schema says string, an unquoted value is its source text; elsewhere YAML's core schema holds."""
    typed = schema.typed_value(yaml(text), "task")
    assert list(typed.values()) == [value]
    assert type(next(iter(typed.values()))) is type(value)


def test_branches() -> None:
    """Where a value may have several forms, each is read by its own."""
    many = yaml("delta: {snapshots: {a: {files_changed: {count: 21, sha256: 12}}}}")
    few = yaml("delta: {snapshots: {a: {files_changed: [M a.py, 7]}}}")
    assert schema.typed_value(many, "task")["delta"]["snapshots"]["a"]["files_changed"] == {
        "count": 21,
        "sha256": "12",
    }
    assert schema.typed_value(few, "task")["delta"]["snapshots"]["a"]["files_changed"] == [
        "M a.py",
        "7",
    ]


def test_types_before_string_win() -> None:
    """A number is a number where the schema names that type before string."""
    assert schema.typed_value(yaml("phase: 1\ntask_id: 1"), "handoff") == {"phase": 1, "task_id": "1"}
    assert schema.typed_value(yaml("phase: 1.0"), "handoff") == {"phase": 1.0}
    assert schema.typed_value(yaml("phase: 2a"), "handoff") == {"phase": "2a"}


def test_json_has_types_of_its_own() -> None:
    """A JSON number stays a number, also where the schema says string, and is a fault there."""
    text = '{"features": [{"id": 1}], "overall_progress": null}'
    node = read_json(text, 0, len(text))
    assert not isinstance(node, Fault)
    assert schema.typed_value(node, "checklist") == json.loads(text)


def test_front_matter_without_any_quotes_is_valid() -> None:
    """A hand-made front matter needs no quotes to be valid."""
    text = (
        "taskstate: 1\ntask_id: 101\ntitle: 42\nstatus: created\ncreated_at: 2026-01-31T12:00:00Z\n"
        "epic: 1e3\nprd: 2026-01-31\ndepends_on: [9, 100]\narchive_path: ~\n"
    )
    assert schema.faults(schema.typed_value(yaml(text), "task"), "task") == ()


def test_timestamps_are_marked() -> None:
    """Every time in a front matter is found by its keyword, at any depth."""
    text = (
        "created_at: yesterday\ntitle: x\nx-at: 1\ncoordination: {tester: {completed_at: null}}\n"
        "audit: {updated_at: 2026, events: [{at: now}]}\n"
    )
    times = [(json_path(path), node.text) for path, node in schema.annotated(yaml(text), "task", "x-timestamp")]
    assert times == [
        ("created_at", "yesterday"),
        ("coordination.tester.completed_at", "null"),
        ("audit.updated_at", "2026"),
        ("audit.events[0].at", "now"),
    ]


@pytest.mark.parametrize(
    ("path", "written"),
    [((), ""), (("a",), "a"), (("a", 0, "b-c"), "a[0].b-c"), ((0,), "[0]"), (("a", "b.c"), 'a["b.c"]')],
)
def test_json_path(path: tuple[str | int, ...], written: str) -> None:
    """A path is written as people write it, and a key that is no plain word in quotes."""
    assert json_path(path) == written


@pytest.mark.parametrize(
    ("word", "meant"),
    [
        ("staus", "status"),
        ("createdAt", "created_at"),
        ("depends", "depends_on"),
        ("owner", ""),
        ("", ""),
        ("-", ""),
        ("s" * 1000, ""),
    ],
)
def test_nearest(word: str, meant: str) -> None:
    """The nearest word is the same one written otherwise, misspelt, or cut short; else there is none."""
    assert nearest(word, ["status", "created_at", "depends_on", "title"]) == meant
