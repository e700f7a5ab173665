"""The steps that look for what is gone and bring it back or let it go, each held to what it promises."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

from tests.support.kept_commands import Commands
from tests.support.kept_model import GONE, HAND, SESSIONS, Place
from tests.support.kept_soundness import all_sound

if TYPE_CHECKING:
    from tests.support.kept_model import Item, Model
    from tests.support.kept_world import Said, World

_PATH = re.compile(r"[\w./-]*task-[\w./-]+\w")
_KEPT = re.compile(r"doctor kept show ([\w./-]*\w)")
# Errors about what stands in other files than those of tasks, or of other tasks: they come and go with these.
_OF_OTHERS = ("TS6", "TS902")


class CureCommands(Commands):
    """Whoever looks after what is gone."""

    def __init__(self, world: World, model: Model) -> None:
        super().__init__(world, model)
        self._kept: list[tuple[str, str, str]] = []  # where a cure put what it took away

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

    def fix(self, n: int) -> None:  # noqa: ARG002 - all steps are called alike
        """Let `doctor --fix` bring back what is told, and hold it to that."""
        before, told = self.model.places(), dict(self.model.told)
        texts, families = self.world.texts(), self.world.families()
        stood = {each for each in families if self.world.ids(each) == self.world.standing(each)}
        ruined = {each for each in stood if self.model.damage(each)}
        aside, history, errors = self.world.artifacts(), self.world.history(), self._errors()
        said = self.world.taskstate("doctor", "--fix")
        if said.status not in {0, 1}:
            self.model.fault("status", f"`doctor --fix` exits {said.status}: {said.err[:200]}")
        added = {path for path, text in self.world.artifacts().items() if aside.get(path) != text}
        for family in self.world.families():
            named = any(f"task-{task}/" in f"{said.all}{added}" for task in self.world.ids(family))
            proposed = said.status == 1 and (named or bool(_KEPT.search(said.all)))
            own = [(item, place) for item, place in before if item.family == family]
            self._check_fix(own, told.get(family, []), said, proposed=proposed)
            self.model.proposals += proposed
            if said.status == 0 and family not in self.model.waived and (why := self.model.damage(family)):
                self.model.fault(
                    "cure leaves a ruin", f"`doctor --fix` exits 0, and a file of {family} is a ruin: {why}"
                )
            now = self.world.texts()[family]
            foreign = [
                i.token for i, p in own if p is Place.ELSEWHERE and not self.model.held(i, history.head.values())
            ]
            if family in stood - ruined and (
                over := [token for token in foreign if token in now and texts[family] != now]
            ):
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
                if any(item.token in self._read(how) for how in self._named(said)):
                    item.ended = "kept beside what stands there"
                else:
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
            return self.world.process("doctor", "kept", "show", name)
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
