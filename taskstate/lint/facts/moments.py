"""Tells which times exist, and which times of a file are in the future, for the rules that compare times.

`datetime` is not asked: it takes a millisecond to import, which is much of the time that one file takes.
"""

from __future__ import annotations

import re
from functools import lru_cache

from taskstate.typed import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Mapping

    from taskstate.lint.queries.interface import Queries

_T = TypeVar("_T")
_TIMESTAMP = r"([0-9]{4})-([0-9]{2})-([0-9]{2})T([0-9]{2}):([0-9]{2}):([0-9]{2})Z"
_DAYS = (31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)  # of the months
_FEBRUARY = 2
_FIRST_YEAR = 1000  # earlier ones are typing errors, and `strftime` does not write them with four digits
_SECONDS = ":00Z"


@lru_cache(maxsize=20_000)  # several rules ask for the time of every session
def is_timestamp(text: str) -> bool:
    """Return whether a text is a time of the form `YYYY-MM-DDTHH:MM:SSZ` that exists in the calendar."""
    match = re.compile(_TIMESTAMP).fullmatch(text)
    if match is None:
        return False
    year, month, day, hour, minute, second = map(int, match.groups())
    if not (1 <= month <= len(_DAYS) and hour < 24 and minute < 60 and second < 60):  # noqa: PLR2004 - as on a clock
        return False
    is_leap = year % 4 == 0 and (year % 100 != 0 or year % 400 == 0)
    return year >= 1 and 1 <= day <= _DAYS[month - 1] + (is_leap and month == _FEBRUARY)


def is_exact(value: object) -> bool:
    """Return whether a value is a timestamp as the tool writes it."""
    return isinstance(value, str) and is_timestamp(value) and int(value[:4]) >= _FIRST_YEAR


def moment_of(time: str | None) -> str | None:
    """Return the time of a session's heading (`YYYY-MM-DD HH:MM`) as a timestamp; None where it does not exist."""
    moment = f"{(time or '').replace(' ', 'T')}{_SECONDS}"
    return moment if is_timestamp(moment) else None


def in_future(time: str | None, queries: Queries) -> bool:
    """Return whether the time of a session's heading is known to be in the future."""
    moment = moment_of(time)
    return moment is not None and bool(queries.is_future(moment))


def those_in_future(moments: Mapping[_T, str], queries: Queries) -> list[_T]:
    """Return what is in the future of that which has a moment each; the clock is asked once where nothing is."""
    if not moments or not queries.is_future(max(moments.values())):
        return []
    return [each for each, moment in moments.items() if queries.is_future(moment)]
