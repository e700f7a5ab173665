"""Checks files and folders from beginning to end, for whoever only wants the report."""

from __future__ import annotations

from contextlib import closing

from taskstate.lint.removed import removed_findings, with_removed
from taskstate.lint.runner import check_files, open_run, own_files_in
from taskstate.typed import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from taskstate.lint.runner import LintRequest, Report
    from taskstate.workspace.workspace import Workspace


def lint_paths(workspace: Workspace, paths: Sequence[Path], request: LintRequest) -> Report:
    """Lint files and folders on disk, or without any the repository; what could not be checked is `unreadable`.

    Raises:
        TaskstateError: code "not-found": a path does not exist; code "no-commit".
    """
    run, remarks = open_run(workspace, workspace.config, request)
    under = [*paths] or [workspace.root]
    with closing(run.repository):
        own, others = own_files_in(workspace, under)
        run.repository.all_files = None if paths else own
        report, removed = check_files(own, run), tuple(removed_findings(run, under))
        if run.cache:
            run.cache.save()
        report = report._replace(findings=with_removed(report.findings, removed))
        if workspace.other_texts():
            from taskstate.lint.near_names import with_near_names

            report = with_near_names(report, under, run)
    return report._replace(unreadable=(*remarks, *others, *report.unreadable))
