"""The queries that rules may ask beyond the text of one file: the clock, the past, the archive, other tasks, git.

`Queries` answers none of them, which is right for a text that belongs to no repository; `answers` has the class that
does. A query is small and has plain arguments, so that the cache can ask it again: a finding depends on the text of its
file and on the answers to the queries that were asked, and on nothing else.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from taskstate.context.citations import Standard
    from taskstate.handoff.document import WrittenHandoff
    from taskstate.model.chain_quotes import Upstream
    from taskstate.syntax.document import Document

# What a rule may need besides the text. A rule runs only where all that it needs can be answered.
HISTORY = "history"  # the files at the compared revision
ARCHIVE = "archive"  # the task's archive file
UPSTREAM = "upstream"  # the state files of other tasks
REPOSITORY = "repository"  # which files the repository has
GIT = "git"  # which commits the repository has
CLOCK = "clock"  # the time now


class Queries:
    """The queries about one file; `answerable` is what can be answered, and the answer to all else is None."""

    answerable: frozenset[str] = frozenset()

    def is_future(self, moment: str) -> bool | None:  # noqa: ARG002 - nothing is answered here
        """Return whether a timestamp (`YYYY-MM-DDTHH:MM:SSZ`) has not come yet."""
        return None

    def earlier(self) -> tuple[Document, ...] | None:
        """Return the file as it was at the compared revision: one document, while merging one for each parent.

        Empty where the file is new since then; None where nothing is compared. Renames are followed.
        """
        return None

    def earlier_names(self) -> tuple[str, ...] | None:
        """Return the names that git has for what `earlier` gives: `REV:path`, from the top of the repository."""
        return None

    def earlier_archive(self) -> tuple[Document, ...] | None:
        """Return the task's archive file as it was at the compared revision; like `earlier`."""
        return None

    def changed_paths(self) -> tuple[str, ...] | None:
        """Return the paths, from the repository's root, of the files that differ from the compared revision."""
        return None

    def archive(self) -> tuple[Document, ...] | None:
        """Return the archive file of the task, empty where there is none."""
        return None

    def same_id(self) -> tuple[str, ...] | None:
        """Return the paths of the other state files of the repository that have this file's id."""
        return None

    def upstream(self, task_id: str) -> tuple[Upstream, ...] | None:  # noqa: ARG002 - nothing is answered here
        """Return what the state files of a task say: none where there is no such task, several where ids collide."""
        return None

    def dependency_path(self, task_id: str) -> tuple[str, ...] | None:  # noqa: ARG002 - nothing is answered here
        """Return the ids on a shortest way along `depends_on` from a task back to this file's, both included.

        Empty where no way leads back.
        """
        return None

    def leads_outside(self, path: str) -> bool | None:  # noqa: ARG002 - nothing is answered here
        """Return whether a path, from the repository's root, goes through a link that leads outside."""
        return None

    def missing_commits(self, ids: tuple[str, ...]) -> tuple[str, ...] | None:  # noqa: ARG002 - nothing is answered here
        """Return which of these (abbreviated) commit ids the repository does not have; None in a shallow clone."""
        return None

    def artifact(self, path: str, *, text: bool = False) -> str | None:  # noqa: ARG002 - nothing is answered here
        """Return the SHA-256 of what an artifact holds, unpacked; as `text` with LF for every line end.

        Empty where there is no such file here; None where it cannot be read.
        """
        return None

    def has_artifact(self, path: str) -> bool | None:  # noqa: ARG002 - nothing is answered here
        """Return whether there is an artifact of that name here."""
        return None

    def exists(self, path: str) -> bool | None:  # noqa: ARG002 - nothing is answered here
        """Return whether the repository has something at a path from its root."""
        return None

    def handoffs(self) -> tuple[WrittenHandoff, ...] | None:
        """Return what the handoff documents of the task say, in any order; those of other tools are left out."""
        return None

    def standard(self, path: str) -> tuple[Standard, ...] | None:  # noqa: ARG002 - nothing is answered here
        """Return the file, from the repository's root, that a citation names; none where it cannot be read."""
        return None

    def blob_ids(self, path: str) -> tuple[str, ...] | None:  # noqa: ARG002 - nothing is answered here
        """Return the ids that git may give a file, whatever line ends it has here; none where it cannot be read."""
        return None

    def changed_since(self, commit: str) -> tuple[str, ...] | None:  # noqa: ARG002 - nothing is answered here
        """Return the paths, without our own, that differ between a commit and HEAD."""
        return None


NO_QUERIES = Queries()
