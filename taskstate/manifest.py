"""What a task's sealed context was made from and what was made of it, for machines: `manifest.json` of its artifacts.

Derived, like the exports beside it: another clone makes the same from the state file.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from taskstate.model.canonical_json import canonical_json, sha256
from taskstate.workspace import artifacts

if TYPE_CHECKING:
    from collections.abc import Mapping

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
    from taskstate.exports import export_texts

    task_id = loaded.state.id
    exports = export_texts(workspace, loaded)
    texts = {**dict(sorted(exports.items())), NAME: canonical_json(manifest(task_id, context, exports))}
    return tuple(artifacts.Artifact(artifacts.name_of(task_id, name), text.encode()) for name, text in texts.items())
