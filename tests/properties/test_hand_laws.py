"""The law of hands: no command takes a word from a file without having said so and kept it where `doctor` names it."""

from __future__ import annotations

import re
import shutil
import tempfile
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

from hypothesis import given, settings
from hypothesis import strategies as st

from taskstate.chain import output
from taskstate.doctor import repairs
from taskstate.doctor.examine import examine
from taskstate.errors import TaskstateError
from taskstate.formatting.format_files import format_file
from taskstate.handoff import accept, phases
from taskstate.handoff.create import HandoffRequest
from taskstate.handoff.document import Handoff
from taskstate.lint.fixer import fix_file
from taskstate.permanent import close, decide, update
from taskstate.permanent.acknowledge import acknowledge
from taskstate.permanent.create import NewPermanent, create_permanent
from taskstate.storage import replaced_texts
from taskstate.tasks import checklist, complete
from taskstate.turn.hand_over import hand_over, handoff_errors
from tests.support.place import TASK, Place, files_in

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from hypothesis.strategies import SearchStrategy

    Step = str | tuple[str, int]

ENTRY = "### Session 9 - 2026-01-31 10:00\n\n**What I did:** {}\n\n**Current state:** {}\n\n"
# Where a hand writes, and in what form; `{}` is a word that stands nowhere else.
WRITTEN = {
    "a description": ("### Task Description\n", "### Task Description\n\n{}\n"),
    "a criterion without a box": ("- [ ] Tokens verify", "- {}\n- [ ] Tokens verify"),
    "a paragraph of criteria": ("### Acceptance Criteria\n", "### Acceptance Criteria\n\n{}\n"),
    "a table": ("- [ ] Tokens verify", "| a | b |\n| - | - |\n| {} | [ ] |\n\n- [ ] Tokens verify"),
    "a feature": ('"features": [', '"features": [\n    {{"id": "{}", "description": "x", "passes": false}},'),
    "a session": ("## 5. Git History", ENTRY + "## 5. Git History"),
    "a commit": ("## 5. Git History\n", "## 5. Git History\n\n- `abc1234` - {}\n"),
    "a summary": ("### Summary\n\n*To be completed.*", "### Summary\n\n{}"),
    "a file": ("### Files Created/Modified\n\n*To be completed.*", "### Files Created/Modified\n\n- `{}`"),
    "a part of its own": ("## 6. Chain Output\n", "## 6. Chain Output\n\n### Mine\n\n{}\n"),
    "a section": ("## 6. Chain Output\n", "## Notes\n\n{}\n\n## 6. Chain Output\n"),
    "a comment": ("## 2. Chain Inputs\n", "## 2. Chain Inputs\n\n<!-- {} -->\n"),
    "a key": ("status: ", "x-own: {}\nstatus: "),
    "the end": (r"\Z", "\n{}\n"),
}
ITEM = ("## 1. User Intent\n\n", "## 1. User Intent\n\n- {}\n")
# The same in a permanent task and in a handoff.
IN_PERMANENT = {
    "an item": ITEM,
    "a paragraph": ("## 5. Constraints\n\n", "## 5. Constraints\n\n{}\n\n"),
    "a decision": ("## 4. ", "### AD-9: {}\n\n**Status:** accepted\n\n**Decision:** {}\n\n## 4. "),
    "a phase": ("## 5. ", "- {}\n\n## 5. "),
    "a version": ("## 6. Change Log\n\n", "## 6. Change Log\n\n- PT-v9 {}\n"),
    **{name: WRITTEN[name] for name in ("a key", "the end")},
}
IN_HANDOFF = {
    "an action": ("## Immediate Next Action\n\n", "## Immediate Next Action\n\n{} and then\n"),
    "a reason": ("## Critical Context\n\n", "## Critical Context\n\n- {}\n"),
    "a section": ("## References\n", "## Mine\n\n{}\n\n## References\n"),
    "a key": ("status: ", "x-own: {}\nstatus: "),
    "the end": (r"\Z", "\n{}\n"),
}
# What a hand takes out: a placeholder, a heading of ours, a line of its own.
TAKEN = (
    *("### API Contract\n\n*To be completed.*\n\n", "## 5. Git History\n\n", "## 2. Chain Inputs\n\nNone.\n\n"),
    "WORD",
)


def _commands(place: Place) -> dict[str, Callable[[], object]]:
    request = place.request()
    return {
        "session add": place.add,
        "criterion check": lambda: place.check(1),
        "feature add": lambda: checklist.add_feature(place.workspace, TASK, f"f-{place.now:%d%H%M}", "d", request),
        "archive": lambda: place.archive(keep=1),
        "lint --fix": lambda: fix_file(place.checking(), place.path, request, unsafe=True),
        "fmt": lambda: format_file(place.workspace, place.path, request),
        "chain output set": lambda: output.set_part(place.workspace, TASK, "Summary", "Said again.", request),
        "complete": lambda: complete.complete(place.workspace, TASK, request, note="enough"),
        "reopen": lambda: complete.reopen(place.workspace, TASK, request, note="more"),
        "doctor --fix": lambda: repairs.repair(place.workspace, examine(place.workspace), request),
    }


def _permanent_commands(place: Place) -> dict[str, Callable[[], object]]:
    request, workspace, choice = place.request(), place.workspace, decide.Choice("Tokens", decision="d", rationale="r")
    return {
        "update": lambda: update.update(workspace, "1", update.Update(), request),
        "update intent": lambda: update.update(workspace, "1", update.Update("User Intent", "- Fast.\n"), request),
        "decide": lambda: decide.decide(workspace, "1", choice, request),
        "ack": lambda: acknowledge(workspace, "1", "ada", 1, request),
        "close": lambda: close.close(workspace, "1", request),
        "reopen": lambda: complete.reopen(workspace, "1", request, note="more"),
        "lint --fix": lambda: fix_file(place.checking(), _permanent(place), request, unsafe=True),
        "fmt": lambda: format_file(workspace, _permanent(place), request),
        "doctor --fix": lambda: repairs.repair(workspace, examine(workspace), request),
    }


def _handoff_commands(place: Place) -> dict[str, Callable[[], object]]:
    request, workspace = place.request(), place.workspace
    full = Handoff("1", "Prove it.", "app.py", "line 1", "it holds", ("A: b",), ("C: d",), ("E",), ("app.py, it",))
    errors_in = handoff_errors(workspace)
    return {
        "new": lambda: hand_over(workspace, TASK, HandoffRequest(full, force=True), request),
        "accept": lambda: accept.accept(workspace, TASK, "bob", request, errors_in=errors_in),
        "session add": place.add,
        "archive": lambda: place.archive(keep=1),
        "lint --fix": lambda: fix_file(place.checking(), _handoff(place), request, unsafe=True),
        "complete": lambda: complete.complete(workspace, TASK, request, note="enough"),
        "doctor --fix": lambda: repairs.repair(workspace, examine(workspace), request),
    }


NAMES = (
    *("session add", "criterion check", "feature add", "archive", "lint --fix", "fmt", "chain output set", "complete"),
    *("reopen", "doctor --fix"),
)
PERMANENT = ("update", "update intent", "decide", "ack", "close", "reopen", "lint --fix", "fmt", "doctor --fix")
HANDOFF = ("new", "accept", "session add", "archive", "lint --fix", "complete", "doctor --fix")


def _permanent(place: Place) -> Path:
    return place.workspace.tasks / "task-1-state.md"


def _handoff(place: Place) -> Path:
    """Return the newest handoff, the open one if there is one."""
    return max(place.workspace.state_root.glob("handoffs/**/*.md"), key=lambda each: (each.parent.name, each.name))


def _histories(written: Iterable[str], names: tuple[str, ...]) -> SearchStrategy[list[Step]]:
    hands = st.tuples(st.sampled_from(sorted(written)), st.integers(0, 9))
    return st.lists(st.one_of(hands, st.sampled_from(names)), min_size=2, max_size=8)


def _edit(text: str, name: str, word: str, written: dict[str, tuple[str, str]]) -> str:
    """Return a text as a hand leaves it."""
    if name in written:
        mark, new = written[name]
        pattern = mark if mark == r"\Z" else re.escape(mark)
        return re.sub(pattern, lambda _: new.format(word, word), text, count=1)
    return re.sub(r"\n[^\n]*word\d+[^\n]*(?=\n)", "", text, count=1) if name == "WORD" else text.replace(name, "")


def _words(place: Place) -> set[str]:
    """Return the words by hand that stand in a file or in a text that is kept and named."""
    files = [each.read_text(encoding="utf-8") for each in files_in(place.root)]
    kept = [each.data().decode() for each in replaced_texts.texts(place.workspace.private)]
    return set(re.findall(r"word\d+", "\n".join([*files, *kept])))


def _plays(
    place: Place,
    done: list[Step],
    path: Callable[[Place], Path],
    written: dict[str, tuple[str, str]],
    commands: Callable[[Place], dict[str, Callable[[], object]]],
) -> None:
    """Take the steps, and hold the law after each command."""
    for number, step in enumerate(done):
        if isinstance(step, tuple):
            file = path(place)
            text = file.read_bytes().decode()
            file.write_bytes(_edit(text, step[0], f"word{number}{step[1]}", written).encode())
            continue
        before = _words(place)
        with suppress(TaskstateError):  # a refusal may come at any step, and takes nothing away either
            commands(place)[step]()
        assert before <= _words(place), (step, before - _words(place))


@settings(max_examples=max(1, settings().max_examples // 10))  # each example runs several commands
@given(_histories({*WRITTEN, *TAKEN}, NAMES))
def test_no_command_takes_away_what_a_hand_wrote(done: list[Step]) -> None:
    """Whatever is written by hand between commands is in a file, in the archive or kept, unless a hand took it out."""
    with _repository() as place:
        _plays(place, done, lambda here: here.path, WRITTEN, _commands)


@settings(max_examples=max(1, settings().max_examples // 20))
@given(_histories(IN_PERMANENT, PERMANENT))
def test_nor_out_of_a_permanent_task(done: list[Step]) -> None:
    """Whether the edit has a version or not, and also once the task is closed and opened again."""
    with _repository() as place:
        create_permanent(place.workspace, NewPermanent("1", "Login", "- Sessions last."), place.request())
        _plays(place, done, _permanent, IN_PERMANENT, _permanent_commands)


@settings(max_examples=max(1, settings().max_examples // 20))
@given(_histories(IN_HANDOFF, HANDOFF))
def test_nor_out_of_a_handoff(done: list[Step]) -> None:
    """An open one, one that was taken over, and one in the place of which another was written."""
    with _repository() as place:
        (place.root / "app.py").write_text("print()\n", encoding="utf-8")
        phases.add_phase(place.workspace, TASK, ("1", "Lemma"), ("Define it",), place.request())
        _handoff_commands(place)["new"]()
        _plays(place, done, _handoff, IN_HANDOFF, _handoff_commands)


@contextmanager
def _repository() -> Iterator[Place]:
    folder = Path(tempfile.mkdtemp())
    try:
        yield Place(folder / "repository")
    finally:
        shutil.rmtree(folder, ignore_errors=True)
