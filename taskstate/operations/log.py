"""`log`: what happened, as one history of a task, of some or of all."""

from __future__ import annotations

import re
from contextlib import suppress

from taskstate.errors import TaskstateError
from taskstate.operations.call import usage_error
from taskstate.operations.operation import Operation, option, positional, switch
from taskstate.operations.result import Result
from taskstate.typed import TYPE_CHECKING, NamedTuple
from taskstate.views.history import KINDS

if TYPE_CHECKING:
    from collections.abc import Container, Iterator

    from taskstate.operations.call import Call
    from taskstate.operations.operation import Name, TaskId
    from taskstate.views.history import History, Source
    from taskstate.views.repository import Tree
    from taskstate.workspace.workspace import Loaded

_DATE = r"\d{4}-\d{2}-\d{2}(?:[T ]\d{2}:\d{2}(?::\d{2})?Z?)?"
_DAYS = {"today": 0, "yesterday": 1}
_MOST = 50


class Log(NamedTuple):
    """The arguments of `log`."""

    ids: tuple[TaskId, ...] = positional("ID", "tasks: 101, #101, TASK-101 or a path (default: all tasks)")
    since: Name = option("WHEN", "show only what happened since a commit, a date (UTC), `today` or `yesterday`")
    kind: tuple[str, ...] = option("", "show only entries of this kind", choices=KINDS)
    number: int | None = option("N", f"show at most this many entries; 0: all (default: {_MOST})")
    watch: bool = switch("show it again after each change, until Ctrl-C")


def log(call: Call, asked: Log) -> Result:
    """Show what happened to tasks, the newest first: sessions, also archived ones, and events between them.

    Events are findings, roles, accepted drift, turns, handoffs, archivings and commits. Times are in UTC, those of
    sessions without seconds.
    """
    from taskstate.views import history
    from taskstate.views.history_text import HIGHLIGHTS, text_of

    number = _MOST if asked.number is None else asked.number
    if number < 0:
        raise usage_error(f"--number {number} is not a number of entries", help="say how many, or 0 for all")
    wanted = history.Asked(since(call, asked.since), asked.kind, number)
    found = history.history(_sources(call, asked.ids), wanted)
    if not asked.ids:
        call.report_all_damage(found.unread)
    if call.as_data:
        entries = [{**each._asdict(), "at": each.at or None} for each in found.entries]
        return Result({"entries": entries, "more": found.has_more}, "")
    text = text_of(found.entries, call.screen, call.allowed) or "nothing happened"
    return Result(None, text + _older(found, asked, number), highlights=HIGHLIGHTS)


def _sources(call: Call, ids: tuple[str, ...]) -> tuple[Source, ...]:
    """Return where the history is read: in this worktree and the others; a task may be in one of them alone.

    Raises:
        TaskstateError: there is no such task in any.
    """
    from taskstate.model.names import parse_task_id
    from taskstate.views.history import Source
    from taskstate.views.repository import trees_of

    (own, *others), unread = trees_of(call.workspace)
    call.problems(tuple(unread))
    if not ids:
        return tuple(map(Source, (own, *others)))
    asked = {parse_task_id(each).casefold(): each for each in ids}
    there = [Source(tree, tuple(_loaded(tree, asked))) for tree in others]
    elsewhere = {loaded.state.id.casefold() for each in there for loaded in each.tasks or ()}
    elsewhere -= {each.id.casefold() for each in own.tasks} if elsewhere else set()
    mine = (call.load_parsed(given) for task, given in asked.items() if task not in elsewhere)
    return Source(own, tuple(mine)), *there


def _loaded(tree: Tree, ids: Container[str]) -> Iterator[Loaded]:
    """Yield those of some tasks that another worktree has and that can be read there."""
    for each in tree.tasks:
        if each.id.casefold() in ids:
            with suppress(TaskstateError):
                yield tree.workspace.load(tree.workspace.root / each.path)


def since(call: Call, text: str) -> str:
    """Return the time that a text stands for, as a timestamp; empty for an empty one.

    Raises:
        TaskstateError: code "usage": it is neither a date nor a commit.
    """
    if not text:
        return ""
    from taskstate.model.write_metadata import moment
    from taskstate.storage.git import client as git
    from taskstate.storage.git.log import with_paths

    if text in _DAYS:
        return day_before(call.now(), _DAYS[text])
    given = text.replace(" ", "T").removesuffix("Z")
    whole = f"{given}{'T00:00:00Z'[len(given) - 10 :]}"
    if re.fullmatch(_DATE, text) and moment(whole) is not None:
        return whole
    with suppress(TaskstateError):
        commit = git.resolve_commit(call.workspace.root, text)
        if at := with_paths(call.workspace.root, "--no-walk", commit)[0].time:
            return at
    message = f"--since {text!r} is neither a date nor a commit here"
    raise usage_error(message, help="write 2026-01-31, 2026-01-31T12:00, today, yesterday, or a commit")


def day_before(now: str, days: int) -> str:
    """Return when the day began that many days before a timestamp."""
    from datetime import date, timedelta

    return f"{date.fromisoformat(now[:10]) - timedelta(days=days)}T00:00:00Z"


def _older(found: History, asked: Log, number: int) -> str:
    """Return the line that names the command for older entries."""
    from taskstate.messages import quoted

    if not found.has_more:
        return ""
    begin = ["--since", asked.since] if asked.since else []
    kinds = [word for kind in asked.kind for word in ("--kind", kind)]
    words = ["taskstate", "log", *asked.ids, *begin, *kinds, "--number", str(number * 4)]
    return f"\n\u2026 older ones: `{' '.join(map(quoted, words))}`"


OPERATIONS = (
    Operation("log", "show what happened: sessions, findings, drift, handoffs and commits", log, Log, is_view=True),
)
