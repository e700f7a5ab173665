"""Measures briefs: the tokens saved on the sample project, and the time of `brief` among ten thousand tasks."""

from __future__ import annotations

from typing import TYPE_CHECKING

from benchmarks import corpus, sample
from benchmarks.measurement import Compared, Measurement, repository
from benchmarks.timing import interleaved, program
from benchmarks.tools import ordinary
from taskstate.brief.token_budget import budget
from taskstate.workspace.workspace import find_workspace

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

_TASKS = 10_000
_MOST = 0.2  # of the tokens of pasting everything


def saving(folder: Path) -> Iterator[Measurement]:
    """Measure the tokens that three roles need on the sample project."""
    sample.write(folder)
    workspace = find_workspace(folder, root=str(folder))
    tokens = budget(workspace, workspace.load(workspace.locate(sample.TASK)))
    counted = tokens.counter.name if tokens.counter.is_exact else f"{tokens.counter.name}, no tokenizer here"
    fewer = f"{tokens.saved(tokens.after, tokens.before)} % fewer"
    note = f"{tokens.before:,} tokens before, {tokens.after:,} after, {fewer}, by {counted}"
    yield Measurement(
        "tokens of export and brief for three roles", "pasting everything", tokens.after / tokens.before, _MOST, note
    )


def starting(folder: Path) -> Iterator[Measurement]:
    """Measure a brief among ten thousand tasks, as a whole process."""
    root = repository(folder)
    ((_, data),) = corpus.generate(corpus.Corpus(name="brief", files=1, least=16, most=16, total="16 KB"))
    for number in range(1, _TASKS + 1):
        text = data.replace(b'task_id: "1"', b'task_id: "%d"' % number)
        (root / ".taskstate" / "tasks" / f"task-{number}-state.md").write_bytes(text)
    taskstate, interpreter = ordinary()
    ours, reference = program((taskstate, "brief", "5000"), root), program((interpreter, "-c", "pass"), root)
    taken = interleaved({"ours": ours, "reference": reference})
    yield Compared(f"`brief` among {_TASKS:,} tasks", "`python -c pass`", 8.0).by(taken)
