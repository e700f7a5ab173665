"""What a part of a task takes along of its log and criteria: what concerns its features, and what concerns none."""

from __future__ import annotations

import re

from taskstate.archive.summary import open_issues
from taskstate.archive.summary_statements import comparison_key, says_nothing, statements_in
from taskstate.tasks.decomposition_plan import read_open_features
from taskstate.tasks.part_words import concerned, stems
from taskstate.typed import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from taskstate.model.task_state import TaskState
    from taskstate.tasks.decomposition_plan import Subtask

_SENTENCE = re.compile(r"(?<=[.!?])\s+|\n+")


def carried(state: TaskState, subtasks: Sequence[Subtask]) -> list[tuple[list[tuple[str, int]], list[str]]]:
    """Return for each part the statements of state, next steps and open issues, and the criteria, that concern it.

    Behind each statement stands its session. What concerns no part goes to all, behind the others; an open criterion
    that concerns none stays with the parent alone.
    """
    features = {each.id: each for each in read_open_features(state)}
    parts = [[features[each] for each in subtask.features] for subtask in subtasks]
    said = [(text, number, concerned(text, parts)) for text, number in _said(state)]
    criteria = [(each.text, concerned(each.text, parts)) for each in state.criteria if not each.checked]
    return [
        (
            [(text, at) for own in (True, False) for text, at, to in said if (part in to if own else not to)],
            [text for text, to in criteria if part in to],
        )
        for part in range(len(parts))
    ]


def _said(state: TaskState) -> Iterator[tuple[str, int]]:
    """Yield the newest state and next steps that say something, and what `archive` calls open, newest first."""
    newest = _SENTENCE.split(state.sessions[-1].state) if state.sessions else ()
    for what, text in (*(("State", each) for each in newest), *(("Next", each) for each in state.next_steps)):
        if (stems(text) or any(map(str.isdigit, text))) and not says_nothing(text):  # "Same as before" has no word
            yield f"{what}: {text}", state.last_session
    found = [(each, statements_in(each, session.number)) for session in state.sessions for each in session.issues]
    whole = {comparison_key(issue[0].text): text for text, issue in found if len(issue) == 1}
    for each in sorted(open_issues(state), key=lambda issue: issue.last, reverse=True):
        yield f"Issue of session {each.last}: {whole.get(comparison_key(each.text), each.text)}", each.last
