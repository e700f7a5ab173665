"""Writes measurements as a Markdown table, as JSON, as a plot, and as the page of the documentation."""

from __future__ import annotations

import json
import math
import os
import platform
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks.measurement import Measurement
from benchmarks.plot import bars
from benchmarks.timing import Seconds
from benchmarks.tools import TASKSTATE_DOES, TASKSTATE_DOES_NOT, TOOLS

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from typing import Any

ROOT = Path(__file__).resolve().parent.parent
RESULTS = ROOT / "benchmarks" / "results.json"
PAGE, PLOT = ROOT / "docs" / "performance.md", ROOT / "docs" / "performance.svg"
_HEAD = """\
# Performance

**How long do commands take, beside other tools?**

`make bench` writes these figures. Each ratio is taskstate's figure divided by that of the reference beside it, measured
alternately in one run as the median of at least five rounds: times depend on the machine, these ratios much less.
"CPU" is the same ratio of processor time, that of child processes included. Times are medians by the clock, with the
fastest and the slowest round in brackets. "Cold" means without a cache from an earlier run, "warm" that nothing has
changed since. The corpora come from a seeded generator (`benchmarks/corpus.py`), with the same bytes everywhere. A row
without times holds a ratio alone. Whole processes are those of an ordinary installation, in an environment of its own.

Whether a change makes a command slower is watched in another way: continuous integration counts calls, questions to the
disk, processes of git and imported modules, and fails where one of them has grown by 30 % (`benchmarks/counts.py`).

![The ratios of each row with a target as a share of that target](performance.svg)

## What each tool does

No two of these tools do the same. Each runs with its defaults, in a version that `benchmarks/tools.py` pins, and reads
every file.

"""


def table(measurements: Iterable[Measurement]) -> str:
    """Return the measurements as a Markdown table."""
    rows = ["| benchmark | reference | ratio | CPU | target | taskstate | reference took |", "|" + " --- |" * 7]
    rows += map(_row, measurements)
    return "\n".join(rows) + "\n"


def _row(each: Measurement) -> str:
    note = f" ({each.note})" if each.note else ""
    cpu = each.ours.cpu / each.theirs.cpu if each.ours and each.theirs and each.theirs.cpu else math.nan
    target = f"{each.target:.3g}" if each.target else ""
    cells = (each.name, f"{each.reference}{note}", _figure(each.ratio), _figure(cpu), target)
    return f"| {' | '.join((*cells, _time(each.ours), _time(each.theirs)))} |"


def _figure(value: float) -> str:
    return "" if math.isnan(value) else f"{value:.3g}"  # none: the reference was skipped


def _time(seconds: Seconds | None) -> str:
    if seconds is None:
        return ""
    spread = "" if math.isnan(seconds.low) else f" ({1000 * seconds.low:.0f} to {1000 * seconds.high:.0f})"
    return f"{1000 * seconds:.0f} ms{spread}"


def record(measured: Mapping[str, Sequence[Measurement]]) -> None:
    """Write the measurements of benchmarks into the record, the page and the plot; those of others stay.

    The record is the JSON file `results.json`.
    """
    results: dict[str, Any] = json.loads(RESULTS.read_text(encoding="utf-8")) if RESULTS.exists() else {}
    python = ".".join(platform.python_version_tuple()[:2])
    machine = f"Python {python}, {os.cpu_count()} cores, {platform.system()} on {platform.machine()}"
    for name, measurements in measured.items():
        results[name] = {"machine": machine, "rows": [_as_json(each) for each in measurements]}
    RESULTS.write_text(json.dumps(results, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    write_page(results)


def write_page(results: Mapping[str, Any]) -> None:
    """Write the page and the plot from the record."""
    parts, plotted = [_HEAD, _tools(), "\n## The figures\n"], []
    for name, result in results.items():
        measurements = [_from_json(row) for row in result["rows"]]
        parts.append(f"\n### {name}\n\nMeasured with {result['machine']}.\n\n{table(measurements)}")
        plotted += [
            (each.name, each.reference, each.ratio / each.target)
            for each in measurements
            if each.target and not math.isnan(each.ratio)
        ]
    PAGE.write_text("".join(parts), encoding="utf-8")
    PLOT.write_text(bars(plotted), encoding="utf-8")


def _tools() -> str:
    rows = ["| tool | what it does | what it does not do |", "| --- | --- | --- |"]
    rows.append(f"| taskstate | {TASKSTATE_DOES} | {TASKSTATE_DOES_NOT} |")
    rows += [f"| {tool.version} | {tool.does} | {tool.does_not} |" for tool in TOOLS.values()]
    return "\n".join(rows) + "\n"


def _as_json(each: Measurement) -> dict[str, Any]:
    values = each._asdict() | {name: _times(getattr(each, name)) for name in ("ours", "theirs")}
    return {name: None if isinstance(value, float) and math.isnan(value) else value for name, value in values.items()}


def _times(seconds: Seconds | None) -> list[float] | None:
    if seconds is None:
        return None
    times = (float(seconds), seconds.cpu, seconds.low, seconds.high)
    return [-1.0 if math.isnan(time) else round(time, 6) for time in times]


def _from_json(row: Mapping[str, Any]) -> Measurement:
    values = {**row, "ratio": math.nan if row["ratio"] is None else row["ratio"]}
    for name in ("ours", "theirs"):
        values[name] = row[name] and Seconds(*(math.nan if time < 0 else time for time in row[name]))
    return Measurement(**values)
