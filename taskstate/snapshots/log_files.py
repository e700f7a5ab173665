"""Tells the log of checks that somebody wrote into the tree from work: a new file with exactly what was recorded."""

from __future__ import annotations

import os

from taskstate.errors import TaskstateError
from taskstate.storage import files
from taskstate.typed import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from pathlib import Path

    from taskstate.model.tool_blocks import ToolBlocks


class LogFiles(NamedTuple):
    """The logs that a task has recorded, or that are being recorded, by the hash of their content."""

    root: Path
    hashes: frozenset[str]

    def has(self, path: bytes) -> bool:
        """Return whether the file at a path holds such a log."""
        if not self.hashes:
            return False
        try:
            content = files.read(files.resolved(self.root, os.fsdecode(path)), files.MAX_BYTES)
        except TaskstateError:  # it is gone, a link, or larger than any log
            return False
        return files.digest(content) in self.hashes


def log_files(root: Path, blocks: ToolBlocks, *being_recorded: str) -> LogFiles:
    """Return the logs of a task: of its baseline, of its roles, and those `being_recorded`, given by their hashes."""
    recorded = (blocks.baseline.log_sha256, *(each.qa_log_sha256 for each in blocks.roles.values()))
    return LogFiles(root, frozenset(filter(None, (*recorded, *being_recorded))))
