"""`taskstate completion`: the script that has a shell complete command lines."""

from __future__ import annotations

from taskstate import resources
from taskstate.operations.operation import Operation, positional
from taskstate.operations.result import Result
from taskstate.typed import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from taskstate.operations.call import Call


class Completion(NamedTuple):
    """The arguments of `completion`."""

    shell: str = positional("SHELL", "bash, zsh or fish", choices=("bash", "zsh", "fish"))


def completion(_: Call, asked: Completion) -> Result:
    """Print the script with which a shell completes commands, flags, and tasks with their titles.

    For bash put `eval "$(taskstate completion bash)"` into ~/.bashrc, for zsh the same with zsh into ~/.zshrc behind
    compinit, for fish `taskstate completion fish | source` into ~/.config/fish/config.fish.
    """
    script = resources.text(f"templates/completion/{asked.shell}")
    return Result({"script": script}, script, is_verbatim=True)


OPERATIONS = (Operation("completion", "print the completion script for a shell", completion, Completion),)
