"""no-next-step: the newest session of a task in progress names no next step.

## What

The task's `status` is `in_progress`, and its newest session has nothing under **Next steps:** but `None`, `-`, `TODO`
or the like. A missing or empty field is reported by TS404. Not checked is a Progress Log with an unknown heading
(TS401), since that may be the newest session.

## Why

The next session begins with this field, often done by somebody else, or by an agent that knows nothing else. Work that
goes on has a next step; if there is none, the task is complete or blocked, and its status should say so.

## Example

```markdown
**Current state:** Rotation works; expiry is not checked yet.

**Next steps:** None
```

## Instead

```markdown
**Next steps:**

- Check expiry in verifyToken(), then run `make test`
```

A session that is not committed yet may be edited so. After that, record another one, or say that nothing is left to do:

```console
$ taskstate session add 101 --did "Looked again" --state "As before" --next "Check expiry in verifyToken()"
$ taskstate complete 101
```

`taskstate edit 101 --blocked "WHY"` says that the work waits for somebody.
"""

from __future__ import annotations

from taskstate.lint.diagnostics import WARNING, Diagnostics, Rule
from taskstate.lint.facts.wording import cut, first_line_of
from taskstate.model.session_texts import NEXT
from taskstate.syntax.spans import Span
from taskstate.typed import TYPE_CHECKING

if TYPE_CHECKING:
    from taskstate.lint.facts.file_facts import Facts

RULE = Rule.of("TS406", __name__, "the newest session of a task in progress names no next step", severity=WARNING)

_HELP = (
    "record what comes next: `taskstate session add {0} --did T --state T --next T`; "
    "if nothing is left to do: `taskstate complete {0}`; if it waits for somebody: `taskstate edit {0} --blocked WHY`"
)


def check(facts: Facts) -> Diagnostics:
    """Yield at most one finding, at the text in place of the next steps."""
    document = facts.document
    newest = facts.idle_session
    if newest is None:
        return
    span = newest.fields[NEXT.field].span
    start = span.start + len(span.of(document.text)) - len(span.of(document.text).lstrip())
    text = " ".join(newest.next)
    yield RULE.at(
        first_line_of(document, Span(start, span.end)),
        f"session {newest.number}, the newest one, names no next step" + (f" but {cut(text)!r}" if text else ""),
        help=_HELP.format(facts.shown_id),
    )
