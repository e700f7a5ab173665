"""Finds and reads the configuration in a folder."""

from __future__ import annotations

from taskstate.messages import decoded
from taskstate.storage import files
from taskstate.storage.file_sources import DISK
from taskstate.typed import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from taskstate.model.config import Config
    from taskstate.storage.file_sources import Files

CONFIG_FILES = ("taskstate.toml", "pyproject.toml")


def config_in(folder: Path, source: Files = DISK) -> Config | None:
    """Return the configuration in a folder, or None; a `pyproject.toml` without our table does not count."""
    return next((config for _, config in _configs_in(folder, source)), None)


def config_name(folder: Path) -> str:
    """Return the name of the file that holds the configuration of a folder, or an empty text."""
    return next((name for name, _ in _configs_in(folder, DISK)), "")


def _configs_in(folder: Path, source: Files) -> Iterator[tuple[str, Config]]:
    for name in CONFIG_FILES:
        path = folder / name
        if source.exists(path) and not source.is_folder(path):
            from taskstate.model.config_reader import parse_config  # many repositories have no configuration

            config = parse_config(read_text(source, files.resolved(folder, name, source.real)), name)
            if config:
                yield name, config


def read_text(source: Files, path: Path) -> str:
    """Return the text of a configuration.

    Raises:
        TaskstateError: it cannot be read; code "config": it is not UTF-8.
    """
    return decoded(source.read(path), files.shown(path), code="config")
