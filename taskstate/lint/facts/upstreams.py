"""What a state file says of the tasks that it builds on, for the rules that hold it against what those tasks say.

No finding is worded here.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from taskstate.model.chain import INPUTS

if TYPE_CHECKING:
    from taskstate.lint.facts.file_facts import Facts
    from taskstate.model.chain_quotes import Upstream
    from taskstate.syntax.spans import Span

_KEY = "depends_on"


class Dependency(NamedTuple):
    """A task that `depends_on` names, and where."""

    id: str
    span: Span


def dependencies(facts: Facts) -> tuple[Dependency, ...]:
    """Return the tasks that `depends_on` names; none where its value breaks the schema."""
    named = facts.values.get(_KEY) or ()
    return tuple(Dependency(str(each), facts.value_span(_KEY, index)) for index, each in enumerate(named))


def is_own_task(facts: Facts, task_id: str) -> bool:
    """Return whether an id is that of the file's own task."""
    return task_id.casefold() in {(facts.task_id or "").casefold(), facts.state.id.casefold()}


def completed_upstream(facts: Facts, task_id: str) -> Upstream | None:
    """Return the task of that id where it has an output to hand down; None too where several tasks have the id."""
    found = facts.queries.upstream(task_id)
    return found[0] if found and len(found) == 1 and found[0].output else None


def inputs_are_readable(facts: Facts) -> bool:
    """Return whether the Chain Inputs are there, once, and can be read."""
    spec = facts.kind.section(INPUTS)
    section = facts.outline.section(spec) if spec else None
    if section is None or any(placed.spec is spec for placed in facts.outline.repeated):
        return False
    return facts.unreadable_body is None or section.span.end <= facts.unreadable_body.start
