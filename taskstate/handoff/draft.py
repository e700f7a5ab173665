"""Drafts a handoff from the state file, for its writer to complete."""

from __future__ import annotations

import re

from taskstate.archive.summary_statements import sentences
from taskstate.archive.summary_words import CHOSEN, DECIDED, FAILED, GIVEN_UP, RESOLVED, TRIED, place_of, says
from taskstate.handoff.document import Handoff, split_reason
from taskstate.handoff.references import referenced_path, without_position
from taskstate.messages import one_line
from taskstate.syntax.escaping import is_none
from taskstate.typed import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping
    from typing import Any

    from taskstate.model.progress_log import Session
    from taskstate.model.task_state import TaskState

LENGTHS = (240, 160, 100, 60)  # most characters of an entry: the first limit with which the document fits
_MOST = 5  # entries of a list, so that handoffs do not grow from one to the next
NOT_THERE = "None."
_FROM_BEFORE = 2  # entries taken over from the last handoff alone
# What a decision, or an approach that failed, is told without.
_LABEL = r"(?i)\A[*_]*(?:decision|decided|tried)[*_]*:?[*_]*\s+(?:to\s+|on\s+|out\s+)?"
_GOES_ON = r"(?<=[.!?]) +(?=(?:It|This|That|They|These)\b)"  # a sentence about what the one before it names
_NO_APPROACH = r"(?i)\b(?:tests?|checks?|builds?|that|which)\b"  # fails as it should, or is mended
_MARK = r"(?:\A|\n)[ \t]*(?:[-*+>]|\d{1,9}[.)]|~{3}\S*)\s"
_CODE = r"(?<!`)`([^`\r\n]+)`(?!`)"
# A result that is nothing but success. Any other word ("passed, but slowly") may qualify it, and then it is kept.
_SUCCEEDED = (
    r"(?i)\W*(?:(?:it|this|that|now|all|everything|the|tests?|cases?)\W+)*"
    r"(?:works?|worked|succeed(?:ed|s)|success(?:ful(?:ly)?)?|pass(?:es|ed)?|done|ok|good|solved|fixed|green)"
    r"(?:\W+(?:it|now|all|every|everything|everywhere|fine|well|perfectly|completely|as|expected|planned|the|tests?|cases?"
    r"|on|at|first|try|is|are|green|passed|pass|done|fixed|solved|and|works?|merged|committed))*[^\w?]*"
)


class DraftSources(NamedTuple):
    """The input of a draft: the task, the value of the phase to hand over, and the last handoff of that phase.

    `changed` are the files that the turn changed, the newest first, each with the place of its changes.
    """

    state: TaskState
    phase: Mapping[str, Any] | None
    earlier: Handoff
    changed: Mapping[str, str] = {}


def draft(sources: DraftSources, exists: Callable[[str], bool], limit: int = LENGTHS[0]) -> Handoff:
    """Return a handoff with the fields that the sources give, each entry of at most `limit` characters.

    `exists` returns whether the repository has a path. The next action alone may be missing: without a file, the
    document says that there is none.
    """
    state, phase, earlier, changed = sources
    shortener = _Shortener(limit)
    newest = state.sessions[-1] if state.sessions else None
    objectives = phase["objectives"] if phase else ()
    objective = next((each for each in objectives if phase and each["id"] == phase["current_objective"]), None)
    goal = shortener.short(objective["description"]) if objective else ""
    next_steps = [step for step in (newest.next if newest else ()) if not is_none(step)]
    file = next((path for path in _files(newest, changed, earlier) if exists(without_position(path))), NOT_THERE)
    return Handoff(
        phase=str(phase["phase"]) if phase else "",
        action=shortener.short(_paragraph(next_steps[0])) if next_steps else goal,
        file=file,
        location=changed.get(without_position(file), NOT_THERE),
        goal=goal or shortener.short(_goal(state, " ".join(next_steps[:1]))),
        decisions=shortener.carried(earlier.decisions, _told(state.sessions, _is_decision)),
        avoid=shortener.carried(earlier.avoid, (*_told(state.sessions, _has_failed), *_failed_attempts(phase))),
        context=shortener.last([*_context(newest, objective, next_steps[1:])][:_MOST]),
        references=shortener.last(text for text in earlier.references if exists(referenced_path(text))),
    )


class _Shortener(NamedTuple):
    """Makes each text one line of at most `limit` characters."""

    limit: int

    def short(self, text: str, limit: int = 0) -> str:
        return one_line(text, limit or self.limit)

    def pair(self, statement: str, reason: str) -> str:
        """Return `WHAT: WHY`, each half cut by itself so that neither is lost."""
        half = (self.limit - len(": ")) // 2
        return f"{self.short(statement, half)}: {self.short(reason, half)}"

    def last(self, texts: Iterable[str]) -> tuple[str, ...]:
        """Return the last `_MOST` entries, each once."""
        return tuple(dict.fromkeys(map(self.short, texts)))[-_MOST:]

    def carried(self, earlier: Iterable[str], recorded: Iterable[tuple[str, str]]) -> tuple[str, ...]:
        """Return the last entries that the state file records, and up to `_FROM_BEFORE` of the last handoff alone."""
        texts = [self.pair(*pair) for pair in recorded]
        from_earlier = (self.pair(*pair) for pair in map(split_reason, earlier) if all(pair))
        carried_over = [text for text in from_earlier if text not in texts][-_FROM_BEFORE:]
        return self.last((*carried_over, *texts[len(carried_over) - _MOST :]))


def _files(session: Session | None, changed: Mapping[str, str], earlier: Handoff) -> Iterator[str]:
    """Yield what may be the file to work on, the likeliest first: what the next steps name, then what was changed."""
    done = "\n".join((session.state, *session.did)) if session else ""
    yield from re.findall(_CODE, "\n".join(session.next)) if session else ()
    yield from sorted(changed, key=lambda path: path not in done)
    yield from (*re.findall(_CODE, done), earlier.file)


def _paragraph(text: str) -> str:
    """Return a text without the marks of lists and quotes, which a next action must not have."""
    return "; ".join(filter(None, map(str.strip, re.split(_MARK, text))))


def _goal(state: TaskState, action: str) -> str:
    """Return what is met when the work is done: the feature that the next action names, else the first open thing."""
    words = {word.strip(".") for word in re.findall(r"[\w.-]+", action)}
    feature = next((each for each in state.open_features if each.id in words), next(iter(state.open_features), None))
    if feature:
        return f"feature {feature.id} passes: {feature.description}"
    criterion = next((each for each in state.criteria if not each.checked), None)
    return f"criterion {criterion.number} is met: {criterion.text}" if criterion else f"task {state.id} is complete"


def _told(sessions: Iterable[Session], is_meant: Callable[[str], bool]) -> Iterator[tuple[str, str]]:
    """Yield the sentences of a kind among what sessions did, with their reasons, or where they stand without one."""
    for session in sessions:
        parts = (" ".join(part.split()) for text in session.did for part in re.split(rf"\n[ \t]*(?=\n)|{_MARK}", text))
        for each in (each for part in parts for each in sentences(re.sub(_GOES_ON, "\0", part))):
            if is_meant(sentence := each.replace("\0", " ")):
                statement, reason = _with_reason(re.sub(_LABEL, "", sentence))
                yield statement or sentence, reason or f"see session {session.number}"


def _with_reason(sentence: str) -> tuple[str, str]:
    """Return what a sentence says and why, whether a colon, a dash or a word such as `because` divides them."""
    statement, reason = split_reason(sentence, loose=True)
    return statement.rstrip(" ,;.:"), re.sub(r"\Aof\s+", "", reason)


def _is_decision(sentence: str) -> bool:
    """Return whether a sentence says that something was decided; `instead of` and the like only with a reason."""
    return says(sentence, DECIDED if _with_reason(sentence)[1] else CHOSEN) and not _has_failed(sentence)


def _has_failed(sentence: str) -> bool:
    """Return whether a sentence says that an approach failed, and not that a fault was mended or a test fails."""
    statement, reason = _with_reason(sentence)
    chosen, failed = place_of(sentence, CHOSEN), place_of(sentence, FAILED)
    is_said = failed >= 0 and not 0 <= chosen < failed
    end, is_fault = statement[failed:].casefold(), says(statement, RESOLVED) or re.search(_NO_APPROACH, statement)
    is_verdict = end and reason and (" " not in end or f" {end}" in FAILED) and not is_fault
    return is_said and bool(is_verdict or says(sentence, TRIED) or place_of(sentence, GIVEN_UP) in range(len("We x")))


def _failed_attempts(phase: Mapping[str, Any] | None) -> Iterator[tuple[str, str]]:
    """Yield the approaches that were tried, with their results, unless the result is plain success."""
    for attempt in phase["approaches_tried"] if phase else ():
        if not re.fullmatch(_SUCCEEDED, attempt["result"]):
            yield attempt["approach"].rstrip(" .:"), attempt["result"]


def _context(session: Session | None, objective: Mapping[str, Any] | None, later: Iterable[str]) -> Iterator[str]:
    if session and session.state:
        yield f"Session {session.number} left it so: {session.state}"
    if objective and objective.get("note"):
        yield f"Objective {objective['id']}: {objective['note']}"
    yield from (f"Issue: {issue}" for issue in (session.issues if session else ()) if not is_none(issue))
    yield from (f"After that: {step}" for step in later)
