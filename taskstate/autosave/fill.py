"""Says how full the context of a session is: how near to its compaction, by which an agent loses what it knows.

A client compacts before its window is full, so that point is what counts. Where the window is not known, nothing is.
"""

from __future__ import annotations

import os

from taskstate.typed import TYPE_CHECKING

if TYPE_CHECKING:
    from taskstate.autosave.notes import SessionNote
    from taskstate.model.config import Autosave

_KEPT_FREE = 33_000  # tokens that Claude Code keeps for its answer and for the compaction
_SHARE = 0.947  # of the window that Codex states, at which it compacts
_LARGE, _LARGE_MODEL = 1_000_000, "[1m]"  # a window, and how the name of a model says that it has it
_WINDOW, _PERCENT = "CLAUDE_CODE_AUTO_COMPACT_WINDOW", "CLAUDE_AUTOCOMPACT_PCT_OVERRIDE"  # settings of Claude Code


def limit(note: SessionNote, settings: Autosave) -> int:
    """Return at how many tokens the client of a session compacts; 0 where nobody knows."""
    named = _LARGE if note.model.endswith(_LARGE_MODEL) else 0
    window = note.window or named or settings.window
    if note.client == "codex":
        return int(window * _SHARE)
    if note.client != "claude" or not window:
        return window
    window = min(window, _set(_WINDOW) or window)
    return max(0, min(window - _KEPT_FREE, window * (_set(_PERCENT) or 100) // 100))


def is_due(note: SessionNote, settings: Autosave) -> bool:
    """Return whether it is time to tell an agent that its context is nearly full."""
    most = limit(note, settings)
    if not most or not settings.percent or not note.used:
        return False
    return note.used * 100 >= settings.percent * most or most - note.used < settings.reserve


def words(note: SessionNote, settings: Autosave) -> str:
    """Return how full the context is, in a few words; empty where that is not known."""
    most = limit(note, settings)
    percent = min(100, note.used * 100 // most) if most else 0
    return f"{percent} % of the way to compaction ({note.used:,} of {most:,} tokens)" if most and note.used else ""


def sentence(note: SessionNote, settings: Autosave) -> str:
    """Return what an agent is told when it is due."""
    return (
        f"The context is {words(note, settings)}. Finish the step you are in, then record where you are: "
        f"`taskstate finish {note.task} --pause --did T --issue T --state T --next T`. "
        "Worth most: what you tried that failed, and why you chose what you chose."
    )


def _set(name: str) -> int:
    """Return the number in a variable of the environment, which hooks have from their client; 0 for none."""
    value = os.environ.get(name, "")
    return int(value) if value.isdecimal() and len(value) < len("1000000000") else 0
