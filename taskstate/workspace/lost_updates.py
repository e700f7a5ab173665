"""Writes that are gone: somebody's older copy of a file took the place of what we had written since it was loaded.

An editor that saves a stale buffer cannot be kept from that. So it is noticed, by the next command of any kind: a known
revision is gone. What was in it is kept in the journal folder as a record, until `doctor --fix` has put it back. A save
in place that reaches the old file just after it was replaced is noticed and kept in the same way.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, NamedTuple

from taskstate.errors import GitFailed, TaskstateError
from taskstate.storage import backups, files
from taskstate.storage.git import client as git

if TYPE_CHECKING:
    from pathlib import Path

    from taskstate.workspace.workspace import Workspace


PREFIX = "lost-"
_HEAD_BYTES = 16 * 1024  # bytes in which the front matter's revision stands
_REVISION = rb"(?m)^revision:[ \t]*[\"']?(\d{1,18})"
_GIT_HEAD = rb"(?m)^[ \t]+git_head:[ \t]*[\"']?([0-9a-f]{40,64})"
_ADVICE = "`taskstate doctor` shows what, and `taskstate doctor --fix` puts it back"


class LostUpdate(NamedTuple):
    """A text that is gone from the file `path`: `base` is the text that both it and the older copy came from, if known.

    `late` tells a save in place that reached the file when it had been replaced.
    """

    record: Path
    path: str
    revision: int
    text: str
    base: str | None
    late: bool


class Notice(NamedTuple):
    """What to tell, and the highest revision that is known: the next one is higher, so that none is given twice."""

    messages: tuple[str, ...] = ()
    revision: int = 0


def notice(workspace: Workspace, relative: str, data: bytes) -> Notice:
    """Keep what is gone from the file that now holds `data`, and tell it; the caller holds the lock."""
    journal = workspace.journal
    told = _notice_late(workspace, relative)
    floor = backups.revision_floor(journal, relative)
    versions = backups.versions_of(journal, relative)
    if not versions or files.digest(data).startswith(versions[-1].digest):
        return Notice(told, floor)
    text = versions[-1].read()
    if text is None or not _is_older(data, text):
        return Notice(told, floor)
    if _put_back_by_git(workspace, relative, text):
        backups.forget(journal, relative)
        return Notice(told)
    was, now = revision_of(text), revision_of(data)
    earlier = ((version.digest, version.read()) for version in versions[:-1])
    same = ((digest, known) for digest, known in earlier if known is not None and revision_of(known) == now)
    digest, base = next(same, ("", None))
    _write_record(journal, {"path": relative, "late": False}, text, base)
    backups.accept_current(journal, relative, workspace.root / relative, was, digest)
    message = f"{files.shown(relative)}: revision {was} is gone, somebody saved a copy of revision {now} over it"
    return Notice((*told, f"{message}: {_ADVICE}"), max(was, floor))


def check_all(workspace: Workspace) -> tuple[str, ...]:
    """Return what to tell of all files that were written lately; the lock is taken only where something is gone."""
    told: list[str] = []
    for relative in backups.possibly_changed(workspace.journal, workspace.root):
        try:
            path = files.inside(workspace.root, relative)
            versions = backups.versions_of(workspace.journal, relative)
            gone = backups.late_save(workspace.journal, relative, path) or _is_set_back(versions[-1], path)
        except TaskstateError:  # no longer a file that can be read: who reads it says so
            continue
        if gone:
            try:
                with workspace.locked():
                    told += notice(workspace, relative, files.read(path)).messages
            except TaskstateError as error:
                told.append(f"{files.shown(relative)}: a known revision is gone, and cannot be kept: {error}")
    return tuple(told)


def records(workspace: Workspace) -> tuple[list[LostUpdate], list[Path]]:
    """Return what is gone and kept, and the records that cannot be read.

    What went last comes first: put back in this order, what is put back changes no number that an earlier record knows.
    """
    found, unreadable = [], []
    for name in files.names(workspace.journal):
        if name.startswith(PREFIX):
            record = workspace.journal / name
            lost = _read(record)
            found += [lost] if lost else []
            unreadable += [] if lost else [record]
    return found[::-1], unreadable


def revision_of(data: bytes) -> int:
    """Return the revision that a state file's bytes tell; 0 where they tell none."""
    match = re.search(_REVISION, data[:_HEAD_BYTES])
    return int(match[1]) if match else 0


def _is_set_back(newest: backups.Version, path: Path) -> bool:
    text = newest.read()
    return text is not None and _is_older(files.read(path), text)


def _is_older(data: bytes, text: bytes) -> bool:
    """Return whether a file was set back; one without front matter is damaged, or just being saved."""
    return data.startswith((b"---", b"\xef\xbb\xbf---")) and revision_of(data) < revision_of(text)


def _put_back_by_git(workspace: Workspace, relative: str, text: bytes) -> bool:
    """Return whether the file is what the commit holds that is checked out now, and `text` is not lost to git.

    That is so where another commit was checked out when it was written, or where git itself has it.
    """
    then, now = re.search(_GIT_HEAD, text[:_HEAD_BYTES]), git.head(workspace.root)
    if now is None:
        return False
    try:
        git.run(["--literal-pathspecs", "diff", "--quiet", "HEAD", "--", relative], workspace.root)
        if then is None or then[1].decode() == now:
            blob = git.run(["hash-object", "--stdin", f"--path={relative}"], workspace.root, stdin=text)
            git.run(["cat-file", "-e", blob.decode().strip()], workspace.root)
    except GitFailed:
        return False
    return True


def _notice_late(workspace: Workspace, relative: str) -> tuple[str, ...]:
    late = backups.late_save(workspace.journal, relative, workspace.root / relative)
    if late is None:
        return ()
    earlier = backups.versions_of(workspace.journal, relative)
    base = next((version.read() for version in earlier if version.digest == late.digest), None)
    text = files.read(late.path)
    _write_record(workspace.journal, {"path": relative, "late": True}, text, base)
    backups.add_parent(workspace.journal, relative, files.digest(text), late.digest)
    late.path.unlink()
    what = "somebody's save came when the file had just been replaced, and is not in it"
    return (f"{files.shown(relative)}: {what}: {_ADVICE}",)


def _write_record(journal: Path, record: dict[str, object], text: bytes, base: bytes | None) -> None:
    """Write a record down, durably, unless there is one of that text."""
    known = [name for name in files.names(journal) if name.startswith(PREFIX)]
    mark = files.digest(text)[:16]
    if any(mark in name for name in known):
        return
    texts = {
        name: data if data is None else data.decode("utf-8", "surrogateescape")
        for name, data in (("text", text), ("base", base))
    }
    data = json.dumps({"taskstate_lost": 1, **record, **texts}, ensure_ascii=False, indent=1)
    numbers = (name.removeprefix(PREFIX).partition("-")[0] for name in known)
    number = max((int(number) for number in numbers if number.isdecimal()), default=0) + 1
    files.create(journal / f"{PREFIX}{number:06}-{mark}.json", data.encode("utf-8", "surrogateescape"))


def _read(record: Path) -> LostUpdate | None:
    try:
        loose = json.loads(files.read(record).decode("utf-8"))
        path, text, base, late = (loose[key] for key in ("path", "text", "base", "late"))
    except (TaskstateError, ValueError, LookupError, TypeError, RecursionError):
        return None
    if not (isinstance(path, str) and isinstance(text, str) and isinstance(base, str | None)):
        return None
    return LostUpdate(record, path, revision_of(text.encode("utf-8", "replace")), text, base, late is True)


PROPOSAL = "proposal-"
