"""Compiles a JSON Schema into a function that says quickly whether a value is valid.

Exact, or it declines: only the keywords that our schemas use are supported, and only in their plain forms. It
does not say what is wrong; jsonschema does (`schema_errors`), and property tests compare the two.
"""

from __future__ import annotations

import re
from functools import cache, reduce

from taskstate.typed import TYPE_CHECKING
from taskstate.validation.formats import FORMATS
from taskstate.validation.schema_files import load, resolved, types_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any, TypeAlias

    from taskstate.validation.schema_files import Schema

    Test: TypeAlias = Callable[[Any], bool]

_ANNOTATIONS = frozenset({"$schema", "$id", "$defs", "$comment", "title", "description", "examples", "default"})


class _DeclinedError(Exception):
    """The schema uses a keyword, or a form of one, that is not supported here."""


def is_valid(value: object, schema: str | Mapping[str, Any]) -> bool | None:
    """Return whether `value` is valid by a schema (its name, or the schema itself), or None if that is undecided."""
    try:
        return (_compiled_by_name(schema) if isinstance(schema, str) else _compiled(schema))(value)
    except (_DeclinedError, KeyError, re.error):
        return None


@cache
def _compiled_by_name(name: str) -> Test:
    return _compiled(load(name))


def _compiled(schema: Mapping[str, Any]) -> Test:
    return _Compiler(schema).test(schema)


class _Compiler:
    """Compiles one schema: each subschema once, and that of a key when a value first has the key."""

    def __init__(self, root: Mapping[str, Any]) -> None:
        self._root = root
        self._tests: dict[int, Test | None] = {}

    def test(self, schema: Schema) -> Test:
        """Return the test for all keywords of a schema."""
        if isinstance(schema, bool):
            return lambda _: schema
        if id(schema) not in self._tests:
            self._tests[id(schema)] = None
            self._tests[id(schema)] = self._built(schema)
        test = self._tests[id(schema)]
        if test is None:  # the schema refers to itself and is still being compiled
            raise _DeclinedError
        return test

    def _built(self, schema: Mapping[str, Any]) -> Test:
        keywords = {key for key in schema if key not in _ANNOTATIONS and not key.startswith("x-")}
        if not keywords <= _KNOWN_KEYWORDS:
            raise _DeclinedError
        tests = [make(schema[keyword]) for keyword, make in _PLAIN_KEYWORDS.items() if keyword in keywords]
        tests += [make(self, schema) for keyword, make in _SUBSCHEMA_KEYWORDS.items() if keyword in keywords]
        if keywords & _OBJECT_KEYWORDS:
            tests.append(self._object(schema))
        return reduce(_both, tests) if tests else lambda _: True

    def ref(self, schema: Mapping[str, Any]) -> Test:
        """Return the test for the target of `$ref`."""
        return self.test(resolved(schema["$ref"], self._root))

    def items(self, schema: Mapping[str, Any]) -> Test:
        """Return the test for each item of a list."""
        test = self.test(schema["items"])
        return lambda value: not isinstance(value, list) or all(map(test, value))

    def names(self, schema: Mapping[str, Any]) -> Test:
        """Return the test for each key of a map."""
        test = self.test(schema["propertyNames"])
        return lambda value: not isinstance(value, dict) or all(map(test, value))

    def unique(self, schema: Mapping[str, Any]) -> Test:
        """Return the test that all items differ; declined unless `items` allows only strings and integers.

        Those are hashable, and Python compares them as JSON Schema does.
        """
        items = schema.get("items", True)
        if isinstance(items, bool):
            raise _DeclinedError
        types = types_of(resolved(items["$ref"], self._root) if "$ref" in items else items)
        if not types or not {"string", "integer"}.issuperset(types) or schema["uniqueItems"] is not True:
            raise _DeclinedError
        sound = self.items(schema)
        return lambda value: not isinstance(value, list) or not sound(value) or len(set(value)) == len(value)

    def any_of(self, schema: Mapping[str, Any]) -> Test:
        """Return the test that a value is valid by at least one branch."""
        tests = [self.test(each) for each in schema["anyOf"]]
        return lambda value: any(test(value) for test in tests)

    def one_of(self, schema: Mapping[str, Any]) -> Test:
        """Return the test that a value is valid by exactly one branch."""
        tests = [self.test(each) for each in schema["oneOf"]]
        return lambda value: sum(test(value) for test in tests) == 1

    def negated(self, schema: Mapping[str, Any]) -> Test:
        """Return the test that a value is not valid by a schema."""
        test = self.test(schema["not"])
        return lambda value: not test(value)

    def _object(self, schema: Mapping[str, Any]) -> Test:
        properties, rest = schema.get("properties", {}), schema.get("additionalProperties", True)
        patterns = [(re.compile(key).search, each) for key, each in schema.get("patternProperties", {}).items()]
        test_by_key: dict[str, Test] = {}

        def compile_key(key: str) -> Test:
            schemas = [each for search, each in patterns if search(key)]
            schemas += [properties[key]] if key in properties else []
            test = reduce(_both, [self.test(each) for each in schemas or [rest]])
            if key in properties:  # other keys are chosen by the user: caching them would grow without limit
                test_by_key[key] = test
            return test

        def test(value: object) -> bool:
            if isinstance(value, dict):
                for key, each in value.items():
                    if not (test_by_key.get(key) or compile_key(key))(each):
                        return False
            return True

        return test


def _either(one: Test, other: Test) -> Test:
    return lambda value: one(value) or other(value)


def _both(one: Test, other: Test) -> Test:
    return lambda value: one(value) and other(value)


def is_integer(value: object) -> bool:
    """Return whether a value is an integer for JSON Schema: 1.0 is one, True is not."""
    return (isinstance(value, int) and not isinstance(value, bool)) or (isinstance(value, float) and value.is_integer())


def _is_number(value: object) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


TYPES: Mapping[str, Test] = {
    "string": lambda value: isinstance(value, str),
    "integer": is_integer,
    "number": _is_number,
    "boolean": lambda value: isinstance(value, bool),
    "null": lambda value: value is None,
    "object": lambda value: isinstance(value, dict),
    "array": lambda value: isinstance(value, list),
}


def _type(types: str | list[str]) -> Test:
    tests = [TYPES[name] for name in ([types] if isinstance(types, str) else types)]
    return reduce(_either, tests)


def _enum(allowed: list[Any]) -> Test:
    if any(isinstance(each, (dict, list)) for each in allowed):
        raise _DeclinedError
    if all(isinstance(each, str) for each in allowed):
        texts = frozenset(allowed)
        return lambda value: isinstance(value, str) and value in texts
    # In Python 1 == True, in JSON Schema it is not.
    return lambda value: any(value == each and isinstance(value, bool) == isinstance(each, bool) for each in allowed)


def _pattern(pattern: str) -> Test:
    search = re.compile(pattern).search
    return lambda value: not isinstance(value, str) or search(value) is not None


def _format(name: str) -> Test:
    problem = FORMATS.get(name)
    return lambda value: problem is None or not isinstance(value, str) or not problem(value)


_PLAIN_KEYWORDS: Mapping[str, Callable[[Any], Test]] = {
    "type": _type,
    "enum": _enum,
    "const": lambda expected: _enum([expected]),
    "pattern": _pattern,
    "format": _format,
    "minLength": lambda least: lambda value: not isinstance(value, str) or len(value) >= least,
    "maxLength": lambda most: lambda value: not isinstance(value, str) or len(value) <= most,
    "minimum": lambda least: lambda value: not _is_number(value) or value >= least,
    "maximum": lambda most: lambda value: not _is_number(value) or value <= most,
    "minItems": lambda least: lambda value: not isinstance(value, list) or len(value) >= least,
    "maxItems": lambda most: lambda value: not isinstance(value, list) or len(value) <= most,
    "required": lambda keys: lambda value: not isinstance(value, dict) or all(key in value for key in keys),
}
_SUBSCHEMA_KEYWORDS: Mapping[str, Callable[[_Compiler, Mapping[str, Any]], Test]] = {
    "$ref": _Compiler.ref,
    "items": _Compiler.items,
    "propertyNames": _Compiler.names,
    "uniqueItems": _Compiler.unique,
    "anyOf": _Compiler.any_of,
    "oneOf": _Compiler.one_of,
    "not": _Compiler.negated,
}
_OBJECT_KEYWORDS = frozenset({"properties", "patternProperties", "additionalProperties"})
_KNOWN_KEYWORDS = _PLAIN_KEYWORDS.keys() | _SUBSCHEMA_KEYWORDS.keys() | _OBJECT_KEYWORDS
