"""What the command line prints: results, what a call says besides, and errors; as text or as JSON."""

from __future__ import annotations

import os
import sys
import time
from functools import cached_property, partial
from pathlib import Path

from taskstate.errors import SeveralReasons, TaskstateError
from taskstate.operations.call import Call, Conditions, Source
from taskstate.operations.result import shown
from taskstate.syntax.spans import one_line, printable, printable_json, with_newlines, without_commands
from taskstate.typed import TYPE_CHECKING

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable, Mapping
    from contextlib import AbstractContextManager
    from typing import Any

    from taskstate.cli.progress_bar import Bar
    from taskstate.operations.operation import Field, Operation
    from taskstate.operations.result import Result
    from taskstate.views.layout import Screen
    from taskstate.workspace.workspace import Workspace


class Output:
    """The two streams, and how they are written: as text or as JSON, quietly, without colours."""

    def __init__(self, *, as_json: bool) -> None:
        self.as_json = as_json
        self.is_quiet = False
        self.no_color = False
        self.shown: Bar | None = None  # what a long run shows
        self.given: dict[str, str] = {}  # the flags that say where a command works and for whom

    def show(self, result: Result, call: Call) -> int:
        """Print the result of a call as JSON or as text, and return the exit status."""
        result = shown(result, call)
        if self.as_json:
            if result.data is not None:  # a hook or a server has answered already, in the format of its client
                self.print_json({"success": True, "data": result.data, "error": None, "code": None})
        elif result.raw is not None and (result.is_json or not self.is_quiet):
            self._print_raw(result.raw, is_diff=result.is_diff)
        else:
            is_exact = result.is_verbatim or result.is_document
            # What reads may show what people wrote, and that stays as it is.
            text = result.text if is_exact or not call.writes else with_flags(result.text, self.given)
            is_whole = is_exact or ((call.writes or result.is_in_rows) and not sys.stdout.isatty())
            self.print_text(text if is_whole else _folded(text, call.width), result.highlights)
        if result.warning:
            from taskstate.cli.terminal import boxed

            self.print_notes(boxed(result.warning, sys.stderr))
        return result.status

    def print_text(self, text: str, highlights: tuple[tuple[str, str], ...] = ()) -> None:
        """Print text for people, unless JSON or `--quiet` was requested; what stands out is coloured on a terminal."""
        if not text or self.as_json or self.is_quiet:
            return
        shown = _shown(text)
        if highlights:
            from taskstate.cli.terminal import shows_colour
            from taskstate.lint.reporters.colors import Painter

            if shows_colour(sys.stdout, refused=self.no_color):
                shown = Painter(enabled=True).highlighted(shown, highlights)
        sys.stdout.write(shown)

    def print_json(self, value: object) -> None:
        """Print JSON with all control characters escaped."""
        import json

        text = json.dumps(value, ensure_ascii=False, indent=None, separators=(", ", ": "))
        sys.stdout.write(printable_json(text) + "\n")

    def _print_raw(self, content: bytes, *, is_diff: bool) -> None:
        """Print bytes: verbatim into a pipe or a file, printable on a terminal, and a diff there in colour."""
        from taskstate.cli.terminal import is_terminal, shows_colour, write_bytes
        from taskstate.lint.reporters.colors import Painter

        colour = shows_colour(sys.stdout, refused=self.no_color)
        if not colour and not is_terminal(sys.stdout):
            write_bytes(content)  # so that `git apply` accepts it: a diff need not be UTF-8, and its line ends count
            return
        text = content.decode("utf-8", "replace")
        text = text if is_diff else text.replace("\r\n", "\n")  # as each line of CSV ends
        text = printable(text).replace("\r", "\\r")
        sys.stdout.write(Painter(colour).diff(text) if is_diff else text)

    def print_error(self, error: TaskstateError, status: int) -> int:
        """Print an error in one line on standard error, and as JSON if requested; return the exit status.

        Where there are several reasons, each has a line above it; JSON has them in its message.
        """
        import re

        from taskstate.operations.errors import in_one
        from taskstate.secrets.mask import masked

        if isinstance(error, SeveralReasons) and self.as_json:
            error = in_one(error)
        elif isinstance(error, SeveralReasons):
            self.print_problems((*error.shown, *(f"  {reason}" for reason in error.reasons)))
        message = masked(str(error))  # the message may quote an argument that contains a secret
        if self.as_json:
            said = with_flags(message, self.given)
            try:
                self.print_json({"success": False, "data": None, "error": said, "code": error.code})
            except OSError:
                return status
        self.print_problems(("taskstate: " + re.sub(r"(?<!\s)\s*[\r\n]\s*", " ", message),))
        return status

    def print_notes(self, notes: tuple[str, ...]) -> None:
        """Print notes on standard error, unless `--quiet` was requested."""
        if not self.is_quiet:
            self.print_problems(notes)

    def print_problems(self, lines: tuple[str, ...]) -> None:
        """Print problems on standard error, even with `--quiet`."""
        if lines:
            from taskstate.secrets.mask import masked

            text = masked("\n".join(map(one_line, lines)))  # a problem may quote what stands in a file
            text = with_flags(text, self.given)
            if self.shown:
                self.shown.clear()
            try:
                sys.stderr.write(_shown(text))
            except OSError:  # where nobody takes it, the command and its exit status stay what they are
                return


class CommandLineCall(Call):
    """A call of an operation from the command line, which says everything at once, on standard error."""

    def __init__(self, args: argparse.Namespace, operation: Operation, output: Output) -> None:
        conditions = Conditions(
            working_folder,
            root=_given(args, "root") or os.environ.get("TASKSTATE_ROOT", ""),
            config=_given(args, "config"),
            actor=getattr(args, "_actor", None) or "",
            expect=_given(args, "expect_revision"),
            dry_run=getattr(args, "_dry_run", False),
            force_secrets=getattr(args, "_force_secrets", False),
            is_verbose=args._verbose,  # noqa: SLF001 - the common flags stand beside the operation's own fields
            is_quiet=output.is_quiet,
            at=getattr(args, "at", None) or "",
        )
        super().__init__(conditions, writes=operation.writes, as_data=output.as_json)
        self.output = output
        output.given = {f"--{name}": getattr(args, f"_{name}", None) or "" for name in ("root", "config", "actor")}
        self._again = (args, operation)
        self._begin = time.monotonic()

    def again(self) -> CommandLineCall:
        """Return the same call anew: nothing that was read is remembered."""
        return CommandLineCall(*self._again, self.output)

    @property
    def width(self) -> int:
        """How many columns the terminal has, or a pipe gets."""
        if not sys.stdout.isatty():  # as most commands are run: the module is not needed
            return super().width
        from taskstate.cli.terminal import size

        return size(sys.stdout)[0] or super().width

    @property
    def screen(self) -> Screen:
        """The terminal, or what a pipe gets."""
        from taskstate.cli.terminal import is_terminal, size

        return super().screen._replace(height=size(sys.stdout)[1], is_live=is_terminal(sys.stdout))

    def problems(self, lines: tuple[str, ...]) -> None:
        """Print problems on standard error, even with `--quiet`."""
        super().problems(lines)
        self.output.print_problems(lines)

    def notes(self, lines: tuple[str, ...]) -> None:
        """Print notes on standard error, unless `--quiet` was requested."""
        if not self.output.is_quiet:
            self.problems(lines)

    def progress(self, line: str, /) -> AbstractContextManager[Callable[[bytes], None]]:
        """Print what is being done, and below it how long it takes, where somebody waits at a terminal."""
        from taskstate.cli.progress_bar import LastLine
        from taskstate.cli.terminal import is_terminal

        if self.output.as_json or self.output.is_quiet or not is_terminal(sys.stderr):
            return super().progress(line)
        self.notes((line,))
        return LastLine(allow=self.allowed)

    def bar(self, doing: str, /) -> AbstractContextManager[Callable[[int, int], None]]:
        """Show how far a long run is, where somebody has waited at a terminal for a second since the command began."""
        output = self.output
        if output.as_json or output.is_quiet or not (sys.stderr and sys.stderr.isatty()):
            return super().bar(doing)
        from taskstate.cli.progress_bar import Bar

        output.shown = Bar(doing, begin=self._begin)
        return output.shown

    @cached_property
    def any_workspace(self) -> Workspace:
        """The workspace of the call, whose runs over all files show how far they are."""
        workspace = super().any_workspace
        workspace.bar = self.bar
        return workspace


def with_flags(text: str, given: Mapping[str, str]) -> str:
    """Return what is said with these flags in each command that it names: without them it would work elsewhere."""
    flags = {flag: value for flag, value in given.items() if value}
    if not flags or "`taskstate " not in text:
        return text
    import re
    import shlex

    from taskstate.operations.index import COMMANDS, operations_of

    readers = {each.name for command in COMMANDS for each in operations_of(command) if not each.writes}

    def added(found: re.Match[str]) -> str:
        words = found[1].split()
        taken = {"--root", "--config"} if readers & {words[1], " ".join(words[1:3])} else {*flags}
        more = (f"{flag} {shlex.quote(flags[flag])}" for flag in flags if flag in taken and flag not in words)
        return f"`{' '.join((found[1], *more))}`"

    return re.sub(r"`(taskstate [a-z][^`\n]*)`", added, text)


def reading(call: Call) -> Callable[[Field, Any], Any]:
    """Return what turns the value of a field into what an operation takes: `-` stands for standard input."""

    def read(field: Field, value: Any) -> Any:  # noqa: ANN401 - of the field's kind
        if field.kind == "Source" or (field.kind == "Text" and value == "-"):
            source = Source(value, partial(read_bytes, _placed(call, value)))
            return source if field.kind == "Source" else source.text()
        if field.kind == "FilePath":
            from taskstate.storage.paths import real

            if call.conditions.at and value != "-":  # what links lead where on disk says nothing of a commit
                return Path(os.path.abspath(_placed(call, value)))
            return Path(value) if value == "-" else real(_placed(call, value))
        return value

    return read


def _placed(call: Call, name: str) -> str:
    """Return the path of a file that is named; messages name those in the state folder from the root."""
    from taskstate.storage import folders

    if name == "-" or os.path.isabs(name) or folders.exists(name):
        return name
    workspace = call.any_workspace
    path = workspace.root / name
    return str(path) if path.is_relative_to(workspace.state_root) and workspace.source.exists(path) else name


def _given(args: argparse.Namespace, name: str) -> str:
    """Return the value of a common flag, empty where it is not given; one that is given empty is refused."""
    value = getattr(args, f"_{name}", None)
    if value == "":
        flag = f"--{name.replace('_', '-')}"
        raise TaskstateError(f"{flag} is empty", help="say which one, or leave the flag out", code="usage")
    return value or ""


def _shown(text: str) -> str:
    return without_commands(with_newlines(printable(text), "\n")).rstrip("\n") + "\n"


def _folded(text: str, width: int) -> str:
    """Return a text that fits the width; most do, and need no more than a look."""
    if text.isascii() and max(map(len, text.split("\n"))) <= width:
        return text
    from taskstate.views.layout import folded

    return folded(text, width)


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


def working_folder() -> Path:
    """Return the working folder.

    Raises:
        TaskstateError: code "not-found": it is gone.
    """
    try:
        return Path.cwd()
    except FileNotFoundError as error:
        raise TaskstateError("the working folder is gone", help="go to another one", code="not-found") from error
