"""Exports: reads the tasks that are wanted, looks for what must not go out, tells what gets lost, and writes.

A file that is there is replaced only if it is one that was exported, and nobody has changed it since.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from importlib import import_module

from taskstate.errors import TaskstateError
from taskstate.exporting import items
from taskstate.messages import counted, first_of
from taskstate.model.document_kinds import PERMANENT
from taskstate.storage import files, folders
from taskstate.typed import TYPE_CHECKING, NamedTuple
from taskstate.workspace import artifacts
from taskstate.writing import secret_check

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path
    from types import ModuleType

    from taskstate.exporting.items import Item
    from taskstate.workspace.workspace import Workspace
    from taskstate.writing.change import Request


class Format(NamedTuple):
    """A format: its module (`render`, `is_ours`), and which of the counts of a task it has a place for.

    One that is `whole` holds everything; of one that `is_folder` each task is a file.
    """

    module: str
    holds: frozenset[str] = frozenset()
    whole: bool = False
    is_folder: bool = False


FORMATS: Mapping[str, Format] = {
    "backlog-md": Format(
        "backlog_md",
        frozenset({"criteria", "features", "sessions", "areas", "notes", "summaries"}),
        is_folder=True,
    ),
    "csv": Format("rows", frozenset({"areas"})),
    "json": Format("whole", whole=True),
}
_FOLDERS = ("tasks", "completed", "archive/tasks", "drafts")  # where a tool may have moved a file to
_SHOWN = 5


class Wanted(NamedTuple):
    """What is asked for: the format, the tasks (all, if none is named), where it goes, and how.

    `has_config` is found out by `run`: whether the folder is one that the other tool has set up.
    """

    format: str
    ids: tuple[str, ...] = ()
    status: str = ""
    output: Path | None = None
    raw: bool = False
    strict: bool = False
    has_config: bool = False


class Done(NamedTuple):
    """What was exported: the tasks, the text that has no file, the files that were written, and those that stay.

    `kept` are files that are not as they were written; `lost` has what the format has no place for, with numbers.
    """

    tasks: tuple[str, ...]
    text: str
    written: tuple[str, ...]
    kept: tuple[str, ...]
    lost: Mapping[str, int]
    warnings: tuple[str, ...]


class _Write(NamedTuple):
    path: Path
    data: bytes
    old: Path | None


def run(workspace: Workspace, wanted: Wanted, request: Request) -> Done:
    """Export what is wanted; on a dry run all is done but the writing.

    Raises:
        TaskstateError: something like a credential or hidden text would go out; code "exists": the file is no export,
            or was changed; code "unsafe": something would get lost, and that is not wanted.
    """
    form, output = FORMATS[wanted.format], wanted.output
    found, lost = _found(workspace, wanted, form)
    warnings = tuple(line for each in found for line in _checked(workspace, each, request))
    module, ids = import_module(f"taskstate.exporting.{form.module}"), tuple(each.id for each in found)
    if output is None:
        return Done(ids, module.render(found, wanted)[""], (), (), lost, warnings)
    artifacts.require_not_own(workspace, output)
    has_config = form.is_folder and _is_other(output / "config.yml", module)
    there = _there(output, module) if form.is_folder else {}
    plan, kept = _planned(output, module.render(found, wanted._replace(has_config=has_config)), module, there)
    if kept and not form.is_folder:
        message = f"{files.shown(output)} is there, and is not an export as it was written"
        raise TaskstateError(message, help="move it away, or name another file", code="exists")
    for each in () if request.dry_run else plan:
        _write(each)
    return Done(ids, "", tuple(workspace.shown(each.path) for each in plan), kept, lost, warnings)


def lost_text(lost: Mapping[str, int]) -> str:
    """Return what gets lost, in words."""
    return ", ".join(f"{name} ({number})" for name, number in lost.items())


# The tasks


def _found(workspace: Workspace, wanted: Wanted, form: Format) -> tuple[list[Item], dict[str, int]]:
    """Return the tasks that are wanted, and what of them the format has no place for, with numbers."""
    paths = items.paths_by_task(workspace)
    places = [workspace.locate(each) for each in dict.fromkeys(wanted.ids)] or workspace.state_files()
    found: list[Item] = []
    lost, permanent = Counter[str](), 0
    for loaded in map(workspace.load, places):
        if wanted.status not in {"", loaded.state.status}:
            continue
        each = items.item_of(workspace, loaded, paths[loaded.state.id.casefold()])
        if each.kind == PERMANENT and not form.whole:
            permanent += 1
            continue
        found.append(each)
        lost.update({name: number for name, number in each.counts.items() if name not in form.holds and not form.whole})
    lost += Counter({"permanent tasks": permanent})
    if wanted.strict and lost:
        message = f"{wanted.format} has no place for {lost_text(lost)}"
        raise TaskstateError(message, help="leave --strict out, or export json", code="unsafe")
    return found, dict(lost)


def _checked(workspace: Workspace, item: Item, request: Request) -> tuple[str, ...]:
    """Refuse a task with hidden text or something like a credential, unless that is forced; return warnings."""
    items.require_visible(item)
    checked = (secret_check.check_text(workspace, (text,), request, name=path) for path, text in item.files.items())
    return tuple(line for each in checked for line in each.warnings)


# Writing


def _planned(
    output: Path, texts: Mapping[str, str], module: ModuleType, there: Mapping[str, list[Path]]
) -> tuple[list[_Write], tuple[str, ...]]:
    """Return what is to be written, without what is `there` already, and the files that have to stay."""
    plan, kept = list[_Write](), list[str]()
    for name, text in texts.items():
        path, data = output / name if name else output, text.encode()
        olds = [each for own in module.ids_in(text) for each in there.get(own.casefold(), ())] if there else []
        others = [each for each in dict.fromkeys((*olds, path)) if _is_other(each, module)]
        if others:
            kept += (files.shown(each) for each in others)
        elif files.size(path) is None or files.read(path, files.MAX_BYTES) != data:
            plan.append(_Write(path, data, next((each for each in olds if each != path), None)))
    return plan, tuple(kept)


def _there(output: Path, module: ModuleType) -> Mapping[str, list[Path]]:
    """Return the files of tasks in a folder by id: that of our mark, and the one that the name begins with."""
    found: defaultdict[str, list[Path]] = defaultdict(list)
    for path in (output / folder / name for folder in _FOLDERS for name in files.names(output / folder)):
        if path.suffix == ".md" and folders.is_file(path):
            named = path.name.removeprefix("task-").partition(" - ")[0]
            for each in {*module.ids_in(files.read(path).decode("utf-8", "replace")), named}:
                found[each.casefold()].append(path)
    return found


def _is_other(path: Path, module: ModuleType) -> bool:
    """Return whether a file is there that was not written by an export, or was changed since."""
    return files.size(path) is not None and not module.is_ours(files.read(path, files.MAX_BYTES))


def _write(each: _Write) -> None:
    with files.os_errors("write", each.path):
        files.make_folder(each.path.parent)
    files.replace(each.path, each.data)
    if each.old:
        files.delete(each.old)


def text_of(done: Done, output: str, *, dry_run: bool) -> str:
    """Return what was written, in words."""
    would = "would be " if dry_run else ""
    lines = [f"{output}: {counted(len(done.tasks), 'task')}, {counted(len(done.written), 'file')} {would}written"]
    if done.kept:
        lines.append(f"changed there, or of another, and kept: {first_of(done.kept, _SHOWN)}")
    return "\n".join(lines)
