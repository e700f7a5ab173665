"""timestamp-format: a time is not written as ISO 8601 in UTC.

## What

Every time in the front matter is written as `YYYY-MM-DDTHH:MM:SSZ`: to the second, in UTC, with a `Z` at the end. A
time in another form is reported, and one that does not exist in the calendar.

## Why

Times of one form can be sorted as strings and compared across machines and time zones. A time without a zone means
another moment on every machine.

## Example

```yaml
created_at: 2026-01-31 12:00
updated_at: "2026-01-31T13:00:00+01:00"
```

## Instead

```yaml
created_at: "2026-01-31T12:00:00Z"
updated_at: "2026-01-31T12:00:00Z"
```

`taskstate lint --fix` rewrites a time that names its offset from UTC. Where the zone is missing or fractions of a
second would be lost, only `--unsafe-fixes` rewrites it, as a time in UTC. A date without a time must be corrected by
hand.
"""

from __future__ import annotations

import re

from taskstate.lint.diagnostics import FRONT_MATTER, Diagnostic, Diagnostics, Fix, Rule
from taskstate.syntax.edits import Edit
from taskstate.typed import TYPE_CHECKING

if TYPE_CHECKING:
    from taskstate.lint.facts.file_facts import Facts
    from taskstate.syntax.nodes import Node
    from taskstate.validation.schema_files import KeyPath

RULE = Rule.of("TS103", __name__, "a time is not written as ISO 8601 in UTC", fixable=True, reads=FRONT_MATTER)

_EXACT = r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}Z"
_LOOSE = (
    r"(?P<date>[0-9]{4}-[0-9]{2}-[0-9]{2})[Tt ][ ]*(?P<time>[0-9]{2}:[0-9]{2})(?P<seconds>:[0-9]{2})?"
    r"(?:[.,](?P<fraction>[0-9]+))?[ ]*(?:(?P<zone>[Zz]|UTC|GMT)|(?P<offset>[+-][0-9]{2}:?[0-9]{2}))?"
)
_SHOWN = 80  # characters of a value that a message quotes: a longer value is no time, and may be a secret
_FORM = "%Y-%m-%dT%H:%M:%SZ"


def check(facts: Facts) -> Diagnostics:
    """Yield a finding for each time of another form, at its value."""
    faulty = [fault.path for fault in facts.front_matter_faults if fault.keyword != "required"]
    for path, node in facts.inexact_times:
        if not any(path[: len(each)] == each for each in faulty):
            yield _finding(path, node)


def _finding(path: KeyPath, node: Node) -> Diagnostic:
    from taskstate.validation.schema_errors import json_path

    shown = repr(node.text[:_SHOWN] + ("…" if len(node.text) > _SHOWN else ""))
    rewritten = _rewritten(node.text)
    problem = (
        "not a date that exists"
        if re.compile(_EXACT).fullmatch(node.text)
        else "not a time of the form YYYY-MM-DDTHH:MM:SSZ"
    )
    fix = None
    if rewritten and not node.pinned and node.style in {"plain", "single", "double"}:
        fix = Fix(edits=(Edit(*node.span, f'"{rewritten[0]}"'),), safe=rewritten[1])
    guessed = "; `taskstate lint --fix --unsafe-fixes` does" if fix and not fix.safe else ""
    return RULE.at(
        node.span,
        f"`{json_path(path)}` is {shown}, which is {problem}",
        help=f"write it as {rewritten[0]}{guessed}" if rewritten else "write it in UTC, such as 2026-01-31T12:00:00Z",
        fix=fix,
    )


def _rewritten(text: str) -> tuple[str, bool] | None:
    """Return the time in the right form, and whether it is surely the same moment; None for an unknown form."""
    match = re.compile(_LOOSE).fullmatch(text.strip())
    if not match:
        return None
    offset = (match["offset"] or "+0000").replace(":", "")
    moment = _moment(f"{match['date']}T{match['time']}{match['seconds'] or ':00'}Z", offset)
    exact = not (match["fraction"] or "").strip("0")
    return (moment, exact and bool(match["zone"] or match["offset"])) if moment else None


def _moment(text: str, offset: str = "+0000") -> str | None:
    """Return a time with an offset converted to UTC, or None where no such time exists."""
    from datetime import UTC, datetime

    try:
        moment = datetime.fromisoformat(f"{text[:-1]}{offset}").astimezone(UTC)
    except (ValueError, OverflowError):
        return None
    return moment.strftime(_FORM) if moment.year >= 1000 else None  # noqa: PLR2004 - strftime does not pad earlier years
