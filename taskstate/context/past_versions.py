"""Finds the text behind a seal or a citation's hash in earlier versions of a file: kept copies, and git.

A state file keeps hashes and no old texts, so each version is tried until one has the hash.
"""

from __future__ import annotations

from contextlib import suppress

from taskstate.context import citations
from taskstate.errors import GitFailed
from taskstate.model.document_kinds import kind_of
from taskstate.model.static_context import seal_of, static_text
from taskstate.model.write_metadata import front_matter_values
from taskstate.storage.git import client as git
from taskstate.syntax.document import parse
from taskstate.typed import TYPE_CHECKING, NamedTuple
from taskstate.workspace.git_past import commits_of, head_of, name_at, objects_of
from taskstate.writing.ledger import kept_texts

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from taskstate.model.task_state import TaskState
    from taskstate.syntax.document import Document
    from taskstate.workspace.workspace import Workspace

_TITLE_LEVEL = 1
_PRIORITIES = ("P0", "P1", "P2", "P3", None)
_MOST_COMMITS = 40  # that are searched


class SealedVersion(NamedTuple):
    """The sealed values of some version: its front matter, and the text of section 1."""

    values: Mapping[str, object]
    text: str


def find_sealed_version(workspace: Workspace, relative: str, seal: str) -> SealedVersion | None:
    """Return the earlier version of a state file that has this seal, or None where none is found."""
    versions = (
        version_with_seal(parse(data.decode("utf-8", "replace"), workspace.kinds), seal)
        for data in earlier_versions(workspace, relative)
    )
    return next(filter(None, versions), None)


def version_with_seal(document: Document, seal: str) -> SealedVersion | None:
    """Return the sealed values in a version of a state file if they have this seal."""
    text, values = static_text(document), front_matter_values(document)
    return SealedVersion(values, text) if text is not None and seal_of(values, text) == seal else None


def guess_sealed_version(state: TaskState, values: Mapping[str, object], text: str, seal: str) -> SealedVersion | None:
    """Return the sealed values if only the title or the priority changed since, by guessing the old ones.

    A file edited by hand often has the old title in its title line still, and there are few priorities to try.
    """
    title_line = next((each.title for each in state.document.sections if each.level == _TITLE_LEVEL), "")
    affixes = kind_of(state.document).title_line(task_id=state.id, title="\0").removeprefix("# ").split("\0")
    title_in_line = title_line.removeprefix(affixes[0]).removesuffix(affixes[-1])
    for title in dict.fromkeys((values.get("title"), title_in_line)):
        for priority in dict.fromkeys((values.get("priority"), *_PRIORITIES)):
            guessed = {"title": title, "priority": priority, "area": values.get("area")}
            if seal_of(guessed, text) == seal:
                return SealedVersion(guessed, text)
    return None


def cited_lines(workspace: Workspace, head: str | None, file: str, section: str, sha: str) -> tuple[str, ...] | None:
    """Return the lines that a citation's hash was made from, or None where no searched commit has them."""
    revisions = dict.fromkeys((*([head] if head else ()), *_commits(workspace, file)))
    for data in _contents_at(workspace, tuple(revisions), file):
        lines = citations.Standard(data.decode("utf-8", "replace")).lines(section)
        if lines and citations.content_sha(lines) == sha:
            return lines
    return None


def read_blob(workspace: Workspace, sha: str) -> bytes | None:
    """Return the content of a blob in git, or None where git does not have it."""
    if not git.is_repository(workspace.root):
        return None
    with objects_of(workspace) as objects, suppress(GitFailed):
        return objects.read(sha)
    return None


def earlier_versions(workspace: Workspace, relative: str) -> Iterator[bytes]:
    """Yield the earlier contents of a file: the kept copies, newest first, then those in git."""
    yield from kept_texts(workspace, relative)
    yield from _contents_at(workspace, _commits(workspace, relative), relative)


def _commits(workspace: Workspace, relative: str) -> tuple[str, ...]:
    """Return the newest commits that changed a file; none where git fails."""
    try:
        return tuple(commits_of(workspace, relative, (f"-{_MOST_COMMITS}",), head_of(workspace)))
    except GitFailed:
        return ()


def _contents_at(workspace: Workspace, revisions: tuple[str, ...], relative: str) -> Iterator[bytes]:
    """Yield the contents of a file at each of these commits that has it."""
    if not revisions or "\n" in relative:  # a line feed would end the request to `git cat-file --batch`
        return
    with objects_of(workspace) as objects, suppress(GitFailed):
        for data in objects.contents([name_at(workspace, revision, relative) for revision in revisions]):
            if data is not None:
                yield data
