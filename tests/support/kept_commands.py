"""The steps that are commands of ours, each held to what it promises where it is refused or writes."""

from __future__ import annotations

import re
import shlex
import time
from typing import TYPE_CHECKING

from tests.support.kept_model import GONE
from tests.support.kept_soundness import all_sound, ruin, sound
from tests.support.kept_world import PERMANENT, TASK, TASKS, new_words, state_name, task_of
from tests.support.kept_writes import WRITES

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from tests.support.kept_model import Model
    from tests.support.kept_world import Said, World
    from tests.support.kept_writes import Write

# Commands that may end with findings, exit status 1, whether they wrote or not.
_WITH_FINDINGS = {"finish", "lint", "doctor", "snapshot", "impact", "recover"}


class Commands:
    """Whoever runs our commands. Each step takes a number and reads it as it likes."""

    def __init__(self, world: World, model: Model) -> None:
        self.world = world
        self.model = model
        self.written: set[str] = set()  # the writes that were counted, by their words
        self._count = 0
        self._slept = 0.0
        self._aside: list[tuple[str, Path, str]] = []

    def token(self) -> str:
        """Return a text that nothing else holds."""
        self._count += 1
        return f"item-{self._count}-end"

    def write(self, write: Write, kind: str, n: int) -> None:
        """Play a command that writes, and count what it acknowledges."""
        task = PERMANENT if write.shared else self._task(n)
        if self.world.state(task) is None and "{fresh}" not in write.words:
            return
        token, before, files = self.token(), self.world.texts(), self.world.files()
        known = self._known(task, token, n)
        known["file"] = f"notes-{token}.txt"
        if "{file}" in write.words:
            (self.world.here / known["file"]).write_text(write.begins.format(**known), encoding="utf-8")
        if write.changes:
            with (self.world.here / write.changes).open("a", encoding="utf-8") as file:
                file.write(f"\n{token}\n")
        if write.first:
            self.world.git(*(word.format(**known) for word in write.first))
        if write.slow:
            time.sleep(max(0.0, self._slept + 1.1 - time.time()))  # the names of its files have the second in them
            self._slept = time.time()
        said = self._writes(
            task,
            [word.format(**known) for word in shlex.split(write.words)],
            bound=write.bound
            and self.world.family(task) not in self.model.by_hand
            and (self.world.here / "rules.md").exists(),
        )
        for made in sorted(set(self.world.files()) - set(files)):
            if made.endswith("-state.md"):  # a family of its own, or another id of the task's
                self.world.join(
                    task_of(made), task_of(made) if kind in {"new", "permanent import"} else self.world.family(task)
                )
        after = self.world.texts()
        if after != before:
            self.model.wrote(before)
            self.written.add(write.words)
            self._count_write(write, kind, (before, after), known)
        elif kind == "session add" and said.status and self.world.state(task):
            self._look_aside(task, token)

    def _count_write(
        self, write: Write, kind: str, texts: tuple[Mapping[str, str], Mapping[str, str]], known: Mapping[str, str]
    ) -> None:
        place, found_place, pattern = write.place.format(**known), write.finds[0].format(**known), write.finds[1]
        self.model.replaced(*texts, {place, found_place} - {"", "file"}, write.ends)
        before, after = ("\n".join(each.values()) for each in texts)
        lines = "\n".join(line for line in after.split("\n") if line not in set(before.split("\n")))
        found = re.findall(pattern, lines, re.MULTILINE) if pattern else []
        left = [text.format(**known) for text in write.leaves]
        for text in left:  # only the last one of several is that of the place
            self._acknowledge(kind, known, text, place if text == left[-1] else "")
        for text in found:
            self._acknowledge(kind, known, text, found_place)
        if kind == "drop":
            self.model.dropped(known["id"])
        if write.shared and kind != "permanent import":
            self.model.version(*(each.get(PERMANENT, "") for each in texts))

    def _acknowledge(self, kind: str, known: Mapping[str, str], text: str, place: str) -> None:
        """Count a text for the family in whose files it stands: the one that was meant, or another."""
        families = [self.world.family(known["id"]), *self.world.families()]
        texts = self.world.texts()
        family = next((each for each in families if text in texts.get(each, "")), None)
        if family is None:
            self.model.fault("not written", f"`{kind}` succeeds, and {text!r} does not stand there")
        else:
            again = known["token"] not in text and self.model.has_seen(family, text)
            self.model.acknowledge(kind, family, text, place, again=again)

    def _known(self, task: str, token: str, n: int) -> dict[str, str]:
        version = re.search(r"^version: (\d+)$", self.world.state(PERMANENT) or "", re.MULTILINE)
        return {
            "id": task,
            "token": token,
            "k": str(n % 2 + 1),
            "fresh": f"9{self._count}",
            "version": version[1] if version else "1",
        }

    def _task(self, n: int) -> str:
        """Return the task that a step is about, mostly the first one or what became of it."""
        standing = self.world.standing(TASK)
        if standing and n < 4:
            return standing[-1] if n == 3 or TASK not in standing else TASK
        standing = [task for each in self.world.families() for task in self.world.standing(each)]
        others = [task for task in standing if self.world.family(task) != TASK and not self._is_shared(task)]
        return others[-1] if others and n == 5 else TASKS[n // 4]

    def _is_shared(self, task: str) -> bool:
        return "\nkind: permanent\n" in (self.world.state(task) or "")

    def add_aside(self, n: int) -> None:
        """Apply the input of a session that was refused."""
        for task, path, token in self._aside[n % max(1, len(self._aside)) :][:1]:
            if path.exists() and self.world.state(task) is not None:
                texts = self.world.texts()
                if not self._writes(task, ["session", "add", task, "--from", str(path)]).status:
                    self.model.wrote(texts)
                    self.model.acknowledge("session add", self.world.family(task), token)
                    self._aside.remove((task, path, token))

    def new_again(self, n: int) -> None:
        """Make the task again whose state file is not there."""
        for task in TASKS:
            if self.world.standing(task) or len(self.world.ids(task)) > 1:  # it has left its id to whoever wants it
                continue
            head = state_name(task) in next(iter(self.world.history().head.values()), {})
            gone = [item for item, place in self.model.places(task) if place in GONE and item.kind != "new"]
            texts, said = self.world.texts(), self.world.taskstate(*new_words(task, f"Task {n}"))
            named = "doctor --fix" in said.err and f"doctor --let-go {task}" in said.err
            if (gone or head) and said.status != 2:
                why = f"{gone[0].token} is gone" if gone else "HEAD has it"
                self.model.fault("new over lost", f"`new {task}` exits {said.status}, and {why}")
            elif gone and "let-go" not in self.model.without and not named:
                self.model.fault("new over lost", f"`new {task}` does not name both ways: {said.err}")
            if not said.status:
                self.model.let_go(task, [item for item, place in self.model.places(task) if place in GONE])
                self.model.wrote(texts)
                self.model.acknowledge("new", task, f"=== task-{task}-state.md ", "file", again=True)

    # What holds for every write.

    def _writes(self, task: str, command: list[str], *, bound: bool = False) -> Said:
        """Run a command that writes, and hold its refusal or its success against the files."""
        before, state, archive = self.world.files(), self.world.state(task), self.world.archive(task)
        name, why = " ".join(command[:2]), ruin(state, archive) and self.model.damage(self.world.family(task))
        fine = all_sound(self.world, self.world.family(task)) and sound(state, archive)
        said = self.world.taskstate(*command)
        same = before == self.world.files()
        allowed = {0, 1, 2} if {*command[:2]} & _WITH_FINDINGS else {0, 2}
        if said.status and not same and 1 not in allowed:
            self.model.fault("refusal", f"`{name}` exits {said.status}, and wrote")
        own = not why or (state, archive) == (self.world.state(task), self.world.archive(task))
        if (
            not own
            and not said.status
            and self.world.family(task) not in self.model.waived
            and command[0] not in {"lint", "fmt"}
        ):
            self.model.fault("built on a ruin", f"`{name}` builds on a damaged file: {why}")
        is_open = not re.search(r"^status: (?:complete|dropped)$", state or "", re.MULTILINE)
        bound = (
            bound and "context rebuild" not in said.err
        )  # a source that it cites was changed: to seal that is a decision
        if (bound and said.status and fine and is_open) or said.status not in allowed:
            self.model.fault("refusal", f"`{name}` exits {said.status} on a sound file: {said.err[:200]}")
        return said

    def _look_aside(self, task: str, token: str) -> None:
        """Hold a refused `session add` to its promise that the input is kept."""
        last = [path for path, text in self.world.artifacts().items() if token in text]
        if ruin(self.world.state(task), self.world.archive(task)) and not last:
            self.model.fault("refusal", f"the input of a refused session ({token}) is not kept")
        self._aside += [(task, self.world.here / path, token) for path in last]


def write_steps() -> dict[str, tuple[Write, str]]:
    """Return the writes by the name of their step, each with the operation that it plays."""
    found = {}
    for operation, rows in WRITES.items():
        step = "edit-task" if operation == "edit" else operation.replace(" ", "-")  # `edit` is the step of an editor
        for number, row in enumerate(rows):
            found[f"{step}{f'-{number + 1}' if number else ''}"] = (row, operation)
    return found
