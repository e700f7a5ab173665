"""Migrates state files on disk: each in one write, together with its archive, through the journal."""

from __future__ import annotations

from taskstate.errors import TaskstateError
from taskstate.messages import decoded
from taskstate.migration.archive_file import migrated_archive
from taskstate.migration.state_file import migrated
from taskstate.model import names
from taskstate.model.older_sections import METADATA, NOTES, is_older
from taskstate.model.task_state import is_json_fence, read_state
from taskstate.model.write_metadata import set_front_matter, timestamp
from taskstate.storage import files, folders, journal
from taskstate.storage.replaced_texts import ReplacedText
from taskstate.syntax.conflict_markers import find_conflicts
from taskstate.syntax.document import parse
from taskstate.syntax.edits import apply
from taskstate.syntax.nodes import Node
from taskstate.typed import TYPE_CHECKING, NamedTuple
from taskstate.writing import damage
from taskstate.writing.change import Change
from taskstate.writing.writer import change_at

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from taskstate.workspace.workspace import Loaded, Workspace
    from taskstate.writing.change import Outcome, Request

_COMMAND = "migrate"


class _Archive(NamedTuple):
    """The operations that bring a task's archive along, before and after its state file; a note; what they replace."""

    before: journal.Plan = ()
    after: journal.Plan = ()
    notes: tuple[str, ...] = ()
    replaced: tuple[ReplacedText, ...] = ()


def migrate_state_file(workspace: Workspace, path: Path, request: Request) -> Outcome:
    """Bring a state file of an older form into the present one; any other is left as it is.

    Raises:
        TaskstateError: it cannot be read or written; code "file-name": it is about another task than its name says;
            code "conflict": it holds a merge conflict; code "unsafe": something of it would get lost.
    """

    def job(loaded: Loaded) -> Change:
        if not is_older(loaded.document):
            return Change(text=loaded.document.text)
        conflicts = find_conflicts(loaded.document.text)
        if conflicts:
            line = loaded.document.position(conflicts[0].span.start).line + 1
            message = f"{loaded.relative}, line {line}: a merge conflict is left here"
            raise TaskstateError(message, help="solve it, then run this again", code="conflict")
        _require_never_present(workspace, loaded)
        now = timestamp(request.metadata.now)
        text, remarks = migrated(loaded.document.text, loaded.relative, loaded.state.id, now)
        archive = _archive(workspace, path, text, now)
        if archive.before or archive.notes:
            name = workspace.archive_path(loaded.state.id)
            text = apply(text, set_front_matter(parse(text), "archive_path", name))
        replaced = (ReplacedText(loaded.relative, loaded.data, _COMMAND), *archive.replaced)
        notes = (*archive.notes, *remarks)
        return Change(text=text, before=archive.before, after=archive.after, notes=notes, replaced=replaced)

    return change_at(workspace, path, job, request)


def _require_never_present(workspace: Workspace, loaded: Loaded) -> None:
    """Refuse a file that had the present form before: it has lost its front matter, and that is not to be made up.

    Raises:
        TaskstateError: code "damaged".
    """
    if damage.had_front_matter(workspace, loaded.relative, loaded.state.id):
        message = f"{loaded.relative} is of no older form: it had a front matter before, and has lost it"
        help_ = "`taskstate doctor --fix` brings the last good text back"
        raise TaskstateError(message, help=help_, code="damaged")


def is_older_file(workspace: Workspace, path: Path) -> bool:
    """Return whether a file is a state file of an older form.

    Raises:
        TaskstateError: it cannot be read.
    """
    own = names.own_file(path.as_posix())
    if own is None or own.type != "state" or not own.id or not names.is_id(own.id):
        return False
    text = decoded(files.read(path), workspace.shown(path))
    return not text.lstrip("\ufeff").startswith("---") and is_older(parse(text))


def _archive(workspace: Workspace, path: Path, text: str, now: str) -> _Archive:
    """Return what brings the archive of a task along, if its text has a summary of archived sessions."""
    state = read_state(parse(text))
    if not state.summary:
        return _Archive()
    target = workspace.state_root / workspace.archive_path(state.id)
    relative = workspace.relative(target)
    if files.size(target) is not None:
        data = files.read(target)
        new = migrated_archive(decoded(data, relative), relative, now).encode()
        note = f"its archive is {relative}"
        if new == data:
            return _Archive(notes=(note,))
        operation = journal.Replace(relative, files.digest(data), new)
        return _Archive((operation,), notes=(note,), replaced=(ReplacedText(relative, data, _COMMAND),))
    source = next((each for each in _places(workspace, path, text) if _is_file(workspace, each)), None)
    if source is None:
        return _Archive()
    data, old = files.read(source), workspace.relative(source)
    new = migrated_archive(decoded(data, old), old, now).encode()
    deleted = (journal.Delete(old, files.digest(data)),)
    replaced = (ReplacedText(old, data, _COMMAND),)
    return _Archive((journal.Create(relative, new),), deleted, (f"its archive {old} is now {relative}",), replaced)


def _is_file(workspace: Workspace, path: Path) -> bool:
    """Return whether a path is a file within the repository that can be an archive."""
    try:
        inside = files.inside(workspace.root, workspace.relative(path))
    except TaskstateError:
        return False
    own = names.own_file(inside.as_posix())
    return own is not None and own.type == "archive" and folders.is_file(inside)


def _places(workspace: Workspace, path: Path, text: str) -> Iterator[Path]:
    """Yield where the archive of a task of an older form may be: as its metadata says, then beside its folder."""
    said = _said_path(text)
    if said:
        yield from (folder / said for folder in (workspace.root, path.parent))
    own = names.own_file(path.as_posix())
    name = f"task-{own.id if own else ''}-archive.md"
    yield from (path.parent / name, path.parent.parent / "archives" / name)


def _said_path(text: str) -> str:
    document = parse(text)
    notes = read_state(document).section(NOTES)
    parts = document.children(notes, 3) if notes else ()
    metadata = next((each for each in parts if each.title == METADATA), None)
    fences = document.blocks_in(metadata.body, "fence") if metadata else ()
    root = next((document.json(each) for each in fences if is_json_fence(each)), None)
    value = root.get("archive_path") if isinstance(root, Node) and root.kind == "mapping" else None
    return value.text if value and value.is_string() else ""
