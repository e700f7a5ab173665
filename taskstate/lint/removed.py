"""Finds the state files and archives that are gone since the compared revision."""

from __future__ import annotations

from taskstate.model.names import own_file, own_id, own_type
from taskstate.typed import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from taskstate.lint.compared_revision import ComparedRevision, RemovedFile
    from taskstate.lint.diagnostics import Finding
    from taskstate.lint.runner import LintRun


def removed_findings(run: LintRun, under: Sequence[Path]) -> Iterator[Finding]:
    """Yield the findings about state files and archives that were removed since the compared revision.

    `under` are the files and folders that are checked; with a state file its archive is. Of the index or a commit all
    removed files count, wherever they were: a commit is checked as a whole.
    """
    history = run.repository.history
    if history is None or not (run.place or _may_lack_a_file(run, history, under)):
        return
    for removed in history.removed:
        if _concerns(removed.path, run, under):
            yield from _findings(removed, run)


def with_removed(findings: Sequence[Finding], removed: Sequence[Finding]) -> tuple[Finding, ...]:
    """Return both, without the findings that only follow from a removed file: those with the same cure."""
    cures = {each.diagnostic.help.partition(";")[0] for each in removed}
    return (*(each for each in findings if each.diagnostic.help.partition(";")[0] not in cures), *removed)


def _findings(removed: RemovedFile, run: LintRun) -> tuple[Finding, ...]:
    from taskstate.lint import engine  # a run over files without faults, all cached, does without it
    from taskstate.lint.queries.answers import RepositoryQueries

    queries = RepositoryQueries(run.repository, removed.path)
    return engine.findings_as("removed", removed.document, run.name(removed.path), run.config, queries)


def _may_lack_a_file(run: LintRun, history: ComparedRevision, under: Sequence[Path]) -> bool:
    """Return whether a removed file may concern what is checked: not where only files are, whose archives exist."""
    workspace, source = run.repository.workspace, run.repository.workspace.source
    if any(source.is_folder(path) for path in under):
        return True
    archives = (workspace.state_root / workspace.archive_path(own_id(path.name)) for path in under)
    return any(history.mark(path) and not source.exists(path) for path in archives)


def _concerns(removed: Path, run: LintRun, under: Sequence[Path]) -> bool:
    """Return whether a removed file is reported: it was in what is checked, and some task needs it."""
    repository, task_id = run.repository, own_id(removed.name)
    if repository.workspace.excludes(removed):
        return False
    if not (run.place or any(removed.is_relative_to(each) or own_id(each.name) == task_id for each in under)):
        return False
    if own_type(removed.name) == "state":
        return True
    if _is_in_its_place(removed, run):
        return False
    from taskstate.model.task_state import read_state

    states = (repository.document(path) for path in repository.state_files(task_id))
    return any(state is not None and read_state(state).archived > 0 for state in states)


def _is_in_its_place(removed: Path, run: LintRun) -> bool:
    """Return whether a task has its archive where commands look for it, and the removed one was elsewhere.

    So after a migration. Whether all sessions came along is for the rule that compares archives.
    """
    own, workspace = own_file(removed.name), run.repository.workspace
    place = workspace.state_root / workspace.archive_path((own and own.id) or "")
    return removed != place and run.repository.source.exists(place)
