"""Measures the language server, a real process: from a keystroke to its findings, and the memory of many edits."""

from __future__ import annotations

import subprocess
import time
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING

from benchmarks import corpus
from benchmarks.measurement import Measurement, repository
from tests.support.language_client import LanguageClient

if TYPE_CHECKING:
    from collections.abc import Iterator

_TARGET = 0.05  # seconds
_EDITS = 1_000
_ROUNDS = 40
_GROWTH = 1.1
_FILES = corpus.Corpus(name="editing", files=10, least=74.5, most=75.5, total="750 KB")


def editing(folder: Path) -> Iterator[Measurement]:
    """Measure edits of a file of 75 KB that is committed beside nine others."""
    root = repository(folder.resolve() / "editing")
    path = corpus.write(_FILES, root)[0]
    for command in (("add", "--all"), ("-c", "user.name=x", "-c", "user.email=x@localhost", "commit", "-qm", "x")):
        subprocess.run(["git", *command], cwd=root, check=True)
    name, text = path.relative_to(root).as_posix(), path.read_bytes().decode()
    with LanguageClient(root) as client:
        client.open(name)
        seconds = [_edit(client, name, f"{text}{number}\n", number) for number in range(2, 2 + _ROUNDS)][_ROUNDS // 4 :]
        taken = median(seconds)
        note = f"{taken * 1000:.0f} ms, the slowest {max(seconds) * 1000:.0f} ms"
        yield Measurement("a keystroke in 75 KB to its findings", "50 ms", taken / _TARGET, 1.0, note)
        before = _memory(client)
        for number in range(_EDITS):
            _edit(client, name, f"{text}{number}\n", 100 + number)
        grown = _memory(client) / before
        yield Measurement(f"memory after {_EDITS:,} edits", "before them", grown, _GROWTH)


def _edit(client: LanguageClient, name: str, text: str, version: int) -> float:
    """Replace the text of the file, and return the seconds until its findings are there."""
    uri, start = client.uri(name), time.perf_counter()
    client.diagnostics.pop(uri, None)
    client.change(name, text, version)
    while uri not in client.diagnostics:
        time.sleep(0.0005)
    return time.perf_counter() - start


def _memory(client: LanguageClient) -> int:
    """Return the resident memory of the server in KB."""
    lines = Path(f"/proc/{client.process.pid}/status").read_text(encoding="utf-8").splitlines()
    return int(next(line.split()[1] for line in lines if line.startswith("VmRSS")))
