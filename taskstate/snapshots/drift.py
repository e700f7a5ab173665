"""Describes how a working tree differs from a snapshot: file by file, with what explains it, and as a report.

Pure. What commits or another task explain is told, and is no drift; nor is what differs while a later role is at work,
or what a later role left otherwise.
"""

from __future__ import annotations

import re
from enum import Enum

from taskstate.errors import TaskstateError
from taskstate.messages import first_of
from taskstate.typed import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from typing import Literal

    from taskstate.storage.git.movement import Commit
    from taskstate.storage.git.objects import TreeEntry

    ChangeKind = Literal["added", "removed", "modified", "mode", "renamed"]

SHOWN = 5  # paths listed in a message
TREE_DIGITS = 12  # of a tree's id in a message
COMMITS = "commits"  # explains what came in by them; other explanations are `LOG` and the id of a task
LOG = "log"
LAST_TURN = "the last turn"  # in the place of a role: it left what is compared
STAGED_OTHERWISE = "only what is staged differs from the snapshot"

_SUBMODULE = "160000"
_ESCAPES = {7: "a", 8: "b", 9: "t", 10: "n", 11: "v", 12: "f", 13: "r", 34: '"', 92: "\\"}
_ESCAPED = rb'\\([abtnvfr"\\]|[0-3][0-7]{2})'
_EMPTY = {  # blob ids of an empty file, SHA-1 and SHA-256: two empty files do not show that one was renamed
    "e69de29bb2d1d6434b8b29ae775ad8c2e48c5391",
    "473a0f4c3be8a93681a267e3b1e9a7dcda1185436fe141f7749120a303721813",
}


class Difference(NamedTuple):
    """A file that differs from a snapshot: the hashes of its content then and now.

    `origin` is its earlier path if it was renamed. Of a submodule, the hashes are the commits checked out.
    """

    path: str
    change: ChangeKind
    expected: str | None
    current: str | None
    origin: str = ""
    is_submodule: bool = False

    def as_json(self) -> dict[str, str | None]:
        """Return the difference as JSON values."""
        origin = {"from": self.origin} if self.origin else {}
        return {"path": self.path, "change": self.change, "expected": self.expected, "current": self.current, **origin}


class Artifacts(Enum):
    """Whether the artifacts of a snapshot are present, and the note to print about it."""

    WHOLE = ""
    ABSENT = (
        "what was left is not here: no commit in this clone has it, and artifacts stay in the clone of their snapshot"
    )
    BROKEN = "the snapshot's artifacts are broken, and no commit has its tree: it can be compared, and not restored"
    PURGED = "the snapshot's artifacts were purged: it can be compared, and not restored"

    @property
    def fate(self) -> str:
        """What became of artifacts that are not here, in words."""
        return {Artifacts.ABSENT: "are not here", Artifacts.BROKEN: "are broken"}.get(self, "were purged")


class Check(NamedTuple):
    """One of the seven checks."""

    name: str
    ok: bool
    detail: str = ""


class Explained(NamedTuple):
    """A file that differs from a snapshot and is no drift: `by` commits, a recorded log, or the task with this id.

    `turn` tells of that task's open turn, as whose work it counts though nobody has recorded it yet.
    """

    path: str
    change: ChangeKind
    by: str
    turn: str = ""


class DriftReport(NamedTuple):
    """The result of a comparison; `help` says what to do about drift, `notes` are remarks that are not drift.

    `files` are those that drifted, or that differ so far while the role `at_work` works on. `committed` are files that
    were committed as they had been left, and `commits` what HEAD has got since, in words. Where a later role went on
    from the snapshot and is done, it has `superseded_by`, and `files` are those that this one left otherwise. `is_here`
    says whether this clone has had what was left: else nobody need have changed anything here. `tree` is the working
    tree that was compared: drift can be accepted for no other. `look` is the command that shows what differs.
    """

    drift: bool
    checks: tuple[Check, ...]
    files: tuple[Difference, ...] = ()
    notes: tuple[str, ...] = ()
    message: str = ""
    help: str = ""
    explained: tuple[Explained, ...] = ()
    committed: tuple[str, ...] = ()
    commits: tuple[str, ...] = ()
    at_work: str = ""
    superseded_by: str = ""
    is_here: bool = True
    tree: str = ""
    look: str = ""


def require_tree(tree: str | None, expected: str, task_id: str, look: str) -> None:
    """Refuse to accept drift where the working tree is not the expected one, of which the first digits are given.

    `look` is the command that shows what is there now.

    Raises:
        TaskstateError: code "tree-changed": it is another one; code "usage": that is no id of a tree.
    """
    if not expected:
        return
    if not re.fullmatch(r"[0-9a-fA-F]{7,64}", expected):
        message, help_ = f"--expect-tree {expected!r} is not an id of a tree", "give at least 7 of its digits"
        raise TaskstateError(message, help=help_, code="usage")
    if not (tree or "").startswith(expected.lower()):
        now = f"it is {tree[:TREE_DIGITS]} now, not {expected[:TREE_DIGITS]}" if tree else "drift is not noticed here"
        message = f"task {task_id}: the working tree is not the one that was looked at: {now}"
        again = f"if that is right: --expect-tree {tree[:TREE_DIGITS]}" if tree else "leave --expect-tree out"
        help_ = f"`{look}` shows what is there; {again}"
        raise TaskstateError(message, help=help_, code="tree-changed")


# Paths


def quoted(path: bytes) -> str:
    """Return a path as text: unchanged if it is UTF-8 and does not begin with a quote, else quoted as git does it."""
    try:
        text = path.decode("utf-8")
    except UnicodeDecodeError:
        text = ""
    if text and not text.startswith('"'):
        return text
    return f'"{"".join(map(_escaped, path))}"'


def _escaped(byte: int) -> str:
    if byte in _ESCAPES:
        return f"\\{_ESCAPES[byte]}"
    return chr(byte) if 32 <= byte < 127 else f"\\{byte:03o}"  # noqa: PLR2004 - what ASCII can print


def unquoted(text: str) -> bytes:
    """Return the path in bytes that a text of `quoted` stands for."""
    data = text.encode("utf-8", "surrogateescape")
    if len(data) < len('""') or not (data.startswith(b'"') and data.endswith(b'"')):
        return data
    # git quotes unusual bytes like C strings: `\t`, `\"` or octal `\303`.
    letters = {letter.encode(): bytes([byte]) for byte, letter in _ESCAPES.items()}
    return re.sub(_ESCAPED, lambda match: letters.get(match[1]) or bytes([int(match[1], 8)]), data[1:-1])


def printable_path(path: str) -> str:
    """Return a path for a report, quoted where it contains unprintable characters."""
    return path if path.isprintable() else f'"{"".join(map(_escaped, unquoted(path)))}"'


def first_paths(paths: Sequence[str]) -> str:
    """Return the first few paths, and how many more there are."""
    return first_of([*map(printable_path, paths)], SHOWN)


def count_files(count: int) -> str:
    """Return a number of files in words."""
    return "1 file" if count == 1 else f"{count:,} files"


# What a snapshot records


def scope_hash(paths: Iterable[str]) -> str:
    """Return the hash of the paths in a task's scope: its first 16 hex digits."""
    import hashlib

    lines = b"".join(path.encode("utf-8", "surrogateescape") + b"\n" for path in sorted(paths))
    return hashlib.sha256(lines).hexdigest()[:16]


# The comparison


def differences(
    entries: Iterable[TreeEntry],
    expected: Callable[[TreeEntry], str | None],
    current: Callable[[TreeEntry], str | None],
) -> tuple[Difference, ...]:
    """Return the differences between a snapshot's tree and the current one.

    `expected` and `current` return the hash of a file in each. A renamed file is reported at both of its paths.
    """
    entries = tuple(entries)
    origins = {each.old_id: each for each in entries if not each.new_id and each.old_id not in _EMPTY}
    result = []
    for each in entries:
        change = _change(each)
        source = origins.pop(each.new_id, None) if change == "added" else None
        result.append(
            Difference(
                path=quoted(each.path),
                change="renamed" if source else change,
                expected=expected(source or each) if source or each.old_id else None,
                current=current(each) if each.new_id else None,
                origin=quoted(source.path) if source else "",
                is_submodule=_SUBMODULE in (each.old_mode, each.new_mode),
            )
        )
    return tuple(sorted(result))


def _change(entry: TreeEntry) -> ChangeKind:
    if not entry.old_id:
        return "added"
    if not entry.new_id:
        return "removed"
    return "mode" if entry.old_id == entry.new_id else "modified"


def changed_modes(entries: Iterable[TreeEntry]) -> tuple[str, ...]:
    """Return the paths of the files whose mode changed, apart from added and removed ones."""
    both = (each for each in entries if each.old_id and each.new_id and each.old_mode != each.new_mode)
    return tuple(quoted(each.path) for each in both if _SUBMODULE not in (each.old_mode, each.new_mode))


class TreeDifferences(NamedTuple):
    """What a comparison by trees found; `drift_report` turns it into a report.

    - `files`: those that differ and that nothing explains, None where that cannot be told;
    - `explained`: those that commits or another task explain;
    - `head`: the commit that was checked out then; `commits`: what HEAD has got since;
    - `left`: commits that HEAD had then and lacks now, None where the commit of then is not here;
    - `committed`: files that were committed as they had been left;
    - `held`: files that commits touched although work must not be committed; None where it may be;
    - `is_clean`: nothing differs from HEAD any more, though the snapshot had changes; where no commit changed them,
      `taken_by` says what git has recorded of that: a stash or a reset;
    - `ignored`: files of the snapshot that exist, but are ignored by git now;
    - `at_work`: a later role that is in progress, or an empty text;
    - `superseded_by`: a later role that went on from the snapshot and is done, or an empty text;
    - `tree`: the working tree that was compared.
    """

    task_id: str
    role: str
    head: str = ""
    commits: tuple[Commit, ...] = ()
    left: tuple[Commit, ...] | None = ()
    committed: tuple[str, ...] = ()
    held: tuple[str, ...] | None = None
    same_tree: bool = True
    is_clean: bool = False
    taken_by: str = ""
    files: tuple[Difference, ...] | None = ()
    explained: tuple[Explained, ...] = ()
    modes: tuple[str, ...] = ()
    ignored: tuple[str, ...] = ()
    same_status: bool = True
    same_scope: bool = True
    outside: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    artifacts: Artifacts = Artifacts.WHOLE
    at_work: str = ""
    superseded_by: str = ""
    tree: str = ""

    @property
    def is_drift(self) -> bool:
        """Whether something differs that nothing explains, or that has moved although it must not."""
        if self.at_work or self.superseded_by:
            return False
        return bool(self.held) or self.files is None or bool(self.files)
