"""Detects and records lost updates: revisions that an editor overwrote with an older copy of the file.

An editor that saves a stale buffer cannot be prevented from that. The next command notices that a known revision is
missing, and keeps its text in the journal folder as a record, until `doctor --fix` has merged it back. A save in place
that reaches the old file just after a command replaced it is recorded in the same way.
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
_HEAD_BYTES = 16 * 1024  # in which the front matter's revision is looked for
_REVISION = rb"(?m)^revision:[ \t]*[\"']?(\d{1,18})"
_GIT_HEAD = rb"(?m)^[ \t]+git_head:[ \t]*[\"']?([0-9a-f]{40,64})"
_ADVICE = "`taskstate doctor` shows what, and `taskstate doctor --fix` puts it back"


class LostUpdate(NamedTuple):
    """A lost text of the file `path`; `base` is the common ancestor of it and the text that replaced it, if known.

    `late` is true for a save in place that reached the file after it had been replaced.
    """

    record: Path
    path: str
    revision: int
    text: str
    base: str | None
    late: bool


class Notice(NamedTuple):
    """Messages for the user, and the highest revision given so far: the next one must be higher."""

    messages: tuple[str, ...] = ()
    revision: int = 0


def notice(workspace: Workspace, relative: str, data: bytes) -> Notice:
    """Record the updates that are lost from a file which now holds `data`; the caller holds the lock."""
    journal = workspace.journal
    messages = _notice_late(workspace, relative)
    floor = backups.revision_floor(journal, relative)
    versions = backups.versions_of(journal, relative)
    if not versions or files.digest(data).startswith(versions[-1].digest):
        return Notice(messages, floor)
    text = versions[-1].read()
    if text is None or not _is_older(data, text):
        return Notice(messages, floor)
    if _put_back_by_git(workspace, relative, text):
        backups.forget(journal, relative)
        return Notice(messages)
    was, now = revision_of(text), revision_of(data)
    earlier = ((version.digest, version.read()) for version in versions[:-1])
    candidates = ((digest, old) for digest, old in earlier if old is not None and revision_of(old) == now)
    digest, base = next(candidates, ("", None))
    _write_record(journal, {"path": relative, "late": False}, text, base)
    backups.accept_current(journal, relative, workspace.root / relative, was, digest)
    message = f"{files.shown(relative)}: revision {was} is gone, somebody saved a copy of revision {now} over it"
    return Notice((*messages, f"{message}: {_ADVICE}"), max(was, floor))


def check_all(workspace: Workspace) -> tuple[str, ...]:
    """Record the lost updates of all files with backups, and return messages; locks only if an update is lost."""
    messages: list[str] = []
    for relative in backups.possibly_changed(workspace.journal, workspace.root):
        try:
            path = files.inside(workspace.root, relative)
            versions = backups.versions_of(workspace.journal, relative)
            is_lost = backups.late_save(workspace.journal, relative, path) or _is_set_back(versions[-1], path)
        except TaskstateError:  # whoever reads the file reports it
            continue
        if is_lost:
            try:
                with workspace.locked():
                    messages += notice(workspace, relative, files.read(path)).messages
            except TaskstateError as error:
                messages.append(f"{files.shown(relative)}: a known revision is gone, and cannot be kept: {error}")
    return tuple(messages)


def records(workspace: Workspace) -> tuple[list[LostUpdate], list[Path]]:
    """Return the recorded lost updates, the newest first, and the records that cannot be read.

    Merged back in this order, an update does not change session numbers that an earlier record refers to.
    """
    updates, unreadable = [], []
    for name in files.names(workspace.journal):
        if name.startswith(PREFIX):
            record = workspace.journal / name
            update = _read(record)
            updates += [update] if update else []
            unreadable += [] if update else [record]
    return updates[::-1], unreadable


def revision_of(data: bytes) -> int:
    """Return the revision in a state file's front matter, or 0."""
    match = re.search(_REVISION, data[:_HEAD_BYTES])
    return int(match[1]) if match else 0


def _is_set_back(newest: backups.Version, path: Path) -> bool:
    text = newest.read()
    return text is not None and _is_older(files.read(path), text)


def _is_older(data: bytes, text: bytes) -> bool:
    """Return whether a file is at an earlier revision than `text`; not if it has no front matter.

    Such a file is damaged, or an editor is just saving it.
    """
    return data.startswith((b"---", b"\xef\xbb\xbf---")) and revision_of(data) < revision_of(text)


def _put_back_by_git(workspace: Workspace, relative: str, text: bytes) -> bool:
    """Return whether git put the older file there (by a checkout, a reset or a stash) and still has the newer `text`.

    The file is then as in HEAD, and either HEAD was another commit when `text` was written, or `text` is a git object.
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
    """Record a save that reached the file after it had been replaced, and return a message about it."""
    late = backups.late_save(workspace.journal, relative, workspace.root / relative)
    if late is None:
        return ()
    earlier = backups.versions_of(workspace.journal, relative)
    base = next((version.read() for version in earlier if version.digest == late.digest), None)
    text = files.read(late.path)
    _write_record(workspace.journal, {"path": relative, "late": True}, text, base)
    backups.add_parent(workspace.journal, relative, files.digest(text), late.digest)
    late.path.unlink()
    message = "somebody's save came when the file had just been replaced, and is not in it"
    return (f"{files.shown(relative)}: {message}: {_ADVICE}",)


def _write_record(journal: Path, record: dict[str, object], text: bytes, base: bytes | None) -> None:
    """Write a record of a lost text, durably, unless that text is recorded already."""
    existing = [name for name in files.names(journal) if name.startswith(PREFIX)]
    digest = files.digest(text)[:16]
    if any(digest in name for name in existing):
        return
    texts = {
        name: data if data is None else data.decode("utf-8", "surrogateescape")
        for name, data in (("text", text), ("base", base))
    }
    data = json.dumps({"taskstate_lost": 1, **record, **texts}, ensure_ascii=False, indent=1)
    numbers = (name.removeprefix(PREFIX).partition("-")[0] for name in existing)
    number = max((int(number) for number in numbers if number.isdecimal()), default=0) + 1
    files.create(journal / f"{PREFIX}{number:06}-{digest}.json", data.encode("utf-8", "surrogateescape"))


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
