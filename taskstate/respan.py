"""Brings the spans of captured citations up to date where their sections have moved and say the same. Pure.

In a sealed section that alone changes, so that who sealed it what and when stays true: where the section matched its
seal, the seal is made anew, and nothing else of the block `context`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from taskstate.citations import span_of, standing
from taskstate.model.static_context import SECTION, STANDARDS, context_seal
from taskstate.model.task_state import json_fence, read_state
from taskstate.model.write_metadata import front_matter_values, set_front_matter
from taskstate.syntax.document import parse
from taskstate.syntax.edits import Edit, apply
from taskstate.syntax.nodes import Node

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from taskstate.citations import Standard
    from taskstate.syntax.document import Document


class Respanned(NamedTuple):
    """A text with other spans: the sections whose span is another one now, and whether it was sealed anew."""

    text: str
    sections: tuple[str, ...] = ()
    resealed: bool = False


def respanned(text: str, standard_of: Callable[[str], tuple[Standard, ...] | None]) -> Respanned:
    """Return the text of a state file with the spans of its citations as they are now.

    `standard_of` gives the file that a citation names, none where it cannot be read.
    """
    document = parse(text)
    found = list(_moved(document, standard_of))
    if not found:
        return Respanned(text)
    values = front_matter_values(document)
    context = values.get("context")
    seal = context.get("seal") if isinstance(context, dict) else None
    held = isinstance(seal, str) and context_seal(document, values) == seal
    after = apply(text, [edit for _, edit in found])
    if held and isinstance(context, dict):
        moved = parse(after)
        anew = {**context, "seal": context_seal(moved, front_matter_values(moved))}
        after = apply(after, set_front_matter(moved, "context", anew))
    return Respanned(after, tuple(section for section, _ in found), held)


def _moved(document: Document, standard_of: Callable[[str], tuple[Standard, ...] | None]) -> Iterator[tuple[str, Edit]]:
    """Yield each citation whose span is outdated, with the edit that mends it."""
    section = read_state(document).subsection(SECTION, STANDARDS)
    fence = json_fence(document, section.own) if section else None
    root = document.json(fence) if fence else None
    for node in root.items if isinstance(root, Node) else ():
        citation = node.value() if node.kind == "mapping" else {}
        span, file = node.get("line_span"), citation.get("file")
        if span is None or span_of(span.text) is None or not isinstance(file, str) or not file:
            continue
        found = standard_of(file)
        stands = standing(citation, found[0]) if found else None
        if stands and stands.moved and stands.cited:
            yield str(citation.get("section")), Edit(*span.span, f'"{stands.cited.line_span}"')
