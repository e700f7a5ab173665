"""What capturing makes of a state file's text, and the proof that it says what was captured. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from taskstate.errors import TaskstateError
from taskstate.model.document_kinds import kind_of
from taskstate.model.static_context import SEALED_VALUES, context_seal, read_static
from taskstate.model.task_state import SECTION_LEVEL, read_state
from taskstate.model.write_metadata import front_matter_values, set_front_matter
from taskstate.syntax.document import parse
from taskstate.syntax.edits import Edit, apply

if TYPE_CHECKING:
    from collections.abc import Mapping

    from taskstate.capture import Captured
    from taskstate.model.static_context import StaticPart
    from taskstate.model.task_state import TaskState
    from taskstate.syntax.document import Document
    from taskstate.workspace.workspace import Loaded

_TITLE_LEVEL = 1


def with_values(document: Document, values: Mapping[str, str]) -> Document:
    """Return a document with title, priority and area in its front matter, and the title in the title line too."""
    before = read_state(document)
    for key in SEALED_VALUES:
        if values[key] and before.text(key) != values[key]:
            document = parse(apply(document.text, set_front_matter(document, key, values[key])))
    shape = kind_of(before.kind)
    line = next((each for each in document.sections if each.level == _TITLE_LEVEL), None)
    old = shape.title_line(task_id=before.id, title=before.title).removeprefix("# ")
    if line is None or before.title == values["title"] or line.title != old:
        return document
    new = shape.title_line(task_id=before.id, title=values["title"])
    return parse(apply(document.text, [Edit(*line.heading, new)]))


def with_marks(text: str, before: TaskState) -> str:
    """Return a text in which each criterion is checked that was checked `before` in the same words."""
    done = {" ".join(each.text.split()) for each in before.criteria if each.checked}
    criteria = read_state(parse(text)).criteria
    edits = [Edit(*each.mark, "x") for each in criteria if not each.checked and " ".join(each.text.split()) in done]
    return apply(text, edits) if edits else text


def require_as_captured(loaded: Loaded, text: str, captured: Captured, seal: str) -> None:
    """Refuse a result that does not say what was captured: a fault of ours must not be sealed.

    Raises:
        TaskstateError: code "unsafe".
    """
    document = parse(text)
    if (
        _said(read_static(read_state(document))) == _said(captured.static)
        and context_seal(document, front_matter_values(document)) == seal
        and _sections(document) == _sections(loaded.document)
    ):
        return
    raise TaskstateError(
        f"{loaded.relative} cannot be sealed safely: its section 1 would not read as it was captured",
        help="run `taskstate lint` on it first",
        code="unsafe",
    )


def _said(static: StaticPart) -> tuple[object, ...]:
    """Return what a static part says, whatever its layout."""
    words = [[each.split() for each in texts] for texts in (static.scope_in, static.scope_out, static.criteria)]
    return static.description.split(), words, static.standards, static.commands, static.paths


def _sections(document: Document) -> list[str]:
    return [each.title for each in document.sections if each.level == SECTION_LEVEL]
