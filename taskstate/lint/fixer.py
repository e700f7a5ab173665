"""Applies the linter's fixes to a file and writes it like any other change: locked, read anew, verified before writing.

Most fixes are edits of the text, which `engine` applies. A fix that needs other files (pulling the output of another
task, archiving) is a job: the finding only names it, and the functions here do it.
"""

from __future__ import annotations

from taskstate.errors import TaskstateError
from taskstate.lint import engine
from taskstate.lint.queries.answers import RepositoryQueries
from taskstate.model.names import own_type
from taskstate.model.write_metadata import timestamp
from taskstate.typed import TYPE_CHECKING, NamedTuple
from taskstate.writing import damage
from taskstate.writing.change import Change
from taskstate.writing.preconditions import require_whole
from taskstate.writing.writer import change_at

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from pathlib import Path

    from taskstate.lint.diagnostics import Diagnostic, JobName
    from taskstate.lint.runner import LintRun
    from taskstate.workspace.workspace import Loaded
    from taskstate.writing.change import Outcome, Request


class _FixJob(NamedTuple):
    """A job on one file; `subjects` is what its findings name, such as the ids of the tasks to pull from."""

    run: LintRun
    loaded: Loaded
    request: Request
    subjects: tuple[str, ...] = ()


def fix_file(run: LintRun, path: Path, request: Request, *, unsafe: bool = False) -> Outcome:
    """Apply the fixes to a file, run the jobs that its findings name, and write it.

    Its write metadata is updated where it has any: in a file that people made, only the text that is fixed changes.
    """

    def job(loaded: Loaded) -> Change:
        name, queries = loaded.relative, RepositoryQueries(run.repository, path)
        fixed = engine.fix(loaded.document.text, name, run.config, queries, unsafe=unsafe)
        is_judged = loaded.document.front_matter or (fixed.applied and _is_state_file(loaded))
        if is_judged and damage.damage_of(run.repository.workspace, loaded.with_text(fixed.text)):
            damage.require_undamaged(run.repository.workspace, loaded)  # else the damage is what was fixed
        change, left = Change(text=fixed.text, notes=_fix_notes(fixed.applied, request)), fixed.diagnostics
        for name_of_job, do in _JOBS.items():
            subjects = _subjects(left, name_of_job)
            if subjects:
                done = do(change, _FixJob(run, loaded, request, subjects))
                left = left if done.text == change.text else engine.check(done.text, name, run.config, queries)
                change = done
        return change._replace(
            only_text=not change.before
        )  # what was archived is acknowledged, as with every archiving

    outcome = change_at(run.repository.workspace, path, job, request)
    if outcome.changed:
        run.repository.forget_file(path)
    return outcome


def ignore_findings(run: LintRun, path: Path, request: Request) -> Outcome:
    """Add directives to a file for its findings, as `ignores` does, and write it like a fix."""
    from taskstate.lint.ignores import with_ignores

    def job(loaded: Loaded) -> Change:
        if loaded.document.front_matter or _is_state_file(loaded):
            damage.require_undamaged(run.repository.workspace, loaded)
        queries = RepositoryQueries(run.repository, path)
        done = with_ignores(loaded.document.text, loaded.relative, run.config, queries)
        verb = "would ignore" if request.dry_run else "ignores"
        notes = (f"{verb} {', '.join(done.codes)}",) if done.codes else ()
        return Change(text=done.text, notes=notes, only_text=True)

    outcome = change_at(run.repository.workspace, path, job, request)
    if outcome.changed:
        run.repository.forget_file(path)
    return outcome


def _is_state_file(loaded: Loaded) -> bool:
    """Return whether a file is a state file by its name; its front matter may be what cannot be read."""
    return own_type(loaded.relative) == "state"


def _subjects(diagnostics: Iterable[Diagnostic], job: JobName) -> tuple[str, ...]:
    """Return the subjects of a job, each once; empty where no finding names the job."""
    return tuple(dict.fromkeys(each.fix.about for each in diagnostics if each.fix and each.fix.job == job))


def _pull(change: Change, work: _FixJob) -> Change:
    """Pull the current outputs of the tasks that the findings name."""
    from taskstate.chain.inputs import edited_away
    from taskstate.model.chain import with_input

    now, notes, text = timestamp(work.request.metadata.now), list(change.notes), change.text
    replaced = list(change.replaced)
    verb = "would pull" if work.request.dry_run else "pulled"
    for task_id in work.subjects:
        for upstream in work.run.repository.upstreams_now(task_id):
            try:
                text = with_input(work.loaded.document.with_text(text), upstream, now, work.run.config)
                notes.append(f"{verb} the output of task {upstream.id}")
                replaced += edited_away(work.loaded, text, upstream)
            except TaskstateError as error:  # the fixes before it are kept
                notes.append(f"not pulled: {error}")
    return change._replace(text=text, notes=tuple(notes), replaced=tuple(replaced))


def _archive(change: Change, work: _FixJob) -> Change:
    from taskstate.archive.archiver import limit_reason, plan_archive

    workspace = work.run.repository.workspace
    keep, reason = workspace.config.size.keep_sessions, limit_reason(workspace.config)
    try:
        require_whole(work.loaded)
        archived = plan_archive(workspace, work.loaded.relative, change.text, work.request, keep=keep, reason=reason)
    except TaskstateError as error:  # the fixes before it are kept
        return change._replace(notes=(*change.notes, f"not archived: {error}"))
    return archived._replace(before=(*change.before, *archived.before), notes=(*change.notes, *archived.notes))


def _respan(change: Change, work: _FixJob) -> Change:
    """Update the citation spans of a sealed section, and seal it again if it matched its seal."""
    from taskstate.context.citations import refresh_line_spans

    repository = work.run.repository
    queries = RepositoryQueries(repository, repository.workspace.root / work.loaded.relative)
    done = refresh_line_spans(work.loaded.document.with_text(change.text), queries.standard)
    if not done.sections:
        return change
    verb = "would bring" if work.request.dry_run else "brought"
    sealed = ", and sealed section 1 again" if done.resealed else ""
    note = f"{verb} the spans of {', '.join(done.sections)} up to date{sealed}"
    return change._replace(text=done.text, notes=(*change.notes, note))


# In this order: pulling makes a file larger, so that it may have to be archived then.
_JOBS: dict[JobName, Callable[[Change, _FixJob], Change]] = {"pull": _pull, "respan": _respan, "archive": _archive}


def _fix_notes(applied: tuple[str, ...], request: Request) -> tuple[str, ...]:
    return (f"{'would fix' if request.dry_run else 'fixed'} {', '.join(applied)}",) if applied else ()
