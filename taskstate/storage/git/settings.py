"""Reads the user's name where git's configuration has it in the usual form, without starting git.

Every command that writes needs it, and starting git takes longer than most of what the command does. Only git knows
what includes, quotes and its environment variables come to: where there is any of that, the answer is left to it.
"""

from __future__ import annotations

import os

from taskstate.typed import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

# They name another file or repository, or settings that count more than those in the files.
_VARIABLES = ("GIT_CONFIG", "GIT_CONFIG_COUNT", "GIT_CONFIG_PARAMETERS", "GIT_DIR")
_LARGEST = 64 * 1024  # bytes of a configuration that is read here
_ONLY_FOR_GIT = ("[include", "worktreeconfig")  # other files that count, too
_QUOTING = frozenset('"\\#;')


def user_name(common_dir: Path) -> str:
    """Return `user.name` as the repository with this git folder, or else the user, has it; empty: git has to say."""
    if any(name in os.environ for name in _VARIABLES):
        return ""
    own = _lines(f"{common_dir}/config")
    if own is None:
        return ""
    users = os.environ.get("GIT_CONFIG_GLOBAL", f"{os.environ.get('HOME', os.devnull)}/.gitconfig")
    names = [*_user_names(own)] or [*_user_names(_lines(users) or [])]
    return names[-1] if names and _QUOTING.isdisjoint(names[-1]) else ""


def _lines(path: str) -> list[str] | None:
    """Return the lines of a configuration of this user; None where it is none, or git has to read it."""
    if not os.path.isfile(path):  # opening a FIFO would block
        return None
    try:
        with open(path, encoding="utf-8") as stream:
            is_ours = os.fstat(stream.fileno()).st_uid == os.geteuid()
            text = stream.read(_LARGEST)
    except (OSError, ValueError):
        return None
    lines = [line.strip() for line in text.removeprefix("\ufeff").split("\n")]
    folded = text.casefold()
    if not is_ours or len(text) == _LARGEST or any(each in folded for each in _ONLY_FOR_GIT):
        return None
    return None if any(line.endswith("\\") for line in lines) else lines


def _user_names(lines: list[str]) -> Iterator[str]:
    """Yield each value of `user.name`, the one that counts last; one in another form is a quote."""
    in_user = False
    for line in lines:
        if line.startswith("["):
            section, _, rest = line[1:].partition("]")
            in_user = section.strip().casefold() == "user"
            if rest.strip() and not rest.strip().startswith(("#", ";")):  # a key on the line of its section
                yield '"'
        elif in_user:
            key, _, value = line.partition("=")
            if key.strip().casefold() == "name":
                yield value.strip() or '"'
