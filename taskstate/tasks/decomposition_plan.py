"""Plans how to split a task that has grown too long: which open features go into which subtask, and in which order.

Pure, and only a suggestion. Features belong together that are the same kind of work, share a prefix, or touch the same
files. How many fit into a subtask follows from the pace of the task so far. The one table of how many sessions are too
many is here, too.
"""

from __future__ import annotations

import re
from functools import cache
from heapq import heapify, heappop, heappush
from itertools import groupby, pairwise

from taskstate.typed import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence

    from taskstate.model.task_state import TaskState
    from taskstate.tasks.part_words import OpenFeature

LEAST, MOST = 3, 8  # sessions of a subtask: fewer are not worth a task, more would soon be too long again
PHASES = ("design", "implementation", "tests", "documentation")
ENOUGH = 4  # open features that are worth dividing

_PARTS, _FEWEST = 5, 2  # the most subtasks, and the fewest features of one where there are enough
_IMPLEMENTATION = 1
_PHASE_WORDS = (  # words in a feature's id or at the beginning of its description that determine its phase
    frozenset(
        {"design", "decide", "specify", "specification", "spec", "research", "prototype", "architecture", "plan"}
    ),
    frozenset[str](),
    frozenset({"test", "tests", "testing", "e2e", "coverage", "fuzz", "benchmark", "benchmarks"}),
    frozenset({"doc", "docs", "document", "documents", "documentation", "readme", "changelog", "guide", "tutorial"}),
)
_WRITING = frozenset({"write", "writes", "add", "adds", "update", "updates", "extend", "extends", "complete"})
_OBJECT = 4  # words after "write" or "add" that are searched for its object, as in "write the tests"
_WAITING = re.compile(
    r"\b(?:after|needs|requires|depends on|builds on|based on|follows|blocked by|once)\b", re.IGNORECASE
)
_SENTENCE = re.compile(r"(?<=[.;!?])\s+|\n")
_SEPARATORS = re.compile(r"[-_.:/]+")
_MARKS = "`'\"()[]<>,;:.!?*"
_OPENING = "`'\"([<*"


class Sizing(NamedTuple):
    """A row of the table of session counts; `last` is None in the last row."""

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
    """How many sessions a number of features took; `own`: measured in this task, not assumed."""

    sessions: int
    features: int
    own: bool

    def cost(self, features: int) -> int:
        """Return how many sessions a number of features take, rounded up."""
        return -(-self.sessions * features // self.features)


ASSUMED = Pace(sessions=2, features=1, own=False)


class Subtask(NamedTuple):
    """A suggested subtask: its id and name, the features it would take over, and its estimated sessions.

    `work` names its phases; `depends_on` are the ids of the other subtasks that come first.
    """

    id: str
    name: str
    features: tuple[str, ...]
    sessions: int
    work: str
    depends_on: tuple[str, ...]


@cache
def sizings(most: int) -> tuple[Sizing, ...]:
    """Return the table of what numbers of sessions mean, where more than `most` are too many."""
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


@cache
def sizing(sessions: int, most: int) -> Sizing:
    """Return the row of the table for a number of sessions."""
    return next(row for row in sizings(most) if row.last is None or sessions <= row.last)


def guidance(most: int) -> str:
    """Return the table in one line."""
    return "sessions: " + ", ".join(row.shown for row in sizings(most))


def pace_of(state: TaskState) -> Pace:
    """Return the pace of a task: its sessions per passing features; the assumed pace while no feature passes."""
    from taskstate.model.derived_values import session_counts  # `list` shows the table above, and loads no model

    passing, sessions = state.checklist.passing if state.checklist else 0, session_counts(state).total
    return Pace(sessions, passing, own=True) if passing and sessions else ASSUMED


def subtasks_of(state: TaskState, taken: Collection[str] = ()) -> tuple[Subtask, ...]:
    """Return the suggested subtasks of a task, without ids that are `taken` or already used by it."""
    moved = {each.moved_to for each in state.checklist.features if each.moved_to} if state.checklist else set()
    taken = {*taken, *state.subtasks, *moved}
    return plan_subtasks(state.id, read_open_features(state), pace_of(state), taken, title=state.title)


def read_open_features(state: TaskState) -> tuple[OpenFeature, ...]:
    """Return the open features of a task, with the files and prerequisites found in their texts and in sessions."""
    from taskstate.tasks.part_words import OpenFeature, shared_words  # `list` shows the table above alone

    features = state.open_features
    ids = {each.id for each in features}
    session_files = _files_in_sessions(state, ids)
    result = []
    prefixes = shared_words([_prefix(each.id) for each in features], [each.description for each in features])
    for each, prefix in zip(features, prefixes, strict=True):
        notes = each.node.get("notes")
        text = f"{each.description}\n{notes.text if notes and notes.text else ''}"
        touched = session_files.get(each.id, set()) | set(_paths(text))
        waits = frozenset(_waits(text, ids)) - {each.id}
        phase = _phase(each.id, each.description)
        result.append(OpenFeature(each.id, phase, prefix, frozenset(touched), waits, each.description))
    return tuple(result)


def plan_subtasks(
    task_id: str, parts: Sequence[OpenFeature], pace: Pace = ASSUMED, taken: Collection[str] = (), *, title: str = ""
) -> tuple[Subtask, ...]:
    """Return the subtasks for open features: each feature is in exactly one, after those that it waits for.

    Their names repeat no words of the task's `title`.
    """
    from taskstate.tasks.part_words import names_of

    clusters = _clusters(parts)
    pieces = _cut(_ordered(parts, clusters), clusters, pace, [part.phase for part in parts])
    chunks = [[parts[number] for number in piece] for piece in pieces]
    prerequisites = _order(chunks)
    free_ids = _free_ids(task_id, {each.casefold() for each in taken})
    ids, names = [next(free_ids) for _ in chunks], names_of(chunks, PHASES, title)
    return tuple(
        Subtask(
            id=ids[number],
            name=names[number],
            features=tuple(part.id for part in chunk),
            sessions=min(max(pace.cost(len(chunk)), LEAST), MOST),
            work=" and ".join(PHASES[phase] for phase in sorted({part.phase for part in chunk})),
            depends_on=tuple(ids[other] for other in prerequisites[number]),
        )
        for number, chunk in enumerate(chunks)
    )


# Features


def _phase(feature_id: str, description: str) -> int:
    """Return the phase that a feature's id names, else the one that the beginning of its description names."""
    in_id = _SEPARATORS.split(feature_id.casefold())
    words = [word.strip(_MARKS) for word in description.casefold().split()[: _OBJECT + 1]]
    opening = words if words[:1] and words[0] in _WRITING else words[:1]
    for candidates in (in_id, opening):
        for phase, phase_words in enumerate(_PHASE_WORDS):
            if not phase_words.isdisjoint(candidates):
                return phase
    return _IMPLEMENTATION


def _prefix(feature_id: str) -> str:
    """Return the common part of ids such as `jwt-1` or `login-form`; empty where the id has no parts."""
    without_number = feature_id.rstrip("0123456789").rstrip("-_.:/")
    parts = _SEPARATORS.split(without_number if without_number != feature_id else feature_id)
    return (without_number if without_number != feature_id else "-".join(parts[:-1])).casefold()


def _paths(text: str) -> Iterator[str]:
    """Yield the file paths in a text: words with a folder and an extension, and paths in code marks."""
    for word in text.split():
        bare = word.lstrip(_OPENING).rstrip(_MARKS)
        in_code = "`" in word and bool({"/", "."} & set(bare))
        if in_code or ("/" in bare and "." in bare.rpartition("/")[2] and "//" not in bare):
            yield bare.removeprefix("./")


def _files_in_sessions(state: TaskState, ids: Collection[str]) -> Mapping[str, set[str]]:
    """Return the files that sessions name in the same item as a feature, by feature."""
    files: dict[str, set[str]] = {}
    for session in state.sessions:
        for item in session.did:
            feature_ids = {word.strip(_MARKS) for word in item.split()}.intersection(ids)
            for each in feature_ids:
                files.setdefault(each, set()).update(_paths(item))
    return files


def _waits(text: str, ids: Collection[str]) -> Iterator[str]:
    """Yield the ids after words such as `after` or `needs`; an id that is a plain word counts only in code marks."""
    for sentence in _SENTENCE.split(text):
        cue = _WAITING.search(sentence)
        for word in sentence[cue.end() :].split() if cue else ():
            bare = word.strip(_MARKS)
            if bare in ids and ("`" in word or not bare.isalpha()):
                yield bare


# Grouping and ordering


def _clusters(parts: Sequence[OpenFeature]) -> tuple[int, ...]:
    """Return for each feature the number of the first one of its phase that shares its prefix or files."""
    leaders = list(range(len(parts)))

    # Disjoint sets with path compression, which stay fast for thousands of features.
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
    """Return the numbers of the features by phase and cluster, each after those it waits for; cycles are broken."""
    numbers = {part.id: number for number, part in enumerate(parts)}
    waits = [{numbers[each] for each in part.waits if each in numbers} - {n} for n, part in enumerate(parts)]
    dependents: dict[int, list[int]] = {}
    for number, prerequisites in enumerate(waits):
        for other in prerequisites:
            dependents.setdefault(other, []).append(number)
    keys = [(part.phase, clusters[number], number) for number, part in enumerate(parts)]
    ready = [key for key in keys if not waits[key[2]]]
    heapify(ready)
    stuck = iter(sorted(keys))  # used where a cycle leaves nothing ready
    done: dict[int, None] = {}
    while len(done) < len(parts):
        number = heappop(ready)[2] if ready else next(key[2] for key in stuck if key[2] not in done)
        if number in done:
            continue
        done[number] = None
        for other in dependents.get(number, ()):
            waits[other].discard(number)
            if not waits[other]:
                heappush(ready, keys[other])
    return list(done)


def _cut(order: Sequence[int], clusters: Sequence[int], pace: Pace, phases: Sequence[int]) -> list[list[int]]:
    """Return the order cut into at most five subtasks, each of two features or more where there are enough.

    Clusters stay together where they can. A single subtask is cut in two, since it would be the same task again.
    """
    count = len(order)
    fitting = pace.features * MOST // pace.sessions
    most = max(fitting, -(-3 * count // (2 * _PARTS)), _FEWEST)  # half as much again as all would have on average
    least = min(max(_FEWEST, pace.features * LEAST // pace.sessions, count // (2 * _PARTS)), count // 2)
    pieces: list[list[int]] = []
    for _, cluster in groupby(order, key=lambda number: clusters[number]):
        run = [*cluster]
        size = -(-len(run) // -(-len(run) // most))
        for piece in (run[at : at + size] for at in range(0, len(run), size)):
            pieces += [(pieces.pop() if pieces and len(pieces[-1]) < least else []) + piece]
    while len(pieces) > _PARTS or (len(pieces) > 1 and len(pieces[-1]) < least):
        joint = [len(one + other) + _FEWEST * (phases[one[-1]] != phases[other[0]]) for one, other in pairwise(pieces)]
        at = -2 if len(pieces[-1]) < least else joint.index(min(joint))
        pieces[at:] = [pieces[at] + pieces[at + 1], *pieces[at:][2:]]
    if len(pieces) == 1 and count > 1:
        half = -(-count // 2)
        pieces = [list(order[:half]), list(order[half:])]
    return pieces


def _order(chunks: Sequence[Sequence[OpenFeature]]) -> list[list[int]]:
    """Return for each chunk the earlier ones that it waits for, without those that they wait for themselves.

    A feature waits for those that it names; one that names none, for all chunks with a feature of an earlier phase.
    """
    chunk_of = {part.id: number for number, chunk in enumerate(chunks) for part in chunk}
    earlier = [0] * len(PHASES)  # for each phase the chunks before it, as bits
    all_needed: list[int] = []
    direct: list[list[int]] = []
    for number, chunk in enumerate(chunks):
        needed = 0
        for part in chunk:
            prerequisites = [chunk_of[each] for each in part.waits if each in chunk_of]
            needed |= sum(1 << other for other in {*prerequisites}) if prerequisites else earlier[part.phase]
        needed &= (1 << number) - 1
        covered = 0
        for other in _bits(needed):
            covered |= all_needed[other]
        # Only direct dependencies are listed; those reached through another one are implied.
        direct.append(_bits(needed & ~covered))
        all_needed.append(needed | covered)
        for phase in range(min(part.phase for part in chunk) + 1, len(PHASES)):
            earlier[phase] |= 1 << number
    return direct


def _bits(mask: int) -> list[int]:
    """Return the positions of the bits that are set."""
    return [number for number, bit in enumerate(reversed(f"{mask:b}")) if bit == "1"]


def _free_ids(task_id: str, taken: Collection[str]) -> Iterator[str]:
    """Yield 101a, 101b … for a task 101, and auth.1, auth.2 … for one whose id does not end in a digit."""
    letters = iter("abcdefghijklmnopqrstuvwxyz") if task_id[-1:].isdigit() else iter(())
    for letter in letters:
        if f"{task_id}{letter}".casefold() not in taken:
            yield f"{task_id}{letter}"
    number = 0
    while True:
        number += 1
        if f"{task_id}.{number}".casefold() not in taken:
            yield f"{task_id}.{number}"
