"""The Impact Map as it is read from a text, merged and weighed, and what is wrong with one."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from taskstate.errors import TaskstateError
from taskstate.model.impact_faults import faults, unmatched
from taskstate.model.impact_map import ImpactMap, map_level, merged, read_map, stored_in
from taskstate.model.permanent import ARCHITECTURE, COSMETIC, INTERFACE
from taskstate.model.task_state import read_state
from taskstate.syntax.document import parse
from tests.support.impact_maps import chain, map_with, module

if TYPE_CHECKING:
    from typing import Any

TOKENS = {"id": "tokens", "between": ["api", "core"], "contract": "verify(token) -> user"}
LOGIN = {"id": "login", "path": ["db", "core", "api"], "note": "columns"}
MAP = chain("api", "core", "db", interfaces=[TOKENS], ripple_paths=[LOGIN])


def with_values(**lists: Any) -> ImpactMap:  # noqa: ANN401 - lists of entries
    """Return the map with other lists."""
    return map_with(**{**MAP.values, **lists}) if "modules" not in lists else map_with(*lists.pop("modules"), **lists)


@pytest.mark.parametrize(
    "text",
    [
        "{}",
        " \n{}",
        "\ufeff{}",
        "# The map\n\n```json\n{}\n```\n",
        '{{"success": true, "data": {{"map": {}, "version": 3}}, "error": null, "code": null}}',
    ],
)
def test_forms_of_a_map(text: str) -> None:
    """JSON, a Markdown text with a json fence, and what a command prints as JSON are the same map."""
    text = text.replace("{}", "%s").replace("{{", "{").replace("}}", "}")
    assert read_map(text.replace("%s", json.dumps(MAP.values)), "F") == MAP


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('{"x": 1}', "F: the key `modules` is missing"),
        ("[]", "F holds no JSON object"),
        ("{", "F, line 1: the object that begins here is never closed"),
        ("words", "F, line 1: words is not a JSON value"),
        ('{"modules": [], "modules": [], "interfaces": [], "ripple_paths": []}', "F, line 1: "),
        ('{"modules": [{"id": "a b"}], "interfaces": [], "ripple_paths": []}', "F: modules[0]"),
        ('{"modules": 3, "interfaces": [], "ripple_paths": []}', "F: modules: "),
        ('{"modules": [], "interfaces": [], "ripple_paths": [], "planed": 1}', "F: planed: "),
    ],
)
def test_what_is_no_map(text: str, message: str) -> None:
    """Each is refused with its place, and the form that a map has."""
    with pytest.raises(TaskstateError) as caught:
        read_map(text, "F")
    assert caught.value.message.startswith(message)
    assert caught.value.help.startswith("write a map in this form")


@pytest.mark.parametrize(
    ("body", "text", "sha"),
    [
        ("```json\n{}\n```", "{}\n", None),
        ("The map is in [m](task-1-impact-map.json), sha256:" + "0" * 64, None, "0" * 64),
        ("[m](<../x y/task-1-impact-map.json>)", None, ""),
        ("*To be completed.*", None, None),
        ("Words alone.", None, None),
    ],
)
def test_where_a_section_keeps_its_map(body: str, text: str | None, sha: str | None) -> None:
    """In its fence, or in the file of its link; a link without a hash is one that fits no file."""
    state = read_state(parse(f"---\nkind: permanent\n---\n\n## 2. Codebase Impact Map\n\nMore.\n\n{body}\n"))
    stored = stored_in(state)
    assert stored
    assert (stored.text, stored.sha256) == (text, sha)
    if sha is not None or text is not None:
        assert stored.place.of(state.document.text) == body
    assert stored_in(read_state(parse("# Other\n"))) is None


@pytest.mark.parametrize(
    ("path", "found"),
    [("api/a.py", ("api",)), ("api/x/y.py", ("api",)), ("apis/a.py", ()), ("api", ()), ("README.md", ())],
)
def test_modules_of_a_file(path: str, found: tuple[str, ...]) -> None:
    """Globs are compared part by part."""
    assert MAP.modules_of([path]) == {path: found}


def test_braces_and_folders_in_globs() -> None:
    """A file may be in several modules; a folder without a wildcard covers what is below it."""
    map_ = map_with(module("a") | {"paths": ["src/{x,y}/*.py"]}, module("b") | {"paths": ["src/x"]})
    found = {"src/x/m.py": ("a", "b"), "src/y/m.py": ("a",), "src/x/z/m.py": ("b",)}
    assert map_.modules_of(found) == found


@pytest.mark.parametrize(
    ("after", "level"),
    [
        (MAP, COSMETIC),
        (with_values(ripple_paths=[LOGIN | {"note": "rows"}]), COSMETIC),
        (with_values(ripple_paths=[LOGIN | {"x-owner": "ann"}]), COSMETIC),
        (
            with_values(
                modules=[{**each, "planned": True} for each in MAP.values["modules"]],
                interfaces=[TOKENS],
                ripple_paths=[LOGIN],
            ),
            COSMETIC,
        ),
        (with_values(interfaces=[]), INTERFACE),
        (with_values(interfaces=[TOKENS | {"contract": "none"}]), INTERFACE),
        (merged(MAP, map_with(module("web", "api"))).map, INTERFACE),
        (merged(MAP, map_with(module("api", "core") | {"paths": ["x/**"]})).map, INTERFACE),
        (with_values(ripple_paths=[]), INTERFACE),
        (with_values(ripple_paths=[LOGIN | {"path": ["db", "api"]}]), ARCHITECTURE),
        (merged(MAP, map_with(module("api", "db"))).map, ARCHITECTURE),
        (chain("api", "core", interfaces=[TOKENS]), ARCHITECTURE),
    ],
)
def test_levels(after: ImpactMap, level: str) -> None:
    """Notes ask nothing of anybody, promises are read again, and other dependencies are planned with again."""
    assert map_level(MAP, after) == level


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        (map_with(module("a", "nosuch")), "module a depends on 'nosuch', which is not a module"),
        (
            map_with(module("core"), module("a", "coer")),
            "module a depends on 'coer', which is not a module (did you mean core?)",
        ),
        (
            map_with(module("a"), interfaces=[TOKENS | {"between": ["a", "b"]}]),
            "interface tokens is between 'b', which is not a module",
        ),
        (
            map_with(module("a"), interfaces=[TOKENS | {"between": ["a", "a"]}]),
            "interface tokens is between a and itself",
        ),
        (
            map_with(module("a"), ripple_paths=[LOGIN | {"path": ["a", "b"]}]),
            "ripple path login goes through 'b', which is not a module",
        ),
        (map_with(module("a"), module("a")), "there are 2 modules a"),
        (map_with(module("a", "a")), "module a depends on itself: a -> a"),
        (map_with(module("a", "b"), module("b", "a")), "module a depends on itself: a -> b -> a"),
        (map_with(module("a") | {"paths": []}), "module a has no paths, and is not planned"),
        (map_with(module("a") | {"paths": ["../x"]}), "module a: the glob '../x' leads out of the repository"),
        (map_with(module("a") | {"paths": ["/etc/**"]}), "module a: the glob '/etc/**' is absolute"),
        (map_with(module("a") | {"paths": ["C:/x"]}), "module a: the glob 'C:/x' begins with a drive letter"),
        (map_with(module("a") | {"paths": ["a\0b"]}), "module a holds the control character U+0000"),
        (map_with(module("a", **{"x-note": {"k": ["\x1b[1m"]}})), "module a holds the control character U+001B"),
    ],
)
def test_faults(wrong: ImpactMap, words: str) -> None:
    """Each thing that is wrong is said in words, without the characters that a terminal would act on."""
    assert words in faults(wrong)
    assert faults(MAP) == ()


def test_a_circle_may_be_meant() -> None:
    """A module that says so allows the circles through it, and no others."""
    meant = map_with(module("a", "b", circle_allowed=True), module("b", "a"), module("c", "d"), module("d", "c"))
    assert faults(meant) == ("module c depends on itself: c -> d -> c",)


def test_globs_that_match_no_file() -> None:
    """Each glob of a module that is not planned matches a file."""
    map_ = map_with(module("a"), module("b"), module("c", planned=True))
    assert unmatched(map_, ("a/x.py",)) == ("module b: no file matches 'b/**'",)
