"""A model of what commands acknowledged: items known by texts that stand nowhere else, and what must be said of them.

Doubtful points, each decided as the promise is worded:

- An item that a commit of HEAD or of another ref holds is accounted for: quiet, also where a stale save dropped it.
- What the stash and a reflog both hold, but no ref, is told with `git stash pop`: "only the reflog" is not so.
- The index counts for nothing, neither its files nor the second parent of a stash entry: no ref reaches its objects.
- Items of a working tree that was removed by force are told in the main one: their records lie with git, which stays.
- A proof over which a later `feature pass` went is withdrawn where it stood there by then; where it was gone already,
  it is in doubt: it cannot come back beside the other one. In doubt means: telling it is legal, and so is silence.
- What was withdrawn, let go or edited, and then stands here again (by git or an old text in an editor), is in doubt.
- A session edited by hand is accounted for while the edit stands here or in a ref, at its revision or a later one;
  where the edit is gone too, it is in doubt. The edited text itself was acknowledged by nobody, or by the next write:
  in doubt; but the cure may not take it away.
- A criterion that is checked for the second time, while history holds the first check, is in doubt where it is gone.
- A failed test and an unchecked criterion are not named as items, but somebody did write them: in doubt where they are
  gone; the cure may not take them away.
- Where a handoff is in place and the state file forgot that it is open, or accepted, silence is not demanded.
- The cure need not bring back what only the reflog reaches, and may.
- Where the file is a ruin, a line that names it as damaged is as good as one that tells what is gone.
- After `--let-go` of a file that still is a ruin (it holds less than it says, as was meant) neither writing nor curing
  is judged.
- Between certainly sound and certainly a ruin (what git's own merge of lines leaves) nothing is demanded of commands.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING

from tests.support.kept_world import TASK, TASKS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.support.kept_world import History, Said, World

_FENCED = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)
_MARKER = re.compile(r"^(?:<{7}|>{7}|={7})(?: |$)", re.MULTILINE)
_SESSION = re.compile(r"^##(?:#)? Session (\d+)", re.MULTILINE)


class Place(Enum):
    """Where an item is."""

    HERE = "in place"
    ELSEWHERE = "in a commit that a ref reaches"
    DONE = "withdrawn, edited or let go"
    DOUBT = "in doubt"
    STASH = "in the stash"
    REFLOG = "only in the reflog"
    LOST = "gone"


@dataclass(slots=True, kw_only=True)
class Item:
    """Something that a command acknowledged: `token` stands in its text and in no other item's."""

    kind: str
    task: str
    token: str
    home: str
    of: str = ""  # the feature or criterion
    revision: int = 0
    ended: str = ""
    edited: str = ""  # what stands in its place
    doubt: bool = False
    again: bool = False


class Model:
    """All items, and what must hold after each step; `faults` are what did not, as pairs of a kind and a text."""

    def __init__(self, world: World, without: frozenset[str]) -> None:
        self.world = world
        self.without = without
        self.items: list[Item] = []
        self.faults: list[tuple[str, str]] = []
        self.told: dict[str, list[str]] = {task: [] for task in TASKS}
        self.waived: set[str] = set()
        self.proposals = 0
        self._tokens: set[str] = set()

    def fault(self, kind: str, what: str) -> None:
        """Note what must not be."""
        if kind not in self.without:
            self.faults.append((kind, what))

    def acknowledge(self, kind: str, task: str, token: str, of: str = "") -> None:
        """Count an item that a command has just written."""
        self.items = [item for item in self.items if not (item.token == token and item.task == task and item.ended)]
        if not any(item.token == token and item.task == task for item in self.items):
            self.items.append(
                Item(
                    kind=kind,
                    task=task,
                    token=token,
                    home=self.world.where,
                    of=of,
                    revision=revision(self.world.state(task) or ""),
                    doubt=kind in {"hand", "fail", "uncheck"},
                    again=kind == "uncheck" or f"{task} {token}" in self._tokens,
                )
            )
        self._tokens.add(f"{task} {token}")

    def withdraw(self, task: str, of: str, stood: str, *, but: str = "") -> None:
        """Count what stood in the text before as withdrawn, and what did not as in doubt."""
        for item in self.mine(task):
            if item.of == of and item.token != but and not item.ended:
                item.ended = "withdrawn" if item.token in stood else ""
                item.doubt = item.doubt or not item.ended

    def mine(self, task: str) -> list[Item]:
        """Return the items of a task that the working tree here answers for."""
        trees = self.world.trees
        at_home = {self.world.where} | (
            {i.home for i in self.items} - set(trees) if self.world.where == "main" else set()
        )
        return [item for item in self.items if item.task == task and item.home in at_home]

    def places(self, task: str) -> list[tuple[Item, Place]]:
        """Return where each item of the task is."""
        here = self.world.text(task)
        items = self.mine(task)
        if all(item.token in here for item in items):
            return [(item, Place.HERE) for item in items]
        history = self.world.history()
        return [(item, self._place(item, here, history)) for item in items]

    def _place(self, item: Item, here: str, history: History) -> Place:
        def held(*kinds: str) -> bool:
            return any(item.token in texts[item.task] for kind in kinds for texts in getattr(history, kind).values())

        if item.token in here:
            return Place.HERE
        if held("head", "refs"):
            return Place.DOUBT if item.again and not item.ended else Place.ELSEWHERE
        if item.edited:
            texts = [here, *(texts[item.task] for h in (history.head, history.refs) for texts in h.values())]
            stands = any(item.edited in text and revision(text) >= item.revision for text in texts)
            return Place.DONE if stands else Place.DOUBT
        if item.doubt:
            return Place.DOUBT
        if item.ended:
            return Place.DONE
        return Place.STASH if held("stash") else Place.REFLOG if held("reflog") else Place.LOST

    def check(self) -> None:
        """Look at everything that must hold after a step."""
        said = self.world.taskstate("list", quiet=True)
        if said.status not in {0, 1}:
            self.fault("status", f"`list` exits {said.status}: {said.err[:200]}")
        for task in TASKS:
            self.told[task] = [line for line in said.err.splitlines() if "doctor --fix" in line and about(line, task)]
            places = self.places(task)
            for item, place in places:
                item.doubt = item.doubt or bool(item.ended and place is Place.HERE)
            self._check_task(task, said, places)
            self._check_reflog(task, [item for item, place in places if place is Place.REFLOG])

    def _check_task(self, task: str, said: Said, places: list[tuple[Item, Place]]) -> None:
        told = self.told[task]
        is_ruin = ruin(self.world.state(task), self.world.archive(task))
        self.waived -= set() if is_ruin else {task}
        must = [item for item, place in places if place in {Place.LOST, Place.STASH}]
        named = bool(told) or any("damaged" in line and about(line, task) for line in said.err.splitlines())
        if is_ruin and task not in self.waived and not (named and said.status == 1):
            self.fault(
                "ruin unnamed", f"`list` names the damaged file of {task} and exits 1, not {said.status}: {is_ruin}"
            )
        if must and not (told or (is_ruin and named)):
            self.fault("untold", f"{_names(must)} of {task}: gone, and `list` says nothing")
        # The blocks that a command seals are counted by taskstate, and not by this model.
        told_items = [line for line in told if "the block" not in line]
        if told_items and not must and self._is_quiet(task, places):
            self.fault("false alarm", f"nothing of {task} is gone: {told[0]}; {_tell(places)}")
        if (
            told
            and must
            and (self.world.state(task) is None or sound(self.world.state(task), self.world.archive(task)))
        ):
            self._check_line(task, told, stashed=any(place is Place.STASH for _, place in places))

    def _check_line(self, task: str, told: list[str], *, stashed: bool) -> None:
        if len(told) > 1:
            self.fault("wording", f"{task} is told in {len(told)} lines")
        if "let-go" not in self.without and f"doctor --let-go {task}" not in told[0]:
            self.fault("wording", f"`doctor --let-go {task}` is not named: {told[0]}")
        if stashed and "git stash pop" not in told[0]:
            self.fault("wording", f"`git stash pop` is not named: {told[0]}")

    def _is_quiet(self, task: str, places: list[tuple[Item, Place]]) -> bool:
        """Return whether silence is demanded: nothing is gone or in doubt, and the file is sound or not there."""
        state = self.world.state(task)
        whole = sound(state, self.world.archive(task)) if state is not None else not self.world.archive(task)
        named = task != TASK or self.world.handoffs_named()
        return whole and named and not any(place is Place.DOUBT for _, place in places)

    def _check_reflog(self, task: str, items: list[Item]) -> None:
        if not items:
            return
        said, history = self.world.taskstate("doctor", quiet=True), self.world.history()
        for item in items:
            commits = [commit for commit, texts in history.reflog.items() if item.token in texts[task]]
            if not any(commit[:7] in said.all for commit in commits):
                self.fault(
                    "reflog untold", f"{item.token} is only in {commits[0][:7]}, and `doctor` does not name that"
                )


def about(line: str, task: str) -> bool:
    """Return whether a line is about a task."""
    return bool(re.search(rf"(?<![\w.-])#?{task}(?![\w-])|task-{task}-", line))


def revision(text: str) -> int:
    """Return the revision that stands in a text, 0 without one."""
    found = re.search(r"^revision: (\d+)", text, re.MULTILINE)
    return int(found[1]) if found else 0


def ruin(state: str | None, archive: str) -> str:
    """Return why a file is certainly damaged, nothing otherwise."""
    if state is None:
        return ""
    text = state.replace("\r\n", "\n")
    if not text.strip("\0\n "):
        return "it is empty"
    if not text.startswith("---\n") or "\n---\n" not in text:
        return "its front matter has no end"
    if _MARKER.search(_FENCED.sub("", text)) or _MARKER.search(archive):
        return "it has conflict markers"
    total = re.search(r"^sessions: \{total: (\d+)", text, re.MULTILINE)
    told = len(_SESSION.findall(text)) + len(_SESSION.findall(archive))
    if total and told < int(total[1]):
        return f"it counts {total[1]} sessions and holds {told}"
    return "" if "\n## 6. Chain Output\n" in text else "its last section is gone"


def sound(state: str | None, archive: str) -> bool:
    """Return whether a file is certainly as a command of ours or a careful hand leaves it."""
    if state is None or ruin(state, archive):
        return False
    return all(_signs(state.replace("\r\n", "\n"), archive.replace("\r\n", "\n")))


def _signs(text: str, archive: str) -> Iterator[bool]:
    keys = re.findall(r"^(\w+):", text.partition("\n---\n")[0], re.MULTILINE)
    numbers = [int(number) for part in (archive, text) for number in _SESSION.findall(part)]
    total = re.search(r"^sessions: \{total: (\d+)", text, re.MULTILINE)
    yield len(keys) == len(set(keys))
    yield not _MARKER.search(text)
    yield re.findall(r"^## (\d)", text, re.MULTILINE) == list("123456")
    yield numbers == list(range(1, len(numbers) + 1)) and total is not None and int(total[1]) == len(numbers)
    yield text.endswith("### Integration Notes for Downstream Tasks\n\n*To be completed.*\n")
    block = re.search(r"^```json\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    yield block is not None and _parses(block[1])


def _parses(text: str) -> bool:
    try:
        json.loads(text)
    except ValueError:
        return False
    return True


def _names(items: list[Item]) -> str:
    return ", ".join(f"{item.token} ({item.kind})" for item in items)


def _tell(places: list[tuple[Item, Place]]) -> str:
    return (
        ", ".join(f"{item.token} {place.value}" for item, place in places if place is not Place.HERE) or "all in place"
    )
