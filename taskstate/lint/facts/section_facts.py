"""What the sections hold, and what of it should not stand there so: headings, the title line, placeholders, fences."""

from __future__ import annotations

import re
from bisect import bisect_left
from functools import cached_property

from taskstate.lint.facts.feature_facts import FeatureFacts
from taskstate.lint.facts.json_values import json_value
from taskstate.lint.facts.outline import block_at
from taskstate.model.task_state import PART_LEVEL, SECTION_LEVEL, is_json_fence
from taskstate.syntax.patterns import compiled
from taskstate.syntax.spans import Span
from taskstate.typed import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from taskstate.formatting.parts import BodyPart
    from taskstate.lint.facts.json_values import JsonValue
    from taskstate.lint.facts.outline import Placed
    from taskstate.model.chain import NamedInput
    from taskstate.model.chain_quotes import ChainInput
    from taskstate.model.criteria import Criterion, MalformedCriterion
    from taskstate.model.document_kinds import SubsectionSpec
    from taskstate.syntax.document import Section
    from taskstate.syntax.markdown_blocks import Block

_NON_BLANK = r"\S"
_IMPACT_MAP = "impact-map"  # the name of its schema
_INPUT = "Chain Input"
_PULLED = "taskstate: input"  # in the comment above each Chain Input that was pulled


class Titles(NamedTuple):
    """The title line (None where it is missing), what it should say, and the other headings of level 1."""

    expected: str
    line: Section | None
    others: list[Section]

    @property
    def is_wrong(self) -> bool:
        """Whether the title line is there, and says something else."""
        return self.line is not None and _one_line(self.line.title) != self.expected.removeprefix("# ")


class SectionFacts(FeatureFacts):
    """The sections of one file, judged by its front matter."""

    @cached_property
    def wrong_titles(self) -> Titles | None:
        """The headings of level 1, unless there is the one alone that the front matter and the kind ask for."""
        task_id, title = self.values.get("task_id"), self.values.get("title")
        if task_id is None or title is None:
            return None
        expected = _one_line(self.kind.title_line(task_id=str(task_id), title=str(title)))
        headings = [section for section in self.document.sections if section.level < SECTION_LEVEL]
        declared = self.outline.declared
        is_first = bool(headings) and not (declared and declared[0].section.span.start < headings[0].span.start)
        line = headings[0] if is_first else None
        others = [each for each in headings if each is not line and not self._is_in_untouchable(each)]
        if others:
            others = [each for each in others if each not in self.outline.near.values()]
        titles = Titles(expected, line, others)
        return titles if line is None or others or titles.is_wrong else None

    def _is_in_untouchable(self, heading: Section) -> bool:
        """Return whether people may write anything where a heading stands."""
        declared = self.outline.declared
        above = bisect_left(declared, heading.span.start, key=lambda placed: placed.section.span.start) - 1
        return above >= 0 and declared[above].spec.untouchable

    @cached_property
    def repeated_parts(self) -> list[tuple[SubsectionSpec, Section, Section]]:
        """The declared parts that may stand once and occur again, also inputs of one task, each with the first one."""
        found = []
        for spec, section in self.outline.present:
            first: dict[str, Section] = {}
            once = any(not each.pattern or each.name == _INPUT for each in spec.subsections)
            for child in self.document.children(section, PART_LEVEL) if once else ():
                part = spec.subsection(child.title)
                groups = (part.match(child.title) or {}) if part and part.name == _INPUT else {}
                name = groups["task_id"].casefold() if groups else part.name if part else ""
                if part and (not part.pattern or groups) and first.setdefault(name, child) is not child:
                    found.append((part, child, first[name]))
        return found

    @cached_property
    def unusual_headings(self) -> list[BodyPart]:
        """The parts whose headings are known, and not in their canonical form."""
        from taskstate.formatting.parts import body_parts

        document = self.document
        parts = body_parts(document, self.kind)
        return [each for each in parts if each.heading and each.section.heading.of(document.text) != each.heading]

    @cached_property
    def unmarked(self) -> list[tuple[Span, str]]:
        """The lines that were the headings of parts when they were committed, and are none any more, with these."""
        text, found = self.document.text, dict[str, Span]()
        now = {(each.level, each.title) for each in self.document.sections} if self.changed else set()
        for section in (each for then in (self.past or () if now else ()) for each in then.document.sections):
            if section.level in {SECTION_LEVEL, PART_LEVEL} and (section.level, section.title) not in now:
                line = re.compile(rf"(?m)^#*[ \t]*{re.escape(section.title)}[ \t]*$").search(text)
                block = block_at(self.document, line.start()) if line else None
                if line and self._may_be_absent(section) and (block is None or block.kind == "heading"):
                    found.setdefault(f"{'#' * section.level} {section.title}", Span(*line.span()))
        return [(span, heading) for heading, span in found.items()]

    def _may_be_absent(self, section: Section) -> bool:
        """Return whether a heading is that of a part which its kind knows, and which no other rule misses."""
        if section.level == SECTION_LEVEL:
            spec = self.kind.section(section.title)
            return spec is not None and not spec.required
        parts = (part for each in self.kind.sections if (part := each.subsection(section.title)))
        return any(not each.required and each.name not in {"Session", "Decision"} for each in parts)

    @cached_property
    def misfenced_checklists(self) -> list[tuple[Section, list[Block]]]:
        """The Feature Checklists that have not exactly one json fence, with those that they have."""
        checklists = [
            placed.section
            for placed in self.outline.present
            if placed.spec.fence and placed.spec.fence.schema == "checklist"
        ]
        fences = [self.document.blocks_in(section.own, "fence") for section in checklists]
        of_json = [list(filter(is_json_fence, each)) for each in fences]
        return [(section, each) for section, each in zip(checklists, of_json, strict=True) if len(each) != 1]

    @cached_property
    def unwritten_sections(self) -> list[Placed]:
        """The sections of which a part must be written by now, and begins as what stands for one until then."""
        return [placed for placed in self.outline.present if self._may_be_unwritten(placed)]

    def _may_be_unwritten(self, placed: Placed) -> bool:
        (spec, section), status = placed, self.values.get("status")
        in_parts = [part.must_be_filled for part in spec.subsections]
        in_parts += [spec.some_filled.statuses] if spec.some_filled else []
        is_due = any(status in statuses for statuses in in_parts)
        parts = self.document.children(section, PART_LEVEL) if is_due else ()
        whole = [section] if status in spec.must_be_filled else []
        return any(map(self._may_be_placeholder, (*parts, *whole)))

    def _may_be_placeholder(self, section: Section) -> bool:
        """Return whether a text begins in emphasis or in parentheses, as placeholders do."""
        text = self.document.text
        first = compiled(_NON_BLANK).search(text, section.body.start)
        at = first.start() if first else len(text)
        mark, following = text[at : at + 1], text[at + 1 : at + 2]
        is_marked = mark == "(" or (mark in {"*", "_"} and following != mark)
        return is_marked or text.startswith(self.kind.placeholder, at)

    @property
    def lost_criteria(self) -> list[Criterion]:
        """The criteria of the compared revisions that are none any more; check marks do not count."""
        now = {" ".join(each.text.split()) for each in self.state.criteria} if self.changed else set()
        then = [each for past in self.past or () for each in past.state.criteria] if self.changed else []
        return [each for each in {each.text: each for each in then}.values() if " ".join(each.text.split()) not in now]

    @property
    def malformed_criteria(self) -> tuple[MalformedCriterion, ...]:
        """What looks like an acceptance criterion and is read as none."""
        from taskstate.model.criteria import malformed_criteria

        return malformed_criteria(self.document)

    @cached_property
    def citations(self) -> JsonValue | None:
        """The list of citations, or None where there is none that can be read."""
        return self._json("citations")

    @cached_property
    def validation(self) -> JsonValue | None:
        """The commands that check the work, or None where there are none that can be read."""
        return self._json("validation")

    @cached_property
    def impact_map(self) -> JsonValue | None:
        """The Impact Map, here or as a file of its own, or None where there is none that can be read."""
        return json_value(self.whole_json, _IMPACT_MAP) if self.is_json else self._json(_IMPACT_MAP)

    def _json(self, name: str) -> JsonValue | None:
        """Return the value of the first fence that a section has for the schema of that name."""
        fence = next((fence for schema, fence in self.outline.fences if schema == name), None)
        return json_value(self.document.json(fence), name) if fence else None

    @property
    def chain_inputs(self) -> tuple[ChainInput, ...]:
        """The outputs of other tasks that were pulled."""
        if _PULLED not in self.document.text:
            return ()
        from taskstate.model.chain import inputs_of

        return inputs_of(self.document)

    @property
    def input_headings(self) -> tuple[NamedInput, ...]:
        """The headings among the Chain Inputs that name a task."""
        section = self.state.section("Chain Inputs")
        if section is None or not self.document.children(section, PART_LEVEL):
            return ()
        from taskstate.model.chain import named_inputs

        return named_inputs(self.document)


def _one_line(text: str) -> str:
    """Return a text with single blanks between its words."""
    return " ".join(text.split())
