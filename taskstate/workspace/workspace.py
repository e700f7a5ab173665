"""Finds a repository that uses taskstate, and finds, reads and locks its files.

Changing files is not done here but in `writer`.
"""

from __future__ import annotations

import os
from contextlib import contextmanager, nullcontext
from functools import cached_property
from pathlib import Path

from taskstate.errors import TaskstateError
from taskstate.messages import decoded, quoted
from taskstate.model import names
from taskstate.model.config import Config, matches
from taskstate.storage import files, folders
from taskstate.storage.file_sources import DISK, Disk
from taskstate.storage.git import client as git
from taskstate.storage.private import Private, find_private
from taskstate.typed import TYPE_CHECKING, NamedTuple
from taskstate.workspace import listing
from taskstate.workspace.config_files import config_in, read_text

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
    from contextlib import AbstractContextManager
    from typing import TypeVar

    from taskstate.model.document_kinds import Kinds
    from taskstate.model.task_state import TaskState
    from taskstate.storage.file_sources import Files
    from taskstate.syntax.document import Document

    Each = TypeVar("Each")

KIND_FOLDER = "kinds"  # in the state folder
SET_UP_FILES = frozenset(
    {
        *("taskstate.toml", ".gitignore", ".gitattributes", ".pre-commit-config.yaml"),
        *("AGENTS.md", "CLAUDE.md", "GEMINI.md", ".mcp.json", ".github/workflows/taskstate.yml"),
        *(".claude/settings.json", ".codex/hooks.json", ".codex/config.toml", ".gemini/settings.json"),
        *(".cursor/hooks.json", ".cursor/mcp.json", ".cursor/cli.json"),
    }
)


class _Loaded(NamedTuple):
    relative: str
    data: bytes
    document: Document
    state: TaskState


class Loaded(_Loaded):
    """A state file as it was read: `relative` is its path from the repository's root, with `/`."""

    @cached_property
    def digest(self) -> str:
        """The SHA-256 of the file's bytes."""
        return files.digest(self.data)

    @property
    def token(self) -> str:
        """The compare-and-swap token: the revision and the first digits of the file's hash, as in 14-1a2b3c4d."""
        return f"{self.state.revision}-{self.digest[:8]}"

    def with_text(self, text: str) -> Loaded:
        """Return the file as if this text had been read from it."""
        if text == self.document.text:
            return self
        from taskstate.model.task_state import read_state

        document = self.document.with_text(text)
        return Loaded(self.relative, text.encode(), document, read_state(document, self.state.id))


class _Workspace(NamedTuple):
    root: Path
    config: Config
    is_repository: bool = True
    kinds: Kinds = ()
    source: Files = DISK


def no_task_here(workspace: Workspace, task_id: str) -> TaskstateError:
    """Return the error that there is no such task, or that a sparse checkout leaves its state file out."""
    if not workspace.is_on_disk:
        return no_task(task_id, workspace.ids())
    for name in workspace.left_out if workspace.is_repository else ():
        if names.has_id(name, task_id):
            cure = f"`git checkout --ignore-skip-worktree-bits HEAD -- {quoted(name)}`"
            message = f"the state file of task {task_id} is left out of this sparse checkout"
            return TaskstateError(message, help=f"{cure} brings it here", code="not-found")
    from taskstate.workspace import worktrees

    for root in worktrees.holders(workspace.root, workspace.config.root, task_id):
        branch = git.branch(root) or "none"
        message = f"task {task_id} is not in this worktree, but in {files.shown(root)} (branch {branch})"
        help_ = f"add `--root` to work on it: `taskstate show {task_id} --root {quoted(str(root))}`"
        return TaskstateError(message, help=help_, code="not-found")
    error = no_task(task_id, workspace.ids())
    gone = "; ".join(message for message, _ in worktrees.gone(workspace.root))
    return TaskstateError(error.message, help=f"{error.help}; {gone}", code="not-found") if gone else error


def no_task(task_id: str, known: Iterable[str] = ()) -> TaskstateError:
    """Return the error that there is no such task, which offers the most similar of the `known` ids."""
    from taskstate.messages import closest

    spelt, word = {each.casefold(): each for each in known}, task_id.casefold()
    # Of thousands those that begin alike come first: only so many are compared.
    alike = sorted(spelt, key=lambda each: (each[:2] != word[:2], each[:1] != word[:1]))
    near = spelt.get(closest(word, alike))
    help_ = "`taskstate list` shows the tasks that exist"
    help_ = f"did you mean {near}? ({help_})" if near else help_
    return TaskstateError(f"there is no task {task_id}", help=help_, code="not-found")


def unseen(_doing: str, /) -> AbstractContextManager[Callable[[int, int], None]]:
    """Show nobody how far a long run is."""
    return nullcontext(lambda _done, _all: None)


class Workspace(_Workspace):
    """A repository with its configuration; `root` is the folder that contains the configuration file.

    Where there is neither git nor anything of taskstate's, it is any folder and no repository (`is_repository`).
    `kinds` are the kinds of state files that it declares, besides the built-in ones. What it holds is read from its
    `source`; of a commit nothing is written, and nothing is private to a machine. A `bar` shows how far a run over
    all files is, where a door sets one.
    """

    bar: Callable[[str], AbstractContextManager[Callable[[int, int], None]]] = staticmethod(unseen)

    def counted(self, doing: str, every: Collection[Each]) -> Iterator[Each]:
        """Yield each of a collection, and show who waits at a terminal what is done with them, and with how many."""
        with self.bar(doing) as show:
            for done, each in enumerate(every):
                show(done, len(every))
                yield each

    @cached_property
    def state_root(self) -> Path:
        """The state folder, which contains all that is taskstate's, as a rule `.taskstate`."""
        try:
            return files.inside(self.root, self.config.root, self.source.real)
        except TaskstateError as error:
            if self.is_on_disk and not folders.is_link(self.root / self.config.root):
                raise
            message = f"{files.shown(self.config.root)} is a symbolic link that leads out of the repository"
            help_ = "such links are not followed: replace it by the real folder"
            raise TaskstateError(message, help=help_, code=error.code) from error

    @cached_property
    def _worktrees(self) -> tuple[str, ...]:
        return git.worktrees_inside(self.root) if self.is_repository and self.is_on_disk else ()

    @property
    def tasks(self) -> Path:
        """The folder of the state files."""
        return self.state_root / "tasks"

    def relative(self, path: Path) -> str:
        """Return a path from the repository's root, with `/`.

        Raises:
            TaskstateError: code "path-escapes": it lies elsewhere.
        """
        if not path.is_relative_to(self.root):
            message = f"{files.shown(path)} lies outside of {files.shown(self.root)}"
            raise TaskstateError(
                message, help="run this in its own repository, or name its --root", code="path-escapes"
            )
        return path.relative_to(self.root).as_posix()

    def archive_path(self, task_id: str) -> str:
        """Return the path of a task's archive file from the state folder, the form used in the front matter."""
        return f"archives/task-{task_id}-archive.md"

    def map_file(self, task_id: str) -> Path:
        """Return the path of the file for a task's Impact Map, which is there where the map outgrew its document."""
        return self.tasks / f"task-{task_id}-impact-map.json"

    def locate(self, task_id: str) -> Path:
        """Return the path of a task's state file, which may be anywhere in the repository.

        Raises:
            TaskstateError: code "not-found": there is none; code "duplicate-id": there are several.
        """
        paths = self.files_of(task_id)
        if len(paths) > 1:
            message = f"several state files have the id {task_id}: {', '.join(map(self.relative, paths))}"
            raise TaskstateError(message, help="rename all but one", code="duplicate-id")
        if paths:
            return paths[0]
        raise no_task_here(self, task_id)

    def files_of(self, task_id: str) -> tuple[Path, ...]:
        """Return the state files of a task: the one in its usual place, or else all that there are, in order."""
        if self.source.size(exact := self.tasks / f"task-{task_id}-state.md") is not None:
            return (exact,)
        own = (path for path in self.own_files() if names.has_id(path.name, task_id))
        return tuple(path for path in own if names.own_type(path.name) == "state")

    def state_files(self) -> tuple[Path, ...]:
        """Return the state files of the repository in the natural order of their ids."""
        own = [(path, names.own_file(path.name)) for path in self.own_files()]
        states = [(names.id_key(file.id or ""), str(path), path) for path, file in own if file and file.type == "state"]
        return tuple(path for _, _, path in sorted(states))

    def ids(self) -> list[str]:
        """Return the ids in the names of the state files."""
        found = (names.own_file(path.name) for path in self.state_files())
        return [file.id for file in found if file and file.id]

    @property
    def is_on_disk(self) -> bool:
        """Whether this is a working tree, or a folder, and no commit."""
        return isinstance(self.source, Disk)

    @property
    def left_out(self) -> Mapping[str, str]:
        """The object ids of the own files that a sparse checkout leaves out, by path from the root."""
        from taskstate.storage.git import index  # most runs find all that they look for on the disk

        return index.left_out(self.root) if self.is_on_disk else {}

    def other_texts(self) -> tuple[str, ...]:
        """Return the names of the Markdown files that lie among the state files, and have none of our names."""
        listed = sorted(self.source.names(self.tasks))
        unusual = (name for name in listed if not (name.startswith("task-") and name.endswith("-state.md")))
        texts = (name for name in unusual if name.casefold().endswith((".md", ".markdown")))
        return tuple(name for name in texts if names.own_file(name) is None)

    def own_files(self, under: Path | None = None) -> tuple[Path, ...]:
        """Return taskstate's own files in a folder (default: the repository).

        Outside of the state folder files that git ignores are left out. Where there is no repository nobody has said
        how far one would reach, and the folder may be the root of the disk: then only what lies in it itself.
        """
        folder, deep = under or self.root, under is not None or self.is_repository
        if isinstance(self.source, Disk):
            listed = listing.own_files(folder, self.state_root, deep=deep)
        else:
            listed = listing.own_files_of(self.source, folder, self.state_root)
        listed.sort(key=lambda path: path.split(os.sep))  # as paths sort, in a third of the time
        paths = map(Path, listed)
        return tuple(path for path in paths if not self.excludes(path)) if self.config.exclude else tuple(paths)

    def is_ours(self, relative: str) -> bool:
        """Return whether a path from the repository's root is no content of it, which others work on.

        It is taskstate's own, in the state folder or by its name; or it lies in another worktree of the repository.
        """
        if any(relative == each or relative.startswith(f"{each}/") for each in (self.config.root, *self._worktrees)):
            return True
        return listing.is_own(relative) and not self.excludes(self.root / relative)

    def lists(self, relative: str) -> bool:
        """Return whether a file at a path from the root would be among `own_files`, if git does not ignore it."""
        return listing.is_listed(relative, self.config.root) and not self.excludes(self.root / relative)

    def excludes(self, path: Path) -> bool:
        """Return whether the configuration excludes a file although it has one of our names."""
        if not self.config.exclude or not path.is_relative_to(self.root):
            return False
        return any(matches(self.relative(path), pattern) for pattern in self.config.exclude)

    def read(self, path: Path, lookout: folders.Lookout | None = None) -> bytes:
        """Return the content of a file of the repository.

        Whoever reads thousands of listed files gives a `lookout`: the way to their folder is gone, and looked at, once.

        Raises:
            TaskstateError: it cannot be read; code "path-escapes": it, or what it links to, lies outside.
        """
        if not isinstance(self.source, Disk):
            return self.source.read(path)
        return files.read(path if lookout else files.inside(self.root, self.relative(path)), lookout=lookout)

    def load(self, path: Path, known: Loaded | None = None, lookout: folders.Lookout | None = None) -> Loaded:
        """Read and parse the state file at `path`; `known` is returned where the file still holds the bytes of that.

        A `lookout` is that of `read`.

        Raises:
            TaskstateError: it cannot be read; code "not-utf8": it is not UTF-8.
        """
        data, relative = self.read(path, lookout), self.relative(path)
        if known and (known.relative, known.data) == (relative, data):
            return known
        from taskstate.model.task_state import read_state
        from taskstate.syntax.document import parse

        try:
            document = parse(decoded(data, relative), self.kinds)
        except TaskstateError as error:
            help_ = "convert it to UTF-8, or run `taskstate doctor --fix`, which restores a good text, if one is kept"
            raise TaskstateError(f"{error.message}, so it is damaged", help=help_, code=error.code) from error
        own = names.own_file(path.name)
        state = read_state(document, (own and own.id) or "")
        return Loaded(relative=relative, data=data, document=document, state=state)

    @contextmanager
    def locked(self) -> Iterator[tuple[str, ...]]:
        """Hold the lock of the repository, and yield messages about plans of killed commands, which are finished first.

        This way no command ever plans on a repository in which a change is half done.
        """
        from taskstate.storage import journal, lock

        with lock.locked(self.lock):
            yield journal.recover(self.root, self.private, self.may_write)

    def may_write(self, relative: str) -> bool:
        """Return whether a command may write a file: one of taskstate's own, or one that setting up writes.

        What setting up writes may have another name in the repository, to which a link leads.
        """
        if self.is_ours(relative) or relative in SET_UP_FILES:
            return True
        return any(os.path.realpath(self.root / name) == str(self.root / relative) for name in SET_UP_FILES)

    @property
    def lock(self) -> Path:
        """The file of the lock that every write takes."""
        return self.state_root / "lock"

    @cached_property
    def private(self) -> Private:
        """The folders for what is private to the tool: journal, kept copies, caches."""
        return find_private(self.root, self.state_root) if self.is_on_disk else Private((), None)

    def shown(self, path: Path) -> str:
        """Return a path for a message: from the root, or in full where it lies elsewhere."""
        return files.shown(path.relative_to(self.root).as_posix() if path.is_relative_to(self.root) else path)


def find_workspace(start: Path, *, root: str = "", config_file: str = "", source: Files = DISK) -> Workspace:
    """Return the workspace that contains the folder `start`, or the one given by `root` or `config_file`.

    Its root is the nearest folder upwards with a configuration or a state folder, but none above the root of the git
    repository; else that root, else `start`. All of this is looked for in `source`, but for `config_file`.

    Raises:
        TaskstateError: a given folder or file does not exist, or the configuration or a declaration of a kind is wrong.
    """
    workspace = _find(start, root, config_file, source)._replace(source=source)
    folder = f"{workspace.config.root}/{KIND_FOLDER}"
    if source.exists(workspace.root / folder):  # a link is refused when it is read
        from taskstate.workspace.own_kinds import read_kinds

        return workspace._replace(kinds=read_kinds(workspace.root, folder, source))
    return workspace


def _find(start: Path, root: str, config_file: str, source: Files) -> Workspace:
    if root and not source.is_folder(Path(root).resolve()):
        raise TaskstateError(
            f"there is no folder {files.shown(root)}", help="name the repository's root with --root", code="not-found"
        )
    commit_root = None if isinstance(source, Disk) else source.root
    if config_file:
        from taskstate.model.config_reader import parse_config

        path = Path(config_file).resolve()
        config = parse_config(read_text(DISK, path), path.name)
        return Workspace(Path(root).resolve() if root else commit_root or path.parent, config or Config())
    places = [Path(root).resolve()] if root else [start.resolve(), *start.resolve().parents]
    top = commit_root or (None if root else git.toplevel(start.resolve()))
    other = git.foreign(start.resolve()) if top is None and not root else None
    top = other.top if other else top  # its files are no part of what lies around it
    for folder in places[: places.index(top) + 1] if top in places else places:
        config = config_in(folder, source)
        if config or source.is_folder(folder / Config().root):
            return Workspace(root=folder, config=config or Config())
    is_repository, top = bool(root or top), Path(root).resolve() if root else top or places[0]
    if commit_root is None and git.bare(top):
        raise TaskstateError(
            f"{files.shown(top)} is a bare repository, which has no files",
            help="run this in a clone, or in a worktree of it; `taskstate lint --at HEAD` checks a commit of it here",
            code="bare-repository",
        )
    return Workspace(root=top, config=Config(), is_repository=is_repository)


def require_set_up(workspace: Workspace) -> None:
    """Refuse a repository without a state folder.

    Raises:
        TaskstateError: code "not-set-up".
    """
    if not folders.is_folder(workspace.state_root):
        files.names(workspace.state_root)  # says so where a link or a file is in its place
        raise TaskstateError(
            f"{files.shown(workspace.root)} is not set up for taskstate",
            help="run `taskstate init` there",
            code="not-set-up",
        )
