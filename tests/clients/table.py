"""The clients that are driven, each in one pinned version: its installation, its set-up, its command and its tools.

In the arguments of a tool `{path}` and the like stand for what a scenario fills in.
"""

from __future__ import annotations

import fcntl
import json
import shutil
import subprocess
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import pytest

from tests.clients.model import ADDRESS, Call, Step

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

CACHE = Path(__file__).parents[2] / ".cache" / "clients"
PROMPT = "go"


class Client(NamedTuple):
    """A client, and what is peculiar to it."""

    name: str  # as `init --agent` has it
    title: str
    version: str
    package: str
    program: str  # a glob below the folder of the installation
    command: tuple[str, ...]
    modes: Mapping[str, tuple[str, ...]]  # arguments by the client's name of a mode; the first lets everything through
    tools: Mapping[str, Call]  # by our names of what they do
    files: Mapping[str, str]  # of its HOME
    env: Mapping[str, str]
    edited: str  # what its tool says of an edit
    reports: Sequence[Step] = (Step("Looked."),)  # how a sub-agent ends

    def __str__(self) -> str:
        return f"{self.title} {self.version}"

    def call(self, what: str, **given: Any) -> Call:  # noqa: ANN401 - any JSON
        """Return the call of a tool with what it is given."""
        tool = self.tools[what]
        return Call(tool.tool, filled(tool.given, given), tool.namespace)

    def mcp(self, tool: str, **given: Any) -> Call:  # noqa: ANN401 - any JSON
        """Return the call of a tool of our server."""
        shape = self.tools["mcp"]
        return Call(shape.tool.replace("{tool}", tool), given, shape.namespace)

    def installed(self) -> Path:
        """Return the client's program, which is installed first where it is not; skips where it cannot be had."""
        folder = CACHE / f"{self.name}-{self.version}"
        fault = _install(folder, f"{self.package}@{self.version}")
        found = next(folder.glob(f"node_modules/{self.program}"), None)
        if found is None:
            pytest.skip(f"{self} cannot be had: {fault or 'there is no program for this machine'}")
        return found


@cache
def _install(folder: Path, package: str) -> str:
    """Install a package into a folder of its own, once, and return why that failed; empty where it is there."""
    npm = shutil.which("npm")
    if npm is None or shutil.which("node") is None:
        return "node and npm are not installed"
    CACHE.mkdir(parents=True, exist_ok=True)
    with (CACHE / "lock").open("w") as lock:  # tests run in several processes
        fcntl.flock(lock, fcntl.LOCK_EX)
        if folder.exists():
            return ""
        new = folder.with_suffix(".new")
        shutil.rmtree(new, ignore_errors=True)
        new.mkdir()
        (new / "package.json").write_text("{}", encoding="utf-8")
        command = [npm, "install", "--ignore-scripts", "--no-audit", "--no-fund", package]
        done = subprocess.run(command, cwd=new, capture_output=True, text=True, check=False, timeout=600)
        if done.returncode == 0:
            new.rename(folder)
        return done.stderr.strip()[-300:]


def filled(shape: Any, given: Mapping[str, Any]) -> Any:  # noqa: ANN401 - JSON
    """Return JSON with `{name}` replaced by what is given for that name."""
    if isinstance(shape, dict):
        return {key: filled(value, given) for key, value in shape.items()}
    if isinstance(shape, list):
        return [filled(value, given) for value in shape]
    for name, value in given.items():
        shape = shape.replace(f"{{{name}}}", str(value)) if isinstance(shape, str) else shape
    return shape


_PATH = "{root}/{path}"
CLAUDE = Client(
    name="claude",
    title="Claude Code",
    version="2.1.332",
    package="@anthropic-ai/claude-code",
    program="@anthropic-ai/claude-code-*/claude",
    command=("-p", "{prompt}", "--output-format", "stream-json", "--verbose"),
    modes={
        mode: ("--permission-mode", mode) for mode in ("bypassPermissions", "default", "acceptEdits", "dontAsk", "plan")
    },
    tools={
        "read": Call("Read", {"file_path": _PATH}),
        "edit": Call("Edit", {"file_path": _PATH, "old_string": "{old}", "new_string": "{new}"}),
        "write": Call("Write", {"file_path": _PATH, "content": "{content}"}),
        "shell": Call("Bash", {"command": "{command}", "description": "run it"}),
        "agent": Call(
            "Agent",
            {
                "description": "a part",
                "prompt": "SCRIPT:{script}",
                "subagent_type": "general-purpose",
                "run_in_background": False,
            },
        ),
        "mcp": Call("mcp__taskstate__{tool}", {}),
    },
    files={".claude.json": '{"projects": {"{root}": {"hasTrustDialogAccepted": true}}}'},
    env={
        "ANTHROPIC_API_KEY": "sk-invented",
        "ANTHROPIC_BASE_URL": ADDRESS,
        "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
        "CLAUDE_CODE_MAX_RETRIES": "1",
        "DISABLE_AUTOUPDATER": "1",
        "ENABLE_TOOL_SEARCH": "false",  # all tools are in the first request
        "IS_SANDBOX": "1",  # root may let everything through
    },
    edited="has been updated successfully",
)
CODEX = Client(
    name="codex",
    title="Codex",
    version="0.171.0",
    package="@openai/codex",
    program=".bin/codex",
    command=("exec", "--json", "--dangerously-bypass-hook-trust"),
    modes={
        "danger-full-access": ("--dangerously-bypass-approvals-and-sandbox", "{prompt}"),
        "workspace-write": ("--sandbox", "workspace-write", "{prompt}"),
        "read-only": ("--sandbox", "read-only", "{prompt}"),
    },
    tools={
        "read": Call("exec_command", {"cmd": "cat {path}"}),
        "edit": Call("apply_patch", "*** Begin Patch\n*** Update File: {path}\n@@\n-{old}\n+{new}\n*** End Patch\n"),
        "write": Call("apply_patch", "*** Begin Patch\n*** Add File: {path}\n+{content}\n*** End Patch\n"),
        "shell": Call("exec_command", {"cmd": "{command}", "yield_time_ms": 30_000}),
        "agent": Call("spawn_agent", {"message": "SCRIPT:{script}"}, "multi_agent_v1"),
        "mcp": Call("{tool}", {}, "mcp__taskstate"),
    },
    files={
        ".codex/config.toml": f"""\
model = "{{model}}"
model_provider = "invented"
check_for_update_on_startup = false
[model_providers.invented]
name = "invented"
base_url = "{ADDRESS}/v1"
wire_api = "responses"
env_key = "INVENTED_KEY"
request_max_retries = 1
stream_max_retries = 1
[analytics]
enabled = false
[projects."{{root}}"]
trust_level = "trusted"
"""
    },
    env={"INVENTED_KEY": "sk-invented"},
    edited="Success. Updated the following files",
)
_GEMINI_SETTINGS = {
    "security": {"auth": {"selectedType": "gemini-api-key"}},
    "privacy": {"usageStatisticsEnabled": False},
    "telemetry": {"enabled": False},
    "general": {"enableAutoUpdate": False, "enableAutoUpdateNotification": False},
}
GEMINI = Client(
    name="gemini",
    title="Gemini CLI",
    version="0.61.0",
    package="@google/gemini-cli",
    program=".bin/gemini",
    command=("-m", "gemini-2.5-pro", "--output-format", "stream-json", "-p", "{prompt}"),
    modes={mode: ("--approval-mode", mode) for mode in ("yolo", "default", "auto_edit", "plan")},
    tools={
        "read": Call("read_file", {"file_path": _PATH}),
        "edit": Call("replace", {"file_path": _PATH, "instruction": "e", "old_string": "{old}", "new_string": "{new}"}),
        "write": Call("write_file", {"file_path": _PATH, "content": "{content}"}),
        "shell": Call("run_shell_command", {"command": "{command}", "description": "run it"}),
        "agent": Call("invoke_agent", {"agent_name": "generalist", "prompt": "SCRIPT:{script}"}),
        "mcp": Call("mcp_taskstate_{tool}", {}),
    },
    files={
        ".gemini/settings.json": json.dumps(_GEMINI_SETTINGS),
        ".gemini/trustedFolders.json": '{"{root}": "TRUST_FOLDER"}',
    },
    env={"GEMINI_API_KEY": "invented", "GOOGLE_GEMINI_BASE_URL": ADDRESS},
    edited="Successfully modified file",
    reports=(Step(calls=[Call("complete_task", {"result": "Looked.", "response": "Looked."})]),),
)
OLDER_CLAUDE = CLAUDE._replace(version="2.1.197")
CLIENTS = (CLAUDE, OLDER_CLAUDE, CODEX, GEMINI)
