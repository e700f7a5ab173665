"""A git repository with the command line, for tests of turns: short words for `start`, `finish` and what they leave."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tests.support.git_place import GitPlace
from tests.support.place import TASK, tree

if TYPE_CHECKING:
    from tests.cli.conftest import Cli, Said

CHECK = "sh check.sh"
PASSING, FAILING = "echo fine\n", "echo expected 1, got 2\nexit 1\n"
FINDING = ("--send-back", "implementer", "--finding", "It is slow")


class Turns:
    """Turns on task 101 in the repository of `cli`."""

    def __init__(self, cli: Cli) -> None:
        self.cli = cli

    @property
    def place(self) -> GitPlace:
        """The repository."""
        assert isinstance(self.cli.place, GitPlace)
        return self.cli.place

    def words(self, did: str) -> tuple[str, ...]:
        """Return the flags with the words of a session."""
        return ("--did", did, "--state", f"After: {did}", "--next", "Go on.")

    def start(self, role: str = "", *arguments: str, agent: str = "ann") -> str:
        """Begin a turn, and return what is printed."""
        return self.cli.ok("start", TASK, "--agent", agent, *(("--role", role) if role else ()), *arguments)

    def refused(self, role: str = "", *arguments: str, agent: str = "ann") -> str:
        """Return all that is printed where a turn is refused: exit status 2, no output, nothing changed."""
        before = tree(self.place.root)
        said = self.cli("start", TASK, "--agent", agent, *(("--role", role) if role else ()), *arguments)
        assert (said.status, said.out) == (2, ""), said
        assert tree(self.place.root) == before
        return said.err

    def finish(self, did: str, *arguments: str) -> str:
        """End the turn, and return what is printed."""
        return self.cli.ok("finish", TASK, *self.words(did), *arguments)

    def fails(self, did: str, *arguments: str, status: int = 1) -> Said:
        """Return what a `finish` says that does not end the turn: 2 changed nothing, 1 recorded the words."""
        before = self.place.text
        said = self.cli("finish", TASK, *self.words(did), *arguments)
        assert said.status == status, said
        assert (did in self.place.text, self.place.text == before)[status - 1], said
        return said

    def build(self, text: str = "built\n") -> None:
        """Let the implementer do its turn."""
        self.start("implementer")
        self.place.write("a.txt", text)
        self.finish("Built it.")

    def check(self, script: str) -> None:
        """Give the repository a check, which may run."""
        self.place.write("check.sh", script)
        self.place.configure(f'[validation]\n"*" = ["{CHECK}"]\n')
        self.place.commit("a check")
        self.place.trust()

    @property
    def turn(self) -> Any:  # noqa: ANN401 - values of a front matter
        """The open turn, or None."""
        return self.delta.get("turn")

    @property
    def delta(self) -> Any:  # noqa: ANN401 - values of a front matter
        """The block `delta`."""
        return self.place.values.get("delta", {})

    def role(self, name: str) -> str:
        """Return the status of a role."""
        found: str = self.place.values.get("coordination", {}).get(name, {}).get("status", "pending")
        return found

    @property
    def events(self) -> list[str]:
        """The names of all events."""
        return [each["event"] for each in self.place.values.get("audit", {}).get("events", [])]

    @property
    def sessions(self) -> int:
        """How many sessions the task has."""
        return len(self.place.numbers())
