"""What tries the cures that the tests meet tells one that works from one that does not."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from functools import cache
from itertools import product
from typing import TYPE_CHECKING

from taskstate.errors import TaskstateError
from taskstate.operations.arguments import BLANKS
from tests.support import cures
from tests.support.command_line import parsed
from tests.support.place import TASK, Place

if TYPE_CHECKING:
    from pathlib import Path

WORDS = ("role", "set", TASK, "implementer", "--status", "in_progress")
CURES = {
    f'taskstate reopen {TASK} --note "WHY"': "",
    f"taskstate reopen {TASK}": "is refused: ",
    "taskstate new 102 --title other --description other": "it is said anyway",
}


def test_a_cure_that_does_not_work_is_told(tmp_path: Path) -> None:
    """Refused itself, or of no use; one that only reads has only to be no refusal. The repository stays as it is."""
    place = Place(tmp_path / "repository")
    place.text = place.text.replace("status: created", "status: dropped")
    before = place.text
    command = [sys.executable, "-m", "taskstate", *WORDS]
    done = subprocess.run(command, cwd=place.root, capture_output=True, text=True, check=False)
    (line,) = (each for each in done.stderr.splitlines() if "is dropped" in each)
    for cure, wrong in CURES.items():
        found = cures.fault(cures.Said(WORDS, line, cure), place.root, b"")
        assert found.startswith(wrong), cure
        assert bool(found) == bool(wrong), cure
    assert place.text == before


def test_what_a_person_fills_in_is_not_run() -> None:
    """A text in quotes is as good as another; a file, a role or a number is not."""
    assert cures.is_literal('taskstate reopen 101 --note "WHY"')
    assert cures.is_literal("taskstate session restore 101 2 --from HEAD")
    assert not cures.is_literal("taskstate finish 101 --qa-log LOG")


# Words that stand for any: an id or a number, a role, a kind of entry, an action, a flag with its value, none.
ANY = ("1", "implementer", "module", "init", "--did=x", "--force", "facts", "")
# What is only named there, since it fails or is no command of its own.
NAMED = {
    "cli/main.py": "the command that was given, with its flags behind it",
    "cli/parsers.py": "the help of all commands, which is that of none",
    "doctor/starting.py": "the entry of a client's configuration",
    "lint/registry.py": "why a rule was retired, of no task",
    "lsp/cures.py": "a pattern, which finds a command",
}


def test_each_command_that_is_printed_can_be_given() -> None:
    """Nothing that it needs is left out: a person only fills in what stands for something."""
    wrong = {}
    for place, pattern in cures.templates():
        command = re.sub(r"\\(.)", r"\1", re.sub(r"\.\*|\\\{\w*\\\}", "\0", pattern))
        command = re.sub(r"\bN\b", "1", command.replace("module|interface|ripple", "module"))
        places = command.count("\0")
        filled = command.replace("\0", "{}").format
        if not any(_is_taken(filled(*words)) for words in product(ANY, repeat=places)):
            wrong[place.removeprefix("taskstate/").partition(":")[0]] = command.replace("\0", "*")
    assert wrong.keys() == NAMED.keys(), {name: each for name, each in wrong.items() if name not in NAMED}


@cache
def _is_taken(command: str) -> bool:
    """Return whether the command line takes a command; one that asks for help it does."""
    try:
        parsed(shlex.split(command)[1:])
    except (TaskstateError, KeyError):
        return False
    except SystemExit:
        return True
    return True


def test_a_blank_of_a_printed_command_is_not_recorded() -> None:
    """Whatever a command leaves to a person in quotes is refused as it stands, so that no reason reads WHY."""
    blank = re.compile(r"""(?:--[a-z-]+|\{flag\}|[N\d}])[ =]"([A-Z][A-Z: ]*)\"""")
    texts = [*(cures.ROOT / "taskstate").rglob("*.py"), *(cures.ROOT / "templates").rglob("*.j2")]
    printed = {each for path in texts for each in blank.findall(path.read_text(encoding="utf-8"))}
    assert "WHY" in printed <= BLANKS
