from __future__ import annotations

import pickle
from typing import get_type_hints

import pytest

from taskstate.typed import Generic, NamedTuple, TypeVar

T = TypeVar("T")


class Record(NamedTuple):
    """A record."""

    name: str
    parts: tuple[str, ...] = ()
    limit: int = 3

    @property
    def is_empty(self) -> bool:
        """Whether it has no parts."""
        return not self.parts

    def named(self, name: str) -> Record:
        """Return it under another name."""
        return self._replace(name=name)


class Pair(NamedTuple, Generic[T]):
    """A record with a parameter."""

    one: T
    other: T


class Box(Generic[T]):
    """A class with a parameter."""

    def __init__(self, content: T) -> None:
        self.content = content


def test_a_record_has_fields_defaults_methods_and_types() -> None:
    """It is what `typing.NamedTuple` makes of the same statement."""
    record = Record("a", limit=4)
    assert tuple(record) == ("a", (), 4)
    assert repr(record) == "Record(name='a', parts=(), limit=4)"
    assert record.is_empty
    assert record.named("b").name == "b"
    assert (Record._fields, Record.__doc__) == (("name", "parts", "limit"), "A record.")
    assert get_type_hints(Record) == {"name": str, "parts": tuple[str, ...], "limit": int}
    assert pickle.loads(pickle.dumps(record)) == record  # noqa: S301 - its own
    assert record._asdict() == {"name": "a", "parts": (), "limit": 4}
    assert Record._make(("c", (), 1)) == Record("c", limit=1)
    match record:
        case Record(name, parts=()):
            assert name == "a"
        case _:
            pytest.fail("it does not match its own fields")


def test_a_field_that_is_missing_or_unknown_is_refused() -> None:
    """As by any tuple with named fields."""
    with pytest.raises(TypeError):
        Record()  # type: ignore[call-arg]
    with pytest.raises(TypeError):
        Record("a", size=4)  # type: ignore[call-arg]
    with pytest.raises(TypeError):
        Record._make(("a",))
    with pytest.raises(ValueError, match="size"):
        Record("a")._replace(size=4)  # type: ignore[call-arg]
    with pytest.raises(AttributeError):
        Record("a").name = "b"  # type: ignore[misc]


def test_parameters_mean_nothing_at_run_time() -> None:
    """A class and a record with parameters are made with and without them."""
    assert Box[int](4).content == Box(4).content
    assert Pair(1, 2)._replace(other=3) == Pair[int](1, 3)
