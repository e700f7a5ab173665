"""Checks whether a sealed context is still valid: its seal, citations, task file and configuration.

A state file keeps only hashes, so differences are shown where the older text is found in git or in a backup.
"""

from __future__ import annotations

from difflib import unified_diff

from taskstate.context import citations, task_file
from taskstate.context.capture_citations import configured_citations, normalized_path
from taskstate.context.capture_plan import CaptureRequest, plan_capture
from taskstate.context.citations import Standard, citation_status
from taskstate.context.manifest import changed_exports
from taskstate.context.past_versions import (
    cited_lines,
    find_sealed_version,
    guess_sealed_version,
    read_blob,
    version_with_seal,
)
from taskstate.context.readable_parts import broken_fences, require_sealed
from taskstate.context.sources import Sources, beginning
from taskstate.errors import GitFailed, TaskstateError
from taskstate.messages import counted, first_of
from taskstate.model.static_context import (
    SEALED_VALUES,
    STANDARDS,
    is_sealed,
    read_static,
    seal_broken,
    seal_of,
    static_text,
)
from taskstate.model.write_metadata import blocks_of
from taskstate.secrets.mask import masked
from taskstate.storage import files
from taskstate.storage.git import log as git_log
from taskstate.typed import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from taskstate.context.past_versions import SealedVersion
    from taskstate.context.readable_parts import BrokenFence
    from taskstate.model.tool_blocks import Context, ToolBlocks
    from taskstate.workspace.workspace import Loaded, Workspace

_SYNTAX, _SCHEMA = "TS005", "TS603"  # rules for JSON fences
_NAMED = 5  # files in a message
_SHORT = 10  # digits of a commit's id
_SHOWN_LINES = 24  # of a difference


class ContextFinding(NamedTuple):
    """Something that is no longer valid: the lint rule for it, if any, message, help, and a diff of the lines."""

    code: str
    message: str
    help: str
    diff: tuple[str, ...] = ()


class ContextCheck(NamedTuple):
    """The result of a check; `notes` name what could not be checked here."""

    id: str
    path: str
    revision: str
    seal: str
    findings: tuple[ContextFinding, ...]
    notes: tuple[str, ...] = ()


def check(workspace: Workspace, task_id: str) -> ContextCheck:
    """Check a task's sealed context against its sources, without changing anything.

    Raises:
        TaskstateError: there is no such task, it is not sealed, or its file cannot be read.
    """
    loaded = workspace.load(workspace.locate(task_id))
    require_sealed(loaded)
    blocks = blocks_of(loaded.document)
    context = blocks.context
    findings = (*source_findings(workspace, loaded), *_export_findings(workspace, loaded.state.id))
    notes = committed_notes(workspace, blocks.delta.base_commit)
    return ContextCheck(loaded.state.id, loaded.relative, loaded.token, str(context.seal), findings, notes)


def source_findings(workspace: Workspace, loaded: Loaded) -> tuple[ContextFinding, ...]:
    """Return what is no longer as it was captured, and what the configuration has the task cite by now."""
    broken_parts = {each.part for each in broken_fences(loaded.state)}
    asked = () if STANDARDS in broken_parts else _configuration_findings(workspace, loaded)
    return (*stale_findings(workspace, loaded), *asked)


def stale_findings(workspace: Workspace, loaded: Loaded) -> tuple[ContextFinding, ...]:
    """Return what is no longer as it was when the context was captured: the seal, citations, the task file.

    A task that is not sealed has no seal that could break.
    """
    blocks = blocks_of(loaded.document)
    broken = tuple(broken_fences(loaded.state))
    has_citations = STANDARDS not in {each.part for each in broken}
    return (
        *(_fence_finding(loaded, each) for each in broken),
        *(_seal_findings(workspace, loaded, blocks) if is_sealed(loaded.document.front_matter.node) else ()),
        *(_citation_findings(workspace, loaded, blocks) if has_citations else ()),
        *_task_file_findings(workspace, loaded, blocks.context),
    )


def _fence_finding(loaded: Loaded, broken: BrokenFence) -> ContextFinding:
    line = loaded.document.position(broken.span.start).line + 1
    help_ = f"restore it, for example with git, or make it again with {_rebuild(loaded.state.id)}"
    return ContextFinding(_SCHEMA if broken.is_json else _SYNTAX, f"line {line}: {broken.message}", help_)


def _rebuild(task_id: str) -> str:
    return f'`taskstate context rebuild {task_id} --note "WHY"`'  # without a note it is refused if a criterion changed


def _seal_findings(workspace: Workspace, loaded: Loaded, blocks: ToolBlocks) -> Iterator[ContextFinding]:
    values, seal = blocks.values, str(blocks.context.seal)
    now = static_text(loaded.document, loaded.state)
    if now is None or seal_of(values, now) == seal:
        return
    help_ = f"undo the change, for example with git, or seal what is right with {_rebuild(loaded.state.id)}"
    sealed = (
        guess_sealed_version(loaded.state, values, now, seal)
        or find_sealed_version(workspace, loaded.relative, seal)
        or _rebuilt_version(workspace, loaded, seal)
    )
    if sealed is None:
        mismatch = f"section 1, or {' or '.join(SEALED_VALUES)}, does not match the seal"
        message = f"{mismatch}; what was sealed is in no version that can be found here"
        yield ContextFinding("TS601", message, help_)
        return
    changes = ["section 1 is"] if sealed.text != now else []
    for key in SEALED_VALUES:
        old, new = sealed.values.get(key), values.get(key)
        changes += [f"{key} ({_value(old)} then, {_value(new)} now) is"] if old != new else []
    message = " not as it was sealed, and ".join(changes) + " not as it was sealed"
    yield ContextFinding("TS601", message, help_, differences(sealed.text.split("\n"), now.split("\n")))


def _value(value: object) -> str:
    return "none" if value is None else files.shown(str(value))


def _rebuilt_version(workspace: Workspace, loaded: Loaded, seal: str) -> SealedVersion | None:
    """Return the sealed version if a rebuild from the present sources reproduces it."""
    try:
        rebuilt = plan_capture(workspace, loaded, CaptureRequest(), rebuild=True)
        return version_with_seal(loaded.document.with_text(rebuilt.text), seal)
    except TaskstateError:
        return None


def _citation_findings(workspace: Workspace, loaded: Loaded, blocks: ToolBlocks) -> Iterator[ContextFinding]:
    for citation, standard, fault in _citation_faults(workspace, loaded):
        file, section, sha = (str(citation.get(key)) for key in ("file", "section", "content_sha"))
        name = _citation_name(citation)
        if fault == "content" and standard:
            cited = cited_lines(workspace, blocks.delta.base_commit, file, section, sha)
            current = standard.lines(section) or ()
            hashes = f"{sha} then, {citations.content_sha(current)} now"
            message = f"{name} has changed since it was cited ({hashes})"
            diff = differences(cited, current) if cited else ()
            yield ContextFinding("TS602", message, _rebuild(loaded.state.id), diff)
        else:
            yield ContextFinding("TS602", *_missing_section(name, file, section, standard))


def _citation_faults(
    workspace: Workspace, loaded: Loaded
) -> Iterator[tuple[Mapping[str, object], Standard | None, str]]:
    """Yield each citation that no longer holds, with its standard and the fault."""
    standards: dict[str, Standard | None] = {}
    for citation in read_static(loaded.state).standards:
        if "content_sha" not in citation:
            continue
        file = str(citation.get("file"))
        if file not in standards:
            standards[file] = _standard(workspace, file)
        fault = citation_status(citation, standards[file]).fault
        if fault:
            yield citation, standards[file], fault


def _citation_name(citation: Mapping[str, object]) -> str:
    return f"{files.shown(str(citation.get('file')))}#{files.shown(str(citation.get('section')))}"


def _missing_section(name: str, file: str, section: str, standard: Standard | None) -> tuple[str, str]:
    if standard is None:
        return f"{name} is cited, and {files.shown(file)} is not there or cannot be read", "correct the citation"
    nearest = standard.nearest(section)
    help_ = f"did you mean {file}#{nearest}?" if nearest else "correct it"
    return f"{name} is cited, and there is no such heading", help_


def _standard(workspace: Workspace, file: str) -> Standard | None:
    try:
        data = beginning(workspace, file, citations.MOST_BYTES + 1)
        return Standard(data.decode("utf-8")) if len(data) <= citations.MOST_BYTES else None
    except (TaskstateError, UnicodeDecodeError):
        return None


def stale_parts(workspace: Workspace, loaded: Loaded) -> tuple[str, ...]:
    """Return the names of what a task's context was taken from and that says something else now, without asking git.

    That is section 1 where it was edited after the sealing, each cited section, and the task file.
    """
    blocks = blocks_of(loaded.document)
    return (
        *(["section 1"] if seal_broken(loaded.state, blocks) else []),
        *(_citation_name(citation) for citation, _, _ in _citation_faults(workspace, loaded)),
        *([str(blocks.context.task_file)] if _task_file_changed(workspace, blocks.context) else []),
    )


def _task_file_changed(workspace: Workspace, context: Context) -> bool:
    name, sha = context.task_file, context.task_file_sha
    if name is None or sha is None:
        return False
    try:
        data = beginning(workspace, name, task_file.MOST_BYTES + 1)
    except TaskstateError:
        return True
    return sha not in task_file.blob_ids(data)


def _task_file_findings(workspace: Workspace, loaded: Loaded, context: Context) -> Iterator[ContextFinding]:
    name, sha = context.task_file, context.task_file_sha
    if name is None or sha is None:
        return
    try:
        data = beginning(workspace, name, task_file.MOST_BYTES + 1)
    except TaskstateError:
        message = f"the task file {files.shown(name)} is not there or cannot be read"
        help_ = f"name another one: `taskstate context rebuild {loaded.state.id} --from FILE`"
        yield ContextFinding("TS604", message, help_)
        return
    if sha in task_file.blob_ids(data):
        return
    recorded = read_blob(workspace, sha)
    lines = recorded.decode("utf-8", "replace").splitlines() if recorded is not None else None
    diff = differences(lines, data.decode("utf-8", "replace").splitlines()) if lines is not None else ()
    yield ContextFinding("TS604", f"the task file {files.shown(name)} has changed", _rebuild(loaded.state.id), diff)


def _configuration_findings(workspace: Workspace, loaded: Loaded) -> Iterator[ContextFinding]:
    """Yield a finding on the sections that the configuration requires and the task does not cite."""
    state, config_name = loaded.state, Sources(workspace).config_name
    area, priority = state.text("area") or "", state.text("priority") or ""
    required = configured_citations(workspace.config, area, priority, config_name)
    standards = read_static(state).standards
    cited = {(normalized_path(str(each.get("file"))), str(each.get("section"))) for each in standards}
    missing = ["#".join(map(files.shown, key)) for key in required if key not in cited]
    if missing:
        message = f"{config_name} asks this task to cite {first_of(missing, _NAMED)}"
        yield ContextFinding("", message, _rebuild(state.id))


def _export_findings(workspace: Workspace, task_id: str) -> Iterator[ContextFinding]:
    for path in changed_exports(workspace, task_id):
        message = f"the export {files.shown(path)} was changed after it was written"
        yield ContextFinding("", message, f"{_rebuild(task_id)} writes it again")


def committed_notes(workspace: Workspace, base: str | None) -> tuple[str, ...]:
    """Return a remark where commits since the base commit changed files other than our own, or git cannot tell."""
    if base is None:
        return ()
    try:
        touched = git_log.changed_paths(workspace.root, base)
    except GitFailed:
        return (f"the base commit {base[:_SHORT]} is not here: git cannot tell what was committed since then",)
    paths = [files.shown(path) for path in touched if not workspace.is_ours(path)]
    count = counted(len(paths), "file")
    return (f"{count} committed since the base {base[:_SHORT]}: {first_of(paths, _NAMED)}",) if paths else ()


def differences(before: Sequence[str], after: Sequence[str]) -> tuple[str, ...]:
    """Return a diff with one line of context, credentials masked, cut after `_SHOWN_LINES` lines."""
    lines = list(unified_diff(before, after, n=1, lineterm=""))[2:]
    lines = masked("\n".join(lines)).split("\n") if lines else []
    more = len(lines) - _SHOWN_LINES
    return (*lines[:_SHOWN_LINES], f"({more} more lines differ)") if more > 1 else tuple(lines)
