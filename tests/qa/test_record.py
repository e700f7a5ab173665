from __future__ import annotations

import gzip
import hashlib
from typing import TYPE_CHECKING, Any

import pytest

from taskstate.context.task_file import git_blob_id
from taskstate.errors import TaskstateError
from taskstate.lint import engine
from taskstate.model.tool_blocks import CheckResult
from taskstate.model.write_metadata import WriteMetadata, blocks_of, front_matter_values, set_front_matter
from taskstate.qa import record as qa_record
from taskstate.qa.record import QaRequest
from taskstate.roles import role_changes
from taskstate.roles.role_rules import RoleChange
from taskstate.snapshots import take as snapshot_take
from taskstate.snapshots import verify
from taskstate.storage.git import client as git
from taskstate.syntax.document import parse
from taskstate.syntax.edits import apply
from taskstate.workspace import artifacts
from taskstate.writing.change import Change
from taskstate.writing.writer import change
from tests.support.place import TASK, Place, changes, refusal, tree

if TYPE_CHECKING:
    from pathlib import Path

    from taskstate.qa.record import RecordResult
    from taskstate.workspace.workspace import Loaded
    from taskstate.writing.change import Outcome, Request

GOOD = b"All checks passed!\n==== 42 passed in 1.20s ====\n"
BAD = b"All checks passed!\n==== 1 failed, 41 passed in 1.20s ====\n"
KEY = "AKIA" + "QWERTYUIOPASDFGH"


@pytest.fixture
def place(tmp_path: Path) -> Place:
    """Return a repository with task 101, without git."""
    return Place(tmp_path / "repository")


def record(
    place: Place, log: bytes = GOOD, role: str = "", request: Request | None = None, **result: dict[str, Any]
) -> RecordResult:
    """Record what a log says."""
    text = QaRequest(log, result.get("texts", {}), result.get("statuses", {}))
    return recorded(place, text, request or place.request(), role)


def recorded(place: Place, text: QaRequest, request: Request, role: str = "", redo: str = "once more") -> RecordResult:
    """Record results as the baseline, or as those of a role."""
    workspace = place.workspace
    if role:
        return qa_record.record_role(workspace, TASK, qa_record.results_of(workspace, text), request, role=role)
    reason = qa_record.BaselineReason(redo, redo=bool(redo))
    return qa_record.record_baseline(workspace, TASK, qa_record.results_of(workspace, text), request, reason)


def values(place: Place) -> Any:  # noqa: ANN401 - a front matter
    """Return the front matter of the task."""
    return front_matter_values(parse(place.text))


def log_of(block: Any, owner: str = "baseline") -> str:  # noqa: ANN401 - a block of the front matter
    """Return the path of a log, from the state folder, of which a block has the hash."""
    sha = block["log_sha256" if owner == "baseline" else "qa_log_sha256"]
    return f"artifacts/task-101/qa-{owner}-{sha[:8]}.log.gz"


def kept(place: Place, path: str) -> bytes:
    """Return what a log holds that was kept."""
    return gzip.decompress((place.workspace.state_root / path).read_bytes())


def set_block(place: Place, key: str, value: object) -> Outcome:
    """Give the front matter a block, as a command would."""

    def job(loaded: Loaded) -> Change:
        return Change(text=apply(loaded.document.text, set_front_matter(loaded.document, key, value)))

    return change(place.workspace, TASK, job, place.request())


# Recording


def test_baseline(place: Place) -> None:
    """Without a role the results are the baseline, with the time, and the log is kept under its own hash."""
    before = place.text
    done = record(place)
    block = values(place)["baseline"]
    assert block == {
        "recorded_at": f"{place.now:%Y-%m-%dT%H:%M:%SZ}",
        "results": {"lint": {"ok": True, "text": "0 errors"}, "test": {"ok": True, "text": "42 passed"}},
        "log_sha256": hashlib.sha256(GOOD).hexdigest(),
    }
    assert kept(place, log_of(block)) == GOOD
    assert done.results == {
        "lint": CheckResult(ok=True, text="0 errors"),
        "test": CheckResult(ok=True, text="42 passed"),
    }
    removed, added = changes(before, place.text)
    assert (removed.count("seal:"), added.count("\n")) == (removed.count("\n"), 6 + removed.count("\n"))
    assert engine.check(place.text, place.path.name, place.workspace.config) == ()


def test_same_log_again(place: Place) -> None:
    """The same log again changes nothing, but restores a missing artifact; replacing the baseline is noted."""
    record(place)
    before = tree(place.root)
    artifacts.remove_all(place.workspace, TASK)
    assert not record(place).outcome.changed
    assert tree(place.root) == before
    assert record(place, BAD).outcome.notes == ("it replaces the baseline of 2026-01-31T12:02:00Z",)
    assert values(place)["baseline"]["results"]["test"] == {"ok": False, "text": "41 passed, 1 failed"}


def test_results_of_a_role(place: Place) -> None:
    """With a role they are recorded for it; a role without a record is added in the configured order, not begun."""
    record(place, role="reviewer")
    done = record(place, BAD, role="implementer")
    block = values(place)["coordination"]
    assert list(block) == ["implementer", "reviewer"]
    assert block["implementer"] == {
        "status": "pending",
        "qa": {"lint": {"ok": True, "text": "0 errors"}, "test": {"ok": False, "text": "41 passed, 1 failed"}},
        "qa_log_sha256": hashlib.sha256(BAD).hexdigest(),
    }
    assert kept(place, log_of(block["implementer"], "implementer")) == BAD
    assert done.outcome.notes == ("implementer has left no snapshot yet, so nothing says which files were tested",)
    assert "baseline" not in values(place)
    assert engine.check(place.text, place.path.name, place.workspace.config) == ()


def test_results_of_the_baseline_are_written_once(place: Place) -> None:
    """A role whose checks gave the baseline's log has its hash alone, until the baseline is another one."""
    record(place)
    record(place, role="implementer")
    record(place, BAD, role="reviewer")
    block, results = values(place)["coordination"], values(place)["baseline"]["results"]
    assert ("qa" in block["implementer"], "qa" in block["reviewer"]) == (False, True)
    role = blocks_of(place.state.document).role("implementer")
    assert role.qa == blocks_of(place.state.document).baseline.results
    record(place, BAD)
    assert values(place)["coordination"]["implementer"]["qa"] == results
    assert blocks_of(place.state.document).role("implementer") == role._replace(values={**role.values, "qa": results})


def test_what_a_role_has_stays(place: Place) -> None:
    """Recording changes the results of a role and nothing else of it, nor of another."""
    begun = {"status": "blocked", "session_id": "s1", "findings": [{"id": 1, "text": "slow"}], "x-mine": 1}
    set_block(place, "coordination", {"implementer": begun, "reviewer": {"status": "pending"}})
    record(place, role="implementer")
    block = values(place)["coordination"]
    assert {key: block["implementer"][key] for key in begun} == begun
    assert block["reviewer"] == {"status": "pending"}


def test_keys_of_a_role_have_their_order(place: Place) -> None:
    """Whatever order a hand gave them, recording writes a role's keys in the order of the format, others behind."""
    begun = {"x-mine": 1, "blocking_findings": ["slow"], "session_id": "s1", "completed_at": None, "status": "done"}
    set_block(place, "coordination", {"implementer": begun})
    record(place, role="implementer")
    assert [*values(place)["coordination"]["implementer"]] == [
        *("status", "qa", "qa_log_sha256", "session_id", "findings", "x-mine"),
    ]


def test_results_that_somebody_names(place: Place) -> None:
    """A named result goes before that of the log, an exit status with it, also where the log says nothing."""
    done = record(
        place, b"silence\n", texts={"typecheck": "0 errors", "smoke": "3 failed"}, statuses={"lint": 0, "typecheck": 2}
    )
    assert done.results == {
        "typecheck": CheckResult(ok=False, text="0 errors, exit status 2"),
        "smoke": CheckResult(ok=False, text="3 failed"),
        "lint": CheckResult(ok=True, text="exit status 0"),
    }
    assert record(place, GOOD, texts={"test": "9 passed"}).results["test"].text == "9 passed"


def test_reader_of_the_configuration(place: Place) -> None:
    """A log is also read as the configuration says."""
    place.configure("[[qa]]\nname = \"bench\"\npattern = 'score: (?P<text>\\S+)'\n")
    assert record(place, b"score: 93\n").results == {"bench": CheckResult(ok=True, text="93")}


def test_dry_run_writes_nothing(place: Place) -> None:
    """A dry run shows the change, and keeps no log."""
    before = tree(place.root)
    assert "42 passed" in record(place, request=place.request(dry_run=True)).outcome.diff
    assert tree(place.root) == before


def test_large_log_is_warned_of(place: Place) -> None:
    """A log of more than 10 MB is recorded like any other, and warned of."""
    done = record(place, b"tests/test_some.py::test_one PASSED\n" * 300_000 + GOOD)
    assert done.results["test"].text == "42 passed"
    assert [each.split(";")[0] for each in done.outcome.warnings] == [
        "warning: the log holds 10 MB, of which 1 MB are kept packed"
    ]
    assert record(place).outcome.warnings == ()


def test_same_log_gives_the_same_bytes(tmp_path: Path) -> None:
    """The kept log has no time in it: on every machine it is the same to the byte."""
    one, two = Place(tmp_path / "one"), Place(tmp_path / "two")
    two.check()
    for place in (one, two):
        record(place, GOOD * 1000)
    path = log_of(values(one)["baseline"])
    assert (one.workspace.state_root / path).read_bytes() == (two.workspace.state_root / path).read_bytes()


# What was kept before


def kept_logs(place: Place) -> dict[str, bytes]:
    """Return what lies among the artifacts, by name."""
    folder = place.workspace.state_root / "artifacts"
    return {path.name: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_a_new_log_takes_the_place_of_the_old_one(place: Place) -> None:
    """Once the new one is recorded, the old one is nobody's; whatever else lies there stays."""
    record(place, role="implementer")
    record(place)
    before = kept_logs(place)
    record(place, BAD)
    after = kept_logs(place)
    assert len(before) == len(after) == 2
    assert {name for name in before if name in after} == {name for name in before if "implementer" in name}
    assert kept(place, log_of(values(place)["baseline"])) == BAD


def test_a_refused_write_leaves_the_old_log(place: Place) -> None:
    """Whoever reads the file finds the log that it names, and none that nobody names."""
    record(place)
    before, text = kept_logs(place), place.text
    bad_actor = place.request()._replace(metadata=WriteMetadata(actor="ghp_" + "a1B2c3D4e5" * 4, now=place.now))
    error = refusal(lambda: recorded(place, QaRequest(BAD, {}, {}), bad_actor))
    assert error.code == "secret"
    assert (kept_logs(place), place.text) == (before, text)


@pytest.mark.parametrize("recorded", [True, False])
def test_a_failed_write_leaves_the_old_log(place: Place, monkeypatch: pytest.MonkeyPatch, *, recorded: bool) -> None:
    """Where the system does not let the state file be written, as on a full disk, everything is as it was."""
    if recorded:
        record(place)
    before, text = kept_logs(place), place.text

    def full(*_: object, **__: object) -> None:
        raise TaskstateError("no space left", code="disk-full", help="make room")

    monkeypatch.setattr("taskstate.writing.writer.journal.write", full)
    assert refusal(lambda: record(place, BAD)).code == "disk-full"
    assert (kept_logs(place), place.text) == (before, text)
    assert (place.workspace.state_root / "artifacts").exists() == recorded


# Refusing


@pytest.mark.parametrize(
    ("expected", "code"),
    [
        ({}, "log-unknown"),
        ({"texts": {"x-a": "1 passed"}}, "usage"),
        ({"texts": {"a": "two\nlines"}}, "several-lines"),
        ({"texts": {"a": ""}}, "empty"),
        ({"texts": {"a": "words " * 50}}, "too-long"),
        ({"texts": {"a": "\x1b[1m"}}, "control-characters"),
        ({"statuses": {"a b": 0}}, "usage"),
        ({"texts": {"a": f"key {KEY}"}}, "secret"),
    ],
)
def test_what_is_no_result_is_refused(place: Place, expected: dict[str, Any], code: str) -> None:
    """A log that says nothing, and a named result that is none, are refused; nothing is written."""
    before = tree(place.root)
    error = refusal(lambda: record(place, b"hello\n", **expected))
    assert error.code == code
    assert KEY not in str(error)
    help_ = {"log-unknown": "--result", "too-long": "give its figures alone, in at most 200"}
    assert help_.get(code, "") in error.help
    assert tree(place.root) == before


def test_secret_in_a_log(place: Place) -> None:
    """A log with what looks like a credential is refused, its line named; forced, it is kept, and warned of."""
    log = b"line\n" * 300_000 + f"key {KEY}\n".encode() + GOOD
    before = tree(place.root)
    error = refusal(lambda: record(place, log))
    assert error.code == "secret"
    assert "the log, line 300001: " in error.message
    assert KEY not in str(error)
    assert tree(place.root) == before
    forced = record(place, log, request=place.request()._replace(force_secrets=True))
    assert forced.outcome.changed
    assert len(forced.outcome.warnings) == 1
    assert [each["event"] for each in values(place)["audit"]["events"]] == ["secrets-forced"]
    assert "300001" in forced.outcome.warnings[0]
    many = record(place, f"key {KEY}\n".encode() * 9 + GOOD, request=place.request()._replace(force_secrets=True))
    assert [f"line {number}: " in many.outcome.warnings[number - 1] for number in (1, 2, 3)] == [True] * 3
    assert len(many.outcome.warnings) == 4
    assert "6 more" in many.outcome.warnings[3]


def test_unknown_role(place: Place) -> None:
    """A role that is not configured is refused, with the nearest one."""
    error = refusal(lambda: record(place, role="implementor"))
    assert (error.code, error.help) == ("usage", "did you mean implementer?")


def test_unresolved_drift(place: Place) -> None:
    """While a drift is unresolved, results of roles are refused; the baseline concerns no role."""
    set_block(place, "coordination", {"reviewer": {"status": "pending", "drift_budget": 1}})
    assert refusal(lambda: record(place, role="implementer")).code == "drift-unresolved"
    assert record(place).outcome.changed


@pytest.mark.parametrize(("key", "role"), [("baseline", ""), ("coordination", "implementer")])
def test_block_that_is_no_map(place: Place, key: str, role: str) -> None:
    """A malformed block is not overwritten."""
    set_block(place, key, "none")
    assert refusal(lambda: record(place, role=role)).code == "unreadable"


def test_tree_is_not_what_the_role_left(repository: Path) -> None:
    """Where a role left a snapshot, the tree must match it: else other files were tested. That counts as a drift."""
    place = Place(repository)
    place.configure("")
    for command in (("add", "--all"), ("commit", "--quiet", "--message", "base")):
        git.run(command, repository)
    (repository / "a.py").write_text("x = 1\n", encoding="utf-8")
    snapshot_take.take(place.workspace, TASK, "implementer", place.request())
    assert record(place, role="implementer").outcome.notes == ()
    (repository / "a.py").write_text("x = 2\n", encoding="utf-8")
    assert refusal(lambda: record(place, BAD, role="implementer")).code == "drift"
    block = values(place)["coordination"]["implementer"]
    assert (block["drift_budget"], block["qa"]["test"]["ok"]) == (1, True)
    assert kept(place, log_of(block, "implementer")) == GOOD
    assert refusal(lambda: record(place, BAD, role="reviewer")).code == "drift-unresolved"


def test_a_log_in_the_tree_is_no_drift(repository: Path) -> None:
    """Neither the one that is being recorded nor one that was, tracked or not; what else differs is, as ever."""
    place = Place(repository)
    place.configure("")
    (repository / "a.py").write_text("x = 0\n", encoding="utf-8")
    for command in (("add", "--all"), ("commit", "--quiet", "--message", "base")):
        git.run(command, repository)
    (repository / "a.py").write_text("x = 1\n", encoding="utf-8")
    snapshot_take.take(place.workspace, TASK, "implementer", place.request())
    for log in (GOOD, BAD):
        (repository / "qa.log").write_bytes(log)
        with pytest.raises(TaskstateError) as refused:
            record(place, log + b"\n", role="implementer", request=place.request(dry_run=True))
        assert refused.value.code == "drift"
        record(place, log, role="implementer")
    report = verify.compare(place.workspace, place.workspace.load(place.path), "implementer")
    assert (report.drift, report.notes) == (False, ("the log of the checks, which is not drift: qa.log",))
    (repository / "a.py").write_bytes(BAD)
    assert verify.compare(place.workspace, place.workspace.load(place.path), "implementer").drift is True
    snapshot_take.take(place.workspace, TASK, "implementer", place.request())
    git.run(("add", "--all"), repository)
    (repository / "qa.log").write_bytes(GOOD)
    role_changes.set_role(place.workspace, TASK, "implementer", RoleChange("done", log=GOOD), place.request())


def test_task_file_has_changed(place: Place) -> None:
    """Results are recorded only while the task file is what the task was sealed from, whatever its line ends."""
    path, data = place.root / "t.task.yaml", b"title: T\n"
    path.write_bytes(data)
    set_block(place, "context", {"sealed_at": "2026-01-31T12:00:00Z", "task_file": "t.task.yaml"})
    assert record(place).outcome.changed
    seal = "0" * 64
    set_block(place, "context", {"task_file": "t.task.yaml", "task_file_sha": git_blob_id(data), "seal": seal})
    assert record(place, BAD).outcome.changed
    path.write_bytes(b"title: T\r\n")
    assert record(place).outcome.changed
    for spoil in (lambda: path.write_bytes(b"title: U\n"), path.unlink):
        spoil()
        before = tree(place.root)
        error = refusal(lambda: record(place, BAD))
        assert (error.code, "context rebuild 101" in error.help) == ("task-file-changed", True)
        assert tree(place.root) == before


def test_task_file_of_an_unsealed_task_has_changed(place: Place) -> None:
    """Then the way on is to seal it: what checks and rebuilds a seal would refuse."""
    (place.root / "t.task.yaml").write_bytes(b"title: U\n")
    set_block(place, "context", {"task_file": "t.task.yaml", "task_file_sha": git_blob_id(b"title: T\n")})
    error = refusal(lambda: record(place))
    assert error.code == "task-file-changed"
    assert "context init 101" in error.help
    assert "sealed" not in error.message
    assert "rebuild" not in error.help


# Comparing


def test_compare(place: Place) -> None:
    """A role's results are compared with the baseline."""
    record(place)
    record(place, BAD, role="reviewer")
    result = qa_record.compare_role(place.workspace, TASK, "reviewer")
    assert [(each.name, each.aspect) for each in result.comparison.regressions] == [("test", "exit-status")]
    assert (result.comparison.improvements, result.comparison.same) == ((), ("lint",))


def test_nothing_to_compare(place: Place) -> None:
    """Without a baseline, or without results of the role, the command that makes them is named."""
    error = refusal(lambda: qa_record.compare_role(place.workspace, TASK, "reviewer"))
    assert (error.code, error.help) == ("not-recorded", "`taskstate qa record 101 --from LOG` records it")
    record(place)
    error = refusal(lambda: qa_record.compare_role(place.workspace, TASK, "reviewer"))
    assert error.help == "`taskstate qa record 101 --role reviewer --from LOG` records them"
    with pytest.raises(TaskstateError, match="no role"):
        qa_record.compare_role(place.workspace, TASK, "nobody")
