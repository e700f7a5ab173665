"""What rules know about a text, read once for all of them.

Facts also keep the order of precedence: what does not parse, or breaks its schema, is not handed to the rules that read
it, so that one fault gives one finding.
"""

from __future__ import annotations

import re
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

from taskstate.lint.diagnostics import BODY, WHOLE
from taskstate.lint.facts.json_values import JsonValue, json_value
from taskstate.lint.facts.outline import Outline
from taskstate.lint.facts.phases import Phase, phases_of
from taskstate.lint.queries.interface import NO_QUERIES, Queries
from taskstate.model import document_kinds
from taskstate.model.document_kinds import section_key
from taskstate.model.static_context import is_sealed
from taskstate.model.task_state import TaskState, json_fence, read_state
from taskstate.model.tool_blocks import ToolBlocks, read_tool_blocks
from taskstate.syntax.conflict_markers import Conflict, find_conflicts
from taskstate.syntax.json_parser import read_json
from taskstate.syntax.nodes import Fault, Node
from taskstate.syntax.spans import CONTROLS, Span
from taskstate.validation import schema
from taskstate.version import FORMAT

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from taskstate.model.config import Config
    from taskstate.model.document_kinds import Kind, SectionSpec
    from taskstate.model.task_state import Checklist, Session, Summary
    from taskstate.syntax.document import Document, Problem, Section
    from taskstate.syntax.markdown_blocks import Block
    from taskstate.syntax.nodes import MapEntry
    from taskstate.validation.schema_errors import SchemaFault

_SECTION, _SUBSECTION = 2, 3  # the levels of their headings
_LOG = "progress log"
_PERMANENT = r"(?m)^(?:kind:[ \t]*[\"']?permanent\b|# \[PERMANENT\])"
_HEAD = 20_000  # characters: where the front matter and the title stand
_BODY_LINE = r"(?m)^(?:# (?:Task\b|\[PERMANENT\]|Phase\b)|## )"
# Keys that only the tool writes: where one stands, it has written `taskstate` too.
_TOOL_KEYS = (
    *("revision", "version", "sessions", "file_size_kb", "archive_path", "context", "baseline", "coordination"),
    *("delta", "evidence", "handoffs", "output", "acks", "audit", "state_revision", "verified"),
)
_JSON_FILES = frozenset({"impact-map", "progress"})
_OWN_KEYS = ("taskstate", "kind", "task_id")  # a handoff that has none of them is somebody else's document


class _Facts(NamedTuple):
    document: Document
    config: Config
    name: str
    file_type: str
    task_id: str | None
    queries: Queries = NO_QUERIES


class Facts(_Facts):
    """One text and what is read from it: its file's name, the id in that name, the type of file that it tells.

    `queries` answers what the text cannot.
    """

    @cached_property
    def past(self) -> tuple[Facts, ...] | None:
        """The file at the compared revision, while merging at each parent; None where nothing is compared."""
        earlier, text = self.queries.earlier(), self.document.text
        if earlier is None:
            return None
        return tuple(self if each.text == text else self._replace(document=each) for each in earlier)

    # What can be read at all

    @cached_property
    def conflicts(self) -> tuple[Conflict, ...]:
        """The merge conflicts, wherever they stand."""
        return find_conflicts(self.document.text)

    def is_conflicted(self, span: Span) -> bool:
        """Return whether a merge conflict overlaps `span`."""
        return any(conflict.span.start <= span.end and span.start <= conflict.span.end for conflict in self.conflicts)

    @cached_property
    def version(self) -> int | None:
        """The version of the format that the file names, or None where it names none that could be one."""
        told = self.front_matter.get("taskstate") if self.front_matter else None
        value = told.value() if told else None
        return value if isinstance(value, int) and not isinstance(value, bool) and value > 0 else None

    @property
    def newer(self) -> bool:
        """Whether the file says that its format is newer than these rules."""
        return self.version is not None and self.version > FORMAT

    @cached_property
    def tool_key(self) -> str | None:
        """A key of the front matter that shows that the tool has written it, or None."""
        return next((key for key in _TOOL_KEYS if self.front_matter and self.front_matter.entry(key)), None)

    @cached_property
    def foreign(self) -> bool:
        """Whether this is a handoff of another tool: without front matter, or with one that has none of our keys."""
        if self.file_type != "handoff" or self.conflicts:
            return False
        if self.document.front_matter.node is None:
            return any(problem.kind == "front-matter-missing" for problem in self.document.problems)
        return not any(key in self.document.front_matter for key in _OWN_KEYS)

    @property
    def is_json(self) -> bool:
        """Whether the file is JSON as a whole."""
        return self.file_type in _JSON_FILES

    @cached_property
    def overrun(self) -> bool:
        """Whether the front matter never closes, and a rule `---` in the body was taken for its end."""
        front_matter = self.document.front_matter
        return (
            front_matter.span is not None
            and front_matter.node is None
            and not self.conflicts
            and re.compile(_BODY_LINE).search(self.document.text, *front_matter.content) is not None
        )

    @cached_property
    def sealed(self) -> Span | None:
        """The static part where it is sealed: no fix may touch it, since every change breaks the seal."""
        static = self.kind.sections[0] if is_sealed(self.front_matter) else None
        section = self.outline.section(static) if static else None
        return section.body if section else None

    @cached_property
    def unreadable_body(self) -> Span | None:
        """The part of the body of which nothing can be said, up to the end, or None.

        Conflict markers make all of it doubtful, and so does a front matter that swallows its beginning; a fence that
        never closes makes the section doubtful in which it begins, and what follows.
        """
        text = self.document.text
        front_matter = self.document.front_matter.span
        body = front_matter.end if front_matter else 0
        if self.overrun or any(conflict.span.end > body for conflict in self.conflicts):
            return Span(0, len(text))
        if self.is_json:
            return None
        if not text.strip("\ufeff \t\r\n"):
            return Span(0, len(text))
        open_fence = next((block for block in self.document.blocks if block.kind == "fence" and not block.closed), None)
        if open_fence is None:
            return None
        at = open_fence.span.start
        within = [section.span.start for section in self.document.sections if section.level == _SECTION]
        return Span(max((start for start in within if start < at), default=body), len(text))

    def is_read(self, reads: str, span: Span) -> bool:
        """Return whether a finding at `span`, of a rule that reads that part of the file, can be relied on."""
        if reads == WHOLE:
            return True
        if self.newer or self.foreign:
            return False
        return reads != BODY or self.unreadable_body is None or span.start < self.unreadable_body.start

    # The front matter

    @cached_property
    def front_matter_problems(self) -> tuple[Problem, ...]:
        """What keeps the front matter from being read, but for conflicts and control characters, which others tell."""
        return tuple(
            problem
            for problem in self.document.problems
            if problem.kind.startswith("front-matter-")
            and not self._is_explained(problem)
            and not re.compile(CONTROLS).match(self.document.text, problem.span.start)
        )

    def _is_explained(self, problem: Problem) -> bool:
        if problem.kind == "front-matter-unclosed":
            return bool(self.conflicts)  # the markers may have swallowed its end
        missing = problem.kind == "front-matter-missing"
        return self.is_conflicted(problem.span if missing else self.document.front_matter.content)

    @cached_property
    def front_matter(self) -> Node | None:
        """The front matter's span tree, or None where it cannot be read."""
        front_matter = self.document.front_matter
        return None if self.is_conflicted(front_matter.content) else front_matter.node

    @cached_property
    def first_line(self) -> Span:
        """The first line, for what concerns the file as a whole."""
        text = self.document.text
        return self._on_one_line(Span(1 if text.startswith("\ufeff") else 0, len(text)))

    @cached_property
    def front_matter_schema(self) -> str:
        """The name of the schema that the front matter must meet."""
        return "handoff" if self.file_type == "handoff" else self.kind.front_matter

    @cached_property
    def commented_values(self) -> tuple[Fault, ...]:
        """The values of the front matter that begin with `#` and so are read as comments."""
        content = self.document.front_matter.content
        if self.front_matter is None or "#" not in content.of(self.document.text):
            return ()
        from taskstate.syntax.yaml_diagnosis import commented_values

        return commented_values(self.document.text, self.front_matter)

    def is_commented(self, path: tuple[str | int, ...]) -> bool:
        """Return whether the value at `path` is one of the lost ones."""
        node = self.front_matter.get(*path) if path and self.front_matter else None
        if node is None or node.span.start < node.span.end:
            return False
        line = self.document.position(node.span.start).line
        return any(self.document.position(lost.span.start).line == line for lost in self.commented_values)

    @cached_property
    def values(self) -> Mapping[str, Any]:
        """The front matter by its schema: strings are strings; without the keys that break the schema."""
        faulty = {fault.path[0] for fault in self.front_matter_faults if fault.path}
        return {key: value for key, value in self._typed.items() if key not in faulty}

    @cached_property
    def blocks(self) -> ToolBlocks:
        """What the tool keeps in the front matter; a block that breaks its schema counts as absent."""
        return read_tool_blocks(self.values)

    @cached_property
    def _typed(self) -> Mapping[str, Any]:
        node = self.front_matter
        return schema.typed_value(node, self.front_matter_schema) if node else {}

    @cached_property
    def front_matter_faults(self) -> tuple[SchemaFault, ...]:
        """Where the front matter breaks its schema."""
        return schema.faults(self._typed, self.front_matter_schema) if self.front_matter else ()

    def value_span(self, *path: str | int) -> Span:
        """Return where a value of the front matter stands: its first line, or its key where nothing is behind it."""
        node = self.front_matter.get(*path) if self.front_matter else None
        entry = self._entry(path)
        if node is None or not path:
            return self.first_line
        if node.span.start == node.span.end or (node.style == "block" and entry):
            return entry.key.span if entry else node.span
        return self._on_one_line(node.span)

    def fault_span(self, fault: SchemaFault) -> Span:
        """Return where a fault of the front matter stands: an unknown key, a value, or what lacks a missing key."""
        entry = self._entry(fault.path)
        return entry.key.span if fault.keyword == "unknown-key" and entry else self.value_span(*fault.path)

    def _entry(self, path: tuple[str | int, ...]) -> MapEntry | None:
        parent = self.front_matter.get(*path[:-1]) if path and self.front_matter else None
        return parent.entry(str(path[-1])) if parent else None

    def _on_one_line(self, span: Span) -> Span:
        ends = [at for at in (self.document.text.find(char, *span) for char in "\r\n") if at >= 0]
        return Span(span.start, min(ends, default=span.end))

    # The body

    @cached_property
    def state(self) -> TaskState:
        """What the file says, read leniently."""
        return read_state(self.document, self.task_id or "")

    @property
    def shown_id(self) -> str:
        """The task's id for advice that names a command."""
        return self.state.id or self.task_id or "ID"

    @cached_property
    def sessions_known(self) -> bool:
        """Whether the Progress Log can be counted: there is one, it can be read, and all its headings are known."""
        logs = [part for part in self.document.sections if part.level == _SECTION and section_key(part.title) == _LOG]
        if len(logs) != 1 or self.unreadable_body is not None:
            return False
        return all(self._in_log(child) for child in self.document.children(logs[0], _SUBSECTION))

    @cached_property
    def kind(self) -> Kind:
        """The kind of task: which sections, fences and placeholders it has.

        Where the front matter does not tell, its text and the title line do: one unreadable key must not make every
        section of a permanent task a wrong one.
        """
        told = self.front_matter.get("kind") if self.front_matter else None
        known = document_kinds.kind_of(told.text) if told else None
        if known and told and known.name == told.text:
            return known
        readable = self.front_matter is not None and told is None
        guessed = None if readable else re.compile(_PERMANENT).search(self.document.text, 0, _HEAD)
        return document_kinds.kind_of("permanent" if guessed else None)

    @cached_property
    def outline(self) -> Outline:
        """The sections of the text against those of the kind."""
        return Outline(document=self.document, kind=self.kind)

    @cached_property
    def checklist_fence(self) -> Block | None:
        """The json fence of the Feature Checklist, or None."""
        section = self.state.section("Feature Checklist")
        return json_fence(self.document, section.own) if section and self.kind.section("Feature Checklist") else None

    @cached_property
    def checklist_value(self) -> JsonValue | None:
        """The value of the checklist's fence against its schema, or None where it cannot be read."""
        return json_value(self.document.json(self.checklist_fence), "checklist") if self.checklist_fence else None

    @cached_property
    def checklist(self) -> Checklist | None:
        """The Feature Checklist where its fence can be read and is a map, or None."""
        read = self.state.checklist if self.checklist_fence else None
        return read if read and read.root.kind == "mapping" else None

    def is_sound(self, *path: str | int) -> bool:
        """Return whether nothing in the checklist breaks its schema at `path`, above or below it."""
        return self.checklist_value is None or self.checklist_value.is_sound(*path)

    def sound_features(self, *keys: str, optional: tuple[str, ...] = ()) -> Iterator[Mapping[str, Node]]:
        """Yield, of each feature in which these keys meet the schema, their values; `optional` ones may be missing."""
        features = self.checklist.root.get("features") if self.checklist else None
        for index, item in enumerate(features.items if features else ()):
            values = {key: node for key in (*keys, *optional) if (node := item.get(key))}
            if values.keys() >= set(keys) and all(self.is_sound("features", index, key) for key in values):
                yield values

    @cached_property
    def phases(self) -> tuple[Phase, ...]:
        """The phases of the Feature Checklist."""
        return phases_of(self.document, self.outline)

    @cached_property
    def sessions(self) -> tuple[Session, ...]:
        """The sessions of the Progress Log whose headings the kind knows; nothing more is said of the others."""
        return tuple(each for each in self.state.sessions if self._in_log(each.section))

    @cached_property
    def summary(self) -> Summary | None:
        """The Archived Summary, where the kind knows its heading, or None."""
        summary = self.state.summary
        return summary if summary and self._in_log(summary.section) else None

    @cached_property
    def strays(self) -> tuple[tuple[SectionSpec, Section], ...]:
        """The headings of level 3 in closed sections, each with the section's declaration, that none declares."""
        read = {session.section.span for session in self.sessions}
        if self.summary:
            read.add(self.summary.section.span)
        return tuple(
            (spec, child)
            for spec, section in self.outline.found
            if spec.closed
            for child in self.document.children(section, _SUBSECTION)
            if child.span not in read
        )

    def _in_log(self, section: Section) -> bool:
        log = self.kind.section("Progress Log")
        return bool(log and log.subsection(section.title))

    @cached_property
    def whole_json(self) -> Node | Fault | None:
        """The value of a file that is JSON as a whole, or what keeps it from being read; None for other files."""
        text = self.document.text
        return read_json(text, 1 if text.startswith("\ufeff") else 0, len(text)) if self.is_json else None

    @cached_property
    def json_faults(self) -> tuple[Fault, ...]:
        """What keeps the json fences that the format reads, or a file that is JSON as a whole, from being read."""
        read = [self.whole_json] if self.is_json else [self.document.json(fence) for fence in self.json_fences]
        return tuple(node for node in read if isinstance(node, Fault))

    @property
    def json_fences(self) -> tuple[Block, ...]:
        """The json fences that the kind declares and the text has."""
        return tuple(fence for _, fence in self.declared_fences)

    @cached_property
    def declared_fences(self) -> tuple[tuple[str, Block], ...]:
        """The json fences that the kind declares and the text has, each behind the name of its schema."""
        found = []
        for spec, section in self.outline.found:
            subsections = (
                (spec.subsection(child.title), child) for child in self.document.children(section, _SUBSECTION)
            )
            for each, part in ((spec, section), *subsections):
                fence = json_fence(self.document, part.own) if each and each.fence else None
                if each and each.fence and fence:
                    found.append((each.fence.schema, fence))
        return tuple(found)
