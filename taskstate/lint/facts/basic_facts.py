"""The facts about one text that most rules use, each computed on first use and kept.

They also ensure that one fault gives one finding: values that do not parse or break their schema are left out, so that
no other rule reports them again.
"""

from __future__ import annotations

import re
from functools import cached_property

from taskstate.lint.diagnostics import BODY, WHOLE
from taskstate.lint.facts.conflicts import conflicts_of
from taskstate.lint.facts.json_values import JsonValue, json_value
from taskstate.lint.facts.outline import Outline
from taskstate.lint.queries.interface import NO_QUERIES, Queries
from taskstate.model.document_kinds import PERMANENT, kind_named, kind_names
from taskstate.model.static_context import is_sealed
from taskstate.model.task_state import SECTION_LEVEL, TaskState, json_fence, read_state
from taskstate.model.tool_blocks import ToolBlocks, read_tool_blocks
from taskstate.secrets import scan
from taskstate.syntax import invisible
from taskstate.syntax.document import parse
from taskstate.syntax.json_parser import read_json
from taskstate.syntax.nodes import Fault, Node
from taskstate.syntax.patterns import compiled
from taskstate.syntax.spans import CONTROLS, Span, first_line
from taskstate.typed import TYPE_CHECKING, NamedTuple
from taskstate.validation import schema
from taskstate.version import FORMAT

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any, Self

    from taskstate.model.config import Config
    from taskstate.model.document_kinds import Kind
    from taskstate.model.names import FileType
    from taskstate.model.task_state import Checklist
    from taskstate.secrets.scan import Secret
    from taskstate.syntax.conflict_markers import Conflict
    from taskstate.syntax.document import Document, Problem
    from taskstate.syntax.nodes import MapEntry
    from taskstate.validation.schema_errors import SchemaFault

_PERMANENT = r"(?m)^(?:kind:[ \t]*[\"']?permanent\b|# \[PERMANENT\])"
_HASH_VALUE = r"#(?<=[ ]#)(?=[^\s#])"  # a word behind a `#`: with a blank there it is a real comment
_HEAD = 20_000  # characters to search for the title line: enough for any front matter, and no search of a huge file
_BODY_LINE = r"(?m)^(?:# (?:Task\b|\[PERMANENT\]|Phase\b)|## )"
_PRINTABLE = bytes((*b"\t\n\r", *range(0x20, 0x7F)))  # what is no control character in ASCII
_OF_A_KIND = 2  # sections from which a text is one of that kind
_JSON_FILES: frozenset[FileType] = frozenset({"impact-map", "progress"})
_OWN_KEYS = ("taskstate", "kind", "task_id")  # a handoff with none of them was written by another tool


class _Facts(NamedTuple):
    document: Document
    config: Config
    name: str
    file_type: FileType
    task_id: str | None
    queries: Queries = NO_QUERIES
    folder: str = ""  # from the repository's root


class BasicFacts(_Facts):
    """One text with what its file name tells (the type of file, the id of the task), and the facts derived from it.

    `queries` answers what the text alone cannot.
    """

    @cached_property
    def past(self) -> tuple[Self, ...] | None:
        """The facts at the compared revision, while merging at each parent; None where nothing is compared."""
        earlier, text = self.queries.earlier(self.document), self.document.text
        if earlier is None:
            return None
        if self.document.front_matter:  # what was migrated since is no rewriting: an older form counts as empty
            from taskstate.model.older_sections import is_older

            earlier = tuple(parse("") if not each.front_matter and is_older(each) else each for each in earlier)
        # Equal texts share their facts, so that nothing is computed twice, and rules can compare by identity.
        return tuple(self if each.text == text else self._replace(document=each) for each in earlier)

    @cached_property
    def changed(self) -> bool:
        """Whether the file was another at the compared revision; in most runs, most files were not."""
        return any(then is not self for then in self.past or ())

    def was_there(self, text: str) -> bool:
        """Return whether a compared revision of the file has a text: what is old is not told as new."""
        return any(text in then.document.text for then in self.past or ())

    # The text as such

    @cached_property
    def controls(self) -> tuple[Span, ...]:
        """The control characters."""
        text = self.document.text
        if text.isascii() and not text.encode().translate(None, _PRINTABLE):
            return ()
        return tuple(Span(*match.span()) for match in re.compile(CONTROLS).finditer(text))

    @property
    def has_lone_returns(self) -> bool:
        """Whether all lines end with a lone CR."""
        return "\n" not in self.document.text and "\r" in self.document.text

    @cached_property
    def invisible(self) -> tuple[Span, ...]:
        """The runs of invisible characters that nothing beside them needs."""
        return tuple(Span(*run) for run in invisible.find(self.document.text))

    @property
    def credentials(self) -> tuple[Secret, ...]:
        """What looks like a credential."""
        return scan.find(self.document.text, self.config.secrets.allow)

    @cached_property
    def conflicts(self) -> tuple[Conflict, ...]:
        """The merge conflicts, anywhere in the file, and markers that are left of one."""
        return conflicts_of(self.document)

    # What can be read at all

    def is_conflicted(self, span: Span) -> bool:
        """Return whether a merge conflict overlaps `span`."""
        return any(conflict.span.start <= span.end and span.start <= conflict.span.end for conflict in self.conflicts)

    @cached_property
    def version(self) -> int | None:
        """The format version of the file (`taskstate`), or None where it is missing or no positive integer."""
        node = self.front_matter.get("taskstate") if self.front_matter else None
        value = node.value() if node else None
        # In Python `True` is an integer too.
        return value if isinstance(value, int) and not isinstance(value, bool) and value > 0 else None

    @property
    def newer(self) -> bool:
        """Whether the format version of the file is newer than the one these rules know."""
        return self.version is not None and self.version > FORMAT

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
        """Whether the front matter is unclosed, and a thematic break `---` in the body was taken for its end."""
        front_matter = self.document.front_matter
        return (
            front_matter.span is not None
            and front_matter.node is None
            and not self.conflicts
            and re.compile(_BODY_LINE).search(self.document.text, *front_matter.content) is not None
        )

    @cached_property
    def sealed(self) -> Span | None:
        """The body of the static part if it is sealed: no fix may change it, since every change breaks the seal."""
        static = self.kind.sections[0] if is_sealed(self.front_matter) else None
        section = self.outline.section(static) if static else None
        return section.body if section else None

    @cached_property
    def cut_off(self) -> str:
        """The text that was committed, where this is the beginning of it, and lacks whole sections; else empty."""
        text, absent = self.document.text.rstrip(), self.outline.absent if self.file_type == "state" else ()
        past = [then for then in self.past or () if len(then.outline.absent) < len(absent)] if absent and text else []
        return next((whole for then in past if (whole := then.document.text).startswith(text)), "")

    @cached_property
    def unreadable_body(self) -> Span | None:
        """The part of the body that cannot be read reliably, always up to its end, or None.

        It is the whole text where there are conflict markers in the body, where an unclosed front matter includes its
        beginning, or where a state file is cut off. An unclosed fence makes its section and all below unreadable.
        """
        text = self.document.text
        front_matter = self.document.front_matter.span
        body = front_matter.end if front_matter else 0
        if self.overrun or any(conflict.span.end > body for conflict in self.conflicts):
            return Span(0, len(text))
        if self.is_json:
            return None
        if self.cut_off or (self.file_type != "archive" and not text.strip("\ufeff \t\r\n")):
            return Span(0, len(text))
        open_fence = next((block for block in self.document.blocks if block.kind == "fence" and not block.closed), None)
        if open_fence is None:
            return None
        at = open_fence.span.start
        starts = [section.span.start for section in self.document.sections if section.level == SECTION_LEVEL]
        return Span(max((start for start in starts if start < at), default=body), len(text))

    def is_read(self, reads: str, span: Span) -> bool:
        """Return whether the text at `span` can be read, for a rule that reads the part `reads` of a file."""
        if reads == WHOLE:
            return True
        if self.newer or self.foreign:
            return False
        return reads != BODY or self.unreadable_body is None or span.start < self.unreadable_body.start

    # The front matter

    @cached_property
    def front_matter_problems(self) -> tuple[Problem, ...]:
        """The problems of the front matter, but for those caused by conflicts and control characters (TS006, TS007)."""
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
        """The front matter as nodes with spans, or None where it cannot be read."""
        front_matter = self.document.front_matter
        return None if self.is_conflicted(front_matter.content) else front_matter.node

    @cached_property
    def first_line(self) -> Span:
        """The first line: the place of findings about the file as a whole."""
        text = self.document.text
        return self._on_one_line(Span(1 if text.startswith("\ufeff") else 0, len(text)))

    @cached_property
    def front_matter_schema(self) -> str:
        """The name of the schema that the front matter must meet."""
        return "handoff" if self.file_type == "handoff" else self.kind.front_matter

    @cached_property
    def commented_values(self) -> tuple[Fault, ...]:
        """The values of the front matter that YAML reads as comments because they begin with `#`."""
        content, text = self.document.front_matter.content, self.document.text
        if self.front_matter is None or not compiled(_HASH_VALUE).search(text, *content):
            return ()
        from taskstate.syntax.yaml_diagnosis import commented_values

        return commented_values(text, self.front_matter)

    def is_commented(self, path: tuple[str | int, ...]) -> bool:
        """Return whether the value at `path` is missing because it was read as a comment."""
        node = self.front_matter.get(*path) if path and self.front_matter else None
        if node is None or node.span.start < node.span.end:
            return False
        line = self.document.position(node.span.start).line
        return any(self.document.position(each.span.start).line == line for each in self.commented_values)

    @cached_property
    def values(self) -> Mapping[str, Any]:
        """The front matter as values, typed by its schema; keys that break the schema are left out."""
        faulty = {fault.path[0] for fault in self.front_matter_faults if fault.path}
        return {key: value for key, value in self.typed.items() if key not in faulty}

    @cached_property
    def blocks(self) -> ToolBlocks:
        """The blocks of the front matter that the tool writes; one that breaks its schema counts as absent."""
        return read_tool_blocks(self.values)

    @cached_property
    def typed(self) -> Mapping[str, Any]:
        """The front matter as values, typed by its schema; those that break it, too."""
        node = self.front_matter
        return schema.typed_value(node, self.front_matter_schema) if node else {}

    @cached_property
    def front_matter_faults(self) -> tuple[SchemaFault, ...]:
        """The violations of the front matter's schema, which does not know the kinds that a project declares."""
        faults = schema.faults(self.typed, self.front_matter_schema) if self.front_matter else ()
        own = self.file_type == "state" and self.typed.get("kind") in kind_names(self.document.kinds)
        return tuple(fault for fault in faults if not (own and fault.path == ("kind",)))

    @property
    def renamed_keys(self) -> set[str]:
        """The keys of the front matter that unknown ones are probably meant as."""
        return {fault.suggestion for fault in self.front_matter_faults if len(fault.path) == 1}

    def value_span(self, *path: str | int) -> Span:
        """Return the first line of a value of the front matter; for an empty value the span of its key."""
        node = self.front_matter.get(*path) if self.front_matter else None
        entry = self.entry(path)
        if node is None or not path:
            return self.first_line
        if node.span.start == node.span.end or (node.style == "block" and entry):
            return entry.key.span if entry else node.span
        return self._on_one_line(node.span)

    def fault_span(self, fault: SchemaFault) -> Span:
        """Return the span of a schema fault: the unknown key, the faulty value, or the map that lacks a key."""
        entry = self.entry(fault.path)
        return entry.key.span if fault.keyword == "unknown-key" and entry else self.value_span(*fault.path)

    def entry(self, path: tuple[str | int, ...]) -> MapEntry | None:
        """Return the key at a path of the front matter, with its value, or None."""
        parent = self.front_matter.get(*path[:-1]) if path and self.front_matter else None
        return parent.entry(str(path[-1])) if parent else None

    def _on_one_line(self, span: Span) -> Span:
        return first_line(self.document.text, span)

    # The body

    @cached_property
    def state(self) -> TaskState:
        """The task state of the file, read leniently."""
        return read_state(self.document, self.task_id or "")

    @property
    def shown_id(self) -> str:
        """The task's id for command lines in help texts."""
        return self.state.id or self.task_id or "ID"

    @cached_property
    def kind(self) -> Kind:
        """The kind of task, which declares sections, fences and placeholders.

        Where the front matter names none, it is guessed from the text, so that one bad key makes no section unknown.
        """
        node = self.front_matter.get("kind") if self.front_matter else None
        declared = kind_named(node.text, self.document.kinds) if node else None
        if declared and node and declared.name == node.text:
            return self.other_kind or declared
        readable = self.front_matter is not None and node is None
        guessed = None if readable else re.compile(_PERMANENT).search(self.document.text, 0, _HEAD)
        return self.other_kind or kind_named(PERMANENT if guessed else None, self.document.kinds)

    @cached_property
    def other_kind(self) -> Kind | None:
        """The kind that the body is, where the front matter says another one, of which the body has nothing at all."""
        document, known = self.document, kind_names(self.document.kinds)
        told = kind_named(document.front_matter.get("kind"), document.kinds)
        titles = [each.title for each in document.sections if each.level == SECTION_LEVEL]
        if self.file_type != "state" or self.front_matter is None or any(_is_required(told, title) for title in titles):
            return None
        fitting = {name: sum(_is_required(kind_named(name, document.kinds), each) for each in titles) for name in known}
        best = max(known, key=lambda name: fitting[name])
        return kind_named(best, document.kinds) if fitting[best] >= _OF_A_KIND else None

    @property
    def is_kind_doubtful(self) -> bool:
        """Whether `kind` is wrong: what depends on it must not be written."""
        return self.other_kind is not None or any(fault.path == ("kind",) for fault in self.front_matter_faults)

    @property
    def is_permanent(self) -> bool:
        """Whether the file is that of a permanent task."""
        return self.kind.name == PERMANENT

    @cached_property
    def outline(self) -> Outline:
        """The sections of the text, compared with those that its kind declares."""
        return Outline(document=self.document, kind=self.kind)

    @cached_property
    def checklist_value(self) -> JsonValue | None:
        """The value of the checklist's fence with its schema, or None where there is none that parses."""
        section = self.state.section("Feature Checklist")
        fence = json_fence(self.document, section.own) if section and self.kind.section("Feature Checklist") else None
        return json_value(self.document.json(fence), "checklist") if fence else None

    @cached_property
    def checklist(self) -> Checklist | None:
        """The Feature Checklist, or None where its fence does not parse or is no map."""
        checklist = self.state.checklist if self.checklist_value else None
        return checklist if checklist and checklist.root.kind == "mapping" else None

    @cached_property
    def whole_json(self) -> Node | Fault | None:
        """The value of a file that is JSON as a whole, or the fault where it does not parse; None for other files."""
        text = self.document.text
        return read_json(text, 1 if text.startswith("\ufeff") else 0, len(text)) if self.is_json else None

    @cached_property
    def json_faults(self) -> tuple[Fault, ...]:
        """The parsing faults of the declared json fences, or of a file that is JSON as a whole."""
        parsed = [self.whole_json] if self.is_json else [self.document.json(fence) for _, fence in self.outline.fences]
        return tuple(node for node in parsed if isinstance(node, Fault))


def _is_required(kind: Kind, title: str) -> bool:
    spec = kind.section(title)
    return spec is not None and spec.required
