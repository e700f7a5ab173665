"""The laws of the jobs: whatever is done to a task in whatever order, by commands and by hand, nothing is ever lost."""

from __future__ import annotations

import json
import re
import shutil
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import frontmatter
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule
from jsonschema import Draft202012Validator

from taskstate import resources
from taskstate.errors import TaskstateError
from taskstate.lint import engine
from taskstate.model.derived_values import overall_progress, session_counts, size_kb
from taskstate.model.write_metadata import check_seal
from taskstate.syntax import escaping, invisible
from taskstate.syntax.spans import with_newlines
from taskstate.tasks import checklist, sessions
from tests.support.markdown_strategies import outside
from tests.support.place import TASK, Place

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

SMALL = "[size]\nmax-kb = 6\nwarn-kb = 6\nkeep-sessions = 1\n"
SCHEMAS = {
    name: Draft202012Validator(json.loads(resources.text(f"schemas/{name}.schema.json")))
    for name in ("task", "checklist")
}


def accepted(text: str) -> bool:
    """Return whether a text can be said in a session, and does not fill the file by itself."""
    try:
        return len(escaping.clean(text, what="it").encode()) < 400 and not any(invisible.find(text))
    except TaskstateError:
        return False


texts = outside.map(lambda text: text[:190]).filter(accepted)  # cut, so that few have to be drawn again


def as_told(text: str) -> str:
    """Return a text as it is told again: without blanks at its ends and at the ends of its lines."""
    first, newline, rest = escaping.clean(text, what="it").partition("\n")
    return first.lstrip(" \t") + newline + rest


def insert(pattern: str, new: str) -> Callable[[str], str]:
    """Return a hand edit that puts a text in front of the first place where `pattern` matches."""
    return lambda text: re.sub(f"(?={pattern})", lambda _: new, text, count=1, flags=re.MULTILINE)


def swap(old: str, new: str) -> Callable[[str], str]:
    """Return a hand edit that puts a text in the place of what `old` matches first."""
    return lambda text: re.sub(old, new, text, count=1, flags=re.MULTILINE)


def once(mark: str, edit: Callable[[str], str]) -> Callable[[str], str]:
    """Return a hand edit that is not made where `mark` shows that it was made before."""
    return lambda text: text if mark in text else edit(text)


# What people do to these files, and may do: none of it loses anything or gives a finding.
BY_HAND: Mapping[str, Callable[[str], str]] = {
    "remark": insert(r"^## 4\. ", "<!-- a remark ### Session 77 -->\n\n"),
    "remark in the log": insert(r"^### Session ", "<!-- here -->\n\n"),
    "notes": once("## Notes", lambda text: f"{text.rstrip()}\n\n## Notes\n\n```\n### Session 9\n```\n\n\tkeep  \n"),
    "key of one's own": once("x-mine", insert("^status:", "x-mine: {b: [1,  2]}  # mine\n")),
    "quoting": swap(r"^title: +JWT Service$", "title:   'JWT Service'   # named"),
    "wrong counts": swap(r"^sessions: .*$", "sessions: {total: 0, archived: 98, recent: 1}"),
    "no counts": swap(r"^(sessions|file_size_kb): .*\r?\n", ""),
    "wrong progress": swap(r'"overall_progress": "\d+%"', '"overall_progress": "42%"'),
    "no audit": swap(r"^audit:(\r?\n  .*)+\r?\n", ""),
    "other fence": swap(r'^    \{"id": "', '    {   "id" :   "'),
    "criterion": swap(r"^- \[ \] ", "- [X] "),
    "crlf": lambda text: with_newlines(text, "\r\n"),
    "lf": lambda text: with_newlines(text, "\n"),
    "bom": once("\ufeff---", lambda text: f"\ufeff{text}"),
    "no final line end": str.rstrip,
    "blank lines": insert(r"^## 5\. ", "\n\n\n"),
}


class Task(RuleBasedStateMachine):
    """A task, what was told to it, and what it must say."""

    def __init__(self) -> None:
        super().__init__()
        self.folder = Path(tempfile.mkdtemp(prefix="taskstate-laws-"))
        self.place = Place(self.folder / "repository")
        self.said: dict[int, tuple[tuple[str, ...], str, tuple[str, ...]]] = {}
        self.entries: dict[int, str] = {}
        self.features: dict[str, bool] = {"jwt-1": False}
        self.revision = 1
        self.written = True  # by the tool, since the last hand edit

    def teardown(self) -> None:
        """Leave nothing behind."""
        shutil.rmtree(self.folder)

    def wrote(self, changed: bool) -> None:  # noqa: FBT001 - straight from the outcome
        """Note a job's write, or that there was nothing to write."""
        self.revision += changed
        self.written = self.written or changed

    @initialize(small=st.booleans())
    def begin(self, *, small: bool) -> None:
        """Set the limit: where it is small, adding a session archives by itself."""
        if small:
            self.place.configure(SMALL)

    @rule(did=st.lists(texts, min_size=1, max_size=3), state=texts, following=texts)
    def add(self, did: list[str], state: str, following: str) -> None:
        """Append a session."""
        self.wrote(self.place.add(*did, state=state, next=(following,)).changed)
        number = len(self.said) + 1
        self.said[number] = (tuple(map(as_told, did)), as_told(state), (as_told(following),))
        entry = sessions.find_session(self.place.workspace, TASK, number).entry
        self.entries[number] = with_newlines(entry, "\n")

    @rule(keep=st.integers(1, 4))
    def archive(self, keep: int) -> None:
        """Archive all but the newest sessions."""
        self.wrote(self.place.archive(keep=keep).changed)

    @rule(description=texts.map(lambda text: " ".join(text.split())).filter(accepted))
    def add_feature(self, description: str) -> None:
        """Add a feature."""
        name = f"f-{len(self.features)}"
        at, request = self.place.workspace, self.place.request()
        self.wrote(checklist.add_feature(at, TASK, name, description, request).changed)
        self.features[name] = False

    @rule(data=st.data(), passes=st.booleans(), evidence=texts)
    def test_feature(self, data: st.DataObject, *, passes: bool, evidence: str) -> None:
        """Record that a feature passes or fails."""
        name = data.draw(st.sampled_from(sorted(self.features)))
        self.wrote(self.place.prove(name, passes=passes, evidence=evidence).changed)
        self.features[name] = passes

    @rule(number=st.integers(1, 2), checked=st.booleans())
    def check(self, number: int, *, checked: bool) -> None:
        """Check or uncheck a criterion."""
        self.wrote(self.place.check(number, checked=checked).changed)

    @rule(edit=st.sampled_from(sorted(BY_HAND)))
    def edit_by_hand(self, edit: str) -> None:
        """Change the file as a person might."""
        before = self.place.text
        self.place.text = BY_HAND[edit](before)
        self.written = self.written and self.place.text == before

    @invariant()
    def nothing_is_lost(self) -> None:
        """Every session that was acknowledged is told again word for word, once, under its number."""
        told = sessions.all_sessions(self.place.workspace, TASK)
        assert [each.number for each in told] == list(range(1, len(self.said) + 1))
        assert {each.number: (each.texts["did"], each.texts["state"], each.texts["next"]) for each in told} == self.said
        assert [each.archived for each in told] == sorted((each.archived for each in told), reverse=True)

    @invariant()
    def every_entry_is_in_exactly_one_file(self) -> None:
        """An entry's text stands once in the state file or once in the archive, byte for byte but for line ends."""
        state = with_newlines(self.place.text, "\n")
        archive = with_newlines(self.place.archived, "\n") if self.place.archive_path.exists() else ""
        for entry in self.entries.values():
            assert state.count(entry) + archive.count(f"\n{entry[1:]}") == 1

    @invariant()
    def file_can_be_read(self) -> None:
        """The file parses without problems, and is at the revision that the writes make."""
        assert self.place.state.problems == ()
        assert self.place.state.revision == self.revision
        check_seal(self.place.state.document, "x")

    @invariant()
    def features_are_as_told(self) -> None:
        """Each feature is there once, and passes as it was recorded last."""
        assert self.place.state.checklist
        found = [(each.id, each.passes) for each in self.place.state.checklist.features]
        assert found == list(self.features.items())

    @precondition(lambda self: self.written)
    @invariant()
    def what_was_written_is_right(self) -> None:
        """After a write the derived values are right, the seal is there, and the linter finds nothing."""
        text, state = self.place.text, self.place.state
        values: dict[str, Any] = dict(state.document.front_matter)
        assert values["sessions"] == session_counts(state)._asdict()
        assert values["sessions"]["total"] == len(self.said)
        assert values["file_size_kb"] == size_kb(text)
        assert state.checklist
        assert state.checklist.progress == overall_progress(state.checklist)
        assert len(values["audit"]["seal"]) == 64
        config = self.place.workspace.config
        told = engine.check(text, self.place.path.name, config)
        assert [each for each in told if each.code != "TS406"] == []  # what somebody calls a next step may be none
        if self.place.archive_path.exists():
            assert engine.check(self.place.archived, self.place.archive_path.name, config) == ()

    @precondition(lambda self: self.written)
    @invariant()
    def others_read_the_same(self) -> None:
        """python-frontmatter loads the same values, and the published schemas hold."""
        text, state = self.place.text, self.place.state
        loaded = frontmatter.loads(text.removeprefix("\ufeff")).metadata
        assert loaded == dict(state.document.front_matter)
        SCHEMAS["task"].validate(loaded)
        fence = re.search(r"^```json\r?\n(.*?)^```", text, re.DOTALL | re.MULTILINE)
        assert fence
        SCHEMAS["checklist"].validate(json.loads(fence[1]))


TestTask = Task.TestCase
# An example is a whole life of a task, a dozen jobs with several durable writes each: a tenth as many are as many jobs.
TestTask.settings = settings(max_examples=max(1, settings().max_examples // 10), stateful_step_count=12, deadline=None)
