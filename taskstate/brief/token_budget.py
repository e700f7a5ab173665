"""Counts what a task costs in tokens: all its files pasted to every role, against an export and a brief for each.

The files are the task file, every cited standard, the state file with all sessions, the archive and the log of the
baseline. A file that is missing is listed and counts as 0.
"""

from __future__ import annotations

from taskstate.brief.brief import brief
from taskstate.context.export import export_text
from taskstate.errors import TaskstateError
from taskstate.handoff import token_count
from taskstate.model.static_context import read_static
from taskstate.model.write_metadata import blocks_of
from taskstate.storage import files, installed
from taskstate.typed import TYPE_CHECKING, NamedTuple
from taskstate.workspace import artifacts

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from taskstate.model.task_state import TaskState
    from taskstate.workspace.workspace import Loaded, Workspace

_PERCENT = 100


class PastedFile(NamedTuple):
    """A file that would be pasted to every role; `tokens` is None if the file is missing."""

    part: str
    path: str
    tokens: int | None


class RoleCost(NamedTuple):
    """The tokens of the export and the brief that a role gets instead."""

    role: str
    export: int
    brief: int

    @property
    def together(self) -> int:
        """The tokens of both."""
        return self.export + self.brief


class TokenBudget(NamedTuple):
    """The tokens of a task, pasted and with exports and briefs, and how they were counted."""

    counter: token_count.Counter
    pasted: tuple[PastedFile, ...]
    roles: tuple[RoleCost, ...]

    @property
    def each(self) -> int:
        """The tokens pasted to one role."""
        return sum(each.tokens or 0 for each in self.pasted)

    @property
    def before(self) -> int:
        """The tokens pasted to all roles."""
        return self.each * len(self.roles)

    @property
    def after(self) -> int:
        """The tokens of the exports and briefs of all roles."""
        return sum(each.together for each in self.roles)

    def saved(self, needed: int, pasted: int) -> float:
        """Return how many percent fewer tokens are needed than pasted, to one digit; negative if more."""
        return round(_PERCENT * (1 - needed / pasted), 1) if pasted else 0.0


def budget(workspace: Workspace, loaded: Loaded) -> TokenBudget:
    """Count the tokens of a task.

    Raises:
        TaskstateError: a file cannot be read.
    """
    roles = tuple(
        RoleCost(
            role,
            export=token_count.count(export_text(workspace.config, loaded.state, role)),
            brief=token_count.count(brief(workspace, loaded, role=role).text),
        )
        for role in workspace.config.roles
    )
    return TokenBudget(counter=token_count.counter(), pasted=tuple(_pasted_files(workspace, loaded)), roles=roles)


def shape(result: TokenBudget) -> dict[str, Any]:
    """Return a token budget as JSON values."""
    roles = [
        {
            "role": each.role,
            "pasted": result.each,
            "export": each.export,
            "brief": each.brief,
            "together": each.together,
            "saved_percent": result.saved(each.together, result.each),
        }
        for each in result.roles
    ]
    return {
        "counter": result.counter.name,
        "exact": result.counter.is_exact,
        "pasted": [each._asdict() for each in result.pasted],
        "roles": roles,
        "before": result.before,
        "after": result.after,
        "saved_percent": result.saved(result.after, result.before),
    }


def table(result: TokenBudget) -> str:
    """Return a token budget as text."""
    method = f"estimated; with `{installed.adding('tokens')}` they are counted"
    if result.counter.is_exact:
        method = f"counted with {result.counter.name}"
    pasted = [
        (each.part, "not here" if each.tokens is None else f"{each.tokens:,}", each.path) for each in result.pasted
    ]
    rows = [
        (each.role, *(f"{number:,}" for number in numbers), f"{result.saved(each.together, result.each)} %")
        for each in result.roles
        for numbers in [(result.each, each.export, each.brief, each.together)]
    ]
    saved = f"{result.saved(result.after, result.before)} %"
    total = ("all roles", f"{result.before:,}", "", "", f"{result.after:,}", saved)
    pasted_lines = _columns([*pasted, ("together", f"{result.each:,}", "")], left={0, 2})
    heads = ("role", "pasted", "export", "brief", "together", "saved")
    role_lines = _columns([heads, *rows, total], left={0})
    return "\n".join([f"tokens, {method}", "", "pasted to every role:", *pasted_lines, "", *role_lines])


def _columns(rows: list[tuple[str, ...]], *, left: set[int]) -> list[str]:
    """Return rows as lines; columns that are not in `left` are aligned to the right."""
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    lines = []
    for row in rows:
        cells = zip(row, widths, strict=True)
        aligned = (
            cell.ljust(width) if column in left else cell.rjust(width) for column, (cell, width) in enumerate(cells)
        )
        lines.append(f"  {'  '.join(aligned)}".rstrip())
    return lines


def _pasted_files(workspace: Workspace, loaded: Loaded) -> Iterator[PastedFile]:
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
    """Count a file of the repository; one that is gone or outside counts as missing."""
    try:
        path = files.resolved(workspace.root, relative)
        data = None if files.size(path) is None else files.read(path)
    except TaskstateError:
        data = None
    return PastedFile(part, relative, _counted(data))


def _counted(data: bytes | None) -> int | None:
    return None if data is None else token_count.count(data.decode("utf-8", "replace"))
