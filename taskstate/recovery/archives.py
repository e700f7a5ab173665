"""The texts that a task's archive may be given: as it is, as git has it, as commands wrote it batch by batch.

A formatter that went over an archive changed no word of it, and every hash: the text that was written takes its place.
"""

from __future__ import annotations

from collections import Counter
from contextlib import suppress

from taskstate.archive.doubled import TAKE_OUT
from taskstate.archive.integrity import ArchiveContents
from taskstate.archive.verify import ArchiveVerdict, verify
from taskstate.errors import TaskstateError
from taskstate.model.session_words import without_marks
from taskstate.recovery.task_files import TaskFiles, items_of, without_archived
from taskstate.storage import kept_records
from taskstate.storage.git import history
from taskstate.typed import TYPE_CHECKING, NamedTuple
from taskstate.units.items import Item, lost_between
from taskstate.writing.ledger import entries_of, kept_texts, written

if TYPE_CHECKING:
    from collections.abc import Iterable

    from taskstate.archive.integrity import ArchiveFault
    from taskstate.storage.kept_records import KeptRecord
    from taskstate.workspace.workspace import Loaded, Workspace

PUT_BACK = "a formatter changed it: `taskstate doctor --fix` puts back the text that was written"
_MOST = 3  # versions of the archive in git that are tried, the newest first


def archive_texts(workspace: Workspace, path: str, records: Iterable[KeptRecord], now: bytes) -> list[bytes]:
    """Return texts for the archive at `path`: those that there are, and each with the kept batches that it lacks."""
    if not workspace.is_on_disk:
        return [now]
    committed = [data for _, (data,) in history.versions(workspace.root, (path,), history.REFS) if data]
    own = list(records)
    starts = (now, *committed[:_MOST], b"")
    return list(dict.fromkeys(text for start in starts for text in (start, _with_batches(path, own, start))))


def _with_batches(path: str, records: Iterable[KeptRecord], text: bytes) -> bytes:
    for record in records:
        with suppress(TaskstateError, ValueError):
            for name, is_appended, data in written(record.plan()) if record.batch else ():
                batch = items_of("archive", data) if name == path else Counter[Item]()
                if lost_between(batch, items_of("archive", text)):
                    text = text + data if text and is_appended else text or data
    return text


def as_written(now: bytes, texts: Iterable[bytes]) -> bytes:
    """Return the one of the texts that was there before a formatter changed the archive, or the archive as it is."""
    if not _faults(now):
        return now
    return next((each for each in texts if _words(each) == _words(now) and not _faults(each)), now)


def _faults(archive: bytes) -> tuple[ArchiveFault, ...]:
    return ArchiveContents(archive.decode("utf-8", "replace")).faults


def _words(archive: bytes) -> str:
    return without_marks(archive.decode("utf-8", "replace"))


class Cures(NamedTuple):
    """Whether `doctor --fix` can put back the text of an archive, and take out of the log what stands in both."""

    puts_back: bool
    takes_out: bool


def cures_of(workspace: Workspace, loaded: Loaded) -> Cures:
    """Return what can be done for the archive of a task whose state file is loaded."""
    name = workspace.archive_path(loaded.state.id)
    path = workspace.state_root / name
    now = workspace.source.read(path) if workspace.source.size(path) else b""
    whole = TaskFiles(loaded.data, now)
    if _faults(now):
        entries = entries_of(kept_records.records(workspace.private)[0], loaded.state.id.casefold())
        texts = archive_texts(workspace, workspace.relative(path), (record for record, _ in entries), now)
        whole = whole._replace(archive=as_written(now, texts))
    once = without_archived(whole, kept_texts(workspace, loaded.relative), name)
    return Cures(puts_back=whole.archive != now, takes_out=once != whole)


def verified(workspace: Workspace, loaded: Loaded) -> ArchiveVerdict:
    """Return what is wrong with the archive of a task, with the cure that `doctor --fix` is where it is one."""
    verdict = verify(workspace, loaded)
    cures = cures_of(workspace, loaded) if verdict.problems else Cures(puts_back=False, takes_out=False)
    helps = {verdict.path: PUT_BACK if cures.puts_back else "", loaded.relative: TAKE_OUT if cures.takes_out else ""}
    problems = (each._replace(help=(each.fatal and helps[each.path]) or each.help) for each in verdict.problems)
    return verdict._replace(problems=tuple(problems))
