"""Finds state files that no command sees, since their names are only close to those of state files."""

from __future__ import annotations

from taskstate.storage.file_sources import GitFiles
from taskstate.typed import TYPE_CHECKING
from taskstate.workspace.misnamed import near_names

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from taskstate.lint.diagnostics import Finding
    from taskstate.lint.runner import LintRun, Report
    from taskstate.workspace.workspace import Workspace


def with_near_names(report: Report, under: Sequence[Path], run: LintRun) -> Report:
    """Return the report with these findings, which count as files."""
    near = tuple(near_findings(run, under))
    count = report.files + len({each.path for each in near})
    return report._replace(files=count, findings=(*report.findings, *near))


def near_findings(run: LintRun, under: Sequence[Path]) -> Iterator[Finding]:
    """Yield the findings about files whose names are close to that of a state file, `under` what is checked."""
    workspace = run.repository.workspace
    paths = [workspace.root / near.path for near in near_names(workspace)]
    paths = [path for path in paths if any(path.is_relative_to(each) for each in under)]
    for path in _in_git(workspace, paths) if isinstance(run.repository.source, GitFiles) else paths:
        from taskstate.lint import engine  # a run over files without faults does without it
        from taskstate.lint.queries.answers import RepositoryQueries
        from taskstate.syntax.document import parse

        queries, text = RepositoryQueries(run.repository, path), workspace.source.read(path).decode("utf-8", "replace")
        yield from engine.findings_as("near", parse(text, workspace.kinds), run.name(path), run.config, queries)


def _in_git(workspace: Workspace, paths: Sequence[Path]) -> tuple[Path, ...]:
    """Return those of these files that are staged, in a commit hook those that the commit changes."""
    from taskstate.storage.git.index import blobs_in_index
    from taskstate.workspace.hook_scope import in_commit

    staged = (
        blobs_in_index(workspace.root, [f":(literal){workspace.relative(each)}" for each in paths]) if paths else ()
    )
    return in_commit(workspace, [each for each in paths if workspace.relative(each) in staged])
