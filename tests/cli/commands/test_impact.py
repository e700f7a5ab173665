from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from tests.support.impact_maps import chain

if TYPE_CHECKING:
    from tests.cli.conftest import Cli
    from tests.support.place import Place

TOKENS: dict[str, Any] = {"id": "tokens", "between": ["api", "core"], "contract": "verify(token) -> user"}
LOGIN = {"id": "login", "path": ["db", "core", "api"], "note": "columns"}
MAP = chain("api", "core", "db", interfaces=[TOKENS], ripple_paths=[LOGIN])
CHECK = ("impact", "check", "101")
STATE = ".taskstate/tasks/task-1-state.md"


@pytest.fixture
def bare(place: Place, cli: Cli) -> Cli:
    """Return the command line in a repository with files in three folders, and a permanent task without a map."""
    for name, code in (("api", "from core import core\n"), ("core", "import db.db\n"), ("db", "import os\n")):
        (place.root / name).mkdir()
        (place.root / name / f"{name}.py").write_text(code)
    cli.ok("new", "1", "--kind", "permanent", "--title", "Login", "--description", "One account.")
    return cli


@pytest.fixture
def mapped(bare: Cli) -> Cli:
    """Return the same with a map: api needs core, and core needs db."""
    text = json.dumps(MAP.values)
    bare.ok("permanent", "update", "--section", "Codebase Impact Map", "--from", "-", stdin=text)
    return bare


# The map


def test_entries_are_added_one_by_one(bare: Cli) -> None:
    """Each is a new version with a line in the Change Log; together they are the map."""
    assert bare.ok("impact", "show") == "no modules yet\n"
    said = bare.ok("impact", "add", "module", "db", "--path", "db/**")
    assert said == f"{STATE}: changed\n  PT-v1 is now PT-v2 (interface change): module db added\n"
    bare.ok("impact", "add", "module", "core", "--path", "core/**", "--depends-on", "db")
    bare.ok("impact", "add", "module", "api", "--path", "api/**", "--depends-on", "core")
    data = bare.json(
        "impact", "add", "interface", "tokens", "--between", "api,core", "--contract", str(TOKENS["contract"])
    )
    assert (data["version"], data["changed"], data["entry"]) == (5, True, TOKENS)
    bare.ok("impact", "add", "ripple", "login", "--path", "db,core,api", "--note", "columns")
    shown = bare.json("impact", "show")
    assert (shown["id"], shown["version"]) == ("1", 6)
    assert shown["map"]["modules"] == [*reversed(MAP.values["modules"])]
    assert (shown["map"]["interfaces"], shown["map"]["ripple_paths"]) == ([TOKENS], [LOGIN])
    bare.ok("lint")


def test_show(mapped: Cli) -> None:
    """As text each entry has a line, as Mermaid a shape."""
    assert mapped.ok("impact", "show") == (
        "modules:\n  api: api/**; depends on core\n  core: core/**; depends on db\n  db: db/**\n"
        "interfaces:\n  tokens (api, core): verify(token) -> user\n"
        "ripple paths:\n  login: db -> core -> api (columns)\n"
    )
    drawing = mapped.ok("impact", "show", "--mermaid")
    assert drawing.startswith('flowchart LR\n  m0["api"]:::module\n')
    assert "  m0 --> m1\n  m1 --> m2\n" in drawing
    assert '  m0 -. "tokens" .- m1\n' in drawing


def test_mermaid_escapes_what_would_be_markup(mapped: Cli) -> None:
    """An id is text and never structure."""
    mapped.ok("impact", "add", "module", 'x"];evil', "--planned")
    assert 'm3["x#34;#93;#59;evil"]:::planned' in mapped.ok("impact", "show", "--mermaid")


def test_an_entry_that_is_there_is_replaced_only_on_demand(mapped: Cli) -> None:
    """Keys of people's own stay with it; the order of the entries too."""
    again = ("impact", "add", "module", "core", "--path", "core/*.py")
    said = mapped.refused(*again)
    assert said == "the Impact Map has a module core already: add `--replace` to put this one in its place"
    assert "architecture change): module core replaced" in mapped.ok(*again, "--replace")
    modules = mapped.json("impact", "show")["map"]["modules"]
    assert modules[1] == {"id": "core", "paths": ["core/*.py"], "depends_on": []}
    assert "nothing to change" in mapped.ok(*again, "--replace")


def test_remove(mapped: Cli) -> None:
    """What other entries name goes only together with the references."""
    assert "module core is named by module api, interface tokens, ripple path login" in mapped.refused(
        "impact", "remove", "module", "core"
    )
    said = mapped.ok("impact", "remove", "module", "core", "--with-references")
    assert "module core removed, also from module api, interface tokens, ripple path login" in said
    assert mapped.ok("impact", "show") == (
        "modules:\n  api: api/**\n  db: db/**\nripple paths:\n  login: db -> api (columns)\n"
    )
    assert "interface change): ripple path login removed" in mapped.ok("impact", "remove", "ripple", "login")


def test_a_dry_run_changes_nothing(mapped: Cli) -> None:
    """It prints the diff."""
    before = (mapped.place.root / STATE).read_bytes()
    assert '+    {"id": "web"' in mapped.ok("impact", "add", "module", "web", "--planned", "--dry-run")
    assert (mapped.place.root / STATE).read_bytes() == before


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("add", "module", "x"), "add module: --path is missing"),
        (("add", "module", "a b", "--planned"), "'a b' is not an id of an entry"),
        (("add", "module", "a,b", "--planned"), "'a,b' is not an id of an entry"),
        (("add", "module", "a\x1b", "--planned"), "'a\\\\x1b' is not an id of an entry"),
        (("add", "module", "x" * 65, "--planned"), "is not an id of an entry"),
        (("add", "module", "x", "--path", "nosuch/**"), "module x: no file matches 'nosuch/**'"),
        (("add", "module", "x", "--path", "../x"), "the glob '../x' leads out of the repository"),
        (("add", "module", "x", "--path", "/etc/**"), "the glob '/etc/**' is absolute"),
        (("add", "module", "x", "--path", "~/x"), "the glob '~/x' begins in a home folder"),
        (("add", "module", "x", "--path", "a/../db"), "the glob 'a/../db' names nothing in the repository"),
        (("add", "module", "x", "--path", "a\x1b[2J"), "a glob holds U+001B"),
        (("add", "module", "x", "--path", ""), "a glob is empty"),
        (("add", "module", "x", "--planned", "--depends-on", "nosuch"), "depends on 'nosuch', which is not a module"),
        (("add", "module", "x", "--planned", "--depends-on", "coer"), "(did you mean core?)"),
        (("add", "module", "x", "--planned", "--depends-on", "x"), "module x depends on itself: x -> x"),
        (("add", "module", "db", "--path", "db/**", "--depends-on", "api", "--replace"), "api -> core -> db -> api"),
        (("add", "interface", "x", "--between", "api", "--contract", "c"), "--between takes two modules"),
        (("add", "interface", "x", "--between", "api,web", "--contract", "c"), "'web', which is not a module"),
        (("add", "interface", "x", "--between", "api,core", "--contract", ""), "the contract is empty"),
        (("add", "ripple", "x", "--path", "api"), "--path takes two modules or more"),
        (("add", "ripple", "x", "--path", "api,web"), "'web', which is not a module"),
        (("add", "thing", "x"), "unknown action 'thing'"),
        (("remove", "thing", "x"), "invalid choice: 'thing'"),
        (("remove", "module", "cor"), "the Impact Map has no module cor: did you mean core?"),
        (("remove", "ripple", "x\x1b"), "the Impact Map has no ripple path x\\x1b"),
        (("scan", "--depth", "0"), "--depth is a number of folders"),
        (("check", "101"), "nothing is claimed"),
        (("check", "101", "--files", ","), "nothing is claimed"),
        (("check", "101", "--files", "../x"), "the path ../x leads out of the repository"),
        (("check", "101", "--files", "/etc/passwd"), "the path /etc/passwd is absolute"),
        (("check", "101", "--files", "a\x1b"), "a path of --files holds U+001B"),
        (("check", "101", "--diff"), "is not a working tree of git"),
        (("check", "101", "--files", "a", "--note", "x"), "--note is kept with a record"),
        (("check", "1", "--files", "a"), "task 1 is a permanent task"),
        (("check", "999", "--files", "a"), "there is no task 999"),
        (("confirm", "101"), "task 101 has claimed nothing"),
    ],
)
def test_refusals(mapped: Cli, arguments: tuple[str, ...], message: str) -> None:
    """Each is refused in one line with what to do, and nothing is changed."""
    said = mapped.refused("impact", *arguments)
    assert message.replace("\\\\", "\\") in said.replace("\\\\", "\\")
    assert ": " in said


@pytest.mark.parametrize(
    "text",
    [
        '{"x": 1}',
        "{",
        "words",
        "[]",
        '{"modules": [{"id": "a", "paths": [], "depends_on": ["b"]}], "interfaces": [], "ripple_paths": []}',
    ],
)
def test_a_map_that_is_none_is_not_taken(mapped: Cli, text: str) -> None:
    """An update of the section is refused as the entries are."""
    mapped.refused("permanent", "update", "--section", "Codebase Impact Map", "--from", "-", stdin=text)


def test_a_repository_without_a_permanent_task_or_a_map(cli: Cli, bare: Cli) -> None:
    """The command that begins one is named."""
    assert "the permanent task 1 has no Impact Map: `taskstate impact scan` proposes one" in bare.refused(
        *CHECK, "--files", "a"
    )
    bare.ok("permanent", "close", "1", "--note", "over")
    for command in ((*CHECK, "--files", "a"), ("impact", "show"), ("impact", "scan"), ("impact", "confirm", "101")):
        assert "there is no active permanent task: `taskstate new --kind permanent" in cli.refused(*command)


# Claims


def test_a_module_between_two_claimed_ones_is_missing(mapped: Cli) -> None:
    """Exit status 1, and the path on which it lies; with it the claim is complete."""
    said = mapped(*CHECK, "--files", "api/api.py,db/db.py")
    assert said.status == 1
    assert said.out == (
        "task 101 claims 2 files; PT-v2 says:\n"
        "modules:\n  api: api/api.py\n  db: db/db.py\n"
        "modules between claimed ones that are not claimed:\n  core: api -> core -> db\n"
        "ripple paths started:\n  login: db -> core -> api (columns)\n"
        "downstream:\n  core: db -> core\n"
        "interfaces crossed:\n  tokens (api, core): verify(token) -> user\n"
        "the claim is incomplete: it lacks the modules between: core\n"
    )
    assert mapped.ok(*CHECK, "--files", "api/api.py,db/db.py", "--files", "core").endswith("the claim is complete\n")


def test_answer_as_json(mapped: Cli) -> None:
    """It has every part, and the drawing with the claimed modules marked."""
    data = mapped.json(*CHECK, "--files", "db/db.py,README.md")
    assert (data["complete"], data["version"], data["permanent"]) == (True, 2, "1")
    assert data["files"] == [{"path": "README.md", "modules": []}, {"path": "db/db.py", "modules": ["db"]}]
    assert (data["modules"], data["in_no_module"]) == (["db"], ["README.md"])
    assert data["downstream"] == [{"id": "api", "path": ["db", "core", "api"]}, {"id": "core", "path": ["db", "core"]}]
    assert data["interfaces"] == [TOKENS]
    assert data["ripple_paths"] == [{**LOGIN, "after": ["core", "api"]}]
    assert 'm2["db"]:::marked' in data["mermaid"]
    assert mapped.ok(*CHECK, "--files", "db/db.py", "--mermaid") == data["mermaid"] + "\n"


def test_other_tasks_that_stand_on_the_modules(mapped: Cli) -> None:
    """Those whose Repository Paths reach into a module of the change, a ripple path or downstream, and their roles."""
    for task, path in (("102", "core/**"), ("103", "docs/**"), ("104", "api/**")):
        mapped.place.new(task, paths=(path,))
    mapped.ok("role", "set", "102", "implementer", "--status", "in_progress")
    mapped.ok("drop", "104", "--note", "over")
    data = mapped.json(*CHECK, "--files", "db/db.py")
    assert [(each["task"], each["roles"], each["modules"]) for each in data["tasks"]] == [
        ("102", ["implementer"], ["core"])
    ]
    assert "102 JWT Service (implementer): core" in mapped.ok(*CHECK, "--files", "db/db.py")
    for number in range(105, 130):
        mapped.place.new(str(number), paths=("db/**",))
    assert "  \u2026 6 more (`--format json` has all)\n" in mapped.ok(*CHECK, "--files", "db/db.py")
    said = mapped.ok("impact", "challenge", "101", "--files", "db/db.py")
    assert "Task 102 works on core as well: which of you changes what?" in said
    assert "Tasks 105, 106, 107, 108, 109 and 20 more work on db as well" in said


def test_paths_from_standard_input(mapped: Cli) -> None:
    """Each line is one path, also with a comma in it."""
    data = mapped.json(*CHECK, "--files", "-", stdin="db/a,b.py\r\n./api//api.py\n\n", status=1)
    assert [each["path"] for each in data["files"]] == ["api/api.py", "db/a,b.py"]


def test_challenge(mapped: Cli) -> None:
    """Every question is grounded in entries of the map, and stands under its category."""
    mapped.ok("impact", "add", "module", "web", "--planned", "--depends-on", "api")
    data = mapped.json("impact", "challenge", "101", "--files", "api/api.py,db/db.py,README.md")
    questions: dict[str, list[list[str]]] = {}
    for each in data["questions"]:
        assert each["text"].endswith("?")
        questions.setdefault(each["category"], []).append(each["entries"])
    assert questions == {
        "interconnection map": [["module api", "module core", "module db"]],
        "ripple trace": [["ripple path login"]],
        "scope boundary": [["interface tokens"]],
        "dependency risk": [["module db", "module core"], ["module api", "module web"]],
        "assumption probe": [["module web"], []],
    }
    said = mapped.ok("impact", "challenge", "101", "--files", "api/api.py,db/db.py")
    assert said.startswith(
        "interconnection map:\n  - The map has api -> core -> db. "
        "You claim api and db, and not core: what changes in it?\nripple trace:\n"
    )


def test_a_claim_without_gaps_raises_no_question(mapped: Cli) -> None:
    """That is said."""
    mapped.ok("impact", "remove", "module", "db", "--with-references")
    mapped.ok("impact", "remove", "interface", "tokens")
    mapped.ok("impact", "remove", "ripple", "login")
    said = mapped.ok("impact", "challenge", "101", "--files", "api/api.py")
    assert said == "the map raises no question about this claim\n"


# The code


def test_scan_proposes_a_map(bare: Cli) -> None:
    """The proposal is what the imports say, and an update takes it as it is printed."""
    assert bare.ok("impact", "scan").startswith("new module api: api/**; depends on core\n")
    printed = bare("impact", "scan", "--format", "json").out
    bare.ok("permanent", "update", "--section", "Codebase Impact Map", "--from", "-", stdin=printed)
    assert bare.json("impact", "show")["map"]["modules"] == MAP.values["modules"]
    assert bare.ok("impact", "scan").startswith("the map says what the imports say\n")


def test_scan_says_how_the_map_differs(mapped: Cli) -> None:
    """What the map lacks, what it says and the code does not, and files that do not parse; nothing is written."""
    root = mapped.place.root
    (root / "api/api.py").write_text("import db.db\n")
    (root / "core/bad.py").write_text("def (\n")
    (root / "web").mkdir()
    (root / "web/page.py").write_text("from api import api\n")
    before = (root / STATE).read_bytes()
    said = mapped("impact", "scan")
    assert said.err == "not read, since it does not parse: core/bad.py\n"
    assert said.out.startswith(
        "module api imports db, which the map does not say\n"
        "module api depends on core in the map, and imports nothing of it\n"
        "new module web: web/**; depends on api\n\nproposed:\n\nmodules:\n"
    )
    assert (root / STATE).read_bytes() == before
    assert mapped.ok("impact", "scan", "--mermaid").startswith("flowchart LR\n")
