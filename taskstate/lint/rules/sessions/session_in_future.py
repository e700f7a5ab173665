"""session-in-future: a session, or the test of a feature, is dated in the future.

## What

The time in the heading of a session, or the `tested_at` of a feature, has not come yet. Times are in UTC; up to 24
hours ahead this is a warning, since a writer may have used local time, and beyond that an error.

## Why

Nothing can have been done or tested at a time that has not come. Such a date is a slip in writing or made up, and what
counts days with it is wrong: how long a task rests, how old a proof is, the duration in the archived summary.

## Example

```markdown
### Session 3 - 2062-01-31 12:00
```

## Instead

```markdown
### Session 3 - 2026-01-31 12:00
```

The time of the commit that added the session (`git log --format=%cI -S'### Session 3' FILE`) is a good estimate. A time
in the future may be corrected in a committed session, too. `taskstate session add` and `taskstate feature pass` write
the time for you.
"""

from __future__ import annotations

import re

from taskstate.lint.diagnostics import ERROR, WARNING, Diagnostic, Diagnostics, Rule
from taskstate.lint.facts.moments import moment_of
from taskstate.lint.facts.wording import shown
from taskstate.typed import TYPE_CHECKING

if TYPE_CHECKING:
    from taskstate.lint.facts.file_facts import Facts
    from taskstate.syntax.spans import Span

RULE = Rule.of("TS412", __name__, "a session, or the test of a feature, is in the future")

_HOURS = 24  # by which local time may be ahead of UTC, with some slack
_EXACT = r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}Z"


def check(facts: Facts) -> Diagnostics:
    """Yield a finding for each date in the future."""
    for session in facts.future_sessions:
        cure = f"write the time when it was, in UTC: `### Session {session.number} - YYYY-MM-DD HH:MM`"
        what = f"session {session.number} is dated"
        yield _finding(facts, session.section.heading, what, moment_of(session.time) or "", cure)
    for feature in facts.sound_features("tested_at", among=facts.future_features):
        moment = feature.values["tested_at"]
        if re.compile(_EXACT).fullmatch(moment):
            again = (
                f"`taskstate feature pass {facts.shown_id} {shown(feature.values.get('id', 'FID'))} --evidence TEXT`"
            )
            cure = f"write the time when it was tested, in UTC, or test it again: {again}"
            yield _finding(facts, feature.span("tested_at"), "this feature was tested at", moment, cure)


def _finding(facts: Facts, span: Span, what: str, moment: str, cure: str) -> Diagnostic:
    severity = ERROR if facts.queries.is_future(_earlier(moment)) else WARNING
    return RULE.at(span, f"{what} {moment}, which is in the future", help=cure, severity=severity)


def _earlier(moment: str) -> str:
    """Return the timestamp 24 hours before another one."""
    from datetime import datetime, timedelta

    try:
        return f"{datetime.fromisoformat(moment) - timedelta(hours=_HOURS):%Y-%m-%dT%H:%M:%SZ}"
    except ValueError:
        return moment
