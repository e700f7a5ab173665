"""Counts what the shared context costs to read: recovery after a lost context, and the notice of one change."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks.measurement import Measurement, repository
from taskstate.handoff.token_count import count, counter

if TYPE_CHECKING:
    from collections.abc import Iterator

_MOST_RECOVERY, _MOST_NOTICE = 900, 400  # tokens
_PROGRAM = str(Path(sys.executable).with_name("taskstate"))
_MODULES, _SENTENCE = 12, "Every reader of the ledger sees the same entry, whichever way it came in, and says so."


def shared_context(folder: Path) -> Iterator[Measurement]:
    """Count the tokens of `recover` and of a notice on a permanent task of some 30 KB with a busy Change Log."""
    root = repository(folder)
    version = _permanent(root)
    _run(root, "new", "101", "--title", "Ledger", "--description", "d", "--feature", "f=Read the ledger")
    _run(root, "start", "101", "--agent", "ann")
    _run(
        root, "finish", "101", "--pause", "--did", "Read.", "--state", "It reads.", "--next", "Write the second reader."
    )
    _run(root, "start", "101", "--agent", "ann")
    said = _run(root, "permanent", "recover", "--agent", "ann")
    yield _measured("`permanent recover`, 20 versions behind", said, _MOST_RECOVERY)
    said = _run(root, "permanent", "notify", "--since", str(version - 1), "--agent", "ann")
    yield _measured("`permanent notify` of one changed section", said, _MOST_NOTICE)


def _measured(what: str, text: str, most: int) -> Measurement:
    tokens = count(text)
    note = f"{tokens:,} tokens, by {counter().name}"
    return Measurement(f"tokens of {what}", f"{most} tokens", tokens / most, 1.0, note)


def _permanent(root: Path) -> int:
    """Write a permanent task with a map, decisions and constraints, and return its version."""
    modules = [
        {"id": f"part-{each}", "paths": [f"part{each}/**"], "depends_on": [f"part-{each + 1}"], "planned": True}
        for each in range(_MODULES)
    ]
    modules.append({"id": f"part-{_MODULES}", "paths": ["last/**"], "depends_on": [], "planned": True})
    map_ = {"modules": modules, "interfaces": [], "ripple_paths": []}
    _run(root, "new", "1", "--kind", "permanent", "--title", "Ledger", "--description", _SENTENCE)
    _run(root, "permanent", "ack", "--agent", "ann", "--version", "1")
    _update(root, "Codebase Impact Map", f"```json\n{json.dumps(map_)}\n```\n")
    _update(root, "User Intent", "".join(f"- Wish {each}: {_SENTENCE}\n" for each in range(100)))
    for each in range(8):
        words = ("--decision", _SENTENCE, "--rationale", _SENTENCE, "--accepted")
        _run(root, "permanent", "decide", "--title", f"Decision {each}", *words)
    for each in range(9):
        _update(root, "Constraints", f"- **Limit {each}:** {_SENTENCE}\n- **Bound {each}:** {_SENTENCE}\n")
    changed = "".join(f"- **Limit {each}:** ten times less. {_SENTENCE}\n" for each in range(3))
    _update(root, "Constraints", f"{changed}- **Region:** EU only\n")
    status = json.loads(_run(root, "permanent", "status", "--format", "json"))
    return int(status["data"]["version"])


def _update(root: Path, section: str, content: str) -> None:
    _run(root, "permanent", "update", "--section", section, "--from", "-", stdin=content)


def _run(root: Path, *command: str, stdin: str = "") -> str:
    env = {**os.environ, "TASKSTATE_ACTOR": "lead"}
    done = subprocess.run(
        [_PROGRAM, *command], cwd=root, env=env, input=stdin, capture_output=True, text=True, check=True
    )
    return done.stdout
