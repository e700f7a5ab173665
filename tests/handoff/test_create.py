"""Creating, drafting, accepting and merging handoffs, and the notes on what has changed since."""

from __future__ import annotations

import json
import re
import subprocess
from typing import TYPE_CHECKING, Any

import pytest

from taskstate.handoff import accept as handoff_accept
from taskstate.handoff import phases, token_count
from taskstate.handoff.accept import accepted_note
from taskstate.handoff.create import HandoffRequest, HandoffResult
from taskstate.handoff.document import Handoff, HandoffReader, with_values
from taskstate.handoff.document_files import handoff_files
from taskstate.handoff.input import merge_handoffs, read_input
from taskstate.handoff.prompt import Prompt, prompt
from taskstate.lint.runner import check_files
from taskstate.merge.merge_files import merge_files
from taskstate.model.task_state import read_state
from taskstate.syntax.document import parse
from taskstate.tasks import checklist, renumber
from taskstate.turn.hand_over import hand_over, handoff_errors
from taskstate.units.three_way import Versions
from tests.support.place import Place, changes, refusal, tree

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

FULL = Handoff(
    phase="3",
    action="Prove the modal case.",
    file="app.py",
    location="line 1",
    goal="consistency is proved",
    decisions=("Structural recursion: induction failed",),
    avoid=("Direct induction: needs structure",),
    context=("The state is finite",),
    references=("app.py, the main part",),
    do_not_reread=("docs/paper.txt",),
)


@pytest.fixture
def place(tmp_path: Path) -> Place:
    """Return a repository whose task 101 has phase 3, and two files."""
    made = Place(tmp_path / "repository")
    prepare(made)
    return made


def prepare(place: Place) -> None:
    """Add phase 3 to task 101, and the files that a handoff names."""
    (place.root / "app.py").write_text("print()\n", encoding="utf-8")
    (place.root / "docs").mkdir()
    (place.root / "docs/paper.txt").write_text("long\n", encoding="utf-8")
    objectives = ("Define the state", "Prove consistency")
    phases.add_phase(place.workspace, "101", ("3", "Lemma"), objectives, place.request())


def new(place: Place, handed: Handoff = FULL, **more: Any) -> HandoffResult:  # noqa: ANN401 - draft and force
    """Create a handoff."""
    return hand_over(place.workspace, "101", HandoffRequest(handed, **more), place.request())


def accept(place: Place, agent: str = "successor") -> handoff_accept.AcceptedHandoff:
    """Accept the handoff."""
    errors_in = handoff_errors(place.workspace)
    return handoff_accept.accept(place.workspace, "101", agent, place.request(), errors_in=errors_in)


def show(place: Place) -> handoff_accept.OpenHandoff:
    """Return the open handoff, else the newest one."""
    return handoff_accept.show(place.workspace, "101", errors_in=handoff_errors(place.workspace))


def prompt_for(place: Place) -> Prompt:
    """Return the prompt for the successor."""
    return prompt(place.workspace, "101", errors_in=handoff_errors(place.workspace))


def move_on(place: Place, note: str) -> None:
    """Change an objective."""
    phases.set_objective(
        place.workspace, "101", ("3", "1"), phases.ObjectiveUpdate("in_progress", note), place.request()
    )


def handoffs(place: Place) -> dict[str, Any]:
    """Return the `handoffs` block of the front matter."""
    told: dict[str, Any] = place.state.document.front_matter["handoffs"]
    return told


def codes(place: Place, *paths: Path) -> set[str]:
    """Return the lint findings in all of taskstate's own files."""
    found = check_files(paths or place.workspace.own_files(), place.checking())
    return {finding.diagnostic.code for finding in found.findings}


def test_a_handoff_is_written_and_counted(place: Place) -> None:
    """Document and state file change together: path, count, the phase's count, and the revision agree."""
    written = new(place)
    assert written.path == ".taskstate/handoffs/task-101/phase-3-handoff-20260131T120300Z.md"
    text = (place.root / written.path).read_text(encoding="utf-8")
    assert text == written.text
    assert handoffs(place) == {"count": 1, "open": written.path.removeprefix(".taskstate/")}
    phase = phases.find_phase(place.state, "3").value
    assert (phase["handoff_count"], phase["last_updated"]) == (1, "2026-01-31T12:03:00Z")
    document = parse(text)
    assert document.front_matter["state_revision"] == place.state.revision
    assert document.front_matter["from_agent"] == "somebody"
    read = HandoffReader(document).handoff
    assert read == FULL._replace(references=("`app.py`, the main part",))
    assert codes(place) == set()
    assert written.metadata["status"] == "partial"
    assert written.metadata["partial_progress"]["handoff_path"] == written.path


def test_all_errors_are_named_at_once(place: Place) -> None:
    """One error names every rule that the document would break, and nothing is written."""
    before = tree(place.root)
    wrong = FULL._replace(
        action="- One\n- Two",
        file="../gone.py",
        decisions=("RS256",),
        avoid=("HS256",),
        context=("a", "b", "c", "d", "e", "f"),
        references=("../out.md",),
        do_not_reread=("docs/no.txt",),
        goal="",
    )
    error = refusal(lambda: new(place, wrong))
    assert error.code == "handoff"
    for part in (
        "--goal",
        "a list of 2",
        "'../gone.py'",
        "'RS256'",
        "'HS256'",
        "6 items",
        "'../out.md'",
        "'docs/no.txt'",
    ):
        assert part in error.message, part
    long = FULL._replace(context=("\n".join(["line"] * 60),))
    assert "the limit is 60" in refusal(lambda: new(place, long)).message
    place.configure("[handoff]\nmax-lines = 100\n[lint]\nselect = []\n")
    assert "80 lines" not in new(place, long).text
    assert tree(place.root).keys() - before.keys() == {"taskstate.toml", handoff_path(place)} - before.keys()


def handoff_path(place: Place) -> str:
    """Return the path of the open handoff."""
    return f".taskstate/{handoffs(place)['open']}"


REFUSED: dict[str, tuple[str, Callable[[Place], object]]] = {
    "handed over already": ("handoff-open", new),
    "no such phase": ("not-found", lambda place: new(place, FULL._replace(phase="9"))),
    "complete": ("complete", new),
    "nothing to accept": ("not-found", accept),
    "nothing to show": ("not-found", show),
    "no such task": (
        "not-found",
        lambda place: hand_over(place.workspace, "9", HandoffRequest(FULL), place.request()),
    ),
    "a phase of no name": ("bad-id", lambda place: new(place, FULL._replace(phase="../x"))),
    "an unreadable phase": ("unreadable", new),
    "which phase": ("usage", lambda place: new(place, FULL._replace(phase=""))),
    "a terminal escape": ("control-characters", lambda place: new(place, FULL._replace(location="\x1b[2J"))),
    "a secret": ("secret", lambda place: new(place, FULL._replace(context=("ghp_" + "a1B2c3D4e5" * 4,)))),
}


def test_a_file_may_still_have_to_be_created(place: Place) -> None:
    """A file that does not exist is marked so, which is said; the linter and the successor understand it."""
    for given in ("src/new.py:1", "./src/new.py:1 (to be created)"):
        written = new(place, FULL._replace(file=given), force=True)
        assert "- File: `src/new.py:1` (to be created)\n" in written.text
        assert written.outcome
        assert written.outcome.notes == ("src/new.py:1 does not exist: marked as to be created",)
        assert "- File: `src/new.py:1` (to be created)\n" in prompt_for(place).text
        fields = handoff_accept.fields_of(show(place).file)
        state = {"file": "src/new.py:1", "to_be_created": True, "location": FULL.location, "goal": FULL.goal}
        assert fields["current_state"] == state
        accept(place)
    (place.root / "src").mkdir()
    (place.root / "src/new.py").touch()
    assert "- File: `src/new.py:1`\n" in new(place, FULL._replace(file="src/new.py:1"), force=True).text


def test_an_address_is_no_file_to_create(place: Place) -> None:
    """What cannot be a path in the repository is refused as before."""
    error = refusal(lambda: new(place, FULL._replace(file="https://example.invalid/x")))
    assert "the repository has no 'https://example.invalid/x'" in error.message


def test_a_reference_with_a_label_is_understood(place: Place) -> None:
    """The writer puts the path behind a label into code marks, relative to the root, and the linter accepts it."""
    given = ("Plan: docs/paper.txt, section 3", f"Paper: {place.root}/docs/paper.txt")
    text = new(place, FULL._replace(references=given)).text
    assert "- Plan: `docs/paper.txt`, section 3\n- Paper: `docs/paper.txt`\n" in text
    accept(place)
    gone = FULL._replace(references=("Plan: docs/gone.txt, section 3",))
    assert "'docs/gone.txt'" in refusal(lambda: new(place, gone, force=True)).message


@pytest.mark.parametrize("name", REFUSED)
def test_what_cannot_be_done_is_refused(place: Place, name: str) -> None:
    """Each case is one clear error, and nothing changes."""
    code, job = REFUSED[name]
    if name == "handed over already":
        new(place)
    elif name == "complete":
        place.text = place.text.replace("status: created", "status: complete")
    elif name == "an unreadable phase":
        place.text = place.text.replace('"handoff_count": 0', '"handoff_count": 0,')
    elif name == "a phase of no name":
        place.text = place.text.replace("### Phase 3: Lemma", "### Part 3")
    elif name == "which phase":
        phases.add_phase(place.workspace, "101", ("4", "Next"), ("One",), place.request())
    before = tree(place.root)
    assert refusal(lambda: job(place)).code == code
    assert tree(place.root) == before


def test_the_open_handoff_is_named_by_its_path(place: Place) -> None:
    """It is a path from the root of the repository, that can be opened."""
    new(place)
    message = refusal(lambda: new(place)).message
    assert message == f"task 101 is handed over already: {handoff_path(place)} is open"
    assert (place.root / handoff_path(place)).is_file()


def test_a_task_without_phases_hands_over_too(tmp_path: Path) -> None:
    """The phase of a task without phases is 1 or the given one; only its front matter changes."""
    place = Place(tmp_path / "repository")
    (place.root / "app.py").touch()
    before = place.text
    plain = FULL._replace(phase="", do_not_reread=())
    assert "/phase-1-handoff-" in new(place, plain).path
    gone, come = changes(before, place.text)
    assert (gone[:8], gone.count("\n"), come.count("handoffs: ")) == ("  seal: ", 1, 1)
    accept(place)
    assert "/phase-design-handoff-" in new(place, plain._replace(phase="design"), force=True).path
    assert codes(place) <= {"TS806"}


def test_a_dry_run_shows_both_files(place: Place) -> None:
    """The diff holds the new document and the state file, and nothing is written."""
    before = tree(place.root)
    written = hand_over(place.workspace, "101", HandoffRequest(FULL), place.request(dry_run=True))
    assert written.outcome
    assert "+++ b/.taskstate/handoffs/task-101/phase-3-handoff-" in written.outcome.diff
    assert "+handoffs: {count: 1, open: handoffs/task-101/" in written.outcome.diff
    assert tree(place.root) == before


def test_two_in_one_second_have_two_names(place: Place) -> None:
    """A second handoff takes the next free second, also beside archived ones."""
    paths = []
    for _ in range(3):
        now = place.request()._replace(
            metadata=place.request().metadata._replace(now=place.now.replace(hour=20, minute=0))
        )
        paths.append(hand_over(place.workspace, "101", HandoffRequest(FULL, force=True), now).path)
        accept(place)
    assert [path[-10:] for path in paths] == ["200000Z.md", "200001Z.md", "200002Z.md"]


def test_something_has_to_move_on(place: Place) -> None:
    """Another handoff is refused until an objective changes or a session is added, unless forced."""
    new(place)
    accept(place)
    assert refusal(lambda: new(place)).code == "no-progress"
    move_on(place, "1 of 2")
    new(place)
    accept(place)
    assert refusal(lambda: new(place)).code == "no-progress"
    place.add()
    assert codes(place, place.root / new(place).path) == set(), "a session is progress"
    accept(place)
    assert refusal(lambda: new(place)).code == "no-progress"
    assert codes(place, place.root / new(place, force=True).path) == {"TS806"}
    accept(place)
    place.configure("[handoff]\nminimum-progress = false\n")
    assert codes(place, place.root / new(place).path) == set()


def test_a_draft_says_what_the_state_file_knows(place: Place) -> None:
    """A draft has next step, objective, failed approaches, decisions and issues: nothing of it is asked for again."""
    (place.root / "src").mkdir()
    (place.root / "src/a.py").touch()
    place.add(
        "Decided to use RS256: keys rotate",
        "Decision: no reason",
        "Worked.",
        issues=("Not verified: the clock",),
        state="In `gone.py`.",
        next=("Go on in `src/a.py:3`", "Rest"),
    )
    for attempt in (
        ("Induction.", "failed:\nno structure"),
        ("Recursion", "works"),
        ("Locks", "Works; all tests pass."),
    ):
        phases.record_attempt(place.workspace, "101", "3", attempt, place.request())
    move_on(place, "1 of 2")
    read = HandoffReader(parse(new(place, Handoff(), draft=True).text)).handoff
    assert (read.action, read.file, read.goal) == ("Go on in `src/a.py:3`", "src/a.py:3", "Define the state")
    assert read.decisions == ("use RS256: keys rotate", "no reason: see session 1")
    assert read.avoid == ("Induction: failed: no structure",)
    left = "Session 1 left it so: In `gone.py`."
    assert read.context == (left, "Objective 1: 1 of 2", "Issue: Not verified: the clock", "After that: Rest")
    accept(place)
    place.add()
    again = new(place, Handoff(location="line 4"), draft=True)
    assert "1. use RS256: keys rotate" in again.text, "what was decided before is carried on"


@pytest.mark.parametrize(
    ("did", "decisions", "avoid"),
    [
        ("Decided: no Counter, since it loses the names", ("no Counter: it loses the names",), ()),
        ("Wrote it. Decided to keep the loop: it is short. Ran all.", ("keep the loop: it is short.",), ()),
        ("**Decision:** RS256", ("RS256: see session 1",), ()),
        ("Read it:\n\n- Chose A, because B failed", ("Chose A: B failed",), ()),
        ("Kept the loop rather than a map: simpler", ("Kept the loop rather than a map: simpler",), ()),
        ("Entschieden: ohne Zähler", ("Entschieden: ohne Zähler",), ()),
        ("Tried A: it failed, because B", (), ("A: it failed, because B",)),
        ("Tried the cache. It failed, because of locks.", (), ("the cache. It failed: locks.",)),
        ("Induction did not work: no structure. Ran all", (), ("Induction did not work: no structure.",)),
        ("We gave up on the cache", (), ("We gave up on the cache: see session 1",)),
        ("Locks failed: slow\n\nAgreed on a queue", ("Agreed on a queue: see session 1",), ("Locks failed: slow",)),
        ("Fixed the crash in the parser: a null", (), ()),
        ("Added a test that fails: umlauts", (), ()),
        ("Added retries, since the network fails", (), ()),
        ("Fixed what returned None instead of raising", (), ()),
    ],
)
def test_a_draft_finds_what_was_decided_and_what_failed(
    place: Place, did: str, decisions: tuple[str, ...], avoid: tuple[str, ...]
) -> None:
    """Each sentence counts that says so, with or without a reason; a fault that was mended is no failed approach."""
    place.add(did)
    written = new(place, Handoff(), draft=True)
    read = HandoffReader(parse(written.text)).handoff
    assert (read.decisions, read.avoid) == (decisions, avoid)
    assert codes(place, place.root / written.path) == set()


@pytest.mark.parametrize(
    ("result", "is_listed"),
    [
        ("works on Linux, deadlocks on macOS", True),
        ("Passed two tests and then failed all others", True),
        ("works, but slowly", True),
        ("ok?", True),
        ("done by hand only", True),
        ("worked until the cache was full", True),
        ("works", False),
        ("It works now.", False),
        ("Succeeded", False),
        ("passed all tests", False),
        ("All tests pass", False),
    ],
)
def test_a_draft_lists_what_leaves_a_doubt(place: Place, result: str, is_listed: bool) -> None:  # noqa: FBT001 - a case
    """An approach is left out only where its result says that it succeeded, and nothing more."""
    phases.record_attempt(place.workspace, "101", "3", ("Locks", result), place.request())
    read = HandoffReader(parse(new(place, Handoff(), draft=True).text)).handoff
    assert bool(read.avoid) == is_listed


@pytest.mark.parametrize("reason", ["-", "N/A", ".", "*none*", "TBD", "*To be completed.*", "(to be determined)"])
def test_a_reason_that_says_nothing_is_none(place: Place, reason: str) -> None:
    """Decisions and approaches without a reason are refused, in flags and JSON, and lint reports them."""
    before = tree(place.root)
    unreasoned = FULL._replace(decisions=(f"Locks: {reason}",), avoid=(f"Queues: {reason}",))
    error = refusal(lambda: new(place, unreasoned))
    assert error.code == "handoff"
    assert all(part in error.message for part in ("has no rationale", "does not say why"))
    decision = json.dumps({"decisions": [{"decision": "A: b", "rationale": reason}]})
    approach = '{"avoid": [{"approach": "A: b", "reason": ""}]}'
    assert refusal(lambda: read_input(decision, "x.json")).code == "invalid-input"
    assert refusal(lambda: read_input(approach, "x.json")).code == "invalid-input"
    assert tree(place.root) == before
    written = new(place)
    path = place.root / written.path
    path.write_text(written.text.replace("needs structure", reason), encoding="utf-8")
    assert codes(place, path) == {"TS804"}


@pytest.mark.parametrize("action", ["*To be completed.*", "TBD", "None.", "…"])
def test_a_placeholder_is_no_next_action(place: Place, action: str) -> None:
    """A placeholder action is refused, escaped or not, and so is an empty place or goal."""
    error = refusal(lambda: new(place, FULL._replace(action=action, goal="*To be completed.*", location="-")))
    assert all(f"{flag} is missing" in error.message for flag in ("--action", "--goal", "--location"))
    written = new(place)
    path = place.root / written.path
    path.write_text(written.text.replace("Prove the modal case.", "\\*To be completed.\\*"), encoding="utf-8")
    assert codes(place, path) == {"TS801"}


def test_a_draft_of_little_asks_for_the_next_action_alone(tmp_path: Path) -> None:
    """Without a session nothing else is missing: the open feature is the goal, and lint rejects the draft."""
    place = Place(tmp_path / "repository")
    drafted = new(place, Handoff(), draft=True)
    assert (drafted.path, drafted.missing, drafted.outcome) == ("", ("--action",), None)
    assert "- File: None.\n- Location: None.\n- Goal state: feature jwt-1 passes: " in drafted.text
    path = place.workspace.state_root / "handoffs/task-101/phase-1-handoff-20260131T120000Z.md"
    path.parent.mkdir(parents=True)
    path.write_text(drafted.text, encoding="utf-8")
    assert "TS801" in codes(place, path)
    path.unlink()
    completed = drafted.text.replace("*To be completed.*", "Go on.")
    written = new(place, read_input(completed, "draft.md"))
    assert codes(place, place.root / written.path) == set()
    page = prompt_for(place).text
    assert ("- File:" in page, "None." in page) == (False, False)


@pytest.mark.parametrize("step", ["- One\n- Two", "1. One\n2. Two", "> One", "~~~sh\nmake\n~~~", "# One", "One\n\nTwo"])
def test_a_draft_has_one_paragraph_as_its_action(place: Place, step: str) -> None:
    """Whatever form a next step has, its words are an action that the rules accept."""
    place.add(next=(step,))
    assert codes(place, place.root / new(place, Handoff(), draft=True).path) == set()


@pytest.mark.parametrize(
    ("step", "goal"),
    [
        ("Make jwt-2 pass.", "feature jwt-2 passes: Verifies"),
        ("Go on, not with jwt-22.", "feature jwt-1 passes: makes a JWT"),
    ],
)
def test_the_goal_of_a_plain_task_is_what_is_open(tmp_path: Path, step: str, goal: str) -> None:
    """It is the feature that the next step names, else the first open one, then criteria, then completion."""
    place = Place(tmp_path / "repository")
    checklist.add_feature(place.workspace, "101", "jwt-2", "Verifies", place.request())
    place.add(next=(step,))
    request = HandoffRequest(Handoff(), draft=True)

    def goal_of() -> str:
        return hand_over(place.workspace, "101", request, place.request(dry_run=True)).text

    assert f"- Goal state: {goal}" in goal_of()
    place.text = place.text.replace('"passes": false', '"passes": true')
    assert "- Goal state: criterion 1 is met: " in goal_of()
    place.text = place.text.replace("- [ ] ", "- [x] ")
    assert "- Goal state: task 101 is complete" in goal_of()


def test_a_draft_is_of_the_phase_that_changed_last(place: Place) -> None:
    """Of several phases at work nobody is asked which one is meant; without a draft, it has to be said."""
    move_on(place, "1 of 2")
    phases.add_phase(place.workspace, "101", ("4", "Next"), ("Go",), place.request())
    phases.set_objective(place.workspace, "101", ("4", "1"), phases.ObjectiveUpdate("in_progress"), place.request())
    place.add()
    assert "say --phase P" in refusal(lambda: new(place, FULL._replace(phase=""))).help
    assert "/phase-4-handoff-" in new(place, Handoff(), draft=True).path
    accept(place)
    move_on(place, "2 of 2")
    assert "/phase-3-handoff-" in new(place, Handoff(), draft=True).path


def test_json_says_the_same(place: Place) -> None:
    """Texts and pairs are accepted; flags win over texts and add to lists."""
    given = read_input(
        '{"phase": 3, "action": "Go.", "file": "app.py", "location": "top", "goal": "done",'
        ' "decisions": [{"decision": "A", "rationale": "b"}, "C: d"], "avoid": [{"approach": "E", "reason": "f"}],'
        ' "refs": [{"path": "app.py", "what": "all"}]}',
        "x.json",
    )
    both = merge_handoffs(given, Handoff(action="Stay.", decisions=("C: d", "G: h")))
    assert (both.action, both.phase, both.decisions) == ("Stay.", "3", ("A: b", "C: d", "G: h"))
    assert "1. E: f\n" in new(place, both).text


@pytest.mark.parametrize(
    "text",
    [
        "{",
        "[1]",
        '{"acton": "x"}',
        '{"action": 1}',
        '{"decisions": "x"}',
        '{"context": [{"a": "b"}]}',
        '{"phase": true}',
    ],
)
def test_wrong_json_is_refused(text: str) -> None:
    """Input that is not JSON, not an object or malformed is an error that says what is right."""
    error = refusal(lambda: read_input(text, "x.json"))
    assert (error.code, "x.json" in error.message, bool(error.help)) == ("invalid-input", True, True)


def test_accepting_moves_the_document_in_one_step(place: Place) -> None:
    """An accepted document records who and when, is archived with its body unchanged, and no longer open."""
    written = new(place)
    accepted = accept(place)
    assert not (place.root / written.path).exists()
    text = (place.root / accepted.path).read_text(encoding="utf-8")
    assert accepted.path == written.path.replace("/phase", "/archive/phase")
    assert text.partition("\n# ")[2] == written.text.partition("\n# ")[2]
    front = parse(text).front_matter
    assert (front["status"], front["accepted_by"], front["accepted_at"]) == (
        "accepted",
        "successor",
        "2026-01-31T12:04:00Z",
    )
    assert handoffs(place) == {"count": 1, "open": None}
    assert accepted.outcome.notes == ()
    assert codes(place) == set()


def test_the_next_session_refers_to_it(place: Place) -> None:
    """Only the first session after accepting mentions it, also if older sessions were archived."""
    place.add()
    written = new(place)
    accept(place)
    place.add("Went on.")
    time = "2026-01-31 12:04:00"
    assert written.path.endswith(f"{re.sub('[-:]', '', time.replace(' ', 'T'))}Z.md")
    note = f"took over from phase 3, {time}"
    assert place.state.sessions[-1].field("by") == (f"somebody, {note}",)
    older = f"took over from `.taskstate/handoffs/task-101/archive/{written.path.rpartition('/')[2]}`"
    assert accepted_note(place.workspace, place.state) == ""
    assert accepted_note(place.workspace, read_state(parse(place.text.replace(note, older)))) == ""
    assert accepted_note(place.workspace, read_state(parse(place.text.replace(note, "x")))) == note
    place.add("Went on.")
    place.archive(keep=1)
    place.add("Went on.", agent="another")
    assert (place.text + place.archived).count(note) == 1


def test_documents_and_state_file_are_brought_together(place: Place) -> None:
    """After a merge two may be open, or one accepted on the other branch: each `accept` settles one."""
    first = new(place)
    other = (place.root / first.path).with_name("phase-3-handoff-20260131T110000Z.md")
    other.write_text(first.text.replace("T12:03", "T11:00"), encoding="utf-8")
    assert "TS807" in codes(place)
    accept(place)
    assert "TS807" in codes(place)
    assert accept(place).path.endswith("archive/phase-3-handoff-20260131T110000Z.md")
    assert codes(place) == set()
    last = new(place, force=True)
    path = place.root / last.path
    (path.parent / "archive" / path.name).write_text(
        last.text.replace("status: open", "status: accepted"), encoding="utf-8"
    )
    path.unlink()
    assert codes(place) == {"TS807"}
    accept(place)
    assert handoffs(place)["open"] is None
    assert codes(place) == set()


LOST: dict[str, tuple[Callable[[Place], object], str]] = {
    "gone": (lambda place: opened(place).unlink(), "not-found"),
    "conflict": (
        lambda place: edit(place, lambda text: text.replace("status: open", "<<<<<<< a\nstatus: open\n=======\n")),
        "unreadable",
    ),
    "not UTF-8": (lambda place: opened(place).write_bytes(b"\xff"), "not-utf8"),
    "another tool's": (lambda place: edit(place, lambda text: text.partition("---\n\n")[2]), "no-handoff"),
    "another task's": (lambda place: edit(place, lambda text: text.replace('"101"', '"102"')), "no-handoff"),
}


def opened(place: Place) -> Path:
    """Return the path of the open handoff on disk."""
    return place.root / handoff_path(place)


def edit(place: Place, how: Callable[[str], str]) -> None:
    """Change the text of the open handoff."""
    path = opened(place)
    text = path.read_text(encoding="utf-8")
    assert how(text) != text
    path.write_text(how(text), encoding="utf-8")


@pytest.mark.parametrize("name", LOST)
def test_an_open_document_that_is_lost_is_named(place: Place, name: str) -> None:
    """A lost open document cannot be accepted, an older one does not replace it, and `--force` hands over again."""
    new(place)
    accept(place)
    place.add()
    lost = new(place).path
    lose, code = LOST[name]
    lose(place)
    before = tree(place.root)
    for asked in (
        lambda: accept(place),
        lambda: show(place),
        lambda: prompt_for(place),
    ):
        error = refusal(asked)
        assert (error.code, lost.rpartition("/")[2] in error.message) == (code, True)
        assert "taskstate handoff new 101 --force" in error.help
        assert ("`taskstate doctor --fix` brings it back" in error.help) == (code == "not-found")
    assert refusal(lambda: new(place)).code == "handoff-open"
    assert tree(place.root) == before
    written = new(place, force=True)
    assert f".taskstate/{handoffs(place)['open']}" == written.path != lost
    accept(place)
    assert handoffs(place) == {"count": 3, "open": None}


@pytest.mark.parametrize(
    "named",
    [
        "tasks/task-102-state.md",
        "handoffs/task-102/phase-3-handoff-20260131T120000Z.md",
        "handoffs/task-101/notes.md",
        "handoffs/task-101/old/phase-3-handoff-20260131T120000Z.md",
        "handoffs/task-101/../task-101/phase-3-handoff-20260131T120000Z.md",
    ],
)
def test_nothing_but_a_handoff_of_the_task_is_accepted(place: Place, named: str) -> None:
    """An open path that names another file is refused, nothing moves, and lint reports it."""
    place.new("102")
    written = new(place)
    path = place.workspace.state_root / named
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(written.text, encoding="utf-8")
    text = place.text.replace(str(handoffs(place)["open"]), named)
    place.text = re.sub(r"\n  seal: .*", "", text)
    assert "TS807" in codes(place, place.path)
    before = tree(place.root)
    assert refusal(lambda: accept(place)).code == "no-handoff"
    assert tree(place.root) == before


def test_a_new_id_takes_the_handoffs_along(place: Place) -> None:
    """The open document moves with its task, and the state file names its new place."""
    new(place)
    renumber.renumber(place.workspace, place.path, "7", place.request())
    workspace = place.workspace
    (document,) = handoff_files(workspace, "7")
    state = workspace.load(workspace.locate("7")).state
    assert state.document.front_matter["handoffs"]["open"] == document.path
    assert document.text("task_id") == "7"
    assert codes(place) == set()


def test_two_branches_hand_over(place: Place) -> None:
    """The merge counts both and names the newer one; each is accepted, and the next session refers to both."""
    base = place.path.read_bytes()
    first = new(place)
    ours = place.path.read_bytes()
    place.path.write_bytes(base)
    text = (place.root / first.path).read_bytes()
    (place.root / first.path).unlink()
    place.request()  # a minute passes
    second = new(place)
    (place.root / first.path).write_bytes(text)
    theirs = place.path.read_bytes()
    made = [
        merge_files(sides, place.path.name) for sides in (Versions(base, ours, theirs), Versions(base, theirs, ours))
    ]
    assert not any(each.conflicts for each in made)
    assert all('"handoff_count": 2' in each.data.decode() for each in made)
    place.path.write_bytes(made[0].data)
    newer, older = (path.removeprefix(".taskstate/") for path in (second.path, first.path))
    assert newer > older
    assert handoffs(place) == {"count": 2, "open": newer}
    assert codes(place) == {"TS807"}
    accept(place)
    assert "TS807" in codes(place)
    accept(place)
    assert codes(place) == set()
    place.add()
    agent = place.state.sessions[-1].field("by")[0]
    assert len(re.findall(r"phase 3, 2026-01-31 12:\d\d:00", agent)) == 2
    place.add()
    assert place.text.count("phase 3, 2026-") == 2


def test_one_side_accepts_and_hands_over_again(place: Place) -> None:
    """The merged state names an open one; the same handoff on both branches counts once, two accepted ones twice."""
    one, two = (f"handoffs/task-101/phase-3-handoff-20260131T{hour}0000Z.md" for hour in (10, 11))

    def merged(base: tuple[int, str | None], ours: tuple[int, str | None], theirs: tuple[int, str | None]) -> Any:  # noqa: ANN401 - JSON
        texts = []
        for side, (count, named) in zip(("base", "ours", "theirs"), (base, ours, theirs), strict=True):
            line = f"\nhandoffs: {{count: {count}, open: {named or 'null'}}}\nx-{side}: 1\n---\n\n# Task"
            texts.append(place.text.replace("\n---\n\n# Task", line, 1).encode())
        made = merge_files(Versions(*texts), place.path.name)
        assert not made.conflicts
        return dict(parse(made.data.decode()).front_matter["handoffs"])

    assert merged((1, one), (1, None), (2, two)) == {"count": 2, "open": two}
    assert merged((1, one), (1, None), (1, None)) == {"count": 1, "open": None}
    assert merged((0, None), (1, one), (1, one)) == {"count": 1, "open": one}
    assert merged((0, None), (1, None), (1, None)) == {"count": 2, "open": None}
    assert merged((0, None), (1, two), (1, one)) == {"count": 2, "open": two}


def test_a_document_accepted_twice_merges(place: Place) -> None:
    """The earlier acceptance wins; a handoff accepted on one branch stays accepted, and its text is kept."""
    written = new(place)
    name = written.path.rpartition("/")[2]
    path = f".taskstate/handoffs/task-101/archive/{name}"
    first, second = (
        with_values(
            parse(written.text),
            {"status": "accepted", "accepted_by": agent, "accepted_at": f"2026-02-01T{hour}:00:00Z"},
        )
        for agent, hour in (("ann", "09"), ("bob", "10"))
    )
    edited = written.text.replace("Prove the modal case.", "Prove it.")
    for base in (written.text, ""):
        for sides in (Versions(base, first, second), Versions(base, second, first)):
            assert merge_files(Versions(*(text.encode() for text in sides)), path).data.decode() == first
    both = merge_files(Versions(*(text.encode() for text in (written.text, edited, second))), path).data.decode()
    assert "Prove it." in both
    assert "accepted_by: bob" in both
    broken = second.replace("status: accepted", "status: [")
    assert merge_files(Versions(*(text.encode() for text in (written.text, first, broken))), path).conflicts


# In git


@pytest.fixture
def in_git(repository: Path) -> Place:
    """Return a git repository with one commit that holds a task with phase 3, and its files."""
    made = Place(repository)
    prepare(made)
    git(made, "add", "--all")
    git(made, "commit", "--quiet", "--message=start")
    return made


def git(place: Place, *args: str) -> None:
    """Run git."""
    subprocess.run(["git", *args], cwd=place.root, check=True, stdin=subprocess.DEVNULL)


def notes(place: Place) -> str:
    """Return the notes on what has changed since the handoff."""
    return "\n".join(show(place).notes)


def test_what_was_verified_is_checked_again(in_git: Place) -> None:
    """A changed file, commits, another branch, a branch behind and writes are noted; our own commits are not."""
    place = in_git
    seen = parse(new(place).text).front_matter["verified"]
    assert (seen["branch"], seen["dirty_files"], seen["baseline"]) == ("main", 0, None)
    assert len(seen["git_head"]) == len(seen["tree"]) == 40
    assert notes(place) == ""
    git(place, "add", "--all")
    git(place, "commit", "--quiet", "--message=handed over")
    assert notes(place) == ""
    (place.root / "app.py").write_text("print(1)\n", encoding="utf-8")
    assert notes(place).startswith("files have changed since")
    git(place, "switch", "--quiet", "--create", "other")
    git(place, "commit", "--quiet", "--all", "--message=work")
    assert notes(place).split("\n")[:2] == [
        "other is checked out; the handoff was written on main",
        f"HEAD has moved by 2 commits since {seen['git_head'][:10]}; changed there: app.py",
    ]
    git(place, "switch", "--quiet", "main")
    git(place, "merge", "--quiet", "other")
    git(place, "switch", "--quiet", "other")
    git(place, "reset", "--quiet", "--hard", "HEAD~1")
    assert "the working tree is 1 commit behind main" in notes(place)
    place.add()
    assert "the state file has been written once since" in notes(place)
    accepted = accept(place)
    assert any("behind main" in note for note in accepted.outcome.notes)


def test_a_missing_commit_is_noted(in_git: Place) -> None:
    """A HEAD that was reset and a repository without the commit give different notes."""
    place = in_git
    (place.root / "app.py").write_text("print(1)\n", encoding="utf-8")
    git(place, "commit", "--quiet", "--all", "--message=work")
    written = new(place)
    git(place, "reset", "--quiet", "--mixed", "HEAD~1")
    assert "HEAD no longer comes after" in notes(place)
    path = place.root / written.path
    head = parse(written.text).front_matter["verified"]["git_head"]
    path.write_text(written.text.replace(head, "0" * 40), encoding="utf-8")
    assert "does not have the commit 0000000000" in notes(place)


def test_another_baseline_status_is_noted(place: Place) -> None:
    """The status of the QA baseline is compared as well."""
    written = new(place)
    path = place.root / written.path
    path.write_text(written.text.replace("baseline: null", "baseline: recorded"), encoding="utf-8")
    assert notes(place) == "the QA baseline is gone now; it was recorded then"


# The successor


def test_the_successor_begins_with_the_action(place: Place) -> None:
    """The prompt holds action, place, dead ends and commands, and nothing of the history."""
    written = new(place)
    made = prompt_for(place)
    assert made.path == written.path
    order = [FULL.action, "`app.py`", "line 1", "Direct induction", "docs/paper.txt", written.path, "phase set 101 3 1"]
    places = [made.text.index(part) for part in order]
    assert places == sorted(places)
    assert "Structural recursion" not in made.text
    accept(place)
    assert "handoff accept" not in prompt_for(place).text


def test_the_successor_learns_what_is_to_be_met(place: Place) -> None:
    """State, criteria and features stand on the page, and the flags that answer them."""
    place.add(state="Half of it works.")
    new(place)
    page = prompt_for(place).text
    parts = [
        FULL.action,
        "Half of it works.",
        "`app.py`",
        "criterion 1: ",
        "feature jwt-1: ",
        "--check N",
    ]
    assert [page.index(part) for part in parts] == sorted(page.index(part) for part in parts)
    assert "--check N --pass FID` when" in page


@pytest.mark.parametrize(("count", "word"), [(12, "endpoint "), (200, "endpoint "), (40, "\u6f22\u5b57 ")])
def test_many_things_to_be_met_leave_the_page_small(place: Place, count: int, word: str) -> None:
    """Each has its name and first words as far as they fit on a screen; of the others their number is told."""
    features = [{"id": f"f-{number}", "description": word * 60, "passes": False} for number in range(count)]
    start = place.text.index("[", place.text.index('"features"'))
    end = place.text.index("]", start) + 1
    place.text = place.text[:start] + json.dumps(features) + place.text[end:]
    criteria = "".join(f"- [ ] {number} {word * 60}\n" for number in range(count))
    place.text = re.sub(r"(?m)^- \[ \] .*\n", criteria, place.text, count=1)
    place.add(state=word * 100)
    new(place)
    made = prompt_for(place)
    assert token_count.count(made.text) <= made.tokens <= 700
    assert made.text.count("\n") <= 60
    assert "criterion 1: 0 " in made.text
    assert "feature f-0: " in made.text
    named = re.findall(r"(?m)^- feature f-\d+: ", made.text)
    more = re.search(r"- (\d+) more: feature f-(\d+)", made.text)
    assert len(named) + (int(more[1]) if more else 0) == count
    assert more is None or int(more[2]) == len(named)
    assert "`taskstate brief 101`" in made.text


@pytest.mark.parametrize("filler", ["word ", "\u6f22\u5b57 ", "a_b(c); ", "0123 "])
def test_the_prompt_stays_small(place: Place, filler: str) -> None:
    """The prompt for a document at the size limit, in any script, has less than 700 tokens, and names it."""
    long = (filler * 400).encode()
    text = [long[: 4 * part].decode(errors="ignore").strip() for part in (90, 50, 100)]
    big = FULL._replace(
        action=f"Go {text[0]}",
        location=text[1],
        goal=text[1],
        avoid=tuple(f"{number} {text[1]}: {text[1]}" for number in range(5)),
        do_not_reread=(),
        context=(),
        decisions=(),
    )
    written = new(place, big)
    assert len(written.text) > 1000
    made = prompt_for(place)
    assert token_count.count(made.text) <= 700
    assert made.tokens >= token_count.count(made.text)
    assert f"Go {text[0][:40]}" in made.text
    assert written.path in made.text
    assert "what is cut here" in made.text


def test_a_project_has_templates_of_its_own(place: Place) -> None:
    """Own templates replace the shipped ones; their documents are checked by the same rules."""
    own = place.workspace.state_root / "templates"
    (own / "successor.md.j2").write_text("Do {{ action }}\n", encoding="utf-8")
    (own / "handoff.md.j2").write_text("## Immediate Next Action\n\n{{ action }}\n", encoding="utf-8")
    assert "'## Current State' is missing" in refusal(lambda: new(place)).message
    (own / "handoff.md.j2").unlink()
    new(place)
    assert prompt_for(place).text == f"Do {FULL.action}\n"


@pytest.mark.parametrize("word", ["word ", "\u6f22\u5b57 "])
def test_a_draft_of_much_still_fits(place: Place, word: str) -> None:
    """A draft of any number and length of entries, in any script, fits one screen and keeps each reason."""
    long = word * 200
    place.add(
        *(f"Decided on {number} {long}: {long}" for number in range(9)), state=long, next=(f"{long} in `app.py`",)
    )
    for number in range(9):
        phases.record_attempt(place.workspace, "101", "3", (f"{number} {long}", f"failed: {long}"), place.request())
    for number in range(3):
        move_on(place, f"{number} {long}")
        written = new(place, Handoff(location="line 1", decisions=(f"{number}: one more",)), draft=True)
        assert written.path, written.missing
        assert codes(place) <= {"TS501", "TS504"}
        said = HandoffReader(parse(written.text)).handoff
        assert (len(said.decisions), len(said.avoid)) == (6, 5)
        accept(place)
