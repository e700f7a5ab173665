"""Checks files for the editor as `taskstate lint` checks them: the same run, the same rules, HEAD and other files too.

Every check opens a run of its own, since what a run has read may be out of date by the next keystroke. That costs
milliseconds, and nothing has to be told that something has changed.
"""

from __future__ import annotations

from contextlib import contextmanager

from taskstate.errors import TaskstateError
from taskstate.lint.queries.answers import RepositoryQueries
from taskstate.lint.removed import removed_findings
from taskstate.lint.runner import LintRequest, check_files, open_run
from taskstate.lint.selection import require_known
from taskstate.model import names
from taskstate.storage import files, folders
from taskstate.typed import TYPE_CHECKING, NamedTuple
from taskstate.workspace.workspace import find_workspace

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from taskstate.lint.diagnostics import Finding
    from taskstate.lint.runner import LintRun
    from taskstate.lsp.open_texts import OpenTexts
    from taskstate.workspace.workspace import Workspace
    from taskstate.writing.change import Request

MOST_BYTES = 4 * 1024**2  # of a file that is checked while one types; `taskstate lint` checks larger ones, too


class Surroundings(NamedTuple):
    """What the server receives from the command line: the clock, and how its writes are made."""

    now: Callable[[], str]
    request: Callable[[Workspace], Request]


class Checker:
    """Checks files with the texts that the editor has open."""

    def __init__(self, texts: OpenTexts, surroundings: Surroundings) -> None:
        self.texts = texts
        self.surroundings = surroundings

    @contextmanager
    def run(self, path: Path, *, remember: bool = False) -> Iterator[LintRun]:
        """Yield the run in which the file or folder at `path` is checked.

        Raises:
            TaskstateError: the configuration of its repository is broken.
        """
        workspace = self.workspace(path)
        request = LintRequest(now=self.surroundings.now(), against=None, remember=remember, jobs=1)
        run, _ = open_run(workspace, workspace.config, request)
        run.repository.source = self.texts
        if run.repository.history and names.own_type(path.as_posix()) == "state":
            run.repository.history.start()  # git looks at the files while the text is parsed
        try:
            yield run
        finally:
            run.repository.close()

    def workspace(self, path: Path) -> Workspace:
        """Return the repository of a file or folder.

        Raises:
            TaskstateError: its configuration is broken.
        """
        workspace = find_workspace(nearest_folder(path))
        require_known(workspace.config.lint, workspace.root)
        return workspace

    def findings(self, path: Path) -> tuple[Finding, ...]:
        """Return the findings in one of our own files; none in any other, in an excluded one, or where there is none.

        Raises:
            TaskstateError: it cannot be checked, which the message explains.
        """
        if names.own_file(path.as_posix()) is None:
            return ()
        with self.run(path) as run:
            return self.findings_in(run, path)

    def findings_in(self, run: LintRun, path: Path) -> tuple[Finding, ...]:
        """Return the findings in a file in a run that is open.

        Raises:
            TaskstateError: it cannot be checked.
        """
        workspace = run.repository.workspace
        if workspace.excludes(path):
            return ()
        if not self.texts.exists(path):
            return self.removed(run).get(path, ())
        self.require_small(path)
        report = check_files((path,), run)
        if report.unreadable:
            raise TaskstateError(report.unreadable[0], code="unreadable")
        return report.findings

    def require_small(self, path: Path) -> None:
        """Refuse a file that is too large to be checked while one types.

        Raises:
            TaskstateError: code "too-large".
        """
        opened = self.texts.get(path)
        size = len(opened.text) if opened else files.size(path) or 0
        if size > MOST_BYTES:
            raise TaskstateError(
                f"{files.shown(path)} is too large to be checked here",
                help=f"`taskstate lint` checks files of more than {MOST_BYTES // 1024**2} MB",
                code="too-large",
            )

    def own_files(self, workspace: Workspace) -> tuple[Path, ...]:
        """Return our own files of a repository, and the open ones that are not saved yet."""
        opened = (
            path
            for path in self.texts.paths()
            if path.is_relative_to(workspace.root) and workspace.lists(workspace.relative(path))
        )
        return tuple(sorted({*workspace.own_files(), *opened}))

    def removed(self, run: LintRun) -> dict[Path, tuple[Finding, ...]]:
        """Return the findings about state files that are gone, by path."""
        root = run.repository.workspace.root
        gone: dict[Path, tuple[Finding, ...]] = {}
        for finding in removed_findings(run, (root,)):
            path = root / finding.path
            gone[path] = (*gone.get(path, ()), finding)
        return gone

    def queries(self, run: LintRun, path: Path) -> RepositoryQueries:
        """Return what answers the questions of rules about a file."""
        return RepositoryQueries(run.repository, path)


def nearest_folder(path: Path) -> Path:
    """Return the folder of a file, or where that is gone the nearest one above it."""
    folder = path if folders.is_folder(path) else path.parent
    while not folders.is_folder(folder) and folder != folder.parent:
        folder = folder.parent
    return folder
