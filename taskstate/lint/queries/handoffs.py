"""What rules ask about handoffs: whether a path exists, and which handoff documents a task has."""

from __future__ import annotations

from typing import TYPE_CHECKING

from taskstate.handoff.document import Written, front_matter_of, written_in
from taskstate.handoff.paths import folder
from taskstate.lint.queries.recorded import Asked
from taskstate.model import document_kinds, names
from taskstate.model.names import ARCHIVE
from taskstate.storage import files

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


class HandoffAnswers(Asked):
    """The answers about one file."""

    def exists(self, path: str) -> bool | None:
        """Return whether the repository has something at a path from its root."""
        return self._ask("exists", path) == "yes"

    def _exists_mark(self, path: str) -> str:
        try:
            return "yes" if self.repository.source.exists(self.repository.workspace.root / path) else "no"
        except ValueError:  # no path that the system knows
            return "no"

    def handoffs(self) -> tuple[Written, ...] | None:
        """Return what the handoff documents of the task say, those of our kind."""
        self._ask("handoffs")
        found = []
        for place, path in self._handoff_paths():
            document = self.repository.document(path)
            if document and front_matter_of(document).get("kind") == document_kinds.HANDOFF:
                found.append(written_in(document, place))
        return tuple(found)

    def _handoffs_mark(self) -> str:
        return " ".join(f"{place}:{self.repository.source.mark(path)}" for place, path in self._handoff_paths())

    def _handoff_paths(self) -> Iterator[tuple[str, Path]]:
        """Yield each document's path from the state folder, and where it lies."""
        own = names.own_file(self.path.as_posix())
        root = self.repository.workspace.state_root
        if own is None or not own.id or f"task-{own.id}" not in self.repository.handed_over:
            return
        for above in (folder(own.id), f"{folder(own.id)}/{ARCHIVE}"):
            for name in files.names(root / above):
                named = names.own_file(name)
                if named and named.type == "handoff":
                    yield f"{above}/{name}", root / above / name
