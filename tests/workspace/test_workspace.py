from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from taskstate.storage import files, journal
from taskstate.storage.git import client as git
from taskstate.workspace import task_index
from taskstate.workspace.workspace import find_workspace, require_set_up
from taskstate.writing.startup import recover
from tests.support.crashing import leave_plan
from tests.support.place import TASK, Place, refusal

STATE = '---\ntaskstate: 1\ntask_id: "{0}"\ntitle: T\nstatus: created\n---\n\n# Task #{0}: T - State\n'


@pytest.fixture
def place(tmp_path: Path) -> Place:
    """Return a repository with task 101."""
    return Place(tmp_path / "repository")


def put(root: Path, name: str, text: str = "") -> Path:
    """Write a file under `root`, with its folders."""
    path = root / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


def state_file(place: Place, name: str, task_id: str = "7") -> Path:
    """Write a small state file."""
    return put(place.root, name, STATE.format(task_id))


def shown(place: Place, *paths: Path) -> list[str]:
    """Return paths from the repository's root."""
    return [path.relative_to(place.root).as_posix() for path in paths]


# Finding tasks


@pytest.mark.parametrize(
    "name", [".taskstate/tasks/task-aB-1-state.md", "docs/deep/task-aB-1-state.md", "task-aB-1-state.md"]
)
@pytest.mark.parametrize("task_id", ["aB-1", "ab-1", "AB-1"])
def test_task_is_found_wherever_it_stands_and_in_any_case(place: Place, name: str, task_id: str) -> None:
    """A state file anywhere in the repository is found by its id, whose case does not matter."""
    path = state_file(place, name, "aB-1")
    assert place.workspace.locate(task_id) == path


def test_several_files_with_one_id_are_told(place: Place) -> None:
    """Two state files with the same id are an error that names both."""
    state_file(place, "a/task-x-state.md", "x")
    state_file(place, "b/task-X-state.md", "X")
    error = refusal(lambda: place.workspace.locate("x"))
    assert error.code == "duplicate-id"
    assert "a/task-x-state.md, b/task-X-state.md" in error.message


def test_file_in_the_state_folder_goes_before_another(place: Place) -> None:
    """The file in the state folder is the task's, even if there are copies elsewhere."""
    state_file(place, "backup/task-101-state.md", "101")
    assert place.workspace.locate("101") == place.path


def test_unknown_task_is_not_found(place: Place) -> None:
    """An unknown task is an error that names the command which lists the tasks."""
    error = refusal(lambda: place.workspace.locate("999"))
    assert error.code == "not-found"
    assert "taskstate list" in error.help


def test_state_file_that_is_a_link_is_refused(place: Place, tmp_path: Path) -> None:
    """A state file that is a link is not followed."""
    (place.path.parent / "task-7-state.md").symlink_to(tmp_path / "elsewhere")
    assert refusal(lambda: place.workspace.locate("7")).code == "is-link"


def test_state_files_are_in_natural_order(place: Place) -> None:
    """9 comes before 10, whatever folders the files are in."""
    for name in ("z/task-9-state.md", "a/task-10-state.md", ".taskstate/tasks/task-101a-state.md"):
        state_file(place, name)
    assert [path.name.split("-")[1] for path in place.workspace.state_files()] == ["9", "10", "101", "101a"]


def test_other_types_are_no_state_files(place: Place) -> None:
    """Archives, handoffs, impact maps and progress files are our own files, and no tasks."""
    for name in (
        "archives/task-1-archive.md",
        "tasks/task-1-impact-map.json",
        "handoffs/task-1/phase-1-progress.json",
        "handoffs/task-1/phase-1-handoff-20260101T000000Z.md",
    ):
        put(place.root, f".taskstate/{name}")
    put(place.root, ".taskstate/tasks/notes.md")
    assert len(place.workspace.own_files()) == 5
    assert shown(place, *place.workspace.state_files()) == [".taskstate/tasks/task-101-state.md"]


def test_derived_files_and_other_projects_are_left_out(place: Place) -> None:
    """Without git, what is derived or somebody else's is not searched, but a folder of such a name elsewhere is."""
    for folder in (".taskstate/artifacts/task-1", ".taskstate/private", "node_modules/x", ".venv/x", ".git/x"):
        state_file(place, f"{folder}/task-7-state.md")
    assert len(place.workspace.state_files()) == 1
    state_file(place, "private/task-8-state.md", "8")
    state_file(place, ".taskstate/tasks/private/task-9-state.md", "9")
    assert [path.name for path in place.workspace.state_files()] == [
        "task-8-state.md",
        "task-9-state.md",
        "task-101-state.md",
    ]


def test_excluded_files_are_none_of_ours(place: Place) -> None:
    """What the configuration excludes is neither found nor listed."""
    place.configure('exclude = ["tests/**", "*.old/*"]\n')
    state_file(place, "tests/data/task-7-state.md")
    state_file(place, "x.old/task-7-state.md")
    assert refusal(lambda: place.workspace.locate("7")).code == "not-found"
    assert place.workspace.own_files() == (place.path,)
    assert not place.workspace.excludes(Path("/elsewhere/tests/task-7-state.md"))


def test_git_says_what_belongs_to_the_repository(repository: Path) -> None:
    """With git, ignored files are left out, but for those in the state folder, and deleted ones are gone."""
    place = Place(repository)
    put(repository, ".gitignore", "build/\n.taskstate/\n")
    for name in ("build/task-1-state.md", "docs/task-2-state.md", "caf\u00e9 \u2028/task-3-state.md"):
        state_file(place, name)
    gone = state_file(place, "task-4-state.md")
    subprocess.run(["git", "add", "--all"], cwd=repository, check=True)
    gone.unlink()
    at = place.workspace
    assert [path.name for path in at.state_files()] == ["task-2-state.md", "task-3-state.md", "task-101-state.md"]
    assert at.own_files(under=at.state_root) == at.own_files(under=at.tasks) == (place.path,)
    assert [path.name for path in at.own_files(under=repository / "docs")] == ["task-2-state.md"]


# Loading


def test_loaded_file_tells_its_token(place: Place) -> None:
    """The token is the revision and the beginning of the hash of the bytes."""
    loaded = place.workspace.load(place.path)
    assert loaded.token == f"1-{files.digest(place.path.read_bytes())[:8]}"
    assert loaded.relative == ".taskstate/tasks/task-101-state.md"


@pytest.mark.parametrize(("data", "at"), [(b"ab\xff", 2), (b"\xc3", 0), (b"\xed\xa0\x80", 0)])
def test_file_that_is_not_utf8_is_refused_with_the_offset(place: Place, data: bytes, at: int) -> None:
    """For a file that is not UTF-8 the error has the position of its first wrong byte."""
    place.path.write_bytes(data)
    error = refusal(lambda: place.workspace.load(place.path))
    assert error.code == "not-utf8"
    assert f"byte {at} is 0x{data[at]:02x}" in error.message


def test_file_without_an_id_has_that_of_its_name(place: Place) -> None:
    """A file without a task_id has the id in its name."""
    place.text = place.text.replace('task_id: "101"\n', "")
    assert place.workspace.load(place.path).state.id == TASK
    place.add()
    assert place.numbers() == [(1, False)]


def test_path_outside_of_the_repository_is_refused(place: Place, tmp_path: Path) -> None:
    """A path outside of the repository has no relative path."""
    assert refusal(lambda: place.workspace.relative(tmp_path / "x")).code == "path-escapes"


# What a killed command left


def test_settling_finishes_it_too(place: Place) -> None:
    """A command that only reads also finishes an interrupted change."""
    one, other = (f".taskstate/archives/task-{number}-archive.md" for number in (102, 103))
    plan = (journal.Create(one, b"a"), journal.Create(other, b"b"))
    leave_plan(place.workspace.private, plan)
    (message,) = recover(place.workspace)
    assert f"{one}, {other}" in message
    assert (place.root / other).read_bytes() == b"b"
    assert recover(place.workspace) == ()


# Finding the repository


def test_nearest_configuration_upwards_is_the_root(tmp_path: Path) -> None:
    """Of several folders with a configuration, the nearest one counts."""
    put(tmp_path, "taskstate.toml", 'root = "outer"\n')
    put(tmp_path, "a/pyproject.toml", '[tool.taskstate]\nroot = "inner"\n')
    put(tmp_path, "a/b/pyproject.toml", '[project]\nname = "taskstate-user"\n')
    (tmp_path / "a/b/c").mkdir()
    found = find_workspace(tmp_path / "a/b/c")
    assert (found.root, found.config.root) == (tmp_path / "a", "inner")
    assert found.state_root == tmp_path / "a" / "inner"


def test_state_folder_is_enough(tmp_path: Path) -> None:
    """Without a configuration, the nearest folder with a state folder is the root."""
    (tmp_path / "a" / ".taskstate").mkdir(parents=True)
    (tmp_path / "a" / "b").mkdir()
    assert find_workspace(tmp_path / "a" / "b").root == tmp_path / "a"


def test_git_repository_is_the_last_resort(repository: Path) -> None:
    """In a repository that is not set up, the root is that of the git repository."""
    (repository / "a" / "b").mkdir(parents=True)
    assert find_workspace(repository / "a" / "b").root == repository


def test_folder_itself_where_there_is_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without git, configuration and state folder, the folder itself is the root."""
    monkeypatch.setattr(git, "toplevel", lambda _: None)
    assert find_workspace(tmp_path).root == tmp_path


def test_only_what_lies_beside_is_looked_at_where_there_is_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where no repository says how far it reaches, nothing below the folder is searched, unless its user names it."""
    monkeypatch.setattr(git, "toplevel", lambda _: None)
    put(tmp_path, "task-1-state.md", "")
    put(tmp_path, "home/task-2-state.md", "")
    workspace = find_workspace(tmp_path)
    both = (tmp_path / "home/task-2-state.md", tmp_path / "task-1-state.md")
    assert workspace.own_files() == both[1:]
    assert [*task_index.state_files(workspace).marks] == ["task-1-state.md"]
    assert workspace.own_files(tmp_path / "home") == both[:1]
    assert find_workspace(tmp_path, root=str(tmp_path)).own_files() == both
    put(tmp_path, "taskstate.toml", "")
    assert find_workspace(tmp_path).own_files() == both


def test_taskstate_toml_goes_before_pyproject(tmp_path: Path) -> None:
    """Of two configurations in one folder, our own file counts."""
    put(tmp_path, "taskstate.toml", 'root = "one"\n')
    put(tmp_path, "pyproject.toml", '[tool.taskstate]\nroot = "two"\n')
    assert find_workspace(tmp_path).config.root == "one"


def test_named_root_is_taken_as_it_is(tmp_path: Path) -> None:
    """A given root is used without a search upwards."""
    put(tmp_path, "taskstate.toml", 'root = "outer"\n')
    (tmp_path / "a").mkdir()
    found = find_workspace(tmp_path, root=str(tmp_path / "a"))
    assert (found.root, found.config.root) == (tmp_path / "a", ".taskstate")


def test_named_configuration(tmp_path: Path) -> None:
    """A given configuration file is used, and its folder is the root unless another is given."""
    path = put(tmp_path, "a/other.toml", 'root = "x"\n')
    found = find_workspace(tmp_path, config_file=str(path))
    assert (found.root, found.config.root) == (tmp_path / "a", "x")
    assert find_workspace(tmp_path, root=str(tmp_path), config_file=str(path)).root == tmp_path


def test_links_on_the_way_are_followed(place: Place, tmp_path: Path) -> None:
    """A repository that is reached through a link is the same repository."""
    (tmp_path / "link").symlink_to(place.root)
    assert find_workspace(tmp_path / "link" / ".taskstate" / "tasks").root == place.root


@pytest.mark.parametrize(
    "text",
    ["root = \n", 'roots = "x"\n', "[size]\nmax-kb = 0\n", 'root = "../x"\n', 'root = "/x"\n', "[lint]\nselect = 1\n"],
)
def test_wrong_configuration_is_refused(tmp_path: Path, text: str) -> None:
    """A configuration that is wrong is one clear error with its file's name."""
    put(tmp_path, "taskstate.toml", text)
    error = refusal(lambda: find_workspace(tmp_path))
    assert error.code == "config"
    assert error.message.startswith("taskstate.toml")
    assert "\n" not in str(error)


def test_configuration_that_is_not_utf8_is_refused(tmp_path: Path) -> None:
    """A configuration that cannot be read is an error."""
    (tmp_path / "taskstate.toml").write_bytes(b"# \xff\n")
    assert refusal(lambda: find_workspace(tmp_path)).code == "config"


@pytest.mark.parametrize(("root", "config_file"), [("none", ""), ("", "none")])
def test_missing_root_or_configuration_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, root: str, config_file: str
) -> None:
    """A given root or configuration must exist."""
    monkeypatch.chdir(tmp_path)
    error = refusal(lambda: find_workspace(tmp_path, root=root, config_file=config_file))
    assert error.code == "not-found"
    assert "none" in error.message


def test_state_folder_that_leads_outside_is_refused(tmp_path: Path) -> None:
    """A state folder that is a link out of the repository is not written to."""
    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()
    (tmp_path / "a" / ".taskstate").symlink_to(tmp_path / "b")
    assert refusal(lambda: find_workspace(tmp_path / "a").state_root).code == "path-escapes"


def test_repository_that_is_not_set_up_is_refused(tmp_path: Path, place: Place) -> None:
    """Without a state folder the error names the command that creates it."""
    error = refusal(lambda: require_set_up(find_workspace(tmp_path, root=str(tmp_path))))
    assert error.code == "not-set-up"
    assert "taskstate init" in error.help
    require_set_up(place.workspace)


def test_workspace_is_a_value(place: Place) -> None:
    """Two workspaces of one repository are equal."""
    assert place.workspace == place.workspace
    assert hash(place.workspace.tasks) == hash(place.workspace.state_root / "tasks")
