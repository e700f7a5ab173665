"""What a shell completes a command line with, and the script that has it ask."""

from __future__ import annotations

import shutil
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from taskstate.cli import completion
from tests.support.command_line import COMMANDS, operations
from tests.support.terminal import seen

if TYPE_CHECKING:
    from pathlib import Path

    from tests.cli.conftest import Cli
    from tests.support.place import Place

SHELLS = ("bash", "zsh", "fish")
HOSTILE = "$(touch pwned1); touch pwned2 `touch pwned3` \\x1b[31m 'q\" %F{red} !!"


def words(cli: Cli, *line: str) -> list[str]:
    """Return the words that are offered in place of the last one."""
    return [each.partition("\t")[0] for each in cli.ok("__complete", *line).splitlines()]


@pytest.mark.parametrize(
    ("line", "offered"),
    [
        (("sho",), ["show"]),
        (("nope", ""), []),
        (("session", ""), ["add", "list", "show", "restore"]),
        (("session", "ad"), ["add"]),
        (("impact", "add", "mo"), ["module"]),
        (("show", "101", "--sec"), ["--section"]),
        (("archive", "ver"), ["verify"]),
        (("archive", ""), ["verify", "restore", "search", "101", "auth-2"]),
        (("show", ""), ["101", "auth-2"]),
        (("show", "a"), ["auth-2"]),
        (("show", "--format", "json", "1"), ["101"]),
        (("show", "--quiet", "1"), ["101"]),
        (("new", ""), []),
        (("edit", "101", "--depends-on", "101,a"), ["101,auth-2"]),
        (("list", "--status", "bl"), ["blocked"]),
        (("list", "--status=bl"), ["--status=blocked"]),
        (("list", "--status", "=", "bl"), ["blocked"]),
        (("list", "--status", "="), ["created", "in_progress", "blocked", "complete", "dropped"]),
        (("role", "set", "101", "imp"), ["implementer"]),
        (("role", "set", "101", "implementer", "--status", "d"), ["done"]),
        (("feature", "pass", "101", ""), ["jwt-1"]),
        (("feature", "add", "101", ""), []),
        (("criterion", "check", "101", ""), ["1", "2"]),
        (("finish", "101", "--check", ""), ["1", "2"]),
        (("finish", "101", "--keep", ""), ["1"]),
        (("role", "unblock", "101", "reviewer", "--finding", ""), ["1"]),
        (("phase", "show", "101", ""), ["3", "api"]),
        (("phase", "add", "101", ""), []),
        (("handoff", "new", "101", "--phase", "a"), ["api"]),
        (("evidence", "show", "101", ""), ["log-1"]),
        (("feature", "pass", "7", ""), []),
        (("finish", "101", "--pass", "j"), ["jwt-1"]),
        (("finish", "101", "--did", "text", "--di"), ["--did"]),
        (("show", "101", "--section", "x", "--sec"), []),
        (("rule", "TS951"), ["TS951"]),
        (("lint", "--select", "TS401,TS951"), ["TS401,TS951"]),
        (("completion", ""), list(SHELLS)),
        (("show", "--root", "/nonexistent", ""), []),
    ],
)
def test_each_word_of_a_line_is_completed(cli: Cli, place: Place, line: tuple[str, ...], offered: list[str]) -> None:
    """Commands, actions, flags, choices, tasks, parts of a task, roles and rules, each where it may stand."""
    place.new("auth-2")
    if "101" in line:
        cli.ok("role", "block", "101", "implementer", "--finding", "slow")
        cli.ok("phase", "add", "101", "3", "--name", "API")
        cli.ok("phase", "add", "101", "api", "--name", "Again")
        (place.root / "a.txt").write_text("one\n", encoding="utf-8")
        cli.ok("evidence", "add", "101", "--type", "log", "--path", "a.txt")
    assert words(cli, *line) == offered


def test_commands_and_tasks_are_described(cli: Cli, place: Place) -> None:
    """A command by what it is for, a task by its title, a feature by its words; nothing is written but the index."""
    before = place.text
    assert "show\tshow a task, or one section of it\n" in cli.ok("__complete", "")
    assert cli.ok("__complete", "show", "1") == "101\tJWT Service\n"
    assert cli.ok("__complete", "feature", "pass", "101", "") == "jwt-1\tmakes a JWT\n"
    assert place.text == before


def test_a_closed_output_is_no_fault(place: Place) -> None:
    """As whatever a shell does with it."""
    command = f"{sys.executable} -m taskstate __complete show '' >&-"
    done = subprocess.run(["sh", "-c", command], cwd=place.root, capture_output=True, check=False)
    assert (done.returncode, done.stderr) == (0, b"")


def test_of_many_new_tasks_only_the_names_are_read(cli: Cli, place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    """Thousands of tasks that are in no index are offered at once; their titles come with the next command."""
    place.new("102")
    monkeypatch.setattr("taskstate.workspace.task_index._FEW_NEW", 1)
    assert cli.ok("__complete", "show", "") == "101\t\n102\t\n"
    cli.ok("next")
    place.new("103")
    assert cli.ok("__complete", "show", "") == "101\tJWT Service\n102\tJWT Service\n103\tJWT Service\n"


@pytest.mark.parametrize(
    "feature", ["$(touch-pwned)", "`x`", "a;b", "a b", "!x", "~x", "=ls", "--force", "a:b", "a'b", ""]
)
def test_an_id_that_a_shell_would_act_on_is_not_offered(cli: Cli, place: Place, feature: str) -> None:
    """What a file calls a feature may have been written by anybody; what is more than a word stays out."""
    place.text = place.text.replace('"jwt-1"', f'"{feature}"')
    assert words(cli, "feature", "pass", "101", "") == []


def test_a_title_is_told_in_one_line_without_controls_and_credentials(cli: Cli, place: Place) -> None:
    """It is shown beside the id, so it can be no second word of the list, and nothing that a terminal obeys."""
    token = "ghp_" + "Ab1cD2eF3g" * 4
    place.text = place.text.replace("title: JWT Service", f'title: "A \u202e\\tt\\x1b[2J\\n102\\tB {token}"')
    assert cli.ok("__complete", "show", "") == f"101\tA \\u202e t\\x1b[2J 102 B {'*' * 35}\u2026\n"


def test_every_source_stands_for_values_of_some_field() -> None:
    """Where values come from is found by what stands for a value in a usage line."""
    fields = [field for each in operations() for field in each.fields]
    known = {word for field in fields for word in (field.example, field.kind, field.external)}
    known |= {f"{each.name} {field.external}" for each in operations() for field in each.fields}
    assert set(completion._SOURCES) <= known  # noqa: SLF001 - the table


def test_every_operation_offers_its_flags(cli: Cli) -> None:
    """Each flag of each operation can be completed, and those that all commands share."""
    for each in operations():
        offered = words(cli, *each.name.split(), "--")
        own = {f"--{field.external.replace('_', '-')}" for field in each.fields if not field.is_positional}
        assert own | {"--format", "--root"} <= {*offered}, each.name
    assert words(cli, "") == [*COMMANDS]


def test_no_parser_is_built() -> None:
    """A shell waits for the answer: what parses and prints for people is not loaded, nor what reads a state file."""
    slow = ("argparse", "taskstate.cli.output", "taskstate.syntax.document")
    code = "import sys; from taskstate.__main__ import main; main(['__complete', 'show', '']); print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert not {*done.stdout.split()} & {*slow}


@pytest.mark.parametrize("shell", SHELLS)
def test_the_script_is_short(cli: Cli, shell: str) -> None:
    """Each shell gets a few lines that ask; another shell is refused."""
    script = cli.ok("completion", shell)
    assert "taskstate __complete" in script
    assert script.count("\n") < 20
    assert cli.json("completion", shell) == {"script": script}
    assert "'tcsh'" in cli.refused("completion", "tcsh")


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("bash") is None, reason="there is no bash here")
def test_bash_completes(place: Place, tmp_path: Path) -> None:
    """A real bash lists tasks with titles, inserts words alone, and runs nothing of a title."""
    title = HOSTILE.replace("'", "''")
    place.text = place.text.replace("title: JWT Service", f"title: '{title}'")
    place.new("102", title="Rotate keys")
    folder = tmp_path / "bin"
    folder.mkdir()
    (folder / "taskstate").write_text(f'#!/bin/sh\nexec {sys.executable} -m taskstate "$@"\n', encoding="utf-8")
    (folder / "taskstate").chmod(0o755)
    typed = (
        'PATH="$BIN:$PATH"; eval "$(taskstate completion bash)"\n'
        "bind '\"\\C-o\": menu-complete'\n"
        "taskstate show 10\t\t\x15"  # twice: bash lists what there is
        "echo [taskstate lint --sel\t]\n\x15"
        "taskstate list --status=bl\t --ready\x01echo [\x05]\n"
        "taskstate show 10\x0f\x01echo [\x05]\n"
        "exit\n"
    )
    command = ("bash", "--norc", "--noprofile", "-i")
    status, shown = seen(command, cwd=place.root, env={"BIN": str(folder), "INPUTRC": "/dev/null"}, typed=typed)
    assert status == 0
    assert "102  (Rotate keys)" in shown
    assert "101  ($(touch pwned1); touch pwned2" in shown
    assert "[taskstate list --status=blocked --ready]" in shown
    assert "[taskstate show 101]" in shown or "[taskstate show 101 ]" in shown
    assert not [*place.root.glob("pwned*")]
