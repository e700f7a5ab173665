"""What a kind of state file consists of, which files are taskstate's own, and how tasks are named.

Sections, subsections, fences and placeholders are data (`schemas/kinds/*.json`); this room gives them types and
recognises headings, file names and ids by them. No text is read here, and no rule is spoken.
"""

from __future__ import annotations

import json
import re
from functools import cache, lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple

from taskstate import resources
from taskstate.errors import TaskstateError

if TYPE_CHECKING:
    from collections.abc import Mapping


KINDS = ("task", "permanent")
HANDOFF = "handoff"  # the kind of a document that is no state file
_NUMBER = re.compile(r"[0-9]+(?:\.[0-9]+)*(?:[.):]\s*|\s+)(?=\S)")
_CLOSING = r"\s#+\Z"
_EMPHASIS = r"\*[^*\s](?:[^*\r\n]*[^*\s])?\*|_[^_\s](?:[^_\r\n]*[^_\s])?_"
_BRACKETS = {")": "(", "]": "["}


class FenceSpec(NamedTuple):
    """The json fence of a part: the schema of its value; a part that requires it holds it or is a placeholder."""

    schema: str
    required: bool

    @classmethod
    def from_mapping(cls, loose: Mapping[str, Any] | None) -> FenceSpec | None:
        """Return the fence that a kind's file declares, or None."""
        return cls(schema=loose["schema"], required=loose["required"]) if loose else None


class SubsectionSpec(NamedTuple):
    """A heading of level 3 that a section knows: one with a title of its own, or a repeated one with a pattern.

    `must_be_filled` holds the statuses in which it may be no placeholder.
    """

    name: str
    required: bool = False
    pattern: str = ""
    form: str = ""
    fence: FenceSpec | None = None
    must_be_filled: tuple[str, ...] = ()

    @classmethod
    def from_mapping(cls, loose: Mapping[str, Any]) -> SubsectionSpec:
        """Return the subsection that a kind's file declares."""
        return cls(
            name=loose["name"],
            required=loose.get("required", False),
            pattern=loose.get("pattern", ""),
            form=loose.get("form", ""),
            fence=FenceSpec.from_mapping(loose.get("fence")),
            must_be_filled=tuple(loose.get("must_be_filled", ())),
        )

    def match(self, title: str) -> Mapping[str, str] | None:
        """Return what the pattern's groups found in `title` (none without a pattern), or None where it does not fit."""
        if not self.pattern:
            return {} if section_key(title) == section_key(self.name) else None
        return _groups(self.pattern, title)

    def title(self, groups: Mapping[str, str]) -> str | None:
        """Return the title as it should be written, or None where `groups` lacks a part of it."""
        try:
            return self.form.format_map(groups) if self.pattern else self.name
        except KeyError:
            return None


class SomeFilled(NamedTuple):
    """A group of subsections that may not all be placeholders at once while the task has one of these statuses."""

    statuses: tuple[str, ...]
    of: tuple[str, ...]

    @classmethod
    def from_mapping(cls, loose: Mapping[str, Any] | None) -> SomeFilled | None:
        """Return the group that a kind's file declares, or None."""
        return cls(statuses=tuple(loose["statuses"]), of=tuple(loose["of"])) if loose else None


class SectionSpec(NamedTuple):
    """A section of a kind: `fence` is the one before its subsections; `closed` admits no others than the declared ones.

    `must_be_filled` holds the statuses in which the section's own content may be no placeholder; an `untouchable`
    section is left alone by the formatter.
    """

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

    @classmethod
    def from_mapping(cls, loose: Mapping[str, Any]) -> SectionSpec:
        """Return the section that a kind's file declares."""
        return cls(
            name=loose["name"],
            key=section_key(loose["name"]),
            number=loose.get("number"),
            required=loose.get("required", False),
            untouchable=loose.get("untouchable", False),
            closed=loose.get("closed", False),
            fence=FenceSpec.from_mapping(loose.get("fence")),
            must_be_filled=tuple(loose.get("must_be_filled", ())),
            some_filled=SomeFilled.from_mapping(loose.get("some_filled")),
            subsections=tuple(SubsectionSpec.from_mapping(each) for each in loose.get("subsections", ())),
        )

    @property
    def heading(self) -> str:
        """The heading line as it should be written."""
        return f"## {self.name}" if self.number is None else f"## {self.number}. {self.name}"

    def subsection(self, title: str) -> SubsectionSpec | None:
        """Return the subsection that a heading of level 3 begins, or None where the section declares none such."""
        return next((each for each in self.subsections if each.match(title) is not None), None)


class Kind(NamedTuple):
    """A kind of state file: its title line, front matter schema, placeholder text, and sections in their order."""

    name: str
    title: str
    front_matter: str
    placeholder: str
    sections: tuple[SectionSpec, ...]

    @classmethod
    def from_mapping(cls, loose: Mapping[str, Any]) -> Kind:
        """Return the kind that a file of the form `schemas/kind.schema.json` declares."""
        return cls(
            name=loose["kind"],
            title=loose["title"],
            front_matter=loose["front_matter"],
            placeholder=loose["placeholder"],
            sections=tuple(SectionSpec.from_mapping(each) for each in loose["sections"]),
        )

    def title_line(self, *, task_id: str, title: str) -> str:
        """Return the title line as it should be written."""
        return self.title.format(task_id=task_id, title=title)

    def section(self, title: str) -> SectionSpec | None:
        """Return the section that a heading of level 2 begins, or None where the kind declares none such."""
        key = section_key(title)
        return next((each for each in self.sections if each.key == key), None)

    def is_placeholder(self, text: str) -> bool:
        """Return whether the whole content of a part is one line in emphasis, or this kind's own placeholder."""
        stripped = text.strip()
        return stripped == self.placeholder or bool(re.fullmatch(_EMPHASIS, stripped))


@cache
def kind(name: str) -> Kind:
    """Return the kind of that name.

    Raises:
        TaskstateError: code "unknown-kind".
    """
    if name not in (*KINDS, HANDOFF):
        raise TaskstateError(
            f"there is no kind {name!r} of task", help=f"it is one of {', '.join(KINDS)}", code="unknown-kind"
        )
    return Kind.from_mapping(json.loads(resources.text(f"schemas/kinds/{name}.json")))


def kind_of(value: object) -> Kind:
    """Return the kind that the front matter's `kind` means; an ordinary task where it is absent or means nothing."""
    return kind(value if isinstance(value, str) and value in KINDS else KINDS[0])


@lru_cache(maxsize=2048)
def section_key(title: str) -> str:
    """Return what a heading is recognised by: its title without number, suffix in brackets, `#`s, spacing and case."""
    key = " ".join(re.sub(_CLOSING, "", title.strip()).split())
    key = _without_suffix(key)
    number = _NUMBER.match(key)
    return (key[number.end() :] if number else key).casefold()


def _without_suffix(title: str) -> str:
    """Return `title` without the brackets at its end, however many and nested; what is nothing but brackets stays."""
    while (start := _opening(title)) > 0:
        title = title[:start].rstrip()
    return title


def _opening(title: str) -> int:
    """Return where the bracket opens that closes at the end of `title`, or -1."""
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


@lru_cache(maxsize=2048)
def _groups(pattern: str, title: str) -> Mapping[str, str] | None:
    """Return the groups that a pattern finds in a title; several rules ask the same of every session's heading."""
    found = _compiled(pattern).fullmatch(" ".join(title.split()))
    return {group: text for group, text in found.groupdict().items() if text} if found else None


@cache
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern, re.IGNORECASE)
