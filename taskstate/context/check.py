"""Whether a sealed context still holds: the seal, what it cites, its task file, the commit, the configuration.

What differs is shown where the old text can still be had; a state file keeps hashes alone.
"""

from __future__ import annotations

from difflib import unified_diff
from typing import TYPE_CHECKING, NamedTuple

from taskstate.context import citations, task_file
from taskstate.context.capture_citations import configured_citations, normalized_path
from taskstate.context.capture_plan import CaptureRequest, plan_capture
from taskstate.context.citations import Standard, citation_status
from taskstate.context.past_versions import (
    cited_lines,
    find_sealed_version,
    guess_sealed_version,
    read_blob,
    version_with_seal,
)
from taskstate.context.preconditions import broken_fences, require_sealed
from taskstate.context.sources import Sources
from taskstate.errors import GitFailed, TaskstateError
from taskstate.messages import first_of
from taskstate.model.static_context import SEALED_VALUES, STANDARDS, read_static, seal_of, static_text
from taskstate.model.write_metadata import blocks_of
from taskstate.storage import files
from taskstate.storage.git import log as git_log
from taskstate.validation import secrets

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from taskstate.context.past_versions import SealedVersion
    from taskstate.context.preconditions import BrokenFence
    from taskstate.model.tool_blocks import Context, ToolBlocks
    from taskstate.workspace.workspace import Loaded, Workspace

_SYNTAX, _SCHEMA = "TS005", "TS603"  # of a fence
_NAMED = 5  # files; of more it is told how many
_SHOWN_LINES = 24  # of a difference


class ContextFinding(NamedTuple):
    """Something that no longer holds: the rule that finds it too, what it is, what to do, and the lines that differ."""

    code: str
    what: str
    help: str
    diff: tuple[str, ...] = ()


class ContextCheck(NamedTuple):
    """What checking a sealed context came to; `notes` say what cannot be told here."""

    id: str
    path: str
    revision: str
    seal: str
    points: tuple[ContextFinding, ...]
    notes: tuple[str, ...] = ()


def check(workspace: Workspace, task_id: str) -> ContextCheck:
    """Return what no longer holds of a task's sealed context; nothing is changed.

    Raises:
        TaskstateError: there is no such task, it is not sealed, or its file cannot be read.
    """
    loaded = workspace.load(workspace.locate(task_id))
    require_sealed(loaded)
    blocks = blocks_of(loaded.document)
    context = blocks.context
    broken = tuple(broken_fences(loaded.state))
    parts = {each.part for each in broken}
    points = (
        *(_broken(loaded, each) for each in broken),
        *_seal(workspace, loaded, blocks),
        *(() if STANDARDS in parts else _citations(workspace, loaded, context)),
        *_task_file(workspace, loaded, context),
        *(() if STANDARDS in parts else _configuration(workspace, loaded)),
        *_head(workspace, loaded.state.id, context),
    )
    head = context.git_head
    notes = unverifiable_notes(head) if moved_since(workspace, head) is None else ()
    return ContextCheck(loaded.state.id, loaded.relative, loaded.token, str(context.seal), points, notes)


def _broken(loaded: Loaded, broken: BrokenFence) -> ContextFinding:
    line = loaded.document.position(broken.span.start).line + 1
    told = f"take it back, for example with git, or make it anew with {_rebuild(loaded.state.id)}"
    return ContextFinding(_SCHEMA if broken.is_json else _SYNTAX, f"line {line}: {broken.what}", told)


def _rebuild(task_id: str) -> str:
    return f"`taskstate context rebuild {task_id}`"


def _seal(workspace: Workspace, loaded: Loaded, blocks: ToolBlocks) -> Iterator[ContextFinding]:
    values, seal = blocks.values, str(blocks.context.seal)
    now = static_text(loaded.document, loaded.state)
    if now is None or seal_of(values, now) == seal:
        return
    told = f"take the change back, for example with git, or seal what is right with {_rebuild(loaded.state.id)}"
    then = (
        guess_sealed_version(loaded.state, values, now, seal)
        or find_sealed_version(workspace, loaded.relative, seal)
        or _from_sources(workspace, loaded, seal)
    )
    if then is None:
        what = f"section 1, or {' or '.join(SEALED_VALUES)}, does not match the seal; what was sealed is in no version "
        yield ContextFinding("TS601", f"{what}that can be found here", told)
        return
    changed = ["section 1 is"] if then.text != now else []
    for key in SEALED_VALUES:
        old, new = then.values.get(key), values.get(key)
        changed += [f"{key} ({_value(old)} then, {_value(new)} now) is"] if old != new else []
    what = " not as it was sealed, and ".join(changed) + " not as it was sealed"
    yield ContextFinding("TS601", what, told, differences(then.text.split("\n"), now.split("\n")))


def _value(value: object) -> str:
    return "none" if value is None else files.shown(str(value))


def _from_sources(workspace: Workspace, loaded: Loaded, seal: str) -> SealedVersion | None:
    """Return what was sealed where capturing anew gives it."""
    try:
        return version_with_seal(plan_capture(workspace, loaded, CaptureRequest(), anew=True).text.encode(), seal)
    except TaskstateError:
        return None


def _citations(workspace: Workspace, loaded: Loaded, context: Context) -> Iterator[ContextFinding]:
    read: dict[str, Standard | None] = {}
    for citation in read_static(loaded.state).standards:
        file, section, sha = (str(citation.get(key)) for key in ("file", "section", "content_sha"))
        if "content_sha" not in citation:
            continue
        if file not in read:
            read[file] = _standard(workspace, file)
        standard = read[file]
        stands = citation_status(citation, standard)
        name = f"{files.shown(file)}#{files.shown(section)}"
        if stands.fault == "content" and standard:
            then = cited_lines(workspace, context.git_head, file, section, sha)
            now = standard.lines(section) or ()
            hashes = f"{sha} then, {citations.content_sha(now)} now"
            what = f"{name} says something else than when it was cited ({hashes})"
            yield ContextFinding("TS602", what, _rebuild(loaded.state.id), differences(then, now) if then else ())
        elif stands.fault:
            yield ContextFinding("TS602", *_gone(name, file, section, standard))


def _gone(name: str, file: str, section: str, standard: Standard | None) -> tuple[str, str]:
    if standard is None:
        return f"{name} is cited, and {files.shown(file)} is not there or cannot be read", "correct the citation"
    near = standard.nearest(section)
    return f"{name} is cited, and there is no such heading", f"did you mean {file}#{near}?" if near else "correct it"


def _standard(workspace: Workspace, file: str) -> Standard | None:
    try:
        data = files.read_part(files.inside(workspace.root, file), 0, citations.MOST_BYTES + 1)
        return Standard(data.decode("utf-8")) if len(data) <= citations.MOST_BYTES else None
    except (TaskstateError, UnicodeDecodeError):
        return None


def _task_file(workspace: Workspace, loaded: Loaded, context: Context) -> Iterator[ContextFinding]:
    name, sha = context.task_file, context.task_file_sha
    if name is None or sha is None:
        return
    try:
        data = files.read_part(files.inside(workspace.root, name), 0, task_file.MOST_BYTES + 1)
    except TaskstateError:
        what = f"the task file {files.shown(name)} is not there or cannot be read"
        yield ContextFinding(
            "TS604", what, f"name another one: `taskstate context rebuild {loaded.state.id} --from FILE`"
        )
        return
    if sha in task_file.blob_ids(data):
        return
    then = read_blob(workspace, sha)
    lines = then.decode("utf-8", "replace").splitlines() if then is not None else None
    diff = differences(lines, data.decode("utf-8", "replace").splitlines()) if lines is not None else ()
    yield ContextFinding("TS604", f"the task file {files.shown(name)} has changed", _rebuild(loaded.state.id), diff)


def _configuration(workspace: Workspace, loaded: Loaded) -> Iterator[ContextFinding]:
    """Yield what the configuration asks to be cited, and is not."""
    state = loaded.state
    settings = Sources(workspace).settings
    wanted = configured_citations(workspace.config, state.text("area") or "", state.text("priority") or "", settings)
    cited = {
        (normalized_path(str(each.get("file"))), str(each.get("section"))) for each in read_static(state).standards
    }
    missing = [
        f"{files.shown(file)}#{files.shown(section)}" for file, section in wanted if (file, section) not in cited
    ]
    if missing:
        what = f"{settings} asks this task to cite {first_of(missing, _NAMED)}"
        yield ContextFinding("", what, _rebuild(state.id))


def _head(workspace: Workspace, task_id: str, context: Context) -> Iterator[ContextFinding]:
    moved = moved_since(workspace, context.git_head)
    if moved:
        then = str(context.git_head)[:10]
        what = f"commits since {then} touch {first_of([files.shown(path) for path in moved], _NAMED)}"
        yield ContextFinding(
            "TS605", what, f"see whether the context still fits; {_rebuild(task_id)} takes note of the new HEAD"
        )


def unverifiable_notes(commit: str | None) -> tuple[str, ...]:
    """Return the remark that HEAD is not the commit at which a context was sealed, and that one is not here."""
    return (f"HEAD is not {str(commit)[:10]}, at which it was sealed: git cannot tell here what changed since then",)


def moved_since(workspace: Workspace, commit: str | None) -> tuple[str, ...] | None:
    """Return the paths, without our own, that differ between a commit and HEAD, or None where git cannot tell."""
    if commit is None:
        return ()
    try:
        touched = git_log.touched(workspace.root, commit)
    except GitFailed:
        return None
    return tuple(path for path in touched if not workspace.is_ours(path))


def differences(before: Sequence[str], after: Sequence[str]) -> tuple[str, ...]:
    """Return the lines that differ, with one around them, credentials masked; of many only the first."""
    lines = list(unified_diff(before, after, n=1, lineterm=""))[2:]
    lines = secrets.masked("\n".join(lines)).split("\n") if lines else []
    more = len(lines) - _SHOWN_LINES
    return (*lines[:_SHOWN_LINES], f"({more} more lines differ)") if more > 1 else tuple(lines)
