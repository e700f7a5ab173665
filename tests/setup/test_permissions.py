"""What an agent may run without a person, and whether a client lets it record its work."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from importlib import import_module
from typing import TYPE_CHECKING, Any

import pytest

from taskstate.operations import index
from taskstate.setup import attended
from taskstate.setup.clients import CLIENTS
from taskstate.setup.permissions import allows
from taskstate.setup.rules import COMMANDS, rules
from taskstate.storage.callers import Caller

if TYPE_CHECKING:
    from pathlib import Path

FINISH = "Bash(taskstate finish:*)"


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a home of its own, in which no client has been at work."""
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    for name in ("CLAUDE_CONFIG_DIR", "CLAUDE_CODE_ENTRYPOINT"):
        monkeypatch.delenv(name, raising=False)
    return tmp_path / "home"


def put(path: Path, values: object) -> None:
    """Write a client's configuration."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(values if isinstance(values, str) else json.dumps(values), encoding="utf-8")


def test_no_command_that_is_allowed_starts_another_or_writes_elsewhere() -> None:
    """No field of one takes a command to run or a file to write, none is `trust`, and each exists."""
    operations = [each for row in index.COMMANDS.values() for each in import_module(row.module).OPERATIONS]
    allowed = {name: [each for each in operations if f"{each.name} ".startswith(f"{name} ")] for name in COMMANDS}
    assert [name for name, found in allowed.items() if not found] == []
    assert not {"trust", "init", "lint", "purge", "feature pass"} & {*COMMANDS}
    kept = {"permanent close", "permanent import", "impact remove", "session restore", "complete", "phase export"}
    assert kept <= {each.name for each in operations} - {each.name for found in allowed.values() for each in found}
    risky = [
        (each.name, field.name)
        for found in allowed.values()
        for each in found
        for field in each.fields
        if field.example == "CMD" or (field.example == "FILE" and field.kind != "Source")
    ]
    assert risky == []


@pytest.mark.parametrize("client", CLIENTS)
def test_trust_is_in_no_rule(client: str) -> None:
    """The rules name our server and single commands, never the program as such: what is not named is asked for."""
    if client == "gemini":
        # A rule for a command of its shell has it refuse all others, also with `--yolo`.
        assert rules(client) == ("mcp_taskstate_*",)
    assert not any(
        "trust" in each or "lint --fix:" in each or "taskstate:*)" in each.replace("Mcp(", "")
        for each in rules(client)[:-1]
    )


@pytest.mark.parametrize(
    ("called", "given", "expected"),
    [
        ("acceptEdits sdk-cli", {}, False),
        ("acceptEdits sdk-cli", {"user": {"allow": [FINISH]}}, True),
        ("acceptEdits sdk-cli", {"local": {"allow": ["mcp__taskstate"]}}, True),
        ("acceptEdits sdk-cli", {"user": {"allow": ["mcp__plugin_taskstate_taskstate__finish"]}}, True),
        ("acceptEdits sdk-cli", {"local": {"allow": ["Bash(taskstate:*)"], "deny": ["Bash(taskstate *)"]}}, False),
        ("default sdk-cli", {"local": {"allow": ["Bash(taskstate trust:*)", "Bash(ls)", "mcp__other"]}}, False),
        ("acceptEdits sdk-cli", {"project": {"allow": [FINISH]}}, False),
        ("acceptEdits sdk-cli", {"project": {"allow": [FINISH]}, "trusted": True}, True),
        ("dontAsk sdk-py", {"user": [], "local": "{", "trusted": True}, False),
        ("bypassPermissions sdk-cli", {}, True),
        ("default cli", {}, True),
        ("acceptEdits cli", {}, True),
        ("acceptEdits ", {}, False),
        (" ", {}, True),
    ],
)
def test_what_claude_code_lets_an_agent_do(
    home: Path, monkeypatch: pytest.MonkeyPatch, called: str, given: dict[str, Any], *, expected: bool
) -> None:
    """A person is asked, the mode asks nobody, or a list holds it: the repository's one in a folder that is trusted."""
    root = home.parent
    mode, entry = called.split(" ")
    monkeypatch.setenv("CLAUDE_CODE_ENTRYPOINT", entry)
    places = {
        "user": home / ".claude/settings.json",
        "local": root / ".claude/settings.local.json",
        "project": root / ".claude/settings.json",
    }
    for name, path in places.items():
        if name in given:
            put(path, given[name] if isinstance(given[name], str) else {"permissions": given[name]})
    put(home / ".claude.json", {"projects": {str(root): {"hasTrustDialogAccepted": given.get("trusted", False)}}})
    assert allows(root, "claude", mode) is expected


def test_trust_in_a_repository_holds_in_its_worktrees(
    repository: Path, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As Claude Code has it: what the main tree is trusted to allow is allowed in a linked one."""
    monkeypatch.setenv("CLAUDE_CODE_ENTRYPOINT", "sdk-cli")
    for command in (("commit", "-q", "--allow-empty", "-m", "x"), ("worktree", "add", "-q", "../linked")):
        subprocess.run(["git", *command], cwd=repository, check=True)
    linked = repository.parent / "linked"
    put(linked / ".claude/settings.json", {"permissions": {"allow": [FINISH]}})
    assert not allows(linked, "claude", "acceptEdits")
    put(home / ".claude.json", {"projects": {str(repository): {"hasTrustDialogAccepted": True}}})
    assert allows(linked, "claude", "acceptEdits")


_SEEN = pytest.mark.skipif(sys.platform != "linux", reason="only there a program sees how its callers were started")


def asked(folder: Path, client: str, *words: str) -> str:
    """Return whether a client that was started with words lets an agent record its work, as a hook of it sees it."""
    program = folder / client
    shutil.copy("/bin/sh", program)
    ask = folder / "ask.py"
    ask.write_text(
        "import sys\nfrom pathlib import Path\nfrom taskstate.setup.permissions import allows\n"
        "print(allows(Path(), sys.argv[1], 'default'))\n",
        encoding="utf-8",
    )
    # a client has a shell call its hook
    script = f"/bin/sh -c '{sys.executable} {ask} {client} || exit 0; : hook stop --agent {client}'; exit $?"
    done = subprocess.run(
        [program, "-c", script, client, *words],
        cwd=folder,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        check=True,
        text=True,
    )
    return done.stdout.strip()


@_SEEN
@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["-p", "go"], False),
        (["-p", "go", "--allowedTools", "Bash(taskstate:*)"], True),
        (["-p", "go", "--allowed-tools", "Edit,Bash(ls:*) mcp__taskstate__finish", "--verbose"], True),
        (["-p", "go", "--allowedTools=Bash(taskstate finish:*)"], True),
        (["-p", "go", "--allowedTools", "Bash(git:*)", "Edit", "--model", "mcp__taskstate"], False),
        (["-p", "go", "--settings", "ci.json"], True),
        (["--permission-prompt-tool", "stdio"], True),
    ],
)
def test_what_claude_code_was_started_with(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, words: list[str], *, expected: bool
) -> None:
    """Its command line allows it, as usual in CI, or names who is asked."""
    monkeypatch.setenv("CLAUDE_CODE_ENTRYPOINT", "sdk-cli")
    assert asked(tmp_path, "claude", *words) == str(expected)


@_SEEN
@pytest.mark.parametrize(
    ("words", "settings", "expected"),
    [
        (["-p", "go"], {}, False),
        (["--prompt=go"], {}, False),
        (["--approval-mode", "auto_edit", "-p", "go"], {}, False),
        (["--approval-mode", "yolo", "-p", "go"], {}, True),
        (["-y", "-p", "go"], {}, True),
        (["--allowed-tools", "mcp_taskstate_*", "-p", "go"], {}, True),
        (["-p", "go"], {"tools": {"allowed": ["run_shell_command(taskstate finish)"]}}, True),
        (["-p", "go"], {"tools": {"allowed": ["run_shell_command(git)"]}}, False),
        (["-p", "go"], {"mcpServers": {"taskstate": {"trust": True}}}, True),
        (["-p", "go"], {"tools": []}, False),
        (["-p", "go"], "[" * 100_000, False),
    ],
)
def test_what_gemini_lets_an_agent_do(tmp_path: Path, words: list[str], settings: object, *, expected: bool) -> None:
    """How it was started tells whether it asks a person, or nobody; else its settings do."""
    put(tmp_path / ".gemini/settings.json", settings)
    assert asked(tmp_path, "gemini", *words) == str(expected)


def test_gemini_that_is_not_seen_is_no_refusal(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where no Gemini CLI is seen above us, nothing is known of it."""
    monkeypatch.setattr(attended, "callers", lambda: iter([Caller(("sh", "-c", "x"))]))
    assert allows(tmp_path, "gemini")
    monkeypatch.setattr(attended, "callers", lambda: iter([Caller(("gemini", "-p"))]))
    assert not allows(tmp_path, "gemini")
