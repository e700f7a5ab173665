"""The commands on the page about the permanent task do what it says."""

from __future__ import annotations

import re
import shlex
from pathlib import Path
from typing import TYPE_CHECKING

from tests.cli.conftest import Cli

if TYPE_CHECKING:
    import pytest

    from tests.support.git_place import GitPlace

PAGE = (Path(__file__).parents[2] / "docs" / "permanent.md").read_text(encoding="utf-8")
COMMANDS = re.findall(r"^\$ taskstate (.*)\n((?:(?!\$ |```).*\n)*)", PAGE, re.MULTILINE)
FILES = {
    "constraints.md": "- **Latency:** 200 ms\n- No new database\n",
    "faster.md": "- **Latency:** 100 ms\n- no new database.\n",
    "context.md": "---\nversion: GC-v3\n---\n\n# Login\n\n## Goals\n\n- One account\n\n## Constraints\n\n- EU only\n\n"
    "## Open Questions\n\n- Who pays?\n",
}


def test_every_command_prints_what_the_page_shows(
    place: GitPlace, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """In their order, in a repository with the files that they name."""
    cli = Cli(place, monkeypatch, capfd)
    monkeypatch.chdir(place.root)
    for name, text in FILES.items():
        place.write(name, text)
    assert len(COMMANDS) == 11
    for command, expected in COMMANDS:
        said = cli(*shlex.split(command))
        assert (said.status, said.err, said.out) == (0, "", expected), command
