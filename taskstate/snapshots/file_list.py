"""The list of files that a snapshot found changed: as an artifact in full, in the state file as statuses and paths.

Pure. Where the tree of a snapshot is not here, as in another clone, the lists say what differs.
"""

from __future__ import annotations

from taskstate.model.canonical_json import canonical_json
from taskstate.snapshots.drift import Difference
from taskstate.typed import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from taskstate.snapshots.drift import ChangeKind

UNTRACKED = "?"  # the status of a file that git does not track
_DELETED = "D"
_NEW = ("A", UNTRACKED)


class ChangedFile(NamedTuple):
    """A changed file as a snapshot records it; `status` is git's letter for its change since the base.

    Of one that was read from a state file, only path and status are known.
    """

    path: str
    status: str
    mode: str | None = None
    size: int = 0
    sha256: str | None = None
    previous_sha256: str | None = None

    @property
    def content(self) -> tuple[str | None, str | None] | None:
        """Hash and mode of the file, None where they are not known; both None for a deleted file."""
        return (self.sha256, self.mode) if self.mode or self.status == _DELETED else None


def file_list_json(changed: Iterable[ChangedFile]) -> str:
    """Return the list of changed files as canonical JSON."""
    return canonical_json([each._asdict() for each in changed])


def read_file_list(entries: object) -> tuple[ChangedFile, ...] | None:
    """Return the changed files of a list from a front matter or an artifact; None where it is malformed."""
    if not isinstance(entries, (list, tuple)):
        return None
    changed = [_read(each) for each in entries]
    return None if None in changed else tuple(each for each in changed if each)


def _read(entry: object) -> ChangedFile | None:
    if isinstance(entry, str):
        status, _, path = entry.partition(" ")
        return ChangedFile(path, status) if path else None
    if not isinstance(entry, dict) or "path" not in entry:
        return None
    fields = {field: entry[field] for field in ChangedFile._fields if field in entry}
    return ChangedFile(**{"status": "", **fields})


def item(changed: ChangedFile) -> str:
    """Return a changed file as the state file lists it."""
    return f"{changed.status} {changed.path}"


def listed_differences(then: Sequence[ChangedFile], now: Sequence[ChangedFile]) -> tuple[Difference, ...]:
    """Return the differences between two lists of changes since one base, as far as they tell any."""
    before, after = ({each.path: each for each in files} for files in (then, now))
    differing = [_listed(path, before.get(path), after.get(path)) for path in sorted({*before, *after})]
    return tuple(each for each in differing if each)


def untracked_paths(then: Iterable[ChangedFile], now: Iterable[ChangedFile]) -> frozenset[str]:
    """Return the paths that git tracks in neither of two lists: such files of another machine are not here."""
    both = (*then, *now)
    tracked = {each.path for each in both if each.status != UNTRACKED}
    return frozenset(each.path for each in both if each.path not in tracked)


def not_comparable(then: Sequence[ChangedFile], now: Sequence[ChangedFile]) -> tuple[str, ...]:
    """Return the paths that both lists name, and of whose content one says nothing."""
    before = {each.path: each for each in then}
    return tuple(each.path for each in now if each.path in before and _is_same(before[each.path], each) is None)


def _is_same(then: ChangedFile, now: ChangedFile) -> bool | None:
    """Return whether two entries of a path say the same, None where one does not say enough."""
    if (then.status == _DELETED) != (now.status == _DELETED):
        return False
    return None if then.content is None or now.content is None else then.content == now.content


def _listed(path: str, then: ChangedFile | None, now: ChangedFile | None) -> Difference | None:
    """Return the difference of one path between two lists of changes since the same base, or None."""
    if then and now and _is_same(then, now) is not False:
        return None
    # A file that only one list names had, in the other one, the content of the base.
    expected = then.sha256 if then else now.previous_sha256 if now else None
    current = now.sha256 if now else then.previous_sha256 if then else None
    if not _exists(then, now):
        change: ChangeKind = "added"
    elif not _exists(now, then):
        change = "removed"
    else:
        change = "mode" if expected == current is not None else "modified"
    return Difference(path, change, expected, current)


def _exists(file: ChangedFile | None, other: ChangedFile | None) -> bool:
    """Return whether a path exists in a list; if the list does not name it, the other one knows of the base."""
    if file:
        return file.status != _DELETED
    return other is not None and other.status not in _NEW
