"""What the linter finds, by file and line."""

from __future__ import annotations

from collections import Counter

from taskstate.model.names import own_file
from taskstate.typed import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from taskstate.page.findings import Row
    from taskstate.page.reading import Reading

_MOST = 300  # findings of a page
_MOST_FILES = 200  # to choose from


class File(NamedTuple):
    """A file with findings; `branch` is that of another worktree.

    A state file has a `task`, and a `label` where that differs between worktrees.
    """

    path: str
    branch: str
    task: str
    label: str
    rows: tuple[Row, ...]


def values(reading: Reading, given: Mapping[str, str]) -> Mapping[str, object]:
    """Return what the template of the findings shows; with `code` and `path` those of a rule, and of a file."""
    code, path = given.get("code", "").strip().upper(), given.get("path", "").strip()
    linter = reading.site.linter
    known = linter.look(" ".join(each.files.mark() for each in reading.repository.trees))
    rows = known.rows if known else ()
    wanted = [each for each in rows if code in ("", each.code) and path in ("", each.path)]
    counts = Counter(each.severity for each in wanted)
    return {
        "title": "Lint",
        "known": known,
        "is_looking": linter.is_looking,
        "code": code,
        "path": path,
        "codes": _known(code, (each.code for each in rows)),
        "paths": _known(path, (each.path for each in rows))[:_MOST_FILES],
        "files": _files(reading, wanted[:_MOST]),
        "number": len(wanted),
        "counts": counts,
        "left": len(wanted) - _MOST,
        "is_fixable": any(each.is_fixable for each in wanted),
    }


def _known(chosen: str, found: Iterable[str]) -> list[str]:
    """Return what can be chosen; what is chosen is there, though nothing has it."""
    return sorted({*found, chosen} - {""})


def _files(reading: Reading, rows: Iterable[Row]) -> list[File]:
    by_file: dict[tuple[str, str], list[Row]] = {}
    for each in rows:
        by_file.setdefault((each.path, each.branch), []).append(each)
    worktrees = {each.branch: each.name for each in reading.repository.trees}
    files = []
    for (path, branch), found in by_file.items():
        own = own_file(path)
        task = (own.id or "") if own and own.type == "state" else ""
        label = reading.branch_of(task, worktrees.get(branch, "") if branch else "")
        files.append(File(path, branch, task, label, tuple(found)))
    return files
