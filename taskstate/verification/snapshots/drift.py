"""What a working tree is compared by: the list of changed files, the differences to it, and what they mean.

Pure. A snapshot is compared with what is there now in seven checks; the messages tell the cases apart, since what to do
differs: a file edited by hand, work committed too early, a branch rebased or merged, changes stashed or reset.
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

SHOWN = 5  # files that a message names
LISTED = 20  # changed files that a state file lists
CHECKS = ("base_commit", "tree_state", "checksums", "status", "metadata", "scope", "diff")
STAGED_OTHERWISE = "only what is staged differs from the snapshot"

_SUBMODULE = "160000"
_ESCAPES = {7: "a", 8: "b", 9: "t", 10: "n", 11: "v", 12: "f", 13: "r", 34: '"', 92: "\\"}
_ESCAPED = rb'\\([abtnvfr"\\]|[0-3][0-7]{2})'
_EMPTY = {  # the ids of a file that holds nothing: two of those say nothing of a renaming
    "e69de29bb2d1d6434b8b29ae775ad8c2e48c5391",
    "473a0f4c3be8a93681a267e3b1e9a7dcda1185436fe141f7749120a303721813",
}


class ChangedFile(NamedTuple):
    """A changed file as a snapshot records it, with git's letter for what happened to it since the base commit."""

    path: str
    status: str
    mode: str | None
    size: int
    sha256: str | None
    previous_sha256: str | None


class Difference(NamedTuple):
    """A file that differs from a snapshot: hashes of its bytes then and now; `origin` is where it was before.

    Of a submodule those are the commits that it has checked out.
    """

    path: str
    change: str
    expected: str | None
    current: str | None
    origin: str = ""
    is_submodule: bool = False

    def told(self) -> dict[str, str | None]:
        """Return it as JSON has it."""
        more = {"from": self.origin} if self.origin else {}
        return {"path": self.path, "change": self.change, "expected": self.expected, "current": self.current, **more}


class Artifacts(Enum):
    """What there is of the files that were kept with a snapshot, and the note about it."""

    WHOLE = ""
    LOST = "the snapshot's artifacts are lost or broken, as in another clone: it can be compared, and not restored"
    PURGED = "the snapshot's artifacts were purged: it can be compared, and not restored"


class Check(NamedTuple):
    """One of the seven checks."""

    name: str
    ok: bool
    detail: str = ""


class DriftReport(NamedTuple):
    """What a comparison found; `help` says what to do about a drift, and notes are worth knowing and no drift."""

    drift: bool
    checks: tuple[Check, ...]
    files: tuple[Difference, ...] = ()
    notes: tuple[str, ...] = ()
    message: str = ""
    help: str = ""


# Paths


def quoted(path: bytes) -> str:
    """Return a path as text: as it is where it is UTF-8 and does not begin like a quoted one, else as git quotes it."""
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
    """Return the path that a text stands for."""
    data = text.encode("utf-8", "surrogateescape")
    if len(data) < len('""') or not (data.startswith(b'"') and data.endswith(b'"')):
        return data
    letters = {letter.encode(): bytes([byte]) for byte, letter in _ESCAPES.items()}
    return re.sub(_ESCAPED, lambda match: letters.get(match[1]) or bytes([int(match[1], 8)]), data[1:-1])


def printable_path(path: str) -> str:
    """Return the text of a path as a report for people shows it: quoted where it has what cannot be printed."""
    return path if path.isprintable() else f'"{"".join(map(_escaped, unquoted(path)))}"'


def first_paths(paths: Sequence[str]) -> str:
    """Return the first few of some paths, and how many more there are."""
    return first_of([*map(printable_path, paths)], SHOWN)


def count_files(count: int) -> str:
    """Return a number of files in words."""
    return "1 file" if count == 1 else f"{count:,} files"


# The record


def diff_sha256(diff: bytes) -> str:
    """Return the SHA-256 of a diff whose line ends are LF, the last line's too."""
    import hashlib

    text = diff.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
    return hashlib.sha256(text if text.endswith(b"\n") or not text else text + b"\n").hexdigest()


def file_list_json(changed: Iterable[ChangedFile]) -> str:
    """Return the list of changed files as canonical JSON."""
    return canonical_json([each._asdict() for each in changed])


def read_file_list(told: object) -> tuple[ChangedFile, ...] | None:
    """Return the changed files that a list from a front matter or an artifact holds, or None where it is none."""
    if not isinstance(told, (list, tuple)) or not all(isinstance(each, dict) and "path" in each for each in told):
        return None
    return tuple(
        ChangedFile(*(each.get(field, 0 if field == "size" else None) for field in ChangedFile._fields))
        for each in told
    )


def scope_hash(paths: Iterable[str]) -> str:
    """Return the hash of the paths in a task's scope: its first 16 digits."""
    import hashlib

    lines = b"".join(path.encode("utf-8", "surrogateescape") + b"\n" for path in sorted(paths))
    return hashlib.sha256(lines).hexdigest()[:16]


# The comparison


def differences(
    entries: Iterable[TreeEntry],
    expected: Callable[[TreeEntry], str | None],
    current: Callable[[TreeEntry], str | None],
) -> tuple[Difference, ...]:
    """Return what differs between a snapshot's tree and the one of now; `expected`, `current` give a file's hashes.

    A file that was renamed is told at both of its paths.
    """
    entries = tuple(entries)
    origins = {each.old_id: each for each in entries if not each.new_id and each.old_id not in _EMPTY}
    found = []
    for each in entries:
        change = _change(each)
        source = origins.pop(each.new_id, None) if change == "added" else None
        found.append(
            Difference(
                path=quoted(each.path),
                change="renamed" if source else change,
                expected=expected(source or each) if source or each.old_id else None,
                current=current(each) if each.new_id else None,
                origin=quoted(source.path) if source else "",
                is_submodule=_SUBMODULE in (each.old_mode, each.new_mode),
            )
        )
    return tuple(sorted(found))


def _change(entry: TreeEntry) -> str:
    if not entry.old_id:
        return "added"
    if not entry.new_id:
        return "removed"
    return "mode" if entry.old_id == entry.new_id else "modified"


def listed_differences(then: Sequence[ChangedFile], now: Sequence[ChangedFile]) -> tuple[Difference, ...]:
    """Return what differs between two lists of the files that differ from one base: for where the tree is lost."""
    before, after = ({each.path: each for each in told} for told in (then, now))
    found = [_listed(path, before.get(path), after.get(path)) for path in sorted({*before, *after})]
    return tuple(each for each in found if each)


def _listed(path: str, then: ChangedFile | None, now: ChangedFile | None) -> Difference | None:
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
    """Return the paths of the files that have another mode than the snapshot says, apart from new and gone ones."""
    both = (
        each for each in entries if each.old_id and each.new_id and _SUBMODULE not in (each.old_mode, each.new_mode)
    )
    return tuple(quoted(each.path) for each in both if each.old_mode != each.new_mode)


class TreeDifferences(NamedTuple):
    """What was found when a snapshot did not match at once, told to `drift_report`.

    `committed`: files that are not ours and differ between the base and HEAD; `own` are those of them in which the
    snapshot's own changes were committed, None where nobody can tell. `history`: "after", "merged" or "other", how HEAD
    follows the base. `is_clean`: nothing differs from HEAD any more, though the snapshot had changes. `ignored`: files
    of the snapshot that are there, and that git ignores now.
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
        """Whether what the snapshot kept was dropped, so that nothing can be put back from it."""
        return self.artifacts is Artifacts.PURGED


def drift_report(seen: TreeDifferences) -> DriftReport:
    """Return what was seen as a verdict: the seven checks, what happened as far as one can tell, and what to do."""
    drift = bool(seen.committed) or not seen.same_tree
    notes = _noted(seen.artifacts, seen.notes)
    if not seen.same_status and not drift:
        notes = (*notes, STAGED_OTHERWISE)
    if seen.outside:
        notes = (*notes, f"outside of the task's Repository Paths: {first_paths(seen.outside)}")
    what, help_ = _told(seen) if drift else ("", "")
    return DriftReport(drift, _checks(seen, drift=drift), seen.files or (), notes, what, help_)


def clean_report(artifacts: Artifacts = Artifacts.WHOLE, notes: tuple[str, ...] = ()) -> DriftReport:
    """Return the verdict that all is as a role left it."""
    checks = tuple(Check(name, ok=True) for name in CHECKS)
    return DriftReport(drift=False, checks=checks, notes=_noted(artifacts, notes))


def _noted(artifacts: Artifacts, notes: tuple[str, ...]) -> tuple[str, ...]:
    return (artifacts.value, *notes) if artifacts.value else notes


def _checks(seen: TreeDifferences, *, drift: bool) -> tuple[Check, ...]:
    contents = [each.path for each in seen.files or () if each.change != "mode"]
    lost = f"the snapshot's list of files {'was purged' if seen.purged else 'is lost'}" if seen.files is None else ""
    committed = f"{count_files(len(seen.committed))} committed since: {first_paths(seen.committed)}"
    found = {
        "base_commit": (not seen.committed, committed),
        "tree_state": (not seen.is_clean, "nothing differs from HEAD any more"),
        "checksums": (not contents and not lost, lost or f"{count_files(len(contents))}: {first_paths(contents)}"),
        "status": (seen.same_status or not drift, "git's status report is another one"),
        "metadata": (not seen.modes, f"another mode: {first_paths(seen.modes)}"),
        "scope": (seen.same_scope, "files within the Repository Paths appeared, vanished or were renamed"),
        "diff": (seen.same_tree, "the diff from the base commit is another one"),
    }
    checks = [Check(name, ok, "" if ok else detail) for name, (ok, detail) in found.items()]
    if drift or seen.same_status:
        return tuple(checks)
    return tuple(each._replace(detail=STAGED_OTHERWISE) if each.name == "status" else each for each in checks)


def _told(seen: TreeDifferences) -> tuple[str, str]:
    """Return what happened, and what to do about it."""
    accept = f'`taskstate snapshot resolve {seen.task_id} --note "WHY"`'
    tree = f"the working tree is not what {seen.role} left"
    changed = "" if seen.same_tree else f"; {tree}: {_which(seen)}"
    if seen.committed and seen.history == "other":
        what = f"the branch was rebased, reset or switched: HEAD does not come after the base commit {seen.base[:10]}"
        return f"{what}{changed}", f"go back to where the work began, or accept what is there: {accept}"
    if seen.committed and (seen.history == "merged" or seen.own == ()):
        what = f"other work was merged or pulled in since the base commit {seen.base[:10]}"
        return f"{what}: {first_paths(seen.committed)}{changed}", f"accept what is there: {accept}"
    if seen.committed:
        what = f"work was committed too early, before the task was complete: {first_paths(seen.own or seen.committed)}"
        help_ = f"take the commit back with `git reset --soft {seen.base[:10]}`, or accept it: {accept}"
        return f"{what}{changed}", help_
    return _edited(seen, tree, accept)


def _edited(seen: TreeDifferences, tree: str, accept: str) -> tuple[str, str]:
    """Return what happened where HEAD is where it was, and what to do about it."""
    restore = f"`taskstate snapshot verify {seen.task_id} --role {seen.role} --restore FILE`"
    if seen.purged:
        what = "nothing differs from HEAD any more" if seen.is_clean else f"changed since: {_which(seen)}"
        return f"{tree}; {what}", f"the snapshot was purged, so nothing can be put back from it; accept this: {accept}"
    paths = [each.path for each in seen.files or ()]
    if seen.ignored and set(seen.ignored) == set(paths):
        what = f"{tree}: git ignores now what it took in then: {_which(seen)}"
        return what, f"take back the rule that ignores it (`git check-ignore -v FILE` names it), or accept it: {accept}"
    if seen.files and all(each.is_submodule for each in seen.files):
        what = f"{tree}: another commit is checked out in the submodule {_which(seen)}"
        return what, f"check out the expected commit there (`git -C SUBMODULE checkout COMMIT`), or accept it: {accept}"
    more = f"; git ignores now: {first_paths(seen.ignored)}" if seen.ignored else ""
    if seen.is_clean:
        what = f"the changes that {seen.role} left are gone from the working tree: they were stashed or reset{more}"
        return what, f"bring them back with `git stash pop`, or by {restore}; or accept that they are gone: {accept}"
    by_hand = [each for each in paths if each not in seen.ignored]
    which = _which(seen) if seen.files is None else first_paths(by_hand)
    return f"{tree}; edited by hand since: {which}{more}", f"put files back by {restore}, or accept them: {accept}"


def _which(seen: TreeDifferences) -> str:
    if seen.files is None:
        why = "were purged" if seen.purged else "are lost"
        return f"which files differ cannot be told, since the snapshot's artifacts {why}"
    return first_paths([each.path for each in seen.files])
