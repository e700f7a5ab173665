"""The names of `typing` that are needed at run time, without what they cost there at every start.

Importing `typing` takes 3 ms where `python -c pass` takes 10. Its `NamedTuple` compiles the annotation of each field
and a constructor for each record: 0.1 ms, where a command defines a hundred records; here it is 0.01 ms. Type checkers
see the originals.
"""

from __future__ import annotations

TYPE_CHECKING = False

if TYPE_CHECKING:
    from typing import Generic, NamedTuple, TypeVar
else:
    from collections import _tuplegetter
    from functools import cache
    from types import FunctionType

    @cache
    def _constructor(count: int) -> FunctionType:
        """Return a constructor for records of so many fields; with other names for its arguments it fits them all."""
        names = "".join(f"_{number}, " for number in range(count))
        return eval(f"lambda _cls, {names}: _new(_cls, ({names}))", {"_new": tuple.__new__})  # noqa: S307 - as namedtuple

    class _Record(tuple):
        """What all records share; as in `collections.namedtuple`."""

        __slots__ = ()
        _fields = ()

        @classmethod
        def _make(cls, values: object) -> _Record:
            made = tuple.__new__(cls, values)
            if len(made) != len(cls._fields):
                raise TypeError(f"{cls.__name__} has {len(cls._fields)} fields, not {len(made)}")
            return made

        def _replace(self, **changes: object) -> _Record:
            replaced = tuple.__new__(type(self), map(changes.pop, self._fields, self))
            if changes:
                raise ValueError(f"there are no fields {', '.join(changes)}")
            return replaced

        def _asdict(self) -> dict[str, object]:
            return dict(zip(self._fields, self, strict=True))

        def __repr__(self) -> str:
            fields = (f"{name}={value!r}" for name, value in zip(self._fields, self, strict=True))
            return f"{type(self).__name__}({', '.join(fields)})"

        def __getnewargs__(self) -> tuple[object, ...]:
            """Return the values, of which `pickle` and `copy` make a record again."""
            return tuple(self)

    class _RecordType(type):
        """Makes a record out of a class statement: its annotations are the fields, in their order."""

        def __new__(cls, name: str, bases: tuple[type, ...], body: dict[str, object]) -> type:
            if not bases:
                return super().__new__(cls, name, bases, body)
            fields = tuple(body.get("__annotations__", ()))
            like = _constructor(len(fields))
            code = like.__code__.replace(
                co_varnames=("_cls", *fields), co_name="__new__", co_qualname=f"{name}.__new__"
            )
            given = {field: body[field] for field in fields if field in body}
            body |= {field: _tuplegetter(index, "") for index, field in enumerate(fields)}
            body |= {"__slots__": (), "_fields": fields, "_field_defaults": given, "__match_args__": fields}
            body["__new__"] = FunctionType(code, like.__globals__, "__new__", tuple(given.values()))
            return type(name, (_Record,), body)

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
