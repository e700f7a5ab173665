from __future__ import annotations

import pytest
from hypothesis import HealthCheck, Phase, example, given, settings
from hypothesis import strategies as st

from tests.kept import NUMBERS, History, Step, parsed, play
from tests.support.kept_steps import STEPS
from tests.support.kept_world import TASK, Said, World, state_name

# Every step runs git and a command or two of ours, a tenth of a second in all: these two numbers, whatever the profile
# says, keep the test at about ten seconds. For the same reason hypothesis does not shrink what fails, which would take
# minutes: `python -m tests.kept --shrink --replay` does it in one. `make torture` runs the long form.
EXAMPLES = 10
LONGEST = 12

steps = st.builds(
    Step,
    st.sampled_from([name for name, (_, weight) in STEPS.items() for _ in range(weight)]),
    st.integers(0, NUMBERS - 1),
)
histories = st.builds(
    History,
    st.lists(steps, min_size=LONGEST // 2, max_size=LONGEST).map(tuple),
    sealed=st.booleans(),
    driver=st.booleans(),
    committed=st.booleans(),
)

# What was once lost, or told for nothing.
SEEN = {
    "the cure after an archiving": "add:0 add:0 commit:1 add:0 archive:0 reset-hard:0 clean:0 fix:0 doctor:0",
    "the same, tracked": "add:0 add:0 archive:0 commit:1 add:0 archive:0 add:0 checkout-files:3 fix:0",
    "an archive taken back": "add:0 add:0 archive:0 commit:1 add:0 archive:0 checkout-files:2 fix:0",
    "a HEAD that moved": "add:0 commit:1 add:0 reset-hard:1 fix:0 doctor:0",
    "another branch by force": "add:0 commit:1 add:0 switch:1 fix:0",
    "a sealed task": "sealed add:0 commit:1 add:0 pass:0 check:0 checkout-files:3 fix:0",
    "added, reset, collected": "add:0 commit:1 add:0 stage:0 reset-hard:0 gc:0 fix:0",
    "stashed": "add:0 commit:1 add:0 stash:0 doctor:0 stash-pop:0",
    "stashed and dropped": "add:0 commit:1 add:0 stash:0 stash-drop:0 gc:0 fix:0",
    "half a file": "add:0 add:0 commit:1 add:0 half:0 add:0 fix:0 add-aside:0",
    "removed, then new": "add:0 commit:1 add:0 remove:0 new:0 fix:0",
    "never committed, cleaned": "uncommitted add:0 pass:0 clean:0 new:0 fix:0",
    "a branch with an edit": "add:0 commit:1 branch:0 add:0 edit:1 commit:1 switch:3 doctor:0 fix:0",
    "a merge given up": "add:0 commit:1 branch:0 add:0 commit:1 switch:2 add:0 commit:1 merge:1 abort:0 doctor:0 fix:0",
    "a reset that was meant": "add:0 commit:1 add:0 reset-hard:0 let-go:0 doctor:0 add:0 doctor:0",
    "only in the reflog": "add:0 commit:1 add:0 commit:1 reset-hard:1 doctor:0 fix:0",
    "a stale save": "add:0 load:0 add:0 pass:0 save:2 fix:0",
    "other ends of lines": "add:0 add:0 crlf:0 add:0 archive:0 fix:0",
    "a working tree removed": "add:0 commit:1 worktree-add:0 add:0 worktree-remove:0 fix:0",
    "a handoff": "handoff:0 reset-hard:0 clean:0 fix:0 accept:0",
    "taken back": "pass:0 check:0 fail:0 uncheck:0 doctor:0 fix:0",
    "edited, then written over": "add:0 edit:0 add:0 doctor:0 fix:0",
    "another branch, no reflog": "add:0 commit:1 branch:0 add:0 pass:0 commit:1 switch:2 gc:1 doctor:0 fix:0",
    "a conflict of lines": "add:0 commit:1 branch:0 add:0 commit:1 switch:2 add:0 commit:1 merge:1 fix:0",
    "a stale half": "add:0 add:0 load:0 add:0 save:0 half:0 fix:0",
}


def faults(history: History) -> str:
    """Return what did not hold, with the way there; nothing where all held."""
    played = play(history)
    replay = f"python -m tests.kept --shrink --replay '{history}'"
    return "\n".join(["", *played.trace, *map(": ".join, played.faults), replay]) if played.faults else ""


@pytest.mark.slow
@pytest.mark.parametrize("history", SEEN.values(), ids=SEEN)
def test_what_was_seen_once(history: str) -> None:
    """Each item is in place or told after each step, and comes back, in the histories in which it once did not."""
    assert not faults(parsed(history))


@pytest.mark.slow
@settings(
    max_examples=EXAMPLES,
    deadline=None,
    phases=(Phase.explicit, Phase.generate),
    suppress_health_check=[HealthCheck.too_slow],
)
@example(history=parsed("driver add:0 commit:1 branch:0 add:0 commit:1 switch:2 add:0 commit:1 merge:1 fix:0"))
@given(history=histories)
def test_what_was_acknowledged_is_in_place_or_told(history: History) -> None:
    """Each item is in place or told, whatever commands, git and editors do; the cure brings back and takes nothing."""
    assert not faults(history)


LINE = f"task {TASK}: a session is gone: `taskstate doctor --fix` or `taskstate doctor --let-go {TASK}`\n"


class Silent(World):
    """As if no command told anything."""

    def taskstate(self, *arguments: str, quiet: bool = False) -> Said:
        """Leave out what is told."""
        return super().taskstate(*arguments, quiet=quiet)._replace(out="", err="")


class Alarmed(World):
    """As if `list` always told the same."""

    def taskstate(self, *arguments: str, quiet: bool = False) -> Said:
        """Tell it in any case."""
        said = super().taskstate(*arguments, quiet=quiet)
        return said._replace(err=LINE) if arguments == ("list",) else said


class Idle(Alarmed):
    """As if the cure said so, and did nothing."""

    def taskstate(self, *arguments: str, quiet: bool = False) -> Said:
        """Do nothing where a cure is asked for."""
        return Said(0, "", "") if "--fix" in arguments else super().taskstate(*arguments, quiet=quiet)


class Deleting(World):
    """As if the cure took a session away."""

    def taskstate(self, *arguments: str, quiet: bool = False) -> Said:
        """Cure, and take the first session away."""
        said = super().taskstate(*arguments, quiet=quiet)
        if "--fix" in arguments:
            path = self.here / state_name(TASK)
            path.write_text(path.read_text(encoding="utf-8").replace("item-1-end", ""), encoding="utf-8")
        return said


class Building(World):
    """As if every write went through."""

    def taskstate(self, *arguments: str, quiet: bool = False) -> Said:
        """Write at the end of the file, whatever it is."""
        if arguments[:2] != ("session", "add"):
            return super().taskstate(*arguments, quiet=quiet)
        with (self.here / state_name(TASK)).open("a", encoding="utf-8") as file:
            file.write(f"{arguments[6]}\n")
        return Said(0, "", "")


@pytest.mark.parametrize(
    ("kind", "world", "history"),
    [
        ("untold", Silent, "add:0 reset-hard:0"),
        ("reflog untold", Silent, "add:0 commit:1 reset-hard:1"),
        ("ruin unnamed", Silent, "half:2"),
        ("false alarm", Alarmed, "add:0"),
        ("wording", Alarmed, "add:0 stash:0"),
        ("cure fails", Idle, "add:0 reset-hard:0 fix:0"),
        ("cure deletes", Deleting, "add:0 fix:0"),
        ("built on a ruin", Building, "half:2 add:0"),
    ],
)
def test_the_model_sees(kind: str, world: type[World], history: str) -> None:
    """A history in which a promise is broken is found out, by the kind of promise."""
    others = {"untold", "ruin unnamed", "false alarm", "wording"} - {kind}
    played = play(parsed(history), frozenset(others), world)
    assert [found for found, _ in played.faults][:1] == [kind]


def test_a_history_is_read_as_it_was_written() -> None:
    """The text of a history that a failure prints gives the same history when it is played again."""
    history = History((Step("add", 0), Step("reset-hard", 1)), sealed=True, driver=True, committed=False)
    assert parsed(str(history)) == history
