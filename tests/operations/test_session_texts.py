from __future__ import annotations

import json
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from scripts.command_page import reference
from taskstate.cli.parsers import parser_of
from taskstate.mcp_server import call
from taskstate.mcp_server.arguments import Place as Root
from taskstate.mcp_server.arguments import ToolCall
from taskstate.mcp_server.tools import TOOLS, schema_of
from taskstate.model.session_texts import REQUIRED_LABELS, SESSION_TEXTS, SessionText
from taskstate.operations.finish import finish_operations
from taskstate.operations.index import operation
from taskstate.operations.session import session_operations
from taskstate.tasks.new_session import NewSession
from tests.support.git_place import GitPlace
from tests.support.place import TASK, Place, refusal

if TYPE_CHECKING:
    from taskstate.operations.operation import Operation

FORMAT = Path(__file__).parents[2] / "docs" / "format.md"
MOOD = SessionText("mood", "Mood of the day", "mood", "how the work felt", "a mood")
TEXTS = (*SESSION_TEXTS, MOOD)
OPERATIONS = {each.name: each for each in (*session_operations(TEXTS), *finish_operations(TEXTS))}
ASKING = [OPERATIONS["session add"], OPERATIONS["finish"]]
WORDS: dict[str, Any] = {"did": ["Wrote it."], "state": "Half-way.", "next": ["Go on."]}


def _run(place: Place, asked: Operation, **given: Any) -> None:  # noqa: ANN401 - the fields of an operation
    call.run(ToolCall(asked, {"id": TASK, **given}), Root(place.root))


@pytest.mark.parametrize("asking", ASKING, ids=lambda each: each.name)
def test_the_command_line_offers_a_text_of_the_table(asking: Operation) -> None:
    """A row more in the table that the operation is made from is a flag more, with its help."""
    assert re.search(r"--mood TEXT +how the work felt \(repeatable\)", parser_of(asking).format_help())


@pytest.mark.parametrize("name", ["session", "finish"])
def test_the_tools_offer_a_text_of_the_table(name: str) -> None:
    """The schema of a tool that records a session has the row as a list of texts, and nothing else is new."""
    tool = next(each for each in TOOLS if each.name == name)
    properties = schema_of(tool, OPERATIONS.__getitem__)["properties"]
    assert properties.pop("mood") == {"type": "array", "items": {"type": "string"}}
    assert properties == schema_of(tool)["properties"]


@pytest.mark.parametrize("asking", ASKING, ids=lambda each: each.name)
def test_the_reference_page_has_a_text_of_the_table(asking: Operation) -> None:
    """The page has a row for it, with what it is for."""
    assert "| `--mood TEXT` | how the work felt; repeatable |" in reference([asking])


@pytest.mark.parametrize("name", ["session add", "finish"])
def test_a_text_of_the_table_is_recorded_and_read_back(tmp_path: Path, name: str) -> None:
    """What is given for it stands in the session under its label, behind the other texts, and is read by its key."""
    place = GitPlace(tmp_path / "repository")
    if name == "finish":
        _run(place, operation("start"), role="implementer")
    _run(place, OPERATIONS[name], **WORDS, mood=["Good.", "### Session 9"])
    session = place.state.sessions[-1]
    assert session.entry.endswith("**Mood of the day:**\n\n- Good.\n- ### Session 9")
    assert session.texts(TEXTS)["mood"] == ("Good.", "### Session 9")
    assert [*session.texts(TEXTS)][-2:] == ["mood", "agent"]


def test_a_session_file_may_have_a_text_of_the_table(tmp_path: Path) -> None:
    """The JSON of `--from` takes the row's key, with values of the type that the row says."""
    place = Place(tmp_path / "repository")
    _run(place, OPERATIONS["session add"], **{"from": json.dumps({**WORDS, "mood": ["Good."]})})
    assert place.state.sessions[-1].texts(TEXTS)["mood"] == ("Good.",)
    wrong = json.dumps({**WORDS, "mood": "Good."})
    assert "mood" in refusal(lambda: _run(place, OPERATIONS["session add"], **{"from": wrong})).message


def test_a_session_takes_what_its_table_has() -> None:
    """A text that is unknown, missing or of the wrong type is a wrong call; equal sessions are equal."""
    said: dict[str, Any] = {"did": ("x",), "state": "y", "next": ("z",)}
    assert NewSession(TEXTS, **said, mood=["Good."]).mood == ("Good.",)
    assert NewSession(**said) == NewSession(**said) != NewSession(**said, agent="ann")
    assert len({NewSession(**said), NewSession(**said)}) == 1
    for wrong in (
        {**said, "mood": ("Good.",)},
        {"did": ("x",), "state": "y"},
        {**said, "did": "x"},
        {**said, "state": ()},
    ):
        with pytest.raises(TypeError, match=r"mood|next|did|state"):
            NewSession(**wrong)
    with pytest.raises(AttributeError, match="mood"):
        _ = NewSession(**said).mood


def test_the_page_of_the_format_has_the_labels_of_the_table() -> None:
    """Its paragraph on sessions lists the required labels, the optional ones and the keys in data, and no other."""
    paragraph = FORMAT.read_text(encoding="utf-8").split("### Progress log\n", 1)[1].split("\n### ", 1)[0]
    required, optional = (" ".join(part.split()) for part in paragraph.split("are required;", 1))
    labels = {text.label for text in SESSION_TEXTS}
    assert set(re.findall(r"\*\*([^*:]+):\*\*", required)) == {*REQUIRED_LABELS}
    assert set(re.findall(r"\*\*([^*:]+):\*\*", optional)) == labels - {*REQUIRED_LABELS}
    keys = re.search(r"In JSON their keys are ([^.]*)\.", optional)
    assert keys
    assert re.findall(r"`(\w+)`", keys[1]) == [text.key for text in SESSION_TEXTS]
