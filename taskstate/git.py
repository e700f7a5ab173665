"""The only caller of git, and the reader of the few facts that git keeps in plain files.

Every command asks for the repository and its HEAD, and starting git costs milliseconds: so these two are read from
`.git` where its form is the ordinary one, and asked of git where it is not. Without git, outside a repository or before
the first commit the answer is None, never a traceback. No name that comes from a user or a file is ever passed to git
where it could be taken for an option: callers put `--end-of-options` or `--` before it.
"""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import TYPE_CHECKING

from taskstate.errors import GitFailed

if TYPE_CHECKING:
    from collections.abc import Sequence

_OBJECT_ID = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")
_VERSION = re.compile(r"git version (\d+(?:\.\d+)*)")
_MESSAGE_LENGTH = 300
# Git sets these for its hooks; what the folder itself says is the same or, for a command that works elsewhere, truer.
# GIT_INDEX_FILE stays: in a pre-commit hook it names the index of the commit that is being made.
_DISCOVERED = ("GIT_DIR", "GIT_WORK_TREE", "GIT_COMMON_DIR", "GIT_PREFIX")
# Messages in English, no prompt, no pager, no lock taken by a command that only reads.
_SETTINGS = {"LC_ALL": "C", "GIT_TERMINAL_PROMPT": "0", "GIT_PAGER": "cat", "GIT_OPTIONAL_LOCKS": "0"}


def run(args: Sequence[str], cwd: Path, *, stdin: bytes = b"") -> bytes:
    """Return what `git ARGS` prints when it is run in the folder `cwd`.

    Raises:
        GitFailed: git is missing, or it ended with another status than 0; its own words are in the message.
    """
    import subprocess

    try:
        done = subprocess.run(
            ["git", *args], cwd=cwd, input=stdin, env=_environment(cwd), capture_output=True, check=False
        )
    except FileNotFoundError as error:
        if not cwd.is_dir():
            raise GitFailed(f"cannot run git in {printable(str(cwd))}: there is no such folder") from error
        raise GitFailed("git was not found", help="install git, or put it on the PATH") from error
    except OSError as error:
        raise GitFailed(f"cannot run git in {printable(str(cwd))}: {error.strerror}") from error
    if done.returncode:
        said = printable(done.stderr.decode("utf-8", "replace")) or f"exit status {done.returncode}"
        raise GitFailed(f"git {printable(' '.join(args[:1]))} failed in {printable(str(cwd))}: {said}")
    return done.stdout


def printable(text: str) -> str:
    """Return `text` on one line, shortened, without the control characters that a terminal would act on."""
    words = "".join(char if char.isprintable() else " " for char in text).split()
    line = " ".join(words)
    return line if len(line) <= _MESSAGE_LENGTH else f"{line[: _MESSAGE_LENGTH - 1]}…"


def toplevel(path: Path) -> Path | None:
    """Return the root of the working tree that holds the folder or file `path`, or None outside of one."""
    found = _discover(path)
    if found or "GIT_DIR" not in os.environ:
        return found
    try:  # a repository whose own folder lies elsewhere, as the environment says
        top = os.fsdecode(run(["rev-parse", "--show-toplevel"], path if path.is_dir() else path.parent))
    except GitFailed:
        return None
    return Path(top.removesuffix("\n")) if top.strip() else None


def head(root: Path) -> str | None:
    """Return the full id of the commit that HEAD names in the repository that holds `root`, or None without one."""
    top = toplevel(root)
    if top is None:
        return None
    folder = _git_folder(top)
    found = _commit_in(folder) if folder else None
    if found:
        return found
    try:  # no commit yet, or a form that is not read here (a symbolic reference to another one, a reftable)
        answer = run(["rev-parse", "--verify", "--quiet", "HEAD^{commit}"], top)
    except GitFailed:
        return None
    return answer.decode("ascii", "replace").strip() or None


def user_name(root: Path) -> str | None:
    """Return the name that git would write into a commit, or None where none is set."""
    try:
        name = run(["config", "--get", "user.name"], root)
    except GitFailed:
        return None
    return printable(name.decode("utf-8", "replace")) or None


def version() -> tuple[int, ...] | None:
    """Return git's version, such as (2, 39, 5), or None where git is missing."""
    try:
        said = run(["version"], Path())
    except GitFailed:
        return None
    found = _VERSION.match(said.decode("utf-8", "replace"))
    return tuple(int(part) for part in found[1].split(".")) if found else None


def _environment(cwd: Path) -> dict[str, str]:
    environment = os.environ | _SETTINGS
    if _discover(cwd):
        return {name: value for name, value in environment.items() if name not in _DISCOVERED}
    return environment


def _discover(path: Path) -> Path | None:
    """Return the nearest folder at or above `path` that is a working tree of git."""
    start = path.absolute()
    return next((folder for folder in (start, *start.parents) if _git_folder(folder)), None)


def _git_folder(top: Path) -> Path | None:
    """Return git's own folder of the working tree `top`: `.git`, or what the `.git` file of a worktree names."""
    entry = top / ".git"
    if not entry.is_dir():
        line = _first_line(entry)
        if not line.startswith("gitdir: "):
            return None
        entry = top / line.removeprefix("gitdir: ")
    return entry if (entry / "HEAD").is_file() or (entry / "HEAD").is_symlink() else None


def _first_line(path: Path) -> str:
    """Return the first line of a small file of git's, or nothing where there is no such plain file."""
    if not path.is_file():
        return ""
    try:
        with path.open("rb") as stream:
            return os.fsdecode(stream.readline(4096)).rstrip("\r\n")
    except OSError:
        return ""


def _commit_in(folder: Path) -> str | None:
    """Return the commit that HEAD names, in the ordinary forms: detached, a loose reference, a packed one."""
    line = _first_line(folder / "HEAD")
    if _OBJECT_ID.fullmatch(line):
        return line
    reference = line.removeprefix("ref: ").strip()
    if not line.startswith("ref: refs/") or ".." in reference:
        return None
    common = folder / (_first_line(folder / "commondir") or ".")
    for place in (folder, common):  # a worktree has a few references of its own
        loose = _first_line(place / reference)
        if _OBJECT_ID.fullmatch(loose):
            return loose
    return _packed(common / "packed-refs", reference)


def _packed(path: Path, reference: str) -> str | None:
    """Return what the list of packed references says of one."""
    if not path.is_file():
        return None
    try:
        lines = os.fsdecode(path.read_bytes())
    except OSError:
        return None
    found = re.search(rf"^({_OBJECT_ID.pattern}) {re.escape(reference)}\r?$", lines, re.MULTILINE)
    return found[1] if found else None


def files(folder: Path) -> tuple[str, ...] | None:
    """Return the files under `folder` that git tracks or does not ignore, relative to it with `/`.

    None outside a repository and without git; a tracked file that was deleted is among them.
    """
    if toplevel(folder) is None:
        return None
    patterns = ("*-state.md", "*-archive.md", "*-impact-map.json", "*-handoff-*.md")
    try:
        listed = run(["ls-files", "-z", "--cached", "--others", "--exclude-standard", "--", *patterns], folder)
    except GitFailed:
        return None
    return tuple(dict.fromkeys(os.fsdecode(name) for name in listed.split(b"\0") if name))
