"""Completes the entry of a turn in the Progress Log: who, commits, checks, findings, and how it ended.

The words of a session are on disk before the checks run. What only the end knows joins them in the write that ends the
turn, so that who reads the log needs no front matter for it.
"""

from __future__ import annotations

import re

from taskstate.messages import first_of, one_line
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
_NAMED, _WORDS = 3, 48  # names in a line; characters of a finding or a subject that is told elsewhere in full
_COMMITS = 8  # that are listed
_HASH = r"\b[0-9a-f]{6,}\b"  # in a subject it would count as another commit
# What an event says in the log. The first two may stand since the turn began; the others come with its end.
_SINCE = {"drift-accepted": "accepted drift in {files}", "turn-taken-over": "took over from {from}"}
_EVENTS = {**_SINCE, "context-rebuilt": "context sealed anew", "baseline-redone": "baseline redone"}
_EVENTS |= {"regression-waived": "let {checks} fail", "turn-abandoned": "given up"}


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
    """Return the change that completes the newest session of the turn; none where something unclosed is in its way."""
    session = next((each for each in reversed(now.state.sessions) if each.number > end.turn.session), None)
    if session is None:
        return Change(now.document.text)
    turn, after = end.turn, blocks_of(now.document)
    # Of two turns in one second, the event of the first has the moment at which the other began.
    earlier = {said for each in now.state.sessions if each.number <= turn.session for said in each.values(OUTCOME)}
    checked = "; ".join(filter(None, (_checks(end), end.proved)))
    more = {
        BY.key: (by_text(turn.agent or turn.actor or "", turn.role or ""),),
        COMMITS.key: tuple(_commits(end.commits, " ".join(session.values(COMMITS)))),
        VERIFICATION.key: (checked,) if checked else (),
        FINDINGS.key: tuple(_findings(end.before, after)),
        OUTCOME.key: (*_events(after, end, earlier), *end.ends),
    }
    text = completed(session, {key: values for key, values in more.items() if any(values)})
    told = read_state(now.document.with_text(text))
    is_read_back = [each.number for each in told.sessions] == [each.number for each in now.state.sessions]
    return Change(text if is_read_back and not told.problems else now.document.text)


def _commits(commits: tuple[Commit, ...], named: str) -> Iterator[str]:
    """Yield each commit with its subject, the oldest first, if nothing named it; of many only the newest."""
    new = [each for each in commits if each.short not in named]
    for each in new[-_COMMITS:]:
        subject = one_line(masked(git.printable(each.subject)), _WORDS).replace("<!--", "<\\!--")
        yield each.short if re.search(_HASH, subject) else f"{each.short} {subject}".rstrip()
    if len(new) > _COMMITS:
        yield f"{new[0].short} and {len(new) - _COMMITS - 1} more before these"


def _checks(end: TurnEnd) -> str:
    """Return the results of the checks in a line, with how many passed at the baseline."""
    if not end.results:
        return ""
    passed, recorded = sum(each.ok for each in end.results.values()), end.before.baseline.results
    failed = [f"{len(end.results) - passed} failed"] if passed < len(end.results) else []
    was = [f"was {sum(each.ok for each in recorded.values())}"] if recorded.keys() & end.results.keys() else []
    return ", ".join((f"{passed} passed", *failed, *was))


def _findings(before: ToolBlocks, after: ToolBlocks) -> Iterator[str]:
    """Yield what the turn did about findings, each in its own words."""
    old, new = _by_number(before), _by_number(after)
    for number, each in new.items():
        earlier = old.get(number)
        if earlier is None:
            yield f"{_RAISED} {number}: {each.text}"
        elif each.answer and each.answer != earlier.answer:
            yield f"{_ANSWERED} {number} ({one_line(each.text, _WORDS)}): {each.answer}"
        elif earlier.answer and each.answer is None:
            yield f"{_NOT_SETTLED} {number}: {one_line(each.text, _WORDS)}"
    yield from (f"{_CLEARED} {number}: {one_line(old[number].text, _WORDS)}" for number in old.keys() - new.keys())


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
            names = {key: first_of([*map(str, entry.get(key) or ["it"])], _NAMED) for key in ("files", "checks")}
            said = words.format(**{**names, "from": entry.get("from") or "somebody"})
            said = f"{said}: {entry['note']}" if entry.get("note") else said
            yield from () if each.entry in known and said in earlier else (said,)
