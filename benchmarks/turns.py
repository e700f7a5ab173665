"""Counts what turns cost: commands, tokens that must be read, and seconds, for each role and for a whole small job.

The same small job is done with plain notes and with backlog.md, too (`peers.py` says what those see). Notes are
cheaper; neither sees the regression that a role hands on, nor an edit behind its back.
"""

from __future__ import annotations

import math
import os
import re
import resource
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from benchmarks import sample
from benchmarks.measurement import Measurement, repository
from benchmarks.peers import CHECK, CODE, GIT, MORE, MORE_TESTS, PLAIN_NOTES, TESTS, Peer, backlog
from taskstate.handoff.token_count import count, counter

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

_PROGRAMS = Path(sys.executable).parent
# What differs from run to run is counted as if it were this: the folder, and the digits of commits and revisions.
_FOLDER, _DIGITS = "/home/somebody/project", "3f7a0c9e15"
_HASH = re.compile(r"\b[0-9a-f]{8,10}\b")
_COMMIT = f"git add --all && {GIT} commit --quiet --message 'work'"
_MOST_COMMANDS, _MOST_TOKENS, _TURN_COMMANDS, _TURN_TOKENS, _SAMPLE_TOKENS, _OWN_SECONDS = 12, 3_000, 3, 700, 1_200, 1.0
_OUTPUT = """\
### Summary

unslug() gives the words of a slug.

### Files Created/Modified

- `slug.py`

### API Contract

`unslug(slug: str) -> str`
"""
_DIFF = "taskstate snapshot diff {id} --role implementer"
_NEW = (
    "taskstate new 7 --title 'Slugs back to words' --description 'Give the words of a slug.'"
    " --criterion 'A slug gives its words' --feature 'slug-1=unslug() gives the words of a slug'"
)
_LAST = (
    "taskstate finish 7 --did 'Ran all tests.' --state 'They pass.' --next 'Nothing is left.' --check 1"
    f" --complete --output - <<'END'\n{_OUTPUT}END"
)
# What each agent of the small job does: the commands that are counted, and between them the files that it writes.
_SMALL_JOB = (
    ("created", (_NEW, "taskstate trust 7")),
    (
        "implementer",
        (
            "taskstate start 7 --role implementer --agent ann",
            {"slug.py": MORE},
            "taskstate finish 7 --pause --did 'Wrote unslug().' --state 'Without a test.' --next 'Write its test.'",
        ),
    ),
    (
        "successor",
        (
            "taskstate start 7 --agent bob",
            {"test_slug.py": MORE_TESTS},
            "taskstate finish 7 --did 'Wrote its test.' --state 'All tests pass.' --next 'Review it.' --pass slug-1",
        ),
    ),
    (
        "reviewer",
        (
            "taskstate start 7 --agent cid",
            _DIFF.format(id=7),
            "taskstate finish 7 --did 'Read the diff.' --state 'Nothing is open.' --next 'Validate it.'",
        ),
    ),
    (
        "validator",
        (
            "taskstate start 7 --agent dan",
            _LAST,
        ),
    ),
)
_SAMPLE_WORDS = "--did 'Kept the state across screens.' --state 'The checks pass.' --next 'Go on with set-6.'"
_START, _SAMPLE_FINISH = f"taskstate start {sample.TASK}", f"taskstate finish {sample.TASK} {_SAMPLE_WORDS}"
_SAMPLE_TURNS = (
    ("implementer", (f"{_START} --agent ann", {"kept.ts": "one\n"}, _SAMPLE_FINISH)),
    ("reviewer", (f"{_START} --agent bob", f"{_DIFF.format(id=sample.TASK)}", _SAMPLE_FINISH)),
    ("validator", (f"{_START} --agent cid", _SAMPLE_FINISH)),
)
# The rules that an agent can read before it begins; not needed, since every brief begins with their short form.
_PROTOCOLS = ("taskstate protocol",) * len(_SMALL_JOB)


class _Cost(NamedTuple):
    """What some commands cost: how many there were, the tokens that they printed, and the processor's seconds."""

    commands: int
    tokens: int
    seconds: float

    @property
    def words(self) -> str:
        return f"{self.commands} commands, {self.tokens:,} tokens, {self.seconds:.1f} s"


class _Place(NamedTuple):
    """A repository in which the commands of a job are run."""

    root: Path
    programs: Path = _PROGRAMS

    def cost(self, steps: Sequence[str | dict[str, str]]) -> _Cost:
        """Run steps one after the other, and return what they cost; files that a step writes cost nothing."""
        commands, tokens, seconds = 0, 0, 0.0
        for step in steps:
            if isinstance(step, dict):
                for name, text in step.items():
                    (self.root / name).write_text(text, encoding="utf-8")
                continue
            start = _seconds_of_children()
            printed = self.run(step)
            seconds += _seconds_of_children() - start
            commands, tokens = commands + 1, tokens + count(self.alike(printed))
        return _Cost(commands, tokens, seconds)

    def alike(self, printed: str) -> str:
        """Return what was printed with the same folder and digits in each run: their tokens are up to 20 of a turn."""
        return _HASH.sub(lambda found: _DIGITS[: len(found[0])], printed.replace(str(self.root), _FOLDER))

    def run(self, command: str) -> str:
        """Run a command that must end well, and return what it printed.

        Raises:
            RuntimeError: it failed, so that its cost says nothing.
        """
        folders = (self.root / "bin", self.programs, _PROGRAMS)
        path = os.pathsep.join([*map(str, folders), os.environ.get("PATH", os.defpath)])
        state = str(self.root.with_name(f"{self.root.name}-state"))  # what is trusted is remembered there
        own = {"PATH": path, "XDG_STATE_HOME": state, "TASKSTATE_ACTOR": "somebody"}
        environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"} | own
        done = subprocess.run(
            ["sh", "-c", command],
            cwd=self.root,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            encoding="utf-8",
            check=False,
        )
        if done.returncode:
            raise RuntimeError(f"`{command}` ended with {done.returncode}: {done.stdout}")
        return done.stdout


def _seconds_of_children() -> float:
    """Return the processor's time of all processes that ended so far; unlike the clock it does not see other work."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def turns(folder: Path) -> Iterator[Measurement]:
    """Measure the turns of the small job and of the sample project, and the small job as peers do it."""
    small = _small(folder / "small")
    small.run(f'printf \'\\n[validation]\\n"*" = ["{CHECK}"]\\n\' >> taskstate.toml && {_COMMIT}')
    costs = {who: small.cost(steps) for who, steps in _SMALL_JOB}
    whole = _sum(costs.values())
    what = f"the small job: created, three roles and a successor, complete ({whole.words})"
    yield Measurement(f"commands of {what}", "one", whole.commands, _MOST_COMMANDS)
    yield Measurement(f"tokens of {what}", "one", whole.tokens, _MOST_TOKENS, f"by {counter().name}")
    yield from _beside(PLAIN_NOTES, whole, whole, folder / "notes")
    try:
        peer = backlog(folder / "npm")
    except RuntimeError as error:
        yield Measurement("the small job", f"backlog.md, skipped: {error}", math.nan, 0)
    else:
        yield from _beside(peer, whole, _sum((whole, small.cost(_PROTOCOLS))), folder / "backlog")
    seconds = small.cost((CHECK,)).seconds
    runs = {"implementer": 1, "successor": 1, "reviewer": 1, "validator": 1}  # of the checks in each turn
    for who, cost in costs.items():
        if who in runs:
            yield from _turn(f"{who}, small task", cost, _TURN_TOKENS, seconds * runs[who])
    large = _sample(folder / "sample")
    for who, steps in _SAMPLE_TURNS:
        yield from _turn(f"{who}, sample project", large.cost(steps), _SAMPLE_TOKENS, 0)


def _sum(costs: Iterable[_Cost]) -> _Cost:
    return _Cost(*(sum(values) for values in zip(*costs, strict=True)))


def _beside(peer: Peer, ours: _Cost, ours_instructed: _Cost, root: Path) -> Iterator[Measurement]:
    """Compare the small job with that of a peer: without and, if it has any, with the instructions of both."""
    place = _small(root, peer.programs)
    place.run(f"{peer.set_up} && {_COMMIT} --allow-empty")
    theirs = place.cost(peer.steps)
    yield from _ratios("the small job", peer, ours, theirs)
    if peer.instructions:
        theirs = _sum((theirs, place.cost(peer.instructions)))
        yield from _ratios("the small job, each agent reading the instructions first", peer, ours_instructed, theirs)


def _ratios(what: str, peer: Peer, ours: _Cost, theirs: _Cost) -> Iterator[Measurement]:
    note = f"{theirs.words} against {ours.words}; {peer.sees}"
    yield Measurement(f"commands of {what}", peer.name, ours.commands / theirs.commands, 0, note)
    yield Measurement(f"tokens of {what}", peer.name, ours.tokens / theirs.tokens, 0, note)


def _small(root: Path, programs: Path | None = None) -> _Place:
    """Return a repository with a module, its test, and a task folder, all committed; peers bring their programs."""
    place = _Place(repository(root), programs or _PROGRAMS)
    for name, text in {"slug.py": CODE, "test_slug.py": TESTS}.items():
        (root / name).write_text(text, encoding="utf-8")
    place.run("printf '__pycache__/\\n' >> .gitignore")
    place.run(f"taskstate init --quiet && {_COMMIT}")
    return place


def _sample(root: Path) -> _Place:
    """Return a repository with the sample project, whose checks pass at once."""
    place = _Place(repository(root))
    sample.write(root)
    program = root / "bin" / "pnpm"
    program.parent.mkdir()
    program.write_text("#!/bin/sh\necho 'Tests: 212 passed, 212 total'\n", encoding="utf-8")
    program.chmod(0o755)
    place.run("taskstate init --quiet && taskstate new 801 --title 'Forms share their fields'")
    place.run(f"taskstate role unblock {sample.TASK} implementer --all")
    place.run(f"{_COMMIT} && taskstate trust {sample.TASK}")
    place.run(f"taskstate qa baseline {sample.TASK} --redo --note 'By its commands.' && {_COMMIT}")
    return place


def _turn(who: str, cost: _Cost, tokens: int, checks: float) -> Iterator[Measurement]:
    """Compare a turn with what it may cost; the time of the validation commands is taken off its own."""
    own = cost.seconds - checks
    yield Measurement(f"commands of a turn: {who}", "one", cost.commands, _TURN_COMMANDS)
    yield Measurement(f"tokens to read in a turn: {who}", "one", cost.tokens, tokens)
    yield Measurement(f"own time of a turn: {who}", "1 s", own, _OWN_SECONDS, f"{checks:.2f} s of checks taken off")
