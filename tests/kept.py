"""Commands of ours, of git and of editors in any order, on real git: what was acknowledged is in place, or told.

`python -m tests.kept` runs the long form and prints a short trace of each failure, which `--replay` runs again; the
tests run a small one. What must hold, and how doubtful points are decided, stands in `tests/support/kept_model.py`.
"""

from __future__ import annotations

import random
import sys
import tempfile
import time
import traceback
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from tests.support.kept_editors import Steps
from tests.support.kept_model import Model
from tests.support.kept_steps import CALM, COMMANDS, MERGES, STEPS
from tests.support.kept_world import World, nobodys_environment
from tests.support.long_run import parser_of, say

if TYPE_CHECKING:
    from collections.abc import Sequence

NUMBERS = 6  # each step takes a number below this
_PATIENCE = 120  # seconds for making one failing history shorter


class Step(NamedTuple):
    """One step, with the number that it reads as it likes."""

    name: str
    number: int


class History(NamedTuple):
    """A repository's beginning, and what happens to it."""

    steps: tuple[Step, ...]
    sealed: bool = False
    driver: bool = False
    committed: bool = True
    calm: bool = False

    def __str__(self) -> str:
        signs = (
            *(("sealed", self.sealed), ("driver", self.driver)),
            *(("uncommitted", not self.committed), ("calm", self.calm)),
        )
        return " ".join([*(name for name, on in signs if on), *(f"{name}:{number}" for name, number in self.steps)])


class Played(NamedTuple):
    """What happened up to the first step after which something did not hold, and which kinds of writes were counted."""

    trace: tuple[str, ...]
    faults: tuple[tuple[str, str], ...]
    steps: int
    proposals: int
    written: frozenset[str]


def parsed(text: str) -> History:
    """Return the history that `str` wrote."""
    words = text.split()
    steps = [word.partition(":") for word in words if ":" in word]
    return History(
        steps=tuple(Step(name, int(number)) for name, _, number in steps),
        sealed="sealed" in words,
        driver="driver" in words,
        committed="uncommitted" not in words,
        calm="calm" in words,
    )


def play(history: History, without: frozenset[str] = frozenset(), kind: type[World] = World) -> Played:
    """Run a history in a new repository up to its first fault, without some steps and kinds of faults."""
    with tempfile.TemporaryDirectory(prefix="taskstate-kept-") as folder, nobodys_environment():
        world = kind(Path(folder))
        world.begin(sealed=history.sealed, driver=history.driver, committed=history.committed)
        model = Model(world, without, calm=history.calm)
        model.begin()
        table, steps, done = CALM if history.calm else STEPS, Steps(world, model), 0
        for step in history.steps:
            done += 1
            if step.name in without:
                continue
            try:
                table[step.name][0](steps, step.number)
                merges = step.name.removeprefix("calm-") in MERGES
                model.check(merges=merges, commands=step.name in COMMANDS or step.name == "fix")
            except Exception:  # noqa: BLE001 - a command of ours ended with it: that is a finding like the others
                model.fault("traceback", traceback.format_exc(limit=-4))
            if model.faults:
                break
        return Played(tuple(world.trace), tuple(model.faults), done, model.proposals, frozenset(steps.written))


def drawn(chance: random.Random, length: int, *, calm: bool = False) -> History:
    """Return a history by chance; one of ordinary life, if it is to be calm."""
    table = CALM if calm else STEPS
    names = chance.choices(list(table), weights=[weight for _, weight in table.values()], k=length)
    return History(
        steps=tuple(Step(name, chance.randrange(NUMBERS)) for name in names),
        sealed=chance.random() < 1 / 3,
        driver=chance.random() < 1 / 2,
        committed=chance.random() < 5 / 6,
        calm=calm,
    )


def shrunk(history: History, without: frozenset[str], kind: str) -> tuple[History, Played]:
    """Return a history with fewer steps that fails in the same way, and what happens in it."""
    best = play(history, without)
    history = history._replace(steps=history.steps[: best.steps])
    until, size = time.monotonic() + _PATIENCE, max(1, len(history.steps) // 2)
    while size and time.monotonic() < until:
        shorter, start = False, len(history.steps) - size
        while start >= 0 and time.monotonic() < until:
            tried = history._replace(steps=history.steps[:start] + history.steps[start + size :])
            played = play(tried, without)
            if played.faults and played.faults[0][0] == kind:
                history, best, shorter = tried, played, True
            start -= size
        size = size if shorter and size == 1 else size // 2
    return history, best


def report(arguments: Sequence[str] | None = None) -> int:
    """Run the long form, and print what it did and found."""
    parser = parser_of("kept", __doc__, histories=200, steps=40)
    parser.add_argument("--without", default="", metavar="NAME,…", help="steps and kinds of faults to leave out")
    parser.add_argument("--calm", action="store_true", help="ordinary life alone, in which nothing may be told")
    parser.add_argument("--replay", metavar="HISTORY", help="run one history, as a failure prints it")
    parser.add_argument("--shrink", action="store_true", help="look for a shorter history than the replayed one")
    how = parser.parse_args(arguments)
    without = frozenset(filter(None, how.without.split(",")))
    if how.replay:
        played = play(parsed(how.replay), without)
        if how.shrink and played.faults:
            return _tell(*shrunk(parsed(how.replay), without, played.faults[0][0]))
        return _tell(parsed(how.replay), played)
    say(f"{how.histories} histories of up to {how.steps} steps, seed {how.seed}")
    begun, chance = time.monotonic(), random.Random(how.seed)  # noqa: S311 - no secret, and to be repeated
    kinds: Counter[str] = Counter()
    steps = proposals = 0
    for _ in range(how.histories):
        history = drawn(chance, chance.randint(how.steps // 4, how.steps), calm=how.calm)
        played = play(history, without)
        steps, proposals = steps + played.steps, proposals + played.proposals
        if played.faults:
            kind = played.faults[0][0]
            kinds[kind] += 1
            if kinds[kind] <= 3:
                _tell(*shrunk(history, without, kind))
    say(f"{steps} steps, {proposals} proposals; {dict(kinds)}")
    say(f"{kinds.total()} histories went wrong after {time.monotonic() - begun:.0f} s")
    return 1 if kinds else 0


def _tell(history: History, played: Played) -> int:
    """Print what a history came to."""
    say(f"\n--replay '{history}'")
    for line in played.trace:
        say(f"    {line}")
    for kind, what in played.faults:
        say(f"  {kind}: {what}")
    return 1 if played.faults else 0


if __name__ == "__main__":
    sys.exit(report())
