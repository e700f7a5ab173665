"""The configuration of a repository: what its file says, with defaults for the rest, in frozen records.

Pure: text in, `Config` out. Who looks for the file is `workspace`; who knows which rule codes exist is `lint`. Named
tuples and not data classes, because every command defines all of them at its start: measured, eleven frozen data
classes take 9 ms and eleven named tuples 1.6 ms, where `python -c pass` takes 14 ms.
"""

from __future__ import annotations

from collections.abc import Mapping  # noqa: TC003 - `config_reader` reads the types of the fields
from typing import Any, NamedTuple

_NOTHING: Mapping[str, Any] = {}


class Lint(NamedTuple):
    """Which rules are checked, how severe they are, and where not."""

    select: tuple[str, ...] = ("TS",)
    ignore: tuple[str, ...] = ()
    extend_select: tuple[str, ...] = ()
    per_file_ignores: Mapping[str, tuple[str, ...]] = _NOTHING
    severity: Mapping[str, str] = _NOTHING
    require_command_evidence: bool = False


class Size(NamedTuple):
    """How large a state file may become; a limit of 0 tokens is none."""

    warn_kb: int = 50
    max_kb: int = 75
    warn_tokens: int = 0
    max_tokens: int = 0
    keep_sessions: int = 5
    max_sessions: int = 20


class Standard(NamedTuple):
    """What the tasks of an area must cite; no priorities means all of them, the area `*` every area."""

    cite: tuple[str, ...]
    area: str = "*"
    priority: tuple[str, ...] = ()


class Export(NamedTuple):
    """What a role's export leaves out, of `EXPORT_FIELDS`."""

    drop: tuple[str, ...] = ()


class Secrets(NamedTuple):
    """Which values are no secrets although they look so, as regular expressions."""

    allow: tuple[str, ...] = ()


class QaReader(NamedTuple):
    """How to read a log that the built-in table does not know: a regular expression with a group `text`."""

    name: str
    pattern: str


class Chain(NamedTuple):
    """How much of an upstream output a task takes over."""

    max_input_kb: int = 3


class Permanent(NamedTuple):
    """Who may update the permanent task; nobody named means everybody."""

    writers: tuple[str, ...] = ()


class Archive(NamedTuple):
    """The program that summarises archived sessions; none named means the built-in one."""

    summarizer: str = ""


class Handoff(NamedTuple):
    """What a handoff document must keep to."""

    max_lines: int = 60
    max_kb: int = 4
    minimum_progress: bool = True


class Config(NamedTuple):
    """The whole configuration; `Config()` is what holds where nobody configured anything."""

    root: str = ".taskstate"
    exclude: tuple[str, ...] = ()
    roles: tuple[str, ...] = ("implementer", "reviewer", "validator")
    lint: Lint = Lint()
    size: Size = Size()
    standards: tuple[Standard, ...] = ()
    validation: Mapping[str, tuple[str, ...]] = _NOTHING
    scope: Mapping[str, tuple[str, ...]] = _NOTHING
    export: Mapping[str, Export] = _NOTHING
    secrets: Secrets = Secrets()
    qa: tuple[QaReader, ...] = ()
    chain: Chain = Chain()
    permanent: Permanent = Permanent()
    archive: Archive = Archive()
    handoff: Handoff = Handoff()


def matches(path: str, pattern: str) -> bool:
    """Return whether a path from the repository's root (with `/`) is one that a glob of the configuration means.

    `*` stands for anything, `/` included; without a wildcard a pattern also means all that lies under it.
    """
    from fnmatch import fnmatchcase

    return fnmatchcase(path, pattern) or fnmatchcase(path, f"{pattern.rstrip('/')}/*")


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
    """Return the fields that a role's export leaves out: what the configuration says, else what is usual."""
    configured = config.export.get(role)
    return configured.drop if configured else EXPORT_DROPS.get(role, ())
