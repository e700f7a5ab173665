"""Fits the lists of an Archived Summary into its size limit, so that every session keeps a share of it.

The accomplishments of one session become one line, and those of older sessions one line for several. In each line its
first statement comes first, then what was decided, what failed, which features pass; and then the others. Of the issues
the newest stay. All is shortened at the end of a word, with a mark; what is left out is counted.
"""

from __future__ import annotations

from bisect import bisect_right
from functools import cached_property
from itertools import accumulate, takewhile, zip_longest

from taskstate.archive.summary_statements import MORE, SEPARATOR, Statement, sentences, shorten_words
from taskstate.archive.summary_words import DECIDED, FAILED, says
from taskstate.typed import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence

_MOST_LINES, _FOLDED_LINES = 28, 20  # of accomplishments; where there are more, older ones are joined until so few
_NEWEST = 8  # sessions that always have a line of their own
_LEAST, _LEAST_ISSUE = 48, 70  # bytes that a text or an issue is shortened to; with less room, some are left out
_MOST_BYTES, _FEWEST = 640, 12  # that a text may ever take, and that it takes whatever the room
_ISSUES, _RESOLVED = 25, 15  # percent of the room for open issues and for resolved ones, if all lists are long
_GAP = len(SEPARATOR.encode())
_DECIDED, _FAILED, _PASSED, _FIRST, _OTHER = range(5)


class Fitted(NamedTuple):
    """The statements of a list that fit, and those that were left out."""

    kept: list[Statement]
    cut: list[Statement]


class _Share(NamedTuple):
    runs: tuple[tuple[int, int], ...]
    texts: tuple[tuple[str, int], ...]


# A subclass, because a NamedTuple itself has no `__dict__` that could hold cached properties.
class Share(_Share):
    """What a session did, or several sessions in a row: texts, each with its kind."""

    @property
    def span(self) -> int:
        """How many sessions it reaches over."""
        return self.runs[-1][1] - self.runs[0][0] + 1

    @cached_property
    def weight(self) -> int:
        """How much more room than a line that tells one plain thing it gets."""
        telling = sum(kind < _FIRST for _, kind in self.texts)
        return 2 + min(telling, 2) + 2 * (self.span > 1)

    @cached_property
    def size(self) -> int:
        """How many bytes its line has when it tells all of it, before anything is escaped."""
        return self.frame + sum(len(text.encode()) + _GAP for text, _ in self.texts) - _GAP

    @cached_property
    def frame(self) -> int:
        """How many bytes its line has besides the texts."""
        return len(f"- {Statement('', self.runs)}\n".encode())


def shares_of(statements: Iterable[Statement], features: Collection[str]) -> list[Share]:
    """Return the shares of accomplishments, at most as many as a summary has lines for."""
    by_runs: dict[tuple[tuple[int, int], ...], dict[str, int]] = {}
    for each in statements:
        texts = by_runs.setdefault(each.runs, {})
        for text in (sentence for part in each.text.split(SEPARATOR) for sentence in sentences(part)):
            texts.setdefault(text, _kind(text, features, first=not texts))
    return _folded([Share(runs, tuple(texts.items())) for runs, texts in sorted(by_runs.items())])


def issue_shares(statements: Iterable[Statement]) -> list[Share]:
    """Return the shares of issues, a line for each."""
    return [Share(each.runs, ((each.text, _OTHER),)) for each in statements]


def fitted(lists: tuple[list[Share], ...], room: int) -> tuple[Fitted, ...]:
    """Return accomplishments, open and resolved issues as far as they fit into `room` bytes, more or less."""
    did, encountered, resolved = (sum(share.size for share in shares) for shares in lists)
    open_room, resolved_room = min(encountered, room * _ISSUES // 100), min(resolved, room * _RESOLVED // 100)
    did_room = min(did, room - open_room - resolved_room)
    open_room = min(encountered, room - did_room - resolved_room)
    rooms = (did_room, open_room, room - did_room - open_room)
    return tuple(map(_lines, lists, rooms, (_LEAST, _LEAST_ISSUE, _LEAST_ISSUE)))


def _kind(text: str, features: Collection[str], *, first: bool) -> int:
    if says(text, DECIDED) or says(text, FAILED):
        return _DECIDED if says(text, DECIDED) else _FAILED
    if any(word.strip("`:,.;()") in features for word in text.split()):
        return _PASSED
    return _FIRST if first else _OTHER


def _folded(shares: list[Share]) -> list[Share]:
    """Return at most `_MOST_LINES` shares: older neighbours become one, those of the fewest sessions first."""
    span, most = 2, _MOST_LINES if len(shares) <= _MOST_LINES else _FOLDED_LINES
    while len(shares) > most:
        older: list[Share] = []
        excess = len(shares) - most
        for each in shares[:-_NEWEST]:
            if excess and older and older[-1].span + each.span <= span:
                before = older.pop()
                last = max(before.runs[-1][1], each.runs[-1][1])
                each = Share(((before.runs[0][0], last),), before.texts + each.texts)  # noqa: PLW2901 - both as one
                excess -= 1
            older.append(each)
        shares, span = [*older, *shares[-_NEWEST:]], span * 2
    return shares


def _lines(shares: Sequence[Share], room: int, least: int) -> Fitted:
    """Return a line for each share; where there is no room for `least` bytes of each, of the newest."""
    needed = accumulate(min(each.size, least) for each in reversed(shares))
    told = len(shares) - sum(1 for _ in takewhile(lambda size: size <= room, needed))
    part = _cap([(each.size, each.weight) for each in shares[told:]], room)
    kept, cut = [], []
    for number, each in enumerate(shares):
        chosen = _chosen(each, part * each.weight - each.frame) if number >= told else {}
        kept += [Statement(SEPARATOR.join(chosen.values()), each.runs)] if chosen else []
        cut += [Statement(text, each.runs) for at, (text, _) in enumerate(each.texts) if at not in chosen]
    return Fitted(kept, cut)


def _chosen(share: Share, room: int) -> dict[int, str]:
    """Return the texts of a line that fit into `room` bytes, shortened, by their places; what tells most gets most."""
    places = [[at for at, (_, kind) in enumerate(share.texts) if kind == each] for each in range(_OTHER + 1)]
    telling = [at for group in zip_longest(*places[:_FIRST]) for at in group if at is not None]
    sizes = [(len(text.encode()), 3 if kind < _FIRST else 1) for text, kind in share.texts]
    order = dict.fromkeys([0, *telling, *places[_FIRST], *places[_OTHER]])
    needed = accumulate(min(sizes[at][0], _LEAST) + _GAP for at in order)
    chosen = [at for at, size in zip(order, needed, strict=True) if at == 0 or size - _GAP <= room]
    most = _cap([sizes[at] for at in chosen], room - _GAP * (len(chosen) - 1))
    return {at: _shortened(share.texts[at][0], most * sizes[at][1]) for at in sorted(chosen)}


def _cap(sizes: Sequence[tuple[int, int]], room: int) -> int:
    """Return the most bytes for each weight of those whose sizes and weights are given, so that all fit into `room`."""

    def taken(most: int) -> int:
        return sum(min(size, most * weight) for size, weight in sizes)

    return max(bisect_right(range(_MOST_BYTES), room, key=taken) - 1, 0)


def _shortened(text: str, most: int) -> str:
    """Return a text of at most `most` bytes, but for very small numbers; a clause that ends a little later stays."""
    data = text.encode()
    characters = len(data[: max(most - len(MORE) - 1, _FEWEST)].decode(errors="ignore"))
    latest = characters * 5 // 4  # what it takes more is given out again
    return text if len(data) <= most or len(text) <= latest else shorten_words(text, characters, latest)
