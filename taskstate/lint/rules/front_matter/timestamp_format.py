"""timestamp-format: a time is not written as ISO 8601 in UTC.

## What

Every time in the front matter is written `YYYY-MM-DDTHH:MM:SSZ`: to the second, in UTC, with a `Z` at the end. Told
is what has another form, or is no date of the calendar.

## Why

Times of one form sort as texts, compare across machines and time zones, and mean the same to every reader. A time
without a zone means another moment on every machine.

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

`taskstate lint --fix` rewrites a time whose moment is certain: it names its offset from UTC. Where the zone is
missing or parts of a second would be lost, only `--unsafe-fixes` does, and takes the time for UTC. A date without a
time is left to you.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from taskstate.lint.diagnostics import FRONT_MATTER, Diagnostic, Fix, Rule
from taskstate.syntax.edits import Edit
from taskstate.validation import schema

if TYPE_CHECKING:
    from collections.abc import Iterator

    from taskstate.lint.facts.file_facts import Facts
    from taskstate.syntax.document import Document
    from taskstate.syntax.nodes import Node
    from taskstate.validation.schema_files import KeyPath

RULE = Rule(
    code="TS103",
    name="timestamp-format",
    summary="a time is not written as ISO 8601 in UTC",
    fixable=True,
    reads=FRONT_MATTER,
)

_EXACT = r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}Z"
_LOOSE = (
    r"(?P<date>[0-9]{4}-[0-9]{2}-[0-9]{2})[Tt ][ ]*(?P<time>[0-9]{2}:[0-9]{2})(?P<seconds>:[0-9]{2})?"
    r"(?:[.,](?P<fraction>[0-9]+))?[ ]*(?:(?P<zone>[Zz]|UTC|GMT)|(?P<offset>[+-][0-9]{2}:?[0-9]{2}))?"
)
_SHOWN = 80  # characters of a value that a message repeats: a longer one is no time, and may be a secret
_FORM = "%Y-%m-%dT%H:%M:%SZ"


def check(document: Document, facts: Facts) -> Iterator[Diagnostic]:  # noqa: ARG001 - every rule is called alike
    """Yield each time of another form, at its value."""
    if facts.front_matter is None:
        return
    faulty = [fault.path for fault in facts.front_matter_faults if fault.keyword != "required"]
    for path, node in schema.annotated(facts.front_matter, facts.front_matter_schema, "x-timestamp"):
        if is_exact(node.text) or node.value() is None:
            continue
        if not any(path[: len(each)] == each for each in faulty):
            yield _finding(path, node)


def is_exact(value: object) -> bool:
    """Return whether a value is a time of the right form, and a moment of the calendar."""
    return isinstance(value, str) and bool(re.compile(_EXACT).fullmatch(value) and _moment(value))


def _finding(path: KeyPath, node: Node) -> Diagnostic:
    from taskstate.validation.schema_errors import json_path

    shown = repr(node.text[:_SHOWN] + ("…" if len(node.text) > _SHOWN else ""))
    written = _rewritten(node.text)
    wrong = (
        "no moment of the calendar"
        if re.compile(_EXACT).fullmatch(node.text)
        else "no time of the form YYYY-MM-DDTHH:MM:SSZ"
    )
    fix = None
    if written and not node.pinned and node.style in {"plain", "single", "double"}:
        fix = Fix(edits=(Edit(*node.span, f'"{written[0]}"'),), safe=written[1])
    return RULE.at(
        node.span,
        f"`{json_path(path)}` is {shown}, which is {wrong}",
        help=f"write it as {written[0]}" if written else "write it in UTC, such as 2026-01-31T12:00:00Z",
        fix=fix,
    )


def _rewritten(text: str) -> tuple[str, bool] | None:
    """Return the time in the right form, and whether it is certainly the same moment; None where nobody can tell."""
    found = re.compile(_LOOSE).fullmatch(text.strip())
    if not found:
        return None
    offset = (found["offset"] or "+0000").replace(":", "")
    moment = _moment(f"{found['date']}T{found['time']}{found['seconds'] or ':00'}Z", offset)
    exact = not (found["fraction"] or "").strip("0")
    return (moment, exact and bool(found["zone"] or found["offset"])) if moment else None


def _moment(text: str, offset: str = "+0000") -> str | None:
    """Return a time at an offset as UTC, or None where the calendar or the clock has none such."""
    from datetime import UTC, datetime

    try:
        moment = datetime.fromisoformat(f"{text[:-1]}{offset}").astimezone(UTC)
    except (ValueError, OverflowError):
        return None
    return moment.strftime(_FORM) if moment.year >= 1000 else None  # noqa: PLR2004 - strftime pads no year below it
