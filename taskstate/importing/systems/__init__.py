"""Lists the systems: what each reads, by which names it is known, and which of its parts count as records.

A system is one module with a function `read(source, options) -> Iterator[Found]`, and one row here.
"""

from __future__ import annotations

from fnmatch import fnmatchcase
from importlib import import_module

from taskstate.typed import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from taskstate.importing.reading.sources import Source
    from taskstate.importing.records import Found, Options

FEATURE, CRITERION, SESSION = "features", "criteria", "sessions"


class System(NamedTuple):
    """A system: what is read of it, the paths that show it (`fnmatch`), and which parts of a task are records.

    `shows` may be paths of folders and files from the folder that is looked at. One that is a single file may come
    from standard input. Of one that `is_whole` tasks come as they are, and nothing can be said of what they become.
    """

    reads: str
    shows: tuple[str, ...] = ()
    parts: frozenset[str] = frozenset()
    is_one_file: bool = False
    is_whole: bool = False


SYSTEMS: Mapping[str, System] = {
    "backlog-md": System(
        "a folder of Backlog.md",
        shows=("backlog/config.yml", ".backlog/config.yml", "backlog.config.yml", "tasks/task-* - *.md"),
    ),
    "beads": System(
        "issues of beads, as `bd export -o issues.jsonl` writes them",
        shows=(".beads/issues.jsonl",),
        is_one_file=True,
    ),
    "checklist": System("a Markdown file with check boxes", parts=frozenset({FEATURE, CRITERION}), is_one_file=True),
    "claude-tasks": System("the folder of a task list of Claude Code, with a file `N.json` for each task"),
    "feature-list": System(
        "a feature list in JSON with its log of progress",
        shows=("feature_list.json",),
        parts=frozenset({FEATURE, SESSION}),
        is_one_file=True,
    ),
    "github": System("issues as JSON, as `gh issue list --json` or the REST interface prints them", is_one_file=True),
    "json": System("what `taskstate export json` wrote", is_one_file=True, is_whole=True),
    "openspec": System(
        "the folder `openspec/`: a task for each change",
        shows=("openspec/changes", "changes/*/proposal.md"),
        parts=frozenset({FEATURE}),
    ),
    "planning-with-files": System(
        "a task_plan.md with progress.md and findings.md, or plans in .planning",
        shows=("task_plan.md", ".planning/*/task_plan.md"),
        parts=frozenset({FEATURE, SESSION}),
    ),
    "speckit": System(
        "the folder `specs/` of Spec Kit: a task for each feature",
        shows=("specs/*/tasks.md", ".specify/specs"),
        parts=frozenset({FEATURE}),
    ),
    "taskmaster": System(
        "the tasks.json of Task Master, with all its tags",
        shows=(".taskmaster/tasks/tasks.json", "tasks/tasks.json"),
        parts=frozenset({FEATURE}),
        is_one_file=True,
    ),
}


def reader_of(name: str) -> Callable[[Source, Options], Iterator[Found]]:
    """Return the function that reads a system."""
    module = import_module(f"taskstate.importing.systems.{name.replace('-', '_')}")
    found: Callable[[Source, Options], Iterator[Found]] = module.read
    return found


def systems_in(paths: Iterable[str]) -> list[str]:
    """Return the systems that the paths in a folder show, sorted."""
    known = [*paths]
    return [name for name, each in sorted(SYSTEMS.items()) if any(_shows(each, path) for path in known)]


def _shows(system: System, path: str) -> bool:
    return any(fnmatchcase(path, pattern) or fnmatchcase(path, f"{pattern}/*") for pattern in system.shows)
