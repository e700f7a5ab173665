"""Builds the parsers of the command line, and so its help, from the table of operations."""

from __future__ import annotations

import argparse
import os
import sys

from taskstate.messages import closest
from taskstate.operations.call import usage_error
from taskstate.operations.index import by_group, called, operations_of
from taskstate.operations.operation import SHARED, is_required, name_of, shared_by
from taskstate.typed import TYPE_CHECKING
from taskstate.version import VERSION

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any, NoReturn

    from taskstate.operations.index import Command
    from taskstate.operations.operation import Field, Operation

_TYPES: Mapping[str, type] = {"int": int, "float": float}


class _Help(argparse.HelpFormatter):
    """Formats help; argparse creates one per argument, and its default would import `shutil` to find the line width."""

    def __init__(self, prog: str) -> None:
        super().__init__(prog, width=_columns() - 2)

    def _fill_text(self, text: str, width: int, indent: str) -> str:
        """Return a text filled, with no flag cut at one of its hyphens."""
        from textwrap import fill

        return fill(text, width, initial_indent=indent, subsequent_indent=indent, break_on_hyphens=False)


def _columns() -> int:
    from taskstate.cli.terminal import size

    columns = os.environ.get("COLUMNS", "")
    return (int(columns) if columns.isdecimal() else 0) or size(sys.stdout)[0] or 80


class Parser(argparse.ArgumentParser):
    """An argument parser that reports errors as a `TaskstateError`, in one line."""

    def __init__(self, **options: Any) -> None:  # noqa: ANN401 - whatever argparse takes
        super().__init__(**{"formatter_class": _Help, **options})
        self._words: Sequence[str] = ()  # what is parsed

    def error(self, message: str) -> NoReturn:
        """Raise the usage error that the command line reports."""
        help_ = f"see `{self.prog} --help`"
        flag = message.removeprefix("argument ").partition(":")[0]
        next_ = self._words[self._words.index(flag) + 1 :][:1] if flag in self._words else ()
        flags = self._option_string_actions
        dashed = next((each for each in self._words if each[:1] == "-" and each.partition("=")[0] not in flags), "")
        if message.endswith("expected one argument") and next_ and next_[0] in flags:
            help_ = f"write `{flag}=…` where its value is {next_[0]!r}, which is a flag itself"
        elif (
            self._subparsers is None
            and dashed.strip("-")
            and message.startswith("the following arguments are required")
        ):
            help_ = f"if {dashed!r} is a text: write it last, after `--`"
        raise usage_error(f"{self._place}{message}", help=help_)

    def format_help(self) -> str:
        """Return the help with the examples of the command or action, which are read only for it."""
        from taskstate.resources import text

        lines = (f"{line} " for line in text("templates/examples.txt").split("\n"))
        own = [f"  {line.rstrip()}\n" for line in lines if line.startswith(f"{self.prog} ")]
        return super().format_help() + "".join(["\nexamples:\n", *own] if own and self._place else [])

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
        parsed, left = super().parse_known_args(self._with_values(args), namespace)
        unknown = next((each.partition("=")[0] for each in left if each.startswith("--")), "")
        if unknown:
            self._refuse("option", unknown, [name for name in self._option_string_actions if name.startswith("--")])
        if left:  # the parser of a group would name itself, and an empty word not at all
            self.error(f"unrecognized arguments: {' '.join(each or repr(each) for each in left)}")
        return parsed, left

    def _with_values(self, words: Sequence[str]) -> list[str]:
        """Return the words with each value that begins with a dash joined to its flag, as in `--did=-q is quiet`.

        A flag for a value takes the next word unless that is exactly a flag of this command, alone or with its value;
        argparse would take any word that looks like one.
        """
        joined: list[str] = []
        self._words = words
        for at, word in enumerate(words):
            if word == "--":
                return [*joined, *words[at:]]
            name = word if " " in word else word.partition("=")[0]
            is_dashed = word.startswith("-") and word != "-" and name not in self._option_string_actions
            if joined and is_dashed and self._takes_value(joined[-1]):
                joined[-1] += f"={word}"
            else:
                joined.append(word)
        return joined

    def _takes_value(self, word: str) -> bool:
        """Return whether a word is a flag, perhaps abbreviated, whose value is the next word."""
        if not word.startswith("--") or "=" in word:
            return False
        exact = self._option_string_actions.get(word)
        actions = [exact] if exact else [each[0] for each in self._get_option_tuples(word)]
        return len(actions) == 1 and actions[0].nargs is None

    def _parse_optional(self, arg_string: str) -> Any:  # noqa: ANN401 - as argparse
        """Return None for a text with a blank where a flag has its name: it is none, even if it begins as one does."""
        has_blank = any(each.isspace() for each in arg_string.partition("=")[0])
        return None if has_blank else super()._parse_optional(arg_string)

    def _get_values(self, action: argparse.Action, arg_strings: list[str]) -> Any:  # noqa: ANN401 - as argparse
        """Return what a flag or an argument gets; argparse took the value of `--flag=--` for the end of the flags."""
        if action.option_strings and action.nargs is None and arg_strings == ["--"]:
            value = self._get_value(action, "--")
            self._check_value(action, value)
            return value
        return super()._get_values(action, arg_strings)

    def _get_option_tuples(self, option_string: str) -> Any:  # noqa: ANN401 - as argparse
        """Return the flags that an abbreviation may stand for; `--force` is none of the one that waives a check."""
        return [each for each in super()._get_option_tuples(option_string) if each[1] != "--force-secrets"]

    def _check_value(self, action: argparse.Action, value: Any) -> None:  # noqa: ANN401 - as argparse declares it
        """Refuse a command or action that does not exist in one line; argparse would list all of them."""
        if isinstance(action, argparse._SubParsersAction) and value not in action.choices:  # noqa: SLF001 - no public name
            self._refuse("action" if self._place else "command", value, [*action.choices])
        super()._check_value(action, value)

    def _refuse(self, noun: str, word: str, known: Sequence[str]) -> NoReturn:
        near = closest(word, known)
        help_ = f"did you mean {near}? (all {noun}s: {self.prog} --help)" if near else f"see `{self.prog} --help`"
        raise usage_error(f"{self._place}unknown {noun} {word!r}", help=help_)


def without_command(commands: Mapping[str, Command]) -> Parser:
    """Return the parser without a command: its help has the commands by group, and describes the flags they share."""
    about = "Keep one Markdown file for each task: what is to be done, what was done, what comes next."
    epilog = "`taskstate COMMAND --help` describes a command, with examples."
    parser = Parser(prog="taskstate", usage="taskstate COMMAND …", description=about, epilog=epilog)
    parser.add_argument("--version", action="version", version=f"taskstate {VERSION}")
    actions = parser.add_subparsers(metavar="COMMAND", required=True, parser_class=Parser, help=argparse.SUPPRESS)
    for group, rows in by_group(commands).items():
        shown = parser.add_argument_group(group)._group_actions  # noqa: SLF001 - argparse has no groups of subcommands
        for name, command in rows.items():
            actions.add_parser(name)
            shown.append(argparse.Action([], name, help=command.summary))
    for title, fields in SHARED.items():
        _add_shared(parser, title, fields)
    return parser


def parse(arguments: Sequence[str], commands: Mapping[str, Command]) -> tuple[Operation, argparse.Namespace]:
    """Return the operation that a command line calls, and what it gives; only its module is loaded.

    The fields that are given are attributes by their names for users; the common flags have an underscore before.

    Raises:
        TaskstateError: code "usage".
        SystemExit: the help was asked for, and is printed.
    """
    operations = operations_of(arguments[0], commands)
    found = called(arguments, operations)
    if found:
        below = [each for each in operations if each.name.startswith(f"{found.name} ")]
        _require_first(arguments, found, below)
        return found, parser_of(found, below).parse_args(arguments[len(found.name.split()) :])
    names = [each.name.split() for each in operations]
    count = max(at for at in range(1, len(arguments) + 1) if any(name[:at] == [*arguments[:at]] for name in names))
    summary = commands[arguments[0]].summary
    _group_parser(arguments[:count], summary, operations).parse_args(arguments[count:])
    raise AssertionError(arguments)  # it knows no action that was not found before


def _require_first(arguments: Sequence[str], found: Operation, below: Sequence[Operation]) -> None:
    """Refuse the word of an operation `below` behind a flag, where it would be taken for a task or a text."""
    rest = arguments[len(found.name.split()) :]
    word = next((each for each in rest if not each.startswith("-")), "")
    late = next((each for each in below if each.name == f"{found.name} {word}"), None)
    if late:
        raise usage_error(f"{word!r} comes after a flag", help=f"write `taskstate {late.name}` first, then its flags")


def _group_parser(words: Sequence[str], summary: str, operations: Sequence[Operation]) -> Parser:
    """Return the parser of a command, or of an action, that has actions; those are parsed by parsers of their own."""
    below = {each.name.split()[len(words)]: each for each in operations if each.name.split()[: len(words)] == [*words]}
    parser = Parser(prog=f"taskstate {' '.join(words)}", description=_sentence(summary))
    actions = parser.add_subparsers(title="actions", metavar="ACTION", required=True, parser_class=Parser)
    for word, each in below.items():
        is_group = len(each.name.split()) > len(words) + 1
        actions.add_parser(word, help=f"{each.summary.split()[0]} …" if is_group else each.summary)
    return parser


def parser_of(operation: Operation, below: Sequence[Operation] = ()) -> Parser:
    """Return the parser of an operation, with its fields and the common flags; its help names those `below` it."""
    also = "; ".join(f"`taskstate {each.name}`: {each.summary}" for each in below)
    epilog = f"Also {also}." if also else None
    parser = Parser(prog=f"taskstate {operation.name}", description=operation.about, epilog=epilog)
    for field in operation.fields:
        _add(parser, field)
    for title, fields in shared_by(operation).items():
        names = ", ".join(f"{name_of(each)} {_values(each)}".rstrip() for each in fields)
        _add_shared(parser, title, fields, said=f"{names}: see `taskstate --help`")
    return parser


def _values(field: Field) -> str:
    return f"{{{','.join(field.choices)}}}" if field.choices else field.example


def _sentence(summary: str) -> str:
    return f"{summary[0].upper()}{summary[1:]}."


def _add(parser: Parser, field: Field) -> None:
    """Add a field to a parser; what is not given is no attribute of what was parsed."""
    options: dict[str, Any] = {"default": argparse.SUPPRESS, "help": field.help.replace("%", "%%")}
    if field.kind == "bool":
        parser.add_argument(name_of(field), dest=field.external, action="store_true", **options)
        return
    options |= {"metavar": field.example or None, "type": _TYPES.get(field.kind)}
    if field.choices:
        options["choices"] = field.choices
    if field.is_positional:
        many = "+" if field.is_required else "*"
        nargs = many if field.is_list else None if is_required(field) else "?"
        parser.add_argument(field.external, nargs=nargs, **options)
        return
    options |= {"required": field.is_required, "dest": field.external}
    if field.is_list:
        options["action"] = "append"
        options["help"] += " (repeatable)"
    if field.alone:
        options |= {"nargs": "?", "const": field.alone}
    if field.by_comma:
        options |= {"action": "extend", "type": _parts}
        options["help"] = f"{field.help} (repeatable; or several, as in A,B)"
    if field.in_a_row:
        options |= {"action": "extend", "nargs": "+", "help": field.help}
    parser.add_argument(name_of(field), **options)


def _parts(text: str) -> list[str]:
    """Return the values of a flag for lists; a value that has none stays, to be refused by name."""
    return [part.strip() for part in text.split(",") if part.strip()] or [text]


def _add_shared(parser: Parser, title: str, fields: Sequence[Field], *, said: str = "") -> None:
    """Add flags that commands share, behind their own; what is `said` stands in the help in place of all of them."""
    group = parser.add_argument_group(title, said or None)
    for field in fields:
        options: dict[str, Any] = {"help": argparse.SUPPRESS if said else field.help, "dest": f"_{field.external}"}
        if field.kind == "bool":
            options["action"] = "store_true"
        else:
            options |= {"metavar": field.example or None, "choices": field.choices or None, "default": field.default}
        short = ("-q",) if field.external == "quiet" else ()
        group.add_argument(*short, name_of(field), **options)
