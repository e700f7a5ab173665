"""Three agents that never talk, one lead, one permanent task: nobody works on an old version unnoticed."""

from __future__ import annotations

import contextlib
import io
import json
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from taskstate.__main__ import main
from tests.support.kept_place import Said

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.slow

FILES = {"101": "api/login.py", "102": "core/tokens.py", "103": "db/users.py"}
AGENTS = {"101": "ada", "102": "bob", "103": "cid"}
MAP = {
    "modules": [
        {"id": "api", "paths": ["api/**"], "depends_on": ["core"]},
        {"id": "core", "paths": ["core/**"], "depends_on": ["db"]},
        {"id": "db", "paths": ["db/**"], "depends_on": []},
    ],
    "interfaces": [{"id": "tokens", "between": ["api", "core"], "contract": "verify(token) -> user"}],
    "ripple_paths": [{"id": "login", "path": ["db", "core", "api"]}],
}
WORDS = ("--did", "Worked.", "--state", "It works.", "--next", "Go on.")


class Team:
    """A repository in which everybody uses the commands alone."""

    def __init__(self, root: Path) -> None:
        self.root = root
        root.mkdir()
        for command in (
            ("init", "-q", "-b", "main"),
            ("config", "user.name", "team"),
            ("config", "user.email", "t@e.x"),
        ):
            self.git(*command)
        self.ok("lead", "init")
        for path in FILES.values():
            (root / path).parent.mkdir()
            (root / path).write_text("x = 1\n")
        with (root / "taskstate.toml").open("a") as config:
            config.write('\n[permanent]\nwriters = ["lead"]\nrequire-ack = "architecture"\n')
        for task, path in FILES.items():
            self.ok("lead", "new", task, "--title", path, "--description", "d", "--criterion", "c", "--path", path)
        self.commit("begin")

    def git(self, *command: str) -> None:
        """Run git."""
        subprocess.run(["git", *command], cwd=self.root, check=True, capture_output=True)

    def commit(self, message: str) -> None:
        """Commit everything."""
        self.git("add", "--all")
        self.git("commit", "-q", "-m", message)

    def run(self, actor: str, *command: str, stdin: str = "") -> Said:
        """Run a command as somebody, in this process, and return what it said."""
        out, err = io.StringIO(), io.StringIO()
        with (
            pytest.MonkeyPatch.context() as patch,
            contextlib.chdir(self.root),
            contextlib.redirect_stdout(out),
            contextlib.redirect_stderr(err),
        ):
            patch.setenv("TASKSTATE_ACTOR", actor)
            patch.setenv("XDG_STATE_HOME", str(self.root.parent / "state"))
            patch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin.encode())))
            status = main([*command])
        assert "Traceback" not in err.getvalue()
        return Said(status, out.getvalue(), err.getvalue())

    def ok(self, actor: str, *command: str, stdin: str = "") -> str:
        """Run a command that succeeds, and return what it prints."""
        done = self.run(actor, *command, stdin=stdin)
        assert done.status == 0, f"{command}: {done.out}{done.err}"
        return done.out

    def ends(self, status: int, actor: str, *command: str) -> str:
        """Run a command that ends with a status, and return all that it prints."""
        done = self.run(actor, *command)
        assert done.status == status, f"{command}: {done.out}{done.err}"
        return done.out + done.err

    def update(self, section: str, content: str) -> None:
        """Let the lead update a section."""
        self.ok("lead", "permanent", "update", "--section", section, "--from", "-", stdin=content)

    def read_and_confirm(self, agent: str) -> None:
        """Let an agent read everything, and confirm it."""
        self.ok(agent, "show", "1")
        version = str(json.loads(self.ok(agent, "permanent", "status", "--format", "json"))["data"]["version"])
        self.ok(agent, "permanent", "ack", "--agent", agent, "--version", version)

    def claim(self, agent: str, task: str, *files: str) -> None:
        """Let an agent claim files, and another one confirm that."""
        self.ok(agent, "impact", "check", task, "--files", ",".join(files), "--record")
        self.ok("lead", "impact", "confirm", task)

    def start(self, task: str) -> str:
        """Let the agent of a task begin a turn."""
        return self.ok(AGENTS[task], "start", task, "--agent", AGENTS[task])


@pytest.fixture
def team(tmp_path: Path) -> Team:
    """Return a team with a permanent task that the lead has written."""
    team = Team(tmp_path / "repository")
    team.ok(
        "lead", "new", "1", "--kind", "permanent", "--title", "Login", "--description", "One account for everything."
    )
    team.update("Codebase Impact Map", f"```json\n{json.dumps(MAP)}\n```\n")
    team.update("Constraints", "- **Latency:** 200 ms\n")
    team.ok("lead", "permanent", "decide", "--title", "Tokens", "--decision", "JWT.", "--rationale", "r", "--accepted")
    return team


def test_nobody_works_on_an_old_version_unnoticed(team: Team) -> None:
    """A decision changes in the middle; one agent is behind, one has lost its context, one claims too little."""
    everything = tuple(FILES.values())
    # Nobody begins before having read the shared context; its id and version are all that they are told.
    refused = team.ends(2, "ada", "start", "101", "--agent", "ada")
    assert "ada has confirmed no version of the permanent task, which is PT-v4" in refused
    for task, agent in AGENTS.items():
        team.read_and_confirm(agent)
        assert "the impact analysis of task" in team.ends(2, agent, "start", task, "--agent", agent)

    # Ada claims too few files: the map knows what stands between them, and the lead gets the question to ask.
    said = team.ends(1, "ada", "impact", "check", "101", "--files", "api/login.py,db/users.py")
    assert "core" in said
    assert "core" in team.ok("lead", "impact", "challenge", "101", "--files", "api/login.py,db/users.py")
    assert team.ends(2, "ada", "impact", "confirm", "101")
    team.claim("ada", "101", *everything)
    assert team.ends(2, "ada", "impact", "confirm", "101")
    team.claim("bob", "102", *everything)
    team.claim("cid", "103", *everything)
    for task in ("101", "103"):
        assert "PT-v4" in team.start(task)
    team.ok("ada", "finish", "101", "--pause", *WORDS)

    # The lead changes the architecture while cid works and the others do not.
    team.ok("lead", "permanent", "decide", "--title", "Sessions", "--decision", "Cookies.", "--supersedes", "1")

    # Ada is one version behind: the difference alone, and then the analysis anew.
    assert "ada has confirmed PT-v4 of the permanent task" in team.ends(2, "ada", "start", "101", "--agent", "ada")
    told = team.ok("ada", "permanent", "notify", "--since", "4", "--agent", "ada")
    assert "Cookies." in told
    assert "Latency" not in told
    team.ok("ada", "permanent", "ack", "--agent", "ada", "--version", "5")
    assert "PT-v5 changed the architecture" in team.ends(2, "ada", "start", "101", "--agent", "ada")
    team.claim("ada", "101", *everything)
    team.start("101")

    # Bob is two versions behind: he reads everything anew, and claims again.
    team.update("Constraints", "- **Region:** EU only\n")
    told = team.ok("bob", "permanent", "notify", "--since", "4", "--agent", "bob")
    assert "Read all of it again" in told
    assert "EU only" not in told
    assert "bob has confirmed PT-v4" in team.ends(2, "bob", "start", "102", "--agent", "bob")
    team.read_and_confirm("bob")
    team.claim("bob", "102", *everything)
    team.start("102")

    # Cid has lost its context in the middle of a turn, and knows nothing but the command.
    said = team.ok("cid", "permanent", "recover")
    assert "PT-v6 of task 1, Login" in said
    assert "Your task is 103, db/users.py" in said
    assert "you confirmed last (architecture change)" in said
    team.ok("cid", "finish", "103", "--pause", *WORDS)
    refused = team.ends(2, "cid", "start", "103", "--agent", "cid")
    assert "cid has confirmed PT-v4" in refused
    assert "the impact analysis of task 103 is missing" in refused
    team.read_and_confirm("cid")
    team.claim("cid", "103", *everything)
    team.start("103")

    # In the end everybody is at the newest version that asks for something, and the lead sees who is not.
    data = json.loads(team.ok("lead", "permanent", "status", "--format", "json"))["data"]
    assert {each["agent"]: each["confirmed"] for each in data["agents"]} == {"ada": 5, "bob": 6, "cid": 6}
    assert [each["level"] for each in data["agents"] if each["behind"]] == ["interface change"]
    assert "ada has confirmed PT-v5 (interface change since)" in team.ok("ada", "brief", "101")
    team.ok("lead", "lint")
