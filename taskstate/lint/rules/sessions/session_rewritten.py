"""session-rewritten: what a committed session says is found no more.

## What

A session of the compared revision (`--against REV`; in the pre-commit hook HEAD) is neither in the Progress Log nor in
the archive file: its text or its time was changed, or it was removed. While a merge is under way the sessions of both
sides are looked for. Its number does not count, nor do numbers of other sessions in its text, since a merge may change
both; nor do the level of its heading, line ends and trailing blanks. A session that no commit holds yet may be changed
at will.

## Why

The log is append-only: whoever comes later decides by what was tried and what was seen, and compares it with the
commits of that time. A session that was mended afterwards tells a story that never was. What went wrong belongs into
the next session.

## Example

Committed was `Current state: two tests fail`; now it says

```markdown
### Session 3 - 2026-01-31 12:00

**Current state:** all tests pass
```

## Instead

Take the session back as it was: `git show REV:path` prints it, and the finding names both. Then say what is new in a
session of its own, with `taskstate session add`. To make the file shorter use `taskstate archive`: it moves sessions
and keeps every word.
"""

from __future__ import annotations

from collections import defaultdict, deque
from typing import TYPE_CHECKING, NamedTuple

from taskstate.lint.diagnostics import Diagnostic, Rule
from taskstate.lint.facts.session_history import SessionIndex, archived, entries, is_reliable
from taskstate.syntax.conflict_markers import find_conflicts

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from taskstate.lint.facts.file_facts import Facts
    from taskstate.lint.facts.session_history import SessionText
    from taskstate.syntax.document import Document

RULE = Rule(
    code="TS405",
    name="session-rewritten",
    summary="what a committed session says is found neither in the log nor in the archive",
)

_NAMED = 3  # sessions; of more it is told how many


class _Committed(NamedTuple):
    """A session of the compared revision; while merging, `parent` counts whose it is."""

    entry: SessionText
    parent: int


def check(document: Document, facts: Facts) -> Iterator[Diagnostic]:  # noqa: ARG001 - every rule takes both
    """Yield each session that was changed, and once those that are gone."""
    parents = [(n, then) for n, then in enumerate(facts.past or ()) if is_reliable(then)]
    if all(then is facts for _, then in parents) or _is_doubtful(facts):
        return  # nothing is compared, or nothing has changed
    committed = [_Committed(entry, n) for n, then in parents for entry in entries(then)]
    present = entries(facts)
    known = SessionIndex(present)
    missing = _not_archived([each for each in committed if not known.has(each.entry)], facts)
    before = SessionIndex(each.entry for each in committed)
    places = _Places(each for each in present if not before.has(each))
    gone = []
    for each in missing:
        place = places.take(each.entry)
        if place:
            yield RULE.at(place.heading, f"{_called(each.entry)} was rewritten", help=_help(facts, each))
        else:
            gone.append(each)
    if gone:
        yield _gone(gone, facts)


def _is_doubtful(facts: Facts) -> bool:
    """Return whether the log cannot be read to its end, so that what is missing may be there."""
    log = facts.state.section("Progress Log")
    return facts.unreadable_body is not None and (log is None or log.span.end > facts.unreadable_body.start)


def _not_archived(lost: Sequence[_Committed], facts: Facts) -> list[_Committed]:
    """Return the sessions that are not archived, each once; where nobody can tell, the summary is believed."""
    if not lost:
        return []
    archives = facts.queries.archive()
    if archives is None or any(find_conflicts(each.text) for each in archives):
        believed = facts.state.archived
        left = [each for each in lost if each.entry.number is None or each.entry.number > believed]
    else:
        known = archived(archives)
        left = [each for each in lost if not known.has(each.entry)]
    once = {(each.entry.time, each.entry.text): each for each in reversed(left)}
    return list(reversed(once.values()))


class _Places:
    """The sessions that no commit has, each of which may stand in the place of one that is missing."""

    def __init__(self, changed: Iterable[SessionText]) -> None:
        self._at: dict[object, deque[SessionText]] = defaultdict(deque)
        for entry in changed:
            for sign in _signs(entry):
                self._at[sign].append(entry)
        self._taken: set[SessionText] = set()

    def take(self, entry: SessionText) -> SessionText | None:
        """Return what took the place of a session: what has its time, or else its number."""
        for sign in _signs(entry):
            waiting = self._at[sign]
            while waiting and waiting[0] in self._taken:
                waiting.popleft()
            if waiting:
                self._taken.add(waiting[0])
                return waiting[0]
        return None


def _signs(entry: SessionText) -> list[object]:
    return [sign for sign in (entry.time, entry.number) if sign is not None]


def _gone(sessions: Sequence[_Committed], facts: Facts) -> Diagnostic:
    named = [_called(each.entry) for each in sessions[:_NAMED]]
    if len(sessions) > _NAMED:
        named.append(f"{len(sessions) - _NAMED} more")
    told = f"{', '.join(named[:-1])} and {named[-1]}" if len(named) > 1 else named[0]
    verb = "are" if len(sessions) > 1 else "is"
    log = facts.state.section("Progress Log")
    message = f"{told} {verb} neither in the log nor in the archive"
    return RULE.at(log.heading if log else facts.first_line, message, help=_help(facts, sessions[0]))


def _called(entry: SessionText) -> str:
    number = "a session" if entry.number is None else f"session {entry.number}"
    return f"{number} ({entry.time})" if entry.time else number


def _help(facts: Facts, each: _Committed) -> str:
    names = facts.queries.earlier_names() or ()
    import shlex

    shown = f"`git show {shlex.quote(names[each.parent])}`" if each.parent < len(names) else "`git show REV:path`"
    return f"take it back as it was, {shown} prints it; what is new goes into a session of its own"
