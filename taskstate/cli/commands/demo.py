"""`taskstate demo`: demonstrates the tool on real files, showing each command as a user would type it."""

from __future__ import annotations

import os
import shlex
import sys
from pathlib import Path

from taskstate.errors import TaskstateError
from taskstate.operations.operation import Operation
from taskstate.operations.result import Result
from taskstate.storage import files, folders, installed, programs, temporary
from taskstate.typed import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from subprocess import CompletedProcess
    from typing import TextIO

    from taskstate.cli.output import CommandLineCall

_SHOWN_LINES, _FIRST_LINES = 40, 12  # of an output, and of one whose kind was shown before
_CONFIG = '\n[validation]\n"*" = ["{python} -m unittest --quiet"]\n'
_TEST = """\
import unittest

from slug import slug


class Slugs(unittest.TestCase):
    def test_words_are_joined(self):
        self.assertEqual(slug("Two words"), "two-words")
"""
_UMLAUT_TEST = """
    def test_umlauts_are_spelled_out(self):
        self.assertEqual(slug("Über"), "ueber")
"""
_SLUG = "def slug(title):\n    return title.lower(){}\n"
_FIRST, _WRONG = _SLUG.format('.replace(" ", "-")'), _SLUG.format('.replace("ü", "ue")')
_RIGHT = _SLUG.format('.replace("ü", "ue").replace(" ", "-")')
_STATE_FILE = ".taskstate/tasks/task-101-state.md"
_GOOD, _BROKEN = '"passes": true', '"passes": maybe'


class NoArguments(NamedTuple):
    """The arguments of `demo`: none."""


def run(call: CommandLineCall, _: NoArguments) -> Result:
    """Run a demonstration in a temporary repository, and print its folder at the end."""
    for program, how in (("git", "install git"), ("pre-commit", f"run `{installed.adding_manager()}`")):
        if not installed.program(program, _path()):
            message = f"the demo needs {program}, which was not found"
            raise TaskstateError(message, help=how, code="missing-program")
    machine_readable = call.as_data or call.output.is_quiet  # then standard output is not for the narration
    with temporary.lasting_folder("taskstate-demo-") as folder:
        demo = Demo(folder, sys.stderr if machine_readable else sys.stdout)
        try:
            demo.play()
        except Exception:  # not Ctrl-C: then the folder does not stay
            demo.say_where()
            raise
        demo.say_where()
    return Result({"folder": str(demo.root)}, "")


class Demo:
    """A repository, and the steps performed in it with narration."""

    def __init__(self, root: Path, out: TextIO) -> None:
        self.root = root / "project"
        folders.make(self.root)
        folders.make(root / "temporary")
        self.out = out
        clean = {key: value for key, value in os.environ.items() if not key.startswith(("GIT_", "TASKSTATE_"))}
        own = {"PATH": _path(), "TASKSTATE_ACTOR": "demo", "NO_COLOR": "1", "PYTHONDONTWRITEBYTECODE": "1"}
        # What is allowed here is remembered outside the repository, and this one is nobody's. What a step that is ended
        # leaves in its temporary folder goes with the demo's.
        places = {"XDG_STATE_HOME": str(root / "state"), "TMPDIR": str(root / "temporary")}
        self.environment = clean | own | places

    def play(self) -> None:
        """Run all steps."""
        self.set_up()
        self.stop_a_regression()
        self.stop_a_drift()
        self.review()
        self.refuse_a_broken_file()

    def set_up(self) -> None:
        """Create the repository with a check that passes, and a task."""
        self.say("\n== A repository with one check, and a task")
        self.shell("git init --quiet --initial-branch=main")
        self.quietly("git config user.name Demo")
        self.quietly("git config user.email demo@example.invalid")
        self.shell("taskstate init --pre-commit", most=0)
        self.quietly("pre-commit install")
        config = self.root / "taskstate.toml"
        files.replace(config, files.read(config) + _CONFIG.format(python=shlex.quote(sys.executable)).encode())
        self.write("slug.py", _FIRST)
        self.write("test_slug.py", _TEST)
        self.shell(
            "taskstate new 101 --title 'Slugs with umlauts' --description 'Spell umlauts out in slugs.'"
            " --criterion 'Über becomes ueber' --feature 'slug-1=slug() spells umlauts out'"
        )
        self.shell("git add --all")
        self.shell("git commit --quiet --message 'Plan slugs'", most=0)
        self.say("\n== A check in a file does not run by itself: somebody looks at it, and allows it")
        self.shell("taskstate trust 101")

    def stop_a_regression(self) -> None:
        """Let the implementer break what worked, and mend it."""
        self.say("\n== The implementer begins, with a baseline and all there is to read")
        self.shell("taskstate start 101 --role implementer --agent ann")
        self.say("\n== It breaks what worked: the turn is not done")
        self.write("slug.py", _WRONG)
        self.write("test_slug.py", _TEST + _UMLAUT_TEST, added=_UMLAUT_TEST)
        finish = (
            "taskstate finish 101 --did 'Spelled umlauts out.' --state 'Tested with one.' --next 'Review it.'"
            " --pass slug-1"
        )
        self.shell(finish, status=1)
        self.say("\n== It fixes that, and gives the same command again")
        self.write("slug.py", _RIGHT)
        self.shell(finish)
        self.shell("git add --all")
        self.shell("git commit --quiet --message 'Umlauts for task 101'", most=0)

    def stop_a_drift(self) -> None:
        """Edit a file behind the implementer's back, and have the reviewer told."""
        self.say("\n== Somebody edits by hand, and tells nobody: the reviewer cannot begin")
        self.write("slug.py", _RIGHT.replace("title.lower()", "title.casefold()"))
        self.shell("taskstate start 101 --role reviewer --agent bob", status=2)
        self.say("\n== The edit is taken back")
        self.shell("git restore slug.py")

    def review(self) -> None:
        """Review the implementer's work."""
        self.say("\n== The reviewer begins, and sees the whole change, although it is committed")
        self.shell("taskstate start 101 --role reviewer --agent bob", most=_FIRST_LINES)
        self.shell("taskstate snapshot diff 101 --role implementer")
        self.shell(
            "taskstate finish 101 --did 'Read the diff.' --state 'Nothing is open.' --next 'Validate it.' --check 1"
        )

    def refuse_a_broken_file(self) -> None:
        """Show that git refuses a broken state file and accepts the repaired one."""
        path = self.root / _STATE_FILE
        good = files.read(path).decode()
        self.say(f"\n== git refuses a broken state file …\n$ sed -i 's/{_GOOD}/{_BROKEN}/' {_STATE_FILE}")
        files.replace(path, good.replace(_GOOD, _BROKEN).encode())
        self.shell("git add --all")
        self.shell("git commit --message 'Review task 101'", status=1)
        self.say("\n== … and takes the fixed one")
        files.replace(path, good.encode())
        self.shell("git add --all")
        self.shell("git commit --quiet --message 'Review task 101'", most=0)

    def write(self, name: str, text: str, *, added: str = "") -> None:
        """Write a file, showing what it then holds, or only what was `added`."""
        files.replace(self.root / name, text.encode())
        self.say(f"$ {'tail -n 2' if added else 'cat'} {name}\n{_indented(added or text)}")

    def shell(self, command: str, *, status: int = 0, most: int = _SHOWN_LINES) -> None:
        """Run a command, printing it as a user would type it, and the first lines of its output.

        Raises:
            TaskstateError: it did not end with the expected status.
        """
        self.say(f"$ {command}")
        process = self.quietly(command)
        self.say(_indented(process.stdout, most) if process.returncode == status else process.stdout)
        if process.returncode != status:
            raise TaskstateError(
                f"`{command[:80]}` ended with status {process.returncode}", help="look above", code="demo"
            )

    def quietly(self, command: str) -> CompletedProcess[str]:
        """Run a command and return its output."""
        words = shlex.split(command)
        if words[0] == "taskstate":
            words = [sys.executable, "-m", *words]
        return programs.run_step(words, self.root, self.environment)

    def say_where(self) -> None:
        """Print where the repository is."""
        self.say(f"\nThe repository is kept: {self.root}")

    def say(self, text: str) -> None:
        """Print a part of the narration."""
        if text.strip():
            self.out.write(text.rstrip("\n") + "\n")
            self.out.flush()


def _path() -> str:
    """Return the search path with this Python's programs first, so that git hooks find `taskstate`, too."""
    return os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", os.defpath)])


def _indented(text: str, most: int = _SHOWN_LINES) -> str:
    """Return the first lines of a text, without blank ones, and how many there are more; nothing of it for 0."""
    lines = [line for line in text.split("\n") if line.strip()]
    if len(lines) > most:
        lines = [*lines[:most], f"… and {len(lines) - most} lines more"] if most else []
    return "\n".join(f"    {line}" for line in lines)


OPERATIONS = (Operation("demo", "run a demonstration in a temporary repository", run, NoArguments),)
