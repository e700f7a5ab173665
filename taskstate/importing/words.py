"""Holds the words of other systems as data: statuses, priorities, times, and what a heading says of the boxes below it.

All readers and the plan use these tables; a word that is not here is told, never guessed.
"""

from __future__ import annotations

import re
from contextlib import suppress
from functools import cache

from taskstate.model.statuses import BLOCKED, COMPLETE, CREATED, DROPPED, IN_PROGRESS
from taskstate.typed import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime, tzinfo

STATUS_WORDS: Mapping[str, str] = {
    CREATED: "to do, todo, open, opened, new, backlog, pending, not started, planned, draft, proposed, ready,"
    " selected for development, reopened, icebox, pinned",
    IN_PROGRESS: "in progress, doing, started, active, wip, in dev, implementing, review, in review, testing, qa,"
    " verifying, hooked",
    BLOCKED: "blocked, on hold, hold, waiting, paused, stuck, deferred, parked",
    COMPLETE: "done, complete, completed, closed, resolved, finished, verified, merged, released, shipped, implemented",
    DROPPED: "cancelled, canceled, wontfix, won't fix, won't do, not planned, duplicate, abandoned, rejected, obsolete,"
    " invalid, skipped",
}
# Words that say no more than ours, and so need not be kept.
PLAIN = frozenset({"to do", "todo", "open", "opened", "created", "new", "pending", "in progress", "blocked"})
PLAIN |= {"done", "complete", "completed", "closed"}
PRIORITY_WORDS: Mapping[str, str] = {
    "P0": "0, critical, blocker, highest, p0",
    "P1": "1, high, major, p1",
    "P2": "2, medium, normal, minor, p2",
    "P3": "3, 4, low, lowest, trivial, backlog, p3",
}
_PRIORITY_LABEL = r"(?i)(?:priority\s*(?:::?|/|-)\s*|(?=p[0-3]$))(.+)"
_SCOPED = r"(?i)(?:workflow|status|state)\s*(?:::?|/)\s*(.+)"
_ACCEPTANCE = r"(?i)\b(?:accept|criteria|criterion|done|requirement)"
_TRAILING_DATE = r"\s{0,9}\(?\d{4}-\d{2}-\d{2}\)?$"
_ISO = r"(\d{4}-\d{2}-\d{2})(?:[T ](\d{2}:\d{2}(?::\d{2}(?:[.,]\d{1,9})?)?)\s*(Z|UTC|[+-]\d{2}:?\d{2})?)?"
_LAST_YEAR = 9998
# Days with the times that may follow, besides ISO 8601: `26.11.2026 14:30`, `26/Nov/26 2:30 PM`, `November 26, 2026`.
_DAYS = ("%d.%m.%Y", "%d.%m.%Y,", "%d/%b/%y", "%d/%b/%Y", "%B %d, %Y", "%b %d, %Y", "%b. %d, %Y")
_TIMES = ("", " %H:%M", " %H:%M:%S", " %I:%M %p", " %I:%M:%S %p")
_ORDERED = {"DMY": "%d/%m/%Y", "MDY": "%m/%d/%Y"}


def plain(word: str) -> str:
    """Return a word as the tables have it: in lower case, `-` and `_` as blanks, without emoji and a date behind it."""
    bare = "".join(
        char if char.isalnum() or char in "'!/" else " " for char in re.sub(_TRAILING_DATE, "", word.strip())
    )
    return " ".join(bare.replace("\u2019", "'").casefold().split())


@cache
def _by_word(table: str) -> dict[str, str]:
    rows = STATUS_WORDS if table == "status" else PRIORITY_WORDS
    return {word: ours for ours, words in rows.items() for word in words.split(", ")}


def status_of(word: str) -> str:
    """Return our status for a word, or an empty text for one that is not in the table."""
    return _by_word("status").get(plain(word), "")


def status_in_label(label: str) -> str:
    """Return the status word that a label is or holds behind its scope; empty for any other label."""
    scoped = re.fullmatch(_SCOPED, label.strip())
    word = scoped[1] if scoped else label
    return word if status_of(word) else ""


def priority_of(word: str) -> str:
    """Return P0 to P3 for a word, or an empty text."""
    return _by_word("priority").get(plain(word), "")


def priority_in_label(label: str) -> str:
    """Return the priority word in a label such as `P1`, `priority: high` or `priority/2`; empty for any other."""
    match = re.fullmatch(_PRIORITY_LABEL, label.strip())
    return match[1] if match else ""


def is_acceptance(heading: str) -> bool:
    """Return whether the boxes below a heading say what must be true, rather than what is to be done."""
    return re.search(_ACCEPTANCE, heading) is not None


def time_of(text: str, form: str = "", zone: str = "") -> str:
    """Return a time as our files have it (UTC), or an empty text where it is none that can be read.

    `form` is the order of a date like `11/10/2026` (`DMY` or `MDY`); `zone` (`+02:00`) is that of times without one.
    """
    from datetime import UTC, datetime

    try:
        local = datetime.fromisoformat(f"2000-01-01T00:00{zone or 'Z'}").tzinfo or UTC
        moment = _moment(text.strip(), form, local)
        moment = moment and moment.astimezone(UTC)
    except (ValueError, OverflowError):
        return ""
    is_known = moment and 1 < moment.year <= _LAST_YEAR
    return moment.isoformat(timespec="seconds").replace("+00:00", "Z") if moment and is_known else ""


def _moment(text: str, form: str, zone: tzinfo) -> datetime | None:
    from datetime import datetime

    if match := re.fullmatch(_ISO, text):
        moment = datetime.fromisoformat(f"{match[1]}T{match[2] or '00:00'}{(match[3] or '').replace('UTC', 'Z')}")
        return moment if moment.tzinfo else moment.replace(tzinfo=zone)
    for day in (*_DAYS, *([_ORDERED[form.upper()]] if form else [])):
        for time in _TIMES:
            with suppress(ValueError):
                return datetime.strptime(text, f"{day}{time}").replace(tzinfo=zone)
    return None
