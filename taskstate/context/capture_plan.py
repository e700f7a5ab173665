"""Turns captured fields into the new text of a state file, and proves that the text says what was captured.

Reads the sources from disk; nothing is written here.
"""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, NamedTuple

from taskstate.context.capture import ALL_AREAS, CapturedContext, capture
from taskstate.context.capture_citations import configured_citations
from taskstate.context.past_versions import read_blob
from taskstate.context.preconditions import FIX_HELP, broken_fences, require_sealable, unreadable_error
from taskstate.context.sources import CaptureInput, Sources
from taskstate.context.static_context_edits import changed_parts, with_parts
from taskstate.context.task_file import read_task_file
from taskstate.errors import TaskstateError
from taskstate.model.document_kinds import kind_of
from taskstate.model.static_context import SEALED_VALUES, STANDARDS, context_seal, read_static
from taskstate.model.task_state import SECTION_LEVEL, read_state
from taskstate.model.write_metadata import blocks_of, front_matter_values, set_front_matter
from taskstate.syntax.document import parse
from taskstate.syntax.edits import Edit, apply

if TYPE_CHECKING:
    from collections.abc import Mapping

    from taskstate.context.task_file import TaskFile
    from taskstate.model.static_context import StaticPart
    from taskstate.model.task_state import TaskState
    from taskstate.syntax.document import Document
    from taskstate.workspace.workspace import Loaded, Workspace


class CaptureRequest(NamedTuple):
    """What was asked for: another task file than the recorded one, the commit that the work starts from, short values.

    A task file is named by its path from the repository's root.
    """

    task_file: str = ""
    base_commit: str = ""
    shorten: bool = False


class CapturePlan(NamedTuple):
    """What a capture came to: the text, not sealed yet, and what it was made from."""

    text: str
    captured: CapturedContext
    sources: Sources
    given: TaskFile | None
    notes: tuple[str, ...]


def plan_capture(workspace: Workspace, loaded: Loaded, wanted: CaptureRequest, *, anew: bool) -> CapturePlan:
    """Return what capturing the static part of a task comes to; `anew` lets its sources go before what it says.

    Raises:
        TaskstateError: the file cannot be read fully, a source is wrong, or nothing is said.
    """
    require_sealable(loaded)
    state, sources = loaded.state, Sources(workspace)
    recorded = blocks_of(loaded.document).context
    name, sha = wanted.task_file or recorded.task_file, recorded.task_file_sha or ""
    given = sources.task_file(name) if name else None
    changed = bool(not anew and name and name == recorded.task_file and sha not in {"", *sources.blob_ids})
    before = _before(workspace, name, sha) if name and changed else None
    held = read_static(state)
    texts = {key: state.text(key) or "" for key in SEALED_VALUES}
    known = CaptureInput(
        texts, held, given, workspace.config, sources.settings, sources.cite, anew, wanted.shorten, before
    )
    remarks = _require_fences(loaded, known)
    found = capture(known)
    _require_said(state, found, given)
    bodies = changed_parts(held, found.static)
    text = with_checked_criteria(with_parts(with_sealed_values(loaded.document, found.values), bodies), state)
    if changed and before is None and given and found.kept:
        given = given._replace(sha=sha)  # so that it goes on to show that the two differ
    remarks += _told_changed(given, before) if changed and given else ()
    return CapturePlan(text, found, sources, given, remarks)


def _told_changed(given: TaskFile, before: TaskFile | None) -> tuple[str, ...]:
    """Return the remark on a task file that somebody changed after the task was made from it."""
    what = f"{given.name} has changed since the task was made from it"
    if before is None:
        return (f"{what}, and git does not have what it said then: what section 1 says is kept",)
    return (f"{what}: what it says now is taken where nobody changed section 1",)


def _require_said(state: TaskState, captured: CapturedContext, given: TaskFile | None) -> None:
    """Refuse a task that has no title, or of which nothing is said.

    Raises:
        TaskstateError: code "invalid-input".
    """
    told = f"; {given.name} has none either" if given else ""
    if not captured.values["title"].strip():
        what = f"task {state.id} has no title{told}"
        raise TaskstateError(what, help="give it one in its front matter, then seal it", code="invalid-input")
    if not captured.static.description.strip():
        what = f"task {state.id} has no description{told}"
        raise TaskstateError(what, help="write it under ### Task Description, then seal it", code="invalid-input")


def _require_fences(loaded: Loaded, known: CaptureInput) -> tuple[str, ...]:
    """Refuse fences that cannot be used, and return the remarks on those that are made anew from what is recorded.

    Raises:
        TaskstateError: code "unreadable".
    """
    remarks = []
    for broken in broken_fences(loaded.state):
        if known.anew and broken.is_told:
            continue  # what is wrong is computed anew
        source = _elsewhere(known, broken.part) if known.anew else ""
        if not source:
            help_ = "mend it, or take it back from git: section 1 alone says what it held" if known.anew else FIX_HELP
            raise unreadable_error(loaded, broken.span, broken.what, help_=help_)
        remarks.append(f"{broken.what}: made anew from {source}; what only stood there is gone, see the diff")
    return tuple(remarks)


def _elsewhere(known: CaptureInput, part: str) -> str:
    """Return who else says what belongs into the fence of a part, nothing where nobody does."""
    given, area = known.given, known.values.get("area", "")
    if part == STANDARDS:
        own = bool(given and given.standards)
        usual = bool(configured_citations(known.config, area, known.values.get("priority", ""), known.settings))
    else:
        own = bool(given and given.commands)
        usual = bool(known.config.validation.keys() & {area, ALL_AREAS})
    return given.name if given and own else known.settings if usual else ""


def _before(workspace: Workspace, name: str, sha: str) -> TaskFile | None:
    """Return what the task file said when it was recorded, where git still has that."""
    data = read_blob(workspace, sha)
    with suppress(TaskstateError):  # what cannot be read says nothing
        return read_task_file(name, data) if data is not None else None
    return None


_TITLE_LEVEL = 1


def with_sealed_values(document: Document, values: Mapping[str, str]) -> Document:
    """Return a document with title, priority and area in its front matter, and the title in the title line too."""
    before = read_state(document)
    for key in SEALED_VALUES:
        if values[key] and before.text(key) != values[key]:
            document = parse(apply(document.text, set_front_matter(document, key, values[key])))
    shape = kind_of(before.kind)
    line = next((each for each in document.sections if each.level == _TITLE_LEVEL), None)
    old = shape.title_line(task_id=before.id, title=before.title).removeprefix("# ")
    if line is None or before.title == values["title"] or line.title != old:
        return document
    new = shape.title_line(task_id=before.id, title=values["title"])
    return parse(apply(document.text, [Edit(*line.heading, new)]))


def with_checked_criteria(text: str, before: TaskState) -> str:
    """Return a text in which each criterion is checked that was checked `before` in the same words."""
    done = {" ".join(each.text.split()) for each in before.criteria if each.checked}
    criteria = read_state(parse(text)).criteria
    edits = [Edit(*each.mark, "x") for each in criteria if not each.checked and " ".join(each.text.split()) in done]
    return apply(text, edits) if edits else text


def require_as_captured(loaded: Loaded, text: str, captured: CapturedContext, seal: str) -> None:
    """Refuse a result that does not say what was captured: a fault of ours must not be sealed.

    Raises:
        TaskstateError: code "unsafe".
    """
    document = parse(text)
    if (
        _said(read_static(read_state(document))) == _said(captured.static)
        and context_seal(document, front_matter_values(document)) == seal
        and _sections(document) == _sections(loaded.document)
    ):
        return
    raise TaskstateError(
        f"{loaded.relative} cannot be sealed safely: its section 1 would not read as it was captured",
        help="run `taskstate lint` on it first",
        code="unsafe",
    )


def _said(static: StaticPart) -> tuple[object, ...]:
    """Return what a static part says, whatever its layout."""
    words = [[each.split() for each in texts] for texts in (static.scope_in, static.scope_out, static.criteria)]
    return static.description.split(), words, static.standards, static.commands, static.paths


def _sections(document: Document) -> list[str]:
    return [each.title for each in document.sections if each.level == SECTION_LEVEL]
