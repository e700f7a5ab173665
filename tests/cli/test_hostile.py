"""What a user could put into a repository or say on the command line: each has its one clear error.

docs/security-tests.md names these tests.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from typing import TYPE_CHECKING, Any

import pytest

from taskstate.storage import kept_records, transaction
from taskstate.writing.ledger import entry_for
from tests.support.place import TASK, Place, tree

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.cli.conftest import Cli

pytestmark = pytest.mark.slow  # it starts many processes, most of them git

ADD = ("session", "add", TASK, "--did", "x", "--state", "s", "--next", "n")
OUTSIDE = "what stands outside"
NAMES = ["\x1b[31mred", "a\nb", "\u202egnp", "-rf", "--help", "a\\b", "a b", "\x07", "\udcff", "task-1", "x" * 65, "é"]


@pytest.fixture
def outside(tmp_path: Path) -> Path:
    """Return a folder beside the repository, with a file that is nobody's business."""
    folder = tmp_path / "outside"
    folder.mkdir()
    (folder / "task-9-state.md").write_text(OUTSIDE, encoding="utf-8")
    return folder


# Links, devices, and what is no file


def test_a_link_out_of_the_repository_is_not_followed(place: Place, cli: Cli, outside: Path) -> None:
    """A state file that is a link is neither read, nor linted, nor written."""
    link = place.workspace.tasks / "task-9-state.md"
    link.symlink_to(outside / "task-9-state.md")
    assert "symbolic link" in cli.refused("session", "add", "9", *ADD[3:])
    assert "symbolic link" in cli.refused("show", "9")
    result = cli("lint")
    assert result.status != 0
    assert OUTSIDE not in result.out + result.err
    assert (outside / "task-9-state.md").read_text(encoding="utf-8") == OUTSIDE


READERS = [
    ("show", "9"),
    ("show", "9", "--section", "Notes"),
    ("brief", "9"),
    ("list",),
    ("list", "--format", "json"),
    ("next",),
    ("status",),
    ("board",),
    ("lint",),
    ("lint", "docs"),
    ("fmt", "--check", "docs"),
    ("context", "check", "9"),
    ("context", "export", "9", "--role", "implementer"),
    ("session", "list", "9"),
    ("session", "add", "9", "--did", "x", "--state", "s", "--next", "n"),
    ("chain", "show", "9"),
    ("graph",),
    ("log",),
    ("doctor",),
]


@pytest.mark.parametrize(
    "where", ["docs/task-9-state.md", "linked/task-9-state.md", ".taskstate/tasks/task-9-state.md"]
)
def test_what_stands_outside_is_never_told(place: Place, cli: Cli, outside: Path, where: str) -> None:
    """Wherever a link has the name of a state file, and whoever reads it, nothing of what it leads to is shown."""
    place.new("9")
    own = place.workspace.tasks / "task-9-state.md"
    text = own.read_text(encoding="utf-8").replace("title: ", f"title: {OUTSIDE} ", 1)
    own.unlink()
    (outside / "task-9-state.md").write_text(text + f"\n## Notes\n\n{OUTSIDE}\n", encoding="utf-8")
    link = place.root / where
    if where.startswith("linked"):
        link.parent.symlink_to(outside)
    else:
        link.parent.mkdir(exist_ok=True)
        link.symlink_to(outside / "task-9-state.md")
    before = (outside / "task-9-state.md").read_bytes()
    for reader in READERS:
        result = cli(*reader)
        assert OUTSIDE not in result.out + result.err, reader
        assert "Traceback" not in result.err, reader
    for command in (("show", where), ("brief", where)):
        result = cli(*command)
        assert OUTSIDE not in result.out + result.err, command
    assert (outside / "task-9-state.md").read_bytes() == before


@pytest.mark.parametrize("name", ["tasks", "archives", "."])
def test_a_folder_that_leads_out_is_not_written_into(place: Place, cli: Cli, outside: Path, name: str) -> None:
    """A folder of ours that is a link to somewhere else takes nothing."""
    for number in range(3):
        place.add(str(number))
    folder = place.workspace.state_root / name
    moved = outside / "moved"
    shutil.move(folder, moved)
    (folder.parent / folder.name).symlink_to(moved)
    before = tree(outside)
    result = cli("archive", TASK, "--force", "--keep", "1")
    assert (result.status, "link" in result.err) == (2, True), result
    assert tree(outside) == before


def test_a_private_folder_that_leads_out_is_not_used(place: Place, cli: Cli, outside: Path) -> None:
    """A link in the place of that folder: nothing is read or written there, and doctor names it."""
    place.add()
    folder = place.workspace.state_root / "private"
    shutil.move(folder, outside / "private")
    folder.symlink_to(outside / "private")
    before = tree(outside), sorted((outside / "private").rglob("*"))
    cli.ok(*ADD)
    cli.ok("lint")
    assert ".taskstate/private is not used" in cli("doctor").out
    assert (tree(outside), sorted((outside / "private").rglob("*"))) == before


def test_a_lock_that_is_a_link_is_refused(place: Place, cli: Cli, outside: Path) -> None:
    """Taking the lock writes nothing into what the link names."""
    place.workspace.lock.unlink(missing_ok=True)
    place.workspace.lock.symlink_to(outside / "task-9-state.md")
    assert "cannot lock" in cli.refused(*ADD)
    assert (outside / "task-9-state.md").read_text(encoding="utf-8") == OUTSIDE


@pytest.mark.parametrize("kind", ["fifo", "device", "folder", "sparse"])
def test_what_is_no_ordinary_file_is_refused_at_once(place: Place, cli: Cli, kind: str) -> None:
    """A FIFO, a device, a folder or a gigabyte of nothing in a state file's place neither hangs nor fills memory."""
    path = place.path
    path.unlink()
    if kind == "fifo":
        os.mkfifo(path)
    elif kind == "device":
        path.symlink_to("/dev/zero")
    elif kind == "folder":
        path.mkdir()
    else:
        with path.open("wb") as stream:
            stream.truncate(1024**3)
    for command in (("show", TASK), ADD, ("archive", TASK)):
        result = cli(*command)
        assert (result.status, result.err.count("\n")) == (2, 1), (command, result)
    assert kind == "folder" or cli("lint", path).status == 2


def test_a_file_that_becomes_a_link_while_it_is_changed_is_not_followed(
    place: Place, cli: Cli, outside: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Between reading and replacing, too, a link is not taken for the file."""
    from taskstate.storage import journal

    really = journal.write

    def swapped(*args: Any, **options: Any) -> None:  # noqa: ANN401 - handed on as they come
        if not place.path.is_symlink():
            place.path.unlink()
            place.path.symlink_to(outside / "task-9-state.md")
        really(*args, **options)

    monkeypatch.setattr(journal, "write", swapped)
    result = cli(*ADD)
    assert (result.status, result.err.count("\n")) == (2, 1), result
    assert (outside / "task-9-state.md").read_text(encoding="utf-8") == OUTSIDE


def test_a_file_that_is_removed_meanwhile_is_told(place: Place, cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    """A command does not bring back what a user has just deleted."""
    from taskstate.storage import journal

    really = journal.write

    def removed(*args: Any, **options: Any) -> None:  # noqa: ANN401 - handed on as they come
        place.path.unlink(missing_ok=True)
        really(*args, **options)

    monkeypatch.setattr(journal, "write", removed)
    result = cli(*ADD)
    assert (result.status, result.err.count("\n")) == (2, 1), result
    assert "does not exist" in result.err
    assert not place.path.exists()


# Names


@pytest.mark.parametrize(
    "name", ["../x", "..", ".", "", "/etc/passwd", "a/b", "C:\\x", *(name for name in NAMES if name != "task-1")]
)
def test_an_id_that_is_none_is_refused(place: Place, cli: Cli, name: str) -> None:
    """No id reaches a path before it is one, and what a terminal would act on is not repeated raw."""
    del place
    for command in (("new", "--title", "T", "--", name), ("show", "--", name)):
        result = cli(*command)
        assert (result.status, result.out) == (2, ""), result
        assert result.err.rstrip("\n").isprintable()


@pytest.mark.parametrize("name", NAMES)
def test_a_file_with_such_a_name_is_told_safely(place: Place, cli: Cli, name: str) -> None:
    """Whatever a file is called, the output of lint, list and doctor holds no escape, no bidi override, no new line."""
    path = place.workspace.tasks / f"task-{name}-state.md"
    try:
        path.write_text(place.text, encoding="utf-8")
    except OSError:
        pytest.skip("the file system does not take this name")
    for command in (("lint",), ("list",), ("doctor",), ("lint", "--output-format", "concise")):
        result = cli(*command)
        assert result.status in {0, 1, 2}
        raw = {char for char in result.out + result.err if not char.isprintable() and char != "\n"}
        assert raw == set(), command
    assert json.loads(cli("lint", "--format", "json").out)


@pytest.mark.parametrize("broken", ["\n::error::owned\n", "\r::error::owned\r"])
def test_no_name_makes_a_line_of_its_own(place: Place, cli: Cli, broken: str) -> None:
    """A line end in the name of a file or folder, or in an id, is written out: else it could say what it likes."""
    for name, text in ((f".taskstate/tasks/task-a{broken}b", place.text), (f"docs{broken}/task-102", "no task\n")):
        path = place.root / f"{name}-state.md"
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8")
    upstream = json.dumps([f"a{broken}b"])
    place.text = place.text.replace("status: created", f"status: created\ndepends_on: {upstream}")
    for command in (
        "lint",
        "list",
        "status",
        "graph",
        "doctor",
        "chain status",
        "search task",
        "fmt --check",
        "doctor --fix",
    ):
        result = cli(*command.split())
        assert "::error::owned" in result.out + result.err, command
        assert [line for line in (result.out + result.err).splitlines() if line.lstrip().startswith("::")] == [], (
            command
        )


def test_words_with_escapes_reach_no_terminal(place: Place, cli: Cli) -> None:
    """What a session says is printed without what a terminal would act on; the file's words are nobody's command."""
    place.text = place.text.replace("Issue tokens.", "Issue \x1b]0;owned\x07 \u202etokens.")
    result = cli("show", TASK, "--section", "Task Description")
    assert {char for char in result.out + result.err if not char.isprintable() and char != "\n"} == set()
    assert "TS006" in cli("lint").out


# Bombs

BOMB = "a: &a [x, x]\n" + "".join(
    f"{new}: &{new} [{', '.join([f'*{old}'] * 9)}]\n" for old, new in zip("abcdefgh", "bcdefghi", strict=True)
)


@pytest.mark.parametrize(
    "yaml",
    [
        BOMB,
        'title: !!python/object/apply:os.system ["touch owned"]\n',
        "x-deep: " + "[" * 10_000 + "]" * 10_000 + "\n",
        "x-deep: " + "{a: " * 9_000 + "1" + "}" * 9_000 + "\n",
    ],
    ids=["aliases", "tag", "deep list", "deep map"],
)
def test_yaml_that_is_a_weapon_is_a_finding(place: Place, cli: Cli, yaml: str) -> None:
    """Multiplying aliases, tags that call, and endless nesting are reported with their line; nothing is written."""
    place.text = place.text.replace("taskstate: 1\n", f"taskstate: 1\n{yaml}", 1)
    findings = cli.json("lint", status=1)["findings"]
    assert {finding["code"] for finding in findings} == {"TS003"}
    before = place.text
    assert "line" in cli.refused("criterion", "check", TASK, "1")
    refused = cli(*ADD)
    assert (refused.status, f"`taskstate session add {TASK} --from " in refused.err) == (2, True)
    assert place.text == before
    assert not (place.root / "owned").exists()


def test_json_without_end_is_a_finding(place: Place, cli: Cli) -> None:
    """10,000 brackets in a checklist or in a session from a file are reported, and never a traceback."""
    deep = "[" * 10_000 + "]" * 10_000
    assert "nested" in cli.refused("session", "add", TASK, "--from", "-", stdin=deep)
    place.text = place.text.replace('"passes": false', f'"passes": {deep}')
    assert "TS005" in {finding["code"] for finding in cli.json("lint", status=1)["findings"]}
    assert "cannot be read" in cli.refused("feature", "pass", TASK, "jwt-1", "--evidence", "x")


# Paths inside files


def test_an_archive_path_that_leads_out_is_not_used(place: Place, cli: Cli, tmp_path: Path) -> None:
    """Where the archive is, is never taken from the file."""
    for number in range(3):
        place.add(str(number))
    place.text = place.text.replace("audit:", "archive_path: ../../outside/passwd\naudit:", 1)
    cli.ok("archive", TASK, "--force", "--keep", "1")
    assert place.archive_path.exists()
    assert sorted(entry.name for entry in tmp_path.iterdir()) == ["repository"]


def test_made_up_records_of_what_is_gone_reach_nothing_outside(
    place: Place, cli: Cli, outside: Path, tmp_path: Path
) -> None:
    """What a user put among the kept copies is brought back nowhere else."""
    place.add()
    path = "../outside/task-9-state.md"
    text = place.text.replace('task_id: "101"', 'task_id: "9"')
    kept_records.keep(place.workspace.private, record_of(path, text), kept_records.name_for(("9",), batch=False))
    before = tree(outside)
    assert cli("doctor", "--fix").status in {0, 1}
    assert tree(outside) == before
    assert OUTSIDE not in cli("list").err
    assert sorted(entry.name for entry in tmp_path.iterdir()) == ["outside", "repository"]


def record_of(path: str, text: str) -> bytes:
    """Return a kept record of a write of this text into a state file of task 9."""
    plan = (transaction.Create(path, text.encode()),)
    return transaction.encode(plan, {"tasks": {"9": entry_for(path, text.encode()).as_json()}})


@pytest.mark.parametrize(
    "template",
    [
        "{% for a in range(99999) %}{% for b in range(99999) %}{% endfor %}{% endfor %}",
        "{{ 'x' * 99999999999 }}",
        "{% macro f(n) %}{{ f(n) }}{% endmacro %}{{ f(1) }}",
    ],
)
def test_a_template_has_bounds(place: Place, cli: Cli, template: str) -> None:
    """Whatever it wants to count or to fill: it ends soon, with one clear error."""
    path = place.workspace.state_root / "templates/protocol.md.j2"
    path.write_text(template, encoding="utf-8")
    assert "templates/protocol.md.j2 is wrong" in cli.refused("protocol")


def test_a_template_of_the_repository_runs_nothing(place: Place, cli: Cli) -> None:
    """A project's own template comes with the repository: it may fill in words and call nothing."""
    template = place.workspace.state_root / "templates/task-state.md.j2"
    template.write_text("{{ ''.__class__.__mro__[1].__subclasses__() }}", encoding="utf-8")
    assert "template" in cli.refused("new", "7", "--title", "T")


# Repositories


def test_a_task_file_in_a_submodule_is_another_repositorys(repository: Path, tmp_path: Path, cli: Cli) -> None:
    """A state file below a submodule is not this repository's task, and is not written from here."""
    place = Place(repository)
    library = tmp_path / "library"
    git = ["git", "-c", "user.name=a", "-c", "user.email=a@example.invalid", "-c", "protocol.file.allow=always"]
    subprocess.run([*git, "init", "-q", str(library)], check=True)
    (library / "task-55-state.md").write_text(place.text.replace('"101"', '"55"'), encoding="utf-8")
    subprocess.run([*git, "-C", str(library), "add", "-A"], check=True)
    subprocess.run([*git, "-C", str(library), "commit", "-qm", "x"], check=True)
    subprocess.run([*git, "-C", str(repository), "submodule", "--quiet", "add", str(library), "sub"], check=True)
    before = (repository / "sub/task-55-state.md").read_bytes()
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(repository)
        assert "there is no task 55" in cli("show", "55").err
        assert cli("session", "add", "sub/task-55-state.md", *ADD[3:]).status == 2
    assert (repository / "sub/task-55-state.md").read_bytes() == before


def test_a_bare_repository_is_refused(tmp_path: Path, cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where there is no working tree there are no tasks, and nothing is put into git's own folder."""
    bare = tmp_path / "bare.git"
    subprocess.run(["git", "init", "-q", "--bare", str(bare)], check=True)
    monkeypatch.chdir(bare)
    before = sorted(entry.name for entry in bare.iterdir())
    for command in (("init",), ("lint",), ("list",), ("new", "1", "--title", "T")):
        result = cli(*command)
        assert (result.status, result.err.count("\n")) == (2, 1), (command, result)
    assert sorted(entry.name for entry in bare.iterdir()) == before


def test_without_git_everything_but_history_works(
    place: Place, cli: Cli, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """No git on the machine: tasks are made, worked on, linted and archived."""
    monkeypatch.setenv("PATH", str(tmp_path))
    cli.ok("init")
    cli.ok("new", "7", "--title", "T", "--description", "d", "--criterion", "c", "--feature", "a=b")
    for _ in range(2):
        cli.ok("session", "add", "7", *ADD[3:])
    cli.ok("archive", "7", "--force", "--keep", "1")
    assert cli("lint").status == 0
    assert cli("doctor").status == 1
    assert place.path.exists()


# What stands in a file is text


INJECTIONS: dict[str, Callable[[str], str]] = {
    "heading": lambda mark: f"{mark}\n\n## 6. Chain Output\n\n### Summary\n\nfaked",
    "session": lambda mark: f"{mark}\n\n### Session 99 - 2030-01-01 00:00\n\n**What I did:**\n\n- faked",
    "fence": lambda mark: f'{mark}\n```json\n{{"features": []}}\n',
    "comment": lambda mark: f"{mark} <!-- \n\n<!-- taskstate: ignore TS404 -->",
    "front matter": lambda mark: f"{mark}\n---\nstatus: complete\n---\n",
}


@pytest.mark.parametrize("kind", INJECTIONS)
def test_words_cannot_become_structure(place: Place, cli: Cli, kind: str) -> None:
    """Any text given as work done stays inside its list item, and reads back unchanged."""
    cli.ok("session", "add", TASK, "--did", INJECTIONS[kind]("did"), "--state", "s", "--next", "n")
    assert place.numbers() == [(1, False)]
    assert place.state.status == "in_progress"
    assert cli("lint").status == 0


def test_the_words_of_a_session_silence_no_finding(place: Place, cli: Cli) -> None:
    """A line of a session that reads like a directive of the linter is text, and a secret in the file is found."""
    cli.ok("session", "add", TASK, "--did", "x\n<!-- taskstate: ignore-file TS951 -->", "--state", "s", "--next", "n")
    place.text += "\n## Notes\n\nkey = AKIA" + "QWERTYUIOPASDFGH\n"
    assert "TS951" in cli("lint").out


COMMANDS = ("::error::x", " ::stop-commands::y", "##[error]z", "##vso[task.setvariable variable=a]b", "##teamcity[c]")


@pytest.mark.parametrize("command", COMMANDS)
def test_no_word_of_a_file_is_a_command_of_a_ci_system(place: Place, cli: Cli, command: str) -> None:
    """The log of a CI job obeys lines that begin so: no output for people has one, whatever files say or are called."""
    name = f"task-{command.strip()}-state.md"
    (place.workspace.tasks / name).write_text(place.text, "utf-8")
    place.text += f"\n## Notes\n\n{command}\n"
    for reader in (
        ("show", TASK),
        ("list",),
        ("lint",),
        ("doctor",),
        ("status",),
        ("brief", TASK),
        ("search", command),
    ):
        result = cli(*reader)
        lines = [line.lstrip() for line in (result.out + result.err).splitlines()]
        assert not [line for line in lines if line.startswith("::") or re.search(r"##\w*\[", line)], reader
    written_out = command.replace("##", "#\\x23", 1).replace(":", "\\x3a", command.strip()[0] == ":")
    assert written_out in cli.ok("show", TASK, "--section", "Notes")


def test_other_lines_that_begin_with_colons_stay_as_they_are(place: Place, cli: Cli) -> None:
    """C++ and Markdown begin lines with colons, too."""
    place.text += "\n## Notes\n\n::std::vector<int> v;\n\n::: note\n:::\n"
    assert "\n::std::vector<int> v;\n\n::: note\n:::" in cli.ok("show", TASK, "--section", "Notes")
