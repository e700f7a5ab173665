"""Tells what came of a comparison with a snapshot: the checks, the probable cause of drift, and what to do about it.

Pure. The causes are told apart, since the remedy differs: a file edited by hand, another branch checked out, changes
stashed or reset, work that was never in this clone.
"""

from __future__ import annotations

from taskstate.messages import first_of, typed_path
from taskstate.snapshots.drift import (
    COMMITS,
    LAST_TURN,
    LOG,
    SHOWN,
    STAGED_OTHERWISE,
    TREE_DIGITS,
    Artifacts,
    Check,
    DriftReport,
    count_files,
    first_paths,
    printable_path,
    unquoted,
)
from taskstate.typed import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from taskstate.snapshots.drift import Difference, Explained, TreeDifferences
    from taskstate.storage.git.movement import Commit

ANY_FILE = "--restore FILE"


def drift_report(found: TreeDifferences) -> DriftReport:
    """Return the report on a comparison: the seven checks, the probable cause, and what to do."""
    message, help_ = _cause(found) if found.is_drift else ("", "")
    return DriftReport(
        found.is_drift,
        _checks(found),
        found.files or (),
        _notes(found),
        message,
        help_,
        found.explained,
        found.committed,
        tuple(each.words for each in found.commits),
        found.at_work,
        found.superseded_by,
        found.same_tree or found.artifacts is not Artifacts.ABSENT,
        found.tree,
        f"taskstate snapshot diff {found.task_id} --role {found.role} --type now" if _has_diff(found) else "",
    )


def _has_diff(found: TreeDifferences) -> bool:
    return bool(found.files) and found.is_drift and found.artifacts is Artifacts.WHOLE


def _notes(found: TreeDifferences) -> tuple[str, ...]:
    notes = [found.artifacts.value, *found.notes]
    if found.at_work:
        count = count_files(len(found.files or ()))
        notes.append(f"{found.at_work} is at work: {count} differ so far, which is not drift")
    if found.superseded_by:
        count = (
            "what it left is not here" if found.files is None else f"{count_files(len(found.files))} it left otherwise"
        )
        now = f"`taskstate snapshot verify {found.task_id} --role {found.superseded_by}` compares the working tree"
        notes.append(f"{found.superseded_by} went on from it and is done ({count}); {now}")
    if found.committed and not found.held:
        told = f"{first_paths(found.committed)} ({_commits_of(found, found.committed)})"
        notes.append(f"committed since, as {found.role} left it: {told}")
    notes += [_explanation(found, by) for by in sorted({each.by for each in found.explained if not each.turn})]
    notes += put_down(found.explained)
    if not (found.same_status or found.is_drift or found.commits or found.explained):
        notes.append(STAGED_OTHERWISE)
    if found.outside:
        notes.append(f"outside of the task's Repository Paths: {first_paths(found.outside)}")
    return tuple(filter(None, notes))


def _explanation(found: TreeDifferences, by: str) -> str:
    paths = tuple(each.path for each in found.explained if each.by == by and not each.turn)
    if by == LOG:
        return f"the log of the checks, which is not drift: {first_paths(paths)}"
    if by != COMMITS:
        return f"task {by} changed, which is not drift: {first_paths(paths)}"
    return f"came in by commits, which is not drift: {first_paths(paths)} ({_commits_of(found, paths)})"


def put_down(explained: Sequence[Explained]) -> tuple[str, ...]:
    """Return which files nobody has recorded so far, and that count as the work of an open turn, by turn."""
    by_turn = dict[str, list[str]]()
    for each in explained:
        if each.turn:
            by_turn.setdefault(f"the open turn of task {each.by} ({each.turn})", []).append(each.path)
    return tuple(f"counted as work of {turn}: {first_paths(by_turn[turn])}" for turn in sorted(by_turn))


def _commits_of(found: TreeDifferences, paths: Sequence[str]) -> str:
    """Return in words the commits that touched some paths."""
    return first_of([each.words for each in _touching(found, paths) or found.commits], SHOWN)


def _touching(found: TreeDifferences, paths: Sequence[str]) -> list[Commit]:
    wanted = {unquoted(path) for path in paths}
    return [each for each in found.commits if wanted & {path.encode("utf-8", "surrogateescape") for path in each.paths}]


def _checks(found: TreeDifferences) -> tuple[Check, ...]:
    contents = [each.path for each in found.files or () if each.change != "mode"]
    lost = f"the snapshot's list of files {found.artifacts.fate}" if found.files is None else ""
    held, drift = found.held or (), found.is_drift
    checks = {
        "base_commit": (not held, f"{count_files(len(held))} committed since: {first_paths(held)}"),
        "tree_state": (not found.is_clean or not drift, "nothing differs from HEAD any more"),
        "checksums": (not contents and not lost, lost or f"{count_files(len(contents))}: {first_paths(contents)}"),
        "status": (found.same_status or not drift, "git's status report differs"),
        "metadata": (not found.modes, f"other file modes: {first_paths(found.modes)}"),
        "scope": (found.same_scope or not drift, "files in the Repository Paths appeared, vanished or were renamed"),
        "diff": (found.same_tree or not drift, "the diff from the base differs"),
    }
    checks |= {name: (True, "") for name in checks if found.at_work or found.superseded_by}
    results = [Check(name, ok, "" if ok else detail) for name, (ok, detail) in checks.items()]
    if STAGED_OTHERWISE not in _notes(found):
        return tuple(results)
    return tuple(each._replace(detail=STAGED_OTHERWISE) if each.name == "status" else each for each in results)


def _cause(found: TreeDifferences) -> tuple[str, str]:
    """Return the cause of the drift, and the advice."""
    bound = f" --expect-tree {found.tree[:TREE_DIGITS]}" if found.tree else ""
    accept = f'`taskstate snapshot resolve {found.task_id} --note "WHY"{bound}`'
    tree = f"the working tree is not what {found.role} left"
    if not found.held:
        return _edited(found, tree, accept)
    changed = f"; {tree}: {_differing_paths(found)}" if found.files is None or found.files else ""
    what = f"commits are held, and work was committed before the task was complete: {first_paths(found.held)}"
    return f"{what}{changed}", f"accept what is there: {accept}"


def _edited(found: TreeDifferences, tree: str, accept: str) -> tuple[str, str]:
    """Return cause and remedy for files that differ."""
    if found.artifacts is Artifacts.PURGED:
        cause = "nothing differs from HEAD any more" if found.is_clean else f"changed since: {_differing_paths(found)}"
        return f"{tree}; {cause}", f"the snapshot was purged, so nothing can be put back from it; accept this: {accept}"
    paths = [each.path for each in found.files or ()]
    if found.ignored and set(found.ignored) == set(paths):
        cause = f"{tree}: git now ignores files of the snapshot: {_differing_paths(found)}"
        help_ = "remove the rule that ignores it (`git check-ignore -v FILE` names it), or accept it"
        return cause, f"{help_}: {accept}"
    if found.files and all(each.is_submodule for each in found.files):
        cause = f"{tree}: another commit is checked out in the submodule {_differing_paths(found)}"
        help_ = "check out the expected commit there (`git -C SUBMODULE checkout COMMIT`), or accept it"
        return cause, f"{help_}: {accept}"
    ignored = f"; git ignores now: {first_paths(found.ignored)}" if found.ignored else ""
    if found.left:
        cause = f"{tree}: HEAD does not contain {first_of([each.words for each in found.left], SHOWN)}"
        help_ = f"check out a commit that contains it, or accept what is there: {accept}"
        return f"{cause}; {_differing_paths(found)}{ignored}", help_
    if found.artifacts is Artifacts.ABSENT:
        return _elsewhere(found, tree, accept)
    return _edited_here(found, tree, accept, ignored)


def _edited_here(found: TreeDifferences, tree: str, accept: str, ignored: str) -> tuple[str, str]:
    """Return cause and remedy for files that somebody edited, or took back, in this clone."""
    named = to_restore(found.files or ()) or ANY_FILE
    restore = f"`taskstate snapshot verify {found.task_id}{_of_role(found)} {named}`"
    paths = [each.path for each in found.files or ()]
    commits = _touching(found, paths)
    if found.is_clean and not commits:
        what = found.taken_by or "the files were put back to what HEAD has"
        cause = f"the changes that {found.role} left are gone from the working tree: {what}{ignored}"
        return cause, f"bring them back by {restore}; or accept that they are gone: {accept}"
    by_hand = [each for each in paths if each not in found.ignored]
    if found.files is None:
        return f"{tree}; {_differing_paths(found)}", f"look at what is there, and accept it: {accept}"
    help_ = f"put files back by {restore}, or accept them: {accept}"
    if all(each.change == "added" for each in found.files):
        help_ = f"delete them, or accept them: {accept}"
    if found.artifacts is Artifacts.BROKEN:
        help_ = f"accept what is there: {accept}"
    in_commits = f" ({first_of([each.words for each in commits], SHOWN)})" if commits else ""
    verb = "edited and committed since" if commits and found.is_clean else "edited by hand since"
    return f"{tree}; {verb}: {first_paths(by_hand)}{in_commits}{ignored}", help_


def _of_role(found: TreeDifferences) -> str:
    return "" if found.role == LAST_TURN else f" --role {found.role}"


def to_restore(differences: Sequence[Difference]) -> str:
    """Return the option that puts back what differs, with the names of the files; empty where they are too many."""
    names = [typed_path(printable_path(each.origin or each.path)) for each in differences if each.change != "added"]
    return " ".join(["--restore", *names]) if 0 < len(names) <= SHOWN else ""


def _elsewhere(found: TreeDifferences, tree: str, accept: str) -> tuple[str, str]:
    """Return cause and remedy where what was left was never here: nobody need have edited anything in this clone."""
    help_ = f"have it committed and pushed in the clone where it was left, then `git pull`; or accept this: {accept}"
    if found.files is None:
        return f"{tree}, which is not in this clone; {_differing_paths(found)}", help_
    return f"{tree}, which no commit in this clone has; not as it says: {_differing_paths(found)}", help_


def _differing_paths(found: TreeDifferences) -> str:
    """Return the paths that differ, or the reason why they are unknown."""
    if found.files is None:
        return f"which files differ cannot be told, since the snapshot's artifacts {found.artifacts.fate}"
    return first_paths([each.path for each in found.files])
