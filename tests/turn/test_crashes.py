"""`start` and `finish` that are killed at any step leave the state before or after, and the same command goes on."""

from __future__ import annotations

import contextlib
import os
import shutil
from pathlib import Path

import pytest

from taskstate.__main__ import main
from tests.support.crashing import KILL_EVERY, forks, killed
from tests.support.git_place import GitPlace
from tests.support.place import TASK, Place

pytestmark = [pytest.mark.slow, forks]

_START = ("start", TASK, "--role", "implementer", "--agent", "ann")
_FINISH = ("finish", TASK, "--did", "Built it.", "--state", "s", "--next", "n")
_COMPLETE = (*_FINISH, "--complete", "--output", "../output.md", "--pass", "jwt-1", "--check", "1", "--check", "2")
_EVERY = KILL_EVERY + KILL_EVERY // 2  # a turn has many steps, and three commands are run after each kill
_CONFIG = '[validation]\n"*" = ["sh check.sh"]\n'

# The commands that run before the one that is killed, and at how many steps at least it can be.
JOBS = {
    "start": ((), _START, 20),
    "start after a take-over": ((_START,), (*_START[:-1], "bob", "--take-over", "gone"), 20),
    "finish": ((_START,), _FINISH, 40),
    "finish --pause --handoff": ((_START,), (*_FINISH, "--pause", "--handoff"), 20),
    "finish --abandon": ((_START,), (*_FINISH, "--abandon", "--note", "wrong"), 20),
    "finish --send-back": (
        (_START, (*_FINISH[:3], "First.", *_FINISH[4:]), ("start", TASK, "--agent", "ann")),
        (*_FINISH, "--send-back", "implementer", "--finding", "slow"),
        20,
    ),
    "finish --complete": ((("start", TASK, "--agent", "ann"),), _COMPLETE, 40),
}


def run(*command: str) -> int:
    """Run a command in this process without its output."""
    with (
        Path(os.devnull).open("w") as nowhere,
        contextlib.redirect_stdout(nowhere),
        contextlib.redirect_stderr(nowhere),
    ):
        return main(list(command))


def seen(root: Path) -> tuple[object, ...]:
    """Return what a turn is to change whole or not at all: turn, role, proofs, handoffs and so on; last: sessions."""
    place = Place.__new__(GitPlace)
    place.root = root
    values, text = place.values, place.text
    delta, role = values.get("delta", {}), values.get("coordination", {})
    statuses = {name: each.get("status") for name, each in role.items()}
    left, turn = delta.get("left") is not None, delta.get("turn", {}) or {}
    events = [each["event"] for each in values.get("audit", {}).get("events", [])]
    proofs = (text.count('"passes": true'), text.count("- [x]"))
    snapshots = sorted(delta.get("snapshots", {}))
    opened = values.get("handoffs", {}).get("open")
    handed = bool(opened) and (place.workspace.state_root / str(opened)).is_file()
    turn_of = (turn.get("role"), turn.get("agent"))
    return (turn_of, statuses, left, events, proofs, handed, snapshots, values["status"], len(place.numbers()))


@pytest.fixture
def origin(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a repository with a check that may run."""
    monkeypatch.setenv("TASKSTATE_ACTOR", "somebody")
    (tmp_path / "output.md").write_text("### Summary\n\nDone.\n\n### Files Created/Modified\n\n- `a.txt`\n")
    place = GitPlace(tmp_path / "origin")
    place.write("check.sh", "echo fine\n")
    place.configure(_CONFIG)
    place.commit("a check")
    return place.root


@pytest.mark.parametrize("name", JOBS)
def test_a_kill_at_any_step(origin: Path, tmp_path: Path, name: str) -> None:
    """Turn and role are whole before and after; the command again ends as one that was not killed; a session is one."""
    before, command, steps = JOBS[name]
    work = tmp_path / "work"  # always the same path: what may run is remembered by path
    origin.rename(work)
    place = Place.__new__(GitPlace)
    place.root = work
    place.trust()
    with contextlib.chdir(work):
        for each in before:
            assert run(*each) == 0, each
        (work / "a.txt").write_text("built\n")
    shutil.copytree(work, origin)
    earlier = seen(work)
    with contextlib.chdir(work):
        assert run(*command) == 0
    later = seen(work)
    number, died = 1 + sorted(JOBS).index(name) % _EVERY, True
    while died:
        shutil.rmtree(work)
        shutil.copytree(origin, work)
        with contextlib.chdir(work):
            died = killed(lambda: run(*command), number, torn=number % 2 == 0)
            assert run("status") == 0  # the next command, whichever it is, finishes what was begun
            now = seen(work)
            recorded = (*earlier[:-2], "in_progress", later[-1])  # the session is on disk before all else
            assert now in (earlier, later, recorded, (*earlier[:-1], later[-1])), number
            assert run(*command) == 0, number
            assert seen(work) == later, number
            assert run("lint") == 0, number
        number += _EVERY
    assert number > steps
