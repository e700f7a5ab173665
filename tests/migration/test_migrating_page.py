"""The commands on the page about migrating do what it says."""

from __future__ import annotations

import re
import shlex
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tests.cli.conftest import Cli

PAGE = (Path(__file__).parents[2] / "docs" / "migrating.md").read_text(encoding="utf-8")
COMMANDS = re.findall(r"^\$ taskstate (.*)\n((?:(?!\$ |```).*\n)*)", PAGE, re.MULTILINE)
FILES = {
    "devflow/task-states/task-7-state.md": """\
# Task #7: Tokens - State

## 1. Static Context

### Task Description
Sign tokens.

### Acceptance Criteria
- [ ] Signed

## 2. Chain Inputs

## 3. Progress Log

### Session 1 (Nov 26, 2024 2:30 PM)
**Blockers:** none

### Session 2 - 2024-11-27
**What I did:** signed

## 4. Chain Output
""",
}


def test_every_command_prints_what_the_page_shows(cli: Cli) -> None:
    """In their order, in a repository with the files that they name."""
    for name, text in FILES.items():
        path = cli.place.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    assert len(COMMANDS) == 2
    for command, expected in COMMANDS:
        said = cli(*shlex.split(command))
        assert (said.err, said.out) == ("", expected), command
