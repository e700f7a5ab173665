"""merge-conflict: conflict markers are left in the file.

## What

An opening marker (seven `<`), a divider (seven `=`) and a closing marker (seven `>`) stand at the beginning of lines,
in this order: a merge, rebase or stash was left half done. Or one of them stands alone, because only the others were
deleted. Markers are found everywhere, also in the front matter and in JSON; a conflict that is quoted as a whole in
another code fence is an example, and none.

## Why

Both versions stand in the file, so neither is valid: keys and sessions may occur twice, and the divider even turns the
line above it into a heading. So no other rule checks the parts that the markers make uncertain.

## Example

```text
<<<<<<< HEAD
status: in_progress
=======
status: blocked
>>>>>>> feature
```

## Instead

Decide which version is right, and delete the three marker lines. Where both branches added a session, keep both, one
after the other: `taskstate lint --fix` corrects the derived counts afterwards. If that goes wrong,
`git checkout --conflict=merge FILE` restores the conflict.
"""

from __future__ import annotations

from taskstate.lint.diagnostics import WHOLE, Diagnostics, Rule
from taskstate.typed import TYPE_CHECKING

if TYPE_CHECKING:
    from taskstate.lint.facts.file_facts import Facts

RULE = Rule.of("TS007", __name__, "conflict markers are left in the file", reads=WHOLE)


def check(facts: Facts) -> Diagnostics:
    """Yield a finding for each conflict, at its opening marker, and for each marker that stands alone."""
    for conflict in facts.conflicts:
        if conflict.span == conflict.marker:
            message = "a marker of a merge conflict is left here"
            yield RULE.at(
                conflict.marker, message, help="delete this line, once the lines above and below it are right"
            )
            continue
        last = facts.document.position(conflict.span.end).line + 1
        yield RULE.at(
            conflict.marker,
            f"a merge conflict begins here and ends in line {last}",
            help="keep the right lines, and delete the markers; until then what they touch is not checked",
        )
