from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from taskstate import files, git, journal, sessions
from taskstate.errors import StaleFile
from taskstate.workspace import find_workspace, require_set_up
from taskstate.writing import Change, change, unified_diff
from tests.place import TASK, Place, refusal, tree

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
    """Where two state files bear one id, neither is taken, and both are named."""
    state_file(place, "a/task-x-state.md", "x")
    state_file(place, "b/task-X-state.md", "X")
    error = refusal(lambda: place.workspace.locate("x"))
    assert error.code == "duplicate-id"
    assert "a/task-x-state.md, b/task-X-state.md" in error.message


def test_file_in_the_state_folder_goes_before_another(place: Place) -> None:
    """The state folder's own file is the task, whatever copies lie about."""
    state_file(place, "backup/task-101-state.md", "101")
    assert place.workspace.locate("101") == place.path


def test_unknown_task_is_not_found(place: Place) -> None:
    """A task that is not there is an error with the command that lists those that are."""
    error = refusal(lambda: place.workspace.locate("999"))
    assert error.code == "not-found"
    assert "taskstate list" in error.help


def test_state_file_that_is_a_link_is_refused(place: Place, tmp_path: Path) -> None:
    """A link in the place of a state file is not followed."""
    (place.path.parent / "task-7-state.md").symlink_to(tmp_path / "elsewhere")
    assert refusal(lambda: place.workspace.locate("7")).code == "is-link"


def test_state_files_are_in_natural_order(place: Place) -> None:
    """9 comes before 10, wherever the files stand."""
    for name in ("z/task-9-state.md", "a/task-10-state.md", ".taskstate/tasks/task-101a-state.md"):
        state_file(place, name)
    assert [path.name.split("-")[1] for path in place.workspace.state_files()] == ["9", "10", "101", "101a"]


def test_other_types_are_no_state_files(place: Place) -> None:
    """Archives, handoffs and impact maps are our own files, and no tasks."""
    for name in (
        "archives/task-1-archive.md",
        "tasks/task-1-impact-map.json",
        "handoffs/task-1/phase-1-handoff-20260101T000000Z.md",
    ):
        put(place.root, f".taskstate/{name}")
    put(place.root, ".taskstate/tasks/notes.md")
    assert len(place.workspace.own_files()) == 4
    assert shown(place, *place.workspace.state_files()) == [".taskstate/tasks/task-101-state.md"]


def test_derived_files_and_other_projects_are_left_out(place: Place) -> None:
    """Without git, what is derived or somebody else's is not searched, but a folder of such a name elsewhere is."""
    for folder in (".taskstate/artifacts/task-1", ".taskstate/cache", "node_modules/x", ".venv/x", ".git/x"):
        state_file(place, f"{folder}/task-7-state.md")
    assert len(place.workspace.state_files()) == 1
    state_file(place, "cache/task-8-state.md", "8")
    state_file(place, ".taskstate/tasks/journal/task-9-state.md", "9")
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
    """What is not UTF-8 is told with its first wrong byte."""
    place.path.write_bytes(data)
    error = refusal(lambda: place.workspace.load(place.path))
    assert error.code == "not-utf8"
    assert f"byte {at} is 0x{data[at]:02x}" in error.message


def test_file_without_an_id_has_that_of_its_name(place: Place) -> None:
    """A file by hand that names no id is the task that its name says."""
    place.text = place.text.replace('task_id: "101"\n', "")
    assert place.workspace.load(place.path).state.id == TASK
    place.add()
    assert place.numbers() == [(1, False)]


def test_path_outside_of_the_repository_is_refused(place: Place, tmp_path: Path) -> None:
    """A path elsewhere has none from the repository's root."""
    assert refusal(lambda: place.workspace.relative(tmp_path / "x")).code == "path-escapes"


# The expected revision


@pytest.mark.parametrize("form", ["{number}", "{number}-{digest}", "{number}-{digest:.4}", "{number}-{upper}"])
def test_right_revision_is_accepted(place: Place, form: str) -> None:
    """The number alone, or with the beginning of the hash, in any case of letters."""
    digest = files.digest(place.path.read_bytes())
    expect = form.format(number=1, digest=digest, upper=digest[:8].upper())
    assert place.check(request=place.request(expect=expect)).changed


@pytest.mark.parametrize("expect", ["0", "2", "1-00000000", "2-{digest}"])
def test_other_revision_is_refused(place: Place, expect: str) -> None:
    """A file that is at another revision is not changed, and the right token is told."""
    before = tree(place.root)
    token = place.workspace.load(place.path).token
    expect = expect.format(digest=token.partition("-")[2])
    error = refusal(lambda: place.check(request=place.request(expect=expect)))
    assert error.code == "revision"
    assert token in error.message
    assert tree(place.root) == before


def test_hand_edit_is_seen_by_the_token_and_not_by_the_number(place: Place) -> None:
    """A hand edit leaves the number: only the whole token sees it."""
    token = place.workspace.load(place.path).token
    place.text += "\n"
    assert refusal(lambda: place.check(request=place.request(expect=token))).code == "revision"
    assert place.check(request=place.request(expect="1")).changed


@pytest.mark.parametrize("expect", ["x", "1-", "-1", "1.0", " 1", "1-x-y ", "\u0661", "9" * 5_000, "v1"])
def test_what_is_no_revision_is_refused(place: Place, expect: str) -> None:
    """A word that is no revision changes nothing."""
    before = tree(place.root)
    assert refusal(lambda: place.check(request=place.request(expect=expect))).code in {"usage", "revision"}
    assert tree(place.root) == before


def test_outcome_tells_the_next_token(place: Place) -> None:
    """What a change returns as revision is what the next one may expect."""
    token = place.check(1).revision
    assert token == place.workspace.load(place.path).token
    assert place.check(2, request=place.request(expect=token)).changed


# Writing


def test_every_write_raises_the_revision_by_one(place: Place) -> None:
    """Each change counts, whatever it is, and no change does not."""
    jobs = {"add": 2, "check": 3, "prove": 4, "archive": 4, "add again": 5, "archive again": 6, "check again": 6}
    for job, revision in jobs.items():
        getattr(place, job.split(maxsplit=1)[0])()
        assert place.state.revision == revision, job


def test_mode_of_the_file_stays(place: Place) -> None:
    """A state file keeps the permissions that it has."""
    place.path.chmod(0o640)
    place.add()
    assert place.path.stat().st_mode & 0o777 == 0o640


def test_result_that_reads_worse_is_not_written(place: Place) -> None:
    """A job whose result could not be read, or would be another task, is stopped."""
    before = place.text
    for wrong in (
        before.replace("## 5. Git History", "```\n\n## 5. Git History"),
        before.replace("title: JWT Service", "title: JWT: Service\nx: ["),
        before.replace('"passes": false', '"passes": maybe'),
        before.replace('task_id: "101"', 'task_id: "7"'),
    ):
        assert wrong != before
        error = refusal(lambda: change(place.workspace, TASK, lambda _: Change(text=wrong), place.request()))  # noqa: B023 - called at once
        assert error.code in {"unsafe", "unreadable"}
        assert place.text == before


def test_damage_that_was_there_before_is_no_obstacle(place: Place) -> None:
    """A file that could not be read in one place can still be changed in another."""
    place.text = place.text.replace('"passes": false', '"passes": maybe')
    place.add()
    assert place.numbers() == [(1, False)]
    assert '"passes": maybe' in place.text


class Racing:
    """Somebody who changes the state file just before each of the first `times` writes."""

    def __init__(self, place: Place, times: int) -> None:
        self.place, self.times, self.seen = place, times, 0
        self.write = journal.write

    def __call__(self, *args: Any) -> None:  # noqa: ANN401 - handed on as they come
        """Change the file, then write."""
        if self.seen < self.times:
            self.seen += 1
            self.place.text = self.place.text.replace("## 5. Git", f"<!-- by hand {self.seen} -->\n\n## 5. Git")
        self.write(*args)


@pytest.mark.parametrize("times", [1, 4])
def test_change_in_between_is_planned_for_anew(place: Place, monkeypatch: pytest.MonkeyPatch, times: int) -> None:
    """A file that somebody changed meanwhile is read again, and neither change is lost."""
    monkeypatch.setattr(journal, "write", Racing(place, times))
    place.add("Mine.")
    assert all(f"<!-- by hand {number} -->" in place.text for number in range(1, times + 1))
    assert sessions.find_session(place.workspace, TASK, 1).did == ("Mine.",)
    assert place.state.revision == 2


def test_change_in_between_is_refused_where_a_revision_was_expected(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Who expects the very file that they saw is told that it is another one now."""
    monkeypatch.setattr(journal, "write", Racing(place, 1))
    token = place.workspace.load(place.path).token
    assert refusal(lambda: place.check(request=place.request(expect=token))).code == "revision"
    assert "[x]" not in place.text


def test_file_that_keeps_changing_is_given_up(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where somebody changes the file each time, nothing is overwritten, and that is told."""
    monkeypatch.setattr(journal, "write", Racing(place, 1_000))
    with pytest.raises(StaleFile, match="each time") as caught:
        place.add()
    assert caught.value.help == "run this again"
    assert place.numbers() == []


def test_many_writers_lose_nothing(place: Place) -> None:
    """Processes that write at once wait for each other, and every session is there."""
    script = (
        "import sys; from datetime import UTC, datetime; from pathlib import Path; from taskstate import sessions\n"
        "from taskstate.stamp import Stamp; from taskstate.workspace import find_workspace\n"
        "from taskstate.writing import Request\n"
        "at = find_workspace(Path(sys.argv[1]), root=sys.argv[1])\n"
        "for n in range(5):\n"
        "    entry = sessions.Entry(did=(f'{sys.argv[2]}.{n}',), state='s', next=('n',))\n"
        "    sessions.add(at, '101', entry, Request(stamp=Stamp(actor='a', now=datetime.now(UTC))))\n"
    )
    command = [sys.executable, "-c", script, str(place.root)]
    writers = [subprocess.Popen([*command, str(number)], cwd=Path(__file__).parent.parent) for number in range(4)]
    assert [writer.wait(60) for writer in writers] == [0, 0, 0, 0]
    told = sessions.all_sessions(place.workspace, TASK)
    assert [each.number for each in told] == list(range(1, 21))
    assert sorted(each.did[0] for each in told) == [f"{writer}.{n}" for writer in range(4) for n in range(5)]


# The seal


def test_broken_seal_is_refused(place: Place) -> None:
    """A file whose tool-written blocks were changed by hand is not written."""
    before = place.text = place.text.replace("audit:", "output: {sha256: x}\naudit:")
    error = refusal(place.add)
    assert error.code == "seal-broken"
    assert "git" in error.help
    assert place.text == before


def test_absent_seal_is_accepted(place: Place) -> None:
    """A file by hand has no seal, and gets one."""
    place.text = "\n".join(line for line in place.text.split("\n") if not line.startswith("  seal:"))
    place.add()
    assert len(place.state.document.front_matter["audit"]["seal"]) == 64


# What a killed command left


def test_plan_of_a_killed_command_is_finished_first(place: Place) -> None:
    """The next command of any kind carries out what stands written down, and tells it."""
    at = place.workspace
    assert at.settle() == ()
    text = place.text.replace("- [ ] Tokens verify", "- [x] Tokens verify")
    plan = (
        journal.Create(".taskstate/archives/task-101-archive.md", b"# Archive\n"),
        journal.Replace(at.relative(place.path), files.digest(place.path.read_bytes()), text.encode()),
    )
    journal._record(at.state_root / "journal", plan)  # noqa: SLF001 - what a killed writer leaves
    outcome = place.add()
    assert "finished an interrupted change" in outcome.notes[0]
    assert place.archive_path.exists()
    assert [each.checked for each in place.state.criteria] == [True, False]
    assert place.numbers() == [(1, False)]


def test_settling_finishes_it_too(place: Place) -> None:
    """A command that only reads finishes what was begun."""
    at = place.workspace
    plan = (journal.Create("a.md", b"a"), journal.Create("b.md", b"b"))
    journal._record(at.state_root / "journal", plan)  # noqa: SLF001 - what a killed writer leaves
    (told,) = at.settle()
    assert "a.md, b.md" in told
    assert (place.root / "b.md").read_bytes() == b"b"
    assert at.settle() == ()


def test_conflict_with_a_killed_command_is_told_once(place: Place) -> None:
    """A plan that no longer fits is set aside and named, and holds up no later command."""
    at = place.workspace
    plan = (journal.Create("a.md", b"a"), journal.Replace(at.relative(place.path), "0" * 64, b"x"))
    journal._record(at.state_root / "journal", plan)  # noqa: SLF001 - what a killed writer leaves
    assert refusal(place.add).code == "recover-conflict"
    place.add()
    assert place.numbers() == [(1, False)]


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
    """Where nothing is set up, the top of the git repository is the root."""
    (repository / "a" / "b").mkdir(parents=True)
    assert find_workspace(repository / "a" / "b").root == repository


def test_folder_itself_where_there_is_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without git, configuration and state folder, the folder itself is the root."""
    monkeypatch.setattr(git, "toplevel", lambda _: None)
    assert find_workspace(tmp_path).root == tmp_path


def test_taskstate_toml_goes_before_pyproject(tmp_path: Path) -> None:
    """Of two configurations in one folder, our own file counts."""
    put(tmp_path, "taskstate.toml", 'root = "one"\n')
    put(tmp_path, "pyproject.toml", '[tool.taskstate]\nroot = "two"\n')
    assert find_workspace(tmp_path).config.root == "one"


def test_named_root_is_taken_as_it_is(tmp_path: Path) -> None:
    """A root that is named is not searched for upwards."""
    put(tmp_path, "taskstate.toml", 'root = "outer"\n')
    (tmp_path / "a").mkdir()
    found = find_workspace(tmp_path, root=str(tmp_path / "a"))
    assert (found.root, found.config.root) == (tmp_path / "a", ".taskstate")


def test_named_configuration(tmp_path: Path) -> None:
    """A configuration that is named counts, and its folder is the root unless another is named."""
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
    """A configuration that cannot be read is an error, and not as good as none."""
    (tmp_path / "taskstate.toml").write_bytes(b"# \xff\n")
    assert refusal(lambda: find_workspace(tmp_path)).code == "config"


@pytest.mark.parametrize("name", ["root", "config_file"])
def test_missing_root_or_configuration_is_refused(tmp_path: Path, name: str) -> None:
    """What is named must be there."""
    error = refusal(lambda: find_workspace(tmp_path, **{name: str(tmp_path / "none")}))
    assert error.code == "not-found"
    assert "none" in error.message


def test_state_folder_that_leads_outside_is_refused(tmp_path: Path) -> None:
    """A state folder that is a link out of the repository is not written to."""
    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()
    (tmp_path / "a" / ".taskstate").symlink_to(tmp_path / "b")
    assert refusal(lambda: find_workspace(tmp_path / "a").state_root).code == "path-escapes"


def test_repository_that_is_not_set_up_is_refused(tmp_path: Path, place: Place) -> None:
    """Without a state folder there is one error, with the command that makes it."""
    error = refusal(lambda: require_set_up(find_workspace(tmp_path, root=str(tmp_path))))
    assert error.code == "not-set-up"
    assert "taskstate init" in error.help
    require_set_up(place.workspace)


# Diffs


def test_diff_is_unified_and_ends_lines_with_lf() -> None:
    """Line ends make no difference, and a last line without one is a line like the others."""
    assert (
        unified_diff("a.md", "a\r\nb\r\nc", "a\nB\nc\n") == "--- a/a.md\n+++ b/a.md\n@@ -1,3 +1,3 @@\n a\n-b\n+B\n c\n"
    )
    assert unified_diff("a.md", "", "a\n", is_new=True) == "--- /dev/null\n+++ b/a.md\n@@ -0,0 +1 @@\n+a\n"
    assert unified_diff("a.md", "a\r\n", "a\n") == ""


def test_workspace_is_a_value(place: Place) -> None:
    """Two workspaces of one repository are equal."""
    assert place.workspace == place.workspace
    assert hash(place.workspace.tasks) == hash(place.workspace.state_root / "tasks")
