"""Merges handoff documents: what one side has accepted stays accepted, and the earlier acceptance wins.

That is all that happens to a document after it was written; everything else is merged line by line.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from taskstate.errors import TaskstateError
from taskstate.handoff.document import ACCEPTED, front_matter_of, with_values
from taskstate.merge.lines import lines_of, merge_text
from taskstate.merge.three_way import PREFERENCES, Versions
from taskstate.model.document_kinds import HANDOFF
from taskstate.syntax.document import Document, parse

if TYPE_CHECKING:
    from collections.abc import Mapping

_LAST = "\uffff"  # what does not say when sorts behind all times
_ACCEPTANCE = ("status", "accepted_by", "accepted_at")  # they tell one fact together


def merge_handoffs(sides: Versions[str]) -> tuple[list[str], list[str]]:
    """Return three handoff documents as one, in lines: with ours preferred, and with theirs."""
    alike = _with_one_acceptance(sides)
    ours, theirs = (lines_of(merge_text(alike, prefer)) for prefer in PREFERENCES)
    return ours, theirs


def _with_one_acceptance(sides: Versions[str]) -> Versions[str]:
    """Return three versions that all say what the merge says of the acceptance; as they are, where that is unknown."""
    documents = sides.each(parse)
    values = documents.each(front_matter_of)
    if any(told.get("kind") != HANDOFF for told in values[1:]):
        return sides
    accepted = [told for told in values[1:] if told.get("status") == ACCEPTED]
    if not accepted:
        return sides
    first = min(accepted, key=lambda told: [str(told.get(key) or _LAST) for key in ("accepted_at", "accepted_by")])
    wanted = {key: first[key] for key in _ACCEPTANCE if key in first}
    try:
        return documents.each(lambda document: _with(document, wanted))
    except TaskstateError:  # a form that cannot be changed
        return sides


def _with(document: Document, wanted: Mapping[str, Any]) -> str:
    """Return a document's text with these values; without a front matter, as a common version may be, as it is."""
    return with_values(document, wanted) if document.front_matter.node else document.text
