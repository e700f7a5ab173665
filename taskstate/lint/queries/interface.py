"""What rules may know beyond the text of one file: the clock, the file's past, its archive, other tasks, git.

`Around` itself knows nothing, which is what holds for a text that came from nowhere. Who reads disks answers instead
(`taskstate.lint.queries.answers`). Every question is small and has plain arguments, so that a cache can ask it again:
what a finding rests on is the text of its file and the answers to the questions asked.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from taskstate.context.citations import Standard
    from taskstate.handoff.document import Written
    from taskstate.model.chain_quotes import Upstream
    from taskstate.syntax.document import Document

# What a rule may need besides the text. A rule runs only where all that it cannot do without is known.
HISTORY = "history"  # the file at the compared revision
ARCHIVE = "archive"  # the archive file of the task
UPSTREAM = "upstream"  # other tasks
REPOSITORY = "repository"  # which files there are
GIT = "git"  # which commits there are
CLOCK = "clock"


class Around:
    """The answers about one file; None says that nobody can tell."""

    known: frozenset[str] = frozenset()

    def is_future(self, moment: str) -> bool | None:  # noqa: ARG002 - nothing is known here
        """Return whether a timestamp (`YYYY-MM-DDTHH:MM:SSZ`) has not come yet."""
        return None

    def earlier(self) -> tuple[Document, ...] | None:
        """Return the file as it was at the compared revision: one document, while merging one for each parent.

        Empty where the file is new since then; None where nothing is compared. Renames are followed.
        """
        return None

    def earlier_names(self) -> tuple[str, ...] | None:
        """Return how git calls what `earlier` gives: `REV:path`, from the top of the repository."""
        return None

    def earlier_archive(self) -> tuple[Document, ...] | None:
        """Return the task's archive file as it was at the compared revision; like `earlier`."""
        return None

    def changed_paths(self) -> tuple[str, ...] | None:
        """Return the paths, from the repository's root, of the files that differ from the compared revision."""
        return None

    def archive(self) -> tuple[Document, ...] | None:
        """Return the archive file of the task, empty where there is none; its place is that of its name."""
        return None

    def same_id(self) -> tuple[str, ...] | None:
        """Return the paths of the other state files of the repository that have this file's id."""
        return None

    def upstream(self, task_id: str) -> tuple[Upstream, ...] | None:  # noqa: ARG002 - nothing is known here
        """Return what the state files of a task say: none where there is no such task, several where ids collide."""
        return None

    def way_back(self, task_id: str) -> tuple[str, ...] | None:  # noqa: ARG002 - nothing is known here
        """Return the ids on a shortest way along `depends_on` from a task back to this file's, both included.

        Empty where no way leads back.
        """
        return None

    def leaves(self, path: str) -> bool | None:  # noqa: ARG002 - nothing is known here
        """Return whether a path, from the repository's root, goes through a link that leads outside."""
        return None

    def missing_commits(self, ids: tuple[str, ...]) -> tuple[str, ...] | None:  # noqa: ARG002 - nothing is known here
        """Return which of these (abbreviated) commit ids the repository does not have; None in a shallow clone."""
        return None

    def artifact(self, path: str, *, text: bool = False) -> str | None:  # noqa: ARG002 - nothing is known here
        """Return the SHA-256 of what an artifact holds, unpacked; as `text` with LF for every line end.

        Empty where there is no such file here; None where it cannot be read.
        """
        return None

    def has_artifact(self, path: str) -> bool | None:  # noqa: ARG002 - nothing is known here
        """Return whether there is an artifact of that name here."""
        return None

    def exists(self, path: str) -> bool | None:  # noqa: ARG002 - nothing is known here
        """Return whether the repository has something at a path from its root."""
        return None

    def handoffs(self) -> tuple[Written, ...] | None:
        """Return what the handoff documents of the task say, in whatever order; those of other tools left out."""
        return None

    def standard(self, path: str) -> tuple[Standard, ...] | None:  # noqa: ARG002 - nothing is known here
        """Return the file, from the repository's root, that a citation names; none where it cannot be read."""
        return None

    def blob_ids(self, path: str) -> tuple[str, ...] | None:  # noqa: ARG002 - nothing is known here
        """Return the ids that git may give a file, whatever line ends it has here; none where it cannot be read."""
        return None

    def moved_since(self, commit: str) -> tuple[str, ...] | None:  # noqa: ARG002 - nothing is known here
        """Return the paths, without our own, that differ between a commit and HEAD."""
        return None


NOTHING = Around()
