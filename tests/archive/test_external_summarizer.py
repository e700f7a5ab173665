from __future__ import annotations

import json
import shlex
import sys
import time
from typing import TYPE_CHECKING

import pytest

from taskstate.archive.external_summarizer import Summarizer
from taskstate.archive.summary import MAX_BYTES, summarise
from taskstate.lint.fixer import fix_file
from taskstate.model.task_state import read_state
from taskstate.syntax.document import parse
from tests.archive.test_summary import LINK, items, session
from tests.support.place import Place

if TYPE_CHECKING:
    from pathlib import Path

    from taskstate.model.task_state import TaskState

pytestmark = pytest.mark.slow  # it starts many processes, most of them git

GOOD = """
import json, sys
asked = json.load(sys.stdin)
done = [{"text": s["did"][0].upper(), "sessions": [s["number"]]} for s in asked["sessions"]]
before = [line for line in (asked["previous"] or {}).get("accomplishments", [])]
done = [{"text": each["text"], "sessions": each["sessions"][0]} for each in before] + done
print(json.dumps({"accomplishments": done, "issues_resolved": []}))
"""
ANSWER = 'import sys; sys.stdin.read(); print("""{}""")'


def state_of(*parts: str) -> TaskState:
    """Return a task in progress with these parts in its log."""
    head = '---\ntaskstate: 1\ntask_id: "1"\ntitle: T\nstatus: in_progress\n---\n\n# Task #1: T - State\n\n'
    return read_state(parse(head + "## 4. Progress Log\n\n" + "".join(parts)))


def program(tmp_path: Path, code: str) -> str:
    """Return the command line of a program."""
    path = tmp_path / "a program.py"
    path.write_text(code, encoding="utf-8")
    return shlex.join([sys.executable, str(path)])


def made(tmp_path: Path, command: str, *parts: str, seconds: float = 20) -> tuple[str, str]:
    """Return the summary by a program of all but the last session, and what is told of it."""
    state = state_of(*(parts or (session(1), session(2), session(3))))
    text, notes = Summarizer(command, tmp_path, seconds).summary(state, state.sessions[:-1], LINK)
    if notes:
        assert text == summarise(state, state.sessions[:-1], LINK)
    return text, "".join(notes)


def test_a_program_writes_the_lists(tmp_path: Path) -> None:
    """The lists are the program's; heading, duration, commits and link are ours."""
    parts = (session(1, commits="abc1234"), session(2, issues="slow"), session(3))
    text, note = made(tmp_path, program(tmp_path, GOOD), *parts)
    assert not note
    assert text == (
        "### Archived Summary (Sessions 1-2)\n\n**Duration:** 2026-01-02 10:00 - 2026-01-03 10:00\n\n"
        "**Key Accomplishments:**\n\n- DID 1 (S1)\n- DID 2 (S2)\n\n**Issues Resolved:** None.\n\n"
        f"**Commits:** abc1234\n\n[Full session details]({LINK})"
    )


def test_a_program_keeps_issues_encountered(tmp_path: Path) -> None:
    """Issues that the earlier summary lists as encountered are asked about, and stand where the program puts them."""
    code = (
        "import json, sys; before = json.load(sys.stdin)['previous']['issues_encountered']; "
        "print(json.dumps({'issues_encountered': [{'text': e['text'], 'sessions': e['sessions'][0]} for e in before]}))"
    )
    before = "### Archived Summary (Sessions 1-2)\n\n**Issues Encountered:**\n\n- slow (S1)\n\n"
    text, note = made(tmp_path, program(tmp_path, code), before, session(3), session(4))
    assert not note
    assert items(text, "Issues Encountered") == ("slow (S1)",)


def test_what_a_program_is_asked(tmp_path: Path) -> None:
    """It gets the task, the sessions that go, the earlier summary and the limit, and runs in the root."""
    code = "import pathlib, sys; pathlib.Path('asked').write_text(sys.stdin.read()); print('{\"accomplishments\": []}')"
    before = "### Archived Summary (Sessions 1-2)\n\n**Key Accomplishments:**\n\n- Began (S1)\n\n"
    text, note = made(
        tmp_path, program(tmp_path, code), before, session(3, issues="slow"), session(4, issues="- ünclear")
    )
    asked = json.loads((tmp_path / "asked").read_text(encoding="utf-8"))
    assert not note
    assert "(Sessions 1-3)" in text
    assert "**Key Accomplishments:** None." in text
    assert (asked["protocol"], asked["first"], asked["last"]) == (1, 1, 3)
    assert asked["task"]["title"] == "T"
    assert asked["task"]["open_issues"] == ["ünclear"]
    (entry,) = asked["sessions"]
    assert entry.pop("text").startswith("### Session 3 - ")
    assert entry == {
        "number": 3,
        "time": "2026-01-04 10:00",
        "did": ["did 3"],
        "issues": ["slow"],
        "state": "s",
        "next": ["n"],
        "commits": [],
    }
    assert asked["previous"] == {
        "first": 1,
        "last": 2,
        "accomplishments": [{"text": "Began", "sessions": [[1, 1]]}],
        "issues_encountered": [],
        "issues_resolved": [],
        "text": before.strip(),
    }
    assert 2000 < asked["limit"]["bytes"] < MAX_BYTES


@pytest.mark.parametrize(
    ("printed", "why"),
    [
        ("", "it printed no JSON"),
        ("[" * 100_000, "it printed no JSON"),
        ("[]", "it printed no object with accomplishments, issues_encountered or issues_resolved"),
        ('{"summary": "x"}', "it printed no object with"),
        ('{"accomplishments": "x"}', "its accomplishments is not a list"),
        ('{"accomplishments": ["x"]}', "accomplishments[0].text is not a text of 1 to 500 characters"),
        ('{"accomplishments": [{"text": " ", "sessions": [1]}]}', "accomplishments[0].text is not a text"),
        ('{"issues_resolved": [{"text": "x"}]}', "issues_resolved[0].sessions is not a list of session numbers"),
        ('{"issues_resolved": [{"text": "x", "sessions": [true]}]}', "issues_resolved[0].sessions is not a list"),
        ('{"issues_resolved": [{"text": "x", "sessions": [3]}]}', "issues_resolved[0].sessions names one outside of 1"),
        ('{"accomplishments": [{"text": "a\\\\u001b[31mb", "sessions": [1]}]}', "holds control characters or several"),
        ('{"accomplishments": [{"text": "a\\\\n## b", "sessions": [1]}]}', "holds control characters or several lines"),
        ('{"accomplishments": [{"text": "a\\\\udc80", "sessions": [1]}]}', "holds control characters or several lines"),
        (
            '{"accomplishments": [' + ",".join(['{"text": "' + "x " * 200 + '", "sessions": [1]}'] * 9) + "]}",
            "its summary would have 3,879 bytes, and 3,072 are the limit",
        ),
    ],
)
def test_unusable_answer(tmp_path: Path, printed: str, why: str) -> None:
    """What is not as asked for is refused as a whole, and the built-in summary serves."""
    _, note = made(tmp_path, program(tmp_path, ANSWER.format(printed)))
    assert why in note
    assert note.startswith("warning: the summarizer ")
    assert note.endswith("; the built-in summary was used")


@pytest.mark.parametrize("text", ["# Heading", "```", "<!-- x", "**Commits:** x", "---", "- a", "> x"])
def test_answer_makes_no_structure(tmp_path: Path, text: str) -> None:
    """Whatever a program says, it ends with its list item."""
    answer = json.dumps({"accomplishments": [{"text": text, "sessions": [1, 2]}, {"text": "y", "sessions": [2]}]})
    summary, note = made(tmp_path, program(tmp_path, ANSWER.format(answer)))
    assert not note
    assert [section.title for section in parse(summary).sections] == ["Archived Summary (Sessions 1-2)"]
    assert items(summary, "Key Accomplishments") == (f"{text} (S1, S2)", "y (S2)")


@pytest.mark.parametrize(
    ("code", "why"),
    [
        ("import sys; print('{}'); sys.exit('no model here \\x1b[31m')", r"it ended with status 1 (no model here \x1b"),
        ("import sys; sys.stderr.buffer.write(b'caf\\xe9 \\n'); sys.exit(1)", "it ended with status 1 (caf\ufffd)"),
        ("import os, signal; os.kill(os.getpid(), signal.SIGKILL)", "it ended with status -9"),
        ("while True: print('x' * 10000)", "it printed more than 256 KB"),
        ("import sys\nwhile True: sys.stderr.write('x' * 10000)", "it had not ended after 1 seconds"),
        ("import os, time; os.close(1); os.close(2); time.sleep(60)", "it had not ended after 1 seconds"),
    ],
)
def test_program_that_fails(tmp_path: Path, code: str, why: str) -> None:
    """A program that crashes, or does not stop, costs its time limit at most."""
    begun = time.monotonic()
    _, note = made(tmp_path, program(tmp_path, code), seconds=1)
    assert why in note
    assert time.monotonic() - begun < 10


def test_longest_answer_that_is_read(tmp_path: Path) -> None:
    """An answer of exactly 256 KB is read, whatever fills it up."""
    code = "import sys; sys.stdin.read(); print('{\"accomplishments\": []}'.ljust(256 * 1024 - 1))"
    assert made(tmp_path, program(tmp_path, code))[1] == ""


def test_slow_program_ends_with_all_that_it_started(tmp_path: Path) -> None:
    """After the time limit nothing of the program is left running, also not what holds its pipes."""
    code = (
        "import subprocess, sys\n"
        "code = 'import pathlib, time; time.sleep(2); pathlib.Path(\"left\").touch()'\n"
        "subprocess.Popen([sys.executable, '-c', code])\n"
        "print('{}')\n"
    )
    _, note = made(tmp_path, program(tmp_path, code), seconds=1)
    assert "it had not ended after 1 seconds" in note
    time.sleep(2)
    assert not (tmp_path / "left").exists()


@pytest.mark.parametrize(
    ("command", "why"),
    [
        ("/no/such/program", "it could not be started (No such file or directory)"),
        ("'open", "its command line cannot be read (No closing quotation)"),
        ("#", "it could not be started"),
        ("  ", "its command line names no program"),
        ("a\0b", "its command line names no program"),
        ("touch made; true", "it printed no JSON"),
    ],
)
def test_command_line(tmp_path: Path, command: str, why: str) -> None:
    """A command line is split into words, and no shell reads it."""
    _, note = made(tmp_path, command)
    assert why in note
    assert not (tmp_path / "made").exists()


def test_program_from_the_configuration(tmp_path: Path) -> None:
    """The one in the configuration is used, by archiving and by a session that makes the file too large."""
    place = Place(tmp_path / "r")
    command = program(tmp_path, GOOD + "open('runs', 'a').write('x')\n")
    place.configure(
        f"[size]\nmax-kb = 4\nwarn-kb = 3\nkeep-sessions = 1\n[archive]\nsummarizer = {json.dumps(command)}\n"
    )
    place.trust()
    place.add("did one")
    place.add("did two", state="word " * 800)
    assert "- DID ONE (S1)\n" in place.text
    place.add("did three")
    assert "- DID ONE (S1)\n- DID TWO (S2)\n" in place.text
    assert (place.root / "runs").read_text(encoding="utf-8") == "xx"


def test_program_that_nobody_allowed_is_left_out(tmp_path: Path) -> None:
    """A configuration that came by git, or changed since it was trusted, runs nothing: the built-in summary serves."""
    place = Place(tmp_path / "r")
    place.fill(1, 2, 3)
    table = "[archive]\nsummarizer = {}\n"
    place.configure(table.format(json.dumps(program(tmp_path, GOOD + "open('runs', 'a').write('x')\n"))))
    (note,) = (each for each in place.archive(keep=2).notes if "summarizer" in each)
    assert note.startswith("warning: the summarizer ")
    assert "the built-in summary was used, and `taskstate trust` allows it" in note
    assert not (place.root / "runs").exists()
    place.trust()
    place.configure(table.format(json.dumps(program(tmp_path, "open('runs', 'a').write('x')\n") + " --more")))
    assert any("nobody has allowed it here" in each for each in place.archive(keep=1).notes)
    assert not (place.root / "runs").exists()
    assert "- did 1 (S1)\n- did 2 (S2)\n" in place.text


def test_linter_runs_no_program(tmp_path: Path) -> None:
    """Fixing files archives with the built-in summary: a linter runs over files of strangers."""
    place = Place(tmp_path / "r")
    place.add("did one " + "word " * 800)
    place.add("did two")
    command = program(tmp_path, "open('runs', 'a').write('x')")
    place.configure(
        f"[size]\nmax-kb = 4\nwarn-kb = 3\nkeep-sessions = 1\n[archive]\nsummarizer = {json.dumps(command)}\n"
    )
    place.trust()
    fix_file(place.checking(), place.path, place.request())
    assert "### Archived Summary (Sessions 1-1)" in place.text
    assert not (place.root / "runs").exists()


def test_lock_is_free_while_a_program_runs(tmp_path: Path) -> None:
    """Another command writes while the program is at work; the archiving then goes by what is there."""
    place = Place(tmp_path / "r")
    place.fill(1, 2, 3)
    code = (
        "import subprocess, sys, pathlib\n"
        "if not pathlib.Path('once').exists():\n"
        "    pathlib.Path('once').touch()\n"
        "    args = [sys.executable, '-m', 'taskstate', 'criterion', 'check', '101', '1']\n"
        "    subprocess.run(args, check=True, stdout=subprocess.DEVNULL, timeout=9)\n"
    )
    place.configure(f"[archive]\nsummarizer = {json.dumps(program(tmp_path, code + GOOD))}\n")
    place.trust()
    outcome = place.archive()
    assert not any("warning" in note for note in outcome.notes)
    assert "- DID 1 (S1)\n- DID 2 (S2)\n" in place.text
    assert "- [x] Tokens verify" in place.text
