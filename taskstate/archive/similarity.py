"""Which statements say the same, and which are about the same file or feature.

That is judged by words alone, the same way on every machine: endings, articles and synonyms such as "added" and
"wrote" do not count; numbers, negations, and the order around words such as "into" do.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from taskstate.archive.summary_statements import Statement

_CODE = (
    "bash c cc cfg cpp cs css csv dart ex go graphql h hpp html ini ipynb java js json jsx kt lock lua md mjs php pl"
    " proto ps1 py pyi rb rs rst scala scss sh sql svelte swift tf toml ts tsx txt vue xml yaml yml"
)
_FILE = re.compile(
    rf"(?<![\w/.:@-])(?:\.{{0,2}}/)?(?:[\w.@-]+/)+[\w@-][\w.@-]*\.[A-Za-z]\w{{0,7}}\b"
    rf"|(?<![\w/.:@-])[\w@-]+(?:\.[\w@-]+)*\.(?:{'|'.join(_CODE.split())})\b(?![\w/])",
    re.ASCII,
)
_BRAND = re.compile(r"[A-Z][a-z]+\.js\Z")  # Node.js and its like are no files
_WORD = re.compile(r"(?<!\w)-?\w+(?:[.'\u2019]\w+)*[+#]*|[<>]=?|[!=]=|\u2192")
_INNER_CASE = re.compile(r".+[A-Z].*[a-z]|.*[a-z].*[A-Z]")
_IDLE = "a an and the of for in on at is are was were be been has have had this that its it our we i"
_DIRECTED = "to into from before after by over under than instead between onto via with against < > <= >= \u2192"
_NOT = (  # what changes the meaning of all else; without endings
    "not no never without cannot except un partly partially half revert undo remov drop delet disabl fail"
    " start wip draft"
)
_SAME = {
    "add": "add added adds adding create created creates creating implement implemented implements implementing"
    " introduce introduced introduces write wrote written writes writing build built builds building",
    "fix": "fix fixed fixes fixing repair repaired repairs correct corrected corrects resolve resolved resolves solve"
    " solved solves",
    "finish": "finish finished finishes complete completed completes done",
    "start": "start started starts begin began begun begins",
}
_ENDINGS = ("ings", "ing", "ies", "ied", "ed", "es", "s", "e")
_SHORTEST = 3  # what is left of a word without its ending
_OVERLAP = 0.75  # of the words of two statements, where the later one says all that the earlier one does
_FEWEST = 4  # words that the shorter of two such statements has
_TYPO = 6  # letters that a word has in which one may be mistyped
_CANDIDATES = 40  # statements that share a rare word, and are compared with a new one

_IDLE_WORDS, _DIRECTED_WORDS, _NOT_WORDS = (frozenset(words.split()) for words in (_IDLE, _DIRECTED, _NOT))
_STEMS = {word: stem for stem, words in _SAME.items() for word in words.split()}


class _Words(NamedTuple):
    """What of a statement is compared: its words in order without endings, and each one once."""

    order: tuple[str, ...]
    known: frozenset[str]

    @property
    def key(self) -> tuple[str, ...]:
        """The words in their order where that matters, else sorted."""
        return self.order if self.known & _DIRECTED_WORDS else tuple(sorted(self.order))


def _words(text: str) -> _Words:
    words = [_stem(word) for word in _WORD.findall(text)]
    order = tuple(word for word in words if word not in _IDLE_WORDS) or tuple(words) or (text,)
    return _Words(order, frozenset(order))


def _stem(word: str) -> str:
    if _INNER_CASE.match(word):
        return word
    word = word.lower()
    if word in _STEMS or not word.isascii() or not word.isalpha():
        return _STEMS.get(word, word)
    for ending in _ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= _SHORTEST and not word.endswith("ss"):
            stem = word[: -len(ending)]
            return stem[:-1] if ending in {"ing", "ed"} and stem[-1:] == stem[-2:-1] else stem
    return word


def _one(earlier: _Words, later: _Words) -> bool:
    """Return whether two say the same but for a slip, or the later one all that the earlier does and little more."""
    gone = earlier.known - later.known
    if len(gone) > 1:
        return False
    new = later.known - earlier.known
    directed = bool((earlier.known | later.known) & _DIRECTED_WORDS)
    if not gone:
        enough = len(earlier.known) >= _FEWEST and len(earlier.known) >= _OVERLAP * len(later.known)
        return enough and not directed and all(word.isalpha() and word not in _NOT_WORDS for word in new)
    if len(new) != 1 or len(earlier.order) != len(later.order) or len(earlier.known) < _FEWEST:
        return False
    (one,), (other,) = gone, new
    return _mistyped(one, other) and (
        not directed or earlier.order == tuple(one if word == other else word for word in later.order)
    )


def _mistyped(one: str, other: str) -> bool:
    """Return whether two words differ in one letter, or in two that changed places, behind the first."""
    if one[0] != other[0] or min(len(one), len(other)) < _TYPO or not (one + other).isascii():
        return False
    if not (one + other).isalpha() or abs(len(one) - len(other)) > 1:
        return False
    start = next((at for at, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other)))
    rest, other_rest = one[start:], other[start:]
    return (
        rest[1:] == other_rest[1:]
        or rest[1:] == other_rest
        or rest == other_rest[1:]
        or (rest[:2] == other_rest[1::-1] and rest[2:] == other_rest[2:])
    )


class Told:
    """Statements by what they say: finds the one, if any, that says the same as another."""

    def __init__(self, statements: Iterable[Statement]) -> None:
        self.statements: list[Statement] = []
        self._words: list[_Words] = []
        self._exact: dict[tuple[str, ...], int] = {}
        self._by_word: dict[str, list[int]] = {}
        for statement in statements:
            self.add(statement)

    def add(self, statement: Statement) -> None:
        """Add a statement; one that says the same is replaced, and the new one stands for its sessions too."""
        words = _words(statement.text)
        same = self._find(words)
        if same is not None:
            # of two that say the same in other words the one that says more stands, of equal ones the first
            earlier, more = self.statements[same], len(words.known) > len(self._words[same].known)
            self.statements[same] = statement.standing_for(earlier) if more else earlier.standing_for(statement)
            if more:
                self._index(words, same)
            return
        self.statements.append(statement)
        self._words.append(words)
        self._index(words, len(self.statements) - 1)

    def tells(self, statement: Statement) -> bool:
        """Return whether one of the statements says the same as `statement`."""
        return self._find(_words(statement.text)) is not None

    def _index(self, words: _Words, place: int) -> None:
        self._words[place] = words
        self._exact[words.key] = place
        for word in words.known:
            self._by_word.setdefault(word, []).append(place)

    def _find(self, words: _Words) -> int | None:
        exact = self._exact.get(words.key)
        if exact is not None:
            return exact
        # One that says the same shares all words but one or two, so it has some of the rarest.
        rare = sorted(words.known, key=lambda word: (len(self._by_word.get(word, ())), word))
        rare = rare[: len(rare) - int(len(rare) * _OVERLAP) + 1]
        near = {place for word in rare for place in self._by_word.get(word, ())[-_CANDIDATES:]}
        return max((place for place in near if _one(self._words[place], words)), default=None)


def joined_alike(statements: Iterable[Statement]) -> list[Statement]:
    """Return statements in their order, those that say the same as one."""
    return Told(statements).statements


def superseded(statements: Sequence[Statement], features: Iterable[str]) -> list[Statement]:
    """Return statements without those about the same features, or files, as a later session's; it stands for them."""
    ids = feature_pattern(features)
    latest: dict[frozenset[str], list[int]] = {}
    subjects = [_subject(each.text, ids) for each in statements]
    for place, subject in enumerate(subjects):
        if subject:
            latest.setdefault(subject, []).append(place)
    kept = list(statements)
    gone: set[int] = set()
    for places in latest.values():
        last = max(statements[place].last for place in places)
        newest = [place for place in places if statements[place].last == last]
        older = [place for place in places if statements[place].last < last]
        kept[newest[-1]] = kept[newest[-1]].standing_for(*(statements[place] for place in older))
        gone.update(older)
    return [each for place, each in enumerate(kept) if place not in gone]


def feature_pattern(features: Iterable[str]) -> re.Pattern[str] | None:
    """Return a pattern that finds the ids of features in a text, or None where there are none."""
    ids = sorted({each for each in features if each}, key=lambda each: (-len(each), each))
    return re.compile(rf"(?<![\w-])(?:{'|'.join(map(re.escape, ids))})(?![\w-])", re.IGNORECASE) if ids else None


def _subject(text: str, ids: re.Pattern[str] | None) -> frozenset[str]:
    """Return the features that a text names, or else the files."""
    named = frozenset(found.lower() for found in ids.findall(text)) if ids else frozenset()
    return named or frozenset(
        found.removeprefix("./") for found in _FILE.findall(text) if not _BRAND.match(found) and "://" not in found
    )


def describes(descriptions: Iterable[str]) -> Callable[[str], bool]:
    """Return what tells whether a text says all words of one of the descriptions, in any order."""
    wanted = [words for each in descriptions if len(words := _words(each).known) > 1]

    def told(text: str) -> bool:
        words = _words(text).known if wanted else frozenset()
        return any(each <= words for each in wanted)

    return told
