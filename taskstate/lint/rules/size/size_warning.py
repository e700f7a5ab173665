"""size-warning: the file is so large that archiving is worth a thought.

## What

The state file is over `warn-kb` (50 KB), or over `warn-tokens` where that is set, but not over the limit of TS502 and
TS505. Size means bytes of UTF-8 with line ends counted as one byte. Tokens are estimated as a quarter of these bytes,
which is about right for English text and code; no tokenizer is used, since each model has its own, and a limit must
mean the same on every machine.

## Why

The whole file is sent to everybody who works on the task. The file reading tools of agents stop at 10,000 to 25,000
tokens, which is about 75 KB: the rest is then not read.

## Example

```text
task-101-state.md  52 KB, 14 sessions
```

## Instead

Move the older sessions into the archive file, where they are kept in full and can be searched:

```console
$ taskstate archive 101 --force
```

That leaves the newest `keep-sessions` (5) here. With no more than these the finding names the command that leaves only
the newest one: `taskstate archive 101 --force --keep 1`.

Logs and long listings do not belong in a session: put them into a file and link it. Adding a session archives
automatically once the file is over the limit, so you may also wait.

## Configuration

`[tool.taskstate.size]`: `warn-kb = 50`, `warn-tokens = 0` (0: no such limit).
"""

from __future__ import annotations

from taskstate.lint.diagnostics import WARNING, Diagnostics, Rule
from taskstate.model.derived_values import how_to_shorten
from taskstate.typed import TYPE_CHECKING

if TYPE_CHECKING:
    from taskstate.lint.facts.file_facts import Facts

RULE = Rule.of("TS501", __name__, "the file is over 50 KB: consider archiving", severity=WARNING)


def check(facts: Facts) -> Diagnostics:
    """Yield at most one finding, at the first line."""
    passed = facts.over_warning
    if passed:
        help_ = f"consider `taskstate archive {facts.shown_id} --force`, which moves older sessions into the archive"
        if len(facts.state.sessions) <= facts.config.size.keep_sessions:
            help_ = how_to_shorten(facts.state, facts.shown_id, forced=True)
        yield RULE.at(facts.first_line, f"the file has {passed}", help=help_)
