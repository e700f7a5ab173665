"""Texts that are small and cost much: nested without end, or long, they end in one answer, within bounds of memory."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from tests.support.place import TASK, Place

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.slow  # each runs the real command

MANY = 10_000
KB = 300_000  # of memory that a command may ask for
SECONDS = 60  # of the processor: far beyond what any of these takes, so that one that hangs is ended
FRONT = "status: "
FEATURES = '"features": ['
STATE = f".taskstate/tasks/task-{TASK}-state.md"
COMMANDS = (
    ("lint", "--no-cache", STATE),
    ("fmt", STATE),
    ("show", TASK),
    ("brief", TASK),
    ("session", "add", TASK, "--did", "x", "--state", "s", "--next", "n"),
)
MARKDOWN = {
    "quotes": "> " * MANY + "x",
    "lists": "- " * MANY + "x",
    "quotes and lists": "> - " * MANY + "x",
    "indented lists": "".join("  " * depth + "- x\n" for depth in range(1_000)),
    "HTML": "<div>" * MANY + "\n" + "<div>\n" * MANY,
    "comments": "<!--" * MANY,
    "brackets": "[" * MANY + "]" * MANY,
    "links": "[a](" * MANY,
    "emphasis": "*a **b " * MANY,
    "backticks": " ".join("`" * ticks for ticks in range(1, 300)),
    "hashes": "#" * MANY + "\n## " + "(" * MANY,
    "fence marks": "```" + "a" * MANY + "\n" + "`" * MANY,
    "near directives": "# taskstate ignore " * MANY,
    "escapes": "\x1b[1m\u200b" * MANY,
    "a long line": "word " * 600_000,
}
YAML = {
    "brackets": "x-a: " + "[" * MANY + "]" * MANY,
    "open braces": "x-a: " + "{a: " * MANY,
    "maps": "x-a:\n" + "".join("  " * depth + "a:\n" for depth in range(1, 500)),
    "lists": "x-a:\n  " + "- " * MANY + "x",
    "a long value": "x-a: " + "a" * 2_000_000,
    "a long quoted value": "x-a: '" + "''" * 500_000 + "'",
    "escapes": 'x-a: "' + "\\n" * 500_000 + '"',
    "a long list": "x-a: [" + "a a, " * 20_000 + "a]",
    "a long key": "x-" + "k" * MANY + ": 1",
    "a long number": "revision: " + "9" * MANY,
    "anchors": "".join(f"x-{number}: &a{number} 1\n" for number in range(2_000)),
}
JSON = {
    "arrays": "[" * MANY + "]" * MANY,
    "open arrays": "[" * MANY,
    "objects": '{"a":' * MANY + "1" + "}" * MANY,
    "a deep and wide array": "[" * 90 + ",".join("1" * 20_000) + "]" * 90,
    "a long number": "9" * MANY,
    "a long power": "1e" + "9" * MANY,
    "a long text": '"' + '\\"' * 200_000 + '"',
    "open both": "[" + '{"a": [' * MANY,
    "a list of arrays": "[" + ",".join("[[1]]" for _ in range(MANY)) + "]",
}
# The commands one after the other on the same text, in one process, which takes a fifth of the time of five.
SWEEP = """
import json, pathlib, sys
from taskstate.__main__ import main
state, given = pathlib.Path(sys.argv[1]), sys.stdin.buffer.read()
for words in json.loads(sys.argv[2]):
    state.write_bytes(given)
    assert main(words) in {0, 1, 2}, words
"""
MODULES = ",".join(f'{{"id":"m{number}"}}' for number in range(MANY))


@pytest.fixture
def place(tmp_path: Path) -> Place:
    """Return a repository with one task."""
    return Place(tmp_path / "repository")


def bounded(root: Path, *program: str, given: bytes = b"") -> subprocess.CompletedProcess[bytes]:
    """Run a program in Python with bounds of memory and time, and check that it tells of no fault."""
    bounds = f'ulimit -d {KB}; ulimit -t {SECONDS}; exec "$@"'
    command = ("sh", "-c", bounds, "sh", sys.executable, *program)
    done = subprocess.run(command, cwd=root, input=given, capture_output=True, check=False)
    told = done.stdout + done.stderr
    assert b"Traceback" not in told, told[-500:]
    assert b"fault of taskstate" not in told, told[-500:]
    return done


def run(root: Path, *words: str, given: bytes = b"") -> subprocess.CompletedProcess[bytes]:
    """Run the real command, and check that it ends with an answer."""
    done = bounded(root, "-m", "taskstate", *words, given=given)
    assert done.returncode in {0, 1, 2}, (words, done.stderr[-500:])
    return done


def sweep(place: Place, text: str) -> None:
    """Run the commands on a text of the task, each of which ends with an answer."""
    assert text != place.text
    done = bounded(place.root, "-c", SWEEP, STATE, json.dumps(COMMANDS), given=text.encode())
    assert done.returncode == 0, done.stderr[-500:]


@pytest.mark.parametrize("name", MARKDOWN)
def test_no_markdown_takes_long(place: Place, name: str) -> None:
    """Quotes, lists, HTML, brackets and runs nested ten thousand deep, and a line of megabytes, get their answer."""
    sweep(place, f"{place.text}\n## Notes\n\n{MARKDOWN[name]}\n")


@pytest.mark.parametrize("name", YAML)
def test_no_front_matter_takes_long(place: Place, name: str) -> None:
    """Nesting, values of megabytes and anchors in the front matter get their answer in memory that their size needs."""
    sweep(place, place.text.replace(FRONT, f"{YAML[name]}\n{FRONT}", 1))


@pytest.mark.parametrize("name", JSON)
def test_no_json_takes_long(place: Place, name: str) -> None:
    """Arrays and objects nested ten thousand deep, or ninety deep and wide, get their answer, and stay as small."""
    before = place.text
    sweep(place, before.replace(FEATURES, f'"x-a": {JSON[name]},\n  {FEATURES}', 1))
    assert len(place.text) < 3 * len(JSON[name]) + 10 * len(before) + 10 * MANY


@pytest.mark.parametrize("given", [b"[" * MANY, b'{"a":' * MANY, b"\xff", b'{"a": 1' + b"0" * MANY + b"}"])
def test_hook_takes_any_input(place: Place, given: bytes) -> None:
    """A hook that is given JSON without end, or none, says so in one line and stops nobody."""
    done = run(place.root, "hook", "before-edit", "--agent", "claude", given=given)
    assert (done.returncode, done.stdout) == (0, b"{}\n")
    assert done.stderr.count(b"\n") == 1


@pytest.mark.parametrize("words", [("lint", "-"), ("fmt", "-"), ("hook", "before-edit")])
def test_standard_input_has_a_bound(place: Place, words: tuple[str, ...]) -> None:
    """More than 24 MiB on standard input are refused, with nothing done."""
    named = ("--stdin-filename", "task-1-state.md") if "-" in words else ()
    assert b"more than 24 MiB" in run(place.root, *words, *named, given=b"a" * (24 * 1024**2 + 1)).stderr


def test_a_large_file_is_said_and_not_parsed(place: Place) -> None:
    """A state file of 40 MB is one clear error with its cure at once, and stays as it is."""
    path = place.root / STATE
    path.write_bytes(path.read_bytes() + b"### Session 1 - x\n\n- a\n" * 1_600_000)
    before = path.stat().st_mtime_ns
    for words in COMMANDS:
        done = run(place.root, *words)
        assert (done.returncode, b"holds more than 24 MiB: " in done.stderr) == (2, True), words
    assert path.stat().st_mtime_ns == before


@pytest.mark.parametrize("toml", ["a = " + "[" * MANY, "a" + ".a" * MANY + " = 1", "[a" + ".a" * MANY + "]"])
def test_no_toml_takes_long(place: Place, toml: str) -> None:
    """Configuration of ours, or of a client that `init` adds to, that nests without end is one clear error."""
    client = place.root / ".codex" / "config.toml"
    client.parent.mkdir()
    client.write_text(toml, encoding="utf-8")
    assert b"not added to  .codex/config.toml: " in run(place.root, "init", "--agent", "codex").stdout
    assert client.read_text(encoding="utf-8") == toml
    place.configure(toml)
    assert b"is not valid TOML" in run(place.root, "list").stderr


def test_findings_in_one_line_are_shown_by_their_part_of_it(place: Place) -> None:
    """Thousands of findings in a file of one line are reported, each with the part of the line around it."""
    path = place.workspace.map_file(TASK)
    path.write_text(f'{{"modules":[{MODULES}]}}', encoding="utf-8")
    for output in ("text", "json", "sarif"):
        done = run(place.root, "lint", "--output-format", output, str(path))
        assert len(done.stdout) < 2_000 * MANY
        assert done.stdout.count(b"interfaces") >= 1
