"""Measures what a hook costs an agent's client: the time of each event in a repository with 500 tasks."""

from __future__ import annotations

import json
import subprocess
from typing import TYPE_CHECKING

from benchmarks import corpus
from benchmarks.measurement import Measurement, repository
from benchmarks.timing import interleaved, program
from benchmarks.tools import ordinary
from taskstate.setup.clients import EVENTS

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

_TASKS, _MOST = 500, 0.3  # seconds
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
    ((_, data),) = corpus.generate(corpus.Corpus(name="hook", files=1, least=16, most=16, total="16 KB"))
    for number in range(1, _TASKS + 1):
        text = data.replace(b'task_id: "1"', b'task_id: "%d"' % number)
        (root / ".taskstate" / "tasks" / f"task-{number}-state.md").write_bytes(text)
    author = ("-c", "user.name=bench", "-c", "user.email=bench@example.invalid")
    for command in (("add", "--all"), (*author, "commit", "--quiet", "--no-verify", "--message=begin")):
        subprocess.run(("git", *command), cwd=root, check=True)
    edited = root / ".taskstate" / "tasks" / "task-7-state.md"
    edited.write_bytes(edited.read_bytes().replace(b"title:", b"title: "))
    given = json.dumps(_FIELDS | {"cwd": str(root)}).encode()
    taken = interleaved({event: program((ordinary().taskstate, "hook", event), root, given) for event in EVENTS})
    for event, seconds in taken.items():
        yield Measurement(f"`hook {event}` among {_TASKS} tasks", "0.3 s", seconds / _MOST, 1.0, f"{seconds:.2f} s")
