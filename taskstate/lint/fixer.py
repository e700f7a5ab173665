"""Writes what the linter's fixes make of a file, the way of every write: under the lock, read anew, stamped, proved.

A fix that needs other files is a job: the linter names it, and here it is done.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from taskstate.errors import TaskstateError
from taskstate.lint import engine
from taskstate.lint.queries.answers import RepositoryQueries
from taskstate.model.write_metadata import timestamp
from taskstate.workspace.change import Change
from taskstate.workspace.preconditions import require_whole
from taskstate.workspace.writer import change_at

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from taskstate.lint.diagnostics import Diagnostic
    from taskstate.lint.runner import LintRun
    from taskstate.workspace.change import Outcome, Request
    from taskstate.workspace.workspace import Loaded


class _FixJob(NamedTuple):
    """A file that a job works on; `about` is what the findings say that it is to deal with."""

    checking: LintRun
    loaded: Loaded
    request: Request
    about: tuple[str, ...] = ()


def fix_file(checking: LintRun, path: Path, request: Request, *, unsafe: bool = False) -> Outcome:
    """Apply the fixes to a file and write it, stamped as by every write, and do the jobs that are the fix of others."""

    def job(loaded: Loaded) -> Change:
        name, queries = loaded.relative, RepositoryQueries(checking.repository, path)
        fixed = engine.fix(loaded.document.text, name, checking.config, queries, unsafe=unsafe)
        change, left = Change(text=fixed.text, notes=_fix_notes(fixed.applied, request)), fixed.diagnostics
        for wanted, do in _JOBS.items():
            about = _subjects(left, wanted)
            if about:
                done = do(change, _FixJob(checking, loaded, request, about))
                left = left if done.text == change.text else engine.check(done.text, name, checking.config, queries)
                change = done
        return change

    outcome = change_at(checking.repository.workspace, path, job, request)
    if outcome.changed:
        checking.repository.forget_file(path)
    return outcome


def _subjects(diagnostics: Iterable[Diagnostic], job: str) -> tuple[str, ...]:
    """Return what a job is to deal with, each once; nothing where no finding asks for it."""
    return tuple(dict.fromkeys(each.fix.about for each in diagnostics if each.fix and each.fix.job == job))


def _pull(change: Change, work: _FixJob) -> Change:
    """Take over the outputs of the tasks that the findings name, as they are now."""
    from taskstate.model.chain import with_input

    now, notes, text = timestamp(work.request.stamp.now), list(change.notes), change.text
    told = "would pull" if work.request.dry_run else "pulled"
    for task_id in work.about:
        for upstream in work.checking.repository.upstreams_now(task_id):
            try:
                text = with_input(text, upstream, now, work.checking.config)
                notes.append(f"{told} the output of task {upstream.id}")
            except TaskstateError as error:  # what is mended stays mended
                notes.append(f"not pulled: {error}")
    return change._replace(text=text, notes=tuple(notes))


def _archive(change: Change, work: _FixJob) -> Change:
    from taskstate.archive.archiver import limit_reason, plan_archive

    workspace = work.checking.repository.workspace
    keep, reason = workspace.config.size.keep_sessions, limit_reason(workspace.config)
    try:
        require_whole(work.loaded)
        archived = plan_archive(workspace, work.loaded.relative, change.text, work.request, keep=keep, reason=reason)
    except TaskstateError as error:  # what is mended stays mended
        return change._replace(notes=(*change.notes, f"not archived: {error}"))
    return archived._replace(before=(*change.before, *archived.before), notes=(*change.notes, *archived.notes))


def _respan(change: Change, work: _FixJob) -> Change:
    """Bring the spans of a sealed section up to date, and seal it anew where it matched its seal."""
    from taskstate.context.citations import refresh_line_spans

    repository = work.checking.repository
    queries = RepositoryQueries(repository, repository.workspace.root / work.loaded.relative)
    done = refresh_line_spans(change.text, queries.standard)
    if not done.sections:
        return change
    verb = "would bring" if work.request.dry_run else "brought"
    sealed = ", and sealed section 1 anew" if done.resealed else ""
    note = f"{verb} the spans of {', '.join(done.sections)} up to date{sealed}"
    return change._replace(text=done.text, notes=(*change.notes, note))


# In the order in which they are done: pulling makes a file larger, and archiving smaller.
_JOBS = {"pull": _pull, "respan": _respan, "archive": _archive}


def _fix_notes(applied: tuple[str, ...], request: Request) -> tuple[str, ...]:
    return (f"{'would fix' if request.dry_run else 'fixed'} {', '.join(applied)}",) if applied else ()
