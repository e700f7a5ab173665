"""Measures how the time and memory of whole commands grow: with the number of tasks, and with the size of a file."""

from __future__ import annotations

from typing import TYPE_CHECKING

from benchmarks import corpus
from benchmarks.linting import peak_megabytes
from benchmarks.measurement import Compared, Measurement, repository
from benchmarks.timing import exponent, interleaved, program
from benchmarks.tools import ordinary

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from benchmarks.timing import Seconds

_FILE = ".taskstate/tasks/task-1-state.md"
_TASKS = (10, 100, 1_000, 10_000)
_MOST_TASKS = 50_000
_SIZES = (1, 10, 100, 1_000, 5_000, 20_000)  # KB
_LEAST_TASKS = 1_000  # from here on a slope says something: below, starting the interpreter is most of the time
_ROUNDS = 5
_COMMANDS = {
    "next": ("next",),
    "brief": ("brief", "1"),
    "list": ("list",),
    "status": ("status",),
    "board": ("board",),
    "chain status": ("chain", "status"),
    "lint of one file": ("lint", _FILE),
}


def tasks(folder: Path, numbers: Sequence[int] = _TASKS) -> Iterator[Measurement]:
    """Measure commands with a warm cache in repositories of different sizes."""
    taken: dict[str, list[Seconds]] = {name: [] for name in _COMMANDS}
    root, place = repository(folder), ordinary()
    (root / "taskstate.toml").write_text('[lint]\nignore = ["TS410"]\n', encoding="utf-8")
    ((_, data),) = corpus.generate(corpus.Corpus(name="scale", files=1, least=4, most=4, total="4 KB"))
    done = 0
    for number in numbers:
        for task in range(done + 1, number + 1):
            text = data.replace(b'task_id: "1"', b'task_id: "%d"' % task)
            (root / ".taskstate" / "tasks" / f"task-{task}-state.md").write_bytes(text)
        done = number
        commands = {name: program((place.taskstate, *command), root) for name, command in _COMMANDS.items()}
        now = interleaved({**commands, "reference": program((place.python, "-c", "pass"), root)}, rounds=_ROUNDS)
        for name in _COMMANDS:
            taken[name].append(now[name])
            yield Compared(f"`{name}` among {number:,} tasks, warm", "`python -c pass`").by(now, name)
    large = [number for number in numbers if number >= _LEAST_TASKS]
    for name, times in taken.items() if len(large) > 1 else ():
        slope = exponent(large, [each.cpu for each in times[-len(large) :]])
        what = f"`{name}` against the number of tasks, {large[0]:,} to {large[-1]:,}"
        yield Measurement(what, "linear: the exponent of CPU time", slope, 1.05)


def most_tasks(folder: Path) -> Iterator[Measurement]:
    """Measure the same up to the largest repository."""
    return tasks(folder, (*_TASKS, _MOST_TASKS))


def sizes(folder: Path, kilobytes: Sequence[int] = _SIZES) -> Iterator[Measurement]:
    """Measure lint of one file of different sizes, and its memory, as a whole process."""
    times, place = [], ordinary()
    for size in kilobytes:
        root = repository(folder / str(size), git=False)
        (path,) = corpus.write(corpus.Corpus(name=f"{size} KB", files=1, least=size, most=size, total=""), root)
        command = (place.taskstate, "lint", "--no-cache", str(path))
        taken = interleaved(
            {"ours": program(command, root), "reference": program((place.python, "-c", "pass"), root)}, rounds=_ROUNDS
        )
        times.append(max(taken["ours"].cpu - taken["reference"].cpu, 1e-3))
        note = f"{peak_megabytes(command, root):.0f} MB of memory"
        yield Compared(f"lint of one file of {size:,} KB", "`python -c pass`", 0, note).by(taken)
    what = f"lint against file size, {kilobytes[0]:,} KB to {kilobytes[-1]:,} KB, whole process"
    yield Measurement(what, "linear: the exponent of CPU time", exponent(kilobytes, times), 1.05)
