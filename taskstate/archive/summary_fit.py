"""Fits the lists of an Archived Summary into its size limit, so that every session keeps a share of it.

The accomplishments of one session become one line, and those of older sessions one line for several. In each line its
first statement comes first, then what was decided, what failed, which features pass; and then the others. Of the issues
the newest stay. All is shortened at the end of a word, with a mark; what is left out is counted.
"""

from __future__ import annotations

from bisect import bisect_right
from itertools import zip_longest

from taskstate.archive.summary_statements import MORE, SEPARATOR, Statement, sentences, shorten_words
from taskstate.archive.summary_words import DECIDED, FAILED, says
from taskstate.typed import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence

_MOST_LINES, _FOLDED_LINES = 28, 20  # of accomplishments; where there are more, older ones are joined until so few
_NEWEST = 8  # sessions that always have a line of their own
_TELLING = 2  # times as much room for what was decided, or failed, as for another text of the line
_LEAST = 40  # bytes that a text is shortened to; with less room, texts are left out
_MOST_BYTES = 640  # that a text may ever take
_FEWEST = 12  # bytes of a text, whatever the room
_ISSUES, _RESOLVED = 25, 15  # percent of the room for open issues and for resolved ones, if all lists are long
_DECIDED, _FAILED, _PASSED, _FIRST, _OTHER = range(5)


class Fitted(NamedTuple):
    """The statements of a list that fit, and those that were left out."""

    kept: list[Statement]
    cut: list[Statement]


class Share(NamedTuple):
    """What a session did, or several sessions in a row: texts, each with its kind."""

    runs: tuple[tuple[int, int], ...]
    texts: tuple[tuple[str, int], ...]

    @property
    def span(self) -> int:
        """How many sessions it reaches over."""
        return self.runs[-1][1] - self.runs[0][0] + 1

    @property
    def weight(self) -> int:
        """How much more room than a line that tells one plain thing it gets."""
        telling = sum(kind < _FIRST for _, kind in self.texts)
        return 2 + min(telling, 2) + 2 * (self.span > 1)

    def line(self, texts: Iterable[str]) -> Statement:
        """Return the line with some of the texts."""
        return Statement(SEPARATOR.join(texts), self.runs)

    def merged(self, other: Share) -> Share:
        """Return one share for the sessions of both."""
        last = max(self.runs[-1][1], other.runs[-1][1])
        return Share(((self.runs[0][0], last),), self.texts + other.texts)


def shares_of(statements: Iterable[Statement], features: Collection[str]) -> list[Share]:
    """Return the shares of accomplishments, at most as many as a summary has lines for."""
    by_runs: dict[tuple[tuple[int, int], ...], list[str]] = {}
    for each in statements:
        parts = [sentence for part in each.text.split(SEPARATOR) for sentence in sentences(part)]
        by_runs.setdefault(each.runs, []).extend(parts)
    return _folded(
        [
            Share(
                runs, tuple((text, _kind(text, features, first=not at)) for at, text in enumerate(dict.fromkeys(texts)))
            )
            for runs, texts in sorted(by_runs.items())
        ]
    )


def fitted(
    shares: Sequence[Share], encountered: Sequence[Statement], resolved: Sequence[Statement], room: int
) -> tuple[Fitted, Fitted, Fitted]:
    """Return accomplishments, open and resolved issues as far as they fit into `room` bytes, more or less."""
    needed = sum(size_of(each.line(text for text, _ in each.texts)) for each in shares)
    needed_open, needed_resolved = sum(map(size_of, encountered)), sum(map(size_of, resolved))
    open_room, resolved_room = min(needed_open, room * _ISSUES // 100), min(needed_resolved, room * _RESOLVED // 100)
    did_room = min(needed, room - open_room - resolved_room)
    open_room = min(needed_open, room - did_room - resolved_room)
    resolved_room = min(needed_resolved, room - did_room - open_room)
    return _lines(shares, did_room), _issues(encountered, open_room), _issues(resolved, resolved_room)


def size_of(statement: Statement) -> int:
    """Return how many bytes a statement takes as a list item, before anything is escaped."""
    return len(f"- {statement}\n".encode())


def _kind(text: str, features: Collection[str], *, first: bool) -> int:
    if says(text, DECIDED):
        return _DECIDED
    if says(text, FAILED):
        return _FAILED
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
                older[-1] = older[-1].merged(each)
                excess -= 1
            else:
                older.append(each)
        shares, span = [*older, *shares[-_NEWEST:]], span * 2
    return shares


def _lines(shares: Sequence[Share], room: int) -> Fitted:
    """Return a line for each share; where there is no room for all, the newest."""
    sizes = {id(each): size_of(each.line(text for text, _ in each.texts)) for each in shares}
    least = [each for each in shares if each.texts]
    while sum(min(sizes[id(each)], _LEAST) for each in least) > room:
        least = least[1:]
    part = _cap([(sizes[id(each)], each.weight) for each in least], room)
    kept, cut = [], []
    for each in shares:
        chosen = _chosen(each, part * each.weight - size_of(each.line([""]))) if each in least else {}
        kept += [each.line(chosen.values())] if chosen else []
        cut += [Statement(text, each.runs) for at, (text, _) in enumerate(each.texts) if at not in chosen]
    return Fitted(kept, cut)


def _chosen(share: Share, room: int) -> dict[int, str]:
    """Return the texts of a line that fit into `room` bytes, shortened, by their places."""
    places: list[list[int]] = [[] for _ in range(_OTHER + 1)]
    for at, (_, kind) in enumerate(share.texts):
        places[kind].append(at)
    telling = [at for group in zip_longest(*places[:_FIRST]) for at in group if at is not None]
    sizes = [(len(text.encode()), _TELLING if kind < _FIRST else 1) for text, kind in share.texts]
    gap, chosen, needed = len(SEPARATOR.encode()), [0], min(sizes[0][0], _LEAST)
    for at in dict.fromkeys([*telling, *places[_FIRST], *places[_OTHER]]):
        needed += gap + min(sizes[at][0], _LEAST)
        if at and needed <= room:
            chosen.append(at)
    most = _cap([sizes[at] for at in chosen], room - gap * (len(chosen) - 1))
    return {at: _shortened(share.texts[at][0], most * sizes[at][1]) for at in sorted(chosen)}


def _issues(statements: Sequence[Statement], room: int) -> Fitted:
    """Return the newest statements that fit when each is shortened, in their order."""
    chosen: set[int] = set()
    left = room
    for at in sorted(range(len(statements)), key=lambda at: (-statements[at].last, -at)):
        left -= min(size_of(statements[at]), _LEAST + size_of(statements[at]._replace(text="")))
        if left < 0:
            break
        chosen.add(at)
    kept = [each for at, each in enumerate(statements) if at in chosen]
    cut = [each for at, each in enumerate(statements) if at not in chosen]
    most = _cap([(size_of(each), 1) for each in kept], room)
    frames = [size_of(each._replace(text="")) for each in kept]
    texts = [_shortened(each.text, most - frame) for each, frame in zip(kept, frames, strict=True)]
    return Fitted([each._replace(text=text) for each, text in zip(kept, texts, strict=True)], cut)


def _cap(sizes: Sequence[tuple[int, int]], room: int) -> int:
    """Return the most bytes for each weight of those whose sizes and weights are given, so that all fit into `room`."""

    def taken(most: int) -> int:
        return sum(min(size, most * weight) for size, weight in sizes)

    return max(bisect_right(range(_MOST_BYTES), room, key=taken) - 1, 0)


def _shortened(text: str, most: int) -> str:
    """Return a text of at most `most` bytes, but for very small numbers."""
    data = text.encode()
    if len(data) <= most:
        return text
    return shorten_words(text, len(data[: max(most - len(MORE) - 1, _FEWEST)].decode(errors="ignore")))
