"""Which parts of a body may be laid out: each heading with the text below it, and what is to become of the two.

Never touched are the inside of sessions, a sealed static part, Notes, and whatever the kind does not declare. A
heading is written as the kind has it where nothing but its form would change.
"""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING, NamedTuple

from taskstate.model.document_kinds import kind_of
from taskstate.model.static_context import is_sealed
from taskstate.model.task_state import PART_LEVEL, SECTION_LEVEL, session_number

if TYPE_CHECKING:
    from collections.abc import Iterator

    from taskstate.model.document_kinds import Kind, SectionSpec, SubsectionSpec
    from taskstate.syntax.document import Document, Section

# The parts whose lists the tool writes: there the marker is its own. In all others it is the writer's.
LISTS = frozenset({"scope", "acceptance criteria", "repository paths", "archived summary", "git history", "change log"})

# Compiled when they are used: most runs need none of them.
_WORD = r"\w+"
_TIME_MARKS = r"(?<=\d)t(?=\d)|(?<=\d)z\b"  # of `2026-01-31T12:00Z`; all times are in UTC
_TITLE_LEVEL = 1


class BodyPart(NamedTuple):
    """A heading with the text below it, up to the next heading of any level.

    `heading` is the line as it should be written, or empty where it is left as it is. What is `frozen` keeps every
    byte below its heading; what is `joined` also the blank lines above it. In `listed` parts the tool writes the lists.
    `schema` is that of the part's json fence, or empty.
    """

    section: Section
    heading: str = ""
    frozen: bool = False
    joined: bool = False
    listed: bool = False
    schema: str = ""


def body_parts(document: Document, kind: Kind | None = None) -> tuple[BodyPart, ...]:
    """Return the parts of a document, in its order; the kind is that of its front matter where it is not told."""
    return tuple(_Reader(document, kind or kind_of(document.front_matter.get("kind"))).parts())


class _Reader:
    """One pass over the headings: the section that the next one stands in, and from which level all is frozen."""

    def __init__(self, document: Document, kind: Kind) -> None:
        self.document = document
        self.kind = kind
        # Where nobody can tell whether the static part is sealed, it is taken to be.
        self.sealed = document.front_matter.node is None or is_sealed(document.front_matter.node)
        self.seen: set[str] = set()
        self.within: SectionSpec | None = None
        self.listed = False
        self.frozen = 0  # the level of the heading below which nothing is touched; 0: none

    def parts(self) -> Iterator[BodyPart]:
        last: BodyPart | None = None
        for section in self.document.sections:
            part = self.part(section, is_first=last is None)
            if part.frozen and not part.heading and last and last.frozen and not last.heading:
                part = part._replace(joined=True)
            yield part
            last = part

    def part(self, section: Section, *, is_first: bool) -> BodyPart:
        """Return the part that a heading begins."""
        if self.frozen and section.level > self.frozen:
            return BodyPart(section, frozen=True, joined=True)
        self.frozen = 0
        if section.level > PART_LEVEL and self.within:
            return BodyPart(section, listed=self.listed)
        self.listed = False
        if section.level == PART_LEVEL and self.within:
            return self.subsection(section, self.within)
        self.within = None
        if section.level == SECTION_LEVEL:
            return self.section(section)
        return BodyPart(section) if is_first and section.level == _TITLE_LEVEL else self.freeze(section)

    def section(self, section: Section) -> BodyPart:
        """Return the part of a heading of level 2: of two with one title the second is left alone."""
        spec = self.kind.section(section.title)
        if spec is None or spec.key in self.seen:
            return self.freeze(section)
        self.seen.add(spec.key)
        if spec.untouchable or (self.sealed and spec is self.kind.sections[0]):
            return self.freeze(section)
        self.within = spec
        self.listed = spec.key in LISTS
        schema = spec.fence.schema if spec.fence else ""
        return BodyPart(section, heading=spec.heading, listed=self.listed, schema=schema)

    def subsection(self, section: Section, within: SectionSpec) -> BodyPart:
        """Return the part of a heading of level 3 in a section that may be touched."""
        spec = within.subsection(section.title)
        if spec is None:
            return self.freeze(section)
        heading = f"### {_shaped(spec, section.title) or ' '.join(section.title.split())}"
        if session_number(section.title) is not None:
            return self.freeze(section)._replace(heading=heading)
        self.listed = spec.name.casefold() in LISTS
        schema = spec.fence.schema if spec.fence else ""
        return BodyPart(section, heading=heading, listed=self.listed, schema=schema)

    def freeze(self, section: Section) -> BodyPart:
        """Return the part of a heading below which nothing is touched up to the next one of its level."""
        self.frozen = max(section.level, SECTION_LEVEL)
        return BodyPart(section, frozen=True)


def _shaped(spec: SubsectionSpec, title: str) -> str | None:
    """Return a title in the form that the kind declares, or None where that form has no room for all its words."""
    groups = spec.match(title) or {}
    shaped = spec.title(groups)
    if shaped is None or not spec.pattern:
        return shaped
    shaped += groups.get("suffix", "")
    return shaped if shaped == title or _words(title) <= _words(shaped) else None


def _words(title: str) -> Counter[str]:
    return Counter(re.findall(_WORD, re.sub(_TIME_MARKS, " ", title.casefold())))
