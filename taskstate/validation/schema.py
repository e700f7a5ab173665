"""Holds values against the published JSON Schemas, and reads YAML scalars by them.

    published   the schemas themselves, and what a part of one comes down to
    quick       whether a value is valid: for the few keywords that our schemas use, and nothing but whether
    findings    what is wrong, worded, by jsonschema; imported only when something is
    typed       a span tree as values, by the rule that strings are strings

No schema is checked at run time, and no key is known here by its name.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from taskstate.validation.schema_compiler import is_valid
from taskstate.validation.schema_files import load
from taskstate.validation.typed_values import annotated, typed_value

if TYPE_CHECKING:
    from taskstate.validation.schema_errors import SchemaFault

__all__ = ["annotated", "faults", "is_valid", "load", "typed_value"]


def faults(value: object, name: str) -> tuple[SchemaFault, ...]:
    """Return what in `value` breaks the schema of that name, one fault for each thing to mend, sorted by path."""
    if is_valid(value, name):
        return ()
    from taskstate.validation.schema_errors import find

    return find(value, name)
