"""Says where prompts, commands and agent files of a repository go past the context that taskstate keeps.

`PROMPTS` and the checks are the table of `docs/agents/preflight.md`. A prompt is text of people: it is only read.
"""

from __future__ import annotations

import re

from taskstate.errors import TaskstateError
from taskstate.model.names import ID_PATTERN, own_file
from taskstate.model.statuses import CLOSED
from taskstate.model.write_metadata import blocks_of
from taskstate.storage import files
from taskstate.typed import TYPE_CHECKING, NamedTuple
from taskstate.views.repository import Tree

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from pathlib import Path

    from taskstate.workspace.workspace import Loaded, Workspace

# Folders and the endings of the files in them; in `skills` the file stands one folder deeper.
PAGES = ("AGENTS.md", "CLAUDE.md", "GEMINI.md", ".github/copilot-instructions.md")
PROMPTS = (
    *((".claude/agents", ".md"), (".claude/commands", ".md"), (".claude/skills", "/SKILL.md")),
    *((".codex/prompts", ".md"), (".codex/agents", ".toml"), (".agents/skills", "/SKILL.md")),
    *((".cursor/rules", ".mdc"), (".cursor/commands", ".md"), (".gemini/commands", ".toml")),
    *((".github/prompts", ".md"), (".github/agents", ".md")),
)
PASTED = 6  # lines in a row, blank ones left out, that count as a paste
_STATE_FILE = re.compile(rf"(?<![\w.-])(?<![\w.-]/)(?:[\w.-]++/)*+task-(?=[\w.-]*\d){ID_PATTERN}-state\.md")
_ABOUT_TASKS = re.compile(r"(?i)\.taskstate/|-state\.md|\btaskstate\b|\bstate file")
_STARTS = re.compile(r"taskstate (?:start|brief|protocol|hook|permanent recover)\b|@AGENTS\.md")


class Passing(NamedTuple):
    """A place where a prompt goes past the context: path, line counted from 1, what is wrong, and what to do."""

    path: str
    line: int
    message: str
    help: str


def preflight(workspace: Workspace) -> Iterator[Passing]:
    """Yield the places in all prompts, commands and agent files of the repository."""
    prompts = [*_prompts(workspace)]
    held = [*_held(workspace)] if prompts else []
    for path, text in prompts:
        lines = text.splitlines()
        yield from _gone(workspace, path, lines)
        yield from _pasted(path, lines, held)
        first = next((number for number, line in enumerate(lines, 1) if _ABOUT_TASKS.search(line)), 0)
        if first and not _STARTS.search(text):
            message = "it is about tasks, and does not have them started with `taskstate start ID`"
            yield Passing(path, first, message, "name that command: it prints what the agent needs, and checks it")


def _names_in(folder: Path) -> tuple[str, ...]:
    try:
        return files.names(folder)
    except TaskstateError:
        return ()  # a link, or a file of that name, holds no prompt of the repository's own


def _prompts(workspace: Workspace) -> Iterator[tuple[str, str]]:
    names = [*PAGES]
    for folder, ending in PROMPTS:
        for name in _names_in(workspace.root / folder):
            deeper = ending.startswith("/")
            if deeper or name.endswith(ending):
                names.append(f"{folder}/{name}{ending if deeper else ''}")
    for name in names:
        try:
            path = files.inside(workspace.root, name)
            if files.size(path) is not None:
                yield name, files.read(path).decode("utf-8", "replace")
        except TaskstateError:
            continue  # a link, or a folder of that name, is no prompt of the repository's own


def _gone(workspace: Workspace, path: str, lines: Iterable[str]) -> Iterator[Passing]:
    """Yield state files that a prompt names and that are not there."""
    ids = {(own.id or "").casefold() for each in workspace.state_files() if (own := own_file(each.name))}
    for number, line in enumerate(lines, 1):
        for found in _STATE_FILE.findall(line):
            own = own_file(found)
            if own and (own.id or "").casefold() not in ids:
                help_ = "have the task named by the person or by `taskstate next`, instead of by the prompt"
                yield Passing(path, number, f"it names {found}, which is not there", help_)


def _held(workspace: Workspace) -> Iterator[tuple[str, str, list[str]]]:
    """Yield what the seals of open tasks hold: the task, the path of a standard or task file, and its lines."""
    seen: set[str] = set()
    tree = Tree(workspace)
    rows, _ = tree.rows(each.path for each in tree.tasks if each.status not in CLOSED)
    at_work = (path for path, row in rows.items() if row.facts and row.facts.is_active)
    for loaded in (workspace.load(workspace.root / path) for path in at_work):
        for source in _sources(loaded):
            if source in seen:
                continue
            seen.add(source)
            try:
                text = files.read(files.inside(workspace.root, source)).decode("utf-8", "replace")
            except TaskstateError:
                continue  # `context check` tells of a source that is gone
            yield loaded.state.id, source, [line.strip() for line in text.splitlines() if line.strip()]
        loaded.document.forget_derived()


def _sources(loaded: Loaded) -> Iterator[str]:
    context = blocks_of(loaded.document).context
    yield from (each.path.partition("#")[0] for each in context.sources if each.path)
    if context.task_file:
        yield context.task_file


def _pasted(path: str, lines: Sequence[str], held: Iterable[tuple[str, str, list[str]]]) -> Iterator[Passing]:
    """Yield, for each held file, the first line from which a prompt repeats it."""
    numbered = [(number, line.strip()) for number, line in enumerate(lines, 1) if line.strip()]
    windows = {
        tuple(text for _, text in numbered[at : at + PASTED]): numbered[at][0]
        for at in range(len(numbered) - PASTED, -1, -1)
    }
    for task_id, source, held_lines in held:
        places = (tuple(held_lines[at : at + PASTED]) for at in range(len(held_lines) - PASTED + 1))
        found = [windows[place] for place in places if place in windows]
        if found and source != path:
            message = f"it pastes {source}, which the context of task {task_id} holds: a copy goes stale"
            help_ = f"remove it; the brief has it, and `taskstate context show {task_id}`"
            yield Passing(path, min(found), message, help_)
