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
ID_PATTERN = r"(?![Tt][Aa][Ss][Kk]-)[A-Za-z0-9]+(?:[._-][A-Za-z0-9]+)*"
MAX_ID = 64

_ID = re.compile(ID_PATTERN)
_TYPED = r"(?i)task-(?:(.+)-state\.md|(.+))"  # as people type it: TASK-101
_NUMBER = re.compile(r"[0-9]+(?:\.[0-9]+)*(?:[.):]\s*|\s+)(?=\S)")
_CLOSING = r"\s#+\Z"
_EMPHASIS = r"\*[^*\s](?:[^*\r\n]*[^*\s])?\*|_[^_\s](?:[^_\r\n]*[^_\s])?_"
_BRACKETS = {")": "(", "]": "["}
_DIGITS = r"([0-9]+)"


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


class OwnFile(NamedTuple):
    """What a file's name says: its type ("state", "archive", "impact-map", "handoff" or "progress") and the task's id.

    The id stands as the name bears it, even a malformed one; it is None for a file whose folder would tell it and does
    not.
    """

    type: str
    id: str | None


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


def own_file(name: str) -> OwnFile | None:
    """Return what a file name or path says about one of taskstate's own files, or None where it is none."""
    path = name.replace("\\", "/")
    for file_type, pattern in _own_files():
        found = pattern.search(path)
        if found:
            return OwnFile(file_type, found["id"])
    return None


def phase_in(name: str) -> str | None:
    """Return the phase that the name of a handoff or of a progress file bears, or None."""
    path = name.replace("\\", "/")
    found = next((match for _, pattern in _own_files() if (match := pattern.search(path))), None)
    return found.groupdict().get("phase") if found else None


def is_id(text: str) -> bool:
    """Return whether `text` is a well-formed id of a task."""
    return len(text) <= MAX_ID and _ID.fullmatch(text) is not None


def parse_task_id(text: str) -> str:
    """Return the id that `101`, `#101`, `TASK-101`, `task-101-state.md` or the path of one of the task's files names.

    Raises:
        TaskstateError: code "bad-id".
    """
    found = _id_in(text.strip())
    if found is None or not is_id(found):
        raise TaskstateError(
            f"{_shown(text)} names no task",
            help=f"an id has at most {MAX_ID} letters and digits, joined by single . _ or -, such as 101 or auth-2",
            code="bad-id",
        )
    return found


def parse_feature_id(text: str) -> str:
    """Return `text` as the id of a new feature.

    Raises:
        TaskstateError: code "bad-id".
    """
    found = text.strip()
    if not 0 < len(found) <= MAX_ID or not found.isprintable() or not {" ", "="}.isdisjoint(found):
        raise TaskstateError(
            f"{_shown(text)} is no id of a feature",
            help=f"it has at most {MAX_ID} characters, without spaces and =, such as jwt-1",
            code="bad-id",
        )
    return found


def id_key(task_id: str) -> tuple[tuple[tuple[bool, int, str], ...], str]:
    """Return the key by which ids sort naturally (`9`, `10`, `101`, `101a`); keys are equal for the same id alone."""
    folded = task_id.casefold()
    parts = (part for part in re.split(_DIGITS, folded) if part)
    return tuple(_part_key(part) for part in parts), folded


def _id_in(name: str) -> str | None:
    """Return what stands where the id should in one of the ways to name a task."""
    own = own_file(name)
    if own:
        return own.id
    bare = name.removeprefix("#")
    typed = re.fullmatch(_TYPED, bare)
    return (typed[1] or typed[2]) if typed else bare


def _part_key(part: str) -> tuple[bool, int, str]:
    """Return a key that puts numbers before words, and numbers in order however long they are."""
    if "0" <= part[0] <= "9":
        digits = part.lstrip("0")
        return False, len(digits), digits
    return True, 0, part


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


def _shown(text: str) -> str:
    """Return `text` in quotes, without what a terminal would obey, cut where it is long."""
    return repr(text if len(text) <= MAX_ID + 16 else text[: MAX_ID + 16] + "…")


@lru_cache(maxsize=2048)
def _groups(pattern: str, title: str) -> Mapping[str, str] | None:
    """Return the groups that a pattern finds in a title; several rules ask the same of every session's heading."""
    found = _compiled(pattern).fullmatch(" ".join(title.split()))
    return {group: text for group, text in found.groupdict().items() if text} if found else None


@cache
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern, re.IGNORECASE)


@cache
def _own_files() -> tuple[tuple[str, re.Pattern[str]], ...]:
    declared = json.loads(resources.text("schemas/kinds/files.json"))["files"]
    return tuple((each["type"], re.compile(rf"(?:\A|/){each['pattern']}\Z")) for each in declared)
