"""Slips that were thought of last, when the linter was done with all others: what editors, scripts and merges do."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from benchmarks.detection.damages import Damage, swap, swap_last

if TYPE_CHECKING:
    from collections.abc import Callable

_BODY = "# Task #"


def _all(
    name: str, codes: str, change: Callable[[str], str | bytes], at: str = "", *, history: bool = False
) -> list[Damage]:
    """Return the same damage of the file that the tool wrote, and of the one written by hand."""
    return [Damage(name, file, codes, change, at, history) for file in ("tool", "hand")]


def _in_log(change: Callable[[str], str]) -> Callable[[str], str]:
    """Return a change of the sessions alone."""

    def changed(text: str) -> str:
        head, log = text.split("## 4. Progress Log\n", 1)
        log, tail = log.split("## 5. Git History", 1)
        return f"{head}## 4. Progress Log\n{change(log)}## 5. Git History{tail}"

    return changed


def _twice(text: str) -> str:
    """Return the text with its last session twice, as a merge by hand leaves it."""
    session = re.findall(r"^### Session .*?(?=^## )", text, re.MULTILINE | re.DOTALL)[-1]
    last = session[session.rindex("### Session") :]
    return text.replace(last, last + last)


def _without_summary(text: str) -> str:
    """Return the text without what it says of its archive, with counts that fit what is left."""
    text = re.sub(r"(?ms)^### Archived Summary.*?(?=^### Session)", "", text)
    text = text.replace("total: 8, archived: 4", "total: 4, archived: 0")
    return re.sub(r"(?m)^archive_path: .*\n", "", text)


DAMAGES = [
    *_all("a file saved as UTF-16", "TS001", lambda text: text.encode("utf-16"), ""),
    *_all("a wide colon behind a key", "TS003", swap("^status: ", "status\uff1a")),
    *_all("a long dash for the first line", "TS002", swap(r"\A---\n", "\u2014\n"), "taskstate"),
    *_all("the whole body twice", "TS203 TS206 TS402", lambda text: text + "\n" + text[text.index(_BODY) :], _BODY),
    *_all(
        "a comment in a session never closes",
        "TS004 TS207 TS201",
        swap_last(r"^\*\*Current state:\*\*", "<!-- to do\n\n**Current state:**"),
        "## ",
    ),
    *_all(
        "a word replaced in all sessions",
        "TS405",
        _in_log(lambda log: re.sub("wrote|Sent|Read", "made", log)),
        "###",
        history=True,
    ),
    *_all(
        "other bullets in all sessions",
        "TS405",
        _in_log(lambda log: re.sub(r"(?m)^- ", "* ", log)),
        "###",
        history=True,
    ),
    *_all("a session with a letter at its number", "TS401 TS402 TS405", swap_last(r"^(### Session \d)", r"\1b")),
    *_all("a criterion with another mark", "TS310", swap(r"^- \[ \] ", "- [\u2713] ")),
    *_all("a session twice, word for word", "TS402", _twice, "### Session"),
    *_all(
        "a key twice in the checklist",
        "TS005",
        swap(r'^  "overall_progress[^\n]*\n', r'  "overall_progress": "0%",\n\g<0>'),
    ),
    *_all(
        "a feature passes with a time alone",
        "TS311",
        swap(r'"passes": false,(\s*)"tested_at": null', r'"passes": true,\1"tested_at": "2026-01-08T11:00:00Z"'),
        history=True,
    ),
    Damage("the summary goes, and the counts with it", "tool", "TS407 TS405 TS402", _without_summary, "## 4. Progress"),
]
