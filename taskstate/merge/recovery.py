"""Restores a lost update: merges the text that an older copy of a file has overwritten with the current one."""

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


def restore_lost_update(workspace: Workspace, lost: LostUpdate, request: Request) -> str:
    """Merge a lost text into its file, delete its record, and return a message.

    Where both texts changed the same lines, those of the file stay, and the whole lost text becomes a proposal.

    Raises:
        TaskstateError: code "no-base": the common base of the two texts is not known; or the file cannot be changed.
    """
    theirs = _bytes(lost.text)

    def job(loaded: Loaded) -> Change[int]:
        base = _base(workspace, lost, loaded)
        data, conflicts = merge_files(Versions(base, loaded.data, theirs), lost.path)
        text = _with_our_side(data.decode("utf-8")) if conflicts else data.decode("utf-8")
        drop = journal.Delete(workspace.relative(lost.record), files.digest(files.read(lost.record)))
        before = (*_proposal_plan(workspace, lost, conflicts), drop)
        return Change(text=text, before=before, revision_above=lost.revision, result=conflicts)

    outcome = change_at(workspace, files.inside(workspace.root, lost.path), job, request._replace(expect=""))
    for version in backups.versions_of(workspace.journal, lost.path)[-1:]:
        backups.add_parent(workspace.journal, lost.path, version.digest, files.digest(theirs))
    origin = "the save that came late" if lost.late else f"revision {lost.revision}"
    message = f"{lost.path}: what {origin} held is in it again, at revision {outcome.revision}"
    return f"{message}; {_proposal_message(workspace, lost)}" if outcome.result else message


def _base(workspace: Workspace, lost: LostUpdate, loaded: Loaded) -> bytes:
    """Return the text that the lost text and the current one have in common."""
    newest = [version.digest for version in backups.versions_of(workspace.journal, lost.path)]
    ours = loaded.digest[:16] if loaded.digest[:16] in newest else "".join(newest[-1:])
    base = backups.common_ancestor(workspace.journal, lost.path, ours, files.digest(_bytes(lost.text)))
    if base is None and lost.base is None:
        problem = f"{lost.path}: the text that both versions came from is not known any more"
        raise TaskstateError(problem, help="take by hand what is missing", code="no-base")
    return _bytes(lost.base or "") if base is None else base


def write_proposal(workspace: Workspace, lost: LostUpdate) -> str:
    """Write a lost text into a file of its own, delete its record, and return a message."""
    with workspace.locked():
        drop = journal.Delete(workspace.relative(lost.record), files.digest(files.read(lost.record)))
        journal.write(workspace.root, workspace.journal, (*_proposal_plan(workspace, lost, 1), drop))
    return _proposal_message(workspace, lost)


def _proposal_message(workspace: Workspace, lost: LostUpdate) -> str:
    return f"what could not be put back by itself stands in {workspace.relative(_proposal_path(workspace, lost))}"


def _proposal_plan(workspace: Workspace, lost: LostUpdate, conflicts: int) -> journal.Plan:
    path = _proposal_path(workspace, lost)
    if not conflicts or files.size(path) is not None:
        return ()
    return (journal.Create(workspace.relative(path), _bytes(lost.text)),)


def _proposal_path(workspace: Workspace, lost: LostUpdate) -> Path:
    return workspace.journal / f"{PROPOSAL}{lost.record.name.removeprefix(PREFIX).removesuffix('.json')}.md"


def _with_our_side(text: str) -> str:
    """Return a text with conflict markers as if all conflicts were decided for the file's own version."""
    lines: list[str] = []
    side = ""
    for line in lines_of(text):
        marker = with_newlines(line, "\n")
        if marker in {OURS, MIDDLE, THEIRS} and (side or marker == OURS):
            side = {OURS: "ours", MIDDLE: "theirs", THEIRS: ""}[marker]
        elif side != "theirs":
            lines.append(line)
    return "".join(lines)


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogateescape")
