"""unsupported-version: `taskstate` is newer than this tool, no version, or missing where it should be there.

## What

The key `taskstate` is the version of the file format, now `1`. It is newer than this program knows, is not a positive
integer, or is missing although other keys show that the tool has written the file (`revision`, `audit`, `sessions` …).

## Why

In a newer format the same words may have another meaning. So no other rule checks such a file, and no command changes
it. Without the key, a reader must guess which rules apply.

## Example

```yaml
taskstate: 2
task_id: "101"
```

## Instead

For a newer version, install the program that wrote it, as you installed this one but from a newer checkout or commit; a
tool that follows a branch is brought up to date by `uv tool upgrade taskstate` or `pipx upgrade taskstate`. Where the
number was mistyped or lost, write the current version:

```yaml
taskstate: 1
```
"""

from __future__ import annotations

from taskstate.lint.diagnostics import WHOLE, Diagnostics, Rule
from taskstate.typed import TYPE_CHECKING
from taskstate.version import FORMAT

if TYPE_CHECKING:
    from taskstate.lint.facts.file_facts import Facts

RULE = Rule.of(
    "TS009",
    __name__,
    "`taskstate` is newer than this tool, or missing while other keys say it should be there",
    reads=WHOLE,
)

_SHOWN = 40  # characters of a wrong value that the message quotes


def check(facts: Facts) -> Diagnostics:
    """Yield at most one finding: at the version, or at the first line where it is missing."""
    if facts.front_matter is None or facts.foreign:
        return
    version = facts.front_matter.get("taskstate")
    if version is None:
        misspelt = any(fault.suggestion == "taskstate" for fault in facts.front_matter_faults)  # reported by TS102
        if facts.tool_key and not misspelt:
            yield RULE.at(
                facts.first_line,
                f"`taskstate` is missing, though `{facts.tool_key}` shows that the tool has written this file",
                help=f"add `taskstate: {FORMAT}` as the first key",
            )
    elif facts.newer:
        yield RULE.at(
            version.span,
            f"the format version {facts.version} is newer than {FORMAT}, the newest that this taskstate knows",
            help="update taskstate; the rest of the file is not checked",
        )
    elif facts.version is None:
        shown = version.span.of(facts.document.text)[:_SHOWN] if version.kind == "scalar" else f"a {version.kind}"
        yield RULE.at(
            facts.value_span("taskstate"),
            f"`taskstate` must be a format version, now {FORMAT}, and not {shown or 'empty'}",
            help=f"write `taskstate: {FORMAT}`",
        )
