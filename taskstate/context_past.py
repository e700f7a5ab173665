"""Finds what was sealed or cited in the versions that are still to be had: those of late, and git's.

A state file keeps hashes and no old texts, so what a hash stood for can only be shown where a version has that hash.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from taskstate import citations, git, recent
from taskstate.document import parse
from taskstate.errors import GitFailed, TaskstateError
from taskstate.stamp import front_matter_values
from taskstate.static_part import seal_of, static_text

if TYPE_CHECKING:
    from collections.abc import Iterator

    from taskstate.workspace import Workspace

_MOST_COMMITS = 40  # that are looked through


def sealed_text(workspace: Workspace, relative: str, seal: str) -> str | None:
    """Return the static part that has this seal in an earlier version of a state file, or None where none is found."""
    for data in _versions(workspace, relative):
        found = text_with_seal(data, seal)
        if found is not None:
            return found
    return None


def text_with_seal(data: bytes, seal: str) -> str | None:
    """Return the static part of a state file if it has this seal."""
    document = parse(data.decode("utf-8", "replace"))
    text = static_text(document)
    return text if text is not None and seal_of(front_matter_values(document), text) == seal else None


def cited_lines(workspace: Workspace, head: str | None, file: str, section: str, sha: str) -> tuple[str, ...] | None:
    """Return the lines that a citation's hash was taken of, or None where no commit is found that has them."""
    revisions = dict.fromkeys((*([head] if head else ()), *_commits(workspace, file)))
    for data in _at(workspace, tuple(revisions), file):
        lines = citations.Standard(data.decode("utf-8", "replace")).lines(section)
        if lines and citations.content_sha(lines) == sha:
            return lines
    return None


def _versions(workspace: Workspace, relative: str) -> Iterator[bytes]:
    for version in reversed(recent.of_file(workspace.journal, relative)):
        try:
            data = version.read()
        except TaskstateError:  # it may have been dropped this instant
            continue
        if data is not None:
            yield data
    yield from _at(workspace, _commits(workspace, relative), relative)


def _commits(workspace: Workspace, relative: str) -> tuple[str, ...]:
    """Return the newest commits that changed a file, none where git does not tell."""
    try:
        said = git.run(
            ["log", f"-{_MOST_COMMITS}", "--format=%H", "--no-show-signature", "--", f":(literal){relative}"],
            workspace.root,
        )
    except GitFailed:
        return ()
    return tuple(said.decode("ascii", "replace").split())


def _at(workspace: Workspace, revisions: tuple[str, ...], relative: str) -> Iterator[bytes]:
    """Yield what a file held at each of these commits."""
    if not revisions or "\n" in relative:
        return
    objects = git.Objects(workspace.root)
    try:
        for revision in revisions:
            data = objects.read(f"{revision}:./{os.path.normpath(relative).replace(os.sep, '/')}")
            if data is not None:
                yield data
    except GitFailed:
        return
    finally:
        objects.close()
