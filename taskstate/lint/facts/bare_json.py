"""Finds the JSON of a Feature Checklist or an Impact Map whose code fence has lost its opening line."""

from __future__ import annotations

import re

from taskstate.lint.facts.wording import first_line_of
from taskstate.model.permanent import IMPACT_MAP
from taskstate.model.task_state import json_fence
from taskstate.syntax.edits import Edit, apply
from taskstate.syntax.nodes import Node
from taskstate.syntax.spans import Span
from taskstate.typed import TYPE_CHECKING

if TYPE_CHECKING:
    from taskstate.lint.facts.file_facts import Facts

_OPENING = "```json"
_BRACE = r"(?m)^\{"


def opening_of_bare_json(facts: Facts) -> Edit | None:
    """Return the edit that opens the fence above JSON that stands bare in its section, and makes it sound."""
    document = facts.document
    section = facts.state.section("Feature Checklist") or facts.state.section(IMPACT_MAP)
    brace = re.compile(_BRACE).search(document.text, *section.own) if section else None
    if section is None or brace is None or json_fence(document, section.own):
        return None
    edit = Edit(brace.start(), brace.start(), _OPENING + document.newline)
    after = document.with_text(apply(document.text, (edit,)))
    fence = json_fence(after, Span(section.span.start, len(after.text)))
    is_json = fence is not None and isinstance(after.json(fence), Node)
    return edit if is_json and len(after.problems) <= len(document.problems) else None


def line_of_edit(facts: Facts, edit: Edit) -> Span:
    """Return the line above which the fence is opened."""
    return first_line_of(facts.document, Span(edit.start, len(facts.document.text)))
