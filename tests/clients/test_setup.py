from __future__ import annotations

from typing import TYPE_CHECKING

from tests.clients.model import Step
from tests.clients.room import Room
from tests.support.place import TASK, tree

if TYPE_CHECKING:
    from pathlib import Path

    from tests.clients.table import Client

OUTWARDS = """
import socket
assert [name for _, name in socket.if_nameindex()] == ["lo"]
for address in ("192.0.2.1", "1.1.1.1"):
    try:
        socket.create_connection((address, 443), timeout=2)
    except OSError as error:
        print(error)
"""


def test_nothing_but_loopback_is_reached() -> None:
    """Inside, there is no other interface, and a connection outwards fails at once."""
    done = Room.inside("-c", OUTWARDS)
    assert done.stdout.splitlines() == ["[Errno 101] Network is unreachable"] * 2, done.stderr


def test_without_the_program_the_client_works(room: Room) -> None:
    """Who has no taskstate can edit, commit and stop: nothing is held up, and the client ends well."""
    room.taskstate("start", TASK, "--agent", "ann")
    (room.folder / "bin" / "taskstate").unlink()
    write = room.call("write", path="src/new.py", content="x = 1")
    commit = room.call("shell", command="git add src && git commit -qm Work && echo committed")
    session = room.play(Step(calls=[write]), Step(calls=[commit]), Step("Done."), Step("Done."))
    assert len(session.requests["main"]) == 3, session.said[-2000:]
    assert session.status == 0, session.said[-2000:]
    assert room.place.git("show", "--name-only", "--format=%s", "HEAD").split() == ["Work", "src/new.py"]


def test_after_a_removal_the_client_runs_without_hooks(client: Client, tmp_path: Path) -> None:
    """What `init --agent` put in is out again, byte for byte, and no hook is called."""
    room = Room(client, tmp_path)
    before = tree(room.place.root)
    room.taskstate("init", "--agent", client.name)
    assert tree(room.place.root) != before
    room.taskstate("init", "--remove")
    assert tree(room.place.root) == before
    session = room.play(Step(calls=[room.call("write", path="src/new.py", content="x = 1")]), Step("Done."))
    assert session.status == 0, session.said[-2000:]
    assert (room.place.root / "src/new.py").exists()
    assert session.hooks == []
    assert f"Task {TASK}" not in session.all(1)
