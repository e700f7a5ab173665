"""Changes to section 1: its parts as texts, and a document's text with other ones.

Pure. What comes from outside goes through `embed`; what is not to change keeps every byte.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from taskstate.context.capture_paths import in_code_marks
from taskstate.formatting.formatter import formatted
from taskstate.model import static_context
from taskstate.model.document_kinds import kind_of, section_key
from taskstate.model.task_state import PART_LEVEL
from taskstate.syntax import escaping
from taskstate.syntax.document import parse
from taskstate.syntax.json_edit import json_text
from taskstate.syntax.spans import with_newlines

if TYPE_CHECKING:
    from collections.abc import Mapping

    from taskstate.model.static_context import StaticPart
    from taskstate.syntax.document import Document

_HEAD = '---\ntaskstate: 1\ntask_id: "0"\n---\n\n# Task #0\n\n## 1. Static Context\n\n'
_NAME = "task-0-state.md"


def changed_parts(held: StaticPart, wanted: StaticPart) -> dict[str, str]:
    """Return the parts in which two static parts differ, as the text that says what is wanted."""
    found = {}
    if held.description != wanted.description and wanted.description:
        found[static_context.DESCRIPTION] = wanted.description
    if (held.scope_in, held.scope_out) != (wanted.scope_in, wanted.scope_out):
        found[static_context.SCOPE] = _scope(wanted)
    if held.criteria != wanted.criteria and wanted.criteria:
        found[static_context.CRITERIA] = _items(wanted.criteria, "a criterion", marker="- [ ] ")
    if held.standards != wanted.standards:
        found[static_context.STANDARDS] = _fence(list(wanted.standards))
    if held.commands != wanted.commands:
        found[static_context.VALIDATION] = _fence({"commands": list(wanted.commands)})
    if held.paths != wanted.paths:
        found[static_context.PATHS] = _items(tuple(map(in_code_marks, wanted.paths)), "a repository path")
    return _laid_out(found)


def with_parts(document: Document, bodies: Mapping[str, str]) -> str:
    """Return a document's text with other bodies of parts of section 1; what it has not yet gets its place by the kind.

    Every other byte of the section stays, but for a blank line before what is new.
    """
    section = static_context.static_section(document)
    if section is None or not bodies:
        return document.text
    nl, text = document.newline, document.text
    spec = kind_of(document.front_matter.get("kind")).sections[0]
    ranks = {section_key(each.name): rank for rank, each in enumerate(spec.subsections)}
    children = document.children(section, PART_LEVEL)
    start = children[0].span.start if children else section.body.end
    pieces = [_Piece(-1, text[section.body.start : start])]
    waiting = {section_key(name): (name, body) for name, body in bodies.items()}
    for child in children:
        rank = ranks.get(section_key(child.title), len(ranks))  # a part of somebody's own decides no place
        found = waiting.pop(section_key(child.title), None)
        heading = text[child.span.start : child.body.start].rstrip("\r\n")
        pieces.append(_new(rank, heading, found[1], nl) if found else _Piece(rank, child.span.of(text)))
    for key, (name, body) in sorted(waiting.items(), key=lambda each: ranks.get(each[0], len(ranks))):
        rank = ranks.get(key, len(ranks))
        at = max(index for index, other in enumerate(pieces) if other.rank < rank) + 1
        pieces.insert(at, _new(rank, f"### {name}", body, nl))
    joined, end = _joined(pieces, nl), section.body.end
    head = text[: section.body.start]
    head += "" if head.endswith(("\n", "\r")) else nl
    return head + (joined if end < len(text) else joined.rstrip("\r\n") + nl) + text[end:]


class _Piece(NamedTuple):
    """A part of the section with its heading, and its place by the kind; what stands before all parts has -1."""

    rank: int
    text: str
    is_new: bool = False


def _new(rank: int, heading: str, body: str, newline: str) -> _Piece:
    return _Piece(rank, f"{heading}{newline * 2}{with_newlines(body, newline)}{newline * 2}", is_new=True)


def _joined(pieces: list[_Piece], newline: str) -> str:
    """Return the pieces one behind the other, with a blank line before each new one."""
    joined = ""
    for piece in pieces:
        if piece.is_new and not joined.strip():
            joined = newline
        elif piece.is_new:
            ends = (len(joined) - len(joined.rstrip("\r\n"))) // len(newline)
            joined += newline * max(0, 2 - ends)
        joined += piece.text
    return joined


def _scope(wanted: StaticPart) -> str:
    lists = (("In", wanted.scope_in), ("Out", wanted.scope_out))
    return "\n\n".join(f"**{label}:**\n\n{_items(each, 'an item of the scope')}" for label, each in lists if each)


def _items(texts: tuple[str, ...], what: str, *, marker: str = "- ") -> str:
    return "\n".join(escaping.item(text, what=what, marker=marker) for text in texts)


def _fence(value: object) -> str:
    return f"```json\n{json_text(value)}\n```"


def _laid_out(bodies: Mapping[str, str]) -> dict[str, str]:
    """Return the texts of parts as the formatter would lay them out: it never comes to a sealed section."""
    parts = "\n\n".join(f"### {name}\n\n{body}" for name, body in bodies.items())
    document = parse(formatted(f"{_HEAD}{parts}\n", _NAME))
    found = {each.title: with_newlines(each.body.of(document.text), "\n").strip("\n") for each in document.sections}
    return {name: found.get(name, body) for name, body in bodies.items()}
