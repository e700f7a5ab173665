"""What the tests of imports share: an empty repository, the samples with their expectations, and what came of one."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from taskstate.setup import repository
from taskstate.views.overview import task_shape
from taskstate.workspace.workspace import find_workspace
from tests.support.place import Place

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from taskstate.workspace.workspace import Workspace

CASES = Path(__file__).parents[1] / "cases" / "import"


class Empty(Place):
    """A repository that is set up and has no task."""

    def __init__(self, root: Path) -> None:
        self.root = root
        root.mkdir(exist_ok=True)
        repository.set_up(find_workspace(root, root=str(root)), pre_commit=False)


def samples() -> Iterator[tuple[str, str, dict[str, Any]]]:
    """Yield system, name and expectation of each sample in `tests/cases/import`."""
    for path in sorted(CASES.glob("*/expected.json")):
        for name, sample in json.loads(path.read_text(encoding="utf-8")).items():
            yield path.parent.name, name, sample


def hashes(folder: Path) -> Mapping[str, str]:
    """Return the SHA-256 of each file in a folder."""
    files = (each for each in sorted(folder.rglob("*")) if each.is_file() and not each.is_symlink())
    return {each.relative_to(folder).as_posix(): hashlib.sha256(each.read_bytes()).hexdigest() for each in files}


def shape_of(workspace: Workspace, task_id: str) -> dict[str, Any]:
    """Return a task as the expectations write it."""
    loaded = workspace.load(workspace.locate(task_id))
    shown, state = task_shape(loaded), loaded.state
    features = state.checklist.features if state.checklist else ()
    events = loaded.document.front_matter["audit"].get("events") or [{}]
    keys = ("title", "status", "priority", "parent", "epic", "created_at", "depends_on", "subtasks")
    return {
        **{key: shown[key] for key in keys},
        "criteria": [len(shown["criteria"]), sum(each["checked"] for each in shown["criteria"])],
        "criteria_texts": [each["text"] for each in shown["criteria"]],
        "features": [shown["features"]["all"], shown["features"]["passing"]],
        "feature_ids": [each.id for each in features],
        "feature_texts": [each.description for each in features],
        "feature_tested": {each.id: each.tested_at for each in features},
        "sessions": shown["sessions"]["total"],
        "session_times": [each.time for each in state.sessions],
        "completed_at": events[-1].get("at"),
    }


def text_of(workspace: Workspace, task_id: str) -> str:
    """Return all that stands in the files of a task, in one line."""
    attached = workspace.state_root / "imports" / f"{task_id}.md"
    texts = [workspace.locate(task_id).read_text(encoding="utf-8")]
    texts += [attached.read_text(encoding="utf-8")] if attached.is_file() else []
    return " ".join(" ".join(texts).split())
