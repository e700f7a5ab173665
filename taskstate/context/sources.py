"""What the static part of a task is captured from: its task file, the standards that it cites, the configuration.

Each file that was read is remembered with the hash of its bytes. Read from the disk, as links inside the repository
lead, and never from outside of it.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from taskstate.context import citations, task_file
from taskstate.context.path_scope import read_scope
from taskstate.errors import GitFailed, TaskstateError
from taskstate.messages import decoded, first_of
from taskstate.model.config_reader import parse_config
from taskstate.storage import files
from taskstate.storage.git import client as git
from taskstate.workspace.listing import NEVER_OURS
from taskstate.workspace.workspace import CONFIG_FILES

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from taskstate.context.citations import CitedSection, Standard
    from taskstate.context.task_file import TaskFile
    from taskstate.model.config import Config
    from taskstate.model.static_context import StaticPart
    from taskstate.workspace.workspace import Workspace


class CaptureInput(NamedTuple):
    """What a capture rests on; `anew` where what it comes from goes before what the state file says.

    `before` is the task file as it was when the task was made from it, where that can still be had and differs.
    `settings` is the name of the configuration file. `cite` gives a section of a standard by file, slug and who cites
    it, or raises.
    """

    values: Mapping[str, str]
    static: StaticPart
    given: TaskFile | None
    config: Config
    settings: str
    cite: Callable[[str, str, str], CitedSection]
    anew: bool = False
    shorten: bool = False
    before: TaskFile | None = None

    @property
    def copied(self) -> tuple[TaskFile, ...]:
        """The task file in each of its versions that a part of the state file may be a mere copy of."""
        return tuple(each for each in (self.before, self.given) if each)


_WILDCARDS = frozenset("*?[{")
_WHY = {
    "not-found": ("does not exist", "correct its name, or add the file"),
    "path-escapes": ("leads out of the repository", "name a file in it; a link to elsewhere is not followed"),
}
_NAMED = 5  # globs; of more it is told how many


class Sources:
    """The files that one capture reads, each once."""

    def __init__(self, workspace: Workspace) -> None:
        self.workspace = workspace
        self.sha256: dict[str, str] = {}
        self.blob_ids: tuple[str, ...] = ()  # of the task file
        self._standards: dict[str, Standard] = {}
        self.settings = self._settings()

    def task_file(self, name: str) -> TaskFile:
        """Return what a task file says.

        Raises:
            TaskstateError: it is not there, leads out, cannot be read, or is wrong.
        """
        data = self._read(name, f"the task file {files.shown(name)}", task_file.MOST_BYTES)
        self.blob_ids = task_file.blob_ids(data)
        return task_file.read_task_file(name, data)

    def cite(self, file: str, section: str, source: str) -> CitedSection:
        """Return a section of a standard as it is; `source` says who cites it.

        Raises:
            TaskstateError: the file is not there, leads out or cannot be read, or has no such heading.
        """
        what = f"{files.shown(file)}, which {source} cites,"
        if file not in self._standards:
            data = self._read(file, what, citations.MOST_BYTES)
            self._standards[file] = citations.Standard(decoded(data, what))
        standard = self._standards[file]
        found = standard.cited(section)
        if found is None:
            near = standard.nearest(section)
            message = f"{what} has no heading with the slug {section!r}"
            help_ = f"did you mean {file}#{near}?" if near else "it has no heading at all"
            raise TaskstateError(message, help=help_, code="invalid-input")
        return found

    def listed(self) -> list[dict[str, str]]:
        """Return the files that were read, sorted by path, as the front matter holds them."""
        return [{"path": path, "sha256": self.sha256[path]} for path in sorted(self.sha256)]

    def _read(self, name: str, what: str, most: int) -> bytes:
        try:
            data = files.read_part(files.inside(self.workspace.root, name), 0, most + 1)
        except TaskstateError as error:
            why, help_ = _WHY.get(error.code, (f"cannot be read: {error.message}", error.help))
            raise TaskstateError(f"{what} {why}", help=help_, code=error.code) from error
        if len(data) > most:
            message = f"{what} holds more than {most // 1024**2} MiB"
            raise TaskstateError(message, help="no text that people read is so long: name another", code="too-large")
        self.sha256[name] = files.digest(data)
        return data

    def _settings(self) -> str:
        """Return the name of the configuration file, remembered as a source; the usual one's where there is none."""
        for name in CONFIG_FILES:
            path = self.workspace.root / name
            if path.is_file():
                data = files.read(path)
                if parse_config(data.decode("utf-8", "replace"), name):
                    self.sha256[name] = files.digest(data)
                    return name
        return CONFIG_FILES[0]


def path_from_root(workspace: Workspace, given: str) -> str:
    """Return the path from the repository's root of a file that is named on the command line.

    Raises:
        TaskstateError: code "path-escapes": it lies elsewhere.
    """
    path, root = Path(os.path.abspath(given)), workspace.root.absolute()
    if not path.is_relative_to(root):
        path, root = path.parent.resolve() / path.name, root.resolve()
    if not path.is_relative_to(root):
        what = f"{files.shown(given)} lies outside the repository"
        raise TaskstateError(what, help="put the task file into it", code="path-escapes")
    return path.relative_to(root).as_posix()


def unmatched_globs(workspace: Workspace, paths: Iterable[str]) -> tuple[str, ...]:
    """Return those of the repository paths that are globs and match no file of the repository."""
    globs = [path for path in paths if not _WILDCARDS.isdisjoint(path) and not path.lstrip("`").startswith("!")]
    if not globs:
        return ()
    macros: Mapping[str, tuple[str, ...]] = {}
    left = {glob: read_scope((glob,), macros) for glob in globs}
    for name in _files(workspace.root):
        for glob in [glob for glob, scope in left.items() if scope.covers(name)]:
            del left[glob]
        if not left:
            break
    return tuple(left)


def unmatched_notes(globs: tuple[str, ...]) -> tuple[str, ...]:
    """Return the remark on globs that match nothing, if there are any."""
    if not globs:
        return ()
    verb = "matches" if len(globs) == 1 else "match"
    return (f"repository paths: {first_of(globs, _NAMED)} {verb} no file of the repository yet",)


def _files(root: Path) -> Iterable[str]:
    """Yield the paths of the files under `root` that git tracks or does not ignore; without git all of them."""
    if git.toplevel(root) is not None:
        try:
            listed = git.run(["ls-files", "-z", "--cached", "--others", "--exclude-standard"], root)
        except GitFailed:
            listed = b""
        yield from (os.fsdecode(name) for name in listed.split(b"\0") if name)
        return
    for place, folders, names in os.walk(root):
        folders[:] = sorted(name for name in folders if name not in NEVER_OURS)
        yield from (os.path.relpath(os.path.join(place, name), root).replace(os.sep, "/") for name in names)
