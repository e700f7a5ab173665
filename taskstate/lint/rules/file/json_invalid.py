"""json-invalid: a json fence that the format reads, an impact map or a progress file does not parse.

## What

The json fence of the Feature Checklist, of a phase, of the Standards, of the Validation or of an Impact Map is not
valid JSON, or a file with an impact map or the progress of a phase is not. Duplicate keys, `NaN` and `Infinity`, and
nesting over 100 levels are rejected too. Fences that the format does not read, such as an example in a session, are not
checked. The finding is at the position where parsing stopped; of what is never closed, in the last line.

## Why

JSON that does not parse is lost to every reader: the features of the task, and with them its progress. A duplicate key
is worse, because readers silently take one or the other.

## Example

```json
{
  "features": [
    {"id": "jwt-1", "description": "issue tokens", "passes": maybe, "tested_at": null},
  ]
}
```

## Instead

No comma before a closing bracket, strings in double quotes, no comments, and `true`, `false` or `null` in lower case:

```json
{
  "features": [
    {"id": "jwt-1", "description": "issue tokens", "passes": false, "tested_at": null}
  ],
  "overall_progress": "0%"
}
```

`taskstate feature add`, `pass` and `fail` change the fence without breaking it.
"""

from __future__ import annotations

import re

from taskstate.lint.diagnostics import Diagnostics, Rule
from taskstate.lint.facts.outline import block_at
from taskstate.lint.facts.wording import line_of
from taskstate.syntax.json_parser import AFTER_THE_END, NEVER_CLOSED
from taskstate.syntax.spans import CONTROLS, Span, first_line, line_start
from taskstate.typed import TYPE_CHECKING

if TYPE_CHECKING:
    from taskstate.lint.facts.file_facts import Facts

RULE = Rule.of("TS005", __name__, "a json fence that the format reads does not parse")


def check(facts: Facts) -> Diagnostics:
    """Yield a finding for the first fault of each json fence that the format reads, or of a file that is JSON."""
    document = facts.document
    text = document.text
    for fault in facts.json_faults:
        if not re.compile(CONTROLS).match(text, fault.span.start):  # reported by TS006
            span = _shown(text, fault.span)
            if not facts.is_json and fault.message.endswith(AFTER_THE_END) and _begins_a_line(text, span):
                message = "the JSON ends above this line, and its code fence goes on"
                help_ = "close the fence above this line"
            elif fault.message.endswith(NEVER_CLOSED):
                fence = None if facts.is_json else block_at(document, span.start)
                end = fence.span.end if fence else len(text)
                end = len(text[: line_start(text, end - 1) if fence else end].rstrip())
                message = f"the {'fence' if fence else 'file'} ends before what begins in line {{}} is closed"
                message = message.format(line_of(document, span))
                span = Span(line_start(text, end), end)
                help_ = "write its end, or restore it from git; nothing of this JSON is read until then"
            else:
                message = f"not valid JSON: {fault.message}"
                correct = "delete one of the two" if fault.kind == "duplicate-key" else "correct it here"
                help_ = f"{correct}; nothing of this JSON is read until then"
            yield RULE.at(span, message, help=help_)


def _begins_a_line(text: str, span: Span) -> bool:
    return text[line_start(text, span.start) : span.start].strip() == ""


def _shown(text: str, span: Span) -> Span:
    """Return the first line of `span` that is not blank: the one to look at."""
    start = span.start
    while start < span.end and text[start] in " \t\r\n":
        start += 1
    return first_line(text, Span(start, span.end)) if start < span.end else span
