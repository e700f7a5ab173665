"""How long `next` takes among ten thousand tasks that wait for one another, when nothing changed since the last run."""

from __future__ import annotations

import random
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks import corpus
from benchmarks.answer import Answer, ratio, repository
from benchmarks.timing import interleaved, program, python

if TYPE_CHECKING:
    from collections.abc import Iterator

_TASKS = 10_000
_DONE = 3_000  # of them, which are complete
_NEAR = 50  # a task depends on tasks that are so many before it at most


def choosing(folder: Path) -> Iterator[Answer]:
    """Yield the answer on choosing a task, as a whole process; a run before it fills the memory."""
    root = repository(folder)
    ((_, data),) = corpus.generate(corpus.Corpus(name="next", files=1, least=4, most=4, total="4 KB"))
    chance = random.Random(1)  # noqa: S311 - a corpus, and no secret
    for number in range(1, _TASKS + 1):
        upstream = sorted({chance.randrange(max(1, number - _NEAR), number) for _ in range(2)} if number > 1 else ())
        told = {
            b'task_id: "1"': f'task_id: "{number}"\ndepends_on: [{", ".join(map(str, upstream))}]',
            b"status: in_progress\nagent": f"status: {'complete' if number < _DONE else 'created'}\nagent",
            b"priority: P1": f"priority: P{number % 4}",
        }
        text = data
        for old, new in told.items():
            text = text.replace(old, new.encode(), 1)
        (root / ".taskstate" / "tasks" / f"task-{number}-state.md").write_bytes(text)
    command = (str(Path(sys.executable).with_name("taskstate")), "next")
    taken = interleaved({"ours": program(command, root), "floor": python(("-c", "pass"), root)})
    yield Answer(f"`next` among {_TASKS:,} tasks, warm", "`python -c pass`", ratio(taken), 8.0)
