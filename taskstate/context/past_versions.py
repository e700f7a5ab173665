"""Finds what was sealed or cited in the versions that are still to be had: those of late, and git's.

A state file keeps hashes and no old texts, so what a hash stood for can only be shown where a version has that hash.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, NamedTuple

from taskstate.context import citations
from taskstate.errors import GitFailed, TaskstateError
from taskstate.model.document_kinds import kind_of
from taskstate.model.static_context import seal_of, static_text
from taskstate.model.write_metadata import front_matter_values
from taskstate.storage import backups
from taskstate.storage.git import client as git
from taskstate.syntax.document import parse

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from taskstate.model.task_state import TaskState
    from taskstate.workspace.workspace import Workspace

_TITLE_LEVEL = 1
_PRIORITIES = ("P0", "P1", "P2", "P3", None)
_MOST_COMMITS = 40  # that are looked through


class SealedVersion(NamedTuple):
    """What was sealed: title, priority and area, and the text of section 1."""

    values: Mapping[str, object]
    text: str


def find_sealed_version(workspace: Workspace, relative: str, seal: str) -> SealedVersion | None:
    """Return what has this seal in an earlier version of a state file, or None where none is found."""
    for data in _versions(workspace, relative):
        found = version_with_seal(data, seal)
        if found is not None:
            return found
    return None


def version_with_seal(data: bytes, seal: str) -> SealedVersion | None:
    """Return what is sealed of a state file if it has this seal."""
    document = parse(data.decode("utf-8", "replace"))
    text, values = static_text(document), front_matter_values(document)
    return SealedVersion(values, text) if text is not None and seal_of(values, text) == seal else None


def guess_sealed_version(state: TaskState, values: Mapping[str, object], text: str, seal: str) -> SealedVersion | None:
    """Return what was sealed if section 1 is as it was then, and title, priority or area can be guessed.

    A file that was changed by hand still has the old title in its title line, and there are few priorities.
    """
    line = next((each.title for each in state.document.sections if each.level == _TITLE_LEVEL), "")
    now = kind_of(state.kind).title_line(task_id=state.id, title="\0").removeprefix("# ").split("\0")
    old = line.removeprefix(now[0]).removesuffix(now[-1])
    for title in dict.fromkeys((values.get("title"), old)):
        for priority in dict.fromkeys((values.get("priority"), *_PRIORITIES)):
            guessed = {"title": title, "priority": priority, "area": values.get("area")}
            if seal_of(guessed, text) == seal:
                return SealedVersion(guessed, text)
    return None


def cited_lines(workspace: Workspace, head: str | None, file: str, section: str, sha: str) -> tuple[str, ...] | None:
    """Return the lines that a citation's hash was taken of, or None where no commit is found that has them."""
    revisions = dict.fromkeys((*([head] if head else ()), *_commits(workspace, file)))
    for data in _at(workspace, tuple(revisions), file):
        lines = citations.Standard(data.decode("utf-8", "replace")).lines(section)
        if lines and citations.content_sha(lines) == sha:
            return lines
    return None


def read_blob(workspace: Workspace, sha: str) -> bytes | None:
    """Return the content that has this id in git, or None where git does not have it."""
    if git.toplevel(workspace.root) is None:
        return None
    objects = git.Objects(workspace.root)
    try:
        return objects.read(sha)
    except GitFailed:
        return None
    finally:
        objects.close()


def _versions(workspace: Workspace, relative: str) -> Iterator[bytes]:
    for version in reversed(backups.of_file(workspace.journal, relative)):
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
