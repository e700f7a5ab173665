"""The board: the tasks in columns by what can be done with them, as cards of two lines."""

from __future__ import annotations

from collections import defaultdict
from datetime import UTC, datetime
from itertools import zip_longest

from taskstate.messages import first_of
from taskstate.model.permanent import PERMANENT
from taskstate.model.statuses import BLOCKED, COMPLETE, CREATED, DROPPED, IN_PROGRESS
from taskstate.model.write_metadata import moment, timestamp
from taskstate.tasks.next_task import in_order, waiting_of
from taskstate.typed import TYPE_CHECKING, NamedTuple
from taskstate.views import needs
from taskstate.views.layout import fit, labelled, lines_of, more

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from taskstate.views.layout import Screen
    from taskstate.views.needs import Need
    from taskstate.views.repository import Repository, Shown

READY, WAITING = "ready", "waiting"
COLUMNS = (READY, WAITING, IN_PROGRESS, BLOCKED, COMPLETE, DROPPED)
_USUAL = COLUMNS[:-1]
DAYS = 7
_DAY = 24 * 60 * 60
MOST_CARDS = 200  # in a column that is asked for, and in data
_CARDS = 10  # in a column of several, in a pipe
_FEWEST = 3
_GAP = 2
_GONE = "newer in a worktree that is gone"
# What stands out on a terminal: a pattern, and the style of what it matches.
HIGHLIGHTS = (
    (r"(?m)^(?=[A-Z]).*$", "1"),
    (r"\bP0\b", "1;31"),
    (r"\b(?:damaged|drift)\b", "1;31"),
    (r"\b(?:sent back|silent)\b", "1;33"),
)


class Card(NamedTuple):
    """A task on the board: what it needs, why it is in its column, at which place, and how many tasks wait for it.

    `others` says of each other worktree in which it differs what it is there.
    """

    shown: Shown
    need: str
    why: str
    place: int = 0
    unblocks: int = 0
    others: tuple[str, ...] = ()

    @property
    def updated(self) -> str:
        """When it was completed, else when it was written last."""
        return self.shown.task.closed or self.shown.task.updated

    @property
    def shape(self) -> dict[str, object]:
        """The card as JSON values."""
        shown, row = self.shown, self.shown.row
        return {
            **{key: getattr(shown.task, key) for key in ("id", "title", "status", "priority", "area")},
            "agent": shown.agent,
            "role": shown.role,
            "branch": shown.branch,
            "features": row.progress if row else "",
            "criteria": row.criteria if row else "",
            "need": self.need,
            "why": self.why,
            "unblocks": self.unblocks,
            "others": [*self.others],
            "updated": self.updated,
        }


class Column(NamedTuple):
    """A column of the board: its cards, and how many there are behind them."""

    name: str
    cards: tuple[Card, ...]
    all: int


def columns(
    repository: Repository, found: Sequence[Need], now: str, *, names: Sequence[str], wanted: Mapping[str, str]
) -> tuple[Column, ...]:
    """Return the columns with these `names` (all but the dropped tasks, where none is named), with what is `wanted`.

    Complete are those of the last seven days; all where that column is named, and of as many days as `wanted` says.
    """
    firsts = [each.task for each in repository.tasks if each.is_first]
    order = enumerate(in_order(firsts, len(firsts)).ready)
    ready = {each.task.id.casefold(): (at, each.unblocks) for at, each in order}
    card_of = _cards(found, {each.task.id.casefold(): each.why for each in waiting_of(firsts)})
    others = _others(repository)
    filled: dict[str, list[Card]] = {name: [] for name in names or _USUAL}
    for shown in (each for each in repository.tasks if each.is_first):
        key = shown.task.id.casefold()
        # What may not be the newest state is not offered.
        is_known = not shown.is_stale and not any(each.task.problem for each in others[key])
        name = _column(shown, is_ready=key in ready and is_known)
        if name in filled and shown.task.kind != PERMANENT and _is_wanted(shown, wanted):
            place, unblocks = ready.get(key, (0, 0))
            filled[name].append(card_of(shown, others[key])._replace(place=place, unblocks=unblocks))
    days = wanted.get("days", "" if names else str(DAYS))
    late = _before(now, int(days)) if days else ""
    return tuple(_as_column(name, cards, late if name == COMPLETE else "") for name, cards in filled.items())


def _as_column(name: str, cards: Sequence[Card], late: str) -> Column:
    """Return a column in the order of its cards, with those that were changed since then."""
    ordered = sorted(cards, key=lambda each: each.place * (name == READY))
    return Column(name, tuple(each for each in ordered if each.updated >= late), len(cards))


def _cards(found: Sequence[Need], waiting: Mapping[str, str]) -> Callable[[Shown, Sequence[Shown]], Card]:
    """Return what makes the card of a task and its other versions, of what needs a person and what it waits for."""
    listed = [each for each in reversed(found) if each.is_listed or each.kind == needs.PUT_DOWN]
    needed = {(task, each.branch): each.kind for each in listed for task in (each.task, *each.others)}

    def card_of(shown: Shown, others: Sequence[Shown]) -> Card:
        task = shown.task
        stuck = task.blocked or (shown.facts.stuck if shown.facts else "")
        waits = waiting.get(task.id.casefold(), "").removeprefix("it is blocked").removeprefix(", and ")
        marks = tuple(f"{needed.get((task.id, each.branch), 'older')} on {each.branch}" for each in others)
        need = needed.get((task.id, shown.branch), "")
        return Card(shown, need, _GONE if shown.is_stale else stuck or waits, others=marks)

    return card_of


def _others(repository: Repository) -> Mapping[str, list[Shown]]:
    """Return the versions of each task that are not its newest, by its case-folded id."""
    others: defaultdict[str, list[Shown]] = defaultdict(list)
    for each in repository.tasks:
        others[each.task.id.casefold()] += [] if each.is_first else [each]
    return others


def _is_wanted(shown: Shown, wanted: Mapping[str, str]) -> bool:
    """Return whether a task has what is wanted: role, agent, area, priority, a text in id or title; empty takes all."""
    has = {"role": shown.role, "area": shown.task.area, "priority": shown.task.priority}
    exact = all(wanted.get(key, "") in ("", value) for key, value in has.items())
    return (
        exact
        and wanted.get("agent", "") in ("", *agents_of(shown))
        and wanted.get("text", "").casefold() in f"{shown.task.id} {shown.task.title}".casefold()
    )


def agents_of(shown: Shown) -> tuple[str, ...]:
    """Return who works on a task, and who has written its sessions, as far as it is open."""
    return (shown.agent, *(shown.facts.agents if shown.facts else ()))


def whole(cards: Iterable[Card]) -> Iterator[Card]:
    """Yield cards as they are shown: the files of complete tasks are read for those alone, not for thousands more."""
    cards = [*cards]
    complete = [each.shown for each in cards if each.shown.task.status == COMPLETE]
    trees = {each.tree.name: each.tree for each in complete}.values()
    rows = {each.name: each.rows(s.task.path for s in complete if s.tree is each)[0] for each in trees}
    for card in cards:
        shown = card.shown
        row = shown.row or rows.get(shown.tree.name, {}).get(shown.task.path)
        yield card._replace(shown=shown._replace(row=row)) if row is not shown.row else card


def _column(shown: Shown, *, is_ready: bool) -> str:
    """Return the column of a task; a file that cannot be read stands among the blocked ones."""
    status = shown.status
    if status == CREATED:
        return READY if is_ready else WAITING
    return status if status in COLUMNS else BLOCKED


def _before(now: str, days: int) -> str:
    """Return the time so many days ago as the files have it, so that thousands of them are compared as texts."""
    end = moment(now)
    return "" if end is None else timestamp(datetime.fromtimestamp(end - days * _DAY, UTC))


def shape(made: Iterable[Column]) -> list[Mapping[str, object]]:
    """Return the board as JSON values."""
    shapes = ((each, [card.shape for card in whole(each.cards[:MOST_CARDS])]) for each in made)
    return [{"column": each.name, "total": each.all, "tasks": cards} for each, cards in shapes]


def text(made: Sequence[Column], screen: Screen, *, is_named: bool) -> str:
    """Return the board as text: columns beside each other, or one list where there is no room for that.

    Where the columns are named, they are shown as far as they go.
    """
    shown = [each for each in made if each.all or is_named]
    if not shown:
        return "no tasks"
    most = MOST_CARDS if is_named else max(_FEWEST, (screen.height - 3) // 2) if screen.height else _CARDS
    is_list = screen.is_narrow or len(shown) == 1
    width = screen.columns if is_list else (screen.columns - _GAP * (len(shown) - 1)) // len(shown)
    parts = [[fit(_head(each), width), *_lines(each, most, width, screen)] for each in shown]
    if is_list:
        lines = [line for part in parts for line in (*part, "")]
    else:
        lines = [(" " * _GAP).join(row) for row in zip_longest(*parts, fillvalue=" " * width)]
    return lines_of((*lines, *_rest(shown, most, screen)))


def _head(column: Column) -> str:
    name = column.name.replace("_", " ").upper()
    if column.name == COMPLETE and column.all > len(column.cards):
        return f"{name} {len(column.cards)} of {column.all}, {DAYS} days"
    return f"{name} {column.all}"


def _lines(column: Column, most: int, width: int, screen: Screen) -> Iterator[str]:
    for card in whole(column.cards[:most]):
        task = card.shown.task
        first = " ".join(filter(None, (task.id, task.priority, task.title or task.path)))
        yield labelled(first, card.shown.branch, width)
        detail = ", ".join(filter(None, _details(column.name, card, screen)))
        if detail:
            yield "    " + fit(detail, width - 4)


def _details(column: str, card: Card, screen: Screen) -> Iterator[str]:
    """Yield what the second line of a card says, the most telling first."""
    shown, row = card.shown, card.shown.row
    if column == COMPLETE:
        yield "imported" if row and row.is_imported else ""
        yield f"{row.criteria} criteria" if row else ""
        yield screen.age(card.updated)
        return
    yield "" if column == BLOCKED and card.need == needs.BLOCKED else card.need
    yield card.why.removeprefix("it ") if column in {WAITING, BLOCKED} or card.why == _GONE else ""
    yield " ".join(filter(None, (shown.agent or shown.role, row.progress if row and column == IN_PROGRESS else "")))
    yield shown.task.area
    yield f"unblocks {card.unblocks}" if card.unblocks and column == READY else ""
    yield first_of(card.others, 1)


def _rest(shown: Sequence[Column], most: int, screen: Screen) -> Iterator[str]:
    """Yield how many more there are in each column, with the command that shows them."""
    in_list = {READY: f"{CREATED} --ready", WAITING: f"{CREATED} --blocked"}
    for each in shown:
        command = f"board --status {each.name}"
        if most == MOST_CARDS:
            command = f"list --status {in_list.get(each.name, each.name)}"
        left = each.all - min(len(each.cards), most)
        yield from more(f"{left} more {each.name.replace('_', ' ')}", command, screen) if left else ()
