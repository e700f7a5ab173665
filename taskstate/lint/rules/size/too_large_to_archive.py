"""too-large-to-archive: the file is over the limit, and archiving would not make it smaller.

## What

The state file is over `max-kb` (75 KB), or over `max-tokens` where that is set, and has no more sessions than
`keep-sessions` (5). The message names its largest parts. This finding replaces TS502, whose advice would not help here.
Tokens are estimated as there, as a quarter of the bytes.

## Why

It is not the history that has grown, but a description, a checklist, pasted notes, or single sessions of many KB. Most
agents do not read such a file to its end.

## Example

A log of 60 KB was pasted into a session, because it seemed handy to have it there.

## Instead

Put long output, listings and designs into files of the repository, and link them:

```markdown
- All tests fail in CI since the upgrade; the log is in `.taskstate/artifacts/task-101/ci-2026-01-31.log`
```

A task with such a large checklist is better split into several.

## Configuration

`[tool.taskstate.size]`: `max-kb = 75`, `max-tokens = 0` (0: no such limit), `keep-sessions = 5`.
"""

from __future__ import annotations

from taskstate.lint.diagnostics import WARNING, Diagnostics, Rule
from taskstate.model.derived_values import how_to_shorten, largest_parts
from taskstate.typed import TYPE_CHECKING

if TYPE_CHECKING:
    from taskstate.lint.facts.file_facts import Facts

RULE = Rule.of(
    "TS505",
    __name__,
    "the file is over the limit with no more sessions than are kept: names its largest parts",
    severity=WARNING,
)


def check(facts: Facts) -> Diagnostics:
    """Yield at most one finding, at the first line; none where a part that cannot be read may have more sessions."""
    over, kept = facts.over_limit, facts.config.size.keep_sessions
    if over and len(facts.state.sessions) <= kept and facts.unreadable_body is None:
        yield RULE.at(
            facts.first_line,
            f"the file has {over}, and only the {kept} newest sessions, which are not archived; its largest parts: "
            f"{largest_parts(facts.state)}",
            help=how_to_shorten(facts.state, facts.shown_id),
        )
