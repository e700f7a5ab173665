from __future__ import annotations

import copy
import re
import subprocess
import sys
import tomllib
from datetime import date
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from taskstate import resources
from taskstate.errors import TaskstateError
from taskstate.model import config as module
from taskstate.model.config import Config, Standard
from taskstate.model.config_reader import parse_config, read_config
from taskstate.validation import schema
from taskstate.version import VERSION
from tests.support.schema_samples import CONFIG

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping


def refusal(text: str, name: str = "taskstate.toml") -> str:
    """Return the whole message with which the configuration is refused."""
    with pytest.raises(TaskstateError) as caught:
        parse_config(text, name)
    assert caught.value.code == "config"
    return str(caught.value)


# Reading


def test_nothing_configured_means_the_defaults() -> None:
    """An empty file and no file at all are the same."""
    assert parse_config("", "taskstate.toml") == Config()
    assert read_config({}, "nowhere") == Config()


@pytest.mark.parametrize(("key", "most"), [("roles", 100), ("exclude", 1000), ("secrets.allow", 100)])
def test_a_list_has_a_bound(key: str, most: int) -> None:
    """Lists that each command goes through have a bound: a cloned configuration must not make them hang."""
    names = [f'"name-{number}"' for number in range(most + 1)]
    assert f"must have at most {most}" in refusal(f"{key} = [{', '.join(names)}]")
    assert parse_config(f"{key} = [{', '.join(names[:-1])}]", "taskstate.toml")


def test_of_too_many_patterns_none_is_compiled() -> None:
    """Each pattern may take long to compile: a list that is too long is refused before its items are looked at."""
    from taskstate.validation import linear_patterns

    patterns = [f"(?P<text>{number}.)" for number in range(101)]
    linear_patterns.compiled.cache_clear()
    assert "`secrets.allow` has 101 items; it must have at most 100" in refusal(f"secrets.allow = {patterns}")
    tables = "".join(f"[[qa]]\nname = 'n{number}'\npattern = '{each}'\n" for number, each in enumerate(patterns))
    assert "`qa` has 101 items; it must have at most 100" in refusal(tables)
    assert linear_patterns.compiled.cache_info().misses == 0


def test_every_key_is_read() -> None:
    """Each key of a full configuration arrives in its field, lists as tuples, keys with underscores."""
    config = parse_config(CONFIG, "taskstate.toml")
    assert config is not None
    assert config == Config(
        required_version="0.1",
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
            append_only="pushed",
        ),
        size=module.Size(warn_kb=30, max_kb=40, warn_tokens=9000, max_tokens=12000, keep_sessions=3, max_sessions=12),
        standards=(
            Standard(area="frontend", priority=("P0", "P3"), cite=("rules/web.md#forms",)),
            Standard(area="*", priority=(), cite=("rules/all.md#names",)),
        ),
        validation={"*": ("just check",), "frontend": ("npm test", "npm run lint")},
        validation_run=module.ValidationRun(timeout=90),
        scope={"web": ("web/**", "shared/web/**")},
        export={"checker": module.Export(drop=("baseline", "delta"))},
        secrets=module.Secrets(allow=("^EXAMPLE_[A-Z]+$",)),
        qa=(module.QaReader(name="speed", pattern=r"took (?P<text>\d+ ms)"),),
        chain=module.Chain(max_input_kb=5),
        coordination=module.Coordination(commits="held"),
        permanent=module.Permanent(writers=("lead",), require_ack="interface"),
        archive=module.Archive(summarizer="summarise --short"),
        handoff=module.Handoff(max_lines=40, max_kb=2, minimum_progress=False),
        query=module.Query(threads=2),
        fleet=module.Fleet("index", 2, 32, 600, 1024, 1000, 512),
        brief=module.Brief(budget=800),
    )


@pytest.mark.parametrize(("wanted", "is_met"), [("0", True), ("0.1", True), ("0.1.1", False), ("99", False)])
def test_an_older_program_refuses(wanted: str, is_met: bool) -> None:  # noqa: FBT001 - a parameter
    """Where the repository asks for a newer version, that is said before anything that only the newer one knows."""
    text = f'required-version = "{wanted}"\n'
    if is_met:
        assert parse_config(text, "taskstate.toml") == Config(required_version=wanted)
        return
    message = refusal(f"{text}new-key = 1\n")
    assert message.startswith(f"taskstate.toml: `required-version` is {wanted}, and this is taskstate {VERSION}: ")


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


@pytest.mark.parametrize("text", ["", CONFIG])
def test_jsonschema_is_not_imported_for_a_sound_configuration(text: str) -> None:
    """Only a mistake costs the import of jsonschema, because every command reads the configuration."""
    code = (
        "import sys; from taskstate.model.config_reader import parse_config; parse_config(sys.argv[1], 'a.toml');"
        " assert not {'jsonschema', 'taskstate.validation.schema_errors'} & sys.modules.keys()"
    )
    subprocess.run([sys.executable, "-c", code, text], check=True)


def test_a_whole_number_may_be_written_with_a_fraction_of_nothing() -> None:
    """75.0 is a whole number to the schema, and a whole number in the record."""
    config = read_config({"size": {"max-kb": 75.0}}, "taskstate.toml")
    assert repr(config.size.max_kb) == "75"


# Refusing


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("max-kb = 5", "taskstate.toml: `max-kb` is not a known key; choose from required-version, root, exclude"),
        ("[size]\nmax_kb = 5", "taskstate.toml: `size.max_kb` is not a known key; did you mean `max-kb`?"),
        ("[sise]", "taskstate.toml: `sise` is not a known key; did you mean `size`?"),
        ("[[standards]]\ncite = ['a']\nprio = 1", "`standards[0].prio` is not a known key; did you mean `priority`?"),
        ("[[qa]]\nname = 'a'", "taskstate.toml: `qa[0]` lacks the key `pattern`: a regular expression with a group"),
        ("[[standards]]\narea = 'a'", "taskstate.toml: `standards[0]` lacks the key `cite`: a list: add it"),
        (
            "[size]\nmax-kb = '75'",
            '`size.max-kb` is "75"; it must be a whole number; drop the quotes: correct it, or leave it out for the',
        ),
        ("[size]\nmax-kb = 1979-05-27", '`size.max-kb` is "1979-05-27"; it must be a whole number: correct it'),
        ("[lint.severity]\nTS4 = 'eror'", "it must be one of error, warning; did you mean error?"),
        (
            "[scope]\n'a b' = []",
            '`scope["a b"]` is not an allowed key; it must be letters and digits, joined by . _ or -',
        ),
        ('[scope]\n"\\u001b[31m" = []', r'`scope["\u001b[31m"]` is not an allowed key'),
        ("root = '" + "x" * 10_000 + "'", "`root` has 10000 characters; at most 200 are allowed: correct it"),
        ("x" * 10_000 + " = 1", f'taskstate.toml: `["{"x" * 40}…"]` is not a known key; choose from required-version'),
        (f"[lint.per-file-ignores]\n{'x' * 10_000} = 1", f'`lint.per-file-ignores["{"x" * 40}…"]` '),
        (f"lint.select = ['{'x' * 10_000}']", "`lint.select[0]` has 10000 characters; at most 64 are allowed"),
        ("root = '" + "../" * 60 + "'", '../.…"; it must be the name of a folder inside the repository: correct it'),
        ('root = "a\\u200eb"', "taskstate.toml: `root` holds a character that cannot be shown: correct it"),
        ('roles = ["a\\n"]', "taskstate.toml: `roles[0]` holds a character that cannot be shown: correct it"),
        ("[export.reviwer]", "`export.reviwer` names a role that there is not: did you mean reviewer?"),
        (
            "[validation]\nall = ['true']",
            '`validation.all` would count only for tasks whose area is called all: write "*" = [...] for',
        ),
        ("roles = ['a']\n[export.b]", "`export.b` names a role that there is not: there are a"),
        (
            "[secrets]\nallow = ['(']",
            "`secrets.allow[0]` is no regular expression of RE2 (it has no look-around): missing )",
        ),
        (
            '[secrets]\nallow = ["(?\\u001b)"]',
            r"`secrets.allow[0]` is no regular expression of RE2 (it has no look-around)",
        ),
        (
            "[[qa]]\nname = 'a b'\npattern = '(?P<text>x)'",
            '`qa[0].name` is "a b"; it must be letters and digits, joined by single . _ or -, and not beginning with',
        ),
        ("[[qa]]\nname = 'a'\npattern = 'x'", "taskstate.toml: `qa[0].pattern` has no group (?P<text>…): correct it"),
        ("[[qa]]\nname = 'a'\npattern = '[(?P<text>]'", "taskstate.toml: `qa[0].pattern` has no group (?P<text>…)"),
        ("root = !\n", "taskstate.toml is not valid TOML: Invalid value (at line 1, column 8)"),
        ("a = 1\na = 2", "taskstate.toml is not valid TOML: Cannot overwrite a value (at "),
        ("a = " + "[" * 100_000, "taskstate.toml is not valid TOML: it is nested too deeply: correct it"),
        ("a" + ".a" * 10_000 + " = 1", "taskstate.toml is not valid TOML: a key has more than 100 parts: correct it"),
        ("[a" + ".a" * 10_000 + "]", "taskstate.toml is not valid TOML: a key has more than 100 parts: correct it"),
        ("a = " + "1" * 10_000, "taskstate.toml is not valid TOML: it has a whole number with more than 64 bits"),
        ("a = [{b = 0x" + "f" * 5_000, "taskstate.toml is not valid TOML"),
        ("size.max-kb = 0x" + "f" * 5_000, "taskstate.toml is not valid TOML: it has a whole number with more than 64"),
        ('"\\U000E0041" = 1', '`["\\U000e0041"]` is not a known key'),
    ],
)
def test_a_message_says_where_and_what_to_do(text: str, message: str) -> None:
    """Each error names the file, the key's whole path, what should stand there, or the nearest known word."""
    message_text = refusal(text)
    assert message in message_text
    assert message_text.isprintable()


def test_several_mistakes_are_one_line() -> None:
    """The first mistake is told, with the number of the others."""
    message = refusal("root = 1\n[size]\nmax-kb = 0\nkeep = 1")
    assert message == (
        "taskstate.toml: `root` is 1; it must be the name of a folder inside the repository (and 2 more):"
        " correct it, or leave it out for the default"
    )


def test_pyproject_is_named_with_its_table() -> None:
    """In pyproject.toml the message names the table that the key's path begins in."""
    message_text = refusal("[tool.taskstate.size]\nmax-kb = 0", "sub/pyproject.toml")
    assert message_text.startswith("sub/pyproject.toml [tool.taskstate]: `size.max-kb` is 0; it must be at least 1")
    assert "is 5; it must be a map of keys" in refusal("[tool]\ntaskstate = 5", "pyproject.toml")


ACCEPTED = [
    "",
    CONFIG,
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
    "[lint]\nignore = ['no code']",
    "[lint]\nextend-select = ['TS4044']",
    "[lint]\nper-file-ignores = ['TS4']",
    "[lint]\nper-file-ignores = { a = 'TS4' }",
    "[lint]\nper-file-ignores = { ' ' = ['TS4'] }",
    "[lint]\nseverity = { TS404 = 'off' }",
    "[lint]\nseverity = { TS404 = 1 }",
    "[lint]\nseverity = { Bad = 'error' }",
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
def test_what_is_accepted(text: str) -> None:
    """Every form of a value that means something is read."""
    assert parse_config(text, "taskstate.toml") is not None


@pytest.mark.parametrize("text", REFUSED)
def test_what_is_refused(text: str) -> None:
    """A value of the wrong type, out of range or of the wrong form is one error in one line."""
    assert refusal(text).isprintable()


@pytest.mark.parametrize(
    ("written", "root"), [("state/", "state"), ("./a//b", "a/b"), ("a/./b/", "a/b"), (".a..b", ".a..b")]
)
def test_the_folder_is_in_its_plain_form(written: str, root: str) -> None:
    """However the folder is written, its name has one `/` between its parts and nothing else."""
    assert read_config({"root": written}, "taskstate.toml").root == root


TABLES: Mapping[str, Any] = schema.load("config")["properties"]
KEYS = sorted({key for table in TABLES.values() for key in table.get("properties", {})} | {*TABLES})
VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-1, 99)
    | st.floats()
    | st.just(date(1979, 5, 27))
    | st.sampled_from(["TS", "TS404", "error", "P0", "reviewer", "a", "*", ""]),
    lambda inner: (
        st.lists(inner, max_size=2) | st.dictionaries(st.sampled_from([*KEYS, "reviewer", "TS1"]), inner, max_size=2)
    ),
    max_leaves=6,
)


WHOLE = tomllib.loads(CONFIG)


def places(value: object, path: tuple[str | int, ...] = ()) -> Iterator[tuple[str | int, ...]]:
    """Yield the path of every value inside a configuration."""
    steps = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for step, inner in steps:
        yield (*path, step)
        yield from places(inner, (*path, step))


@given(st.sampled_from(list(places(WHOLE))), VALUES, st.sampled_from(["", "-s", "S"]))
def test_one_wrong_value_is_read_or_refused(path: tuple[str | int, ...], value: object, suffix: str) -> None:
    """A full configuration in which one value is another, or one key is misspelt, is read, or refused in one line."""
    damaged: Any = copy.deepcopy(WHOLE)
    part = damaged
    for step in path[:-1]:
        part = part[step]
    if isinstance(part, dict):
        part[f"{path[-1]}{suffix}"] = value
    else:
        part[path[-1]] = value
    refused = ""
    try:
        read_config(damaged, "taskstate.toml")
    except TaskstateError as error:
        refused = str(error)
    assert refused.isprintable()
    assert bool(schema.faults(damaged, "config")) is bool(refused) or "names a role that there is not" in refused


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
    suggested = "\n".join(re.findall(r"^# (\[.*|\S+ = .*)", text, re.MULTILINE))
    assert "max-kb = 75" in suggested
    config = parse_config(suggested, "taskstate.toml")
    assert config is not None
    assert config.validation == {"*": ("make test",)}
    assert config._replace(validation={}) == Config()


@pytest.mark.parametrize("comment", ["# a\x00b", "# a\x0cb", "#\x7f"])
def test_what_cannot_stand_in_a_comment_is_told(comment: str) -> None:
    """Also where a file holds nothing but comments."""
    with pytest.raises(TaskstateError, match="not valid TOML"):
        parse_config(f"# fine\n{comment}\n", "taskstate.toml")


@pytest.mark.parametrize(
    "patterns",
    [
        *(
            [".*"],
            ["."],
            ["^"],
            ["a|"],
            [r"\\S"],
            [r"^\\w+$"],
            ["[a-z]"],
            ["(?i)[a-m]"],
            ["[^x]"],
            ["^.{12,80}$"],
            [".{21}"],
        ),
        *(["^[A-Za-z0-9]{20}$"], ["EXAMPLE", "(?s)."], ["^[a-m]", "^[n-zA-M]", "^[N-Z0-9]"]),
    ],
)
def test_patterns_that_allow_every_secret_are_refused(patterns: list[str]) -> None:
    """Alone or together they would switch the search off, and nobody would see it."""
    shown = ", ".join(f'"{each}"' for each in patterns)
    assert "any value, so no secret would be found" in refusal(f"secrets.allow = [{shown}]")


@pytest.mark.parametrize(
    "pattern", ["^EXAMPLE_", "^ghp_Ab1", "AKIA", "^[0-9a-f]{40}$", "-test$", "^sk_test_", "(?i)dummy"]
)
def test_patterns_that_say_something_are_taken(pattern: str) -> None:
    """What begins, ends, or is written in some way that random values are not."""
    config = parse_config(f"secrets.allow = ['{pattern}']", "taskstate.toml")
    assert config
    assert config.secrets.allow == (pattern,)
