"""The flags that many commands share; they stand beside the fields of an operation, with an underscore before."""

from __future__ import annotations

from taskstate.operations.operation import Field
from taskstate.typed import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from taskstate.operations.operation import Operation

COMMON, WRITING = "common flags", "flags of commands that write"
SHARED: Mapping[str, tuple[Field, ...]] = {
    COMMON: (
        Field("output format (default: text)", flag="format", choices=("text", "json"), default="text"),
        Field("root of the repository (default: TASKSTATE_ROOT, or the nearest one upwards)", "DIR", flag="root"),
        Field("path to the configuration file", "FILE", flag="config"),
        Field("print only errors and JSON", flag="quiet", kind="bool"),
        Field("print more details", flag="verbose", kind="bool"),
        Field("disable colours (also: NO_COLOR)", flag="no-color", kind="bool"),
    ),
    WRITING: (
        Field("name to record as author (default: TASKSTATE_ACTOR, the git user, or the login)", "NAME", flag="actor"),
        Field("fail if the file is not at this revision, such as 14 or 14-1a2b3c4d", "TOKEN", flag="expect-revision"),
        Field("print the changes as a unified diff, and write nothing", flag="dry-run", kind="bool"),
        Field(
            "write even if the text looks like it contains credentials; this is recorded in the audit",
            flag="force-secrets",
            kind="bool",
        ),
    ),
}


def shared_by(operation: Operation) -> Mapping[str, tuple[Field, ...]]:
    """Return the flags that an operation shares with others, by the title of each group."""
    return {title: fields for title, fields in SHARED.items() if operation.writes or title == COMMON}


def name_of(field: Field) -> str:
    """Return the flag of a field as it is written."""
    return f"--{field.external.replace('_', '-')}"
