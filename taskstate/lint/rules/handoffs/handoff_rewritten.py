"""handoff-rewritten: what a handoff document recorded was edited.

## What

Since the compared revision (HEAD, or `--against REV`) a document has another `from_agent`, `state_revision` or value of
`verified`: a command wrote them, and they hold what was so at that time. Of a document that was accepted, the rest may
not change either.

## Why

The successor trusts `verified` because nobody wrote it by hand, and compares the tree and the task with it. An accepted
document says what was handed over: whoever asks later why something was done reads it there.

## Example

`state_revision: 18` was committed; now it says

```yaml
state_revision: 99
```

## Instead

Write again what was committed. What is to be said besides belongs into a session, or into the next handoff:

```console
$ taskstate session add 101 --did "Read the handoff" --state "Step 2 was done already" --next "Do step 3"
```
"""

from __future__ import annotations

import re

from taskstate.handoff.document import ACCEPTED
from taskstate.lint.diagnostics import WHOLE, Diagnostics, Rule
from taskstate.lint.facts.session_history import comparable
from taskstate.lint.facts.wording import cut, first_line_of
from taskstate.syntax.spans import Span, filled_lines, first_other
from taskstate.typed import TYPE_CHECKING

if TYPE_CHECKING:
    from taskstate.lint.facts.file_facts import Facts

RULE = Rule.of("TS808", __name__, "what a handoff document recorded was edited", reads=WHOLE)

_RECORDED = r"(?m)^(?:from_agent|state_revision|verified|[ \t]+[a-z_]+):.*$"


def check(facts: Facts) -> Diagnostics:
    """Yield at most one finding, at the first line that is another one than any compared revision has there."""
    if facts.foreign or facts.front_matter is None:
        return
    found = [first_other(*(_lines(each, then) for each in (facts, then))) for then in comparable(facts)]
    if found and all(found) and (other := found[0]):
        place = first_line_of(facts.document, Span(other[0], len(facts.document.text)))
        help_ = f"write it again, here or at its old place: `{cut(other[1])}`" if other[1] else "remove this line"
        yield RULE.at(place, f"this record was edited; committed was {cut(other[1])!r}", help=help_)


def _lines(facts: Facts, then: Facts) -> list[tuple[int, str]]:
    """Return the lines that must not change: all of a document that was accepted, and what a command recorded."""
    text, span = facts.document.text, facts.document.front_matter.span
    if then.values.get("status") == ACCEPTED:
        return filled_lines(text, Span(0, len(text)))
    found = re.compile(_RECORDED).finditer(text, *span) if span else ()
    return [(match.start(), match[0].strip().replace('"', "")) for match in found]
