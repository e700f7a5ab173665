"""session-field-missing: a session lacks one of its three fields, or says nothing there.

## What

A session has the fields **What I did:**, **Current state:** and **Next steps:**; **Issues encountered:** (or
**Issues:**) may be left out where there were none. Each is a label in bold at the left margin, with its colon inside
the bold, followed by text on the same line, a paragraph or a list. A field is empty if only blanks, comments and empty
list items follow. Labels in code fences, lists, quotes and comments do not count. The finding is at the session's
heading for a missing field, and at the label for an empty one.

In a session that no commit holds, warnings are: a label that it has twice, and a text that stands where somebody has
still to write, such as `*To be completed.*`, `TODO` or `<what was done>`. An error is one that has each label twice:
it is two sessions.

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
from collections import Counter
from functools import cache

from taskstate.lint.diagnostics import WARNING, Diagnostic, Diagnostics, Rule
from taskstate.lint.facts.outline import SECTION, SUBSECTION
from taskstate.lint.facts.wording import line_of
from taskstate.messages import first_of
from taskstate.model.progress_log import is_summary, is_unwritten, labelled_fields, session_number
from taskstate.model.session_texts import ASKED_LABELS, NEXT, REQUIRED_LABELS, SESSION_TEXTS
from taskstate.model.statuses import IN_PROGRESS
from taskstate.syntax.escaping import is_blank
from taskstate.syntax.spans import Span
from taskstate.typed import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from taskstate.lint.facts.file_facts import Facts
    from taskstate.model.progress_log import Session
    from taskstate.syntax.document import Document, Section

RULE = Rule.of("TS404", __name__, "a session lacks one of its three fields, or says nothing there")

_TWICE = 2


def check(facts: Facts) -> Diagnostics:
    """Yield a finding for the required fields that a session lacks, and one for each that is empty."""
    document = facts.document
    strays: Mapping[Span, Sequence[Section]] | None = None
    titles = Counter(each.section.title for each in facts.sessions)
    for session in facts.unfinished_sessions:
        absent = [label for label in REQUIRED_LABELS if label.lower() not in session.fields]
        if titles[session.section.title] == _TWICE and is_blank(session.section.body.of(document.text)):
            absent = []  # the heading stands twice: TS402
        if absent:
            strays = _strays(document, facts) if strays is None else strays
            splitting = strays.get(session.section.span, ())
            absent = [label for label in absent if not _is_below(document, splitting, label)]
        if absent:
            yield _absent(document, session, absent, place=_place(facts, session))
        for label in ASKED_LABELS:
            field = session.fields.get(label.lower())
            if field and all(is_blank(span.of(document.text)) for span in (field.span, *field.more)):
                yield _empty(facts, session, label)
    doubtful = [each for each in facts.unfinished_sessions if any(_doubtful(facts, each))]
    if doubtful:
        from taskstate.lint.facts.session_history import new_among

        for session in new_among(facts, doubtful):
            yield from _doubtful(facts, session)


def _doubtful(facts: Facts, session: Session) -> Diagnostics:
    """Yield warnings about a session that no commit holds: a label that it has twice, and what is yet to be written."""
    document = facts.document
    more = [(text.label, span) for text in SESSION_TEXTS for span in _more(session, text.field)]
    for label, span in more:
        at = document.starts[document.position(document.text.rfind(":", 0, span.start)).line]
        place = Span(at, at + len(document.text[at : span.start].rstrip().partition("\n")[0]))
        if facts.sessions_known and {name for name, _ in more} >= {*REQUIRED_LABELS}:
            message = f"session {session.number} has each label twice: a session begins here, and its heading is gone"
            yield RULE.at(place, message, help=f"write `### Session {session.number + 1} - <time>` above this line")
            break
        message = f"session {session.number} has the label `**{label}:**` twice"
        yield RULE.at(place, message, help="put both texts under the first one", severity=WARNING)
    for label in ASKED_LABELS:
        field = session.fields.get(label.lower())
        said = field.span.of(document.text) if field else ""
        is_idle = facts.idle_session is session and label == NEXT.label  # TS410
        if is_unwritten(said) and not is_blank(said) and not is_idle:
            yield _empty(facts, session, label)._replace(severity=WARNING)


def _more(session: Session, name: str) -> tuple[Span, ...]:
    field = session.fields.get(name)
    return field.more if field else ()


def _absent(document: Document, session: Session, labels: Sequence[str], *, place: Span) -> Diagnostic:
    """Return the finding for all fields that a session lacks; it names the first line that looks like one of them."""
    pattern, forms, names = _words(tuple(labels))
    similar = pattern.search(document.text, *session.section.body)
    help_ = f"write {forms}, with text after {'it' if len(labels) == 1 else 'each'}"
    if similar:
        line = line_of(document, Span(*similar.span()))
        help_ = f"write the label in line {line} in bold, with its colon, at the left margin: {forms}"
    fields = "field" if len(labels) == 1 else "fields"
    return RULE.at(place, f"session {session.number} has no {fields} {names}", help=help_)


def _place(facts: Facts, session: Session) -> Span:
    """Return the heading of a session; where it was edited since it was committed, the line that TS405 names."""
    from taskstate.lint.facts.session_history import comparable
    from taskstate.lint.facts.wording import first_change

    section, text = session.section, facts.document.text
    for then in comparable(facts):
        for each in (other.section for other in then.state.sessions if other.section.title == section.title):
            committed = each.body.of(then.document.text)
            if committed.strip() != section.body.of(text).strip():
                return first_change(facts.document, section.body, committed)
    return section.heading


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


def _empty(facts: Facts, session: Session, label: str) -> Diagnostic:
    """Return the finding for an empty field; the newest session of a task in progress cannot name no next step."""
    is_newest = session is facts.sessions[-1] and facts.values.get("status") == IN_PROGRESS
    is_asked = is_newest and label == NEXT.label
    span = session.fields[label.lower()].label_span
    said = span.of(facts.document.text).rstrip()
    return RULE.at(
        Span(span.start, span.start + len(said)),
        f"session {session.number} says nothing under `{said}`",
        help="say it" if is_asked else "say it, or write `None` if there is nothing to say",
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
