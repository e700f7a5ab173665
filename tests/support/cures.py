"""Tries the cures that the tests meet: the first command that a refusal or a finding names is run on a copy.

It works if it is not refused itself, and, unless it only reads, if what it was to cure is not said any more. With
`CURES=all` each that is met is tried (`make torture` does so); else a sample, since each takes some process starts.
What the code can print and no test has met is listed by `python -m tests.support.cures`, to be walked by hand.
"""

from __future__ import annotations

import ast
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import zlib
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from taskstate.operations.arguments import BLANKS
from taskstate.operations.index import COMMANDS, operations_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

ROOT = Path(__file__).parents[2]
MET = ROOT / ".cache" / "cures-met"
ALL = os.environ.get("CURES") == "all"
_EVERY = 120  # one of so many messages is in the sample, in each process that runs tests
_COMMAND = re.compile(r"`(taskstate [^`\n]+)`")
_BLANK = re.compile(r"(?<![\w\"'/-])(?!HEAD\b)[A-Z]+\b|…|<|\|")  # what a person fills in: FILE, ROLE
# The cure runs the commands of the repository, which nobody has allowed in the copy.
_ASKS_FOR_LEAVE = " has the baseline of "
_AFTER = re.compile(r"^` [a-z ]*\bthen\b")
_LATER = re.compile(r"(?:\band|\bthen|\bwrite|\bthen [a-z ]+ with) $")  # a step that a person does comes before it
# The command that is refused is never right: its cure does what was meant.
_INSTEAD = (
    "a role is blocked by a finding, not by its status",
    "so feature ",  # a command that fails proves none
    "nothing is claimed",
    " has a phase ",
    " is the permanent task, which has no ",
)
_FINDING = re.compile(r"^\S+:\d+(?::\d+)? TS\d{3} ")
_READING = {each.name for command in COMMANDS for each in operations_of(command) if not each.writes}
_tried: set[str] = set()


class Said(NamedTuple):
    """A command that was not done, a line of what it said, and the first command that is named, with what is before."""

    words: tuple[str, ...]
    line: str
    cure: str
    before: str = ""
    after: str = ""

    @property
    def is_next(self) -> bool:
        """Whether the command can be run at once: nothing is to be filled in, and no step of a person comes before."""
        return is_literal(self.cure) and not _LATER.search(self.before) and not _AFTER.search(self.after)


def met(words: Sequence[str], cwd: Path, status: int, text: str, stdin: bytes = b"") -> None:
    """Try the cure of what a command said that ended with a status, if it belongs to those that are tried."""
    for said in _said(tuple(words), status, text):
        key = re.sub(r"[0-9a-f]{4,}|\d+|'[^']*'|\S*/\S*", "#", said.line)
        if key in _tried or not (ALL or zlib.crc32(key.encode()) % _EVERY == 0):
            continue
        _tried.add(key)
        if ALL:
            MET.parent.mkdir(exist_ok=True)
            with MET.open("a", encoding="utf-8") as record:
                record.write(f"{said.cure}\n")
        if said.is_next and _ASKS_FOR_LEAVE not in said.line:
            wrong = fault(said, cwd, stdin)
            assert not wrong, f"taskstate {shlex.join(words)}\n{said.line}\n-> {said.cure}: {wrong}"


def is_literal(cure: str) -> bool:
    """Return whether a command can be run as it is printed: nothing stands in it that a person has to fill in."""
    return not _BLANK.search(re.sub(r'"[^"]*"', "", cure))


def filled(command: str) -> list[str]:
    """Return the words of a command that was printed, with something in the place of each blank."""
    return ["because" if each in BLANKS else each for each in shlex.split(command)]


def _said(words: tuple[str, ...], status: int, text: str) -> Iterator[Said]:
    """Yield what was refused, and each finding, that names a command; the command that was refused is none."""
    if {"--dry-run", "--format", "--format=json", "--root"} & {*words}:
        return
    lines = text.splitlines()
    if status == 2:
        for line in lines[-1:]:
            command = _COMMAND.search(line)
            if command and line.startswith("taskstate: "):
                yield Said(words, line, command[1], line[: command.start()], line[command.end() - 1 :])
    elif status == 1 and words[:1] == ("lint",):
        finding = ""
        for line in lines:
            finding = line if _FINDING.match(line) else finding
            command = _COMMAND.search(line)
            if command and finding and "help:" in line:
                yield Said(words, finding, command[1], line[: command.start()], line[command.end() - 1 :])


def fault(said: Said, cwd: Path, stdin: bytes) -> str:
    """Return what is wrong with a cure, after it was run on a copy of the repository; empty where it works."""
    root = next(
        (each for each in (cwd, *cwd.parents) if (each / ".git").is_dir() or (each / ".taskstate").is_dir()), None
    )
    if root is None or (root / ".git").is_file():  # a copy of a linked worktree would write into the first one's index
        return ""
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder) / "copy"
        shutil.copytree(root, copy, symlinks=True, ignore=shutil.ignore_patterns("*.sock"))

        def run(words: Sequence[str]) -> subprocess.CompletedProcess[bytes]:
            there = [word.replace(str(root), str(copy)) for word in words]
            command = [sys.executable, "-m", "taskstate", *there]
            at = copy / cwd.relative_to(root)
            return subprocess.run(command, cwd=at, input=stdin, capture_output=True, check=False, timeout=120)

        steps = [filled(command)[1:] for command in said.cure.split(" && ")]
        for step in steps:
            done = run(step)
            if done.returncode not in {0, 1}:
                return f"is refused: {done.stderr.decode()}"
        if _only_reads(steps[-1]) or any(each in said.line for each in _INSTEAD):
            return ""
        after = run(said.words)
        again = (after.stdout + after.stderr).decode()
        return "it is said anyway" if said.line in again.splitlines() else ""


def _only_reads(cure: Sequence[str]) -> bool:
    """Return whether a command shows something, and is to change nothing."""
    if {"--help", "--draft"} & {*cure}:  # a draft that lacks something shows what
        return True
    if cure[0] == "lint":
        return "--fix" not in cure
    if cure[0] == "doctor":  # what it brings back is tried by `tests.kept`; places of the tests keep nothing yet
        return True
    if cure[:2] == ["snapshot", "verify"]:
        return "--restore" not in cure
    return cure[0] in _READING or " ".join(cure[:2]) in _READING


# What no test has met


def templates() -> Iterator[tuple[str, str]]:
    """Yield each place in the code that prints a command in backquotes, with a pattern of what it prints."""
    for path in sorted((ROOT / "taskstate").rglob("*.py")):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        docstrings = {each.value for each in ast.walk(tree) if isinstance(each, ast.Expr)}
        for node in ast.walk(tree):
            if not isinstance(node, ast.JoinedStr | ast.Constant) or node in docstrings:
                continue
            parts = node.values if isinstance(node, ast.JoinedStr) else [node]
            pattern = "".join(
                re.escape(each.value) if isinstance(each, ast.Constant) and isinstance(each.value, str) else ".*"
                for each in parts
            )
            for found in re.finditer(r"`(taskstate\\ .+?)`", pattern):
                yield f"{path.relative_to(ROOT)}:{node.lineno}", found[1]


def main() -> None:
    """Print each command that the code can print and that was met in no refusal or finding."""
    cures = set(MET.read_text(encoding="utf-8").splitlines()) if MET.exists() else set()
    for place, pattern in templates():
        if not any(re.fullmatch(pattern, cure) for cure in cures):
            printed = re.sub(r"\\(.)", r"\1", pattern.replace(".*", "*"))
            sys.stdout.write(f"{place}: {printed}\n")


if __name__ == "__main__":
    main()
