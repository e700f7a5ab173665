"""session-field-missing: a session lacks one of its four fields, or says nothing there.

## What

A session has the fields **What I did:**, **Issues encountered:** (or **Issues:**), **Current state:** and **Next
steps:**. Each is a label in bold at the left margin, with its colon inside the bold, followed by text on the same line,
a paragraph or a list. A field is empty if only blanks, comments and empty list items follow. Labels in code fences,
lists, quotes and comments do not count. The finding is at the session's heading for a missing field, and at the label
for an empty one.

## Why

Whoever continues the task reads the newest session first: what was done, what the obstacles were, how things are, what
comes next. What is missing there must be found out again, at full price.

## Example

```markdown
### Session 3 - 2026-01-31 12:00

**What I did:**

- Implemented key rotation

**Next steps:**
```

## Instead

```markdown
**Issues encountered:** None

**Current state:** Rotation works; expiry is not checked yet.

**Next steps:**

- Check expiry in verifyToken()
```

`None` is an answer; an empty field is not. `taskstate session add` asks for all fields.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from taskstate.lint.diagnostics import Diagnostic, Rule
from taskstate.lint.facts.outline import SECTION, SUBSECTION
from taskstate.lint.facts.wording import line_of
from taskstate.model.task_state import is_summary, labelled_fields, session_number
from taskstate.syntax.escaping import is_blank
from taskstate.syntax.spans import Span

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from taskstate.lint.facts.file_facts import Facts
    from taskstate.model.task_state import Field, Session
    from taskstate.syntax.document import Document, Section

RULE = Rule(
    code="TS404", name="session-field-missing", summary="a session lacks one of its four fields, or says nothing there"
)

REQUIRED = ("What I did", "Issues encountered", "Current state", "Next steps")

_FORM = "a label stands in bold at the left margin, outside of fences, lists and quotes"


def check(document: Document, facts: Facts) -> Iterator[Diagnostic]:
    """Yield a finding for each required field that a session lacks or that is empty."""
    strays: Mapping[Span, Sequence[Section]] | None = None
    for session in facts.sessions:
        for label in REQUIRED:
            field = session.fields.get(label.lower())
            if field is None:
                strays = _strays(document, facts) if strays is None else strays
                field = _first(document, strays.get(session.section.span, ()), label)
            if field is None:
                yield _absent(document, session, label)
            elif is_blank(field.span.of(document.text)):
                yield _empty(document, session, field)


def _absent(document: Document, session: Session, label: str) -> Diagnostic:
    looks_like = re.compile(rf"^[ \t>*+\-_#\d.)]*{label}\b", re.IGNORECASE | re.MULTILINE)
    similar = looks_like.search(document.text, *session.span)
    add = f"write `**{label}:**` and something behind it"
    return RULE.at(
        session.section.heading,
        f"session {session.number} has no field {label!r}",
        help=f"the one in line {line_of(document, Span(*similar.span()))} is none: {_FORM}; {add}" if similar else add,
    )


def _empty(document: Document, session: Session, field: Field) -> Diagnostic:
    label = field.label_span.of(document.text).rstrip()
    return RULE.at(
        Span(field.label_span.start, field.label_span.start + len(label)),
        f"session {session.number} says nothing under `{label}`",
        help="say it, or write `None` if there is nothing to say",
    )


def _strays(document: Document, facts: Facts) -> Mapping[Span, Sequence[Section]]:
    """Return, by session, the sections that split it: TS401 reports their headings, and they may have its fields."""
    sessions = {session.section.span for session in facts.sessions}
    splitting: dict[Span, list[Section]] = {}
    current: Span | None = None
    for section in document.sections:
        if section.span in sessions:
            current = section.span
        elif section.level == SECTION or session_number(section.title) is not None or is_summary(section.title):
            current = None
        elif section.level <= SUBSECTION and current:
            splitting.setdefault(current, []).append(section)
    return splitting


def _first(document: Document, sections: Sequence[Section], label: str) -> Field | None:
    fields = (labelled_fields(document, section).get(label.lower()) for section in sections)
    return next((field for field in fields if field), None)
