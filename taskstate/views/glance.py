"""Shows at a glance what needs a person, and what is at work: `status` without a task."""

from __future__ import annotations

from collections import Counter

from taskstate.messages import counted, first_of
from taskstate.model.document_kinds import PERMANENT
from taskstate.model.statuses import BLOCKED, COMPLETE, CREATED, DROPPED, IN_PROGRESS
from taskstate.tasks.next_task import in_order
from taskstate.typed import TYPE_CHECKING
from taskstate.views import needs
from taskstate.views.layout import Screen, command, fit, labelled, lines_of, wrapped

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from taskstate.views.needs import Need
    from taskstate.views.repository import Repository, Shown

_KIND, _ID, _AGENT = 10, 5, 12  # columns
_MOST = 50  # tasks at work in a pipe
_FEWEST = 5
_MOST_NEEDS = 20
_NAMED = 3  # tasks behind a count
_COUNTS: Mapping[str, tuple[str, str]] = {
    needs.HANDOFF: ("handoff waits", "handoffs wait"),
    needs.BEHIND: ("agent is behind", "agents are behind"),
    needs.CLAIM: ("claim is unconfirmed", "claims are unconfirmed"),
    needs.STALE: ("context is stale", "contexts are stale"),
    needs.LARGE: ("task is too large", "tasks are too large"),
}
# What stands out on a terminal: a pattern, and the style of what it matches.
HIGHLIGHTS = (
    (rf"(?m)^  (?:{needs.DAMAGED}|{needs.DRIFT})\b", "1;31"),
    (rf"(?m)^  (?:{'|'.join(each for each in needs.SEVERITY if each not in {needs.DAMAGED, needs.DRIFT})})\b", "1;33"),
    (r"(?m)^(?:\d+ things? needs? you|Nothing needs you\.|At work)$", "1"),
    (r"(?m)^ +taskstate .*", "36"),
    (r"#{1,10}(?=\.{0,10} )", "32"),
)


def at_work(repository: Repository) -> tuple[Shown, ...]:
    """Return the tasks that are, or whose roles are, at work."""
    return tuple(each for each in repository.tasks if each.facts and each.facts.is_active)


def newest_of(repository: Repository) -> Mapping[str, Shown]:
    """Return the newest version of each task, by its case-folded id."""
    newest: dict[str, Shown] = {}
    for each in repository.tasks:
        key = each.task.id.casefold()
        if key not in newest or newest[key].task.updated < each.task.updated:
            newest[key] = each
    return newest


def totals(repository: Repository) -> Mapping[str, int]:
    """Return how many tasks have each status, and how many are ready; of several versions the newest counts."""
    tasks = [each.task for each in newest_of(repository).values() if each.task.kind != PERMANENT]
    counts = Counter(each.status for each in tasks)
    ready = sum(each.task.status == CREATED for each in in_order(tasks, len(tasks)).ready)
    return {**{each: counts[each] for each in (IN_PROGRESS, BLOCKED, CREATED, COMPLETE, DROPPED)}, "ready": ready}


def text(repository: Repository, found: Sequence[Need], screen: Screen) -> str:
    """Return what needs a person, what is counted or unknown, the tasks at work, and how many there are."""
    listed = [each for each in found if each.is_listed]
    lines = [f"{counted(len(listed), 'thing')} need{'s' if len(listed) == 1 else ''} you"]
    if not listed:
        lines = ["Nothing needs you.", *_last(repository, screen)]
    for each in listed[:_MOST_NEEDS]:
        lines += _need(each, screen)
    if len(listed) > _MOST_NEEDS:
        lines += [f"\u2026 {len(listed) - _MOST_NEEDS} more: taskstate status --format json"]
    lines += [line for kind in needs.COUNTED for line in _count([e for e in found if e.kind == kind], screen)]
    lines += [line for each in found if each.kind == needs.UNKNOWN for line in wrapped(each.text, screen)]
    lines += _work(repository, screen, len(lines))
    return lines_of((*lines, *wrapped(_totals(totals(repository)), screen, "")))


def _last(repository: Repository, screen: Screen) -> Iterator[str]:
    """Yield what was written last."""
    newest = max(repository.tasks, key=lambda each: each.task.updated, default=None)
    if newest and newest.task.updated:
        said = f" ({newest.facts.words})" if newest.facts and newest.facts.words else ""
        title = f"The last write: {newest.task.id}  {newest.task.title}{said}"
        age = screen.age(newest.task.updated)
        yield f"  {fit(title, screen.columns - len(age) - 4)}  {age}"


def _need(need: Need, screen: Screen) -> Iterator[str]:
    age = screen.age(need.since)
    begin = f"  {need.kind:<{_KIND}}{fit(need.task, max(_ID, len(need.task)))} "
    if screen.is_narrow or need.kind == needs.TRUST:
        yield begin + age
        yield from wrapped(f"{need.text} [{need.branch}]" if need.branch else need.text, screen, "    ")
    else:
        yield f"{begin}{labelled(need.text, need.branch, screen.columns - len(begin) - len(age) - 2)}  {age}"
    for each in need.actions:
        yield from command(each, screen, 4 if screen.is_narrow else len(begin))


def _count(found: Sequence[Need], screen: Screen) -> Iterator[str]:
    """Yield how many there are of a kind that is counted, which tasks, and the command for the first."""
    if found:
        one, many = _COUNTS[found[0].kind]
        named = first_of([f"{each.task} ({each.text})" for each in found], _NAMED)
        yield from wrapped(f"{len(found)} {one if len(found) == 1 else many}: {named}", screen)
        for each in found[0].actions[:1]:
            yield from command(each, screen, 4)


def _work(repository: Repository, screen: Screen, above: int) -> Iterator[str]:
    tasks = [each for each in at_work(repository) if each.task.status != BLOCKED and each.task.kind != PERMANENT]
    most = max(_FEWEST, screen.height - above - 4) if screen.height else _MOST
    if tasks:
        yield from ("", "At work")
    for each in tasks[:most]:
        yield _row(each, screen)
    if len(tasks) > most:
        yield f"\u2026 {len(tasks) - most} more: taskstate list --status {IN_PROGRESS}"
    yield from ("",) if tasks or above > 1 else ()


def _row(shown: Shown, screen: Screen) -> str:
    task, row = shown.task, shown.row
    passing, _, every = (row.progress if row else "").partition("/")
    bar = screen.bar(int(passing), int(every)) if every.isdigit() and not screen.is_narrow else ""
    end = f"  {fit(row.progress if row else '', 6)}{f'{bar} ' if bar else ''}{row.size_kb if row else 0:>3} KB"
    begin = f"  {fit(task.id, max(_ID, len(task.id)))} "
    middle = f"  {fit(shown.agent or shown.role, _AGENT)}" if not screen.is_narrow else ""
    room = screen.columns - len(begin) - len(middle) - len(end)
    return begin + labelled(task.title, shown.branch, room) + middle + end


def _totals(counts: Mapping[str, int]) -> str:
    """Return how many tasks there are, in words."""
    if not any(counts.values()):
        return 'no tasks: `taskstate new --title "TITLE"` creates one'
    created = f"{counts[CREATED]} created ({counts['ready']} ready)"
    dropped = (f"{counts[DROPPED]} dropped",) if counts[DROPPED] else ()
    words = (f"{counts[IN_PROGRESS]} in progress", f"{counts[BLOCKED]} blocked", created)
    return ", ".join((*words, f"{counts[COMPLETE]} complete", *dropped))
