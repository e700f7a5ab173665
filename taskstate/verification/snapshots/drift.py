"""Compares lists of changed files and describes drift: what differs from a snapshot, why, and what to do about it.

Pure. A comparison consists of seven checks. The messages distinguish the causes, since the remedy differs: a file
edited by hand, work committed too early, a branch rebased or merged, changes stashed or reset.
"""

from __future__ import annotations

import re
from enum import Enum
from typing import TYPE_CHECKING, NamedTuple

from taskstate.messages import first_of
from taskstate.model.canonical_json import canonical_json

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from taskstate.storage.git.objects import TreeEntry

SHOWN = 5  # paths listed in a message
LISTED = 20  # changed files listed in a state file; longer lists become an artifact
STAGED_OTHERWISE = "only what is staged differs from the snapshot"

_SUBMODULE = "160000"
_ESCAPES = {7: "a", 8: "b", 9: "t", 10: "n", 11: "v", 12: "f", 13: "r", 34: '"', 92: "\\"}
_ESCAPED = rb'\\([abtnvfr"\\]|[0-3][0-7]{2})'
_EMPTY = {  # blob ids of an empty file, SHA-1 and SHA-256: two empty files do not show that one was renamed
    "e69de29bb2d1d6434b8b29ae775ad8c2e48c5391",
    "473a0f4c3be8a93681a267e3b1e9a7dcda1185436fe141f7749120a303721813",
}


class ChangedFile(NamedTuple):
    """A changed file as a snapshot records it; `status` is git's letter for its change since the base commit."""

    path: str
    status: str
    mode: str | None
    size: int
    sha256: str | None
    previous_sha256: str | None


class Difference(NamedTuple):
    """A file that differs from a snapshot: the hashes of its content then and now.

    `origin` is its earlier path if it was renamed. Of a submodule, the hashes are the commits checked out.
    """

    path: str
    change: str
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
    LOST = "the snapshot's artifacts are lost or broken, as in another clone: it can be compared, and not restored"
    PURGED = "the snapshot's artifacts were purged: it can be compared, and not restored"


class Check(NamedTuple):
    """One of the seven checks."""

    name: str
    ok: bool
    detail: str = ""


class DriftReport(NamedTuple):
    """The result of a comparison; `help` says what to do about drift, `notes` are remarks that are not drift."""

    drift: bool
    checks: tuple[Check, ...]
    files: tuple[Difference, ...] = ()
    notes: tuple[str, ...] = ()
    message: str = ""
    help: str = ""


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


def diff_sha256(diff: bytes) -> str:
    """Return the SHA-256 of a diff with LF line ends, the last line included."""
    import hashlib

    text = diff.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
    return hashlib.sha256(text if text.endswith(b"\n") or not text else text + b"\n").hexdigest()


def file_list_json(changed: Iterable[ChangedFile]) -> str:
    """Return the list of changed files as canonical JSON."""
    return canonical_json([each._asdict() for each in changed])


def read_file_list(entries: object) -> tuple[ChangedFile, ...] | None:
    """Return the changed files of a list from a front matter or an artifact; None where it is malformed."""
    if not isinstance(entries, (list, tuple)) or not all(isinstance(each, dict) and "path" in each for each in entries):
        return None
    return tuple(
        ChangedFile(*(each.get(field, 0 if field == "size" else None) for field in ChangedFile._fields))
        for each in entries
    )


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


def _change(entry: TreeEntry) -> str:
    if not entry.old_id:
        return "added"
    if not entry.new_id:
        return "removed"
    return "mode" if entry.old_id == entry.new_id else "modified"


def listed_differences(then: Sequence[ChangedFile], now: Sequence[ChangedFile]) -> tuple[Difference, ...]:
    """Return the differences between two lists of changed files, for a snapshot whose tree is lost."""
    before, after = ({each.path: each for each in files} for files in (then, now))
    differing = [_listed(path, before.get(path), after.get(path)) for path in sorted({*before, *after})]
    return tuple(each for each in differing if each)


def _listed(path: str, then: ChangedFile | None, now: ChangedFile | None) -> Difference | None:
    """Return the difference of one path between two lists of changes since the same base commit, or None."""
    # A file that only one list names had, in the other one, the content of the base commit.
    expected = then.sha256 if then else now.previous_sha256 if now else None
    current = now.sha256 if now else then.previous_sha256 if then else None
    if then and now and (then.sha256, then.mode) == (now.sha256, now.mode):
        return None
    if expected == current:
        change = "mode"
    else:
        change = "added" if expected is None else "removed" if current is None else "modified"
    return Difference(path, change, expected, current)


def changed_modes(entries: Iterable[TreeEntry]) -> tuple[str, ...]:
    """Return the paths of the files whose mode changed, apart from added and removed ones."""
    both = (each for each in entries if each.old_id and each.new_id and each.old_mode != each.new_mode)
    return tuple(quoted(each.path) for each in both if _SUBMODULE not in (each.old_mode, each.new_mode))


class TreeDifferences(NamedTuple):
    """What a comparison by trees found; `drift_report` turns it into a report.

    - `committed`: files, without ours, that differ between the base commit and HEAD;
    - `own`: those of them that contain the snapshot's own changes; None where that cannot be determined;
    - `history`: how HEAD relates to the base commit: "after", "merged" or "other";
    - `is_clean`: nothing differs from HEAD any more, though the snapshot had changes;
    - `ignored`: files of the snapshot that exist, but are ignored by git now.
    """

    task_id: str
    role: str
    base: str
    committed: tuple[str, ...] = ()
    own: tuple[str, ...] | None = None
    history: str = "after"
    same_tree: bool = True
    is_clean: bool = False
    files: tuple[Difference, ...] | None = ()
    modes: tuple[str, ...] = ()
    ignored: tuple[str, ...] = ()
    same_status: bool = True
    same_scope: bool = True
    outside: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    artifacts: Artifacts = Artifacts.WHOLE

    @property
    def purged(self) -> bool:
        """Whether the snapshot's artifacts were dropped, so that nothing can be restored from it."""
        return self.artifacts is Artifacts.PURGED


def drift_report(found: TreeDifferences) -> DriftReport:
    """Return the report on a comparison: the seven checks, the probable cause, and what to do."""
    drift = bool(found.committed) or not found.same_tree
    notes = (*filter(None, [found.artifacts.value]), *found.notes)
    if not found.same_status and not drift:
        notes = (*notes, STAGED_OTHERWISE)
    if found.outside:
        notes = (*notes, f"outside of the task's Repository Paths: {first_paths(found.outside)}")
    message, help_ = _cause(found) if drift else ("", "")
    return DriftReport(drift, _checks(found, drift=drift), found.files or (), notes, message, help_)


def _checks(found: TreeDifferences, *, drift: bool) -> tuple[Check, ...]:
    contents = [each.path for each in found.files or () if each.change != "mode"]
    lost = f"the snapshot's list of files {'was purged' if found.purged else 'is lost'}" if found.files is None else ""
    committed = f"{count_files(len(found.committed))} committed since: {first_paths(found.committed)}"
    checks = {
        "base_commit": (not found.committed, committed),
        "tree_state": (not found.is_clean, "nothing differs from HEAD any more"),
        "checksums": (not contents and not lost, lost or f"{count_files(len(contents))}: {first_paths(contents)}"),
        "status": (found.same_status or not drift, "git's status report is another one"),
        "metadata": (not found.modes, f"another mode: {first_paths(found.modes)}"),
        "scope": (found.same_scope, "files within the Repository Paths appeared, vanished or were renamed"),
        "diff": (found.same_tree, "the diff from the base commit is another one"),
    }
    results = [Check(name, ok, "" if ok else detail) for name, (ok, detail) in checks.items()]
    if drift or found.same_status:
        return tuple(results)
    return tuple(each._replace(detail=STAGED_OTHERWISE) if each.name == "status" else each for each in results)


def _cause(found: TreeDifferences) -> tuple[str, str]:
    """Return the cause of the drift, and the advice."""
    accept = f'`taskstate snapshot resolve {found.task_id} --note "WHY"`'
    tree = f"the working tree is not what {found.role} left"
    changed = "" if found.same_tree else f"; {tree}: {_differing_paths(found)}"
    if found.committed and found.history == "other":
        cause = f"the branch was rebased, reset or switched: HEAD does not come after the base commit {found.base[:10]}"
        return f"{cause}{changed}", f"go back to where the work began, or accept what is there: {accept}"
    if found.committed and (found.history == "merged" or found.own == ()):
        cause = f"other work was merged or pulled in since the base commit {found.base[:10]}"
        return f"{cause}: {first_paths(found.committed)}{changed}", f"accept what is there: {accept}"
    if found.committed:
        paths = first_paths(found.own or found.committed)
        cause = f"work was committed too early, before the task was complete: {paths}"
        help_ = f"take the commit back with `git reset --soft {found.base[:10]}`, or accept it: {accept}"
        return f"{cause}{changed}", help_
    return _edited(found, tree, accept)


def _edited(found: TreeDifferences, tree: str, accept: str) -> tuple[str, str]:
    """Return cause and remedy for drift without commits since the snapshot."""
    restore = f"`taskstate snapshot verify {found.task_id} --role {found.role} --restore FILE`"
    if found.purged:
        cause = "nothing differs from HEAD any more" if found.is_clean else f"changed since: {_differing_paths(found)}"
        return f"{tree}; {cause}", f"the snapshot was purged, so nothing can be put back from it; accept this: {accept}"
    paths = [each.path for each in found.files or ()]
    if found.ignored and set(found.ignored) == set(paths):
        cause = f"{tree}: git ignores now what it took in then: {_differing_paths(found)}"
        help_ = "take back the rule that ignores it (`git check-ignore -v FILE` names it), or accept it"
        return cause, f"{help_}: {accept}"
    if found.files and all(each.is_submodule for each in found.files):
        cause = f"{tree}: another commit is checked out in the submodule {_differing_paths(found)}"
        help_ = "check out the expected commit there (`git -C SUBMODULE checkout COMMIT`), or accept it"
        return cause, f"{help_}: {accept}"
    ignored = f"; git ignores now: {first_paths(found.ignored)}" if found.ignored else ""
    if found.is_clean:
        gone = f"the changes that {found.role} left are gone from the working tree"
        cause = f"{gone}: they were stashed or reset{ignored}"
        return cause, f"bring them back with `git stash pop`, or by {restore}; or accept that they are gone: {accept}"
    by_hand = [each for each in paths if each not in found.ignored]
    which = _differing_paths(found) if found.files is None else first_paths(by_hand)
    help_ = f"put files back by {restore}, or accept them: {accept}"
    return f"{tree}; edited by hand since: {which}{ignored}", help_


def _differing_paths(found: TreeDifferences) -> str:
    """Return the paths that differ, or the reason why they are unknown."""
    if found.files is None:
        reason = "were purged" if found.purged else "are lost"
        return f"which files differ cannot be told, since the snapshot's artifacts {reason}"
    return first_paths([each.path for each in found.files])
