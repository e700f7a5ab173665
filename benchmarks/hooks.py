"""Measures what a hook costs an agent's client: the time of each event in a repository with 500 tasks."""

from __future__ import annotations

import json
import subprocess
from typing import TYPE_CHECKING

from benchmarks.measurement import Compared, Measurement, repository
from benchmarks.timing import interleaved, program
from benchmarks.tools import ordinary
from taskstate.setup.clients import AFTER_EDIT, BEFORE_EDIT, EVENTS, STOP
from taskstate.workspace.workspace import find_workspace

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from benchmarks.timing import Seconds

_TASKS, _ROUNDS = 500, 30
_TARGETS = {BEFORE_EDIT: 6.0, AFTER_EDIT: 6.0, STOP: 8.0}
_FIELDS = {
    "source": "startup",
    "tool_input": {
        "file_path": ".taskstate/tasks/task-7-state.md",
        "old_string": "title:",
        "new_string": "title: ",
        "command": "git commit --all --message work",
    },
}


def hooks(folder: Path) -> Iterator[Measurement]:
    """Measure each event, as a whole process."""
    root = repository(folder)
    place, edited = ordinary(), root / ".taskstate" / "tasks" / "task-7-state.md"
    new = (place.taskstate, "new", "7", "--title", "T", "--description", "D", "--criterion", "C")
    subprocess.run(new, cwd=root, check=True, stdout=subprocess.DEVNULL)
    data = edited.read_bytes()
    for number in range(1, _TASKS + 1):
        text = data.replace(b'task_id: "7"', b'task_id: "%d"' % number).replace(b"Task #7:", b"Task #%d:" % number)
        edited.with_name(f"task-{number}-state.md").write_bytes(text)
    author = ("-c", "user.name=bench", "-c", "user.email=bench@example.invalid")
    for command in (("add", "--all"), (*author, "commit", "--quiet", "--no-verify", "--message=begin")):
        subprocess.run(("git", *command), cwd=root, check=True)
    subprocess.run((place.taskstate, "start", "7"), cwd=root, check=True, stdout=subprocess.DEVNULL)
    (root / "new.txt").write_bytes(b"new\n")
    stops = find_workspace(root).private.cache("stops.json") or root / "none"  # only without a private folder
    given = json.dumps(_FIELDS | {"cwd": str(root)}).encode()
    candidates = {event: program((place.taskstate, "hook", event), root, given) for event in EVENTS}
    # Each finds what it has not seen yet: a file that was just written, and a turn that nobody was reminded of.
    candidates[AFTER_EDIT] = _after(lambda: edited.write_bytes(edited.read_bytes() + b"\n"), candidates[AFTER_EDIT])
    candidates[STOP] = _after(lambda: stops.unlink(missing_ok=True), candidates[STOP])
    taken = interleaved({"reference": program((place.python, "-c", "pass"), root), **candidates}, rounds=_ROUNDS)
    for event in EVENTS:
        name = f"`hook {event}` among {_TASKS} tasks"
        yield Compared(name, "`python -c pass`", _TARGETS.get(event, 0)).by(taken, event)


def _after(change: Callable[[], object], candidate: Callable[[], Seconds]) -> Callable[[], Seconds]:
    """Return a candidate before whose every run something is changed."""

    def run() -> Seconds:
        change()
        return candidate()

    return run
