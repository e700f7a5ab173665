"""Gives a task another id: renames its files, and changes every reference in other files, in one write."""

from __future__ import annotations

import re

from taskstate.errors import TaskstateError
from taskstate.model import names
from taskstate.model.task_state import read_state
from taskstate.model.write_metadata import set_front_matter, with_event, with_write_metadata
from taskstate.storage import files, folders, journal, transaction
from taskstate.syntax.document import parse
from taskstate.syntax.edits import Edit, apply
from taskstate.syntax.json_edit import set_json
from taskstate.typed import TYPE_CHECKING, NamedTuple
from taskstate.writing import damage, keeping, preconditions, secret_check
from taskstate.writing.change import Outcome
from taskstate.writing.writer import require_uncommitted

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from taskstate.syntax.document import Document
    from taskstate.workspace.workspace import Loaded, Workspace
    from taskstate.writing.change import Request

_REFERRING = ("depends_on", "subtasks")  # keys with a list of ids; `parent` is a single one


class _Renaming(NamedTuple):
    """The old and the new id of a task."""

    old: str
    new: str

    def renamed_paths(self, text: str) -> str:
        """Return `text` with the names of the task's own files and folders changed."""
        pattern = rf"\btask-{re.escape(self.old)}(?=/|-(?:state|archive)\.md|-impact-map\.json)"
        return re.sub(pattern, f"task-{self.new}", text)

    def renamed_title(self, text: str) -> str:
        """Return a heading or a title line with the task's id changed."""
        return re.sub(rf"(?i)(?<=task #){re.escape(self.old)}(?![A-Za-z0-9]|[._-][A-Za-z0-9])", self.new, text, count=1)


def renumber(workspace: Workspace, path: Path, new: str, request: Request) -> Outcome:
    """Give the task whose state file is at `path` the id `new`.

    Raises:
        TaskstateError: the id is taken, or a file cannot be changed safely; nothing is changed then.
    """
    with workspace.locked() as recovery_notes:
        loaded = workspace.load(path)
        preconditions.require_writable(loaded, request.expect)
        damage.require_undamaged(workspace, loaded)
        preconditions.require_whole(loaded)
        own_name = names.own_file(path.name)
        renaming = _Renaming(old=(own_name and own_name.id) or loaded.state.id, new=new)
        _require_free(workspace, renaming, path)
        target = workspace.relative(path.with_name(f"task-{new}-state.md"))
        require_uncommitted(workspace, target)
        created = journal.Create(target, _own(loaded, renaming, request).encode())
        is_unique = not any(
            names.has_id(other.name, renaming.old) for other in workspace.state_files() if other != path
        )
        others = _others(workspace, path, renaming, request) if is_unique else ()
        plan = (created, *others, journal.Delete(loaded.relative, loaded.digest))
        secrets = secret_check.new_secrets_in_plan(workspace, plan)  # in the new id or the actor's name
        warnings = secret_check.require_allowed(workspace, secrets, request)
        if not request.dry_run:
            keeping.carry_out(workspace, plan, request.metadata.now)
            _drop_empty(workspace, renaming)
    notes = tuple(_description(operation) for operation in plan)
    if not is_unique:
        notes = (*notes, f"all that names task {renaming.old} stays with the other task of that id, its archive too")
    token = f"{loaded.state.revision + 1}-{files.digest(created.data)[:8]}"
    all_notes, text = (*recovery_notes, *notes), created.data.decode()
    diff = "\n".join(notes)
    return Outcome(
        target, token, changed=True, notes=all_notes, diff=diff, warnings=warnings, text=text, kinds=workspace.kinds
    )


def _others(workspace: Workspace, path: Path, renaming: _Renaming, request: Request) -> tuple[journal.Operation, ...]:
    """Return the changes beside the state file itself: created files first, removed ones last."""
    belongings = tuple(_belongings(workspace, renaming))
    created = (each for each in belongings if isinstance(each, journal.Create))
    removed = (each for each in belongings if not isinstance(each, journal.Create))
    return (*created, *_references(workspace, path, renaming, request), *removed)


def _description(operation: journal.Operation) -> str:
    verbs = {journal.Create: "created", journal.Replace: "changed", journal.Delete: "removed", journal.Move: "moved"}
    paths = " to ".join(map(files.shown, transaction.paths_of(operation)))
    return f"{verbs.get(type(operation), 'changed')} {paths}"


def _require_free(workspace: Workspace, renaming: _Renaming, path: Path) -> None:
    """Refuse an id that another task has, or the leftover files of one."""
    taken = [other for other in workspace.own_files() if other != path and names.has_id(other.name, renaming.new)]
    if renaming.old == renaming.new or taken:
        path_of_owner = workspace.relative(taken[0] if taken else path)
        raise TaskstateError(
            f"the id {renaming.new} is taken: {files.shown(path_of_owner)}", help="choose another one", code="exists"
        )


def _own(loaded: Loaded, renaming: _Renaming, request: Request) -> str:
    """Return the task's state file under its new id, with write metadata."""
    document = loaded.document
    edits = [*set_front_matter(document, "task_id", renaming.new)]
    title = next((section for section in document.sections if section.level == 1), None)
    if title:
        edits.append(_edit(document.text, *title.heading, renaming.renamed_title))
    if loaded.state.summary:
        edits.append(_edit(document.text, *loaded.state.summary.span, renaming.renamed_paths))
    text = apply(document.text, [edit for edit in edits if edit.new != document.text[edit.start : edit.end]])
    front_matter = document.with_text(text).front_matter.content
    text = apply(text, [_edit(text, *front_matter, renaming.renamed_paths)])
    event = request.metadata.event("renumbered", note=f"was {renaming.old}")
    text = _stamped(loaded, with_event(text, event), request)
    after = read_state(document.with_text(text))
    if after.id != renaming.new or len(after.problems) > len(loaded.state.problems):
        help_ = "run `taskstate lint` on it first"
        raise TaskstateError(f"{loaded.relative} cannot be changed safely", help=help_, code="unsafe")
    return text


def _edit(text: str, start: int, end: int, change: Callable[[str], str]) -> Edit:
    return Edit(start, end, change(text[start:end]))


def _stamped(loaded: Loaded, text: str, request: Request) -> str:
    return with_write_metadata(text, request.metadata, revision=loaded.state.revision + 1)


def _references(workspace: Workspace, own: Path, renaming: _Renaming, request: Request) -> Iterator[journal.Operation]:
    """Yield the changes of the other state files that refer to the task."""
    for path in workspace.counted("reading tasks", workspace.state_files()):
        if path == own:
            continue
        loaded = workspace.load(path)
        text = _with_references(loaded.document, renaming)
        if text != loaded.document.text:
            preconditions.require_writable(loaded, "")
            preconditions.require_whole(loaded)
            text = _stamped(loaded, text, request)
            preconditions.require_sound(loaded, read_state(loaded.document.with_text(text)))
            yield journal.Replace(loaded.relative, loaded.digest, text.encode())


def _with_references(document: Document, renaming: _Renaming) -> str:
    edits: list[Edit] = []
    root = document.front_matter.node
    for key in _REFERRING if root else ():
        value = root.get(key) if root else None
        ids = [item.text for item in value.items] if value and value.kind == "sequence" else []
        if renaming.old in ids:
            renamed = [renaming.new if each == renaming.old else each for each in ids]
            edits += set_front_matter(document, key, sorted((each for each in renamed if each), key=names.id_key))
    parent = root.get("parent") if root else None
    if parent and parent.text == renaming.old:
        edits += set_front_matter(document, "parent", renaming.new)
    text = apply(document.text, edits)
    text = _with_moved(text, renaming)
    return _with_inputs(text, renaming)


def _with_moved(text: str, renaming: _Renaming) -> str:
    """Return `text` with the `moved_to` of its features changed."""
    document = parse(text)
    checklist = read_state(document).checklist
    entries = checklist.root.get("features") if checklist else None
    edits: list[Edit] = []
    for node in entries.items if entries else ():
        target = node.get("moved_to")
        if target is not None and target.text == renaming.old:
            edits += set_json(text, node, ("moved_to",), renaming.new, newline=document.newline)
    return apply(text, edits)


def _with_inputs(text: str, renaming: _Renaming) -> str:
    """Return `text` with the headings and comments of its Chain Inputs changed."""
    document = parse(text)
    section = read_state(document).section("Chain Inputs")
    if section is None:
        return text
    edits = [_edit(text, *child.heading, renaming.renamed_title) for child in document.children(section, 3)]
    comment = re.compile(rf"(<!-- taskstate: input ){re.escape(renaming.old)}(?= )")
    edits += [Edit(match.end(1), match.end(), renaming.new) for match in comment.finditer(text, *section.body)]
    return apply(text, [edit for edit in edits if edit.new != text[edit.start : edit.end]])


def _belongings(workspace: Workspace, renaming: _Renaming) -> Iterator[journal.Operation]:
    """Yield the changes of the task's archive, impact map, handoffs and artifacts."""
    root, old, new = workspace.state_root, f"task-{renaming.old}", f"task-{renaming.new}"
    moved = [
        (root / "archives" / f"{old}-archive.md", root / "archives" / f"{new}-archive.md"),
        (root / "tasks" / f"{old}-impact-map.json", root / "tasks" / f"{new}-impact-map.json"),
    ]
    for folder in (root / "handoffs" / old, root / "handoffs" / old / "archive"):
        target = root / "handoffs" / new / ("archive" if folder.name == "archive" else "")
        moved += [
            (folder / name, target / name) for name in files.names(folder) if not folders.is_folder(folder / name)
        ]
    for source, target in moved:
        if files.size(source) is None:
            continue
        data = files.read(source)
        yield journal.Create(workspace.relative(target), _renamed(source.name, data, renaming))
        yield journal.Delete(workspace.relative(source), files.digest(data))
    if folders.is_folder(root / "artifacts" / old):
        yield journal.Move(workspace.relative(root / "artifacts" / old), workspace.relative(root / "artifacts" / new))


def _renamed(name: str, data: bytes, renaming: _Renaming) -> bytes:
    """Return the content of one of the task's files under the new id: an archive's title, a handoff's front matter."""
    text = data.decode("utf-8", "surrogateescape")
    own = names.own_file(name)
    if own and own.type == "archive":
        head, newline, rest = text.partition("\n")
        text = renaming.renamed_title(head) + newline + rest
    elif own and own.type == "handoff":
        document = parse(text)
        if document.front_matter.node:
            text = apply(text, set_front_matter(document, "task_id", renaming.new))
            content = parse(text).front_matter.content
            text = apply(text, [_edit(text, *content, renaming.renamed_paths)])
    return text.encode("utf-8", "surrogateescape")


def _drop_empty(workspace: Workspace, renaming: _Renaming) -> None:
    """Remove the empty folders of the old id: git does not track them, and the doctor reports orphans."""
    folder = workspace.state_root / "handoffs" / f"task-{renaming.old}"
    for each in (folder / "archive", folder):
        if folders.is_folder(each) and not files.names(each):
            folders.remove_empty(each)
