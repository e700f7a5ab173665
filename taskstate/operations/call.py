"""One call of an operation: where it works, for whom, and what it says besides its result."""

from __future__ import annotations

import os
from functools import cached_property
from pathlib import Path

from taskstate.errors import TaskstateError
from taskstate.messages import decoded
from taskstate.typed import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable
    from contextlib import AbstractContextManager

    from taskstate.model.config import Config
    from taskstate.views.layout import Screen
    from taskstate.workspace.workspace import Loaded, Workspace
    from taskstate.writing.change import Request
    from taskstate.writing.notices import Told


_GARBAGE_OF_A_REQUEST = 20_000  # objects; to look at them takes about a millisecond


def usage_error(message: str, *, help: str) -> TaskstateError:  # noqa: A002 - as `TaskstateError` names it
    """Return the error for fields that are wrong or do not go together."""
    return TaskstateError(message, help=help, code="usage")


def collect_garbage_often() -> None:
    """Let the garbage collector work as in other programs: `__main__` puts it off, which a server must not.

    What a server makes for one request must be gone before it has answered thousands.
    """
    import gc

    gc.set_threshold(_GARBAGE_OF_A_REQUEST)


class Conditions(NamedTuple):
    """Under which conditions a call works: the repository, and for one that writes by whom and at which revision.

    A call for which it is `now` some time reads no clock. One `at` a commit reads what that holds, and writes nothing.
    """

    folder: Callable[[], Path]
    root: str = ""
    config: str = ""
    actor: str = ""
    expect: str = ""
    dry_run: bool = False
    force_secrets: bool = False
    is_verbose: bool = False
    is_quiet: bool = False
    now: str = ""
    at: str = ""
    via: str = ""  # what an event says of the way that it came by, if that is no command


class Source(NamedTuple):
    """A file that a field names, or standard input, or the text that stands for it; read when it is first wanted."""

    name: str
    read: Callable[[int], bytes]

    def text(self) -> str:
        """Return the content as text.

        Raises:
            TaskstateError: it cannot be read, is too large, or is not UTF-8.
        """
        from taskstate.storage.files import MAX_TEXT

        return decoded(self.read(MAX_TEXT), self.name)


class Call:
    """One call of an operation. It keeps what is said; a door that passes it on at once derives from it."""

    def __init__(self, conditions: Conditions, *, writes: bool, as_data: bool) -> None:
        self.conditions = conditions
        self.writes = writes
        self.as_data = as_data  # whether a program asks, which needs no text
        self.told: tuple[Told, ...] = ()
        self.found_damage = False
        self.said: list[str] = []

    # What is said besides the result

    def problems(self, lines: tuple[str, ...]) -> None:
        """Say what is wrong, line by line; said even where nothing else is."""
        self.said += lines

    def notes(self, lines: tuple[str, ...]) -> None:
        """Say what is worth knowing, line by line."""
        self.problems(lines)

    def progress(self, line: str, /) -> AbstractContextManager[Callable[[bytes], None]]:
        """Say what is being done, for who waits at a terminal; what is yielded takes the output of a command."""
        from taskstate.evidence.process import unfollowed

        return unfollowed(line)

    def bar(self, doing: str, /) -> AbstractContextManager[Callable[[int, int], None]]:
        """Show how far a long run is, for who waits at a terminal; what is yielded takes how much of it all is done."""
        from taskstate.workspace.workspace import unseen

        return unseen(doing)

    @property
    def allowed(self) -> tuple[str, ...]:
        """What is no secret by the configuration, if the call has looked for one."""
        workspace = self.__dict__.get("any_workspace")
        return workspace.config.secrets.allow if workspace else ()

    # Where it works, and for whom

    @property
    def dry_run(self) -> bool:
        """Whether nothing is to be written."""
        return self.conditions.dry_run

    @property
    def is_verbose(self) -> bool:
        """Whether more details are wanted."""
        return self.conditions.is_verbose

    @cached_property
    def any_workspace(self) -> Workspace:
        """The workspace of the call, set up or not; on disk, recovers from interrupted commands first."""
        from taskstate.workspace.workspace import find_workspace
        from taskstate.writing.startup import losses_of, recover

        conditions = self.conditions
        if conditions.at:
            from taskstate.storage.commit_files import open_commit

            start = Path(conditions.root) if conditions.root else conditions.folder()
            source = open_commit(start, conditions.at)
            try:
                return find_workspace(start, root=conditions.root, config_file=conditions.config, source=source)
            except TaskstateError:
                source.close()
                raise
        workspace = find_workspace(conditions.folder(), root=conditions.root, config_file=conditions.config)
        self.problems(recover(workspace))
        self.told = losses_of(workspace)
        return workspace

    @cached_property
    def workspace(self) -> Workspace:
        """The workspace of the call.

        Raises:
            TaskstateError: the repository is not set up.
        """
        from taskstate.workspace.workspace import require_set_up

        require_set_up(self.any_workspace)
        return self.any_workspace

    def config(self) -> Config:
        """Return the configuration that counts in the folder of the call, of which nothing else is looked at."""
        from taskstate.workspace.workspace import find_workspace

        conditions = self.conditions
        return find_workspace(conditions.folder(), root=conditions.root, config_file=conditions.config).config

    def request(self, expect_tree: str = "") -> Request:
        """Return the actor, the time and the conditions of a write."""
        from taskstate.api import request_for

        given = self.conditions
        request = request_for(self.workspace, given.actor)
        metadata = request.metadata._replace(via=given.via)
        request = request._replace(metadata=metadata, expect=given.expect, expect_tree=expect_tree)
        return request._replace(dry_run=given.dry_run, force_secrets=given.force_secrets)

    def now(self) -> str:
        """Return the present time as a timestamp."""
        import time

        return self.conditions.now or time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())

    @property
    def width(self) -> int:
        """How many columns a line may have: as many for everybody, where it is read later."""
        return 100

    @property
    def screen(self) -> Screen:
        """What is shown is read by somebody later, and is the same whoever reads it."""
        from taskstate.views.layout import Screen

        return Screen(self.now(), self.width)

    @property
    def reader(self) -> str:
        """The name of the agent that reads, where the environment says it; operations that read look no further."""
        return os.environ.get("TASKSTATE_ACTOR", "")

    # Tasks, and what is wrong with their files

    def _is_state_file(self, name: str, task: str) -> bool:
        """Return whether a path is that of the task's state file, or names no file at all."""
        from taskstate.storage import folders

        path = os.path.realpath(name)
        return not folders.is_file(path) or path == os.path.realpath(self.workspace.locate(task))

    def task_id(self, value: str) -> str:
        """Return the id that a field stands for; a damaged file is named to an operation that only reads it.

        Raises:
            TaskstateError: it is no id, or the path of a file other than that task's state file.
        """
        from taskstate.model.names import own_file, parse_task_id

        task = parse_task_id(value)
        if own_file(value) and not self._is_state_file(value, task):
            expected = self.workspace.relative(self.workspace.locate(task))
            raise TaskstateError(
                f"{value} is not the state file of task {task}", help=f"that is {expected}", code="path"
            )
        if not self.writes:  # an operation that writes refuses such a file
            self.report_damage(task)
        return task

    def load(self, value: str) -> Loaded:
        """Return the task that a field names, loaded from its state file."""
        return self.workspace.load(self.workspace.locate(self.task_id(value)))

    def load_parsed(self, value: str) -> Loaded:
        """Return the task that a field names; the call ends with status 1 where a part does not parse.

        For operations whose answer on an empty task would be a wrong one.

        Raises:
            TaskstateError: code "damaged": the front matter cannot be read, so there is nothing to answer.
        """
        from taskstate.model.names import parse_task_id
        from taskstate.writing import damage

        workspace = self.workspace
        try:
            damage.require_readable(workspace, workspace.load(workspace.locate(parse_task_id(value))))
        except TaskstateError as error:
            self.found_damage = error.code in damage.CODES
            raise
        loaded = self.load(value)
        self.report_unread(loaded)
        return loaded

    def load_found(self, task_id: str) -> Loaded:
        """Return a task that an operation has found by itself; the call ends with 1 where the file is damaged."""
        loaded = self.workspace.load(self.workspace.locate(task_id))
        self.report_damage(loaded.state.id)
        self.report_unread(loaded)
        return loaded

    def report_damage(self, task_id: str) -> None:
        """Say how the state file of a task is damaged, if it is; the call then ends with status 1 at least."""
        from taskstate.writing import notices

        if notices.is_quiet(self.workspace, task_id.casefold()):
            return
        from taskstate.writing.damage import damage_at

        try:
            damage = damage_at(self.workspace, self.workspace.locate(task_id))
        except TaskstateError:
            return  # the operation itself says so
        self.report_found((damage,) if damage else ())

    def report_unread(self, loaded: Loaded) -> None:
        """Say what part of a state file does not parse, if one does not; the call then ends with status 1."""
        from taskstate.writing import damage

        self.report_found((damage.unread_part(loaded),) if loaded.state.problems else ())

    def report_found(self, problems: tuple[str, ...]) -> None:
        """Say what is wrong with what an operation reads; if anything is, the call ends with status 1 at least."""
        self.found_damage = self.found_damage or bool(problems)
        self.problems(problems)

    def report_all_damage(self, problems: tuple[str, ...] = ()) -> None:
        """Say what is wrong with the files that are read of all tasks; then, or if one is damaged, it ends with 1."""
        self.problems(problems)
        self.found_damage = bool(problems) or any(each.damaged for each in self.told)

    def tell_losses(self) -> None:
        """Say what is gone or damaged, but for the files of which the operation has said something itself.

        What the operation has mended is not told any more.
        """
        if self.told:
            from taskstate.writing.startup import losses_of

            self.told = losses_of(self.any_workspace)
        said = "\n".join(self.said)
        named = said if "damaged" in said else ""
        told = (each.message for each in self.told if each.path not in named and each.message not in said)
        self.problems(tuple(told))
