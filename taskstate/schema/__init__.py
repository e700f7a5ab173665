"""Holds values against the published JSON Schemas, and reads YAML scalars by them.

    published   the schemas themselves, and what a part of one comes down to
    quick       whether a value is valid: for the few keywords that our schemas use, and nothing but whether
    findings    what is wrong, worded, by jsonschema; imported only when something is
    typed       a span tree as values, by the rule that strings are strings

No schema is checked at run time, and no key is known here by its name.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from taskstate.schema.published import load
from taskstate.schema.quick import is_valid
from taskstate.schema.typed import annotated, typed_value

if TYPE_CHECKING:
    from taskstate.schema.published import KeyPath

__all__ = ["SchemaFault", "annotated", "faults", "is_valid", "load", "typed_value"]


class SchemaFault(NamedTuple):
    """One thing that breaks a schema.

    `path` leads to the value, for an unknown key (keyword "unknown-key") to that key, for a missing one (keyword
    "required") to the map that lacks `key`; `where` is the same in writing, such as `features[3].passes`. `suggestion`
    is the known key or allowed value that is nearest to what stands there, or empty.
    """

    path: KeyPath
    where: str
    keyword: str
    message: str
    key: str = ""
    suggestion: str = ""


def faults(value: object, name: str) -> tuple[SchemaFault, ...]:
    """Return what in `value` breaks the schema of that name, one fault for each thing to mend, sorted by path."""
    if is_valid(value, name):
        return ()
    from taskstate.schema.findings import find

    return find(value, name)
