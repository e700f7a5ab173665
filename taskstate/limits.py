"""How large a state file may become, in KB and in tokens.

Tokens are estimated as a quarter of the bytes, the usual figure for English text and code: the true number depends
on the reader, and a limit that needs a tokenizer would mean something else in every version of it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from taskstate.state import KB, SECTION_LEVEL
from taskstate.syntax.spans import size_in_bytes

if TYPE_CHECKING:
    from collections.abc import Iterator

    from taskstate.config import Size
    from taskstate.state import TaskState

BYTES_A_TOKEN = 4
_NAMED = 3  # of the parts of a file that is too large


def is_over_limit(size: int, limits: Size) -> bool:
    """Return whether a file of `size` bytes is larger than the configuration allows."""
    return bool(exceeded(size, kb=limits.max_kb, tokens=limits.max_tokens))


def exceeded(size: int, *, kb: int, tokens: int) -> str:
    """Return in words what a file of `size` bytes exceeds, or nothing where it is within; 0 tokens are no limit."""
    if size > kb * KB:
        return f"{shown_kb(size)}, and the limit is {kb} KB"
    if 0 < tokens * BYTES_A_TOKEN < size:
        return f"about {-(-size // BYTES_A_TOKEN):,} tokens, and the limit is {tokens:,}"
    return ""


def shown_kb(size: int) -> str:
    """Return a number of bytes as KB, rounded up as everywhere."""
    return f"{-(-size // KB)} KB"


def largest_parts(state: TaskState) -> str:
    """Return in words the largest parts of a file: its sections, and of the Progress Log each session for itself."""
    parts = sorted(_parts(state), reverse=True)[:_NAMED]
    return ", ".join(f"{name} ({shown_kb(size)})" for size, name in parts)


def _parts(state: TaskState) -> Iterator[tuple[int, str]]:
    document, text = state.document, state.document.text
    sections = [section for section in document.sections if section.level == SECTION_LEVEL]
    begin = document.front_matter.content.end
    yield size_in_bytes(document.front_matter.content.of(text)), "the front matter"
    yield size_in_bytes(text[begin : sections[0].span.start if sections else len(text)]), "the text above the sections"
    for section in sections:
        inside = [session for session in state.sessions if section.span.start < session.span.start < section.span.end]
        rest = size_in_bytes(section.span.of(text)) - sum(size_in_bytes(session.entry) for session in inside)
        yield rest, f"{section.title!r}"
    for session in state.sessions:
        yield size_in_bytes(session.entry), f"session {session.number}"
