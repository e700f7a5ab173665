"""What one role needs to know of a task, and no more, as canonical JSON: the same bytes on every machine.

Standards and inputs are named by file, span and hash instead of being copied. The manifest lists the exports that were
written. Which fields a role goes without is configuration.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from taskstate.errors import TaskstateError
from taskstate.model import chain, roles
from taskstate.model.canonical_json import CANONICAL_VERSION, canonical_json, sha256
from taskstate.model.config import EXPORT_FIELDS, export_drop
from taskstate.model.static_context import read_static, seal_broken
from taskstate.model.write_metadata import front_matter_values
from taskstate.storage import files
from taskstate.workspace import artifacts

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from taskstate.model.config import Config
    from taskstate.model.task_state import TaskState
    from taskstate.workspace.workspace import Loaded, Workspace


NAME = "manifest.json"
MANIFEST_FORMAT = 1


def manifest(task_id: str, context: Mapping[str, Any], exports: Mapping[str, str]) -> dict[str, Any]:
    """Return the manifest of a task: its context in full, and each export with the hash of its text."""
    listed = [
        {"path": artifacts.name_of(task_id, name), "sha256": sha256(text)} for name, text in sorted(exports.items())
    ]
    return {"manifest": MANIFEST_FORMAT, "task_id": task_id, **context, "exports": listed}


def artifacts_of(workspace: Workspace, loaded: Loaded, context: Mapping[str, Any]) -> tuple[artifacts.Artifact, ...]:
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


def export(config: Config, state: TaskState, role: str) -> dict[str, Any]:
    """Return the export of a task for a role: what identifies the task, and each field that the role gets.

    Raises:
        TaskstateError: code "usage": there is no such role.
    """
    roles.require_role(role, config.roles)
    values = front_matter_values(state.document)
    dropped = export_drop(config, role)
    context = _map(values.get("context"))
    broken = seal_broken(state, values)
    shape = {
        "export": EXPORT_FORMAT,
        "serializer": CANONICAL_VERSION,
        "role": role,
        "task": {"id": state.id, "title": state.title, "priority": state.text("priority"), "area": state.text("area")},
        "sealed": isinstance(context.get("seal"), str) and not broken,
        **({"seal_broken": True} if broken else {}),
        "context": _only(context, _CONTEXT),
    }
    told = _fields(config, state, values)
    return shape | {name: told[name] for name in EXPORT_FIELDS if name not in dropped}


def _fields(config: Config, state: TaskState, values: Mapping[str, Any]) -> dict[str, Any]:
    static = read_static(state)
    return {
        "description": static.description,
        "scope": {"in": list(static.scope_in), "out": list(static.scope_out)},
        "criteria": list(static.criteria),
        "standards": sorted(static.standards, key=_place_of),
        "commands": list(static.commands),
        "paths": sorted(static.paths),
        "baseline": _only(_map(values.get("baseline")), _BASELINE),
        "inputs": _inputs(state),
        "evidence": sorted((_only(each, _EVIDENCE) for each in _maps(values.get("evidence"))), key=_id_of),
        "coordination": _by_role(config, values, _coordination),
        "qa": _by_role(config, values, _qa),
        "delta": _delta(values),
    }


def _place_of(citation: Mapping[str, Any]) -> tuple[str, str]:
    return str(citation.get("file", "")), str(citation.get("section", ""))


def _id_of(excerpt: Mapping[str, Any]) -> str:
    return str(excerpt.get("id", ""))


def _inputs(state: TaskState) -> list[dict[str, Any]]:
    """Return the chain inputs by reference: the task, the heading they stand under, and the hash of the output."""
    pulled = {each.id.casefold(): each for each in chain.inputs_of(state.document)}
    told = []
    for named in chain.named_inputs(state.document):
        entry: dict[str, Any] = {"task": named.id, "heading": named.section.title}
        known = pulled.get(named.id.casefold())
        told.append(entry | ({"revision": known.revision, "sha256": known.sha} if known else {}))
    return told


def _by_role(
    config: Config, values: Mapping[str, Any], told: Callable[[Mapping[str, Any]], dict[str, Any]]
) -> dict[str, dict[str, Any]]:
    """Return what `told` says of each role that is configured or that the file mentions, where it says anything."""
    mentioned = [name for name in _map(values.get("coordination")) if not name.startswith("x-")]
    found = {name: told(roles.role_of(values, name)) for name in dict.fromkeys((*config.roles, *mentioned))}
    return {name: each for name, each in found.items() if each}


def _coordination(role: Mapping[str, Any]) -> dict[str, Any]:
    return {"status": role.get("status"), "blocking_findings": role.get("blocking_findings") or []}


def _qa(role: Mapping[str, Any]) -> dict[str, Any]:
    return _only(role, _ROLE_QA)


def _delta(values: Mapping[str, Any]) -> dict[str, Any]:
    """Return where the changes of each role are found: the base commit, and of each snapshot numbers and files."""
    delta = _map(values.get("delta"))
    if not delta:
        return {}
    snapshots = {
        name: _only(each, _SNAPSHOT)
        for name, each in _map(delta.get("snapshots")).items()
        if isinstance(each, dict) and not name.startswith("x-")
    }
    return {"base_commit": delta.get("base_commit"), "snapshots": snapshots}


def _only(values: Mapping[str, Any], keys: tuple[str, ...]) -> dict[str, Any]:
    """Return those of the keys that have a value."""
    return {key: values[key] for key in keys if values.get(key) is not None}


def _map(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}


def _maps(value: object) -> list[dict[str, Any]]:
    return [each for each in value if isinstance(each, dict)] if isinstance(value, list) else []
