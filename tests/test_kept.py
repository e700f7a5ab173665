from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, Phase, example, given, settings
from hypothesis import strategies as st

from taskstate.operations.index import COMMANDS, operations_of
from tests.kept import NUMBERS, History, Step, parsed, play
from tests.support.kept_commands import write_steps
from tests.support.kept_steps import CALM, STEPS
from tests.support.kept_world import TASK, Said, World, state_name
from tests.support.kept_writes import WRITES

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

# Every step runs git and a command or two of ours, a tenth of a second in all: these numbers, whatever the profile
# says, keep the test at about ten seconds. For the same reason hypothesis does not shrink what fails, which would take
# minutes: `python -m tests.kept --shrink --replay` does it in one. `make torture` runs the long form.
EXAMPLES = 10
CALM_EXAMPLES = 5
LONGEST = 12


def histories(table: Mapping[str, tuple[object, int]], *, calm: bool) -> st.SearchStrategy[History]:
    """Return histories of the steps in a table."""
    steps = st.builds(
        Step,
        st.sampled_from([name for name, (_, weight) in table.items() for _ in range(weight)]),
        st.integers(0, NUMBERS - 1),
    )
    return st.builds(
        History,
        st.lists(steps, min_size=LONGEST // 2, max_size=LONGEST).map(tuple),
        sealed=st.booleans(),
        driver=st.booleans(),
        committed=st.booleans(),
        calm=st.just(calm),
    )


def few(examples: int) -> Callable[..., Callable[..., None]]:
    """Return settings of hypothesis for histories."""
    return settings(
        max_examples=examples,
        deadline=None,
        phases=(Phase.explicit, Phase.generate),
        suppress_health_check=[HealthCheck.too_slow],
    )


# Every command that writes, and then all of it is taken away.
_LOST = "reset-hard:0 clean:0 doctor:0 fix:0 doctor:0"
WRITTEN = {
    "a task": (
        "sealed session-add:0 session-add-2:0 session-add:0 feature-add:0 feature-pass:0 feature-fail:1 "
        "phase-add:0 phase-set:0 phase-extend:0 phase-tried:0 criterion-check:0 criterion-check:1 criterion-uncheck:1 "
        "evidence-add:0 chain-output-set:0 chain-output-set-2:0 git-history-sync:0 context-rebuild:0 qa-record:0 "
        "qa-baseline:0"
    ),
    "what a task says of itself": "criterion-add:0 edit-task:0 edit-task-2:0 session-add:0 criterion-add:0 edit-task:0",
    "turns and roles": (
        "context-init:0 start:0 finish:0 start:0 finish-2:0 qa-record-2:0 role-set:0 snapshot-take:0 role-set-2:0 "
        "role-reopen:0 role-block:0 role-unblock:0 handoff-new:0 handoff-accept:0 snapshot-resolve:0"
    ),
    "the permanent task": (
        "permanent-update:0 permanent-decide:0 permanent-decide-2:1 permanent-decide-3:1 permanent-ack:0 "
        "impact-add-module:0 impact-add-interface:0 impact-add-ripple:0 impact-check:0 impact-confirm:0 "
        "impact-add-ripple:1 impact-remove:1 permanent-close:0 permanent-import:0"
    ),
    "several tasks": (
        "new:0 new-2:0 chain-output-set:0 complete:0 reopen:0 chain-output-set-2:0 load:4 complete:0 save:0 "
        "chain-pull:0 drop:5 reopen:5 decompose:4 doctor-renumber:4"
    ),
}

# What was once lost, or told for nothing.
SEEN = {
    "the cure after an archiving": (
        "session-add:0 session-add:0 commit:1 session-add:0 archive:0 reset-hard:0 clean:0 fix:0 doctor:0"
    ),
    "the same, tracked": (
        "session-add:0 session-add:0 archive:0 commit:1 session-add:0 archive:0 session-add:0 checkout-files:3 fix:0"
    ),
    "an archive taken back": (
        "session-add:0 session-add:0 archive:0 commit:1 session-add:0 archive:0 checkout-files:2 fix:0"
    ),
    "a HEAD that moved": "session-add:0 commit:1 session-add:0 reset-hard:1 fix:0 doctor:0",
    "another branch by force": "session-add:0 commit:1 session-add:0 switch:1 fix:0",
    "a sealed task": (
        "sealed session-add:0 commit:1 session-add:0 feature-pass:0 criterion-check:0 checkout-files:3 fix:0"
    ),
    "added, reset, collected": "session-add:0 commit:1 session-add:0 stage:0 reset-hard:0 gc:0 fix:0",
    "stashed": "session-add:0 commit:1 session-add:0 stash:0 doctor:0 stash-pop:0",
    "stashed and dropped": "session-add:0 commit:1 session-add:0 stash:0 stash-drop:0 gc:0 fix:0",
    "half a file": "session-add:0 session-add:0 commit:1 session-add:0 half:0 session-add:0 fix:0 add-aside:0",
    "removed, then new": "session-add:0 commit:1 session-add:0 remove:0 new-again:0 fix:0",
    "never committed, cleaned": "uncommitted session-add:0 feature-pass:0 clean:0 new-again:0 fix:0",
    "a branch with an edit": "session-add:0 commit:1 branch:0 session-add:0 edit:1 commit:1 switch:3 doctor:0 fix:0",
    "a merge given up": (
        "session-add:0 commit:1 branch:0 session-add:0 commit:1 switch:2 session-add:0 commit:1 merge:1 "
        "abort:0 doctor:0 fix:0"
    ),
    "a reset that was meant": (
        "session-add:0 commit:1 session-add:0 reset-hard:0 let-go:0 doctor:0 session-add:0 doctor:0"
    ),
    "only in the reflog": "session-add:0 commit:1 session-add:0 commit:1 reset-hard:1 doctor:0 fix:0",
    "a stale save": "session-add:0 load:0 session-add:0 feature-pass:0 save:2 fix:0",
    "other ends of lines": "session-add:0 session-add:0 crlf:0 session-add:0 archive:0 fix:0",
    "a working tree removed": "session-add:0 commit:1 worktree-add:0 session-add:0 worktree-remove:0 fix:0",
    "a handoff": "handoff-new:0 reset-hard:0 clean:0 fix:0 handoff-accept:0",
    "taken back": "feature-pass:0 criterion-check:0 feature-fail:0 criterion-uncheck:0 doctor:0 fix:0",
    "edited, then written over": "session-add:0 edit:0 session-add:0 doctor:0 fix:0",
    "another branch, no reflog": (
        "session-add:0 commit:1 branch:0 session-add:0 feature-pass:0 commit:1 switch:2 gc:1 doctor:0 fix:0"
    ),
    "a conflict of lines": (
        "session-add:0 commit:1 branch:0 session-add:0 commit:1 switch:2 session-add:0 commit:1 merge:1 fix:0"
    ),
    "a stale half": "session-add:0 session-add:0 load:0 session-add:0 save:0 half:0 fix:0",
    "undone, after a drop": "session-add:0 commit:1 drop:0 checkout-files:3 session-add:0 reset-hard:0 fix:0",
    "dropped on another branch": "branch:0 drop:0 commit:1 switch:2 session-add:0 reset-hard:0 doctor:0 fix:0",
    "dropped, reopened, checked out": "session-add:0 drop:0 reopen:0 checkout-files:3 fix:0 doctor:0",
    "an alike session from a clone": (
        "push:0 clone:0 session-add:0 commit:1 push:0 clone:0 session-add:0 reset-hard:0 pull:2 doctor:0 fix:0"
    ),
    "equal but for a comment": (
        "push:0 clone:0 session-add-2:0 commit:1 push:0 clone:0 session-add-2:0 reset-hard:0 pull:2 doctor:0 fix:0"
    ),
    "a version that was lost": "permanent-decide:0 checkout-files:3 permanent-decide:0 fix:0 doctor:0",
    "a version that was reverted": "permanent-decide:0 commit:1 revert:0 permanent-decide:0 doctor:0",
    "a version that is told, and a write since": "permanent-update:0 reset-hard:0 permanent-ack:3 permanent-update:2",
    "a version in the reflog": (
        "uncommitted commit:1 permanent-update:2 commit:2 reset-hard:5 permanent-update:0 doctor:0"
    ),
    "squashed, archived, rebased": (
        "driver branch:0 session-add:0 commit:1 session-add:0 commit:1 switch:2 squash:1 session-add:0 "
        "archive:0 commit:1 switch:2 rebase:1 fix:0"
    ),
    "a formatter over an archive": "session-add:0 session-add:0 session-add:0 archive:0 format:2 fix:0 doctor:0",
    "a formatter over a state file": "session-add:0 session-add:0 format:0 session-add:0 fix:0 doctor:0",
    "new over what is committed": "remove:0 new-again:0",
    "both parts of a division": "feature-add:0 commit:1 decompose:0 checkout-files:3 clean:0 fix:0 doctor:0",
    "a renumbering, and a hand": "session-add:0 doctor-renumber:0 slip:5 reset-hard:0 clean:0 fix:0 doctor:0",
    "let go, then collected": "permanent-ack:4 reset-hard:5 let-go:4 gc:1",
    "let go in a linked tree": "driver worktree-add:5 session-add:3 checkout-files:4 let-go:3 switch:1",
    "a session after a drop": "sealed uncommitted drop:0 stage:0 session-add:3 switch:3",
    "a version below the lost one": "permanent-decide-2:2 commit:2 impact-add-module:5 restore:5 fix:5",
    "a value that was found, let go": "sealed session-add:2 stash:5 phase-set:0 checkout-files:4 let-go:5 switch:4",
    "a drop in a new clone": "sealed driver clone:4 drop:3 stash:2 fix:1",
    "a role of two writes": "sealed role-block:3 restore:0 role-set:2 fix:3",
    "a stale save with an edit": "load:5 permanent-update:0 save:5 fix:5",
    "a broken seal, and a session cut out": "criterion-add:1 start:3 session-add-2:2 edit:1 cut:0 session-add:3",
    "two writes in a new clone": "sealed driver clone:4 role-set:0 drop:3 stash:2 fix:1",
    "a session cut out": "session-add:0 session-add:0 cut:0 doctor:0 fix:0",
    "a feature cut out": "feature-add:0 feature-add:0 cut:0 doctor:0 fix:0",
    "a decision cut out": "permanent-decide:0 permanent-decide:0 cut:0 doctor:0 fix:0",
    **{
        f"a slip of a hand, {n}": f"session-add:0 slip:{n} fix:0 doctor:0 complete:0 purge:0 drop:0 doctor:0"
        for n in range(NUMBERS)
    },
    "another area after a source was changed": "sealed context-rebuild:5 edit-task:0",
}


def faults(history: History) -> str:
    """Return what did not hold, with the way there; nothing where all held."""
    played = play(history)
    replay = f"python -m tests.kept --shrink --replay '{history}'"
    return "\n".join(["", *played.trace, *map(": ".join, played.faults), replay]) if played.faults else ""


def test_every_operation_that_writes_is_played() -> None:
    """Each has a step in a history below, with a text of its own, or says why none of its texts can be lost."""
    operations = {each.name for command in COMMANDS for each in operations_of(command) if each.writes}
    assert set(WRITES) == operations
    played = {step.name for history in WRITTEN.values() for step in parsed(history).steps}
    rows = {name: row for name, (row, _) in write_steps().items() if not row.why}
    assert rows.keys() - played == set()
    assert [row.words for row in rows.values() if not (row.leaves or row.finds[0])] == []


@pytest.mark.slow
@pytest.mark.parametrize("history", WRITTEN.values(), ids=WRITTEN)
def test_every_write_is_told_and_comes_back(history: str) -> None:
    """What any command wrote is told after git took it away, and comes back; and each of the commands did write."""
    played = play(parsed(f"{history} {_LOST}"))
    assert played.faults == (), played.trace
    rows = [write_steps()[step.name][0] for step in parsed(history).steps if step.name in write_steps()]
    assert [row.words for row in rows if not row.why and row.words not in played.written] == []


@pytest.mark.slow
@pytest.mark.parametrize("history", SEEN.values(), ids=SEEN)
def test_what_was_seen_once(history: str) -> None:
    """Each item is in place or told after each step, and comes back, in the histories in which it once did not."""
    assert not faults(parsed(history))


@pytest.mark.slow
@few(EXAMPLES)
@example(history=parsed("driver session-add:0 commit:1 branch:0 session-add:0 commit:1 switch:2 merge:1 fix:0"))
@given(history=histories(STEPS, calm=False))
def test_what_was_acknowledged_is_in_place_or_told(history: History) -> None:
    """Each item is in place or told, whatever commands, git and editors do; the cure brings back and takes nothing."""
    assert not faults(history)


@pytest.mark.slow
@few(CALM_EXAMPLES)
@given(history=histories(CALM, calm=True))
def test_nothing_is_told_in_ordinary_life(history: History) -> None:
    """Nothing is told where all was committed, or stashed and taken back: no alarm is false."""
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


class Careless(World):
    """As if a new feature took the first session's text away, and left the second one's twice."""

    def taskstate(self, *arguments: str, quiet: bool = False) -> Said:
        """Add a feature, and more."""
        said = super().taskstate(*arguments, quiet=quiet)
        if arguments[:2] == ("feature", "add"):
            path = self.here / state_name(TASK)
            text = path.read_text(encoding="utf-8").replace("item-1-end", "")
            path.write_text(text.replace("## 5. Git History\n", "## 5. Git History\n\nitem-2-end\n"), encoding="utf-8")
        return said


@pytest.mark.parametrize(
    ("kind", "world", "history"),
    [
        ("untold", Silent, "session-add:0 reset-hard:0"),
        ("reflog untold", Silent, "session-add:0 commit:1 reset-hard:1"),
        ("ruin unnamed", Silent, "half:1"),
        ("false alarm", Alarmed, "session-add:0"),
        ("wording", Alarmed, "session-add:0 stash:0"),
        ("cure fails", Idle, "session-add:0 reset-hard:0 fix:0"),
        ("cure deletes", Deleting, "session-add:0 fix:0"),
        ("false alarm", Alarmed, "calm session-add:0"),
        ("command deletes", Careless, "session-add:0 feature-add:0"),
        ("doubled", Careless, "criterion-check:0 session-add:0 feature-add:0"),
        ("built on a ruin", Building, "half:1 session-add:0"),
    ],
)
def test_the_model_sees(kind: str, world: type[World], history: str) -> None:
    """A history in which a promise is broken is found out, by the kind of promise."""
    others = {"untold", "ruin unnamed", "false alarm", "wording"} - {kind}
    played = play(parsed(history), frozenset(others), world)
    assert [found for found, _ in played.faults][:1] == [kind]


def test_a_history_is_read_as_it_was_written() -> None:
    """The text of a history that a failure prints gives the same history when it is played again."""
    history = History((Step("session-add", 0), Step("reset-hard", 1)), sealed=True, driver=True, committed=False)
    assert parsed(str(history)) == history
