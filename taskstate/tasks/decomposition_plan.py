"""How a task that has grown too long could be divided: which open features go into which subtask, and in which order.

Pure, and a suggestion only. Features go together that are the same kind of work, bear the same prefix, or touch the
same files; how many of them, the task's own pace says: what it took for the features that pass, others will take too.
Here too is the one table that says how many sessions are too many.
"""

from __future__ import annotations

import re
from heapq import heapify, heappop, heappush
from string import ascii_lowercase
from typing import TYPE_CHECKING, NamedTuple

from taskstate.model.derived_values import session_counts

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence

    from taskstate.model.task_state import Feature, TaskState

LEAST, MOST = 3, 8  # sessions of a subtask: fewer are not worth a task of their own, more are the old trouble again
PHASES = ("design", "implementation", "tests", "documentation")

_IMPLEMENTATION = 1
_WORDS = (  # by which a feature's id or the beginning of its description tells its phase
    frozenset(
        {"design", "decide", "specify", "specification", "spec", "research", "prototype", "architecture", "plan"}
    ),
    frozenset[str](),
    frozenset({"test", "tests", "testing", "e2e", "coverage", "fuzz", "benchmark", "benchmarks"}),
    frozenset({"doc", "docs", "document", "documents", "documentation", "readme", "changelog", "guide", "tutorial"}),
)
_WRITING = frozenset({"write", "writes", "add", "adds", "update", "updates", "extend", "extends", "complete"})
_OBJECT = 4  # words behind "write" or "add" among which stands what is written
_WAITING = re.compile(
    r"\b(?:after|needs|requires|depends on|builds on|based on|follows|blocked by|once)\b", re.IGNORECASE
)
_SENTENCE = re.compile(r"(?<=[.;!?])\s+|\n")
_SEPARATORS = re.compile(r"[-_.:/]+")
_MARKS = "`'\"()[]<>,;:.!?*"
_OPENING = "`'\"([<*"


class Sizing(NamedTuple):
    """A row of the table that says what a number of sessions means; `last` is None in the last row."""

    name: str
    first: int
    last: int | None
    advice: str

    @property
    def shown(self) -> str:
        """The row in a few words."""
        sessions = f"over {self.first - 1}" if self.last is None else f"{self.first}-{self.last}"
        return f"{sessions.removesuffix(f'-{self.first}')} {self.advice}"


class Pace(NamedTuple):
    """How many sessions so many features took; `own`: they are this task's, and not what is assumed without any."""

    sessions: int
    features: int
    own: bool

    def cost(self, features: int) -> int:
        """Return how many sessions so many features take, rounded up."""
        return -(-self.sessions * features // self.features)


ASSUMED = Pace(sessions=2, features=1, own=False)


class OpenFeature(NamedTuple):
    """An open feature as far as dividing needs it: its files, and the ids of the features that it says it waits for."""

    id: str
    phase: int = _IMPLEMENTATION
    prefix: str = ""
    files: frozenset[str] = frozenset()
    waits: frozenset[str] = frozenset()


class Subtask(NamedTuple):
    """A subtask that is suggested: its id, the features that it would take over, and what it would take.

    `work` are its phases, in words; `depends_on` are the ids of the other subtasks that come before it.
    """

    id: str
    features: tuple[str, ...]
    sessions: int
    work: str
    depends_on: tuple[str, ...]


def sizings(most: int) -> tuple[Sizing, ...]:
    """Return what numbers of sessions mean where more than `most` are too many: the table that all guidance is from."""
    ends = (
        ("simple", most * 3 // 20, "simple"),
        ("watch", most // 2, "watch"),
        ("consider", most, "consider decomposing"),
    )
    rows: list[Sizing] = []
    first = 1
    for name, last, advice in ends:
        if last >= first:
            rows.append(Sizing(name, first, last, advice))
            first = last + 1
    return (*rows, Sizing("must", first, None, "must be decomposed"))


def sizing(sessions: int, most: int) -> Sizing:
    """Return the row of the table that a number of sessions falls into."""
    return next(row for row in sizings(most) if row.last is None or sessions <= row.last)


def guidance(most: int) -> str:
    """Return the table in one line."""
    return "sessions: " + ", ".join(row.shown for row in sizings(most))


def pace_of(state: TaskState) -> Pace:
    """Return the pace of a task: its sessions and the features that pass; without any of them, what is assumed."""
    passing, sessions = state.checklist.passing if state.checklist else 0, session_counts(state).total
    return Pace(sessions, passing, own=True) if passing and sessions else ASSUMED


def open_features(state: TaskState) -> tuple[Feature, ...]:
    """Return the features that neither pass nor went elsewhere."""
    return state.checklist.open if state.checklist else ()


def subtasks_of(state: TaskState, task_id: str = "", taken: Collection[str] = ()) -> tuple[Subtask, ...]:
    """Return the subtasks that are suggested for a task; ids that are `taken`, or that it names, are left out."""
    told = state.document.front_matter.node and state.document.front_matter.node.get("subtasks")
    named = {item.text for item in told.items if item.text} if told else set()
    moved = {each.moved_to for each in state.checklist.features if each.moved_to} if state.checklist else set()
    return plan_subtasks(task_id or state.id, read_open_features(state), pace_of(state), {*taken, *named, *moved})


def read_open_features(state: TaskState) -> tuple[OpenFeature, ...]:
    """Return what the open features of a task say of themselves, and the sessions of them."""
    features = open_features(state)
    ids = {each.id for each in features}
    files = _files_in_sessions(state, ids)
    found = []
    for each in features:
        notes = each.node.get("notes")
        text = f"{each.description}\n{notes.text if notes and notes.text else ''}"
        touched = files.get(each.id, set()) | set(_paths(text))
        waits = frozenset(_waits(text, ids)) - {each.id}
        found.append(
            OpenFeature(each.id, _phase(each.id, each.description), _prefix(each.id), frozenset(touched), waits)
        )
    return tuple(found)


def plan_subtasks(
    task_id: str, parts: Sequence[OpenFeature], pace: Pace = ASSUMED, taken: Collection[str] = ()
) -> tuple[Subtask, ...]:
    """Return the subtasks for the open features of a task: each is in exactly one, behind those that it waits for."""
    clusters = _clusters(parts)
    pieces = _cut(_ordered(parts, clusters), clusters, pace)
    chunks = [[parts[number] for number in piece] for piece in pieces]
    before = _order(chunks)
    free = _free_ids(task_id, {each.casefold() for each in taken})
    ids = [next(free) for _ in chunks]
    return tuple(
        Subtask(
            id=ids[number],
            features=tuple(part.id for part in chunk),
            sessions=min(max(pace.cost(len(chunk)), LEAST), MOST),
            work=" and ".join(PHASES[phase] for phase in sorted({part.phase for part in chunk})),
            depends_on=tuple(ids[other] for other in before[number]),
        )
        for number, chunk in enumerate(chunks)
    )


# What features say


def _phase(feature_id: str, description: str) -> int:
    """Return the phase that a feature's id names, else the one that the beginning of its description does."""
    in_id = _SEPARATORS.split(feature_id.casefold())
    words = [word.strip(_MARKS) for word in description.casefold().split()[: _OBJECT + 1]]
    opening = words if words[:1] and words[0] in _WRITING else words[:1]
    for said in (in_id, opening):
        for phase, known in enumerate(_WORDS):
            if not known.isdisjoint(said):
                return phase
    return _IMPLEMENTATION


def _prefix(feature_id: str) -> str:
    """Return what a feature's id begins with, as in `jwt-1` or `login-form`; empty where it has no parts."""
    head = feature_id.rstrip("0123456789").rstrip("-_.:/")
    parts = _SEPARATORS.split(head if head != feature_id else feature_id)
    return (head if head != feature_id else "-".join(parts[:-1])).casefold()


def _paths(text: str) -> Iterator[str]:
    """Yield the paths of files that a text names: those with a folder and an ending, and what stands in code marks."""
    for word in text.split():
        bare = word.lstrip(_OPENING).rstrip(_MARKS)
        coded = "`" in word and bool({"/", "."} & set(bare))
        if coded or ("/" in bare and "." in bare.rpartition("/")[2] and "//" not in bare):
            yield bare.removeprefix("./")


def _files_in_sessions(state: TaskState, ids: Collection[str]) -> Mapping[str, set[str]]:
    """Return the files that sessions name in one breath with a feature."""
    found: dict[str, set[str]] = {}
    for session in state.sessions:
        for item in session.did:
            named = {word.strip(_MARKS) for word in item.split()} & set(ids)
            for each in named:
                found.setdefault(each, set()).update(_paths(item))
    return found


def _waits(text: str, ids: Collection[str]) -> Iterator[str]:
    """Yield the ids that stand behind `after`, `needs` and the like; a mere word is an id in code marks alone."""
    for sentence in _SENTENCE.split(text):
        cue = _WAITING.search(sentence)
        for word in sentence[cue.end() :].split() if cue else ():
            bare = word.strip(_MARKS)
            if bare in ids and ("`" in word or not bare.isalpha()):
                yield bare


# Which go together, and in which order


def _clusters(parts: Sequence[OpenFeature]) -> tuple[int, ...]:
    """Return for each part the number of the first one of its phase that it is tied to, by prefix or files."""
    leaders = list(range(len(parts)))

    def leader(number: int) -> int:
        while leaders[number] != number:
            leaders[number] = leaders[leaders[number]]
            number = leaders[number]
        return number

    first: dict[tuple[int, str, str], int] = {}
    for number, part in enumerate(parts):
        ties = [("file", name) for name in part.files]
        if part.prefix or not ties:
            ties.append(("prefix", part.prefix))
        for tie in ties:
            one, other = sorted((leader(first.setdefault((part.phase, *tie), number)), leader(number)))
            leaders[other] = one
    return tuple(map(leader, range(len(parts))))


def _ordered(parts: Sequence[OpenFeature], clusters: Sequence[int]) -> list[int]:
    """Return the numbers of the parts by phase and cluster, none before one that it waits for; circles are cut."""
    numbers = {part.id: number for number, part in enumerate(parts)}
    waits = [{numbers[each] for each in part.waits if each in numbers} - {n} for n, part in enumerate(parts)]
    freed: dict[int, list[int]] = {}
    for number, held in enumerate(waits):
        for other in held:
            freed.setdefault(other, []).append(number)
    keys = [(part.phase, clusters[number], number) for number, part in enumerate(parts)]
    ready = [key for key in keys if not waits[key[2]]]
    heapify(ready)
    stuck = iter(sorted(keys))  # taken from where a circle leaves nothing ready
    done: dict[int, None] = {}
    while len(done) < len(parts):
        number = heappop(ready)[2] if ready else next(key[2] for key in stuck if key[2] not in done)
        if number in done:
            continue
        done[number] = None
        for other in freed.get(number, ()):
            waits[other].discard(number)
            if not waits[other]:
                heappush(ready, keys[other])
    return list(done)


def _cut(order: Sequence[int], clusters: Sequence[int], pace: Pace) -> list[list[int]]:
    """Return the order in pieces that are a task each; a single one is cut in two, since it would be the old task."""
    pieces: list[list[int]] = []
    for number in order:
        piece = pieces[-1] if pieces else []
        full = pace.cost(len(piece) + 1) > MOST
        turns = bool(piece) and clusters[piece[-1]] != clusters[number] and pace.cost(len(piece)) >= LEAST
        if not piece or full or turns:
            pieces.append([number])
        else:
            piece.append(number)
    *others, last = pieces or [[]]
    if len(others) > 1 and pace.cost(len(last)) < LEAST and pace.cost(len(others[-1]) + len(last)) <= MOST:
        pieces = [*others[:-1], others[-1] + last]
    if len(pieces) == 1 and len(order) > 1:
        at = _middle(order, clusters)
        pieces = [list(order[:at]), list(order[at:])]
    return pieces


def _middle(order: Sequence[int], clusters: Sequence[int]) -> int:
    """Return where two halves begin to differ, as near to the middle as can be."""
    half = -(-len(order) // 2)
    turns = [at for at in range(1, len(order)) if clusters[order[at - 1]] != clusters[order[at]]]
    return min(turns, key=lambda at: abs(at - half), default=half)


def _order(chunks: Sequence[Sequence[OpenFeature]]) -> list[list[int]]:
    """Return for each chunk the earlier ones that it waits for, without those that these wait for themselves.

    A part waits for those that it names; one that names none, for all that have a part of an earlier phase.
    """
    place = {part.id: number for number, chunk in enumerate(chunks) for part in chunk}
    earlier = [0] * len(PHASES)  # for each phase the chunks so far, as bits, that it comes after
    behind: list[int] = []
    direct: list[list[int]] = []
    for number, chunk in enumerate(chunks):
        wanted = 0
        for part in chunk:
            named = [place[each] for each in part.waits if each in place]
            wanted |= sum(1 << other for other in {*named}) if named else earlier[part.phase]
        wanted &= (1 << number) - 1
        covered = 0
        for other in _bits(wanted):
            covered |= behind[other]
        direct.append(_bits(wanted & ~covered))
        behind.append(wanted | covered)
        for phase in range(min(part.phase for part in chunk) + 1, len(PHASES)):
            earlier[phase] |= 1 << number
    return direct


def _bits(mask: int) -> list[int]:
    return [number for number, bit in enumerate(reversed(f"{mask:b}")) if bit == "1"]


def _free_ids(task_id: str, taken: Collection[str]) -> Iterator[str]:
    """Yield 101a, 101b … for a task 101, and auth.1, auth.2 … for one whose id does not end in a digit."""
    letters = iter(ascii_lowercase) if task_id[-1:].isdigit() else iter(())
    for letter in letters:
        if f"{task_id}{letter}".casefold() not in taken:
            yield f"{task_id}{letter}"
    number = 0
    while True:
        number += 1
        if f"{task_id}.{number}".casefold() not in taken:
            yield f"{task_id}.{number}"
