"""Measures lint beside other tools that check or format Markdown, or check front matter, each with its defaults.

None of them does what another does: `tools.py` says what each looks at. The slowest get fewer files, since they take
seconds for each; taskstate is measured on the same ones.
"""

from __future__ import annotations

import math
import shutil
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks import corpus
from benchmarks.measurement import Compared, Measurement, repository
from benchmarks.timing import interleaved, program
from benchmarks.tools import TOOLS, installed, ordinary

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

_ROUNDS = 5
_FEW = {"markdownlint-cli2": 40, "mdformat": 40, "check-jsonschema": 40, "pymarkdown": 4}
_ALL = {"markdownlint-cli2": 1_000, "mdformat": 1_000, "check-jsonschema": 1_000, "pymarkdown": 20}
# At most this share of their time, where there is a target.
_SHARES = {"markdownlint-cli2": 1 / 50, "mdformat": 1 / 30, "pymarkdown": 1 / 500}
_SCHEMA = Path(__file__).resolve().parent.parent / "schemas" / "task.schema.json"
_COMMANDS: dict[str, Callable[[str], tuple[str, ...]]] = {
    "markdownlint-cli2": lambda tool: (tool, "**/*.md"),
    "mdformat": lambda tool: (tool, "--check", "."),
    "pymarkdown": lambda tool: (tool, "scan", "-r", "."),
    "check-jsonschema": lambda tool: ("sh", "-c", f'find . -name "*.yaml" | xargs "$0" --schemafile {_SCHEMA}', tool),
}


def beside(folder: Path) -> Iterator[Measurement]:
    """Measure a few files beside each tool."""
    return _beside(folder, _FEW)


def beside_all(folder: Path) -> Iterator[Measurement]:
    """Measure a thousand files beside each tool that takes minutes for them, and not hours."""
    return _beside(folder, _ALL)


def _beside(folder: Path, sizes: dict[str, int]) -> Iterator[Measurement]:
    for name, count in sizes.items():
        tool = TOOLS[name]
        what = f"lint cold, {count:,} files of 12 to 48 KB"
        try:
            command = _COMMANDS[name](installed(name))
        except RuntimeError as error:
            yield Measurement(what, f"{tool.version}, skipped: {error}", math.nan, 0)
            continue
        root = repository(folder / name)
        which = corpus.Corpus(name="beside", files=count, least=12, most=48, total="")
        for path in corpus.write(which, root):
            front = path.read_text(encoding="utf-8").split("---\n")[1]
            path.with_suffix(".yaml").write_text(front, encoding="utf-8")
        taken = interleaved(
            {"ours": program((ordinary().taskstate, "lint", "--no-cache"), root), "reference": program(command, root)},
            rounds=_ROUNDS,
        )
        yield Compared(what, tool.version, _SHARES.get(name, 0), f"it {tool.does}").by(taken)
        shutil.rmtree(root)
