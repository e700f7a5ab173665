"""The steps that are commands of ours, each held to what it promises where it is refused, writes, or cures."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from tests.support.kept_model import Place, ruin, sound
from tests.support.kept_world import TASK, TASKS

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from tests.support.kept_model import Item, Model
    from tests.support.kept_world import World


class Commands:
    """Whoever runs our commands. Each step takes a number and reads it as it likes."""

    def __init__(self, world: World, model: Model) -> None:
        self.world = world
        self.model = model
        self._count = 0
        self._handed_over = 0.0
        self._aside: list[tuple[str, Path, str]] = []

    def token(self) -> str:
        """Return a text that nothing else holds."""
        self._count += 1
        return f"item-{self._count}-end"

    def add(self, n: int) -> None:
        """Add a session, mostly to the first task."""
        task, token = TASKS[n // 4], self.token()
        if self._writes(task, "session", "add", task, "--did", "Did it.", "--state", token, "--next", "Go on."):
            self.model.acknowledge("session", task, token)
        elif self.world.state(task) is not None:
            self._look_aside(task, token)

    def add_aside(self, n: int) -> None:
        """Apply the input of a session that was refused."""
        for task, path, token in self._aside[n % max(1, len(self._aside)) :][:1]:
            if path.exists() and self._writes(task, "session", "add", task, "--from", str(path)):
                self.model.acknowledge("session", task, token)
                self._aside.remove((task, path, token))

    def feature_pass(self, n: int) -> None:
        """Let a feature pass."""
        self._test(n, "pass", "proof")

    def feature_fail(self, n: int) -> None:
        """Let a feature fail."""
        self._test(n, "fail", "fail")

    def _test(self, n: int, result: str, kind: str) -> None:
        feature, token, stood = f"f{n % 2 + 1}", self.token(), self.world.text(TASK)
        if self._writes(TASK, "feature", result, TASK, feature, "--evidence", token):
            self.model.withdraw(TASK, feature, stood)
            self.model.acknowledge(kind, TASK, token, feature)

    def check(self, n: int) -> None:
        """Check a criterion."""
        self._mark(n, "check", "x")

    def uncheck(self, n: int) -> None:
        """Uncheck a criterion."""
        self._mark(n, "uncheck", " ")

    def _mark(self, n: int, kind: str, mark: str) -> None:
        number, stood = n % 2 + 1, self.world.text(TASK)
        token = f"- [{mark}] crit-{number}"
        if self._writes(TASK, "criterion", kind, TASK, str(number)):
            self.model.withdraw(TASK, f"crit-{number}", stood, but=token)
            self.model.acknowledge(kind, TASK, token, f"crit-{number}")

    def archive(self, n: int) -> None:
        """Archive all but some sessions."""
        self._writes(TASK, "archive", TASK, "--force", "--keep", str(n % 3 + 1), strict=False)

    def archive_restore(self, n: int) -> None:
        """Bring the last batch or all batches back from the archive."""
        self._writes(TASK, "archive", "restore", TASK, *(["--all"] if n % 2 else []), strict=False)

    def handoff(self, n: int) -> None:  # noqa: ARG002 - all steps are called alike
        """Hand the task over."""
        token, folder = self.token(), self.world.here / f".taskstate/handoffs/task-{TASK}"
        before = set(folder.glob("*.md"))
        time.sleep(max(0.0, self._handed_over + 1.1 - time.time()))  # their names have the second in them
        self._handed_over = time.time()
        what = ("--action", f"Do {token}.", "--file", "rules.md", "--location", "line 1", "--goal", "It is done.")
        if self._writes(TASK, "handoff", "new", TASK, *what, strict=False):
            for path in set(folder.glob("*.md")) - before:
                name = str(path.relative_to(self.world.here).parent)
                self.world.handoffs += [f"{name}/{path.name}", f"{name}/archive/{path.name}"]
            self.model.acknowledge("handoff", TASK, token)

    def accept(self, n: int) -> None:  # noqa: ARG002 - all steps are called alike
        """Accept what is handed over."""
        self._writes(TASK, "handoff", "accept", TASK, strict=False)

    def new(self, n: int) -> None:
        """Make the task again whose state file is not there."""
        for task in TASKS:
            if self.world.state(task) is not None:
                continue
            gone = [item for item, place in self.model.places(task) if place in {Place.LOST, Place.STASH}]
            parts = [p for k in (1, 2) for p in ("--criterion", f"crit-{k}", "--feature", f"f{k}=the feature {k}")]
            said = self.world.taskstate("new", task, "--title", f"Task {n}", "--description", "d", *parts)
            named = "doctor --fix" in said.err and f"doctor --let-go {task}" in said.err
            if gone and said.status != 2:
                self.model.fault("new over lost", f"`new {task}` exits {said.status}, and {gone[0].token} is gone")
            elif gone and "let-go" not in self.model.without and not named:
                self.model.fault("new over lost", f"`new {task}` does not name both ways: {said.err}")

    def doctor(self, n: int) -> None:  # noqa: ARG002 - all steps are called alike
        """Ask what is wrong."""
        told = [task for task in TASKS if self.model.told[task]]
        said = self.world.taskstate("doctor")
        if said.status not in {0, 1} or (told and said.status != 1):
            self.model.fault("status", f"`doctor` exits {said.status}, and `list` tells of {told}")

    def fix(self, n: int) -> None:  # noqa: ARG002 - all steps are called alike
        """Let `doctor --fix` bring back what is told, and hold it to that."""
        before = {task: self.model.places(task) for task in TASKS}
        texts = {task: self.world.text(task) for task in TASKS}
        stood = {task: self.world.state(task) is not None for task in TASKS}
        aside = {task: self.world.artifacts(task) for task in TASKS}
        history = self.world.history()
        heads = {item.token for task in TASKS for item, _ in before[task] if _in_any(item, history.head)}
        said = self.world.taskstate("doctor", "--fix")
        if said.status not in {0, 1}:
            self.model.fault("status", f"`doctor --fix` exits {said.status}: {said.err[:200]}")
        for task in TASKS:
            named = f"artifacts/task-{task}/" in said.all
            proposed = said.status == 1 and (named or self.world.artifacts(task) != aside[task])
            self._check_fix(task, before[task], proposed=proposed)
            if proposed and self.world.text(task) != texts[task]:
                self.model.fault("cure fails", f"a proposal for {task}, and its files were written as well")
            done = said.status == 0 and not proposed and task not in self.model.waived
            if done and ruin(self.world.state(task), self.world.archive(task)):
                self.model.fault("cure fails", f"`doctor --fix` exits 0, and the file of {task} is a ruin")
            foreign = [i.token for i, p in before[task] if p is Place.ELSEWHERE and i.token not in heads]
            if stood[task] and any(token in self.world.text(task) for token in foreign):
                self.model.fault("cure fails", f"another branch's item of {task} was brought over: {foreign}")

    def _check_fix(self, task: str, before: list[tuple[Item, Place]], *, proposed: bool) -> None:
        now = self.world.text(task)
        told = bool(self.model.told[task])
        for item, place in before:
            stays = item.kind in {"session", "hand"} or not item.ended
            if place is Place.HERE and stays and item.token not in now:
                self.model.fault("cure deletes", f"`doctor --fix` took {item.token} ({item.kind}) of {task} away")
            back = told and place in {Place.LOST, Place.STASH}
            if back and item.token not in now and not proposed:
                self.model.fault(
                    "cure fails", f"`doctor --fix` does not bring {item.token} ({item.kind}) of {task} back"
                )
            if item.edited in now and item.edited and place is not Place.HERE and item.token in now:
                self.model.fault("cure fails", f"`doctor --fix` brings {item.token} back beside {item.edited}")
            once = told and not proposed and (back or place is Place.HERE) and item.kind in {"session", "hand"}
            if once and now.count(item.token) > 1:
                self.model.fault(
                    "cure fails", f"{item.token} of {task} stands {now.count(item.token)} times after the cure"
                )
        self.model.proposals += proposed

    def let_go(self, n: int) -> None:  # noqa: ARG002 - all steps are called alike
        """Say that what is told was meant."""
        for task in TASKS:
            if not self.model.told[task]:
                continue
            gone = [item for item, place in self.model.places(task) if place not in {Place.HERE, Place.ELSEWHERE}]
            said = self.world.taskstate("doctor", "--let-go", task)
            if said.status == 2 and "cannot be accepted" in said.err:
                continue  # a file that does not parse can be brought back or mended, and not be meant
            if said.status:
                self.model.fault("not let go", f"`doctor --let-go {task}` exits {said.status}: {said.err[:200]}")
            self.model.waived.add(task)
            for item in gone:
                item.ended, item.doubt = item.ended or "let go", False

    def _writes(self, task: str, *command: str, strict: bool = True) -> bool:
        """Run a command that writes, hold its refusal or its success against the file, and return whether it wrote."""
        state, archive = self.world.state(task), self.world.archive(task)
        if state is None:
            return False
        said = self.world.taskstate(*command)
        same = (state, archive) == (self.world.state(task), self.world.archive(task))
        why = ruin(state, archive)
        if said.status and not same:
            self.model.fault("refusal", f"`{command[0]}` exits {said.status}, and wrote")
        if why and not said.status and not same and task not in self.model.waived:
            self.model.fault("built on a ruin", f"`{command[0]} {command[1]}` builds on a damaged file: {why}")
        if (strict and said.status and sound(state, archive)) or said.status not in {0, 2}:
            self.model.fault("refusal", f"`{command[0]}` exits {said.status} on a sound file: {said.err[:200]}")
        return said.status == 0

    def _look_aside(self, task: str, token: str) -> None:
        """Hold a refused `session add` to its promise that the input is kept."""
        last = [path for path, text in self.world.artifacts(task).items() if token in text]
        if ruin(self.world.state(task), self.world.archive(task)) and not last:
            self.model.fault("refusal", f"the input of a refused session ({token}) is not kept")
        self._aside += [(task, self.world.here / path, token) for path in last]


def _in_any(item: Item, commits: Mapping[str, Mapping[str, str]]) -> bool:
    return any(item.token in texts[item.task] for texts in commits.values())
