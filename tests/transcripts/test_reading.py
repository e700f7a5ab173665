"""Transcripts of the clients: `tests/cases/transcripts/` holds one of each form, and beside it what is to be read."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from taskstate.transcripts import reading
from taskstate.transcripts.reading import Transcript

if TYPE_CHECKING:
    from collections.abc import Iterable

    from taskstate.transcripts.events import Event

CASES = sorted((Path(__file__).parents[1] / "cases/transcripts").glob("*.jsonl"))
ROOT = "/w/shop"  # where all of them say that they work


def transcript_of(path: Path) -> Transcript:
    """Return the transcript at a path: its first lines say whose it is, its name which client's."""
    first = json.loads(path.read_bytes().splitlines()[0])
    session = first.get("sessionId") or first["payload"]["id"]
    return Transcript(path.name.partition("-")[0], session, str(path), ROOT)


def shown(events: Iterable[Event | None]) -> list[Any]:
    """Return events as a case shows them: the name of each, its moment, and what is not as it is by default."""
    return [
        each and {type(each).__name__: {k: v for k, v in each._asdict().items() if v != each._field_defaults.get(k)}}
        for each in events
    ]


@pytest.mark.parametrize("path", CASES, ids=lambda path: path.stem)
def test_each_form_is_read_as_its_case_says(path: Path) -> None:
    """Each line of each client's form becomes the events beside it; what tells nothing becomes none."""
    transcript = transcript_of(path)
    read, fill = reading.read(transcript), reading.usage(transcript)
    found = {
        "events": shown(read.events),
        "running": shown(read.running),
        "fill": shown([fill.usage])[0],
        "problem": read.problem,
    }
    found = json.loads(json.dumps(found))  # lists for tuples
    assert found == json.loads(path.with_suffix(".json").read_text()), json.dumps(found, indent=1)
