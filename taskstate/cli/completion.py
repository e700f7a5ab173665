"""What a shell completes a command line with: commands, actions, flags, choices, tasks, features, roles, rules.

A script of the shell asks at each press of the key (`taskstate __complete WORDS…`), so that only the named operation is
imported, no parser is built, and no state file is read but that of a task whose features are wanted. What comes from
files is data: a word that a shell could take for more than a word is not offered, and a title only ever describes.
"""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from functools import cached_property

from taskstate.errors import TaskstateError
from taskstate.operations.index import called, operations_of
from taskstate.operations.operation import name_of, shared_by
from taskstate.typed import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from typing import TypeAlias

    from taskstate.operations.index import Command
    from taskstate.operations.operation import Field, Operation
    from taskstate.workspace.workspace import Loaded, Workspace

    Offer: TypeAlias = tuple[str, str]  # a word, and what is said of it

_LONGEST = 60  # characters of a description
_PLAIN = "-._/@+,="  # what a word may hold besides letters and digits; a colon is another word for bash


def answer(words: Sequence[str], commands: Mapping[str, Command]) -> int:
    """Print what the last of some words can become, a word in each line, and behind a tab what is said of it.

    Where there is nothing to say, or something is wrong, nothing is printed: the shell then offers files.
    """
    with suppress(TaskstateError, OSError, RecursionError):
        lines = "".join(f"{word}\t{about}\n" for word, about in complete(words, commands))
        if sys.stdout:  # it may be closed
            sys.stdout.buffer.write(lines.encode("utf-8", "replace"))
            sys.stdout.buffer.flush()
    return 0


def complete(words: Sequence[str], commands: Mapping[str, Command]) -> list[Offer]:
    """Return what the last of some words, which follow the name of the program, can become."""
    # bash hands `--role=im` over as three words, and puts what it gets in the place of the last one.
    split = "=" in words[-2:]
    *before, now = _joined(words) or [""]
    offers = [*_offers(before, now, commands)]
    start = f"{now.partition('=')[0]}=" if split else ""
    fitting = {word: about for word, about in offers if word.startswith(now) and _is_plain(word)}
    described = _described([*fitting.values()])
    return [(word.removeprefix(start), about) for word, about in zip(fitting, described, strict=False)]


def _joined(words: Sequence[str]) -> list[str]:
    joined: list[str] = []
    for word in words:
        if joined and joined[-1][:2] == "--" and (word == "=" or joined[-1][-1] == "="):
            joined[-1] += word
        else:
            joined.append(word)
    return joined


def _is_plain(word: str) -> bool:
    return (word[:1].isalnum() or word[:2] == "--") and all(each.isalnum() or each in _PLAIN for each in word)


def _described(texts: Sequence[str]) -> list[str]:
    """Return texts as a shell may show them: each in one short line, without controls and credentials."""
    from taskstate.messages import one_line
    from taskstate.secrets.mask import masked
    from taskstate.syntax.spans import one_line as printable

    whole = masked("\n".join(" ".join(text.split()) for text in texts))  # half a credential looks like none
    return [one_line(printable(text), _LONGEST) for text in whole.split("\n")]


def _offers(before: list[str], now: str, commands: Mapping[str, Command]) -> Iterable[Offer]:
    if not before:
        return [(name, command.summary) for name, command in commands.items()]
    if before[0] not in commands:
        return []
    operations = operations_of(before[0], commands)
    found = called(before, operations)
    deeper = [each for each in operations if each.name.split()[: len(before)] == before]
    actions = [(each.name.split()[len(before)], each.summary) for each in deeper if each is not found]
    return [*actions, *(_Line(found, before).offers(now) if found else ())]


class _Line:
    """A command line as far as it is given: its operation, and the words behind that."""

    def __init__(self, operation: Operation, words: list[str]) -> None:
        self.name = operation.name
        shared = [each for fields in shared_by(operation).values() for each in fields]
        self.flags = {name_of(each): each for each in (*operation.fields, *shared) if not each.is_positional}
        self.places = [each for each in operation.fields if each.is_positional]
        self.given: dict[str, str] = {}  # the last value of each flag or argument, by its name for users
        self.awaited: Field | None = None  # the flag whose value comes next
        for word in words[len(operation.name.split()) :]:
            self._take(word)

    def _take(self, word: str) -> None:
        name, equals, value = word.partition("=")
        if self.awaited:
            self.given[self.awaited.external], self.awaited = word, None
        elif name in self.flags:
            flag = self.flags[name]
            self.given[flag.external] = value
            self.awaited = flag if flag.kind != "bool" and not equals else None
        elif not word.startswith("-") and self.places:
            self.given[self.places[0].external] = word
            self.places = self.places if self.places[0].is_list else self.places[1:]

    def offers(self, now: str) -> Iterable[Offer]:
        """Return what the next word can be, of which `now` is typed."""
        name, equals, _ = now.partition("=")
        if self.awaited:
            return self._values(self.awaited, now)
        if equals and name in self.flags:
            return [(f"{name}={word}", about) for word, about in self._values(self.flags[name], now[len(name) + 1 :])]
        if now.startswith("-") or not self.places:
            flags = self.flags.items()
            return [(flag, each.help) for flag, each in flags if each.is_list or each.external not in self.given]
        return self._values(self.places[0], now)

    def _values(self, field: Field, now: str) -> Iterable[Offer]:
        """Return the values that a field can have; of several with commas between them the last is completed."""
        if field.choices:
            return [(choice, "") for choice in field.choices]
        keys = (f"{self.name} {field.external}", field.external, field.kind, field.example)
        source = next((_SOURCES[key] for key in keys if key in _SOURCES), _nothing)
        head = now[: now.rfind(",") + 1] if field.by_comma or field.example == "RULES" else ""
        return [(f"{head}{word}", about) for word, about in source(self)]

    @cached_property
    def workspace(self) -> Workspace:
        """The repository in which the command would work."""
        from pathlib import Path

        from taskstate.workspace.workspace import find_workspace

        root = self.given.get("root") or os.environ.get("TASKSTATE_ROOT", "")
        return find_workspace(Path.cwd(), root=root, config_file=self.given.get("config", ""))

    def tasks(self) -> Iterable[Offer]:
        """Return the tasks, with what is known of their titles."""
        from taskstate.model.names import id_key
        from taskstate.workspace.task_index import known_titles

        return sorted(known_titles(self.workspace).items(), key=lambda each: id_key(each[0]))

    @property
    def task(self) -> Loaded:
        """The task that the command line names."""
        from taskstate.model.names import parse_task_id

        return self.workspace.load(self.workspace.locate(parse_task_id(self.given.get("id", ""))))

    def features(self) -> Iterable[Offer]:
        """Return the features of that task."""
        checklist = self.task.state.checklist
        return [(each.id, each.description) for each in (checklist.features if checklist else ()) if each.id[:1] != "-"]

    def criteria(self) -> Iterable[Offer]:
        """Return the numbers of its criteria."""
        return [(str(each.number), each.text) for each in self.task.state.criteria]

    def findings(self) -> Iterable[Offer]:
        """Return the numbers of the findings on its roles."""
        from taskstate.model.write_metadata import blocks_of

        roles = blocks_of(self.task.document).roles.values()
        return [(str(each.number), each.text) for role in roles for each in role.findings]

    def phases(self) -> Iterable[Offer]:
        """Return its phases."""
        from taskstate.handoff.phases import read_phases

        return [(str(each.value["phase"]), each.value["phase_name"]) for each in read_phases(self.task.state)]

    def excerpts(self) -> Iterable[Offer]:
        """Return the excerpts that it cites."""
        from taskstate.evidence.excerpts import citation_place, listed

        return [(each.id, citation_place(each.path, each.lines)) for each in listed(self.workspace, self.task.state.id)]

    def roles(self) -> Iterable[Offer]:
        """Return the roles that the configuration names."""
        return [(each, "") for each in self.workspace.config.roles]

    def rules(self) -> Iterable[Offer]:
        """Return the lint rules."""
        from taskstate.lint.registry import TABLE

        return [(row.code, row.name) for row in TABLE]


def _nothing(_: _Line) -> Iterable[Offer]:
    return ()


# Where the values of a field come from: by its operation and name, its name, its kind or what stands for it in a usage
# line. What is new is not there yet.
_SOURCES: Mapping[str, Callable[[_Line], Iterable[Offer]]] = {
    **dict.fromkeys(("new id", "feature add feature", "permanent import id", "phase add phase"), _nothing),
    **dict.fromkeys(("criterion check number", "criterion uncheck number", "finish check"), _Line.criteria),
    **dict.fromkeys(("finish keep", "role unblock finding"), _Line.findings),
    "phase": _Line.phases,
    "EID": _Line.excerpts,
    **dict.fromkeys(("TaskId", "UPSTREAM"), _Line.tasks),
    "FID": _Line.features,
    **dict.fromkeys(("R", "ROLE"), _Line.roles),
    **dict.fromkeys(("CODE", "RULES"), _Line.rules),
}
