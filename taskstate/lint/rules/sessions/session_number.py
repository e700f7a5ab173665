"""session-number: the numbers of the sessions do not rise one by one.

## What

The sessions of the Progress Log are numbered upwards without gaps, and continue where the Archived Summary ends. An
error: a number that an earlier session has, that is lower than the one before it, or that belongs to an archived
session; where the compared revision has these sessions in order, one that is another than there. There is a finding for
the fewest headings that would have to change. A warning: numbers missing in between, or before the first session where
no summary has them.

## Why

A session is identified by its number, in commands, in the summary and in the archive. A number given twice is
ambiguous, and archiving would file two entries under it. The cause is usually a merge of two branches that both
continued from the same session. A gap may be a session that somebody deleted.

## Example

```markdown
### Session 3 - 2026-01-31 12:00

### Session 3 - 2026-01-31 15:30
```

## Instead

```markdown
### Session 3 - 2026-01-31 12:00

### Session 4 - 2026-01-31 15:30
```

A committed session gets its number back. Else the fix renumbers: it changes only numbers in headings, those behind the
wrong one included as far as needed. It is safe if the file is compared with git (`--against HEAD`) and no commit has
the sessions that get other numbers; otherwise it is unsafe, because a commit message or another file may use a number.
What refers to a session by its number, such as
"as in session 3", stays as it is. What is committed keeps its number: a new session that stands before it is put behind
the last one. The copy of a session, word for word, is taken out. A gap has no fix: look for the missing session in git,
and if it never existed, renumber by hand.
"""

from __future__ import annotations

from bisect import bisect_left

from taskstate.lint.diagnostics import WARNING, Diagnostic, Diagnostics, Fix, Rule
from taskstate.lint.facts.moments import moment_of
from taskstate.lint.facts.session_history import archived as archived_sessions
from taskstate.lint.facts.session_history import comparable, entries, uncommitted
from taskstate.messages import first_of
from taskstate.model.algorithms import longest_rising
from taskstate.syntax.edits import Edit
from taskstate.typed import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from taskstate.lint.facts.file_facts import Facts
    from taskstate.model.progress_log import Session
    from taskstate.syntax.spans import Span

RULE = Rule.of("TS402", __name__, "the numbers of the sessions do not rise one by one", fixable=True)

_MAX_NUMBERS = 10  # of sessions that a message lists
_RENUMBER = "renumber it, and those after it as far as needed; `{}` does"


def check(facts: Facts) -> Diagnostics:
    """Yield a finding for the fewest sessions whose numbers must change, and for each gap."""
    if not facts.is_out_of_sequence:
        return
    sessions = facts.sessions
    archived = facts.summary.last if facts.summary else 0
    renumbered = _renumbered(facts, archived)
    if renumbered:
        edits = tuple(Edit(*session.number_span, str(number)) for session, number in renumbered)
        for session, number in renumbered:
            message = f"session {session.number} was {number} when it was committed"
            help_ = f"write `### Session {number} - {session.time}`; `--fix` does"
            yield RULE.at(session.section.heading, message, help=help_, fix=Fix(edits=edits))
        return
    copies = _copies(facts, archived)
    for copy, there in copies:
        message = f"session {copy.number} is the copy of {there}, word for word"
        edits = (Edit(*copy.section.span, ""),)
        yield RULE.at(copy.section.heading, message, help="remove this copy; `--fix` does", fix=Fix(edits=edits))
    if copies:
        return
    kept = _kept(sessions, archived)
    if len(kept) < len(sessions) and _is_shuffled(facts, archived):
        yield _shuffled(facts, kept)
    elif len(kept) < len(sessions):
        kept, fix, help_ = _remedy(facts, kept, archived)
        for session, reason in _wrong(sessions, kept, archived):
            yield RULE.at(session.section.heading, f"session {session.number} {reason}", help=help_, fix=fix)
    is_known = facts.summary is None or archived > 0  # a summary without numbers may stand for any sessions
    yield from _gaps(facts, kept, archived if is_known else None)


def _renumbered(facts: Facts, archived: int) -> list[tuple[Session, int]]:
    """Return the sessions that have another number than in the compared revision, if with that one all would be right.

    A merge may renumber sessions, too, and leaves all in order.
    """
    said, none = {each.heading: (each.time, each.text) for each in entries(facts)}, (None, "")
    for then in comparable(facts):
        committed = {(each.time, each.text): each.number for each in entries(then)}
        numbers = (committed.get(said.get(each.section.heading, none)) or each.number for each in facts.sessions)
        pairs = [*zip(facts.sessions, numbers, strict=True)]
        if [number for _, number in pairs] == list(range(archived + 1, archived + 1 + len(pairs))):
            return [(session, number) for session, number in pairs if number != session.number]
    return []


def _is_shuffled(facts: Facts, archived: int) -> bool:
    """Return whether the numbers are right and the places wrong: in the order of the numbers the times rise, too."""
    ordered = sorted(facts.sessions, key=lambda session: session.number)
    numbers = [session.number for session in ordered]
    times = [moment_of(session.time) or "" for session in ordered]
    return (
        numbers == list(range(archived + 1, archived + 1 + len(numbers)))
        and "" not in times
        and times == sorted(times)
        and not facts.strays
        and not facts.outline.misplaced
    )


def _shuffled(facts: Facts, kept: set[int]) -> Diagnostic:
    """Return the finding for sessions that stand in another order, with the fix that puts them in order."""
    sessions, text = facts.sessions, facts.document.text
    ordered = sorted(sessions, key=lambda session: session.number)
    pairs = zip(sessions, ordered, strict=True)
    edits = tuple(Edit(*there.span, here.span.of(text)) for there, here in pairs if there is not here)
    first = next(session for index, session in enumerate(sessions) if index not in kept)
    numbers = first_of([str(session.number) for session in sessions], _MAX_NUMBERS)
    return RULE.at(
        first.section.heading,
        f"the sessions are not in the order of their numbers and times: {numbers}",
        help="put the oldest first; `--fix --unsafe-fixes` does",
        fix=Fix(edits=edits, safe=False),
    )


def _kept(sessions: Sequence[Session], archived: int) -> set[int]:
    """Return the indices of the sessions that keep their numbers: as many as possible."""
    candidates = [index for index, session in enumerate(sessions) if session.number > archived]
    return {candidates[index] for index in longest_rising([sessions[index].number for index in candidates])}


def _wrong(sessions: Sequence[Session], kept: set[int], archived: int) -> Iterator[tuple[Session, str]]:
    """Yield the sessions whose numbers must change, with the reason in words."""
    seen: set[int] = set()
    last = archived
    for index, session in enumerate(sessions):
        number = session.number
        if index in kept:
            last = number
        elif number == 0:
            yield session, "is not possible: numbers begin with 1"
        elif number <= archived:
            yield session, f"is already in the archive, which ends with session {archived}"
        elif number in seen:
            yield session, "is there already"
        else:
            yield (
                session,
                f"comes after session {last}" if number < last else "comes before sessions with lower numbers",
            )
        seen.add(number)


def _remedy(facts: Facts, kept: set[int], archived: int) -> tuple[set[int], Fix | None, str]:
    """Return the sessions that keep their numbers (those that are committed do), a fix or None, and the help."""
    fix, changed = _renumbering(facts, kept, archived)
    early = _early(facts, changed)
    if not early:
        return kept, fix, _RENUMBER.format("--fix" if fix.safe else "--fix --unsafe-fixes")
    rest = {index for index, each in enumerate(facts.sessions) if each not in early}
    return (rest, *_moved(facts, early, archived))


def _renumbering(facts: Facts, kept: set[int], archived: int) -> tuple[Fix, set[Span]]:
    """Return the fix that gives the other sessions the next number, and raises kept numbers that are then taken.

    Also the headings of all that it renumbers.
    """
    edits = []
    renumbered = set()
    last = archived
    for index, session in enumerate(facts.sessions):
        last = session.number if index in kept and session.number > last else last + 1
        if last != session.number:
            start, end = session.number_span
            edits.append(Edit(start, end, str(last)))
            renumbered.add(session.section.heading)
    return Fix(edits=tuple(edits), safe=_are_uncommitted(renumbered, facts)), renumbered


def _early(facts: Facts, changed: set[Span]) -> list[Session]:
    """Return the new sessions that stand before committed ones, where some of these would get other numbers."""
    new = uncommitted(facts)
    last = max((number for number, each in enumerate(facts.sessions) if each.section.heading not in new), default=0)
    return [each for each in facts.sessions[:last] if each.section.heading in new] if changed - new else []


def _moved(facts: Facts, early: list[Session], archived: int) -> tuple[Fix | None, str]:
    """Return how sessions come behind the last one, also in words; no fix where their times do not allow it."""
    text, rest = facts.document.text, [each for each in facts.sessions if each not in early]
    last, end = max(archived, rest[-1].number), rest[-1].section.span.end
    edits, said = [], ""
    for number, each in enumerate(early, start=last + 1):
        (start, stop), whole = each.number_span, each.section.span
        edits.append(Edit(*whole, ""))
        said += text[whole.start : start] + str(number) + text[stop : whole.end]
    times = [moment_of(each.time) or "" for each in (rest[-1], *early)]
    if times != sorted(times):
        return None, f"put it after session {rest[-1].number} as `### Session {last + 1} - {rest[-1].time}`, or later"
    help_ = f"put it after session {rest[-1].number} as session {last + 1}; `--fix --unsafe-fixes` does"
    return Fix(edits=(*edits, Edit(end, end, said)), safe=False), help_


def _copies(facts: Facts, archived: int) -> list[tuple[Session, str]]:
    """Return the sessions with number, time and words of an earlier one or an archived one, and which that is."""
    texts = {each.heading: each for each in entries(facts)}
    kept, found = archived_sessions(facts.queries.archive() or ()), []
    seen: dict[tuple[int, str | None, str], Session] = {}
    for session in facts.sessions:
        said = texts.get(session.section.heading)
        if said is None or not said.text.strip():
            continue
        first = seen.setdefault((session.number, said.time, said.text), session)
        is_archived = said.time is not None and session.number <= archived and kept.has(said)
        if is_archived or first is not session:
            found.append((session, "an archived one" if is_archived else "one above"))
    return found


def _are_uncommitted(headings: set[Span], facts: Facts) -> bool:
    """Return whether it is certain that no commit has the sessions with these headings."""
    return facts.past is not None and headings <= uncommitted(facts)


def _gaps(facts: Facts, kept: set[int], archived: int | None) -> Diagnostics:
    """Yield a finding for each session before which numbers are missing.

    A session with a wrong number and an unknown heading may each be one of the missing sessions, and so count as one
    number.
    """
    strays = [stray.span.start for _, stray in facts.strays]
    last, passed = archived, 0
    for index, session in enumerate(facts.sessions):
        number, before = session.number, bisect_left(strays, session.section.span.start)
        if index not in kept:
            last = None if last is None else last + 1
            continue
        if last is not None and number > last + 1 + before - passed:
            missing = range(last + 1, number)
            message = _missing(missing[0], missing[-1])
            yield RULE.at(session.section.heading, message, help=_fill(missing, session, facts), severity=WARNING)
        last, passed = number if last is None else max(last, number), before


def _fill(missing: range, session: Session, facts: Facts) -> str:
    """Return what to do about missing numbers: a session that no commit has yet got a wrong one itself."""
    if facts.past and session.section.heading in uncommitted(facts):
        return f"write `### Session {missing[0]} - {session.time}`, the next number, and go on from there"
    named = f"{missing[0]} … {missing[-1]}" if len(missing) > _MAX_NUMBERS else " ".join(map(str, missing))
    command = f"`taskstate session restore {facts.shown_id} {named} --from COMMIT`"
    return f"{command} puts back what a commit has; if there never was one, renumber the sessions after it"


def _missing(first: int, last: int) -> str:
    return f"session {first} is missing" if first == last else f"the sessions {first} to {last} are missing"
