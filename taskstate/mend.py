"""Writes what the linter's fixes make of a file, the way of every write: under the lock, read anew, stamped, proved."""

from __future__ import annotations

from typing import TYPE_CHECKING

from taskstate.errors import TaskstateError
from taskstate.guards import require_whole
from taskstate.lint import engine
from taskstate.writing import Change, change_at

if TYPE_CHECKING:
    from pathlib import Path

    from taskstate.config import Config
    from taskstate.workspace import Loaded, Workspace
    from taskstate.writing import Outcome, Request


def fix_file(workspace: Workspace, path: Path, request: Request, *, config: Config, unsafe: bool = False) -> Outcome:
    """Apply the fixes to a file and write it, stamped as by every write, and archived where that is the fix."""

    def job(loaded: Loaded) -> Change:
        fixed = engine.fix(loaded.document.text, loaded.relative, config, unsafe=unsafe)
        jobs = {diagnostic.fix.job for diagnostic in fixed.diagnostics if diagnostic.fix}
        told = _told(fixed.applied)
        if "archive" not in jobs:
            return Change(text=fixed.text, notes=told)
        try:
            archived = _archived(workspace, loaded, fixed.text, request)
        except TaskstateError as error:  # what is mended stays mended
            return Change(text=fixed.text, notes=(*told, f"not archived: {error}"))
        return Change(text=archived.text, before=archived.before, notes=(*told, *archived.notes))

    return change_at(workspace, path, job, request)


def _archived(workspace: Workspace, loaded: Loaded, text: str, request: Request) -> Change:
    from taskstate.archive import over_limit, plan_archive

    require_whole(loaded)
    keep, reason = workspace.config.size.keep_sessions, over_limit(workspace.config)
    return plan_archive(workspace, loaded.relative, text, request, keep=keep, reason=reason)


def _told(applied: tuple[str, ...]) -> tuple[str, ...]:
    return (f"fixed {', '.join(applied)}",) if applied else ()
