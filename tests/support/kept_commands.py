"""The steps that are commands of ours, each held to what it promises where it is refused, writes, or cures."""

from __future__ import annotations

import json
import re
import shlex
import time
from typing import TYPE_CHECKING

from tests.support.kept_model import GONE, HAND, SESSIONS, Place, all_sound, ruin, ruins, sound
from tests.support.kept_world import PERMANENT, TASK, TASKS, new_words, state_name, task_of
from tests.support.kept_writes import WRITES

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from tests.support.kept_model import Item, Model
    from tests.support.kept_world import Said, World
    from tests.support.kept_writes import Write

_PATH = re.compile(r"[\w./-]*task-[\w./-]+\w")
_KEPT = re.compile(r"doctor kept show ([\w./-]*\w)")
# Errors about what stands in other files than those of tasks, or of other tasks: they come and go with these.
_OF_OTHERS = ("TS6", "TS902")
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
        self._kept: list[tuple[str, str, str]] = []

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
            bound=write.bound and self.world.family(task) not in self.model.by_hand,
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
        place, (found_place, pattern) = write.place.format(**known), write.finds
        self.model.replaced(*texts, {place, found_place} - {"", "file"}, write.ends)
        before, after = ("\n".join(each.values()) for each in texts)
        lines = "\n".join(line for line in after.split("\n") if line not in set(before.split("\n")))
        found = re.findall(pattern, lines, re.MULTILINE) if pattern else []
        left = [text.format(**known) for text in write.leaves]
        for text in left:  # only the last one of several is that of the place
            again = known["token"] not in text
            self._acknowledge(kind, known, text, place if text == left[-1] else "", again=again)
        for text in found:
            self._acknowledge(kind, known, text, found_place)
        if kind == "drop":
            self.model.dropped(known["id"])
        if write.shared and kind != "permanent import":
            self.model.version(*(each.get(PERMANENT, "") for each in texts))

    def _acknowledge(self, kind: str, known: Mapping[str, str], text: str, place: str, *, again: bool = False) -> None:
        """Count a text for the family in whose files it stands: the one that was meant, or another."""
        families = [self.world.family(known["id"]), *self.world.families()]
        texts = self.world.texts()
        family = next((each for each in families if text in texts.get(each, "")), None)
        if family is None:
            self.model.fault("not written", f"`{kind}` succeeds, and {text!r} does not stand there")
        else:
            self.model.acknowledge(kind, family, text, place, again=again)

    def _known(self, task: str, token: str, n: int) -> dict[str, str]:
        version = re.search(r"^version: (\d+)$", self.world.state(PERMANENT) or "", re.MULTILINE)
        return {
            "id": task,
            "root": self.world.family(task),
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
        others = [
            task
            for each in self.world.families()
            if each not in {TASK, PERMANENT}
            for task in self.world.standing(each)
        ]
        return others[-1] if others and n == 5 else TASKS[n // 4]

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
            if self.world.standing(task):
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

    def doctor(self, n: int) -> None:  # noqa: ARG002 - all steps are called alike
        """Ask what is wrong."""
        told = [family for family, lines in self.model.told.items() if lines]
        said = self.world.taskstate("doctor")
        if said.status not in {0, 1} or (told and said.status != 1):
            self.model.fault("status", f"`doctor` exits {said.status}, and `list` tells of {told}")
        if self.model.calm and "--let-go" in said.all:
            self.model.fault("false alarm", f"`doctor` tells a loss, and nothing was taken away: {said.all}")
        for where, how, token in self._kept:
            if where == self.world.where and token not in "".join(self.world.files().values()) + self._read(how):
                self.model.fault("kept lost", f"{token} was kept at {how}, and is not there any more")

    # The cure.

    def fix(self, n: int) -> None:  # noqa: ARG002 - all steps are called alike
        """Let `doctor --fix` bring back what is told, and hold it to that."""
        before, told = self.model.places(), dict(self.model.told)
        texts, stood = self.world.texts(), {each for each in self.world.families() if self.world.standing(each)}
        aside, history, errors = self.world.artifacts(), self.world.history(), self._errors()
        said = self.world.taskstate("doctor", "--fix")
        if said.status not in {0, 1}:
            self.model.fault("status", f"`doctor --fix` exits {said.status}: {said.err[:200]}")
        added = {path for path, text in self.world.artifacts().items() if aside.get(path) != text}
        for family in self.world.families():
            proposed = said.status == 1 and any(
                f"task-{task}/" in f"{said.all}{added}" or f"kept show {task}" in said.all
                for task in self.world.ids(family)
            )
            own = [(item, place) for item, place in before if item.family == family]
            self._check_fix(own, told.get(family, []), said, proposed=proposed)
            self.model.proposals += proposed
            if said.status == 0 and family not in self.model.waived and (why := ruins(self.world, family)):
                self.model.fault(
                    "cure leaves a ruin", f"`doctor --fix` exits 0, and a file of {family} is a ruin: {why}"
                )
            now = self.world.texts()[family]
            foreign = [
                i.token for i, p in own if p is Place.ELSEWHERE and not self.model.held(i, history.head.values())
            ]
            if family in stood and (over := [token for token in foreign if token in now and texts[family] != now]):
                self.model.fault("cure brings over", f"another branch's item of {family} was brought over: {over}")
        self._check_settled(said, errors)

    def _check_fix(self, before: list[tuple[Item, Place]], told: list[str], said: Said, *, proposed: bool) -> None:
        texts = self.world.texts()
        for item, place in before:
            now = texts[item.family]
            what = f"{item.token} ({item.kind}) of {item.family}"
            stays = item.kind in {*SESSIONS, HAND} or not item.ended
            if place is Place.HERE and stays and item.token not in now:
                kept = [how for how in self._named(said) if item.token in self._read(how)]
                self._kept += [(self.world.where, how, item.token) for how in kept]
                if not kept:
                    self.model.fault("cure deletes", f"`doctor --fix` took {what} away, and names no copy")
            if told and place in GONE and item.token not in now and not proposed:
                self.model.fault("cure fails", f"`doctor --fix` does not bring {what} back")

    def _check_settled(self, said: Said, errors: set[str]) -> None:
        """Hold the cure to what it leaves behind: nothing to tell, and no new error of the linter."""
        listed = self.world.taskstate("list", quiet=True).err.splitlines()
        left = [line for line in listed if "doctor --fix" in line]
        if said.status == 0 and left:
            self.model.fault("cure tells on", f"`doctor --fix` exits 0, and `list` still tells: {left[0]}")
        new = {code for code in self._errors() - errors if not code.startswith(_OF_OTHERS)}
        whole = all(self.world.standing(each) and all_sound(self.world, each) for each in self.world.families())
        if new and whole and said.status == 0:
            self.model.fault("cure lints", f"`doctor --fix` leaves errors that were not there before: {sorted(new)}")

    def _errors(self) -> set[str]:
        """Return the codes of the errors that the linter finds."""
        said = self.world.taskstate("lint", "--no-cache", "--output-format", "json", quiet=True)
        findings = json.loads(said.out or '{"findings": []}')["findings"]
        return {finding["code"] for finding in findings if finding["severity"] == "error"}

    def _named(self, said: Said) -> list[str]:
        """Return what a command names in which something may be kept: paths, and names of kept copies."""
        paths = [path for path in _PATH.findall(said.all) if (self.world.here / path).is_file()]
        return [*paths, *(f"kept {name}" for name in _KEPT.findall(said.all))]

    def _read(self, how: str) -> str:
        name = how.removeprefix("kept ")
        if name != how:
            return self.world.taskstate("doctor", "kept", "show", name, quiet=True).out
        path = self.world.here / how
        return path.read_text(encoding="utf-8", errors="replace") if path.is_file() else ""

    def let_go(self, n: int) -> None:  # noqa: ARG002 - all steps are called alike
        """Say that what is told was meant."""
        for family, lines in list(self.model.told.items()):
            named = dict.fromkeys(re.findall(r"--let-go ([\w.-]*\w)", "\n".join(lines)))
            settled = [Place.HERE, Place.ELSEWHERE]
            gone = [item for item, place in self.model.places(family) if place not in settled]
            refused = False
            for task in named:
                said = self.world.taskstate("doctor", "--let-go", task)
                # A file that does not parse can be brought back or mended, and not be meant.
                refused = refused or (said.status == 2 and "cannot be accepted" in said.err)
                if said.status and not refused:
                    self.model.fault("not let go", f"`doctor --let-go {task}` exits {said.status}: {said.err[:200]}")
            if named and not refused:
                self.model.let_go(family, gone)

    # What holds for every write.

    def _writes(self, task: str, command: list[str], *, bound: bool = False) -> Said:
        """Run a command that writes, and hold its refusal or its success against the files."""
        before, state, archive = self.world.files(), self.world.state(task), self.world.archive(task)
        name, why = " ".join(command[:2]), ruin(state, archive)
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
        for number, row in enumerate(rows):
            found[f"{operation.replace(' ', '-')}{f'-{number + 1}' if number else ''}"] = (row, operation)
    return found
