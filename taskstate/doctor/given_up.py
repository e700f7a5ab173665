"""Says which keys of a configuration are given up: they work until a day, and something else takes their place."""

from __future__ import annotations

from taskstate.storage import files
from taskstate.syntax.toml_input import read_toml
from taskstate.typed import TYPE_CHECKING, NamedTuple
from taskstate.workspace.config_files import config_name

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path


class GivenUp(NamedTuple):
    """What to write instead of a key, and the day from which on it may be an error, such as 2030-01-31."""

    instead: str
    until: str


# By the path of a key, such as "lint.append-only"; docs/stability.md promises how long one stays here.
KEYS: dict[str, GivenUp] = {}


def given_up(root: Path, keys: Mapping[str, GivenUp]) -> Iterator[tuple[str, str, GivenUp]]:
    """Yield the file, the key and what to do for each key of the configuration in a folder that is given up."""
    name = config_name(root) if keys else ""
    if name:
        values: object = read_toml(files.read(root / name).decode("utf-8", "replace"))
        prefix = "tool.taskstate." if name == "pyproject.toml" else ""
        yield from ((name, key, each) for key, each in keys.items() if _has(values, f"{prefix}{key}"))


def _has(values: object, key: str) -> bool:
    for part in key.split("."):
        if not isinstance(values, dict) or part not in values:
            return False
        values = values[part]
    return True
