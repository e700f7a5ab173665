"""What a search finds in the state files, archives and handoffs of all worktrees, by task."""

from __future__ import annotations

from collections import Counter

from taskstate.messages import first_of
from taskstate.model.names import id_key, own_type
from taskstate.secrets.mask import masked
from taskstate.typed import TYPE_CHECKING, NamedTuple
from taskstate.views.search import SEARCHED, search_all

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from taskstate.page.reading import Reading
    from taskstate.views.search import Found

_MOST_TASKS = 50  # of a page
_MOST_LINES = 5  # of a task, unless it is the only one
_MOST_OF_ONE = 500
_MOST_WORDS = 300  # characters of what is looked for
_CONTEXT = 80  # characters before what was found


class Hit(NamedTuple):
    """A line that was found: in which file of which kind, the place in the task's page, and its text in three parts.

    The task is shown as the `branch` has it, where it differs. What was looked for stands between what is `before` and
    `after` it.
    """

    kind: str
    found: Found
    place: str
    branch: str
    before: str
    match: str
    after: str


class Group(NamedTuple):
    """The lines found of a task: those that are shown, and how many there are."""

    task: str
    title: str
    hits: tuple[Hit, ...]
    number: int


def values(reading: Reading, given: Mapping[str, str]) -> Mapping[str, object]:
    """Return what the template of the search shows; with `task` what is found in the files of that one."""
    text, kind, task = (" ".join(given.get(each, "").split()) for each in ("q", "kind", "task"))
    text, only = text[:_MOST_WORDS], kind if kind in SEARCHED else ""
    found: tuple[Found, ...] = ()
    unread: tuple[str, ...] = ()
    if text:
        result, gone = search_all(reading.call.workspace, text, task=task)
        found, unread = result.found, (*result.unreadable, *gone)
    kinds = Counter[str](own_type(each.path) for each in found)
    wanted = [each for each in found if only in ("", own_type(each.path))]
    groups = [*_groups(reading, wanted, text, _MOST_OF_ONE if task else _MOST_LINES)]
    return {
        "title": f"Search: {text}" if text else "Search",
        "text": text,
        "kind": only,
        "task": task,
        "kinds": [("", len(found)), *((each, kinds[each]) for each in SEARCHED)],
        "groups": groups[:_MOST_TASKS],
        "left": first_of([each.task for each in groups[_MOST_TASKS:]], _MOST_TASKS),
        "lines": len(wanted),
        "tasks": len(groups),
        "unread": unread,
    }


def _groups(reading: Reading, found: Iterable[Found], text: str, most: int) -> Iterator[Group]:
    titles = {each.task.id.casefold(): each.task.title for each in reversed(reading.repository.tasks)}
    by_task: dict[str, list[Found]] = {}
    for each in found:
        by_task.setdefault(each.task, []).append(each)
    for task in sorted(by_task, key=id_key):
        lines = by_task[task]
        hits = tuple(_hit(each, text, reading.branch_of(task, each.worktree)) for each in lines[:most])
        yield Group(task, titles.get(task.casefold(), ""), hits, len(lines))


def _hit(found: Found, text: str, branch: str) -> Hit:
    """Return a line as it is shown; of a state file it has a place in the task's page, the other files have none.

    It is masked first: a part of a credential would not be known for one.
    """
    kind = own_type(found.path)
    place = f"L{found.number}" if kind == "state" else "timeline"
    line = masked(found.line)
    folded = line.casefold()
    at = folded.find(text.casefold()) if len(folded) == len(line) else -1
    if at < 0:  # it is there with other blanks, or letters of another length, or in what is masked
        return Hit(kind, found, place, branch, line, "", "")
    begin, end = max(at - _CONTEXT, 0), at + len(text)
    before = f"\u2026{line[begin:at]}" if begin else line[:at]
    return Hit(kind, found, place, branch, before, line[at:end], line[end:])
