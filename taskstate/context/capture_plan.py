"""Plans a capture: reads its sources, makes the new text of the state file, and proves that it reads as captured.

Nothing is written here.
"""

from __future__ import annotations

from contextlib import suppress

from taskstate.context.capture import CapturedContext, capture
from taskstate.context.capture_citations import configured_citations
from taskstate.context.past_versions import read_blob
from taskstate.context.readable_parts import FIX_HELP, broken_fences, require_sealable, unreadable_error
from taskstate.context.sources import CaptureInput, Sources
from taskstate.context.static_context_edits import changed_parts, with_parts
from taskstate.context.task_file import FACTS, read_task_file
from taskstate.errors import TaskstateError
from taskstate.model.config import validation_commands
from taskstate.model.document_kinds import kind_of
from taskstate.model.static_context import SEALED_VALUES, STANDARDS, context_seal, read_static
from taskstate.model.task_state import SECTION_LEVEL, read_state
from taskstate.model.write_metadata import blocks_of, front_matter_values, set_front_matter
from taskstate.syntax.edits import Edit, apply
from taskstate.typed import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping

    from taskstate.context.task_file import TaskFile
    from taskstate.model.static_context import StaticPart
    from taskstate.model.task_state import TaskState
    from taskstate.syntax.document import Document
    from taskstate.workspace.workspace import Loaded, Workspace


class CaptureRequest(NamedTuple):
    """The options of a capture: a task file in place of the recorded one, the base commit, whether to cut long values.

    `task_file` is a path from the repository's root. `note` is why a sealed context is captured again.
    """

    task_file: str = ""
    base_commit: str = ""
    shorten: bool = False
    note: str = ""


class CapturePlan(NamedTuple):
    """A planned capture: the new text, not sealed yet, with what was captured and from what."""

    text: str
    captured: CapturedContext
    sources: Sources
    task_file: TaskFile | None
    notes: tuple[str, ...]


def plan_capture(
    workspace: Workspace, loaded: Loaded, capture_request: CaptureRequest, *, rebuild: bool
) -> CapturePlan:
    """Return the planned capture of a task's static part; with `rebuild` its sources win over its present values.

    Raises:
        TaskstateError: the file cannot be read fully, a source is wrong, or the task has no title or description.
    """
    require_sealable(loaded)
    state, sources = loaded.state, Sources(workspace)
    recorded = blocks_of(loaded.document).context
    name, sha = capture_request.task_file or recorded.task_file, recorded.task_file_sha or ""
    command = f"`taskstate context {'rebuild' if recorded.seal else 'init'} {state.id} --from FILE`"
    missing = "" if capture_request.task_file else f"name where it is now: {command}"
    task_file = sources.task_file(name, missing) if name else None
    changed = bool(not rebuild and name and name == recorded.task_file and sha not in {"", *sources.blob_ids})
    earlier = _earlier_task_file(workspace, name, sha) if name and changed else None
    current = read_static(state)
    values = {key: state.text(key) or "" for key in (*SEALED_VALUES, *FACTS)}
    config, shorten = workspace.config, capture_request.shorten
    inputs = CaptureInput(
        values, current, task_file, config, sources.config_name, sources.cite, rebuild, shorten, earlier, state.id
    )
    notes = _require_fences(loaded, inputs)
    captured = capture(inputs)
    _require_described(state, captured, task_file)
    bodies = changed_parts(current, captured.static)
    text = with_checked_criteria(with_parts(with_captured_values(loaded.document, captured.values), bodies), state)
    if changed and earlier is None and task_file and captured.kept:
        # The recorded hash stays the old one, so that `context check` still reports the change.
        task_file = task_file._replace(sha=sha)
    notes += _changed_notes(task_file, earlier) if changed and task_file else ()
    notes += (*task_file.warnings, *_not_taken_notes(state, task_file)) if task_file else ()
    return CapturePlan(text, captured, sources, task_file, notes)


def _changed_notes(task_file: TaskFile, earlier: TaskFile | None) -> tuple[str, ...]:
    """Return a remark that the task file was changed after the task was made from it."""
    subject = f"{task_file.name} has changed since the task was made from it"
    if earlier is None:
        return (f"{subject}, and git does not have what it said then: what section 1 says is kept",)
    return (f"{subject}: what it says now is taken where nobody changed section 1",)


def _not_taken_notes(state: TaskState, task_file: TaskFile) -> tuple[str, ...]:
    """Return remarks on what only `new` takes from a task file, and the task does not have."""
    known = {each.id for each in state.checklist.features} if state.checklist else set()
    features = [
        f"{each} (`taskstate feature add {state.id} {each} TEXT`)"
        for each, _ in task_file.features
        if each not in known
    ]
    upstream = [each for each in task_file.depends_on if each not in state.depends_on]
    return (
        *(f"{task_file.name} names the feature {each}, which the checklist lacks" for each in features),
        *(
            f"{task_file.name} names the upstream task {each}, which `depends_on` in the front matter lacks"
            for each in upstream
        ),
    )


def _require_described(state: TaskState, captured: CapturedContext, task_file: TaskFile | None) -> None:
    """Refuse a task without a title or a description.

    Raises:
        TaskstateError: code "invalid-input".
    """
    addition = f"; {task_file.name} has none either" if task_file else ""
    if not captured.values["title"].strip():
        message = f"task {state.id} has no title{addition}"
        raise TaskstateError(message, help="give it one in its front matter, then seal it", code="invalid-input")
    if not captured.static.description.strip():
        message = f"task {state.id} has no description{addition}"
        raise TaskstateError(message, help="write it under ### Task Description, then seal it", code="invalid-input")


def _require_fences(loaded: Loaded, inputs: CaptureInput) -> tuple[str, ...]:
    """Refuse JSON fences that cannot be used; return remarks on those that a rebuild makes anew from a source.

    Raises:
        TaskstateError: code "unreadable".
    """
    notes = []
    for broken in broken_fences(loaded.state):
        if inputs.rebuild and broken.has_references:
            continue  # only computed values are wrong: the capture computes them again
        source = _other_source(inputs, broken.part) if inputs.rebuild else ""
        if not source:
            help_ = "fix it, or restore it from git: section 1 alone says what it held" if inputs.rebuild else FIX_HELP
            raise unreadable_error(loaded, broken.span, broken.message, help_=help_)
        notes.append(f"{broken.message}: made again from {source}; what only stood there is gone, see the diff")
    return tuple(notes)


def _other_source(inputs: CaptureInput, part: str) -> str:
    """Return the name of the file from which the fence of a part can be rebuilt, empty where there is none."""
    task_file, area = inputs.task_file, inputs.values.get("area", "")
    if part == STANDARDS:
        in_task_file = bool(task_file and task_file.standards)
        priority = inputs.values.get("priority", "")
        in_config = bool(configured_citations(inputs.config, area, priority, inputs.config_name))
    else:
        in_task_file = bool(task_file and task_file.commands)
        in_config = bool(validation_commands(inputs.config, area)[1])
    return task_file.name if task_file and in_task_file else inputs.config_name if in_config else ""


def _earlier_task_file(workspace: Workspace, name: str, sha: str) -> TaskFile | None:
    """Return the version of the task file that was recorded, or None where git does not have it or it is invalid."""
    data = read_blob(workspace, sha)
    with suppress(TaskstateError):  # an invalid old version is as good as none
        return read_task_file(name, data) if data is not None else None
    return None


_TITLE_LEVEL = 1


def with_captured_values(document: Document, values: Mapping[str, str]) -> Document:
    """Return the document with the captured values in its front matter, and the title in its title line.

    A title line that people reworded stays.
    """
    state = read_state(document)
    for key in values:
        if values[key] and state.text(key) != values[key]:
            document = document.with_text(apply(document.text, set_front_matter(document, key, values[key])))
    spec = kind_of(state.document)
    line = next((each for each in document.sections if each.level == _TITLE_LEVEL), None)
    old_title = spec.title_line(task_id=state.id, title=state.title).removeprefix("# ")
    if line is None or state.title == values["title"] or line.title != old_title:
        return document
    new_title = spec.title_line(task_id=state.id, title=values["title"])
    return document.with_text(apply(document.text, [Edit(*line.heading, new_title)]))


def with_checked_criteria(text: str, state: TaskState) -> str:
    """Return the text with each criterion checked that was checked, in the same words, in `state` before."""
    checked = {" ".join(each.text.split()) for each in state.criteria if each.checked}
    criteria = read_state(state.document.with_text(text)).criteria
    edits = [Edit(*each.mark, "x") for each in criteria if not each.checked and " ".join(each.text.split()) in checked]
    return apply(text, edits) if edits else text


def require_as_captured(loaded: Loaded, text: str, captured: CapturedContext, seal: str) -> None:
    """Refuse a text that does not read back as it was captured, so that no fault of ours is sealed.

    Raises:
        TaskstateError: code "unsafe".
    """
    document = loaded.document.with_text(text)
    if (
        _content(read_static(read_state(document))) == _content(captured.static)
        and context_seal(document, front_matter_values(document)) == seal
        and _section_titles(document) == _section_titles(loaded.document)
    ):
        return
    message = f"{loaded.relative} cannot be sealed safely: its section 1 would not read as it was captured"
    raise TaskstateError(message, help="run `taskstate lint` on it first", code="unsafe")


def _content(static: StaticPart) -> tuple[object, ...]:
    """Return the content of a static part for comparison, white space aside."""
    lists = [[each.split() for each in texts] for texts in (static.scope_in, static.scope_out, static.criteria)]
    return static.description.split(), lists, static.standards, static.commands, static.paths


def _section_titles(document: Document) -> list[str]:
    return [each.title for each in document.sections if each.level == SECTION_LEVEL]
