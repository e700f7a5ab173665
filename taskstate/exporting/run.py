"""Exports: reads the tasks that are wanted, looks for what must not go out, tells what gets lost, and writes.

A file that is there is replaced only if it is one that was exported, and nobody has changed it since.
"""

from __future__ import annotations

from collections import Counter
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
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from pathlib import Path
    from types import ModuleType

    from taskstate.exporting.items import Item
    from taskstate.workspace.workspace import Workspace
    from taskstate.writing.change import Request


class Format(NamedTuple):
    """A format: its module (`render`, `is_ours`), what it makes, and which of the counts of a task it has a place for.

    One that is `whole` holds everything; of one that `is_folder` each task is a file.
    """

    module: str
    makes: str
    holds: frozenset[str] = frozenset()
    whole: bool = False
    is_folder: bool = False


FORMATS: Mapping[str, Format] = {
    "backlog-md": Format(
        "backlog_md",
        "a folder of Backlog.md",
        frozenset({"criteria", "features", "sessions", "areas", "notes", "summaries"}),
        is_folder=True,
    ),
    "csv": Format("rows", "a table with a row for each task", frozenset({"areas"})),
    "json": Format("whole", "one file that `import json` reads", whole=True),
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
    form = FORMATS[wanted.format]
    found = tuple(_selected(workspace, wanted))
    fitting = tuple(each for each in found if form.whole or each.kind != PERMANENT)
    lost = _lost(form, fitting, len(found) - len(fitting))
    if wanted.strict and lost:
        message = f"{wanted.format} has no place for {lost_text(lost)}"
        raise TaskstateError(message, help="leave --strict out, or export json", code="unsafe")
    warnings = tuple(line for each in fitting for line in _checked(workspace, each, request))
    module = import_module(f"taskstate.exporting.{form.module}")
    output = wanted.output
    if output and form.is_folder:
        wanted = wanted._replace(has_config=_is_other(output / "config.yml", module))
    texts: Mapping[str, str] = module.render(fitting, wanted)
    ids = tuple(each.id for each in fitting)
    if output is None:
        return Done(ids, texts[""], (), (), lost, warnings)
    artifacts.require_not_own(workspace, output)
    plan, kept = _planned(output, texts, module, is_folder=form.is_folder)
    if kept and not form.is_folder:
        message = f"{files.shown(output)} is there, and is not an export as it was written"
        raise TaskstateError(message, help="move it away, or name another file", code="exists")
    if not request.dry_run:
        _write(plan)
    return Done(ids, "", tuple(workspace.shown(each.path) for each in plan), kept, lost, warnings)


def lost_text(lost: Mapping[str, int]) -> str:
    """Return what gets lost, in words."""
    return ", ".join(f"{name} ({number})" for name, number in lost.items())


# The tasks


def _selected(workspace: Workspace, wanted: Wanted) -> Iterator[Item]:
    paths = items.paths_by_task(workspace)
    places = [workspace.locate(each) for each in dict.fromkeys(wanted.ids)] or workspace.state_files()
    for place in places:
        loaded = workspace.load(place)
        if not wanted.status or loaded.state.status == wanted.status:
            yield items.item_of(workspace, loaded, paths[loaded.state.id.casefold()])


def _lost(form: Format, exported: Iterable[Item], permanent: int) -> dict[str, int]:
    if form.whole:
        return {}
    totals: Counter[str] = Counter()
    for each in exported:
        totals.update({name: number for name, number in each.counts.items() if name not in form.holds})
    return {**totals, **({"permanent tasks": permanent} if permanent else {})}


def _checked(workspace: Workspace, item: Item, request: Request) -> tuple[str, ...]:
    """Refuse a task with hidden text or something like a credential, unless that is forced; return warnings."""
    items.require_visible(item)
    return tuple(
        line
        for path, text in item.files.items()
        for line in secret_check.check_text(workspace, (text,), request, name=path).warnings
    )


# Writing


def _planned(
    output: Path, texts: Mapping[str, str], module: ModuleType, *, is_folder: bool
) -> tuple[list[_Write], tuple[str, ...]]:
    """Return what is to be written, without what is there already, and the files that have to stay."""
    there = _there(output, module) if is_folder else {}
    plan, kept = list[_Write](), list[str]()
    for name, text in texts.items():
        path, data = output / name if name else output, text.encode()
        olds = [each for own in module.ids_in(text) for each in there.get(own.casefold(), ())] if is_folder else []
        others = [each for each in dict.fromkeys((*olds, path)) if _is_other(each, module)]
        if others:
            kept += (files.shown(each) for each in others)
        elif files.size(path) is None or files.read(path, files.MAX_BYTES) != data:
            plan.append(_Write(path, data, next((each for each in olds if each != path), None)))
    return plan, tuple(kept)


def _there(output: Path, module: ModuleType) -> Mapping[str, list[Path]]:
    """Return the files of tasks in a folder by id: that of our mark, and the one that the name begins with."""
    found: dict[str, list[Path]] = {}
    for folder in _FOLDERS:
        for name in files.names(output / folder):
            path = output / folder / name
            if name.endswith(".md") and folders.is_file(path):
                named = name.removeprefix("task-").partition(" - ")[0]
                for each in {*module.ids_in(files.read(path).decode("utf-8", "replace")), named}:
                    found.setdefault(each.casefold(), []).append(path)
    return found


def _is_other(path: Path, module: ModuleType) -> bool:
    """Return whether a file is there that was not written by an export, or was changed since."""
    return files.size(path) is not None and not module.is_ours(files.read(path, files.MAX_BYTES))


def _write(plan: Sequence[_Write]) -> None:
    for each in plan:
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
