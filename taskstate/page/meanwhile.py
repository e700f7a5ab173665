"""Says what is different in a task since a page showed it: in sentences, or else in lines of the file."""

from __future__ import annotations

import re
from difflib import unified_diff

from taskstate.messages import one_line
from taskstate.model.session_texts import by_of
from taskstate.model.task_state import read_state
from taskstate.model.write_metadata import blocks_of
from taskstate.storage.files import digest
from taskstate.syntax.document import parse
from taskstate.typed import TYPE_CHECKING
from taskstate.writing.ledger import kept_texts

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from taskstate.model.task_state import TaskState
    from taskstate.workspace.workspace import Loaded, Workspace

_MOST_LINES, _MOST_TEXT = 40, 160


def wrote(loaded: Loaded) -> str:
    """Return who wrote the task's file last, and when."""
    who, at = blocks_of(loaded.document).audit.values.get("updated_by"), loaded.state.text("updated_at")
    return f"{who or 'somebody'} wrote{f' at {at[11:16]} UTC' if at else ''}"


def differences(workspace: Workspace, loaded: Loaded, expect: str) -> tuple[tuple[str, ...], str]:
    """Return what is different since the file was as its token says, if a command wrote that: sentences, or lines."""
    digits = expect.partition("-")[2]
    kept = kept_texts(workspace, loaded.relative) if digits else iter(())
    text = next((each for each in kept if digest(each).startswith(digits)), None)
    if text is None:
        return (), ""
    before = read_state(parse(text.decode("utf-8", "replace")))
    told = tuple(sentences(before, loaded.state))
    return told, "" if told else _lines(before, loaded.state)


def sentences(before: TaskState, now: TaskState) -> Iterator[str]:
    """Yield what became of the parts of a task that one speaks of, in a sentence each."""
    for (name, old), (_, new) in zip(_parts(before), _parts(now), strict=True):
        yield from _sentences(name, old, new)


def _parts(state: TaskState) -> Iterator[tuple[str, Mapping[object, tuple[str, str]]]]:
    """Yield the parts of a task that one speaks of, each with how it stands and what it says."""
    roles, features = blocks_of(state.document).roles, state.checklist.features if state.checklist else ()
    findings = [each for role in roles.values() for each in role.findings]
    yield "the status", {"": ((state.status or "unknown").replace("_", " "), "")}
    yield "criterion", {each.number: ("met" if each.checked else "open", each.text) for each in state.criteria}
    yield "finding", {each.number: ("open" if each.is_open else "answered", each.text) for each in findings}
    yield "feature", {each.id: ("passing" if each.passes else "open", each.description) for each in features}
    yield "session", {each.number: ("there", f"by {by_of(each.agent).name}") for each in state.sessions}
    yield "role", {name: (each.status.replace("_", " "), "") for name, each in roles.items()}


def _sentences(
    name: str, before: Mapping[object, tuple[str, str]], now: Mapping[object, tuple[str, str]]
) -> Iterator[str]:
    for key in [*before, *(each for each in now if each not in before)]:
        old, new, what = before.get(key), now.get(key), f"{name} {key}".strip()
        if old is None and new:
            yield f"{what} is new: {one_line(new[1] or new[0], _MOST_TEXT)}"
        elif old and new is None:
            yield f"{what} is gone: {one_line(old[1], _MOST_TEXT)}"
        elif old and new and old[0] != new[0]:
            yield f"{what} is {new[0]} now"
        elif old and new and old != new:
            yield f"{what} reads now: {one_line(new[1], _MOST_TEXT)}"


def _lines(before: TaskState, now: TaskState) -> str:
    """Return the lines that differ, without the front matter: tools write that."""
    old, new = (
        re.sub(r"\A---\n.*?\n---\n", "", each.document.text, flags=re.DOTALL).splitlines() for each in (before, now)
    )
    found = [*unified_diff(old, new, n=1, lineterm="")][2:]
    return "\n".join(each for each in found[:_MOST_LINES] if not each.startswith("@@"))
