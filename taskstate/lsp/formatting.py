"""Formats a file or a range of lines for the editor, as edits of whole lines."""

from __future__ import annotations

from taskstate.formatting.equivalence import same_meaning
from taskstate.formatting.formatter import format_text
from taskstate.lsp.positions import line_edits
from taskstate.syntax.conflict_markers import find_conflicts
from taskstate.syntax.document import parse
from taskstate.syntax.edits import apply
from taskstate.typed import TYPE_CHECKING
from taskstate.version import FORMAT

if TYPE_CHECKING:
    from taskstate.syntax.edits import Edit
    from taskstate.syntax.spans import Span


def formatting_edits(text: str, name: str, within: Span | None = None) -> tuple[Edit, ...]:
    """Return the edits that format a text, or those that begin `within` a part of it; none for one that is unreadable.

    A change that moves text out of the part cannot be made by half: where the edits alone would change the meaning,
    there are none.
    """
    if find_conflicts(text):
        return ()
    edits = line_edits(text, format_text(text, name))
    if not edits or within is None:
        return edits if not edits or not _is_newer(text) else ()
    chosen = tuple(edit for edit in edits if edit.start <= within.end and edit.end >= within.start)
    if _is_newer(text) or not same_meaning(parse(text), parse(apply(text, chosen))):
        return ()
    return chosen


def _is_newer(text: str) -> bool:
    version = parse(text).front_matter.get("taskstate")
    return isinstance(version, int) and version > FORMAT
