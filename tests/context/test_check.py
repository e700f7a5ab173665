"""Checks of a sealed context in a real git repository: what is found, and which differences are shown."""

from __future__ import annotations

import os
import subprocess
from functools import partial
from typing import TYPE_CHECKING, Any

import pytest

from taskstate.context import check as context_check
from taskstate.context import past_versions, seal_context
from taskstate.context import view as context_view
from taskstate.context.capture_plan import CaptureRequest
from taskstate.context.manifest import changed_exports, sources_of_parts
from taskstate.lint import engine, fixer
from taskstate.lint.queries.answers import RepositoryQueries
from taskstate.model.static_context import read_static, static_text
from taskstate.model.write_metadata import front_matter_values
from taskstate.storage.git import client as git
from taskstate.tasks import checklist
from taskstate.workspace.workspace import find_workspace
from tests.context.test_seal_context import NAME, SETTINGS, STANDARD, TASK_FILE, block, by_hand, made_from, write
from tests.support.place import TASK, Place, refusal

if TYPE_CHECKING:
    from pathlib import Path

    from taskstate.context.check import ContextFinding
    from taskstate.writing.change import Request


@pytest.fixture
def place(repository: Path) -> Place:
    """Return a git repository with a sealed task 101; the state file is not committed yet."""
    found = Place(repository)
    write(found, "standards/backend.md", STANDARD)
    write(found, "taskstate.toml", SETTINGS)
    made_from(found, TASK_FILE)
    commit(found)
    seal_context.init(found.workspace, TASK, CaptureRequest(), request(found))
    return found


def commit(place: Place) -> None:
    """Commit everything."""
    for command in (("add", "-A"), ("commit", "--quiet", "--no-verify", "-m", "x")):
        subprocess.run(["git", *command], cwd=place.root, check=True, stdin=subprocess.DEVNULL)


def request(place: Place) -> Request:
    """Return a request with the present commit."""
    plain = place.request()
    return plain._replace(metadata=plain.metadata._replace(git_head=git.head(place.root)))


def findings(place: Place) -> tuple[ContextFinding, ...]:
    """Return the findings of a check, and assert that the lint rules find the same."""
    found = context_check.check(place.workspace, TASK).findings
    queries = RepositoryQueries(place.checking().repository, place.path)
    diagnostics = engine.check(place.text, place.path.name, place.workspace.config, queries)
    codes = {each.code for each in diagnostics if "TS601" <= each.code <= "TS605" and each.code != "TS603"}
    assert codes == {finding.code for finding in found if finding.code}
    return found


def test_all_holds(place: Place) -> None:
    """Right after sealing, and after committing our own files, nothing is found; criteria may be checked off."""
    assert findings(place) == ()
    place.check(1)
    subprocess.run(["git", "add", ".taskstate"], cwd=place.root, check=True, stdin=subprocess.DEVNULL)
    subprocess.run(["git", "commit", "-qm", "state"], cwd=place.root, check=True, stdin=subprocess.DEVNULL)
    assert findings(place) == ()
    assert context_view.check_text(context_check.check(place.workspace, TASK)).endswith(": the context holds")


def test_base_commit_is_kept(place: Place) -> None:
    """The base commit is HEAD or the given one; a name of no commit is refused."""
    assert f'delta: {{base_commit: "{git.head(place.root)}"}}' in place.text
    first = git.head(place.root)
    for bad in ("--all", "nothing", "HEAD:standards"):
        wanted = CaptureRequest(base_commit=bad)
        error = refusal(partial(seal_context.init, place.workspace, TASK, wanted, place.request()))
        assert error.code == "unknown-commit"
    write(place, "x", "y")
    by_hand(place, area="backend", priority="P1")
    commit(place)
    seal_context.init(place.workspace, TASK, CaptureRequest(base_commit="HEAD~1"), request(place))
    assert f'delta: {{base_commit: "{first}"}}' in place.text
    assert "git_head" not in block(place)


def test_a_dirty_tree_is_noted(place: Place) -> None:
    """Changed files are named in a note, and sealing goes on; our own files do not count."""
    assert (
        seal_context.rebuild(place.workspace, TASK, CaptureRequest(), request(place))
        .outcome.notes[-1]
        .startswith("the task is")
    )
    for number in range(7):
        write(place, f"src/{number}.py", "x")
    notes = seal_context.rebuild(place.workspace, TASK, CaptureRequest(), request(place)).outcome.notes
    wanted = "the working tree is not clean: src/0.py, src/1.py, src/2.py, src/3.py, src/4.py and 2 more"
    assert notes[-1] == wanted


def test_a_changed_section_is_shown_line_by_line(place: Place) -> None:
    """The sealed version is found among the kept copies or in git, or is rebuilt from the sources."""
    place.text = place.text.replace("Keys rotate.", "Keys stay.")
    (found,) = findings(place)
    assert found.message == "section 1 is not as it was sealed"
    lines = ("-Issue and verify tokens. Keys rotate.", "+Issue and verify tokens. Keys stay.")
    assert [line for line in found.diff if line[0] in "+-"] == list(lines)
    place.forget()
    assert findings(place)[0].diff == found.diff  # from the sources
    write(place, NAME, TASK_FILE.replace("Keys rotate.", "Other."))
    assert findings(place)[0].diff == ()
    assert "in no version that can be found" in findings(place)[0].message
    place.text = place.text.replace("Keys stay.", "Keys rotate.")
    commit(place)
    place.text = place.text.replace("Keys rotate.", "Keys stay.")
    place.forget()
    assert findings(place)[0].diff == found.diff  # from git


def test_a_changed_title(place: Place) -> None:
    """Where section 1 is unchanged, the sealed front matter value that changed is named."""
    place.text = place.text.replace("title: JWT Service", "title: Tokens").replace(
        "JWT Service - State", "Tokens - State"
    )
    (found,) = findings(place)
    assert found.message == "title (JWT Service then, Tokens now) is not as it was sealed"
    assert found.diff == ()


def test_a_stale_citation_is_shown_line_by_line(place: Place) -> None:
    """The cited lines are shown as they were if git has them; otherwise only the hashes are."""
    write(place, "standards/backend.md", STANDARD.replace("75", "50"))
    (found,) = findings(place)
    assert found.message.startswith("standards/backend.md#handlers has changed since it was cited (aa1e9efb")
    changed = ["-Handlers stay under 75 lines. More follows.", "+Handlers stay under 50 lines. More follows."]
    assert [line for line in found.diff if line[0] in "+-"] == changed
    place.text = place.text.replace('"aa1e9efb340edca8"', '"0000000000000000"')
    assert next(each for each in findings(place) if each.code == "TS602").diff == ()


def test_secrets_are_masked_in_differences(place: Place) -> None:
    """A diff never shows what looks like a credential."""
    write(place, "standards/backend.md", STANDARD.replace("75", "AKIA" + "QWERTYUIOPASDFGH"))
    (found,) = findings(place)
    assert "QWERTY" not in "".join(found.diff)
    assert any(line.startswith("+Handlers stay under ") for line in found.diff)


@pytest.mark.parametrize("gone", ["file", "heading", "link"])
def test_a_citation_of_nothing(place: Place, tmp_path: Path, gone: str) -> None:
    """A missing file or heading is reported, with the nearest heading; a link that leads out counts as missing."""
    path = place.root / "standards/backend.md"
    if gone == "heading":
        write(place, "standards/backend.md", STANDARD.replace("## Handlers", "## Handling"))
        (found,) = findings(place)
        assert found.help == "did you mean standards/backend.md#handling?"
        return
    path.unlink()
    if gone == "link":
        (tmp_path / "outside.md").write_text(STANDARD, encoding="utf-8")
        path.symlink_to(tmp_path / "outside.md")
    assert [finding.code for finding in findings(place)] == ["TS602", "TS602"]


def test_a_changed_task_file(place: Place) -> None:
    """A changed task file is shown with its diff if git has the old one; other line ends are no change."""
    write(place, NAME, TASK_FILE.replace("\n", "\r\n"))
    assert findings(place) == ()
    write(place, NAME, TASK_FILE.replace("Keys rotate", "Keys turn"))
    (found,) = findings(place)
    assert (found.code, "+  Keys turn." in found.diff, "-  Keys rotate." in found.diff) == ("TS604", True, True)
    (place.root / NAME).unlink()
    assert findings(place)[0].help.endswith("--from FILE`")


def test_what_was_committed_since_the_base_is_told(place: Place) -> None:
    """It is a note and no finding, since it may be the work itself; our own files do not count."""
    base = front_matter_values(place.state.document)["delta"]["base_commit"]  # type: ignore[index]  # any front matter
    commit(place)
    assert context_check.check(place.workspace, TASK).notes == ()
    write(place, "src/auth/jwt.py", "x = 1\n")
    commit(place)
    checked = context_check.check(place.workspace, TASK)
    assert checked.findings == ()
    assert checked.notes == (f"1 file committed since the base {base[:10]}: src/auth/jwt.py",)


def test_a_criterion_that_was_sealed_is_reworded_with_a_note(place: Place) -> None:
    """Its check goes, an event says why; without a note nothing changes, and other criteria keep their checks."""
    seal_context.rebuild(place.workspace, TASK, CaptureRequest(), request(place))
    criteria = [each.text for each in place.state.criteria]
    for number in (1, 2):
        checklist.set_criterion(place.workspace, TASK, number, place.request(), checked=True)
    write(place, NAME, TASK_FILE.replace(criteria[0], "Anything at all"))
    before = place.text
    error = refusal(partial(seal_context.rebuild, place.workspace, TASK, CaptureRequest(), place.request()))
    assert (error.code, place.text == before) == ("note", True)
    assert "--note" in error.help
    wanted = CaptureRequest(note="agreed with Ann")
    seal_context.rebuild(place.workspace, TASK, wanted, place.request())
    assert [(each.text, each.checked) for each in place.state.criteria[:2]] == [
        ("Anything at all", False),
        (criteria[1], True),
    ]
    values: Any = front_matter_values(place.state.document)
    event = values["audit"]["events"][-1]
    assert (event["event"], event["note"]) == ("context-rebuilt", "agreed with Ann")
    assert (event["criteria"], event["now"]) == ([criteria[0]], ["Anything at all"])


def test_a_criterion_that_a_hand_reworded_is_unchecked_as_well(place: Place) -> None:
    """The check was of other words; a note is wanted, although the file already says so."""
    criterion = place.state.criteria[0].text
    checklist.set_criterion(place.workspace, TASK, 1, place.request(), checked=True)
    place.text = place.text.replace(f"- [x] {criterion}", "- [x] Anything at all")
    write(place, NAME, TASK_FILE.replace(criterion, "Anything at all"))
    error = refusal(partial(seal_context.rebuild, place.workspace, TASK, CaptureRequest(), place.request()))
    assert error.code == "note"
    seal_context.rebuild(place.workspace, TASK, CaptureRequest(note="it is easier"), place.request())
    assert "- [ ] Anything at all\n" in place.text


def test_a_new_criterion_needs_no_note(place: Place) -> None:
    """What was sealed stays as it was."""
    write(place, NAME, TASK_FILE.replace("acceptance_criteria:\n", "acceptance_criteria:\n  - One more\n"))
    seal_context.rebuild(place.workspace, TASK, CaptureRequest(), place.request())
    assert "One more" in [each.text for each in place.state.criteria]


def test_standards_that_the_configuration_adds(place: Place) -> None:
    """A standard that was added to the configuration is reported as not cited."""
    cite = '[[standards]]\ncite = ["standards/backend.md#layers-1"]\n'
    write(place, "taskstate.toml", f"{SETTINGS}\n{cite}")
    (found,) = findings(place)
    assert found.message == "taskstate.toml asks this task to cite standards/backend.md#layers-1"


def test_an_unsealed_task_cannot_be_checked(place: Place) -> None:
    """Without a seal there is nothing to check."""
    by_hand(place)
    assert refusal(lambda: context_check.check(place.workspace, TASK)).code == "not-sealed"
    assert refusal(lambda: context_view.shape(place.workspace.load(place.path))).code == "not-sealed"


# Spans


def test_a_span_follows_its_section(place: Place) -> None:
    """`lint --fix` updates line spans in a sealed section and computes its seal again, and changes nothing else."""
    before = place.text
    write(place, "standards/backend.md", STANDARD.replace("# Backend\n", "# Backend\n\nMore.\n"))
    done = fixer.fix_file(place.checking(), place.path, request(place))
    assert done.notes == ("brought the spans of handlers, layers up to date, and sealed section 1 again",)
    assert findings(place) == ()
    wanted = before.replace('"L3-L5"', '"L5-L7"').replace('"L7-L9"', '"L9-L11"')
    assert place.text[place.text.index("## 1.") :] == wanted[wanted.index("## 1.") :]
    assert {**block(place), "seal": ""} == {**_block_of(before), "seal": ""}
    assert fixer.fix_file(place.checking(), place.path, request(place)).changed is False


def _block_of(text: str) -> dict[str, object]:
    from taskstate.syntax.document import parse

    return dict(parse(text).front_matter["context"])


def test_a_broken_seal_stays_broken(place: Place) -> None:
    """Where the seal is broken, line spans are updated and the seal stays broken."""
    place.text = place.text.replace("Keys rotate.", "Keys stay.")
    write(place, "standards/backend.md", "\n" + STANDARD)
    seal = block(place)["seal"]
    done = fixer.fix_file(place.checking(), place.path, request(place))
    assert done.notes == ("brought the spans of handlers, layers up to date",)
    assert block(place)["seal"] == seal
    assert [finding.code for finding in findings(place)] == ["TS601"]


# What linting remembers


def test_remembered_findings_follow_the_sources(place: Place) -> None:
    """A change of a standard or of the task file is noticed although the state file did not change."""
    _age(place)
    assert _linted(place) == []
    assert _linted(place) == []
    write(place, "standards/backend.md", STANDARD.replace("75", "50"))
    assert _linted(place) == ["TS602"]
    write(place, "standards/backend.md", STANDARD)
    write(place, NAME, TASK_FILE + "# more\n")
    assert _linted(place) == ["TS604"]


def _linted(place: Place) -> list[str]:
    from taskstate.lint.runner import check_files

    checking = place.checking(remember=True)
    report = check_files([place.path], checking)
    if checking.cache:
        checking.cache.save()
    return sorted({finding.diagnostic.code for finding in report.findings} - {"TS104"})


def _age(place: Place) -> None:
    """Make all files older than the resolution of time stamps, so that the cache trusts these."""
    for path in place.root.rglob("*"):
        if path.is_file() and ".git" not in path.parts:
            os.utime(path, (1_700_000_000, 1_700_000_000))


# A task file that changed before the context was sealed


def fresh(place: Place, text: str = TASK_FILE) -> None:
    """Create task 101 from a task file, not sealed yet."""
    made_from(place, text)


def test_a_task_file_that_changed_since_new_counts(place: Place) -> None:
    """Unedited parts of section 1 follow the present task file; edited ones are kept."""
    fresh(place)
    place.text = place.text.replace("Keys rotate\n", "Keys rotate daily\n")
    new = TASK_FILE.replace("Keys rotate.", "Keys turn.").replace("Keys rotate\n", "Keys turn\n")
    write(place, NAME, new.replace("priority: P1", "priority: P0").replace("src/auth/**", "src/login/**"))
    notes = seal_context.init(place.workspace, TASK, CaptureRequest(), request(place)).outcome.notes
    told = read_static(place.state)
    assert told.description == "Issue and verify tokens. Keys turn."
    assert told.criteria == ("Tokens verify", "Keys rotate daily")
    assert told.paths[-2:] == ("src/login/**", "src/ui/**")
    assert place.state.text("priority") == "P0"
    assert notes[0] == (
        f"{NAME} has changed since the task was made from it: what it says now is taken where nobody changed section 1"
    )
    assert [note.partition(":")[0] for note in notes if ": kept" in note] == ["acceptance criteria"]
    assert findings(place) == ()


def test_a_change_without_an_old_version_in_git_stays_visible(place: Place) -> None:
    """If git does not have the original task file, section 1 is kept and the difference stays reported."""
    fresh(place, TASK_FILE.replace("Keys rotate.", "Keys spin."))
    write(place, NAME, TASK_FILE.replace("Keys rotate.", "Keys turn."))
    notes = seal_context.init(place.workspace, TASK, CaptureRequest(), request(place)).outcome.notes
    assert notes[0].endswith("git does not have what it said then: what section 1 says is kept")
    assert [note for note in notes if note.startswith("description: kept") and "context rebuild" in note]
    assert read_static(place.state).description == "Issue and verify tokens. Keys spin."
    assert [finding.code for finding in findings(place)] == ["TS604"]
    seal_context.rebuild(place.workspace, TASK, CaptureRequest(), request(place))
    assert read_static(place.state).description == "Issue and verify tokens. Keys turn."
    assert findings(place) == ()


def test_a_citation_that_new_copied_goes_with_the_task_file(place: Place) -> None:
    """A citation that `new` copied, with its requirement, follows the present task file."""
    fresh(place, f"{TASK_FILE}standards:\n- standards/backend.md#layers-1\n- standards/backend.md#backend\n")
    commit(place)
    write(place, NAME, f"{TASK_FILE}standards:\n- standards/backend.md#layers-1\n")
    seal_context.init(place.workspace, TASK, CaptureRequest(), request(place))
    assert [each["section"] for each in read_static(place.state).standards] == ["handlers", "layers", "layers-1"]


@pytest.mark.parametrize(
    ("old", "new", "then"),
    [("title: JWT Service", "title: Tokens", "JWT Service"), ("priority: P1", "priority: P0", "P1")],
)
def test_a_value_that_no_version_holds_is_guessed(place: Place, old: str, new: str, then: str) -> None:
    """The old title is found in the title line and the old priority by trying: the seal confirms both."""
    seal = block(place)["seal"]
    place.text = place.text.replace(f"\n{old}\n", f"\n{new}\n")
    values, text = front_matter_values(place.state.document), static_text(place.state.document) or ""
    found = past_versions.guess_sealed_version(place.state, values, text, seal)
    assert found
    assert found.values[old.partition(":")[0]] == then
    assert past_versions.guess_sealed_version(place.state, values, f"{text} more", seal) is None


def test_a_shallow_clone_gets_a_note(place: Place, tmp_path: Path) -> None:
    """If the repository lacks the base commit, a note says so."""
    commit(place)
    write(place, "src/b.py", "x = 2\n")
    commit(place)
    clone = tmp_path / "clone"
    command = ["git", "clone", "--quiet", "--depth", "1", f"file://{place.root}", str(clone)]
    subprocess.run(command, check=True, stdin=subprocess.DEVNULL)
    checked = context_check.check(find_workspace(clone, root=str(clone)), TASK)
    assert checked.findings == ()
    (note,) = checked.notes
    assert note.endswith(" is not here: git cannot tell what was committed since then")


# The exports


def test_an_export_that_somebody_changed_is_found_and_written_anew(place: Place) -> None:
    """The hash in the manifest tells; a rebuild is the cure, and one that is missing, as in another clone, is none."""
    folder = place.workspace.state_root / "artifacts" / "task-101"
    assert findings(place) == ()
    before = (folder / "context-reviewer.json").read_bytes()
    (folder / "context-reviewer.json").write_bytes(before + b" ")
    (folder / "context-validator.json").unlink()
    (found,) = context_check.check(place.workspace, TASK).findings
    assert (found.code, "context-reviewer.json was changed after it was written" in found.message) == ("", True)
    assert "taskstate context rebuild 101 --note" in found.help
    seal_context.rebuild(place.workspace, TASK, CaptureRequest(), request(place))
    assert (folder / "context-reviewer.json").read_bytes() == before
    assert (folder / "context-validator.json").exists()
    assert findings(place) == ()


def test_a_manifest_that_cannot_be_read_says_nothing(place: Place) -> None:
    """It is derived, and made anew by the next rebuild."""
    manifest = place.workspace.state_root / "artifacts" / "task-101" / "manifest.json"
    for text in ("{", "[]", '{"exports": 3, "parts": []}', '{"exports": [1, {"path": 2}, {"path": "../x"}]}'):
        manifest.write_text(text, encoding="utf-8")
        assert sources_of_parts(place.workspace, TASK) == {}
        assert [each for each in changed_exports(place.workspace, TASK) if each != "../x"] == []


def test_where_each_part_came_from_is_shown(place: Place) -> None:
    """The manifest keeps it, and what is shown of a sealed context names it."""
    parts = sources_of_parts(place.workspace, TASK)
    assert (parts["description"], parts["standards"]) == (NAME, "taskstate.toml")
    loaded = place.workspace.load(place.path)
    assert f"  description: {NAME}\n" in context_view.text(loaded, parts)
    assert "parts" not in context_view.text(loaded, {}).split("\n")
