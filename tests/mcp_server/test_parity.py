"""Each tool does to the files what its command does, and answers the same."""

from __future__ import annotations

import contextlib
import datetime as dt
import io
import json
import re
import shutil
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import pytest

from taskstate import api
from taskstate.__main__ import main
from taskstate.errors import TaskstateError
from taskstate.mcp_server import call
from taskstate.mcp_server.arguments import Place as Root
from taskstate.mcp_server.arguments import read_call
from taskstate.mcp_server.tools import TOOLS
from tests.support.place import files_in

if TYPE_CHECKING:
    from collections.abc import Mapping

    from taskstate.writing.change import Request

_WORDS: Mapping[str, Any] = {"did": ["Wrote `it`.", "- and -x"], "state": "Half-way.", "next": ["Go on."]}
_FLAGS = ("--did=Wrote `it`.", "--did=- and -x", "--state=Half-way.", "--next=Go on.")
_VARYING = (
    (r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?Z?", "TIME"),
    (r"\d{8}T\d{6}Z", "TIME"),
    (r"\b[0-9a-f]{7,64}\b", "HASH"),
)


class Step(NamedTuple):
    """A call of a tool, and the same as a command; whether it must change files, and whether both refuse."""

    tool: str
    fields: Mapping[str, Any]
    command: tuple[str, ...]
    writes: bool = False
    refused: bool = False


def _step(tool: str, words: str, *more: str, writes: bool = False, refused: bool = False, **fields: Any) -> Step:  # noqa: ANN401 - the fields of a tool
    fields = {name.removesuffix("_"): value for name, value in fields.items()}  # `from` and `pass` are Python's words
    return Step(tool, fields, (*words.split(), *more), writes, refused)


STEPS = (
    _step("search", "next", do="next"),
    _step("search", "list --status created", do="list", status="created"),
    _step("search", "show 101 --section", "Progress Log", do="show", id="101", section="Progress Log"),
    _step("search", "search", "jwt service", do="text", text="jwt service"),
    _step("brief", "brief 101 --role implementer --budget 900", id="101", role="implementer", budget=900),
    _step("start", "start 101 --role implementer --agent ann", id="101", role="implementer", agent="ann", writes=True),
    _step("start", "start 999", id="999", refused=True),
    _step("session", "session add 101", *_FLAGS, do="add", id="101", **_WORDS, writes=True),
    _step("session", "session add 101 --did x", do="add", id="101", did=["x"], refused=True),
    _step("session", "session list 101", do="list", id="101"),
    _step("session", "session show 101 1", do="show", id="101", number=1),
    _step("session", "session show 101 7", do="show", id="101", number=7, refused=True),
    _step("feature", "feature add 101 f-2 --", "-x is *taken*", do="add", id="101", feature="f-2", text="-x is *taken*",
          writes=True),
    _step("feature", "feature add 101 f-2 again", do="add", id="101", feature="f-2", text="again", refused=True),
    _step("feature", "feature pass 101 f-2 --evidence", "seen", do="pass", id="101", feature="f-2", evidence="seen",
          writes=True),
    _step("feature", "feature fail 101 f-2 --evidence", "broken", do="fail", id="101", feature="f-2",
          evidence="broken", writes=True),
    _step("feature", "feature pass 101 f-2 --commit nope", do="pass", id="101", feature="f-2", commit="nope",
          refused=True),
    _step("feature", "criterion add 101", "Slugs are *short*", do="criterion", id="101", criteria=["Slugs are *short*"],
          writes=True),
    _step("feature", "edit 101 --blocked", "waits for 7", do="edit", id="101", blocked="waits for 7", writes=True),
    _step("feature", "edit 101 --unblocked", do="edit", id="101", unblocked=True, writes=True),
    _step("phase", "phase add 101 1 --name Build", do="add", id="101", phase="1", name="Build", writes=True),
    _step("phase", "phase extend 101 1", "Write it", do="extend", id="101", phase="1", text="Write it", writes=True),
    _step("phase", "phase set 101 1 1 --status in_progress --note", "half", do="set", id="101", phase="1",
          objective="1", status="in_progress", note="half", writes=True),
    _step("phase", "phase tried 101 1 --approach a --result b", do="tried", id="101", phase="1", approach="a",
          result="b", writes=True),
    _step("phase", "phase show 101", do="show", id="101"),
    _step("handoff", "handoff new 101 --action", "Go on.", "--file=README.md", "--location=line 1", "--goal=It works.",
          "--decision=One: it is simple", "--context=Small.", do="new", id="101", action="Go on.", file="README.md",
          location="line 1", goal="It works.", decision=["One: it is simple"], context=["Small."], writes=True),
    _step("handoff", "handoff new 101 --draft", do="new", id="101", draft=True, refused=True),
    _step("handoff", "handoff list 101", do="list", id="101"),
    _step("handoff", "handoff show 101", do="show", id="101"),
    _step("handoff", "handoff successor 101", do="successor", id="101"),
    _step("handoff", "handoff accept 101 --agent bob", do="accept", id="101", agent="bob", writes=True),
    _step("finish", "finish 101 --pause --handoff --did More --state Half --next Rest", id="101", pause=True,
          handoff=True, did=["More"], state="Half", next=["Rest"], writes=True),
    _step("start", "start 101 --role implementer --agent bob", id="101", role="implementer", agent="bob", writes=True),
    _step("chain", "chain output set 101 summary --from text.md", do="set", id="101", part="summary",
          from_="It works.\n", writes=True),
    _step("chain", "chain output 101 --part summary", do="output", id="101", part="summary"),
    _step("chain", "chain status 101", do="status", id="101"),
    _step("chain", "chain pull 101", do="pull", id="101"),
    _step("role", "role show 101", do="show", id="101"),
    _step("role", "role block 101 implementer --finding", "It leaks.", do="block", id="101", role="implementer",
          finding="It leaks.", writes=True),
    _step("role", "role unblock 101 implementer --finding 1", do="unblock", id="101", role="implementer", finding="1",
          writes=True),
    _step("role", "role set 101 implementer --status blocked", do="set", id="101", role="implementer",
          status="blocked", refused=True),
    _step("finish", "finish 101 --check 1 --pass f-2 --evidence seen", *_FLAGS, id="101", check=[1], evidence="seen",
          pass_=["f-2"], **_WORDS, writes=True),
    _step("role", "role set 101 reviewer --status in_progress", do="set", id="101", role="reviewer",
          status="in_progress", writes=True),
    _step("role", "role reopen 101 implementer --note", "more", do="reopen", id="101", role="implementer",
          note="more", writes=True),
    _step("permanent", "permanent update --section Constraints --from text.md --note why", do="update",
          section="Constraints", note="why", from_="It works.\n", writes=True),
    _step("permanent", "permanent decide --title One --decision Two --rationale Three", do="decide", title="One",
          decision="Two", rationale="Three", writes=True),
    _step("permanent", "permanent ack --agent ann --version 3", do="ack", agent="ann", version="3", writes=True),
    _step("permanent", "permanent status", do="status"),
    _step("permanent", "permanent notify --since 1", do="notify", since="1"),
    _step("permanent", "permanent recover --agent ann", do="recover", agent="ann"),
    _step("lint", "lint"),
    _step("lint", "lint --fix", fix=True),
    _step("feature", "feature add 101 f-3 x --expect-revision 1", do="add", id="101", feature="f-3", text="x",
          expect_revision="1", refused=True),
)  # fmt: skip


@pytest.fixture
def roots(tmp_path: Path, repository: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[Path, Path]:
    """Return two equal repositories with a commit, task 101 and the permanent task 1."""
    monkeypatch.setenv("TASKSTATE_ACTOR", "somebody")
    (repository / "README.md").write_text("text\n", encoding="utf-8")
    (repository / "text.md").write_text("It works.\n", encoding="utf-8")
    for command in (
        ("init",),
        ("new", "101", "--title=JWT Service", "--description=Issue tokens.", "--criterion=Tokens verify"),
        ("new", "1", "--kind=permanent", "--title=Platform", "--description=Users log in."),
    ):
        with contextlib.chdir(repository), contextlib.redirect_stdout(io.StringIO()):
            assert main(command) == 0
    for git in (("add", "--all"), ("commit", "--quiet", "--message=begin")):
        subprocess.run(["git", *git], cwd=repository, check=True)
    other = tmp_path / "other" / repository.name
    shutil.copytree(repository, other, symlinks=True)
    return repository, other


def _text(value: object, root: Path) -> str:
    """Return a value as JSON without what differs between two runs: times, hashes, and the place."""
    text = json.dumps(value, indent=1, ensure_ascii=False).replace(str(root), "ROOT")
    for pattern, word in _VARYING:
        text = re.sub(pattern, word, text)
    return text


def _words(value: object, root: Path) -> list[str]:
    """Return what was answered without its lines, which the command line folds at the terminal's width."""
    return _text(value, root).replace("\\n", " ").split()


def _files(root: Path) -> dict[str, str]:
    """Return the texts of the files; of an index of git, which holds times as bytes, only that it is there."""
    files = {}
    for path in files_in(root):
        text = "" if path.name.startswith("index-") else path.read_bytes().decode("utf-8", "replace")
        files[_text(path.relative_to(root).as_posix(), root)] = _text(text, root)
    return files


def _called(root: Path, step: Step) -> tuple[bool, object]:
    tool = next(each for each in TOOLS if each.name == step.tool)
    try:
        answer = call.run(read_call(tool, step.fields), Root(root))
    except TaskstateError as error:
        return False, (error.code, str(error))
    return True, (answer.status, answer.text.rstrip("\n"))


def _ran(root: Path, step: Step) -> tuple[bool, object]:
    command = [*step.command]
    how = "--format=json" if step.refused else "--verbose"
    command.insert(command.index("--") if "--" in command else len(command), how)
    with contextlib.chdir(root), contextlib.redirect_stdout(io.StringIO()) as out:
        status = main(command)
    if not step.refused:
        return True, (status, out.getvalue().rstrip("\n"))
    envelope = json.loads(out.getvalue())
    return envelope["success"], (envelope["code"], envelope["error"])


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> list[dt.datetime]:
    """Return the time of all writes: both of a step have the same, so that no second begins between the two."""
    time = [dt.datetime.now(dt.UTC)]
    request_for = api.request_for

    def at_that_time(*arguments: Any) -> Request:  # noqa: ANN401 - passed on
        request = request_for(*arguments)
        return request._replace(metadata=request.metadata._replace(now=time[0]))

    monkeypatch.setattr(api, "request_for", at_that_time)
    return time


@pytest.mark.slow
def test_every_tool_does_what_its_command_does(
    roots: tuple[Path, Path], clock: list[dt.datetime], monkeypatch: pytest.MonkeyPatch
) -> None:
    """After each step the files of both repositories are equal, and so are the answers."""
    ours, theirs = roots
    monkeypatch.chdir(Path(__file__).parent)  # the server's own folder does not matter
    for step in STEPS:
        clock[0] += dt.timedelta(seconds=1)  # as in life: no two handoffs of one second
        before = _files(ours)
        called, ran = _called(ours, step), _ran(theirs, step)
        assert _words(called, ours) == _words(ran, theirs), step
        assert called[0] is not step.refused, (step, called)
        after = _files(ours)
        assert after == _files(theirs), step
        assert not step.refused or after == before, step
        assert not step.writes or after != before, step


def test_every_operation_of_every_tool_is_compared() -> None:
    """No tool can be added without its steps; and each that writes has a step that must write."""
    done = {(step.tool, step.fields.get("do", "")) for step in STEPS if not step.refused}
    assert done == {(tool.name, do) for tool in TOOLS for do in tool.operations}
