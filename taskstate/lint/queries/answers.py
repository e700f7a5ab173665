"""Answers the queries of rules from disk and git, and records each query with a mark of its answer for the cache.

A mark is cheap to compute and changes whenever the answer would; the answer itself may need other files to be read and
parsed. To check whether a cached result is valid, only the marks are computed again.
"""

from __future__ import annotations

from taskstate.lint.queries import artifacts, context, handoffs, permanent, tasks
from taskstate.lint.queries.interface import Queries
from taskstate.lint.queries.repository import File
from taskstate.typed import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from taskstate.context.citations import Standard
    from taskstate.handoff.document import WrittenHandoff
    from taskstate.lint.queries.repository import Repository
    from taskstate.model.chain_quotes import Upstream
    from taskstate.syntax.document import Document

DEPENDENCY_PATH = "dependency_path"
Question = tuple[str, ...]  # the name of the query in MARKS, and its arguments

# The function that computes the mark of each query's answer, from the file and the arguments of the query.
MARKS: Mapping[str, Callable[..., str]] = {
    "active_permanent": permanent.active_mark,
    "archive": tasks.archive_mark,
    "artifact": artifacts.content_mark,
    "blob_ids": context.source_mark,
    "changed_paths": tasks.changed_paths_mark,
    "earlier": tasks.earlier_mark,
    "earlier_archive": tasks.earlier_archive_mark,
    "versions_before": tasks.versions_before_mark,
    "excerpt": context.excerpt_mark,
    "exists": artifacts.exists_mark,
    "handoffs": handoffs.documents_mark,
    "matches": artifacts.matches_mark,
    "has_artifact": artifacts.presence_mark,
    "impact_map": permanent.impact_map_mark,
    "map_digest": permanent.map_digest_mark,
    "has_log": artifacts.log_mark,
    "is_future": tasks.is_future_mark,
    "leads_outside": artifacts.leads_outside_mark,
    "missing_commits": tasks.missing_commits_mark,
    "removed_task": tasks.removed_task_mark,
    "same_id": tasks.same_id_mark,
    "standard": context.source_mark,
    "upstream": tasks.upstream_mark,
    "completion_gaps": tasks.completion_gaps_mark,
    "damage": tasks.damage_mark,
    DEPENDENCY_PATH: tasks.dependency_path_mark,
}


# Queries whose answer is the same for every file of a run: each is asked once.
_SHARED = frozenset({DEPENDENCY_PATH, "exists", "is_future", "leads_outside", "matches", "missing_commits", "upstream"})


class RepositoryQueries(Queries):
    """The answers about one file; `recorded` holds the queries made so far, each with the mark of its answer."""

    def __init__(self, repository: Repository, path: Path) -> None:
        self.answerable = repository.answerable
        self.kinds = repository.workspace.kinds
        self.recorded: dict[Question, str] = {}
        self.file = File(repository, path)

    def mark(self, question: Question) -> str:
        """Return the current mark of a query's answer."""
        memo: dict[Question, str] = self.file.repository.memo
        mark = memo.get(question)
        if mark is None:
            name, *arguments = question
            mark = MARKS[name](self.file, *arguments)
            if name in _SHARED:
                memo[question] = mark
        return mark

    def _record(self, *question: str) -> str:
        """Record a query with its mark, and return the mark.

        Call it before the answer is read: a change in between then makes the mark outdated, and not the answer.
        """
        if question not in self.recorded:
            self.recorded[question] = self.mark(question)
        return self.recorded[question]

    def begin(self, document: Document) -> None:
        """Keep the file's document for the repository's answers."""
        self.file.repository.checked = (self.file.path, document)

    # The task: its files, their past, other tasks, commits

    def is_future(self, moment: str) -> bool | None:
        """Compare a timestamp with the time of the run; what is past stays so, and need not be asked again."""
        return self.mark(("is_future", moment)) == "yes" and self._record("is_future", moment) == "yes"

    def damage(self) -> str | None:
        """Compare the file with what its archive and the last write hold."""
        return self._record("damage")

    def is_damaged(self, text: str) -> bool:
        """Compare another text of the file with what its archive and the last write hold."""
        return tasks.is_damaged(self.file, text)

    def completion_gaps(self) -> tuple[tuple[str, str], ...] | None:
        """Ask what completing the task asks."""
        found = (line.partition("\t") for line in self._record("completion_gaps").splitlines())
        return tuple((key, words) for key, _, words in found)

    def archive(self) -> tuple[Document, ...] | None:
        """Read the archive file of the task."""
        if self.file.archive_path is None:
            return None
        self._record("archive")
        return tasks.archive(self.file)

    def earlier(self, now: Document | None = None) -> tuple[Document, ...] | None:
        """Read the file at the compared revision."""
        history = self.file.repository.history
        if history is None:
            return None
        self._record("earlier")
        return history.documents(self.file.path, now)

    def earlier_names(self) -> tuple[str, ...] | None:
        """Return git's names for the results of `earlier`, whose mark includes the names."""
        history = self.file.repository.history
        if history is None:
            return None
        self._record("earlier")
        return history.names(self.file.path)

    def versions_before(self, parent: int) -> tuple[Document, ...]:
        """Read what the commits before the compared one have of the file."""
        history = self.file.repository.history
        if history is None:
            return ()
        self._record("versions_before")
        return tuple(history.versions_before(self.file.path, parent))

    def earlier_archive(self) -> tuple[Document, ...] | None:
        """Read the task's archive file at the compared revision."""
        history, path = self.file.repository.history, self.file.archive_path
        if history is None or path is None:
            return None
        self._record("earlier_archive")
        return history.documents(path, *(tasks.archive(self.file) or ()))

    def changed_paths(self) -> tuple[str, ...] | None:
        """List the files that differ from the compared revision."""
        history = self.file.repository.history
        if history is None:
            return None
        self._record("changed_paths")
        return history.changed_paths

    def same_id(self) -> tuple[str, ...] | None:
        """List the other state files that have this file's id."""
        if not self.file.id:
            return None
        mark = self._record("same_id", self.file.id.casefold())
        return tuple(mark.split("\n")) if mark else ()

    def active_permanent(self) -> tuple[str, ...] | None:
        """List the other active permanent tasks."""
        return tuple(self._record("active_permanent").split())

    def impact_map(self) -> str | None:
        """Hash the file that holds the Impact Map."""
        self._record("impact_map")
        return permanent.impact_map(self.file)

    def map_digest(self) -> str | None:
        """Read the hash of the Impact Map in the state file of the task."""
        return self._record("map_digest")

    def upstream(self, task_id: str) -> tuple[Upstream, ...] | None:
        """Read the state files of another task."""
        self._record("upstream", task_id.casefold())
        return tasks.upstream(self.file, task_id.casefold())

    def removed_task(self, task_id: str) -> tuple[str, ...] | None:
        """Find the state file of a task among those that are gone since the compared revision."""
        mark = self._record("removed_task", task_id.casefold())
        return tuple(mark.split("\n")) if mark else ()

    def dependency_path(self, task_id: str) -> tuple[str, ...] | None:
        """Find a shortest path along `depends_on` from a task back to this file's."""
        if not self.file.id:
            return None
        return tuple(self._record(DEPENDENCY_PATH, task_id.casefold(), self.file.id.casefold()).split())

    def missing_commits(self, ids: tuple[str, ...]) -> tuple[str, ...] | None:
        """List those of these commits that the repository lacks."""
        mark = self._record("missing_commits", *ids)
        return tuple(mark.split()) if mark != tasks.UNKNOWN else None

    # Paths and artifacts

    def leads_outside(self, path: str) -> bool | None:
        """Return whether a path goes through a link that leads outside the repository."""
        return self._record("leads_outside", path) == "yes"

    def exists(self, path: str) -> bool | None:
        """Return whether a path exists in the repository."""
        return self._record("exists", path) == "yes"

    def matches(self, glob: str) -> bool | None:
        """Look for a file that a glob covers."""
        return self._record("matches", glob) == "yes"

    def artifact(self, path: str, *, diff: bool = False) -> str | None:
        """Hash the content of an artifact."""
        self._record("artifact", path, "diff" if diff else "")
        return artifacts.content_hash(self.file, path, diff=diff)

    def artifact_text(self, path: str) -> bytes | None:
        """Read the content of an artifact."""
        self._record("artifact", path, "")
        return artifacts.content(self.file, path)

    def has_artifact(self, path: str) -> bool | None:
        """Return whether there is an artifact with that path; None where no artifact can have it."""
        mark = self._record("has_artifact", path)
        return None if mark == artifacts.NO_ARTIFACT else mark == "yes"

    def has_log(self, sha256: str) -> bool | None:
        """Return whether the task's artifacts hold a log with this hash."""
        mark = self._record("has_log", sha256)
        return None if mark == artifacts.NO_ARTIFACT else mark == "yes"

    # Handoff documents, and the sources of a sealed context

    def handoffs(self) -> tuple[WrittenHandoff, ...] | None:
        """Read the handoff documents of the task."""
        self._record("handoffs")
        return handoffs.documents(self.file)

    def standard(self, path: str) -> tuple[Standard, ...] | None:
        """Read a cited file."""
        return context.standard(self.file, path, self._record("standard", path))

    def blob_ids(self, path: str) -> tuple[str, ...] | None:
        """Compute the ids that git may give a file."""
        self._record("blob_ids", path)
        return context.blob_ids(self.file, path)

    def excerpt(self, path: str, lines: str, sha256: str) -> str | None:
        """Compare an excerpt with its source."""
        self._record("excerpt", path, lines, sha256)
        return context.excerpt_state(self.file, path, lines, sha256)
