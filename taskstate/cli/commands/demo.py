"""`taskstate demo`: demonstrates the tool on real files, showing each command as a user would type it."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TextIO

from taskstate.cli.arguments import Parser
from taskstate.cli.invocation import Invocation
from taskstate.errors import TaskstateError

_SHOWN_LINES = 14
_MOST_SESSIONS = 60
_TABLES = ("users", "sessions", "devices", "tokens", "invitations", "teams", "roles")
_STEPS = (
    "has its columns",
    "is filled from the old data",
    "has its indexes",
    "is read by the service",
    "is written by it",
)
_DETAILS = "The migration ran on a copy of the data, forwards and backwards, and the row counts agree. "
# what is broken, the text to replace, and its replacement
_FAULTS = (
    ("a value that is no JSON", '"passes": false', '"passes": maybe'),
    ("a required section gone", "## 4. Progress Log", "## 4. Progress Notes"),
    ("an unquoted colon in the front matter", "title: JWT Service", "title: JWT: the service"),
)


def configure(parser: Parser) -> None:
    """Declare the arguments."""
    parser.add_common(run=run)


def run(invocation: Invocation) -> int:
    """Run the demo in a new temporary repository, and print its folder at the end."""
    for program, package in (("git", "git"), ("pre-commit", "pip install pre-commit")):
        if not shutil.which(program, path=_path()):
            raise TaskstateError(
                f"the demo needs {program}, which was not found", help=f"install it ({package})", code="missing-program"
            )
    machine_readable = invocation.as_json or invocation.args.quiet  # then standard output is not for the narration
    demo = Demo(Path(tempfile.mkdtemp(prefix="taskstate-demo-")), sys.stderr if machine_readable else sys.stdout)
    try:
        demo.play()
    finally:
        demo.say(f"\nThe repository is kept: {demo.root}")
    return invocation.print_result({"folder": str(demo.root)}, "")


class Demo:
    """A repository, and the steps performed in it with narration."""

    def __init__(self, root: Path, out: TextIO) -> None:
        self.root = root
        self.out = out
        clean = {key: value for key, value in os.environ.items() if not key.startswith(("GIT_", "TASKSTATE_"))}
        self.environment = clean | {"PATH": _path(), "TASKSTATE_ACTOR": "demo", "NO_COLOR": "1"}

    def play(self) -> None:
        """Run all steps."""
        self.set_up()
        self.work()
        self.grow()
        self.break_it()
        self.commit()

    def set_up(self) -> None:
        """Create the repository and two tasks."""
        self.say("\n== Set a repository up")
        self.shell("git init --quiet --initial-branch=main")
        self.quietly("git config user.name Demo")
        self.quietly("git config user.email demo@example.invalid")
        self.shell("taskstate init --pre-commit")
        self.shell("pre-commit install")
        self.say("\n== Two tasks, the second building on the first")
        self.shell(
            "taskstate new 100 --title 'Database schema' --description 'Users and their sessions.'"
            " --criterion 'Emails are unique'"
        )
        self.shell(
            "taskstate new 101 --title 'JWT Service' --depends-on 100 --description 'Issue and verify tokens.'"
            " --criterion 'Tokens verify' --feature 'jwt-1=generateToken() makes a valid JWT'"
            " --feature 'jwt-2=verifyToken() checks the signature'"
        )

    def work(self) -> None:
        """Record work on the second task."""
        self.say("\n== Work: a session, a feature that passes, a criterion")
        self.shell(
            "taskstate session add 101 --did 'Wrote generateToken().' --state 'Tokens are issued.' --next 'Verify.'"
        )
        self.shell("taskstate feature pass 101 jwt-1 --evidence 'pytest -k jwt: 8 passed'")
        self.shell("taskstate criterion check 101 1")
        self.shell("taskstate show 101")

    def grow(self) -> None:
        """Record sessions on the first task until it is archived."""
        self.say("\n== Sessions until the first task passes 75 KB and archives itself")
        command = "taskstate session add 100 --state 'The schema is half-way.' --next 'The next column.' --did "
        archive = self.root / ".taskstate/archives/task-100-archive.md"
        for number in range(1, _MOST_SESSIONS + 1):
            work = f"The table {_TABLES[number % len(_TABLES)]} {_STEPS[number // len(_TABLES) % len(_STEPS)]}."
            process = self.quietly(command + shlex.quote(f"{work}\n\n{_DETAILS * 48}"))
            if number == 1 or archive.exists():
                self.say(f"$ {command}'{work} …'\n{_indented(process.stdout)}")
            if archive.exists():
                break
            if number == 1:
                self.say("  … and so on")
        self.shell("ls -l .taskstate/tasks .taskstate/archives")
        self.shell("taskstate show 100 --section 'Archived Summary'")
        self.shell("taskstate session list 100")
        self.shell("taskstate lint")

    def break_it(self) -> None:
        """Break a file in three ways, and show the findings of the linter."""
        path = self.root / ".taskstate/tasks/task-101-state.md"
        good = path.read_text(encoding="utf-8")
        for what, old, new in _FAULTS:
            self.say(f"\n== Broken on purpose: {what}\n$ sed -i 's/{old}/{new}/' {path.relative_to(self.root)}")
            path.write_text(_replaced(good, old, new), encoding="utf-8")
            self.shell("taskstate lint", fails=True)
        path.write_text(good, encoding="utf-8")

    def commit(self) -> None:
        """Show that git refuses a broken file and accepts the repaired one."""
        self.say("\n== git refuses a broken file …")
        path = self.root / ".taskstate/tasks/task-101-state.md"
        good = path.read_text(encoding="utf-8")
        _, old, new = _FAULTS[0]
        path.write_text(_replaced(good, old, new), encoding="utf-8")
        self.shell("git add --all")
        self.shell("git commit --message 'Work on tokens'", fails=True)
        self.say("\n== … and takes the mended one")
        path.write_text(good, encoding="utf-8")
        self.shell("git add --all")
        self.shell("git commit --message 'Work on tokens'")

    def shell(self, command: str, *, fails: bool = False) -> None:
        """Run a command, printing it as a user would type it, and its output.

        Raises:
            TaskstateError: it did not end with the expected status.
        """
        self.say(f"$ {command}")
        process = self.quietly(command)
        self.say(_indented(process.stdout))
        if bool(process.returncode) != fails:
            raise TaskstateError(
                f"`{command[:80]}` ended with status {process.returncode}", help="look above", code="demo"
            )

    def quietly(self, command: str) -> subprocess.CompletedProcess[str]:
        """Run a command and return its output."""
        words = shlex.split(command)
        if words[0] == "taskstate":
            words = [sys.executable, "-m", *words]
        return subprocess.run(
            words,
            cwd=self.root,
            env=self.environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            encoding="utf-8",
            errors="replace",
            check=False,
        )

    def say(self, text: str) -> None:
        """Print a part of the narration."""
        if text.strip():
            self.out.write(text.rstrip("\n") + "\n")
            self.out.flush()


def _path() -> str:
    """Return the search path with this Python's programs first, so that git hooks find `taskstate`, too."""
    return os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", os.defpath)])


def _replaced(text: str, old: str, new: str) -> str:
    if old not in text:
        raise TaskstateError(
            f"the demo's file no longer holds {old!r}", help="this is a fault of the demo", code="demo"
        )
    return text.replace(old, new, 1)


def _indented(text: str) -> str:
    lines = text.rstrip("\n").split("\n") if text.strip() else []
    if len(lines) > _SHOWN_LINES:
        lines = [*lines[:_SHOWN_LINES], f"… and {len(lines) - _SHOWN_LINES} more"]
    return "\n".join(f"    {line}" for line in lines)
