"""Whether the file of a task is certainly damaged or certainly sound, by its text; and which task a line is about."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from tests.support.kept_world import World

_FENCED = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)
_MARKER = re.compile(r"^(?:<{7}|>{7}|={7})(?: |$)", re.MULTILINE)
_SESSION = re.compile(r"^##(?:#)? Session (\d+)", re.MULTILINE)


def about(line: str, ids: Iterable[str]) -> bool:
    """Return whether a line is about one of these tasks."""
    either = "|".join(map(re.escape, ids))
    return bool(re.search(rf"task-(?:{either})-|--let-go (?:{either})(?![\w-])|\btask (?:{either})(?![\w-])", line))


def ruins(world: World, family: str) -> str:
    """Return why a file of a family is certainly damaged, nothing otherwise."""
    return next(filter(None, (ruin(world.state(task), world.archive(task)) for task in world.ids(family))), "")


def ruin(text: str | None, archive: str) -> str:
    """Return why a file is certainly damaged, nothing otherwise."""
    if text is None:
        return ""
    if not text.strip("\0\n "):
        return "it is empty"
    if not text.lstrip("\n").startswith("---\n") or "\n---\n" not in text:
        return "its front matter has no end"
    if _MARKER.search(_FENCED.sub("", text)) or _MARKER.search(archive):
        return "it has conflict markers"
    total = re.search(r"^sessions: \{total: (\d+)", text, re.MULTILINE)
    told = len(_SESSION.findall(text)) + len(_SESSION.findall(archive))
    if total and told < int(total[1]):
        return f"it counts {total[1]} sessions and holds {told}"
    return ""


def _is_shared(text: str) -> bool:
    return "\nkind: permanent\n" in text


def _last_part(text: str) -> str:
    """Return the heading of the last part of all."""
    return "## 6. Change Log" if _is_shared(text) else "### Integration Notes for Downstream Tasks"


def all_sound(world: World, family: str) -> bool:
    """Return whether the files of a family are certainly sound, or none of them is there."""
    standing = world.standing(family)
    return all(sound(world.state(task), world.archive(task)) for task in standing) and not (
        any(world.archive(task) for task in world.ids(family) if task not in standing)
    )


def sound(state: str | None, archive: str) -> bool:
    """Return whether a file is certainly as a command of ours or a careful hand leaves it."""
    return state is not None and not ruin(state, archive) and all(_signs(state, archive))


def readable(text: str) -> bool:
    """Return whether nothing in a text says that it cannot be read as a file of a task."""
    text = text.partition("===\n")[2] if text.startswith("===") else text  # the line that names the file
    head = text.partition("\n---\n")[0]
    keys = re.findall(r"^(\w+):", head, re.MULTILINE)
    has_one = not text.startswith("\n") and len(keys) == len(set(keys)) and "\t" not in head
    return has_one and not _MARKER.search(text)


def _signs(text: str, archive: str) -> Iterator[bool]:
    numbers = [int(number) for part in (archive, text) for number in _SESSION.findall(part)]
    total = re.search(r"^sessions: \{total: (\d+)", text, re.MULTILINE)
    yield readable(text) and text.startswith("---\n")
    yield re.findall(r"^## (\d)", text, re.MULTILINE) == list("123456")
    yield numbers == list(range(1, len(numbers) + 1)) and int(total[1] if total else 0) == len(numbers)
    yield all(
        f"\n{title}\n" in text
        for title in (_last_part(text), "## 5. Constraints" if _is_shared(text) else "## 5. Git History")
    )
    yield all(_parses(block) for block in re.findall(r"^```json\n(.*?)^```$", text, re.MULTILINE | re.DOTALL))


def _parses(text: str) -> bool:
    try:
        json.loads(text)
    except ValueError:
        return False
    return True
