"""Finds the commits to compare the present with: merge bases, what was pushed, and a commit's parents."""

from __future__ import annotations

import os
from contextlib import suppress

from taskstate.errors import GitFailed
from taskstate.storage.git import client as git
from taskstate.storage.git.client import branch
from taskstate.typed import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

# The branch that a pull request goes to, as services name it to a job: GitHub (and Gitea, Forgejo), GitLab, Azure,
# Bitbucket, Jenkins, Buildkite, Drone and Woodpecker.
TARGETS = (
    *("GITHUB_BASE_REF", "CI_MERGE_REQUEST_TARGET_BRANCH_NAME", "SYSTEM_PULLREQUEST_TARGETBRANCH"),
    *("BITBUCKET_PR_DESTINATION_BRANCH", "CHANGE_TARGET", "BUILDKITE_PULL_REQUEST_BASE_BRANCH"),
    *("DRONE_TARGET_BRANCH", "CI_COMMIT_TARGET_BRANCH"),
)
_ORIGIN = "refs/remotes/origin/"
_USUAL = (f"{_ORIGIN}HEAD", f"{_ORIGIN}main", f"{_ORIGIN}master", "refs/heads/main", "refs/heads/master")


def target(root: Path) -> str:
    """Return the commit of the branch that this one goes to: as the service of a job names it, or else the usual one.

    Raises:
        GitFailed: code "no-base": it is not here, or nothing says which one it is.
    """
    variable = next((name for name in TARGETS if os.environ.get(name)), "")
    name = os.environ.get(variable, "").removeprefix("refs/heads/")
    for place in (f"{_ORIGIN}{name}", f"refs/heads/{name}") if name else _USUAL:
        with suppress(GitFailed):
            return git.resolve_commit(root, place)
    unknown = "neither git nor a service says which branch this one goes to"
    message = f"the target branch {git.printable(name)}, which {variable} names, is not here" if name else unknown
    raise GitFailed(message, help="fetch it, or name with `--base REV` what to compare with", code="no-base")


def merge_base(root: Path, commit: str, tip: str) -> str:
    """Return the newest commit that two have in common; unlike that of `base_of` it is the same in every clone.

    Raises:
        GitFailed: code "no-base": there is none here.
    """
    base = _commit(root, [tip, commit])
    if base is None:
        help_ = "`git fetch --unshallow` brings it" if git.is_shallow(root) else "name another one with `--base REV`"
        raise GitFailed(f"HEAD and {commit[: git.SHORT]} have no commit in common here", help=help_, code="no-base")
    return base


def base_of(root: Path, commit: str, tip: str) -> str | None:
    """Return the newest commit that `commit` and the commit `tip` have in common, or None.

    Where the branch that is checked out stood at `commit`, or at one below it, before its commits were made anew (an
    amended commit, a rebase), that place counts: the reflog has it.

    Raises:
        GitFailed: git refuses, or is missing.
    """
    current = branch(root) if tip == git.head(root) else None
    former = ["--fork-point", f"refs/heads/{current}", commit] if current else []
    return (_commit(root, former) if former else None) or _commit(root, [tip, commit])


def _commit(root: Path, arguments: list[str]) -> str | None:
    try:
        output = git.run(["merge-base", *arguments], root, code="no-base")
    except GitFailed as error:
        if error.code == "no-base":
            return None
        raise
    return output.decode("ascii", "replace").split()[0] if output.strip() else None


def pushed(root: Path, tip: str) -> tuple[str, ...]:
    """Return the newest commits at or below the commit `tip` that were pushed; none where nothing was.

    With an upstream branch that is the place where this branch left it. Without one, every remote-tracking branch
    counts, and where branches were merged there may be several places.

    Raises:
        GitFailed: git refuses, or is missing.
    """
    try:
        upstream = git.resolve_commit(root, "@{upstream}")
    except GitFailed as error:
        if error.code != "no-commit":
            raise
    else:
        base = base_of(root, upstream, tip)
        return (base,) if base else ()
    listed = git.run(["rev-list", "--boundary", tip, "--not", "--remotes"], root).decode("ascii", "replace").split()
    return tuple(name[1:] for name in listed if name.startswith("-")) if listed else (tip,)


def parents(root: Path, commit: str) -> tuple[str, ...]:
    """Return the parents of a commit; none of the first one, or where a shallow clone lacks them.

    Raises:
        GitFailed: git refuses, or is missing.
    """
    return tuple(git.run(["rev-list", "--parents", "-1", commit], root).decode("ascii", "replace").split()[1:])
