"""Seals the static part of a task: captures it once, and anew from what it was captured from.

What is captured is found in `context_capture`; here it is sealed and written: section 1, the block `context` and what
goes with it in the front matter, the exports and their manifest among the artifacts.
"""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Any, NamedTuple

from taskstate.context import export as context_export
from taskstate.context.capture_plan import CaptureRequest, plan_capture, require_as_captured
from taskstate.context.normalization import NORMALIZER_VERSION
from taskstate.context.preconditions import require_sealed
from taskstate.context.sources import unmatched_globs, unmatched_notes
from taskstate.errors import GitFailed, TaskstateError
from taskstate.messages import first_of
from taskstate.model.canonical_json import CANONICAL_VERSION
from taskstate.model.static_context import context_seal, is_sealed
from taskstate.model.statuses import IN_PROGRESS, PENDING
from taskstate.model.task_state import read_state
from taskstate.model.write_metadata import blocks_of, front_matter_values, set_front_matter, timestamp
from taskstate.storage.git import client as git
from taskstate.syntax.document import parse
from taskstate.syntax.edits import apply
from taskstate.workspace.change import Change
from taskstate.workspace.workspace import Loaded
from taskstate.workspace.writer import change

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from taskstate.context.capture import CapturedContext, CapturedField
    from taskstate.context.sources import Sources
    from taskstate.context.task_file import TaskFile
    from taskstate.model.task_state import TaskState
    from taskstate.workspace.change import Outcome, Request
    from taskstate.workspace.workspace import Workspace

_NAMED = 5  # dirty files; of more it is told how many


class SealResult(NamedTuple):
    """What a sealing came to: the change, the seal, and where each part came from."""

    outcome: Outcome
    seal: str
    rows: tuple[CapturedField, ...]


class _Made(NamedTuple):
    """A static part that is to be sealed: the text with its context block, and what to tell."""

    text: str
    context: Mapping[str, Any]
    rows: tuple[CapturedField, ...]
    notes: tuple[str, ...]


def init(workspace: Workspace, task_id: str, wanted: CaptureRequest, request: Request) -> SealResult:
    """Capture the static part of a task, and seal it.

    Raises:
        TaskstateError: it is sealed already, has no description or cites nothing, or a source is wrong.
    """
    base = _base_commit(workspace, wanted.base_commit, request)

    def plan(loaded: Loaded) -> _Made:
        if is_sealed(loaded.document.front_matter.node):
            what = f"the context of task {loaded.state.id} is sealed already"
            help_ = f"`taskstate context check {loaded.state.id}` says whether it holds; `context rebuild` seals anew"
            raise TaskstateError(what, help=help_, code="context-exists")
        return _begun(_made(workspace, loaded, wanted, request, anew=False), base)

    return _sealed(workspace, task_id, plan, request)


def rebuild(workspace: Workspace, task_id: str, wanted: CaptureRequest, request: Request) -> SealResult:
    """Capture the static part of a task anew from its recorded sources, and seal that.

    Raises:
        TaskstateError: it is not sealed yet, or a source is wrong.
    """

    def plan(loaded: Loaded) -> _Made:
        require_sealed(loaded)
        return _made(workspace, loaded, wanted, request, anew=True)

    return _sealed(workspace, task_id, plan, request)


def _sealed(workspace: Workspace, task_id: str, plan: Callable[[Loaded], _Made], request: Request) -> SealResult:
    def job(loaded: Loaded) -> Change[_Made]:
        made = plan(loaded)
        document = parse(made.text)
        after = Loaded(loaded.relative, made.text.encode(), document, read_state(document, loaded.state.id))
        kept = context_export.artifacts_of(workspace, after, made.context)
        return Change(text=made.text, notes=made.notes, kept=kept, result=made)

    outcome = change(workspace, task_id, job, request)
    return SealResult(outcome, outcome.result.context["seal"], outcome.result.rows)


def _base_commit(workspace: Workspace, given: str, request: Request) -> str | None:
    """Return the commit that the work starts from: the named one, else HEAD, or None where there is none.

    Raises:
        TaskstateError: code "unknown-commit": there is no such commit.
    """
    if not given:
        return request.stamp.git_head
    found = ""
    with suppress(GitFailed):
        found = "" if given.startswith("-") else git.commit(workspace.root, given)
    if not found:
        what = f"--base-commit {given!r} names no commit of this repository"
        raise TaskstateError(what, help="`git log` lists them", code="unknown-commit")
    return found


def _made(workspace: Workspace, loaded: Loaded, wanted: CaptureRequest, request: Request, *, anew: bool) -> _Made:
    text, found, sources, given, changed = plan_capture(workspace, loaded, wanted, anew=anew)
    held = blocks_of(loaded.document).context.values
    context = _context(text, held, sources, given, request)
    text = apply(text, set_front_matter(parse(text), "context", context))
    require_as_captured(loaded, text, found, context["seal"])
    globs = unmatched_globs(workspace, found.static.paths)
    notes = (
        *changed,
        *found.notes,
        *unmatched_notes(globs),
        *_told_state(loaded.state, found),
        *_told_dirty(workspace),
    )
    return _Made(text, context, found.rows, notes)


# The result


def _context(
    text: str, held: Mapping[str, object], sources: Sources, given: TaskFile | None, request: Request
) -> dict[str, Any]:
    """Return the block that says what was sealed, when and from what; the old one where only its time would differ."""
    document = parse(text)
    context = {
        "sealed_at": timestamp(request.stamp.now),
        "sealed_by": request.stamp.actor,
        "git_head": request.stamp.git_head,
        "task_file": given.name if given else None,
        "task_file_sha": given.sha if given else None,
        "sources": sources.listed(),
        "normalizer": NORMALIZER_VERSION,
        "serializer": CANONICAL_VERSION,
        "seal": context_seal(document, front_matter_values(document)),
        **{key: value for key, value in held.items() if key.startswith("x-")},
    }
    same = all(held.get(key) == value for key, value in context.items() if key not in {"sealed_at", "sealed_by"})
    return {**context, **{key: held[key] for key in ("sealed_at", "sealed_by") if key in held}} if same else context


def _begun(made: _Made, base: str | None) -> _Made:
    """Return a first capture with the places for what is recorded from now on: the baseline, and the base commit."""
    text, values = made.text, front_matter_values(parse(made.text))
    if "baseline" not in values:
        text = apply(text, set_front_matter(parse(text), "baseline", {"status": PENDING}))
    if "delta" not in values and base:
        text = apply(text, set_front_matter(parse(text), "delta", {"base_commit": base}))
    return made._replace(text=text)


# What to tell


def _told_state(state: TaskState, found: CapturedContext) -> tuple[str, ...]:
    """Return remarks on a task that is sealed before its time."""
    remarks = []
    if not found.static.criteria:
        remarks.append(f"no acceptance criterion yet: write it, then `taskstate context rebuild {state.id}`")
    if state.status != IN_PROGRESS:
        remarks.append(f"the task is {state.status}, not in_progress: sealed all the same")
    return tuple(remarks)


def _told_dirty(workspace: Workspace) -> tuple[str, ...]:
    from taskstate.storage.git.worktree import dirty_files

    try:
        dirty = dirty_files(workspace.root, workspace.is_ours)
    except GitFailed as error:
        return (f"whether the working tree is clean cannot be told: {error.message}",)
    if not dirty:
        return ()
    return (f"the working tree is not clean: {first_of(dirty, _NAMED)}",)
