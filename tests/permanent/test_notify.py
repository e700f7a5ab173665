"""What an agent is told: the difference alone if it is one version behind, else to read everything anew."""

from __future__ import annotations

import json
import shutil
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.support.shared_context import SharedContext

MAP = {"modules": [{"id": "api", "paths": ["src/**"], "depends_on": []}], "interfaces": [], "ripple_paths": []}


def notify(shared: SharedContext, since: int, *arguments: str) -> str:
    """Return what an agent is told."""
    return shared.cli.ok("permanent", "notify", "--since", str(since), *arguments)


def test_one_version_behind_gets_the_difference_alone(shared: SharedContext) -> None:
    """Section by section, what was added, changed and dropped; and the command that confirms."""
    shared.update("Constraints", "- **Latency:** 200 ms\n- No database\n- Old\n")
    shared.update("Constraints", "- **Latency:** 100 ms\n- EU only\n", "--drop", "Old")
    told = notify(shared, 2, "--agent", "ada")
    assert told.splitlines()[0].startswith("PT-v3 of task 1, Login platform, was PT-v2. Interface change:")
    assert "Constraints:\n+ EU only\n" in told.replace("~ **Latency:** 100 ms (was: **Latency:** 200 ms)\n", "")
    assert "~ **Latency:** 100 ms (was: **Latency:** 200 ms)" in told
    assert "- Old" in told
    assert "No database" not in told
    assert "`taskstate permanent ack --agent ada --version 3`" in told


def test_further_behind_reads_anew(shared: SharedContext) -> None:
    """So does who has lost its context, at one version, too."""
    shared.update("Constraints", "- one\n")
    shared.update("Constraints", "- two\n")
    for told in (notify(shared, 1), notify(shared, 2, "--lost")):
        assert "Read all of it again" in told
        assert "`taskstate show 1`" in told
        assert "two" not in told
    assert "you lost your context" in notify(shared, 2, "--lost")


def test_nothing_changed(shared: SharedContext) -> None:
    """Who is at the newest version is told so."""
    assert "nothing changed since PT-v1" in notify(shared, 1)


@pytest.mark.parametrize("since", ["0", "9", "x"])
def test_a_version_that_is_not_there(shared: SharedContext, since: str) -> None:
    """It is refused in one line."""
    shared.cli.refused("permanent", "notify", "--since", since)


def test_an_entry_of_the_map_is_told_by_its_id(shared: SharedContext) -> None:
    """With what it was."""
    shared.update("Codebase Impact Map", f"```json\n{json.dumps(MAP)}\n```\n")
    told = notify(shared, 1)
    assert '+ module api: {"paths": ["src/**"], "depends_on": []}' in told


def test_without_copies_the_older_version_comes_from_git(shared: SharedContext) -> None:
    """As in a fresh clone; what no commit has is read anew, and the message says why."""
    place = shared.place
    shared.update("Constraints", "- one\n")
    place.commit("one")
    shared.update("Constraints", "- two\n")
    shutil.rmtree(place.root / ".git" / "taskstate")
    assert "+ two\n" in notify(shared, 2)
    shared.update("Constraints", "- three\n")
    shutil.rmtree(place.root / ".git" / "taskstate")
    assert "the text of PT-v3 is not here" in notify(shared, 3)
    data = shared.cli.json("permanent", "notify", "--since", "3")
    assert (data["read_anew"], data["level"], data["version"]) == (True, "interface change", 4)
