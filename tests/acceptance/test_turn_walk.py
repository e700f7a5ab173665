"""A feature is built in turns, from outside: real git, a real hook, several agents, and what comes between."""

from __future__ import annotations

import os
import re
import subprocess
import time
from typing import TYPE_CHECKING

import pytest

from tests.support.checkout import run, succeed

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.slow

_CONFIG = '\n[validation]\n"*" = ["python3 -m unittest"]\n'
_SLUG = 'def slug(title):\n    return title.lower().replace(" ", "-")\n'
_TEST = """\
import unittest

from slug import slug


class Slugs(unittest.TestCase):
    def test_words_are_joined(self):
        self.assertEqual(slug("Two words"), "two-words")
"""
_BROKEN = 'def slug(title):\n    return title.lower().replace("ä", "ae")\n'
_UMLAUTS = 'def slug(title):\n    return title.lower().replace("ä", "ae").replace(" ", "-")\n'
_STRIPPED = _UMLAUTS.replace("title.lower()", "title.strip().lower()")
_OUTPUT = "### Summary\n\nslug() spells umlauts out.\n\n### Files Created/Modified\n\n- `slug.py`\n"
_EVENTS = re.compile(r"^  events:\n(?:(?:   .*|  - .*)\n)*", re.MULTILINE)
_MOST_FRONT_MATTER = 4_608  # bytes, beside the events


class Clone:
    """A clone of a repository whose `taskstate` has a check to run, and an agent who works in it."""

    def __init__(self, root: Path) -> None:
        self.root = root
        home = root.parent
        self.env = {
            "PRE_COMMIT_HOME": str(home / "pre-commit"),
            "XDG_STATE_HOME": str(home / "state"),
            "PYTHONDONTWRITEBYTECODE": "1",
            "TASKSTATE_ACTOR": "lead",
        }

    def exits(self, status: int, *command: str) -> str:
        """Run `taskstate`, which must end with a status and never with a traceback."""
        done = run("taskstate", *command, cwd=self.root, env=self.env)
        assert done.returncode == status, f"{command}: {done.stdout}"
        assert "Traceback" not in done.stdout
        return done.stdout

    def ok(self, *command: str) -> str:
        """Run `taskstate`, which must end well."""
        return self.exits(0, *command)

    def start(self, agent: str, *arguments: str, status: int = 0) -> str:
        """Begin a turn of task 101 under an agent's name."""
        return self.exits(status, "start", "101", "--agent", agent, *arguments)

    def finish(self, did: str, *arguments: str, status: int = 0) -> str:
        """End the turn of task 101."""
        words = ("--did", did, "--state", f"After: {did}", "--next", "Go on.")
        return self.exits(status, "finish", "101", *words, *arguments)

    def write(self, name: str, text: str) -> None:
        """Write a file."""
        (self.root / name).write_text(text, encoding="utf-8")

    def git(self, *arguments: str) -> str:
        """Run git, which must end well."""
        return succeed("git", *arguments, cwd=self.root, env=self.env)

    def commit(self, message: str) -> None:
        """Commit everything; the hook has to agree."""
        self.git("add", "--all")
        self.git("commit", "--quiet", "--message", message)

    @property
    def state(self) -> str:
        """The text of the state file."""
        return (self.root / ".taskstate/tasks/task-101-state.md").read_text(encoding="utf-8")

    @property
    def sessions(self) -> int:
        """How many sessions the state file has."""
        return len(re.findall(r"^### Session \d+ - ", self.state, re.MULTILINE))

    def role(self, name: str) -> str:
        """Return the status of a role."""
        found = re.search(rf"^  {name}: \{{.*?status: (\w+)", self.state, re.MULTILINE)
        return found.group(1) if found else "pending"


@pytest.fixture
def clone(repository: Path) -> Clone:
    """Return a repository with a check that passes, the commit hook, and task 101; its check may run."""
    there = Clone(repository)
    there.write(".gitignore", "__pycache__/\n")
    there.write("slug.py", _SLUG)
    there.write("test_slug.py", _TEST)
    there.ok("init", "--pre-commit")
    with (repository / "taskstate.toml").open("a", encoding="utf-8") as file:
        file.write(_CONFIG)
    succeed("pre-commit", "install", cwd=repository, env=there.env)
    there.ok(
        *("new", "101", "--title", "Slugs", "--description", "Spell umlauts out in slugs."),
        *("--criterion", "A title with umlauts has a slug", "--feature", "slug-1=slug() spells umlauts out"),
    )
    there.commit("Plan task 101")
    there.ok("trust", "101")
    return there


def test_three_roles_and_two_rounds(clone: Clone, tmp_path: Path) -> None:
    """From the first start to completion: nothing that should stop is passed, nothing that may go on is stopped."""
    build(clone)
    pull_from_somebody_else(clone, tmp_path)
    review(clone)
    mend(clone)
    validate(clone)


def build(clone: Clone) -> None:
    """Let an implementer break what worked and commit on the way, and its successor know nothing but the handoff."""
    begun = clone.start("ann", "--role", "implementer")
    assert "slug-1" in begun
    assert "1 of 1 checks pass" in begun
    clone.write("slug.py", _BROKEN)
    clone.commit("Umlauts, not yet tested, for task 101")
    refused = clone.finish("Spelled umlauts out.", status=1)
    assert "unittest" in refused
    assert (clone.sessions, clone.role("implementer")) == (1, "in_progress")
    clone.finish("Saw the test fail.", "--pause")
    clone.ok("handoff", "new", "101", "--draft", "--phase", "1", *_HANDOFF)
    taken_over = clone.start("bob")
    assert "Join the words again." in taken_over
    assert "resumed" not in taken_over
    clone.write("slug.py", _UMLAUTS)
    done = clone.finish("Joined the words again.")
    assert "start 101 --role reviewer" in done
    assert (clone.sessions, clone.role("implementer")) == (3, "done")
    clone.commit("Umlauts for task 101")
    clone.git("commit", "--quiet", "--amend", "--message", "Umlauts in slugs, for task 101")


def review(clone: Clone) -> None:
    """Send the work back; what somebody else's commit brought is told, not refused, and no part of what is reviewed."""
    begun = clone.start("cid")
    assert "notes.txt" in begun
    assert "is not what the last turn left" not in begun
    diff = clone.ok("snapshot", "diff", "101", "--role", "implementer")
    assert '+    return title.lower().replace("ä", "ae").replace(" ", "-")' in diff
    assert "notes.txt" not in diff
    sent = clone.finish("Read the diff.", "--send-back", "implementer", *_FINDINGS)
    assert "start 101 --role implementer" in sent
    assert (clone.role("implementer"), clone.role("reviewer")) != ("done", "done")


def mend(clone: Clone) -> None:
    """Go through a second round: each finding is answered, and who raised them looks again."""
    begun = clone.start("bob")
    assert begun.index("A title with blanks around it") < begun.index("slug-1")
    clone.write("slug.py", _STRIPPED)
    unanswered = clone.finish("Stripped titles.", "--answer", "1=It strips them.", status=1)
    assert "finding 2 has no answer" in unanswered
    clone.finish("Stripped titles.", "--answer", "1=It strips them.", "--answer", "2=It is tested in 102.")
    clone.commit("Strip titles for task 101")
    begun = clone.start("cid")
    assert "It is tested in 102." in begun
    clone.finish("Looked again.")
    assert clone.role("reviewer") == "done"
    assert "A title with blanks around it" not in clone.state.partition("audit:")[0]


def validate(clone: Clone) -> None:
    """Edit by hand: the validator cannot begin, with or without its name, until that is accepted; then complete."""
    clone.write("slug.py", _STRIPPED.replace("ä", "Ä"))
    for arguments in ((), ("--role", "validator")):
        assert "+    return title.strip().lower()" in clone.start("dan", *arguments, status=2)
    assert clone.role("validator") == "pending"
    clone.write("slug.py", _STRIPPED + "\n# Umlauts are those of German.\n")
    clone.start("dan", "--accept-drift", "a comment, by hand")
    done = clone.finish("Ran all tests.", "--pass", "slug-1", "--check", "1", "--complete", "--output", output(clone))
    assert "task 101 is complete" in done
    assert "status: complete" in clone.state
    assert "a comment, by hand" in clone.state
    front = clone.state.split("\n---\n", 1)[0]
    assert len(_EVENTS.sub("", front).encode()) <= _MOST_FRONT_MATTER
    clone.ok("lint")
    clone.commit("Task 101 is complete")
    assert clone.git("status", "--porcelain") == ""


_HANDOFF = (
    *("--action", "Join the words again.", "--file", "slug.py", "--location", "slug()"),
    *("--goal", "All tests pass.", "--decision", "Umlauts first: they are the feature"),
)
_FINDINGS = (
    *("--finding", "slug.py: A title with blanks around it keeps them"),
    *("--finding", "test_slug.py: an empty title is not tested"),
)


def output(clone: Clone) -> str:
    """Return the path of a file with the Chain Output, outside the repository."""
    path = clone.root.parent / "output.md"
    path.write_text(_OUTPUT, encoding="utf-8")
    return str(path)


def pull_from_somebody_else(clone: Clone, folder: Path) -> None:
    """Pull a commit that somebody made on the same branch in another clone, with a rebase of what is here."""
    bare, other = folder / "bare.git", folder / "other"
    clone.git("clone", "--quiet", "--bare", ".", str(bare))
    clone.git("remote", "add", "origin", str(bare))
    clone.git("fetch", "--quiet", "origin")
    clone.git("branch", "--quiet", "--set-upstream-to=origin/main")
    succeed("git", "clone", "--quiet", str(bare), str(other), cwd=folder)
    somebody = ("-c", "user.name=Else", "-c", "user.email=else@example.invalid")
    (other / "notes.txt").write_text("something else\n", encoding="utf-8")
    succeed("git", "add", "notes.txt", cwd=other)
    succeed("git", *somebody, "commit", "--quiet", "--message", "Notes of somebody else", cwd=other)
    succeed("git", "push", "--quiet", cwd=other)
    clone.git("pull", "--quiet", "--rebase")


def test_two_branches_with_a_turn_each(clone: Clone) -> None:
    """Where two branches each opened a turn, the merge keeps ours, and theirs is in the events; no session is lost."""
    clone.ok("init")  # the merge driver is a matter of each clone
    clone.git("checkout", "--quiet", "-b", "theirs")
    clone.start("bob", "--role", "implementer")
    clone.finish("Half of it, on the branch.", "--pause")
    clone.start("bob")
    clone.commit("A turn of bob, open")
    clone.git("checkout", "--quiet", "main")
    clone.start("ann", "--role", "implementer")
    clone.write("slug.py", _UMLAUTS)
    clone.ok("session", "add", "101", "--did", "Half of it, on main.", "--state", "s", "--next", "n")
    clone.commit("A turn of ann, open")
    clone.git("merge", "--quiet", "--no-edit", "theirs")
    front = clone.state.split("\n---\n", 1)[0]
    turn = re.search(r"^  turn: \{(.*)\}$", front, re.MULTILINE)
    assert turn is not None
    assert "agent: ann" in turn.group(1)
    assert "bob" in front.partition("events:")[2]
    assert "Half of it, on the branch." in clone.state
    assert "resumed" in clone.start("ann")
    clone.finish("Both halves.")
    assert clone.role("implementer") == "done"
    clone.ok("lint")


def test_alone_with_a_crash_in_between(clone: Clone) -> None:
    """Without roles the commands are the same; a finish that is killed while the checks run is given again."""
    clone.start("ann")
    clone.write("slug.py", _UMLAUTS)
    clone.write("test_slow.py", "import pathlib, time\n\npathlib.Path('.git/begun').touch()\ntime.sleep(60)\n")
    words = ("--did", "Umlauts.", "--state", "Done.", "--next", "Nothing.")
    process = subprocess.Popen(
        ["taskstate", "finish", "101", *words, "--pass", "slug-1"],
        cwd=clone.root,
        env=os.environ | clone.env,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    deadline = time.monotonic() + 30
    while not (clone.root / ".git/begun").exists() and time.monotonic() < deadline:
        time.sleep(0.05)
    assert process.poll() is None, "the checks did not take long"
    process.kill()
    process.wait()
    assert (clone.sessions, '"passes": true' in clone.state) == (1, False)
    (clone.root / "test_slow.py").unlink()
    clone.ok("finish", "101", *words, "--pass", "slug-1")
    assert (clone.sessions, '"passes": true' in clone.state) == (1, True)
    before = clone.state
    clone.ok("finish", "101", *words, "--pass", "slug-1")
    assert clone.state == before
