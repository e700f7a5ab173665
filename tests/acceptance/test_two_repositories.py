"""Two repositories in one process, in turns: what one of them declares says nothing of the other."""

from __future__ import annotations

import json
import re
from functools import partial
from typing import TYPE_CHECKING, Any

import anyio
import pytest
from mcp import Client

from taskstate.api import open_repository
from taskstate.formatting.format_files import format_bytes
from taskstate.lint import runner
from taskstate.mcp_server.arguments import Place as Root
from taskstate.mcp_server.server import make_server
from tests.model.test_declared_kinds import INCIDENT
from tests.support.git_place import GitPlace
from tests.support.language_client import LanguageClient

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from taskstate.api import Repository

NAME = ".taskstate/tasks/task-9-state.md"
KINDS = ".taskstate/kinds/incident.json"
TEXT = """---
taskstate: 1
kind: incident
task_id: "9"
title: Outage
status: in_progress
created_at: "2026-01-31T12:00:00Z"
---

# Incident 9: Outage

## What Happened

The lights went out.

### Timeline

Short.
"""
UNFORMATTED = TEXT.replace("## What Happened", "## 1.  What   happened")
ELSEWHERE = {"TS101", "TS204"}  # what is found where the kind is not declared


@pytest.fixture
def places(tmp_path: Path) -> tuple[GitPlace, GitPlace]:
    """Return a repository that declares the kind of task 9, and one with the same file that declares none."""
    one, other = (GitPlace(tmp_path.resolve() / name) for name in ("one", "other"))
    for place in (one, other):
        place.write(NAME, TEXT)
    one.write(KINDS, json.dumps(INCIDENT))
    return one, other


def codes(found: Iterable[str]) -> set[str]:
    """Return the codes that differ between the two repositories."""
    return ELSEWHERE.intersection(found)


def of_lint(repository: Repository) -> set[str]:
    """Return what lint finds in a repository that was opened before."""
    return codes(each.diagnostic.code for each in repository.lint().findings)


def test_repositories_that_were_opened_one_after_the_other(places: tuple[GitPlace, GitPlace]) -> None:
    """Each keeps its kinds when the other is opened and used: in findings, values, lists, formatting and writes."""
    one, other = (open_repository(place.root) for place in places)
    for _turn in range(2):
        assert (of_lint(one), of_lint(other)) == (set(), ELSEWHERE)
        assert [each.read("9").kind for each in (one, other)] == ["incident", "task"]
        for place in places:
            place.write(NAME, TEXT + "\n")  # so that the second turn reads it again
    data = UNFORMATTED.encode()
    formatted = [format_bytes(data, NAME, each.workspace.kinds).changed for each in (one, other)]
    assert formatted == [True, False]
    assert [each.brief("9").text.count("The lights went out.") for each in (one, other)] == [1, 1]


def test_a_repository_whose_declarations_change(places: tuple[GitPlace, GitPlace]) -> None:
    """What was opened keeps what it was opened with; opened anew, it reads what is declared by then."""
    before = open_repository(places[0].root)
    (places[0].root / KINDS).unlink()
    after = open_repository(places[0].root)
    assert (of_lint(before), of_lint(after), of_lint(before)) == (set(), ELSEWHERE, set())


def test_worker_processes_know_the_kinds_of_their_run(
    places: tuple[GitPlace, GitPlace], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where several processes check the files, each of them reads these as the run's repository declares."""
    monkeypatch.setattr(runner, "_BYTES_PER_PROCESS", 1)
    monkeypatch.setattr(runner, "_BATCH", 1)
    one, other = (open_repository(place.root) for place in places)
    for repository, expected in ((one, set()), (other, ELSEWHERE)):
        request = runner.LintRequest("2026-01-31T12:00:00Z", remember=False, jobs=2)
        run, _ = runner.open_run(repository.workspace, repository.workspace.config, request)
        report = runner.check_files(repository.workspace.own_files(), run)
        assert codes(each.diagnostic.code for each in report.findings) == expected


def test_the_language_server_in_two_repositories(places: tuple[GitPlace, GitPlace]) -> None:
    """One editor with a file of each: both are found, folded and formatted as their own repository declares."""
    one, other = places
    names = {place: str(place.root / NAME) for place in places}
    with LanguageClient(one.root) as client:
        for place in (other, one):
            client.open(names[place])
        for turn in range(3):
            for place, expected in ((other, ELSEWHERE), (one, set())):
                client.change(names[place], f"{TEXT}\nTurn {turn} in {place.root.name}.\n", turn + 2)
                client.until(partial(is_shown, client, names[place], expected))
        for place, is_formatted in ((one, True), (other, False), (one, True)):
            client.change(names[place], UNFORMATTED, 9)
            params = {
                "textDocument": {"uri": client.uri(names[place])},
                "options": {"tabSize": 2, "insertSpaces": True},
            }
            assert bool(client.request("textDocument/formatting", params)) is is_formatted


def is_shown(client: LanguageClient, name: str, expected: set[str]) -> bool:
    """Return whether the editor shows what is expected of a file; nothing is shown before something was sent."""
    found = client.diagnostics.get(client.uri(name))
    return found is not None and codes(each["code"] for each in found) == expected


def test_two_servers_in_one_process(places: tuple[GitPlace, GitPlace]) -> None:
    """Agents in two repositories, served at the same time, get the findings of their own one; so does the API."""
    opened = open_repository(places[0].root)

    async def asked(client: Client, expected: set[str]) -> None:
        for _turn in range(4):
            answer: Any = await client.call_tool("lint", {})
            found = re.findall(r":[0-9]+:[0-9]+ (TS[0-9]+) ", answer.content[0].text)
            assert codes(found) == expected
            listed: Any = await client.call_tool("search", {"do": "list"})
            assert not listed.is_error

    async def main() -> None:
        servers: list[Any] = [make_server(Root(place.root)) for place in places]
        async with Client(servers[0]) as one, Client(servers[1]) as other, anyio.create_task_group() as group:
            group.start_soon(asked, one, set())
            group.start_soon(asked, other, ELSEWHERE)

    anyio.run(main)
    assert of_lint(opened) == set()
