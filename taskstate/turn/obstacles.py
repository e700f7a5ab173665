"""Collects everything that is in the way of a turn, so that it is all said at once, each with its cure."""

from __future__ import annotations

from contextlib import contextmanager

from taskstate.errors import SeveralReasons, TaskstateError
from taskstate.turn.tree_changes import START
from taskstate.typed import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from taskstate.error_codes import ErrorCode


class Obstacles:
    """What is in the way of a turn, in the order in which it was found.

    `command` is the `start` that was given. Given again with one flag alone it would be refused for the next thing, so
    each cure of something that can be accepted names all the flags.
    """

    def __init__(self, command: str) -> None:
        self._command = command
        self._errors: list[tuple[TaskstateError, str]] = []

    @contextmanager
    def collected(self, flag: str = "") -> Iterator[None]:
        """Collect the refusal of a check instead of raising it."""
        try:
            yield
        except TaskstateError as error:
            self.add(error, flag)

    def add(self, error: TaskstateError, flag: str = "") -> None:
        """Add a refusal, with the flag that accepts it where its cure has `START`; the same one counts once."""
        if str(error) not in {str(each) for each, _ in self._errors}:
            self._errors.append((error, flag if START in error.help else ""))

    def has(self, code: ErrorCode) -> bool:
        """Return whether something with this code is in the way."""
        return any(each.code == code for each, _ in self._errors)

    def raise_all(self, task_id: str, *, shown: tuple[str, ...] = ()) -> None:
        """Refuse the turn if anything is in its way; `shown` are further lines, such as a diff.

        What needs another command comes first: until then, no `start` passes.

        Raises:
            SeveralReasons: code "not-started": there are several things, or there is more to show.
            TaskstateError: there is one, which is raised as it is.
        """
        flags = dict.fromkeys(flag for _, flag in self._errors if flag)
        command = " ".join([self._command, *(f'{flag} "WHY"' for flag in flags)])
        errors = [each for each, flag in self._errors if not flag]
        for each in (each for each, flag in self._errors if flag):
            help_ = each.help.replace(START, f"`{command}`")
            errors.append(TaskstateError(each.message, help=help_, code=each.code))
        if len(errors) == 1 and not shown:
            raise errors[0]
        if errors:
            count = "1 thing is" if len(errors) == 1 else f"{len(errors)} things are"
            message = f"task {task_id}: no turn begins, {count} in the way"
            raise SeveralReasons(message, tuple(map(str, errors)), code="not-started", shown=shown)
