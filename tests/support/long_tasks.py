"""Long tasks as people write them, read from `tests/cases/long_tasks`, to be played session by session."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from tests.cli.conftest import Cli

_CASES = Path(__file__).parents[1] / "cases" / "long_tasks"


class LongTask(NamedTuple):
    """A task with its features, those that pass, and its sessions: what was done, an issue, the state, next steps."""

    title: str
    description: str
    criteria: tuple[str, ...]
    features: tuple[tuple[str, str], ...]
    passing: tuple[str, ...]
    sessions: tuple[tuple[str, str, str, tuple[str, ...]], ...]

    def create(self, cli: Cli, task_id: str) -> None:
        """Create it in a repository, and let those features pass."""
        texts = {"title": self.title, "description": self.description, "criteria": self.criteria}
        cli.place.new(task_id, **texts, features=self.features)
        for feature in self.passing:
            cli.ok("feature", "pass", task_id, feature, "--evidence", "seen")

    def words(self, number: int) -> list[str]:
        """Return the arguments that record a session."""
        did, issue, state, steps = self.sessions[number - 1]
        following = [word for step in steps for word in ("--next", step)]
        return ["--did", did, "--issue", issue, "--state", state, *following]


def long_task(name: str) -> LongTask:
    """Return the long task of a file."""
    lines = (_CASES / f"{name}.txt").read_text(encoding="utf-8").splitlines()
    said = [(key, value) for key, _, value in (line.partition(": ") for line in lines)]
    features = [value for key, value in said if key == "feature"]
    rows = [value.split(" | ") for key, value in said if key == "session"]
    return LongTask(
        title=dict(said)["title"],
        description=dict(said)["description"],
        criteria=tuple(value for key, value in said if key == "criterion"),
        features=tuple((each.split(" ")[0], each.partition(" ")[2].removesuffix(" | passes")) for each in features),
        passing=tuple(each.split(" ")[0] for each in features if each.endswith(" | passes")),
        sessions=tuple((did, issue, state, tuple(steps.split("; "))) for did, issue, state, steps in rows),
    )
