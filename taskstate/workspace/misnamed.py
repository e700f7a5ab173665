"""Finds state files whose name and `task_id` name different tasks, and says what makes the two agree again.

Until they do, nobody knows whose the archive, the handoffs and the artifacts are: commands refuse to write such a file.
"""

from __future__ import annotations

from contextlib import suppress

from taskstate.errors import TaskstateError
from taskstate.messages import typed_path
from taskstate.model import names
from taskstate.storage import files, folders
from taskstate.typed import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from taskstate.workspace.workspace import Loaded, Workspace


class Misnamed(NamedTuple):
    """A state file, the id in its name, its `task_id`, and the way out."""

    path: str
    named: str
    told: str
    cure: str

    @property
    def message(self) -> str:
        """What is wrong."""
        return f"by its name it is task {files.shown(self.named)}, and by its task_id {files.shown(self.told)}"


class NearName(NamedTuple):
    """A file in the folder of state files that no command sees by its name, and what makes it one."""

    path: str
    message: str
    cure: str


def near_names(workspace: Workspace) -> Iterator[NearName]:
    """Yield the files among the state files that are one by what they say, or nearly by their names."""
    for name in workspace.other_texts():
        path = workspace.tasks / name
        told = None if workspace.excludes(path) else _told_id(workspace, path)
        task_id = told if told is None else told or names.near_id(name)
        if task_id:
            target = path.with_name(f"task-{task_id}-state.md")
            message = f"no command sees it: a state file is called {files.shown(target.name)}"
            yield NearName(workspace.relative(path), message, _renaming(workspace, path, target))


def _renaming(workspace: Workspace, path: Path, target: Path) -> str:
    if workspace.source.exists(target):
        return f"delete it if it is a copy of {files.shown(target.name)}; else name it like that, with an id of its own"
    return f"`mv -n {typed_path(workspace.relative(path))} {typed_path(workspace.relative(target))}`"


def _told_id(workspace: Workspace, path: Path) -> str | None:
    """Return the `task_id` in a file; empty where there is none, and None where no plain file is there."""
    from taskstate.syntax.document import parse

    try:
        if workspace.source.size(path) is None:
            return None
    except TaskstateError:
        return None
    with suppress(TaskstateError, UnicodeDecodeError):
        told = parse(workspace.source.read(path).decode()).front_matter.get("task_id")
        return told if isinstance(told, str) and names.is_id(told) else ""
    return ""


def misnamed_files(workspace: Workspace) -> Iterator[Misnamed]:
    """Yield the state files whose name and `task_id` differ; none that cannot be read."""
    for path in workspace.state_files():
        with suppress(TaskstateError):
            found = misnaming(workspace, workspace.load(path))
            if found:
                yield found


def misnaming(workspace: Workspace, loaded: Loaded) -> Misnamed | None:
    """Return in what the name and the `task_id` of a state file differ; None where they agree."""
    own, told = names.own_file(loaded.relative), loaded.state.text("task_id")
    if own is None or not own.id or not told or own.id.casefold() == told.casefold():
        return None
    return Misnamed(loaded.relative, own.id, told, _cure(workspace, loaded, own.id, told))


def _cure(workspace: Workspace, loaded: Loaded, named: str, told: str) -> str:
    """Return what to do: the title line says which of the two ids was changed."""
    write = f'write `task_id: "{named}"` in it'
    title = next((section.title for section in loaded.document.sections if section.level == 1), "")
    if f"#{named}:" in title or not names.is_id(told):
        return write
    path = workspace.root / loaded.relative
    target = path.with_name(f"task-{told}-state.md")
    if folders.exists(target):
        return f"delete it if it is a copy of {workspace.relative(target)}; else {write}, and change its title line"
    renamed = f"mv {typed_path(loaded.relative)} {typed_path(workspace.relative(target))}"
    return f"`{renamed}` names it as before; `taskstate doctor renumber {told} {named}` then changes the id everywhere"
