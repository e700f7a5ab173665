"""Puts back what an older copy of a file has removed, and keeps what that copy brought: a merge of the two."""

from __future__ import annotations

from typing import TYPE_CHECKING

from taskstate.errors import TaskstateError
from taskstate.merge.files import merge_files
from taskstate.merge.lines import MIDDLE, OURS, THEIRS, lines_of
from taskstate.merge.three_way import Versions
from taskstate.storage import backups, files, journal
from taskstate.syntax.spans import with_newlines
from taskstate.workspace.change import Change
from taskstate.workspace.lost_updates import PREFIX, PROPOSAL
from taskstate.workspace.writer import change_at

if TYPE_CHECKING:
    from pathlib import Path

    from taskstate.workspace.change import Request
    from taskstate.workspace.lost_updates import LostUpdate
    from taskstate.workspace.workspace import Loaded, Workspace


def restore_lost_update(workspace: Workspace, gone: LostUpdate, request: Request) -> str:
    """Put back what is gone, drop its record, and return what to tell.

    Where both texts changed the same, the file's stays, and the whole text that is gone is written out as a proposal.

    Raises:
        TaskstateError: code "no-base": nobody knows what the two versions came from; or the file cannot be changed.
    """
    theirs = _bytes(gone.text)

    def job(loaded: Loaded) -> Change[int]:
        base = _base(workspace, gone, loaded)
        data, conflicts = merge_files(Versions(base, loaded.data, theirs), gone.path)
        text = _ours(data.decode("utf-8")) if conflicts else data.decode("utf-8")
        drop = journal.Delete(workspace.relative(gone.record), files.digest(files.read(gone.record)))
        before = (*_written_out(workspace, gone, conflicts), drop)
        return Change(text=text, before=before, above=gone.revision, result=conflicts)

    outcome = change_at(workspace, files.inside(workspace.root, gone.path), job, request._replace(expect=""))
    for version in backups.of_file(workspace.journal, gone.path)[-1:]:
        backups.comes_from(workspace.journal, gone.path, version.digest, files.digest(theirs))
    what = "the save that came late" if gone.late else f"revision {gone.revision}"
    told = f"{gone.path}: what {what} held is in it again, at revision {outcome.revision}"
    return f"{told}; {_left(workspace, gone)}" if outcome.result else told


def _base(workspace: Workspace, gone: LostUpdate, loaded: Loaded) -> bytes:
    """Return the text that what is gone and what stands there now both come from."""
    newest = [version.digest for version in backups.of_file(workspace.journal, gone.path)]
    ours = loaded.digest[:16] if loaded.digest[:16] in newest else "".join(newest[-1:])
    base = backups.common(workspace.journal, gone.path, ours, files.digest(_bytes(gone.text)))
    if base is None and gone.base is None:
        what = f"{gone.path}: the text that both versions came from is not known any more"
        raise TaskstateError(what, help="take by hand what is missing", code="no-base")
    return _bytes(gone.base or "") if base is None else base


def write_proposal(workspace: Workspace, gone: LostUpdate) -> str:
    """Write the text that is gone into a file of its own, drop its record, and return what to tell."""
    with workspace.locked():
        drop = journal.Delete(workspace.relative(gone.record), files.digest(files.read(gone.record)))
        journal.write(workspace.root, workspace.journal, (*_written_out(workspace, gone, 1), drop))
    return _left(workspace, gone)


def _left(workspace: Workspace, gone: LostUpdate) -> str:
    return f"what could not be put back by itself stands in {workspace.relative(_proposal(workspace, gone))}"


def _written_out(workspace: Workspace, gone: LostUpdate, conflicts: int) -> journal.Plan:
    path = _proposal(workspace, gone)
    if not conflicts or files.size(path) is not None:
        return ()
    return (journal.Create(workspace.relative(path), _bytes(gone.text)),)


def _proposal(workspace: Workspace, gone: LostUpdate) -> Path:
    return workspace.journal / f"{PROPOSAL}{gone.record.name.removeprefix(PREFIX).removesuffix('.json')}.md"


def _ours(text: str) -> str:
    """Return a text with conflict markers as it is without them, with the file's own version in each place."""
    kept: list[str] = []
    side = ""
    for line in lines_of(text):
        mark = with_newlines(line, "\n")
        if mark in {OURS, MIDDLE, THEIRS} and (side or mark == OURS):
            side = {OURS: "ours", MIDDLE: "theirs", THEIRS: ""}[mark]
        elif side != "theirs":
            kept.append(line)
    return "".join(kept)


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogateescape")
