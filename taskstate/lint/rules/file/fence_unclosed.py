"""fence-unclosed: a code fence never closes.

## What

A code fence (three or more backticks or tildes) is opened and never closed, so that everything below it is code. A
closing fence has at least as many marks of the same kind as the opening one, and nothing behind them.

## Why

Every heading, session and checklist below the fence becomes part of the code: readers no longer see them, and a tool
that appends at the end would write into the code. Until the fence is closed, no other rule checks the section in which
it begins, nor anything below.

## Example

````markdown
### Session 3 - 2026-01-31 12:00

```console
$ make test

### Session 4 - 2026-01-31 15:30
````

## Instead

Close the fence where the code ends. Code that contains a fence itself needs a longer one: four backticks around three.

````markdown
```console
$ make test
```

### Session 4 - 2026-01-31 15:30
````
"""

from __future__ import annotations

from taskstate.lint.diagnostics import WHOLE, Diagnostics, Fix, Rule
from taskstate.lint.facts.bare_json import line_of_edit, opening_of_bare_json
from taskstate.typed import TYPE_CHECKING

if TYPE_CHECKING:
    from taskstate.lint.facts.file_facts import Facts

RULE = Rule.of("TS004", __name__, "a code fence never closes", reads=WHOLE, fixable=True)


def check(facts: Facts) -> Diagnostics:
    """Yield at most one finding, for the fence that runs to the end of the text."""
    document = facts.document
    if facts.newer or facts.conflicts or facts.cut_off:
        return
    for problem in document.problems:
        if problem.kind == "fence-unclosed":
            opening = opening_of_bare_json(facts)
            if opening:
                yield RULE.at(
                    line_of_edit(facts, opening),
                    "this JSON is not in a code fence: the line that opens it is missing, and so the one that closes "
                    "it opens another",
                    help="write ```json above this line; `--fix` does",
                    fix=Fix(edits=(opening,)),
                )
                continue
            marks = problem.span.of(document.text).strip()
            yield RULE.at(
                problem.span,
                f"the code fence {marks[:20]!r} never closes: everything below it is code",
                help="close it where the code ends, with a line of at least as many of the same marks",
            )
