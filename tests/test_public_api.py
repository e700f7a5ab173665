from __future__ import annotations

import re
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

import taskstate
from taskstate.tasks.feature_proofs import CommandFailed
from tests.support.place import Place, refusal
from tests.test_architecture import HEAVY

if TYPE_CHECKING:
    from pathlib import Path


def test_a_public_name_is_the_one_its_module_defines() -> None:
    """Each name that the package exports is the definition of that name in its module."""
    names = [name for name in taskstate.__all__ if name != "__version__"]
    assert [getattr(taskstate, name).__name__ for name in names] == names


def test_a_document_can_be_read_and_changed_with_the_public_names_alone() -> None:
    """Parse, read, edit and apply are enough for a program that changes a file."""
    text = '---\ntask_id: "7"\n---\n\n# A\n'
    state = taskstate.read_state(taskstate.parse(text))
    assert state.id == "7"
    assert taskstate.apply(text, [taskstate.Edit(len(text), len(text), "b\n")]) == text + "b\n"


def test_an_unknown_name_is_an_attribute_error() -> None:
    """A name that the package does not have is refused as in every module."""
    with pytest.raises(AttributeError, match="nonsense"):
        taskstate.nonsense  # noqa: B018 - asking is the test


def imported_by(code: str, folder: Path) -> set[str]:
    """Return the modules that a program imports, as `-X importtime` tells them."""
    command = [sys.executable, "-X", "importtime", "-c", code]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=True)
    return {line.rpartition("|")[2].strip() for line in done.stderr.splitlines()}


def test_importing_the_package_loads_no_other_module(repository: Path) -> None:
    """`import taskstate` loads the version, and of the package nothing else that any module would not load."""
    names = imported_by("import taskstate", repository)
    assert {name for name in names if name.startswith("taskstate")} == {
        "taskstate",
        "taskstate.typed",
        "taskstate.version",
    }


def test_a_program_loads_only_the_parts_that_it_uses(repository: Path) -> None:
    """Reading a task loads no heavy library, and nothing of the linter, of turns or of the command line."""
    Place(repository)
    names = imported_by("import taskstate; taskstate.open_repository().read('101')", repository)
    assert "taskstate.model.task_state" in names
    assert {name.split(".")[0] for name in names} & HEAVY == set()
    unused = ("taskstate.lint", "taskstate.turn", "taskstate.cli", "taskstate.permanent", "taskstate.workflow")
    assert [name for name in sorted(names) if name.startswith(unused)] == []


def test_the_names_are_listed_before_they_are_imported() -> None:
    """An editor that completes names finds them all."""
    assert set(taskstate.__all__) <= set(dir(taskstate))


def test_a_repository_that_is_not_set_up_is_refused(repository: Path) -> None:
    """Every method but `set_up` and `lint` says so, as the commands do."""
    opened = taskstate.open_repository(repository)
    assert refusal(lambda: opened.read("101")).code == "not-set-up"
    assert refusal(lambda: opened.archive("101")).code == "not-set-up"
    assert refusal(lambda: opened.start("101")).code == "not-set-up"


def test_a_folder_that_is_not_there_is_refused(tmp_path: Path) -> None:
    """Its name is in the message."""
    assert "nowhere" in refusal(lambda: taskstate.open_repository(tmp_path / "nowhere")).message


def test_a_damaged_task_is_not_read_as_an_empty_one(repository: Path) -> None:
    """Reading a file with merge conflicts is refused; the linter finds it, and a write changes nothing."""
    place = Place(repository)
    place.text = place.text.replace("## 2.", "<<<<<<< ours\n=======\n>>>>>>> theirs\n\n## 2.", 1)
    before, opened = place.text, taskstate.open_repository(repository)
    assert refusal(lambda: opened.read("101")).code == "damaged"
    session = taskstate.NewSession(did=("x",), state="y", next=("z",))
    assert refusal(lambda: opened.add_session("101", session)).code == "damaged"
    assert "TS007" in {finding.diagnostic.code for finding in opened.lint().findings}
    assert place.text == before


def test_what_another_program_wrote_meanwhile_is_not_overwritten(repository: Path) -> None:
    """A write with the token of an older text is refused."""
    place = Place(repository)
    opened = taskstate.open_repository(repository, actor="a program")
    conditional = opened.writing(expect=opened.load("101").token)
    assert conditional.pass_feature("101", "jwt-1", evidence="seen").changed
    assert refusal(lambda: conditional.pass_feature("101", "jwt-1", evidence="seen")).code == "revision"
    assert "updated_by: a program" in place.text


@pytest.mark.parametrize("proofs", [{}, {"evidence": "seen", "command": "true"}])
def test_a_feature_needs_one_proof(repository: Path, proofs: dict[str, str]) -> None:
    """No proof and two proofs are refused alike."""
    Place(repository)
    opened = taskstate.open_repository(repository)
    assert refusal(lambda: opened.pass_feature("101", "jwt-1", **proofs)).code == "usage"


def test_a_command_that_fails_proves_nothing(repository: Path) -> None:
    """The error has the end of the log, and the feature stays open."""
    place = Place(repository)
    opened = taskstate.open_repository(repository)
    with pytest.raises(CommandFailed) as caught:
        opened.pass_feature("101", "jwt-1", command="echo broken; exit 3")
    assert caught.value.tail == "broken"
    checklist = place.state.checklist
    assert checklist is not None
    assert [feature.id for feature in checklist.open] == ["jwt-1"]
    assert opened.fail_feature("101", "jwt-1", evidence="broken").changed


def test_archiving_keeps_a_session(repository: Path) -> None:
    """As on the command line, at least one stays in the state file."""
    Place(repository)
    assert refusal(lambda: taskstate.open_repository(repository).archive("101", keep=0)).code == "usage"


def test_linting_a_path_from_any_folder(repository: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A path is that of the working folder; a configuration that names no rule is refused."""
    place = Place(repository)
    monkeypatch.chdir(place.path.parent)
    opened = taskstate.open_repository()
    assert opened.lint(place.path.name).files == 1
    assert opened.lint().files == 1
    assert opened.lint(against="nonsense").unreadable
    place.configure('[lint]\nselect = ["TS9999"]\n')
    assert refusal(lambda: taskstate.open_repository().lint()).code == "config"


def test_what_a_program_writes_is_what_the_command_writes(tmp_path: Path) -> None:
    """The same feature, passed through the API and through the command line, gives the same file but for the time."""
    by_program, by_command = Place(tmp_path / "a"), Place(tmp_path / "b")
    taskstate.open_repository(by_program.root, actor="x").pass_feature("101", "jwt-1", evidence="seen")
    command = [sys.executable, "-m", "taskstate", "feature", "pass", "101", "jwt-1", "--evidence", "seen"]
    subprocess.run([*command, "--actor", "x"], cwd=by_command.root, check=True, capture_output=True)
    now = re.compile(r"20\d\d-\d\d-\d\dT\d\d:\d\d:\d\dZ")
    assert now.sub("T", by_program.text) == now.sub("T", by_command.text)
