"""Divides a body into parts, and decides which of them the formatter may change.

Never changed are the contents of sessions, a sealed static part, Notes, and sections that the kind does not declare. A
heading is rewritten only where its form alone would change.
"""

from __future__ import annotations

from taskstate.model.document_kinds import kind_of
from taskstate.model.progress_log import session_number
from taskstate.model.static_context import is_sealed
from taskstate.model.task_state import PART_LEVEL, SECTION_LEVEL
from taskstate.typed import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator

    from taskstate.model.document_kinds import Kind, SectionSpec
    from taskstate.syntax.document import Document, Section

# The parts whose lists the tool writes, with its own marker. In all others the marker is the writer's choice.
LISTS = frozenset({"scope", "acceptance criteria", "repository paths", "archived summary", "git history", "change log"})

_TITLE_LEVEL = 1


class BodyPart(NamedTuple):
    """A heading with the text below it, up to the next heading of any level.

    `heading` is the canonical heading line, or "" where it must not be changed. In a `frozen` part every byte below the
    heading stays, in a `joined` one also the blank lines above it. In a `listed` part the tool writes the lists.
    `schema` is the schema of the part's json fence, or "".
    """

    section: Section
    heading: str = ""
    frozen: bool = False
    joined: bool = False
    listed: bool = False
    schema: str = ""


def body_parts(document: Document, kind: Kind | None = None) -> tuple[BodyPart, ...]:
    """Return the parts of a document in order; `kind` defaults to that of its front matter."""
    return document.derived(_parts, kind or kind_of(document))


def _parts(document: Document, kind: Kind) -> tuple[BodyPart, ...]:
    return tuple(_Reader(document, kind).parts())


class _Reader:
    """Reads the headings in order, and tracks the section they are in and the level below which all is frozen."""

    def __init__(self, document: Document, kind: Kind) -> None:
        self.document = document
        self.kind = kind
        # An unreadable front matter may hold a seal: treat the static part as sealed then.
        self.sealed = document.front_matter.node is None or is_sealed(document.front_matter.node)
        self.seen_keys: set[str] = set()
        self.spec: SectionSpec | None = None
        self.listed = False
        self.frozen = 0  # the level of the heading below which nothing is changed; 0: none

    def parts(self) -> Iterator[BodyPart]:
        last: BodyPart | None = None
        for section in self.document.sections:
            part = self.part(section, is_first=last is None)
            if part.frozen and not part.joined and not part.heading and last and last.frozen and not last.heading:
                part = BodyPart(section, frozen=True, joined=True)
            yield part
            last = part

    def part(self, section: Section, *, is_first: bool) -> BodyPart:
        """Return the part that a heading begins."""
        if self.frozen and section.level > self.frozen:
            return BodyPart(section, frozen=True, joined=True)
        self.frozen = 0
        if section.level > PART_LEVEL and self.spec:
            return BodyPart(section, listed=self.listed)
        self.listed = False
        if section.level == PART_LEVEL and self.spec:
            return self.subsection(section, self.spec)
        self.spec = None
        if section.level == SECTION_LEVEL:
            return self.section(section)
        return BodyPart(section) if is_first and section.level == _TITLE_LEVEL else self.freeze(section)

    def section(self, section: Section) -> BodyPart:
        """Return the part that a level-2 heading begins; a second one with the same title is frozen."""
        spec = self.kind.section(section.title)
        if spec is None or spec.key in self.seen_keys:
            return self.freeze(section)
        self.seen_keys.add(spec.key)
        if spec.untouchable or (self.sealed and spec is self.kind.sections[0]):
            return self.freeze(section)
        self.spec = spec
        self.listed = spec.key in LISTS
        schema = spec.fence.schema if spec.fence else ""
        return BodyPart(section, heading=spec.heading, listed=self.listed, schema=schema)

    def subsection(self, section: Section, within: SectionSpec) -> BodyPart:
        """Return the part that a level-3 heading begins, in a section that may be changed."""
        spec = within.subsection(section.title)
        if spec is None:
            return self.freeze(section)
        heading = f"### {within.canonical(section.title) or ' '.join(section.title.split())}"
        if session_number(section.title) is not None:
            self.frozen = section.level
            return BodyPart(section, heading, True)  # noqa: FBT003 - there may be ten thousand; by name takes twice as long
        self.listed = spec.name.casefold() in LISTS
        schema = spec.fence.schema if spec.fence else ""
        return BodyPart(section, heading=heading, listed=self.listed, schema=schema)

    def freeze(self, section: Section) -> BodyPart:
        """Return a part that is frozen, up to the next heading of its level."""
        self.frozen = max(section.level, SECTION_LEVEL)
        return BodyPart(section, frozen=True)
