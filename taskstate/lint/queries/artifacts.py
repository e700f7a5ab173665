"""Answers what rules ask about the artifacts that a state file names: whether they are here, and what they hold."""

from __future__ import annotations

from typing import TYPE_CHECKING

from taskstate.errors import TaskstateError
from taskstate.lint.queries.recorded import Asked
from taskstate.storage import files

if TYPE_CHECKING:
    from pathlib import Path

_GZIP = ".gz"
_TEXT = "text"


class ArtifactAnswers(Asked):
    """The answers about artifacts; the mark of an answer is that of the file on disk."""

    def artifact(self, path: str, *, text: bool = False) -> str | None:
        """Return the SHA-256 of what an artifact holds, unpacked, as text with LF for every line end.

        Empty where there is no such file here, None where it is none or cannot be read.
        """
        self._ask("artifact", path, _TEXT if text else "")
        place = self._artifact_path(path)
        if place is None:
            return None
        try:
            return _digest(files.read(place), text=text, name=path) if files.size(place) is not None else ""
        except TaskstateError:
            return None

    def has_artifact(self, path: str) -> bool | None:
        """Return whether there is an artifact of that name here; None where the name leads elsewhere."""
        told = self._ask("has_artifact", path)
        return None if told == "?" else told == "yes"

    def _has_artifact_mark(self, path: str) -> str:
        place = self._artifact_path(path)
        if place is None:
            return "?"
        return "yes" if self.repository.source.exists(place) else "no"

    def _artifact_mark(self, path: str, _form: str) -> str:
        place = self._artifact_path(path)
        return self.repository.source.mark(place) if place else "?"

    def _artifact_path(self, path: str) -> Path | None:
        from taskstate.workspace import artifacts

        try:
            return artifacts.path_of(self.repository.workspace, path)
        except TaskstateError:
            return None  # it leads elsewhere, which is told by another rule


def _digest(data: bytes, *, text: bool, name: str) -> str:
    """Return the hash of what an artifact holds; of a torn one that of its own bytes, which is never the right one."""
    from taskstate.workspace import artifacts

    if name.endswith(_GZIP):
        try:
            data = artifacts.gunzipped(data, name)
        except TaskstateError:
            return files.digest(data)
    return files.digest(_normalised(data) if text else data)


def _normalised(data: bytes) -> bytes:
    """Return a diff as its hash sees it: LF for every line end, and one at the end."""
    data = data.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
    return data if not data or data.endswith(b"\n") else data + b"\n"
