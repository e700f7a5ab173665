"""Reads the text of a handoff document, leniently, and makes the text of a new one.

Pure. Lint rules and commands share it, so that a document is written and judged by the same reading. The kind `handoff`
in `model.document_kinds` declares the sections.
"""

from __future__ import annotations

import re
from functools import cached_property

from taskstate.errors import TaskstateError
from taskstate.handoff.references import (
    TO_BE_CREATED,
    in_code_marks,
    referenced_path,
    without_mark,
    written_reference,
)
from taskstate.model.document_kinds import HANDOFF, built_in, section_key
from taskstate.model.task_state import SECTION_LEVEL
from taskstate.model.tool_blocks import read_seen_state
from taskstate.syntax import escaping
from taskstate.syntax.edits import apply
from taskstate.syntax.escaping import item_text
from taskstate.syntax.markdown_fast_scanner import THEMATIC_BREAK
from taskstate.syntax.patterns import CODE, compiled
from taskstate.syntax.spans import Span, size_in_bytes, with_newlines, without_comments
from taskstate.syntax.yaml_edit import set_key
from taskstate.syntax.yaml_emitter import yaml_block
from taskstate.typed import TYPE_CHECKING, NamedTuple
from taskstate.validation import schema

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from taskstate.syntax.document import Document, Section

ACTION, STATE, DECISIONS = "Immediate Next Action", "Current State", "Key Decisions Made"
AVOID, CONTEXT, REFERENCES = "What NOT to Try", "Critical Context", "References"
MAY_BE_NONE = (DECISIONS, AVOID, CONTEXT, REFERENCES)
LABELS = ("File", "Location", "Goal state")  # of the items under Current State
OPEN, ACCEPTED = "open", "accepted"
MOST_CONTEXT = 5
TEMPLATE = "handoff.md.j2"

# Patterns, compiled only where they are used: most commands need none of them.
_PLACEHOLDER = r"(?i)[\W_]*(?:tbd|tba|tbc|to[ -]?do|to be (?:added|completed|decided|determined|done|filled in))[\W_]*"
_LABEL = r"[*_]*(?P<label>[A-Za-z][A-Za-z ]*?)[*_]*:[*_]*[ \t]*"
# A reason follows a colon. Documents of other tools use a dash, an arrow or "because" as well.
_REASON = r":[*_]*\s+(?=\S)"
_LOOSE_REASON = _REASON + r"|\s(?:[-\u2013\u2014]+|->|=>|\u2192)\s+(?=\S)|\b(?i:because|since|due to|so that)\b"
_INDENT = 4  # columns: from here on a line is an indented code block
_LINE = r"[^\r\n]*(?:\r\n?|\n|\Z)"


class Handoff(NamedTuple):
    """The content of a handoff. Decisions and approaches to avoid have the form `WHAT: WHY`."""

    phase: str = ""
    action: str = ""
    file: str = ""
    location: str = ""
    goal: str = ""
    decisions: tuple[str, ...] = ()
    avoid: tuple[str, ...] = ()
    context: tuple[str, ...] = ()
    references: tuple[str, ...] = ()
    do_not_reread: tuple[str, ...] = ()


class Piece(NamedTuple):
    """A block of a section; `kind` is "paragraph", "item", "fence", "html", "heading", "quote" or "code"."""

    kind: str
    span: Span


class Passage(NamedTuple):
    """A text and its span in the document."""

    text: str
    span: Span


class WrittenHandoff(NamedTuple):
    """The front matter of a handoff document; `path` is relative to the state folder.

    `objectives` is the digest of the objectives then, `sessions` the highest session number; empty and None where the
    document does not record them.
    """

    path: str
    status: str
    phase: str
    created_at: str
    objectives: str
    sessions: int | None = None
    task_id: str = ""
    accepted_at: str = ""


class _Reading(NamedTuple):
    document: Document


class HandoffReader(_Reading):
    """Reads sections, passages and fields of one handoff document."""

    @cached_property
    def _sections(self) -> Mapping[str, Section]:
        by_key: dict[str, Section] = {}
        for section in self.document.sections:
            if section.level == SECTION_LEVEL:
                by_key.setdefault(section_key(section.title), section)
        return by_key

    def section(self, name: str) -> Section | None:
        """Return the first section with this name, or None."""
        return self._sections.get(section_key(name))

    def pieces(self, name: str) -> tuple[Piece, ...]:
        """Return the blocks of a section without comments and thematic breaks."""
        section = self.section(name)
        return tuple(_pieces(self.document, section.body)) if section else ()

    def is_empty(self, name: str) -> bool:
        """Return whether a section has no content: only blanks, comments, or a placeholder."""
        text = self._text(name)
        return (
            escaping.is_blank(text)
            or _is_placeholder(text)
            or (built_in(HANDOFF).is_placeholder(text) and not escaping.is_none(text))
        )

    @property
    def is_complete(self) -> bool:
        """Whether every section says something, and Current State has its labels."""
        names = [spec.name for spec in built_in(HANDOFF).sections]
        needed = [name for name in names if name not in MAY_BE_NONE]
        return (
            all(self.section(name) and not self.is_empty(name) for name in names)
            and not any(self.says_none(name) for name in needed)
            and all(label.lower() in self.labelled for label in LABELS)
        )

    def says_none(self, name: str) -> bool:
        """Return whether a section consists of `None.` or the like."""
        return escaping.is_none(self._text(name))

    def _text(self, name: str) -> str:
        """Return the text of a section without HTML comments."""
        section = self.section(name)
        return without_comments(section.body.of(self.document.text)) if section else ""

    def passages(self, name: str) -> tuple[Passage, ...]:
        """Return the list items of a section, or its paragraphs if it has no list; nothing for `None.`."""
        if self.is_empty(name) or self.says_none(name):
            return ()
        section, text = self.section(name), self.document.text
        items = self.document.items(section.body) if section else ()
        if items:
            passages = (Passage(item_text(text, item.span, item.content), item.span) for item in items)
        else:
            pieces = (piece.span for piece in self.pieces(name) if piece.kind != "heading")
            passages = (Passage(with_newlines(span.of(text), "\n").strip(), span) for span in pieces)
        return tuple(each for each in passages if not escaping.is_blank(each.text))

    @cached_property
    def labelled(self) -> Mapping[str, Passage]:
        """The labelled values of Current State, by label in lower case, without empty ones and placeholders."""
        by_label: dict[str, Passage] = {}
        for passage in self.passages(STATE):
            match = re.match(_LABEL, passage.text)
            value = passage.text[match.end() :].strip() if match else ""
            if match and value and not _is_placeholder(value) and not built_in(HANDOFF).is_placeholder(value):
                by_label.setdefault(match["label"].strip().lower(), Passage(value, passage.span))
        return by_label

    @property
    def file_is_new(self) -> bool:
        """Whether the document says that the file of Current State is still to be created."""
        return without_mark(self._value(LABELS[0])) != self._value(LABELS[0])

    @property
    def paths(self) -> Iterator[Passage]:
        """Yield the paths in the body with their spans: the file of Current State, and the references."""
        file = self.labelled.get(LABELS[0].lower())
        yield from self._paths_in((file,) if file else ())
        yield from self._paths_in(self.passages(REFERENCES))

    @property
    def paths_to_find(self) -> Iterator[Passage]:
        """Yield those of `paths` that must exist: all but a file that is still to be created."""
        yield from self._paths_in(self.passages(REFERENCES)) if self.file_is_new else self.paths

    def _paths_in(self, passages: Iterable[Passage]) -> Iterator[Passage]:
        for passage in passages:
            path = "" if escaping.is_none(passage.text) else referenced_path(passage.text)
            start = self.document.text.find(path, *passage.span) if path else -1
            if start >= 0:
                yield Passage(path, Span(start, start + len(path)))

    @cached_property
    def handoff(self) -> Handoff:
        """The content of the document as one record."""
        action = "\n\n".join(each.text for each in self.passages(ACTION))
        file, location, goal = (self._value(label) for label in LABELS)
        values = front_matter_of(self.document)
        do_not_reread = values.get("do_not_reread")
        return Handoff(
            phase=str(values.get("phase", "")),
            action=action,
            file=referenced_path(file),
            location=location,
            goal=goal,
            decisions=self._texts(DECISIONS),
            avoid=self._texts(AVOID),
            context=self._texts(CONTEXT),
            references=self._texts(REFERENCES),
            do_not_reread=tuple(map(str, do_not_reread)) if isinstance(do_not_reread, list) else (),
        )

    def _value(self, label: str) -> str:
        passage = self.labelled.get(label.lower())
        return passage.text if passage else ""

    def _texts(self, name: str) -> tuple[str, ...]:
        return tuple(each.text for each in self.passages(name))

    @property
    def body(self) -> Span:
        """The span of the text behind the front matter, without blank lines around it."""
        text, front_matter = self.document.text, self.document.front_matter.span
        start = front_matter.end if front_matter else int(text.startswith("\ufeff"))
        rest = text[start:]
        first = start + len(rest) - len(rest.lstrip(" \t\r\n"))
        return Span(first, max(first, start + len(rest.rstrip(" \t\r\n"))))

    @property
    def lines(self) -> int:
        """The number of lines of the body."""
        text = with_newlines(self.body.of(self.document.text), "\n")
        return text.count("\n") + 1 if text else 0

    @property
    def size(self) -> int:
        """The size of the body in bytes, line ends counted as LF."""
        return size_in_bytes(self.body.of(self.document.text))


def _pieces(document: Document, body: Span) -> Iterator[Piece]:
    text = document.text
    found: list[tuple[Span, str]] = [(block.span, block.kind) for block in document.blocks_in(body)]
    found += [(item.span, "item") for item in document.items(body)]
    end = body.start
    for span, kind_name in sorted(found):
        yield from _paragraphs(text, Span(end, max(end, span.start)))
        if not (kind_name == "html" and span.of(text).lstrip().startswith("<!--")):
            yield Piece(kind_name, span)
        end = max(end, span.end)
    yield from _paragraphs(text, Span(end, body.end))


def _paragraphs(text: str, span: Span) -> Iterator[Piece]:
    """Yield the paragraphs in a span that holds no lists, fences, headings or HTML blocks."""
    start = end = -1
    for match in re.compile(_LINE).finditer(text, *span):
        line = match[0].rstrip(" \t\r\n")
        if not line or THEMATIC_BREAK.match(line.lstrip(" ")):
            if start >= 0:
                yield _paragraph(text, Span(start, end))
            start = -1
        else:
            start, end = (match.start() if start < 0 else start), match.start() + len(line)
    if start >= 0:
        yield _paragraph(text, Span(start, end))


def _paragraph(text: str, span: Span) -> Piece:
    line = span.of(text).expandtabs(_INDENT)
    indent = len(line) - len(line.lstrip(" "))
    kind_name = "code" if indent >= _INDENT else "quote" if line[indent:].startswith(">") else "paragraph"
    return Piece(kind_name, span)


def is_unfilled(text: str) -> bool:
    """Return whether a text is blank or a placeholder such as `TBD`, in emphasis or not."""
    return not any(char.isalnum() for char in text) or _is_placeholder(text)


def _is_placeholder(text: str) -> bool:
    return re.compile(_PLACEHOLDER).fullmatch(text) is not None


def split_reason(text: str, *, loose: bool = False) -> tuple[str, str]:
    """Split a decision or approach into statement and reason, which is empty where there is none.

    A divider inside code marks does not count, and neither does a reason such as `-`, `n/a` or `to be completed`. With
    `loose` a dash, an arrow or `because` divides as well as a colon.
    """
    masked = compiled(CODE).sub(lambda divider: "x" * len(divider[0]), text)
    divider = re.compile(_LOOSE_REASON if loose else _REASON).search(masked)
    if divider is None:
        return text.strip(), ""
    statement, reason = text[: divider.start()].strip(" \t\n*_"), text[divider.end() :].strip()
    return statement, "" if is_unfilled(reason) or escaping.is_none(reason) else reason


# Writing


def front_matter_of(document: Document) -> Mapping[str, object]:
    """Return the front matter of a handoff document, typed by its schema."""
    node = document.front_matter.node
    values = schema.typed_value(node, HANDOFF) if node else {}
    return values if isinstance(values, dict) else {}


def read_written_handoff(document: Document, path: str) -> WrittenHandoff:
    """Return the front matter of the document at a path as a record."""
    values = front_matter_of(document)
    seen = read_seen_state(values.get("verified"))
    keys = ("status", "phase", "created_at", "task_id", "accepted_at")
    texts = {key: str(values.get(key) or "") for key in keys}
    return WrittenHandoff(path, **texts, objectives=seen.objectives or "", sessions=seen.sessions)


def with_values(document: Document, values: Mapping[str, object]) -> str:
    """Return the text of a handoff document with some keys of its front matter set.

    Raises:
        TaskstateError: code "unreadable": the front matter cannot be read.
    """
    order = tuple(schema.load(HANDOFF)["properties"])
    for key, value in values.items():
        root = document.front_matter.node
        if root is None:
            message = "the front matter of the handoff document cannot be read"
            raise TaskstateError(message, help="run `taskstate lint` to see why", code="unreadable")
        edits = set_key(document.text, root, key, value, order=order, newline=document.newline)
        document = document.with_text(apply(document.text, edits))
    return document.text


def front_matter_text(values: Mapping[str, object]) -> str:
    """Return a front matter as text, with its `---` lines and the blank line behind it."""
    order = schema.load(HANDOFF)["properties"]
    lines = yaml_block({key: values[key] for key in order if key in values}, 0)
    return "\n".join(["---", *lines, "---", "", ""])


def template_values(handoff: Handoff, created_at: str, *, file_is_new: bool = False) -> dict[str, object]:
    """Return the values for the template, with placeholders for those that are empty; a new file is marked so.

    Raises:
        TaskstateError: a text cannot be escaped.
    """
    placeholder = built_in(HANDOFF).placeholder
    file_text = in_code_marks(handoff.file) if handoff.file and not escaping.is_none(handoff.file) else handoff.file
    file_text += TO_BE_CREATED if file_is_new else ""
    file, location, goal = (
        escaping.item(f"{label}: {value or placeholder}", what=label)
        for label, value in zip(LABELS, (file_text, handoff.location, handoff.goal), strict=True)
    )
    return {
        "phase": handoff.phase,
        "created_at": created_at,
        "action": escaping.paragraphs(handoff.action, what="the next action") if handoff.action else placeholder,
        "file": file,
        "location": location,
        "goal": goal,
        "decisions": _numbered_items(handoff.decisions, "a decision"),
        "avoid": _numbered_items(handoff.avoid, "an approach to avoid"),
        "context": [escaping.item(text, what="an item of context") for text in handoff.context],
        "references": [escaping.item(written_reference(text), what="a reference") for text in handoff.references],
    }


def _numbered_items(texts: tuple[str, ...], what: str) -> list[str]:
    return [escaping.item(text, what=what, marker=f"{number}. ") for number, text in enumerate(texts, start=1)]
