"""A context.json becomes the state file of its task: `tests/cases/migrate/context`, NAME.before.json and NAME.after.md.

A new case needs no Python: write the first file, run the tests with TASKSTATE_WRITE_CASES=1, and read the second.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from taskstate.syntax.document import parse
from taskstate.workspace import artifacts
from tests.migration.test_migrate import put

if TYPE_CHECKING:
    from tests.cli.conftest import Cli

CASES = Path(__file__).parents[1] / "cases" / "migrate" / "context"
NAMES = sorted(path.name.removesuffix(".before.json") for path in CASES.glob("*.before.json"))
SOURCE = ".agent-output/TASK-0824/context.json"
WRITE = bool(os.environ.get("TASKSTATE_WRITE_CASES"))  # the tests themselves run without the caller's variables
# What depends on when, by whom and at which commit it is written.
VOLATILE = re.compile(
    r'(?m)^updated_at:.*\n|^audit:\n(?:  .*\n)*|(?<=^created_at: )"20[3-9].*|(?<=^created_at: )"2026.*'
)


def before(name: str) -> str:
    """Return the context.json of a case."""
    return (CASES / f"{name}.before.json").read_text(encoding="utf-8")


@pytest.mark.parametrize("name", NAMES)
def test_the_context_becomes_a_state_file(cli: Cli, name: str) -> None:
    """As the case says; the source stays, and a second run has nothing to do."""
    source = put(cli, SOURCE, before(name))
    said = cli("migrate")
    assert said.status in {0, 1}, said.err
    assert said.out.startswith(f".taskstate/tasks/task-0824-state.md: migrated from {SOURCE}\n")
    text = cli.place.workspace.locate("0824").read_text(encoding="utf-8")
    expected = CASES / f"{name}.after.md"
    if WRITE:
        expected.write_text(VOLATILE.sub("", text), encoding="utf-8")
    assert VOLATILE.sub("", text) == expected.read_text(encoding="utf-8")
    assert source.read_text(encoding="utf-8") == before(name)
    assert cli("migrate").out == "nothing to migrate\n"
    assert cli("fmt", "--check").status == 0


def test_what_is_left_to_decide_is_said(cli: Cli) -> None:
    """A role that is done has no snapshot here: the linter's finding names the cure."""
    put(cli, SOURCE, before("all-fields"))
    said = cli("migrate", SOURCE)
    assert said.status == 1
    assert "TS702 implementer is done" in said.out
    assert "taskstate role reopen 0824 implementer" in said.out


def test_a_dry_run_creates_nothing(cli: Cli) -> None:
    """It shows the new file as a difference."""
    put(cli, SOURCE, before("least"))
    assert '+task_id: "0824"' in cli("migrate", "--dry-run").out
    assert not (cli.place.workspace.tasks / "task-0824-state.md").exists()


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("{", f"{SOURCE}, line 1: the object that begins here is never closed"),
        ("[]", f"{SOURCE} holds no JSON object"),
        ("{}", "is not a context of a task"),
        (before("least").replace("TASK-0824", "TASK-0825"), "its folder says 0824, and its text says TASK-0825"),
        (before("least").replace('"version": 1', '"version": 2'), "has version 2, and 1 is the only one known here"),
    ],
)
def test_what_is_no_context_is_refused(cli: Cli, text: str, why: str) -> None:
    """Nothing is written, and the message says why."""
    put(cli, SOURCE, text)
    said = cli("migrate")
    assert said.status == 2
    assert why in said.err
    assert not (cli.place.workspace.tasks / "task-0824-state.md").exists()


@pytest.mark.parametrize("place", ["implementer-qa.log", ".agent-output/TASK-0824/implementer-qa.log"])
def test_the_log_of_a_role_comes_in(cli: Cli, place: str) -> None:
    """It is kept as an artifact with its hash, whether its path is that of the repository or of the context."""
    text = before("all-fields").replace(".agent-output/TASK-0824/implementer-qa.log", place)
    put(cli, SOURCE, text)
    log = put(cli, ".agent-output/TASK-0824/implementer-qa.log", "12 passed in 3.1s\n")
    said = cli("migrate", SOURCE)
    assert f"the log {place} is kept as artifacts/task-0824/qa-implementer" in said.out
    assert f"under Notes now: Rest of {SOURCE}" in said.out
    assert "TS704" not in cli("lint").out
    text = cli.place.workspace.locate("0824").read_text(encoding="utf-8")
    role = parse(text).front_matter["coordination"]["implementer"]
    kept = artifacts.read(cli.place.workspace, role["qa_log_path"])
    assert kept
    assert artifacts.gunzipped(kept, "the log") == log.read_bytes()
    assert role["qa_log_sha256"] == hashlib.sha256(log.read_bytes()).hexdigest()


def test_a_log_outside_of_the_repository_stays_there(cli: Cli) -> None:
    """A path that leads out names no log of this task; the rest is brought in."""
    outside = cli.place.root.parent / "other.log"
    outside.write_text("12 passed\n")
    put(cli, SOURCE, before("all-fields").replace(".agent-output/TASK-0824/implementer-qa.log", "../other.log"))
    said = cli("migrate", SOURCE)
    assert "is kept as" not in said.out
    assert "../other.log" in cli.place.workspace.locate("0824").read_text()


def test_a_citation_that_is_none_leaves_the_others(cli: Cli) -> None:
    """A heading's title is its slug, a whole hash the digits that are kept; what is no citation stays under Notes."""
    cited = [
        {
            "file": "docs/s.md",
            "section": "Error Handling",
            "requirement": "fast",
            "content_sha": "0123456789abcdef" * 4,
        },
        {"file": "docs/s.md"},
    ]
    immutable = {"task_snapshot": {"title": "Least"}, "standards_citations": cited}
    put(cli, SOURCE, json.dumps({"version": 1, "immutable": immutable}))
    assert cli("migrate", SOURCE).status in {0, 1}
    text = cli.place.workspace.locate("0824").read_text()
    standards, _, notes = text.partition("## Notes")
    assert '"section": "error-handling"' in standards
    assert '"content_sha": "0123456789abcdef",' in standards
    assert '"file": "docs/s.md"' in notes


def test_a_credential_is_refused(cli: Cli) -> None:
    """As with every write; `--force-secrets` takes it over with a warning."""
    key = "AKIA" + "ABCDEFGHIJKLMNOP"
    put(cli, SOURCE, before("least").replace("Least", f"Use {key}"))
    assert cli("migrate").status == 2
    assert cli("migrate", "--force-secrets").status in {0, 1}
