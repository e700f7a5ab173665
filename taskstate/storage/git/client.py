"""Reads the root and HEAD of a repository without starting git, and asks git for what it alone knows.

Every command needs the root and HEAD, and starting git costs milliseconds: they are read from the files in `.git` where
these have the usual form, and otherwise from git. Without git, outside a repository or before the first commit the
answer is None.
"""

from __future__ import annotations

import os
import re
from pathlib import Path

from taskstate.errors import GitFailed
from taskstate.storage.git.contents import Objects
from taskstate.storage.git.discovery import (
    bare_folder,
    discover,
    first_line,
    foreign,
    foreign_variables,
    git_folder,
    is_linked,
    linked_worktrees,
    small_file,
)
from taskstate.storage.git.process import end_started, is_partial, printable, run, start
from taskstate.typed import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

__all__ = ["DISK", "INDEX", "MINIMUM_VERSION", "OWN_PATTERNS", "SHORT", "GitFolders", "Objects", "branch"]
__all__ += ["bare", "end_started", "folders", "foreign", "has_hook", "head", "hook", "index_of_commit", "index_path"]
__all__ += [
    "is_linked",
    "is_partial",
    "is_repository",
    "is_shallow",
    "is_sparse",
    "merge_heads",
    "operation_in_progress",
    "printable",
]
__all__ += ["require_own_file", "resolve_commit", "run", "start", "start_listing", "toplevel", "user_name"]
__all__ += ["has_worktrees", "version", "worktrees_inside"]

SHORT = 10  # digits of an abbreviated commit, wherever one is shown or written
DISK, INDEX = "", ":"  # where files are now; instead of these, a commit's id
MINIMUM_VERSION = (2, 30)  # the first whose `rev-parse` knows `--end-of-options`
_OBJECT_ID = r"[0-9a-f]{40}(?:[0-9a-f]{24})?"
_VERSION = r"git version (\d+(?:\.\d+)*)"
_OPERATIONS = {
    "MERGE_HEAD": "a merge",
    "rebase-merge": "a rebase",
    "rebase-apply": "a rebase, or the applying of patches",
    "CHERRY_PICK_HEAD": "a cherry-pick",
    "REVERT_HEAD": "a revert",
    "BISECT_LOG": "a bisection",
}
_REFTABLE = "refs/heads/.invalid"  # in HEAD where references are kept in another form
_MERGE_HEAD = "GITHEAD_"  # begins the names of variables in which `git merge` passes its commits to hooks
# These match the names of all our own files (schemas/kinds/files.json), and of some others.
OWN_PATTERNS = ("*-state.md", "*-archive.md", "*-impact-map.json", "*-handoff-*.md", "*-progress.json")


def toplevel(path: Path) -> Path | None:
    """Return the root of the working tree that contains the folder or file `path`, or None outside of one."""
    root = discover(path)
    if root or "GIT_DIR" not in os.environ or foreign(path):
        return root
    try:  # GIT_DIR names a repository that lies elsewhere
        top = os.fsdecode(run(["rev-parse", "--show-toplevel"], path if path.is_dir() else path.parent))
    except GitFailed:
        return None
    return Path(top.removesuffix("\n")) if top.strip() else None


class GitFolders(NamedTuple):
    """The folders of a working tree: its root, its own git folder, and the one that all worktrees share.

    The last two are what git calls GIT_DIR and GIT_COMMON_DIR; they are the same unless it is a linked worktree.
    """

    top: Path
    git_dir: Path
    common_dir: Path


def folders(path: Path) -> GitFolders | None:
    """Return the folders of the working tree that contains `path`; None outside of one."""
    top = toplevel(path)
    if top is None:
        return None
    git_dir = git_folder(top)
    if git_dir is None:  # it lies elsewhere, as GIT_DIR says
        git_dir = top / os.fsdecode(run(["rev-parse", "--absolute-git-dir"], top)).removesuffix("\n")
    common = git_dir / (first_line(git_dir / "commondir") or ".")
    return GitFolders(top, git_dir, Path(os.path.normpath(common)))


def worktrees_inside(root: Path) -> tuple[str, ...]:
    """Return the paths from `root` of the linked worktrees of its repository that lie below it."""
    at = folders(root)
    if at is None:
        return ()
    above = os.path.join(os.path.realpath(root), "")
    inside = (top for _, top, is_there in linked_worktrees(at.common_dir) if is_there and top.startswith(above))
    return tuple(sorted(each.removeprefix(above).replace(os.sep, "/") for each in inside))


def has_worktrees(root: Path) -> bool:
    """Return whether the repository at `root` has, or had, linked worktrees."""
    at = folders(root)
    return at is not None and os.path.isdir(at.common_dir / "worktrees")


def require_own_file(path: Path, written: str) -> None:
    """Refuse to let git write a file of its own that is a link: git follows it, also out of the repository.

    `written` is the command that a person can run instead.

    Raises:
        GitFailed: code "is-link".
    """
    if os.path.islink(path):
        message = f"{printable(str(path))} is a link, and git would write where it leads"
        raise GitFailed(message, help=f"look at it, then run `{written}` yourself", code="is-link")


def index_path(at: GitFolders) -> Path:
    """Return the path of git's index; in a hook the environment names that of the commit being made."""
    name = index_of_commit(at.top)
    return at.top / name if name else at.git_dir / "index"


def index_of_commit(top: Path) -> str:
    """Return the index that git names to the hooks of a commit or a merge in the working tree `top`; empty elsewhere.

    It is relative to `top`.
    """
    name = os.environ.get("GIT_INDEX_FILE", "")
    return name if name and "GIT_INDEX_FILE" not in foreign_variables(top) else ""


def bare(path: Path) -> Path | None:
    """Return the bare repository that `path` lies in, or None."""
    if toplevel(path) is not None:
        return None
    named = os.environ.get("GIT_DIR", "")  # as git names the repository to the hooks of one that is pushed to
    return Path(os.path.abspath(named)) if os.path.isdir(named) and not foreign(path) else bare_folder(path)


def is_repository(path: Path) -> bool:
    """Return whether `path` lies in a repository, with a working tree or without one."""
    return toplevel(path) is not None or bare(path) is not None


def head(root: Path) -> str | None:
    """Return the full id of the commit at HEAD of the repository that contains `root`, or None if there is none."""
    top = toplevel(root)
    if top is None:
        return None
    folder = git_folder(top)
    commit = _read_head(folder) if folder else None
    if commit or (folder and _has_no_commit(folder)):
        return commit
    try:  # a form that `_read_head` does not know (a branch that is a symbolic reference, a reftable)
        output = run(["rev-parse", "--verify", "--quiet", "HEAD^{commit}"], top)
    except GitFailed:
        return None
    return output.decode("ascii", "replace").strip() or None


def user_name(root: Path) -> str | None:
    """Return the configured `user.name`, or None if it is not set."""
    from taskstate.storage.git import settings

    at = folders(root)
    usual = settings.user_name(at.common_dir) if at else ""
    if usual:
        return printable(usual) or None
    try:
        name = run(["config", "--get", "user.name"], root)
    except GitFailed:
        return None
    return printable(name.decode("utf-8", "replace")) or None


def has_hook(root: Path, name: str) -> bool:
    """Return whether git runs a hook of that name in the repository."""
    path = hook(root, name)
    return path is not None and os.access(path, os.X_OK)


def hook(root: Path, name: str) -> Path | None:
    """Return the path at which git looks for a hook of the repository, whether it exists or not; None without git."""
    at = folders(root)
    if at is None:
        return None
    try:
        found = run(["config", "-z", "--show-scope", "--type=path", "--get-all", "core.hooksPath"], root).split(b"\0")
    except GitFailed:  # it is not set
        found = []
    # The scope `command` is the setting with which we start git ourselves.
    paths = [path for scope, path in zip(found[::2], found[1::2], strict=False) if scope != b"command"]
    return at.top / os.fsdecode(paths[-1]) / name if paths else at.common_dir / "hooks" / name


def is_shallow(root: Path) -> bool:
    """Return whether the repository that contains `root` is a shallow clone."""
    at = folders(root)
    git_dir = at.common_dir if at else bare(root)
    return git_dir is not None and os.path.exists(git_dir / "shallow")


def is_sparse(at: GitFolders) -> bool:
    """Return whether a sparse checkout may leave files out of a working tree."""
    return os.path.isfile(at.git_dir / "info" / "sparse-checkout")


def resolve_commit(root: Path, revision: str) -> str:
    """Return the full id of the commit that `revision` names.

    Raises:
        GitFailed: code "no-commit": it names none here; or git is missing.
    """
    if revision.startswith("^"):  # a commit and all before it, to be left out of others
        raise GitFailed(f"{printable(revision)} is not a commit", help="name the commit without ^", code="no-commit")
    # After `:/` git takes everything, also `^{commit}`, for the words to search for. It always gives a commit.
    name = revision if revision.startswith(":/") else f"{revision}^{{commit}}"
    try:
        output = run(["rev-parse", "--verify", "--end-of-options", name], root, code="no-commit")
    except GitFailed as error:
        run(["rev-parse", "--git-dir"], root)  # where git does not work at all, that is the reason
        if error.code != "no-commit":
            raise
        help_ = error.help or "name one that `git log` shows"
        raise GitFailed(f"there is no commit {printable(revision)} here", help=help_, code="no-commit") from error
    return output.decode("ascii", "replace").strip()


def branch(root: Path) -> str | None:
    """Return the name of the branch that is checked out; None if HEAD is detached, and without git."""
    try:
        output = run(["symbolic-ref", "--quiet", "--short", "HEAD"], root)
    except GitFailed:
        return None
    return output.decode("utf-8", "replace").removesuffix("\n") or None


def operation_in_progress(root: Path) -> str | None:
    """Return the operation that git has begun and not finished in this working tree, such as "a merge", or None."""
    at = folders(root)
    found = (operation for name, operation in _OPERATIONS.items() if at and os.path.exists(at.git_dir / name))
    return next(found, None)


def merge_heads(root: Path) -> tuple[str, ...]:
    """Return the ids of the commits that are being merged into HEAD; empty if no merge is in progress.

    When git runs the hook pre-merge-commit it has not written MERGE_HEAD yet; the ids are then in the environment, of
    which nothing says whose they are if the hook works in another repository.
    """
    top = toplevel(root)
    folder = git_folder(top) if top else None
    if folder is None:
        return ()
    try:
        data = small_file(folder / "MERGE_HEAD")
    except OSError:
        data = None
    if data is not None:
        return tuple(line for line in data.decode("ascii", "replace").split() if re.fullmatch(_OBJECT_ID, line))
    if top is None or "GIT_INDEX_FILE" in foreign_variables(top):  # set for hooks, not for a merge driver
        return ()
    named = (name.removeprefix(_MERGE_HEAD) for name in sorted(os.environ) if name.startswith(_MERGE_HEAD))
    return tuple(name for name in named if re.fullmatch(_OBJECT_ID, name) and _has_commit(top, name))


def _has_commit(root: Path, commit: str) -> bool:
    try:
        return bool(run(["rev-parse", "--verify", "--quiet", f"{commit}^{{commit}}"], root))
    except GitFailed:
        return False


def version() -> tuple[int, ...] | None:
    """Return git's version, such as (2, 39, 5), or None if git is missing."""
    try:
        output = run(["version"], Path())
    except GitFailed:
        return None
    match = re.match(_VERSION, output.decode("utf-8", "replace"))
    return tuple(int(part) for part in match[1].split(".")) if match else None


def require_version() -> None:
    """Refuse to go on without a git that is new enough.

    Raises:
        GitFailed: it is missing or too old.
    """
    found = version()
    if found is None or found < MINIMUM_VERSION:
        problem = "git was not found" if found is None else f"git {'.'.join(map(str, found))} is too old"
        oldest = ".".join(map(str, MINIMUM_VERSION))
        raise GitFailed(problem, help=f"install git {oldest} or newer, or put it on the PATH")


def _read_head(folder: Path) -> str | None:
    """Return the commit that HEAD names in one of the usual forms: detached, a loose reference, a packed one."""
    line = first_line(folder / "HEAD")
    if re.fullmatch(_OBJECT_ID, line):
        return line
    reference = line.removeprefix("ref: ").strip()
    if not line.startswith("ref: refs/") or ".." in reference:  # must not lead out of the git folder
        return None
    common = folder / (first_line(folder / "commondir") or ".")
    for references in (folder, common):  # a worktree has a few references of its own, such as `refs/bisect`
        commit = first_line(references / reference)
        if re.fullmatch(_OBJECT_ID, commit):
            return commit
    return _read_packed_reference(common / "packed-refs", reference)


def _has_no_commit(folder: Path) -> bool:
    """Return whether HEAD names a branch that nothing has been committed to; False also where only git can tell."""
    branch = first_line(folder / "HEAD").removeprefix("ref: ").strip()
    common = folder / (first_line(folder / "commondir") or ".")
    if not branch.startswith("refs/heads/") or ".." in branch or branch == _REFTABLE:
        return False
    return not any(map(os.path.lexists, (folder / branch, common / branch, common / "packed-refs")))


def _read_packed_reference(path: Path, reference: str) -> str | None:
    """Return the object id of a reference in the file `packed-refs`, or None."""
    try:
        lines = os.fsdecode(small_file(path) or b"")
    except OSError:
        return None
    match = re.search(rf"^({_OBJECT_ID}) {re.escape(reference)}\r?$", lines, re.MULTILINE)
    return match[1] if match else None


def start_listing(
    folder: Path, patterns: Sequence[str] = OWN_PATTERNS, without: str = ""
) -> Callable[[], tuple[str, ...] | None]:
    """Start listing the files under `folder` that git tracks or does not ignore.

    Returns a function that waits for the paths: relative to `folder`, with `/`, and none in its folder `without`. A
    tracked file that was deleted is among them. Outside a repository and without git it returns None.
    """
    if toplevel(folder) is None:
        return lambda: None
    excluded = (f":(exclude,literal){without}",) if without else ()
    args = ("ls-files", "-z", "--cached", "--others", "--exclude-standard", "--", *patterns, *excluded)
    output = start(args, folder)

    def paths() -> tuple[str, ...] | None:
        try:
            # A file in conflict is listed once for each of its versions.
            return tuple(dict.fromkeys(os.fsdecode(name) for name in output().split(b"\0") if name))
        except GitFailed:
            return None

    return paths
