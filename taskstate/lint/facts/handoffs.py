"""A handoff document as its rules see it: what it says, its sections against the template, and whose it is.

A document of another tool, without our front matter, is held to less: what is wrong with it is a warning.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from taskstate.handoff.document import HandoffReader
from taskstate.lint.diagnostics import WARNING
from taskstate.lint.facts.outline import Outline
from taskstate.model.document_kinds import HANDOFF, kind

if TYPE_CHECKING:
    from collections.abc import Iterator

    from taskstate.lint.diagnostics import Diagnostic, Rule
    from taskstate.lint.facts.file_facts import Facts
    from taskstate.syntax.spans import Span


class HandoffFacts(NamedTuple):
    """A handoff document that can be read."""

    facts: Facts
    reading: HandoffReader
    outline: Outline

    @property
    def is_ours(self) -> bool:
        """Whether the document has our front matter."""
        return not self.facts.foreign

    def at(self, rule: Rule, span: Span, message: str, *, help: str) -> Iterator[Diagnostic]:  # noqa: A002 - as in `Rule.at`
        """Yield a finding, unless it stands where nothing can be read; in another tool's document it is a warning."""
        unread = self.facts.unreadable_body
        if unread is None or span.start < unread.start:
            yield rule.at(span, message, help=help, severity="" if self.is_ours else WARNING)


def handoff_facts(facts: Facts) -> HandoffFacts | None:
    """Return the document, or None where nobody can tell whose it is, its form is newer, or it is empty."""
    unknown = facts.front_matter is None and not facts.foreign
    if unknown or facts.newer or not facts.document.text.strip("\ufeff \t\r\n"):
        return None
    return HandoffFacts(facts, HandoffReader(facts.document), Outline(facts.document, kind(HANDOFF)))
