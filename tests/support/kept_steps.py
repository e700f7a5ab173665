"""The steps of a history by name, with how often each is drawn: each takes a number and reads it as it likes.

A step that does not fit where it stands does nothing, so that a history stays one when parts of it are left out.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from tests.support.kept_commands import write_steps
from tests.support.kept_editors import Steps

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    Row = tuple[Callable[[Steps, int], None], int]


def _write(name: str) -> Callable[[Steps, int], None]:
    return partial(_play, name)


def _play(name: str, steps: Steps, n: int) -> None:
    steps.write(*_WRITES[name], n)


def _calmly(step: str) -> Callable[[Steps, int], None]:
    return lambda steps, n: steps.calmly(step, n)


_WRITES = write_steps()
COMMANDS: Mapping[str, Row] = {
    **{name: (_write(name), row.weight) for name, (row, _) in _WRITES.items()},
    "doctor": (Steps.doctor, 3),
}
# Commands of git that merge texts, so with our driver.
MERGES = ("merge", "rebase", "cherry-pick", "revert", "squash", "pull", "stash-pop")

STEPS: Mapping[str, Row] = {
    **COMMANDS,
    "add-aside": (Steps.add_aside, 2),
    "new-again": (Steps.new_again, 2),
    "fix": (Steps.fix, 6),
    "let-go": (Steps.let_go, 2),
    "stage": (Steps.stage, 2),
    "commit": (Steps.commit, 7),
    "amend": (Steps.amend, 2),
    "reset-soft": (Steps.reset_soft, 1),
    "reset-mixed": (Steps.reset_mixed, 1),
    "reset-hard": (Steps.reset_hard, 4),
    "checkout-files": (Steps.checkout_files, 4),
    "restore": (Steps.restore, 2),
    "switch": (Steps.switch, 5),
    "branch": (Steps.branch, 3),
    "branch-delete": (Steps.branch_delete, 1),
    "stash": (Steps.stash, 3),
    "stash-pop": (Steps.stash_pop, 2),
    "stash-drop": (Steps.stash_drop, 1),
    "clean": (Steps.clean, 2),
    "rebase": (Steps.rebase, 2),
    "cherry-pick": (Steps.cherry_pick, 2),
    "merge": (Steps.merge, 3),
    "abort": (Steps.abort, 2),
    "worktree-add": (Steps.worktree_add, 1),
    "worktree-enter": (Steps.worktree_enter, 2),
    "worktree-remove": (Steps.worktree_remove, 1),
    "gc": (Steps.gc, 2),
    "load": (Steps.load, 4),
    "save": (Steps.save, 5),
    "half": (Steps.half, 2),
    "crlf": (Steps.crlf, 1),
    "edit": (Steps.edit, 3),
    "remove": (Steps.remove, 1),
    "squash": (Steps.squash, 2),
    "revert": (Steps.revert, 1),
    "push": (Steps.push, 1),
    "pull": (Steps.pull, 2),
    "clone": (Steps.clone, 2),
    "slip": (Steps.slip, 2),
    "cut": (Steps.cut, 2),
    "format": (Steps.format, 2),
}

# Ordinary life: nothing that was not committed is ever taken away.
CALM: Mapping[str, Row] = {
    **COMMANDS,
    "commit": (Steps.commit, 12),
    "branch": (Steps.branch, 4),
    "put-aside": (Steps.put_aside, 4),
    "worktree-add": (Steps.worktree_add, 2),
    "worktree-enter": (Steps.worktree_enter, 3),
    "bisect": (Steps.bisect, 2),
    "clone": (Steps.clone, 4),
    "push": (Steps.push, 4),
    **{
        f"calm-{step.replace('_', '-')}": (_calmly(step), weight)
        for step, weight in {
            "switch": 10,
            "merge": 8,
            "rebase": 5,
            "squash": 3,
            "cherry_pick": 4,
            "revert": 4,
            "pull": 8,
            "amend": 2,
        }.items()
    },
}
