"""Names the parts of a task after what their features have in common, and says which statements concern which part.

Words are compared by their stems, without those that say nothing by themselves. What no word places concerns all parts.
"""

from __future__ import annotations

import re
from collections import Counter
from itertools import groupby, pairwise
from textwrap import shorten

from taskstate.messages import first_of, one_line
from taskstate.typed import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

_LONGEST = 32  # characters of a feature's description in a name
_NAMED = 2  # groups of features in a name
_SHORT = 3  # letters: so short a prefix is an abbreviation, unless a description has it as a word
_WORD = re.compile(r"[^\W\d_]+(?:-[^\W\d_]+)*")
_ENDING = re.compile(r"(?<=\w{3})(?:ings?|ies|ied|ed|es|e|y|(?<!s)s)\Z")
_SENTENCE = re.compile(r"[.;:!?](?:\s|\Z)")
_MARKS = "`'\"()[]<>,;:.!?*"
_PLAIN = (
    "a all also an and any are as at be been but by can do does each for from get has have if in into is it its made "
    "make makes more must need needs new no not of off on once one only open or other out over set so some still than "
    "that the their them then there these they this to too two up use used uses was when where which while who will "
    "with without work works yet after before again always never between same unchanged"
)
_EMPTY = frozenset(_PLAIN.split())
_GENERIC = frozenset(("", "f", "fr", "feat", "feature", "fid", "item", "part", "req", "step", "story", "task", "us"))
_WRITING = frozenset(("add", "document", "extend", "test", "updat", "writ"))  # stems that the phase says already


class OpenFeature(NamedTuple):
    """An open feature as far as splitting needs it: its files, and the ids of the features that it waits for."""

    id: str
    phase: int = 1
    prefix: str = ""
    files: frozenset[str] = frozenset()
    waits: frozenset[str] = frozenset()
    description: str = ""


def stems(text: str) -> dict[str, str]:
    """Return the words of a text that say something, by their stems, in their order; of each its first form."""
    found: dict[str, str] = {}
    for word in _WORD.findall(text):
        if word.casefold() not in _EMPTY and len(word) > 1:
            found.setdefault(_stem(word), word)
    return found


def _stem(word: str) -> str:
    return _ENDING.sub("", word.casefold())


def gist(text: str) -> str:
    """Return the first sentence of a text, shortened at a word."""
    sentence = _SENTENCE.split(" ".join(text.split()))[0]
    short = shorten(sentence, _LONGEST, placeholder="\u2026")
    return one_line(sentence, _LONGEST) if short == "\u2026" else short


def shared_words(prefixes: Sequence[str], texts: Sequence[str]) -> list[str]:
    """Return for each feature its id's prefix; where that says nothing, the first word that it shares with others."""
    plain = [stems(text) if prefix in _GENERIC else {} for prefix, text in zip(prefixes, texts, strict=True)]
    counts = Counter(stem for each in plain for stem in each)
    shared = {stem for stem, count in counts.items() if 1 < count <= max(2, len(texts) // 2)}
    words = (next((stem for stem in each if stem in shared), "") for each in plain)
    return [word if prefix in _GENERIC else prefix for prefix, word in zip(prefixes, words, strict=True)]


def names_of(parts: Sequence[Sequence[OpenFeature]], phases: Sequence[str], title: str = "") -> list[str]:
    """Return a name for each part of a task with a title, whose words the names do not repeat.

    `phases` are the names of phases, of which the second goes without saying. Of parts with one name, each has its
    first feature behind it.
    """
    names = [_name_of(part, phases, title) for part in parts]
    return [
        f"{name} ({_gist(part[0], title)})" if names.count(name) > 1 else name
        for name, part in zip(names, parts, strict=True)
    ]


def _name_of(part: Sequence[OpenFeature], phases: Sequence[str], title: str) -> str:
    """Return what the features of each group in a part have in common."""
    groups = ([*group] for _, group in groupby(part, key=lambda each: (each.phase, each.prefix)))
    topics = dict.fromkeys(_topic(group, phases, title) for group in groups)
    return first_of([each[:1].upper() + each[1:] for each in topics], _NAMED, separator="; ", last="; ")


def _gist(feature: OpenFeature, title: str) -> str:
    """Return what a feature is about, without the task's title where it begins with that."""
    words, told = feature.description.split(), title.casefold().split()
    is_told = [each.casefold().rstrip(":,.") for each in words[: len(told)]] == told
    return gist(" ".join(words[len(told) if is_told else 0 :]).lstrip(":,.- ")) or feature.id


def _topic(part: Sequence[OpenFeature], phases: Sequence[str], title: str) -> str:
    """Return what features of one phase and prefix have in common: phase or prefix, and a word or two."""
    if len(part) == 1:
        return _gist(part[0], title)
    phase, told = phases[part[0].phase] if part[0].phase != 1 else "", stems(title).keys()
    phrase = _phrase([each.description for each in part], told | (_WRITING | {_stem(phase)} if phase else set()))
    prefix = part[0].prefix
    spelt = (stems(each.description).get(_stem(prefix), "") for each in part)
    head = phase or next(filter(None, spelt), "") or (prefix if len(prefix) > _SHORT and not phrase else "")
    if not phase and {_stem(head)} == told:
        head = ""
    if _stem(head) in stems(phrase) or not (head or phrase):
        return phrase or f"{_gist(part[0], title)} and {len(part) - 1} more"
    return (" of " if phase else " ").join(filter(None, (head, phrase)))


def _phrase(texts: Sequence[str], without: Collection[str]) -> str:
    """Return the pair of words, or the word, that most of some texts share, but for some stems; or none."""
    words, pairs, forms = Counter[str](), Counter[str](), dict[str, str]()
    for text in texts:
        single = {stem: word for stem, word in stems(text).items() if stem not in without}
        double = {" ".join(pair): " ".join(single[each] for each in pair) for pair in pairwise(single)}
        double = {stem: pair for stem, pair in double.items() if pair in text}
        for found, counts in ((single, words), (double, pairs)):
            counts.update(found.keys())
            forms = found | forms
    least = len(texts) // 2 + 1
    best = [counts.most_common(1)[0] for counts in (pairs, words) if counts]
    return next((forms[key] for key, count in best if count >= least), "")


def concerned(text: str, parts: Sequence[Sequence[OpenFeature]]) -> tuple[int, ...]:
    """Return the numbers of the parts that a statement concerns by ids and words of their features; none where no does.

    A word that all parts have tells nothing.
    """
    words = [{stem for each in part for stem in stems(f"{each.id} {each.description}")} for part in parts]
    common = set.intersection(*words) if len(words) > 1 else set[str]()
    said, named = set(stems(text)), {word.strip(_MARKS) for word in text.split()}
    scores = [
        len(said & own - common) + len(said) * sum(each.id in named for each in part)
        for own, part in zip(words, parts, strict=True)
    ]
    return tuple(number for number, score in enumerate(scores) if score and score * 2 >= max(scores))
