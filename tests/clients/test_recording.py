from __future__ import annotations

import json
import os
from pathlib import Path
from typing import TYPE_CHECKING

from tests.clients.recording import events_of
from tests.support.place import TASK

if TYPE_CHECKING:
    from tests.clients.room import Room

CASES = Path(__file__).parents[1] / "cases" / "hooks"


def test_events_are_as_they_were_recorded(room: Room) -> None:
    """What the client gives to the hooks is what the tests that always run are given; RECORD writes it anew."""
    room.taskstate("init", "--quiet", "--autosave", "facts")
    room.taskstate("start", TASK, "--agent", "ann")
    room.place.commit("Begin the turn")
    events = events_of(room)
    path = CASES / f"{room.client.name}-{room.client.version}.json"
    if "RECORD" in os.environ:
        found = {"client": room.client.name, "version": room.client.version, "events": events}
        path.write_text(json.dumps(found, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
    recorded = json.loads(path.read_text(encoding="utf-8"))["events"]
    different = [kind for kind, event in events.items() if recorded.get(kind) != event]
    assert different == [], f"{room.client}: another form than in {path.name}"
    assert set(events) == set(recorded)
