"""What one role needs to know of a task, and no more, as canonical JSON: the same bytes on every machine.

Standards and inputs are named by file, span and hash instead of being copied. The manifest lists the exports that were
written. Which fields a role goes without is configuration.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from taskstate.errors import TaskstateError
from taskstate.model import chain, roles
from taskstate.model.canonical_json import CANONICAL_VERSION, canonical_json, sha256
from taskstate.model.config import EXPORT_FIELDS, export_drop
from taskstate.model.static_context import read_static, seal_broken
from taskstate.model.write_metadata import blocks_of
from taskstate.storage import files
from taskstate.workspace import artifacts

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from taskstate.model.config import Config
    from taskstate.model.task_state import TaskState
    from taskstate.model.tool_blocks import Delta, Role, ToolBlocks
    from taskstate.workspace.workspace import Loaded, Workspace


NAME = "manifest.json"
MANIFEST_FORMAT = 1


def manifest(task_id: str, context: Mapping[str, object], exports: Mapping[str, str]) -> dict[str, object]:
    """Return the manifest of a task: its context in full, and each export with the hash of its text."""
    listed = [
        {"path": artifacts.name_of(task_id, name), "sha256": sha256(text)} for name, text in sorted(exports.items())
    ]
    return {"manifest": MANIFEST_FORMAT, "task_id": task_id, **context, "exports": listed}


def artifacts_of(workspace: Workspace, loaded: Loaded, context: Mapping[str, object]) -> tuple[artifacts.Artifact, ...]:
    """Return a task's exports and its manifest, to be written together with the state file."""
    task_id = loaded.state.id
    exports = export_texts(workspace, loaded)
    texts = {**dict(sorted(exports.items())), NAME: canonical_json(manifest(task_id, context, exports))}
    return tuple(artifacts.Artifact(artifacts.name_of(task_id, name), text.encode()) for name, text in texts.items())


EXPORT_FORMAT = 1
_BASELINE = ("status", "results", "log", "log_sha256")
_EVIDENCE = ("id", "type", "path", "lines", "sha256")
_SNAPSHOT = ("diff_stat", "diff_from_base", "diff_sha", "incremental_diff", "incremental_diff_sha", "tree")
_ROLE_QA = ("qa", "qa_log_path", "qa_log_sha256")
_CONTEXT = ("seal", "git_head", "task_file", "task_file_sha")


def export_texts(workspace: Workspace, loaded: Loaded) -> dict[str, str]:
    """Return the export of a task for every configured role, by the name of the artifact that holds it."""
    return {artifact_name(role): export_text(workspace.config, loaded.state, role) for role in workspace.config.roles}


def artifact_name(role: str) -> str:
    """Return the name of the artifact that holds a role's export."""
    return f"context-{role}.json"


def export_text(config: Config, state: TaskState, role: str) -> str:
    """Return the export of a task for a role, as canonical JSON.

    Raises:
        TaskstateError: code "usage": there is no such role.
    """
    return canonical_json(export(config, state, role))


def save(workspace: Workspace, path: Path, text: str) -> None:
    """Write an export to a file; those that are taskstate's own are no place for it, artifacts excepted.

    Raises:
        TaskstateError: code "path": it is such a file; it cannot be written.
    """
    relative = path.relative_to(workspace.root).as_posix() if path.is_relative_to(workspace.root) else ""
    place = f"{workspace.config.root}/{artifacts.FOLDER}/"
    if relative and workspace.is_ours(relative) and not relative.startswith(place):
        what = f"{files.shown(relative)} is one of taskstate's own files"
        raise TaskstateError(what, help=f"write the export elsewhere, or under {place}", code="path")
    files.replace(path, text.encode())


def export(config: Config, state: TaskState, role: str) -> dict[str, object]:
    """Return the export of a task for a role: what identifies the task, and each field that the role gets.

    Raises:
        TaskstateError: code "usage": there is no such role.
    """
    roles.require_role(role, config.roles)
    blocks = blocks_of(state.document)
    dropped = export_drop(config, role)
    broken = seal_broken(state, blocks)
    shape = {
        "export": EXPORT_FORMAT,
        "serializer": CANONICAL_VERSION,
        "role": role,
        "task": {"id": state.id, "title": state.title, "priority": state.text("priority"), "area": state.text("area")},
        "sealed": blocks.context.seal is not None and not broken,
        **({"seal_broken": True} if broken else {}),
        "context": _only(blocks.context.values, _CONTEXT),
    }
    told = _fields(config, state, blocks)
    return shape | {name: told[name] for name in EXPORT_FIELDS if name not in dropped}


def _fields(config: Config, state: TaskState, blocks: ToolBlocks) -> dict[str, object]:
    static, mentioned = read_static(state), roles.pipeline(blocks, config.roles)
    return {
        "description": static.description,
        "scope": {"in": list(static.scope_in), "out": list(static.scope_out)},
        "criteria": list(static.criteria),
        "standards": sorted(static.standards, key=_place_of),
        "commands": list(static.commands),
        "paths": sorted(static.paths),
        "baseline": _only(blocks.baseline.values, _BASELINE),
        "inputs": _inputs(state),
        "evidence": sorted((_only(each, _EVIDENCE) for each in blocks.evidence), key=_id_of),
        "coordination": {role.name: _coordination(role) for role in mentioned},
        "qa": {role.name: told for role in mentioned if (told := _only(role.values, _ROLE_QA))},
        "delta": _delta(blocks.delta),
    }


def _place_of(citation: Mapping[str, object]) -> tuple[str, str]:
    return str(citation.get("file", "")), str(citation.get("section", ""))


def _id_of(excerpt: Mapping[str, object]) -> str:
    return str(excerpt.get("id", ""))


def _inputs(state: TaskState) -> list[dict[str, object]]:
    """Return the chain inputs by reference: the task, the heading they stand under, and the hash of the output."""
    pulled = {each.id.casefold(): each for each in chain.inputs_of(state.document)}
    told = []
    for named in chain.named_inputs(state.document):
        entry: dict[str, object] = {"task": named.id, "heading": named.section.title}
        known = pulled.get(named.id.casefold())
        told.append(entry | ({"revision": known.revision, "sha256": known.sha} if known else {}))
    return told


def _coordination(role: Role) -> dict[str, object]:
    return {"status": role.values.get("status"), "blocking_findings": role.values.get("blocking_findings") or []}


def _delta(delta: Delta) -> dict[str, object]:
    """Return where the changes of each role are found: the base commit, and of each snapshot numbers and files."""
    if not delta.values:
        return {}
    taken = {name: each for name, each in delta.snapshots.items() if not name.startswith("x-")}
    snapshots = {name: _only(each.values, _SNAPSHOT) for name, each in taken.items()}
    return {"base_commit": delta.values.get("base_commit"), "snapshots": snapshots}


def _only(values: Mapping[str, object], keys: tuple[str, ...]) -> dict[str, object]:
    """Return those of the keys that have a value."""
    return {key: values[key] for key in keys if values.get(key) is not None}
