"""`evidence`: records cited excerpts, and shows whether their sources still contain them."""

from __future__ import annotations

from taskstate.operations.operation import TASK, Operation, option, positional
from taskstate.operations.result import Result, changed
from taskstate.typed import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator

    from taskstate.evidence.excerpts import ExcerptStatus
    from taskstate.operations.call import Call
    from taskstate.operations.operation import TaskId


class Add(NamedTuple):
    """The arguments of `evidence add`."""

    id: TaskId = TASK
    type: str = option("T", "type in one word: plan, standard, log, design, …", is_required=True)
    path: str = option("P", "path of the file, from the root of the repository", is_required=True)
    lines: str = option("A-B", "first and last line (default: the whole file)")


class Show(NamedTuple):
    """The arguments of `evidence show`."""

    id: TaskId = TASK
    evidence: str = positional("EID", "id of the excerpt, such as plan-1", default="")


def add(call: Call, asked: Add) -> Result:
    """Record an excerpt of a file and its hash, under an id for citing it in prompts."""
    from taskstate.evidence.excerpts import Source, citation
    from taskstate.evidence.excerpts import add as add_excerpt

    task = call.task_id(asked.id)
    outcome = add_excerpt(call.workspace, task, Source(asked.type, asked.path, asked.lines), call.request())
    excerpt, line = outcome.result, citation(outcome.result, task)
    text = f"{excerpt.id}\n{line}"
    return changed(call, outcome, text=text, id=excerpt.id, citation=line, evidence=excerpt._asdict())


def show(call: Call, asked: Show) -> Result:
    """Show one excerpt, or all; exit with status 1 if a source no longer holds its excerpt."""
    from taskstate.evidence.excerpts import SAME
    from taskstate.evidence.excerpts import show as show_excerpt

    task = call.load_parsed(asked.id).state.id
    if not asked.evidence:
        return _all(call, task)
    shown = show_excerpt(call.workspace, task, asked.evidence)
    data = {
        **shown.excerpt._asdict(),
        "citation": shown.citation,
        "matches": shown.state == SAME,
        "state": shown.state,
        "text": shown.text,
        "lines_now": shown.lines,
        "text_now": shown.now,
        "notes": list(shown.notes),
    }
    return Result(data, "\n".join(_lines(shown)), status=0 if shown.state == SAME else 1)


def _all(call: Call, task: str) -> Result:
    """Return all excerpts, and of each whose source no longer holds it at its place what has become of that."""
    from taskstate.evidence.excerpts import SAME, show_all

    compared = show_all(call.workspace, task)
    lines = [each.citation if each.state == SAME else f"{each.citation}\n  {_state_line(each)}" for each in compared]
    data = [{**each.excerpt._asdict(), "state": each.state, "lines_now": each.lines} for each in compared]
    is_stale = any(each.state != SAME for each in compared)
    return Result(data, "\n".join(lines) or "no evidence yet", status=1 if is_stale else 0)


def _lines(shown: ExcerptStatus) -> Iterator[str]:
    yield shown.citation
    yield _state_line(shown)
    yield from (f"  {note}" for note in shown.notes)
    yield ""
    yield shown.text if shown.text is not None else "(its text is not kept here; only its hash is)"
    if shown.now is not None:
        yield f"\nThe text there now:\n\n{shown.now}"


def _state_line(shown: ExcerptStatus) -> str:
    from taskstate.evidence.excerpts import CHANGED, GONE, MOVED, SAME

    path, lines = shown.excerpt.path, shown.lines
    return {
        SAME: f"{path} still holds it",
        MOVED: f"{path} holds it at lines {lines} now, and no longer at {shown.excerpt.lines}",
        CHANGED: f"{path} changed: it no longer holds it",
        GONE: f"{path} cannot be read any more" if shown.notes else f"{path} is gone",
    }[shown.state]


OPERATIONS = (
    Operation("evidence add", "record an excerpt", add, Add, writes=True),
    Operation("evidence show", "show an excerpt, or list all", show, Show),
)
