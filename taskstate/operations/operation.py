"""What an operation is: a job that doors offer, and the fields that it takes.

The command line's parsers and help, the tools of MCP and the page of commands are made from these records.
"""

from __future__ import annotations

from functools import cached_property

from taskstate.typed import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path
    from typing import Any, TypeAlias

    from taskstate.operations.result import Result

    # What the annotation of a field can say besides `str`, `int`, `float`, `bool`, `Source`; doors read it as text.
    TaskId: TypeAlias = str  # a task, in any of its forms; `Call.task_id` returns its id
    Text: TypeAlias = str  # a text, for which the command line also takes `-`: standard input
    Name: TypeAlias = str  # not empty where it is given, as from an unset variable of a shell
    Line: TypeAlias = str  # the same, and in one line
    FilePath: TypeAlias = Path  # a file or folder; the command line looks from the working folder, others from the root
    Fields: TypeAlias = Mapping[str, Any]  # the values of a table's rows, by key


class Field(NamedTuple):
    """A field of an operation; a record of arguments has one in the place of each default.

    `flag` is its name for users where it is not that of the record's field. A positional field comes without a flag on
    the command line. Values of a list `by_comma` may also be given at once, with commas between them; of one `in_a_row`
    several may follow the flag. `example` stands for the value in a usage line. The rest comes from the record: `name`,
    and out of the annotation `kind`, the type of one value as text, and whether there may be several (`is_list`) or
    none (`is_optional`). `group` is the field of the record that takes this one, for the rows of a table.
    """

    help: str
    example: str = ""
    flag: str = ""
    default: Any = None
    choices: tuple[str, ...] = ()
    is_positional: bool = False
    is_required: bool = False
    by_comma: bool = False
    alone: str = ""
    in_a_row: bool = False
    name: str = ""
    kind: str = "str"
    is_list: bool = False
    is_optional: bool = False
    group: str = ""

    @property
    def external(self) -> str:
        """The name for users, as a key: of the flag `--send-back` it is `send_back`."""
        return self.flag.replace("-", "_") or self.name


class _Operation(NamedTuple):
    name: str
    summary: str
    run: Callable[[Any, Any], Result]  # a door passes its own kind of `Call`
    arguments: Callable[..., Any]
    writes: bool = False
    compares: str = ""
    groups: Mapping[str, tuple[Field, ...]] = {}
    apart: tuple[tuple[str, ...], ...] = ()
    one_of: tuple[str, ...] = ()
    together: tuple[tuple[str, str, str], ...] = ()
    is_view: bool = False


# A subclass, because a NamedTuple itself has no `__dict__` that could hold the fields.
class Operation(_Operation):
    """A job that doors offer: its words, what it does in a few, the function that does it, the record of its arguments.

    `run` takes the call and a record as `arguments.make` builds it; its docstring is the help. `groups` has the rows of
    a table for each field that is declared by `group`. An operation that `writes` also takes the conditions of a write.
    One that changes roles, results or snapshots says with what it `compares` the working tree before.
    Of each tuple in `apart` at most one flag is given, of `one_of` exactly one; `together` has flags with the one that
    they need, and why. What `is_view` has a field `watch`, with which a terminal shows it again and again.
    """

    @property
    def about(self) -> str:
        """What the operation does, in sentences: the docstring of its function, but for what that raises.

        The flags of which one is needed are named, since nothing else in the help or the reference says so.
        """
        does = " ".join((self.run.__doc__ or "").partition("Raises:")[0].split())
        return f"{does} One of {', '.join(self.one_of)} is needed." if self.one_of else does

    @cached_property
    def fields(self) -> tuple[Field, ...]:
        """The fields, in the order of the record."""
        record: Any = self.arguments
        found: list[Field] = []
        for name, annotation in record.__annotations__.items():
            if name in self.groups:
                found += (row._replace(group=name) for row in self.groups[name])
            else:
                found.append(_declared(name, annotation, record._field_defaults[name]))
        return tuple(found)


def positional(example: str, help: str, **more: Any) -> Any:  # noqa: A002, ANN401 - declared as the value of any field
    """Return a field that is told by its place; it must be given unless it has a default or may be none."""
    return Field(help, example, is_positional=True, **more)


def option(example: str, help: str, **more: Any) -> Any:  # noqa: A002, ANN401 - declared as the value of any field
    """Return a field that is told by its flag; whoever does not give it gets its default."""
    return Field(help, example, **more)


def switch(help: str, **more: Any) -> Any:  # noqa: A002, ANN401 - declared as the value of any field
    """Return a field that is on or off."""
    return Field(help, default=False, **more)


def group() -> Any:  # noqa: ANN401 - declared as the value of any field
    """Return the place of fields that a table declares; the record gets a mapping of their values."""
    return Field("", kind="group")


TASK = positional("ID", "task: 101, #101, TASK-101, task-101-state.md or a path")


EXPECT_TREE = option("TREE", "accept drift only if the tree still has this id, printed by `snapshot verify`")


class OfTask(NamedTuple):
    """The arguments of an operation on a task that takes no others."""

    id: TaskId = TASK


def _declared(name: str, annotation: str, field: Field) -> Field:
    is_optional = annotation.endswith(" | None")
    kind = annotation.removesuffix(" | None")
    is_list = kind.startswith("tuple[")
    kind = kind.removeprefix("tuple[").removesuffix(", ...]")
    return field._replace(name=name, kind=kind, is_list=is_list, is_optional=is_optional)


def default_of(field: Field) -> Any:  # noqa: ANN401 - of any kind
    """Return the value of a field that is not given."""
    if field.default is not None or field.is_optional:
        return field.default
    return () if field.is_list else {"bool": False, "int": None, "float": None, "Source": None}.get(field.kind, "")


def is_required(field: Field) -> bool:
    """Return whether the operation cannot do without the field: so is a positional one, unless it has a default."""
    return field.is_required or (
        field.is_positional and not (field.is_optional or field.is_list) and field.default is None
    )


# The flags that operations share at the command line, where they stand beside the fields, with an underscore before.
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
