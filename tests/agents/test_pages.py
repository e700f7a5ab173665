"""The pages about agents' clients: each command on them runs, and their tables are those of the code."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from taskstate.doctor.preflight import PAGES, PROMPTS
from taskstate.setup.clients import CLIENTS, EVENTS
from tests.support.place import Place

if TYPE_CHECKING:
    from collections.abc import Iterator

DOCS = Path(__file__).parents[2] / "docs" / "agents"
PAGE_OF = {"claude": "claude-code", "codex": "codex", "cursor": "cursor", "gemini": "gemini"}


def commands(page: Path) -> Iterator[str]:
    """Yield each command of a page's shell fences."""
    for fence in re.findall(r"^```sh\n(.*?)^```", page.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL):
        yield from fence.splitlines()


@pytest.mark.parametrize("name", ["index", *PAGE_OF.values()])
def test_commands_of_a_page_run(repository: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    """In a new repository with a task, the commands run one after the other."""
    Place(repository)
    subprocess.run(["git", "symbolic-ref", "HEAD", "refs/heads/101-jwt"], cwd=repository, check=True)
    monkeypatch.setenv("PATH", f"{Path(sys.executable).parent}:{Path('/usr/bin')}:{Path('/bin')}")
    run = [*commands(DOCS / f"{name}.md")]
    assert len(run) >= 3
    for command in run:
        done = subprocess.run(["sh", "-c", command], cwd=repository, capture_output=True, text=True, check=False)
        assert (done.returncode, done.stderr) == (0, ""), command
        if "taskstate hook" in command:
            assert "101" in json.dumps(json.loads(done.stdout))


def test_table_of_formats_is_that_of_the_code() -> None:
    """The page about the hooks names the client's event for each of ours, and leaves open what there is not."""
    text = (DOCS / "hooks.md").read_text(encoding="utf-8")
    rows = {cells[0].strip("`"): cells[1:] for cells in _rows(text.split("## The formats")[1])}
    assert set(rows) == {*EVENTS, "event"}
    for number, client in enumerate(CLIENTS.values()):
        assert rows["event"][number] == client.name
        for event in EVENTS:
            hook = client.hooks.get(event)
            assert rows[event][number].partition(",")[0] == (hook.name if hook else "")


def test_files_of_a_client_are_named_on_its_page() -> None:
    """A page says which files are written."""
    for name, page in PAGE_OF.items():
        text = (DOCS / f"{page}.md").read_text(encoding="utf-8")
        assert f"`{CLIENTS[name].hook_file}`" in text
        assert f"`{CLIENTS[name].mcp_file}`" in text


def test_places_of_prompts_are_named() -> None:
    """The page about the pre-flight names each place where prompts are read."""
    text = (DOCS / "preflight.md").read_text(encoding="utf-8")
    assert [place for place in (*PAGES, *(folder for folder, _ in PROMPTS)) if f"`{place}`" not in text] == []


def _rows(text: str) -> Iterator[list[str]]:
    for line in text.splitlines():
        if line.startswith("| ") and "---" not in line:
            yield [cell.strip() for cell in line.strip("|").split("|")]
