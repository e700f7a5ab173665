"""long-value: a single value over 2 KiB, a session over 8 KiB, or a summary over 3 KiB.

## What

A value of the front matter, or a string in the json fence of the Feature Checklist or of a phase, has more than 2 KiB;
a session has more than 8 KiB; or the Archived Summary has more than 3 KiB, however many sessions it stands for. Sizes
are bytes of UTF-8 with line ends counted as one byte. The finding is at the value, or at the heading.

## Why

Everybody who works on the task reads the whole file, again and again. A pasted log or stack trace costs every reader
each time, and hides what matters.

## Example

```json
{"id": "jwt-1", "description": "makes a valid JWT", "passes": true, "tested_at": "2026-01-31T12:00:00Z",
 "evidence": "============ test session starts ============ … (four pages)"}
```

## Instead

Put it into an artifact, and describe in one line what it shows:

```json
{"id": "jwt-1", "description": "makes a valid JWT", "passes": true, "tested_at": "2026-01-31T12:00:00Z",
 "evidence": "pytest: 8 passed; artifacts/task-101/pytest-2026-01-31.log"}
```

Artifacts are in `.taskstate/artifacts/task-101/` and are not committed; what others must be able to read belongs in a
file of the repository. `taskstate feature pass 101 jwt-1 --run "pytest -k jwt"` records command, exit status and hash
for you.
"""

from __future__ import annotations

from taskstate.lint.diagnostics import WARNING, Diagnostics, Rule
from taskstate.lint.facts.length_facts import VALUE, may_exceed
from taskstate.lint.facts.wording import first_line_of
from taskstate.model.task_state import KB
from taskstate.syntax.spans import size_in_bytes
from taskstate.typed import TYPE_CHECKING

if TYPE_CHECKING:
    from taskstate.lint.facts.file_facts import Facts
    from taskstate.syntax.document import Document
    from taskstate.syntax.nodes import Node

RULE = Rule.of(
    "TS504",
    __name__,
    "a single value over 2 KiB, a session over 8 KiB, or a summary over 3 KiB: put it into an artifact and link it",
    severity=WARNING,
)

_HELP = "put it into an artifact or a file of the repository, and write here what it shows and where it is"


def check(facts: Facts) -> Diagnostics:
    """Yield a finding for each value and each session that is too long."""
    faulty = {fault.path[0] for fault in facts.front_matter_faults if fault.path}
    for key, value in facts.long_values:
        if key not in faulty:
            yield from _values(facts.document, value, key)
    if facts.summary and facts.long_summary:
        message = f"the Archived Summary has {_kb(facts.long_summary)}; more than 3 KB is too much"
        help_ = "shorten it: the archive has the sessions in full"
        yield RULE.at(facts.summary.section.heading, message, help=help_)
    for session, size in facts.long_sessions:
        yield RULE.at(
            session.section.heading,
            f"session {session.number} has {_kb(size)}; more than 8 KB is too much",
            help=_HELP,
        )


def _values(document: Document, node: Node, where: str) -> Diagnostics:
    """Yield a finding for each long string within a value; `where` is the path to the value."""
    if not may_exceed(document.text, node.span.end - node.span.start, VALUE):
        return
    if node.kind == "scalar":
        size = size_in_bytes(node.text)
        if size > VALUE:
            yield RULE.at(
                first_line_of(document, node.span),
                f"`{where}` has {_kb(size)}; more than 2 KB is too much for one value",
                help=_HELP,
            )
    for entry in node.entries:
        yield from _values(document, entry.value, f"{where}.{entry.key.text}".lstrip("."))
    for index, item in enumerate(node.items):
        yield from _values(document, item, f"{where}[{index}]")


def _kb(size: int) -> str:
    return f"{size / KB:.1f} KB"
