"""The working tree as it is: what differs in it, and its git tree, found without touching the repository.

Git itself does the work, on a copy of its index and with an object folder of its own, both temporary: so what counts
as a change, what is ignored and how a file is cleaned is git's answer, and index, references and objects of the
repository stay as they are. The copy keeps the index's time stamp, by which git knows the files that it cannot trust.
All paths are from `root`, which may lie below the top of git's working tree; what lies outside of it does not count.
"""

from __future__ import annotations

import os
import re
import zlib
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from taskstate.errors import GitFailed
from taskstate.storage import files
from taskstate.storage.git import client as git

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

_SCRATCH = "taskstate-scratch-"  # begins the name of a temporary place
_DAY = 24 * 60 * 60
_SPARSE_ADD = (2, 34)  # the first git that has `add --sparse`, and that needs it
# No program of the user's that runs beside git, no write but the ones that are asked for, no refusal over line ends.
_ISOLATED = (
    *("-c", "core.fsmonitor=false", "-c", "core.splitIndex=false", "-c", f"core.hooksPath={os.devnull}"),
    *("-c", "core.safecrlf=false", "-c", "add.ignoreErrors=false", "-c", "core.looseCompression=0"),
)
# New content goes into one pack, since making and deleting a file for each takes longer than all else.
_FAST_ADD = ("-c", "core.bigFileThreshold=1", "-c", "pack.compression=1", "-c", "core.fsync=none")
_OPERATIONS = {
    "MERGE_HEAD": "a merge",
    "rebase-merge": "a rebase",
    "rebase-apply": "a rebase, or the applying of patches",
    "CHERRY_PICK_HEAD": "a cherry-pick",
    "REVERT_HEAD": "a revert",
    "BISECT_LOG": "a bisection",
}
_STATUS = ("status", "--porcelain=v1", "-z", "--untracked-files=all", "--no-renames", "--ignore-submodules=none")


class Scratch(NamedTuple):
    """A temporary place in which git works on the files under `root`; `kept` are object folders that it reads."""

    root: Path
    folders: git.GitFolders
    folder: Path
    object_folders: tuple[Path, ...] = ()
    mark: str = ""  # of the index that was copied

    @property
    def own_index(self) -> Path:
        """The temporary index."""
        return self.folder / "index"

    @property
    def objects(self) -> Path:
        """The folder of the objects that are made."""
        return self.folder / "objects"

    @property
    def prefix(self) -> str:
        """The path of `root` from the top of the working tree, with a slash at its end; nothing at the top."""
        below = os.path.relpath(os.path.realpath(self.root), os.path.realpath(self.folders.top)).replace(os.sep, "/")
        return "" if below == "." else f"{below}/"

    @property
    def env(self) -> dict[str, str]:
        """What has git work here."""
        return {"GIT_INDEX_FILE": str(self.own_index), **self.storing(self.objects)}

    def storing(self, folder: Path) -> dict[str, str]:
        """Return what has git put new objects into `folder`, and read all that are known here."""
        known = (self.objects, *self.object_folders, self.folders.common_dir / "objects")
        others = [_quoted_alternate(each) for each in known if each != folder and each.is_dir()]
        given = [each for each in [os.environ.get("GIT_ALTERNATE_OBJECT_DIRECTORIES", "")] if each]
        return {
            "GIT_OBJECT_DIRECTORY": str(folder),
            "GIT_ALTERNATE_OBJECT_DIRECTORIES": os.pathsep.join([*others, *given]),
            "GIT_NO_REPLACE_OBJECTS": "1",
        }

    def run(self, args: Sequence[str], *, stdin: bytes = b"") -> bytes:
        """Return what `git ARGS` prints when it works here.

        Raises:
            GitFailed: it fails.
        """
        return git.run([*_ISOLATED, *args], self.root, stdin=stdin, env=self.env)


@contextmanager
def scratch(root: Path, *kept: Path) -> Iterator[Scratch]:
    """Give a temporary place with a copy of the index; object folders that are not git's own may be read in it too.

    Raises:
        GitFailed: there is no working tree of git here.
    """
    import shutil
    import tempfile

    folders = git.folders(root)
    if folders is None:
        raise GitFailed(f"{git.printable(str(root))} is no working tree of git", help="run `git init` there first")
    with tempfile.TemporaryDirectory(prefix=_SCRATCH, ignore_cleanup_errors=True) as folder:
        made = Scratch(root, folders, Path(folder), kept, index_mark(folders))
        made.objects.mkdir()
        index = _index_path(folders)
        if index.is_file():
            shutil.copy2(index, made.own_index)
        yield made


def sweep(place: Scratch) -> None:
    """Delete the temporary places beside this one that processes of the same user left a day ago or longer.

    Only one that was killed leaves its place; what cannot be deleted stays.
    """
    import shutil

    own = place.folder.stat()
    with suppress(OSError), os.scandir(place.folder.parent) as found:
        for each in found:
            if re.fullmatch(f"{_SCRATCH}[a-z0-9_]{{8}}", each.name) and each.is_dir(follow_symlinks=False):
                status = each.stat(follow_symlinks=False)
                if status.st_uid == own.st_uid and status.st_mtime < own.st_mtime - _DAY:
                    shutil.rmtree(each.path, ignore_errors=True)


def tree_id(root: Path, is_ours: Callable[[str], bool], *, folder: str = "") -> str | None:
    """Return the git tree id of the files under `root` as they are: tracked, and untracked that git does not ignore.

    What `is_ours` says of a path leaves it out; who knows that all of it lies under `folder`, or bears one of our
    names, says so, which saves time. None outside of a working tree.

    Raises:
        GitFailed: git cannot read a file, or is missing.
    """
    if git.toplevel(root) is None:
        return None
    with scratch(root) as place:
        ours = update_index(place, is_ours, folder)
        if ours:
            place.run(
                ["update-index", "-z", "--force-remove", "--stdin"], stdin=b"".join(name + b"\0" for name in ours)
            )
        return write_tree(place)


def update_index(place: Scratch, is_ours: Callable[[str], bool], folder: str) -> tuple[bytes, ...]:
    """Bring the temporary index up to the files as they are, and return those of our own that are in it."""
    sparse = ("--sparse",) if _is_sparse(place.folders) else ()
    _clear_index_flags(place)
    try:
        place.run([*_FAST_ADD, "add", "--all", *sparse, "--", *_pathspecs_without(folder)])
    except GitFailed as error:
        unborn = _repository_without_commit(place, folder)
        if unborn:
            what = f"{unborn} is a repository of its own without a commit, so git cannot take it in"
            help_ = "have git ignore it, make a commit in it, or add it as a submodule"
            raise GitFailed(what, help=help_) from error
        raise GitFailed(error.message, help="mend that, or have git ignore the file") from error
    return _own_paths(place.run(["ls-files", "-z", "--cached", "--", *_own_pathspecs(folder)]), is_ours)


def _repository_without_commit(place: Scratch, folder: str) -> str:
    """Return the path of a repository without a commit among what git does not know yet, or nothing."""
    new = place.run(["ls-files", "-z", "--others", "--exclude-standard", "--", *_pathspecs_without(folder)]).split(
        b"\0"
    )
    nested = (name.removesuffix(b"/") for name in new if name.endswith(b"/"))  # git does not look into those
    found = next((name for name in nested if git.head(place.root / os.fsdecode(name)) is None), b"")
    return git.printable(place.prefix + found.decode("utf-8", "replace")) if found else ""


def _clear_index_flags(place: Scratch) -> None:
    """Take from the temporary index the marks by which git was told not to look at files that are there.

    A file that a sparse checkout leaves out is not there, and stays as the index has it.
    """
    listed = place.run(["ls-files", "-v", "-z", "--cached"])
    marked = re.findall(rb"(?:\A|\0)([a-zS]) ([^\0]+)", listed)
    assumed = [name for letter, name in marked if letter.islower()]
    skipped = [
        name for letter, name in marked if letter in b"Ss" and os.path.lexists(os.fsencode(place.root) + b"/" + name)
    ]
    for mark, names in (("--no-assume-unchanged", assumed), ("--no-skip-worktree", skipped)):
        if names:
            place.run(["update-index", mark, "-z", "--stdin"], stdin=b"".join(name + b"\0" for name in names))


def _own_paths(listed: bytes, is_ours: Callable[[str], bool]) -> tuple[bytes, ...]:
    """Return our own among the paths that git lists."""
    return tuple(name for name in listed.split(b"\0") if name and is_ours(os.fsdecode(name)))


def write_tree(place: Scratch) -> str:
    """Return the tree id of what is in the temporary index under the root."""
    if place.prefix and not place.run(["ls-files", "-z", "--cached", "--", "."]):
        return place.run(["mktree"]).decode("ascii").strip()  # git knows no such folder then
    where = [f"--prefix={place.prefix}"] if place.prefix else []
    return place.run(["write-tree", "--missing-ok", *where]).decode("ascii").strip()


class StagedTree(NamedTuple):
    """What the user's index holds under the root: its tree id, None while something in it conflicts, and our files."""

    tree: str | None
    ours: tuple[bytes, ...]


def start_staged_tree(place: Scratch, is_ours: Callable[[str], bool], folder: str) -> Callable[[], StagedTree]:
    """Return what tells of the user's index, from a copy of it made now; that is found out meanwhile."""
    import shutil

    copy = place.folder / "staged"
    if not place.own_index.is_file():
        return lambda: StagedTree(None, ())
    shutil.copy2(place.own_index, copy)
    env = {**place.env, "GIT_INDEX_FILE": str(copy)}
    where = [f"--prefix={place.prefix}"] if place.prefix else []
    listed = git.start([*_ISOLATED, "ls-files", "-z", "--cached", "--", *_own_pathspecs(folder)], place.root, env=env)
    written = git.start([*_ISOLATED, "write-tree", "--missing-ok", *where], place.root, env=env)

    def answer() -> StagedTree:
        ours = _own_paths(listed(), is_ours)
        try:
            return StagedTree(written().decode("ascii").strip(), ours)
        except GitFailed:
            return StagedTree(None, ours)

    return answer


def dirty_files(root: Path, is_ours: Callable[[str], bool]) -> tuple[str, ...]:
    """Return the paths of the files under `root` that differ from HEAD or that git does not know, without our own.

    None of what git ignores is among them; outside of a working tree there are none.

    Raises:
        GitFailed: git refuses, or is missing.
    """
    folders = git.folders(root)
    if folders is None:
        return ()
    entries = status_entries(git.run([*_ISOLATED, *_STATUS, "--", "."], root))
    prefix = Scratch(root, folders, root).prefix
    paths = {os.fsdecode(path).removeprefix(prefix) for _, path in entries}
    return tuple(sorted(path for path in paths if not is_ours(path)))


def start_status(root: Path, is_ours: Callable[[str], bool], folder: str) -> Callable[[], bytes]:
    """Return what gives git's status report of the files under `root` without our own; git is started now."""
    folders = git.folders(root)
    prefix = Scratch(root, folders, root).prefix if folders else ""
    said = git.start([*_ISOLATED, *_STATUS, "--", *_pathspecs_without(folder)], root)

    def answer() -> bytes:
        entries = status_entries(said())
        return b"".join(
            state + b" " + path + b"\0"
            for state, path in entries
            if not is_ours(os.fsdecode(path).removeprefix(prefix))
        )

    return answer


class SavedIndex(NamedTuple):
    """An index that was kept with a look at the tree, and the folder of the objects that it names."""

    file: Path
    objects: Path


def differs_from_index(root: Path, kept: SavedIndex, is_ours: Callable[[str], bool], folder: str, *, new: bool) -> bool:
    """Return whether files under `root` are not as a kept index says, or, with `new`, git would take in further ones.

    Raises:
        GitFailed: the index cannot be read.
    """
    env = {"GIT_INDEX_FILE": str(kept.file), "GIT_ALTERNATE_OBJECT_DIRECTORIES": _quoted_alternate(kept.objects)}
    if new:
        args = ["ls-files", "-z", "--modified", "--others", "--exclude-standard"]
    else:
        args = ["diff", "--name-only", "-z", "--no-ext-diff", "--no-renames", "--ignore-submodules=dirty", "--relative"]
    said = git.run([*_ISOLATED, *args, "--", *_pathspecs_without(folder)], root, env=env)
    return any(name and not is_ours(os.fsdecode(name)) for name in said.split(b"\0"))


def index_mark(folders: git.GitFolders) -> str:
    """Return what tells one state of the user's index, and of what he alone has git ignore, from another."""
    stats = []
    for path in (_index_path(folders), folders.common_dir / "info" / "exclude"):
        try:
            status = path.stat()
        except OSError:
            continue
        stats.append(f"{status.st_size}-{status.st_mtime_ns}-{status.st_ino}")
    return f"{zlib.crc32(' '.join(stats).encode()):08x}"


class FileOnDisk(NamedTuple):
    """A file as it is on disk: its size and the SHA-256 of its bytes, for a link those of its target."""

    size: int
    sha256: str | None


def file_on_disk(root: Path, path: str) -> FileOnDisk | None:
    """Return what is on disk at a path; None where nothing is, and no hash where it is a folder, as for a submodule.

    Raises:
        TaskstateError: it cannot be read.
    """
    import hashlib
    import stat

    place = os.path.join(root, path)
    with files.os_errors("read", Path(place)):
        try:
            status = os.lstat(place)
        except (FileNotFoundError, NotADirectoryError):
            return None
        if stat.S_ISLNK(status.st_mode):
            target = os.readlink(os.fsencode(place))
            return FileOnDisk(len(target), hashlib.sha256(target).hexdigest())
        if not stat.S_ISREG(status.st_mode):
            return FileOnDisk(0, None)
        with open(place, "rb", buffering=0) as stream:
            return FileOnDisk(status.st_size, hashlib.file_digest(stream, "sha256").hexdigest())


def unmerged(root: Path, is_ours: Callable[[str], bool]) -> tuple[str, ...]:
    """Return the paths under `root` that the user's index has in several versions, for a conflict, without our own.

    Raises:
        GitFailed: git refuses, or is missing.
    """
    listed = git.run([*_ISOLATED, "ls-files", "--unmerged", "-z", "--", "."], root).split(b"\0")
    paths = {os.fsdecode(entry.partition(b"\t")[2]) for entry in listed if entry}
    return tuple(sorted(path for path in paths if not is_ours(path)))


def operation_in_progress(root: Path) -> str | None:
    """Return what git is in the middle of in this working tree, such as "a merge", or None."""
    folders = git.folders(root)
    found = (what for name, what in _OPERATIONS.items() if folders and (folders.git_dir / name).exists())
    return next(found, None)


def status_entries(report: bytes) -> tuple[tuple[bytes, bytes], ...]:
    """Return the two letters and the path of each entry of a status report without renames."""
    return tuple((entry[:2], entry[3:]) for entry in report.split(b"\0") if entry)


def branch(root: Path) -> str | None:
    """Return the name of the branch that is checked out; None where HEAD is detached, and without git."""
    try:
        said = git.run(["symbolic-ref", "--quiet", "--short", "HEAD"], root)
    except GitFailed:
        return None
    return said.decode("utf-8", "replace").removesuffix("\n") or None


def _own_pathspecs(folder: str) -> tuple[str, ...]:
    """Return what names our files to git, and some others; everything where nobody knows where ours are."""
    return (*git.OWN_PATTERNS, f":(literal){folder}") if folder else ()


def _pathspecs_without(folder: str) -> tuple[str, ...]:
    return (".", f":(exclude,literal){folder}") if folder else (".",)


def _index_path(folders: git.GitFolders) -> Path:
    """Return git's index; in a hook the environment names that of the commit being made, from the top."""
    named = os.environ.get("GIT_INDEX_FILE")
    return folders.top / named if named else folders.git_dir / "index"


def _is_sparse(folders: git.GitFolders) -> bool:
    """Return whether git has to be told that files outside of a sparse checkout are meant too."""
    return (folders.git_dir / "info" / "sparse-checkout").is_file() and (git.version() or ()) >= _SPARSE_ADD


def _quoted_alternate(path: Path) -> str:
    """Return a path as git reads it in a list of folders."""
    text = str(path.absolute()).replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'"{text}"'
