"""session-time: a session does not say when it was, or goes back in time.

## What

The heading of a session ends with the time of its begin in UTC, as `YYYY-MM-DD HH:MM`. An error: there is no time, a
date alone, or a date or time that does not exist. A warning: the times fall from one session to the next; the fewest
sessions are named without which they would rise. Equal times are fine, and so are a `T` between date and time and a
remark behind them.

## Why

The times tell how long a task has rested, give the archived summary its duration, and let one compare a log with
commits. Falling times may come from a merge, and then both are true; or from a clock that was not set to UTC.

## Example

```markdown
### Session 3 - 31.01.2026

### Session 4 - 2026-01-31
```

## Instead

```markdown
### Session 3 - 2026-01-31 12:00

### Session 4 - 2026-01-31 15:30
```

The time of the commit that brought the session (`git log --format=%cI -S'### Session 3' FILE`) is a good guess where
nobody remembers. `taskstate session add` writes the time for you.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from taskstate.lint.diagnostics import WARNING, Diagnostic, Rule
from taskstate.model.algorithms import longest_rising

if TYPE_CHECKING:
    from collections.abc import Iterator

    from taskstate.lint.facts.file_facts import Facts
    from taskstate.model.task_state import Session
    from taskstate.syntax.document import Document

RULE = Rule(code="TS403", name="session-time", summary="a session does not say when it was, or goes back in time")

_DATE = r"\d{4}-\d{2}-\d{2}"
_NO_DIGIT = r"\D"
_FORM = "`### Session {} - YYYY-MM-DD HH:MM`, in UTC"


def check(document: Document, facts: Facts) -> Iterator[Diagnostic]:  # noqa: ARG001 - every rule takes both
    """Yield the sessions without a time that can be, and the fewest whose times fall."""
    timed: list[Session] = []
    for session in facts.sessions:
        if _is_time(session.time or ""):
            timed.append(session)
        else:
            yield RULE.at(
                session.section.heading,
                f"session {session.number} {_why(session)}",
                help=f"write {_FORM.format(session.number)}",
            )
    kept = longest_rising([int(re.compile(_NO_DIGIT).sub("", session.time or "")) for session in timed], strictly=False)
    if len(kept) < len(timed):
        yield from _falling(timed, set(kept))


def _is_time(text: str) -> bool:
    from datetime import datetime

    try:
        return bool(datetime.fromisoformat(text))
    except ValueError:
        return False


def _why(session: Session) -> str:
    if session.time:
        return f"has a time that does not exist: {session.time}"
    date = re.compile(_DATE).search(session.section.title)
    return f"has a date, {date[0]}, and no time" if date else "has no time"


def _falling(timed: list[Session], kept: set[int]) -> Iterator[Diagnostic]:
    before: Session | None = None
    for index, session in enumerate(timed):
        if index in kept:
            before = session
            continue
        falls = before is not None and (before.time or "") > (session.time or "")
        where = (
            f"earlier than session {before.number} before it" if before and falls else "later than a session behind it"
        )
        yield RULE.at(
            session.section.heading,
            f"session {session.number} has the time {session.time}, {where}",
            help="correct the time if it is wrong; after a merge it may stay",
            severity=WARNING,
        )
