"""Collects everything that is in the way of a turn, so that it is all said at once, each with its cure."""

from __future__ import annotations

from contextlib import contextmanager

from taskstate.errors import SeveralReasons, TaskstateError
from taskstate.typed import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator


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
            SeveralReasons: code "not-started": there are several things, or there is more to show.
            TaskstateError: there is one, which is raised as it is.
        """
        if len(self._errors) == 1 and not shown:
            raise self._errors[0]
        if self._errors:
            count = "1 thing is" if len(self._errors) == 1 else f"{len(self._errors)} things are"
            message = f"task {task_id}: no turn begins, {count} in the way"
            raise SeveralReasons(message, tuple(map(str, self._errors)), code="not-started", shown=shown)
