"""Finds the `git commit`s and the patches of `apply_patch` in a shell command, each with the folder in which it works.

It reads words as a shell does, and runs nothing. A quoted text, an argument of another program and the body of a here
document are no commands, but for one that a shell runs. What it cannot follow, such as a variable, counts as the
present folder: one check too many.
"""

from __future__ import annotations

import os
import re
import shlex

from taskstate.agents.patches import BEGIN
from taskstate.typed import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator

# The script of another shell stays as it is, since its own quotes are to be taken off first.
_HERE_DOCUMENT = re.compile(
    r"""(?ms)-[a-z]*c[ \t]+(?:'[^']*'|"(?:\\.|[^"\\])*")|"""
    r"""(?<!<)<<(?P<tabs>-?)[ \t]*['"\\]?(?P<end>\w+)['"]?(?P<line>[^\n]*(?:\n|\Z))"""
    r"""(?P<body>.*?)(?:^[ \t]*(?P=end)[ \t]*$|\Z)"""
)
_COMMENT = re.compile(r"""(?s)'[^']*'|"(?:\\.|[^"\\])*"|\\.|(?<![^\s();&|`])#[^\n]*""")  # or what is none
_BODY = re.compile(r"\0(\d+)\0")  # stands in the place of a here document
_DEEPEST = 20  # shells in shells
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
_GOING = frozenset(("cd", "pushd", "popd"))
_SHELLS = frozenset(("sh", "bash", "dash", "zsh", "ksh"))
_WITH_VALUE = frozenset(("-C", "-c", "--git-dir", "--work-tree", "--namespace", "--super-prefix", "--config-env"))
_FOLDERS = ("--work-tree", "--git-dir")
_PATCHERS = frozenset(("apply_patch", "applypatch"))


class Patch(NamedTuple):
    """A text that `apply_patch` is given, and the folder from which its paths go out."""

    text: str
    folder: str


def commit_folders(command: str, folder: str) -> Iterator[str]:
    """Yield the folder of each `git commit` in a command that begins in `folder`."""
    for program, words, where in _programs(command.replace("\0", ""), folder, []):
        committed = _of_commit(words, where) if program == "git" else None
        if committed is not None:
            yield committed


def patches(command: str, folder: str) -> Iterator[Patch]:
    """Yield what each `apply_patch` is given in a command that begins in `folder`.

    It is a word or a here document of its own, or of a command before: behind a pipe, or from a file just written.
    """
    bodies: list[str] = []
    before: list[str] = []
    for program, words, where in _programs(command.replace("\0", ""), folder, bodies):
        given = [each for each in (*words, *_inserted(words, bodies)) if BEGIN in each]
        if program in _PATCHERS:
            yield from (Patch(each, where) for each in given or before)
        before = given or before


def _programs(command: str, folder: str, bodies: list[str], depth: int = 0) -> Iterator[tuple[str, list[str], str]]:
    """Yield each program that is called, with its words and its folder; bodies of here documents go to `bodies`.

    What stands too deep in shells to be read counts as a commit and as a patch.
    """
    if depth > _DEEPEST:
        yield from (("git", ["commit"], folder), ("apply_patch", [command], folder))
        return

    def put_away(found: re.Match[str]) -> str:
        if found["body"] is None:
            return found[0]
        bodies.append(re.sub(r"(?m)^\t+", "", found["body"]) if found["tabs"] else found["body"])
        return f" \0{len(bodies) - 1}\0 {found['line']}"

    known = -1
    while known < len(bodies):  # a line may begin several
        known, command = len(bodies), _HERE_DOCUMENT.sub(put_away, command)
    command = _COMMENT.sub(lambda found: "" if found[0].startswith("#") else found[0], command)
    previous, left = folder, list[tuple[str, str]]()
    for words, end in _simple_commands(command):
        while words and (words[0] in _BEFORE or _ASSIGNMENT.match(words[0])):
            del words[0]
        program = os.path.basename(words[0]) if words else ""
        if program in _GOING:
            folder, previous = _gone(words, folder, previous), folder
        elif program in _SHELLS or program == "eval":
            yield from _programs(_script(words, bodies), folder, bodies, depth + 1)
        elif words:
            yield program, words[1:], folder
        folder = _after(end, folder, left)


def _gone(words: list[str], folder: str, previous: str) -> str:
    if words[0] == "popd" or "-" in words:
        return previous
    return _joined(folder, next((each for each in words[1:] if not each.startswith("-")), "~"))


def _after(end: str, folder: str, left: list[tuple[str, str]]) -> str:
    """Return the folder behind the end of a command: a shell of its own, once over, has moved nothing."""
    for mark in end:
        if mark == "(" or (mark == "`" and all(each != "`" for each, _ in left)):
            left.append((mark, folder))
        elif mark in ")`" and left:
            folder = left.pop()[1]
    return folder


def _simple_commands(command: str) -> Iterator[tuple[list[str], str]]:
    """Yield the words of each simple command with what ends it, as far as the quotes are closed."""
    lexer = shlex.shlex(command, posix=True, punctuation_chars="();<>&|\n`")
    lexer.whitespace, lexer.commenters, lexer.whitespace_split = " \t\r", "", True
    words: list[str] = []
    try:
        for token in lexer:
            if token and not token.strip(_ENDS):
                yield words, token
                words = []
            else:
                words.append(token)
    except ValueError:  # a quote that is not closed: what stands before it is known
        pass
    yield words, ""


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


def _script(words: list[str], bodies: list[str]) -> str:
    """Return what a shell is given to run: all words of `eval`, the text behind `-c`, or a here document."""
    if words[0] == "eval":
        return " ".join(words[1:])
    if all(each.startswith(("-s", "-l", "\0")) for each in words[1:]):
        return "\n".join(_inserted(words, bodies))
    option = next((at for at, each in enumerate(words) if re.fullmatch(r"-[a-z]*c", each)), len(words))
    return " ".join(words[option + 1 : option + 2])


def _inserted(words: list[str], bodies: list[str]) -> Iterator[str]:
    """Yield the here documents that stand in these words."""
    yield from (bodies[int(number)] for each in words for number in _BODY.findall(each))
