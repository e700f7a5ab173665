"""Reads the manifest among a task's artifacts: where each part of its context came from, and the exports' hashes."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from taskstate.context.export import NAME
from taskstate.errors import TaskstateError
from taskstate.storage import files
from taskstate.workspace import artifacts

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

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


def _manifest(workspace: Workspace, task_id: str) -> Mapping[str, Any]:
    try:
        data = artifacts.read(workspace, artifacts.relative_path(task_id, NAME))
        values = json.loads(data) if data is not None else {}
    except (TaskstateError, ValueError, RecursionError):
        return {}
    return values if isinstance(values, dict) else {}
