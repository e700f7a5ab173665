"""What happens in a session, whichever client tells of it. Texts are as the client has them: not masked, and data."""

from __future__ import annotations

from taskstate.typed import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from typing import TypeAlias


class Prompt(NamedTuple):
    """What a person wrote; `at` is the moment of an event in UTC, `2026-01-31T12:00:00Z`, empty if unknown."""

    at: str
    text: str


class Words(NamedTuple):
    """What the agent said to its user; `summary` says that it is the client's own of a compaction."""

    at: str
    text: str
    summary: bool = False


class FileEdit(NamedTuple):
    """A file that a tool wrote: its path as the client gives it, and how many lines came and went, where that is known.

    A `fault` is why it was refused or failed, empty for one that was made.
    """

    at: str
    path: str
    added: int = 0
    removed: int = 0
    is_new: bool = False
    fault: str = ""


class Command(NamedTuple):
    """A command line that ran; `status` is None where it is not known: it was cut off, or went on in the background.

    One that went on in the background is told again when it ends, by clients that write that down.
    """

    at: str
    line: str
    status: int | None
    output: str = ""


class ToDo(NamedTuple):
    """The agent's own list as it stands then: how many of its items are done, and the words of those that are not."""

    at: str
    done: int
    left: tuple[str, ...]


class Usage(NamedTuple):
    """How many tokens the context holds; `window` is its size, 0 where the transcript does not say it."""

    at: str
    used: int
    window: int = 0


class Compaction(NamedTuple):
    """The context was compacted; `used` is what is left in it, 0 where that is not said."""

    at: str
    used: int = 0


class SubAgent(NamedTuple):
    """A sub-agent was sent."""

    at: str


class Interruption(NamedTuple):
    """A person stopped the agent, or refused what it asked for."""

    at: str


Event: TypeAlias = "Prompt | Words | FileEdit | Command | ToDo | Usage | Compaction | SubAgent | Interruption"
