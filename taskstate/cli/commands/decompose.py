"""`taskstate decompose`: suggests subtasks for a task that has grown too long, or creates them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from taskstate.cli.arguments import Parser, usage_error
from taskstate.cli.invocation import Invocation
from taskstate.messages import counted

if TYPE_CHECKING:
    from taskstate.tasks.decompose import Suggestion

_COLUMNS = ("ID", "SESSIONS", "WORK", "AFTER", "FEATURES")


def configure(parser: Parser) -> None:
    """Declare the arguments."""
    parser.add_task()
    parser.add_argument("--apply", action="store_true", help="create the subtasks, and move the open features there")
    parser.add_writing(run=run)


def run(invocation: Invocation) -> int:
    """Suggest subtasks, or create them."""
    from taskstate.tasks.decompose import decompose, suggest

    task = invocation.task
    if invocation.args.apply:
        outcome = decompose(invocation.workspace, task, invocation.request())
        text = f"divided into {', '.join(each.id for each in outcome.result.subtasks)}"
        return invocation.print_outcome(outcome, text, **_shape(outcome.result))
    if invocation.args.expect_revision or invocation.args.dry_run:
        raise usage_error(
            "without --apply nothing is written, so there is nothing to do dry or to expect a revision of",
            help="add --apply, or leave that flag out",
        )
    suggestion = suggest(invocation.workspace, task)
    data = {"path": suggestion.path, "revision": suggestion.token, "changed": False, **_shape(suggestion)}
    return invocation.print_result(data, _text(suggestion))


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
