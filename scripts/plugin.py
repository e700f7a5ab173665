"""Makes the plugin for Claude Code and the skill for other clients, from the templates that the command line uses."""

from __future__ import annotations

import json

from scripts.import_graph import PACKAGE
from taskstate import resources
from taskstate.handoff import protocol
from taskstate.model.config import Config
from taskstate.setup.clients import CLIENTS, hooks_of
from taskstate.setup.servers import OWN
from taskstate.version import VERSION
from taskstate.workspace.workspace import Workspace

PLUGIN, SKILL = "plugins/claude-code", "plugins/skill/taskstate/SKILL.md"
_SUMMARY = "One living Markdown file per task, so that no session of work is forgotten."
_WHEN = (
    "Keeps the state of a task across sessions with taskstate. Use when you begin, resume or end work on a task, when "
    "the repository has a .taskstate folder, after a compaction, or before you hand work over to another agent."
)
_AUTHOR = {"name": "taskstate contributors"}
_COMMANDS = ("start", "finish", "handoff", "archive")


def plugin_files() -> dict[str, str]:
    """Return the text of every file of the plugin and of the skill, by its path from the root."""
    about = "Hand the task over at the start, keep it whole, record the work."
    hooks = {"description": about, "hooks": hooks_of(CLIENTS["claude"])}
    skill = _skill()
    return {
        f"{PLUGIN}/.claude-plugin/plugin.json": _json(_manifest()),
        f"{PLUGIN}/hooks/hooks.json": _json(hooks),
        f"{PLUGIN}/.mcp.json": _json({"mcpServers": OWN}),
        f"{PLUGIN}/skills/taskstate/SKILL.md": skill,
        **{
            f"{PLUGIN}/commands/{name}.md": resources.text(f"templates/agents/commands/{name}.md") for name in _COMMANDS
        },
        ".claude-plugin/marketplace.json": _json(_marketplace()),
        SKILL: skill,
    }


def _manifest() -> dict[str, object]:
    return {
        "$schema": "https://json.schemastore.org/claude-code-plugin-manifest.json",
        "name": "taskstate",
        "version": VERSION,
        "description": _SUMMARY,
        "author": _AUTHOR,
        "license": "MIT",
        "keywords": ["tasks", "handoff", "context"],
    }


def _marketplace() -> dict[str, object]:
    entry = {"name": "taskstate", "source": f"./{PLUGIN}", "description": _SUMMARY}
    return {"name": "taskstate", "description": _SUMMARY, "owner": _AUTHOR, "plugins": [entry]}


def _skill() -> str:
    """Return the skill: the block of AGENTS.md, then the protocol for any task."""
    block = resources.text("templates/agents/block.md").strip().partition("\n")[2].strip()
    steps = protocol.text(Workspace(PACKAGE.parent, Config()), protocol.Subject())
    return f"---\nname: taskstate\ndescription: {_WHEN}\n---\n\n# taskstate\n\n{block}\n\n#{steps}"


def _json(value: object) -> str:
    return json.dumps(value, indent=2, ensure_ascii=False) + "\n"
