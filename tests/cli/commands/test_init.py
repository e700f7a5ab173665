from __future__ import annotations

import json
import os
import pty
import re
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest
import yaml

from taskstate.autosave import consent, notes
from taskstate.setup.pre_commit import PRE_COMMIT
from taskstate.workspace.workspace import find_workspace
from tests.support.place import tree

if TYPE_CHECKING:
    from pathlib import Path

    from tests.cli.conftest import Cli


@pytest.fixture
def empty(tmp_path: Path, cli: Cli, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return an empty folder to set up, which is the working folder."""
    folder = tmp_path / "empty"
    folder.mkdir()
    monkeypatch.chdir(folder)
    monkeypatch.setenv("TASKSTATE_ROOT", str(folder))
    cli.place.root = folder
    return folder


def test_what_was_done_is_told(cli: Cli, empty: Path) -> None:
    """Each file that was made or changed has a line, and the second time there is nothing to do."""
    (empty / ".gitignore").write_text("x\n", encoding="utf-8")
    assert cli.ok("init").splitlines() == [
        "created  .gitattributes",
        "created  .taskstate/.gitignore",
        "created  taskstate.toml",
        "created  .taskstate/tasks/.gitkeep",
        "created  .taskstate/archives/.gitkeep",
        "created  .taskstate/handoffs/.gitkeep",
        "created  .taskstate/templates/.gitkeep",
        "changed  .gitignore",
    ]
    before = tree(empty)
    assert cli.ok("init") == "nothing to do: the repository is set up\n"
    assert tree(empty) == before


def test_shape_of_what_was_done(cli: Cli, empty: Path) -> None:
    """In JSON the root and the three lists are reported."""
    data = cli.json("init", "--pre-commit")
    assert data["root"] == str(empty)
    assert PRE_COMMIT in data["created"]
    assert cli.json("init", "--pre-commit") == {
        "root": str(empty),
        "created": [],
        "changed": [],
        "kept": [".gitignore", ".gitattributes", ".taskstate/.gitignore", PRE_COMMIT],
    }


def test_next_step_is_told(cli: Cli, empty: Path) -> None:
    """With --pre-commit the command that installs the hooks is reported, until nothing is left to do."""
    said = cli.ok("init", "--pre-commit")
    assert "pre-commit install" in said
    assert "CI is the gate: `taskstate init --ci`" in said
    assert (empty / PRE_COMMIT).exists()
    assert "pre-commit install" not in cli.ok("init", "--pre-commit")


def test_what_does_not_start_is_told(cli: Cli, empty: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A client's server whose packages are missing has a line with what to run, each time, and in JSON."""
    monkeypatch.setitem(sys.modules, "mcp", None)
    assert "the MCP server is left out" in cli.ok("init", "--agent", "claude")
    assert any("taskstate[mcp]" in each for each in cli.json("init")["lacking"])
    assert not (empty / ".mcp.json").exists()


def test_what_is_allowed_may_not_count_yet(cli: Cli, empty: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A line says what a person has to do in the client itself, once leave is asked for."""
    monkeypatch.setenv("HOME", str(empty.parent))
    assert "told to trust" not in cli.ok("init", "--agent", "claude")
    assert "start `claude` here once" in cli.ok("init", "--allow")
    assert "Bash(taskstate finish:*)" in (empty / ".claude/settings.json").read_text(encoding="utf-8")


@pytest.mark.usefixtures("empty")
def test_what_a_client_asks_first_is_told(cli: Cli) -> None:
    """Codex and Gemini CLI skip what is set up until they trust the folder; what `--allow` has no need of is said."""
    said = cli.ok("init", "--agent", "codex", "--agent", "gemini", "--allow")
    assert "Codex skips all of this until it trusts the folder (`codex exec --trust`)" in said
    assert "start `gemini` here once" in said
    assert "Codex needs no leave" in said
    assert "trust" not in cli.ok("init")


@pytest.mark.usefixtures("empty")
def test_what_was_made_is_to_be_committed(cli: Cli) -> None:
    """In a git repository the last line asks for a commit, but not for git's own configuration, as in a new clone."""
    subprocess.run(["git", "init", "--quiet"], check=True)
    assert cli.ok("init").splitlines()[-1].startswith("next: commit these changes")
    subprocess.run(["git", "config", "--remove-section", "merge.taskstate"], check=True)
    assert cli.ok("init") == "created  git config merge.taskstate\n"


def test_dry_run_does_nothing(cli: Cli, empty: Path) -> None:
    """A dry run tells what would be done."""
    assert "would be created  .gitignore\n" in cli.ok("init", "--dry-run")
    assert list(empty.iterdir()) == []


def test_quiet_prints_nothing(cli: Cli, empty: Path) -> None:
    """With --quiet it is done without a word."""
    assert cli.ok("init", "--pre-commit", "--quiet") == ""
    assert (empty / ".taskstate").is_dir()


def test_form_that_cannot_be_added_to_is_named(cli: Cli, empty: Path) -> None:
    """A file in another form is named with what to do and what to paste; all else is set up, and the status is 1."""
    (empty / PRE_COMMIT).write_text("repos: []\n", encoding="utf-8")
    done = cli("init", "--pre-commit")
    assert done.status == 1
    assert f"not added to  {PRE_COMMIT}: {PRE_COMMIT} cannot be added to safely: `repos` must be a list" in done.out
    assert "      - id: taskstate-lint\n" in done.out
    assert (empty / ".taskstate/tasks").is_dir()
    (refused,) = json.loads(cli("init", "--pre-commit", "--format=json").out)["data"]["refused"]
    assert (refused["name"], "taskstate-lint" in refused["paste"]) == (PRE_COMMIT, True)


@pytest.mark.parametrize(
    ("arguments", "what"), [(("x",), "unrecognized arguments"), (("--root", "/nonexistent"), "no folder /nonexistent")]
)
def test_what_cannot_be_set_up_is_refused(cli: Cli, arguments: tuple[str, ...], what: str) -> None:
    """A wrong argument gives a one-line error."""
    assert what in cli.refused("init", *arguments)


@pytest.mark.parametrize(
    ("arguments", "what"),
    [
        (("--agent", "clade"), "there is no agent 'clade': did you mean claude? choose from"),
        (("--install", "make install"), "--install is for the workflow"),
        (("--ci",), "name the command: `taskstate init --ci --install CMD`"),
        (("--verification",), "--verification needs a client"),
        (("--allow", "--agent", "generic"), "--allow needs a client"),
        (("--remove", "--allow"), "--remove takes everything out"),
        (("--remove",), "there is no record"),
        (("--remove", "--ci"), "--remove takes everything out"),
        (("--require",), "--require is about the commit hooks"),
        (("--remove", "--autosave", "off"), "--remove takes everything out"),
        (("--autosave", "much"), "'much'"),
    ],
)
@pytest.mark.usefixtures("empty")
def test_flags_that_cannot_be_followed_are_refused(cli: Cli, arguments: tuple[str, ...], what: str) -> None:
    """One line says what is wrong, and nothing is set up."""
    assert what in cli.refused("init", *arguments)


def test_dry_run_shows_the_diff(cli: Cli, empty: Path) -> None:
    """Each file that would be written is shown with its lines."""
    shown = cli.ok("init", "--agent", "claude", "--dry-run")
    assert "would be created  .claude/settings.json\n" in shown
    assert "+++ b/AGENTS.md" in shown
    assert list(empty.iterdir()) == []


def test_what_is_said_of_autosave_is_told(cli: Cli, empty: Path) -> None:
    """A line says what that means, each time; in JSON it stands beside the files."""
    said = cli.ok("init", "--agent", "claude", "--autosave", "facts")
    assert "autosave facts: of a session that recorded nothing itself, files, commits and checks enter" in said
    assert "hook session-end" in (empty / ".claude/settings.json").read_text(encoding="utf-8")
    assert cli.json("init", "--autosave", "off")["autosave"] == "off"
    assert "hook session-end" not in (empty / ".claude/settings.json").read_text(encoding="utf-8")
    assert "autosave" not in cli.json("init")


def test_everything_is_taken_out_again(cli: Cli, empty: Path) -> None:
    """What was created is gone, and the JSON says so."""
    cli.ok("init", "--agent", "codex", "--agent", "gemini", "--ci", "--install", "make install")
    data = cli.json("init", "--remove")
    assert ".codex/config.toml" in data["removed"]
    assert tree(empty) == {}


def test_what_taking_out_leaves_is_told_with_how_it_goes(cli: Cli, empty: Path) -> None:
    """Tasks and one's own settings stay; the commands as printed delete them; git's settings are among what goes."""
    subprocess.run(["git", "init", "--quiet"], check=True)
    cli.ok("init")
    cli.ok("new", "1", "--title", "T", "--description", "D")
    with (empty / "taskstate.toml").open("a", encoding="utf-8") as settings:
        settings.write('[validation]\n"*" = ["make"]\n')
    removed = ("git config merge.taskstate\n", "git config taskstate.program\n", ".taskstate/set-up.json\n")
    shown = cli.ok("init", "--remove", "--dry-run")
    assert all(f"would be removed  {each}" in shown for each in removed)
    said = cli.ok("init", "--remove")
    assert all(f"removed  {each}" in said for each in removed)
    assert said.splitlines()[-1] == "next: commit these changes"
    assert not (empty / ".taskstate/templates").exists()
    stays = dict(re.findall(r"(?m)^(\S+) stays, with .*; `(rm -r .*)`$", said))
    for name in (".taskstate", "taskstate.toml", ".git/taskstate"):
        assert (empty / name).exists()
        subprocess.run(["sh", "-c", stays[name]], check=True)
        assert not (empty / name).exists()


def test_what_autosave_kept_is_named_before_it_is_deleted(cli: Cli, empty: Path) -> None:
    """Notes, drafts and the leave for them are among what is removed, also where it is only shown."""
    cli.ok("init", "--agent", "claude", "--autosave", "words")
    workspace = find_workspace(empty)
    notes.update(workspace.private, "claude", "one", lambda note: note._replace(task="101"))
    shown = cli.ok("init", "--remove", "--dry-run")
    assert "would be removed  autosave: 1 file of notes and drafts\n" in shown
    assert "would be removed  autosave: the leave for it (words)\n" in shown
    assert consent.said(empty)[0] == "words"
    assert "removed  autosave: the leave for it (words)\n" in cli.ok("init", "--remove")
    assert (consent.said(empty)[0], consent.kept_files(workspace)) == ("off", ())


def test_workflow_installs_as_it_is_told(cli: Cli, empty: Path) -> None:
    """The command is in the workflow, is replaced by another one, and is no YAML whatever it holds."""
    path = empty / ".github/workflows/taskstate.yml"
    for command in ("make install", 'pip install "taskstate @ git+https://x.invalid/t@1234567"', "a: b # c", "- |\n x"):
        cli.ok("init", "--ci", "--install", command)
        assert yaml.safe_load(path.read_text(encoding="utf-8"))["jobs"]["lint"]["steps"][2] == {"run": command}
    path.write_text("name: mine\n", encoding="utf-8")
    cli.ok("init", "--ci", "--install", "make install")
    assert path.read_text(encoding="utf-8") == "name: mine\n"


@pytest.mark.parametrize(
    ("answers", "prompts", "files"),
    [
        (
            "codex, claud\ny\ncodex\ncodex\ny\nn\n\n",
            (
                "There is no agent 'claud'. Did you mean claude? Which",
                "no agent 'y'",
                "'codex' is not an answer: y or n? Check",
            ),
            {".codex/hooks.json": True, ".claude": False, PRE_COMMIT: True},
        ),
        ("claude\nn\nn\nall\nfacts\n", ("May taskstate read", "autosave facts: "), {".claude/settings.json": True}),
        ("Gemini\n\x04", (), {".gemini/settings.json": True, PRE_COMMIT: False}),
    ],
)
def test_terminal_is_asked(empty: Path, answers: str, prompts: tuple[str, ...], files: dict[str, bool]) -> None:
    """On a terminal, without flags, `init` does what is answered, and asks again where it does not understand."""
    ours, theirs = pty.openpty()
    os.write(ours, answers.encode())
    command = [sys.executable, "-m", "taskstate", "init"]
    environment = os.environ | {"TERM": "xterm"}
    done = subprocess.run(
        command, cwd=empty, stdin=theirs, stdout=theirs, stderr=theirs, env=environment, check=False, timeout=60
    )
    shown = os.read(ours, 100_000).decode()
    os.close(theirs)
    os.close(ours)
    assert done.returncode == 0
    assert {name: (empty / name).exists() for name in files} == files
    assert [each for each in prompts if each not in shown] == []
