"""merge-conflict: conflict markers are left in the file.

## What

An opening marker (seven `<`), a divider (seven `=`) and a closing marker (seven `>`) stand at the beginning of
lines, in this order: git left a merge, rebase or stash half done. They are found everywhere, also in the front
matter and in fences.

## Why

Both versions stand in the file, and neither does: a key may be given twice, a session may be there once more, and
the divider even turns the line above it into a heading. So nothing else is said of what the markers make doubtful.

## Example

```text
<<<<<<< HEAD
status: in_progress
=======
status: blocked
>>>>>>> feature
```

## Instead

Decide what holds, and delete the three marker lines. Where both branches added a session, keep both, one after the
other: `taskstate lint --fix` puts the derived counts right afterwards. `git checkout --conflict=merge FILE` brings
the conflict back if one went wrong.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from taskstate.lint.diagnostics import WHOLE, Diagnostic, Rule

if TYPE_CHECKING:
    from collections.abc import Iterator

    from taskstate.lint.facts.file_facts import Facts
    from taskstate.syntax.document import Document

RULE = Rule(
    code="TS007",
    name="merge-conflict",
    summary="conflict markers are left in the file",
    reads=WHOLE,
)


def check(document: Document, facts: Facts) -> Iterator[Diagnostic]:
    """Yield each conflict at the line that opens it."""
    for conflict in facts.conflicts:
        last = document.position(conflict.span.end).line + 1
        yield RULE.at(
            conflict.marker,
            f"a merge conflict begins here and ends in line {last}",
            help="decide what holds, and delete the lines of the markers; nothing else is said of what they touch",
        )
