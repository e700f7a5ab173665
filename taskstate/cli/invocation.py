"""One run of a command: common flags, workspace, actor and time, and the printing of results and errors."""

from __future__ import annotations

import os
import sys
from functools import cached_property
from pathlib import Path

from taskstate.errors import SeveralReasons, TaskstateError
from taskstate.messages import decoded
from taskstate.syntax.spans import one_line, printable, printable_json, with_newlines, without_commands
from taskstate.typed import TYPE_CHECKING

if TYPE_CHECKING:
    import argparse
    from typing import Any

    from taskstate.workspace.change import Outcome, Request
    from taskstate.workspace.told import Told
    from taskstate.workspace.workspace import Loaded, Workspace


class Invocation:
    """One run of a command, with its arguments and its output."""

    def __init__(self, *, as_json: bool) -> None:
        self.as_json = as_json
        self.args: argparse.Namespace
        self.told: tuple[Told, ...] = ()
        self.found_damage = False
        self._said = ""

    @cached_property
    def any_workspace(self) -> Workspace:
        """The workspace of the working folder, set up or not; recovers from interrupted commands first."""
        from taskstate.workspace.startup import losses_of, recover
        from taskstate.workspace.workspace import find_workspace

        root = self.flag_value("root") or os.environ.get("TASKSTATE_ROOT", "")
        workspace = find_workspace(_working_folder(), root=root, config_file=self.flag_value("config"))
        self.print_problems(recover(workspace))
        self.told = losses_of(workspace)
        return workspace

    def flag_value(self, flag: str, *, name: str = "") -> str:
        """Return the value of a flag, or an empty text where it is not given.

        An explicit empty value, as from an unset shell variable, is refused. `name` is the flag as users write it,
        where it differs from the attribute's name.
        """
        value: str | None = getattr(self.args, flag)
        if value == "":
            name = name or f"--{flag.replace('_', '-')}"
            raise TaskstateError(f"{name} is empty", help="say which one, or leave the flag out", code="usage")
        return value or ""

    @cached_property
    def workspace(self) -> Workspace:
        """The workspace of the command.

        Raises:
            TaskstateError: the repository is not set up.
        """
        from taskstate.workspace.workspace import require_set_up

        require_set_up(self.any_workspace)
        return self.any_workspace

    def request(self) -> Request:
        """Return the actor, the time and the conditions of a write."""
        from taskstate.api import request_for

        args, expect = self.args, self.flag_value("expect_revision")
        request = request_for(self.workspace, args.actor or "")
        return request._replace(expect=expect, dry_run=args.dry_run, force_secrets=args.force_secrets)

    @property
    def reader(self) -> str:
        """The name of the agent that reads, where the environment says it; reading commands look no further."""
        return os.environ.get("TASKSTATE_ACTOR", "")

    def print_outcome(self, outcome: Outcome, done: str = "", *, text: str = "", **more: object) -> int:
        """Print the outcome of a change, and return the exit status.

        What was `done` is printed after the path of the file; `text` replaces both.
        """
        data = {**outcome_shape(outcome), **more, "notes": [*outcome.notes, *outcome.warnings]}
        self.print_problems(outcome.warnings)
        if self.args.dry_run:
            data["diff"] = outcome.diff
            return self.print_result(data, outcome.diff or "nothing would change")
        if not outcome.changed:
            text, done = "", "nothing to change"
        lines = [text or f"{one_line(outcome.path)}: {done}", *(f"  {note}" for note in outcome.notes)]
        if self.args.verbose:
            lines.append(f"  {one_line(outcome.path)} is at revision {outcome.revision}")
        return self.print_result(data, "\n".join(lines))

    def print_result(self, data: object, text: str, *, status: int = 0) -> int:
        """Print a result as JSON or as text, and return the exit status."""
        if self.as_json:
            self.print_json({"success": True, "data": data, "error": None, "code": None})
        self.print_text(text)
        return status

    def print_text(self, text: str) -> None:
        """Print text for people, unless JSON or `--quiet` was requested."""
        if text and not self.as_json and not self.args.quiet:
            _print(text, sys.stdout)

    def print_json(self, value: object) -> None:
        """Print JSON with all control characters escaped."""
        import json

        text = json.dumps(value, ensure_ascii=False, indent=None, separators=(", ", ": "))
        sys.stdout.write(printable_json(text) + "\n")

    def print_error(self, error: TaskstateError, status: int) -> int:
        """Print an error in one line on standard error, and as JSON if requested; return the exit status.

        Where there are several reasons, each has a line above it; JSON has them in its message.
        """
        import re

        from taskstate.validation.secrets import masked

        if isinstance(error, SeveralReasons) and self.as_json:
            error = in_one(error)
        elif isinstance(error, SeveralReasons):
            self.print_problems((*error.shown, *(f"  {reason}" for reason in error.reasons)))
        message = masked(str(error))  # the message may quote an argument that contains a secret
        if self.as_json:
            try:
                self.print_json({"success": False, "data": None, "error": message, "code": error.code})
            except OSError:
                return status
        self.print_problems(("taskstate: " + re.sub(r"\s*[\r\n]+\s*", " ", message),))
        return status

    def print_notes(self, notes: tuple[str, ...]) -> None:
        """Print notes on standard error, unless `--quiet` was requested."""
        if not self.args.quiet:
            self.print_problems(notes)

    def print_warning(self, lines: tuple[str, ...]) -> None:
        """Print a warning on standard error: framed on a terminal, else line by line."""
        from taskstate.cli.terminal import boxed

        self.print_notes(boxed(lines, sys.stderr))

    def print_problems(self, lines: tuple[str, ...]) -> None:
        """Print problems on standard error, even with `--quiet`."""
        if lines:
            from taskstate.validation.secrets import masked

            self._said += "\n".join(lines)
            text = masked("\n".join(map(one_line, lines)))  # a problem may quote what stands in a file
            try:
                _print(text, sys.stderr)
            except OSError:  # where nobody takes it, the command and its exit status stay what they are
                return

    def print_told(self) -> None:
        """Print what is gone or damaged, but for the files of which the command has said something itself.

        What the command has mended is not told any more.
        """
        if self.told:
            from taskstate.workspace.startup import losses_of

            self.told = losses_of(self.any_workspace)
        said = self._said if "damaged" in self._said else ""
        told = (each.message for each in self.told if each.path not in said and each.message not in self._said)
        self.print_problems(tuple(told))

    def report_all_damage(self, problems: tuple[str, ...] = ()) -> None:
        """Print problems of files that a command reads of all tasks; then, or if one is damaged, it ends with 1."""
        self.print_problems(problems)
        self.found_damage = bool(problems) or any(each.damaged for each in self.told)

    def read(self, name: str) -> str:
        """Return the text of the file `name`, or of standard input for `-`.

        Raises:
            TaskstateError: it cannot be read, or is not UTF-8.
        """
        from taskstate.storage.files import MAX_TEXT

        return decoded(read_bytes(name, MAX_TEXT), name)

    def text_of(self, value: str) -> str:
        """Return a text argument; `-` reads standard input."""
        return self.read("-") if value == "-" else value

    def _is_state_file(self, name: str, task: str) -> bool:
        """Return whether a path is that of the task's state file, or names no file at all."""
        from taskstate.storage import folders

        path = os.path.realpath(name)
        return not folders.is_file(path) or path == os.path.realpath(self.workspace.locate(task))

    def task_id(self, value: str) -> str:
        """Return the id that a task argument stands for; a damaged file is named to a command that only reads it.

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
        if "expect_revision" not in self.args:  # a command that writes refuses such a file
            self.report_damage(task)
        return task

    @cached_property
    def task(self) -> str:
        """The id of the task that the argument ID names."""
        return self.task_id(self.args.id)

    def report_damage(self, task_id: str) -> None:
        """Print how the state file of a task is damaged, if it is; the command then ends with status 1 at least."""
        from taskstate.workspace import told

        if told.is_quiet(self.workspace, task_id.casefold()):
            return
        from taskstate.workspace.damage import damage_at

        try:
            damage = damage_at(self.workspace, self.workspace.locate(task_id))
        except TaskstateError:
            return  # the command itself says so
        if damage:
            self.found_damage = True
            self.print_problems((damage,))

    def load_parsed_task(self) -> Loaded:
        """Return the task that the argument ID names; the command ends with status 1 where a part does not parse.

        For commands whose answer on an empty task would be a wrong one.

        Raises:
            TaskstateError: code "damaged": the front matter cannot be read, so there is nothing to answer.
        """
        from taskstate.model.names import parse_task_id
        from taskstate.workspace import damage

        workspace = self.workspace
        try:
            loaded = workspace.load(workspace.locate(parse_task_id(self.args.id)))
            damage.require_readable(workspace, loaded)
        except TaskstateError as error:
            self.found_damage = error.code in damage.CODES
            raise
        loaded = self.load_task()
        self.report_unread(loaded)
        return loaded

    def load_found(self, task_id: str) -> Loaded:
        """Return a task that a command has found by itself; it ends with status 1 where the file is damaged."""
        loaded = self.workspace.load(self.workspace.locate(task_id))
        self.report_damage(loaded.state.id)
        self.report_unread(loaded)
        return loaded

    def report_unread(self, loaded: Loaded) -> None:
        """Print what part of a state file does not parse, if one does not; the command then ends with status 1."""
        from taskstate.workspace import damage

        self.report_found((damage.unread_part(loaded),) if loaded.state.problems else ())

    def report_found(self, problems: tuple[str, ...]) -> None:
        """Print problems of what a command reads; if there are any, it ends with status 1 at least."""
        self.found_damage = self.found_damage or bool(problems)
        self.print_problems(problems)

    def load_task(self) -> Loaded:
        """Return the task that the argument ID names, loaded from its state file."""
        return self.workspace.load(self.workspace.locate(self.task))


def in_one(error: SeveralReasons) -> TaskstateError:
    """Return an error that has its reasons in its message."""
    return TaskstateError(f"{error.message}: {'; '.join(error.reasons)}", help=error.help, code=error.code)


def outcome_shape(outcome: Outcome) -> dict[str, object]:
    """Return the part of an outcome that the JSON of every change contains."""
    return {"path": outcome.path, "revision": outcome.revision, "changed": outcome.changed}


def _print(text: str, stream: Any) -> None:  # noqa: ANN401 - a text stream
    stream.write(without_commands(with_newlines(printable(text), "\n")).rstrip("\n") + "\n")


def standard_input(limit: int) -> bytes:
    """Return the content of standard input, empty where it is closed; refuse more than `limit` bytes."""
    data: bytes = sys.stdin.buffer.read(limit + 1) if sys.stdin else b""
    if len(data) > limit:
        message = f"standard input holds more than {limit // 1024**2} MiB"
        raise TaskstateError(message, help="split it", code="too-large")
    return data


def read_bytes(name: str, most: int) -> bytes:
    """Return the content of the file `name`, or of standard input for `-`; refuse more than `most` bytes."""
    from taskstate.storage import files
    from taskstate.storage.paths import followed

    return standard_input(most) if name == "-" else files.read(followed(name), most)


def _working_folder() -> Path:
    try:
        return Path.cwd()
    except FileNotFoundError as error:
        raise TaskstateError("the working folder is gone", help="go to another one", code="not-found") from error
