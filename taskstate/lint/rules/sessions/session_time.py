"""session-time: a session does not say when it was, or goes back in time.

## What

The heading of a session ends with its starting time in UTC, as `YYYY-MM-DD HH:MM`. An error: the time is missing or
without hours and minutes, the date or time does not exist, or another clock stands behind it (`PM`, `+0200`, `CEST`),
which nobody reads. A warning: a session is older than the task; or times decrease from one session to the next: there
is a finding for the fewest sessions without which they would increase. Equal times are allowed, and so are a `T`
between date and time and a remark behind them. What was committed is not asked for its clock or its age.

## Why

The times show how long a task has rested, give the archived summary its duration, and make the log comparable with
commits. Decreasing times may come from a merge, and then both are right; or from a clock that was not set to UTC.

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

The time of the commit that added the session (`git log --format=%cI -S'### Session 3' FILE`) is a good estimate if
nobody remembers. `taskstate session add` writes the time for you.
"""

from __future__ import annotations

import re

from taskstate.lint.diagnostics import WARNING, Diagnostics, Rule
from taskstate.lint.facts.log_facts import is_zoned
from taskstate.lint.facts.moments import moment_of
from taskstate.model.algorithms import longest_rising
from taskstate.typed import TYPE_CHECKING

if TYPE_CHECKING:
    from taskstate.lint.facts.file_facts import Facts
    from taskstate.model.progress_log import Session

RULE = Rule.of("TS403", __name__, "a session does not say when it was, or goes back in time")

_DATE = r"\d{4}-\d{2}-\d{2}"
_NO_DIGIT = r"\D"


def check(facts: Facts) -> Diagnostics:
    """Yield a finding for each session without a valid time, and for the fewest whose times decrease."""
    dated = [each for each in facts.odd_sessions if moment_of(each.time)]
    if dated:
        from taskstate.lint.facts.session_history import newly_headed

        dated = newly_headed(facts, dated)
    early = [each for each in dated if not is_zoned(each)]
    for session in facts.odd_sessions:
        if moment_of(session.time) is None:
            help_ = f"write `### Session {session.number} - {_date(session)} HH:MM`, in UTC"
            yield RULE.at(session.section.heading, f"session {session.number} {_reason(session)}", help=help_)
    for session in filter(is_zoned, dated):
        message = f"session {session.number} is read as {session.time} UTC, but names another time zone"
        help_ = f"write that time in UTC: `### Session {session.number} - {_date(session)} HH:MM`"
        yield RULE.at(session.section.heading, message, help=help_)
    for session in early:
        message = f"session {session.number} has the time {session.time}, before the task was created"
        help_ = f"correct it; `created_at` is {facts.values['created_at']}"
        yield RULE.at(session.section.heading, message, help=help_, severity=WARNING)
    future = {session.section.span for session in (*facts.future_sessions, *early)}  # TS412
    timed = [session for session in facts.falling_sessions if session.section.span not in future]
    yield from _falling(timed, set(_kept(timed)))


def _kept(timed: list[Session]) -> tuple[int, ...]:
    """Return the indices of the most sessions whose times do not decrease."""
    times = [int(re.compile(_NO_DIGIT).sub("", session.time or "")) for session in timed]
    return longest_rising(times, strictly=False)


def _date(session: Session) -> str:
    """Return the date that a heading has, or what stands for one."""
    date = re.compile(_DATE).search(session.section.title)
    return date[0] if date and moment_of(f"{date[0]} 00:00") else "YYYY-MM-DD"


def _reason(session: Session) -> str:
    if session.time:
        return f"has a time that does not exist: {session.time}"
    date = re.compile(_DATE).search(session.section.title)
    return f"has a date, {date[0]}, and no time" if date else "has no time"


def _falling(timed: list[Session], kept: set[int]) -> Diagnostics:
    before: Session | None = None
    for index, session in enumerate(timed):
        if index in kept:
            before = session
            continue
        falls = before is not None and (before.time or "") > (session.time or "")
        where = (
            f"earlier than session {before.number} before it" if before and falls else "later than a session after it"
        )
        yield RULE.at(
            session.section.heading,
            f"session {session.number} has the time {session.time}, {where}",
            help="correct the time if it is wrong; after a merge it may stay",
            severity=WARNING,
        )
