"""Says how a client was started: whether it asks a person, and what it was told to allow on its command line."""

from __future__ import annotations

import os
import re

from taskstate.storage.callers import callers, client_of

_FLAG = {"claude": ("--allowedTools", "--allowed-tools"), "gemini": ("--allowed-tools",)}
_ELSEWHERE = {"--settings", "--permission-prompt-tool"}  # who may run what, and who is asked, is said there
_RULE = re.compile(r"[\w*]+(?:\([^)]*\)?)?")


def allowed_words(client: str) -> list[str]:
    """Return the rules that a client was given on its command line."""
    found, is_rule = list[str](), False
    for word in _started(client)[0]:
        name, is_joined, value = word.partition("=") if word.startswith("-") else ("", "", word)
        is_rule = name in _FLAG[client] if name else is_rule
        found += _RULE.findall(value) if is_rule and (is_joined or not name) else []
    return found


def is_claude_attended(mode: str) -> bool:
    """Return whether Claude Code, in this permission mode, asks a person or a program before it refuses."""
    entry = os.environ.get("CLAUDE_CODE_ENTRYPOINT", "")
    if not entry.startswith("sdk"):
        return bool(entry) or mode not in {"acceptEdits", "dontAsk"}
    return bool({each.partition("=")[0] for each in _started("claude")[0]} & _ELSEWHERE)


def is_gemini_open() -> bool:
    """Return whether Gemini CLI asks a person, or nobody: how it was started is all that tells."""
    words, at_terminal = _started("gemini")
    names = {each.partition("=")[0] for each in words}
    is_asking = not words or (at_terminal and not {"-p", "--prompt"} & names)
    return is_asking or bool({"-y", "--yolo", "yolo", "--approval-mode=yolo"} & {*words})


def _started(client: str) -> tuple[tuple[str, ...], bool]:
    """Return the words with which a client above us was started, and whether it has a terminal; none if unseen."""
    for each in callers():
        if client_of(each.words) == client:
            return each.words, each.at_terminal
    return (), False
