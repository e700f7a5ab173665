"""Tells what an import did, for people and as data."""

from __future__ import annotations

from collections import Counter

from taskstate.messages import counted
from taskstate.model.statuses import BLOCKED, COMPLETE, CREATED, DROPPED, IN_PROGRESS
from taskstate.syntax.spans import printable
from taskstate.typed import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from typing import Any

    from taskstate.importing.again import Changed
    from taskstate.importing.records import Told
    from taskstate.importing.run import Run

_SHOWN = 20
_WORDS = {CREATED: "created", IN_PROGRESS: "in progress", BLOCKED: "blocked", COMPLETE: "complete", DROPPED: "dropped"}


def data_of(run: Run) -> dict[str, Any]:
    """Return what a run did as JSON values."""
    return {
        "counts": run.counts,
        "records": [*_records(run)],
        "warnings": [*dict.fromkeys(each.code for each in run.plan.told)],
        "told": [{"code": each.code, "why": each.why, "place": str(each.place or "")} for each in run.plan.told],
        "others": [each._asdict() for each in run.others],
    }


def _records(run: Run) -> Iterator[dict[str, str]]:
    differs = {each.task.id: _what(each) for each in run.changed}
    for task in run.plan.tasks:
        why = differs.get(task.id, "unchanged") if task.is_known else ""
        yield _record(task.record.id, task.id, "task", str(task.record.place), why)
    for left in run.plan.left:
        yield _record(left.id, "", "left", str(left.place), left.why)
    for each in run.plan.refused:
        yield _record(each.id, "", "refused", str(each.place), f"{each.code}: {each.why}")


def _what(changed: Changed) -> str:
    """Return what became of a known task of which the source says something else."""
    added, differs = changed.added and f"added: {changed.added}", changed.differs and f"changed: {changed.differs}"
    return "; ".join(filter(None, (added, differs))) or "unchanged"


def _record(source_id: str, task_id: str, outcome: str, place: str, why: str) -> dict[str, str]:
    return {"source_id": source_id, "id": task_id, "outcome": outcome, "place": place, "why": why}


def text_of(run: Run, source: str, *, dry_run: bool, verbose: bool) -> str:
    """Return the report, at most 20 lines of each kind unless all are wanted."""
    most = None if verbose else _SHOWN
    new = [each for each in run.plan.tasks if not each.is_known]
    lines = [*_lead(run, dry_run=dry_run), f"{source}:"]
    lines += [f"  {'would import' if dry_run else 'imported'} {_by_status(new)}"] if new else []
    same = len(run.plan.tasks) - len(new) - sum(bool(each.added or each.differs) for each in run.changed)
    lines += [f"  unchanged since the last import: {counted(same, 'task')}"] if same else []
    told = {key: [(each.task, getattr(each, key)) for each in run.changed] for key in ("added", "differs")}
    known = {key: [f"{task.record.place} {task.id}: {what}" for task, what in told[key] if what] for key in told}
    lines += _group("would be added" if dry_run else "added", known["added"], most)
    lines += _group("changed in the source, and not taken over", known["differs"], most)
    refused = [f"{each.place} {each.code}: {each.why}" for each in run.plan.refused]
    lines += _group("refused", refused, most)
    lines += _group("left out", [f"{each.place} {each.why}" for each in run.plan.left], most)
    lines += _told(run.plan.told, most)
    kept = Counter(key for each in new for key in each.fields)
    if kept:
        lines.append(
            f"  no place here: {', '.join(f'{key} ({number})' for key, number in sorted(kept.items()))}: under Notes"
        )
    lines += [f"  {each.number} {each.what}{each.advice and f' ({each.advice})'}" for each in run.others]
    lines.append(f"  {_sum(run)}")
    lines += ["next: taskstate next"] if new and not dry_run else []
    return "\n".join(map(printable, lines))


def _lead(run: Run, *, dry_run: bool) -> Iterator[str]:
    """Yield the line that a dry run begins with."""
    new = [each.status for each in run.plan.tasks if not each.is_known]
    if dry_run and new:
        numbers = Counter(new)
        begun = numbers[IN_PROGRESS] + numbers[BLOCKED]
        parts = [
            f"{numbers[CREATED]} to do",
            *([f"{begun} at work"] if begun else []),
            f"{numbers[COMPLETE]} done elsewhere",
        ]
        yield f"{counted(len(new), 'task')}: {', '.join(parts)}; nothing written"


def _by_status(tasks: Iterable[Any]) -> str:
    numbers = Counter(each.status for each in tasks)
    parts = [f"{numbers[status]} {word}" for status, word in _WORDS.items() if numbers[status]]
    waived = " (imported: `taskstate list --waived`)" if numbers[COMPLETE] else ""
    return f"{counted(numbers.total(), 'task')}: {', '.join(parts)}{waived}"


def _group(title: str, lines: list[str], most: int | None) -> Iterator[str]:
    if lines:
        yield f"  {title}: {len(lines)}"
        yield from (f"    {each}" for each in lines[:most])
        if most is not None and len(lines) > most:
            yield f"    and {len(lines) - most} more (`--verbose` shows all)"


def _told(told: Iterable[Told], most: int | None) -> Iterator[str]:
    by_code: dict[str, list[Told]] = {}
    for each in told:
        by_code.setdefault(each.code, []).append(each)
    for code, all_ in by_code.items():
        if len({each.why for each in all_}) == 1:
            place = f"{all_[0].place} " if all_[0].place else ""
            more = f" (and {len(all_) - 1} more like it)" if len(all_) > 1 else ""
            yield f"  {place}{code}: {all_[0].why}{more}"
        else:
            yield from _group(code, [f"{each.place or ''} {each.why}".strip() for each in all_], most)


def _sum(run: Run) -> str:
    counts = run.counts
    names = {"task": "tasks", "part": "parts", "kept": "kept", "left": "left", "refused": "refused"}
    return f"in {counts['in']} = " + " + ".join(f"{counts[key]} {name}" for key, name in names.items())


def disagreement(run: Run) -> str:
    """Return what to say where the two counts differ."""
    return f"the reader counted {run.counted} records, and {run.counts['in']} are accounted for: nothing was written"
