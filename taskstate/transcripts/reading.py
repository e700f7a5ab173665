"""The one door to a transcript: what happened in a session, and how full its context is. It never raises.

A transcript is read from where it was last told, newest first where it is larger than what is read at once. What
follows from lines before that place (which command a result is of) comes from the last part before it.
"""

from __future__ import annotations

import os
import re
from contextlib import contextmanager
from importlib import import_module
from itertools import islice
from pathlib import Path

from taskstate.errors import TaskstateError
from taskstate.storage import files
from taskstate.transcripts import source
from taskstate.transcripts.events import Compaction, Usage
from taskstate.transcripts.records import parsed, record, text
from taskstate.typed import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import ModuleType

    from taskstate.transcripts.events import Event
    from taskstate.transcripts.source import Source

CLIENTS = ("claude", "codex", "gemini")
BUDGET = 8 * 1024**2
_HEAD = 256 * 1024
_HEAD_LINES = 200
_LOOK_BACK = 256 * 1024
_TAILS = (64 * 1024, 256 * 1024, 1024**2, 4 * 1024**2)
_IN_NAME = 8  # characters of the id, in a name that Gemini gives
_GEMINI_FOLDER = re.compile(rb'Workspace Directories:\*\*\\n\s*- ([^\\"]+)')  # in what it tells its model first


class Transcript(NamedTuple):
    """Where a client keeps the transcript of a session that works in the folder `root`."""

    client: str
    session: str
    path: str
    root: str


class Reading(NamedTuple):
    """What was read: what happened, in order, and `running`, commands whose end is not told.

    `offset` is where to go on the next time, in the file of this `identity`; `unread` bytes before were too many to be
    read. `is_anew` says that the file is another one, or shorter, than it was, so that all of it is told. With a
    `problem`, which says why, nothing was read.
    """

    events: tuple[Event, ...] = ()
    running: tuple[Event, ...] = ()
    offset: int = 0
    identity: str = ""
    unread: int = 0
    is_anew: bool = False
    problem: str = ""


class Fill(NamedTuple):
    """How full the context of a session is, None if that is not known; and whether all of the file was read for it."""

    usage: Usage | None = None
    is_whole: bool = False
    problem: str = ""


def read(transcript: Transcript, offset: int = 0, *, identity: str = "", budget: int = BUDGET) -> Reading:
    """Return what happened in a session since `offset`, which is in the file of this identity, if one is given."""
    try:
        with _opened(transcript) as (file, client):
            is_anew = offset < 0 or identity not in {"", file.identity} or not file.is_line(offset)
            return _read(file, client, 0 if is_anew else offset, budget)._replace(is_anew=is_anew)
    except TaskstateError as error:
        return Reading(offset=offset, problem=error.message)


def _read(file: Source, client: ModuleType, offset: int, budget: int) -> Reading:
    reader = client.Reader()
    begin = max(offset - _LOOK_BACK, file.size - budget + 1, 0)
    events: list[Event] = []
    known, parsed_lines, at = 0, 0, offset
    for end, line in file.lines(begin, budget):
        value = None if client.skips(line) else parsed(line)
        found = tuple(reader.events(value)) if value else ()
        known, parsed_lines, at = known + len(found), parsed_lines + bool(value), max(at, end)
        events += found if end > offset else ()
    if not known and parsed_lines >= _HEAD_LINES:
        raise TaskstateError("no line of the transcript has a form that is known", code="not-a-file")
    return Reading(tuple(events), reader.running(), at, file.identity, max(0, begin - offset))


def usage(transcript: Transcript) -> Fill:
    """Return how full the context of a session is, from the end of its transcript."""
    fill = Fill()
    try:
        with _opened(transcript) as (file, client):
            for length in _TAILS:
                if not (fill.usage or fill.is_whole):
                    fill = _fill(file, client, length)
    except TaskstateError as error:
        return Fill(problem=error.message)
    return fill


def _fill(file: Source, client: ModuleType, length: int) -> Fill:
    reader = client.Reader()
    begin = max(0, file.size - length + 1)
    fill, last = Fill(is_whole=not begin), Usage("", 0)
    for _, line in file.lines(begin, length):
        if client.skips(line) or not any(mark in line for mark in client.USAGE):
            continue
        for event in reader.events(parsed(line) or {}):
            if isinstance(event, Usage):
                fill, last = fill._replace(usage=event), event
            elif isinstance(event, Compaction):
                fill = fill._replace(usage=last._replace(at=event.at, used=event.used) if event.used else None)
    return fill


@contextmanager
def _opened(transcript: Transcript) -> Iterator[tuple[Source, ModuleType]]:
    """Open the transcript of this session in this folder.

    Raises:
        TaskstateError: it cannot be read, or is another one.
    """
    if transcript.client not in CLIENTS:
        raise TaskstateError("nothing is known of this client's transcripts", code="not-found")
    with source.opened(transcript.path) as file:
        _require_own(file, transcript)
        yield file, import_module(f"taskstate.transcripts.{transcript.client}")


def _require_own(file: Source, transcript: Transcript) -> None:
    session, sessions = transcript.session, set[str]()
    root, folder = os.path.realpath(transcript.root), ""
    is_gemini = transcript.client == "gemini"
    for _, line in islice(file.lines(0, _HEAD), _HEAD_LINES):
        first = parsed(line) or {}
        said = first | record(first.get("payload"))
        if said.get("parent_thread_id") or said.get("kind") == "subagent":
            raise TaskstateError("the transcript is of a sub-agent", code="not-a-file")
        sessions |= {text(said.get(key)) for key in ("sessionId", "session_id", "id")}
        named = _GEMINI_FOLDER.search(line) if is_gemini else None
        is_root = said.get("projectHash") == files.digest(os.fsencode(root))
        folder = root if is_root else named[1].decode("utf-8", "replace") if named else text(said.get("cwd"))
        if folder:
            break
    name, in_name = f"-{Path(transcript.path).stem}", session[:_IN_NAME] if is_gemini else session
    if not session or not (name.endswith(f"-{in_name}") or session in sessions):
        raise TaskstateError("the transcript is of another session", code="not-a-file")
    if not folder or "\0" in folder or os.path.commonpath((os.path.realpath(folder), root)) != root:
        raise TaskstateError("the transcript is of another repository", code="not-a-file")
