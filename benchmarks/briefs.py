"""What a brief saves and costs: tokens on the sample project, and the time to start among ten thousand tasks."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks import corpus, sample
from benchmarks.answer import Answer, ratio, repository
from benchmarks.timing import interleaved, program, python
from taskstate.workflow.token_budget import budget
from taskstate.workspace.workspace import find_workspace

if TYPE_CHECKING:
    from collections.abc import Iterator

_TASKS = 10_000
_MOST = 0.2  # of the tokens that pasting takes


def saving(folder: Path) -> Iterator[Answer]:
    """Yield the answer on the tokens that three roles need on the sample project."""
    sample.write(folder)
    workspace = find_workspace(folder, root=str(folder))
    told = budget(workspace, workspace.load(workspace.locate(sample.TASK)))
    counted = told.counter.name if told.counter.is_exact else f"{told.counter.name}, no tokenizer here"
    fewer = f"{told.saved(told.after, told.before)} % fewer"
    note = f"{told.before:,} tokens before, {told.after:,} after, {fewer}, by {counted}"
    yield Answer(
        "tokens of export and brief for three roles", "pasting everything", told.after / told.before, _MOST, note
    )


def starting(folder: Path) -> Iterator[Answer]:
    """Yield the answer on a brief among ten thousand tasks, as a whole process."""
    root = repository(folder)
    ((_, data),) = corpus.generate(corpus.Corpus(name="brief", files=1, least=16, most=16, total="16 KB"))
    for number in range(1, _TASKS + 1):
        text = data.replace(b'task_id: "1"', b'task_id: "%d"' % number)
        (root / ".taskstate" / "tasks" / f"task-{number}-state.md").write_bytes(text)
    command = (str(Path(sys.executable).with_name("taskstate")), "brief", "5000")
    taken = interleaved({"ours": program(command, root), "floor": python(("-c", "pass"), root)})
    yield Answer(f"`brief` among {_TASKS:,} tasks", "`python -c pass`", ratio(taken), 8.0)
