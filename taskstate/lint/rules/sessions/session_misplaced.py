"""session-misplaced: a session is outside the Progress Log, or at another level in it.

## What

A session is a heading of level 3 in the Progress Log. Here the heading of one is in another section, such as Chain
Output at the end of the file, or it has another level: `## Session 8`, `#### Session 5`. It is taken for a session if
it has a date, or if the labels of a session are below it. `## Notes` and sections of your own may hold anything.

## Why

No command sees such a session: it is not listed, counted, archived or handed on, and the next `session add` gives its
number to another one. In Chain Output it is even handed down to other tasks as a result.

## Example

```markdown
## 6. Chain Output

### Summary

*To be completed.*

### Session 8 - 2026-01-31 12:00

**What I did:**

- Verified the tokens
```

## Instead

Put it into the Progress Log, at level 3, where its number belongs. `--fix` does: it moves the entry as it is, and only
changes the level of its headings. Where the number is taken already, the fix is unsafe, since it gives the session the
next free number besides. `taskstate session add` always writes to the right place, and refuses to while a session is
misplaced.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from itertools import accumulate
from math import inf

from taskstate.lint.diagnostics import Diagnostics, Fix, Rule
from taskstate.lint.facts.wording import first_line_of
from taskstate.model.misplaced_sessions import misplaced_sessions
from taskstate.model.task_state import PART_LEVEL, read_state
from taskstate.syntax.edits import Edit, apply
from taskstate.syntax.patterns import compiled
from taskstate.syntax.spans import Span, end_of_content, trimmed
from taskstate.typed import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from taskstate.lint.facts.file_facts import Facts
    from taskstate.model.misplaced_sessions import MisplacedSession
    from taskstate.syntax.document import Document

RULE = Rule.of("TS411", __name__, "a session is outside the Progress Log, or at another level in it", fixable=True)

_DEEPEST = 6  # level of a heading in Markdown


def check(facts: Facts) -> Diagnostics:
    """Yield a finding for each misplaced session; those whose numbers fit are moved by one safe fix."""
    document = facts.document
    if not facts.outline.misplaced:
        return
    fitting, others = _by_fit(facts)
    fixes = [(fitting, _fix(document, facts, fitting, safe=True)), (others, _fix(document, facts, others, safe=False))]
    for sessions, fix in fixes:
        for session in sessions:
            where = (
                f"has a heading of level {session.section.level} in the Progress Log"
                if session.in_log
                else "is outside the Progress Log"
            )
            yield RULE.at(
                first_line_of(document, session.section.heading),
                f"session {session.number} {where}, where no command sees it",
                help=_help(fix),
                fix=fix,
            )


def _help(fix: Fix | None) -> str:
    by_hand = "put it into the Progress Log with a heading of level 3"
    if fix is None:
        return by_hand
    if fix.safe:
        return f"{by_hand}; `--fix` does"
    return f"{by_hand} and the next free number; `--fix --unsafe-fixes` does"


def _by_fit(facts: Facts) -> tuple[list[MisplacedSession], list[MisplacedSession]]:
    """Return the misplaced sessions whose numbers fit, and the others."""
    known = [(session.span.start, session.number) for session in facts.sessions]
    known = sorted([*known, *((each.span.start, each.number) for each in facts.outline.misplaced if each.is_cut_off)])
    highest_up_to = [0, *accumulate((number for _, number in known), max)]
    lowest_from = [*accumulate((number for _, number in reversed(known)), min, initial=inf)][::-1]
    taken = {number for _, number in known}
    highest_before = 0  # of the misplaced ones, which come in the order of the text
    fitting: list[MisplacedSession] = []
    others: list[MisplacedSession] = []
    for each in facts.outline.misplaced:
        if each.is_cut_off:
            continue
        # Of one that stays in its place, the number must also be between those around it.
        at = bisect_left(known, (each.span.start, 0))
        above = max(highest_up_to[at], highest_before)
        is_in_order = not each.in_log or above < each.number < lowest_from[at]
        is_fitting = each.number > facts.state.archived and each.number not in taken and is_in_order
        (fitting if is_fitting else others).append(each)
        taken.add(each.number)
        highest_before = max(highest_before, each.number)
    return fitting, others


def _fix(document: Document, facts: Facts, sessions: Sequence[MisplacedSession], *, safe: bool) -> Fix | None:
    """Return the fix that moves these sessions; None where the result would not hold all of them as sessions."""
    edits = [edit for each in sessions if each.in_log for edit in _heading_edits(document, each)]
    moved: dict[int, list[MisplacedSession]] = {}
    end = end_of_content(document.text, facts.state.parts["progress log"].span)
    highest_up_to = [*accumulate((each.number for each in facts.sessions), max)]
    for session in sessions:
        if not session.in_log:
            behind = bisect_right(highest_up_to, session.number) if safe else len(facts.sessions)
            at = facts.sessions[behind].span.start if behind < len(facts.sessions) else end
            moved.setdefault(at, []).append(session)
    blank = document.newline * 2
    for at, group in moved.items():
        entries = blank.join(_entry(document, each) for each in sorted(group, key=lambda each: each.number))
        edits.append(Edit(at, at, blank + entries if at == end else entries + blank))
    edits += _removals(document, [each.span for group in moved.values() for each in group], above=end)
    done = tuple(sorted(edits))
    return Fix(edits=done, safe=safe) if done and _is_sound(document, facts, done, len(sessions)) else None


def _removals(document: Document, spans: Sequence[Span], *, above: int) -> Iterator[Edit]:
    """Yield the edits that take entries away; at the end of the file with the blank lines up to the offset `above`."""
    runs: list[Span] = []
    for span in sorted(spans):
        if runs and runs[-1].end == span.start:
            span = Span(runs.pop().start, span.end)  # noqa: PLW2901 - the run goes on
        runs.append(span)
    last = len(document.text.rstrip())
    for start, end in runs:
        if end < last:
            yield Edit(start, end, "")
        else:
            kept = max(len(document.text[:start].rstrip()), above if above <= start else 0)
            yield Edit(kept, len(document.text), document.newline)


def _entry(document: Document, session: MisplacedSession) -> str:
    """Return the text of an entry as it has to be in the log."""
    start, end = trimmed(document.text, session.span)
    edits = [Edit(each.start - start, each.end - start, each.new) for each in _heading_edits(document, session)]
    return apply(document.text[start:end], edits)


def _heading_edits(document: Document, session: MisplacedSession) -> Iterator[Edit]:
    """Yield the edits that give the heading its level, and shift those within the entry that must stay below it."""
    start, end = session.section.heading
    yield Edit(start, end, f"{'#' * PART_LEVEL} {session.section.title}")
    shift = PART_LEVEL - session.section.level
    first = bisect_left(document.sections, end, key=lambda part: part.span.start)
    for index in range(first, len(document.sections) if shift > 0 else first):
        part = document.sections[index]
        if part.span.start >= session.span.end:
            break
        if marks := compiled("#+").match(document.text, part.heading.start):
            yield Edit(marks.start(), marks.end(), "#" * min(part.level + shift, _DEEPEST))


def _is_sound(document: Document, facts: Facts, edits: tuple[Edit, ...], count: int) -> bool:
    """Return whether the edited text has these sessions in its log, and no new problem."""
    after = document.with_text(apply(document.text, edits))
    return (
        len(after.problems) <= len(document.problems)
        and len(misplaced_sessions(after, facts.kind)) <= len(facts.outline.misplaced) - count
        and len(read_state(after).sessions) >= len(facts.state.sessions) + count
    )
