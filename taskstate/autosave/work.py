"""Counts what a session did: from git's answer which files and commits, from its transcript what git cannot know.

Pure. A status that a pipe hides is none, unless what was printed says how the check ended. What a command line says in
quotes, in a heredoc or in its assignments is somebody's words, or a password: no name of a check has it.
"""

from __future__ import annotations

import os
import re

from taskstate.qa.log_parser import read_log
from taskstate.syntax.patterns import compiled
from taskstate.transcripts.events import Command, FileEdit, Interruption, Prompt, SubAgent, ToDo
from taskstate.typed import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    from taskstate.transcripts.events import Event

_RUNNER = r"(?:(?:uv|poetry|pdm|hatch|rye|pipenv|bundle|docker compose) (?:run|exec) |(?:npx|pnpm exec|bunx|uvx|time) )"
_TOOL = (
    r"pytest|py\.test|tox|nox|ruff|mypy|pyright|flake8|pylint|eslint|tsc|jest|vitest|mocha|ctest|rspec|phpunit|rubocop"
    r"|golangci-lint|shellcheck|hadolint|prettier|biome|clippy|pre-commit|prek"
    r"|python3?(?: -[a-zA-Z]+)*+(?<=m) (?:pytest|unittest|mypy|tox|nox)"
    r"|(?:cargo|go|dotnet|swift|bazel|mix|zig|flutter|dart|deno|bun) (?:test|check|vet|build|clippy|analyze|lint)"
    r"|(?:npm|pnpm|yarn)(?: run)? (?:test|lint|check|build|typecheck)[\w:-]*"
    r"|make(?: -\S+)* (?:test|check|lint|build|all|verify|ci)[\w-]*"
    r"|(?:mvn|\./mvnw|gradle|\./gradlew|just|task|rake)(?: \S+)* (?:test|check|verify|build|lint)"
)
_CHECK = rf"{_RUNNER}?(?:[\w.~/-]*/)?(?:{_TOOL})(?![\w-])"
_NO_CHECK = r"--(?:help|version|list|collect-only)\b| -h\b|\blinters\b"
_PARTS = r"(&&|\|\||[|;&])"
_IN_QUOTES = r"""(?s)"(?:[^"\\]|\\.?)*+"?|'[^']*'?"""
_REDIRECTION = r"(?:\b\d|&)?[<>]+&?[ \t]*+[^\s<>;|&]*"
_ASSIGNMENTS = r"^(?:\w+=\S* )+"
_OWN = rf"{_RUNNER}?(?:[\w.~/-]*/)?(?:python3? -m )?taskstate(?:\s|$)"
_HAS_SUBCOMMANDS = r"git|gh|docker|podman|kubectl|terraform|npm|pnpm|yarn|cargo|go|pip3?|uv|poetry|apt|apt-get|brew"
_PROGRAM = rf"(?:[\w.~/-]*/)?((?:{_HAS_SUBCOMMANDS}) [a-z][a-z-]*|[\w.+-]+)(?!\S)"
_TELLING = r"(?:[\w.~/-]*/)?(?:grep|rg|diff|test|\[|ls|cat|cmp|find|which|head|tail|git (?:diff|grep))(?:\s|$)"


class FileDone(NamedTuple):
    """A file that a session left otherwise than it found it: "new", "deleted" or "changed", and its lines if known.

    It is "edited" where a tool wrote it, and git does not find it changed. `by_tool` says that a tool wrote it.
    """

    path: str
    how: str
    added: int = 0
    removed: int = 0
    by_tool: bool = False


EDITED = "edited"


class CheckRun(NamedTuple):
    """A check and its runs: how many failed, and how the last ended, None where that is not known.

    `status` is the last one's, `hidden` what hides it, as `|`, and `result` what it printed of its result;
    `is_old` says that files changed after it.
    """

    line: str
    runs: int
    failed: int
    passed: bool | None
    status: int | None
    hidden: str
    result: str
    is_old: bool


class Work(NamedTuple):
    """What a session did; `outside` are the files beyond the repository that it wrote, `failing` other commands."""

    files: tuple[FileDone, ...] = ()
    outside: int = 0
    checks: tuple[CheckRun, ...] = ()
    failing: tuple[Command, ...] = ()
    commands: int = 0
    prompts: int = 0
    agents: int = 0
    refused: int = 0
    interruptions: int = 0
    todo: ToDo | None = None

    @property
    def is_told(self) -> bool:
        """Whether there is anything to tell: a question and its answer are none."""
        return bool(self.files or self.checks or self.failing or self.outside)


def work_of(events: Sequence[Event], changed: Mapping[str, str], root: Path, commands: Collection[str] = ()) -> Work:
    """Return what a session did: `changed` says by path how git finds a file, `commands` are further checks.

    A file that a tool wrote, and git does not find changed, is told all the same: it may have been put back, stashed or
    committed elsewhere, or is ignored.
    """
    edits = [each for each in events if isinstance(each, FileEdit)]
    ran = [each for each in events if isinstance(each, Command)]
    by_tool, outside = _by_tool(edits, root)
    ran_checks = [each for event in ran for each in _checks(event, commands)]
    last_edit = max((number for number, each in enumerate(events) if _is_made(each)), default=-1)
    names = {name for name, _, _ in ran_checks}
    return Work(
        files=tuple(
            by_tool.get(path, FileDone(path, ""))._replace(how=changed.get(path, EDITED))
            for path in sorted({*changed, *by_tool})
        ),
        outside=outside,
        checks=tuple(_run(name, ran_checks, events, last_edit) for name in sorted(names)),
        failing=tuple(_failing(ran, {id(each) for _, each, _ in ran_checks})),
        commands=len(ran),
        prompts=sum(isinstance(each, Prompt) for each in events),
        agents=sum(isinstance(each, SubAgent) for each in events),
        refused=sum(bool(each.fault) for each in edits),
        interruptions=sum(isinstance(each, Interruption) for each in events),
        todo=next((each for each in reversed(events) if isinstance(each, ToDo)), None),
    )


def edited(events: Iterable[Event], root: Path) -> dict[str, str]:
    """Return how each file in the repository was left by a tool, by path: all there is to know without git."""
    edits = (each for each in events if isinstance(each, FileEdit))
    return {path: each.how for path, each in _by_tool(edits, root)[0].items()}


def _is_made(event: Event) -> bool:
    return isinstance(event, FileEdit) and not event.fault


def inside(path: str, root: Path) -> str | None:
    """Return a path from the root, or None for one that leads out of it."""
    relative = os.path.relpath(os.path.join(root, path), root).replace(os.sep, "/")
    return None if relative.startswith("../") or relative in {"..", "."} else relative


def _by_tool(edits: Iterable[FileEdit], root: Path) -> tuple[dict[str, FileDone], int]:
    """Return by path the files that tools wrote, and how many they wrote outside of the root."""
    found, outside = dict[str, FileDone](), set[str]()
    for each in filter(_is_made, edits):
        path = inside(each.path, root)
        if path is None:
            outside.add(each.path)
        else:
            old = found.get(path, FileDone(path, "new" if each.is_new else "changed", by_tool=True))
            found[path] = old._replace(added=old.added + each.added, removed=old.removed + each.removed)
    return found, len(outside)


def _parts(line: str) -> list[str]:
    """Return the commands in a line, what joins each to the next between them, without what may be somebody's words."""
    code, _, rest = line.strip().partition("<<")
    word = re.match(r"-?\s*['\"]?(\w+)['\"]?(.*)", rest)  # which ends the text below: it is no command
    code += f"{word[2]}\n" + rest.partition(f"\n{word[1]}\n")[2].partition("<<")[0] if word else ""
    code = re.sub(_IN_QUOTES, "'\u2026'", code.strip()).replace("\\\n", " ").replace("\n", ";")
    parts = re.split(_PARTS, re.sub(_REDIRECTION, " ", code))
    return [re.sub(_ASSIGNMENTS, "", " ".join(each.split())) for each in parts]


def program(line: str) -> str:
    """Return the program that a command line runs, which is all that is a fact of it, as in `git commit`."""
    first = next((each for each in _parts(line)[::2] if not each.startswith("cd ")), "")
    found = compiled(_PROGRAM).match(first)
    return found[1] if found else "a command"


def _checks(command: Command, commands: Collection[str]) -> Iterator[tuple[str, Command, str]]:
    """Yield the checks in a command line, each with what hides its status: the line's may be another's."""
    own = {"".join(_parts(each)): each for each in commands}
    parts = _parts(command.line)
    if "".join(parts) in own:
        yield own["".join(parts)], command, ""
        return
    for at, part in enumerate(parts):
        if part in own or (re.match(_CHECK, part) and not re.search(_NO_CHECK, part)):
            after = parts[at + 1 :: 2]
            hidden = next((each for each in after if each != "&&"), "&&" if after and command.status else "")
            yield own.get(part, part), command, hidden


def _run(name: str, ran: Sequence[tuple[str, Command, str]], events: Sequence[Event], last_edit: int) -> CheckRun:
    ours = [(command, hidden) for own, command, hidden in ran if own == name]
    ends = [_end(command, hidden) for command, hidden in ours]
    last, hidden = ours[-1]
    at = max(number for number, each in enumerate(events) if each is last)
    status = None if hidden else last.status
    return CheckRun(name, len(ours), ends.count(False), ends[-1], status, hidden, _result(last.output), at < last_edit)


def _end(command: Command, hidden: str) -> bool | None:
    """Return whether a check passed, by its status or, where that may be another command's, by what it printed."""
    if not hidden:
        return None if command.status is None else command.status == 0
    results = read_log(command.output.encode("utf-8", "replace"))
    has_failed = re.search(r"(?m)^(?:FAILED|FAIL|ERROR)\b", command.output)
    return all(each.ok for each in results.values()) if results else False if has_failed else None


def _result(output: str) -> str:
    """Return what a check printed as its result, in the words of the reader of logs; empty where it reads none."""
    results = read_log(output.encode("utf-8", "replace"))
    return "; ".join(f"{name}: {each.text}" for name, each in results.items())


def _failing(ran: Iterable[Command], checks: Collection[int]) -> Iterator[Command]:
    """Yield the last run of each other command that failed, where a status above 0 is no answer; ours are none."""
    last = {each.line: each for each in ran if id(each) not in checks}
    for each in last.values():
        parts = _parts(each.line) if each.status else []
        is_answer = each.status == 1 and compiled(_TELLING).match(parts[-1])
        if parts and not is_answer and not any(compiled(_OWN).match(part) for part in parts):
            yield each
