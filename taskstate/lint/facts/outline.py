"""Which sections of its kind a text has, which it lacks, and what stands where a missing one was meant.

The rules on sections share this, so that they agree on which heading is which, and a missing one is told once. No
finding is worded here.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

from taskstate.model.algorithms import longest_rising, out_of_order
from taskstate.model.document_kinds import section_key
from taskstate.syntax.document import parse
from taskstate.syntax.edits import Edit, apply
from taskstate.syntax.markdown_blocks import hidden_headings
from taskstate.syntax.spans import Span

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from taskstate.model.document_kinds import Kind, SectionSpec, SubsectionSpec
    from taskstate.syntax.document import Document, Section
    from taskstate.syntax.markdown_blocks import Block

SECTION, SUBSECTION = 2, 3

_MARKS = r"#+"
_INDENT = 4  # columns; from there on a line is code
_SIMILAR = 0.75  # of difflib's ratio: `Progress Lug` is at 0.92, `Feature Check` at 0.87, both chain sections at 0.67
_BLANK_BEFORE = r"(?:\A|\n|\r(?!\n))[ \t]*(?:\r\n?|\n)\Z"
_LOOK_BACK = 200  # characters; no line of blanks is longer
_BLANK_LINE = r"[ \t]*(?:\r|\n|\Z)"
_COMMENT = r"(?s)<!--.*?(?:-->|\Z)"


class Placed(NamedTuple):
    """A section of the kind and where the text has it."""

    spec: SectionSpec
    section: Section


class Hidden(NamedTuple):
    """A line that looks like a heading and is none.

    `within` names what it stands in, `block` is that where it is a fence or an HTML block.
    """

    span: Span
    title: str
    level: int
    within: str
    block: Block | None


class Unfilled(NamedTuple):
    """A required subsection that is absent or empty.

    `section` is the empty one. For an absent one, `hidden` is what looks like its heading and is none, and `near` the
    heading that may have been meant.
    """

    parent: Section
    spec: SubsectionSpec
    section: Section | None = None
    hidden: Hidden | None = None
    near: Section | None = None


class _Outline(NamedTuple):
    document: Document
    kind: Kind


class Outline(_Outline):
    """The sections of one text against those that its kind declares."""

    @cached_property
    def _known(self) -> tuple[Placed, ...]:
        known = ((self.kind.section(each.title), each) for each in self.document.sections if each.level == SECTION)
        return tuple(Placed(spec, section) for spec, section in known if spec)

    @cached_property
    def found(self) -> tuple[Placed, ...]:
        """The known sections in the order of the text; of two with one title the first."""
        first = {placed.spec.key: placed for placed in reversed(self._known)}
        return tuple(placed for placed in self._known if first[placed.spec.key] is placed)

    @cached_property
    def repeated(self) -> tuple[Placed, ...]:
        """The known sections whose title an earlier one has already."""
        return tuple(placed for placed in self._known if self.section(placed.spec) is not placed.section)

    @cached_property
    def _first(self) -> dict[str, Section]:
        return {placed.spec.key: placed.section for placed in self.found}

    def section(self, spec: SectionSpec) -> Section | None:
        """Return where the text has a section of the kind, or None."""
        return self._first.get(spec.key)

    @cached_property
    def _ranks(self) -> tuple[int, ...]:
        rank = {spec.key: number for number, spec in enumerate(self.kind.sections)}
        return tuple(rank[placed.spec.key] for placed in self.found)

    @cached_property
    def displaced(self) -> tuple[Placed, ...]:
        """The fewest sections that would have to move for all to be in order."""
        return tuple(self.found[index] for index in out_of_order(self._ranks))

    def neighbours(self, spec: SectionSpec) -> tuple[Section | None, Section | None]:
        """Return the sections between which one of the kind belongs, of those that are in order."""
        rank = self.kind.sections.index(spec)
        settled = [(self._ranks[index], self.found[index].section) for index in longest_rising(self._ranks)]
        before = [section for other, section in settled if other < rank]
        behind = [section for other, section in settled if other > rank]
        return (before[-1] if before else None), (behind[0] if behind else None)

    @cached_property
    def is_cut(self) -> bool:
        """Whether a heading of level 1 cuts a section in two: what belongs to which one is then for people to say."""
        if not self.found:
            return False
        first, last = self.found[0], self.found[-1]
        return any(
            each.level < SECTION
            and each.span.start > first.section.span.start
            and (each.span.start < last.section.span.start or not last.spec.untouchable)
            for each in self.document.sections
        )

    @cached_property
    def absent(self) -> tuple[SectionSpec, ...]:
        """The required sections that the text does not have as such, hidden ones included."""
        return tuple(spec for spec in self.kind.sections if spec.required and not self.section(spec))

    @cached_property
    def hidden(self) -> dict[str, Hidden]:
        """The absent sections, by key, whose heading stands where it is none."""
        wanted = {spec.key for spec in self.absent}
        return (
            hidden_in(self.document, Span(body_start(self.document), len(self.document.text)), wanted, SECTION)
            if wanted
            else {}
        )

    @cached_property
    def near(self) -> dict[str, Section]:
        """The absent sections, by key, for which another heading may have been meant."""
        wanted = [spec for spec in self.absent if spec.key not in self.hidden]
        known = {placed.section.span.start for placed in self._known}
        others = [each for each in self.document.sections if each.span.start not in known] if wanted else []
        return nearest_headings({spec.key for spec in wanted}, others, SECTION)

    @cached_property
    def unfilled(self) -> tuple[Unfilled, ...]:
        """The required subsections that are absent or empty, of the sections that the text has."""
        found = []
        for placed in self.found:
            for spec in placed.spec.subsections:
                section = subsection(self.document, placed.section, spec) if spec.required else None
                if spec.required and section is None:
                    found.append(self._absent(placed, spec))
                elif section and is_empty(section.body.of(self.document.text)):
                    found.append(Unfilled(placed.section, spec, section=section))
        return tuple(found)

    def _absent(self, parent: Placed, spec: SubsectionSpec) -> Unfilled:
        key, document = section_key(spec.name), self.document
        hidden = hidden_in(document, parent.section.body, {key}, SUBSECTION).get(key)
        within = [each for each in document.children(parent.section) if parent.spec.subsection(each.title) is None]
        elsewhere = [each for each in document.sections if section_key(each.title) == key]
        near = None if hidden else nearest_headings({key}, (*within, *elsewhere), SUBSECTION).get(key)
        return Unfilled(parent.section, spec, hidden=hidden, near=near)


def subsection(document: Document, section: Section, spec: SubsectionSpec) -> Section | None:
    """Return the first heading of level 3 within a section that is the one declared, or None."""
    return next((each for each in document.children(section, SUBSECTION) if spec.match(each.title) is not None), None)


def nearest_headings(wanted: set[str], others: Iterable[Section], level: int) -> dict[str, Section]:
    """Return which of `others` may be meant by each key that is `wanted`: of nearly that title, or of another level."""
    meant: dict[str, tuple[float, Section]] = {}
    for section in others:
        key = section_key(section.title)
        likeness = {each: _similarity(key, each) if section.level == level else float(key == each) for each in wanted}
        best = max(likeness, key=lambda each: likeness[each], default="")
        if best and likeness[best] > max(_SIMILAR, meant[best][0] if best in meant else 0.0):
            meant[best] = likeness[best], section
    return {key: section for key, (_, section) in meant.items()}


def _similarity(key: str, wanted: str) -> float:
    """Return how much a title is like the one that is wanted, from 0 to 1."""
    from difflib import SequenceMatcher

    words, other = set(key.split()), set(wanted.split())
    ratio = SequenceMatcher(None, key, wanted).ratio()
    return max(ratio, _SIMILAR + ratio / 10) if words and (words < other or words > other) else ratio


def hidden_in(document: Document, span: Span, wanted: set[str], level: int) -> dict[str, Hidden]:
    """Return the first line within `span` for each key that is `wanted` which looks like its heading and is none."""
    found: dict[str, Hidden] = {}
    for place, title in hidden_headings(document.text[: span.end], span.start):
        key = section_key(title)
        if key in wanted and key not in found and _level(place.of(document.text)) == level:
            block = _block_at(document, place.start)
            found[key] = Hidden(place, title, level, _container(document, place, block), block)
    return found


def _level(line: str) -> int:
    marks = re.compile(_MARKS).match(line)
    return len(marks[0]) if marks else 0


def _block_at(document: Document, offset: int) -> Block | None:
    index = bisect_right(document.blocks, offset, key=lambda block: block.span.start) - 1
    return document.blocks[index] if index >= 0 and offset < document.blocks[index].span.end else None


def _container(document: Document, place: Span, block: Block | None) -> str:
    """Return what a hidden heading stands in."""
    if block is not None and block.kind == "fence":
        return "a code fence"
    if block is not None:
        comment = block.span.of(document.text).lstrip().startswith("<!--")
        return "a comment" if comment else "an HTML block"
    line_start = document.starts[document.position(place.start).line]
    before = document.text[line_start : place.start]
    whole = Span(body_start(document), len(document.text))
    if any(item.span.start <= place.start < item.span.end for item in document.items(whole)):
        return "a list"
    if ">" in before:
        return "a quote"
    return "an indented block of code" if len(before.expandtabs(_INDENT)) >= _INDENT else "a paragraph"


def body_start(document: Document) -> int:
    """Return the offset at which the body begins, behind the front matter or a byte order mark."""
    span = document.front_matter.span
    return span.end if span else document.front_matter.content.end


def is_empty(text: str) -> bool:
    """Return whether a part says nothing: it holds only blanks and comments."""
    return not re.compile(_COMMENT).sub("", text).strip()


def start_of(document: Document, section: Section) -> int:
    """Return where a section begins that moves as a whole: at its heading, or at a comment directly above that."""
    start = section.span.start
    index = bisect_left(document.blocks, start, key=lambda block: block.span.start) - 1
    above = document.blocks[index] if index >= 0 else None
    if above is None or above.kind != "html":
        return start
    return above.span.start if document.text[above.span.end : start].strip(" \t") in {"\n", "\r\n", "\r"} else start


def end_of(document: Document, section: Section) -> int:
    """Return where a section ends that moves as a whole: where the next one of its level begins, or with the text."""
    following = next((each for each in document.sections if each.span.start == section.span.end), None)
    return start_of(document, following) if following else section.span.end


def insertion_edit(document: Document, at: int, lines: Sequence[str]) -> Edit:
    """Return the edit that puts `lines` in at the begin of a line, with one blank line before and behind them."""
    text, newline = document.text, document.newline
    before = ""
    if at and not re.compile(_BLANK_BEFORE).search(text, max(at - _LOOK_BACK, 0), at):
        before = newline if text[at - 1] in "\r\n" else newline * 2
    behind = "" if re.compile(_BLANK_LINE).match(text, at) else newline
    return Edit(at, at, before + newline.join(lines) + newline + behind)


def headings(sections: Iterable[Section]) -> list[tuple[int, str]]:
    """Return level and title of each heading."""
    return [(section.level, section.title) for section in sections]


def verified_edits(
    document: Document, edits: tuple[Edit, ...], expected: Sequence[tuple[int, str]]
) -> tuple[Edit, ...]:
    """Return `edits` where they give a text with the expected headings, and nothing where a fence is in the way."""
    after = parse(apply(document.text, edits))
    return edits if headings(after.sections) == list(expected) and len(after.problems) <= len(document.problems) else ()
