"""Collects everything that is in the way of a turn, so that it is all said at once, each with its cure."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

from taskstate.errors import TaskstateError
from taskstate.messages import counted

if TYPE_CHECKING:
    from collections.abc import Iterator


class NotStarted(TaskstateError):
    """A turn cannot begin: `lines` has what is in the way, each with its cure, `shown` what is to be seen of it."""

    def __init__(self, task_id: str, lines: tuple[str, ...], shown: tuple[str, ...] = ()) -> None:
        count = counted(len(lines), "thing")
        verb = "is" if len(lines) == 1 else "are"
        super().__init__(f"task {task_id}: no turn begins, {count} {verb} in the way", code="not-started")
        self.lines = lines
        self.shown = shown


class Obstacles:
    """What is in the way of a turn, in the order in which it was found."""

    def __init__(self) -> None:
        self._errors: list[TaskstateError] = []

    @contextmanager
    def collected(self) -> Iterator[None]:
        """Collect the refusal of a check instead of raising it."""
        try:
            yield
        except TaskstateError as error:
            self.add(error)

    def add(self, error: TaskstateError) -> None:
        """Add a refusal; the same one counts once."""
        if str(error) not in map(str, self._errors):
            self._errors.append(error)

    def raise_all(self, task_id: str, *, shown: tuple[str, ...] = ()) -> None:
        """Refuse the turn if anything is in its way; `shown` are further lines, such as a diff.

        Raises:
            NotStarted: there are several things, or there is more to show.
            TaskstateError: there is one, which is raised as it is.
        """
        if len(self._errors) == 1 and not shown:
            raise self._errors[0]
        if self._errors:
            raise NotStarted(task_id, tuple(map(str, self._errors)), shown)
