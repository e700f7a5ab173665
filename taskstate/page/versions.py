"""A task as a page shows it: one of its versions, by what the address says, and what operations say of it there."""

from __future__ import annotations

from pathlib import Path

from taskstate.errors import TaskstateError
from taskstate.model import names
from taskstate.operations import versions
from taskstate.operations.arguments import make
from taskstate.operations.index import operation
from taskstate.page.forms import Form
from taskstate.typed import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from starlette.requests import Request

    from taskstate.operations.call import Call
    from taskstate.operations.versions import Version
    from taskstate.page.reading import Reading
    from taskstate.workspace.workspace import Loaded, Workspace

_NOT_THERE = {"not-found", "bad-id", "duplicate-id", "path-escapes"}


class ShownTask(NamedTuple):
    """A version of a task that is shown, among all of them, with the call by which operations look at it there.

    The `fault` says why its file cannot be read as what it is; then its text is shown as far as it is one.
    """

    version: Version
    all: Sequence[Version]
    call: Call
    fault: TaskstateError | None = None

    @property
    def id(self) -> str:
        """The id of the task."""
        return self.loaded.state.id

    @property
    def loaded(self) -> Loaded:
        """Its file."""
        return self.version.loaded

    @property
    def workspace(self) -> Workspace:
        """The worktree that has it."""
        return self.version.workspace

    @property
    def path(self) -> Path:
        """The path of its file."""
        return self.workspace.root / self.loaded.relative

    @property
    def form(self) -> Form:
        """What forms on it send back."""
        return Form(self.id, self.loaded.token, worktree=self.version.root, branch=self.version.branch)


class Said(NamedTuple):
    """What an operation says of a task, or why it says nothing."""

    data: Any
    error: TaskstateError | None = None


def shown_task(reading: Reading, task_id: str, branch: str = "") -> ShownTask:
    """Return a task as a branch has it; by default its newest version.

    Raises:
        TaskstateError: there is no such task; or its file cannot be read at all.
    """
    task, faults = names.parse_task_id(task_id), list[TaskstateError]()

    def load(value: str) -> Loaded:
        try:
            return reading.call.load(value)
        except TaskstateError as error:
            if error.code in _NOT_THERE:
                raise
            faults.append(error)
            return _as_text(reading.call.workspace, value)

    found = versions.versions(reading.call, task, load, reading.repository)
    own = versions.first_of(found) if faults else found[0]  # of what is damaged here, the fault comes first
    version = next((each for each in found if branch and each.branch == branch), own)
    there = reading.site._replace(root=Path(version.root)) if version.root else None
    return ShownTask(
        version, found, there.call() if there else reading.call, None if version.root else next(iter(faults), None)
    )


def asked_task(reading: Reading, request: Request) -> ShownTask:
    """Return the task that an address names."""
    return shown_task(reading, request.path_params["id"], request.query_params.get("branch", ""))


def said(call: Call, name: str, **given: object) -> Said:
    """Return what an operation says to a program, or why it cannot."""
    found = operation(name)
    try:
        return Said(found.run(call, make(found, given, lambda _field, value: value)).data)
    except TaskstateError as error:
        return Said(None, error)


def _as_text(workspace: Workspace, task: str) -> Loaded:
    """Return a state file with characters in the place of bytes that are none."""
    from taskstate.model.task_state import read_state
    from taskstate.syntax.document import parse
    from taskstate.workspace.workspace import Loaded

    path = workspace.locate(task)
    data = workspace.read(path)
    document = parse(data.decode("utf-8", "replace"), workspace.kinds)
    return Loaded(workspace.relative(path), data, document, read_state(document, task))
