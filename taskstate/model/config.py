"""The configuration of a repository, with its defaults, as frozen records.

Pure: reading a file's text is done in `config_reader`, finding the file in `workspace`; which rule codes exist is known
in `lint`. Named tuples and not data classes, because every command defines all of them at its start: measured, eleven
frozen data classes take 9 ms and eleven named tuples 1.6 ms, where `python -c pass` takes 14 ms.
"""

from __future__ import annotations

from collections.abc import Mapping  # noqa: TC003 - `config_reader` reads the types of the fields

from taskstate.typed import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from typing import Any

_NOTHING: Mapping[str, Any] = {}
HELD = "held"  # of `coordination.commits`


COMMITTED, PUSHED = "committed", "pushed"  # which records may not be rewritten any more


class Lint(NamedTuple):
    """Which rules are checked, their severities, and the files in which they are ignored."""

    select: tuple[str, ...] = ("TS",)
    ignore: tuple[str, ...] = ()
    extend_select: tuple[str, ...] = ()
    per_file_ignores: Mapping[str, tuple[str, ...]] = _NOTHING
    severity: Mapping[str, str] = _NOTHING
    require_command_evidence: bool = False
    append_only: str = COMMITTED


class Size(NamedTuple):
    """Size limits of a state file, and how many sessions it keeps; 0 tokens means no limit."""

    warn_kb: int = 50
    max_kb: int = 75
    warn_tokens: int = 0
    max_tokens: int = 0
    keep_sessions: int = 5
    max_sessions: int = 20


class Standard(NamedTuple):
    """Files that the tasks of an area must cite; the area `*` is every area, no priority every priority."""

    cite: tuple[str, ...]
    area: str = "*"
    priority: tuple[str, ...] = ()


class Export(NamedTuple):
    """The fields of `EXPORT_FIELDS` that a role's export leaves out."""

    drop: tuple[str, ...] = ()


class Secrets(NamedTuple):
    """Regular expressions for values that look like secrets and are none."""

    allow: tuple[str, ...] = ()


class ValidationRun(NamedTuple):
    """How the validation commands are run: how many seconds each may take."""

    timeout: int = 600


class QaReader(NamedTuple):
    """A reader for logs of a tool that the built-in table lacks: a regular expression with a group `text`."""

    name: str
    pattern: str


class Chain(NamedTuple):
    """How much of an upstream output a task quotes, in KB."""

    max_input_kb: int = 3


class Coordination(NamedTuple):
    """Whether work may be committed between roles: "free", or `HELD`, where an early commit is drift."""

    commits: str = "free"


class Permanent(NamedTuple):
    """Who may update the permanent task (without names everybody), and which changes `start` wants confirmed."""

    writers: tuple[str, ...] = ()
    require_ack: str = "never"


class Archive(NamedTuple):
    """The command that summarises archived sessions; empty for the built-in summary."""

    summarizer: str = ""


class Handoff(NamedTuple):
    """Limits on a handoff document."""

    max_lines: int = 60
    max_kb: int = 4
    minimum_progress: bool = True


class Brief(NamedTuple):
    """How many tokens a brief has at most where the command does not say."""

    budget: int = 1000


class Autosave(NamedTuple):
    """When an agent is told how full its context is: at so many percent of the way to its compaction, or so near to it.

    Counted in tokens; `window` is the size of the context where the client does not say it, and 0 percent means never.
    """

    percent: int = 80
    reserve: int = 12_000
    window: int = 0


class Query(NamedTuple):
    """What a question of `query` may take: memory in MB, and threads, of which 0 means one a core."""

    memory_mb: int = 512
    threads: int = 0


class Fleet(NamedTuple):
    """Where the index of many repositories is, how it is made, and what one repository of a stranger may cost."""

    out: str = ""
    jobs: int = 0
    bucket_mb: int = 32
    repository_seconds: int = 600
    worker_mb: int = 1024
    most_files: int = 1_000_000
    most_mb: int = 4096


class Config(NamedTuple):
    """The whole configuration; `Config()` holds the defaults."""

    required_version: str = "0"
    root: str = ".taskstate"
    exclude: tuple[str, ...] = ()
    roles: tuple[str, ...] = ("implementer", "reviewer", "validator")
    lint: Lint = Lint()
    size: Size = Size()
    standards: tuple[Standard, ...] = ()
    validation: Mapping[str, tuple[str, ...]] = _NOTHING
    validation_run: ValidationRun = ValidationRun()
    scope: Mapping[str, tuple[str, ...]] = _NOTHING
    export: Mapping[str, Export] = _NOTHING
    secrets: Secrets = Secrets()
    qa: tuple[QaReader, ...] = ()
    chain: Chain = Chain()
    coordination: Coordination = Coordination()
    permanent: Permanent = Permanent()
    archive: Archive = Archive()
    handoff: Handoff = Handoff()
    brief: Brief = Brief()
    autosave: Autosave = Autosave()
    query: Query = Query()
    fleet: Fleet = Fleet()


ALL_AREAS = "*"


def validation_commands(config: Config, area: str) -> tuple[str, tuple[str, ...]]:
    """Return the validation commands that are configured for an area, after the key that holds them.

    They are those of the area itself, else those of all areas.
    """
    own = config.validation.get(area, ()) if area else ()
    return (area, own) if own else (ALL_AREAS, config.validation.get(ALL_AREAS, ()))


def matches(path: str, pattern: str) -> bool:
    """Return whether a glob of the configuration matches a path from the repository's root (with `/`).

    `*` stands for anything, `/` included; a pattern without wildcards also matches everything below that folder. A
    pattern without `/` also matches the name of a file, in whatever folder it lies.
    """
    from fnmatch import fnmatchcase

    if fnmatchcase(path, pattern) or fnmatchcase(path, f"{pattern.rstrip('/')}/*"):
        return True
    return "/" not in pattern and fnmatchcase(path.rpartition("/")[2], pattern)


EXPORT_FIELDS = (  # besides what identifies the task
    "description",
    "scope",
    "criteria",
    "standards",
    "commands",
    "paths",
    "baseline",
    "inputs",
    "evidence",
    "coordination",
    "qa",
    "delta",
)
EXPORT_DROPS: Mapping[str, tuple[str, ...]] = {
    "implementer": ("qa",),
    "reviewer": ("baseline",),
    "validator": ("description", "inputs"),
}


def export_drop(config: Config, role: str) -> tuple[str, ...]:
    """Return the fields that a role's export leaves out: the configured ones, else the role's default."""
    configured = config.export.get(role)
    return configured.drop if configured else EXPORT_DROPS.get(role, ())
