"""session-rewritten: what a committed session says is found no more.

## What

A session of the compared revision (HEAD, or `--against REV`) is neither in the Progress Log nor in
the archive file: its text or its time was changed, or it was removed. During a merge the sessions of both sides must be
there. Its number does not count, nor do numbers of other sessions in its text, since a merge may change both; nor do
the level of its heading, line ends and trailing blanks. A session that is not committed yet may be changed freely. One
that was committed while its turn was open may get what ends the turn: **By:**, **Commits:**, **Verification:**,
**Findings:** and **Outcome:**, if all that it said stays. Where the heading of another session stands in it, as in a
quote, in code or in HTML, that is the finding.

A session that a commit has rewritten may be put back: the finding is not there if the session stands as it was
committed first, with what ended its turn. Only a clone that is not shallow can know that.

## Why

The log is append-only: people who come later decide by what was tried and what was seen, and compare it with the
commits of that time. A session that was edited afterwards tells a false story. What went wrong belongs in the next
session.

## Example

`Current state: two tests fail` was committed; now it says

```markdown
### Session 3 - 2026-01-31 12:00

**Current state:** all tests pass
```

## Instead

Restore the session: `taskstate session restore 101 3 --from REV`, as the finding names it, puts it back as it was. Then
record what is new in a session of its own, with `taskstate session add`. To make the file shorter use `taskstate
archive`: it moves sessions and keeps every word.

## Configuration

A session counts from its commit on. With `append-only = "pushed"` in `[tool.taskstate.lint]` it counts once it was
pushed: then the files are compared with what the upstream branch has (without one: any remote-tracking branch), and
`git commit --amend` may still change a session of your own.
"""

from __future__ import annotations

from collections import defaultdict, deque

from taskstate.lint.diagnostics import Diagnostic, Diagnostics, Rule
from taskstate.lint.facts.moments import in_future
from taskstate.lint.facts.session_history import (
    SessionIndex,
    archived,
    as_committed_first,
    entries,
    is_completed,
    is_reliable,
)
from taskstate.lint.facts.wording import first_change, shown
from taskstate.model.config import COMMITTED
from taskstate.model.names import own_id
from taskstate.syntax.conflict_markers import find_conflicts
from taskstate.syntax.patterns import compiled
from taskstate.syntax.spans import Span
from taskstate.typed import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    import re
    from collections.abc import Iterable, Sequence
    from typing import TypeAlias

    from taskstate.lint.facts.file_facts import Facts
    from taskstate.lint.facts.session_history import SessionText
    from taskstate.syntax.document import Document

    _Pair: TypeAlias = tuple["_Committed", SessionText | None]

RULE = Rule.of("TS405", __name__, "what a committed session says is found neither in the log nor in the archive")

_HEADING = r"(?im)^[ \t>]*(?P<line>#{1,6}[ \t]+session[ \t]+(?P<number>\d{1,9})[ \t]+-[ \t]+\d{4}-[^\r\n]*)"
_OUTSIDE = "start it and what belongs to it at the left margin, outside of quotes, code and HTML"
_MAX_NAMES = 3  # sessions that the message lists; of more it gives the number


class _Committed(NamedTuple):
    """A session of the compared revision; `parent` is the index of the parent that it is from, while merging."""

    entry: SessionText
    parent: int


def check(facts: Facts) -> Diagnostics:
    """Yield a finding for sessions that were changed, one for those that were removed, one for each lost heading."""
    if _has_unreadable_log(facts):
        return
    pairs = _unlike_committed(facts)
    heirs = [(each, new, _below(new, pairs)) for each, new in pairs if new]
    for each, new, below in heirs:
        if below:
            message = f"{_name(below[0].entry)} has lost its heading: its text is now below that of {_name(each.entry)}"
            yield RULE.at(_first_change(each, new, facts), message, help=_help(facts, [each, *below]))
    swallowed = {each: line for each, new, below in heirs if not below and (line := _swallowed(new, facts))}
    for each, line in swallowed.items():
        message = f"{shown(line['line'])} is not a heading here: it counts as a part of {_name(each.entry)}"
        yield RULE.at(Span(*line.span("line")), message, help=_OUTSIDE)
    rewritten = [(each, new) for each, new, below in heirs if not below and each not in swallowed]
    if rewritten:
        yield _rewritten(rewritten, facts)
    told = [one for _, _, below in heirs for one in below]
    headless = facts.headless[0] if facts.headless else None  # TS401
    numbers = {headless, *(int(line["number"]) for line in swallowed.values())}
    removed = [each for each, new in pairs if not new and each not in told and each.entry.number not in numbers]
    if removed:
        yield _removed(removed, facts)


def _swallowed(new: SessionText, facts: Facts) -> re.Match[str] | None:
    """Return the line in a session that reads as the heading of one that is not there, as in a quote, code or HTML."""
    lines = compiled(_HEADING).finditer(facts.document.text, *new.body)
    known = {each.number for each in facts.sessions}
    return next((each for each in lines if int(each["number"]) not in known), None)


def _unlike_committed(facts: Facts) -> list[_Pair]:
    """Return the committed sessions that are not as they were, each with what replaced it, or None."""
    parents = [(n, then) for n, then in enumerate(facts.past or ()) if is_reliable(then)]
    committed = [_Committed(entry, n) for n, then in parents for entry in entries(then)]
    present = entries(facts)
    index, before = SessionIndex(present), SessionIndex(each.entry for each in committed)
    unmatched = [each for each in committed if not index.has(each.entry) and not _is_redated(each.entry, index, facts)]
    replacements = _Replacements(each for each in present if not before.has(each))
    left = _not_archived(unmatched, facts)
    versions = {each: facts.queries.versions_before(each) for each in dict.fromkeys(one.parent for one in left)}
    left = [each for each in left if not _is_put_back(each.entry, index, versions[each.parent])]
    taken = [(each, replacements.take(each.entry)) for each in left]
    return [(each, new) for each, new in taken if not (new and is_completed(each.entry, new))]


def _below(new: SessionText, pairs: Sequence[_Pair]) -> list[_Committed]:
    """Return the sessions without a replacement whose text stands in that of another session now."""
    return [one for one, other in pairs if not other and one.entry.text in new.text]


def _is_redated(entry: SessionText, present: SessionIndex, facts: Facts) -> bool:
    """Return whether only the time of a session changed, which was in the future: TS412 asks for that."""
    return in_future(entry.time, facts.queries) and present.has(entry._replace(time=None))


def _is_put_back(entry: SessionText, present: SessionIndex, versions: Sequence[Document]) -> bool:
    """Return whether a commit had rewritten a session that stands here now as it was committed first."""
    first = as_committed_first(entry, versions)
    return first is not None and (first.time, first.text) != (entry.time, entry.text) and present.has(first)


def _has_unreadable_log(facts: Facts) -> bool:
    """Return whether the log cannot be read to its end, or is missing: then missing sessions may be elsewhere."""
    log = facts.state.section("Progress Log")
    if log is None and any(spec.name == "Progress Log" for spec in facts.outline.absent):
        return True  # its sessions may stand below another heading: TS201, TS207, TS209
    return facts.unreadable_body is not None and (log is None or log.span.end > facts.unreadable_body.start)


def _not_archived(missing: Sequence[_Committed], facts: Facts) -> list[_Committed]:
    """Return the sessions that are not archived, each once.

    Where the archive cannot be read, those that the Archived Summary includes count as archived.
    """
    if not missing:
        return []
    archives = facts.queries.archive()
    if archives is None or any(find_conflicts(each.text) for each in archives):
        last_archived = facts.state.archived
        left = [each for each in missing if each.entry.number is None or each.entry.number > last_archived]
    else:
        index = archived(archives)
        left = [each for each in missing if not index.has(each.entry)]
    once = {(each.entry.time, each.entry.text): each for each in reversed(left)}
    return list(reversed(once.values()))


class _Replacements:
    """The sessions that no commit has: each may be the new version of one that is missing."""

    def __init__(self, changed: Iterable[SessionText]) -> None:
        self._by_key: dict[object, deque[SessionText]] = defaultdict(deque)
        for entry in changed:
            for key in _keys(entry):
                self._by_key[key].append(entry)
        self._taken: set[SessionText] = set()

    def take(self, entry: SessionText) -> SessionText | None:
        """Return the session that replaced one, by its time or else by its number, and never return that one again."""
        for key in _keys(entry):
            candidates = self._by_key[key]
            while candidates and candidates[0] in self._taken:
                candidates.popleft()
            if candidates:
                self._taken.add(candidates[0])
                return candidates[0]
        return None


def _keys(entry: SessionText) -> list[object]:
    return [key for key in (entry.time, entry.number) if key is not None]


def _rewritten(pairs: Sequence[tuple[_Committed, SessionText]], facts: Facts) -> Diagnostic:
    """Return the finding for sessions that say something else now, at the first of them."""
    sessions = [each for each, _ in pairs]
    verb = "were" if len(sessions) > 1 else "was"
    help_ = f"{_help(facts, sessions)}; what is new goes into a session of its own"
    return RULE.at(_first_change(*pairs[0], facts), f"{_listed(sessions)} {verb} rewritten", help=help_)


def _first_change(committed: _Committed, new: SessionText, facts: Facts) -> Span:
    """Return the first line of a session that is not as committed: its heading, or one below."""
    entry, then = committed.entry, (facts.past or ())[committed.parent]
    if entry.time != new.time or entry.text == new.text:
        return new.heading
    return first_change(facts.document, new.body, entry.body.of(then.document.text))


def _listed(sessions: Sequence[_Committed]) -> str:
    names = [_name(each.entry) for each in sessions[:_MAX_NAMES]]
    if len(sessions) > _MAX_NAMES:
        names.append(f"{len(sessions) - _MAX_NAMES} more")
    return f"{', '.join(names[:-1])} and {names[-1]}" if len(names) > 1 else names[0]


def _removed(sessions: Sequence[_Committed], facts: Facts) -> Diagnostic:
    verb = "are" if len(sessions) > 1 else "is"
    log = facts.state.section("Progress Log")
    message = f"{_listed(sessions)} {verb} neither in the log nor in the archive"
    return RULE.at(log.heading if log else facts.first_line, message, help=_help(facts, sessions))


def _name(entry: SessionText) -> str:
    number = "a session" if entry.number is None else f"session {entry.number}"
    return f"{number} ({entry.time})" if entry.time else number


def _help(facts: Facts, sessions: Sequence[_Committed]) -> str:
    """Return what puts sessions back: a command for each parent that has some of them, in one line."""
    import shlex

    commands = [_command(facts, parent, sessions) for parent in dict.fromkeys(each.parent for each in sessions)]
    archived = [n for each in sessions if (n := each.entry.number) and n <= facts.state.archived]
    is_own = not any(":" in each.rpartition(" --from ")[2] for each in commands)  # else it has another id there
    if not all(commands) or (is_own and facts.queries.damage()) or (archived and _is_archive_faulty(facts)):
        earlier = shlex.quote(_earlier(facts, sessions[0].parent))
        return facts.queries.damage() or f"put it back as `git show {earlier}` has it"
    first = [f"taskstate archive restore {facts.task_id}"] if archived else []
    cure = f"`{' && '.join(first + commands)}` puts {'it' if len(sessions) == 1 else 'them'} back as committed"
    amend = '; to allow amending what was never pushed, set `append-only = "pushed"` under `[tool.taskstate.lint]`'
    return cure + (amend if facts.config.lint.append_only == COMMITTED else "")


def _is_archive_faulty(facts: Facts) -> bool:
    """Return whether nothing can be taken out of the archive as it is, which TS407 says."""
    from taskstate.archive.integrity import ArchiveContents

    return any(ArchiveContents(each.text).faults for each in facts.queries.archive() or ())


def _command(facts: Facts, parent: int, sessions: Sequence[_Committed]) -> str:
    """Return the command that restores the sessions of one parent; empty where it cannot, for want of their numbers."""
    import shlex

    then = (facts.past or ())[parent]
    restorable = {each.section.heading: each.number for each in then.sessions}
    wanted = [restorable.get(each.entry.heading) for each in sessions if each.parent == parent]
    if None in wanted or not facts.task_id:
        return ""
    earlier = _earlier(facts, parent)
    commit, _, path = earlier.partition(":")
    source = commit if own_id(path).casefold() == facts.task_id.casefold() else earlier
    numbers = " ".join(map(str, dict.fromkeys(wanted)))
    return f"taskstate session restore {facts.task_id} {numbers} --from {shlex.quote(source)}"


def _earlier(facts: Facts, parent: int) -> str:
    """Return git's name for the file in a parent."""
    names = facts.queries.earlier_names() or ()
    return names[parent] if parent < len(names) else "REV:FILE"
