"""Compares the sections of a text with those that its kind declares: present, missing, repeated, out of order.

The rules on sections share this, so that they agree on which heading is which, and only one of them reports a missing
one. Here are also the helpers for fixes that insert or move sections.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from functools import cached_property

from taskstate.model.algorithms import longest_rising, out_of_order
from taskstate.model.document_kinds import kind_named, kind_names, section_key
from taskstate.model.misplaced_sessions import misplaced_sessions
from taskstate.model.task_state import json_fence
from taskstate.syntax.edits import Edit, apply
from taskstate.syntax.markdown_blocks import hidden_headings
from taskstate.syntax.spans import Span, without_comments
from taskstate.typed import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from taskstate.model.document_kinds import Kind, SectionSpec, SubsectionSpec
    from taskstate.model.lost_headings import LostContent
    from taskstate.model.misplaced_sessions import MisplacedSession
    from taskstate.syntax.document import Document, Section
    from taskstate.syntax.markdown_blocks import Block

PARAGRAPH = "a paragraph"  # what a line is inside of that is only meant as a heading
SECTION, SUBSECTION = 2, 3

_MARKS = r"#+"
_INDENT = 4  # columns: a line indented this far is code in Markdown
_SIMILAR = (
    0.75  # difflib's ratio: `Progress Lug` has 0.92, `Feature Check` 0.87; Chain Inputs and Chain Output only 0.67
)
_BLANK_BEFORE = r"(?:\A|\n|\r(?!\n))[ \t]*(?:\r\n?|\n)\Z"
_LOOK_BACK = 200  # characters: the search would otherwise start at the beginning of the text
_BLANK_LINE = r"[ \t]*(?:\r|\n|\Z)"
# `##4. Progress Log`, with no blank or a hard one behind the marks, `**4. Progress Log**`, and `4. Progress Log` as a
# paragraph of its own. Possessive, so that a line of many blanks costs no more than its length.
_MEANT_AS_HEADING = (
    r"(?m)^(?:#{1,6}[^\S\r\n]*|(?P<bold>\*\*|__)|(?:(?<=\n\n)|(?<=\n\r\n))(?=[^\r\n]*+(?:\r?\n){2}))"
    r"(?P<title>[^#*_\s][^\r\n*_]*+)"
    r"(?(bold)(?P=bold):?[^\S\r\n]*+)(?=[\r\n]|\Z)"
)
_NUMBER = r"## (\d+)\."


class Placed(NamedTuple):
    """A section of the text, with the declaration that it matches."""

    spec: SectionSpec
    section: Section


class Hidden(NamedTuple):
    """A line that looks like a heading but is none, since it is inside a fence, a list, a comment or the like.

    `within` names what it is inside of; `block` is set where that is a fence or an HTML block.
    """

    span: Span
    title: str
    level: int
    within: str
    block: Block | None


class Unfilled(NamedTuple):
    """A required subsection that is absent or empty.

    `section` is the empty one. For an absent one, `hidden` is a line that only looks like its heading, and `near` a
    heading that may be a misspelling of it.
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
    """The sections of one text, compared with those that its kind declares."""

    @cached_property
    def declared(self) -> tuple[Placed, ...]:
        """The declared sections in the order of the text."""
        pairs = ((self.kind.section(each.title), each) for each in self.document.sections if each.level == SECTION)
        return tuple(Placed(spec, section) for spec, section in pairs if spec)

    @cached_property
    def present(self) -> tuple[Placed, ...]:
        """The declared sections; of two with one title the first."""
        first = {placed.spec.key: placed for placed in reversed(self.declared)}
        return tuple(placed for placed in self.declared if first[placed.spec.key] is placed)

    @cached_property
    def repeated(self) -> tuple[Placed, ...]:
        """The declared sections that occur again, after the first with their title."""
        return tuple(placed for placed in self.declared if self.section(placed.spec) is not placed.section)

    @cached_property
    def undeclared(self) -> tuple[Section, ...]:
        """The sections that the kind does not declare."""
        return tuple(
            each for each in self.document.sections if each.level == SECTION and self.kind.section(each.title) is None
        )

    @cached_property
    def _first(self) -> dict[str, Section]:
        return {placed.spec.key: placed.section for placed in self.present}

    def section(self, spec: SectionSpec) -> Section | None:
        """Return the section of the text that matches a declaration, or None."""
        return self._first.get(spec.key)

    @cached_property
    def _ranks(self) -> tuple[int, ...]:
        rank = {spec.key: number for number, spec in enumerate(self.kind.sections)}
        return tuple(rank[placed.spec.key] for placed in self.present)

    @cached_property
    def displaced(self) -> tuple[Placed, ...]:
        """The fewest sections that would have to move for all to be in order."""
        return tuple(self.present[index] for index in out_of_order(self._ranks))

    def neighbours(self, spec: SectionSpec) -> tuple[Section | None, Section | None]:
        """Return the sections (of those in order) between which a declared one belongs; None at either end."""
        rank = self.kind.sections.index(spec)
        ordered = [(self._ranks[index], self.present[index].section) for index in longest_rising(self._ranks)]
        before = [section for other, section in ordered if other < rank]
        behind = [section for other, section in ordered if other > rank]
        return (before[-1] if before else None), (behind[0] if behind else None)

    @cached_property
    def is_cut(self) -> bool:
        """Whether a heading of level 1 splits a section: no fix can know then which text belongs to which section."""
        if not self.present:
            return False
        first, last = self.present[0], self.present[-1]
        return any(
            each.level < SECTION
            and each.span.start > first.section.span.start
            and (each.span.start < last.section.span.start or not last.spec.untouchable)
            for each in self.document.sections
        )

    @cached_property
    def absent(self) -> tuple[SectionSpec, ...]:
        """The required sections that the text lacks, hidden ones included."""
        return tuple(spec for spec in self.kind.sections if spec.required and not self.section(spec))

    @cached_property
    def doubt(self) -> str:
        """What to mend first where the text may be of another kind, whose sections it has; empty where it is not."""
        document, known = self.document, kind_names(self.document.kinds)
        told = document.front_matter.get("kind")
        titles = [each.title for each in document.sections if each.level == SECTION]
        fitting = {
            name: sum(kind_named(name, document.kinds).section(title) is not None for title in titles) for name in known
        }
        best = max(known, key=lambda name: fitting[name])
        if fitting[best] > fitting.get(self.kind.name, len(titles)):
            return f"write `kind: {best}` if it is one: it has the sections of that kind"
        return f"fix its `kind` first: {told!r} is not one of {', '.join(known)}" if told not in {None, *known} else ""

    @cached_property
    def hidden(self) -> dict[str, Hidden]:
        """The hidden headings of absent sections, by key."""
        keys = {spec.key for spec in self.absent}
        if not keys:
            return {}
        body = Span(body_start(self.document), len(self.document.text))
        hidden = hidden_in(self.document, body, keys, SECTION)
        return _lines_in_place_of_headings(self.document, body, keys - hidden.keys(), SECTION) | hidden

    @cached_property
    def near(self) -> dict[str, Section]:
        """The headings that may be misspellings of absent sections, by the key of these."""
        keys = {spec.key for spec in self.absent if spec.key not in self.hidden}
        declared = {placed.section.span.start for placed in self.declared}
        others = [each for each in self.document.sections if each.span.start not in declared] if keys else []
        return nearest_headings(keys, others, SECTION)

    @cached_property
    def lost(self) -> dict[str, LostContent]:
        """The contents of absent sections that stand without their heading, by the key of these."""
        if not self.absent:
            return {}
        from taskstate.model.lost_headings import lost_contents

        found = lost_contents(self.document, self.kind)
        return {each.spec.key: each for each in found if each.spec.key not in self.hidden}

    @cached_property
    def renamed(self) -> dict[str, Section]:
        """The sections that the kind does not declare and that are probably absent ones, by the key of these."""
        similar = {key: section for key, section in self.near.items() if section.level == SECTION}
        taken = {section.span.start for section in similar.values()}
        by_content = {
            key: each.section
            for key, each in self.lost.items()
            if each.is_renamed and key not in self.near and each.section.span.start not in taken
        }
        by_place = {spec.key: section for spec in self.absent if (section := self._with_number(spec))}
        return {**by_place, **similar, **by_content}

    def _with_number(self, spec: SectionSpec) -> Section | None:
        """Return the undeclared section that has the number of an absent one, and stands where that belongs."""
        number = re.compile(_NUMBER).match(spec.heading)
        before, behind = self.neighbours(spec)
        if number is None or before is None or behind is None or not before.span.start < behind.span.start:
            return None
        between = (each for each in self.document.sections if before.span.end <= each.span.start < behind.span.start)
        numbered = re.compile(rf"{re.escape(number[1])}\b")
        fitting = [each for each in between if each.level == SECTION and numbered.match(each.title)]
        return fitting[0] if len(fitting) == 1 and self.kind.section(fitting[0].title) is None else None

    @cached_property
    def misplaced(self) -> tuple[MisplacedSession, ...]:
        """The sessions outside the Progress Log, or at another level in it."""
        return misplaced_sessions(self.document, self.kind)

    @cached_property
    def unfilled(self) -> tuple[Unfilled, ...]:
        """The required subsections that are absent or empty in the sections of the text."""
        unfilled = []
        for placed in self.present:
            for spec in placed.spec.subsections:
                section = subsection(self.document, placed.section, spec) if spec.required else None
                if spec.required and section is None:
                    unfilled.append(self._absent(placed, spec))
                elif section and is_empty(section.body.of(self.document.text)):
                    unfilled.append(Unfilled(placed.section, spec, section=section))
        return tuple(unfilled)

    @cached_property
    def fences(self) -> tuple[tuple[str, Block], ...]:
        """The json fences of the text that the kind declares, each with the name of its schema first."""
        fences = []
        for spec, section in self.present:
            with_fence = any(each.fence for each in spec.subsections)
            children = self.document.children(section, SUBSECTION) if with_fence else ()
            for each, part in ((spec, section), *((spec.subsection(child.title), child) for child in children)):
                fence = json_fence(self.document, part.own) if each and each.fence else None
                if each and each.fence and fence:
                    fences.append((each.fence.schema, fence))
        return tuple(fences)

    def _absent(self, parent: Placed, spec: SubsectionSpec) -> Unfilled:
        key, document = section_key(spec.name), self.document
        plain = _lines_in_place_of_headings(document, parent.section.body, {key}, SUBSECTION).get(key)
        hidden = hidden_in(document, parent.section.body, {key}, SUBSECTION).get(key, plain)
        within = [each for each in document.children(parent.section) if parent.spec.subsection(each.title) is None]
        elsewhere = [each for each in document.sections if section_key(each.title) == key]
        near = None if hidden else nearest_headings({key}, (*within, *elsewhere), SUBSECTION).get(key)
        return Unfilled(parent.section, spec, hidden=hidden, near=near)


def subsection(document: Document, section: Section, spec: SubsectionSpec) -> Section | None:
    """Return the first subsection of a section that matches a declaration, or None."""
    return next((each for each in document.children(section, SUBSECTION) if spec.match(each.title) is not None), None)


def nearest_headings(keys: set[str], others: Iterable[Section], level: int) -> dict[str, Section]:
    """Return for each of `keys` the section most likely meant by it: with a similar title, or with another level."""
    nearest: dict[str, tuple[float, Section]] = {}
    ordered = sorted(keys)  # of two keys that are as near, every run takes the same one
    for section in others:
        title = section_key(section.title)
        similarity = {
            key: _similarity(title, key) if section.level == level else float(title == key) for key in ordered
        }
        best = max(similarity, key=lambda key: similarity[key], default="")
        if best and similarity[best] > max(_SIMILAR, nearest[best][0] if best in nearest else 0.0):
            nearest[best] = similarity[best], section
    return {key: section for key, (_, section) in nearest.items()}


def _similarity(title: str, key: str) -> float:
    """Return the similarity of a title to a section key, from 0 to 1; extra or missing words alone count as similar."""
    from difflib import SequenceMatcher

    words, other = set(title.split()), set(key.split())
    ratio = SequenceMatcher(None, title, key).ratio()
    return max(ratio, _SIMILAR + ratio / 10) if words and (words < other or words > other) else ratio


def hidden_in(document: Document, span: Span, keys: set[str], level: int) -> dict[str, Hidden]:
    """Return for each of `keys` the first line within `span` that only looks like its heading."""
    hidden: dict[str, Hidden] = {}
    for line, title in hidden_headings(document.text[: span.end], span.start):
        key = section_key(title)
        if key in keys and key not in hidden and _level(line.of(document.text)) == level:
            block = block_at(document, line.start)
            hidden[key] = Hidden(line, title, level, _container(document, line, block), block)
    return hidden


def _lines_in_place_of_headings(document: Document, span: Span, keys: set[str], level: int) -> dict[str, Hidden]:
    """Return for each of `keys` the first line that was meant as its heading, and is a paragraph for Markdown."""
    found: dict[str, Hidden] = {}
    for line in re.compile(_MEANT_AS_HEADING).finditer(document.text, *span):
        title = line["title"].rstrip().removesuffix(":")
        key = section_key(title)
        if key in keys and key not in found and block_at(document, line.start()) is None:
            found[key] = Hidden(Span(*line.span()), title, level, PARAGRAPH, None)
    return found


def _level(line: str) -> int:
    marks = re.compile(_MARKS).match(line)
    return len(marks[0]) if marks else 0


def block_at(document: Document, offset: int) -> Block | None:
    """Return the fence, HTML block or other block that an offset lies in, or None."""
    index = bisect_right(document.blocks, offset, key=lambda block: block.span.start) - 1
    return document.blocks[index] if index >= 0 and offset < document.blocks[index].span.end else None


def _container(document: Document, line: Span, block: Block | None) -> str:
    """Return the words for what a hidden heading is inside of."""
    if block is not None and block.kind == "fence":
        return "a code fence"
    if block is not None:
        comment = block.span.of(document.text).lstrip().startswith("<!--")
        return "a comment" if comment else "an HTML block"
    line_start = document.starts[document.position(line.start).line]
    before = document.text[line_start : line.start]
    whole = Span(body_start(document), len(document.text))
    if any(item.span.start <= line.start < item.span.end for item in document.items(whole)):
        return "a list"
    if ">" in before:
        return "a quote"
    return "an indented block of code" if len(before.expandtabs(_INDENT)) >= _INDENT else PARAGRAPH


def body_start(document: Document) -> int:
    """Return the offset of the body: behind the front matter, or behind a byte order mark."""
    span = document.front_matter.span
    return span.end if span else document.front_matter.content.end


def is_empty(text: str) -> bool:
    """Return whether a text has nothing but blanks and comments."""
    return not without_comments(text).strip()


def start_of(document: Document, section: Section) -> int:
    """Return where a section begins for moving it: at its heading, or at a comment directly above the heading."""
    start = section.span.start
    index = bisect_left(document.blocks, start, key=lambda block: block.span.start) - 1
    above = document.blocks[index] if index >= 0 else None
    if above is None or above.kind != "html":
        return start
    return above.span.start if document.text[above.span.end : start].strip(" \t") in {"\n", "\r\n", "\r"} else start


def end_of(document: Document, section: Section) -> int:
    """Return where a section ends for moving it: where the following one begins, or at the end of the text."""
    following = next((each for each in document.sections if each.span.start == section.span.end), None)
    return start_of(document, following) if following else section.span.end


def insertion_edit(document: Document, at: int, lines: Sequence[str]) -> Edit:
    """Return the edit that inserts `lines` at the beginning of a line, with one blank line above and below."""
    text, newline = document.text, document.newline
    before = ""
    if at and not re.compile(_BLANK_BEFORE).search(text, max(at - _LOOK_BACK, 0), at):
        before = newline if text[at - 1] in "\r\n" else newline * 2
    behind = "" if re.compile(_BLANK_LINE).match(text, at) else newline
    return Edit(at, at, before + newline.join(lines) + newline + behind)


def headings(sections: Iterable[Section]) -> list[tuple[int, str]]:
    """Return the level and title of each section."""
    return [(section.level, section.title) for section in sections]


def verified_edits(
    document: Document, edits: tuple[Edit, ...], expected: Sequence[tuple[int, str]]
) -> tuple[Edit, ...]:
    """Return `edits` if the edited text has exactly the expected headings and no new problems, otherwise no edits.

    Text that looks safe to move can change its meaning in another place, for example inside an unclosed fence.
    """
    after = document.with_text(apply(document.text, edits))
    return edits if headings(after.sections) == list(expected) and len(after.problems) <= len(document.problems) else ()
