"""Shows at a glance what needs a person, and what is at work: `status` without a task."""

from __future__ import annotations

from collections import Counter

from taskstate.messages import counted, first_of
from taskstate.model.document_kinds import PERMANENT
from taskstate.model.statuses import BLOCKED, COMPLETE, CREATED, DROPPED, IN_PROGRESS
from taskstate.tasks.next_task import in_order
from taskstate.typed import TYPE_CHECKING
from taskstate.views import needs
from taskstate.views.layout import Screen, between, command, fit, lines_of, more, wrapped

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from taskstate.views.needs import Need
    from taskstate.views.repository import Repository, Shown

_KIND, _ID, _AGENT = 10, 5, 12  # columns
_MOST = 50  # tasks at work in a pipe
_FEWEST = 5
_MOST_NEEDS = 20
_NAMED = 3  # tasks behind a count
AT_WORK, BETWEEN = "At work", "Between turns"
_COUNTS: Mapping[str, tuple[str, str]] = {
    needs.HANDOFF: ("handoff waits", "handoffs wait"),
    needs.BEHIND: ("agent is behind", "agents are behind"),
    needs.CLAIM: ("claim is unconfirmed", "claims are unconfirmed"),
    needs.STALE: ("context is stale", "contexts are stale"),
    needs.PUT_DOWN: ("change counts as work of an open turn", "changes count as work of open turns"),
    needs.LARGE: ("task is too large", "tasks are too large"),
}
# What stands out on a terminal: a pattern, and the style of what it matches.
HIGHLIGHTS = (
    (rf"(?m)^  (?:{needs.DAMAGED}|{needs.DRIFT})\b", "1;31"),
    (rf"(?m)^  (?:{'|'.join(each for each in needs.SEVERITY if each not in {needs.DAMAGED, needs.DRIFT})})\b", "1;33"),
    (r"(?m)^(?:\d+ things? needs? you|Nothing needs you\.|At work|Between turns)$", "1"),
    (r"(?m)^ +(?:taskstate|git) .*", "36"),
    (r"#{1,10}(?=\.{0,10} )", "32"),
)


def at_work(repository: Repository) -> tuple[Shown, ...]:
    """Return the tasks that are, or whose roles are, at work."""
    return tuple(each for each in repository.tasks if each.is_first and each.facts and each.facts.is_active)


def by_turn(repository: Repository) -> Mapping[str, Sequence[Shown]]:
    """Return the tasks that somebody works on, and those that have begun and wait for the next turn; none blocked."""
    tasks = [each for each in at_work(repository) if each.status != BLOCKED and each.task.kind != PERMANENT]
    return {AT_WORK: [each for each in tasks if each.turn], BETWEEN: [each for each in tasks if not each.turn]}


def totals(repository: Repository) -> Mapping[str, int]:
    """Return how many tasks have each status, and how many are ready; of several versions the newest counts."""
    tasks = [each for each in repository.tasks if each.is_first and each.task.kind != PERMANENT]
    counts, order = Counter(each.status for each in tasks), in_order([each.task for each in tasks]).ready
    can_begin = {each.task for each in order}
    ready = sum(each.status == CREATED and not each.is_stale and each.task in can_begin for each in tasks)
    return {**{each: counts[each] for each in (IN_PROGRESS, BLOCKED, CREATED, COMPLETE, DROPPED)}, "ready": ready}


def counted_kind(kind: str, number: int) -> str:
    """Return how many there are of a kind that is counted, in words."""
    return f"{number} {_COUNTS[kind][number != 1]}"


def text(repository: Repository, found: Sequence[Need], screen: Screen) -> str:
    """Return what needs a person, what is counted or unknown, the tasks at work, and how many there are."""
    listed = [each for each in found if each.is_listed]
    lines = [f"{counted(len(listed), 'thing')} need{'s' if len(listed) == 1 else ''} you"]
    if not listed:
        lines = ["Nothing needs you.", *_last(repository, screen)]
    for each in listed[:_MOST_NEEDS]:
        lines += _need(each, screen)
    if len(listed) > _MOST_NEEDS:
        lines += more(f"{len(listed) - _MOST_NEEDS} more", "status --format json", screen)
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
        yield between("  ", title, f"  {screen.age(newest.task.updated)}", screen)


def _need(need: Need, screen: Screen) -> Iterator[str]:
    age = screen.age(need.since)
    begin = f"  {need.kind:<{_KIND}}{fit(need.task, max(_ID, len(need.task)))} "
    if screen.is_narrow or need.kind == needs.TRUST or not need.actions:  # no command shows the rest
        yield begin + age
        yield from wrapped(f"{need.text} [{need.branch}]" if need.branch else need.text, screen, "    ")
    else:
        yield between(begin, need.text, f"  {age}", screen, need.branch)
    for each in need.actions:
        yield from command(each, screen, 4 if screen.is_narrow else len(begin))


def _count(found: Sequence[Need], screen: Screen) -> Iterator[str]:
    """Yield how many there are of a kind that is counted, which tasks, and the command for them."""
    if found:
        named = first_of([f"{each.task} ({each.text})" for each in found], _NAMED)
        yield from wrapped(f"{counted_kind(found[0].kind, len(found))}: {named}", screen)
        for each in actions_of(found):
            yield from command(each, screen, 4)


def actions_of(found: Sequence[Need]) -> Sequence[str]:
    """Return the command for the first of a kind that is counted; of what it shows of one worktree, for each."""
    actions = dict.fromkeys(action for each in found for action in each.actions[:1])
    return [*actions][: None if found[0].kind == needs.BEHIND else 1]


def _work(repository: Repository, screen: Screen, above: int) -> Iterator[str]:
    groups = by_turn(repository)
    most, left = max(_FEWEST, screen.height - above - 4) if screen.height else _MOST, 0
    for name, tasks in groups.items():
        yield from ("", name) if tasks[:most] else ()
        yield from (_row(each, screen) for each in tasks[:most])
        left, most = left + len(tasks[most:]), max(most - len(tasks), 0)
    if left:
        yield from more(f"{left} more", f"list --status {IN_PROGRESS}", screen)
    yield from ("",) if any(groups.values()) or above > 1 else ()


def _row(shown: Shown, screen: Screen) -> str:
    task, row = shown.task, shown.row
    passing, _, every = (row.progress if row else "").partition("/")
    bar = screen.bar(int(passing), int(every)) if every.isdigit() and not screen.is_narrow else ""
    end = f"  {fit(row.progress if row else '', 6)}{f'{bar} ' if bar else ''}{row.size_kb if row else 0:>3} KB"
    begin = f"  {fit(task.id, max(_ID, len(task.id)))} "
    waits = shown.facts.next_role if shown.facts else ""
    middle = f"  {fit(shown.agent or shown.role or waits, _AGENT)}" if not screen.is_narrow else ""
    middle += f"  {screen.age(shown.turn.started_at)}" if shown.turn and middle else ""
    return between(begin, task.title, middle + end, screen, shown.branch)


def _totals(counts: Mapping[str, int]) -> str:
    """Return how many tasks there are, in words."""
    if not any(counts.values()):
        return 'no tasks: `taskstate new --title "TITLE"` creates one'
    created = f"{counts[CREATED]} created ({counts['ready']} ready)"
    dropped = (f"{counts[DROPPED]} dropped",) if counts[DROPPED] else ()
    words = (f"{counts[IN_PROGRESS]} in progress", f"{counts[BLOCKED]} blocked", created)
    return ", ".join((*words, f"{counts[COMPLETE]} complete", *dropped))
