"""The commands on the page about the Impact Map do what it says."""

from __future__ import annotations

import re
import shlex
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.support.shared_context import SharedContext

PAGE = (Path(__file__).parents[3] / "docs" / "impact-map.md").read_text(encoding="utf-8")
COMMANDS = re.findall(r"^\$ taskstate (.*)\n((?:(?!\$ |```).*\n)*)", PAGE, re.MULTILINE)


@pytest.mark.slow
def test_every_command_prints_what_the_page_shows(shared: SharedContext) -> None:
    """In their order, in a repository with the files that they name; the incomplete claim ends with status 1."""
    place = shared.place
    place.git("rm", "--quiet", "-r", "src")
    for name, code in (
        ("api/login", "import core.tokens\nimport db.users"),
        ("core/tokens", "import db.users"),
        ("db/users", ""),
    ):
        place.write(f"{name}.py", code)
    place.commit("code")
    assert len(COMMANDS) == 11
    for command, expected in COMMANDS:
        said = shared.cli(*shlex.split(command))
        assert (said.status, said.err) == (int("incomplete" in expected), ""), command
        assert said.out == expected or not expected, command
