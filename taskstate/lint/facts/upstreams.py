"""Asks about the tasks that a state file names, for the rules that compare its Chain Inputs with their outputs."""

from __future__ import annotations

from taskstate.model.chain import INPUTS
from taskstate.model.statuses import COMPLETE
from taskstate.typed import TYPE_CHECKING

if TYPE_CHECKING:
    from taskstate.lint.facts.file_facts import Facts
    from taskstate.model.chain_quotes import Upstream


def is_own_task(facts: Facts, task_id: str) -> bool:
    """Return whether an id is that of the file's own task, by file name or front matter."""
    return task_id.casefold() in {(facts.task_id or "").casefold(), facts.state.id.casefold()}


def completed_upstream(facts: Facts, task_id: str) -> Upstream | None:
    """Return the task with that id if it has an output to pull; None too where several tasks have the id."""
    upstreams = facts.queries.upstream(task_id)
    return upstreams[0] if upstreams and len(upstreams) == 1 and upstreams[0].output else None


def takes_inputs(facts: Facts) -> bool:
    """Return whether the section Chain Inputs exists exactly once, can be read, and is still to be filled.

    A complete task keeps the inputs on which it was built.
    """
    if facts.values.get("status") == COMPLETE:
        return False
    spec = facts.kind.section(INPUTS)
    section = facts.outline.section(spec) if spec else None
    if section is None or any(placed.spec is spec for placed in facts.outline.repeated):
        return False
    return facts.unreadable_body is None or section.span.end <= facts.unreadable_body.start
