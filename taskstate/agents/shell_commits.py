"""Finds the `git commit`s in a shell command, each with the folder in which it works.

It reads words as a shell does, and runs nothing. A quoted text, an argument of another program and the body of a here
document are no commands. What it cannot follow, such as a variable, counts as the present folder: one check too many.
"""

from __future__ import annotations

import os
import re
import shlex

from taskstate.typed import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

_HERE_DOCUMENT = re.compile(r"(?ms)(<<-?[ \t]*(['\"\\]?)(\w+)['\"]?[^\n]*(?:\n|\Z)).*?(^[ \t]*\3[ \t]*$|\Z)")
_ENDS = "();&|\n`{}"  # of a simple command
_ASSIGNMENT = re.compile(r"[A-Za-z_]\w*\+?=")
_BEFORE = frozenset(
    (
        "!",
        "if",
        "then",
        "else",
        "elif",
        "do",
        "while",
        "until",
        "time",
        "sudo",
        "env",
        "command",
        "exec",
        "nohup",
        "nice",
    )
)
_SHELLS = frozenset(("sh", "bash", "dash", "zsh", "ksh"))
_WITH_VALUE = frozenset(("-C", "-c", "--git-dir", "--work-tree", "--namespace", "--super-prefix", "--config-env"))
_FOLDERS = ("--work-tree", "--git-dir")


def commit_folders(command: str, folder: str) -> Iterator[str]:
    """Yield the folder of each `git commit` in a command that begins in `folder`."""
    for words in _simple_commands(_HERE_DOCUMENT.sub(r"\1", command)):
        while words and (words[0] in _BEFORE or _ASSIGNMENT.match(words[0])):
            del words[0]
        program = os.path.basename(words[0]) if words else ""
        if program in {"cd", "pushd"}:
            folder = _joined(folder, next((each for each in words[1:] if not each.startswith("-")), "~"))
        elif program == "git":
            where = _of_commit(words[1:], folder)
            if where is not None:
                yield where
        elif program in _SHELLS or program == "eval":
            yield from commit_folders(_script(words), folder)


def _simple_commands(command: str) -> Iterator[list[str]]:
    """Yield the words of each simple command, as far as the quotes are closed."""
    lexer = shlex.shlex(command, posix=True, punctuation_chars="();<>&|\n`")
    lexer.whitespace, lexer.commenters, lexer.whitespace_split = " \t\r", "", True
    words: list[str] = []
    in_comment = False
    try:
        for token in lexer:
            if token and not token.strip(_ENDS):
                in_comment = in_comment and "\n" not in token
                yield words
                words = []
            elif not in_comment:
                in_comment = token.startswith("#")
                words += [] if in_comment else [token]
    except ValueError:  # a quote that is not closed: what stands before it is known
        pass
    yield words


def _of_commit(words: list[str], folder: str) -> str | None:
    """Return the folder of `git commit` by the words behind `git`; None for another command."""
    while words and words[0].startswith("-"):
        option, equals, value = words.pop(0).partition("=")
        if not equals and option in _WITH_VALUE:
            value = words.pop(0) if words else ""
        if option == "-C":
            folder = _joined(folder, value)
        elif option in _FOLDERS:
            folder = _joined(folder, value.removesuffix(".git") or ".")
    return folder if words[:1] == ["commit"] else None


def _joined(folder: str, value: str) -> str:
    """Return the folder to which a path leads; where a variable is in it, the same folder."""
    return folder if "$" in value else os.path.normpath(os.path.join(folder, os.path.expanduser(value)))


def _script(words: list[str]) -> str:
    """Return what a shell is given to run: the text behind `-c`, or all words of `eval`."""
    if words[0] == "eval":
        return " ".join(words[1:])
    option = next((at for at, each in enumerate(words) if re.fullmatch(r"-[a-z]*c", each)), len(words))
    return " ".join(words[option + 1 : option + 2])
