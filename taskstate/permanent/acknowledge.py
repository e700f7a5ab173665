"""Records which version of the permanent task an agent has read."""

from __future__ import annotations

import re

from taskstate.errors import TaskstateError
from taskstate.model import permanent
from taskstate.model.permanent import shown_version
from taskstate.model.write_metadata import front_matter_values, set_front_matter
from taskstate.permanent.find import require
from taskstate.permanent.update import require_open
from taskstate.syntax import escaping
from taskstate.syntax.edits import apply
from taskstate.typed import TYPE_CHECKING
from taskstate.writing.change import Change
from taskstate.writing.writer import change

if TYPE_CHECKING:
    from taskstate.workspace.workspace import Loaded, Workspace
    from taskstate.writing.change import Outcome, Request

_VERSION = re.compile(r"(?i)(?:PT-)?v?([0-9]{1,9})")


def parse_version(text: str) -> int:
    """Return the number of a version, which people write as 7, v7 or PT-v7.

    Raises:
        TaskstateError: code "usage".
    """
    match = _VERSION.fullmatch(text.strip())
    if match is None:
        raise TaskstateError(f"{text!r} is not a version", help="write it as 7, v7 or PT-v7", code="usage")
    return int(match[1])


def acknowledge(workspace: Workspace, task_id: str, agent: str, version: int, request: Request) -> Outcome[int]:
    """Record that an agent has read a version. The version of the task stays.

    Raises:
        TaskstateError: code "version": there is no such version yet, or the agent has confirmed a later one.
    """
    found, name = require(workspace, task_id), escaping.one_line(agent, what="the agent's name")

    def job(loaded: Loaded) -> Change[int]:
        require_open(loaded)
        newest, acks = permanent.version_of(loaded.state), permanent.confirmed(front_matter_values(loaded.document))
        if not 1 <= version <= newest:
            message = f"there is no {shown_version(version)}: the newest is {shown_version(newest)}"
            raise TaskstateError(message, help=f"read it with `taskstate show {found.id}`", code="version")
        if version < acks.get(name, 0):
            message = f"{name} has confirmed {shown_version(acks[name])} already, which is later than {version}"
            raise TaskstateError(message, help="nothing is to be done", code="version")
        acks[name] = version
        edits = set_front_matter(loaded.document, "acks", dict(sorted(acks.items())))
        return Change(text=apply(loaded.document.text, edits), result=version)

    outcome = change(workspace, found.id, job, request)
    return outcome._replace(notes=(*found.notes, *outcome.notes))
