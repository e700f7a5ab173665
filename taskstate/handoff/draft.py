"""What a state file alone says of where the work stands: the beginning of a handoff, to be completed by its writer."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, NamedTuple

from taskstate.handoff.document import Handoff, referenced_path, split_reason
from taskstate.syntax.escaping import is_none

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from taskstate.model.task_state import Session, TaskState

LENGTHS = (240, 160, 100, 60)  # characters of an entry: the first with which the document keeps to its screen
_MOST = 5  # entries of a list: no handoff is longer than the one before for their sake
_FROM_BEFORE = 2  # entries that only the last handoff has
_DECISION = r"(?i)[*_]*(?:decision|decided)[*_]*:?[*_]*\s+(?:to\s+|on\s+)?"
_CODE = r"(?<!`)`([^`\r\n]+)`(?!`)"
# A result that only succeeded: it says so, and nothing besides that could take it back.
_GOOD = (
    r"(?i)\W*(?:(?:it|this|that|now|all|everything|the|tests?|cases?)\W+)*"
    r"(?:works?|worked|succeed(?:ed|s)|success(?:ful(?:ly)?)?|pass(?:es|ed)?|done|ok|good|solved|fixed|green)"
    r"(?:\W+(?:it|now|all|every|everything|everywhere|fine|well|perfectly|completely|as|expected|planned|the|tests?|cases?"
    r"|on|at|first|try|is|are|green|passed|pass|done|fixed|solved|and|works?|merged|committed))*[^\w?]*"
)


class DraftSources(NamedTuple):
    """What a draft is made of: the task, the phase that is handed over, and what the last handoff of it said."""

    state: TaskState
    phase: Mapping[str, Any] | None
    before: Handoff


def draft(known: DraftSources, exists: Callable[[str], bool], longest: int = LENGTHS[0]) -> Handoff:
    """Return what can be said without asking, each entry in `longest` characters; what nobody wrote down stays empty.

    `exists` tells whether the repository has a path.
    """
    state, phase, earlier = known
    write = _Writer(longest)
    newest = state.sessions[-1] if state.sessions else None
    objective = _current(phase) if phase else None
    goal = write.short(objective["description"]) if objective else ""
    steps = [step for step in (newest.next if newest else ()) if not is_none(step)]
    return Handoff(
        phase=str(phase["phase"]) if phase else "",
        action=write.short(steps[0]) if steps else goal,
        file=next(_paths(newest, exists), earlier.file if earlier.file and exists(earlier.file) else ""),
        goal=goal,
        decisions=write.carried(earlier.decisions, _decisions(state.sessions)),
        avoid=write.carried(earlier.avoid, _failed(phase)),
        context=write.last(_context(newest, objective)),
        references=write.last(text for text in earlier.references if exists(referenced_path(text))),
    )


class _Writer(NamedTuple):
    """Brings texts into one line each, cut where it is long."""

    longest: int

    def short(self, text: str, longest: int = 0) -> str:
        line, longest = " ".join(text.split()), longest or self.longest
        return line if len(line) <= longest else line[: longest - 1] + "\u2026"

    def pair(self, what: str, why: str) -> str:
        """Return a decision or an approach with its reason, of which neither is cut away."""
        half = (self.longest - len(": ")) // 2
        return f"{self.short(what, half)}: {self.short(why, half)}"

    def last(self, texts: Iterable[str]) -> tuple[str, ...]:
        """Return the newest of some entries, each once."""
        return tuple(dict.fromkeys(map(self.short, texts)))[-_MOST:]

    def carried(self, earlier: Iterable[str], recorded: Iterable[tuple[str, str]]) -> tuple[str, ...]:
        """Return the newest of what the state file records, and of what only the last handoff said."""
        texts = [self.pair(*pair) for pair in recorded]
        said = (self.pair(*pair) for pair in map(split_reason, earlier) if all(pair))
        own = [text for text in said if text not in texts][-_FROM_BEFORE:]
        return self.last((*own, *texts[len(own) - _MOST :]))


def _current(phase: Mapping[str, Any]) -> Mapping[str, Any] | None:
    return next((each for each in phase["objectives"] if each["id"] == phase["current_objective"]), None)


def _paths(session: Session | None, exists: Callable[[str], bool]) -> Iterator[str]:
    """Yield the paths that a session names in code marks, those of what is to be done next first."""
    for text in (*session.next, session.state, *session.did) if session else ():
        yield from (path for path in re.findall(_CODE, text) if exists(path))


def _decisions(sessions: Iterable[Session]) -> Iterator[tuple[str, str]]:
    """Yield what sessions say was decided, where they also say why."""
    for session in sessions:
        for text in session.did:
            match = re.match(_DECISION, text)
            what, why = split_reason(text[match.end() :]) if match else ("", "")
            if what and why:
                yield what, why


def _failed(phase: Mapping[str, Any] | None) -> Iterator[tuple[str, str]]:
    """Yield what was tried, but for what clearly succeeded; what leaves a doubt is told."""
    for tried in phase["approaches_tried"] if phase else ():
        if not re.fullmatch(_GOOD, tried["result"]):
            yield tried["approach"].rstrip(" .:"), tried["result"]


def _context(session: Session | None, objective: Mapping[str, Any] | None) -> Iterator[str]:
    if session and session.state:
        yield f"Session {session.number} left it so: {session.state}"
    if objective and objective.get("note"):
        yield f"Objective {objective['id']}: {objective['note']}"
