"""Parses names: ids of tasks and features, names of check results, and paths of taskstate's own files.

Recognises taskstate's own files by their path (`task-101-state.md`, an archive, a handoff, ...) and turns what people
type (`101`, `#101`, `TASK-101`) into an id. Works on texts: whether a file exists is not looked up here.
"""

from __future__ import annotations

import json
import re
from functools import cache

from taskstate import resources
from taskstate.errors import TaskstateError
from taskstate.syntax.patterns import compiled
from taskstate.syntax.spans import printable
from taskstate.typed import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from typing import Literal

    OwnType = Literal["state", "archive", "impact-map", "handoff", "progress"]
    FileType = Literal[OwnType, "removed", "near"]  # as rules see it: also a state file that is gone, or misspelt

ID_PATTERN = r"(?![Tt][Aa][Ss][Kk]-)[A-Za-z0-9]+(?:[._-][A-Za-z0-9]+)*"
MAX_ID = 64

_TYPED = r"(?i)task-(?:(.+)-state\.md|(.+))"  # as people type it: TASK-101
_NEAR = r"(?i)(?=.*(?:task|state))(?:task)?[-_. ]*([a-z0-9._-]*?[0-9][a-z0-9._-]*?)[-_. ]*(?:state)?\.(?:md|markdown)"
_DIGITS = r"([0-9]+)"
# The folder of handoff documents under the state folder, and the folder of accepted ones within a task's folder.
HANDOFF_FOLDER, ACCEPTED_FOLDER = "handoffs", "archive"
_HANDOFF_TIME = r"-handoff-(\d{8}T\d{6}Z)\.md\Z"
ARTIFACTS, HASH_DIGITS = "artifacts", 8  # a folder under the state folder; digits of a hash in the name of a file there
_RESULT_NAME = r"(?!x-)[A-Za-z0-9]+(?:[._-][A-Za-z0-9]+)*"  # `x-` begins keys that belong to others
_MAX_RESULT_NAME = 40


class OwnFile(NamedTuple):
    """A file's type and task id, according to its path.

    The id is as written, even if it is malformed; None where it should be in the folder's name and is not.
    """

    type: OwnType
    id: str | None


def own_file(name: str) -> OwnFile | None:
    """Return the type and task id of a path that names one of taskstate's own files, or None for any other."""
    found = _match(name)
    return OwnFile(found[0], found[1]["id"]) if found else None


def artifact(task_id: str, name: str) -> str:
    """Return the path, from the state folder, of a task's artifact."""
    return f"{ARTIFACTS}/task-{task_id}/{name}"


def hashed_artifact(task_id: str, stem: str, sha256: str, ending: str) -> str:
    """Return the path, from the state folder, of the gzipped artifact that holds content with this hash."""
    return artifact(task_id, f"{stem}-{sha256[:HASH_DIGITS]}{ending}.gz")


def near_id(name: str) -> str:
    """Return the id in a file name close to that of a state file, as `Task-105-State.md`; empty in any other."""
    match = None if own_file(name) else re.fullmatch(_NEAR, name)
    return match[1] if match and is_id(match[1]) else ""


def time_of_handoff(path: str) -> str:
    """Return the time in the name of a handoff document, empty where it has none; these texts sort by time."""
    match = re.search(_HANDOFF_TIME, path)
    return match[1] if match else ""


def phase_in(name: str) -> str | None:
    """Return the phase in the name of a handoff or a progress file, or None."""
    found = _match(name)
    return found[1].groupdict().get("phase") if found else None


def time_in(name: str) -> str:
    """Return when a handoff was written by its name, as a timestamp; empty where it does not say."""
    found = _match(name)
    time = found[1].groupdict().get("time") if found else None
    return re.sub(r"(....)(..)(..T..)(..)(..)Z", r"\1-\2-\3:\4:\5Z", time) if time else ""


def _match(name: str) -> tuple[OwnType, re.Match[str]] | None:
    """Return the type of one of taskstate's own files and the match of its path, or None for any other."""
    path = name.replace("\\", "/")
    for type_, ending, pattern in _own_files():
        match = compiled(pattern).search(path) if path.endswith(ending) else None
        if match:
            return type_, match
    return None


def is_id(text: str) -> bool:
    """Return whether `text` is a well-formed id of a task."""
    return len(text) <= MAX_ID and compiled(ID_PATTERN).fullmatch(text) is not None


def parse_task_id(text: str) -> str:
    """Return the id that `101`, `#101`, `TASK-101`, `task-101-state.md` or the path of one of the task's files names.

    Raises:
        TaskstateError: code "bad-id".
    """
    task_id = _id_in(text.strip())
    if task_id is None or not is_id(task_id):
        raise TaskstateError(
            f"{_shown(text)} names no task",
            help=f"an id has at most {MAX_ID} letters and digits, joined by single . _ or -, such as 101 or auth-2",
            code="bad-id",
        )
    return task_id


def parse_feature_id(text: str) -> str:
    """Return `text` as the id of a new feature.

    Raises:
        TaskstateError: code "bad-id".
    """
    feature_id = text.strip()
    if not 0 < len(feature_id) <= MAX_ID or not feature_id.isprintable() or not {" ", "="}.isdisjoint(feature_id):
        raise TaskstateError(
            f"{_shown(text)} is not an id of a feature",
            help=f"it has at most {MAX_ID} characters, without spaces and =, such as jwt-1",
            code="bad-id",
        )
    return feature_id


def id_key(task_id: str) -> tuple[tuple[tuple[bool, int, str], ...], str]:
    """Return a sort key that orders ids naturally (`9`, `10`, `101`, `101a`); different ids never have equal keys."""
    folded = task_id.casefold()
    if folded.isascii() and folded.isdigit():  # nearly all ids are numbers
        return (_part_key(folded),), folded
    parts = (part for part in re.split(_DIGITS, folded) if part)
    return tuple(_part_key(part) for part in parts), folded


def _id_in(name: str) -> str | None:
    """Return the id in one of the ways to name a task, not yet checked; None for a file that names no task."""
    own = own_file(name)
    if own:
        return own.id
    bare = name.removeprefix("#")
    typed = re.fullmatch(_TYPED, bare)
    return (typed[1] or typed[2]) if typed else bare


def _part_key(part: str) -> tuple[bool, int, str]:
    """Return a key that puts numbers before words, and numbers in order however long they are."""
    if "0" <= part[0] <= "9":
        digits = part.lstrip("0")
        return False, len(digits), digits
    return True, 0, part


def _shown(text: str) -> str:
    """Return `text` in quotes for a message, with control characters escaped, cut where it is long."""
    return repr(text if len(text) <= MAX_ID + 16 else text[: MAX_ID + 16] + "…")


@cache
def _own_files() -> tuple[tuple[OwnType, str, str], ...]:
    """Return each type of own files with the ending of its paths, which tells most others, and their pattern."""
    declared = json.loads(resources.text("schemas/kinds/files.json"))["files"]
    return tuple(
        (each["type"], each["pattern"].rpartition("\\")[2], rf"(?:\A|/){each['pattern']}\Z") for each in declared
    )


def is_result_name(name: str) -> bool:
    """Return whether a text is a valid name of a check result."""
    return len(name) <= _MAX_RESULT_NAME and bool(re.fullmatch(_RESULT_NAME, name))


def require_result_name(name: str) -> str:
    """Return `name`, which must be a valid name of a check result.

    Raises:
        TaskstateError: code "usage": it is not valid.
    """
    if not is_result_name(name):
        help_ = "letters and digits, joined by single . _ or -, such as lint or test-web; x- is not for results"
        raise TaskstateError(f"{printable(name)!r} is not a name of a result", help=help_, code="usage")
    return name


def own_type(name: str) -> OwnType | Literal[""]:
    """Return the type of own file that a path names; empty for other files."""
    found = _match(name)
    return found[0] if found else ""


def has_id(name: str, task_id: str) -> bool:
    """Return whether a path names a file of the task with this id, in any case."""
    return own_id(name) == task_id.casefold()


def own_id(name: str) -> str:
    """Return the case-folded id of the task whose file a path names; empty for other files."""
    own = own_file(name)
    return (own.id or "").casefold() if own else ""
