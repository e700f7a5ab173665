"""Writes parts of section 1 (Static Context) into a document; every other byte stays as it is.

Pure. Text from outside is escaped by `syntax.escaping`, so that it cannot create structure.
"""

from __future__ import annotations

from taskstate.context.capture_paths import in_code_marks
from taskstate.formatting.formatter import format_text
from taskstate.model import static_context
from taskstate.model.document_kinds import kind_of, section_key
from taskstate.model.task_state import PART_LEVEL, section_of
from taskstate.syntax import escaping
from taskstate.syntax.document import parse
from taskstate.syntax.json_edit import json_text
from taskstate.syntax.spans import with_newlines
from taskstate.typed import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping

    from taskstate.model.static_context import StaticPart
    from taskstate.syntax.document import Document

_HEAD = '---\ntaskstate: 1\ntask_id: "0"\n---\n\n# Task #0\n\n## 1. Static Context\n\n'
_NAME = "task-0-state.md"


def changed_parts(current: StaticPart, captured: StaticPart) -> dict[str, str]:
    """Return the bodies of the parts in which `captured` differs from `current`, by the name of the part."""
    bodies = {}
    if current.description != captured.description and captured.description:
        bodies[static_context.DESCRIPTION] = captured.description
    if (current.scope_in, current.scope_out) != (captured.scope_in, captured.scope_out):
        bodies[static_context.SCOPE] = _scope_body(captured)
    if current.criteria != captured.criteria and captured.criteria:
        bodies[static_context.CRITERIA] = _items(captured.criteria, "a criterion", marker="- [ ] ")
    if current.standards != captured.standards:
        bodies[static_context.STANDARDS] = _fence(list(captured.standards))
    if current.commands != captured.commands:
        bodies[static_context.VALIDATION] = _fence({"commands": list(captured.commands)})
    if current.paths != captured.paths:
        bodies[static_context.PATHS] = _items(tuple(map(in_code_marks, captured.paths)), "a repository path")
    return _formatted_bodies(bodies)


def with_parts(document: Document, bodies: Mapping[str, str], *, name: str = "") -> str:
    """Return a document's text with these bodies of parts of the section `name` (default: section 1), by their titles.

    A part that is missing is added in the order that the kind declares. Every other byte of the section stays, but for
    a blank line before a new part.
    """
    kind = kind_of(document)
    spec = kind.section(name) if name else kind.sections[0]
    section = section_of(document, spec.name) if spec else None
    if spec is None or section is None or not bodies:
        return document.text
    nl, text = document.newline, document.text
    ranks = {section_key(each.name): rank for rank, each in enumerate(spec.subsections)}
    children = document.children(section, PART_LEVEL)
    start = children[0].span.start if children else section.body.end
    pieces = [_Piece(-1, text[section.body.start : start])]
    missing = {section_key(title): (title, body) for title, body in bodies.items()}
    for child in children:
        rank = ranks.get(section_key(child.title), len(ranks))  # people's own headings decide no place
        replacement = missing.pop(section_key(child.title), None)
        heading = text[child.span.start : child.body.start].rstrip("\r\n")
        pieces.append(
            _new_piece(rank, heading, replacement[1], nl) if replacement else _Piece(rank, child.span.of(text))
        )
    for key, (title, body) in sorted(missing.items(), key=lambda each: ranks.get(each[0], len(ranks))):
        rank = ranks.get(key, len(ranks))
        place = max(index for index, other in enumerate(pieces) if other.rank < rank) + 1
        pieces.insert(place, _new_piece(rank, f"### {title}", body, nl))
    joined, end = _joined(pieces, nl), section.body.end
    head = text[: section.body.start]
    head += "" if head.endswith(("\n", "\r")) else nl
    return head + (joined if end < len(text) else joined.rstrip("\r\n") + nl) + text[end:]


class _Piece(NamedTuple):
    """A part of the section with its heading; `rank` is its place in the kind, -1 for text before all parts."""

    rank: int
    text: str
    is_new: bool = False


def _new_piece(rank: int, heading: str, body: str, newline: str) -> _Piece:
    return _Piece(rank, f"{heading}{newline * 2}{with_newlines(body, newline)}{newline * 2}", is_new=True)


def _joined(pieces: list[_Piece], newline: str) -> str:
    """Return the text of all pieces, with a blank line before each new one."""
    joined = ""
    for piece in pieces:
        if piece.is_new and not joined.strip():
            joined = newline
        elif piece.is_new:
            line_ends = (len(joined) - len(joined.rstrip("\r\n"))) // len(newline)
            joined += newline * max(0, 2 - line_ends)
        joined += piece.text
    return joined


def _scope_body(static: StaticPart) -> str:
    lists = (("In", static.scope_in), ("Out", static.scope_out))
    return "\n\n".join(f"**{label}:**\n\n{_items(each, 'an item of the scope')}" for label, each in lists if each)


def _items(texts: tuple[str, ...], what: str, *, marker: str = "- ") -> str:
    return "\n".join(escaping.item(text, what=what, marker=marker) for text in texts)


def _fence(value: object) -> str:
    return f"```json\n{json_text(value)}\n```"


def _formatted_bodies(bodies: Mapping[str, str]) -> dict[str, str]:
    """Return the bodies of parts in canonical form: the formatter never touches a section once it is sealed."""
    parts = "\n\n".join(f"### {name}\n\n{body}" for name, body in bodies.items())
    document = parse(format_text(f"{_HEAD}{parts}\n", _NAME))
    formatted = {each.title: with_newlines(each.body.of(document.text), "\n").strip("\n") for each in document.sections}
    return {name: formatted.get(name, body) for name, body in bodies.items()}
