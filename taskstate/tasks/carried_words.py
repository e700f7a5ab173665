"""What a part of a task takes along of its log and criteria: what concerns its features, and what concerns none."""

from __future__ import annotations

import re

from taskstate.archive.summary_statements import comparison_key, own_resolution, resolved_issues, says_nothing
from taskstate.tasks.decomposition_plan import read_open_features
from taskstate.tasks.part_words import concerned
from taskstate.typed import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from taskstate.model.task_state import TaskState
    from taskstate.tasks.decomposition_plan import Subtask

_SENTENCE = re.compile(r"(?<=[.!?])\s+|\n+")


def carried(state: TaskState, subtasks: Sequence[Subtask]) -> list[tuple[list[str], list[str]]]:
    """Return for each part statements of state, issues and next steps that concern it or no part, and its criteria.

    An open criterion that concerns no part stays with the parent alone.
    """
    features = {each.id: each for each in read_open_features(state)}
    parts = [[features[each] for each in subtask.features] for subtask in subtasks]
    everyone = tuple(range(len(parts)))
    said = [(what, text, concerned(text, parts) or (everyone if new else ())) for what, text, new in _said(state)]
    criteria = [(each.text, concerned(each.text, parts)) for each in state.criteria if not each.checked]
    return [
        (
            [f"{what}: {text}" for what, text, numbers in said if number in numbers],
            [text for text, numbers in criteria if number in numbers],
        )
        for number in everyone
    ]


def _said(state: TaskState) -> Iterator[tuple[str, str, bool]]:
    """Yield the newest state and next steps, and the issues that nobody calls resolved; each with whether it is new."""
    issues = [(session.number, issue) for session in reversed(state.sessions) for issue in session.issues]
    resolved = {comparison_key(each) for _, issue in issues for each in resolved_issues(issue)}
    newest = state.sessions[-1] if state.sessions else None
    for sentence in _SENTENCE.split(newest.state) if newest else ():
        yield "State", sentence, True
    for number, issue in issues:
        if not says_nothing(issue) and not own_resolution(issue) and comparison_key(issue) not in resolved:
            yield f"Issue of session {number}", issue, bool(newest and number == newest.number)
    for step in state.next_steps:
        yield "Next", step, True
