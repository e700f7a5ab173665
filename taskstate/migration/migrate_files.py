"""Migrates files and folders of older forms, and says with the linter what a person has to decide in the results."""

from __future__ import annotations

from functools import partial

from taskstate.errors import TaskstateError
from taskstate.lint import engine
from taskstate.lint.queries.answers import RepositoryQueries
from taskstate.lint.runner import LintRequest, LintRun, open_run
from taskstate.migration.import_context import contexts_in, import_context
from taskstate.migration.import_handoffs import import_spec, spec_folders
from taskstate.migration.migrate import is_older_file, migrate_state_file
from taskstate.model.write_metadata import timestamp
from taskstate.storage import files, folders
from taskstate.syntax.document import parse_head
from taskstate.typed import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from pathlib import Path

    from taskstate.workspace.workspace import Workspace
    from taskstate.writing.change import Outcome, Request

_ARCHIVE = "TS407"  # the rule about archives


class Migrated(NamedTuple):
    """One migrated file: its path, what it was made from, and what the linter finds in it, for a person to decide."""

    path: str
    source: str
    notes: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    findings: tuple[str, ...] = ()
    diff: str = ""


class Migration(NamedTuple):
    """What was migrated, what could not be, and remarks about the paths."""

    files: tuple[Migrated, ...]
    failed: tuple[str, ...]
    notes: tuple[str, ...] = ()


def migrate(workspace: Workspace, paths: Iterable[Path], request: Request) -> Migration:
    """Migrate all that has an older form among files and in folders; the rest is left as it is.

    Raises:
        TaskstateError: code "not-found": a path does not exist.
    """
    done: list[tuple[str, Outcome]] = []
    failed, notes = list[str](), list[str]()
    for path in paths:
        if not folders.exists(path):
            raise TaskstateError(f"{files.shown(path)} does not exist", help="check the path", code="not-found")
        found = [*_jobs(workspace, path, request, failed)]
        if not found and not folders.is_folder(path) and not failed:
            notes.append(f"{workspace.shown(path)} has no older form that is known")
        for source, job in workspace.counted("migrating", found):
            try:
                outcome = job()
            except TaskstateError as error:
                failed.append(str(error))
                continue
            done += [(workspace.relative(source), outcome)] if outcome and outcome.changed else []
    return Migration(tuple(_with_findings(workspace, done, request)), tuple(failed), tuple(notes))


def _jobs(
    workspace: Workspace, path: Path, request: Request, failed: list[str]
) -> Iterator[tuple[Path, Callable[[], Outcome | None]]]:
    """Yield what there is to migrate at a path, each with its job; what cannot be read is added to `failed`."""
    for each in workspace.counted("reading", workspace.own_files(under=path) if folders.is_folder(path) else (path,)):
        try:
            if is_older_file(workspace, each):
                yield each, partial(migrate_state_file, workspace, each, request)
        except TaskstateError as error:
            failed.append(str(error))
    for each in contexts_in(path):
        yield each, partial(import_context, workspace, each, request)
    for each in spec_folders(path):
        yield each, partial(import_spec, workspace, each, request)


def _with_findings(workspace: Workspace, done: list[tuple[str, Outcome]], request: Request) -> Iterator[Migrated]:
    """Yield what was migrated with what the linter finds in it, now that the files can see one another."""
    if not done:
        return
    run, _ = open_run(workspace, workspace.config, LintRequest(now=timestamp(request.metadata.now), remember=False))
    try:
        for source, outcome in workspace.counted("checking", done):
            found = tuple(_findings(workspace, run, outcome, is_dry_run=request.dry_run))
            yield Migrated(outcome.path, source, outcome.notes, outcome.warnings, found, outcome.diff)
    finally:
        run.repository.close()


def _findings(workspace: Workspace, run: LintRun, outcome: Outcome, *, is_dry_run: bool) -> Iterator[str]:
    queries = RepositoryQueries(run.repository, workspace.root / outcome.path)
    for each in engine.findings(outcome.text.encode(), outcome.path, run.config, queries):
        said = each.diagnostic
        is_named = "archive_path" in parse_head(outcome.text).front_matter
        if not (is_dry_run and said.code == _ARCHIVE and is_named):  # a dry run does not bring the archive along
            yield f"line {each.line}: {said.code} {said.message}: {said.help}"
