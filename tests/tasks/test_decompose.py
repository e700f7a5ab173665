from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from taskstate.brief.brief import brief
from taskstate.lint.runner import check_files
from taskstate.model import chain, chain_quotes
from taskstate.model.static_context import read_static
from taskstate.model.task_state import TaskState, read_state
from taskstate.syntax.document import parse
from taskstate.tasks.decompose import decompose, suggest
from taskstate.views.overview import overview
from taskstate.views.status import next_step
from taskstate.views.task_list import list_tasks, listing
from tests.support.place import TASK, Place, changes, refusal, tree

if TYPE_CHECKING:
    from pathlib import Path

FEATURES = (("jwt-1", "makes a JWT"), ("jwt-2", "verifies it"), ("jwt-3", "rotates keys"), ("ui-1", "shows *a* form"))
OUTPUT = "### Summary\n\n*To be completed.*"


@pytest.fixture
def place(tmp_path: Path) -> Place:
    """Return a repository with task 101, of whose features one passes."""
    place = Place(tmp_path / "repository", features=FEATURES, priority="P1", area="web")
    place.prove("jwt-1")
    return place


def at(place: Place, task_id: str) -> TaskState:
    """Return what the state file of a task says."""
    return read_state(parse(place.workspace.locate(task_id).read_text(encoding="utf-8")))


def test_suggestion_changes_nothing(place: Place) -> None:
    """What is suggested is what would be created, and nothing is."""
    before = tree(place.root)
    suggestion = suggest(place.workspace, TASK)
    assert [(part.id, part.features) for part in suggestion.subtasks] == [
        ("101a", ("jwt-2", "jwt-3")),
        ("101b", ("ui-1",)),
    ]
    assert (suggestion.id, suggestion.path) == ("101", ".taskstate/tasks/task-101-state.md")
    assert tree(place.root) == before


def test_subtasks_are_created(place: Place) -> None:
    """A subtask has its parent, features, criteria and what the parent brought about, and lints clean in its form."""
    place.text = place.text.replace('"verifies it"', '"verifies it", "notes": "by RS256"')
    outcome = decompose(place.workspace, TASK, place.request())
    suggestion = outcome.result
    assert outcome.notes == (
        "task 101a, Verifies it and 1 more: jwt-2, jwt-3; about 4 sessions",
        "task 101b, Shows *a* form: ui-1; about 3 sessions",
    )
    assert [part.id for part in suggestion.subtasks] == ["101a", "101b"]
    state = at(place, "101a")
    assert (state.title, state.status, state.text("parent")) == (
        "JWT Service: Verifies it and 1 more",
        "created",
        "101",
    )
    assert (state.text("priority"), state.text("area"), state.depends_on) == ("P1", "web", ())
    assert [each.text for each in state.criteria] == ["jwt-2: verifies it", "jwt-3: rotates keys", "Tokens verify"]
    assert state.description
    assert "Issue tokens." in state.description
    assert state.checklist
    assert [each.node.value() for each in state.checklist.features] == [
        {"id": "jwt-2", "description": "verifies it", "passes": False, "tested_at": None, "notes": "by RS256"},
        {"id": "jwt-3", "description": "rotates keys", "passes": False, "tested_at": None},
    ]
    (pulled,) = chain.inputs_of(state.document)
    assert (pulled.id, pulled.revision) == ("101", 3)
    assert (
        chain_quotes.unquoted(pulled.quote.of(state.document.text)) == "### Features That Pass\n\n- jwt-1: makes a JWT"
    )
    assert [each.text for each in at(place, "101b").criteria] == ["ui-1: shows *a* form"]


def test_parent_keeps_its_features(place: Place) -> None:
    """In the parent nothing changes but where the open features went, its subtasks, and its progress."""
    before = place.text
    decompose(place.workspace, TASK, place.request())
    removed, added = changes(before, place.text)
    assert added.startswith('subtasks: ["101a", "101b"]\n')
    assert added.count('"moved_to": "101a"') == 2
    assert added.count('"moved_to": "101b"') == 1
    assert '"overall_progress": "25%"' in removed
    assert '"overall_progress": "100%"' in added
    assert place.state.revision == 3


def test_parent_says_where_its_features_went(place: Place) -> None:
    """What is shown of the parent names its subtasks, and where each feature and each step that names one went."""
    place.add(next=("Write `jwt-3`, then ui-1:\nit flickers", "Rest"))
    decompose(place.workspace, TASK, place.request())
    loaded = place.workspace.load(place.path)
    said = overview(loaded)
    assert "\n  divided into the tasks 101a, 101b\n" in said
    assert "\n    [x] jwt-1  makes a JWT\n    [ ] jwt-2  verifies it (moved to 101a)\n" in said
    assert "\n    - (moved to 101a, 101b) Write `jwt-3`, then ui-1:\n      it flickers\n    - Rest" in said
    assert next_step(loaded) == "(moved to 101a, 101b) Write `jwt-3`, then ui-1:"
    assert "- (moved to 101a, 101b) Write `jwt-3`, then ui-1:\n" in brief(place.workspace, loaded).text
    assert [each.split()[4] for each in listing(list_tasks(place.workspace)[0], 0).split("\n")[1:4]] == [
        "divided",
        "must",
        "must",
    ]


def test_everything_lints_clean(place: Place) -> None:
    """Parent and subtasks have no lint findings, also across files, and are in canonical form."""
    decompose(place.workspace, TASK, place.request())
    paths = place.workspace.state_files()
    assert len(paths) == 3
    assert check_files(paths, place.checking()).findings == ()


def test_output_so_far_is_handed_down(place: Place) -> None:
    """What the parent's Chain Output says already goes ahead of the features that pass; later it is pulled again."""
    place.text = place.text.replace(OUTPUT, "### Summary\n\nTokens are made.")
    decompose(place.workspace, TASK, place.request())
    document = at(place, "101b").document
    (pulled,) = chain.inputs_of(document)
    text = chain_quotes.unquoted(pulled.quote.of(document.text))
    assert text.startswith("### Summary\n\nTokens are made.\n\n### Features")


def test_static_context_and_words_of_the_log_go_along(place: Place) -> None:
    """Scope, standards, commands and paths are the parent's; in what is said, no character does harm."""
    standards = '```json\n[{"file": "a.md", "section": "A", "requirement": "Be short."}, {"file": 7}]\n```'
    scope = "### Scope\n\n**In:**\n\n- tokens\n\n**Out:**\n\n- forms\n\n### Acceptance"
    commands = '### Validation\n\n```json\n{"commands": ["make"]}\n```'
    more = f"### Standards\n\n{standards}\n\n{commands}\n\n### Repository Paths\n\n- `src/`\n\n## 2. Chain"
    place.text = place.text.replace("### Acceptance", scope).replace("## 2. Chain", more)
    place.add(state="# Keys rotate\n\n```\nby hand\n```", issues=("Keys: - a", "None"), next=("The form",))
    place.text = place.text.replace("Keys: - a", "Keys: \x1b[31m- a")
    decompose(place.workspace, TASK, place.request())
    static_part = read_static(at(place, "101a"))
    assert (static_part.scope_in, static_part.scope_out) == (("tokens",), ("forms",))
    assert (static_part.commands, static_part.paths) == (("make",), ("src/",))
    assert [each["file"] for each in static_part.standards] == ["a.md"]
    assert "Keys rotate" in static_part.description
    assert "- Issue of session 1: Keys: " in static_part.description
    assert "Next: The form" not in static_part.description
    assert "Next: The form" in read_static(at(place, "101b")).description


def test_what_archive_calls_open_goes_along(place: Place) -> None:
    """An issue of any session, archived ones too, goes to all parts where no word places it; none that is resolved."""
    issues = ("Zebras are striped", "One row is lost", "Answers hang", "Nights are short (fixed)", "The form flickers")
    place.add(issues=issues, state="Same", next=("Wait",))
    place.add("Resolved: One row is lost", "Fixed: answers hang")
    place.add(issues=("Ducks swim",))
    for archived in (False, True):
        if archived:
            place.archive(keep=1)
        diff = decompose(place.workspace, TASK, place.request(dry_run=True)).diff
        assert diff.count("Issue of session 1: Zebras are striped") == diff.count("Issue of session 3: Ducks swim") == 2
        assert diff.count("Issue of session 1: The form flickers") == 1
        assert diff.count("Issue of session") == 5
        assert diff.count("What was done and said in its sessions: `taskstate session list 101`.") == 2


def test_what_says_nothing_stays(place: Place) -> None:
    """Of state and next steps, what is empty of words does not go along."""
    place.add(state="Same as before. Unchanged.", next=("Same", "None", "5"))
    diff = decompose(place.workspace, TASK, place.request(dry_run=True)).diff
    assert ("State:" in diff, diff.count("Next:"), diff.count("Next: 5")) == (False, 2, 2)


def test_many_statements_are_named(place: Place) -> None:
    """Of a log that says very much the first statements go along, and the command that shows the others."""
    place.add(issues=("Zebras are striped",))
    place.add(next=tuple(f"Step {number} " + "of many words " * 10 for number in range(40)))
    decompose(place.workspace, TASK, place.request())
    description = at(place, "101a").description or ""
    assert "- Next: Step 0 of" in description
    assert "more: `taskstate session show 101 2`, `taskstate session show 101 1`" in description
    assert len(description) < 3_000


def test_nothing_brought_about_is_no_input(tmp_path: Path) -> None:
    """A parent that has nothing yet hands nothing down."""
    place = Place(tmp_path / "repository", features=FEATURES)
    decompose(place.workspace, TASK, place.request())
    assert chain.inputs_of(at(place, "101a").document) == ()


def test_long_description_is_not_repeated(place: Place) -> None:
    """A large description of the parent is named, and not copied into every subtask."""
    place.text = place.text.replace("Issue tokens.", "Issue tokens. " * 200)
    decompose(place.workspace, TASK, place.request())
    description = at(place, "101a").description
    assert description
    assert description.endswith("The purpose of the whole is in `.taskstate/tasks/task-101-state.md`.")


def test_line_ends_of_the_parent_stay(place: Place) -> None:
    """A file with CRLF keeps it; what is new has LF."""
    place.text = place.text.replace("\n", "\r\n")
    decompose(place.workspace, TASK, place.request())
    assert place.text.count("\n") == place.text.count("\r\n")
    assert b"\r" not in place.workspace.locate("101a").read_bytes()


def test_dry_run_creates_nothing(place: Place) -> None:
    """A dry run shows all files that would be written."""
    before = tree(place.root)
    outcome = decompose(place.workspace, TASK, place.request(dry_run=True))
    assert outcome.diff.count("--- /dev/null") == 2
    assert "+++ b/.taskstate/tasks/task-101-state.md" in outcome.diff
    assert tree(place.root) == before


def test_ids_that_other_files_bear_are_left_out(place: Place) -> None:
    """Neither a task nor what is left of one gets a subtask's name."""
    place.new("101A")
    (place.archive_path.parent / "task-101b-archive.md").write_text("# Task #101b Archive\n", encoding="utf-8")
    assert [part.id for part in suggest(place.workspace, TASK).subtasks] == ["101c", "101d"]


def test_features_that_come_later_are_moved_later(place: Place) -> None:
    """A second time only what is open since then moves, and the first subtasks stay named."""
    decompose(place.workspace, TASK, place.request())
    error = refusal(lambda: decompose(place.workspace, TASK, place.request()))
    assert (error.code, "101a, 101b" in str(error)) == ("nothing-open", True)
    place.text = place.text.replace(
        '"features": [', '"features": [\n{"id": "n", "description": "n", "passes": false, "tested_at": null},'
    )
    suggestion = decompose(place.workspace, TASK, place.request()).result
    assert [part.id for part in suggestion.subtasks] == ["101c"]
    assert 'subtasks: ["101a", "101b", "101c"]' in place.text


@pytest.mark.parametrize(
    ("old", "new", "code"),
    [
        ("status: created", "status: complete", "complete"),
        ("status: created", "status: created\nkind: permanent", "kind"),
        ('"features": [', '"features": [,', "unreadable"),
        ('"features": [', '"features": [7,', "unreadable"),
        ('"features"', '"x-features"', "unreadable"),
        ('"jwt-3"', '"jwt-2"', "duplicate-id"),
        ("status: created", "status: [", "damaged"),
        ("rotates keys", "\\u001b[31m", "control-characters"),
        ("## 3. Feature Checklist", "## 3. Other", "damaged"),
    ],
)
def test_what_cannot_be_divided_is_refused(place: Place, old: str, new: str, code: str) -> None:
    """A task that is complete, broken or none of features is refused, and nothing is changed."""
    assert old in place.text
    place.text = place.text.replace(old, new, 1)
    place.forget()  # else a section that the last write had would be missed, whatever the task is
    before = tree(place.root)
    assert refusal(lambda: decompose(place.workspace, TASK, place.request())).code == code
    assert tree(place.root) == before


def test_a_complete_task_is_reopened_first(place: Place) -> None:
    """The refusal names the command that takes it back to work."""
    place.text = place.text.replace("status: created", "status: complete", 1)
    refused = refusal(lambda: decompose(place.workspace, TASK, place.request()))
    assert refused.help == '`taskstate reopen 101 --note "WHY"` reopens it'


def test_template_without_a_checklist_is_refused(place: Place) -> None:
    """A project's own template that leaves the checklist out would lose the features: nothing is created."""
    templates = place.workspace.state_root / "templates"
    templates.mkdir(exist_ok=True)
    (templates / "task-state.md.j2").write_text("# Task #{{ task_id }}: {{ title }} - State\n", encoding="utf-8")
    before = tree(place.root)
    assert refusal(lambda: decompose(place.workspace, TASK, place.request())).code == "template"
    assert tree(place.root) == before


def test_id_without_room_for_a_letter_is_refused(tmp_path: Path) -> None:
    """A subtask whose id would be too long is refused, with advice."""
    place = Place(tmp_path / "repository", features=FEATURES)
    place.new("9" * 64)
    assert refusal(lambda: suggest(place.workspace, "9" * 64)).code == "bad-id"


def test_complete_parent_is_pulled_again(place: Place) -> None:
    """When the parent is complete, its subtasks are reported as stale, and can pull its output."""
    place.text = place.text.replace(OUTPUT, "### Summary\n\nTokens are made.")
    decompose(place.workspace, TASK, place.request())
    place.text = place.text.replace("status: created", "status: complete")
    codes = [
        result.diagnostic.code for result in check_files([place.workspace.locate("101a")], place.checking()).findings
    ]
    assert codes == ["TS904"]


def test_ids_of_files_that_are_left_out_are_taken(place: Place) -> None:
    """A file that the configuration excludes keeps its name too."""
    place.configure('exclude = ["**/task-101a-state.md"]\n')
    (place.path.parent / "task-101a-state.md").write_text("mine\n", encoding="utf-8")
    assert [part.id for part in decompose(place.workspace, TASK, place.request()).result.subtasks] == ["101b", "101c"]
