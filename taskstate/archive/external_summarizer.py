"""Runs a team's own program that writes the Archived Summary, and accepts from it only what fits the format.

The program reads one JSON object on standard input and writes one on standard output. Its command comes from the
configuration or the command line only: nothing in a task file may cause a program to run. If anything goes wrong with
it, the built-in summary is used, and a warning says why.
"""

from __future__ import annotations

import json
import re
from functools import lru_cache, partial

from taskstate.archive.summary import MAX_BYTES, Lists, SummaryRequest, available_bytes, compose, summarise
from taskstate.archive.summary_statements import Statement, merge_runs
from taskstate.errors import TaskstateError
from taskstate.model.session_texts import COMMITS
from taskstate.storage import programs, temporary
from taskstate.syntax.spans import CONTROLS, printable
from taskstate.typed import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Mapping, Sequence
    from pathlib import Path
    from typing import IO, Any

    from taskstate.model.progress_log import Session
    from taskstate.model.task_state import TaskState

PROTOCOL = 1
SECONDS = 30.0
_MOST = 256 * 1024  # bytes of output that are accepted
_LONGEST = 500  # characters of a statement
_MAX_ERROR = 200  # characters of the program's error output in a warning
_CHUNK = 64 * 1024


class UnusableSummary(TaskstateError):
    """The program failed, or did not print a summary."""


class Summarizer(NamedTuple):
    """A program that writes summaries: its command line, its working folder, and its time limit in seconds."""

    command: str
    root: Path
    seconds: float = SECONDS

    def summary(self, state: TaskState, archived: Sequence[Session], link: str) -> tuple[str, tuple[str, ...]]:
        """Return the Archived Summary by this program, or the built-in one with a warning that says why."""
        rolled = SummaryRequest(state, archived, link)
        try:
            text = compose(rolled, self._lists(rolled))
            size = len(text.encode())
            if size > MAX_BYTES:
                raise _unusable(f"its summary would have {size:,} bytes, and {MAX_BYTES:,} are the limit")
        except TaskstateError as error:
            note = (
                f"warning: the summarizer {self.command!r} was not used: {error.message}; the built-in summary was used"
            )
            return summarise(state, archived, link), (note,)
        return text, ()

    def _lists(self, rolled: SummaryRequest) -> Lists:
        request = json.dumps(summary_input(rolled, available_bytes(rolled)), ensure_ascii=False).encode(
            errors="backslashreplace"
        )
        answer = _answer(self, request)
        if isinstance(answer, str):
            raise _unusable(answer)
        return read_answer(answer, *rolled.sessions)


@lru_cache(maxsize=16)  # archiving is planned twice: without the lock and under it
def _answer(program: Summarizer, request: bytes) -> bytes | str:
    """Return the output of a program, or the reason why it cannot be used."""
    try:
        return _run(program, request)
    except UnusableSummary as error:
        return error.message


def _run(program: Summarizer, request: bytes) -> bytes:
    """Run a program and return its output."""
    with temporary.nameless_file() as stdin:
        stdin.write(request)
        stdin.seek(0)
        begin, follow = partial(_started, program, stdin), partial(_read_output, seconds=program.seconds)
        status, printed, errors = programs.attended(begin, follow)
    if status:
        last_line = _last_line(errors)
        raise _unusable(f"it ended with status {status}" + (f" ({last_line})" if last_line else ""))
    return printed


def _started(program: Summarizer, stdin: IO[bytes]) -> subprocess.Popen[bytes]:
    try:
        return programs.start(_words(program.command), program.root, stdin=stdin)
    except OSError as error:
        raise _unusable(f"it could not be started ({error.strerror})") from error


def summary_input(rolled: SummaryRequest, limit: int) -> dict[str, Any]:
    """Return the program's input; `limit` is how many bytes the lines of all lists may have together."""
    state, before = rolled.state, rolled.before
    features = state.checklist.features if state.checklist else ()
    first, last = rolled.sessions
    return {
        "protocol": PROTOCOL,
        "task": {
            "id": state.id,
            "title": state.title,
            "status": state.status,
            "features": [{"id": each.id, "description": each.description, "passes": each.passes} for each in features],
            "open_issues": [each.text for each in rolled.live_issues],
        },
        "first": first,
        "last": last,
        "sessions": [_session(session) for session in rolled.archived],
        "previous": before
        and {
            "first": before.first,
            "last": before.last,
            **{
                name: [{"text": each.text, "sessions": [list(run) for run in each.runs]} for each in part]
                for name, part in before.lists._asdict().items()
            },
            "text": before.text,
        },
        "limit": {"bytes": limit, "characters": _LONGEST},
    }


def read_answer(printed: bytes, first: int, last: int) -> Lists:
    """Return the lists that a program printed, for a summary of the sessions from first to last.

    Raises:
        UnusableSummary: it does not follow the protocol.
    """
    try:
        answer = json.loads(printed.decode())
    except (ValueError, RecursionError) as error:
        raise _unusable("it printed no JSON") from error
    if not isinstance(answer, dict) or not answer.keys() & set(Lists._fields):
        raise _unusable("it printed no object with accomplishments, issues_encountered or issues_resolved")
    return Lists(*(_list(answer, name, first, last) for name in Lists._fields))


def _list(answer: Mapping[str, Any], name: str, first: int, last: int) -> list[Statement]:
    lines = answer.get(name, [])
    if not isinstance(lines, list):
        raise _unusable(f"its {name} is not a list")
    return [_line(line, f"{name}[{at}]", first, last) for at, line in enumerate(lines)]


def _line(line: object, where: str, first: int, last: int) -> Statement:
    text = line.get("text") if isinstance(line, dict) else None
    sessions = line.get("sessions") if isinstance(line, dict) else None
    if not isinstance(text, str) or not text.strip() or len(text) > _LONGEST:
        raise _unusable(f"{where}.text is not a text of 1 to {_LONGEST} characters")
    if re.search(CONTROLS + r"|[\n\r\t]", text):
        raise _unusable(f"{where}.text holds control characters or several lines")
    if not isinstance(sessions, list) or not sessions or not all(type(number) is int for number in sessions):
        raise _unusable(f"{where}.sessions is not a list of session numbers")
    if not all(first <= number <= last for number in sessions):
        raise _unusable(f"{where}.sessions names one outside of {first} to {last}")
    return Statement(" ".join(text.split()), merge_runs((number, number) for number in sessions))


def _session(session: Session) -> dict[str, Any]:
    return {
        "number": session.number,
        "time": session.time,
        "did": list(session.did),
        "issues": list(session.issues),
        "state": session.state,
        "next": list(session.next),
        "commits": list(session.field(COMMITS.field)),
        "text": session.entry,
    }


def _words(command: str) -> list[str]:
    import shlex

    try:
        words = shlex.split(command)
    except ValueError as error:
        raise _unusable(f"its command line cannot be read ({error})") from error
    if not words or "\0" in command:
        raise _unusable("its command line names no program")
    return words


def _read_output(process: subprocess.Popen[bytes], seconds: float) -> tuple[int, bytes, bytes]:
    """Return exit status, standard output and error output of a process, within the limits of time and size.

    Both streams are read as they fill: a process blocks once the pipe that nobody reads is full.
    """
    import os
    import selectors
    import subprocess
    import time

    deadline = time.monotonic() + seconds
    buffers = {stream.fileno(): bytearray() for stream in (process.stdout, process.stderr) if stream}
    printed, errors = buffers.values()
    with selectors.DefaultSelector() as selector:
        for stream in buffers:
            selector.register(stream, selectors.EVENT_READ)
        while selector.get_map():
            ready = selector.select(max(0.0, deadline - time.monotonic()))
            if not ready:
                raise _unusable(f"it had not ended after {seconds:g} seconds")
            for key, _ in ready:
                chunk = os.read(key.fd, _CHUNK)
                buffers[key.fd] += chunk
                if not chunk:
                    selector.unregister(key.fd)
            if len(printed) > _MOST:
                raise _unusable(f"it printed more than {_MOST // 1024} KB")
            del errors[:-_CHUNK]
    try:
        status = process.wait(max(0.0, deadline - time.monotonic()))
    except subprocess.TimeoutExpired as error:
        raise _unusable(f"it had not ended after {seconds:g} seconds") from error
    return status, bytes(printed), bytes(errors)


def _last_line(errors: bytes) -> str:
    lines = [line.strip() for line in errors.decode(errors="replace").splitlines() if line.strip()]
    return printable(lines[-1])[:_MAX_ERROR] if lines else ""


def _unusable(message: str) -> UnusableSummary:
    return UnusableSummary(message, help="see docs/archiving.md", code="summarizer")
