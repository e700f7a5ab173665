"""Handoffs and progress of `specs/<N>_<slug>` come to task N, word for word, and once."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from taskstate.model.phases import phases_in
from taskstate.model.task_state import read_state
from taskstate.syntax.document import parse
from tests.migration.test_migrate import put

if TYPE_CHECKING:
    from tests.cli.conftest import Cli

FOLDER = "specs/879_fix_team-mode"
NEWEST, OLDER = "phase-3-handoff-20260212T114500Z.md", "phase-3-handoff-2026-02-12T10-45-00Z.md"
DOCUMENT = """\
# Phase 3 Handoff - 2026-02-12T11:45:00Z

## Immediate Next Action
Prove case 4 of the lemma.

## Current State
- File: a.lean
- Location: Line 42, after simp
- Goal state: consistency

## Key Decisions Made
1. Structural induction: the direct one fails

## What NOT to Try
1. Direct induction: it loses the hypothesis

## Critical Context (max 5 items)
- The state is finite

## References (read only if stuck)
- Plan: a.lean, Phase 3
"""
PROGRESS = {
    "phase": 3,
    "phase_name": "GH-controlled Lindenbaum",
    "started_at": "2026-02-12T10:30:00.000Z",
    "objectives": [
        {"id": 1, "description": "Define it", "status": "completed"},
        {"id": 2, "description": "Prove it", "status": "in_progress", "note": "3 of 5", "owner": "ann"},
    ],
    "current_objective": 2,
    "approaches_tried": [{"approach": "Direct", "result": "failed"}, "By hand"],
    "context_used": "80%",
}


@pytest.fixture
def spec(cli: Cli) -> Cli:
    """Return the command line in a repository with such a folder."""
    put(cli, "a.lean", "")
    put(cli, f"{FOLDER}/handoffs/{NEWEST}", DOCUMENT)
    put(cli, f"{FOLDER}/handoffs/{OLDER}", DOCUMENT.replace("\n", "\r\n"))
    put(cli, f"{FOLDER}/progress/phase-3-progress.json", json.dumps(PROGRESS))
    return cli


def test_the_task_is_created_with_phase_and_handoffs(spec: Cli) -> None:
    """The newest document is open, the other one accepted; both keep their text to the byte."""
    said = spec("migrate")
    assert (said.status, said.err) == (0, ""), said.out
    root = spec.place.workspace.state_root / "handoffs" / "task-879"
    newest = (root / NEWEST).read_bytes()
    older = (root / "archive" / "phase-3-handoff-20260212T104500Z.md").read_bytes()
    assert newest.endswith(DOCUMENT.encode())
    assert older.endswith(DOCUMENT.replace("\n", "\r\n").encode())
    assert b"status: open" in newest
    assert b"status: accepted\r\n" in older
    state = read_state(parse(spec.place.workspace.locate("879").read_text()))
    assert state.title == "Fix team mode"
    assert [part.name for part in phases_in(state)] == ["3"]
    assert spec("lint", ".taskstate").status == 0
    assert spec("handoff", "accept", "879", "--agent", "next").status == 0


def test_again_changes_nothing(spec: Cli) -> None:
    """Neither before nor after the open document is accepted."""
    spec("migrate")
    assert spec("migrate").out == "nothing to migrate\n"
    spec("handoff", "accept", "879", "--agent", "next")
    assert spec("migrate").out == "nothing to migrate\n"


def test_they_come_to_a_task_that_is_there(spec: Cli) -> None:
    """Its own phases and its open handoff stay as they are; only a new document is brought in later."""
    spec("new", "879", "--title", "Ours")
    spec("migrate", FOLDER)
    put(spec, f"{FOLDER}/handoffs/phase-3-handoff-20260213T000000Z.md", DOCUMENT)
    said = spec("migrate", FOLDER)
    assert "1 handoff document brought in" in said.out
    assert (spec.place.workspace.state_root / "handoffs" / "task-879" / NEWEST).exists()
    assert spec("lint", ".taskstate").status == 0
    assert "title: Ours" in spec.place.workspace.locate("879").read_text()


def test_values_that_the_present_form_does_not_know_stay(spec: Cli) -> None:
    """Under keys with the prefix `x-`; statuses and times are written as they are here."""
    spec("migrate")
    text = spec.place.workspace.locate("879").read_text()
    for part in (
        '"x-owner": "ann"',
        '"x-context_used": "80%"',
        '"status": "done"',
        '"2026-02-12T10:30:00Z"',
        "By hand",
    ):
        assert part in text


def test_all_done_leaves_no_handoff_open(spec: Cli) -> None:
    """Nobody has to take over what is finished."""
    done = {**PROGRESS, "objectives": [{"id": 1, "description": "Define it", "status": "done"}]}
    put(spec, f"{FOLDER}/progress/phase-3-progress.json", json.dumps(done))
    spec("migrate")
    assert "open: null" in spec.place.workspace.locate("879").read_text()


def test_a_dry_run_writes_nothing(spec: Cli) -> None:
    """It shows the state file, and says how many documents there would be."""
    said = spec("migrate", "--dry-run")
    assert "2 handoff documents would be written" in said.out
    assert not (spec.place.workspace.tasks / "task-879-state.md").exists()


@pytest.mark.parametrize(
    ("name", "text", "why"),
    [
        ("handoffs/phase-3-handoff-later.md", DOCUMENT, "'later' in its name is not a time"),
        ("handoffs/phase-3-handoff-20260212.md", "---\nown: 1\n---\n", "has a front matter of another tool"),
        ("progress/phase-4-progress.json", "{", "line 1: the object that begins here is never closed"),
        ("progress/phase-4-progress.json", '{"phase": "a b"}', "cannot be taken over"),
    ],
)
def test_what_cannot_be_taken_over_is_refused(spec: Cli, name: str, text: str, why: str) -> None:
    """Nothing of the folder is brought in then."""
    put(spec, f"{FOLDER}/{name}", text)
    said = spec("migrate")
    assert said.status == 2
    assert why in said.err
    assert not (spec.place.workspace.tasks / "task-879-state.md").exists()
