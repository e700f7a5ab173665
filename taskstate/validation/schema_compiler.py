"""Says quickly whether a value is valid: a schema becomes a function once.

Exact, or it declines: only the keywords that our schemas use are known, and of those only the plain forms. What is
wrong is not said here; jsonschema says it (`findings`), and the tests hold both against each other.
"""

from __future__ import annotations

import re
from functools import cache, reduce
from typing import TYPE_CHECKING, Any, TypeAlias

from taskstate.validation.formats import FORMATS
from taskstate.validation.schema_files import load, resolved, types_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from taskstate.validation.schema_files import Schema

    Test: TypeAlias = Callable[[Any], bool]

_ANNOTATIONS = frozenset({"$schema", "$id", "$defs", "$comment", "title", "description", "examples", "default"})


class _DeclinedError(Exception):
    """The schema uses a keyword, or a form of one, that is not known here."""


def is_valid(value: object, schema: str | Mapping[str, Any]) -> bool | None:
    """Return whether `value` meets a schema (given by name, or itself), or None where that cannot be said quickly."""
    try:
        return (_of_name(schema) if isinstance(schema, str) else _compiled(schema))(value)
    except (_DeclinedError, KeyError, re.error):
        return None


@cache
def _of_name(name: str) -> Test:
    return _compiled(load(name))


def _compiled(schema: Mapping[str, Any]) -> Test:
    return _Compiler(schema).test(schema)


class _Compiler:
    """Turns one schema into a function: each part of it once, and the value of a key when a map first has that key."""

    def __init__(self, root: Mapping[str, Any]) -> None:
        self._root = root
        self._tests: dict[int, Test | None] = {}

    def test(self, schema: Schema) -> Test:
        """Return the test of a schema: of all its keywords at once."""
        if isinstance(schema, bool):
            return lambda _: schema
        if id(schema) not in self._tests:
            self._tests[id(schema)] = None
            self._tests[id(schema)] = self._built(schema)
        found = self._tests[id(schema)]
        if found is None:  # it leads back to itself
            raise _DeclinedError
        return found

    def _built(self, schema: Mapping[str, Any]) -> Test:
        keywords = {key for key in schema if key not in _ANNOTATIONS and not key.startswith("x-")}
        if not keywords <= _KNOWN:
            raise _DeclinedError
        tests = [make(schema[keyword]) for keyword, make in _SIMPLE.items() if keyword in keywords]
        tests += [make(self, schema) for keyword, make in _NESTED.items() if keyword in keywords]
        if keywords & _OF_OBJECTS:
            tests.append(self._object(schema))
        return reduce(_both, tests) if tests else lambda _: True

    def ref(self, schema: Mapping[str, Any]) -> Test:
        """Return the test of what a schema refers to."""
        return self.test(resolved(schema["$ref"], self._root))

    def items(self, schema: Mapping[str, Any]) -> Test:
        """Return the test of each item of a list."""
        test = self.test(schema["items"])
        return lambda value: not isinstance(value, list) or all(map(test, value))

    def names(self, schema: Mapping[str, Any]) -> Test:
        """Return the test of each key of a map."""
        test = self.test(schema["propertyNames"])
        return lambda value: not isinstance(value, dict) or all(map(test, value))

    def unique(self, schema: Mapping[str, Any]) -> Test:
        """Return the test that no item stands twice: simple where `items` lets only texts and whole numbers in."""
        items = schema.get("items", True)
        if isinstance(items, bool):
            raise _DeclinedError
        types = types_of(resolved(items["$ref"], self._root) if "$ref" in items else items)
        if not types or not {"string", "integer"}.issuperset(types) or schema["uniqueItems"] is not True:
            raise _DeclinedError
        sound = self.items(schema)
        return lambda value: not isinstance(value, list) or not sound(value) or len(set(value)) == len(value)

    def any_of(self, schema: Mapping[str, Any]) -> Test:
        """Return the test that a value meets a branch."""
        tests = [self.test(each) for each in schema["anyOf"]]
        return lambda value: any(test(value) for test in tests)

    def one_of(self, schema: Mapping[str, Any]) -> Test:
        """Return the test that a value meets exactly one branch."""
        tests = [self.test(each) for each in schema["oneOf"]]
        return lambda value: sum(test(value) for test in tests) == 1

    def negated(self, schema: Mapping[str, Any]) -> Test:
        """Return the test that a value does not meet a schema."""
        test = self.test(schema["not"])
        return lambda value: not test(value)

    def _object(self, schema: Mapping[str, Any]) -> Test:
        properties, rest = schema.get("properties", {}), schema.get("additionalProperties", True)
        patterns = [(re.compile(key).search, each) for key, each in schema.get("patternProperties", {}).items()]
        known: dict[str, Test] = {}

        def of_key(key: str) -> Test:
            schemas = [each for search, each in patterns if search(key)]
            schemas += [properties[key]] if key in properties else []
            test = reduce(_both, [self.test(each) for each in schemas or [rest]])
            if key in properties:
                known[key] = test
            return test

        def test(value: object) -> bool:
            if isinstance(value, dict):
                for key, each in value.items():
                    if not (known.get(key) or of_key(key))(each):
                        return False
            return True

        return test


def _either(one: Test, other: Test) -> Test:
    return lambda value: one(value) or other(value)


def _both(one: Test, other: Test) -> Test:
    return lambda value: one(value) and other(value)


def is_integer(value: object) -> bool:
    """Return whether a value is a whole number as JSON Schema has it: 1.0 is one, True is none."""
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
    return lambda value: any(value == each and isinstance(value, bool) == isinstance(each, bool) for each in allowed)


def _pattern(pattern: str) -> Test:
    search = re.compile(pattern).search
    return lambda value: not isinstance(value, str) or search(value) is not None


def _format(name: str) -> Test:
    problem = FORMATS.get(name)
    return lambda value: problem is None or not isinstance(value, str) or not problem(value)


_SIMPLE: Mapping[str, Callable[[Any], Test]] = {
    "type": _type,
    "enum": _enum,
    "const": lambda wanted: _enum([wanted]),
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
_NESTED: Mapping[str, Callable[[_Compiler, Mapping[str, Any]], Test]] = {
    "$ref": _Compiler.ref,
    "items": _Compiler.items,
    "propertyNames": _Compiler.names,
    "uniqueItems": _Compiler.unique,
    "anyOf": _Compiler.any_of,
    "oneOf": _Compiler.one_of,
    "not": _Compiler.negated,
}
_OF_OBJECTS = frozenset({"properties", "patternProperties", "additionalProperties"})
_KNOWN = _SIMPLE.keys() | _NESTED.keys() | _OF_OBJECTS
