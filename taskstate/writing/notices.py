"""Tells before every command what is gone or damaged, and remembers the answers: only what changed is looked at again.

Every command pays for this module, so it imports little; `losses` does the looking.
"""

from __future__ import annotations

from collections import Counter
from contextlib import closing, suppress

from taskstate.errors import TaskstateError
from taskstate.storage import files, kept_records
from taskstate.storage.file_sources import DiskInRun, mark_of_content
from taskstate.storage.git import history
from taskstate.storage.transaction import Append, Create, Delete, Move, Replace
from taskstate.typed import TYPE_CHECKING, NamedTuple
from taskstate.writing.answers import Answer, answers

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    from taskstate.storage.kept_records import KeptRecord
    from taskstate.storage.transaction import Plan
    from taskstate.workspace.workspace import Loaded, Workspace


class Told(NamedTuple):
    """What is told of a task: that something is gone, or that its file (at `path`) is `damaged`."""

    path: str
    message: str
    damaged: bool


def tell(workspace: Workspace) -> tuple[Told, ...]:
    """Return what is to be told of each task. Every command runs this, so the answers are remembered."""
    by_id: dict[str, list[KeptRecord]] = {}
    for record in kept_records.records(workspace.private)[0]:
        for task_id in record.ids:
            by_id.setdefault(task_id, []).append(record)
    cache = answers(workspace)
    references = history.fingerprint(workspace.root)
    found: list[Answer] = []
    for task_id, own in by_id.items():
        answer = cache.get(task_id)
        marks = _marks(workspace, answer.paths, own) if answer else ()
        if answer is None or answer.references not in ("", references):
            answer = _look(workspace, task_id, own, references)
            cache.put(task_id, answer)
        elif answer.marks != marks:
            if answer.is_quiet and answer.marks[1:] == marks[1:] and _has_all_lines(workspace, answer, own):
                answer = answer._replace(marks=marks)
            else:
                answer = _look(workspace, task_id, own, references)
            cache.put(task_id, answer)
        found.append(answer)
    cache.keep(by_id)
    cache.save()
    return tuple(Told(each.paths[0], each.message, each.damaged) for each in found if each.message)


def is_quiet(workspace: Workspace, task_id: str, records: Iterable[KeptRecord] | None = None) -> bool:
    """Return whether it is remembered that nothing of a task is gone or damaged, and that is true still."""
    records = kept_records.records(workspace.private)[0] if records is None else records
    own = [record for record in records if task_id in record.ids]
    answer = answers(workspace).get(task_id) if own else None
    return answer is not None and answer.is_quiet and answer.marks == _marks(workspace, answer.paths, own)


def require_undamaged(workspace: Workspace, loaded: Loaded) -> None:
    """Refuse to change a damaged state file; one that was looked at, and has not changed since, is taken as it is.

    What was looked at is whether something is gone: a file to which lines were added can be unreadable all the same.

    Raises:
        TaskstateError: code "damaged".
    """
    if loaded.state.problems or not is_quiet(workspace, loaded.state.id.casefold()):
        from taskstate.writing import damage

        damage.require_undamaged(workspace, loaded)


def remember_quiet(workspace: Workspace, written: Mapping[str, str], plan: Plan) -> None:
    """Remember that nothing of these tasks is gone after a write, since nothing was gone before it.

    `written` has the SHA-256 of each one's state file. Where somebody has changed one of its files by now, as by saving
    another text over it or deleting a handoff, nothing is remembered: the next command looks.
    """
    cache, records = answers(workspace), kept_records.records(workspace.private)[0]
    for task_id, sha in written.items():
        answer = cache.get(task_id)
        own = [record for record in records if task_id in record.ids]
        marks = _marks(workspace, answer.paths, own) if answer and own else ()
        expected = (mark_of_content(sha) if sha else answer.marks[0], *_marks_after(answer, plan)) if answer else ()
        if answer and marks and all(each in (mark, None) for mark, each in zip(marks, expected, strict=False)):
            cache.put(task_id, answer._replace(marks=marks))
    added = (each for each in plan if isinstance(each, Append))  # sizes are taken after the marks
    with suppress(TaskstateError):
        if all(files.size(workspace.root / each.path) == each.expected_size + len(each.data) for each in added):
            cache.save()


def _marks_after(answer: Answer, plan: Plan) -> Iterator[str | None]:
    """Yield the marks that a plan leaves of a task's files beside the first; None of one that it appends to."""
    written = {each.path: each for each in plan if isinstance(each, Create | Replace | Append)}
    for path, mark in zip(answer.paths[1:], answer.marks[1:], strict=False):
        operation = written.get(path)
        if operation is None:
            yield _names_after(path, mark, plan, tuple(written))
        else:
            yield None if isinstance(operation, Append) else mark_of_content(files.digest(operation.data))


def _names_after(folder: str, mark: str, plan: Plan, written: Iterable[str]) -> str:
    """Return the mark of a folder after a plan; that of anything else stays as it is."""
    moved = [each for each in plan if isinstance(each, Move)]
    new = [path for path in (*written, *(each.target for each in moved)) if path.startswith(f"{folder}/")]
    away = [each.path for each in plan if isinstance(each, Delete)] + [each.source for each in moved]
    old = [path for path in away if path.rpartition("/")[0] == folder]
    if not new and not old:
        return mark
    names = {path.removeprefix(f"{folder}/").partition("/")[0] for path in new}
    return " ".join(sorted({*mark.split(), *names} - {path.rpartition("/")[2] for path in old}))


def _look(workspace: Workspace, task_id: str, own: Sequence[KeptRecord], references: str) -> Answer:
    from taskstate.writing.losses import look, paths_of

    paths = paths_of(workspace, task_id, own)
    marks = _marks(workspace, paths, own)  # before the files are read: they may change meanwhile
    found = look(workspace, task_id, own, paths)
    seen = references if found.read_history else ""
    return Answer(paths, marks, seen, found.message, found.damaged, found.steady, found.told)


def _marks(workspace: Workspace, paths: tuple[str, ...], own: Sequence[KeptRecord]) -> tuple[str, ...]:
    """Return what changes with the files of a task, and with its records."""
    with closing(DiskInRun()) as disk:
        return (*(_mark(disk, workspace.root / path) for path in paths), f"{len(own)} {own[-1].path.name}")


def _mark(disk: DiskInRun, path: Path) -> str:
    return " ".join(files.names(path)) if disk.is_folder(path) else disk.mark(path)


def _has_all_lines(workspace: Workspace, answer: Answer, own: Sequence[KeptRecord]) -> bool:
    """Return whether a state file has every line that the newest record left in it: then only lines were added.

    This spares reading it as Markdown after most edits by hand.
    """
    with suppress(TaskstateError, ValueError):
        plan = own[-1].plan()
        text = next(
            (each.data for each in plan if isinstance(each, Create | Replace) and each.path == answer.paths[0]), None
        )
        now = files.read(workspace.root / answer.paths[0])
        if text is not None and b"<<<<<<<" not in now and b"\0" not in now:
            return text == now or not Counter(text.splitlines()) - Counter(now.splitlines())
    return False
