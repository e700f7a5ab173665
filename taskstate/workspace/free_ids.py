"""Finds the id of a new task: the number behind the highest that was ever given, as far as this clone can see.

Seen are the files that are here, what any branch ever held, and what commands wrote in this and the other worktrees of
the repository, even if it is gone: the number of a lost task is not given again.
"""

from __future__ import annotations

from contextlib import contextmanager, suppress

from taskstate.errors import GitFailed
from taskstate.messages import first_of
from taskstate.model import names
from taskstate.storage import files, folders, kept_records, lock
from taskstate.storage.git import log as git_log
from taskstate.storage.private import FALLBACK, Private, make_folder
from taskstate.typed import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from taskstate.workspace.workspace import Workspace

_NAMED = 4  # ids in a note
_FOLDERS = ("tasks", "archives")
_FOLDER = "main/numbers"  # private, and the same for all worktrees


class FreeId(NamedTuple):
    """An id that no task has, and notes on how it was found."""

    id: str
    notes: tuple[str, ...] = ()


@contextmanager
def free_id(workspace: Workspace, given: str = "", *, dry_run: bool = False) -> Iterator[FreeId]:
    """Yield the id for a new task: the given one, or the next number, which no other command takes meanwhile."""
    shared = None if given or dry_run else _shared(workspace)
    if shared is None:
        yield FreeId(given) if given else next_number(workspace)
        return
    folder = shared / _FOLDER
    make_folder(folder)
    with lock.locked(folder / "lock"):
        yield next_number(workspace)


def next_number(workspace: Workspace) -> FreeId:
    """Return the number behind the highest one among the ids that were ever given, and what is taken."""
    taken = _given(workspace)
    numbers = {each for each in taken if each.isascii() and each.isdigit()}
    highest = max(map(int, numbers), default=0)
    others = first_of(sorted(taken - numbers, key=names.id_key), _NAMED)
    said = [f"{highest} is the highest number that was given"] if highest else []
    said += [f"other ids are {others}"] if others else []
    number = str(highest + 1)
    return FreeId(number, (f"number {number} is the next: {'; '.join(said)}",) if said else ())


def ids_here(workspace: Workspace) -> set[str]:
    """Return the ids that a file of the repository bears, in lower case, excluded files included."""
    found = [*(path.name for path in workspace.own_files()), *files.names(workspace.tasks)]
    return {task_id for name in found if (task_id := names.own_id(name))}


def _given(workspace: Workspace) -> set[str]:
    """Return all ids that were ever given, in lower case."""
    found = ids_here(workspace)
    records = kept_records.records(Private(_all_private(workspace), None))[0]
    found |= {task_id for record in records for task_id in record.ids}
    with suppress(GitFailed):  # without git, or where it fails, what is here is all that is seen
        below = [workspace.relative(workspace.state_root / each) for each in _FOLDERS]
        found |= {names.own_id(path) for path in git_log.paths_ever(workspace.root, below)}
    return found - {""}


def _all_private(workspace: Workspace) -> tuple[Path, ...]:
    """Return the private folders of all worktrees that the repository has or had, for the same folder in each."""
    private = workspace.private
    shared, own = _shared(workspace), private.write
    if own is None or shared is None or shared == own:
        return private.read
    below = own.name.partition(":")[1:]
    others = (shared / name for name in files.names(shared) if name.partition(":")[1:] == below)
    return tuple(dict.fromkeys((*private.read, *filter(folders.is_folder, others))))


def _shared(workspace: Workspace) -> Path | None:
    """Return the private folder that all worktrees of the repository share, None where nothing can be written."""
    own = workspace.private.write
    return own if own is None or own == workspace.state_root / FALLBACK else own.parent
