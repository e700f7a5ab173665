"""The names of `typing` that are needed at run time, without what they cost there at every start.

Importing `typing` takes 3 ms where `python -c pass` takes 10, and its `NamedTuple` compiles the annotation of each
field: 0.1 ms for a record, where a command defines a hundred of them. Type checkers see the originals.
"""

from __future__ import annotations

from collections import namedtuple

TYPE_CHECKING = False

if TYPE_CHECKING:
    from typing import Generic, NamedTuple, TypeVar
else:
    _OF_TUPLES = frozenset({"__slots__", "__module__", "__dict__"})  # what `namedtuple` has put there

    class _RecordType(type):
        """Makes a tuple with named fields out of a class statement, with its defaults and methods."""

        def __new__(cls, name: str, bases: tuple[type, ...], namespace: dict[str, object]) -> type:
            if not bases:
                return super().__new__(cls, name, bases, namespace)
            fields = namespace.get("__annotations__", {})
            defaults = [namespace[field] for field in fields if field in namespace]
            record = namedtuple(name, fields, defaults=defaults, module=namespace["__module__"])  # noqa: PYI024 - see above
            for key in namespace.keys() - fields.keys() - _OF_TUPLES:
                setattr(record, key, namespace[key])
            return record

    class NamedTuple(metaclass=_RecordType):
        """The base of a record, with a class statement as for `typing.NamedTuple`."""

    class Generic:
        """The base of a class with parameters, which mean nothing at run time."""

        def __class_getitem__(cls, _parameters: object) -> type:
            return cls

    def TypeVar(name: str, *_allowed: object, **_options: object) -> str:  # noqa: N802 - its name in `typing`
        """Return a parameter, which means nothing at run time."""
        return name


__all__ = ["TYPE_CHECKING", "Generic", "NamedTuple", "TypeVar"]
