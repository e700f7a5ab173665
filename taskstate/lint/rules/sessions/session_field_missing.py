"""session-field-missing: a session lacks one of its three fields, or says nothing there.

## What

A session has the fields **What I did:**, **Current state:** and **Next steps:**; **Issues encountered:** (or
**Issues:**) may be left out where there were none. Each is a label in bold at the left margin, with its colon inside
the bold, followed by text on the same line, a paragraph or a list. A field is empty if only blanks, comments and empty
list items follow. Labels in code fences, lists, quotes and comments do not count. The finding is at the session's
heading for a missing field, and at the label for an empty one.

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
**Current state:** Rotation works; expiry is not checked yet.

**Next steps:** Check expiry in verifyToken()
```

`None` is an answer; an empty field is not. `taskstate session add` asks for all fields.
"""

from __future__ import annotations

import re
from functools import cache

from taskstate.lint.diagnostics import Diagnostic, Diagnostics, Rule
from taskstate.lint.facts.outline import SECTION, SUBSECTION
from taskstate.lint.facts.wording import line_of
from taskstate.messages import first_of
from taskstate.model.progress_log import is_summary, labelled_fields, session_number
from taskstate.model.session_texts import ASKED_LABELS, REQUIRED_LABELS
from taskstate.syntax.escaping import is_blank
from taskstate.syntax.spans import Span
from taskstate.typed import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from taskstate.lint.facts.file_facts import Facts
    from taskstate.model.progress_log import Field, Session
    from taskstate.syntax.document import Document, Section

RULE = Rule.of("TS404", __name__, "a session lacks one of its three fields, or says nothing there")


def check(facts: Facts) -> Diagnostics:
    """Yield a finding for the required fields that a session lacks, and one for each that is empty."""
    document = facts.document
    strays: Mapping[Span, Sequence[Section]] | None = None
    for session in facts.unfinished_sessions:
        absent = [label for label in REQUIRED_LABELS if label.lower() not in session.fields]
        if absent:
            strays = _strays(document, facts) if strays is None else strays
            splitting = strays.get(session.section.span, ())
            absent = [label for label in absent if not _is_below(document, splitting, label)]
        if absent:
            yield _absent(document, session, absent)
        for label in ASKED_LABELS:
            field = session.fields.get(label.lower())
            if field and all(is_blank(span.of(document.text)) for span in (field.span, *field.more)):
                yield _empty(document, session, field)


def _absent(document: Document, session: Session, labels: Sequence[str]) -> Diagnostic:
    """Return the finding for all fields that a session lacks; it names the first line that looks like one of them."""
    pattern, forms, names = _words(tuple(labels))
    similar = pattern.search(document.text, *session.section.body)
    help_ = f"write {forms}, with something behind {'it' if len(labels) == 1 else 'each'}"
    if similar:
        line = line_of(document, Span(*similar.span()))
        help_ = f"write the label in line {line} in bold, with its colon, at the left margin: {forms}"
    fields = "field" if len(labels) == 1 else "fields"
    return RULE.at(session.section.heading, f"session {session.number} has no {fields} {names}", help=help_)


@cache
def _words(labels: tuple[str, ...]) -> tuple[re.Pattern[str], str, str]:
    """Return a pattern for what looks like one of some labels, and in words their forms and names."""
    pattern = rf"^[ \t>*+\-_#\d.)]*(?:{'|'.join(labels)})\b"
    forms = first_of([f"`**{label}:**`" for label in labels], len(REQUIRED_LABELS))
    return (
        re.compile(pattern, re.IGNORECASE | re.MULTILINE),
        forms,
        first_of([repr(label) for label in labels], len(REQUIRED_LABELS)),
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


def _is_below(document: Document, sections: Sequence[Section], label: str) -> bool:
    """Return whether a section that splits the session has the field, or is it: its heading is what has to change."""
    return any(
        section.title.strip(" *_:").lower() == label.lower() or label.lower() in labelled_fields(document, section)
        for section in sections
    )
