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
from functools import partial

from taskstate.lint.diagnostics import ERROR, WARNING, Diagnostic, Rule
from taskstate.lint.facts.features import sound_features
from taskstate.lint.facts.moments import moment_of
from taskstate.typed import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from taskstate.lint.facts.file_facts import Facts
    from taskstate.syntax.document import Document
    from taskstate.syntax.spans import Span

RULE = Rule(code="TS412", name="session-in-future", summary="a session, or the test of a feature, is in the future")

_HOURS = 24  # by which local time may be ahead of UTC, with some slack
_EXACT = r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}Z"


class _Dated(NamedTuple):
    moment: str
    span: Callable[[], Span]  # looked for only where there is a finding
    what: str
    cure: str


def check(document: Document, facts: Facts) -> Iterator[Diagnostic]:  # noqa: ARG001 - every rule takes both
    """Yield a finding for each date in the future; the clock is asked once where there is none."""
    dated = [*_sessions(facts), *_tests(facts)]
    newest = max((each.moment for each in dated), default="")
    if not newest or not facts.queries.is_future(newest):
        return
    for each in dated:
        if facts.queries.is_future(each.moment):
            is_far = facts.queries.is_future(_earlier(each.moment))
            yield RULE.at(
                each.span(),
                f"{each.what} {each.moment}, which is in the future",
                help=each.cure,
                severity=ERROR if is_far else WARNING,
            )


def _sessions(facts: Facts) -> Iterator[_Dated]:
    for session in facts.sessions:
        moment = moment_of(session.time)
        if moment:
            cure = f"write the time when it was, in UTC: `### Session {session.number} - YYYY-MM-DD HH:MM`"
            yield _Dated(
                moment, partial(getattr, session.section, "heading"), f"session {session.number} is dated", cure
            )


def _tests(facts: Facts) -> Iterator[_Dated]:
    for feature in sound_features(facts, "tested_at"):
        moment = feature.values["tested_at"]
        if moment and re.compile(_EXACT).fullmatch(moment):
            cure = "write the time when it was tested, in UTC, or test it and run `taskstate feature pass`"
            yield _Dated(moment, partial(feature.span, "tested_at"), "this feature was tested at", cure)


def _earlier(moment: str) -> str:
    """Return the timestamp 24 hours before another one."""
    from datetime import datetime, timedelta

    try:
        return f"{datetime.fromisoformat(moment) - timedelta(hours=_HOURS):%Y-%m-%dT%H:%M:%SZ}"
    except ValueError:
        return moment
