"""Computes the git tree of the working tree as it is, and what differs in it, without changing the repository.

Git itself does the work, on a temporary copy of its index and with a temporary object folder: git decides what counts
as a change, what is ignored and how a file is cleaned, and the index, references and objects of the repository stay as
they are (docs/decisions/015). All paths are relative to `root`, which may lie below the root of git's working tree;
what lies outside of `root` does not count.
"""

from __future__ import annotations

import os
import re
import zlib
from contextlib import contextmanager, suppress
from pathlib import Path

from taskstate.errors import GitFailed
from taskstate.storage import folders
from taskstate.storage.git import client as git
from taskstate.storage.git.discovery import foreign_variables
from taskstate.typed import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

_SCRATCH = "taskstate-scratch-"  # begins the name of a scratch area
_ALTERNATES = "GIT_ALTERNATE_OBJECT_DIRECTORIES"  # the variable of further folders of objects
_DAY = 24 * 60 * 60
_SPARSE_ADD = (2, 34)  # the first git that has `add --sparse`, and that needs it
# Settings of the user's that would write a second index file (a split index), refuse files because of their line ends,
# or pass over files that cannot be read. Compression is off, since the objects are deleted again soon.
_ISOLATED = (
    *("-c", "core.splitIndex=false", "-c", "core.safecrlf=false"),
    *("-c", "add.ignoreErrors=false", "-c", "core.looseCompression=0"),
)
# bigFileThreshold=1 makes git write new content into one pack: making and deleting a file for each object takes longer
# than everything else. What is temporary is not synced.
_FAST_ADD = ("-c", "core.bigFileThreshold=1", "-c", "pack.compression=1", "-c", "core.fsync=none")
_STATUS = ("status", "--porcelain=v1", "-z", "--untracked-files=all", "--no-renames", "--ignore-submodules=none")


class Scratch(NamedTuple):
    """A scratch area: a temporary folder with an index and objects, in which git works on the files under `root`.

    `object_folders` are further folders of objects that it reads, such as a snapshot's pack.
    """

    root: Path
    folders: git.GitFolders
    folder: Path
    object_folders: tuple[Path, ...] = ()
    mark: str = ""  # the `index_mark` of the index that was copied

    @property
    def own_index(self) -> Path:
        """The temporary index."""
        return self.folder / "index"

    @property
    def objects(self) -> Path:
        """The folder for new objects."""
        return self.folder / "objects"

    @property
    def prefix(self) -> str:
        """The path of `root` from the root of the working tree, ending with a slash; empty if they are the same."""
        below = os.path.relpath(os.path.realpath(self.root), os.path.realpath(self.folders.top)).replace(os.sep, "/")
        return "" if below == "." else f"{below}/"

    @property
    def env(self) -> dict[str, str]:
        """The environment variables that make git use the temporary index and objects."""
        return {"GIT_INDEX_FILE": str(self.own_index), **self.storing(self.objects)}

    def storing(self, folder: Path) -> dict[str, str]:
        """Return the environment variables that make git write new objects into `folder` and read all others."""
        readable = (self.objects, *self.object_folders, self.folders.common_dir / "objects")
        alternates = [_quoted_alternate(each) for each in readable if each != folder and each.is_dir()]
        inherited = "" if _ALTERNATES in foreign_variables(self.folders.top) else os.environ.get(_ALTERNATES, "")
        return {
            "GIT_OBJECT_DIRECTORY": str(folder),
            _ALTERNATES: os.pathsep.join([*alternates, *filter(None, [inherited])]),
            "GIT_NO_REPLACE_OBJECTS": "1",
        }

    def run(self, args: Sequence[str], *, stdin: bytes = b"") -> bytes:
        """Run `git ARGS` on the temporary index and objects, and return its output.

        Raises:
            GitFailed: it fails.
        """
        return git.run([*_ISOLATED, *args], self.root, stdin=stdin, env=self.env)


@contextmanager
def scratch(root: Path, *object_folders: Path) -> Iterator[Scratch]:
    """Yield a scratch area with a copy of the index; `object_folders` can be read in it besides git's own objects.

    Raises:
        GitFailed: `root` is not in a working tree of git.
    """
    import shutil

    from taskstate.storage import temporary

    at = git.folders(root)
    if at is None:
        raise GitFailed(f"{git.printable(str(root))} is not a working tree of git", help="run `git init` there first")
    # In the working tree, where some sandboxes have their temporary files, it would count as work.
    where = at.git_dir if temporary.is_inside(at.top) and not temporary.is_inside(at.git_dir) else None
    with temporary.folder(_SCRATCH, where) as folder:
        # The mark is taken before the copy: if the index changes in between, the mark fits neither, which costs time
        # later. The other way round it would vouch for a copy that is too old.
        area = Scratch(root, at, Path(folder), object_folders, index_mark(at))
        area.objects.mkdir()
        index = git.index_path(at)
        if os.path.isfile(index):
            # copy2 keeps the time stamp: files that were changed at that time or later git reads again, since their
            # size and times in the index may be those of older content.
            shutil.copy2(index, area.own_index)
        try:
            yield area
        except KeyboardInterrupt:  # git that nobody waits for would write into the folder while it is deleted
            git.end_started()
            raise


def sweep(place: Scratch) -> None:
    """Delete the scratch areas that killed processes of the same user left a day ago or longer, as far as possible."""
    import shutil

    own = place.folder.stat()
    with suppress(OSError), os.scandir(place.folder.parent) as entries:
        for each in entries:
            if re.fullmatch(f"{_SCRATCH}[a-z0-9_]{{8}}", each.name) and each.is_dir(follow_symlinks=False):
                status = each.stat(follow_symlinks=False)
                if status.st_uid == own.st_uid and status.st_mtime < own.st_mtime - _DAY:
                    shutil.rmtree(each.path, ignore_errors=True)


def tree_id(root: Path, is_ours: Callable[[str], bool], *, folder: str = "") -> str | None:
    """Return the tree id of the files under `root` as they are now, tracked or neither tracked nor ignored.

    Files for which `is_ours` is true are left out. `folder` names the state folder, if all of these lie in it or have
    one of our names, which saves time. Outside of a working tree the result is None.

    Raises:
        GitFailed: git cannot read a file, or is missing.
    """
    if git.toplevel(root) is None:
        return None
    with scratch(root) as place:
        ours = b"".join(name + b"\0" for name in update_index(place, is_ours, folder))
        if folder:
            ours += place.run(["ls-files", "-z", "--cached", "--", f":(literal){folder}"])
        if ours:
            place.run(["update-index", "-z", "--force-remove", "--stdin"], stdin=ours)
        return write_tree(place)


def update_index(place: Scratch, is_ours: Callable[[str], bool], folder: str) -> tuple[bytes, ...]:
    """Stage all files in the temporary index as they are now; return the state folder and our own files beside it."""
    sparse = ("--sparse",) if _is_sparse(place.folders) else ()
    _clear_index_flags(place)
    try:
        _add_all(place, (*_FAST_ADD, "add", "--all", *sparse, "--"), folder)
    except GitFailed as error:
        unborn = _repository_without_commit(place, folder)
        if unborn:
            message = f"{unborn} is a repository of its own without a commit, so git cannot take it in"
            help_ = "have git ignore it, make a commit in it, or add it as a submodule"
            raise GitFailed(message, help=help_) from error
        raise GitFailed(error.message, help="fix that, or have git ignore the file") from error
    listed = place.run(["ls-files", "-z", "--cached", "--", *_own_pathspecs(place.root, folder)])
    return _own_paths(listed, is_ours, folder)


def _add_all(place: Scratch, command: tuple[str, ...], folder: str) -> None:
    """Stage all files; those in `folder` may be among them, since the caller removes them."""
    try:
        place.run([*command, *_pathspecs_without(place.root, folder)])
    except GitFailed:
        if not folder:
            raise
        # `git add` refuses a pathspec that excludes a folder which git ignores.
        place.run([*command, "."])


def _repository_without_commit(place: Scratch, folder: str) -> str:
    """Return the path of an untracked folder that is a repository without a commit; empty if there is none."""
    new = place.run(
        ["ls-files", "-z", "--others", "--exclude-standard", "--", *_pathspecs_without(place.root, folder)]
    ).split(b"\0")
    nested = (name.removesuffix(b"/") for name in new if name.endswith(b"/"))  # only a repository is listed as a folder
    unborn = next((name for name in nested if git.head(place.root / os.fsdecode(name)) is None), b"")
    return git.printable(place.prefix + unborn.decode("utf-8", "replace")) if unborn else ""


def _clear_index_flags(place: Scratch) -> None:
    """Remove the flags assume-unchanged and skip-worktree, with which git would not look at files that exist.

    A file that a sparse checkout leaves out does not exist on disk, and keeps its flag: else it would count as deleted.
    """
    output = place.run(["ls-files", "-v", "-z", "--cached"])
    flagged = re.findall(rb"(?:\A|\0)([a-zS]) ([^\0]+)", output)  # lower case: assume-unchanged; S: skip-worktree
    assumed = [name for letter, name in flagged if letter.islower()]
    skipped = [name for letter, name in flagged if letter in b"Ss" and folders.exists(place.root / os.fsdecode(name))]
    for option, names in (("--no-assume-unchanged", assumed), ("--no-skip-worktree", skipped)):
        if names:
            place.run(["update-index", option, "-z", "--stdin"], stdin=b"".join(name + b"\0" for name in names))


def _own_paths(listed: bytes, is_ours: Callable[[str], bool], folder: str) -> tuple[bytes, ...]:
    """Return the state folder, which is ours as a whole, and the paths of our own files among those in git's output."""
    found = (name for name in listed.split(b"\0") if name and is_ours(os.fsdecode(name)))
    return (*filter(None, [os.fsencode(folder)]), *found)


def write_tree(place: Scratch) -> str:
    """Write the tree of the temporary index under the root, and return its id."""
    # `write-tree --prefix` fails for a folder without files in the index. `mktree` without input makes an empty tree.
    if place.prefix and not place.run(["ls-files", "-z", "--cached", "--", "."]):
        return place.run(["mktree"]).decode("ascii").strip()
    where = [f"--prefix={place.prefix}"] if place.prefix else []
    return place.run(["write-tree", "--missing-ok", *where]).decode("ascii").strip()


def refused_paths(place: Scratch, objects: Mapping[str, str]) -> tuple[str, ...]:
    """Return the paths among these, given with their object ids, that git would never check out.

    A tree may hold any name. As a file `.git`, in any spelling that a file system takes for it, it would lead whoever
    runs git beside it to another repository, with a configuration that names programs. Git itself knows the spellings:
    it takes no such path into an index.
    """
    env = {**place.env, "GIT_INDEX_FILE": str(place.folder / "names")}
    names = b"".join(b"100644 %s\t%s\0" % (each.encode(), os.fsencode(path)) for path, each in objects.items())
    protected = (*_ISOLATED, "-c", "core.protectHFS=true", "-c", "core.protectNTFS=true")
    with suppress(GitFailed):
        git.run([*protected, "update-index", "-z", "--index-info"], place.root, stdin=names, env=env)
        taken = git.run([*protected, "ls-files", "-z", "--full-name", "--cached", ":/"], place.root, env=env).split(
            b"\0"
        )
        return tuple(path for path in objects if os.fsencode(path) not in taken)
    return tuple(objects)


class StagedTree(NamedTuple):
    """The user's index under the root: its tree id, None while a file is in conflict, and what of it is ours."""

    tree: str | None
    ours: tuple[bytes, ...]


def start_staged_tree(place: Scratch, is_ours: Callable[[str], bool], folder: str) -> Callable[[], StagedTree]:
    """Start writing the tree of the user's index, as copied now; returns a function that waits for the result."""
    import shutil

    copy = place.folder / "staged"
    if not place.own_index.is_file():
        return lambda: StagedTree(None, ())
    shutil.copy2(place.own_index, copy)
    env = {**place.env, "GIT_INDEX_FILE": str(copy)}
    where = [f"--prefix={place.prefix}"] if place.prefix else []
    listing = git.start(
        [*_ISOLATED, "ls-files", "-z", "--cached", "--", *_own_pathspecs(place.root, folder)], place.root, env=env
    )
    tree = git.start([*_ISOLATED, "write-tree", "--missing-ok", *where], place.root, env=env)

    def wait() -> StagedTree:
        ours = _own_paths(listing(), is_ours, folder)
        try:
            return StagedTree(tree().decode("ascii").strip(), ours)
        except GitFailed:
            return StagedTree(None, ours)

    return wait


def dirty_files(root: Path, is_ours: Callable[[str], bool]) -> tuple[str, ...]:
    """Return the paths of the files under `root` that differ from HEAD or are untracked, without our own.

    Ignored files are not among them. Outside of a working tree there are none.

    Raises:
        GitFailed: git refuses, or is missing.
    """
    at = git.folders(root)
    if at is None:
        return ()
    entries = status_entries(git.run([*_ISOLATED, *_STATUS, "--", "."], root))
    prefix = Scratch(root, at, root).prefix
    paths = {os.fsdecode(path).removeprefix(prefix) for _, path in entries}
    return tuple(sorted(path for path in paths if not is_ours(path)))


def start_status(root: Path, is_ours: Callable[[str], bool], folder: str) -> Callable[[], bytes]:
    """Start `git status` for the files under `root`; returns a function that waits for its report without our own."""
    at = git.folders(root)
    prefix = Scratch(root, at, root).prefix if at else ""
    output = git.start([*_ISOLATED, *_STATUS, "--", *_pathspecs_without(root, folder)], root)

    def wait() -> bytes:
        entries = status_entries(output())
        return b"".join(
            state + b" " + path + b"\0"
            for state, path in entries
            if not is_ours(os.fsdecode(path).removeprefix(prefix))
        )

    return wait


class SavedIndex(NamedTuple):
    """An index that was saved with a snapshot, and the folder of the objects that it names."""

    file: Path
    objects: Path


def differs_from_index(
    root: Path, saved: SavedIndex, is_ours: Callable[[str], bool], folder: str, *, new: bool
) -> bool:
    """Return whether files under `root` differ from a saved index; `new`: untracked files count as a difference too.

    Raises:
        GitFailed: the index cannot be read.
    """
    env = {"GIT_INDEX_FILE": str(saved.file), _ALTERNATES: _quoted_alternate(saved.objects)}
    if new:
        args = ["ls-files", "-z", "--modified", "--others", "--exclude-standard"]
    else:
        args = ["diff", "--name-only", "-z", "--no-ext-diff", "--no-renames", "--ignore-submodules=dirty", "--relative"]
    output = git.run([*_ISOLATED, *args, "--", *_pathspecs_without(root, folder)], root, env=env)
    return any(name and not is_ours(os.fsdecode(name)) for name in output.split(b"\0"))


def index_mark(at: git.GitFolders) -> str:
    """Return a text that changes when the user's index or `.git/info/exclude` does."""
    stats = []
    for path in (git.index_path(at), at.common_dir / "info" / "exclude"):
        try:
            status = path.stat()
        except OSError:
            continue
        stats.append(f"{status.st_size}-{status.st_mtime_ns}-{status.st_ino}")
    return f"{zlib.crc32(' '.join(stats).encode()):08x}"


def unmerged(root: Path) -> tuple[str, ...]:
    """Return the paths under `root` that are in conflict in the user's index, our own among them.

    Raises:
        GitFailed: git refuses, or is missing.
    """
    listed = git.run([*_ISOLATED, "ls-files", "--unmerged", "-z", "--", "."], root).split(b"\0")
    return tuple(sorted({os.fsdecode(entry.partition(b"\t")[2]) for entry in listed if entry}))


def status_entries(report: bytes) -> tuple[tuple[bytes, bytes], ...]:
    """Return the two letters and the path of each entry of a status report without renames."""
    return tuple((entry[:2], entry[3:]) for entry in report.split(b"\0") if entry)


def _own_pathspecs(root: Path, folder: str) -> tuple[str, ...]:
    """Return pathspecs of at least what is left out beside `folder`; none, which means all files, if that is empty."""
    others = (f":(literal){each}" for each in git.worktrees_inside(root))
    return (*git.OWN_PATTERNS, *others, f":(exclude,literal){folder}") if folder else ()


def _pathspecs_without(root: Path, folder: str) -> tuple[str, ...]:
    """Return the pathspecs of all files under `root`, except those in `folder` and in linked worktrees."""
    others = (*filter(None, [folder]), *git.worktrees_inside(root))
    return (".", *(f":(exclude,literal){each}" for each in others))


def _is_sparse(at: git.GitFolders) -> bool:
    """Return whether `git add` needs the option `--sparse` to add files outside of a sparse checkout."""
    return git.is_sparse(at) and (git.version() or ()) >= _SPARSE_ADD


def _quoted_alternate(path: Path) -> str:
    """Return a path quoted for GIT_ALTERNATE_OBJECT_DIRECTORIES, where a colon would end an unquoted one."""
    text = str(path.absolute()).replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'"{text}"'
