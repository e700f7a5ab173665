"""Keeps apart two Architecture Decisions that both sides of a merge added under one number."""

from __future__ import annotations

import re

from taskstate.model.permanent import PERMANENT, change_log, decisions
from taskstate.model.task_state import read_state
from taskstate.typed import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from taskstate.model.task_state import TaskState
    from taskstate.units.three_way import Versions

_NUMBER = r"\bAD-(\d{1,9})\b"


def decisions_apart(versions: Versions[TaskState]) -> Versions[TaskState]:
    """Return the three versions with the new decisions of the later side numbered anew where both took a number.

    The later side is the one whose first new version is later; where nothing tells, the one whose text is greater.
    """
    if {versions.ours.kind, versions.theirs.kind} != {PERMANENT}:
        return versions
    titles = versions.each(lambda state: {each.number: _title(each.title) for each in decisions(state)})
    taken = {
        number
        for number in titles.ours.keys() & titles.theirs.keys() - titles.base.keys()
        if titles.ours[number] != titles.theirs[number]
    }
    if not taken:
        return versions
    last = max(number for side in titles for number in side)
    anew = dict(zip(sorted(taken), range(last + 1, last + 1 + len(taken)), strict=True))
    known = set(change_log(versions.base))
    if _age(versions.ours, known) > _age(versions.theirs, known):
        return versions._replace(ours=_numbered(versions.ours, anew))
    return versions._replace(theirs=_numbered(versions.theirs, anew))


def _title(title: str) -> str:
    return " ".join(title.casefold().split())


def _age(state: TaskState, known: Iterable[object]) -> tuple[str, str]:
    times = (each.at for each in change_log(state) if each not in known)
    return min(times, default=""), state.document.text


def _numbered(state: TaskState, anew: dict[int, int]) -> TaskState:
    """Return a version with other numbers for some of its decisions, wherever its body names them."""
    document = state.document
    start = document.front_matter.span.end if document.front_matter.span else 0
    head, body = document.text[:start], document.text[start:]
    body = re.compile(_NUMBER).sub(lambda match: f"AD-{anew.get(int(match[1]), match[1])}", body)
    return read_state(state.document.with_text(head + body))
