"""Facts about a handoff document: its content, its sections compared with the template, and whether it is ours.

A document of another tool, without our front matter, is checked less strictly: its faults are warnings.
"""

from __future__ import annotations

from taskstate.handoff.document import HandoffReader
from taskstate.lint.diagnostics import WARNING
from taskstate.lint.facts.outline import Outline
from taskstate.model.document_kinds import HANDOFF, built_in
from taskstate.model.names import ACCEPTED_FOLDER, HANDOFF_FOLDER
from taskstate.typed import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator

    from taskstate.lint.diagnostics import Diagnostic, Rule
    from taskstate.lint.facts.basic_facts import BasicFacts
    from taskstate.syntax.spans import Span


class HandoffFacts(NamedTuple):
    """A readable handoff document: the facts about the file, its content, and its outline."""

    facts: BasicFacts
    reading: HandoffReader
    outline: Outline

    @property
    def is_ours(self) -> bool:
        """Whether the document has our front matter."""
        return not self.facts.foreign

    @property
    def is_stray(self) -> bool:
        """Whether it has not, and lies among the open handoffs of a task: then somebody handed over by hand."""
        folder, open_ones = self.facts.folder, f"{self.facts.config.root}/{HANDOFF_FOLDER}/task-"
        return self.facts.foreign and folder.startswith(open_ones) and not folder.endswith(f"/{ACCEPTED_FOLDER}")

    def at(self, rule: Rule, span: Span, message: str, *, help: str) -> Iterator[Diagnostic]:  # noqa: A002 - as in `Rule.at`
        """Yield a finding, unless its place cannot be read; in another tool's document elsewhere it is a warning."""
        unreadable = self.facts.unreadable_body
        if rule.code.startswith(("TS802", "TS804")) and (self.outline.near or self.outline.hidden):
            return  # a section without its heading stands in the one above it
        if unreadable is None or span.start < unreadable.start:
            yield rule.at(span, message, help=help, severity="" if self.is_ours or self.is_stray else WARNING)


def handoff_facts(facts: BasicFacts) -> HandoffFacts | None:
    """Return the facts, or None for a document that is empty, of a newer format, or with unreadable front matter."""
    unknown = facts.front_matter is None and not facts.foreign
    if unknown or facts.newer or not facts.document.text.strip("\ufeff \t\r\n"):
        return None
    return HandoffFacts(facts, HandoffReader(facts.document), Outline(facts.document, built_in(HANDOFF)))
