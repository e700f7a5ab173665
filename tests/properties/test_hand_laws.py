"""The law of hands: no command takes a word from a file without having said so and kept it where `doctor` names it."""

from __future__ import annotations

import re
import shutil
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from hypothesis import given, settings
from hypothesis import strategies as st

from taskstate.chain import output
from taskstate.doctor import repairs
from taskstate.doctor.examine import examine
from taskstate.errors import TaskstateError
from taskstate.formatting.format_files import format_file
from taskstate.lint.fixer import fix_file
from taskstate.storage import replaced_texts
from taskstate.tasks import checklist, complete
from tests.support.place import TASK, Place

if TYPE_CHECKING:
    from collections.abc import Callable

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
        "chain output set": lambda: output.set_part(place.workspace, TASK, "Summary", "Said anew.", request),
        "complete": lambda: complete.complete(place.workspace, TASK, request, note="enough"),
        "reopen": lambda: complete.reopen(place.workspace, TASK, request, note="more"),
        "doctor --fix": lambda: repairs.repair(place.workspace, examine(place.workspace), request),
    }


NAMES = (
    *("session add", "criterion check", "feature add", "archive", "lint --fix", "fmt", "chain output set", "complete"),
    *("reopen", "doctor --fix"),
)
hands = st.tuples(st.sampled_from([*WRITTEN, *TAKEN]), st.integers(0, 9))
steps = st.lists(st.one_of(hands, st.sampled_from(NAMES)), min_size=2, max_size=8)


def _edit(text: str, name: str, word: str) -> str:
    """Return a text as a hand leaves it."""
    if name in WRITTEN:
        mark, new = WRITTEN[name]
        pattern = mark if mark == r"\Z" else re.escape(mark)
        return re.sub(pattern, lambda _: new.format(word, word), text, count=1)
    return re.sub(r"\n[^\n]*word\d+[^\n]*(?=\n)", "", text, count=1) if name == "WORD" else text.replace(name, "")


def _words(place: Place) -> set[str]:
    """Return the words by hand that stand in a file or in a text that is kept and named."""
    files = [place.text, *((place.archived,) if place.archive_path.exists() else ())]
    kept = [each.data().decode() for each in replaced_texts.texts(place.workspace.private)]
    return set(re.findall(r"word\d+", "\n".join([*files, *kept])))


@settings(max_examples=max(1, settings().max_examples // 5))  # each example runs several commands
@given(steps)
def test_no_command_takes_away_what_a_hand_wrote(done: list[str | tuple[str, int]]) -> None:
    """Whatever is written by hand between commands is in a file, in the archive or kept, unless a hand took it out."""
    folder = Path(tempfile.mkdtemp())
    try:
        place = Place(folder / "repository")
        for number, step in enumerate(done):
            if isinstance(step, tuple):
                place.text = _edit(place.text, step[0], f"word{number}{step[1]}")
                continue
            before = _words(place)
            with suppress(TaskstateError):  # a refusal may come at any step, and takes nothing away either
                _commands(place)[step]()
            assert before <= _words(place), (step, before - _words(place))
    finally:
        shutil.rmtree(folder, ignore_errors=True)
