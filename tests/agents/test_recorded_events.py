"""Every event of every client, as the client gave it: `tests/cases/hooks/CLIENT-VERSION.json`.

`make clients RECORD=1` writes these files. They hold, for each kind of event, what came in and the form of the answer.
`cases.json` says what is answered: `given` is filled into the event of each client, `with` replaces fields of it, and
an answer without `texts` is the neutral one.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from taskstate.agents.hook_input import read_call
from taskstate.setup.clients import CLIENTS, INTERRUPT, OF_AUTOSAVE
from tests.clients.table import CLIENTS as DRIVEN
from tests.clients.table import filled

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.agents.conftest import Client

FOLDER = Path(__file__).parents[1] / "cases" / "hooks"
CASES = json.loads((FOLDER / "cases.json").read_text(encoding="utf-8"))
RECORDED = {path.stem: json.loads(path.read_text(encoding="utf-8")) for path in sorted(FOLDER.glob("*-*.json"))}


def cases() -> Iterator[Any]:
    """Yield the events of each version of a client with each case that it has."""
    for version, recorded in RECORDED.items():
        for number, case in enumerate(CASES, 1):
            kind = case.get("kind", case["event"])
            if kind in recorded["events"] and recorded["client"] in case.get("clients", CLIENTS):
                yield pytest.param(recorded, kind, case, id=f"{version}-{number}-{case['event']}")


def form_of(recorded: dict[str, Any], event: str) -> Any:  # noqa: ANN401 - any JSON
    """Return the form in which a client is told something at an event."""
    kinds = recorded["events"].items()
    return next(each["answer"] for kind, each in kinds if kind.partition(" ")[0] == event and each["answer"])


def text_of(form: Any, answer: Any) -> str:  # noqa: ANN401 - any JSON
    """Return the text in an answer that has this form and nothing else."""
    if isinstance(form, dict):
        assert isinstance(answer, dict)
        assert form.keys() == answer.keys()
        return max((text_of(form[key], answer[key]) for key in form), key=len, default="")
    assert form in {answer, "{text}"}
    return answer if form == "{text}" else ""


@pytest.mark.parametrize(("recorded", "kind", "case"), [*cases()])
def test_client_is_answered(client: Client, recorded: dict[str, Any], kind: str, case: dict[str, Any]) -> None:
    """The answer says what the case says, in the form that the client took, and nothing went wrong or was changed."""
    client.arrange(case["world"])
    before = client.place.text if client.place.path.exists() else ""
    line = next((each for each in before.splitlines() if "session: 0" in each), "")
    event = recorded["events"][kind]
    names = filled(case.get("given", {}), {"turn_line": line}) | {"root": client.place.root}
    given = filled(event["input"], names) | case.get("with", {})
    answer = client.hook(case["event"], "--agent", recorded["client"], *case.get("arguments", ()), given=given)
    assert client.log == ""
    assert (client.place.text if client.place.path.exists() else "") == before
    text = text_of(form_of(recorded, case["event"]) if case["texts"] else {}, answer)
    assert [each for each in case["texts"] if each not in text] == []


@pytest.mark.parametrize("version", RECORDED)
def test_every_event_of_a_client_is_recorded(version: str) -> None:
    """No event of the table lacks a record, and a case that says something in the form of that client.

    Those of autosave say nothing without consent; one needs a person at the keyboard.
    """
    recorded = RECORDED[version]
    name, events = recorded["client"], recorded["events"]
    told = {case["event"] for case in CASES if case["texts"] and case.get("kind", case["event"]) in events}
    known = {kind.partition(" ")[0] for kind in events}
    assert known == set(CLIENTS[name].hooks) - {INTERRUPT}
    assert known - set(OF_AUTOSAVE) == told


def test_each_version_that_is_driven_is_recorded() -> None:
    """Each client that `make clients` drives has one; that of Cursor, which cannot be had, is written by hand."""
    assert {f"{each.name}-{each.version}" for each in DRIVEN} == {each for each in RECORDED if "cursor" not in each}


@pytest.mark.parametrize("version", RECORDED)
def test_a_record_holds_nothing_personal(version: str) -> None:
    """No path of the machine, no id, no key and no time of the recording."""
    text = (FOLDER / f"{version}.json").read_text(encoding="utf-8")
    assert re.findall(r"/pytest-|/root|sk-inv|[0-9a-f]{8}-[0-9a-f]{4}-|2026-1[12]-", text) == []


@pytest.mark.parametrize("version", [each for each in RECORDED if not each.startswith("cursor")])
def test_a_session_is_known_by_each_event(version: str) -> None:
    """Each event bears the id of its session and where its transcript is, and a stop what the agent said at last."""
    calls = {
        kind: read_call(json.dumps(event["input"]).encode()) for kind, event in RECORDED[version]["events"].items()
    }
    assert {each.session for each in calls.values()} == {"session-1"}
    assert {each.transcript for each in calls.values()} == {"/home/ann/transcript.jsonl"}
    assert calls["stop"].last_words
    assert calls["session-end"].source
