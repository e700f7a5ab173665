"""What completion asks of a task and what of it is not there, all of it at once, a line for each thing."""

from __future__ import annotations

from typing import TYPE_CHECKING

from taskstate import chain, embed, files, named, produced, roles
from taskstate.errors import TaskstateError
from taskstate.kinds import kind_of
from taskstate.stamp import front_matter_values

if TYPE_CHECKING:
    from collections.abc import Iterator

    from taskstate.state import Feature, TaskState
    from taskstate.workspace import Loaded, Workspace

_LONGEST = 80  # characters of somebody's text in a line


def gaps(workspace: Workspace, loaded: Loaded) -> tuple[str, ...]:
    """Return a line for each thing that completion asks for and that is not there."""
    from taskstate.coordination import completion_gaps

    state = loaded.state
    return (
        *gaps_in(state, asked=workspace.config.lint.require_command_evidence),
        *_file_gaps(workspace, state),
        *completion_gaps(workspace, loaded),
        *_handoff_gaps(loaded),
    )


def gaps_in(state: TaskState, *, asked: bool = False) -> tuple[str, ...]:
    """Return a line for each thing that a state file itself lacks; `asked`: words are no evidence."""
    counted = state.checklist.counted if state.checklist else ()
    open_ones = (each for each in state.criteria if not each.checked)
    return (
        *_status_gaps(state),
        *_placeholders(state),
        *(gap for feature in counted for gap in _feature_gaps(feature, asked=asked)),
        *(f"criterion {each.number} is not checked: {_cut(each.text)}" for each in open_ones),
        *produced.output_gaps(state),
    )


def _status_gaps(state: TaskState) -> Iterator[str]:
    if state.status == roles.BLOCKED:
        yield "the task is blocked: set its status back to in_progress when nothing stops it"


def _placeholders(state: TaskState) -> Iterator[str]:
    """Yield what a complete task has written, the output aside, and this one has not."""
    kind = kind_of(state.kind)
    for section in kind.sections:
        for spec in section.subsections if section.name != chain.OUTPUT else ():
            if chain.COMPLETE in spec.must_be_filled:
                found = state.subsection(section.name, spec.name)
                text = found.body.of(state.document.text).strip() if found else ""
                if embed.says_nothing(text) or kind.is_placeholder(text):
                    yield f"{spec.name} is not written"


def _feature_gaps(feature: Feature, *, asked: bool) -> Iterator[str]:
    if not feature.passes:
        yield f"feature {feature.id} does not pass: {_cut(feature.description)}"
        return
    evidence = feature.evidence
    if not evidence or not feature.tested_at:
        yield f"feature {feature.id} passes without {'evidence' if not evidence else 'having been tested'}"
    elif isinstance(evidence, dict) and evidence.get("exit_status", 0) != 0:
        yield f"feature {feature.id}: the command of its evidence ended with status {evidence['exit_status']}"
    elif asked and not isinstance(evidence, dict):
        yield f"feature {feature.id} has words as its evidence, and neither a command nor a commit"


def _file_gaps(workspace: Workspace, state: TaskState) -> Iterator[str]:
    for each in produced.named_files(state):
        try:
            there = each.deleted or named.is_there(workspace.root, each.path)
        except TaskstateError as error:
            yield f"{produced.FILES}: {error.message}"
            continue
        if not there:
            hint = "mark it (deleted) if it is meant to be gone"
            yield f"{produced.FILES} names {files.shown(each.path)}, which is not there; {hint}"


def _handoff_gaps(loaded: Loaded) -> Iterator[str]:
    handoffs = front_matter_values(loaded.document).get("handoffs")
    path = handoffs.get("open") if isinstance(handoffs, dict) else None
    if path:
        accept = f"`taskstate handoff accept {loaded.state.id}`"
        yield f"a handoff is open: {files.shown(str(path))}; {accept}"


def _cut(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= _LONGEST else line[: _LONGEST - 1] + "…"
