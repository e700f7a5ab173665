"""A repository with a permanent task and the command line: short words for what agents do with it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from taskstate.model import permanent
from taskstate.model.task_state import TaskState, read_state
from taskstate.model.write_metadata import front_matter_values
from taskstate.syntax.document import parse
from tests.support.git_place import GitPlace

if TYPE_CHECKING:
    from pathlib import Path

    from tests.cli.conftest import Cli

SHARED = "1"


class SharedContext:
    """The permanent task 1 in the repository of `cli`."""

    def __init__(self, cli: Cli) -> None:
        self.cli = cli
        cli.ok("new", SHARED, "--kind", "permanent", "--title", "Login platform", "--description", "One account.")

    @property
    def place(self) -> GitPlace:
        """The repository."""
        assert isinstance(self.cli.place, GitPlace)
        return self.cli.place

    @property
    def path(self) -> Path:
        """Its state file."""
        return self.cli.place.workspace.locate(SHARED)

    @property
    def text(self) -> str:
        """Its text."""
        return self.path.read_bytes().decode()

    @text.setter
    def text(self, text: str) -> None:
        self.path.write_bytes(text.encode())

    @property
    def state(self) -> TaskState:
        """Its state."""
        return read_state(parse(self.text))

    @property
    def version(self) -> int:
        """Its version."""
        return permanent.version_of(self.state)

    @property
    def values(self) -> Any:  # noqa: ANN401 - values of a front matter
        """Its front matter."""
        return front_matter_values(parse(self.text))

    @property
    def log(self) -> tuple[permanent.LoggedVersion, ...]:
        """Its Change Log."""
        return permanent.change_log(self.state)

    def section(self, name: str) -> str:
        """Return the text of a section."""
        return permanent.content_of(self.state, name).strip()

    def update(self, section: str, content: str, *arguments: str) -> str:
        """Update a section, and return what is printed."""
        return self.cli.ok("permanent", "update", "--section", section, "--from", "-", *arguments, stdin=content)

    def refused(self, section: str, content: str, *arguments: str) -> str:
        """Return the line that refuses an update."""
        return self.cli.refused("permanent", "update", "--section", section, "--from", "-", *arguments, stdin=content)
