"""Seals the static part of a task (`context init`), and captures and seals it again (`context rebuild`).

`capture_plan` decides the values. Here the seal is computed, and everything is written in one step: section 1, the
`context` block of the front matter, and the exports with their manifest as artifacts.
"""

from __future__ import annotations

import re
from contextlib import suppress

from taskstate.context import export as context_export
from taskstate.context import sealed_criteria
from taskstate.context.capture_plan import CaptureRequest, plan_capture, require_as_captured
from taskstate.context.normalization import NORMALIZER_VERSION
from taskstate.context.readable_parts import require_sealed
from taskstate.context.sources import unmatched_globs, unmatched_notes
from taskstate.errors import GitFailed, TaskstateError
from taskstate.messages import first_of
from taskstate.model.canonical_json import CANONICAL_VERSION
from taskstate.model.static_context import context_seal, is_sealed, static_section
from taskstate.model.statuses import IN_PROGRESS, PENDING
from taskstate.model.write_metadata import blocks_of, front_matter_values, set_front_matter, timestamp, with_event
from taskstate.storage.git import client as git
from taskstate.storage.replaced_texts import words_gone
from taskstate.syntax import escaping
from taskstate.syntax.document import parse
from taskstate.syntax.edits import apply
from taskstate.typed import TYPE_CHECKING, NamedTuple
from taskstate.writing.change import Change
from taskstate.writing.event_log import with_oldest_moved
from taskstate.writing.writer import change

_NO_WORDS = r"(?s)```.*?```|\[[ xX]\]"

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any

    from taskstate.context.capture import CapturedContext, CapturedField
    from taskstate.context.sources import Sources
    from taskstate.context.task_file import TaskFile
    from taskstate.model.task_state import TaskState
    from taskstate.syntax.document import Document
    from taskstate.workspace.workspace import Loaded, Workspace
    from taskstate.writing.change import Outcome, Request

REBUILT = "context-rebuilt"  # the event
_NAMED = 5  # dirty files in a message


class SealResult(NamedTuple):
    """The result of sealing: the outcome of the change, the seal, and a row for each captured part."""

    outcome: Outcome
    seal: str
    rows: tuple[CapturedField, ...]


class _SealPlan(NamedTuple):
    """A planned sealing: the text with its `context` block, that block, the rows, and remarks."""

    text: str
    context: Mapping[str, Any]
    rows: tuple[CapturedField, ...]
    notes: tuple[str, ...]


def init(workspace: Workspace, task_id: str, capture_request: CaptureRequest, request: Request) -> SealResult:
    """Capture the static part of a task, and seal it.

    Raises:
        TaskstateError: it is sealed already, has no description, or a source is wrong.
    """
    return _outcome(change(workspace, task_id, sealing(workspace, capture_request, request), request))


def sealing(
    workspace: Workspace, capture_request: CaptureRequest, request: Request
) -> Callable[[Loaded], Change[_SealPlan]]:
    """Return the step that captures and seals the static part of a state file, as `init` does."""
    base = _base_commit(workspace, capture_request.base_commit, request)

    def plan(loaded: Loaded) -> _SealPlan:
        if is_sealed(loaded.document.front_matter.node):
            message = f"the context of task {loaded.state.id} is sealed already"
            own = loaded.state.id
            help_ = f"`taskstate context check {own}` checks it; `taskstate context rebuild {own}` seals again"
            raise TaskstateError(message, help=help_, code="context-exists")
        return _with_first_blocks(_plan(workspace, loaded, capture_request, request, rebuild=False), base)

    return lambda loaded: _change_of(workspace, loaded, plan(loaded))


def rebuild(workspace: Workspace, task_id: str, capture_request: CaptureRequest, request: Request) -> SealResult:
    """Capture the static part of a task again from its recorded sources, and seal it.

    Raises:
        TaskstateError: code "note": a criterion that was sealed changes, and no note says why; it is not sealed yet, or
            a source is wrong.
    """

    def job(loaded: Loaded) -> Change[_SealPlan]:
        planned = with_rebuilt(workspace, loaded, capture_request, request)
        text, moved = with_oldest_moved(workspace, parse(planned.text))
        return planned._replace(text=text, before=moved)

    return _outcome(change(workspace, task_id, job, request))


def with_rebuilt(
    workspace: Workspace,
    loaded: Loaded,
    capture_request: CaptureRequest,
    request: Request,
    *,
    before: Loaded | None = None,
) -> Change[_SealPlan]:
    """Return the change that captures the static part of a task again, and seals it; as `rebuild`, without writing.

    A criterion that was sealed in other words is unchecked. A note is kept in an event; the caller moves the oldest
    events to the archive. `before` is the file as it was sealed, where the caller has it.
    """
    note = escaping.one_line(capture_request.note, what="--note") if capture_request.note else ""
    if not is_sealed(loaded.document.front_matter.node):  # what keeps it from being sealed comes before that it is not
        plan_capture(workspace, loaded, capture_request, rebuild=False)
    require_sealed(loaded)
    sealing = _plan(workspace, loaded, capture_request, request, rebuild=True)
    reworded = sealed_criteria.reworded(workspace, before or loaded, sealing.text)
    if reworded.gone and not note:
        message = f"task {loaded.state.id}: a criterion that was sealed changes: {reworded.gone[0]}"
        help_ = f'say why: `taskstate context rebuild {loaded.state.id} --note "WHY"`'
        raise TaskstateError(message, help=help_, code="note")
    sealing = sealing._replace(text=sealed_criteria.with_unchecked(sealing.text, reworded))
    planned = _change_of(workspace, loaded, sealing)
    if not note or sealing.text == loaded.document.text:
        return planned
    said = {"criteria": list(reworded.gone), "now": list(reworded.new)} if reworded.gone else {}
    return planned._replace(text=with_event(sealing.text, request.metadata.event(REBUILT, note=note, **said)))


def _outcome(outcome: Outcome[_SealPlan]) -> SealResult:
    return SealResult(outcome, outcome.result.context["seal"], outcome.result.rows)


def _change_of(workspace: Workspace, loaded: Loaded, sealing: _SealPlan) -> Change[_SealPlan]:
    parts = {row.part: row.source for row in sealing.rows if row.source}
    exports = context_export.artifacts_of(workspace, loaded.with_text(sealing.text), sealing.context, parts)
    old, new = (_words_in(each) for each in (loaded.document, loaded.document.with_text(sealing.text)))
    replaced = words_gone(loaded.relative, old, new, "context rebuild")
    return Change(text=sealing.text, notes=sealing.notes, artifacts=exports, replaced=replaced, result=sealing)


def _words_in(document: Document) -> str:
    """Return section 1 without what commands alone write there: its fences, and the marks of criteria."""
    section = static_section(document)
    return re.sub(_NO_WORDS, "", section.span.of(document.text)) if section else ""


def _base_commit(workspace: Workspace, given: str, request: Request) -> str | None:
    """Return the base commit of the work: the given one, else HEAD; None in a repository without commits.

    Raises:
        TaskstateError: code "unknown-commit": there is no such commit.
    """
    if not given:
        return request.metadata.git_head
    commit = ""
    with suppress(GitFailed):
        commit = "" if given.startswith("-") else git.resolve_commit(workspace.root, given)
    if not commit:
        message = f"--base-commit {given!r} names no commit of this repository"
        raise TaskstateError(message, help="`git log` lists them", code="unknown-commit")
    return commit


def _plan(
    workspace: Workspace, loaded: Loaded, capture_request: CaptureRequest, request: Request, *, rebuild: bool
) -> _SealPlan:
    text, captured, sources, task_file, change_notes = plan_capture(workspace, loaded, capture_request, rebuild=rebuild)
    document, recorded = loaded.document.with_text(text), blocks_of(loaded.document).context.values
    context = _context_block(document, recorded, sources, task_file, request)
    text = apply(text, set_front_matter(document, "context", context))
    require_as_captured(loaded, text, captured, context["seal"])
    notes = (
        *change_notes,
        *captured.notes,
        *unmatched_notes(unmatched_globs(workspace, captured.static.paths)),
        *_state_notes(loaded.state, captured),
        *_dirty_notes(workspace),
    )
    return _SealPlan(text, context, captured.rows, notes)


# The front matter


def _context_block(
    document: Document, recorded: Mapping[str, object], sources: Sources, task_file: TaskFile | None, request: Request
) -> dict[str, Any]:
    """Return the `context` block; time and actor stay as recorded where nothing else differs."""
    context: dict[str, Any] = {
        "sealed_at": timestamp(request.metadata.now),
        "sealed_by": request.metadata.actor,
        "task_file": task_file.name if task_file else None,
        "task_file_sha": task_file.sha if task_file else None,
        "sources": sources.listed(),
        "normalizer": NORMALIZER_VERSION,
        "serializer": CANONICAL_VERSION,
        "seal": context_seal(document, front_matter_values(document)),
        **{key: value for key, value in recorded.items() if key.startswith("x-")},
    }
    context = {key: value for key, value in context.items() if value is not None}
    is_same = all(recorded.get(key) == value for key, value in context.items() if key not in {"sealed_at", "sealed_by"})
    unchanged = ("sealed_at", "sealed_by") if is_same else ()
    return context | {key: recorded[key] for key in unchanged if key in recorded}


def _with_first_blocks(plan: _SealPlan, base: str | None) -> _SealPlan:
    """Return the plan of a first sealing with the blocks that begin then: `baseline`, and `delta` with its base."""
    text, values = plan.text, front_matter_values(parse(plan.text))
    if "baseline" not in values:
        text = apply(text, set_front_matter(parse(text), "baseline", {"status": PENDING}))
    if "delta" not in values and base:
        text = apply(text, set_front_matter(parse(text), "delta", {"base_commit": base}))
    return plan._replace(text=text)


# Remarks


def _state_notes(state: TaskState, captured: CapturedContext) -> tuple[str, ...]:
    """Return remarks on a task that is sealed without criteria, or while it is not in progress."""
    notes = []
    if not captured.static.criteria:
        notes.append(f"no acceptance criterion yet: write it, then `taskstate context rebuild {state.id}`")
    if state.status != IN_PROGRESS:
        notes.append(f"the task is {state.status}, not in_progress: sealed anyway")
    return tuple(notes)


def _dirty_notes(workspace: Workspace) -> tuple[str, ...]:
    from taskstate.storage.git.worktree import dirty_files

    try:
        dirty = dirty_files(workspace.root, workspace.is_ours)
    except GitFailed as error:
        return (f"whether the working tree is clean cannot be told: {error.message}",)
    if not dirty:
        return ()
    return (f"the working tree is not clean: {first_of(dirty, _NAMED)}",)
