"""Which programs are above us, which of them is a client's, and whether a process still runs."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from taskstate.storage import callers

if TYPE_CHECKING:
    from pathlib import Path

ASK = """
import json, sys
from taskstate.storage import callers
if sys.argv[1] == "ps":
    callers._PROC = "/nowhere"
found = callers.client_process()
print(json.dumps([found, callers.is_running(found), [each.words for each in callers.processes()]]))
"""


@pytest.mark.parametrize(
    "way", [pytest.param("ps", marks=pytest.mark.skipif(not shutil.which("ps"), reason="no ps")), ""]
)
@pytest.mark.parametrize("name", ["codex", "unheard-of"])
def test_a_hook_finds_its_client(tmp_path: Path, way: str, name: str) -> None:
    """It is the nearest program of a client, else what has started the shell; and it runs until it has ended."""
    if not way and sys.platform != "linux":
        pytest.skip("only there /proc tells")
    program = tmp_path / name
    shutil.copy("/bin/sh", program)
    (tmp_path / "ask.py").write_text(ASK, encoding="utf-8")
    hook = f"/bin/sh -c '{sys.executable} {tmp_path}/ask.py \"{way}\" || exit 1; : taskstate hook stop --agent claude'"
    done = subprocess.run(
        [program, "-c", f"echo $$; {hook}; exit $?"],
        capture_output=True,
        check=True,
        text=True,
        stdin=subprocess.DEVNULL,
    )
    client, said = done.stdout.splitlines()
    found, is_running, words = json.loads(said)
    assert (found.split(" ")[0], is_running) == (client, True), words
    assert not callers.is_running(found)


@pytest.mark.parametrize(
    ("words", "client"),
    [
        (("claude", "-p", "go"), "claude"),
        (("/lib/node_modules/@anthropic-ai/claude-code/bin/claude.exe",), "claude"),
        (("node", "--no-warnings", "/lib/node_modules/@openai/codex/bin/codex.js"), "codex"),
        (("/opt/vendor/x86_64/codex/codex", "exec"), "codex"),
        (("node", "/lib/node_modules/@google/gemini-cli/dist/index.js"), "gemini"),
        (("/bin/sh", "-c", "/home/ann/gemini-cli/bin/taskstate hook stop --agent gemini"), ""),
        (("bash", "-lc", "claude"), ""),
        (("python3", "-m", "pytest"), ""),
        (("",), ""),
    ],
)
def test_a_program_is_of_a_client(words: tuple[str, ...], client: str) -> None:
    """Its name tells, or the path of its script; not what a shell was told to run."""
    assert callers.client_of(words) == client


@pytest.mark.parametrize("process", ["", "x 1", "1", "1 0", "999999999 1", "-1 1", "\u0661 1"])
def test_of_what_nothing_is_known_does_not_run(process: str) -> None:
    """A number alone says nothing, for it is given again."""
    assert not callers.is_running(process)
