"""What is too long: a file, its values and its sessions, without looking at each where the whole is short."""

from __future__ import annotations

from functools import cached_property

from taskstate.lint.facts.section_facts import SectionFacts
from taskstate.model.derived_values import exceeded
from taskstate.model.task_state import KB
from taskstate.syntax.spans import size_in_bytes
from taskstate.typed import TYPE_CHECKING

if TYPE_CHECKING:
    from taskstate.model.progress_log import Session
    from taskstate.syntax.document import Document
    from taskstate.syntax.nodes import Node

VALUE, SESSION, SUMMARY = 2 * KB, 8 * KB, 3 * KB
_MAX_BYTES = 4  # of a character in UTF-8


class LengthFacts(SectionFacts):
    """The lengths of one file and of its parts."""

    @cached_property
    def over_limit(self) -> str:
        """In words, which limit the file exceeds; empty where it is within."""
        limits = self.config.size
        return exceeded(self.state.size, kb=limits.max_kb, tokens=limits.max_tokens)

    @cached_property
    def over_warning(self) -> str:
        """In words, from which size on a warning is wanted that the file exceeds; empty where it is over the limit."""
        limits = self.config.size
        over = exceeded(self.state.size, kb=limits.warn_kb, tokens=limits.warn_tokens)
        if self.over_limit or not over:
            return ""
        return f"{over.replace('and the limit is', 'and warnings start at')}; the limit is {limits.max_kb} KB"

    @cached_property
    def long_values(self) -> list[tuple[str, Node]]:
        """The values of the front matter, each with its key, and of JSON that may be or hold one that is too long."""
        json = [self.checklist_value, *(phase.value for phase in self.phases)]
        nodes = [(entry.key.text, entry.value) for entry in self.front_matter.entries] if self.front_matter else []
        nodes += [("", value.root) for value in json if value]
        return [(key, node) for key, node in nodes if _may_be_long(self.document, node)]

    @cached_property
    def long_summary(self) -> int:
        """The size of the Archived Summary in bytes if it is too long; else 0."""
        size = size_in_bytes(self.summary.span.of(self.document.text)) if self.summary else 0
        return size if size > SUMMARY else 0

    @cached_property
    def long_sessions(self) -> list[tuple[Session, int]]:
        """The sessions that are too long, each with its size in bytes."""
        sizes = [(session, _size_of(session)) for session in self.sessions]
        return [(session, size) for session, size in sizes if size > SESSION]


def may_exceed(text: str, characters: int, limit: int) -> bool:
    """Return whether so many characters of a text may take more bytes than a limit."""
    return characters * (1 if text.isascii() else _MAX_BYTES) > limit


def _may_be_long(document: Document, node: Node) -> bool:
    """Return whether a value may be or hold a long one; in JSON that stands on a long line, wherever it is."""
    text, (start, end) = document.text, node.span
    if not may_exceed(text, end - start, VALUE):
        return False
    if node.style == "json":
        return any(may_exceed(text, len(line), VALUE) for line in text[start:end].split("\n"))
    inner = (*(entry.value for entry in node.entries), *node.items)
    return node.kind == "scalar" or any(_may_be_long(document, each) for each in inner)


def _size_of(session: Session) -> int:
    """Return the size of a session in bytes; 0 where it cannot be too long."""
    start, end = session.section.span
    return size_in_bytes(session.entry) if may_exceed(session.document.text, end - start, SESSION) else 0
