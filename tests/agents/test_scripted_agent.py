"""An agent that reads nothing but what its hooks and the commands that they name say, and edits files directly."""

from __future__ import annotations

import re
import shlex
from typing import TYPE_CHECKING

import pytest

from taskstate.handoff.token_count import count
from taskstate.setup.clients import CLIENTS
from tests.support.place import TASK

if TYPE_CHECKING:
    from tests.agents.conftest import Client

MOST = 1_200  # tokens a turn
OUTPUT = """\
### Summary

Issues tokens, and checks them.

### Files Created/Modified

- `src/jwt.py`

### API Contract

`issue(user: str) -> str`
"""


class Agent:
    """One session of a scripted agent with a name of its own; `read` is all text that reached it."""

    def __init__(self, client: Client, kind: str, name: str) -> None:
        self.client, self.kind, self.name = client, kind, name
        self.read = ""

    def hook(self, event: str, **fields: object) -> str:
        """Have the client call a hook; return the text in its answer, which the agent reads."""
        given = {"cwd": str(self.client.place.root), **fields}
        answer = self.client.hook(event, "--agent", self.kind, given=given)
        assert self.client.log == ""
        text = max(_texts(answer), key=len, default="")
        self.read += text
        return text

    def follow(self, text: str, verb: str, *words: str) -> None:
        """Run the command of that verb which a text names, with words for its placeholders, and read what it says."""
        found = re.search(rf"`taskstate ({verb}\b[^`]*)`", text)
        assert found, text
        arguments = [each for each in shlex.split(found[1]) if each != "T"]
        kept = [each for each in arguments if each not in {"--did", "--state", "--next"}]
        self.read += self.client.run(*kept, *words) + self.client.said

    def edit(self, name: str, old: str, new: str) -> str:
        """Edit a file as a tool does: ask the hook before, edit, and return what the hook says after."""
        fields = {"tool_input": {"file_path": name, "old_string": old, "new_string": new}}
        refused = self.hook("before-edit", **fields)
        if refused:
            return refused
        path = self.client.place.root / name
        text = path.read_text(encoding="utf-8")
        assert old in text
        path.write_text(text.replace(old, new), encoding="utf-8")
        return self.hook("after-edit", **fields)

    def commit(self) -> None:
        """Commit as a tool does, if the hook has nothing against it."""
        assert self.hook("before-commit", tool_input={"command": "git commit -am work"}, command="git commit") == ""
        self.client.place.commit(f"Task: {TASK}")

    @property
    def tokens(self) -> int:
        """How many tokens the session cost."""
        return count(self.read)


def _texts(answer: object) -> list[str]:
    if isinstance(answer, dict):
        return [text for value in answer.values() for text in _texts(value)]
    return [str(answer)]


@pytest.mark.parametrize("kind", CLIENTS)
def test_task_is_completed_in_three_sessions(client: Client, kind: str) -> None:
    """With a handoff, a drift and two edits that go wrong, the task is complete, and every file is clean."""
    state = str(client.place.path)
    client.run("init", "--agent", kind)
    client.place.commit("set up")

    first = Agent(client, kind, "ann")
    first.follow(first.hook("session-start", source="startup"), "start", "--agent", "ann")
    client.place.write("src/jwt.py", "def issue(user): ...\n")
    assert "`delta`" in first.edit(state, "session: 0", "session: 9")
    status = f"status: {client.place.state.status}"
    assert "TS" in first.edit(state, status, "status: nearly")
    assert first.edit(state, "status: nearly", status) == ""
    said = ("--did", "Wrote issue().", "--state", "Without a check.", "--next", "Check the expiry.")
    first.follow(first.hook("stop"), "finish", *said, "--pause")
    first.read += client.run(
        *("handoff", "new", TASK, "--draft", "--file", "src/jwt.py", "--location", "issue()", "--goal", "It expires.")
    )
    first.commit()
    assert first.hook("stop") == ""

    second = Agent(client, kind, "bob")
    second.follow(second.hook("session-start", source="resume"), "start", "--agent", "bob")
    assert "Check the expiry." in second.read
    second.edit("src/jwt.py", "...", "return user")
    said = ("--did", "Checked the expiry.", "--state", "Done but for a look.", "--next", "Look at it once more.")
    second.follow(second.hook("stop"), "finish", *said, "--pass", "jwt-1", "--evidence", "ran it")
    second.commit()

    client.place.write("src/jwt.py", "def issue(user): return user + '.'\n")  # somebody else, behind the task's back

    third = Agent(client, kind, "cid")
    third.follow(third.hook("session-start", source="startup"), "start", "--agent", "cid")
    assert "not what the last turn left" in third.read
    third.edit(state, "- [ ] Tokens verify", "- [x] Tokens verify")
    third.edit("a.txt", "one", "ONE")
    client.place.write("output.md", OUTPUT)
    said = ("--did", "Looked at it.", "--state", "All is done.", "--next", "Nothing.")
    third.follow(third.hook("stop"), "finish", *said, "--check", "2", "--complete", "--output", "output.md")
    third.commit()

    assert client.place.state.status == "complete"
    assert len(client.place.numbers()) == 3
    assert client.run("lint") == client.run("lint", "--against", "none")
    assert client.run("doctor").endswith("checks, nothing is wrong\n")
    assert [each.tokens for each in (first, second, third) if each.tokens > MOST] == []
