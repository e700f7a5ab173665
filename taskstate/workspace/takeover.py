"""Takes over kept copies from elsewhere: of worktrees that were removed, and of versions before 0.2.

Those versions kept their journal and their copies in `journal/` in the state folder, where a stranger's commit may put
something too: the folder is read, once, only if nothing in it is a link, tracked by git, or another user's.
"""

from __future__ import annotations

import json
import re
from contextlib import suppress

from taskstate.errors import TaskstateError
from taskstate.model import names
from taskstate.storage import files, folders, journal, kept, transaction
from taskstate.storage.private import OLD_JOURNAL, make_folder, refusal
from taskstate.typed import TYPE_CHECKING
from taskstate.workspace.ledger import entry_for

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from taskstate.workspace.workspace import Workspace

_VERSION_NAME = r"\d{6}-([0-9a-f]{16})-(?:[0-9a-f]{16}|)"
_MARKER = "taken-over"  # a file in the private folder that says that the old folder was looked at


def take_over(workspace: Workspace) -> tuple[str, ...]:
    """Take over what is kept elsewhere, and return messages about it."""
    private = workspace.private
    if private.write is None:
        return ()
    with suppress(TaskstateError), workspace.locked():
        messages = []
        if kept.adopt(private):
            messages.append("took over what was kept for a worktree that is gone")
        old = workspace.state_root / OLD_JOURNAL
        marker = private.write / _MARKER
        if folders.is_folder(old) and not folders.exists(marker):
            why = refusal(old, workspace.root)
            messages += [f"{workspace.shown(old)} is not read: {why}"] if why else _read_old(workspace, old)
            make_folder(private.write / kept.FOLDER)
            files.create(marker, b"", mode=0o600)
        return tuple(messages)
    return ()


def _read_old(workspace: Workspace, old: Path) -> list[str]:
    """Take over an old journal folder: unfinished plans, texts that were gone, and the newest text of each file."""
    private = workspace.private
    for path, text in (*_lost_texts(old), *_newest_texts(old)):
        own = names.own_file(path)
        if own and own.type == "state" and own.id:
            task_id = own.id.casefold()
            entry = entry_for(path, text)
            plan = (transaction.Replace(path, "", text),)
            data = transaction.encode(plan, {"tasks": {task_id: entry.as_json()}})
            kept.keep(private, data, kept.name_for((task_id,), batch=False))
    if private.write:
        for name in files.names(old):
            if name.startswith(("pending-", journal.CONFLICT, journal.UNREADABLE)):
                make_folder(private.write / journal.JOURNAL)
                folders.rename(old / name, private.write / journal.JOURNAL / name)
    return [*journal.recover(workspace.root, private, workspace.may_write)]


def _lost_texts(old: Path) -> Iterator[tuple[str, bytes]]:
    """Yield path and text of each lost update on record, oldest first."""
    for name in files.names(old):
        if name.startswith("lost-"):
            with suppress(TaskstateError, ValueError, LookupError, TypeError, AttributeError):
                record = json.loads(files.read(old / name, files.MAX_BYTES).decode("utf-8"))
                yield str(record["path"]), record["text"].encode("utf-8", "surrogateescape")


def _newest_texts(old: Path) -> Iterator[tuple[str, bytes]]:
    """Yield path and text of the newest kept version of each file."""
    from urllib.parse import unquote  # for what an earlier version left, which is taken over once

    for name in files.names(old / "recent"):
        versions = [each for each in files.names(old / "recent" / name) if re.fullmatch(_VERSION_NAME, each)]
        with suppress(TaskstateError):
            for version in versions[-1:]:
                data = files.read(old / "recent" / name / version, files.MAX_BYTES)
                if files.digest(data).startswith(version.split("-")[1]):
                    yield unquote(name), data
