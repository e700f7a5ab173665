"""Updates the Chain Inputs of a task from the outputs of its upstream tasks, and reports their state."""

from __future__ import annotations

from contextlib import suppress

from taskstate.errors import TaskstateError
from taskstate.messages import typed_path
from taskstate.model import chain
from taskstate.model.names import id_key
from taskstate.model.permanent import PERMANENT
from taskstate.model.statuses import COMPLETE, DROPPED
from taskstate.model.write_metadata import timestamp
from taskstate.storage import files
from taskstate.storage.replaced_texts import ReplacedText
from taskstate.typed import TYPE_CHECKING, NamedTuple
from taskstate.workspace.run_cache import RunCache
from taskstate.workspace.workspace import no_task
from taskstate.writing import preconditions
from taskstate.writing.change import Change
from taskstate.writing.damage import require_readable
from taskstate.writing.writer import change, unified_diff

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from taskstate.model.chain_quotes import Upstream
    from taskstate.model.task_state import TaskState
    from taskstate.syntax.document import Document
    from taskstate.workspace.workspace import Loaded, Workspace
    from taskstate.writing.change import Outcome, Request

CURRENT, WAITING, EMPTY, KEPT = "current", "waiting", "empty", "kept"
MISSING, STALE, UNKNOWN, CIRCULAR, UNREADABLE = "missing", "stale", "unknown", "circular", "unreadable"
WRONG = frozenset({MISSING, STALE, UNKNOWN, CIRCULAR, UNREADABLE, DROPPED, PERMANENT})
_AS_BUILT = "is complete, and keeps the inputs on which it was built"
_NO_WORK = "a permanent task has no output to pull: remove it from `depends_on`"


class Link(NamedTuple):
    """The state of the input from one upstream task; `changed` are files of its output that changed since."""

    id: str
    state: str
    detail: str
    changed: tuple[str, ...] = ()

    @property
    def is_wrong(self) -> bool:
        """Return whether the input needs attention."""
        return self.state in WRONG or bool(self.changed)


class InputStatus(NamedTuple):
    """The states of all inputs of one task; those of a task that `is_dropped` need no attention."""

    id: str
    path: str
    title: str
    links: tuple[Link, ...]
    is_dropped: bool


# The state of inputs


def status(workspace: Workspace, paths: tuple[Path, ...]) -> tuple[tuple[InputStatus, ...], tuple[str, ...]]:
    """Return the state of the inputs of the tasks at `paths`, and a line for each file that cannot be read."""
    repository = RunCache(workspace)
    repository.all_files = workspace.own_files()  # includes state files outside of the tasks folder
    statuses, unreadable = [], []
    for path in workspace.counted("reading tasks", paths):
        try:
            loaded = workspace.load(path)
            if not loaded.document.front_matter:
                require_readable(workspace, loaded)
        except TaskstateError as error:
            unreadable.append(f"not looked at: {error}")
            continue
        links = tuple(_link(repository, loaded, each) for each in upstream_ids(loaded.state))
        title, is_dropped = " ".join(loaded.state.title.split()), loaded.state.status == DROPPED
        statuses.append(InputStatus(loaded.state.id, loaded.relative, title, links, is_dropped))
    return tuple(statuses), tuple(unreadable)


def upstream_ids(state: TaskState) -> tuple[str, ...]:
    """Return the tasks that a task builds on: those in `depends_on`, and those whose output was pulled into it."""
    ids = [*state.depends_on, *(each.id for each in chain.inputs_of(state.document))]
    by_key: dict[str, str] = {}
    for each in ids:
        by_key.setdefault(each.casefold(), each)
    return tuple(sorted(by_key.values(), key=id_key))


def _link(repository: RunCache, loaded: Loaded, task_id: str) -> Link:
    own_id = loaded.state.id
    path = repository.dependencies.shortest_path(task_id, own_id)
    if path:
        return Link(task_id, CIRCULAR, f"it waits for itself: {' → '.join((own_id, *path))}")
    try:
        upstream = _upstream(repository, task_id)
    except TaskstateError as error:
        state = UNKNOWN if error.code == "not-found" else UNREADABLE
        return Link(task_id, state, "there is no such task" if state == UNKNOWN else error.message)
    link = _input_link(repository.workspace, loaded.document, upstream)
    if loaded.state.status == COMPLETE and link.state in {MISSING, STALE}:
        return Link(link.id, KEPT, f"{link.detail}; task {own_id} {_AS_BUILT}")
    return link


def _input_link(workspace: Workspace, document: Document, upstream: Upstream) -> Link:
    """Return the state of the input from an upstream task that can be read."""
    key = upstream.id.casefold()
    quotes = [each for each in chain.inputs_of(document) if each.id.casefold() == key]
    pulled_at = f", pulled at revision {quotes[0].revision}" if quotes else ""
    if upstream.kind == PERMANENT:
        return Link(upstream.id, PERMANENT, _NO_WORK)
    if upstream.status == DROPPED:
        return Link(upstream.id, DROPPED, f"it was dropped, so it has no output{pulled_at}")
    if not upstream.output:
        complete = upstream.status == COMPLETE
        reason = "it is complete, but has no output" if complete else f"it is {upstream.status or 'of no status'}"
        return Link(upstream.id, EMPTY if complete else WAITING, reason + pulled_at)
    from taskstate.chain.changed_outputs import changed_files

    changed = tuple(each.words for each in changed_files(workspace, upstream))
    if any(not each.is_of(upstream) for each in quotes):
        since = f"its output changed since revision {quotes[0].revision}, and is at {upstream.revision}"
        return Link(upstream.id, STALE, since, changed)
    if any(not chain.is_current(document, each, upstream, workspace.config) for each in quotes):
        return Link(upstream.id, STALE, f"its quote is not what was pulled at revision {quotes[0].revision}", changed)
    if quotes:
        return Link(upstream.id, CURRENT, pulled_at.removeprefix(", "), changed)
    if chain.has_input(document, upstream.id):
        return Link(upstream.id, CURRENT, "written by hand", changed)
    return Link(upstream.id, MISSING, "it is complete, and its output was not pulled", changed)


def _upstream(repository: RunCache, task_id: str) -> Upstream:
    """Return another task as its dependents see it.

    Raises:
        TaskstateError: code "not-found" or "duplicate-id"; or its file cannot be read.
    """
    paths = repository.state_files(task_id.casefold())
    if len(paths) > 1:
        places = ", ".join(repository.workspace.relative(path) for path in paths)
        message = f"several state files have the id {task_id}: {places}"
        raise TaskstateError(message, help="rename all but one", code="duplicate-id")
    path = paths[0] if paths else repository.workspace.tasks / f"task-{task_id}-state.md"
    if not paths and files.size(path) is None:  # the repository's files are listed once, not for each task
        raise no_task(task_id)
    upstream = repository.upstream(path)
    if upstream is None or not upstream.status:
        preconditions.require_whole(repository.workspace.load(path))
    if upstream is None or (upstream.status == COMPLETE and _is_damaged(repository, path)):
        message = f"{repository.workspace.relative(path)} cannot be read"
        raise TaskstateError(message, help="run `taskstate lint` on it and fix what it finds", code="unreadable")
    return upstream


def _is_damaged(repository: RunCache, path: Path) -> bool:
    """Return whether the task's file has an unclosed fence, which may hide where its output ends."""
    document = repository.document(path)
    return document is None or any(not block.closed for block in document.blocks)


# Pulling


def pull(workspace: Workspace, task_id: str, request: Request, *, source: str = "") -> Outcome[str]:
    """Update the inputs of a task: all of them, or only the one from the task `source`.

    The result is the unified diff of the inputs, without the changed write metadata.

    Raises:
        TaskstateError: the task does not build on `source`; an upstream task is missing, or its file cannot be read; or
            the file cannot be changed safely. Nothing is changed then.
    """
    return change(workspace, task_id, pulling(workspace, request, source=source), request)


def pulling(
    workspace: Workspace, request: Request, *, source: str = "", once: bool = False
) -> Callable[[Loaded], Change[str]]:
    """Return the step that updates the inputs of a state file, as `pull` does.

    With `once` nothing is said of changed files of which the task was told (`remember_told`).
    """

    def job(loaded: Loaded) -> Change[str]:
        from taskstate.chain import changed_outputs  # most tasks build on no other

        if loaded.state.status == COMPLETE and upstream_ids(loaded.state):
            return Change(loaded.document.text, notes=(f"task {loaded.state.id} {_AS_BUILT}",), result="")
        repository = RunCache(workspace)
        text, notes, replaced = loaded.document.text, list[str](), list[ReplacedText]()
        for each in _sources(loaded.state, source):
            upstream = _ready_output(repository, each)
            if isinstance(upstream, str):
                notes.append(upstream)
                continue
            updated = chain.with_input(
                loaded.document.with_text(text), upstream, timestamp(request.metadata.now), workspace.config
            )
            if updated != text:
                verb = "would pull" if request.dry_run else "pulled"
                notes.append(f"{verb} the output of task {upstream.id}, revision {upstream.revision}")
            notes += changed_outputs.told(workspace, loaded.state.id, upstream, once=once)
            replaced += edited_away(loaded, updated, upstream)
            text = updated
        diff = unified_diff(loaded.relative, loaded.document.text, text)
        return Change(text=text, notes=tuple(notes), result=diff, replaced=tuple(replaced))

    return job


def edited_away(loaded: Loaded, text: str, upstream: Upstream) -> tuple[ReplacedText, ...]:
    """Return the quotes that somebody has edited and that give way to the true ones in the new text of a file."""
    inputs = (each for each in chain.inputs_of(loaded.document) if each.is_of(upstream))
    quotes = (each.quote.of(loaded.document.text) for each in inputs)
    gone = (quote for quote in quotes if any(line.rstrip() not in text for line in quote.splitlines()))
    return tuple(ReplacedText(loaded.relative, quote.encode(), "chain pull") for quote in gone)


def remember_told(workspace: Workspace, loaded: Loaded) -> None:
    """Note that a task was told which files of its inputs have changed."""
    from taskstate.chain.changed_outputs import remember

    repository = RunCache(workspace)
    for each in upstream_ids(loaded.state):
        with suppress(TaskstateError):  # it was told that it cannot be read
            remember(workspace, loaded.state.id, _upstream(repository, each))


def _sources(state: TaskState, source: str) -> tuple[str, ...]:
    upstream = tuple(each for each in upstream_ids(state) if each.casefold() != state.id.casefold())
    if not source:
        return upstream
    if source.casefold() not in {each.casefold() for each in upstream}:
        message = f"task {state.id} does not depend on task {source}"
        hint = f"it depends on {', '.join(upstream)}" if upstream else "it depends on no task"
        raise TaskstateError(message, help=f"{hint}; add it to `depends_on`", code="no-dependency")
    return (source,)


def _ready_output(repository: RunCache, task_id: str) -> Upstream | str:
    """Return a task with an output, or the reason why it has none yet."""
    upstream = _upstream(repository, task_id)
    if upstream.output:
        return upstream
    if upstream.kind == PERMANENT:
        return f"task {upstream.id}: {_NO_WORK}"
    if upstream.status == COMPLETE:
        return f"task {upstream.id} is complete, but has no output"
    if upstream.status == DROPPED:
        return f"task {upstream.id} was dropped, so it has no output"
    status = upstream.status or "of no status"
    return f"task {upstream.id} is {status}: its output comes when it is complete; `taskstate next` names what is ready"


# Outputs


class TaskOutput(NamedTuple):
    """The current output of a task: `path` is that of its state file, `text` is empty where there is none."""

    id: str
    path: str
    status: str
    text: str


def output(workspace: Workspace, task_id: str) -> TaskOutput:
    """Return the output of a task, whether it is complete or not.

    Raises:
        TaskstateError: the file cannot be read; or code "no-output": none is written yet.
    """
    loaded = workspace.load(workspace.locate(task_id))
    preconditions.require_work(loaded.state, "output", f"`taskstate show {loaded.state.id}` reads it")
    text = chain.output_of(loaded.document)
    if text:
        return TaskOutput(loaded.state.id, loaded.relative, loaded.state.status, text)
    message = f"task {loaded.state.id} has no output: nothing is written under {chain.OUTPUT}"
    help_ = f"write it into {loaded.relative}"
    if any(not block.closed for block in loaded.document.blocks):
        message = f"the output of task {loaded.state.id} has no clear end: a code fence never closes"
        help_ = f"run `taskstate lint {typed_path(loaded.relative)}`"
    raise TaskstateError(message, help=help_, code="no-output")
