"""Kinds of state files that a project declares in its state folder, as commands use and refuse them."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.model.test_declared_kinds import INCIDENT, RISKS, TASK

if TYPE_CHECKING:
    from tests.cli.conftest import Cli
    from tests.support.place import Place

OWN = "## Risks\n\n### Known\n\nThe deadline.\n\n"
FILE = """---
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


def declare(place: Place, value: object, name: str = "") -> Path:
    """Write the declaration of a kind, and return its path."""
    kind = name or (value["kind"] if isinstance(value, dict) else "x")
    path = place.root / ".taskstate" / "kinds" / f"{kind}.json"
    path.parent.mkdir(exist_ok=True)
    path.write_text(value if isinstance(value, str) else json.dumps(value), encoding="utf-8")
    return path


def codes(cli: Cli) -> list[str]:
    """Return the codes of what is found."""
    return [each["code"] for each in json.loads(cli("lint", "--format", "json").out)["data"]["findings"]]


def test_own_sections(cli: Cli, place: Place) -> None:
    """A declared section is known to lint, in its place and with its subsections, also in a cached run, and `fmt`."""
    place.text = place.text.replace("## 3. Feature", f"{OWN}## 3. Feature")
    assert codes(cli) == ["TS204"]
    sections = [*TASK["sections"]]
    sections.insert(2, RISKS | {"required": True})
    path = declare(place, TASK | {"sections": sections})
    assert codes(cli) == codes(cli) == []
    place.text = place.text.replace("### Known\n\nThe deadline.\n\n", "")
    assert codes(cli) == ["TS208"]
    place.text = place.text.replace("## Risks\n\n", "")
    assert codes(cli) == ["TS201"]
    cli.ok("lint", "--fix")
    assert place.text.index("## 2. Chain") < place.text.index("## Risks") < place.text.index("## 3. Feature")
    place.text = place.text.replace("## Risks\n", OWN)
    cli.ok("session", "add", "101", "--did", "x", "--state", "y", "--next", "z")
    cli.ok("fmt")
    assert "## Risks\n\n### Known\n\nThe deadline.\n" in place.text
    path.unlink()
    assert "TS204" in codes(cli)


def test_a_new_task_has_what_the_project_requires(cli: Cli, place: Place) -> None:
    """Each required section and subsection of the project's own is there, in its place, and there is no finding."""
    sections = [*TASK["sections"]]
    sections[0] = sections[0] | {"subsections": [*sections[0]["subsections"], {"name": "Owner", "required": True}]}
    sections[2:2] = [RISKS | {"required": True}, {"name": "Rollout", "required": True}, {"name": "Ideas"}]
    declare(place, TASK | {"sections": sections})
    cli.ok("new", "7", "--title", "T")
    text = place.path.with_name("task-7-state.md").read_text(encoding="utf-8")
    own = [
        line
        for line in text.split("\n")
        if line.startswith("##") and not re.match(r"##\S? (?:[3-6]|S|F|A|Con|I)", line)
    ]
    assert own == [
        "## 1. Static Context",
        "### Task Description",
        "### Owner",
        "## 2. Chain Inputs",
        "## Risks",
        "### Known",
        "## Rollout",
    ]
    found = json.loads(cli("lint", "--format", "json").out)["data"]["findings"]
    assert [each["code"] for each in found if "task-7" in each["path"]] == []


def test_a_kind_of_ones_own(cli: Cli, place: Place) -> None:
    """A file of an own kind is checked against its own sections, listed and shown like any other."""
    own = place.path.with_name("task-9-state.md")
    own.write_text(FILE, encoding="utf-8")
    assert "TS101" in codes(cli)
    declare(place, INCIDENT)
    assert codes(cli) == []
    cli.ok("fmt", "--check")
    assert "Outage" in cli.ok("list")
    cli.ok("show", "9")
    own.write_text(FILE.replace("## What Happened", "## What"), encoding="utf-8")
    assert "TS209" in codes(cli)
    own.write_text(FILE.replace("kind: incident", "kind: incidnt"), encoding="utf-8")
    for value in ("[incident]", "{a: 1}", "incident x", "INCIDENT", '""'):
        own.write_text(FILE.replace("kind: incident", f"kind: {value}"), encoding="utf-8")
        assert "TS101" in codes(cli)
    own.write_text(FILE.replace("kind: incident", "kind: incidnt"), encoding="utf-8")
    (first, *_) = cli.json("lint", status=1)["findings"]
    assert (first["code"], "it must be one of task, permanent, incident" in first["message"]) == ("TS101", True)
    assert first["help"].startswith("write `kind: incident`")


def test_what_a_kind_does_not_have_is_refused(cli: Cli, place: Place) -> None:
    """A command that needs a section which the kind has not refuses, and changes nothing."""
    declare(place, INCIDENT)
    own = place.path.with_name("task-9-state.md")
    own.write_text(FILE, encoding="utf-8")
    assert cli("session", "add", "9", "--did", "x", "--state", "y", "--next", "z").status == 2
    assert own.read_text(encoding="utf-8") == FILE


def test_the_page_shows_declarations_that_are_taken(cli: Cli, place: Place) -> None:
    """What docs/format.md shows as a section and as a kind works as it stands there."""
    page = (Path(__file__).parents[3] / "docs" / "format.md").read_text(encoding="utf-8")
    part = page.split("## Own sections and kinds", 1)[1].split("\n## ", 1)[0]
    section, kind = (json.loads(block) for block in re.findall(r"```json\n(.*?)```", part, re.DOTALL))
    declare(place, TASK | {"sections": [*TASK["sections"][:2], section, *TASK["sections"][2:]]})
    declare(place, kind)
    place.path.with_name("task-9-state.md").write_text(FILE, encoding="utf-8")
    assert codes(cli) == ["TS201"]
    place.text = place.text.replace("## 3. Feature", f"{OWN}## 3. Feature")
    assert codes(cli) == []


@pytest.mark.parametrize(
    ("value", "problem"),
    [
        ("{", "kinds/incident.json, line 1: "),
        ("[]", "kinds/incident.json holds no JSON object"),
        ('{"kind": "incident", "kind": "incident"}', "kinds/incident.json"),
        ("x" * 200_000, "it is larger than 100 KB"),
        (INCIDENT | {"title": "no heading"}, "`title`"),
    ],
)
def test_a_declaration_that_is_wrong_is_refused(cli: Cli, place: Place, value: object, problem: str) -> None:
    """Every command says which file is wrong and what to do, and does nothing."""
    state = place.path
    before = state.read_bytes()
    declare(place, value, "incident")
    for command in (("lint",), ("list",), ("fmt",)):
        error = cli.refused(*command)
        assert problem in error
        assert ".taskstate/kinds/incident.json" in error
    assert state.read_bytes() == before


def test_a_declaration_lies_inside_the_repository(cli: Cli, place: Place, tmp_path: Path) -> None:
    """A link that leads outside is not followed, whether it is the file or the folder; other files are not read."""
    (tmp_path / "incident.json").write_text(json.dumps(INCIDENT), encoding="utf-8")
    folder = place.workspace.state_root / "kinds"
    folder.mkdir()
    (folder / "README.md").write_text("ours", encoding="utf-8")
    assert cli("lint").status == 0
    (folder / "incident.json").symlink_to(tmp_path / "incident.json")
    assert cli("lint").status == 2
    (folder / "incident.json").unlink()
    (folder / "README.md").unlink()
    folder.rmdir()
    folder.symlink_to(tmp_path)
    assert cli("lint").status == 2


def test_a_repository_without_kinds_reads_nothing_for_them(place: Place) -> None:
    """Lint of a clean file does not import what reads declarations."""
    imported = "print('taskstate.model.declared_kinds' in sys.modules)"
    code = f"import sys; from taskstate.__main__ import main; main(['lint']); {imported}"
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=place.root, check=True, capture_output=True, encoding="utf-8"
    )
    assert done.stdout.splitlines()[-1] == "False"
