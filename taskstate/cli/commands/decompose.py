"""`taskstate decompose`: suggests subtasks for a task that has grown too long, or creates them."""

from __future__ import annotations

import sys

from taskstate.cli.arguments import Parser, usage_error
from taskstate.cli.invocation import Invocation
from taskstate.cli.terminal import is_terminal
from taskstate.messages import counted
from taskstate.typed import TYPE_CHECKING

if TYPE_CHECKING:
    from typing import Any

    from taskstate.tasks.decompose import Suggestion
    from taskstate.workspace.change import Request

_COLUMNS = ("ID", "SESSIONS", "WORK", "AFTER", "FEATURES")


def configure(parser: Parser) -> None:
    """Declare the arguments."""
    parser.add_task()
    parser.add_argument("--apply", action="store_true", help="create the subtasks, and move the open features there")
    parser.add_writing(run=run)


def run(invocation: Invocation) -> int:
    """Suggest subtasks, or create them."""
    from taskstate.tasks.decompose import suggest

    task = invocation.task
    if invocation.args.apply:
        return _apply(invocation, invocation.request())
    if invocation.args.expect_revision or invocation.args.dry_run:
        raise usage_error(
            "without --apply nothing is written, so there is nothing to do dry or to expect a revision of",
            help="add --apply, or leave that flag out",
        )
    suggestion = suggest(invocation.workspace, task)
    data = {"path": suggestion.path, "revision": suggestion.token, "changed": False, **_shape(suggestion)}
    status = invocation.print_result(data, _text(suggestion))
    if _is_wanted(invocation):
        return _apply(invocation, invocation.request()._replace(expect=suggestion.token))
    return status


def _apply(invocation: Invocation, request: Request) -> int:
    from taskstate.tasks.decompose import decompose

    outcome = decompose(invocation.workspace, invocation.task, request)
    text = f"divided into {', '.join(each.id for each in outcome.result.subtasks)}"
    return invocation.print_outcome(outcome, text, **_shape(outcome.result))


def _is_wanted(invocation: Invocation) -> bool:
    """Ask at a terminal whether to create the subtasks; nobody is asked where a program reads or answers."""
    if invocation.as_json or invocation.args.quiet or not (is_terminal(sys.stdin) and is_terminal(sys.stdout)):
        return False
    sys.stdout.write("Create them now? [y/N] ")
    sys.stdout.flush()
    return sys.stdin.readline().strip().casefold() in {"y", "yes"}


def _shape(suggestion: Suggestion) -> dict[str, Any]:
    """Return a suggestion as programs read it."""
    return {
        "id": suggestion.id,
        "pace": suggestion.pace._asdict(),
        "subtasks": [each._asdict() for each in suggestion.subtasks],
    }


def _text(suggestion: Suggestion) -> str:
    """Return a suggestion as a table."""
    rows = [_COLUMNS]
    for each in suggestion.subtasks:
        after = ", ".join(each.depends_on) or "-"
        rows.append((each.id, str(each.sessions), each.work, after, ", ".join(each.features)))
    widths = [max(len(row[column]) for row in rows) for column in range(len(_COLUMNS))]
    lines = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows]
    pace, count = suggestion.pace, sum(len(each.features) for each in suggestion.subtasks)
    pace_text = f"{counted(pace.sessions, 'session')} for {counted(pace.features, 'feature')}"
    basis = "as so far" if pace.own else "assumed: none passes yet"
    head = f"task {suggestion.id}: {counted(count, 'open feature')}, at {pace_text} ({basis})"
    return "\n".join([head, "", *lines, "", f"`taskstate decompose {suggestion.id} --apply` creates them"])
