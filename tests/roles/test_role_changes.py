"""Roles begin, are blocked, are done and are taken back to work, on real git."""

from __future__ import annotations

import hashlib
import subprocess
from typing import TYPE_CHECKING, Any

import pytest

from taskstate.doctor import repairs
from taskstate.lint.runner import check_files
from taskstate.model.tool_blocks import CheckResult
from taskstate.model.write_metadata import front_matter_values
from taskstate.qa import record as qa_record
from taskstate.roles import role_changes
from taskstate.roles.role_rules import RoleChange
from taskstate.snapshots import accept_drift
from taskstate.snapshots import take as snapshot_take
from taskstate.snapshots import verify as snapshot_verify
from taskstate.syntax.document import parse
from taskstate.workspace import artifacts
from tests.support.place import MINUTE, TASK, Place, changes, refusal

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from taskstate.writing.change import Outcome


class Work:
    """Task 101 in a git repository, and its roles at work."""

    def __init__(self, root: Path) -> None:
        self.root = root
        (root / "a.py").write_text("a = 1\n", encoding="utf-8")
        self.place = Place(root)
        self.place.add("Began.")
        self.commit("begin")

    def commit(self, message: str) -> None:
        """Commit everything."""
        for command in (("add", "-A"), ("commit", "-qm", message)):
            subprocess.run(["git", *command], cwd=self.root, check=True, stdin=subprocess.DEVNULL)

    def edit(self, text: str, name: str = "a.py") -> None:
        """Change a file."""
        (self.root / name).write_text(text, encoding="utf-8")

    def set(self, role: str, status: str, **more: Any) -> Outcome:  # noqa: ANN401 - the fields of a setting
        """Set a role's status."""
        setting = RoleChange(status, **more)
        return role_changes.set_role(self.place.workspace, TASK, role, setting, self.place.request())

    def call(self, job: Callable[..., Outcome], role: str, text: str | None) -> Outcome:
        """Do another of the jobs."""
        return job(self.place.workspace, TASK, role, text, self.place.request())

    def take(self, role: str) -> None:
        """Take the snapshot of a role."""
        snapshot_take.take(self.place.workspace, TASK, role, self.place.request())

    def hand_on(self, role: str, text: str) -> None:
        """Have a role begin, change a file, and end."""
        self.set(role, "in_progress")
        self.edit(text)
        self.take(role)
        self.set(role, "done")

    @property
    def values(self) -> Any:  # noqa: ANN401 - any front matter
        """The front matter."""
        return front_matter_values(parse(self.place.text))

    @property
    def statuses(self) -> list[str]:
        """The status of each role that the file names."""
        return [role["status"] for role in self.values["coordination"].values()]

    def put(self, blocks: str) -> None:
        """Put blocks into the file as if the tool had written them."""
        self.place.text = self.place.text.replace("audit:\n", f"{blocks}audit:\n", 1)
        repairs.reseal(self.place.workspace, TASK, "a test", self.place.request())


@pytest.fixture
def work(repository: Path) -> Work:
    """Return task 101 in a git repository."""
    return Work(repository)


def test_roles_follow_one_another(work: Work) -> None:
    """Each one begins on what the last one left, and is done with what it leaves itself."""
    work.hand_on("implementer", "a = 2\n")
    work.hand_on("reviewer", "a = 3\n")
    work.set("validator", "in_progress")
    assert work.statuses == ["done", "done", "in_progress"]
    assert work.values["coordination"]["reviewer"]["completed_at"] == f"{work.place.now - MINUTE:%Y-%m-%dT%H:%M:%SZ}"


def test_a_role_begins_on_nothing_but_what_was_left(work: Work) -> None:
    """On another tree it does not, and that counts against the role whose snapshot failed, until it is resolved."""
    work.hand_on("implementer", "a = 2\n")
    work.edit("a = 3\n")
    error = refusal(lambda: work.set("reviewer", "in_progress"))
    assert (error.code, "a.py" in str(error)) == ("drift", True)
    assert list(work.values["coordination"]) == ["implementer"]
    assert work.values["coordination"]["implementer"]["drift_budget"] == 1
    work.edit("a = 2\n")
    for call in (
        lambda: work.set("reviewer", "in_progress"),
        lambda: work.call(role_changes.block, "reviewer", "x"),
        lambda: work.call(role_changes.unblock, "reviewer", None),
        lambda: work.call(role_changes.reopen, "implementer", "x"),
    ):
        assert refusal(call).code == "drift-unresolved"
    work.place.add("Recording goes on.")
    accept_drift.resolve(work.place.workspace, TASK, "put back", work.place.request())
    work.set("reviewer", "in_progress")
    assert work.statuses == ["done", "in_progress"]


def test_equal_content_is_no_drift_wherever_head_is(work: Work) -> None:
    """The files are as they were left, and HEAD has moved over another commit: only content counts."""
    work.hand_on("implementer", "a = 2\n")
    work.edit("a = 9\n")
    work.commit("early")
    work.edit("a = 2\n")
    work.set("reviewer", "in_progress")
    assert work.statuses == ["done", "in_progress"]


def test_a_finding_is_no_way_around_the_check(work: Work) -> None:
    """A role that begins with a finding begins on what was left, too."""
    work.hand_on("implementer", "a = 2\n")
    work.edit("a = 3\n")
    assert refusal(lambda: work.call(role_changes.block, "reviewer", "x")).code == "drift"
    work.edit("a = 2\n")
    accept_drift.resolve(work.place.workspace, TASK, "put back", work.place.request())
    work.call(role_changes.block, "reviewer", "x")
    assert work.statuses == ["done", "blocked"]


def test_a_role_is_done_with_its_own_snapshot(work: Work) -> None:
    """Without one it is not, nor when the tree has changed since, nor with an open finding."""
    work.set("implementer", "in_progress")
    work.edit("a = 2\n")
    assert refusal(lambda: work.set("implementer", "done")).code == "no-snapshot"
    work.take("implementer")
    work.call(role_changes.block, "implementer", "no test")
    assert refusal(lambda: work.set("implementer", "done")).code == "findings-open"
    work.call(role_changes.unblock, "implementer", "no test")
    work.edit("a = 3\n")
    assert refusal(lambda: work.set("implementer", "done")).code == "drift"
    block = work.values["coordination"]["implementer"]
    assert (block["status"], block["drift_budget"]) == ("in_progress", 1)


def test_a_role_that_is_done_stays_done(work: Work) -> None:
    """Setting it again changes nothing and verifies nothing, as the next one may be at work already."""
    work.hand_on("implementer", "a = 2\n")
    before = work.place.text
    work.edit("a = 3\n")
    assert work.set("implementer", "done").changed is False
    assert work.place.text == before


def test_a_role_that_has_not_begun_does_not_step_past_the_check(work: Work) -> None:
    """Its snapshot is compared with what the previous role left, and so is being done; the first role may begin so."""
    work.edit("a = 2\n")
    work.take("implementer")
    assert refusal(lambda: work.set("reviewer", "done")).code == "role-order"
    work.set("implementer", "done")
    work.edit("a = 3\n")
    assert refusal(lambda: work.take("reviewer")).code == "drift"
    assert work.values["coordination"]["implementer"]["drift_budget"] == 1
    work.edit("a = 2\n")
    accept_drift.resolve(work.place.workspace, TASK, "put back", work.place.request())
    work.take("reviewer")
    work.edit("a = 4\n")
    assert refusal(lambda: work.set("reviewer", "done")).code == "drift"


def test_a_snapshot_of_before_does_not_stand_for_the_work_of_the_previous_role(work: Work) -> None:
    """A role that waits has one from before; being done with it compares what the previous role left, too."""
    work.edit("a = 3\n")
    work.take("reviewer")
    work.hand_on("implementer", "a = 2\n")
    work.edit("a = 3\n")
    assert refusal(lambda: work.set("reviewer", "done")).code == "drift"
    assert work.values["coordination"]["implementer"]["drift_budget"] == 1


def test_a_role_takes_no_snapshot_while_the_previous_one_is_at_work(work: Work) -> None:
    """What it would compare with is not there yet."""
    work.set("implementer", "in_progress")
    work.edit("a = 2\n")
    assert refusal(lambda: work.take("reviewer")).code == "role-order"


def test_a_role_that_is_done_takes_no_snapshot_again(work: Work) -> None:
    """A hand edit stays visible as drift, until it is accepted or the role is reopened."""
    work.hand_on("implementer", "a = 2\n")
    work.edit("a = 3\n")
    error = refusal(lambda: work.take("implementer"))
    assert (error.code, "taskstate role reopen 101 implementer" in error.help) == ("role-status", True)
    work.call(role_changes.reopen, "implementer", "one more thing")
    work.take("implementer")
    work.set("implementer", "done")


FAILED, PASSED = b"===== 1 failed, 2 passed in 0.10s =====\n", b"===== 3 passed in 0.10s =====\n"


def baseline(work: Work, log: bytes, *, begun: str) -> None:
    """Record the baseline, before the work or after it has `begun`."""
    qa_record.record_baseline(
        work.place.workspace,
        TASK,
        qa_record.results_of(work.place.workspace, qa_record.QaRequest(log, {}, {})),
        work.place.request(),
        qa_record.BaselineReason("forgotten", begun=begun),
    )


@pytest.mark.parametrize(
    ("before", "late", "after", "code"),
    [
        (None, "", FAILED, "regression"),
        (None, "", PASSED, ""),
        (FAILED, "", FAILED, ""),
        (PASSED, "", FAILED, "regression"),
        (FAILED, "a.py is changed", FAILED, "regression"),
        (FAILED, "a.py is changed", PASSED, ""),
    ],
)
def test_a_role_is_not_done_with_checks_that_fail(
    work: Work, before: bytes | None, late: str, after: bytes, code: str
) -> None:
    """Where there is a baseline, with those that are worse than it; without one, or with a late one, with any."""
    if before is not None:
        baseline(work, before, begun=late)
    work.edit("a = 2\n")
    work.take("implementer")
    work.set("implementer", "in_progress", log=after)
    if code:
        error = refusal(lambda: work.set("implementer", "done"))
        assert (error.code, "test" in error.message) == (code, True)
        assert refusal(lambda: work.set("implementer", "done", log=after)).code == code
        assert work.statuses == ["in_progress"]
        work.set("implementer", "done", waived=("test",))
    else:
        work.set("implementer", "done")
    assert work.statuses == ["done"]


def test_results_that_are_known_better_go_before_the_log(work: Work) -> None:
    """A command that ended with another status failed, whatever its log says."""
    work.edit("a = 2\n")
    work.take("implementer")
    failed = {"make test": CheckResult(ok=False, text="exit status 2")}
    assert refusal(lambda: work.set("implementer", "done", log=PASSED, results=failed)).code == "regression"
    work.set("implementer", "done", log=PASSED, results={"make test": CheckResult(ok=True, text="exit status 0")})
    assert list(work.values["coordination"]["implementer"]["qa"]) == ["make test"]


def test_a_log_is_kept_as_an_artifact(work: Work) -> None:
    """Packed, with the hash of what is in it in the file; the linter finds it there, and what is another log."""
    log = b"2 passed\r\n"
    work.set("implementer", "in_progress", log=log, session_id=" s-1 ")
    path = f"artifacts/task-101/qa-implementer-{hashlib.sha256(log).hexdigest()[:8]}.log.gz"
    assert work.values["coordination"]["implementer"] == {
        "status": "in_progress",
        "qa_log_sha256": hashlib.sha256(log).hexdigest(),
        "session_id": "s-1",
    }
    data = artifacts.read(work.place.workspace, path)
    assert data is not None
    assert artifacts.gunzipped(data, path) == log
    assert codes(work) == []
    artifacts.write(work.place.workspace, TASK, path.rpartition("/")[2], artifacts.gzipped(b"2 failed"))
    assert codes(work) == ["TS704 error"]
    artifacts.remove_all(work.place.workspace, TASK)
    assert codes(work) == []  # it may be purged, or in another clone


def test_results_in_a_log_are_recorded(work: Work) -> None:
    """As `qa record` does; those of an older log do not stay beside a log that tells none."""
    work.set("implementer", "in_progress", log=b"===== 1 failed, 2 passed in 0.10s =====\n")
    assert work.values["coordination"]["implementer"]["qa"] == {"test": {"ok": False, "text": "2 passed, 1 failed"}}
    work.set("implementer", "in_progress", log=b"all is well\n")
    assert "qa" not in work.values["coordination"]["implementer"]
    assert codes(work) == []
    kept = list((work.place.workspace.state_root / "artifacts/task-101").iterdir())
    assert len(kept) == 1, "the log that the file named before is gone, now that it names another one"


def test_a_log_with_a_credential_is_refused(work: Work) -> None:
    """Nothing is kept of it, unless that is forced; then it is warned of."""
    setting = RoleChange("in_progress", log=b"token ghp_" + b"a1B2c3D4e5" * 4 + b"\n")
    workspace, request = work.place.workspace, work.place.request()
    error = refusal(lambda: role_changes.set_role(workspace, TASK, "implementer", setting, request))
    assert error.code == "secret"
    assert not (workspace.state_root / "artifacts").exists()
    forced = work.place.request()._replace(force_secrets=True)
    assert role_changes.set_role(workspace, TASK, "implementer", setting, forced).warnings


def codes(work: Work) -> list[str]:
    """Return the codes and severities of what lint finds in the task."""
    path = work.place.path
    report = check_files([path], work.place.checking())
    return [f"{each.diagnostic.code} {each.diagnostic.severity}" for each in report.findings]


def test_a_reopened_role_takes_the_later_ones_back(work: Work) -> None:
    """They are pending without a snapshot, keep their findings, and the event says who, when and why."""
    work.hand_on("implementer", "a = 2\n")
    work.hand_on("reviewer", "a = 3\n")
    work.call(role_changes.block, "validator", "it is slow")
    call = (work.place.workspace, TASK, "implementer", "too slow", work.place.request()._replace(expect_tree="0" * 12))
    assert refusal(lambda: role_changes.reopen(*call)).code == "tree-changed"
    outcome = work.call(role_changes.reopen, "implementer", "too slow")
    assert outcome.notes == ("reviewer is pending again", "validator is pending again")
    values = work.values
    assert values["coordination"] == {
        "implementer": {"status": "in_progress"},
        "reviewer": {"status": "pending"},
        "validator": {"status": "pending", "findings": [{"id": 1, "by": "somebody", "text": "it is slow"}]},
    }
    assert list(values["delta"]["snapshots"]) == ["implementer"]
    _, event = values["audit"]["events"]
    assert event == {
        "at": f"{work.place.now:%Y-%m-%dT%H:%M:%SZ}",
        "actor": "somebody",
        "event": "role-reopened",
        "note": "too slow",
        "role": "implementer",
    }
    assert codes(work) == []


def test_findings_of_a_role_that_waits_go_with_it(work: Work) -> None:
    """They are reported when it begins again, and taken back before or after; until then it is not done."""
    work.hand_on("implementer", "a = 2\n")
    work.call(role_changes.block, "reviewer", "no test")
    work.call(role_changes.block, "reviewer", "no docs")
    work.call(role_changes.reopen, "implementer", "to be fixed")
    work.call(role_changes.unblock, "reviewer", "no docs")
    assert work.statuses == ["in_progress", "pending"]
    work.edit("a = 3\n")
    work.take("implementer")
    work.set("implementer", "done")
    assert work.set("reviewer", "in_progress").notes == ("reviewer has 1 open finding from before",)
    work.edit("a = 4\n")
    work.take("reviewer")
    assert refusal(lambda: work.set("reviewer", "done")).code == "findings-open"
    work.call(role_changes.unblock, "reviewer", "1")
    work.set("reviewer", "done")


def test_blocks_stay_as_somebody_wrote_them(work: Work) -> None:
    """A change touches the values that it is about: comments, order, keys of one's own and style stay."""
    work.put(
        "coordination:  # ours\n"
        "  x-note: {b: 1,  a: 2}\n"
        "  validator: {status: pending, x-mine: [1,  2]}\n"
        "  implementer:\n"
        "    x-who: ann   # the first\n"
        "    status: in_progress\n"
    )
    before = work.place.text
    work.call(role_changes.block, "implementer", "no: test")
    removed, added = changes(before, work.place.text)
    assert "    status: in_progress\n" in removed
    assert "    status: blocked\n    findings:\n" in added
    assert '- {id: 1, by: somebody, text: "no: test"}\n' in added
    for kept in ("  x-note: {b: 1,  a: 2}\n", "    x-who: ann   # the first\n", "coordination:  # ours\n"):
        assert kept in work.place.text


def test_a_role_changed_meanwhile_is_refused(work: Work, monkeypatch: pytest.MonkeyPatch) -> None:
    """What was verified is no longer what the change rests on when a user reopens the role in between."""
    work.hand_on("implementer", "a = 2\n")
    verify = snapshot_verify.require_match

    def meanwhile(*arguments: Any) -> None:  # noqa: ANN401 - whatever it is called with
        verify(*arguments)
        work.call(role_changes.reopen, "implementer", "wait")

    monkeypatch.setattr(snapshot_verify, "require_match", meanwhile)
    assert refusal(lambda: work.set("reviewer", "in_progress")).code == "role-order"
    assert work.statuses == ["in_progress"]


def gaps(work: Work) -> tuple[str, ...]:
    """Return what prevents the completion of the task."""
    workspace = work.place.workspace
    loaded = workspace.load(work.place.path)
    drift = role_changes.tree_gap(workspace, loaded)
    return (*role_changes.completion_gaps(loaded, workspace.config.roles), *([drift] if drift else []))


def test_completing_asks_for_roles_once_they_have_begun(work: Work) -> None:
    """Before that for nothing, then for every role, its findings, and a tree as the last one left it."""
    work.edit("a = 2\n")
    assert gaps(work) == ()
    work.set("implementer", "in_progress")
    work.set("implementer", "pending")
    assert gaps(work) == ()
    work.hand_on("implementer", "a = 2\n")
    work.call(role_changes.block, "reviewer", "no test")
    assert gaps(work) == (
        "reviewer is blocked, not done",
        "validator is pending, not done",
        "reviewer has a finding that nobody cleared: 1. no test; `taskstate role unblock 101 reviewer --finding 1`",
    )
    work.call(role_changes.unblock, "reviewer", None)
    for role, text in (("reviewer", "a = 3\n"), ("validator", "a = 4\n")):
        work.hand_on(role, text)
    assert gaps(work) == ()
    work.edit("a = 5\n")
    (gap,) = gaps(work)
    assert "a.py" in gap
    work.edit("a = 4\n")
    work.commit("as it was left")
    assert gaps(work) == ()


def test_completing_asks_for_drift_to_be_resolved(work: Work) -> None:
    """The tree itself is not compared before that."""
    work.hand_on("implementer", "a = 2\n")
    work.edit("a = 3\n")
    assert refusal(lambda: work.set("reviewer", "in_progress")).code == "drift"
    assert gaps(work)[-1] == "the drift since implementer left the tree is not resolved"
