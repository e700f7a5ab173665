"""How a session may end, and what is left of it then: `tests/cases/autosave/endings.json`, which the docs show.

With `RECORD=1` the file is written anew.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.clients.model import Step
from tests.support.place import TASK

if TYPE_CHECKING:
    from tests.clients.room import Room

TABLE = Path(__file__).parents[1] / "cases" / "autosave" / "endings.json"
# By the name in the table, what is run in the session; the client is whatever runs below the first process.
ENDINGS = {
    "it ends by itself": "echo over",
    "SIGTERM": "end TERM",
    "SIGHUP": "end HUP",
    "SIGKILL": "end KILL",
}
# To all that was started first, or is a program of the client. In a file: Gemini CLI runs no `$(...)`.
_END = """\
#!/bin/sh
programs=$(cd /proc; for p in [0-9]*; do grep -qa 'node_m[o]dules/' $p/cmdline && echo $p; done)
for each in $programs $(ps -o pid= --ppid 1); do kill -$1 $each; done
sleep 20
"""
_CALLS = frozenset(("session-end", "interrupt"))


@pytest.mark.parametrize("ending", ENDINGS)
def test_an_ending_leaves_what_the_table_says(room: Room, ending: str) -> None:
    """Whether a hook ran or not, the next start records exactly one session, with its file."""
    room.taskstate("init", "--quiet", "--autosave", "facts")
    room.place.commit("autosave")
    room.taskstate("start", TASK, "--agent", "ann")
    script = room.folder / "bin" / "end"
    script.write_text(_END, encoding="utf-8")
    script.chmod(0o755)
    session = room.play(
        Step(calls=[room.call("write", path="src/new.py", content="x = 1")]),
        Step(calls=[room.call("shell", command=ENDINGS[ending])]),
        Step("Done."),
        Step("Done."),
    )
    room.taskstate("start", TASK, "--agent", "ann")
    (told,) = room.place.state.sessions
    assert told.is_autosaved
    assert told.did[0].startswith("`src/new.py`: new")
    name, has_hook = str(room.client), any(each.event in _CALLS for each in session.hooks)
    if "RECORD" in os.environ:
        rows = json.loads(TABLE.read_text(encoding="utf-8")) if TABLE.exists() else {}
        rows.setdefault(name, {})[ending] = has_hook
        TABLE.write_text(json.dumps(rows, indent=2, sort_keys=True) + "\n", encoding="utf-8")
    assert json.loads(TABLE.read_text(encoding="utf-8"))[name][ending] == has_hook, session.said[-2000:]
