"""Tells what an import did, for people and as data."""

from __future__ import annotations

from collections import Counter, defaultdict

from taskstate.messages import counted
from taskstate.model.statuses import BLOCKED, COMPLETE, CREATED, DROPPED, IN_PROGRESS
from taskstate.syntax.spans import printable
from taskstate.typed import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from typing import Any

    from taskstate.importing.again import Changed
    from taskstate.importing.planning.tasks import Task
    from taskstate.importing.records import Told
    from taskstate.importing.run import Run

_SHOWN = 20
_WORDS = {CREATED: "created", IN_PROGRESS: "in progress", BLOCKED: "blocked", COMPLETE: "complete", DROPPED: "dropped"}
_OUTCOMES = {"task": "tasks", "part": "parts", "kept": "kept", "left": "left", "refused": "refused"}


def data_of(run: Run) -> dict[str, Any]:
    """Return what a run did as JSON values."""
    keys = ("source_id", "id", "outcome", "place", "why")
    return {
        "counts": run.counts,
        "records": [dict(zip(keys, each, strict=True)) for each in _records(run)],
        "warnings": [*dict.fromkeys(each.code for each in run.plan.told)],
        "told": [{"code": each.code, "why": each.why, "place": str(each.place or "")} for each in run.plan.told],
        "others": [each._asdict() for each in run.others],
    }


def _records(run: Run) -> Iterator[tuple[str, ...]]:
    differs = {each.task.id: _what(each) for each in run.changed}
    for task in run.plan.tasks:
        why = differs.get(task.id, "unchanged") if task.is_known else ""
        yield task.record.id, task.id, "task", str(task.record.place), why
    for left in run.plan.left:
        yield left.id, "", "left", str(left.place), left.why
    for each in run.plan.refused:
        yield each.id, "", "refused", str(each.place), f"{each.code}: {each.why}"


def _what(changed: Changed) -> str:
    """Return what became of a known task of which the source says something else."""
    added, differs = changed.added and f"added: {changed.added}", changed.differs and f"changed: {changed.differs}"
    return "; ".join(filter(None, (added, differs))) or "unchanged"


def text_of(run: Run, source: str, *, dry_run: bool, verbose: bool) -> str:
    """Return the report, at most 20 lines of each kind unless all are wanted."""
    new = [each for each in run.plan.tasks if not each.is_known]
    would = "would be " if dry_run else ""
    known = [(f"{each.task.record.place} {each.task.id}", each) for each in run.changed]
    differ = "changed in the source, and not taken over"
    groups = {
        f"{would}added": [f"{name}: {each.added}" for name, each in known if each.added],
        differ: [f"{name}: {each.differs}" for name, each in known if each.differs],
        "refused": [f"{each.place} {each.code}: {each.why}" for each in run.plan.refused],
        "left out": [f"{each.place} {each.why}" for each in run.plan.left],
    }
    same = len(run.plan.tasks) - len(new) - sum(bool(each.added or each.differs) for each in run.changed)
    kept = sorted(Counter(key for each in new for key in each.fields).items())
    most = None if verbose else _SHOWN
    lines = [
        _lead(new) if dry_run and new else "",
        f"{source}:",
        f"  {'would import' if dry_run else 'imported'} {_by_status(new)}" if new else "",
        f"  unchanged since the last import: {counted(same, 'task')}" if same else "",
        *(line for title, lines in groups.items() for line in _group(title, lines, most)),
        *_told(run.plan.told, most),
        f"  no place here: {', '.join(f'{key} ({n})' for key, n in kept)}: under Notes" if kept else "",
        *(f"  {each.number} {each.what}{each.advice and f' ({each.advice})'}" for each in run.others),
        f"  in {run.counts['in']} = " + " + ".join(f"{run.counts[key]} {name}" for key, name in _OUTCOMES.items()),
        "next: taskstate next" if new and not dry_run else "",
    ]
    return "\n".join(map(printable, filter(None, lines)))


def _lead(new: Sequence[Task]) -> str:
    """Return the line that a dry run begins with."""
    numbers = Counter(each.status for each in new)
    begun = numbers[IN_PROGRESS] + numbers[BLOCKED]
    work = f", {begun} at work" if begun else ""
    parts = f"{numbers[CREATED]} to do{work}, {numbers[COMPLETE]} done elsewhere"
    return f"{counted(len(new), 'task')}: {parts}; nothing written"


def _by_status(tasks: Sequence[Task]) -> str:
    numbers = Counter(each.status for each in tasks)
    parts = [f"{numbers[status]} {word}" for status, word in _WORDS.items() if numbers[status]]
    waived = " (imported: `taskstate list --waived`)" if numbers[COMPLETE] else ""
    return f"{counted(len(tasks), 'task')}: {', '.join(parts)}{waived}"


def _group(title: str, lines: Sequence[str], most: int | None) -> Iterator[str]:
    if lines:
        yield f"  {title}: {len(lines)}"
        yield from (f"    {each}" for each in lines[:most])
        if most is not None and len(lines) > most:
            yield f"    and {len(lines) - most} more (`--verbose` shows all)"


def _told(told: Iterable[Told], most: int | None) -> Iterator[str]:
    by_code: defaultdict[str, list[Told]] = defaultdict(list)
    for each in told:
        by_code[each.code].append(each)
    for code, (first, *others) in by_code.items():
        if {each.why for each in others} <= {first.why}:
            more = f" (and {len(others)} more like it)" if others else ""
            yield f"  {f'{first.place} ' if first.place else ''}{code}: {first.why}{more}"
        else:
            yield from _group(code, [f"{each.place or ''} {each.why}".strip() for each in (first, *others)], most)


def disagreement(run: Run) -> str:
    """Return what to say where the two counts differ."""
    return f"the reader counted {run.counted} records, and {run.counts['in']} are accounted for: nothing was written"
