"""Validates values by the published JSON Schemas, and reads YAML scalars by them.

    schema_files      loads the schemas and resolves their references
    schema_compiler   says whether a value is valid, for the keywords that our schemas use
    schema_errors     words what is wrong, by jsonschema; imported only when something is
    typed_values      converts a span tree to values: where the schema says string, a scalar is its source text

The schemas themselves are checked by the tests, not at run time. No key is known here by its name.
"""

from __future__ import annotations

from taskstate.typed import TYPE_CHECKING
from taskstate.validation.schema_compiler import is_valid
from taskstate.validation.schema_files import load
from taskstate.validation.typed_values import annotated, holds, typed_value

if TYPE_CHECKING:
    from taskstate.validation.schema_errors import SchemaFault

__all__ = ["annotated", "faults", "holds", "is_valid", "load", "typed_value"]


def faults(value: object, name: str) -> tuple[SchemaFault, ...]:
    """Return the violations of the named schema by `value`, one fault for each thing to correct, sorted by path."""
    if is_valid(value, name):
        return ()
    from taskstate.validation.schema_errors import find

    return find(value, name)
