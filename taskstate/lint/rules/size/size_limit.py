"""size-limit: the file is over the limit, and has sessions that can be archived.

## What

The state file is over `max-kb` (75 KB), or over `max-tokens` where that is set, and its Progress Log has more sessions
than `keep-sessions` (5). Size means bytes of UTF-8 with line ends counted as one byte. Tokens are estimated as a
quarter of these bytes, which is about right for English text and code; no tokenizer is used, since each model has its
own, and a limit must mean the same on every machine.

## Why

The file reading tools of agents stop at 10,000 to 25,000 tokens, which is about 75 KB: the end of the file, with the
newest sessions, is then not read. The commit hook rejects such a file.

## Example

```text
task-101-state.md  82 KB, 23 sessions
```

## Instead

```console
$ taskstate archive 101
```

moves all but the newest five sessions into `archives/task-101-archive.md`, in full and verified, and leaves a summary
of at most 3 KB in their place. `taskstate lint --fix` does the same, and `taskstate session add` archives
automatically.

## Configuration

`[tool.taskstate.size]`: `max-kb = 75`, `max-tokens = 0` (0: no such limit), `keep-sessions = 5`.
"""

from __future__ import annotations

from taskstate.lint.diagnostics import Diagnostics, Fix, Rule
from taskstate.typed import TYPE_CHECKING

if TYPE_CHECKING:
    from taskstate.lint.facts.file_facts import Facts

RULE = Rule.of("TS502", __name__, "the file is over 75 KB: run `taskstate archive`", fixable=True)


def check(facts: Facts) -> Diagnostics:
    """Yield at most one finding, at the first line."""
    kept, sessions = facts.config.size.keep_sessions, len(facts.state.sessions)
    if facts.over_limit and sessions > kept:
        yield RULE.at(
            facts.first_line,
            f"the file has {facts.over_limit}",
            help=f"run `taskstate archive {facts.shown_id}`: {kept} of {sessions} sessions stay",
            fix=Fix(job="archive"),
        )
