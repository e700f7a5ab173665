"""Creates the state file of a task from a context.json; the file itself stays where it is, with what lies beside it."""

from __future__ import annotations

from taskstate.errors import TaskstateError
from taskstate.formatting.formatter import format_text
from taskstate.migration.context_cache import FILE, read_context, require_values, task_of, with_context
from taskstate.qa.log_parser import text_chunks
from taskstate.qa.record import log_artifact
from taskstate.storage import files, folders
from taskstate.tasks.create import render, require_free
from taskstate.typed import TYPE_CHECKING
from taskstate.workspace import artifacts
from taskstate.writing.secret_check import check_text
from taskstate.writing.writer import create_file

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from taskstate.workspace.workspace import Workspace
    from taskstate.writing.change import Outcome, Request

_FOLDER = ".agent-output"


def contexts_in(path: Path) -> Iterator[Path]:
    """Yield the context.json files at a path: itself, that of a task's folder, or those in a folder of such folders."""
    if folders.is_file(path):
        yield from [path] if path.name == FILE and task_of(path.parent.name) else []
        return
    for folder in (path, *files.children(path), *files.children(path / _FOLDER)):
        if task_of(folder.name) and folders.is_file(folder / FILE):
            yield folder / FILE


def import_context(workspace: Workspace, path: Path, request: Request) -> Outcome | None:
    """Create the state file of a task from its context.json; None where the task has one already.

    Raises:
        TaskstateError: code "invalid-input" or "file-name": the file is none, or is another task's; code "unsafe": a
            value would get lost; or it cannot be read.
    """
    task_id, source = task_of(path.parent.name), workspace.relative(path)
    try:
        require_free(workspace, task_id)
    except TaskstateError as error:
        if error.code == "exists":
            return None
        raise
    data = files.read(files.inside(workspace.root, source))
    context = read_context(data, source, task_id)
    logs, notes = list[artifacts.Artifact](), list[str]()
    for role, said in context.logs.items():
        log = _log_at(workspace, said) or _log_at(workspace, f"{source.removesuffix(FILE)}{said}")
        if log:
            notes += check_text(workspace, text_chunks(log), request, name=said).warnings
            logs.append(log_artifact(task_id, role, log))
            context.roles[role] |= {"qa_log_path": logs[-1].path, "qa_log_sha256": files.digest(log)}
            notes.append(f"the log {said} is kept as {logs[-1].path}")
    relative = workspace.relative(workspace.tasks / f"task-{task_id}-state.md")
    text = format_text(
        with_context(render(workspace, context.task, request), context, source), relative, workspace.kinds
    )
    require_values(source, data, text)
    artifacts.write_all(workspace, () if request.dry_run else logs)
    outcome = create_file(workspace, relative, text, request)
    notes += [f"under Notes now: Rest of {source} ({', '.join(context.rest)})"] if context.rest else []
    return outcome._replace(notes=(*outcome.notes, *notes))


def _log_at(workspace: Workspace, relative: str) -> bytes | None:
    """Return the log at a path, or None where nothing is that can be read within the repository."""
    try:
        return files.read(files.inside(workspace.root, relative), files.MAX_BYTES)
    except TaskstateError:
        return None
