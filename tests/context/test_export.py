from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from taskstate.context import export as context_export
from taskstate.model.canonical_json import canonical_json
from taskstate.model.config import EXPORT_FIELDS, Config
from taskstate.model.config_reader import read_config
from taskstate.model.static_context import context_seal
from taskstate.model.task_state import TaskState, read_state
from taskstate.model.write_metadata import front_matter_values
from taskstate.syntax.document import parse
from taskstate.workspace import artifacts
from tests.support.place import Place, refusal

if TYPE_CHECKING:
    from collections.abc import Mapping

_UNSEALED = (Path(__file__).parents[1] / "cases" / "states" / "reviewed.md").read_text(encoding="utf-8")
SEAL = context_seal(parse(_UNSEALED), front_matter_values(parse(_UNSEALED))) or ""
EXAMPLE = _UNSEALED.replace("ab" * 32, SEAL)
IDENTITY = {"export", "serializer", "role", "task", "sealed", "context"}


def state_of(text: str) -> TaskState:
    """Return the parsed state file."""
    return read_state(parse(text))


def told(role: str, text: str = EXAMPLE, config: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """Return the export of a state file for a role, through its JSON."""
    loaded: dict[str, Any] = json.loads(
        context_export.export_text(read_config(config or {}, "the test"), state_of(text), role)
    )
    return loaded


def test_export_of_a_task() -> None:
    """An export holds what identifies the task, the static part, and the rest by reference."""
    whole = told("implementer", config={"export": {"implementer": {"drop": []}}})
    assert set(whole) == IDENTITY | set(EXPORT_FIELDS)
    assert whole["task"] == {"id": "101", "title": "JWT Service", "priority": "P1", "area": "backend"}
    assert (whole["role"], whole["sealed"], whole["context"]["seal"]) == ("implementer", True, SEAL)
    assert whole["description"] == "Issue and verify tokens.\n\nThe service signs with a rotating key."
    assert whole["scope"] == {"in": ["src/auth/**"], "out": ["src/ui/**"]}
    assert whole["criteria"] == ["Tokens verify", "Keys rotate"]
    assert [each["file"] for each in whole["standards"]] == ["standards/a.md", "standards/b.md"]
    assert whole["commands"] == ["pytest -q", "ruff check"]
    assert whole["paths"] == [":mobile", "src/auth/**"]
    assert whole["baseline"] == {
        "status": "recorded",
        "results": {"test": {"ok": True, "text": "42 passed"}},
        "log": "artifacts/task-101/baseline.log.gz",
        "log_sha256": "cd" * 32,
    }
    assert whole["inputs"] == [
        {"task": "100", "heading": "From Task #100: Schema", "revision": 9, "sha256": "9f86d081884c7d65"},
        {"task": "99", "heading": "From Task #99: By hand"},
    ]
    assert whole["evidence"] == [{"id": "e1", "path": "plan.md", "lines": "1-4", "sha256": "ef" * 32}]
    assert whole["coordination"]["implementer"] == {"status": "done", "findings": []}
    assert whole["coordination"]["reviewer"] == {
        "status": "blocked",
        "findings": [{"id": 1, "text": "no test of expiry"}],
    }
    assert whole["coordination"]["validator"] == {"status": "pending", "findings": []}
    assert whole["qa"] == {"implementer": {"qa": {"lint": {"ok": True}}, "qa_log_path": "artifacts/task-101/i.log.gz"}}
    assert whole["delta"] == {
        "base_commit": "4f" * 20,
        "snapshots": {
            "implementer": {
                "diff_stat": "2 files changed",
                "diff_from_base": "artifacts/task-101/implementer/0123456789abcdef/implementer-from-base.diff.gz",
                "diff_sha": "12" * 32,
                "tree": "8a" * 20,
            }
        },
    }


@pytest.mark.parametrize(
    ("role", "without"),
    [("implementer", {"qa"}), ("reviewer", {"baseline"}), ("validator", {"description", "inputs"})],
)
def test_each_role_gets_what_it_needs(role: str, without: set[str]) -> None:
    """By default a role gets all fields but those that would mislead it."""
    assert set(told(role)) == (IDENTITY | set(EXPORT_FIELDS)) - without


def test_configuration_replaces_what_a_role_does_without() -> None:
    """A role's configured table replaces the default one; other roles keep theirs."""
    config = {"export": {"reviewer": {"drop": ["paths", "delta"]}}}
    assert set(EXPORT_FIELDS) - set(told("reviewer", config=config)) == {"paths", "delta"}
    assert set(EXPORT_FIELDS) - set(told("validator", config=config)) == {"description", "inputs"}
    assert set(told("tester", config={"roles": ["tester"]})) == IDENTITY | set(EXPORT_FIELDS)


def test_unknown_field_is_refused() -> None:
    """An unknown field is an error that lists the known ones."""
    said = refusal(lambda: read_config({"export": {"reviewer": {"drop": ["baselin"]}}}, "taskstate.toml"))
    assert "must be one of description, scope," in str(said)


def test_unknown_role_is_refused() -> None:
    """An unknown role is an error that offers the nearest."""
    said = refusal(lambda: told("reviewr"))
    assert str(said) == "there is no role 'reviewr': did you mean reviewer?"


def test_task_that_is_not_sealed(tmp_path: Path) -> None:
    """An export without a seal says so, and invents no values."""
    place = Place(tmp_path / "r")
    whole = told("reviewer", place.text)
    assert (whole["sealed"], whole["context"], whole["standards"], whole["delta"]) == (False, {}, [], {})
    assert whole["description"] == "Issue tokens."


def test_damaged_task_exports_what_can_be_read() -> None:
    """Fences that are no JSON, and blocks of another type, are empty."""
    text = EXAMPLE.replace('{"commands"', '{commands"').replace("evidence:\n", "evidence: 7\nx-y:\n")
    whole = told("implementer", text)
    assert (whole["commands"], whole["evidence"], whole["paths"]) == ([], [], [":mobile", "src/auth/**"])


def test_placeholder_is_no_description() -> None:
    """A placeholder description is exported as empty."""
    text = EXAMPLE.replace("Issue and verify tokens.\n\nThe service signs with a rotating key.", "*To be completed.*")
    assert told("implementer", text)["description"] == ""


def test_line_ends_and_progress_make_no_difference() -> None:
    """A copy with other line ends, and a criterion checked off, give the same bytes."""
    once = context_export.export_text(Config(), state_of(EXAMPLE), "validator")
    assert once == context_export.export_text(Config(), state_of(EXAMPLE.replace("\n", "\r\n")), "validator")
    checked = EXAMPLE.replace("- [ ] Tokens verify", "- [x] Tokens verify")
    assert once == context_export.export_text(Config(), state_of(checked), "validator")
    assert once == canonical_json(json.loads(once))


def test_an_artifact_for_every_role(tmp_path: Path) -> None:
    """Every configured role has its export under a name of its own."""
    place = Place(tmp_path / "r")
    place.configure('roles = ["author", "checker"]\n')
    found = context_export.export_texts(place.workspace, place.workspace.load(place.path))
    assert list(found) == ["context-author.json", "context-checker.json"]
    assert [json.loads(text)["role"] for text in found.values()] == ["author", "checker"]


def test_an_export_never_replaces_our_own_files(tmp_path: Path) -> None:
    """An export is not written over a state file, but to an artifact or any other file."""
    place = Place(tmp_path / "r")
    said = refusal(lambda: artifacts.save_as(place.workspace, place.path, "{}\n"))
    assert "is one of taskstate's own files" in str(said)
    folder = place.workspace.state_root / "artifacts"
    folder.mkdir()
    for path in (folder / "context-x.json", tmp_path / "x.json", place.root / "x.json"):
        artifacts.save_as(place.workspace, path, "{}\n")
        assert path.read_bytes() == b"{}\n"


@pytest.mark.parametrize(
    "name",
    [
        *("taskstate.toml", "pyproject.toml", "packages/a/taskstate.toml", ".pre-commit-config.yaml", "AGENTS.md"),
        *(".taskstate/kinds/note.json", "../other/.taskstate/tasks/task-1-state.md", "../other/taskstate.toml"),
    ],
)
def test_output_never_replaces_a_configuration(tmp_path: Path, name: str) -> None:
    """What taskstate or another tool is set up with is no file for output, here or in another repository."""
    workspace = Place(tmp_path / "r").workspace
    path = (tmp_path / "r" / name).resolve()
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("before")
    said = refusal(lambda: artifacts.save_as(workspace, path, "{}\n"))
    assert "is one of taskstate's own files, or of those that it sets up" in str(said)
    assert path.read_text() == "before"


def test_what_was_changed_since_it_was_sealed_is_not_sealed() -> None:
    """An export says that its seal is broken; a checked criterion does not break it."""
    assert told("reviewer", EXAMPLE.replace("- [ ] Keys", "- [x] Keys"))["sealed"] is True
    changed = told("reviewer", EXAMPLE.replace("Keys rotate", "Keys turn"))
    assert (changed["sealed"], changed["seal_broken"], changed["context"]["seal"]) == (False, True, SEAL)
    assert told("reviewer", EXAMPLE.replace(f"  seal: {SEAL}\n", "")).keys() == IDENTITY | told("reviewer").keys()
