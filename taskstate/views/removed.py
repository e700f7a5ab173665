"""Finds which state files, and archives that a task needs, are gone since the last commit."""

from __future__ import annotations

import os
from contextlib import closing

from taskstate.errors import GitFailed
from taskstate.model.names import own_file, own_type
from taskstate.storage.git import client as git
from taskstate.typed import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Container, Iterator

    from taskstate.lint.diagnostics import Finding
    from taskstate.workspace.workspace import Workspace


def removed(workspace: Workspace, known: Container[str]) -> Iterator[tuple[str, str]]:
    """Yield the state files of open tasks that are gone, but for those that are `known`, with what is said of them.

    That one is missing in the folder of tasks is seen at once; whether it moved, or may be gone, takes longer.
    """
    folder = ["ls-tree", "-z", "--name-only", "HEAD", f"{workspace.relative(workspace.tasks)}/"]
    try:
        committed = git.run(folder, workspace.root).split(b"\0") if git.toplevel(workspace.root) else []
    except GitFailed:  # nothing is committed
        return
    if any(path not in known and own_type(path) == "state" for path in map(os.fsdecode, committed)):
        for each in since_commit(workspace)[0]:
            if own_type(each.path) == "state" and each.path not in known:
                yield each.path, f"{each.diagnostic.message}: {each.diagnostic.help}"


def since_commit(workspace: Workspace) -> tuple[tuple[Finding, ...], tuple[str, ...]]:
    """Return the findings about what is gone since the last commit and is owed, and why not all was looked at."""
    from taskstate.lint.removed import removed_findings
    from taskstate.lint.runner import LintRequest, open_run
    from taskstate.writing import keeping

    request = LintRequest(now="", against=None, remember=False)  # of a removed file nobody asks what time it is
    run, remarks = open_run(workspace, workspace.config, request)
    with closing(run.repository):
        found = [(each, own_file(each.path)) for each in removed_findings(run, [workspace.root])]
    owed = (each for each, own in found if not own or not keeping.is_nothing_owed(workspace, own.id or ""))
    return tuple(owed), tuple(remarks)
