"""What a working copy says, for tests of merging: its sessions wherever they stand, and all that must not get lost."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from benchmarks.branches import TASK
from taskstate.merge.merge_files import Merged, merge_files
from taskstate.model.archive_format import ENTRY_LEVEL, find_batches
from taskstate.model.progress_log import session_number
from taskstate.model.session_references import identity
from taskstate.model.task_state import TaskState, read_state
from taskstate.syntax.document import parse
from taskstate.units.three_way import Versions

if TYPE_CHECKING:
    from collections.abc import Mapping

SAMPLE = (Path(__file__).parents[1] / "cases" / "lint" / "clean" / "task-7-state.md").read_text(encoding="utf-8")
STATE, ARCHIVE = f".taskstate/tasks/task-{TASK}-state.md", f".taskstate/archives/task-{TASK}-archive.md"


def edited(text: str, *changes: tuple[str, str]) -> str:
    """Return a text with some places changed, each of which is there."""
    for old, new in changes:
        assert old in text, old
        text = text.replace(old, new, 1)
    return text


def merge_texts(base: str, ours: str, theirs: str, name: str = "task-7-state.md") -> tuple[str, int]:
    """Return three texts merged, and how many conflicts remain."""
    merged = merge_files(Versions(base.encode(), ours.encode(), theirs.encode()), name)
    return merged.data.decode(), merged.conflicts


class Said(NamedTuple):
    """What the two files of a task say: the sessions by number, archived ones first, and the other facts."""

    archived: tuple[tuple[int, str], ...]
    recent: tuple[tuple[int, str], ...]
    state: TaskState
    values: Mapping[str, Any]

    @property
    def numbers(self) -> list[int]:
        """The numbers of all sessions."""
        return [number for number, _ in (*self.archived, *self.recent)]

    @property
    def sessions(self) -> set[str]:
        """What all sessions say, apart from numbers."""
        return {text for _, text in (*self.archived, *self.recent)}

    @property
    def features(self) -> dict[str, Any]:
        """The features by id."""
        return {each.id: each.node.value() for each in self.state.checklist.features} if self.state.checklist else {}

    @property
    def criteria(self) -> dict[str, bool]:
        """The acceptance criteria and whether they are checked."""
        return {each.text: each.checked for each in self.state.criteria}

    @property
    def meaning(self) -> tuple[object, ...]:
        """All that a merge must come to in either order; only numbers in the archive, and orders, may differ."""
        values = {key: value for key, value in self.values.items() if key not in {"audit", "file_size_kb"}}
        history = self.state.section("Git History")
        commits = sorted(history.body.of(self.state.document.text).split("\n")) if history else []
        return (self.sessions, len(self.archived), self.features, self.criteria, values, commits)


def said(files: Mapping[str, bytes]) -> Said:
    """Return what the files of a working copy say."""
    state = read_state(parse(files[STATE].decode()))
    archived: list[tuple[int, str]] = []
    for batch in find_batches(files.get(ARCHIVE, b"").decode()):
        for section in parse(batch.entries).sections:
            number = session_number(section.title)
            if section.level == ENTRY_LEVEL and number is not None:
                entry = section.span.of(batch.entries).replace("##", "###", 1)
                archived.append((number, identity(entry)))
    recent = tuple((session.number, identity(session.entry)) for session in state.sessions)
    return Said(tuple(archived), recent, state, dict(state.document.front_matter))


def merge_copies(sides: Versions[Mapping[str, bytes]]) -> tuple[dict[str, bytes], int]:
    """Return the files of three working copies merged, each by itself as git does it, and how many conflicts remain."""
    merged: dict[str, bytes] = {}
    conflicts = 0
    for name in sorted({*sides.ours, *sides.theirs}):
        versions = sides.each(lambda files, name=name: files.get(name, b""))  # type: ignore[misc]  # the loop's name
        one_sided = name not in sides.ours or name not in sides.theirs
        result = Merged(versions.ours or versions.theirs, 0) if one_sided else merge_files(versions, name)
        merged[name] = result.data
        conflicts += result.conflicts
    return merged, conflicts
