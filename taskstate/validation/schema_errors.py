"""Says in words what breaks a schema, by jsonschema: one fault for each thing that somebody has to mend.

Of what jsonschema tells, the faults of one value become one, a choice of branches becomes the branch that was meant,
and a misspelt key is told once and not also as a missing one. jsonschema is imported only when something is wrong.
"""

from __future__ import annotations

import json
import re
from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple

from taskstate.messages import closest
from taskstate.syntax.nodes import resolve_plain
from taskstate.validation.formats import FORMATS
from taskstate.validation.schema_compiler import TYPES
from taskstate.validation.schema_files import alternatives, load, types_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from jsonschema import Draft202012Validator, FormatChecker
    from jsonschema.exceptions import ValidationError

    from taskstate.validation.schema_files import KeyPath


class SchemaFault(NamedTuple):
    """One thing that breaks a schema.

    `path` leads to the value, for a key that is not allowed (keyword "unknown-key") to that key, for a missing one
    (keyword "required") to the map that lacks `key`; `where` is the same in writing, such as `features[3].passes`.
    `suggestion` is the known key or allowed value that is nearest to what stands there, or empty.
    """

    path: KeyPath
    where: str
    keyword: str
    message: str
    key: str = ""
    suggestion: str = ""


_SIMPLE_KEY = re.compile(r"[A-Za-z_][A-Za-z0-9_-]*")
_SHOWN = 40  # characters of a value that a message repeats
_LONGEST_KEY = 64  # nobody misspells a longer one
_LIKE = 0.7  # difflib's likeness from which a word counts as misspelt
_SHORTEST_START = 3  # letters from which the start of a key is taken for it
_TYPE_WORDS = {
    "string": "text",
    "integer": "a whole number",
    "number": "a number",
    "boolean": "true or false",
    "null": "null",
    "object": "a map of keys and values",
    "array": "a list",
}


def find(value: object, name: str) -> tuple[SchemaFault, ...]:
    """Return what in `value` breaks the schema of that name, sorted by path."""
    root = load(name)
    found = [fault for error in _validator(name).iter_errors(value) for fault in _worded(_breach(error), root)]
    found.sort(key=lambda fault: (_sortable(fault.path), fault.keyword != "type"))
    of_place: dict[tuple[KeyPath, str], SchemaFault] = {}
    for fault in found:
        of_place.setdefault((fault.path, fault.key), fault)
    return tuple(of_place.values())


def json_path(path: Iterable[str | int]) -> str:
    """Return a path as people write it: `features[3].passes`."""
    text = ""
    for step in path:
        if isinstance(step, int):
            text += f"[{step}]"
        elif _SIMPLE_KEY.fullmatch(step):
            text += f".{step}" if text else step
        else:
            text += f"[{_shown(step)}]"
    return text


def nearest(word: str, known: Iterable[str]) -> str:
    """Return the known word that `word` is most likely meant to be, or an empty string."""
    plain = {_plain(each): each for each in known}
    meant = _plain(word)
    if len(word) > _LONGEST_KEY or not meant:
        return ""
    begun = [each for each in plain if len(meant) >= _SHORTEST_START and each.startswith(meant)]
    found = meant if meant in plain else closest(meant, [*plain], cutoff=_LIKE) or (begun[0] if len(begun) == 1 else "")
    return plain[found] if found else ""


def _plain(word: str) -> str:
    """Return a word without what people vary: createdAt, created-at and created_at are one."""
    return re.sub(r"[\W_]", "", word).casefold()


@cache
def _validator(name: str) -> Draft202012Validator:
    from jsonschema import Draft202012Validator

    return Draft202012Validator(load(name), format_checker=format_checker())


def format_checker() -> FormatChecker:
    """Return our own formats for jsonschema, and none of those that it knows itself."""
    from jsonschema import FormatChecker

    checker = FormatChecker(())
    for name, problem in FORMATS.items():
        checker.checks(name)(lambda value, problem=problem: not isinstance(value, str) or not problem(value))
    return checker


def _sortable(path: KeyPath) -> tuple[tuple[bool, int, str], ...]:
    return tuple((True, step, "") if isinstance(step, int) else (False, 0, step) for step in path)


class _Breach(NamedTuple):
    """An error of jsonschema: where, what stands there, which keyword wants what; for branches the errors of each.

    With `of_key` the value is a key of the map at `path`.
    """

    path: KeyPath
    value: Any
    keyword: str
    wanted: Any
    schema: Any
    branches: tuple[tuple[_Breach, ...], ...]
    of_key: bool


def _breach(error: ValidationError) -> _Breach:
    branches: dict[object, list[_Breach]] = {}
    for inner in error.context or ():
        branches.setdefault(inner.relative_schema_path[0], []).append(_breach(inner))
    return _Breach(
        path=tuple(error.absolute_path),
        value=error.instance,
        keyword=str(error.validator),
        wanted=error.validator_value,
        schema=error.schema,
        branches=tuple(tuple(branch) for branch in branches.values()),
        of_key="propertyNames" in error.absolute_schema_path,
    )


def _worded(breach: _Breach, root: Mapping[str, Any]) -> Iterator[SchemaFault]:
    """Yield the faults that one error of jsonschema comes down to."""
    if breach.branches:
        yield from _of_branch(breach, root)
    elif breach.keyword == "additionalProperties" and breach.wanted is False:
        yield from _unknown_keys(breach)
    elif breach.keyword == "required":
        yield from _missing_keys(breach, root)
    elif breach.of_key:
        yield _wrong_key(breach, root)
    else:
        yield _wrong_value(breach, root)


def _of_branch(breach: _Breach, root: Mapping[str, Any]) -> Iterator[SchemaFault]:
    """Yield the faults of the branch that was meant: of those for the value's type the one with the fewest faults."""
    meant = [
        list(dict.fromkeys(fault for inner in branch for fault in _worded(inner, root)))
        for branch in breach.branches
        if not any(inner.keyword == "type" and inner.path == breach.path for inner in branch)
    ]
    if meant:
        yield from min(meant, key=len)
    else:
        yield _fault(breach.path, "type", _must_be(breach, root))


def _unknown_keys(breach: _Breach) -> Iterator[SchemaFault]:
    missing = {key for key in breach.schema.get("required", ()) if key not in breach.value}
    own = any(re.search(pattern, "x-") for pattern in breach.schema.get("patternProperties", ()))
    for key, near in _misspelt(breach).items():
        words = f"{_subject((*breach.path, key))} is no known key"
        if near:
            words += f"; did you mean `{near}`, which is missing?" if near in missing else f"; did you mean `{near}`?"
        elif own:
            words += "; the name of a key of your own begins with x-"
        else:
            words += f"; known are {', '.join(breach.schema.get('properties', {}))}"
        yield _fault((*breach.path, key), "unknown-key", words, key=key, suggestion=near)


def _misspelt(breach: _Breach) -> dict[str, str]:
    """Return the unknown keys of a map, each with the key most likely meant, of those that are not there yet."""
    schema, value = breach.schema, breach.value
    if schema.get("additionalProperties") is not False:
        return {}
    properties = schema.get("properties", {})
    patterns = [re.compile(pattern) for pattern in schema.get("patternProperties", ())]
    free = [key for key in properties if key not in value]
    found: dict[str, str] = {}
    for key in value:
        if key not in properties and not any(pattern.search(key) for pattern in patterns):
            found[key] = nearest(key, [each for each in free if each not in found.values()])
    return found


def _wrong_key(breach: _Breach, root: Mapping[str, Any]) -> SchemaFault:
    path = (*breach.path, breach.value)
    words = f"{_subject(path)} is no allowed key; it must be {_expected(breach.schema, root) or 'another'}"
    return _fault(path, "unknown-key", words, key=breach.value)


def _missing_keys(breach: _Breach, root: Mapping[str, Any]) -> Iterator[SchemaFault]:
    misspelt = _misspelt(breach).values()
    for key in breach.wanted:
        if key not in breach.value and key not in misspelt:
            expected = _expected(breach.schema.get("properties", {}).get(key, {}), root)
            words = f"{_subject(breach.path)} lacks the key `{key}`" if breach.path else f"the key `{key}` is missing"
            yield _fault(breach.path, "required", f"{words}: {expected}" if expected else words, key=key)


def _wrong_value(breach: _Breach, root: Mapping[str, Any]) -> SchemaFault:
    path, value, keyword, wanted = breach.path, breach.value, breach.keyword, breach.wanted
    if keyword == "format":
        return _fault(path, keyword, f"{_subject(path)} {FORMATS[wanted](value)}")
    if keyword in _MEASURES:
        return _fault(path, keyword, f"{_subject(path)} {_MEASURES[keyword](value, wanted)}")
    words = _must_be(breach, root)
    if keyword == "enum" and isinstance(value, str):
        near = nearest(value, [each for each in wanted if isinstance(each, str)])
        return _fault(path, keyword, f"{words}; did you mean {near}?" if near else words, suggestion=near)
    if (
        keyword == "type"
        and isinstance(value, str)
        and any(TYPES[each](resolve_plain(value)) for each in _listed(wanted))
    ):
        words += "; drop the quotes"
    return _fault(path, keyword, words)


def _fault(path: KeyPath, keyword: str, message: str, *, key: str = "", suggestion: str = "") -> SchemaFault:
    return SchemaFault(
        path=path, where=json_path(path), keyword=keyword, message=message, key=key, suggestion=suggestion
    )


def _subject(path: KeyPath) -> str:
    return f"`{json_path(path)}`" if path else "the value as a whole"


def _must_be(breach: _Breach, root: Mapping[str, Any]) -> str:
    expected = _expected(breach.schema, root) or "something else"
    return f"{_subject(breach.path)} is {_shown(breach.value)}; it must be {expected}"


def _expected(schema: Mapping[str, Any], root: Mapping[str, Any]) -> str:
    """Return in words what a schema asks for."""
    parts = list(alternatives(schema, root))
    for part in parts:
        if "x-form" in part:
            return str(part["x-form"])
        if "enum" in part:
            return "one of " + ", ".join(_bare(each) for each in part["enum"])
        if "const" in part:
            return _bare(part["const"])
    types = dict.fromkeys(name for part in parts for name in types_of(part))
    words = [_TYPE_WORDS[name] for name in types]
    if any("x-timestamp" in part for part in parts):
        words[0] = "a time in UTC such as 2026-01-31T12:00:00Z"
    return " or ".join(words)


def _listed(types: str | list[str]) -> list[str]:
    return [types] if isinstance(types, str) else types


def _bare(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value)


def _shown(value: object) -> str:
    """Return a value for a message: short, in one line, and without what a terminal would obey."""
    if isinstance(value, dict):
        return _TYPE_WORDS["object"]
    if isinstance(value, list):
        return _TYPE_WORDS["array"]
    if value is None:
        return "empty (null)"
    if not isinstance(value, str):
        return json.dumps(value, default=str)[:_SHOWN]  # TOML has dates
    short = value if len(value) <= _SHOWN else value[:_SHOWN] + "…"
    return '"' + "".join(char if char.isprintable() else f"\\u{ord(char):04x}" for char in short) + '"'


def _twice(value: list[Any]) -> str:
    return next((_shown(item) for index, item in enumerate(value) if item in value[:index]), "an item")


def _items(count: int) -> str:
    return f"{count} item" if count == 1 else f"{count} items"


_MEASURES: Mapping[str, Callable[[Any, Any], str]] = {
    "minLength": lambda value, least: (
        f"is {_shown(value)}; it must have at least {least} characters" if value else "is empty"
    ),
    "maxLength": lambda value, most: f"has {len(value)} characters; at most {most} are allowed",
    "minimum": lambda value, least: f"is {value}; it must be at least {least}",
    "maximum": lambda value, most: f"is {value}; it must be at most {most}",
    "minItems": lambda value, least: f"has {_items(len(value))}; it must have at least {least}",
    "maxItems": lambda value, most: f"has {_items(len(value))}; it must have at most {most}",
    "uniqueItems": lambda value, _: f"names {_twice(value)} twice",
}
