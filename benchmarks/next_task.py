"""Measures what one asks for all day among ten thousand tasks that depend on each other, with a warm cache."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

from benchmarks import corpus
from benchmarks.measurement import Compared, repository
from benchmarks.timing import interleaved, program
from benchmarks.tools import ordinary

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from benchmarks.measurement import Measurement

_TASKS = 10_000
_DONE = 3_000  # the number of complete ones among them
_COMMANDS = (
    (("next",), 8.0),
    (("list",), 8.0),
    (("brief", str(_TASKS // 2)), 8.0),
    (("status",), 0.0),
    (("board",), 0.0),
    (("show", "7"), 0.0),
)
_NEAR = 50  # a task depends on tasks at most this far before it


def next_task(folder: Path) -> Iterator[Measurement]:
    """Measure each command as a whole process; the warm-up run fills the cache."""
    root = repository(folder)
    ((_, data),) = corpus.generate(corpus.Corpus(name="next", files=1, least=4, most=4, total="4 KB"))
    chance = random.Random(1)  # noqa: S311 - test data, not a secret
    for number in range(1, _TASKS + 1):
        upstream = sorted({chance.randrange(max(1, number - _NEAR), number) for _ in range(2)} if number > 1 else ())
        replacements = {
            b'task_id: "1"': f'task_id: "{number}"\ndepends_on: [{", ".join(map(str, upstream))}]',
            b"status: in_progress\nagent": f"status: {'complete' if number < _DONE else 'created'}\nagent",
            b"priority: P1": f"priority: P{number % 4}",
        }
        text = data
        for old, new in replacements.items():
            text = text.replace(old, new.encode(), 1)
        (root / ".taskstate" / "tasks" / f"task-{number}-state.md").write_bytes(text)
    taskstate, interpreter = ordinary()
    for command, target in _COMMANDS:
        ours, reference = program((taskstate, *command), root), program((interpreter, "-c", "pass"), root)
        taken = interleaved({"ours": ours, "reference": reference})
        yield Compared(f"`{command[0]}` among {_TASKS:,} tasks, warm", "`python -c pass`", target).by(taken)
