"""Finds state files that no command sees, since their names are only close to those of state files."""

from __future__ import annotations

from taskstate.storage.file_sources import Disk
from taskstate.typed import TYPE_CHECKING
from taskstate.workspace.misnamed import near_names

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from taskstate.lint.diagnostics import Finding
    from taskstate.lint.runner import LintRun, Report


def with_near_names(report: Report, under: Sequence[Path], run: LintRun) -> Report:
    """Return the report with these findings, which count as files."""
    near = tuple(near_findings(run, under))
    count = report.files + len({each.path for each in near})
    return report._replace(files=count, findings=(*report.findings, *near))


def near_findings(run: LintRun, under: Sequence[Path]) -> Iterator[Finding]:
    """Yield the findings about files on disk whose names are close to that of a state file, `under` what is checked."""
    source, workspace = run.repository.source, run.repository.workspace
    for near in near_names(workspace) if isinstance(source, Disk) else ():
        path = workspace.root / near.path
        if not any(path.is_relative_to(each) for each in under):
            continue
        from taskstate.lint import engine  # a run over files without faults does without it
        from taskstate.lint.queries.answers import RepositoryQueries
        from taskstate.syntax.document import parse

        queries, text = RepositoryQueries(run.repository, path), source.read(path).decode("utf-8", "replace")
        yield from engine.findings_as("near", parse(text, workspace.kinds), run.name(path), run.config, queries)
