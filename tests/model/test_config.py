from __future__ import annotations

import copy
import json
import pickle
import sys
import tomllib
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from taskstate import resources
from taskstate.errors import TaskstateError
from taskstate.model import config as module
from taskstate.model.config import Config, Standard
from taskstate.model.config_reader import parse_config, read_config

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

SCHEMA: Mapping[str, Any] = json.loads(resources.text("schemas/config.schema.json"))
VALIDATOR = Draft202012Validator(SCHEMA)

FULL = r"""
root = "state/"
exclude = ["tests/data/**"]
roles = ["author", "checker"]

[lint]
select = ["TS1", "TS404"]
ignore = ["TSP"]
extend-select = ["TS952"]
per-file-ignores = { "old/**" = ["TS4"] }
severity = { TS503 = "error", TS2 = "warning" }
require-command-evidence = true

[size]
warn-kb = 30
max-kb = 40
warn-tokens = 9000
max-tokens = 12000
keep-sessions = 3
max-sessions = 12

[[standards]]
area = "frontend"
priority = ["P0", "P3"]
cite = ["rules/web.md#forms"]

[[standards]]
cite = ["rules/all.md#names"]

[validation]
"*" = ["just check"]
frontend = ["npm test", "npm run lint"]

[scope]
web = ["web/**", "shared/web/**"]

[export.checker]
drop = ["baseline", "delta"]

[secrets]
allow = ['^EXAMPLE_[A-Z]+$']

[[qa]]
name = "speed"
pattern = 'took (?P<text>\d+ ms)'

[chain]
max-input-kb = 5

[permanent]
writers = ["lead"]

[archive]
summarizer = "summarise --short"

[handoff]
max-lines = 40
max-kb = 2
minimum-progress = false
"""


def refusal(text: str, name: str = "taskstate.toml") -> str:
    """Return the whole message with which the configuration is refused."""
    with pytest.raises(TaskstateError) as caught:
        parse_config(text, name)
    assert caught.value.code == "config"
    return str(caught.value)


# reading


def test_nothing_configured_means_the_defaults() -> None:
    """An empty file and no file at all are the same."""
    assert parse_config("", "taskstate.toml") == Config()
    assert read_config({}, "nowhere") == Config()


def test_every_key_is_read() -> None:
    """Each key of a full configuration arrives in its field, lists as tuples, keys with underscores."""
    config = parse_config(FULL, "taskstate.toml")
    assert config is not None
    assert config == Config(
        root="state",
        exclude=("tests/data/**",),
        roles=("author", "checker"),
        lint=module.Lint(
            select=("TS1", "TS404"),
            ignore=("TSP",),
            extend_select=("TS952",),
            per_file_ignores={"old/**": ("TS4",)},
            severity={"TS503": "error", "TS2": "warning"},
            require_command_evidence=True,
        ),
        size=module.Size(warn_kb=30, max_kb=40, warn_tokens=9000, max_tokens=12000, keep_sessions=3, max_sessions=12),
        standards=(
            Standard(area="frontend", priority=("P0", "P3"), cite=("rules/web.md#forms",)),
            Standard(area="*", priority=(), cite=("rules/all.md#names",)),
        ),
        validation={"*": ("just check",), "frontend": ("npm test", "npm run lint")},
        scope={"web": ("web/**", "shared/web/**")},
        export={"checker": module.Export(drop=("baseline", "delta"))},
        secrets=module.Secrets(allow=("^EXAMPLE_[A-Z]+$",)),
        qa=(module.QaReader(name="speed", pattern=r"took (?P<text>\d+ ms)"),),
        chain=module.Chain(max_input_kb=5),
        permanent=module.Permanent(writers=("lead",)),
        archive=module.Archive(summarizer="summarise --short"),
        handoff=module.Handoff(max_lines=40, max_kb=2, minimum_progress=False),
    )


def test_a_configuration_travels_to_other_processes() -> None:
    """A configuration can be pickled, so that files are linted side by side."""
    config = parse_config(FULL, "taskstate.toml")
    assert pickle.loads(pickle.dumps(config)) == config  # noqa: S301 - what was pickled one call before


def test_pyproject_holds_the_same_under_a_prefix() -> None:
    """In pyproject.toml the table [tool.taskstate] counts, in a folder of whatever name, and all else is left alone."""
    table = "[project]\nname = 'x'\n[tool.taskstate.size]\nmax-kb = 80\n[tool.other]\nmax-kb = 'x'\n"
    for name in ("pyproject.toml", "a/b/pyproject.toml", "C:\\a\\pyproject.toml"):
        config = parse_config(table, name)
        assert config is not None
        assert config.size.max_kb == 80


@pytest.mark.parametrize(
    "text",
    [
        "",
        "broken [",
        "[tool.other]\na = 1",
        "[project]\ndependencies = ['taskstate']",
        "tool = 'taskstate'",
        "# taskstate",
    ],
)
def test_pyproject_without_the_table_is_no_configuration(text: str) -> None:
    """A pyproject.toml without our table is none of our business; a broken one not either, unless it names us."""
    assert parse_config(text, "pyproject.toml") is None


def test_an_empty_table_is_a_configuration() -> None:
    """An empty table marks the root of the configuration, with the defaults."""
    assert parse_config("[tool.taskstate]", "pyproject.toml") == Config()


def test_a_byte_order_mark_is_no_error() -> None:
    """An editor's byte order mark before the text does not matter."""
    assert parse_config("\ufeffroot = 'x'", "taskstate.toml") == Config(root="x")


# refusing


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "max-kb = 5",
            "taskstate.toml: max-kb is not a key that taskstate knows: there are root, exclude, roles, lint",
        ),
        ("[size]\nmax_kb = 5", "taskstate.toml: size.max_kb is not a key that taskstate knows: did you mean max-kb?"),
        ("[sise]", "taskstate.toml: sise is not a key that taskstate knows: did you mean size?"),
        (
            "[[standards]]\ncite = ['a']\nprio = 1",
            "standards[0].prio is not a key that taskstate knows: did you mean priority?",
        ),
        ("[[qa]]\nname = 'a'", "taskstate.toml: qa[0].pattern is missing: add it"),
        ("[[standards]]\narea = 'a'", "taskstate.toml: standards[0].cite is missing: add it"),
        (
            "[size]\nmax-kb = '75'",
            "taskstate.toml: size.max-kb must be a whole number of at least 1, not '75': correct it",
        ),
        ("[scope]\n'a b' = []", "scope.'a b' must be a name of letters and digits, joined by . _ or -, not 'a b'"),
        ('[scope]\n"\\u001b[31m" = []', r"scope.'\x1b[31m' must be a name"),
        ("root = '" + "../" * 100 + "'", "not '" + "../" * 19 + "..…: correct it"),
        ("[export.reviwer]", "taskstate.toml: export.reviwer names a role that there is not: did you mean reviewer?"),
        ("roles = ['a']\n[export.b]", "export.b names a role that there is not: there are a"),
        (
            "[secrets]\nallow = ['(']",
            "secrets.allow[0] is not a regular expression: missing ), unterminated subpattern",
        ),
        (
            "[[qa]]\nname = 'a b'\npattern = '(?P<text>x)'",
            "qa[0].name must be the name of a result: letters and digits, joined by single . _ or -, and",
        ),
        (
            "[[qa]]\nname = 'x-a'\npattern = '(?P<text>x)'",
            "and not x-, not 'x-a'",
        ),
        (
            "[[qa]]\nname = 'a'\npattern = 'x'",
            "qa[0].pattern must be a regular expression with a group (?P<text>…), not 'x'",
        ),
        ("root = !\n", "taskstate.toml is not valid TOML: Invalid value (at line 1, column 8)"),
        ("a = 1\na = 2", "taskstate.toml is not valid TOML: Cannot overwrite a value (at "),
        ("a = " + "[" * 100_000, "taskstate.toml is nested too deeply: correct it"),
        ("a = " + "1" * 10_000, "taskstate.toml is not valid TOML"),
        ('[secrets]\nallow = ["(?\\u001b)"]', "secrets.allow[0] is not a regular expression"),
    ],
)
def test_a_message_says_where_and_what_to_do(text: str, message: str) -> None:
    """Each error names the file, the key's whole path, what should stand there, or the nearest known word."""
    found = refusal(text)
    assert message in found
    assert found.isprintable()


def test_pyproject_is_named_with_its_table() -> None:
    """In pyproject.toml the message names the table that the key's path begins in."""
    found = refusal("[tool.taskstate.size]\nmax-kb = 0", "sub/pyproject.toml")
    assert found.startswith(
        "sub/pyproject.toml [tool.taskstate]: size.max-kb must be a whole number of at least 1, not 0"
    )
    assert "must be a table, not 5" in refusal("[tool]\ntaskstate = 5", "pyproject.toml")


ACCEPTED = [
    "",
    FULL,
    "root = './a/b'",
    "root = '.a..b'",
    "roles = ['a', 'b-c.d_e']",
    "[size]\nmax-kb = 1\nmax-tokens = 0\nwarn-tokens = 0",
    "[lint]\nselect = ['TS', 'TSP', 'TSP01', 'TS0']",
    "[validation]\n'*' = []",
    "[archive]\nsummarizer = ''",
    "[scope]\na-b = ['**']",
]
REFUSED = [
    "root = 1",
    "root = ''",
    "root = '.'",
    "root = './'",
    "root = '...'",
    "root = '/state'",
    "root = 'a/../..'",
    "root = 'a/.git/b'",
    "root = '.GIT'",
    "root = 'C:/a'",
    "root = 'a\\b'",
    "root = ['a']",
    "exclude = 'a'",
    "exclude = [1]",
    "exclude = ['']",
    "exclude = { a = 'b' }",
    "roles = []",
    "roles = ['a', 'a']",
    "roles = ['a/b']",
    "roles = ['']",
    "roles = [1]",
    "lint = 5",
    "lint = []",
    "[lint]\nselect = 'TS'",
    "[lint]\nselect = ['TS4O4']",
    "[lint]\nignore = ['ts4']",
    "[lint]\nextend-select = ['TS4044']",
    "[lint]\nper-file-ignores = ['TS4']",
    "[lint]\nper-file-ignores = { a = 'TS4' }",
    "[lint]\nper-file-ignores = { ' ' = ['TS4'] }",
    "[lint]\nseverity = { TS404 = 'off' }",
    "[lint]\nseverity = { TS404 = 1 }",
    "[lint]\nseverity = { bad = 'error' }",
    "[lint]\nrequire-command-evidence = 'yes'",
    "[lint]\nrequire-command-evidence = 1",
    "[lint]\nunknown = 1",
    "[size]\nwarn-kb = 0",
    "[size]\nmax-kb = -1",
    "[size]\nmax-kb = 1.5",
    "[size]\nmax-kb = true",
    "[size]\nwarn-tokens = -1",
    "[size]\nmax-tokens = '0'",
    "[size]\nkeep-sessions = 0",
    "[size]\nmax-sessions = 1979-05-27",
    "[standards]\ncite = ['a']",
    "standards = [1]",
    "[[standards]]",
    "[[standards]]\ncite = []",
    "[[standards]]\ncite = 'a'",
    "[[standards]]\ncite = ['a']\narea = ''",
    "[[standards]]\ncite = ['a']\npriority = []",
    "[[standards]]\ncite = ['a']\npriority = ['P4']",
    "[[standards]]\ncite = ['a']\npriority = ['P1', 'P1']",
    "validation = ['a']",
    "[validation]\na = 'b'",
    "[validation]\n'' = ['b']",
    "[scope]\n'a b' = ['c']",
    "[scope]\na = [' ']",
    "[export]\nreviewer = ['a']",
    "[export.reviewer]\ndrop = 'a'",
    "[export.reviewer]\nkeep = ['a']",
    "[secrets]\nallow = 'a'",
    "[secrets]\nallow = ['']",
    "[[qa]]\npattern = '(?P<text>a)'",
    "[[qa]]\nname = ''\npattern = '(?P<text>a)'",
    "[[qa]]\nname = 'a'\npattern = ''",
    "[[qa]]\nname = 'a'\npattern = 'a'",
    "[chain]\nmax-input-kb = 0",
    "[permanent]\nwriters = 'a'",
    "[archive]\nsummarizer = ['a']",
    "[handoff]\nmax-lines = 0",
    "[handoff]\nmax-kb = 0",
    "[handoff]\nminimum-progress = 'no'",
]


@pytest.mark.parametrize("text", ACCEPTED)
def test_what_is_accepted_meets_the_schema(text: str) -> None:
    """The schema for editors accepts what the tool accepts."""
    parse_config(text, "taskstate.toml")
    VALIDATOR.validate(tomllib.loads(text))


@pytest.mark.parametrize("text", REFUSED)
def test_what_is_refused_breaks_the_schema(text: str) -> None:
    """The tool and the schema for editors refuse the same."""
    assert not VALIDATOR.is_valid(tomllib.loads(text))
    refusal(text)


KEYS = sorted(
    {key for part in SCHEMA["properties"].values() for key in part.get("properties", {})} | {*SCHEMA["properties"]}
)
VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-1, 99)
    | st.sampled_from(["TS", "TS404", "error", "P0", "reviewer", "a", "*", ""]),
    lambda inner: (
        st.lists(inner, max_size=2) | st.dictionaries(st.sampled_from([*KEYS, "reviewer", "TS1"]), inner, max_size=2)
    ),
    max_leaves=6,
)


@given(st.dictionaries(st.sampled_from(KEYS), VALUES, max_size=3))
def test_any_mapping_is_read_or_refused_as_the_schema_says(mapping: dict[str, Any]) -> None:
    """Whatever shape comes, reading it either succeeds or is one clear error, and the schema agrees."""
    try:
        read_config(mapping, "taskstate.toml")
        refused = ""
    except TaskstateError as error:
        refused = error.message
    assert VALIDATOR.is_valid(mapping) == (not refused or "names a role that there is not" in refused)


WHOLE = tomllib.loads(FULL)


def places(value: object, path: tuple[str | int, ...] = ()) -> Iterator[tuple[str | int, ...]]:
    """Yield the path of every value inside a configuration."""
    steps = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for step, inner in steps:
        yield (*path, step)
        yield from places(inner, (*path, step))


FRACTIONS = st.floats().filter(lambda number: not number.is_integer())  # 1.0 is whole in JSON Schema, and not in TOML


@given(st.sampled_from(list(places(WHOLE))), VALUES | FRACTIONS, st.sampled_from(["", "-s", "S"]))
def test_one_wrong_value_is_seen_by_both(path: tuple[str | int, ...], value: object, suffix: str) -> None:
    """A full configuration in which one value is another, or one key is misspelt, is refused by both or by neither."""
    damaged: Any = copy.deepcopy(WHOLE)
    part = damaged
    for step in path[:-1]:
        part = part[step]
    if isinstance(part, dict):
        part[f"{path[-1]}{suffix}"] = value
    else:
        part[path[-1]] = value
    try:
        read_config(damaged, "taskstate.toml")
        refused = ""
    except TaskstateError as error:
        refused = error.message
    assert VALIDATOR.is_valid(damaged) == (not refused or "names a role that there is not" in refused), refused


# the schema


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
    VALIDATOR.validate(stated)


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


def test_the_projects_own_configuration_is_read() -> None:
    """The configuration in this project's own pyproject.toml is valid."""
    text = (resources.path("schemas/config.schema.json").parent.parent / "pyproject.toml").read_text("utf-8")
    assert parse_config(text, "pyproject.toml") is not None


# What `init` writes


def test_what_init_writes_says_nothing_and_suggests_defaults(monkeypatch: pytest.MonkeyPatch) -> None:
    """As it is, it is the default, and no TOML parser is loaded for it; without the `#` its keys are the defaults."""
    text = resources.text("templates/taskstate.toml")
    with monkeypatch.context() as patch:
        patch.setitem(sys.modules, "tomllib", None)
        assert parse_config(text, "taskstate.toml") == Config()
    suggested = "\n".join(line.removeprefix("# ") for line in text.splitlines()[2:])
    assert "max-kb = 75" in suggested
    assert parse_config(suggested, "taskstate.toml") == Config()


@pytest.mark.parametrize("comment", ["# a\x00b", "# a\x0cb", "#\x7f"])
def test_what_cannot_stand_in_a_comment_is_told(comment: str) -> None:
    """Also where a file holds nothing but comments."""
    with pytest.raises(TaskstateError, match="not valid TOML"):
        parse_config(f"# fine\n{comment}\n", "taskstate.toml")
