from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from taskstate.cli.parsers import parse
from taskstate.storage import journal
from taskstate.version import VERSION
from taskstate.views import task_list
from tests.support.command_line import COMMANDS, operations
from tests.support.crashing import leave_plan
from tests.support.kept_place import Repo
from tests.support.place import Place, tree
from tests.support.processes import is_gone

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.cli.conftest import Cli

    RunCli = Callable[..., subprocess.CompletedProcess[str]]

pytestmark = pytest.mark.slow  # it starts many processes, most of them git

TASKSTATE = [sys.executable, "-m", "taskstate"]
SESSION = ("session", "add", "101", "--did", "x", "--state", "s", "--next", "n")
ONCE_EACH: dict[str, tuple[str, ...]] = {
    "init": ("init", "--pre-commit"),
    "completion": ("completion", "bash"),
    "new": ("new", "7", "--title", "T"),
    "start": ("start", "7"),
    "finish": ("finish", "7", "--did", "x", "--state", "s", "--next", "n"),
    "show": ("show", "101"),
    "brief": ("brief", "101"),
    "list": ("list",),
    "search": ("search", "JWT"),
    "query": ("query", "stuck"),
    "fleet": ("fleet", "index", ".", "--out", "../fleet"),
    "status": ("status",),
    "board": ("board",),
    "session": SESSION,
    "autosave": ("autosave", "list"),
    "feature": ("feature", "add", "101", "jwt-2", "verifies a JWT"),
    "phase": ("phase", "add", "101", "1", "--name", "Tokens", "--objective", "Issue them"),
    "handoff": ("handoff", "new", "101", "--action=Go on.", "--file=taskstate.toml", "--location=top", "--goal=done"),
    "edit": ("edit", "101", "--area", "web"),
    "criterion": ("criterion", "check", "101", "1"),
    "role": ("role", "set", "101", "implementer", "--status", "in_progress"),
    "snapshot": ("snapshot", "take", "101", "--role", "implementer"),
    "purge": ("purge", "101"),
    "qa": ("qa", "record", "101", "--from", "taskstate.toml", "--result", "test=2 passed", "--note", "it came late"),
    "trust": ("trust",),
    "evidence": ("evidence", "add", "101", "--type", "plan", "--path", "taskstate.toml"),
    "context": ("context", "budget", "101"),
    "git-history": ("git-history", "sync", "101"),
    "archive": ("archive", "101"),
    "decompose": ("decompose", "101", "--apply"),
    "next": ("next",),
    "chain": ("chain", "status"),
    "graph": ("graph",),
    "report": ("report", "--pull-request"),
    "log": ("log", "101"),
    "permanent": ("permanent", "status"),
    "impact": ("impact", "add", "module", "api", "--planned"),
    "complete": ("complete", "101", "--force", "--note", "as far as it goes"),
    "reopen": ("reopen", "101", "--note", "more to do"),
    "drop": ("drop", "101", "--note", "given up"),
    "lint": ("lint",),
    "fmt": ("fmt",),
    "protocol": ("protocol", "101"),
    "rule": ("rule", "TS404"),
    "doctor": ("doctor", "renumber", "7", "8"),
    "import": ("import", "--list"),
    "export": ("export", "json"),
    "migrate": ("migrate",),
    "merge-driver": ("merge-driver", "taskstate.toml", "taskstate.toml", "taskstate.toml", "taskstate.toml"),
}


@pytest.fixture
def root(repository: Path) -> Path:
    """Return a real git repository with a commit, and task 101."""
    subprocess.run(["git", "commit", "--quiet", "--allow-empty", "--message=begin"], cwd=repository, check=True)
    Place(repository)
    return repository


# Real processes


def test_exit_statuses(root: Path, run_cli: RunCli) -> None:
    """0 done, 1 found something, 2 could not be done; what went wrong is one line on standard error."""
    assert run_cli("lint").returncode == 0
    path = root / ".taskstate/tasks/task-101-state.md"
    path.write_text(path.read_text(encoding="utf-8").replace('"passes": false', '"passes": maybe'), encoding="utf-8")
    result = run_cli("lint", "--format", "json")
    assert (result.returncode, result.stderr) == (1, "")
    assert [each["code"] for each in json.loads(result.stdout)["data"]["findings"]] == ["TS005"]
    before = tree(root)
    refused = run_cli("feature", "pass", "101", "jwt-1", "--evidence", "x")
    assert (refused.returncode, refused.stdout, refused.stderr.count("\n")) == (2, "", 1)
    assert refused.stderr.startswith("taskstate: the Feature Checklist of task 101 cannot be read")
    assert tree(root) == before


def test_actor_is_the_git_user(root: Path, run_cli: RunCli) -> None:
    """Without a flag or setting, who writes is whom git would name, and the commit is noted."""
    assert run_cli("criterion", "check", "101", "1").returncode == 0
    text = (root / ".taskstate/tasks/task-101-state.md").read_text(encoding="utf-8")
    assert "  updated_by: Somebody\n" in text
    assert run_cli("criterion", "check", "101", "2", env={"TASKSTATE_ACTOR": "An agent"}).returncode == 0
    assert "  updated_by: An agent\n" in (root / ".taskstate/tasks/task-101-state.md").read_text(encoding="utf-8")
    assert run_cli("criterion", "uncheck", "101", "2", "--actor", "x").returncode == 0
    assert "  updated_by: x\n" in (root / ".taskstate/tasks/task-101-state.md").read_text(encoding="utf-8")


def test_root_is_found_named_and_inherited(root: Path, run_cli: RunCli, tmp_path: Path) -> None:
    """The repository is found upwards, by --root, or by TASKSTATE_ROOT; the flag goes before the setting."""
    for arguments, cwd, env in (
        (("list",), root / ".taskstate" / "tasks", {}),
        (("list", "--root", root), tmp_path, {}),
        (("list",), tmp_path, {"TASKSTATE_ROOT": str(root)}),
        (("list", "--root", root), tmp_path, {"TASKSTATE_ROOT": "/nonexistent"}),
        (("list", "--config", root / "taskstate.toml"), tmp_path, {}),
    ):
        done = run_cli(*arguments, cwd=cwd, env=env)
        assert "101" in done.stdout, (arguments, done.stderr)
    missing = run_cli("list", cwd=tmp_path, env={"TASKSTATE_ROOT": "/nonexistent"})
    assert (missing.returncode, "there is no folder /nonexistent" in missing.stderr) == (2, True)


def test_interrupted_command_changes_nothing(root: Path) -> None:
    """Ctrl-C ends a command with 130 and without a traceback, and nothing is recorded."""
    before = tree(root)
    command = [*TASKSTATE, "feature", "pass", "101", "jwt-1", "--run", "touch .git/begun; sleep 60"]
    process = subprocess.Popen(
        command, cwd=root, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    deadline = time.monotonic() + 30
    while not (root / ".git" / "begun").exists() and time.monotonic() < deadline:
        time.sleep(0.02)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=30)
    assert (process.returncode, out, err) == (130, "", "")
    assert tree(root) == before


@pytest.mark.parametrize("arguments", [("rule",), ("list",)])
def test_reader_that_has_gone_is_no_fault(root: Path, arguments: tuple[str, ...]) -> None:
    """A pipe without a reader ends a command in silence, with little to print as with much."""
    reading, writing = os.pipe()
    os.close(reading)
    try:
        done = subprocess.run(
            [*TASKSTATE, *arguments], cwd=root, stdout=writing, stderr=subprocess.PIPE, text=True, check=False
        )
    finally:
        os.close(writing)
    assert (done.returncode, done.stderr) == (0, "")


def test_closed_standard_input_is_empty(root: Path) -> None:
    """Where there is no standard input, nothing is read from it."""
    command = "exec " + " ".join([*TASKSTATE, *SESSION, "--issue", "-"]) + " <&-"
    done = subprocess.run(["sh", "-c", command], cwd=root, capture_output=True, text=True, check=False)
    assert (done.returncode, "an issue is empty" in done.stderr) == (2, True)


@pytest.mark.parametrize(
    ("arguments", "closed", "status"), [("list", ">&-", 0), ("show 9", "2>&-", 2), ("show 9", ">&- 2>&-", 2)]
)
def test_closed_output_is_no_fault(root: Path, arguments: str, closed: str, status: int) -> None:
    """Where a stream was closed, what would go there goes nowhere, and the exit status says how it went."""
    command = f"exec {' '.join(TASKSTATE)} {arguments} {closed}"
    assert subprocess.run(["sh", "-c", command], cwd=root, check=False).returncode == status


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="this system has no /dev/full")
@pytest.mark.parametrize("arguments", ["rule", "list", "rule --format json"])
def test_full_disk_is_told(root: Path, arguments: str) -> None:
    """Where the output cannot be written, that is one line and no fault of ours."""
    command = f"exec {' '.join(TASKSTATE)} {arguments} >/dev/full"
    done = subprocess.run(["sh", "-c", command], cwd=root, stderr=subprocess.PIPE, text=True, check=False)
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    assert "cannot write the output" in done.stderr


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="this system has no /dev/full")
@pytest.mark.parametrize("form", ["", "--format json"])
def test_what_was_recorded_is_told_where_the_output_is_lost(root: Path, form: str) -> None:
    """The line says that it is recorded; a dry run has recorded nothing."""
    words = "session add 101 --did a --state b --next c"
    for flags, is_recorded in ((f"{form} --dry-run", False), (form, True), (form, False)):
        command = f"exec {' '.join(TASKSTATE)} {words} {flags} >/dev/full"
        done = subprocess.run(["sh", "-c", command], cwd=root, stderr=subprocess.PIPE, text=True, check=False)
        assert (done.returncode, done.stderr.count("\n")) == (2, 1)
        assert ("is recorded" in done.stderr) == is_recorded
        assert ("run this again" in done.stderr) != is_recorded


def test_working_folder_that_is_gone(tmp_path: Path) -> None:
    """A folder that was deleted under one's feet is one clear error."""
    removed = tmp_path / "gone"
    removed.mkdir()
    command = f"cd {removed} && rmdir {removed} && exec {' '.join(TASKSTATE)} list"
    environment = os.environ | {"PYTHONPATH": str(Path(task_list.__file__).parent.parent)}
    done = subprocess.run(["sh", "-c", command], capture_output=True, text=True, check=False, env=environment)
    assert (done.returncode, done.stderr.count("\n")) == (2, 1), done.stderr
    assert "the working folder is gone" in done.stderr


def test_output_is_utf8_wherever(root: Path, run_cli: RunCli) -> None:
    """Text is printed and read as UTF-8 in every language setting."""
    env = {"LC_ALL": "C", "LANG": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0", "PYTHONIOENCODING": "ascii"}
    done = run_cli(*SESSION, "--issue", "-", stdin="caf\u00e9 \u65e5\u672c", env=env)
    assert done.returncode == 0, done.stderr
    assert "caf\u00e9 \u65e5\u672c" in run_cli("session", "show", "101", "1", env=env).stdout
    assert (root / ".taskstate").is_dir()


# In this process


def test_no_command_prints_help(cli: Cli) -> None:
    """Without arguments the commands are listed; --version prints the version."""
    out = cli.ok()
    assert all(re.search(rf"^ +{command}\b", out, re.MULTILINE) for command in COMMANDS)
    assert "None" not in out
    assert cli.ok("--version") == f"taskstate {VERSION}\n"


def test_every_command_has_help(cli: Cli) -> None:
    """Each operation has its flags in its help, and names those that it shares with all, or with all that write."""
    common = ("--format {text,json}", "--root DIR", "--config FILE", "--quiet", "--verbose", "--no-color")
    writing = ("--actor NAME", "--expect-revision TOKEN", "--dry-run", "--force-secrets")
    for each in operations():
        out = " ".join(cli.ok(*each.name.split(), "--help").split())
        assert out.startswith(f"usage: taskstate {each.name} ")
        assert "None" not in out
        assert all(flag in out for flag in common)
        assert all(flag in out for flag in writing) or not each.writes
    for command in COMMANDS:
        assert cli.ok(command, "--help").startswith(f"usage: taskstate {command} ")


def test_every_command_is_in_one_group(cli: Cli) -> None:
    """The help begins with what one needs first, and has each command in one group; what programs start is last."""
    heads = (
        *("begin here", "look", "single steps of a turn", "decide on a task", "share context", "keep files in order"),
        *("set up", "started by other programs"),
    )
    groups = dict(re.findall(r"^(\w[\w ]+):\n((?:  .*\n)+)", cli.ok("--help"), re.MULTILINE))
    assert tuple(groups)[1:9] == heads
    assert re.findall(r"^  (\S+)", groups["begin here"], re.MULTILINE) == ["init", "new", "start", "finish", "status"]
    rows = [name for head in heads for name in re.findall(r"^  (\S+)", groups[head], re.MULTILINE)]
    assert sorted(rows) == sorted(COMMANDS)
    apart = re.findall(r"^  (\S+)", groups[heads[-1]], re.MULTILINE)
    assert apart == ["hook", "merge-driver", "lsp", "mcp"]


def test_what_commands_share_is_described_once(cli: Cli) -> None:
    """The help of all commands describes it, and that of one only names it."""
    for words in ("as a unified diff, and write nothing", "root of the repository"):
        assert words in " ".join(cli.ok("--help").split())
        assert words not in " ".join(cli.ok("session", "add", "--help").split())


@pytest.mark.parametrize(
    ("arguments", "near"),
    [(("show", "1011"), "101"), (("graph", "110"), "101"), (("start", "AUTH2"), "auth-2"), (("show", "7"), "")],
)
def test_the_nearest_task_is_offered(cli: Cli, place: Place, arguments: tuple[str, ...], near: str) -> None:
    """Where a task does not exist the error names the one that was meant, if there is one like it."""
    place.new("auth-2")
    listed = "`taskstate list` shows the tasks that exist"
    asked = f"did you mean {near}? ({listed})" if near else listed
    assert cli.refused(*arguments) == f"there is no task {arguments[1]}: {asked}"


@pytest.mark.parametrize(
    ("arguments", "what"),
    [
        (("xyzzy",), "unknown command 'xyzzy': see `taskstate --help`"),
        (("stats",), "unknown command 'stats': did you mean status? (all commands: taskstate --help)"),
        (("\x1b[31m",), "unknown command"),
        (("--nope",), "required"),
        (("list", "--nope"), "list: unknown option '--nope': see `taskstate list --help`"),
        ((*SESSION, "--sate=s"), "session add: unknown option '--sate': did you mean --state?"),
        (("archive", "-q", "verify", "101"), "write `taskstate archive verify` first, then its flags"),
        (("session", "ad"), "session: unknown action 'ad': did you mean add? (all actions: taskstate session --help)"),
        (("session", "show", "101", "1", "2"), "session show: unrecognized arguments: 2: see `taskstate session show"),
        (("list", ""), "list: unrecognized arguments: '': see `taskstate list --help`"),
        (("trust", ""), "'' names no task"),
        (("permanent", "status", ""), "'' names no task"),
        (("list", "--root"), "expected one argument: see"),
        (("list", "--root", "-q"), "expected one argument: write `--root=…` where its value is '-q', which is a flag"),
        (("feature", "add", "101", "f", "--x"), "required: TEXT: if '--x' is a text: write it last, after `--`"),
        (("list", "--root", "/nonexistent\x1b"), "no folder /nonexistent\\x1b"),
        (("list", "--config", "/nonexistent/x.toml"), "does not exist"),
        (("list", "--config", "."), "folder"),
        (("list", "--root", ""), "--root is empty"),
        (("list", "--config", ""), "--config is empty"),
        ((*SESSION, "--expect-revision", ""), "--expect-revision is empty"),
        ((*SESSION, "--from", ""), "--from is empty"),
        (("new", "7", "--title", "T", "--from", ""), "--from is empty"),
        (("list", "--format=--"), "invalid choice: '--'"),
        (("lint", "--jobs=--"), "invalid int value: '--'"),
        (("list", "--root=--"), "there is no folder --"),
    ],
)
def test_wrong_arguments_are_refused(cli: Cli, arguments: tuple[str, ...], what: str) -> None:
    """Arguments that cannot be parsed give a one-line error that names the help."""
    message = cli.refused(*arguments)
    assert what in message
    assert not message.startswith("taskstate: ")
    assert "\x1b" not in message


def test_two_dashes_are_a_value_like_any_other(cli: Cli, place: Place) -> None:
    """Behind `--flag=` they do not end the flags: a session was a fault of our own, and an actor was passed over."""
    cli.ok("session", "add", "101", "--did=--", "--state=--", "--next=--", "--actor=--")
    assert cli.ok("session", "list", "101").rstrip().endswith(" --")
    assert "updated_by: --\n" in place.text or 'updated_by: "--"\n' in place.text


@pytest.mark.parametrize(
    ("arguments", "name", "value"),
    [
        (("session", "add", "1", "--did", "-q is quiet"), "did", ["-q is quiet"]),
        (("session", "add", "1", "--did", "--dry-run is honoured"), "did", ["--dry-run is honoured"]),
        (("session", "add", "1", "--did", "--strict"), "did", ["--strict"]),
        (("session", "add", "1", "--did", "--format=json is read"), "did", ["--format=json is read"]),
        (("session", "add", "1", "--di", "-5 degrees"), "did", ["-5 degrees"]),
        (("session", "add", "1", "--did=-q", "--state", "- a"), "state", "- a"),
        (("new", "1", "--title", "t", "--criterion", "-a", "--criterion", "- b"), "criterion", ["-a", "- b"]),
        (("feature", "add", "1", "f", "-q is quiet"), "text", "-q is quiet"),
        (("feature", "add", "1", "f", "--dry-run = x"), "text", "--dry-run = x"),
        (("feature", "add", "1", "f", "--", "--strict"), "text", "--strict"),
    ],
)
def test_a_value_may_begin_with_a_dash(arguments: tuple[str, ...], name: str, value: str | list[str]) -> None:
    """A flag takes the next word unless that is exactly a flag of the command, and a text with a blank is no flag."""
    assert getattr(parse(arguments, COMMANDS)[1], name) == value


@pytest.mark.parametrize("toml", ["[size]\nmax-kb = 'x'\n", "nope = 1\n", "= 1\n", "root = '..'\n"])
def test_wrong_configuration_is_refused(cli: Cli, place: Place, toml: str) -> None:
    """A configuration that is wrong is one clear error, whatever is to be done; a rule's page and a merge need none."""
    place.configure(toml)
    for command in ("rule", "merge-driver"):
        cli.ok(*ONCE_EACH[command])
    for command in ("list", "session", "lint", "init"):
        assert "taskstate.toml" in cli.refused(*ONCE_EACH[command])


def test_repository_that_is_not_set_up_is_refused(cli: Cli, place: Place, tmp_path: Path) -> None:
    """Where nothing is set up, every command reports the one that does it."""
    place.root = tmp_path / "empty"
    place.root.mkdir()
    for command in sorted(set(ONCE_EACH) - {"init", "completion", "lint", "rule", "merge-driver", "fleet"}):
        assert f"run `taskstate init --root {tmp_path / 'empty'}` there" in cli.refused(
            *ONCE_EACH[command], "--root", place.root
        ), command


@pytest.mark.parametrize("flag", ["--format=json", "--form=json", "--forma"])
def test_json_may_be_asked_for_in_every_way(cli: Cli, flag: str) -> None:
    """An abbreviated flag means what it stands for."""
    arguments = [flag] if "=" in flag else [flag, "json"]
    assert json.loads(cli.ok("list", *arguments))["success"] is True
    assert cli("list", "--quiet", *arguments).out


def test_fault_of_our_own_is_one_line_and_a_log(cli: Cli, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A fault of the tool itself exits with 3, and the traceback is in a log that is named."""

    def fail(*_: Any, **__: Any) -> None:  # noqa: ANN401 - a stand-in
        raise RuntimeError("secret \x1b inside")

    monkeypatch.setattr(task_list, "_all_tasks", fail)
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    result = cli("list")
    assert (result.status, result.out, result.err.count("\n")) == (3, "", 1)
    log = Path(result.err.rstrip("\n").rpartition(" in ")[2])
    assert log.parent == tmp_path
    assert "RuntimeError: secret" in log.read_text(encoding="utf-8")
    envelope = json.loads(cli("list", "--format", "json").out)
    assert (envelope["success"], envelope["code"]) == (False, "fault")


def test_every_command_answers_in_json(root: Path) -> None:
    """Each command prints the envelope and nothing else, and exits with 0."""
    assert set(ONCE_EACH) == set(COMMANDS) - {
        "demo",
        "hook",
        "lsp",
        "mcp",
        "serve",
    }  # these speak to others, or for long
    repo = Repo(root, init=False)
    repo.ok("new", "1", "--kind", "permanent", "--title", "T")
    for arguments in ONCE_EACH.values():
        done = repo.run(*arguments, "--format", "json")
        assert (done.status, done.err, json.loads(done.out)["success"]) == (0, "", True), arguments
    assert len(tree(root)) > 8


def test_commands_do_not_get_in_each_others_way(cli: Cli) -> None:
    """Every command can be called in one process after every other, as servers do."""
    for _round in range(2):
        for arguments in ONCE_EACH.values():
            assert cli(*arguments).status in {0, 2}


def test_unfinished_write_is_told_by_the_next_command(cli: Cli, place: Place) -> None:
    """What a killed command left is finished by a command that only reads, and reported on standard error."""
    one, other = (f".taskstate/archives/task-{number}-archive.md" for number in (102, 103))
    plan = (journal.Create(one, b"a"), journal.Create(other, b"b"))
    leave_plan(place.workspace.private, plan)
    result = cli("list")
    assert (result.status, f"finished an interrupted change of {one}, {other}" in result.err) == (0, True)
    assert cli("list").err == ""
    assert (place.root / other).exists()


def test_what_is_to_be_done_at_exit_is_done(tmp_path: Path) -> None:
    """The process ends with the command's exit status, after its output is written and all that was registered ran."""
    code = "import atexit; atexit.register(print, 'bye', flush=True); from taskstate.__main__ import run; run()"
    for arguments, status, said in ((("--version",), 0, f"taskstate {VERSION}"), (("show", "7"), 2, "")):
        command = [sys.executable, "-c", code, *arguments]
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, encoding="utf-8", check=False)
        assert (done.returncode, done.stdout.split("\n")) == (status, [*([said] if said else []), "bye", ""])


@pytest.mark.parametrize(
    ("code", "status"),
    [
        ("import _signal; _signal.getsignal = lambda _: stop()", 130),
        ("import functools; functools.cached_property.__set_name__ = lambda *_: stop()", 130),
        ("import taskstate.cli.main as m; m._ready_streams = stop", 130),
        ("import taskstate.cli.main as m; m._ready_streams = ignored", 130),
        ("import atexit; atexit.register(os.kill, os.getpid(), signal.SIGINT)", 0),
    ],
    ids=["before", "building a class", "beginning", "ignored", "behind"],
)
def test_ctrl_c_at_the_very_beginning_or_end_prints_nothing(tmp_path: Path, code: str, status: int) -> None:
    """Before there is a command it ends the process with 130, and behind it changes nothing; neither is a traceback."""
    lines = (
        "import os, signal, time",
        "def stop(): os.kill(os.getpid(), signal.SIGINT)",
        "class Ignoring: __del__ = lambda self: stop()",
        "def ignored(): Ignoring(); time.sleep(20)",
        code,
    )
    end = "import sys; sys.argv[1:] = ['--version']; from taskstate.__main__ import run; run()"
    done = subprocess.run(
        [sys.executable, "-c", "\n".join((*lines, end))], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (status, "")


def test_ctrl_c_that_python_words_differently_is_no_fault(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where Python makes another error of an interrupt, as while it builds a class, the status is 130 all the same."""

    def fail(*_: object) -> int:
        raise RuntimeError("Error calling __set_name__") from KeyboardInterrupt()

    monkeypatch.setattr("taskstate.cli.main.run_command", fail)
    done = cli("list")
    assert (done.status, done.err) == (130, "")


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_a_command_that_is_told_to_end_leaves_nothing_running(root: Path, number: signal.Signals) -> None:
    """SIGTERM and SIGHUP end it like Ctrl-C, with what it had started in a session of its own."""
    for issue in ("first", "second"):
        subprocess.run([*TASKSTATE, *SESSION, "--issue", issue], cwd=root, capture_output=True, check=True)
    summarizer = "sh -c 'echo $$ > .git/begun; sleep 60'"
    command = [*TASKSTATE, "archive", "101", "--force", "--keep", "1", "--summarizer", summarizer]
    process = subprocess.Popen(
        command,
        cwd=root,
        stdin=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        preexec_fn=partial(signal.signal, number, signal.SIG_DFL),  # noqa: PLW1509 - under nohup it is ignored
    )
    begun, deadline = root / ".git" / "begun", time.monotonic() + 30
    while not (begun.exists() and begun.read_text()) and time.monotonic() < deadline:
        time.sleep(0.02)
    time.sleep(0.3)  # the moment in which the system starts a program is not covered
    process.send_signal(number)
    assert (process.communicate(timeout=30)[1], process.returncode) == (b"", 128 + number)
    assert is_gone(int(begun.read_text()))


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_git_that_waits_is_ended_with_the_command(root: Path, number: signal.Signals) -> None:
    """Git that lists files beside the command, and waits for one that says nothing, does not stay."""
    (root / "below").mkdir()
    os.mkfifo(root / "below" / ".gitignore")
    handler = signal.default_int_handler if number == signal.SIGINT else signal.SIG_DFL
    process = subprocess.Popen(
        [*TASKSTATE, "lint", "--no-cache"],
        cwd=root,
        stderr=subprocess.PIPE,
        preexec_fn=partial(signal.signal, number, handler),  # noqa: PLW1509 - as above
    )
    children = Path(f"/proc/{process.pid}/task/{process.pid}/children")
    deadline, started = time.monotonic() + 30, ""
    while not started and time.monotonic() < deadline:
        started = " ".join(each.read_text() for each in children.parent.parent.glob("*/children")).strip()
        time.sleep(0.02)
    process.send_signal(number)
    assert (process.communicate(timeout=30)[1], process.returncode) == (b"", 128 + number)
    assert is_gone(int(started.split()[0]))


@pytest.mark.parametrize(("arguments", "status"), [(("show", "9"), 2), (("hook", "a", "b", "c"), 0)])
def test_an_error_that_nobody_takes_keeps_its_status(root: Path, arguments: tuple[str, ...], status: int) -> None:
    """Where neither stream can be written to, the exit status is that of the command, and not of a traceback."""
    with Path("/dev/full").open("wb") as full:
        done = subprocess.run([*TASKSTATE, *arguments], cwd=root, stdout=full, stderr=full, check=False)
    assert done.returncode == status
