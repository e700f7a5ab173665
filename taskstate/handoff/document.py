"""Handoff documents as texts: what one says, read leniently, and the parts of a new one.

Pure. The rules and the commands share this, so that what is written is what is judged. Which sections there are is said
by the kind `handoff`.
"""

from __future__ import annotations

import re
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

from taskstate.errors import TaskstateError
from taskstate.model.document_kinds import HANDOFF, kind, section_key
from taskstate.model.task_state import SECTION_LEVEL, item_text
from taskstate.model.tool_blocks import read_seen
from taskstate.syntax import escaping
from taskstate.syntax.edits import apply
from taskstate.syntax.markdown_fast_scanner import THEMATIC_BREAK
from taskstate.syntax.spans import Span, size_in_bytes, with_newlines
from taskstate.syntax.yaml_edit import set_key
from taskstate.syntax.yaml_emitter import yaml_block
from taskstate.validation import schema

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from taskstate.syntax.document import Document, Section

ACTION, STATE, DECISIONS = "Immediate Next Action", "Current State", "Key Decisions Made"
AVOID, CONTEXT, REFERENCES = "What NOT to Try", "Critical Context", "References"
MAY_BE_NONE = (DECISIONS, AVOID, CONTEXT, REFERENCES)
LABELS = ("File", "Location", "Goal state")  # of the items of Current State
OPEN, ACCEPTED = "open", "accepted"
MOST_CONTEXT = 5
TEMPLATE = "handoff.md.j2"

# Patterns, compiled where they are used.
_PLACEHOLDER = r"(?i)[\W_]*(?:tbd|tba|tbc|to[ -]?do|to be (?:added|completed|decided|determined|done|filled in))[\W_]*"
_LABEL = r"[*_]*(?P<label>[A-Za-z][A-Za-z ]*?)[*_]*:[*_]*[ \t]*"
_REASON = r":[*_]*\s+(?=\S)"
_LOOSE_REASON = _REASON + r"|\s(?:[-\u2013\u2014]+|->|=>|\u2192)\s+(?=\S)|\b(?i:because|since|due to|so that)\b"
_CODE = r"(`+)(.+?)(?<!`)\1(?!`)"
_LINK = r"\[[^\]\n]*\]\(<?([^)\s>]+)>?[^)\n]*\)"
_NAMED = r"[A-Z][A-Za-z ]{0,24}:[ \t]+(?=[`\[\w./])"
_POSITION = r"(?::L?\d+(?:[-:]L?\d+)?|#[^\s/#]*)\Z"
_COMMENT = r"(?s)<!--.*?(?:-->|\Z)"
_INDENT = 4  # columns; from there on a line is code
_LINE = r"[^\r\n]*(?:\r\n?|\n|\Z)"


class Handoff(NamedTuple):
    """What the writer of a handoff asserts; a decision is `WHAT: WHY`, and so is an approach to avoid."""

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
    """A part of a section between blank lines: "paragraph", "item", "fence", "html", "heading", "quote" or "code"."""

    kind: str
    span: Span


class Passage(NamedTuple):
    """A text and where it stands."""

    text: str
    span: Span


class WrittenHandoff(NamedTuple):
    """What the front matter of a document says: `path` is from the state folder.

    `objectives` is what they were then, `sessions` the highest number of one; nothing and None where it does not say.
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
    """What one handoff document says."""

    @cached_property
    def _sections(self) -> Mapping[str, Section]:
        found: dict[str, Section] = {}
        for section in self.document.sections:
            if section.level == SECTION_LEVEL:
                found.setdefault(section_key(section.title), section)
        return found

    def section(self, name: str) -> Section | None:
        """Return the first section of that name, or None."""
        return self._sections.get(section_key(name))

    def pieces(self, name: str) -> tuple[Piece, ...]:
        """Return what a section consists of, comments and rules left out."""
        section = self.section(name)
        return tuple(_pieces(self.document, section.body)) if section else ()

    def is_empty(self, name: str) -> bool:
        """Return whether a section says nothing: only blanks, comments, or a placeholder."""
        text = self._text(name)
        return (
            escaping.is_blank(text)
            or _is_placeholder(text)
            or (kind(HANDOFF).is_placeholder(text) and not escaping.is_none(text))
        )

    def says_none(self, name: str) -> bool:
        """Return whether a section holds nothing but `None.` or the like."""
        return escaping.is_none(self._text(name))

    def _text(self, name: str) -> str:
        """Return what stands in a section, comments left out."""
        section = self.section(name)
        return re.compile(_COMMENT).sub("", section.body.of(self.document.text)) if section else ""

    def passages(self, name: str) -> tuple[Passage, ...]:
        """Return the items of a section's lists, in one without a list its paragraphs; none where it says `None.`."""
        if self.is_empty(name) or self.says_none(name):
            return ()
        section, text = self.section(name), self.document.text
        items = self.document.items(section.body) if section else ()
        if items:
            told = (Passage(item_text(text, item.span, item.content), item.span) for item in items)
        else:
            pieces = (piece.span for piece in self.pieces(name) if piece.kind != "heading")
            told = (Passage(with_newlines(span.of(text), "\n").strip(), span) for span in pieces)
        return tuple(each for each in told if not escaping.is_blank(each.text))

    @cached_property
    def labelled(self) -> Mapping[str, Passage]:
        """What Current State says, by label in lower case; what is empty or a placeholder is left out."""
        found: dict[str, Passage] = {}
        for passage in self.passages(STATE):
            match = re.match(_LABEL, passage.text)
            value = passage.text[match.end() :].strip() if match else ""
            if match and value and not _is_placeholder(value) and not kind(HANDOFF).is_placeholder(value):
                found.setdefault(match["label"].strip().lower(), Passage(value, passage.span))
        return found

    @property
    def paths(self) -> Iterator[Passage]:
        """Yield the paths that the body names, each where it stands: the file of Current State, and the references."""
        file = self.labelled.get(LABELS[0].lower())
        for passage in (*([file] if file else ()), *self.passages(REFERENCES)):
            path = "" if escaping.is_none(passage.text) else referenced_path(passage.text)
            at = self.document.text.find(path, *passage.span) if path else -1
            if at >= 0:
                yield Passage(path, Span(at, at + len(path)))

    @cached_property
    def handoff(self) -> Handoff:
        """What the document says, as one record."""
        action = "\n\n".join(each.text for each in self.passages(ACTION))
        file, location, goal = (self._value(label) for label in LABELS)
        values = schema.typed_value(self.document.front_matter.node, HANDOFF) if self.document.front_matter.node else {}
        reread = values.get("do_not_reread")
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
            do_not_reread=tuple(map(str, reread)) if isinstance(reread, list) else (),
        )

    def _value(self, label: str) -> str:
        found = self.labelled.get(label.lower())
        return found.text if found else ""

    def _texts(self, name: str) -> tuple[str, ...]:
        return tuple(each.text for each in self.passages(name))

    @property
    def body(self) -> Span:
        """The text behind the front matter, without blank lines around it."""
        text, front_matter = self.document.text, self.document.front_matter.span
        start = front_matter.end if front_matter else int(text.startswith("\ufeff"))
        rest = text[start:]
        first = start + len(rest) - len(rest.lstrip(" \t\r\n"))
        return Span(first, max(first, start + len(rest.rstrip(" \t\r\n"))))

    @property
    def lines(self) -> int:
        """How many lines the body has."""
        text = with_newlines(self.body.of(self.document.text), "\n")
        return text.count("\n") + 1 if text else 0

    @property
    def size(self) -> int:
        """The size of the body in bytes, line ends counted as LF."""
        return size_in_bytes(self.body.of(self.document.text))


def _pieces(document: Document, body: Span) -> Iterator[Piece]:
    text = document.text
    taken = [(block.span, block.kind) for block in document.blocks_in(body)]
    taken += [(item.span, "item") for item in document.items(body)]
    at = body.start
    for span, name in sorted(taken):
        yield from _paragraphs(text, Span(at, max(at, span.start)))
        if not (name == "html" and span.of(text).lstrip().startswith("<!--")):
            yield Piece(name, span)
        at = max(at, span.end)
    yield from _paragraphs(text, Span(at, body.end))


def _paragraphs(text: str, span: Span) -> Iterator[Piece]:
    """Yield the paragraphs of a part in which there are no lists, fences, headings or HTML blocks."""
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
    blanks = len(line) - len(line.lstrip(" "))
    name = "code" if blanks >= _INDENT else "quote" if line[blanks:].startswith(">") else "paragraph"
    return Piece(name, span)


def is_unfilled(text: str) -> bool:
    """Return whether a text says nothing: it has no letter or digit, or is a placeholder, in emphasis or not."""
    return not any(char.isalnum() for char in text) or _is_placeholder(text)


def _is_placeholder(text: str) -> bool:
    return re.compile(_PLACEHOLDER).fullmatch(text) is not None


def split_reason(text: str, *, loose: bool = False) -> tuple[str, str]:
    """Return what a decision or an approach is, and why; what stands in code marks divides nothing.

    A reason such as `-`, `n/a` or `to be completed` is none.
    With `loose` a dash, an arrow or `because` divides too, as in documents of other tools.
    """
    masked = re.compile(_CODE).sub(lambda found: "x" * len(found[0]), text)
    found = re.compile(_LOOSE_REASON if loose else _REASON).search(masked)
    if found is None:
        return text.strip(), ""
    what, why = text[: found.start()].strip(" \t\n*_"), text[found.end() :].strip()
    return what, "" if is_unfilled(why) or escaping.is_none(why) else why


def referenced_path(text: str) -> str:
    """Return the path that a reference begins with: in code marks, as a link, or as words up to a comma."""
    line = text.strip().split("\n", 1)[0].strip()
    line = re.sub(rf"\A{_NAMED}", "", line)
    code = re.match(_CODE, line)
    if code:
        return code[2].strip()
    link = re.match(_LINK, line)
    return (link[1] if link else line.split(", ", 1)[0]).strip()


def without_position(path: str) -> str:
    """Return a path without the line, or the heading, that stands behind it: `a.py:88`, `a.md#part`."""
    return re.sub(_POSITION, "", path)


# Writing


def front_matter_of(document: Document) -> Mapping[str, object]:
    """Return the front matter of a handoff document as its schema reads it."""
    node = document.front_matter.node
    values = schema.typed_value(node, HANDOFF) if node else {}
    return values if isinstance(values, dict) else {}


def read_written_handoff(document: Document, path: str) -> WrittenHandoff:
    """Return what the front matter of the document at a path says."""
    values = front_matter_of(document)
    seen = read_seen(values.get("verified"))
    keys = ("status", "phase", "created_at", "task_id", "accepted_at")
    status, phase, created_at, task_id, accepted_at = (str(values.get(key) or "") for key in keys)
    return WrittenHandoff(
        path,
        status,
        phase,
        created_at,
        objectives=seen.objectives or "",
        sessions=seen.sessions,
        task_id=task_id,
        accepted_at=accepted_at,
    )


def with_values(document: Document, values: Mapping[str, object]) -> str:
    """Return the text of a handoff document with some keys of its front matter set.

    Raises:
        TaskstateError: code "unreadable": the front matter cannot be read.
    """
    from taskstate.syntax.document import parse

    order = tuple(schema.load(HANDOFF)["properties"])
    for key, value in values.items():
        root = document.front_matter.node
        if root is None:
            what = "the front matter of the handoff document cannot be read"
            raise TaskstateError(what, help="run `taskstate lint` to see why", code="unreadable")
        edits = set_key(document.text, root, key, value, order=order, newline=document.newline)
        document = parse(apply(document.text, edits))
    return document.text


def front_matter_text(values: Mapping[str, object]) -> str:
    """Return a front matter with the lines around it, and the blank line behind it."""
    order = schema.load(HANDOFF)["properties"]
    lines = yaml_block({key: values[key] for key in order if key in values}, 0)
    return "\n".join(["---", *lines, "---", "", ""])


def template_values(handoff: Handoff, created_at: str) -> dict[str, object]:
    """Return what the template is filled in with; what is not known yet is a placeholder.

    Raises:
        TaskstateError: a text cannot be taken over.
    """
    placeholder = kind(HANDOFF).placeholder
    file, location, goal = (
        _item(f"{label}: {_path(value) if label == LABELS[0] and value else value or placeholder}", label)
        for label, value in zip(LABELS, (handoff.file, handoff.location, handoff.goal), strict=True)
    )
    return {
        "phase": handoff.phase,
        "created_at": created_at,
        "action": escaping.paragraphs(handoff.action, what="the next action") if handoff.action else placeholder,
        "file": file,
        "location": location,
        "goal": goal,
        "decisions": _numbered(handoff.decisions, "a decision"),
        "avoid": _numbered(handoff.avoid, "an approach to avoid"),
        "context": [escaping.item(text, what="an item of context") for text in handoff.context],
        "references": [_item(_reference(text), "a reference") for text in handoff.references],
    }


def _numbered(texts: tuple[str, ...], what: str) -> list[str]:
    return [escaping.item(text, what=what, marker=f"{number}. ") for number, text in enumerate(texts, start=1)]


def _item(text: str, what: str) -> str:
    return escaping.item(text, what=what)


def _path(text: str) -> str:
    """Return a path in code marks, where it has none in it."""
    path = escaping.one_line(text, what="a path")
    return path if "`" in path else f"`{path}`"


def _reference(text: str) -> str:
    """Return a reference with its path in code marks: `path`, or `path, what to look for`."""
    if "`" in text or text.startswith("["):
        return text
    path, comma, rest = escaping.one_line(text, what="a reference").partition(", ")
    return f"{_path(path)}{comma}{rest}"
