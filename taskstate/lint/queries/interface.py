"""Declares the queries that rules may make beyond the text of one file: clock, history, archive, other tasks, git.

`Queries` answers none of them, which is right for a text that belongs to no repository; `answers.RepositoryQueries`
answers them all. A finding depends on the text of its file and on the answers to the queries made, and on nothing else.
The arguments of a query are plain values, so that the cache can store the query and make it again.
"""

from __future__ import annotations

from taskstate.typed import TYPE_CHECKING

if TYPE_CHECKING:
    from taskstate.context.citations import Standard
    from taskstate.handoff.document import WrittenHandoff
    from taskstate.model.chain_quotes import Upstream
    from taskstate.model.document_kinds import Kinds
    from taskstate.syntax.document import Document

# The kinds of queries that a rule may need. A rule runs only where all kinds that it needs can be answered.
HISTORY = "history"  # the files at the compared revision
ARCHIVE = "archive"  # the task's archive file
UPSTREAM = "upstream"  # the state files of other tasks
REPOSITORY = "repository"  # which files the repository has
GIT = "git"  # which commits the repository has
CLOCK = "clock"  # the time now


class Queries:
    """The queries about one file; `answerable` holds the kinds that can be answered. Other answers are None.

    `kinds` are the kinds of state files that the file's repository declares, with which it is parsed.
    """

    answerable: frozenset[str] = frozenset()
    kinds: Kinds = ()

    def begin(self, document: Document) -> None:
        """Note the file as it is checked, parsed: no answer has to parse it again."""

    def is_future(self, moment: str) -> bool | None:  # noqa: ARG002 - nothing is answered here
        """Return whether a timestamp (`YYYY-MM-DDTHH:MM:SSZ`) is in the future."""
        return None

    def earlier(self, now: Document | None = None) -> tuple[Document, ...] | None:  # noqa: ARG002 - nothing is answered
        """Return the file at the compared revision: one document, while merging one for each parent.

        Empty for a new file; None where nothing is compared. Renames are followed. `now` is the file as it is, and is
        returned itself for a version that is the same.
        """
        return None

    def earlier_names(self) -> tuple[str, ...] | None:
        """Return git's names for the results of `earlier`: `REV:path`, from the top of the repository."""
        return None

    def versions_before(self, parent: int) -> tuple[Document, ...]:  # noqa: ARG002 - nothing is answered here
        """Return the committed versions of the file that led to the result of `earlier` at an index, oldest first.

        None where the repository does not have its whole history.
        """
        return ()

    def earlier_archive(self) -> tuple[Document, ...] | None:
        """Return the task's archive file at the compared revision, like `earlier`."""
        return None

    def changed_paths(self) -> tuple[str, ...] | None:
        """Return the paths, from the repository's root, of the files that differ from the compared revision."""
        return None

    def damage(self) -> str | None:
        """Return the ways out for a file that is damaged, which commands refuse; empty for one that is not."""
        return None

    def is_damaged(self, text: str) -> bool:  # noqa: ARG002 - only a repository can tell
        """Return whether the file would be damaged with another text."""
        return False

    def completion_gaps(self) -> tuple[tuple[str, str], ...] | None:
        """Return what completing the task would ask for and is missing: the key of each gap, and its words."""
        return None

    def archive(self) -> tuple[Document, ...] | None:
        """Return the archive file of the task; empty where there is none."""
        return None

    def same_id(self) -> tuple[str, ...] | None:
        """Return the paths of other state files in the repository with the same id."""
        return None

    def active_permanent(self) -> tuple[str, ...] | None:
        """Return the ids of the other permanent tasks that are neither complete nor dropped."""
        return None

    def impact_map(self) -> str | None:
        """Return the SHA-256 of the file that holds this task's Impact Map, with LF line ends; empty if missing."""
        return None

    def map_digest(self) -> str | None:
        """Return the SHA-256 that the task gives for this map; empty where that was edited, or is none."""
        return None

    def upstream(self, task_id: str) -> tuple[Upstream, ...] | None:  # noqa: ARG002 - nothing is answered here
        """Return the task with an id as an upstream: empty for an unknown id, several where ids collide."""
        return None

    def removed_task(self, task_id: str) -> tuple[str, ...] | None:  # noqa: ARG002 - nothing is answered here
        """Return revision and path, from the top of the repository, of a state file that is gone since; else empty."""
        return None

    def dependency_path(self, task_id: str) -> tuple[str, ...] | None:  # noqa: ARG002 - nothing is answered here
        """Return the ids on a shortest path along `depends_on` from a task back to this file's task, both included.

        Empty where the task does not depend on this file's task.
        """
        return None

    def leads_outside(self, path: str) -> bool | None:  # noqa: ARG002 - nothing is answered here
        """Return whether a path from the repository's root goes through a link that leads outside."""
        return None

    def missing_commits(self, ids: tuple[str, ...]) -> tuple[str, ...] | None:  # noqa: ARG002 - nothing is answered here
        """Return those of these (abbreviated) commit ids that the repository lacks; None in a shallow clone."""
        return None

    # The arguments are not used: nothing is answered here.
    def artifact(self, path: str, *, diff: bool = False) -> str | None:  # noqa: ARG002
        """Return the SHA-256 of an artifact's content, unpacked; of a diff that by which it is recorded.

        Empty where the file is missing; None where it cannot be read.
        """
        return None

    def artifact_text(self, path: str) -> bytes | None:  # noqa: ARG002 - nothing is answered here
        """Return the content of an artifact; None where it is missing, or cannot be read."""
        return None

    def has_artifact(self, path: str) -> bool | None:  # noqa: ARG002 - nothing is answered here
        """Return whether an artifact exists, by its path."""
        return None

    def has_log(self, sha256: str) -> bool | None:  # noqa: ARG002 - nothing is answered here
        """Return whether the task's artifacts hold a log with this hash; None where it has no artifacts here."""
        return None

    def exists(self, path: str) -> bool | None:  # noqa: ARG002 - nothing is answered here
        """Return whether a path from the repository's root exists."""
        return None

    def matches(self, glob: str) -> bool | None:  # noqa: ARG002 - nothing is answered here
        """Return whether a glob from the repository's root covers a file of the repository."""
        return None

    def handoffs(self) -> tuple[WrittenHandoff, ...] | None:
        """Return the handoff documents of the task, in any order; those of other tools are left out."""
        return None

    def standard(self, path: str) -> tuple[Standard, ...] | None:  # noqa: ARG002 - nothing is answered here
        """Return a cited file, by its path from the repository's root; empty where it cannot be read."""
        return None

    def blob_ids(self, path: str) -> tuple[str, ...] | None:  # noqa: ARG002 - nothing is answered here
        """Return the object ids that git may give a file, whatever its line ends; empty where it cannot be read."""
        return None

    def excerpt(self, path: str, lines: str, sha256: str) -> str | None:  # noqa: ARG002 - nothing is answered here
        """Return how an excerpt (lines empty: a whole file) compares with its source: same, moved, changed or gone."""
        return None


NO_QUERIES = Queries()
