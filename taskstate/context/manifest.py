"""The manifest among a task's artifacts: where each part of its context came from, and the exports' hashes."""

from __future__ import annotations

import json

from taskstate.context.export import NAME, export_path
from taskstate.errors import TaskstateError
from taskstate.model.canonical_json import canonical_json, sha256
from taskstate.storage import files
from taskstate.typed import TYPE_CHECKING
from taskstate.workspace import artifacts

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from typing import Any

    from taskstate.workspace.workspace import Workspace


def sources_of_parts(workspace: Workspace, task_id: str) -> Mapping[str, str]:
    """Return which source each part of the sealed context was taken from; empty where the manifest is not here."""
    parts = _manifest(workspace, task_id).get("parts")
    return {str(part): str(source) for part, source in parts.items()} if isinstance(parts, dict) else {}


def changed_exports(workspace: Workspace, task_id: str) -> Iterator[str]:
    """Yield the paths of the exports that are not as they were written; one that is not here is none."""
    listed = _manifest(workspace, task_id).get("exports")
    for entry in listed if isinstance(listed, list) else ():
        path, sha256 = (entry.get("path"), entry.get("sha256")) if isinstance(entry, dict) else (None, None)
        if not isinstance(path, str):
            continue
        try:
            data = artifacts.read(workspace, path)
        except TaskstateError:
            yield path
            continue
        if data is not None and files.digest(data) != sha256:
            yield path


def refresh(workspace: Workspace, task_id: str, role: str, text: str) -> None:
    """Write the export for a role in its place among the artifacts, and its hash into the manifest.

    Raises:
        TaskstateError: the lock is taken, or a file cannot be written; then nothing is.
    """
    path = export_path(task_id, role)
    with workspace.locked():
        values = _manifest(workspace, task_id)
        listed = values.get("exports")
        entries = {str(each.get("path")): each for each in listed or () if isinstance(each, dict)}
        entries[path] = {"path": path, "sha256": sha256(text)}
        changed = [artifacts.Artifact(path, text.encode())]
        if values:  # else there is none here, and `context rebuild` writes it
            new = {**values, "exports": [entries[each] for each in sorted(entries)]}
            changed.append(artifacts.Artifact(artifacts.relative_path(task_id, NAME), canonical_json(new).encode()))
        artifacts.write_all(workspace, changed)


def _manifest(workspace: Workspace, task_id: str) -> Mapping[str, Any]:
    try:
        data = artifacts.read(workspace, artifacts.relative_path(task_id, NAME))
        values = json.loads(data) if data is not None else {}
    except (TaskstateError, ValueError, RecursionError):
        return {}
    return values if isinstance(values, dict) else {}
