from __future__ import annotations

import json
import re
from pathlib import Path
from typing import TYPE_CHECKING

import jsonschema
import pytest
import yaml

from scripts.plugin import PLUGIN, SKILL, plugin_files
from taskstate.handoff.token_count import estimate
from taskstate.setup.clients import CLIENTS, EVENTS, OF_AUTOSAVE
from taskstate.version import VERSION
from tests.support.command_line import flags_of

if TYPE_CHECKING:
    from typing import Any

ROOT = Path(__file__).parents[2]
SCHEMA = json.loads((ROOT / "tests/cases/plugin/schema.json").read_text(encoding="utf-8"))
FILES = {
    ".claude-plugin/marketplace.json": "marketplace",
    f"{PLUGIN}/.claude-plugin/plugin.json": "manifest",
    f"{PLUGIN}/hooks/hooks.json": "hooks",
    f"{PLUGIN}/.mcp.json": "servers",
    f"{PLUGIN}/skills/taskstate/SKILL.md": "skill",
    SKILL: "skill",
    **{f"{PLUGIN}/commands/{name}.md": "command" for name in ("start", "finish", "handoff", "archive")},
}


def values_of(name: str) -> Any:  # noqa: ANN401 - any JSON
    """Return the values of a JSON file, or of the front matter of a Markdown file."""
    text = (ROOT / name).read_text(encoding="utf-8")
    return json.loads(text) if name.endswith(".json") else yaml.safe_load(text.split("---\n")[1])


@pytest.mark.parametrize(("name", "part"), FILES.items())
def test_file_follows_the_documented_schema(name: str, part: str) -> None:
    """Each file of the plugin has the keys that are documented and that a strict validation asks for, and no others."""
    schema = {"$ref": f"#/$defs/{part}", "$defs": SCHEMA["$defs"]}
    jsonschema.Draft202012Validator(schema).validate(values_of(name))


def test_no_file_is_unchecked() -> None:
    """The schema is there for each file that is generated, and each of them stands where it is generated."""
    assert set(plugin_files()) == set(FILES)
    assert all((ROOT / name).read_text(encoding="utf-8") == text for name, text in plugin_files().items())


def test_plugin_has_the_version_of_the_command_line() -> None:
    """The version of the plugin is not another one."""
    assert values_of(f"{PLUGIN}/.claude-plugin/plugin.json")["version"] == VERSION
    source = values_of(".claude-plugin/marketplace.json")["plugins"][0]["source"]
    assert (ROOT / source / ".claude-plugin/plugin.json").is_file()


def test_hooks_of_the_plugin_are_those_of_init() -> None:
    """Every event that the client knows is there, but for those that a person has to allow."""
    text = (ROOT / PLUGIN / "hooks/hooks.json").read_text(encoding="utf-8")
    found = set(re.findall(r"taskstate hook (\S+) --agent claude", text))
    assert found == set(CLIENTS["claude"].hooks) - set(OF_AUTOSAVE) <= set(EVENTS)


@pytest.mark.parametrize("name", [name for name in FILES if name.endswith(".md")])
def test_commands_that_are_named_exist(name: str) -> None:
    """A skill or a slash command names no command or flag that the command line does not have."""
    text = (ROOT / name).read_text(encoding="utf-8")
    for command, rest in re.findall(r"`taskstate ([a-z][a-z-]*)([^`]*)`", text):
        assert set(re.findall(r"--[a-z-]+", rest)) <= flags_of(command)


def test_skill_is_short() -> None:
    """A skill is loaded into the context as a whole: with the protocol it stays below 1,000 tokens."""
    assert estimate((ROOT / SKILL).read_text(encoding="utf-8")) < 1_000
