"""session-number: the numbers of the sessions do not rise one by one.

## What

The sessions of the Progress Log are numbered upwards, without a gap, and go on where the Archived Summary ends. An
error: a number that an earlier session has, that is lower than the one before it, or that belongs to an archived
session. The finding names the fewest headings that would have to change. A warning: numbers that are missing in
between, or before the first session where no summary stands for them.

## Why

A session is known by its number, in commands, in the summary and in the archive. A number given twice means two
things, and archiving would put two entries under it. It usually comes from a merge of two branches that both went on
from the same session. A gap may be a session that somebody deleted.

## Example

```markdown
### Session 3 - 2026-01-31 12:00

### Session 3 - 2026-01-31 15:30
```

## Instead

```markdown
### Session 3 - 2026-01-31 12:00

### Session 4 - 2026-01-31 15:30
```

The fix renumbers: it changes numbers in headings and nothing else, also those behind the wrong one as far as it must.
It is a safe one where the file is compared with git (`--against HEAD`) and no commit holds the sessions that get other
numbers; otherwise unsafe, because a number may be used in a commit message or in another file. For a gap there is no
fix: look for the missing session in git, and if it never was, renumber by hand.
"""

from __future__ import annotations

from bisect import bisect_left
from typing import TYPE_CHECKING

from taskstate.lint.diagnostics import WARNING, Diagnostic, Fix, Rule
from taskstate.lint.facts.session_history import uncommitted
from taskstate.model.algorithms import longest_rising
from taskstate.syntax.edits import Edit

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from taskstate.lint.facts.file_facts import Facts
    from taskstate.model.task_state import Session
    from taskstate.syntax.document import Document
    from taskstate.syntax.spans import Span

RULE = Rule(
    code="TS402", name="session-number", summary="the numbers of the sessions do not rise one by one", fixable=True
)

_RENUMBER = "renumber it, and those behind it as far as needed; `{}` does"
_HELP = "look for it in git; if it never was, renumber the sessions behind it by hand"


def check(document: Document, facts: Facts) -> Iterator[Diagnostic]:  # noqa: ARG001 - every rule takes both
    """Yield the fewest sessions whose numbers must change, and the numbers that are missing."""
    sessions = facts.sessions
    archived = facts.summary.last if facts.summary else 0
    kept = _kept(sessions, archived)
    if len(kept) < len(sessions):
        fix = _renumbering(facts, kept, archived)
        told = _RENUMBER.format("--fix" if fix.safe else "--fix --unsafe-fixes")
        for session, why in _wrong(sessions, kept, archived):
            yield RULE.at(session.section.heading, f"session {session.number} {why}", help=told, fix=fix)
    known = facts.summary is None or archived > 0  # a summary that names no numbers may stand for any
    strays = [stray.span.start for _, stray in facts.strays]
    yield from _gaps(sessions, kept, strays, archived if known else None)


def _kept(sessions: Sequence[Session], archived: int) -> set[int]:
    """Return the indices of the sessions that keep their numbers: as many as can be."""
    candidates = [index for index, session in enumerate(sessions) if session.number > archived]
    return {candidates[index] for index in longest_rising([sessions[index].number for index in candidates])}


def _wrong(sessions: Sequence[Session], kept: set[int], archived: int) -> Iterator[tuple[Session, str]]:
    """Yield the sessions whose numbers must change, and why."""
    seen: set[int] = set()
    last = archived
    for index, session in enumerate(sessions):
        number = session.number
        if index in kept:
            last = number
        elif number == 0:
            yield session, "cannot be: the numbers begin with 1"
        elif number <= archived:
            yield session, f"is among the archived ones, which end with {archived}"
        elif number in seen:
            yield session, "is there already"
        else:
            yield (
                session,
                f"stands behind session {last}" if number < last else "stands before sessions of lower numbers",
            )
        seen.add(number)


def _renumbering(facts: Facts, kept: set[int], archived: int) -> Fix:
    """Return the fix that gives the others the next free number, and moves on those that are then no longer free."""
    edits = []
    moved = set()
    last = archived
    for index, session in enumerate(facts.sessions):
        last = session.number if index in kept and session.number > last else last + 1
        if last != session.number:
            start, end = session.number_span
            edits.append(Edit(start, end, str(last)))
            moved.add(session.section.heading)
    return Fix(edits=tuple(edits), safe=_are_new(moved, facts))


def _are_new(headings: set[Span], facts: Facts) -> bool:
    """Return whether it is known that no commit holds the sessions with these headings yet."""
    return facts.past is not None and headings <= uncommitted(facts)


def _gaps(
    sessions: Sequence[Session], kept: set[int], strays: Sequence[int], archived: int | None
) -> Iterator[Diagnostic]:
    """Yield the sessions before which numbers are missing; a wrong number or heading in between stands for one."""
    last, passed = archived, 0
    for index, session in enumerate(sessions):
        number, before = session.number, bisect_left(strays, session.section.span.start)
        if index not in kept:
            last = None if last is None else last + 1
            continue
        if last is not None and number > last + 1 + before - passed:
            yield RULE.at(session.section.heading, _missing(last + 1, number - 1), help=_HELP, severity=WARNING)
        last, passed = number if last is None else max(last, number), before


def _missing(first: int, last: int) -> str:
    return f"session {first} is missing" if first == last else f"the sessions {first} to {last} are missing"
