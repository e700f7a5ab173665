"""Brings Chain Inputs up to date with the outputs that they come from, and tells how each of them stands."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from taskstate.errors import TaskstateError
from taskstate.model import chain
from taskstate.model.names import id_key
from taskstate.model.statuses import COMPLETE
from taskstate.model.write_metadata import timestamp
from taskstate.storage import file_state
from taskstate.workspace import preconditions
from taskstate.workspace.change import Change
from taskstate.workspace.run_cache import RunCache
from taskstate.workspace.writer import change, unified_diff

if TYPE_CHECKING:
    from pathlib import Path

    from taskstate.model.chain_quotes import Upstream
    from taskstate.model.task_state import TaskState
    from taskstate.syntax.document import Document
    from taskstate.workspace.change import Outcome, Request
    from taskstate.workspace.workspace import Loaded, Workspace

CURRENT, WAITING, EMPTY = "current", "waiting", "empty"
MISSING, STALE, UNKNOWN, CIRCULAR, UNREADABLE = "missing", "stale", "unknown", "circular", "unreadable"
WRONG = frozenset({MISSING, STALE, UNKNOWN, CIRCULAR, UNREADABLE})


class Link(NamedTuple):
    """How the input from one upstream task stands; `changed` are its files that are not what they were then."""

    id: str
    state: str
    detail: str
    changed: tuple[str, ...] = ()

    @property
    def is_wrong(self) -> bool:
        """Return whether somebody has to do something about it."""
        return self.state in WRONG or bool(self.changed)


class InputStatus(NamedTuple):
    """How the inputs of one task stand."""

    id: str
    path: str
    title: str
    links: tuple[Link, ...]


class PullResult(NamedTuple):
    """What pulling did to one task; `inputs` is the unified diff of the text, without the marks of the write."""

    outcome: Outcome
    inputs: str


# How inputs stand


def status(workspace: Workspace, paths: tuple[Path, ...]) -> tuple[tuple[InputStatus, ...], tuple[str, ...]]:
    """Return how the inputs of the tasks at `paths` stand, and a line for each file that cannot be read."""
    repository = RunCache(workspace)
    repository.listed = workspace.own_files()  # also those that are not where a task usually is
    found, unreadable = [], []
    for path in paths:
        try:
            loaded = workspace.load(path)
            if not loaded.document.front_matter:
                preconditions.require_whole(loaded)
        except TaskstateError as error:
            unreadable.append(f"not looked at: {error}")
            continue
        links = tuple(_link(repository, loaded, each) for each in upstream_ids(loaded.state))
        found.append(InputStatus(loaded.state.id, loaded.relative, " ".join(loaded.state.title.split()), links))
    return tuple(found), tuple(unreadable)


def upstream_ids(state: TaskState) -> tuple[str, ...]:
    """Return the tasks that a task builds on: those that it depends on, and those whose output was pulled into it."""
    told = [*state.depends_on, *(each.id for each in chain.inputs_of(state.document))]
    known: dict[str, str] = {}
    for each in told:
        known.setdefault(each.casefold(), each)
    return tuple(sorted(known.values(), key=id_key))


def _link(repository: RunCache, loaded: Loaded, task_id: str) -> Link:
    own = loaded.state.id
    way = repository.dependencies.shortest_path(task_id, own)
    if way:
        return Link(task_id, CIRCULAR, f"it waits for itself: {' → '.join((own, *way))}")
    try:
        upstream = _upstream(repository, task_id)
    except TaskstateError as error:
        state = UNKNOWN if error.code == "not-found" else UNREADABLE
        return Link(task_id, state, "there is no such task" if state == UNKNOWN else error.message)
    return _of(repository.workspace, loaded.document, upstream)


def _of(workspace: Workspace, document: Document, upstream: Upstream) -> Link:
    """Return how the input from a task that can be read stands."""
    key = upstream.id.casefold()
    present = [each for each in chain.inputs_of(document) if each.id.casefold() == key]
    at = f", pulled at revision {present[0].revision}" if present else ""
    if not upstream.output:
        complete = upstream.status == COMPLETE
        why = "it is complete, and hands nothing down" if complete else f"it is {upstream.status or 'of no status'}"
        return Link(upstream.id, EMPTY if complete else WAITING, why + at)
    changed = file_state.changed_since(workspace.root, upstream.files)
    if any(not each.is_of(upstream) for each in present):
        since = f"its output changed since revision {present[0].revision}, and is at {upstream.revision}"
        return Link(upstream.id, STALE, since, changed)
    if any(not chain.is_current(document, each, upstream, workspace.config) for each in present):
        return Link(upstream.id, STALE, f"its quote is not what was pulled at revision {present[0].revision}", changed)
    if present:
        return Link(upstream.id, CURRENT, at.removeprefix(", "), changed)
    if chain.has_input(document, upstream.id):
        return Link(upstream.id, CURRENT, "written by hand", changed)
    return Link(upstream.id, MISSING, "it is complete, and its output was not pulled", changed)


def _upstream(repository: RunCache, task_id: str) -> Upstream:
    """Return what another task says.

    Raises:
        TaskstateError: code "not-found", "duplicate-id", or that of what keeps its file from being read.
    """
    paths = repository.state_files(task_id.casefold())
    if len(paths) > 1:
        places = ", ".join(repository.workspace.relative(path) for path in paths)
        what = f"several state files have the id {task_id}: {places}"
        raise TaskstateError(what, help="rename all but one", code="duplicate-id")
    path = paths[0] if paths else repository.workspace.locate(task_id)
    upstream = repository.upstream(path)
    if upstream is None or not upstream.status:
        preconditions.require_whole(repository.workspace.load(path))
    if upstream is None or (upstream.status == COMPLETE and _is_damaged(repository, path)):
        what = f"{repository.workspace.relative(path)} cannot be read"
        raise TaskstateError(what, help="run `taskstate lint` on it and mend what it finds", code="unreadable")
    return upstream


def _is_damaged(repository: RunCache, path: Path) -> bool:
    """Return whether a fence that never closes hides what the output of a task is."""
    document = repository.document(path)
    return document is None or any(not block.closed for block in document.blocks)


# Pulling


def pull(workspace: Workspace, task_id: str, request: Request, *, source: str = "") -> PullResult:
    """Bring the inputs of a task up to date: all of them, or that from the task `source`.

    Raises:
        TaskstateError: the task does not build on `source`; an upstream task is not there, or its file cannot be read;
            or the file cannot be changed safely. Nothing is changed then.
    """

    def job(loaded: Loaded) -> Change[str]:
        repository = RunCache(workspace)
        text, notes = loaded.document.text, list[str]()
        for each in _wanted(loaded.state, source):
            upstream = _handed_down(repository, each)
            if isinstance(upstream, str):
                notes.append(upstream)
                continue
            longer = chain.with_input(text, upstream, timestamp(request.stamp.now), workspace.config)
            notes += _told(workspace, upstream, changed=longer != text, dry_run=request.dry_run)
            text = longer
        diff = unified_diff(loaded.relative, loaded.document.text, text)
        return Change(text=text, notes=tuple(notes), result=diff)

    outcome = change(workspace, task_id, job, request)
    return PullResult(outcome, outcome.result)


def _wanted(state: TaskState, source: str) -> tuple[str, ...]:
    found = tuple(each for each in upstream_ids(state) if each.casefold() != state.id.casefold())
    if not source:
        return found
    if source.casefold() not in {each.casefold() for each in found}:
        what = f"task {state.id} does not depend on task {source}"
        known = f"it depends on {', '.join(found)}" if found else "it depends on no task"
        raise TaskstateError(what, help=f"{known}; add it to `depends_on`", code="no-dependency")
    return (source,)


def _handed_down(repository: RunCache, task_id: str) -> Upstream | str:
    """Return what a task hands down, or in words why it hands down nothing yet."""
    upstream = _upstream(repository, task_id)
    if upstream.output:
        return upstream
    if upstream.status == COMPLETE:
        return f"task {upstream.id} is complete, and hands nothing down"
    return f"task {upstream.id} is {upstream.status or 'of no status'}: its output comes when it is complete"


def _told(workspace: Workspace, upstream: Upstream, *, changed: bool, dry_run: bool) -> list[str]:
    notes = []
    if changed:
        words = "would pull" if dry_run else "pulled"
        notes.append(f"{words} the output of task {upstream.id}, revision {upstream.revision}")
    since = file_state.changed_since(workspace.root, upstream.files)
    return [*notes, *(f"since task {upstream.id} was completed: {each}" for each in since)]


# Outputs


class TaskOutput(NamedTuple):
    """The output of a task as it stands: `path` is that of its state file, `text` is empty where there is none."""

    id: str
    path: str
    status: str
    text: str


def output(workspace: Workspace, task_id: str) -> TaskOutput:
    """Return what a task has to hand down, complete or not.

    Raises:
        TaskstateError: the file cannot be read; or code "no-output": nothing is written yet.
    """
    loaded = workspace.load(workspace.locate(task_id))
    text = chain.output_of(loaded.document)
    if text:
        return TaskOutput(loaded.state.id, loaded.relative, loaded.state.status, text)
    what = f"task {loaded.state.id} has no output: nothing is written under {chain.OUTPUT}"
    help_ = f"write it into {loaded.relative}"
    if any(not block.closed for block in loaded.document.blocks):
        what = f"the output of task {loaded.state.id} cannot be told from the rest: a code fence never closes"
        help_ = f"run `taskstate lint {loaded.relative}`"
    raise TaskstateError(what, help=help_, code="no-output")
