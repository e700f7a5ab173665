"""A task grows too long: who works on it learns that, how large it is, which parts it could be, and what one can do."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

import pytest

from tests.support.long_tasks import LongTask, long_task

if TYPE_CHECKING:
    from tests.support.turns import Turns

TASK = "7"
WORDS = ("--state", "It goes on.", "--next", "Go on.")
PARTS = {
    "7a": "Stores cards as tokens of the\u2026 and 1 more; Refunds",
    "7b": "Webhooks",
    "7c": "Report",
    "7d": "Tests",
    "7e": "Documentation",
}


@pytest.fixture
def payments(turns: Turns) -> LongTask:
    """Return a long task, of which twenty sessions are recorded, one by one and without a word on their number."""
    task = long_task("payments")
    task.create(turns.cli, TASK)
    for number in range(1, 21):
        said = turns.cli("session", "add", TASK, *task.words(number))
        assert (said.status, "too long" in said.err) == (0, False), number
    return task


def hook(turns: Turns) -> str:
    """Return what an agent reads at the start of its session."""
    given = json.dumps({"cwd": str(turns.place.root), "source": "startup"})
    return turns.cli.ok("hook", "session-start", "--agent", "claude", stdin=given)


def test_the_story_of_a_long_task(turns: Turns, payments: LongTask) -> None:
    """At session 21 it is said once a turn, by each door; dismissed, it is silent until there are ten sessions more."""
    cli = turns.cli
    assert "too long" not in cli.ok("start", TASK)
    said = cli.ok("finish", TASK, *payments.words(21))
    assert "task 7 is too long: 21 sessions (over 20 are too many), 9 KB" in said
    assert all(f"\n{part} {name} (" in said for part, name in PARTS.items())
    commands = re.findall(r"`taskstate ([^`]+)`", said.partition("too long")[2])
    assert commands == [f"decompose {TASK} --apply", f"start {TASK}", f"decompose {TASK} --dismiss"]
    assert "too long" in hook(turns)
    assert "too long" in cli("show", TASK).err
    assert "- 7b Webhooks (3 features, about 8 sessions)" in cli.ok(*commands[1].split())
    assert "too long" not in cli.ok(*commands[1].split())
    assert "too long" not in cli.ok("finish", TASK, *payments.words(22))
    assert "dismissed until session 32" in cli.ok(*commands[2].split())
    assert "it is dismissed until session 32" in cli.refused(*commands[2].split())
    said = cli.ok("start", TASK) + cli.ok("finish", TASK, *payments.words(23)) + hook(turns) + cli("show", TASK).err
    assert "too long" not in said
    assert "TS503" not in cli("lint", f".taskstate/tasks/task-{TASK}-state.md").out
    for number in range(24, 32):
        words = payments.words(number) if number == 24 else ("--did", f"Went on {number}.", *WORDS)
        assert cli("session", "add", TASK, *words).err == ""
    assert "too long: 32 sessions" in cli("session", "add", TASK, "--did", "Went on.", *WORDS).err
    assert "TS503" in cli("lint", f".taskstate/tasks/task-{TASK}-state.md").out
    cli.ok("start", TASK)
    assert "divided into 7a, 7b, 7c, 7d, 7e" in cli.ok(*commands[0].split())
    assert "too long: 33 sessions" not in cli.ok("finish", TASK, "--did", "Divided it.", *WORDS)
    assert "no feature is open" in cli.ok("start", TASK)


def test_a_part_takes_along_what_concerns_it(turns: Turns, payments: LongTask) -> None:
    """Each part has the state, issues, steps and criteria of its subject, and those of none; the parent has all."""
    cli = turns.cli
    cli.ok("session", "add", TASK, *payments.words(21))
    cli.ok("decompose", TASK, "--apply")
    texts = {part: cli.ok("show", part, "--section", "Static Context") for part in PARTS}
    concerned = {
        "Partial refunds of odd amounts lose a cent": "7a",
        "Next: Round partial refunds as the provider does": "7ad",
        "State: Webhooks still arrive unsigned.": "7bde",
        "Next: Ask operations again for the signature header": "7b",
        "- [ ] No refund, full or partial, ever exceeds what was paid": "7a",
        "- [ ] The monthly report agrees with the provider's statement to the cent": "7c",
        "Issue of session 17: Fees arrive a day late in the provider's export": "7c",
    }
    for text, parts in concerned.items():
        assert {part for part in PARTS if text in texts[part]} >= {f"7{letter}" for letter in parts[1:]}, text
    assert "rounds half cents" in texts["7a"]
    assert not any("sometimes defers" in each for each in texts.values())
    assert "12 cents" not in texts["7b"]
    said = cli.ok("show", TASK, "--section", "Static Context")
    assert all(f"- [ ] {each}" in said for each in payments.criteria)
    assert "No findings" in cli.ok("lint", *(f".taskstate/tasks/task-{part}-state.md" for part in PARTS))


def test_features_without_prefixes_are_grouped_by_their_words(turns: Turns) -> None:
    """Where ids are mere numbers, the first word that features share names a part; what no word places goes to all."""
    task = long_task("handbook")
    task.create(turns.cli, TASK)
    turns.place.configure("[size]\nmax-sessions = 3\n")
    for number in range(1, 4):
        turns.cli.ok("session", "add", TASK, *task.words(number))
    said = turns.cli("session", "add", TASK, *task.words(4)).err
    for named in ("7a Search (3 features,", "7b Editors (3 features,", "7c Import (3 features,"):
        assert named in said
    turns.cli.ok("decompose", TASK, "--apply")
    texts = [turns.cli.ok("show", part, "--section", "Task Description") for part in ("7a", "7b", "7c")]
    assert all("State: Costs are under review." in each for each in texts)
    assert ["Captions are lost" in each for each in texts] == [False, False, True]
    assert ["sign in by Friday" in each for each in texts] == [False, True, False]


@pytest.mark.parametrize(
    ("features", "said"),
    [
        (1, "\ntoo few features are open to decompose it: f1\ncomplete: `taskstate complete 7`\n"),
        (3, "\ntoo few features are open to decompose it: f1, f2, f3\ncomplete: `taskstate complete 7`\n"),
        (4, "\nit could be these tasks\n7a "),
    ],
)
def test_few_features_are_not_divided(turns: Turns, features: int, said: str) -> None:
    """A task with too few open features is not to be decomposed, but to be completed or continued."""
    task = long_task("handbook")
    task._replace(features=task.features[:features], passing=()).create(turns.cli, TASK)
    turns.place.configure("[size]\nmax-sessions = 1\n")
    turns.cli.ok("session", "add", TASK, "--did", "Began.", *WORDS)
    told = turns.cli("session", "add", TASK, "--did", "Went on.", *WORDS).err
    assert said in told
    assert "\ncontinue: `taskstate start 7`\ndismiss until session 12: `taskstate decompose 7 --dismiss`\n" in told


def test_nothing_to_dismiss_is_refused(turns: Turns) -> None:
    """A task that is not too long, and one that is closed, has nothing to dismiss."""
    assert "it is not too long, or closed" in turns.cli.refused("decompose", "101", "--dismiss")
    assert "--dismiss" in turns.cli.refused("decompose", "101", "--apply", "--dismiss")
