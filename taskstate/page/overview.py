"""The overview: what needs a person, what is at work, what is blocked, and what was completed lately."""

from __future__ import annotations

from collections import defaultdict
from types import MappingProxyType

from taskstate.model.document_kinds import PERMANENT
from taskstate.model.statuses import BLOCKED, COMPLETE, CREATED, DROPPED, IN_PROGRESS
from taskstate.page import svg
from taskstate.page.task import drift_of
from taskstate.page.versions import shown_task
from taskstate.tasks.next_task import dependent_counts, is_open
from taskstate.typed import TYPE_CHECKING, NamedTuple
from taskstate.views import board, glance, needs

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from taskstate.page.forms import Form
    from taskstate.page.reading import Reading
    from taskstate.views.needs import Need
    from taskstate.views.repository import Repository, Shown

_MOST_NEEDS = 100  # of each list: the board and the commands show the rest
_MOST_FORMS = 20  # each reads its file
_MOST_DIFFS = 3  # each runs git
_MOST_ROWS = 30
_MOST_NAMED = 10
# What a person or an agent begins with.
_FIRST_COMMANDS = (
    'taskstate new --title "TITLE" --description "WHAT" --criterion "HOW TO TELL THAT IT IS DONE"',
    "taskstate start 1",
    'taskstate finish 1 --did "WHAT" --state "HOW IT STANDS" --next "STEP"',
)
# The order of the parts of the bar, with their colours.
_PARTS = ((COMPLETE, "good"), (IN_PROGRESS, "run"), (BLOCKED, "bad"), (CREATED, "line"), (DROPPED, "soft"))


class Asked(NamedTuple):
    """What needs a person, with its task where there is one; the form to answer with, and the number of the finding.

    `drift` is how the first files differ that a form would accept, with the role that left them.
    """

    need: Need
    shown: Shown | None
    form: Form | None = None
    finding: int = 0
    drift: Mapping[str, Any] = MappingProxyType({"drift": ()})


class Stuck(NamedTuple):
    """A blocked task: the tasks that it waits for, why, since when, and how many tasks wait for it."""

    shown: Shown
    upstream: tuple[str, ...]
    why: str
    since: str
    waiting: int


class Large(NamedTuple):
    """A task that grows too large: what is too much of it, the commands for that, and its size."""

    need: Need
    shown: Shown
    most_kb: int


def values(reading: Reading) -> Mapping[str, object]:
    """Return what the template of the overview shows."""
    repository = reading.repository
    columns = board.columns(repository, reading.needs, reading.now, names=(), wanted={})
    lists = {each.name: each for each in columns}
    totals = glance.totals(repository)
    parts = [svg.Part(totals[name], name, colour) for name, colour in _PARTS]
    complete = sorted(lists[COMPLETE].cards, key=lambda each: each.updated, reverse=True)
    count = len(reading.listed)
    return {
        "title": f"{count} need{'s' if count == 1 else ''} you" if count else "Nothing needs you",
        "asked": asked(reading, reading.listed[:_MOST_NEEDS]),
        "counted": counted(reading),
        "put_down": {(each.task, each.branch): each.text for each in reading.needs if each.kind == needs.PUT_DOWN},
        "unknown": [each for each in reading.needs if each.kind == needs.UNKNOWN],
        "last": max(repository.tasks, key=lambda each: each.task.updated, default=None),
        "groups": [(name, found) for name, found in glance.by_turn(repository).items() if found],
        "blocked": [*_stuck(repository, [each.shown for each in lists[BLOCKED].cards[:_MOST_ROWS]])],
        "all_blocked": lists[BLOCKED].all,
        "complete": [*board.whole(complete[:_MOST_ROWS])],
        "totals": totals,
        "is_empty": all(each.task.kind == PERMANENT for each in repository.tasks),
        "first_commands": _FIRST_COMMANDS,
        "parts_of_all": svg.bar(parts),
        "large": _large(reading),
        "most": _MOST_ROWS,
    }


def asked(reading: Reading, found: Sequence[Need]) -> list[Asked]:
    """Return what needs a person, each with the form that answers it, where the page has one."""
    made: list[Asked] = []
    for need in found:
        shown = reading.shown(need)
        is_drift = need.kind == needs.DRIFT and any("snapshot resolve" in each for each in need.actions)
        facts = shown.facts if shown else None
        sent_back = facts.sent_back if facts and need.kind == needs.SENT_BACK else ()
        finding = next((each.number for each in sent_back if each.text == need.detail), 0)
        has_form = reading.form_token and (is_drift or finding) and len(made) < _MOST_FORMS
        form = reading.form(shown, of_drift=is_drift) if shown and has_form else None
        made.append(Asked(need, shown, form, finding))
        is_shown = form and is_drift and sum(bool(each.drift["drift"]) for each in made) < _MOST_DIFFS
        if is_shown:
            differs = drift_of(shown_task(reading, need.task, need.branch), [need.paths])
            made[-1] = made[-1]._replace(drift=differs)
    return made


def counted(reading: Reading) -> list[tuple[str, list[Need], Sequence[str]]]:
    """Return how many there are of each kind that is counted, in words, with them, and the commands that show them.

    What grows stands by itself.
    """
    kinds = ((kind, [each for each in reading.needs if each.kind == kind]) for kind in needs.COUNTED)
    told = ((kind, found) for kind, found in kinds if found and kind != needs.LARGE)
    return [(glance.counted_kind(kind, len(found)), found, glance.actions_of(found)) for kind, found in told]


def _stuck(repository: Repository, blocked: Sequence[Shown]) -> list[Stuck]:
    dependents: defaultdict[str, list[str]] = defaultdict(list)
    for other in (each.task for each in repository.tasks if each.is_first and is_open(each.task)):
        for key in other.upstream.casefold().split():
            dependents[key].append(other.id.casefold())
    counts = dependent_counts([each.task for each in blocked], dependents)
    made = []
    for each in blocked:
        task, facts, complete = each.task, each.facts, each.tree.complete
        upstream = tuple(other for other in task.depends_on if other.casefold() not in complete)
        why = each.problem or task.blocked or ((facts.stuck or facts.words) if facts else "")
        since = (facts.blocked_at if facts else "") or task.updated
        made.append(Stuck(each, upstream, why, since, counts[task.id.casefold()]))
    return made


def _large(reading: Reading) -> list[Large]:
    found = [each for each in reading.needs if each.kind == needs.LARGE]
    tasks = ((each, reading.shown(each)) for each in found[:_MOST_NAMED])
    return [Large(each, shown, shown.tree.workspace.config.size.max_kb) for each, shown in tasks if shown]
