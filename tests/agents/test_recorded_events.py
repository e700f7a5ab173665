"""Every event of every client, from recorded JSON: `tests/cases/hooks/CLIENT.json`.

`answer` names, by dotted path, a value of the answer, or texts that it contains; an empty one is the neutral answer.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from taskstate.setup.clients import CLIENTS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.agents.conftest import Client

CASES = Path(__file__).parents[1] / "cases" / "hooks"


def cases() -> Iterator[Any]:
    """Yield every case with the name of its client."""
    for name in CLIENTS:
        for number, case in enumerate(json.loads((CASES / f"{name}.json").read_text(encoding="utf-8")), 1):
            yield pytest.param(name, case, id=f"{name}-{number}-{case['event']}")


def value_at(answer: Any, path: str) -> Any:  # noqa: ANN401 - any JSON
    """Return the value at a dotted path."""
    for key in path.split("."):
        answer = answer[key]
    return answer


@pytest.mark.parametrize(("name", "case"), [*cases()])
def test_client_is_answered(client: Client, name: str, case: dict[str, Any]) -> None:
    """The answer holds what the case says, in the format of the client, and nothing went wrong."""
    client.arrange(case["world"])
    given = json.dumps(case["input"]).replace("{root}", str(client.place.root))
    if "{turn_line}" in given:
        line = next(each for each in client.place.text.splitlines() if "session: 0" in each)
        given = given.replace("{turn_line}", json.dumps(line)[1:-1])
    before = client.place.text if client.place.path.exists() else ""
    answer = client.hook(case["event"], "--agent", name, *case.get("arguments", ()), stdin=given.encode())
    assert client.log == ""
    assert (client.place.text if client.place.path.exists() else "") == before
    if not case["answer"]:
        assert answer == {}
    for path, expected in case["answer"].items():
        value = value_at(answer, path)
        for text in expected if isinstance(expected, list) else []:
            assert text in value
        assert isinstance(expected, list) or value == expected


@pytest.mark.parametrize("name", CLIENTS)
def test_every_event_of_a_client_is_recorded(name: str) -> None:
    """No event of the table lacks a case that says something, and one that is neutral where it can be."""
    recorded = json.loads((CASES / f"{name}.json").read_text(encoding="utf-8"))
    assert {case["event"] for case in recorded if case["answer"]} == set(CLIENTS[name].hooks)
