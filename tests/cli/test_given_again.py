"""Every command that adds something, given again in the same words at once."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from tests.support.place import TASK

if TYPE_CHECKING:
    from tests.cli.conftest import Cli
    from tests.support.place import Place

# In an order in which each can be done.
COMMANDS = (
    ("session", "add", TASK, "--did", "a", "--state", "b", "--next", "c"),
    ("feature", "add", TASK, "f-2", "does y"),
    ("feature", "pass", TASK, "f-2", "--evidence", "by hand"),
    ("criterion", "check", TASK, "1"),
    ("evidence", "add", TASK, "--type", "code", "--path", "app.py"),
    ("phase", "add", TASK, "build", "--name", "Build", "--objective", "o1"),
    ("phase", "extend", TASK, "build", "o2"),
    ("phase", "tried", TASK, "build", "--approach", "A", "--result", "R"),
    ("role", "set", TASK, "implementer", "--status", "in_progress"),
    ("role", "block", TASK, "implementer", "--finding", "It is slow"),
    ("qa", "record", TASK, "--from", "app.log", "--note", "late"),
    ("handoff", "new", TASK, "--action", "Write it", "--file", "app.py", "--location", "main", "--goal", "it prints"),
    ("handoff", "accept", TASK),
    ("context", "init", TASK),
    ("drop", TASK, "--note", "late"),
    ("reopen", TASK, "--note", "late"),
    ("complete", TASK, "--force", "--note", "late"),
)
_METADATA = re.compile(r"(?m)^.*(updated_at|revision|update_count|seal|tested_at|git_head).*\n")


def test_nothing_is_added_twice(cli: Cli, place: Place) -> None:
    """The second one changes nothing but the metadata of a write, or is refused with the reason."""
    (place.root / "app.py").write_text("def main(): pass\n")
    (place.root / "app.log").write_text("tests/a.py::test_x PASSED\n1 passed in 0.1s\n")
    for command in COMMANDS:
        cli.ok(*command)
        text = _METADATA.sub("", place.text)
        again = cli(*command)
        assert _METADATA.sub("", place.text) == text, command
        assert again.status == 0 or again.err.startswith("taskstate: "), command
