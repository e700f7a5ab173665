"""A model of what commands acknowledged: items known by texts that stand nowhere else, and what must be said of them.

Doubtful points, each decided as the promise is worded:

- An item that a commit of HEAD or of another ref holds is accounted for: quiet, also where a stale save dropped it.
- What the stash and a reflog both hold, but no ref, is told with `git stash pop`: "only the reflog" is not so.
- What only the reflog holds may be told by all commands, or noted by `doctor` alone. The cure may bring it back.
- What stands only in a file of a commit that cannot be read (a tab in its front matter) is in doubt.
- A part that held a placeholder alone, and is cut off, is missed by nobody.
- A ruin may become the last good text of this working tree, whatever branch is checked out since.
- The archive of a closed permanent task is a copy for readers: a stash that has that alone need not be named.
- A task that was renumbered has left its id to whoever makes the next one.
- The index counts for nothing, neither its files nor the second parent of a stash entry: no ref reaches its objects.
- Items of a working tree that was removed by force are told in the main one: their records lie with git, which stays.
- A task, what it was renumbered to and what it was divided into are one: texts move between them, and any of them may
  be named where something of one is gone.
- An item in whose place a later command put another is withdrawn where it stood there by then; where it was gone
  already, it is in doubt: it cannot come back beside the other one. In doubt means: it may be told, or not.
- What was withdrawn, let go or edited, and then stands here again (by git or an old text in an editor), is in doubt.
- What a hand typed was acknowledged by nobody, or by the next write: in doubt; so is a text that a hand changed. But
  the cure takes neither away without naming where it is kept, and a unit that a hand deleted is told like any other.
- What a hand deleted as a whole may be told where a ref holds it, too.
- A text that a command wrote for the second time, such as a status, while history holds the first, is in doubt.
- Where a task was dropped, and the file says so or is gone, what was acknowledged before is in doubt.
- Besides items, each line that a command of ours wrote and none took away is remembered: while one is missing that no
  ref holds, silence is not demanded. So nothing that is told is called false only because no item is known for it.
- Where the file is a ruin, a line that names it as damaged is as good as one that tells what is gone.
- After `--let-go` of a file that still is a ruin (it holds less than it says, as was meant) neither writing nor curing
  is judged.
- Between certainly sound and certainly a ruin (what git's own merge of lines leaves) nothing is demanded of commands.
- A session stands twice after a checkout of one file, a stale save, or git's own merge of lines: that is theirs.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING

from tests.support.kept_soundness import about, all_sound, readable, ruins
from tests.support.kept_world import PERMANENT

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from tests.support.kept_world import Files, History, Said, World

# Each write changes these lines, whatever else it does.
_MARKS = re.compile(
    r"===|updated_at|revision|file_size_kb|version|sessions: |  (?:updated_|update_count|git_head|seal)"
    r"|  \"last_updated|\W*$"
)
SESSIONS = ("session add", "finish")
HAND = "hand"


class Place(Enum):
    """Where an item is."""

    HERE = "in place"
    ELSEWHERE = "in a commit that a ref reaches"
    DONE = "withdrawn or let go"
    DOUBT = "in doubt"
    STASH = "in the stash"
    REFLOG = "only in the reflog"
    LOST = "gone"


GONE = (Place.LOST, Place.STASH)


@dataclass(slots=True, kw_only=True)
class Item:
    """Something that a command acknowledged: `token` stands in its text and in no other item's."""

    kind: str
    family: str
    token: str
    home: str
    place: str = ""  # what stands there is replaced by what is written there later
    number: int = 0
    ended: str = ""
    doubt: bool = False
    again: bool = False


class Model:
    """All items, and what must hold after each step; `faults` are what did not, as pairs of a kind and a text."""

    def __init__(self, world: World, without: frozenset[str], *, calm: bool = False) -> None:
        self.world = world
        self.without = without
        self.calm = calm
        self.items: list[Item] = []
        self.faults: list[tuple[str, str]] = []
        self.told: dict[str, list[str]] = {}
        self.waived: set[str] = set()
        self.proposals = 0
        self.doubled: set[str] = set()
        self.by_hand: set[str] = set()  # families of which a hand changed a file
        self.cuts: list[tuple[str, str]] = []
        self._tokens: set[str] = set()
        self._drops: list[tuple[int, str, str]] = []
        self._lines: dict[tuple[str, str], set[str]] = {}
        self._versions: dict[str, dict[int, str]] = {}

    def fault(self, kind: str, what: str) -> None:
        """Note what must not be."""
        if kind not in self.without:
            self.faults.append((kind, what))

    # What commands write.

    def acknowledge(self, kind: str, family: str, token: str, place: str = "", *, again: bool = False) -> None:
        """Count an item that a command has just written."""
        here = (token, family, self.world.where)
        known = [item for item in self.items if (item.token, item.family, item.home) == here]
        if known and not known[0].ended:
            return
        self.items = [item for item in self.items if item not in known]
        self.items.append(
            Item(
                kind=kind,
                family=family,
                token=token,
                home=self.world.where,
                place=place,
                number=len(self._tokens) + len(self._drops),
                doubt=kind == HAND,
                again=again or f"{family} {token}" in self._tokens,
            )
        )
        self._tokens.add(f"{family} {token}")

    def begin(self) -> None:
        """Count what stands here as acknowledged: the files of all tasks, and their lines."""
        for family in self.world.families():
            self.acknowledge("new", family, f"=== task-{family}-state.md ", "file")
        self.wrote({})

    def wrote(self, before: Mapping[str, str]) -> None:
        """Remember which lines a command has added, and forget those that it took away."""
        for family, text in self.world.texts().items():
            lines = self._lines.setdefault((self.world.where, family), set())
            was, now = set(before.get(family, "").split("\n")), set(text.split("\n"))
            lines -= was - now
            lines |= {line for line in now - was if not _MARKS.match(line)}

    def replaced(
        self, before: Mapping[str, str], after: Mapping[str, str], places: set[str], ends: Iterable[str]
    ) -> None:
        """Count what a command took away as withdrawn if it belongs to a place that the command writes."""
        for item in self.mine():
            stood, stands = (item.token in texts.get(item.family, "") for texts in (before, after))
            its = item.place in places or item.place.startswith(tuple(ends))
            if item.ended or stands:
                continue
            if stood and its:
                item.ended = "withdrawn"
            elif stood and item.kind != HAND and not item.doubt:
                self.fault("command deletes", f"{item.token} ({item.kind}) stood there before the command")
            elif its and item.place != "file":
                item.doubt = True

    def dropped(self, task: str) -> None:
        """Count a task as dropped."""
        self._drops.append((len(self._tokens) + len(self._drops), self.world.family(task), task))

    def version(self, before: str, after: str) -> None:
        """Hold a new version of the permanent task to what it promises: none is given out twice.

        Two branches may both give one, and a merge numbers anew.
        """
        was, now = (re.search(r"^version: (\d+)$", text, re.MULTILINE) for text in (before, after))
        if not now or (was and was[1] == now[1]):
            return
        given = self._versions.setdefault(self.world.where, {})
        line = re.search(rf"^- v{now[1]} - .*$", after, re.MULTILINE)
        earlier = given.get(int(now[1]), "")
        if earlier and not self._is_on_another_branch(earlier):
            self.fault("version twice", f"version {now[1]} of the permanent task was acknowledged before")
        given[int(now[1])] = line[0] if line else ""

    def _is_on_another_branch(self, line: str) -> bool:
        """Return whether a line stands in commits, and in none of HEAD's."""
        history = self.world.history()
        own, other = (
            any(line in text for texts in commits.values() for text in texts.values())
            for commits in (history.head, history.refs)
        )
        return other and not own

    def let_go(self, family: str, gone: list[Item]) -> None:
        """Count what is gone of a family as let go."""
        self.waived.add(family)
        for item in gone:
            item.ended, item.doubt = item.ended or "let go", False
        self._lines.setdefault((self.world.where, family), set()).intersection_update(
            self.world.texts()[family].split("\n")
        )

    # Where things are.

    def mine(self, family: str = "") -> list[Item]:
        """Return the items, of one family or all, that the working tree here answers for."""
        trees = self.world.trees
        at_home = {self.world.where} | (
            {i.home for i in self.items} - set(trees) if self.world.where == "main" else set()
        )
        return [item for item in self.items if item.home in at_home and family in {"", item.family}]

    def places(self, family: str = "") -> list[tuple[Item, Place]]:
        """Return where each item is."""
        here, items = self.world.texts(), self.mine(family)
        if all(item.token in here[item.family] for item in items):
            return [(item, Place.HERE) for item in items]
        history = self.world.history()
        return [(item, self._place(item, here, history)) for item in items]

    def held(self, item: Item, commits: Iterable[Files]) -> bool:
        """Return whether one of these commits has an item, in a file that can be read."""
        texts = (text for files in commits for text in self.world.of(files, item.family))
        return any(item.token in text and readable(text) for text in texts)

    def _place(self, item: Item, here: Mapping[str, str], history: History) -> Place:
        if item.token in here[item.family]:
            return Place.HERE
        if self.held(item, history.reached):
            return Place.DOUBT if item.again and not item.ended else Place.ELSEWHERE
        if item.doubt or (not item.ended and self.has_seen(item.family, item.token)):
            return Place.DOUBT
        if item.ended:
            return Place.DONE
        if self._is_dropped(item):
            return Place.DOUBT
        if self.held(item, history.stash.values()):
            return Place.STASH
        if self.held(item, history.reflog.values()):
            return Place.REFLOG
        return Place.LOST

    def _is_dropped(self, item: Item) -> bool:
        for number, family, task in self._drops:
            state = self.world.state(task)
            if family == item.family and number >= item.number and (state is None or "\nstatus: dropped\n" in state):
                return True
        return False

    def damage(self, family: str) -> str:
        """Return why a file of a family is certainly damaged, nothing otherwise."""
        return ruins(self.world, family)

    def has_seen(self, family: str, text: str) -> bool:
        """Return whether a commit that a ref reaches has a text."""
        return any(text in each for files in self.world.history().reached for each in self.world.of(files, family))

    # What must hold after a step.

    def check(self, *, merges: bool = False, commands: bool = False) -> None:
        """Look at everything that must hold after a step: of a command of ours, or of git's that merges."""
        said = self.world.taskstate("list", quiet=True)
        if said.status not in {0, 1}:
            self.fault("status", f"`list` exits {said.status}: {said.err[:200]}")
        if self.calm:
            losses = [line for line in said.err.splitlines() if "let-go" in line]
            if losses or said.status:
                self.fault("false alarm", f"nothing was taken away: {(losses or [said.err])[0]}")
            self._check_doubled(blamed=commands or (merges and self.world.driver))
            return
        places = self.places()
        for family in self.world.families():
            ids = self.world.ids(family)
            self.told[family] = [line for line in said.err.splitlines() if "doctor --fix" in line and about(line, ids)]
            own = [(item, place) for item, place in places if item.family == family]
            for item, place in own:
                item.doubt = item.doubt or bool(item.ended and place is Place.HERE)
            self._check_family(family, said, own)
        self._check_reflog([item for item, place in places if place is Place.REFLOG])
        self._check_doubled(blamed=commands or (merges and self.world.driver))

    def _check_family(self, family: str, said: Said, places: list[tuple[Item, Place]]) -> None:
        told, ids = self.told[family], self.world.ids(family)
        why = self.damage(family)
        self.waived -= set() if why else {family}
        must = [item for item, place in places if place in GONE]
        named = bool(told) or any("damaged" in line and about(line, ids) for line in said.err.splitlines())
        if why and family not in self.waived and not (named and said.status == 1):
            self.fault(
                "ruin unnamed", f"`list` names the damaged file of {family} and exits 1, not {said.status}: {why}"
            )
        if must and not (told or (why and named)):
            self.fault("untold", f"{_names(must)} of {family}: gone, and `list` says nothing")
        if told and not must and self._is_quiet(family, places):
            self.fault("false alarm", f"nothing of {family} is gone: {told[0]}; {_tell(places)}")
        if told and must and all_sound(self.world, family):
            stashed = any(place is Place.STASH for _, place in places) and family != PERMANENT
            self._check_wording(family, told, stashed=stashed)

    def _check_wording(self, family: str, told: list[str], *, stashed: bool) -> None:
        if len(told) > len(self.world.ids(family)):
            self.fault("wording", f"{family} is told in {len(told)} lines")
        if "let-go" not in self.without and not all("doctor --let-go " in line for line in told):
            self.fault("wording", f"`doctor --let-go` is not named: {told[0]}")
        if stashed and not any("git stash pop" in line for line in told):
            self.fault("wording", f"`git stash pop` is not named: {told[0]}")

    def _is_quiet(self, family: str, places: list[tuple[Item, Place]]) -> bool:
        """Return whether silence is demanded: nothing is gone or in doubt, and the files are sound or not there."""
        if not all_sound(self.world, family) or any(p in {Place.DOUBT, Place.REFLOG} for _, p in places):
            return False
        text = self.world.texts()[family]
        here = set(text.split("\n"))
        if any(each == family and block not in text for each, block in self.cuts):
            return False
        missing = [
            line
            for tree, name in self._lines
            if name == family and tree in {i.home for i in self.mine()}
            for line in self._lines[tree, name] - here
        ]
        return not missing or all(self.has_seen(family, line) for line in missing)

    def _check_reflog(self, items: list[Item]) -> None:
        if not items or all(self.told[item.family] for item in items):
            return
        said, history = self.world.taskstate("doctor", quiet=True), self.world.history()
        for item in items:
            commits = [commit for commit, files in history.reflog.items() if self.held(item, [files])]
            if not self.told[item.family] and not any(commit[:7] in said.all for commit in commits):
                self.fault(
                    "reflog untold", f"{item.token} is only in {commits[0][:7]}, and `doctor` does not name that"
                )

    def _check_doubled(self, *, blamed: bool) -> None:
        for item in self.mine():
            if item.kind not in SESSIONS or item.token in self.doubled:
                continue
            for task in self.world.ids(item.family):
                if f"{self.world.state(task)}{self.world.archive(task)}".count(item.token) > 1:
                    self.doubled.add(item.token)
                    if blamed and all_sound(self.world, item.family):
                        self.fault("doubled", f"{item.token} of {task} stands there more than once")


def _names(items: list[Item]) -> str:
    return ", ".join(f"{item.token} ({item.kind})" for item in items)


def _tell(places: list[tuple[Item, Place]]) -> str:
    return (
        ", ".join(f"{item.token} {place.value}" for item, place in places if place is not Place.HERE) or "all in place"
    )
