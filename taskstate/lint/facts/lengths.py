"""Tells which values and sessions of a file are too long, without looking at each where the whole is short."""

from __future__ import annotations

from taskstate.model.task_state import KB
from taskstate.syntax.spans import size_in_bytes
from taskstate.typed import TYPE_CHECKING

if TYPE_CHECKING:
    from taskstate.model.progress_log import Session
    from taskstate.syntax.document import Document
    from taskstate.syntax.nodes import Node

VALUE, SESSION = 2 * KB, 8 * KB
_MAX_BYTES = 4  # of a character in UTF-8


def may_exceed(text: str, characters: int, limit: int) -> bool:
    """Return whether so many characters of a text may take more bytes than a limit."""
    return characters * (1 if text.isascii() else _MAX_BYTES) > limit


def may_be_long(document: Document, node: Node) -> bool:
    """Return whether a value may be or hold a long one; in JSON that stands on a long line, wherever it is."""
    text, (start, end) = document.text, node.span
    if not may_exceed(text, end - start, VALUE):
        return False
    if node.style == "json":
        return any(may_exceed(text, len(line), VALUE) for line in text[start:end].split("\n"))
    inner = (*(entry.value for entry in node.entries), *node.items)
    return node.kind == "scalar" or any(may_be_long(document, each) for each in inner)


def length_of(session: Session) -> int:
    """Return the size of a session in bytes; 0 where it cannot be too long."""
    start, end = session.section.span
    return size_in_bytes(session.entry) if may_exceed(session.document.text, end - start, SESSION) else 0
