"""Words the violations of a schema, as jsonschema finds them: one fault for each thing that a user has to correct.

Several errors of one value become one fault, a choice of branches becomes the branch that was most likely intended, and
a misspelt key is reported once and not also as a missing one. jsonschema is imported only for values that are invalid.
"""

from __future__ import annotations

import json
import re
from functools import cache
from itertools import islice

from taskstate.messages import MOST_GUESSED, closest
from taskstate.syntax.nodes import resolve_plain
from taskstate.typed import TYPE_CHECKING, NamedTuple
from taskstate.validation.formats import FORMATS
from taskstate.validation.schema_compiler import TYPES
from taskstate.validation.schema_files import alternatives, load, types_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping
    from typing import Any

    from jsonschema import Draft202012Validator, FormatChecker
    from jsonschema.exceptions import ValidationError

    from taskstate.validation.schema_files import KeyPath


class SchemaFault(NamedTuple):
    """One violation of a schema.

    `path` leads to the value, for a key that is not allowed (keyword "unknown-key") to that key, for a missing one
    (keyword "required") to the map that lacks `key`.
    `suggestion` is the known key or allowed value that is most similar to the given one, or empty.
    """

    path: KeyPath
    keyword: str
    message: str
    key: str = ""
    suggestion: str = ""


_SIMPLE_KEY = re.compile(r"[A-Za-z_][A-Za-z0-9_-]*")
_MAX_SHOWN = 40  # characters of a value that a message repeats
_MOST_OF_A_LIST = 1_000  # violations
_MAX_WORD = 64  # longer words get no suggestion
_SIMILARITY = 0.7  # difflib's ratio from which a word counts as misspelt
_MIN_PREFIX = 3  # letters; a word may stand for the one known word that it begins
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
    """Return the violations of the named schema by `value`, sorted by path."""
    root = load(name)
    findings = [fault for error in _validator(name).iter_errors(value) for fault in _faults_of(_violation(error), root)]
    findings.sort(key=lambda fault: (_sortable(fault.path), fault.keyword != "type"))
    first_by_position: dict[tuple[KeyPath, str], SchemaFault] = {}
    for fault in findings:
        first_by_position.setdefault((fault.path, fault.key), fault)
    return tuple(first_by_position.values())


def json_path(path: Iterable[str | int]) -> str:
    """Return a path as text, such as `features[3].passes`; of a key that is no word, the beginning in quotes."""
    text = ""
    for step in path:
        if isinstance(step, int):
            text += f"[{step}]"
        elif len(step) <= _MAX_WORD and _SIMPLE_KEY.fullmatch(step):
            text += f".{step}" if text else step
        else:
            text += f"[{_shown(step)}]"
    return text


def nearest(word: str, known: Iterable[str]) -> str:
    """Return the known word that was most likely intended by `word`, or an empty string."""
    by_plain_form = {_plain(each): each for each in known}
    plain = _plain(word)
    if len(word) > _MAX_WORD or not plain:
        return ""
    if plain in by_plain_form:
        return by_plain_form[plain]
    similar = closest(plain, by_plain_form, cutoff=_SIMILARITY)
    if similar:
        return by_plain_form[similar]
    completions = [each for each in by_plain_form if len(plain) >= _MIN_PREFIX and each.startswith(plain)]
    return by_plain_form[completions[0]] if len(completions) == 1 else ""


def _plain(word: str) -> str:
    """Return a word without case and separators: createdAt, created-at and created_at are one."""
    return re.sub(r"[\W_]", "", word).casefold()


@cache
def _validator(name: str) -> Draft202012Validator:
    from jsonschema import Draft202012Validator
    from jsonschema.validators import extend

    keywords = {"items": _items_within_bound}
    validator: type[Draft202012Validator] = extend(Draft202012Validator, keywords)  # type: ignore[no-untyped-call] # jsonschema's
    return validator(load(name), format_checker=format_checker())


def _items_within_bound(
    validator: Draft202012Validator, items: Mapping[str, Any], value: object, schema: Mapping[str, Any]
) -> Iterator[ValidationError]:
    """Yield the violations by the items of a list; of one that is too long that alone is said.

    Each item can take long to judge, such as a pattern that is compiled. Of a list of plain values, which is right or
    wrong as a whole, the first thousand violations do.
    """
    from jsonschema import Draft202012Validator

    if not isinstance(value, list) or len(value) > schema.get("maxItems", len(value)):
        return
    found = Draft202012Validator.VALIDATORS["items"](validator, items, value, schema)
    is_plain = not any(isinstance(each, (dict, list)) for each in value)
    yield from islice(found, _MOST_OF_A_LIST) if is_plain else found


def format_checker() -> FormatChecker:
    """Return a checker of our own formats for jsonschema, without those that it has itself."""
    from jsonschema import FormatChecker

    checker = FormatChecker(())
    for name, problem in FORMATS.items():
        checker.checks(name)(lambda value, problem=problem: not isinstance(value, str) or not problem(value))
    return checker


def _sortable(path: KeyPath) -> tuple[tuple[bool, int, str], ...]:
    return tuple((True, step, "") if isinstance(step, int) else (False, 0, step) for step in path)


class _Violation(NamedTuple):
    """An error of jsonschema: the position, the value, the keyword with its argument; for branches the errors of each.

    If `is_key`, the value is a key of the map at `path`.
    """

    path: KeyPath
    value: Any
    keyword: str
    argument: Any
    schema: Any
    branches: tuple[tuple[_Violation, ...], ...]
    is_key: bool


def _violation(error: ValidationError) -> _Violation:
    branches: dict[object, list[_Violation]] = {}
    for inner in error.context or ():
        branches.setdefault(inner.relative_schema_path[0], []).append(_violation(inner))
    return _Violation(
        path=tuple(error.absolute_path),
        value=error.instance,
        keyword=str(error.validator),
        argument=error.validator_value,
        schema=error.schema,
        branches=tuple(tuple(branch) for branch in branches.values()),
        is_key="propertyNames" in error.absolute_schema_path,
    )


def _faults_of(violation: _Violation, root: Mapping[str, Any]) -> Iterator[SchemaFault]:
    """Yield the faults for one error of jsonschema."""
    if violation.branches:
        yield from _branch_faults(violation, root)
    elif violation.keyword == "additionalProperties" and violation.argument is False:
        yield from _unknown_keys(violation)
    elif violation.keyword == "required":
        yield from _missing_keys(violation, root)
    elif violation.is_key:
        yield _wrong_key(violation, root)
    else:
        yield _wrong_value(violation, root)


def _branch_faults(violation: _Violation, root: Mapping[str, Any]) -> Iterator[SchemaFault]:
    """Yield the faults of the branch that was most likely intended: for the value's type, with the fewest faults."""
    candidates = [
        list(dict.fromkeys(fault for inner in branch for fault in _faults_of(inner, root)))
        for branch in violation.branches
        if not any(inner.keyword == "type" and inner.path == violation.path for inner in branch)
    ]
    if candidates:
        yield from min(candidates, key=len)
    else:
        yield SchemaFault(violation.path, "type", _must_be(violation, root))


def _unknown_keys(violation: _Violation) -> Iterator[SchemaFault]:
    missing = {key for key in violation.schema.get("required", ()) if key not in violation.value}
    allows_own_keys = any(re.search(pattern, "x-") for pattern in violation.schema.get("patternProperties", ()))
    for key, near in _suggestions(violation).items():
        words = f"{_subject((*violation.path, key))} is not a known key"
        if near:
            words += f"; did you mean `{near}`, which is missing?" if near in missing else f"; did you mean `{near}`?"
        elif allows_own_keys:
            words += "; a key of your own begins with x-"
        else:
            words += f"; choose from {', '.join(violation.schema.get('properties', {}))}"
        yield SchemaFault((*violation.path, key), "unknown-key", words, key=key, suggestion=near)


def _suggestions(violation: _Violation) -> dict[str, str]:
    """Return the unknown keys of a map, each with the key that was probably meant, or an empty string.

    That is the one that the schema names as meant (`x-meant`), else the most similar known key that is still free.
    """
    schema, value = violation.schema, violation.value
    if schema.get("additionalProperties") is not False:
        return {}
    properties = schema.get("properties", {})
    patterns = [re.compile(pattern) for pattern in schema.get("patternProperties", ())]
    free = dict.fromkeys(key for key in properties if key not in value)
    suggestions: dict[str, str] = {}
    for key in value:
        if key not in properties and not any(pattern.search(key) for pattern in patterns):
            near = nearest(key, free) if len(suggestions) < MOST_GUESSED else ""
            suggestions[key] = schema.get("x-meant", {}).get(key) or near
            free.pop(suggestions[key], None)
    return suggestions


def _wrong_key(violation: _Violation, root: Mapping[str, Any]) -> SchemaFault:
    path = (*violation.path, violation.value)
    words = f"{_subject(path)} is not an allowed key; it must be {_expected(violation.schema, root) or 'another'}"
    return SchemaFault(path, "unknown-key", words, key=violation.value)


def _missing_keys(violation: _Violation, root: Mapping[str, Any]) -> Iterator[SchemaFault]:
    suggested = _suggestions(violation).values()
    for key in violation.argument:
        if key not in violation.value and key not in suggested:
            expected = _expected(violation.schema.get("properties", {}).get(key, {}), root)
            words = (
                f"{_subject(violation.path)} lacks the key `{key}`" if violation.path else f"the key `{key}` is missing"
            )
            yield SchemaFault(violation.path, "required", f"{words}: {expected}" if expected else words, key=key)


def _wrong_value(violation: _Violation, root: Mapping[str, Any]) -> SchemaFault:
    path, value, keyword, argument = violation.path, violation.value, violation.keyword, violation.argument
    if keyword == "format":
        return SchemaFault(path, keyword, f"{_subject(path)} {FORMATS[argument](value)}")
    if keyword in _LIMIT_MESSAGES:
        return SchemaFault(path, keyword, f"{_subject(path)} {_LIMIT_MESSAGES[keyword](value, argument)}")
    words = _must_be(violation, root)
    if keyword == "enum" and isinstance(value, str):
        near = nearest(value, [each for each in argument if isinstance(each, str)])
        return SchemaFault(path, keyword, f"{words}; did you mean {near}?" if near else words, suggestion=near)
    if (
        keyword == "type"
        and isinstance(value, str)
        and any(TYPES[each](resolve_plain(value)) for each in _as_list(argument))
    ):
        words += "; drop the quotes"
    return SchemaFault(path, keyword, words)


def _subject(path: KeyPath) -> str:
    return f"`{json_path(path)}`" if path else "the value as a whole"


def _must_be(violation: _Violation, root: Mapping[str, Any]) -> str:
    expected = _expected(violation.schema, root) or "something else"
    return f"{_subject(violation.path)} is {_shown(violation.value)}; it must be {expected}"


def _expected(schema: Mapping[str, Any], root: Mapping[str, Any]) -> str:
    """Return the values that a schema allows, in words; an `x-form` of the schema is preferred."""
    parts = list(alternatives(schema, root))
    for part in parts:
        if "x-form" in part:
            return str(part["x-form"])
        if "enum" in part:
            return "one of " + ", ".join(_unquoted(each) for each in part["enum"])
        if "const" in part:
            return _unquoted(part["const"])
    types = dict.fromkeys(name for part in parts for name in types_of(part))
    words = [_TYPE_WORDS[name] for name in types]
    if any("x-timestamp" in part for part in parts):
        words[0] = "a time in UTC such as 2026-01-31T12:00:00Z"
    return " or ".join(words)


def _as_list(types: str | list[str]) -> list[str]:
    return [types] if isinstance(types, str) else types


def _unquoted(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value)


def _shown(value: object) -> str:
    """Return a value for a message: short, on one line, and without characters that a terminal would act on."""
    if isinstance(value, dict):
        return _TYPE_WORDS["object"]
    if isinstance(value, list):
        return _TYPE_WORDS["array"]
    if value is None:
        return "empty (null)"
    if not isinstance(value, str):
        return json.dumps(value, default=str)[:_MAX_SHOWN]  # a value from TOML may be a date
    short = value if len(value) <= _MAX_SHOWN else value[:_MAX_SHOWN] + "…"
    return '"' + "".join(char if char.isprintable() else _written_out(char) for char in short) + '"'


def _written_out(char: str) -> str:
    return f"\\u{ord(char):04x}" if char <= "\uffff" else f"\\U{ord(char):08x}"


def _duplicate(value: list[Any]) -> str:
    return next((_shown(item) for index, item in enumerate(value) if item in value[:index]), "an item")


def _items(count: int) -> str:
    return f"{count} item" if count == 1 else f"{count} items"


_LIMIT_MESSAGES: Mapping[str, Callable[[Any, Any], str]] = {
    "minLength": lambda value, least: (
        f"is {_shown(value)}; it must have at least {least} characters" if value else "is empty"
    ),
    "maxLength": lambda value, most: f"has {len(value)} characters; at most {most} are allowed",
    "minimum": lambda value, least: f"is {value}; it must be at least {least}",
    "maximum": lambda value, most: f"is {value}; it must be at most {most}",
    "minItems": lambda value, least: f"has {_items(len(value))}; it must have at least {least}",
    "maxItems": lambda value, most: f"has {_items(len(value))}; it must have at most {most}",
    "uniqueItems": lambda value, _: f"names {_duplicate(value)} twice",
}
