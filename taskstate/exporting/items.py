"""Reads what is exported of a task: its values, the texts of its files, and what a format may have no place for."""

from __future__ import annotations

from collections import defaultdict

from taskstate.errors import TaskstateError
from taskstate.messages import decoded
from taskstate.model import names
from taskstate.model.derived_values import session_counts
from taskstate.model.task_state import section_of
from taskstate.model.write_metadata import blocks_of
from taskstate.storage import files
from taskstate.syntax import escaping, invisible
from taskstate.syntax.spans import hidden_in, with_newlines
from taskstate.typed import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from typing import Any

    from taskstate.model.task_state import TaskState
    from taskstate.workspace.workspace import Loaded, Workspace

MARK = "taskstate:"  # before the id: by it an exported task is found again, wherever it went
IMPORTS = "imports"  # the folder in the state folder for what an import could not put into a state file
_TEXTS = ("title", "status", "priority", "area", "epic", "parent", "created_at")
_OF_FEATURE = ("id", "description", "passes", "tested_at", "evidence", "moved_to")
_PARTS = ("scope", "repository paths", "standards", "validation")
_PLACEHOLDER = "*To be completed.*"


class Item(NamedTuple):
    """A task that is exported: its kind, its values, the texts of its files by path from the state folder.

    `counts` has, by name, how many things of a kind it holds that some formats have no place for.
    """

    id: str
    kind: str
    values: Mapping[str, Any]
    files: Mapping[str, str]
    counts: Mapping[str, int]

    @property
    def mark(self) -> str:
        """The mark by which it is found again."""
        return f"{MARK}{self.id}"


def item_of(workspace: Workspace, loaded: Loaded, paths: Iterable[str]) -> Item:
    """Return a task as it is exported; `paths` are those of its files from the root, as `paths_by_task` has them."""
    state, texts = loaded.state, files_of(workspace, loaded.state.id, paths)
    values = values_of(state)
    return Item(state.id, state.kind, values, texts, _counts(state, values, texts))


def paths_by_task(workspace: Workspace) -> Mapping[str, list[str]]:
    """Return the paths of all files that git keeps of tasks, by the case-folded id."""
    found: defaultdict[str, list[str]] = defaultdict(list)
    for path in workspace.own_files():
        relative = workspace.relative(path)
        found[names.own_id(relative)].append(relative)
    return found


def files_of(workspace: Workspace, task_id: str, paths: Iterable[str]) -> dict[str, str]:
    """Return the texts of a task's files by path from the state folder; a state file elsewhere as if it lay there.

    Raises:
        TaskstateError: one cannot be read, or is not UTF-8.
    """
    start = f"{workspace.config.root}/"
    attached = f"{start}{IMPORTS}/{task_id}.md"
    if files.size(workspace.root / attached) is not None:
        paths = (*paths, attached)
    texts = {each: decoded(workspace.read(workspace.root / each), each) for each in paths}
    return {
        path.removeprefix(start) if path.startswith(start) else f"tasks/{path.rpartition('/')[2]}": text
        for path, text in sorted(texts.items())
    }


# Values


def values_of(state: TaskState) -> dict[str, Any]:
    """Return what a task says in words of ours; texts as a person reads them, and nothing that is derived."""
    features = state.checklist.features if state.checklist else ()
    return {
        "id": state.id,
        **{key: state.text(key) or "" for key in _TEXTS},
        "subtasks": [*state.subtasks],
        "depends_on": [*state.depends_on],
        "description": _plain(state.description),
        "criteria": [{"text": each.text, "checked": each.checked} for each in state.criteria],
        "features": [{key: getattr(each, key) for key in _OF_FEATURE} for each in features],
        "sessions": [{"number": each.number, "time": each.time, **each.texts()} for each in state.sessions],
        "summary": _part(state, "Chain Output", "Summary"),
        "notes": _part(state, "Notes", ""),
    }


def _plain(text: str | None) -> str:
    """Return a text without the form that stands for one which nobody has written yet."""
    text = with_newlines(text or "", "\n").strip()
    return "" if escaping.is_blank(text) or text == _PLACEHOLDER else text


def _part(state: TaskState, section: str, name: str) -> str:
    found = state.subsection(section, name) if name else section_of(state.document, section)
    return _plain(found.body.of(state.document.text)) if found else ""


def _counts(state: TaskState, values: Mapping[str, Any], texts: Mapping[str, str]) -> dict[str, int]:
    """Return how many things of each kind a task holds, without those of which it holds none."""
    blocks = blocks_of(state.document)
    types = [names.own_type(path) for path in texts]
    counts = {
        "criteria": len(values["criteria"]),
        "features": len(values["features"]),
        "proofs": sum(bool(each["evidence"]) for each in values["features"]) + len(blocks.evidence),
        "sessions": len(values["sessions"]),
        "archived sessions": session_counts(state).archived,
        "areas": int(bool(values["area"])),
        "scopes, standards and commands": sum(bool(_part(state, "Static Context", name)) for name in _PARTS),
        "notes": int(bool(values["notes"])),
        "summaries": int(bool(values["summary"])),
        "roles": len(blocks.roles),
        "seals": int(bool(blocks.context.seal)),
        "snapshots": len(blocks.delta.snapshots),
        "events": len(blocks.audit.events),
        "handoffs": types.count("handoff"),
        "progress files and Impact Maps": types.count("progress") + types.count("impact-map"),
    }
    return {name: number for name, number in counts.items() if number}


# Hidden text


def require_visible(item: Item) -> None:
    """Refuse a task in which something stands that no person sees, in its files or as an escape in a value.

    Raises:
        TaskstateError: code "invisible-text".
    """
    for place, text in (*item.files.items(), *((f"task {item.id}", each) for each in texts_in(item.values))):
        found = hidden_in(text)
        if found:
            message = f"{place}, line {text.count(chr(10), 0, found.start) + 1}: it has invisible text"
            help_ = f"remove it, then export again: {invisible.shown(found.of(text))}"
            raise TaskstateError(message, help=help_, code="invisible-text")


def texts_in(value: object) -> Iterator[str]:
    """Yield every text within a value."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict | list | tuple):
        for each in value.values() if isinstance(value, dict) else value:
            yield from texts_in(each)
