"""Finds the files that a turn changed, and the places in them, for the document that hands the work over."""

from __future__ import annotations

import os
import re

from taskstate.errors import TaskstateError
from taskstate.handoff.draft import NOT_THERE
from taskstate.messages import first_of
from taskstate.model.write_metadata import blocks_of
from taskstate.snapshots import base as snapshot_base
from taskstate.storage import folders
from taskstate.storage.git.objects import leaves
from taskstate.typed import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from taskstate.workspace.workspace import Loaded, Workspace

_MOST = 5  # files
_NAMED = 3  # places in a file
_LARGEST = 1_000_000  # bytes of a file whose diff is made
_CHANGED_PART = rb"(?m)^@@ -(\d+)\S* \+(\d+).*\n((?: .*\n|\n)*)"  # its lines, and what stands before the first change


def changed_files(workspace: Workspace, loaded: Loaded) -> Mapping[str, str]:
    """Return the files that the open turn has changed so far, each with the place in it.

    After a pause they are those that have changed since the first of the paused turns began.
    They are the newest on disk, the very newest first: there the work stopped. Where no trees can be compared, as
    without git, there are none.
    """
    delta = blocks_of(loaded.document).delta
    start = delta.turn.tree if delta.turn else delta.left and delta.left.start_tree
    try:
        head = snapshot_base.require_at_rest(workspace)
        with snapshot_base.snapshot_base(workspace, loaded.state.id, delta, head) as current:
            if not start or not current.store.has(start):
                return {}
            changes = leaves(current.store.changes(start, current.tree), workspace.is_ours)
            paths = (path for each in changes if (path := os.fsdecode(each.path)).isprintable())
            there = {path: at for path in paths if (at := folders.find(workspace.root / path))}
            newest = sorted(there, key=lambda path: -there[path].st_mtime_ns)[:_MOST]
            small = [path for path in newest if there[path].st_size <= _LARGEST]
            places = {path: _place(current.store.diff(start, current.tree, path)()[1]) for path in small}
            return {path: places.get(path, NOT_THERE) for path in newest}
    except TaskstateError:  # the document says that there is no file, and the writer can name one
        return {}


def _place(diff: bytes) -> str:
    """Return where a file was changed, by its diff."""
    parts = re.findall(_CHANGED_PART, diff)
    lines = [str(int(new) + above.count(b"\n")) for _, new, above in parts]
    is_new = bool(parts) and parts[0][0] == b"0"
    return "all of it is new" if is_new else f"changed around line {first_of(lines, _NAMED)}" if lines else NOT_THERE
