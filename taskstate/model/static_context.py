"""Reads section 1 of a task, the static context, and computes the seal over it.

Pure and lenient: a part that cannot be read, or is still a placeholder, is empty. The seal covers title, priority, area
and the text of the section, without its heading line, blanks at line ends and surrounding blank lines, and with all
acceptance criteria unchecked. Edits to the section are made in `static_edits`.
"""

from __future__ import annotations

import re

from taskstate.model.canonical_json import canonical_json, sha256
from taskstate.model.document_kinds import kind_of
from taskstate.model.progress_log import labelled_fields
from taskstate.model.task_state import json_fence, read_state, section_of
from taskstate.syntax.edits import Edit, apply
from taskstate.syntax.escaping import item_text
from taskstate.syntax.nodes import Fault
from taskstate.syntax.spans import with_newlines
from taskstate.typed import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from taskstate.model.task_state import TaskState
    from taskstate.model.tool_blocks import ToolBlocks
    from taskstate.syntax.document import Document, Section
    from taskstate.syntax.nodes import Node

SEALED_VALUES = ("title", "priority", "area")
SECTION = "Static Context"
DESCRIPTION, SCOPE, CRITERIA = "Task Description", "Scope", "Acceptance Criteria"
STANDARDS, VALIDATION, PATHS = "Standards", "Validation", "Repository Paths"


class StaticPart(NamedTuple):
    """The static part of a task; `standards` are its citations, as objects of the json fence."""

    description: str = ""
    scope_in: tuple[str, ...] = ()
    scope_out: tuple[str, ...] = ()
    criteria: tuple[str, ...] = ()
    standards: tuple[dict[str, Any], ...] = ()
    commands: tuple[str, ...] = ()
    paths: tuple[str, ...] = ()


def read_static(state: TaskState) -> StaticPart:
    """Return a task's static part."""
    description = state.description or ""
    standards, validation = _fence(state, STANDARDS), _fence(state, VALIDATION)
    commands = validation.get("commands") if isinstance(validation, dict) else None
    cited = [each for each in standards if isinstance(each, dict)] if isinstance(standards, list) else []
    inside, outside = _scope(state)
    return StaticPart(
        description="" if kind_of(state.document).is_placeholder(description) else description,
        scope_in=inside,
        scope_out=outside,
        criteria=tuple(each.text for each in state.criteria),
        standards=tuple(cited),
        commands=tuple(each for each in commands if isinstance(each, str)) if isinstance(commands, list) else (),
        paths=_items(state, PATHS),
    )


def _fence(state: TaskState, name: str) -> Any:  # noqa: ANN401 - any JSON
    """Return the value of the json fence in a subsection, or None."""
    section = state.subsection(SECTION, name)
    fence = json_fence(state.document, section.own) if section else None
    root = state.document.json(fence) if fence else None
    return None if root is None or isinstance(root, Fault) else root.value()


def _scope(state: TaskState) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the items in scope and those out of scope; without the labels In and Out all items are in scope."""
    section = state.subsection(SECTION, SCOPE)
    if section is None:
        return (), ()
    fields = labelled_fields(state.document, section)
    if "in" in fields or "out" in fields:
        inside, outside = (fields[name].values(state.document) if name in fields else () for name in ("in", "out"))
        return _without_backticks(inside), _without_backticks(outside)
    return _items(state, SCOPE), ()


def _items(state: TaskState, name: str) -> tuple[str, ...]:
    """Return the items of the lists in a subsection."""
    section = state.subsection(SECTION, name)
    items = state.document.items(section.body) if section else ()
    return _without_backticks(tuple(item_text(state.document.text, each.span, each.content) for each in items))


def _without_backticks(items: tuple[str, ...]) -> tuple[str, ...]:
    """Return items without backticks that enclose a whole item."""
    return tuple(
        each[1:-1].strip() if each[:1] == each[-1:] == "`" and "`" not in each[1:-1] and each[1:-1].strip() else each
        for each in items
    )


# The seal


def static_section(document: Document) -> Section | None:
    """Return the section that the seal covers: the first one that the kind declares."""
    return section_of(document, kind_of(document).sections[0].name)


def static_text(document: Document, state: TaskState | None = None) -> str | None:
    """Return the text of section 1 as the seal covers it, or None where there is no such section.

    `state` spares reading the document a second time.
    """
    section = static_section(document)
    if section is None:
        return None
    checked_marks = [each.mark for each in (state or read_state(document)).criteria if each.checked]
    text = apply(document.text, [Edit(*mark, " ") for mark in checked_marks]) if checked_marks else document.text
    lines = with_newlines(section.body.of(text), "\n").split("\n")
    return re.compile(r"\A\n+|\n+\Z").sub("", "\n".join(line.rstrip(" \t") for line in lines))


def context_seal(document: Document, values: Mapping[str, object], state: TaskState | None = None) -> str | None:
    """Return the seal for a document's static part, or None where it has none; `values` is its typed front matter."""
    text = static_text(document, state)
    return None if text is None else seal_of(values, text)


def seal_of(values: Mapping[str, object], static: str) -> str:
    """Return the seal over title, priority and area (null where missing) and the text of the static part."""
    return sha256(canonical_json({**{key: values.get(key) for key in SEALED_VALUES}, "static": static}))


def seal_broken(state: TaskState, blocks: ToolBlocks) -> bool:
    """Return whether a state file has a seal that its static part does not match."""
    seal = blocks.context.seal
    return seal is not None and context_seal(state.document, blocks.values, state) != seal


def is_sealed(node: Node | None) -> bool:
    """Return whether a front matter, given as its node tree, holds a seal of the static part."""
    seal = node.get("context", "seal") if node else None
    return seal is not None and seal.value() is not None
