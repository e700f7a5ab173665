"""Completes the entry of a turn in the Progress Log: who, commits, checks, findings, and how it ended.

The words of a session are on disk before the checks run. What only the end knows joins them in the write that ends the
turn, so that who reads the log needs no front matter for it.
"""

from __future__ import annotations

import re
from textwrap import shorten

from taskstate.messages import counted, first_of, one_line
from taskstate.model.loose_values import listed
from taskstate.model.session_texts import BY, COMMITS, FINDING_VERBS, FINDINGS, OUTCOME, VERIFICATION, by_text
from taskstate.model.task_state import read_state
from taskstate.model.write_metadata import blocks_of
from taskstate.secrets.mask import masked
from taskstate.storage.git import client as git
from taskstate.tasks.new_session import completed
from taskstate.typed import TYPE_CHECKING, NamedTuple
from taskstate.writing.change import Change

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from taskstate.model.delta_block import Turn
    from taskstate.model.role_findings import Finding
    from taskstate.model.tool_blocks import CheckResult, ToolBlocks
    from taskstate.storage.git.log import Commit
    from taskstate.workspace.workspace import Loaded

_RAISED, _ANSWERED, _NOT_SETTLED, _CLEARED = FINDING_VERBS
_NAMED = 3  # names in a line
_SUBJECT, _WORDS = 56, 80  # characters of a commit's subject, and of a finding that is told elsewhere in full
_COMMITS = 8  # that are listed
_HASH = r"\b[0-9a-f]{6,}\b"  # in a subject it would count as another commit
# What an event says in the log. Those of `_SINCE` may stand since the turn began; the others come with its end.
_SINCE = {
    "drift-accepted": "accepted drift in {files}",
    "drift-found": "changed before it began, in no turn: {files}",
    "turn-taken-over": "took over from {from}",
}
_EVENTS = {**_SINCE, "context-rebuilt": "context sealed again", "baseline-redone": "baseline redone"}
_EVENTS |= {"regression-waived": "let {checks} fail", "turn-abandoned": "given up"}
_GOES_ON = "the turn goes on"  # of a session that another one of its turn follows


class TurnEnd(NamedTuple):
    """What the end of a turn adds to its entry: `before` are the blocks that it found, `ends` are words for it.

    `proved` says what passes now.
    """

    turn: Turn
    before: ToolBlocks
    results: Mapping[str, CheckResult]
    proved: str
    ends: tuple[str, ...]
    commits: tuple[Commit, ...]


def with_entry(now: Loaded, end: TurnEnd) -> Change:
    """Return the change that completes the sessions of the turn; none where something unclosed is in the way.

    All is told by the newest one; another, as one that was refused and said in other words then, says that it goes on.
    """
    ours = [each for each in now.state.sessions if each.number > end.turn.session]
    if not ours:
        return Change(now.document.text)
    *others, session = ours
    turn, after = end.turn, blocks_of(now.document)
    # Of two turns in one second, the event of the first has the moment at which the other began.
    earlier = {said for each in now.state.sessions if each.number <= turn.session for said in each.values(OUTCOME)}
    named = " ".join(said for each in ours if each is session or each.is_autosaved for said in each.values(COMMITS))
    checked = "; ".join(filter(None, (_checks(end), end.proved)))
    more = {
        BY.key: (by_text(turn.agent or turn.actor or "", turn.role or ""),),
        COMMITS.key: tuple(_commits(end.commits, named)),
        VERIFICATION.key: (checked,) if checked else (),
        FINDINGS.key: tuple(_findings(end.before, after)),
        OUTCOME.key: (*_events(after, end, earlier), *end.ends),
    }
    goes_on = {BY.key: more[BY.key], OUTCOME.key: (_GOES_ON,)}
    told = [(each, goes_on) for each in others if not each.values(OUTCOME)]
    told.append((session, {key: values for key, values in more.items() if any(values)}))
    text = completed(now.document, told)
    read = read_state(now.document.with_text(text))
    is_read_back = [each.number for each in read.sessions] == [each.number for each in now.state.sessions]
    return Change(text if is_read_back and not read.problems else now.document.text)


def _commits(commits: tuple[Commit, ...], named: str) -> Iterator[str]:
    """Yield each commit with its subject, the oldest first, if nothing named it; of many only the newest."""
    new = [each for each in commits if each.short not in named]
    for each in new[-_COMMITS:]:
        subject = _cut(masked(git.printable(each.subject)), _SUBJECT).replace("<!--", "<\\!--")
        yield each.short if re.search(_HASH, subject) else f"{each.short} {subject}".rstrip()
    if len(new) > _COMMITS:
        yield f"{new[0].short} and {len(new) - _COMMITS - 1} more before these"


def _checks(end: TurnEnd) -> str:
    """Return the results of the checks in a line; where another number passed at the baseline, with that."""
    if not end.results:
        return ""
    passed, recorded = sum(each.ok for each in end.results.values()), end.before.baseline.results
    before = sum(each.ok for each in recorded.values())
    failed = [f"{len(end.results) - passed} failed"] if passed < len(end.results) else []
    was = [f"was {before}"] if before != passed and recorded.keys() & end.results.keys() else []
    return ", ".join((f"{counted(passed, 'check')} passed", *failed, *was))


def _findings(before: ToolBlocks, after: ToolBlocks) -> Iterator[str]:
    """Yield what the turn did about findings, each in its own words."""
    old, new = _by_number(before), _by_number(after)
    for number, each in new.items():
        earlier = old.get(number)
        if earlier is None:
            yield f"{_RAISED} {number}: {each.text}"
        elif each.answer and each.answer != earlier.answer:
            yield f"{_ANSWERED} {number} ({_cut(each.text)}): {each.answer}"
        elif earlier.answer and each.answer is None:
            yield f"{_NOT_SETTLED} {number}: {_cut(each.text)}"
    yield from (f"{_CLEARED} {number}: {_cut(old[number].text)}" for number in old.keys() - new.keys())


def _cut(text: str, most: int = _WORDS) -> str:
    """Return a text as one line, cut at a word's end."""
    short = shorten(text, most, placeholder="\u2026")
    return one_line(text, most) if short == "\u2026" else short


def _by_number(blocks: ToolBlocks) -> dict[int, Finding]:
    return {each.number: each for role in blocks.roles.values() for each in role.findings}


def _events(after: ToolBlocks, end: TurnEnd, earlier: set[str]) -> Iterator[str]:
    """Yield the decisions of the turn, each with its reason; `earlier` are those that earlier entries tell."""
    known = [each.entry for each in end.before.audit.events]
    for each in after.audit.events:
        since = _SINCE if each.entry in known and (each.at or "") >= (end.turn.started_at or "") else {}
        words = (_EVENTS if each.entry not in known else since).get(each.event or "")
        entry = each.entry if isinstance(each.entry, dict) else {}
        if words:
            names = {key: first_of(listed(entry, key) or ["it"], _NAMED) for key in ("files", "checks")}
            said = words.format(**{**names, "from": entry.get("from") or "somebody"})
            said = f"{said}: {entry['note']}" if entry.get("note") else said
            yield from () if each.entry in known and said in earlier else (said,)
