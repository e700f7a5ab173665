"""Keeps a note of each session of a client in this worktree: where its transcript is, and what is told of it already.

Private, a file for each session, written by its hooks. A note that is lost or damaged costs a draft, and no more.
"""

from __future__ import annotations

import json
import re
from contextlib import suppress

from taskstate.errors import TaskstateError
from taskstate.storage import files, lock
from taskstate.storage.private import make_folder
from taskstate.typed import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any

    from taskstate.storage.private import Private

FOLDER = "sessions"  # in the private folder
_NAME = r"[A-Za-z0-9._-]{1,80}"
_PATIENCE = 2.0  # seconds that a hook waits for another one


class TreeMark(NamedTuple):
    """The working tree at a moment: its commit, and the content of each file that differs from it, by path.

    A content is the id of its blob, empty for a file that is gone.
    """

    head: str = ""
    files: Mapping[str, str] = {}


class SessionNote(NamedTuple):
    """A session of a client in this worktree, as its hooks saw it.

    It works on `task` since `began`, when the tree was as `before` says and `last` was the highest session; `after` is
    how the tree was at the end, None as long as nobody knows. `offset` is how far its transcript, the file of this
    `identity`, is told; `is_told` says that no hook was called since a session of the state file told of it; each
    such time another `stretch` begins. `ended` is
    the client's word for its end. `last_words` are the agent's last ones, where the client gave them to a hook.
    `warned` are the compactions at which the fill was told; `seen` is the size of the transcript when it was last
    measured. `process` is the client's, its number and the moment of its start.
    """

    client: str
    session: str
    transcript: str = ""
    at: str = ""  # of the last hook
    task: str = ""
    began: str = ""
    last: int = 0
    before: TreeMark | None = None
    after: TreeMark | None = None
    ended: str = ""
    offset: int = 0
    identity: str = ""
    is_told: bool = False
    stretch: int = 0
    last_words: str = ""
    model: str = ""
    used: int = 0
    window: int = 0
    compactions: int = 0
    warned: tuple[int, ...] = ()
    seen: int = 0
    process: str = ""

    @property
    def name(self) -> str:
        """What it is called, in a file's name and in messages."""
        return f"{self.client}-{_plain(self.session)}"


def _plain(session: str) -> str:
    return session if re.fullmatch(_NAME, session) else files.digest(session.encode("utf-8", "surrogatepass"))


def find(private: Private, client: str, session: str) -> SessionNote | None:
    """Return the note of a session, or None."""
    name = SessionNote(client, session).name
    return next((each for each in all_notes(private, name)), None)


def all_notes(private: Private, only: str = "") -> tuple[SessionNote, ...]:
    """Return the notes of this worktree, the oldest session first; those that cannot be read are left out."""
    found = list[SessionNote]()
    for path in private.files(FOLDER):
        if path.suffix == ".json" and only in {"", path.stem}:
            with suppress(TaskstateError, ValueError, TypeError, KeyError, RecursionError):
                found.append(_read(json.loads(files.read(path))))
    return tuple(sorted(found, key=lambda each: (each.began, each.at, each.name)))


def update(private: Private, client: str, session: str, changed: Callable[[SessionNote], SessionNote]) -> SessionNote:
    """Write the note of a session as `changed` makes it of the one that is there, and return it.

    Two hooks of a session may run at once, so that happens under a lock of the notes' own.

    Raises:
        TaskstateError: it cannot be written; LockTimeout: another command holds the notes.
    """
    if private.write is None:
        return changed(SessionNote(client, session))
    folder = private.write / FOLDER
    make_folder(folder)
    with lock.locked(folder / "lock", _PATIENCE):
        before = find(private, client, session)
        after = changed(before or SessionNote(client, session))
        if after != before:
            files.replace_private(folder / f"{after.name}.json", json.dumps(after._asdict()).encode())
    return after


def delete(private: Private, note: SessionNote) -> None:
    """Delete a note, if it is there."""
    private.discard(FOLDER, {f"{note.name}.json"})


def _read(values: Mapping[str, Any]) -> SessionNote:
    """Return the note in JSON; fields of another type than ours count as absent.

    Raises:
        KeyError, TypeError: it names no session.
    """
    plain = SessionNote(str(values["client"]), str(values["session"]))
    known = {
        key: values[key]
        for key, default in plain._asdict().items()
        if key not in {"client", "session", "before", "after", "warned"} and type(values.get(key)) is type(default)
    }
    warned = values.get("warned")
    return plain._replace(
        **known,
        before=_mark(values.get("before")),
        after=_mark(values.get("after")),
        warned=tuple(each for each in warned if isinstance(each, int)) if isinstance(warned, list) else (),
    )


def _mark(value: Any) -> TreeMark | None:  # noqa: ANN401 - JSON
    if not (isinstance(value, list) and len(value) == 2 and isinstance(value[1], dict)):  # noqa: PLR2004 - a pair
        return None
    return TreeMark(str(value[0]), {str(path): str(blob) for path, blob in value[1].items()})
