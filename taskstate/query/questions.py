"""The ready-made questions: each is a file `templates/query/NAME.sql`, which begins with what it says and takes.

Its first line is the question, as a comment; each comment `-- $name = DEFAULT: what it is` below it declares a
parameter. `$now` is the time of the call where nobody gives another one.
"""

from __future__ import annotations

import re

from taskstate import resources
from taskstate.errors import TaskstateError
from taskstate.messages import closest
from taskstate.query.rows import time_of
from taskstate.typed import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

_FOLDER, _ENDING = "templates/query", ".sql"
_PARAMETER = r"(?m)^-- \$(\w+) = ([^:\n]*): (.*)$"
NOW = "now"


class Parameter(NamedTuple):
    """What a question may be given: its default as text, and what it is."""

    name: str
    default: str
    about: str


class Question(NamedTuple):
    """A ready-made question: its name, what it asks, what it may be given, and its SQL as the file has it."""

    name: str
    about: str
    parameters: tuple[Parameter, ...]
    sql: str


def names() -> tuple[str, ...]:
    """Return the names of the ready-made questions."""
    listed = (each.rpartition("/")[2] for each in resources.names(_FOLDER))
    return tuple(each.removesuffix(_ENDING) for each in listed if each.endswith(_ENDING))


def question(name: str) -> Question:
    """Return the ready-made question with that name.

    Raises:
        TaskstateError: code "usage": there is none.
    """
    if name not in names():
        raise unknown("question", name, names(), "--list")
    sql = resources.text(f"{_FOLDER}/{name}{_ENDING}")
    parameters = tuple(Parameter(*each) for each in re.findall(_PARAMETER, sql))
    return Question(name, sql.partition("\n")[0].removeprefix("-- "), parameters, sql)


def unknown(kind: str, name: str, known: Iterable[str], flag: str) -> TaskstateError:
    """Return the error for a name that is not among the known ones, which the flag lists."""
    near = closest(name, known)
    help_ = f"{f'did you mean {near}? ' if near else ''}`taskstate query {flag}` lists them"
    return TaskstateError(f"there is no {kind} {name!r}", help=help_, code="usage")


def values(asked: Question, given: Mapping[str, str], now: str) -> dict[str, object]:
    """Return the values of a question's parameters: the given ones, else the defaults.

    Raises:
        TaskstateError: code "usage": it takes no such parameter, or not that value.
    """
    takes = [*(each.name for each in asked.parameters), *[NOW] * (f"${NOW}" in asked.sql)]
    for name in given:
        if name not in takes:
            help_ = f"it takes {', '.join(takes) or 'nothing'}"
            raise TaskstateError(f"{asked.name} takes no {name}", help=help_, code="usage")
    found: dict[str, object] = {}
    if NOW in takes:
        found[NOW], wrong = time_of(given.get(NOW, now))
        if found[NOW] is None:
            help_ = "give a time such as 2026-01-31T12:00:00Z"
            raise TaskstateError(f"now is {wrong or ''!r}", help=help_, code="usage")
    for name, default, _ in asked.parameters:
        value = given.get(name, default)
        if not re.fullmatch(r"[0-9]{1,6}", value):
            help_ = f"give a whole number up to 999999, such as {name}={default}"
            raise TaskstateError(f"{name} of {asked.name} is {value!r}", help=help_, code="usage")
        found[name] = int(value)
    return found


def pairs(given: Iterable[str]) -> dict[str, str]:
    """Return what `--param K=V` gives, by name.

    Raises:
        TaskstateError: code "usage": one is of another form, or is given twice.
    """
    found: dict[str, str] = {}
    for each in given:
        name, equals, value = each.partition("=")
        if not equals or not re.fullmatch(r"\w{1,40}", name):
            raise TaskstateError(f"--param {each!r} has no name and value", help="give days=30", code="usage")
        if name in found:
            raise TaskstateError(f"--param {name} is given twice", help="give it once", code="usage")
        found[name] = value
    return found
