"""The board: columns of cards by what can be done with the tasks. The address says what is shown of them."""

from __future__ import annotations

from urllib.parse import urlencode

from taskstate.messages import first_of
from taskstate.model.document_kinds import PERMANENT
from taskstate.model.statuses import COMPLETE, CREATED, DROPPED
from taskstate.typed import TYPE_CHECKING, NamedTuple
from taskstate.views import board, needs

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from taskstate.page.reading import Reading
    from taskstate.views.board import Card

    Query = Sequence[tuple[str, str]]  # the names and values of an address

_ALL = "all"
_MOST_DAYS = 3_650
_USUAL = tuple(each for each in board.COLUMNS if each != DROPPED)
_CREATED = (board.READY, board.WAITING)
_CHOICES = ("area", "agent", "role", "priority")


class Asked(NamedTuple):
    """What an address asks for: the columns, what the tasks must have, the days of the complete ones, the first card.

    `ignored` says of what makes no sense that it was left out.
    """

    names: tuple[str, ...]
    wanted: Mapping[str, str]
    done: str
    begin: int
    ignored: str = ""

    def query(self, name: str, **more: str | int) -> str:
        """Return the query of an address that shows one column of this, with more."""
        wanted = {"q" if key == "text" else key: value for key, value in self.wanted.items() if value}
        return urlencode({"status": name, **wanted, "done": self.done, **more})


class Column(NamedTuple):
    """A column as it is shown: some of its cards, how many there are, and how many with those of other times.

    `before`, `after` and `whole` are the queries of addresses that show more of it, where there is more.
    """

    name: str
    cards: tuple[Card, ...]
    number: int
    all: int
    before: str = ""
    after: str = ""
    whole: str = ""


def values(reading: Reading, query: Query = ()) -> Mapping[str, object]:
    """Return what the template of the board shows for a query."""
    asked = asked_by(query)
    days = "" if asked.done == _ALL else asked.done
    made = board.columns(
        reading.repository, reading.needs, reading.now, names=board.COLUMNS, wanted={**asked.wanted, "days": days}
    )
    return {
        "title": "Board",
        "is_wide": True,
        "asked": asked,
        "columns": [_shown(each, asked) for each in made if each.name in asked.names],
        "statuses": [(each.name, each.name in asked.names, len(each.cards)) for each in made],
        "choices": [*_choices(reading, asked)],
        "days": dict.fromkeys((str(board.DAYS), "30", _ALL, asked.done)),
        "severity": needs.SEVERITY,
    }


def asked_by(query: Query) -> Asked:
    """Return what a query asks for."""
    given = {name: " ".join(value.split()) for name, value in query}
    statuses = dict.fromkeys(value for name, value in query if name == "status" and value)
    names = [each for each in board.COLUMNS if each in statuses or (each in _CREATED and CREATED in statuses)]
    wrong = [f"there is no column {each}" for each in statuses if each not in {*board.COLUMNS, CREATED}]
    wanted = {**{name: given.get(name, "") for name in _CHOICES}, "text": given.get("q", "")}
    done, begin = given.get("done", ""), given.get("from", "")
    if done and done != _ALL and not _is_number(done, _MOST_DAYS):
        wrong.append(f"done={done} is not a number of days up to {_MOST_DAYS}, nor {_ALL}")
        done = ""
    if begin and not _is_number(begin):
        wrong.append(f"from={begin} is not a number")
        begin = ""
    usual = _ALL if names == [COMPLETE] else str(board.DAYS)  # as the command, where it is asked for by itself
    ignored = first_of(wrong, 3, separator="; ")
    return Asked(tuple(names) or _USUAL, wanted, done or usual, int(begin or 0), ignored)


def _is_number(text: str, most: int = 1_000_000) -> bool:
    return text.isascii() and text.isdecimal() and len(text) < len(str(most)) + 1 and int(text) <= most


def _shown(column: board.Column, asked: Asked) -> Column:
    """Return as many cards of a column as a page has, and where the others are."""
    number, most, name = len(column.cards), board.MOST_CARDS, column.name
    begin = min(asked.begin, max(number - 1, 0))
    end = min(begin + most, number)
    before = asked.query(name, **{"from": max(begin - most, 0)}) if begin else ""
    after = asked.query(name, **{"from": end}) if end < number else ""
    whole = asked.query(name, done=_ALL) if column.all > number else ""
    return Column(name, tuple(board.whole(column.cards[begin:end])), number, column.all, before, after, whole)


def _choices(reading: Reading, asked: Asked) -> Iterator[tuple[str, str, list[str]]]:
    """Yield what can be chosen by name, with what is chosen, and what there is; that is there though no task has it."""
    tasks = [each for each in reading.repository.tasks if each.is_first and each.task.kind != PERMANENT]
    for name in _CHOICES:
        chosen = asked.wanted[name]
        holder = "task" if name in {"area", "priority"} else ""
        known = {getattr(each.task if holder else each, name) for each in tasks} | {chosen}
        known |= {agent for each in tasks for agent in board.agents_of(each)} if name == "agent" else set()
        yield name, chosen, sorted(known - {""})
