"""Formats a file or a range of lines for the editor, as edits of whole lines."""

from __future__ import annotations

from taskstate.formatting.equivalence import same_meaning
from taskstate.formatting.formatter import format_text
from taskstate.lsp.positions import line_edits
from taskstate.syntax.conflict_markers import find_conflicts
from taskstate.syntax.edits import apply
from taskstate.typed import TYPE_CHECKING
from taskstate.version import FORMAT

if TYPE_CHECKING:
    from taskstate.syntax.document import Document
    from taskstate.syntax.edits import Edit
    from taskstate.syntax.spans import Span


def formatting_edits(document: Document, name: str, within: Span | None = None) -> tuple[Edit, ...]:
    """Return the edits that format a text, or those that begin `within` a part of it; none for one that is unreadable.

    A change that moves text out of the part cannot be made by half: where the edits alone would change the meaning,
    there are none.
    """
    text = document.text
    if find_conflicts(text):
        return ()
    edits = line_edits(text, format_text(text, name, document.kinds))
    if not edits or within is None:
        return edits if not edits or not _is_newer(document) else ()
    chosen = tuple(edit for edit in edits if edit.start <= within.end and edit.end >= within.start)
    if _is_newer(document) or not same_meaning(document, document.with_text(apply(text, chosen))):
        return ()
    return chosen


def _is_newer(document: Document) -> bool:
    version = document.front_matter.get("taskstate")
    return isinstance(version, int) and version > FORMAT
