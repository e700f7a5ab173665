"""What a task costs in tokens: pasted whole to every role, against an export and a brief for each.

Counted are the files as they are: the task file, every standards file that is cited, the state file with all of its
sessions, the archive too, and the log of the baseline. What is not here is named, and counts as nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from taskstate.context.export import export_text
from taskstate.errors import TaskstateError
from taskstate.handoff import token_count
from taskstate.model.static_context import read_static
from taskstate.model.write_metadata import blocks_of
from taskstate.storage import files
from taskstate.workflow.brief import brief
from taskstate.workspace import artifacts

if TYPE_CHECKING:
    from collections.abc import Iterator

    from taskstate.model.task_state import TaskState
    from taskstate.workspace.workspace import Loaded, Workspace

_PERCENT = 100


class PastedFile(NamedTuple):
    """A file that is pasted to every role where nothing else is done; `tokens` is None where it is not here."""

    part: str
    path: str
    tokens: int | None


class RoleCost(NamedTuple):
    """What a role needs instead."""

    role: str
    export: int
    brief: int

    @property
    def together(self) -> int:
        """Both of them."""
        return self.export + self.brief


class TokenBudget(NamedTuple):
    """The tokens of a task, before and after, and what they were counted with."""

    counter: token_count.Counter
    pasted: tuple[PastedFile, ...]
    roles: tuple[RoleCost, ...]

    @property
    def each(self) -> int:
        """What is pasted to one role."""
        return sum(each.tokens or 0 for each in self.pasted)

    @property
    def before(self) -> int:
        """What is pasted to all roles."""
        return self.each * len(self.roles)

    @property
    def after(self) -> int:
        """What all roles need instead."""
        return sum(each.together for each in self.roles)

    def saved(self, needed: int, pasted: int) -> float:
        """Return how many percent fewer tokens are needed than pasted, to one digit; below 0 where it is more."""
        return round(_PERCENT * (1 - needed / pasted), 1) if pasted else 0.0


def budget(workspace: Workspace, loaded: Loaded) -> TokenBudget:
    """Return what a task costs in tokens.

    Raises:
        TaskstateError: a file cannot be read.
    """
    roles = tuple(_needed(workspace, loaded, role) for role in workspace.config.roles)
    return TokenBudget(counter=token_count.counter(), pasted=tuple(_pasted(workspace, loaded)), roles=roles)


def shape(told: TokenBudget) -> dict[str, Any]:
    """Return a budget as programs read it."""
    roles = [
        {
            "role": each.role,
            "pasted": told.each,
            "export": each.export,
            "brief": each.brief,
            "together": each.together,
            "saved_percent": told.saved(each.together, told.each),
        }
        for each in told.roles
    ]
    return {
        "counter": told.counter.name,
        "exact": told.counter.is_exact,
        "pasted": [each._asdict() for each in told.pasted],
        "roles": roles,
        "before": told.before,
        "after": told.after,
        "saved_percent": told.saved(told.after, told.before),
    }


def table(told: TokenBudget) -> str:
    """Return a budget as people read it."""
    counted = f"counted with {told.counter.name}"
    how = counted if told.counter.is_exact else "estimated; with `pip install 'taskstate[tokens]'` they are counted"
    pasted = [(each.part, "not here" if each.tokens is None else f"{each.tokens:,}", each.path) for each in told.pasted]
    rows = [
        (
            each.role,
            f"{told.each:,}",
            f"{each.export:,}",
            f"{each.brief:,}",
            f"{each.together:,}",
            f"{told.saved(each.together, told.each)} %",
        )
        for each in told.roles
    ]
    saved = f"{told.saved(told.after, told.before)} %"
    total = ("all roles", f"{told.before:,}", "", "", f"{told.after:,}", saved)
    return "\n".join(
        [
            f"tokens, {how}",
            "",
            "pasted to every role:",
            *_columns([*pasted, ("together", f"{told.each:,}", "")], left={0, 2}),
            "",
            *_columns([("role", "pasted", "export", "brief", "together", "saved"), *rows, total], left={0}),
        ]
    )


def _columns(rows: list[tuple[str, ...]], *, left: set[int]) -> list[str]:
    """Return rows as lines, with the columns of numbers to the right."""
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    lines = []
    for row in rows:
        cells = zip(row, widths, strict=True)
        told = (
            cell.ljust(width) if column in left else cell.rjust(width) for column, (cell, width) in enumerate(cells)
        )
        lines.append(f"  {'  '.join(told)}".rstrip())
    return lines


def _needed(workspace: Workspace, loaded: Loaded, role: str) -> RoleCost:
    told = brief(workspace, loaded, role=role)
    return RoleCost(
        role=role,
        export=token_count.count(export_text(workspace.config, loaded.state, role)),
        brief=token_count.count(told.text),
    )


def _pasted(workspace: Workspace, loaded: Loaded) -> Iterator[PastedFile]:
    blocks = blocks_of(loaded.state.document)
    task_file, log, archive = blocks.context.task_file, blocks.baseline.log, blocks.values.get("archive_path")
    if task_file is not None:
        yield _file(workspace, "task file", task_file)
    for path in _standards(loaded.state):
        yield _file(workspace, "standard", path)
    yield PastedFile("state file", loaded.relative, token_count.count(loaded.document.text))
    if isinstance(archive, str):
        yield _file(workspace, "archive", f"{workspace.config.root}/{archive}")
    if log is not None:
        data = artifacts.read(workspace, log)
        data = artifacts.gunzipped(data, log) if data is not None and log.endswith(".gz") else data
        yield PastedFile("baseline log", f"{workspace.config.root}/{log}", _counted(data))


def _standards(state: TaskState) -> tuple[str, ...]:
    cited = (each.get("file") for each in read_static(state).standards)
    return tuple(dict.fromkeys(sorted(path for path in cited if isinstance(path, str))))


def _file(workspace: Workspace, part: str, relative: str) -> PastedFile:
    """Return a file of the repository; one that is gone, or leads out of it, counts as not here."""
    try:
        path = files.inside(workspace.root, relative)
        data = None if files.size(path) is None else files.read(path)
    except TaskstateError:
        data = None
    return PastedFile(part, relative, _counted(data))


def _counted(data: bytes | None) -> int | None:
    return None if data is None else token_count.count(data.decode("utf-8", "replace"))
