"""Creates diverging branches of one task with the real jobs, as if two people had worked from a common version.

A step is a name and a number that selects a variant. So a history is a list of such pairs, which a seeded generator or
a property test can draw.
"""

from __future__ import annotations

import re
import shutil
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, NamedTuple

from taskstate.archive import archiver
from taskstate.model.config_reader import read_config
from taskstate.model.derived_values import fix_edits
from taskstate.model.task_state import read_state
from taskstate.model.write_metadata import WriteMetadata
from taskstate.syntax.document import parse
from taskstate.syntax.edits import apply
from taskstate.tasks import checklist, create, sessions
from taskstate.tasks.new_session import NewSession
from taskstate.workspace.workspace import Workspace
from taskstate.writing.change import Request

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from pathlib import Path
    from random import Random

TASK = "7"
FEATURES, CRITERIA = 4, 4
_START = datetime(2026, 2, 1, 9, tzinfo=UTC)
_OFTEN = {"session": 8, "pass": 4, "check": 3, "archive": 2}  # the weight with which a step is drawn; 1 for the others


class Step(NamedTuple):
    """An operation on a task, by name, and the number of its variant."""

    name: str
    number: int


class Branch:
    """A working copy with the task in it; `name` is part of each text that it adds, `minutes` pass between steps."""

    def __init__(self, root: Path, name: str, minutes: int = 7) -> None:
        self.root = root
        self.name = name
        self.minutes = minutes
        self.now = _START
        self.steps = 0
        self.workspace = Workspace(root=root, config=read_config({}, "a branch"))

    @property
    def path(self) -> Path:
        """The state file."""
        return self.workspace.tasks / f"task-{TASK}-state.md"

    def begin(self) -> None:
        """Create the task."""
        self.workspace.tasks.mkdir(parents=True)
        task = create.NewTask(
            id=TASK,
            title="Statements",
            description="Statements arrive as CSV.\n\nEach becomes an entry.",
            criteria=tuple(f"Criterion {number} holds" for number in range(1, CRITERIA + 1)),
            features=tuple((f"f-{number}", f"does thing {number}") for number in range(1, FEATURES + 1)),
        )
        create.create(self.workspace, task, self._request())

    def fork(self, root: Path, name: str, *, minutes: int = 7, later: int = 0) -> Branch:
        """Return a copy of this branch in another folder, some minutes later."""
        shutil.copytree(self.root, root)
        other = Branch(root, name, minutes)
        other.now = self.now + timedelta(minutes=later)
        return other

    def do(self, steps: Iterable[Step]) -> None:
        """Carry out steps, one after the other."""
        for step in steps:
            self.steps += 1
            STEPS[step.name](self, step.number)

    def files(self) -> Mapping[str, bytes]:
        """Return the taskstate files of this working copy by path."""
        paths = sorted(self.workspace.state_root.rglob("task-*.md"))
        return {path.relative_to(self.root).as_posix(): path.read_bytes() for path in paths}

    def unique_text(self, number: int) -> str:
        """Return a text that only this step on this branch contains."""
        return f"{self.name} step {self.steps}, {number}"

    def by_hand(self, pattern: str, new: str) -> None:
        """Replace the first match of a pattern in the state file, and correct its size as `lint --fix` would."""
        text = self.path.read_text(encoding="utf-8")
        changed = re.sub(pattern, lambda match: match.expand(new), text, count=1, flags=re.MULTILINE)
        document = parse(changed)
        self.path.write_text(apply(changed, fix_edits(document, read_state(document))), encoding="utf-8")

    def _request(self) -> Request:
        self.now += timedelta(minutes=self.minutes)
        return Request(metadata=WriteMetadata(actor=self.name, now=self.now))

    # The steps

    def session(self, number: int) -> None:
        """Append a session; every other one refers to the previous one."""
        last = sessions.all_sessions(self.workspace, TASK)[-1:]
        more = (f"Went on from Session {last[0].number}",) if last and number % 2 else ()
        entry = NewSession(
            did=(f"Did {self.unique_text(number)}", *more),
            issues=(f"Saw {self.unique_text(number)}",) if number % 3 == 0 else (),
            state=f"State of {self.unique_text(number)}",
            next=("Go on",),
            commits=(f"{number:07x}",) if number % 4 == 0 else (),
        )
        sessions.add(self.workspace, TASK, entry, self._request())

    def prove(self, number: int) -> None:
        """Record that a feature passes."""
        tested = checklist.FeatureResult(passes=True, evidence=f"seen: {self.unique_text(number)}")
        checklist.set_feature(self.workspace, TASK, f"f-{number % FEATURES + 1}", tested, self._request())

    def disprove(self, number: int) -> None:
        """Record that a feature does not pass."""
        tested = checklist.FeatureResult(passes=False, evidence=f"failed: {self.unique_text(number)}")
        checklist.set_feature(self.workspace, TASK, f"f-{number % FEATURES + 1}", tested, self._request())

    def feature(self, number: int) -> None:
        """Add a feature."""
        name = f"{self.name}-{self.steps}"
        checklist.add_feature(self.workspace, TASK, name, f"does what {name} says ({number})", self._request())

    def check(self, number: int) -> None:
        """Check or uncheck a criterion."""
        checklist.set_criterion(
            self.workspace, TASK, number % CRITERIA + 1, self._request(), checked=number // CRITERIA % 3 > 0
        )

    def archive(self, number: int) -> None:
        """Archive all but a few sessions."""
        archiver.archive_sessions(self.workspace, TASK, self._request(), keep=1 + number % 2, force=True)

    def status(self, number: int) -> None:
        """Block the task, or go on with it."""
        self.by_hand(r"^status: .*$", f"status: {('blocked', 'in_progress')[number % 2]}")

    def depend(self, number: int) -> None:
        """Add an upstream task."""
        text = self.path.read_text(encoding="utf-8")
        match = re.search(r"^depends_on: \[(.*)\]$", text, re.MULTILINE)
        name = str(number % 5 + 1)
        if match and f'"{name}"' not in match[1]:
            listed = ", ".join(sorted([*match[1].split(", "), f'"{name}"']))
            self.by_hand(r"^depends_on: .*$", f"depends_on: [{listed}]")
        elif not match:
            self.by_hand(r"^(created_at: .*)$", rf'depends_on: ["{name}"]\n\1')

    def own_key(self, number: int) -> None:
        """Add a key of this branch's own."""
        if f"x-{self.name}-{number % 3}:" not in self.path.read_text(encoding="utf-8"):
            self.by_hand(r"^(title: .*)$", rf"\1\nx-{self.name}-{number % 3}: {number}  # its own")

    def priority(self, number: int) -> None:
        """Set the priority."""
        text = self.path.read_text(encoding="utf-8")
        pattern = r"^priority: .*$" if "\npriority: " in text else r"^(?=depends_on: |created_at: )"
        self.by_hand(pattern, f"priority: P{number % 4}" + ("" if "\npriority: " in text else "\n"))

    def reword(self, number: int) -> None:
        """Reword a line of the description."""
        self.by_hand(r"^Each becomes .*$", f"Each becomes an entry ({number % 10}).")

    def commit(self, number: int) -> None:
        """Add a commit to the Git History."""
        line = f"- `{number:07x}` - {self.unique_text(number)}"
        if "## 5. Git History\n\n- " in self.path.read_text(encoding="utf-8"):
            self.by_hand(r"^(## 5\. Git History\n\n(?:- .*\n)+)", rf"\1{line}\n")
        else:
            self.by_hand(r"^## 5\. Git History\n\n(?:\*.*\*\n)?", f"## 5. Git History\n\n{line}\n\n")


STEPS: Mapping[str, Callable[[Branch, int], None]] = {
    "session": Branch.session,
    "pass": Branch.prove,
    "fail": Branch.disprove,
    "feature": Branch.feature,
    "check": Branch.check,
    "archive": Branch.archive,
    "status": Branch.status,
    "depend": Branch.depend,
    "own key": Branch.own_key,
    "commit": Branch.commit,
    "priority": Branch.priority,
    "reword": Branch.reword,
}


def draw(random: Random, count: int) -> list[Step]:
    """Return random steps, mostly sessions."""
    names = [name for name in STEPS for _ in range(_OFTEN.get(name, 1))]
    return [Step(random.choice(names), random.randrange(100)) for _ in range(count)]
