"""Exports what one role needs to know of a task as canonical JSON: the same bytes on every machine.

Standards and inputs are referred to by file, span and hash instead of being copied. The configuration says which fields
a role does not get. The manifest lists the exports that were written.
"""

from __future__ import annotations

from taskstate.errors import TaskstateError
from taskstate.model import chain, roles
from taskstate.model.canonical_json import CANONICAL_VERSION, canonical_json, sha256
from taskstate.model.config import EXPORT_FIELDS, export_drop
from taskstate.model.loose_values import json_of, map_of
from taskstate.model.static_context import read_static, seal_broken
from taskstate.model.write_metadata import blocks_of
from taskstate.storage import files
from taskstate.typed import TYPE_CHECKING
from taskstate.workspace import artifacts

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from taskstate.model.config import Config
    from taskstate.model.delta_block import Delta
    from taskstate.model.task_state import TaskState
    from taskstate.model.tool_blocks import Baseline, Role, ToolBlocks
    from taskstate.workspace.workspace import Loaded, Workspace


NAME = "manifest.json"
MANIFEST_FORMAT = 1


def manifest(
    task_id: str, context: Mapping[str, object], exports: Mapping[str, str], parts: Mapping[str, str]
) -> dict[str, object]:
    """Return the manifest of a task: its `context` block, the source of each part, and each export with its hash."""
    entries = [
        {"path": artifacts.relative_path(task_id, name), "sha256": sha256(text)}
        for name, text in sorted(exports.items())
    ]
    return {"manifest": MANIFEST_FORMAT, "task_id": task_id, **context, "parts": dict(parts), "exports": entries}


def artifacts_of(
    workspace: Workspace, loaded: Loaded, context: Mapping[str, object], parts: Mapping[str, str]
) -> tuple[artifacts.Artifact, ...]:
    """Return a task's exports and its manifest as artifacts, to be written together with the state file.

    `parts` says which source each part of the static context was taken from.
    """
    task_id = loaded.state.id
    exports = export_texts(workspace, loaded)
    texts = {**dict(sorted(exports.items())), NAME: canonical_json(manifest(task_id, context, exports, parts))}
    return tuple(
        artifacts.Artifact(artifacts.relative_path(task_id, name), text.encode()) for name, text in texts.items()
    )


EXPORT_FORMAT = 1
_SIGNS = {"export", "serializer", "role", "task"}  # keys by which a file is known for an export
_BASELINE = ("status", "results", "log", "log_sha256")
_EVIDENCE = ("id", "type", "path", "lines", "sha256")
_SNAPSHOT = ("diff_stat", "diff_from_base", "diff_sha", "incremental_diff", "incremental_diff_sha", "tree")
_ROLE_QA = ("qa", "qa_log_path", "qa_log_sha256")
_CONTEXT = ("seal", "task_file", "task_file_sha")


def export_texts(workspace: Workspace, loaded: Loaded) -> dict[str, str]:
    """Return the export of a task for every configured role, by the name of its artifact."""
    config = workspace.config
    return {_name(role): export_text(config, loaded.state, role) for role in config.roles}


def export_path(task_id: str, role: str) -> str:
    """Return the path of an export among the artifacts, from the state folder."""
    return artifacts.relative_path(task_id, _name(role))


def _name(role: str) -> str:
    return f"context-{role}.json"


def export_text(config: Config, state: TaskState, role: str) -> str:
    """Return the export of a task for a role, as canonical JSON.

    Raises:
        TaskstateError: code "usage": there is no such role.
    """
    return canonical_json(export(config, state, role))


def save(workspace: Workspace, path: Path, text: str, *, force: bool = False) -> None:
    """Write an export to a file that the user named; another file is replaced only if it holds an export, or `force`.

    Raises:
        TaskstateError: code "path": it is one of taskstate's own; code "exists": another one is there.
    """
    artifacts.require_not_own(workspace, path)
    if not force and files.size(path) is not None and not _is_export(files.read(path)):
        message = f"{files.shown(path)} exists already, and is not an export"
        raise TaskstateError(message, help="add --force to replace it, or name another file", code="exists")
    artifacts.save_as(workspace, path, text)


def _is_export(data: bytes) -> bool:
    """Return whether a file holds an export, of any task and role."""
    return map_of(json_of(data)).keys() >= _SIGNS


def export(config: Config, state: TaskState, role: str) -> dict[str, object]:
    """Return the export of a task for a role as JSON values: the task's identity, and the fields that the role gets.

    Raises:
        TaskstateError: code "usage": there is no such role.
    """
    roles.require_role(role, config.roles)
    blocks = blocks_of(state.document)
    dropped = export_drop(config, role)
    broken = seal_broken(state, blocks)
    result = {
        "export": EXPORT_FORMAT,
        "serializer": CANONICAL_VERSION,
        "role": role,
        "task": {"id": state.id, "title": state.title, "priority": state.text("priority"), "area": state.text("area")},
        "sealed": blocks.context.seal is not None and not broken,
        **({"seal_broken": True} if broken else {}),
        "context": _present(blocks.context.values, _CONTEXT),
    }
    fields = _fields(config, state, blocks)
    return result | {name: fields[name] for name in EXPORT_FIELDS if name not in dropped}


def _fields(config: Config, state: TaskState, blocks: ToolBlocks) -> dict[str, object]:
    static, pipeline = read_static(state), roles.pipeline(blocks, config.roles)
    return {
        "description": static.description,
        "scope": {"in": list(static.scope_in), "out": list(static.scope_out)},
        "criteria": list(static.criteria),
        "standards": sorted(static.standards, key=lambda each: [str(each.get(key, "")) for key in ("file", "section")]),
        "commands": list(static.commands),
        "paths": sorted(static.paths),
        "baseline": _present(
            {**blocks.baseline._asdict(), "results": blocks.baseline.values.get("results")}, _BASELINE
        ),
        "inputs": _inputs(state),
        "evidence": sorted(
            (_present(each, _EVIDENCE) for each in blocks.evidence), key=lambda each: str(each.get("id", ""))
        ),
        "coordination": {role.name: _coordination(role) for role in pipeline},
        "qa": {role.name: values for role in pipeline if (values := _qa(role, blocks.baseline))},
        "delta": _delta(blocks.delta),
    }


def _inputs(state: TaskState) -> list[dict[str, object]]:
    """Return the chain inputs as references: upstream task, heading, revision and hash of its output."""
    pulled = {each.id.casefold(): each for each in chain.inputs_of(state.document)}
    entries = []
    for upstream in chain.named_inputs(state.document):
        entry: dict[str, object] = {"task": upstream.id, "heading": upstream.section.title}
        input_ = pulled.get(upstream.id.casefold())
        entries.append(entry | ({"revision": input_.revision, "sha256": input_.sha} if input_ else {}))
    return entries


def _qa(role: Role, baseline: Baseline) -> dict[str, object]:
    """Return the results of a role's checks, which may be those of the baseline, and their log."""
    results = role.values.get("qa") or (baseline.values.get("results") if role.qa else None)
    return _present({**role._asdict(), "qa": results}, _ROLE_QA)


def _coordination(role: Role) -> dict[str, object]:
    return {"status": role.values.get("status"), "findings": [each.values() for each in role.findings]}


def _delta(delta: Delta) -> dict[str, object]:
    """Return the base commit and, for each snapshot, its statistics and files: references, no diffs."""
    if not delta.values:
        return {}
    own = {name: each for name, each in delta.snapshots.items() if not name.startswith("x-")}
    snapshots = {name: _present(each._asdict(), _SNAPSHOT) for name, each in own.items()}
    return {"base_commit": delta.values.get("base_commit"), "snapshots": snapshots}


def _present(values: Mapping[str, object], keys: tuple[str, ...]) -> dict[str, object]:
    """Return the values of these keys, without those that are missing or None."""
    return {key: values[key] for key in keys if values.get(key) is not None}
