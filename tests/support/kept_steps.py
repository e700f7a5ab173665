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
    "add-aside": (Steps.add_aside, 4),
    "new-again": (Steps.new_again, 4),
    "fix": (Steps.fix, 12),
    "let-go": (Steps.let_go, 4),
    "stage": (Steps.stage, 4),
    "commit": (Steps.commit, 14),
    "amend": (Steps.amend, 4),
    "reset-soft": (Steps.reset_soft, 2),
    "reset-mixed": (Steps.reset_mixed, 2),
    "reset-hard": (Steps.reset_hard, 8),
    "checkout-files": (Steps.checkout_files, 8),
    "restore": (Steps.restore, 4),
    "switch": (Steps.switch, 10),
    "branch": (Steps.branch, 6),
    "branch-delete": (Steps.branch_delete, 2),
    "stash": (Steps.stash, 6),
    "stash-pop": (Steps.stash_pop, 4),
    "stash-drop": (Steps.stash_drop, 2),
    "clean": (Steps.clean, 4),
    "rebase": (Steps.rebase, 4),
    "cherry-pick": (Steps.cherry_pick, 4),
    "merge": (Steps.merge, 6),
    "abort": (Steps.abort, 4),
    "worktree-add": (Steps.worktree_add, 2),
    "worktree-enter": (Steps.worktree_enter, 4),
    "worktree-remove": (Steps.worktree_remove, 2),
    "gc": (Steps.gc, 4),
    "load": (Steps.load, 8),
    "save": (Steps.save, 10),
    "half": (Steps.half, 4),
    "crlf": (Steps.crlf, 2),
    "edit": (Steps.edit, 6),
    "remove": (Steps.remove, 2),
    "squash": (Steps.squash, 4),
    "revert": (Steps.revert, 2),
    "push": (Steps.push, 2),
    "pull": (Steps.pull, 4),
    "clone": (Steps.clone, 4),
    "slip": (Steps.slip, 4),
    "cut": (Steps.cut, 4),
    "format": (Steps.format, 4),
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
