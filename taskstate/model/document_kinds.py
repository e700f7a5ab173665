"""Describes the kinds of state files: their sections, subsections, fences and placeholders, read from JSON.

The descriptions are data (`schemas/kinds/*.json`, and what a project declares, see `declared_kinds`); this module gives
them types and matches headings against them. What a project declares is kept by its workspace and by the documents that
are read there, and never here: one process works in several repositories.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from functools import cache, cached_property, lru_cache

from taskstate import resources
from taskstate.errors import TaskstateError
from taskstate.syntax.patterns import compiled
from taskstate.typed import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any, TypeAlias

    from taskstate.syntax.document import Document, Section
    from taskstate.syntax.edits import Edit

    # The subsection that a title begins, and how its pattern matches; both None where it begins none.
    _Found = tuple["SubsectionSpec | None", re.Match[str] | None]
    Kinds: TypeAlias = tuple["Kind", ...]  # those that a repository declares; its workspace and documents carry them

TASK, PERMANENT = "task", "permanent"
KINDS = (TASK, PERMANENT)
HANDOFF = "handoff"  # a kind of document that is not a state file
_NUMBER = r"[0-9]+(?:\.[0-9]+)*(?:[.):]\s*|\s+)(?=\S)"
_CLOSING = r"\s#+\Z"
_PARENTHESES = r"\([^()\r\n]*(?:\([^()\r\n]*\)[^()\r\n]*)*\)"
_EMPHASIS = r"\*[^*\s](?:[^*\r\n]*[^*\s])?\*|_[^_\s](?:[^_\r\n]*[^_\s])?_"
_WORD = r"\w+"
_TIME_MARKS = r"(?<=\d)t(?=\d)|(?<=\d)z\b"  # the T and Z of `2026-01-31T12:00Z`; all times are in UTC
_MOST_TITLES = 20_000  # remembered; a file may have ten thousand headings
_BRACKETS = {")": "(", "]": "["}


class FenceSpec(NamedTuple):
    """The json fence of a part: the schema of its value, and whether a part that is no placeholder must have it."""

    schema: str
    required: bool


class SubsectionSpec(NamedTuple):
    """A level-3 heading that a section declares: a fixed title, or a pattern where it may be repeated.

    `must_be_filled` lists the statuses in which it must not be a placeholder.
    """

    name: str
    required: bool = False
    pattern: str = ""
    form: str = ""
    fence: FenceSpec | None = None
    must_be_filled: tuple[str, ...] = ()

    def match(self, title: str) -> Mapping[str, str] | None:
        """Return the pattern's groups in `title` ({} without a pattern), or None where the title does not match."""
        if not self.pattern:
            return {} if section_key(title) == section_key(self.name) else None
        return _groups(self.pattern, title)

    def title(self, groups: Mapping[str, str]) -> str | None:
        """Return the canonical title, or None where `groups` lacks a part of it."""
        try:
            return self.form.format_map(groups) if self.pattern else self.name
        except KeyError:
            return None


class SomeFilled(NamedTuple):
    """A group of subsections of which at least one must be filled while the task has one of `statuses`."""

    statuses: tuple[str, ...]
    of: tuple[str, ...]


class _SectionSpec(NamedTuple):
    name: str
    key: str
    number: int | None = None
    required: bool = False
    untouchable: bool = False
    closed: bool = False
    fence: FenceSpec | None = None
    must_be_filled: tuple[str, ...] = ()
    some_filled: SomeFilled | None = None
    subsections: tuple[SubsectionSpec, ...] = ()


# A subclass, because a NamedTuple itself has no `__dict__` that could hold cached properties.
class SectionSpec(_SectionSpec):
    """A section of a kind; `fence` is the one above its subsections.

    A `closed` section allows only the declared subsections. `must_be_filled` lists the statuses in which the section's
    own content must not be a placeholder. The formatter leaves an `untouchable` section alone.
    """

    @property
    def heading(self) -> str:
        """The canonical heading line."""
        return f"## {self.name}" if self.number is None else f"## {self.number}. {self.name}"

    def subsection(self, title: str) -> SubsectionSpec | None:
        """Return the declared subsection that a level-3 heading begins, or None."""
        found = self._known.get(title)
        return found[0] if found else self._declared(title)[0]

    def canonical(self, title: str) -> str | None:
        """Return the title of a declared subsection in canonical form, or None where a word of it would be lost."""
        if title not in self._canonical:
            found = self._known.get(title) or self._declared(title)
            self._canonical[title] = _canonical(*found, title)
        return self._canonical[title]

    def _declared(self, title: str) -> _Found:
        if len(self._known) >= _MOST_TITLES:
            self._known.clear()
            self._canonical.clear()
        found = self._known[title] = self._search(title)
        return found

    def _search(self, title: str) -> _Found:
        words = " ".join(title.split())
        for each, own_key, fullmatch in self._forms:
            match = fullmatch(words) if fullmatch else None
            if match or (fullmatch is None and own_key == section_key(title)):
                return each, match
        return None, None

    @cached_property
    def _forms(self) -> tuple[tuple[SubsectionSpec, str, Callable[[str], re.Match[str] | None] | None], ...]:
        """The subsections, each with the key of its name and its pattern: ten thousand headings are compared."""
        return tuple(
            (each, section_key(each.name), _pattern(each.pattern).fullmatch if each.pattern else None)
            for each in self.subsections
        )

    @cached_property
    def _known(self) -> dict[str, _Found]:
        """What was found for titles: several rules and passes ask for every session's heading."""
        return {}

    @cached_property
    def _canonical(self) -> dict[str, str | None]:
        """The canonical forms of titles: a file is read several times, and other files have the same titles."""
        return {}


class _Kind(NamedTuple):
    name: str
    title: str
    front_matter: str
    placeholder: str
    sections: tuple[SectionSpec, ...]


# A subclass, because a NamedTuple itself has no `__dict__` that could hold cached properties.
class Kind(_Kind):
    """A kind of state file: its title line, front matter schema, placeholder text, and sections in order."""

    def title_line(self, *, task_id: str, title: str) -> str:
        """Return the canonical title line."""
        return self.title.format(task_id=task_id, title=title)

    def section(self, title: str) -> SectionSpec | None:
        """Return the declared section that a level-2 heading begins, or None."""
        return self._by_key.get(section_key(title))

    def has_part(self, title: str) -> bool:
        """Return whether some section declares a subsection that a level-3 heading begins."""
        keys, patterns = self._parts
        return section_key(title) in keys or any(_groups(pattern, title) is not None for pattern in patterns)

    @cached_property
    def _parts(self) -> tuple[frozenset[str], tuple[str, ...]]:
        """The keys of the subsections with a fixed title, and the patterns of the others."""
        parts = [each for section in self.sections for each in section.subsections]
        keys = frozenset(section_key(each.name) for each in parts if not each.pattern)
        return keys, tuple(each.pattern for each in parts if each.pattern)

    @cached_property
    def _by_key(self) -> dict[str, SectionSpec]:
        return {each.key: each for each in reversed(self.sections)}

    def is_placeholder(self, text: str) -> bool:
        """Return whether all of a part is one line in emphasis or in parentheses, or this kind's own placeholder.

        Never a substring: an output that quotes the placeholder is not empty.
        """
        stripped = text.strip()
        if stripped == self.placeholder:
            return True
        return stripped.startswith(("*", "_", "(")) and bool(re.fullmatch(f"{_EMPHASIS}|{_PARENTHESES}", stripped))


def kind_of(document: Document) -> Kind:
    """Return the kind of a document by its front matter; an ordinary task where that names none that is known here."""
    return kind_named(document.front_matter.get("kind"), document.kinds)


def kind_named(name: object, kinds: Kinds) -> Kind:
    """Return the kind of that name: the declared one, else the built-in one, else that of an ordinary task."""
    own = {each.name: each for each in kinds}
    known = name if isinstance(name, str) and (name in KINDS or name in own) else TASK
    return own.get(known) or built_in(known)


def kind_names(kinds: Kinds) -> tuple[str, ...]:
    """Return the names of all kinds of state files: the built-in ones and the declared."""
    return tuple(dict.fromkeys((*KINDS, *(each.name for each in kinds))))


@cache
def built_in(name: str) -> Kind:
    """Return the built-in kind of that name.

    Raises:
        TaskstateError: code "unknown-kind".
    """
    if name not in (*KINDS, HANDOFF):
        raise TaskstateError(
            f"there is no kind {name!r} of task",
            help=f"it is one of {', '.join((*KINDS, HANDOFF))}",
            code="unknown-kind",
        )
    return from_json(json.loads(resources.text(f"schemas/kinds/{name}.json")))


def from_json(value: Mapping[str, Any]) -> Kind:
    """Return the kind that JSON declares, which meets `schemas/kind.schema.json`."""
    return Kind(name=value["kind"], **_values(value, Kind._fields))


@lru_cache(maxsize=_MOST_TITLES)
def section_key(title: str) -> str:
    """Return the key of a heading: its title without number, suffix in brackets, closing `#`s, extra spaces and case.

    Numbers and suffixes differ between versions of the form, so neither may decide which section is meant.
    """
    key = " ".join(compiled(_CLOSING).sub("", title.strip()).split())
    key = _without_suffix(key)
    number = compiled(_NUMBER).match(key)
    return (key[number.end() :] if number else key).casefold()


def _values(loose: Mapping[str, Any], names: tuple[str, ...]) -> dict[str, Any]:
    """Return those fields that a part of a kind's file declares, in the form of `schemas/kind.schema.json`."""
    return {name: _READERS[name](loose[name]) if name in _READERS else loose[name] for name in names if name in loose}


_READERS: Mapping[str, Callable[[Any], Any]] = {
    "fence": lambda fence: FenceSpec(**fence),
    "must_be_filled": tuple,
    "statuses": tuple,
    "of": tuple,
    "some_filled": lambda group: SomeFilled(**_values(group, SomeFilled._fields)),
    "subsections": lambda parts: tuple(SubsectionSpec(**_values(each, SubsectionSpec._fields)) for each in parts),
    "sections": lambda parts: tuple(
        SectionSpec(key=section_key(each["name"]), **_values(each, SectionSpec._fields)) for each in parts
    ),
}


def _without_suffix(title: str) -> str:
    """Return `title` without all bracketed suffixes; a title that is nothing but brackets is returned as it is."""
    while (start := _matching_bracket(title)) > 0:
        title = title[:start].rstrip()
    return title


def _matching_bracket(title: str) -> int:
    """Return the index of the bracket that the end of `title` closes, or -1."""
    if title[-1:] not in _BRACKETS:
        return -1
    waiting: list[str] = []
    for at in range(len(title) - 1, -1, -1):
        char = title[at]
        if char in _BRACKETS:
            waiting.append(_BRACKETS[char])
        elif waiting and char == waiting[-1]:
            waiting.pop()
            if not waiting:
                return at
    return -1


def _groups(pattern: str, title: str) -> Mapping[str, str] | None:
    """Return the groups of a pattern in a title, or None where it does not match."""
    match = _pattern(pattern).fullmatch(" ".join(title.split()))
    return _filled(match) if match else None


def _filled(match: re.Match[str]) -> dict[str, str]:
    return {group: text for group, text in match.groupdict().items() if text}


def _canonical(spec: SubsectionSpec | None, match: re.Match[str] | None, title: str) -> str | None:
    if spec is None or match is None:
        return spec and spec.name
    groups = _filled(match)
    canonical = spec.title(groups)
    if canonical is None:
        return None
    canonical += groups.get("suffix", "")
    return canonical if canonical == title or _words(title) <= _words(canonical) else None


def _words(title: str) -> Counter[str]:
    return Counter(re.findall(_WORD, re.sub(_TIME_MARKS, " ", title.casefold())))


@cache  # by the text alone: a flag is an `Enum`, whose hash takes longer than the match
def _pattern(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern, re.IGNORECASE)


def placeholder_above(document: Document, section: Section) -> tuple[Edit, ...]:
    """Return the edit that takes a placeholder away that stands above the parts of a section, which are written."""
    from taskstate.syntax.edits import Edit

    own, text = section.own, section.own.of(document.text)
    is_above = own.end < section.body.end and kind_of(document).is_placeholder(text)
    return (Edit(own.end - len(text.lstrip()), own.end, ""),) if is_above else ()
