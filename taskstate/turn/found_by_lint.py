"""What the linter finds in the state file of a turn: in the way of one that begins, and wrong at the end of one."""

from __future__ import annotations

from taskstate.errors import TaskstateError
from taskstate.lint.diagnostics import ERROR
from taskstate.lint.paths import lint_paths
from taskstate.lint.runner import LintRequest
from taskstate.model.write_metadata import timestamp
from taskstate.typed import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import datetime

    from taskstate.turn.obstacles import Obstacles
    from taskstate.turn.turn_request import TurnRequest
    from taskstate.workspace.workspace import Loaded, Workspace
    from taskstate.writing.change import Outcome

UNTESTED, UNPROVED = "TS303", "TS311"  # rules of a feature that passes by no command
_OTHERS = "TS5"  # from here on rules are of what a start judges by itself, such as the context, or of no turn


class Finding(NamedTuple):
    """What the linter found in a state file: the code of the rule, whether it is an error, and it as a refusal."""

    code: str
    is_error: bool
    refusal: TaskstateError


def lint_findings(workspace: Workspace, path: str, now: datetime) -> tuple[Finding, ...]:
    """Return what the linter finds in a state file `now`, compared as by `taskstate lint`."""
    report = lint_paths(workspace, [workspace.root / path], LintRequest(timestamp(now), None))
    found = [(f"{each.path}:{each.line}", each.diagnostic) for each in report.findings]
    return tuple(
        Finding(
            each.code,
            each.severity == ERROR,
            TaskstateError(f"{at}: {each.code} {each.message}", help=each.help, code="lint"),
        )
        for at, each in found
    )


def lint_lines(workspace: Workspace, outcome: Outcome, now: datetime) -> tuple[str, ...]:
    """Return the errors that the linter finds in a state file `now`, a line each."""
    return tuple(str(each.refusal) for each in lint_findings(workspace, outcome.path, now) if each.is_error)


def faults(call: TurnRequest, loaded: Loaded, obstacles: Obstacles, *, begins: bool) -> Iterator[str]:
    """Yield what the linter finds that an agent should know; where a turn begins, errors are in its way.

    What no command wrote would else be taken for recorded: a pass, other words in a session, a fence of broken JSON.
    """
    for each in lint_findings(call.workspace, loaded.relative, call.request.metadata.now):
        is_fault = each.is_error and each.code < _OTHERS
        if is_fault and begins:
            obstacles.add(each.refusal)
        elif is_fault or each.code == UNPROVED:
            yield str(each.refusal)
