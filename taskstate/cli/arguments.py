"""The parser of a command, with the arguments that several commands share."""

from __future__ import annotations

import argparse
import os
import sys
from functools import cached_property

from taskstate.errors import TaskstateError
from taskstate.messages import closest
from taskstate.typed import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any, NoReturn

    from taskstate.cli.invocation import Invocation

    Run = Callable[[Invocation], int]


class _Help(argparse.HelpFormatter):
    """Formats help; argparse creates one per argument, and its default would import `shutil` to find the line width."""

    def __init__(self, prog: str) -> None:
        super().__init__(prog, width=_columns() - 2)


def _columns() -> int:
    columns = os.environ.get("COLUMNS", "")
    if columns.isdecimal() and int(columns):
        return int(columns)
    try:
        return os.get_terminal_size(sys.stdout.fileno()).columns or 80
    except (OSError, ValueError, AttributeError):  # no terminal
        return 80


def usage_error(message: str, *, help: str) -> TaskstateError:  # noqa: A002 - as `TaskstateError` names it
    """Return the error for arguments that are wrong or do not go together."""
    return TaskstateError(message, help=help, code="usage")


def _parts(text: str) -> list[str]:
    """Return the values of a flag for lists; a value that has none stays, to be refused by name."""
    return [part.strip() for part in text.split(",") if part.strip()] or [text]


class Parser(argparse.ArgumentParser):
    """An argument parser that reports errors as a `TaskstateError`, in one line."""

    def __init__(self, **options: Any) -> None:  # noqa: ANN401 - whatever argparse takes
        super().__init__(**{"formatter_class": _Help, **options})

    def error(self, message: str) -> NoReturn:
        """Raise the usage error that the command line reports."""
        raise usage_error(f"{self._place}{message}", help=f"see `{self.prog} --help`")

    @property
    def _place(self) -> str:
        """The command and the action, in front of a message; nothing where no command is known yet."""
        words = self.prog.removeprefix("taskstate").strip()
        return f"{words}: " if words else ""

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:  # noqa: ANN401 - as argparse
        """Parse as argparse does; what is left over is refused here, by the parser of the command or action itself.

        Raises:
            TaskstateError: code "usage".
        """
        parsed, left = super().parse_known_args(args, namespace)
        unknown = next((each.partition("=")[0] for each in left if each.startswith("--")), "")
        if unknown:
            self._refuse("option", unknown, [name for name in self._option_string_actions if name.startswith("--")])
        if left:  # the parser of a group would name itself, and an empty word not at all
            self.error(f"unrecognized arguments: {' '.join(each or repr(each) for each in left)}")
        return parsed, left

    def _get_values(self, action: argparse.Action, arg_strings: list[str]) -> Any:  # noqa: ANN401 - as argparse
        """Return what a flag or an argument gets; argparse took the value of `--flag=--` for the end of the flags."""
        if action.option_strings and action.nargs is None and arg_strings == ["--"]:
            value = self._get_value(action, "--")
            self._check_value(action, value)
            return value
        return super()._get_values(action, arg_strings)

    def _check_value(self, action: argparse.Action, value: Any) -> None:  # noqa: ANN401 - as argparse declares it
        """Refuse a command or action that does not exist in one line; argparse would list all of them."""
        if isinstance(action, argparse._SubParsersAction) and value not in action.choices:  # noqa: SLF001 - no public name
            self._refuse("action" if self._place else "command", value, [*action.choices])
        super()._check_value(action, value)

    def _refuse(self, noun: str, word: str, known: Sequence[str]) -> NoReturn:
        near = closest(word, known)
        help_ = f"did you mean {near}? (all {noun}s: {self.prog} --help)" if near else f"see `{self.prog} --help`"
        raise usage_error(f"{self._place}unknown {noun} {word!r}", help=help_)

    @cached_property
    def _action_parsers(self) -> argparse._SubParsersAction[Parser]:
        return self.add_subparsers(title="actions", metavar="ACTION", required=True)

    def action_parser(self, name: str) -> Parser:
        """Return the parser of an action that was added."""
        return self._action_parsers.choices[name]

    def named_arguments(self) -> dict[str, argparse.Action]:
        """Return the arguments by name: a flag without its dashes, a positional argument as `<name>`."""
        named: dict[str, argparse.Action] = {}
        for action in self._actions:
            names = [flag[2:] for flag in action.option_strings if flag.startswith("--")] or [f"<{action.dest}>"]
            named |= dict.fromkeys((name.replace("-", "_") for name in names), action)
        return named

    def add_action(self, name: str, summary: str, description: str, *, task: bool = True) -> Parser:
        """Return the parser of a new action; unless `task` is false, its first argument names a task."""
        parser = self._action_parsers.add_parser(name, help=summary, description=description)
        if task:
            parser.add_task()
        return parser

    def add_task(self) -> None:
        """Add the argument that names a task."""
        self.add_argument("id", metavar="ID", help="task: 101, #101, TASK-101, task-101-state.md or a path")

    def add_repeatable(self, flag: str, metavar: str, summary: str, *, dest: str | None = None) -> None:
        """Add a flag that may be given several times; its values form a list."""
        self.add_argument(flag, action="append", default=[], dest=dest, metavar=metavar, help=f"{summary} (repeatable)")

    def add_list(self, flag: str, metavar: str, summary: str, *, dest: str | None = None) -> None:
        """Add a repeatable flag for names or numbers, which may also be given at once with commas between them."""
        more = f"{summary} (repeatable; or several, as in A,B)"
        self.add_argument(flag, action="extend", type=_parts, default=[], dest=dest, metavar=metavar, help=more)

    def add_common(self, *, run: Run) -> None:
        """Add the flags that all commands have; they come last in the help. `run` carries out the command or action."""
        common = self.add_argument_group("common flags")
        common.add_argument("--format", choices=("text", "json"), default="text", help="output format (default: text)")
        common.add_argument(
            "--root", metavar="DIR", help="root of the repository (default: TASKSTATE_ROOT, or the nearest one upwards)"
        )
        common.add_argument("--config", metavar="FILE", help="path to the configuration file")
        common.add_argument("-q", "--quiet", action="store_true", help="print only errors and JSON")
        common.add_argument("--verbose", action="store_true", help="print more details")
        common.add_argument("--no-color", action="store_true", help="disable colours (also: NO_COLOR)")
        self.set_defaults(run=run)

    def add_writing(self, *, run: Run) -> None:
        """Add the flags of commands that write, and the common ones."""
        writing = self.add_argument_group("writing")
        writing.add_argument(
            "--actor",
            metavar="NAME",
            help="name to record as author (default: TASKSTATE_ACTOR, the git user, or the login)",
        )
        writing.add_argument(
            "--expect-revision",
            metavar="TOKEN",
            help="fail if the file is not at this revision, such as 14 or 14-1a2b3c4d",
        )
        writing.add_argument(
            "--dry-run", action="store_true", help="print the changes as a unified diff, and write nothing"
        )
        writing.add_argument(
            "--force-secrets",
            action="store_true",
            help="write even if the text looks like it contains credentials; this is recorded in the audit",
        )
        self.add_common(run=run)
