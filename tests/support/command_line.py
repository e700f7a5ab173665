"""What the command line takes: its commands, their operations and flags."""

from __future__ import annotations

from typing import TYPE_CHECKING

from taskstate.__main__ import commands
from taskstate.cli.parsers import parse, parser_of
from taskstate.operations.index import operations_of

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator, Sequence

    from taskstate.operations.operation import Operation

COMMANDS = commands()


def operations() -> Iterator[Operation]:
    """Yield every operation of the command line."""
    for command in COMMANDS:
        yield from operations_of(command, COMMANDS)


def flags(operation: Operation) -> set[str]:
    """Return the flags of an operation, the common ones included."""
    return set(parser_of(operation)._option_string_actions)  # noqa: SLF001 - argparse tells them nowhere else


def flags_of(command: str) -> set[str]:
    """Return the flags of all operations of a command."""
    return {flag for each in operations_of(command, COMMANDS) for flag in flags(each)}


def parsed(words: Sequence[str]) -> argparse.Namespace:
    """Return what a command line gives.

    Raises:
        TaskstateError: it is refused.
    """
    return parse(words, COMMANDS)[1]
