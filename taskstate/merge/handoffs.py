"""Merges handoff documents: an accepted handoff stays accepted, and the earlier acceptance wins.

Nothing else happens to a document after it was written; any other change is merged by line.
"""

from __future__ import annotations

from taskstate.errors import TaskstateError
from taskstate.handoff.document import ACCEPTED, front_matter_of, with_values
from taskstate.merge.lines import merge_text
from taskstate.model.document_kinds import HANDOFF
from taskstate.syntax.document import Document, parse
from taskstate.typed import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from taskstate.units.three_way import Prefer, Versions

_NO_TIME = "\uffff"  # sorts after all times: an acceptance without a time
_ACCEPTANCE = ("status", "accepted_by", "accepted_at")  # fields that are taken from one side together


def merge_handoff(versions: Versions[str], prefer: Prefer) -> str:
    """Return the merged document."""
    return merge_text(_with_one_acceptance(versions), prefer)


def _with_one_acceptance(versions: Versions[str]) -> Versions[str]:
    """Return the three versions with the merged acceptance in each, or as they are where it cannot be read."""
    documents = versions.each(parse)
    values = documents.each(front_matter_of)
    if any(fields.get("kind") != HANDOFF for fields in values[1:]):
        return versions
    accepted = [fields for fields in values[1:] if fields.get("status") == ACCEPTED]
    if not accepted:
        return versions
    first = min(
        accepted, key=lambda fields: [str(fields.get(key) or _NO_TIME) for key in ("accepted_at", "accepted_by")]
    )
    acceptance = {key: first[key] for key in _ACCEPTANCE if key in first}
    try:
        return documents.each(lambda document: _with_fields(document, acceptance))
    except TaskstateError:  # the front matter has a form that cannot be edited
        return versions


def _with_fields(document: Document, values: Mapping[str, Any]) -> str:
    """Return a document's text with the given values, or as it is if it has no front matter, as a base version may."""
    return with_values(document, values) if document.front_matter.node else document.text
