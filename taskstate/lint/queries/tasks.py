"""Answers queries about tasks: archive and history, upstream tasks, dependency cycles, commits.

Each function takes the file that is checked. Those named `..._mark` return the mark of an answer; where the mark tells
the whole answer, there is no other function.
"""

from __future__ import annotations

import os
from contextlib import suppress

from taskstate.errors import GitFailed, TaskstateError
from taskstate.model import names
from taskstate.storage import files
from taskstate.syntax.spans import one_line
from taskstate.typed import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

    from taskstate.lint.queries.repository import File
    from taskstate.model.chain_quotes import Upstream
    from taskstate.syntax.document import Document
    from taskstate.workspace.workspace import Loaded

UNKNOWN = "?"  # the mark where git fails


def is_future_mark(file: File, moment: str) -> str:
    """Return "yes" if a timestamp is in the future, otherwise "no"."""
    return "yes" if moment > file.repository.now else "no"


def archive(file: File) -> tuple[Document, ...] | None:
    """Read the archive file of the task; None where it cannot be read (reported when it is linted itself)."""
    repository, path = file.repository, file.archive_path
    if path is None or not repository.source.exists(path):
        return ()
    document = repository.document(path)
    return (document,) if document else None


def archive_mark(file: File) -> str:
    """Return the mark of the archive file."""
    workspace = file.repository.workspace  # as text: among thousands of files, making paths costs more than looking
    path = f"{workspace.state_root}{os.sep}{workspace.archive_path(file.id)}"
    return file.repository.source.mark(path) if file.id else ""


def damage_mark(file: File) -> str:
    """Return the ways out for a damaged state file; empty where `--fix` would not be refused for that.

    Of an archive it is the way out where a formatter changed it.
    """
    from taskstate.writing.damage import advice, damage_of

    loaded = _state_file(file)
    if loaded is None and file.id and file.path == file.archive_path:
        from taskstate.recovery.archives import PUT_BACK, cures_of

        with suppress(TaskstateError):
            workspace = file.repository.workspace
            return PUT_BACK if cures_of(workspace, workspace.load(workspace.locate(file.id))).puts_back else ""
    found = damage_of(file.repository.workspace, loaded) if loaded else ""
    return advice(file.repository.workspace, loaded) if loaded and found else ""


def is_damaged(file: File, text: str) -> bool:
    """Return whether a state file would be damaged with another text."""
    from taskstate.writing.damage import damage_of

    loaded = _state_file(file)
    return loaded is not None and bool(damage_of(file.repository.workspace, loaded.with_text(text)))


def completion_gaps_mark(file: File) -> str:
    """Return what completing the task would ask for and is missing, a line for each: its key, a tab, its words."""
    from taskstate.tasks.completion_checks import lasting_gaps

    path, document = file.repository.checked or (None, None)
    loaded = _state_file(file)
    if loaded and document and path == file.path:
        loaded = loaded.with_text(document.text)
    try:
        found = lasting_gaps(file.repository.workspace, loaded) if loaded else ()
    except TaskstateError:  # a part of it cannot be read, which other rules report
        return ""
    return "\n".join(f"{one_line(each.key)}\t{one_line(each.words)}" for each in found)


def _state_file(file: File) -> Loaded | None:
    from taskstate.model.names import own_file

    own = own_file(file.path.name)
    try:
        return file.repository.workspace.load(file.path) if own and own.type == "state" else None
    except TaskstateError:  # its front matter may be what is to be fixed
        return None


def earlier_mark(file: File) -> str:
    """Return the mark of the file at the compared revision."""
    return _mark_at_revision(file, file.path)


def versions_before_mark(file: File) -> str:
    """Return the mark of the versions of the file before the compared revision."""
    history = file.repository.history
    return history.mark_before(file.path) if history else ""


def earlier_archive_mark(file: File) -> str:
    """Return the mark of the archive file at the compared revision."""
    return _mark_at_revision(file, file.archive_path)


def _mark_at_revision(file: File, path: Path | None) -> str:
    history = file.repository.history
    return history.mark(path) if history and path else ""


def changed_paths_mark(file: File) -> str:
    """Return a hash of the paths that differ from the compared revision."""
    history = file.repository.history
    return history.changed_digest if history else ""


def same_id_mark(file: File, task_id: str) -> str:
    """List the other state files of a task, one a line; a link to this file is not another one."""
    paths = file.repository.state_files(task_id)
    if paths == (file.path,):  # nearly always
        return ""
    real = file.repository.workspace.source.real
    others = (path for path in paths if real(str(path)) != real(str(file.path)))
    return "\n".join(files.shown(file.repository.workspace.relative(path)) for path in others)


def upstream(file: File, task_id: str) -> tuple[Upstream, ...] | None:
    """Read the state files of a task; None where it has some and none can be read."""
    paths = file.repository.state_files(task_id)
    upstreams = tuple(found for path in paths if (found := file.repository.upstream(path)))
    return upstreams if upstreams or not paths else None


def upstream_mark(file: File, task_id: str) -> str:
    """Return the marks of the state files of a task."""
    paths = file.repository.state_files(task_id)
    return " ".join(f"{path.name}:{file.repository.mark(path)}" for path in paths)


def removed_task_mark(file: File, task_id: str) -> str:
    """Return, on two lines, the revision and path of the state file of a task that is gone; "" if it is not."""
    history = file.repository.history
    for removed in history.removed if history else ():
        if names.own_type(removed.name) == "state" and names.own_id(removed.name) == task_id:
            return "\n".join(history.place(removed.path)) if history else ""
    return ""


def dependency_path_mark(file: File, task_id: str, own_id: str) -> str:
    """List the ids on a shortest path along `depends_on` from one task to another."""
    if file.repository.defers_cycles:
        file.repository.upstream(file.path)  # parsed as it is now, it need not be read again for a task that needs it
        return ""
    return " ".join(file.repository.dependencies.shortest_path(task_id, own_id))


def missing_commits_mark(file: File, *ids: str) -> str:
    """List those of these commits that the repository lacks."""
    kinds_of = file.repository.objects.kinds
    try:
        kinds = dict(zip(ids, kinds_of(ids), strict=True))
        tags = [each for each, kind in kinds.items() if kind == "tag"]
        kinds |= zip(tags, kinds_of([f"{each}^{{commit}}" for each in tags]), strict=True)
    except GitFailed:
        return UNKNOWN
    # One of the objects that share an abbreviation may be a commit.
    return " ".join(each for each in ids if kinds[each] not in {"commit", "ambiguous"})
