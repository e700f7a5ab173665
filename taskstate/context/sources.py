"""Reads the files that a capture uses: the task file, the cited standards and the configuration.

Every file that was read is recorded with the hash of its bytes. Links are followed inside the repository, never out
of it.
"""

from __future__ import annotations

import os
from pathlib import Path

from taskstate.context import citations, task_file
from taskstate.context.path_scope import read_scope
from taskstate.errors import GitFailed, TaskstateError
from taskstate.messages import decoded, first_of
from taskstate.model.config_reader import parse_config
from taskstate.storage import files, folders
from taskstate.storage.file_sources import Disk
from taskstate.storage.git import client as git
from taskstate.typed import TYPE_CHECKING, NamedTuple
from taskstate.workspace.config_files import CONFIG_FILES
from taskstate.workspace.listing import IGNORED_FOLDERS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from taskstate.context.citations import CitedSection, Standard
    from taskstate.context.task_file import TaskFile
    from taskstate.error_codes import ErrorCode
    from taskstate.model.config import Config
    from taskstate.model.static_context import StaticPart
    from taskstate.workspace.workspace import Workspace


class CaptureInput(NamedTuple):
    """The input of a capture; with `rebuild` its sources win over the values of the state file.

    `earlier_task_file` is the version that the task was made from, where it differs and git still has it.
    `config_name` is the name of the configuration file. `cite` returns a section of a standard for a file, a slug and
    the name of the source that cites it, or raises.
    """

    values: Mapping[str, str]
    static: StaticPart
    task_file: TaskFile | None
    config: Config
    config_name: str
    cite: Callable[[str, str, str], CitedSection]
    rebuild: bool = False
    shorten: bool = False
    earlier_task_file: TaskFile | None = None
    task_id: str = ""

    @property
    def task_file_versions(self) -> tuple[TaskFile, ...]:
        """The known versions of the task file: a part of the state file may be an unedited copy of either."""
        return tuple(each for each in (self.earlier_task_file, self.task_file) if each)


_WILDCARDS = frozenset("*?[{")
_WHY: dict[ErrorCode, tuple[str, str]] = {
    "not-found": ("does not exist", "correct its name, or add the file"),
    "path-escapes": ("leads out of the repository", "name a file in it; a link to elsewhere is not followed"),
}
_NAMED = 5  # globs in a message


class Sources:
    """Reads the files of one capture, each once, and records their hashes."""

    def __init__(self, workspace: Workspace) -> None:
        self.workspace = workspace
        self.sha256: dict[str, str] = {}
        self.blob_ids: tuple[str, ...] = ()  # of the task file
        self._standards: dict[str, Standard] = {}
        self.config_name = self._find_config()

    def task_file(self, name: str, missing: str = "") -> TaskFile:
        """Return the values of a task file, whose blob ids are then in `blob_ids`; `missing` is the cure if it is gone.

        Raises:
            TaskstateError: it is not there, leads out, cannot be read, or is wrong.
        """
        try:
            data = self._read(name, f"the task file {files.shown(name)}", task_file.MOST_BYTES)
        except TaskstateError as error:
            if error.code != "not-found" or not missing:
                raise
            raise TaskstateError(error.message, help=missing, code=error.code) from error
        self.blob_ids = task_file.blob_ids(data)
        return task_file.read_task_file(name, data)

    def cite(self, file: str, section: str, source: str) -> CitedSection:
        """Return a section of a standard as it is now; `source` names the file that cites it, for messages.

        Raises:
            TaskstateError: the file is not there, leads out or cannot be read, or has no such heading.
        """
        subject = f"{files.shown(file)}, which {source} cites,"
        if file not in self._standards:
            data = self._read(file, subject, citations.MOST_BYTES)
            self._standards[file] = citations.Standard(decoded(data, subject))
        standard = self._standards[file]
        cited = standard.cited(section)
        if cited is None:
            near = standard.nearest(section)
            message = f"{subject} has no heading with the slug {section!r}"
            again = f"correct the citation in {source}, then give the command again"
            help_ = f"did you mean {file}#{near}? {again}" if near else f"the file has no heading: {again}"
            raise TaskstateError(message, help=help_, code="invalid-input")
        return cited

    def listed(self) -> list[dict[str, str]]:
        """Return path and hash of each file that was read, sorted by path, as the front matter holds them."""
        return [{"path": path, "sha256": self.sha256[path]} for path in sorted(self.sha256)]

    def _read(self, name: str, subject: str, limit: int) -> bytes:
        try:
            data = beginning(self.workspace, name, limit + 1)
        except TaskstateError as error:
            why, help_ = _WHY.get(error.code, (f"cannot be read: {error.message}", error.help))
            raise TaskstateError(f"{subject} {why}", help=help_, code=error.code) from error
        if len(data) > limit:
            message = f"{subject} holds more than {limit // 1024**2} MiB"
            raise TaskstateError(message, help="name a shorter file", code="too-large")
        self.sha256[name] = files.digest(data)
        return data

    def _find_config(self) -> str:
        """Record the configuration file as a source and return its name, or the usual name where there is none."""
        for name in CONFIG_FILES:
            if self.workspace.source.exists(self.workspace.root / name):
                data = self.workspace.source.read(located(self.workspace, name))
                if parse_config(data.decode("utf-8", "replace"), name):
                    self.sha256[name] = files.digest(data)
                    return name
        return CONFIG_FILES[0]


def located(workspace: Workspace, relative: str) -> Path:
    """Return where a file of the repository lies, links followed.

    Raises:
        TaskstateError: code "path-escapes": it lies elsewhere.
    """
    return files.resolved(workspace.root, relative, workspace.source.real)


def beginning(workspace: Workspace, relative: str, length: int) -> bytes:
    """Return at most so many bytes of a file of the repository.

    Raises:
        TaskstateError: it cannot be read; code "path-escapes": it lies elsewhere.
    """
    return workspace.source.read_part(located(workspace, relative), length)


def path_from_root(workspace: Workspace, given: str) -> str:
    """Return the path, from the repository's root, of a file named on the command line.

    Raises:
        TaskstateError: code "path-escapes": it lies elsewhere.
    """
    path, root = Path(os.path.abspath(given)), workspace.root.absolute()
    if not path.is_relative_to(root):  # one of them may be reached through a link
        path, root = path.parent.resolve() / path.name, root.resolve()
    if not path.is_relative_to(root):
        message = f"{files.shown(given)} lies outside the repository"
        raise TaskstateError(message, help="put the task file into it", code="path-escapes")
    return path.relative_to(root).as_posix()


def unmatched_globs(workspace: Workspace, paths: Iterable[str]) -> tuple[str, ...]:
    """Return the globs among the repository paths that match no file of the repository."""
    globs = [path for path in paths if not _WILDCARDS.isdisjoint(path) and not path.lstrip("`").startswith("!")]
    if not globs:
        return ()
    unmatched = {glob: read_scope((glob,), macros={}) for glob in globs}
    for name in _files(workspace):
        for glob in [glob for glob, scope in unmatched.items() if scope.covers(name)]:
            del unmatched[glob]
        if not unmatched:
            break
    return tuple(unmatched)


def unmatched_notes(globs: tuple[str, ...]) -> tuple[str, ...]:
    """Return a remark on globs that match no file, or nothing where there are none."""
    if not globs:
        return ()
    verb = "matches" if len(globs) == 1 else "match"
    return (f"repository paths: {first_of(globs, _NAMED)} {verb} no file of the repository yet",)


def _files(workspace: Workspace) -> Iterable[str]:
    """Yield the paths of the files of a repository that git tracks or does not ignore; all of them without git."""
    root, source = workspace.root, workspace.source
    if not isinstance(source, Disk):
        yield from source.paths(root)
        return
    if git.toplevel(root) is not None:
        try:
            output = git.run(["ls-files", "-z", "--cached", "--others", "--exclude-standard"], root)
        except GitFailed:
            output = b""
        yield from (os.fsdecode(name) for name in output.split(b"\0") if name)
        return
    for each in folders.walk(root, lambda _, name: name not in IGNORED_FOLDERS):
        yield from (os.path.relpath(os.path.join(each.path, name), root).replace(os.sep, "/") for name in each.names)
