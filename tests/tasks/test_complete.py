"""A task is completed when nothing is missing, and reopened; its output goes to those that wait for it."""

from __future__ import annotations

import hashlib
import shutil
import subprocess
from typing import TYPE_CHECKING

import pytest

from taskstate.chain import push as chain_push
from taskstate.context import seal_context
from taskstate.context.capture_plan import CaptureRequest
from taskstate.doctor import repairs
from taskstate.errors import SeveralReasons
from taskstate.handoff import phases
from taskstate.lint import engine
from taskstate.model.canonical_json import sha256
from taskstate.model.chain import output_of
from taskstate.model.write_metadata import front_matter_values, with_event
from taskstate.roles import role_changes
from taskstate.roles.role_rules import RoleChange
from taskstate.snapshots import accept_drift
from taskstate.snapshots import take as snapshot_take
from taskstate.syntax.document import parse
from taskstate.tasks import checklist, complete, completion_checks
from taskstate.workspace import artifacts
from tests.support.chained import Chained
from tests.support.place import changes, refusal, tree

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path
    from typing import Any

GITHUB_TOKEN = "ghp_" + "Ab1cD2eF3g" * 4
COMPLETED_AT = "2026-01-31T12:06:00Z"


@pytest.fixture
def place(tmp_path: Path) -> Chained:
    """Return a repository in which 102 depends on 101."""
    return Chained(tmp_path / "r")


def gaps(place: Chained, task_id: str = "101") -> list[str]:
    """Return what a task lacks, in words."""
    return [each.words for each in completion_checks.gaps(place.workspace, place.workspace.load(place.file(task_id)))]


def git(place: Chained, *arguments: str) -> str:
    """Run git in the repository, and return what it says."""
    who = ("-c", "user.name=Somebody", "-c", "user.email=somebody@example.invalid")
    return (
        subprocess.run(["git", *who, *arguments], cwd=place.root, check=True, capture_output=True)
        .stdout.decode()
        .strip()
    )


def values(place: Chained, task_id: str = "101") -> Mapping[str, Any]:
    """Return the front matter of a task."""
    return front_matter_values(parse(place.read(task_id)))


def codes(place: Chained, task_id: str = "101") -> list[str]:
    """Return the codes of what the linter finds in a task, by its text alone."""
    return [each.code for each in engine.check(place.read(task_id), f"task-{task_id}-state.md", place.workspace.config)]


# What is missing


def with_blocks(place: Chained, blocks: str) -> None:
    """Put blocks into task 101 as if the tool had written them."""
    place.write("101", "audit:\n", f"{blocks}audit:\n")
    repairs.reseal(place.workspace, "101", "a test", place.request())


DONE = "  implementer: {{status: done}}\n  reviewer: {{status: done}}\n  validator: {{status: done, {}}}\n"


@pytest.mark.parametrize(("before", "number"), [("", 1), ("3 passed", 1), ("1 failed, 2 passed", 0)])
def test_checks_of_the_last_role_that_do_not_hold_are_missing(place: Chained, before: str, number: int) -> None:
    """Compared with the baseline, where there is one; what was waived for the role counts no more."""
    place.finish()
    passed = str("failed" not in before).lower()
    baseline = (
        f"baseline: {{status: recorded, results: {{test: {{ok: {passed}, text: '{before}'}}}}}}\n" if before else ""
    )
    results = "completed_at: '2026-01-31T12:00:00Z', qa: {test: {ok: false, text: '1 failed, 2 passed'}}"
    with_blocks(place, f"{baseline}coordination:\n{DONE.format(results)}")
    found = [each for each in gaps(place) if each.startswith("the check test of validator does not pass")]
    assert len(found) == number
    event = {"at": "2026-01-31T12:00:00Z", "event": "regression-waived", "role": "validator", "checks": ["test"]}
    place.file("101").write_text(with_event(place.read("101"), event), encoding="utf-8")
    assert gaps(place) == []


def test_what_is_forced_is_named_one_by_one(place: Chained) -> None:
    """The event holds each thing that was missing, in words."""
    place.finish()
    results = "qa: {lint: {ok: false, text: '3 errors'}, test: {ok: false, text: '1 failed'}}"
    with_blocks(place, f"coordination:\n{DONE.format(results)}")
    assert refusal(place.complete).code == "incomplete"
    place.complete(note="known")
    event = values(place)["audit"]["events"][-1]
    assert event["missing"] == [
        "the check lint of validator does not pass: fails (3 errors)",
        "the check test of validator does not pass: fails (1 failed)",
    ]


def test_a_context_that_does_not_hold_is_missing(place: Chained) -> None:
    """An edited section 1, a stale citation and a changed task file each prevent completion."""
    (place.root / "s.md").write_text("# A\n\nBe short.\n", encoding="utf-8")
    (place.root / "t.task.yaml").write_text("title: JWT Service\nstandards:\n  - s.md#a\n", encoding="utf-8")
    place.finish()
    seal_context.init(place.workspace, "101", CaptureRequest(task_file="t.task.yaml"), place.request())
    assert gaps(place) == []
    place.write("101", "Issue tokens", "Issue no tokens")
    (place.root / "s.md").write_text("# A\n\nBe long.\n", encoding="utf-8")
    (place.root / "t.task.yaml").write_text("title: JWT Service\n", encoding="utf-8")
    words = (
        "section 1 is not as it was sealed",
        "s.md#a has changed since it was cited",
        "the task file t.task.yaml has changed",
    )
    found = gaps(place)
    assert len(found) == len(words)
    assert all(each.startswith(start) for each, start in zip(found, words, strict=True))


def test_drift_is_never_forced(tmp_path: Path) -> None:
    """Not when it was counted, nor when completing is the first command that sees it; accepting it goes on."""
    place = Chained(tmp_path / "git")
    git(place, "init", "-q")
    git(place, "add", "-A")
    git(place, "commit", "-qm", "begin")
    place.finish()
    (place.root / "work.py").write_text("a = 1\n", encoding="utf-8")
    snapshot_take.take(place.workspace, "101", "implementer", place.request())
    role_changes.set_role(place.workspace, "101", "implementer", RoleChange("done"), place.request())
    (place.root / "work.py").write_text("a = 2\n", encoding="utf-8")
    before = place.read("101")
    error = refusal(lambda: place.complete(note="never mind"))
    assert (error.code, "work.py" in error.message, "snapshot resolve 101" in error.help) == ("drift", True, True)
    assert place.read("101") == before
    accept_drift.resolve(place.workspace, "101", "a slip", place.request())
    place.complete(note="no reviewer today")


def test_a_line_that_is_no_criterion_is_a_gap(place: Chained) -> None:
    """What is neither checked nor open, by its form, prevents completion until it is one or the other."""
    place.write("101", "- \\[ \\] Tokens verify", "- [] Tokens verify")
    missing = gaps(place)
    assert any("is not a criterion: - [] Tokens verify: it begins with neither" in each for each in missing)
    place.write("101", "- \\[\\] Tokens verify", "- [x] Tokens verify")
    assert not any("is not a criterion" in each for each in gaps(place))


def test_everything_missing_is_told_at_once(place: Chained) -> None:
    """All that a task lacks is reported together, each in a line, and nothing is changed."""
    place.write("101", "Issue tokens\\.", "*To be completed.*")
    place.write("101", "status: created", "status: blocked")
    place.output("### Summary\n\n*To be completed.*\n\n### Files Created/Modified\n\n- `gone.py`\n- `../x`\n")
    place.write("101", "created_at", 'handoffs: {count: 1, open: "handoffs/task-101/x.md"}\ncreated_at')
    place.write("101", '  seal: ".*"\n', "")
    missing = gaps(place)
    assert [missing.count(each) for each in missing] == [1] * len(missing)
    for number, words in enumerate(
        (
            "the task is blocked",
            "Task Description is not written",
            "feature jwt-1 does not pass: makes a JWT",
            "criterion 1 is not checked: Tokens verify",
            "criterion 2 is not checked: Tokens expire",
            "the Summary of the Chain Output is not written",
            "names gone.py, which is not there",
            "'../x' names nothing inside the repository",
            "a handoff is open: handoffs/task-101/x.md; `taskstate handoff accept 101`",
        )
    ):
        assert words in missing[number]
    assert len(missing) == 9
    before = tree(place.root)
    error = refusal(place.complete)
    assert isinstance(error, SeveralReasons)
    assert (error.code, list(error.reasons)) == ("incomplete", missing)
    assert "task 101 cannot be completed, 9 things are missing" in error.message
    assert tree(place.root) == before


def test_nothing_is_missing_from_a_finished_task(place: Chained) -> None:
    """When all is there, nothing is reported; the linter agrees on the complete task."""
    place.finish()
    assert gaps(place) == []
    place.complete()
    assert codes(place) == []


@pytest.mark.parametrize(
    ("evidence", "words", "requested"),
    [
        ("seen", "", False),
        ("", "passes without evidence", False),
        (" \t", "passes without evidence", False),
        ({"command": "pytest"}, "does not say how the command ended", False),
        ({"commit": "HEAD"}, "names neither a command nor a commit", False),
        ({"x-a": 1}, "names neither a command nor a commit", True),
        (None, "passes without evidence", False),
        ({"commit": "abc1234"}, "", True),
        ({"command": "true", "exit_status": 0, "log_sha256": "0" * 64}, "", True),
        ({"command": "false", "exit_status": 3, "log_sha256": "0" * 64}, "ended with status 3", False),
        ("seen", "has words as its evidence", True),
    ],
)
def test_features_need_evidence(place: Chained, evidence: object, words: str, requested: bool) -> None:  # noqa: FBT001
    """A feature that passes says what shows it; the configuration can ask for a command or a commit."""
    place.finish()
    if requested:
        place.configure("[lint]\nrequire-command-evidence = true\n")
    tested = checklist.FeatureResult(passes=True, evidence=evidence)
    checklist.set_feature(place.workspace, "101", "jwt-1", tested, place.request())
    missing = gaps(place)
    assert [words in each for each in missing] == ([True] if words else [])
    assert ("TS303" in codes(place)) <= bool(missing)


def test_feature_that_was_never_tested_is_told(place: Chained) -> None:
    """A `passes` set by hand, without a time, is no proof."""
    place.finish()
    place.write("101", '"tested_at": "[^"]*"', '"tested_at": null')
    assert gaps(place) == ["feature jwt-1 passes without having been tested"]


def test_moved_feature_counts_no_more(place: Chained) -> None:
    """What another task has taken over is not asked for."""
    place.finish()
    place.write("101", '"passes": true', '"passes": false')
    place.write("101", '"tested_at"', '"moved_to": "102", "tested_at"')
    assert gaps(place) == []
    for goal, words in (
        ("101", "to this very task"),
        ("9", "to task 9: there is no task 9"),
        ("../x", "to task ../x: "),
    ):
        place.write("101", '"moved_to": "[^"]*"', f'"moved_to": "{goal}"')
        (result,) = gaps(place)
        assert result.startswith(f"feature jwt-1 is moved {words}")


def test_commit_as_evidence_is_here(place: Chained) -> None:
    """A commit that git does not know proves nothing."""
    git(place, "init", "--quiet")
    git(place, "commit", "--quiet", "--allow-empty", "--message=begin")
    head = git(place, "rev-parse", "HEAD")
    place.finish()
    for commit, there in ((head, True), (head[:8], True), ("deadbeef", False)):
        tested = checklist.FeatureResult(passes=True, evidence={"commit": commit})
        checklist.set_feature(place.workspace, "101", "jwt-1", tested, place.request())
        values = [] if there else ["feature jwt-1: its evidence is the commit deadbeef, which is not here"]
        assert gaps(place) == values


@pytest.mark.parametrize("escape", ["\x1b[2J", "\u202e", "\x0c"])
def test_output_that_can_never_be_handed_down_is_told(place: Chained, escape: str) -> None:
    """What no downstream task could take is among what is missing."""
    place.finish()
    place.write("101", "Tokens are issued\\.", f"Tokens {escape} are issued.")
    (result,) = gaps(place)
    assert result.startswith("the Chain Output cannot be read: the output of task 101 holds U+")
    place.write("101", "Tokens [^.]* issued\\.", "Tokens are issued.")
    place.write("101", "title: JWT Service", 'title: "JWT\\eService"')
    (result,) = gaps(place)
    assert result.startswith("the Chain Output cannot be read: the title of task 101 holds U+001B")
    place.output("### Summary\n\nA\n\n<<<<<<< ours\n\n### API Contract\n\nB\n")
    (result,) = gaps(place)
    assert "cannot be read: a fence never closes, or a merge was not finished in it" in result


def test_open_handoff_on_disk_is_told(place: Chained) -> None:
    """A document that says that it is open counts, whatever the front matter says; an accepted one does not."""
    place.finish()
    folder = place.workspace.state_root / "handoffs" / "task-101"
    folder.mkdir(parents=True)
    path = folder / "phase-1-handoff-20260131T120000Z.md"
    path.write_text('---\ntaskstate: 1\ntask_id: "101"\nkind: handoff\nstatus: open\n---\n', encoding="utf-8")
    (result,) = gaps(place)
    assert result == f"a handoff is open: handoffs/task-101/{path.name}; `taskstate handoff accept 101`"
    path.write_text('---\ntaskstate: 1\ntask_id: "101"\nkind: handoff\nstatus: accepted\n---\n', encoding="utf-8")
    assert gaps(place) == []


def test_files_may_be_gone_if_that_is_said(place: Chained) -> None:
    """A file marked as deleted need not be there; a folder and a pattern are there when something is."""
    place.finish()
    (place.root / "src").mkdir()
    place.write("101", "- `app\\.py` - entry point", "- `old.py` (deleted)\n- `src/`\n- `*.py`\n- `src/*.py`")
    assert len(gaps(place)) == 1
    assert "names src/*.py, which is not there" in gaps(place)[0]


def test_plain_words_name_no_file(place: Chained) -> None:
    """A word with a slash is a file if one exists; a path out of the repository is reported, and never recorded."""
    place.finish()
    place.write(
        "101", "- `app\\.py` - entry point", "- CI/CD pipeline runs\n- Makefile\n- ~/.bashrc\n- `C:\\x`\n- LICENSE"
    )
    (place.root / "LICENSE").write_bytes(b"free\n")
    assert [each.split(", ")[0] for each in gaps(place)] == [
        "Files Created/Modified names ~/.bashrc",
        "Files Created/Modified names C:\\x",
    ]
    place.complete(note="mine alone")
    assert [each["path"] for each in values(place)["output"]["files"]] == ["LICENSE"]
    assert codes(place) == []


# Completing


def test_output_is_recorded_and_handed_down(place: Chained) -> None:
    """The status, the hashes of the output and of its files, and the downstream input are written in one step."""
    place.finish()
    outcome = place.complete()
    assert outcome.notes == ("handed the output to .taskstate/tasks/task-102-state.md",)
    assert values(place)["status"] == "complete"
    assert values(place)["output"] == {
        "completed_at": COMPLETED_AT,
        "sha256": sha256(output_of(parse(place.read("101")))),
        "files": [{"path": "app.py", "sha256": hashlib.sha256(b"print()\n").hexdigest()}],
    }
    assert place.inputs() == [("101", 5)]
    assert outcome.revision.startswith("5-")
    assert ">     indented stays indented" in place.read("102")
    assert values(place, "102")["revision"] == 2
    assert (codes(place), codes(place, "102")) == ([], [])


def test_files_that_are_gone_have_no_hash(place: Chained) -> None:
    """Of what is named as deleted it is kept that it was not there; folders and patterns have no hash."""
    place.finish()
    place.write("101", "- `app\\.py` - entry point", "- `old.py` (deleted)\n- `.taskstate`\n- `*.py`\n- `app.py`")
    place.complete()
    assert [each["path"] for each in values(place)["output"]["files"]] == ["old.py", "app.py"]
    assert values(place)["output"]["files"][0]["sha256"] is None


def test_output_without_files_has_no_list(place: Chained) -> None:
    """Where no file is named, none is kept."""
    place.finish()
    place.output("### Summary\n\nDone.\n\n### API Contract\n\nx\n")
    place.complete()
    assert set(values(place)["output"]) == {"completed_at", "sha256"}


def test_every_task_that_depends_on_it_gets_the_output(place: Chained) -> None:
    """Several tasks get it; one that cannot take it is named, and holds nothing up; one that has it is left alone."""
    for task in ("7", "103", "104", "105"):
        place.new(task, depends_on=("101",))
    place.new("106")
    place.write("103", "title: JWT Service", "title: [")
    place.write("104", "## 2. Chain Inputs", "## 2. Something")
    place.finish()
    untouched = [place.read(task) for task in ("103", "104", "106")]
    outcome = place.complete()
    assert [place.inputs(task) for task in ("7", "102", "105")] == [[("101", 5)]] * 3
    assert [place.read(task) for task in ("103", "104", "106")] == untouched
    message = "\n".join(outcome.notes)
    assert message.index("task-7-state.md") < message.index("task-102-state.md") < message.index("task-104-state.md")
    assert "not pulled into .taskstate/tasks/task-104-state.md: there is no section Chain Inputs" in message
    assert "task-103-state.md is damaged: line " in message
    assert "; so taskstate cannot tell whether it builds on task 101" in message
    assert "task-106" not in message


def test_link_downstream_is_left_out(place: Chained) -> None:
    """A link is named and keeps the task from nothing."""
    place.finish()
    real = place.file("102").rename(place.root / "real.md")
    place.file("102").symlink_to(real)
    before = real.read_bytes()
    (result,) = place.complete().notes
    assert "task-102-state.md is a symbolic link" in result
    assert (values(place)["status"], real.read_bytes()) == ("complete", before)


def test_credential_is_not_handed_down(place: Chained) -> None:
    """What looks like a credential in the output stays where a user wrote it, but for those who force it."""
    place.finish()
    place.write("101", "Tokens are issued\\.", f"Use {GITHUB_TOKEN} now.")
    (result,) = place.complete().notes
    assert "not pulled into .taskstate/tasks/task-102-state.md: .taskstate/tasks/task-102-state.md, line" in result
    assert "this looks like" in result
    assert GITHUB_TOKEN not in place.read("102") + result
    complete.reopen(place.workspace, "101", place.request(), note="again")
    forced = place.request()._replace(force_secrets=True)
    outcome = complete.complete(place.workspace, "101", forced)
    assert "warning: .taskstate/tasks/task-102-state.md, line" in "\n".join(outcome.notes)
    assert GITHUB_TOKEN in place.read("102")
    assert [each["event"] for each in values(place, "102")["audit"]["events"]] == ["secrets-forced"]


def test_downstream_file_that_a_hand_sealed_is_left_out(place: Chained) -> None:
    """A file whose seal is broken is not written, and is named."""
    place.write("102", 'seal: "[0-9a-f]{8}', 'seal: "00000000')
    place.finish()
    outcome = place.complete()
    assert "not pulled into .taskstate/tasks/task-102-state.md" in outcome.notes[0]
    assert place.inputs() == []


def test_task_that_is_complete_already_is_refused(place: Chained) -> None:
    """Completing twice is an error that says how to go back."""
    place.finish()
    place.complete()
    error = refusal(place.complete)
    assert (error.code, "taskstate reopen 101" in str(error)) == ("complete", True)
    assert refusal(lambda: place.complete(note="again")).code == "complete"


@pytest.mark.parametrize(
    ("old", "new", "code"),
    [
        ("title: JWT Service", "title: [", "damaged"),
        ('"overall_progress"', "overall_progress", "unreadable"),
        ("taskstate: 1", "taskstate: 1\nkind: permanent", "kind"),
        ('task_id: "101"', 'task_id: "9"', "file-name"),
    ],
)
def test_what_cannot_be_read_is_refused_also_with_force(place: Chained, old: str, new: str, code: str) -> None:
    """A file that cannot be read fully is completed by no means."""
    place.finish()
    place.write("101", old, new)
    before = tree(place.root)
    assert refusal(lambda: place.complete(note="why not")).code == code
    assert tree(place.root) == before


def test_phase_that_is_no_json_is_refused(place: Chained) -> None:
    """The fence of a phase is a part of the file that cannot be read then."""
    place.finish()
    phases.add_phase(place.workspace, "101", ("1", "Build"), ("make it",), place.request())
    place.write("101", '"objectives"', "objectives")
    error = refusal(lambda: place.complete(note="why not"))
    assert (error.code, "phase 1 cannot be read" in error.message) == ("unreadable", True)


def test_unresolved_drift_is_refused_also_with_force(place: Chained) -> None:
    """Unresolved drift cannot be waived."""
    place.finish()
    coordination = "coordination:\n  implementer: {status: done, drift_budget: 1}\ncreated_at"
    place.write("101", "created_at", coordination)
    place.write("101", '  seal: ".*"\n', "")
    assert refusal(lambda: place.complete(note="why not")).code == "drift-unresolved"


def test_what_is_let_pass_is_remembered(place: Chained) -> None:
    """With a reason an unfinished task is completed, an event lists what was missing, and the linter is content."""
    outcome = place.complete(note="102 does the rest")
    (event,) = values(place)["audit"]["events"]
    assert (event["event"], event["actor"], event["note"]) == ("waived", "somebody", "102 does the rest")
    assert event["waived"] == ["feature:jwt-1", "criterion:1", "criterion:2", "part:Summary", "output"]
    assert event["missing"][0] == "feature jwt-1 does not pass: makes a JWT"
    assert outcome.notes[0] == "waived: feature jwt-1 does not pass: makes a JWT"
    assert codes(place) == []
    assert place.inputs() == []
    complete.reopen(place.workspace, "101", place.request(), note="after all")
    place.write("101", "status: in_progress", "status: complete")
    assert "TS901" in codes(place)


def test_what_came_later_was_not_let_pass(place: Chained) -> None:
    """Only what the event lists is let pass."""
    place.finish()
    (place.root / "app.py").unlink()
    place.complete(note="it was generated")
    assert values(place)["audit"]["events"][0]["waived"] == ["file:app.py"]
    assert codes(place) == []
    place.write("101", '"passes": true', '"passes": false')
    place.write("101", r"- \[x\]", "- [ ]")
    place.write("101", "Tokens are issued\\.[^#]*", "*To be completed.*\n\n")
    assert codes(place) == ["TS901", "TS901", "TS901", "TS304"]


def test_evidence_that_was_let_pass_is_no_finding(place: Chained) -> None:
    """Where words were let pass as evidence, the linter is content with them, until that feature fails."""
    place.configure("[lint]\nrequire-command-evidence = true\n")
    place.finish()
    assert codes(place) == ["TS311"]
    place.complete(note="seen by all")
    assert (values(place)["audit"]["events"][0]["waived"], codes(place)) == (["evidence:jwt-1"], [])


def test_reason_without_need_is_not_remembered(place: Chained) -> None:
    """Where nothing is missing, nothing was let pass."""
    place.finish()
    place.complete(note="to be sure")
    assert "events" not in values(place)["audit"]


def test_task_over_its_limit_is_archived_too(place: Chained) -> None:
    """Older sessions go into the archive in the same step."""
    place.fill(*range(1, 20))
    place.finish()
    place.configure("[size]\nmax-kb = 3\nwarn-kb = 2\nkeep-sessions = 2\n")
    outcome = place.complete()
    assert "sessions 1-17 went into .taskstate/archives/task-101-archive.md" in outcome.notes
    assert "Sessions archived: 1-17" in place.archived
    assert values(place)["status"] == "complete"
    assert values(place)["sessions"] == {"total": 19, "archived": 17, "recent": 2}
    assert place.inputs() == [("101", 5)]


def test_archive_takes_events_or_sessions(place: Chained) -> None:
    """Where older events go into the archive, sessions go there with the next command."""
    place.fill(*range(1, 20))
    for _ in range(11):
        place.complete(note="once more")
        complete.reopen(place.workspace, "101", place.request(), note="not yet")
    assert "## Events" in place.archived
    place.configure("[size]\nmax-kb = 3\nwarn-kb = 2\nkeep-sessions = 2\n")
    outcome = place.complete(note="now")
    assert "not archived yet: run `taskstate archive 101`" in outcome.notes
    assert "Sessions archived" not in place.archived


def test_sessions_out_of_order_keep_nothing_from_completion(place: Chained) -> None:
    """What cannot be archived is reported, and the task is complete nevertheless."""
    place.fill(2, 1, 3, 4, 5, 6, 7, 8, 9)
    place.finish()
    place.configure("[size]\nmax-kb = 2\nwarn-kb = 1\nkeep-sessions = 2\n")
    assert any(note.startswith("not archived: task 101: session 1") for note in place.complete().notes)
    assert values(place)["status"] == "complete"


SNAPSHOT = """delta:
  base_commit: "{0}"
  snapshots:
    {1}:
      snapshot_time: "2026-01-31T12:00:00Z"
      tree: "{0}"
      pack: artifacts/task-101/x
"""


def test_artifacts_are_dropped(place: Chained) -> None:
    """The artifacts of snapshots and logs are deleted, and of what the roles left the file keeps the base alone."""
    place.finish()
    artifacts.write(place.workspace, "101", "x", b"x")
    place.write("101", "created_at", SNAPSHOT.format("0" * 40, "implementer") + "created_at")
    place.write("101", '  seal: ".*"\n', "")
    complete.complete(place.workspace, "101", place.request(dry_run=True))
    assert artifacts.read(place.workspace, "artifacts/task-101/x") == b"x"
    place.complete()
    assert not (place.workspace.state_root / "artifacts" / "task-101").exists()
    assert values(place)["delta"] == {"base_commit": "0" * 40}
    assert "events" not in values(place)["audit"]


def test_artifacts_that_stay_are_a_warning(place: Chained, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where they cannot be deleted, the task is still complete, and a warning says so."""
    place.finish()
    artifacts.write(place.workspace, "101", "x", b"x")

    def refuse(path: Path, **_: object) -> None:
        raise PermissionError(13, "denied", str(path))

    monkeypatch.setattr(shutil, "rmtree", refuse)
    outcome = place.complete()
    assert values(place)["status"] == "complete"
    assert outcome.warnings[0].startswith("cannot delete ")
    assert "`taskstate purge 101` tries again" in outcome.warnings[0]


def test_the_oldest_events_go_to_the_archive(place: Chained) -> None:
    """What was let pass is the newest of the 20 events that stay."""
    for _ in range(10):
        place.complete(note="once more")
        complete.reopen(place.workspace, "101", place.request(), note="not yet")
    place.complete(note="now")
    lines = [each["event"] for each in values(place)["audit"]["events"]]
    assert (len(lines), lines[-2:]) == (20, ["reopened", "waived"])
    assert place.archived.count("- {") == 1


def test_dry_run_changes_nothing(place: Chained) -> None:
    """A dry run shows every file that would change."""
    place.finish()
    before = tree(place.root)
    outcome = complete.complete(place.workspace, "101", place.request(dry_run=True))
    assert outcome.diff.count("\n+++ ") == 2
    assert outcome.notes == ("would hand the output to .taskstate/tasks/task-102-state.md",)
    assert tree(place.root) == before


# Reopening


def test_reopened_task_is_as_before_but_for_what_is_remembered(place: Chained) -> None:
    """Status and output are taken back, an event says who and why, and every other byte stays."""
    place.finish()
    place.write("101", "status: created", "status: in_progress  # by hand")
    before = place.read("101")
    place.complete()
    outcome = complete.reopen(place.workspace, "101", place.request(), note="tokens never expire")
    removed, added = changes(before, place.read("101"))
    assert removed == "".join(line for line in before.splitlines(keepends=True) if line.startswith("  seal:"))
    assert "event: reopened, note: tokens never expire}" in added
    assert added.replace("\n", "").count("seal:") == 1
    assert "output" not in values(place)
    assert "task-102-state.md keeps the old output" in outcome.notes[0]
    assert place.inputs() == [("101", 5)]


def test_only_a_complete_task_is_reopened(place: Chained) -> None:
    """What is open cannot be reopened, and a reason is needed."""
    error = refusal(lambda: complete.reopen(place.workspace, "101", place.request(), note="x"))
    assert (error.code, "task 101 is created" in error.message) == ("not-complete", True)
    assert refusal(lambda: complete.reopen(place.workspace, "101", place.request(), note=" ")).code == "empty"


def test_status_by_hand_is_reopened_too(place: Chained) -> None:
    """A task that a hand completed has no block to take back."""
    place.write("101", "status: created", "status: complete")
    place.file("102").write_bytes(b"\xff")
    complete.reopen(place.workspace, "101", place.request(), note="x")
    assert values(place)["status"] == "in_progress"


@pytest.mark.parametrize("status", ["created", "in_progress", "blocked"])
def test_closed_task_that_a_hand_has_opened_is_reopened(place: Chained, status: str) -> None:
    """The command records afterwards who opened it and why; the record of its output goes, as ever."""
    place.finish()
    place.complete()
    place.write("101", "status: complete", f"status: {status}")
    complete.reopen(place.workspace, "101", place.request(), note="more")
    assert values(place)["status"] == "in_progress"
    assert "output" not in values(place)
    assert refusal(lambda: complete.reopen(place.workspace, "101", place.request(), note="x")).code == "not-complete"


def test_completed_again_it_is_handed_down_again(place: Chained) -> None:
    """A second output takes the place of the first one."""
    place.finish()
    place.complete()
    complete.reopen(place.workspace, "101", place.request(), note="more")
    place.write("101", "Tokens are issued", "Tokens are issued and revoked")
    place.complete()
    assert place.inputs() == [("101", 7)]
    assert "issued and revoked" in place.read("102")


# Downstream


def test_downstream_tasks_are_found_in_their_order(place: Chained) -> None:
    """Whoever names the task in `depends_on` depends on it, whatever the case; the task itself does not."""
    place.new("a1")
    for task in ("b10", "b9"):
        place.new(task, depends_on=("a1",))
        place.write(task, r'depends_on: \["?a1"?\]', 'depends_on: ["A1"]')
    place.write("a1", "created_at", 'depends_on: ["a1"]\ncreated_at')
    paths = chain_push.downstream_of(place.workspace, "a1")
    assert [path.rpartition("/")[2] for path in paths] == ["task-b9-state.md", "task-b10-state.md"]
