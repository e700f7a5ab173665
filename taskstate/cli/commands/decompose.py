"""`taskstate decompose`: as the operation, which asks at a terminal whether to create the subtasks."""

from __future__ import annotations

import sys
from functools import wraps

from taskstate.cli.terminal import is_terminal
from taskstate.operations.decompose import DECOMPOSE, decompose
from taskstate.operations.result import Result
from taskstate.typed import TYPE_CHECKING

if TYPE_CHECKING:
    from taskstate.cli.output import CommandLineCall
    from taskstate.operations.decompose import Decompose


@wraps(decompose)
def run(call: CommandLineCall, asked: Decompose) -> Result:
    """Suggest subtasks, show them, and create them if that is wanted."""
    result = decompose(call, asked)
    output = call.output
    # Nobody is asked where a program reads or answers.
    is_heard = is_terminal(sys.stdin) and is_terminal(sys.stdout) and not output.is_quiet
    if asked.apply or asked.dismiss or call.as_data or not is_heard:
        return result
    output.show(result, call)
    sys.stdout.write("Create them now? [y/N] ")
    sys.stdout.flush()
    if sys.stdin.readline().strip().casefold() not in {"y", "yes"}:
        return Result(result.data, "")
    revision = result.data["revision"] if isinstance(result.data, dict) else ""
    call.conditions = call.conditions._replace(expect=revision)  # what was shown is what is divided
    return decompose(call, asked._replace(apply=True))


OPERATIONS = (DECOMPOSE._replace(run=run),)
