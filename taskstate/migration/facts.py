"""Reads the facts of a task from an older document: its title, its Metadata fence, and lines such as `**PRD:** a.md`.

A fact becomes a key of the front matter. What cannot be one stays where it is.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime

from taskstate.model import names
from taskstate.model.statuses import CREATED, IN_PROGRESS
from taskstate.syntax.conservation import leaf, plain_line
from taskstate.syntax.spans import CONTROLS
from taskstate.typed import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

_LABEL = re.compile(r"[ \t]*(?:[-*+][ \t]+)?(?:\*\*|__)([^*_:\n]+?)(?::(?:\*\*|__)|(?:\*\*|__)[ \t]*:)[ \t]*(\S.*)")
_KEYS = {
    "prd": "prd",
    "epic": "epic",
    "repository": "repository",
    "repo": "repository",
    "agent": "agent",
    "assigned agent": "agent",
    "area": "area",
    "priority": "priority",
    "status": "status",
    "created": "created_at",
    "created at": "created_at",
    "created on": "created_at",
    "depends on": "depends_on",
    "dependencies": "depends_on",
    "title": "title",
}
_STATUSES = {
    "created": CREATED,
    "new": CREATED,
    "todo": CREATED,
    "pending": CREATED,
    "not started": CREATED,
    "in progress": IN_PROGRESS,
    "in-progress": IN_PROGRESS,
    "in_progress": IN_PROGRESS,
    "active": IN_PROGRESS,
    "started": IN_PROGRESS,
    "blocked": "blocked",
}
_TITLE = re.compile(
    r"(?i)(?:task\s*)?(?:#\s*|(?<=task )|(?=\d))(?P<id>[A-Za-z0-9]+(?:[._-][A-Za-z0-9]+)*)\s*"
    r"(?:\s[-\u2013\u2014]|[:\u2013\u2014])\s*(?P<title>\S.*)"
)
_STATE_SUFFIX = re.compile(r"(?i)(?<!\s)\s+[-\u2013\u2014]\s+(?:task\s+)?state\s*$")
_DAY = r"(?P<day>\d{4}[-/]\d{2}[-/]\d{2})"
_MONTHS = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"]
_WORDS = re.compile(
    r"(?i)\b(?P<month>jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*\.?\s+(?P<date>\d{1,2})(?:st|nd|rd|th)?,?\s+"
    r"(?P<year>\d{4})\b|\b(?P<date2>\d{1,2})(?:st|nd|rd|th)?\s+(?P<month2>jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)"
    r"[a-z]*\.?,?\s+(?P<year2>\d{4})\b"
)
_CLOCK = re.compile(
    r"(?i)(?:\s*\bat\s+|\s*[T,@]\s*|\s+)?(?<!\d)(?P<hour>\d{1,2}):(?P<minute>\d{2})(?::(?P<second>\d{2})(?:\.\d+)?)?"
    r"\s*(?P<half>[ap]\.?m\b\.?)?\s*(?P<zone>Z\b|UTC\b|[+-]\d{2}:?\d{2})?"
)
_NOON = 12


class Fact(NamedTuple):
    """A line of the older document, and the key and value of the front matter that it becomes."""

    line: str
    key: str
    value: object


class Titled(NamedTuple):
    """What a title line says: the id of the task (or ""), and the task's title."""

    id: str
    title: str


class Moment(NamedTuple):
    """A time that was found in a text (`YYYY-MM-DD HH:MM:SS`, in UTC where the text names a zone), and the rest."""

    date: str
    time: str
    rest: str


def read_title(heading: str) -> Titled:
    """Return what a title line such as `Task #101: JWT Service - State` says."""
    text = " ".join(heading.split())
    bare = _STATE_SUFFIX.sub("", text)
    match = _TITLE.fullmatch(bare)
    if match and (bare.casefold().startswith(("task", "#")) or match["id"].isdigit()):
        return Titled(match["id"], match["title"])
    return Titled("", bare)


def label_of(line: str) -> tuple[str, str] | None:
    """Return label and value of a line such as `**PRD:** a.md`, or None."""
    match = _LABEL.fullmatch(line)
    return (" ".join(match[1].split()), match[2].removesuffix("\\").rstrip(" \t") or match[2]) if match else None


def take_facts(text: str, known: Mapping[str, object]) -> tuple[str, tuple[Fact, ...]]:
    """Return a text without the lines that are facts, and those facts; keys that are `known` already are left alone."""
    found: dict[str, Fact] = {}
    rest = []
    for line in text.split("\n"):
        fact = _fact(line)
        if fact and fact.key not in known and fact.key not in found:
            found[fact.key] = fact
        else:
            rest.append(line)
    return "\n".join(rest), tuple(found.values())


def _fact(line: str) -> Fact | None:
    label = label_of(line)
    key = _KEYS.get(label[0].casefold()) if label else None
    value = value_of(key, label[1]) if key and label else None
    return Fact(plain_line(line), key, value) if key and value else None


def value_of(key: str, text: object) -> object:
    """Return the value of a key of the front matter, given how an older form writes it; None where it says none."""
    shown = " ".join(str(text).split())
    if not shown or not isinstance(text, str | int) or re.search(CONTROLS, shown):
        return None
    if key == "status":
        return _STATUSES.get(shown.casefold())
    if key == "priority":
        return shown.upper() if shown.upper() in {"P0", "P1", "P2", "P3"} else None
    if key == "created_at":
        return timestamp_in(shown)
    if key == "depends_on":
        ids = [each.strip().removeprefix("#") for each in re.sub(r"(?i)\btask[s]?\s*(?=#|\d)", "", shown).split(",")]
        return sorted(dict.fromkeys(ids), key=names.id_key) if all(map(names.is_id, ids)) else None
    return shown


def fact_lines(fact: Fact) -> Iterator[str]:
    """Yield the lines of the front matter that stand for a fact."""
    values = fact.value if isinstance(fact.value, list) else [fact.value]
    yield from (leaf(fact.key, value) for value in values)


# Times


def timestamp_in(text: str) -> str | None:
    """Return the time that a whole text says, in the format of the files; None where it says anything else."""
    found = find_moment(text)
    if found is None or not found.time or found.rest.strip(" \t()[],.-"):
        return None
    return f"{found.date}T{found.time}Z"


def find_moment(text: str) -> Moment | None:
    """Return the date in a text, the time behind it ("" where there is none), and the text without them."""
    day = re.search(_DAY, text)
    words = None if day else _WORDS.search(text)
    found = day or words
    if found is None:
        return None
    if day:
        date = day["day"].replace("/", "-")
    else:
        groups = found.groupdict()
        month = _MONTHS.index((groups["month"] or groups["month2"]).casefold()[:3]) + 1
        date = f"{groups['year'] or groups['year2']}-{month:02}-{int(groups['date'] or groups['date2']):02}"
    clock = _CLOCK.match(text, found.end())
    moment = _in_utc(date, clock) if clock else None
    end = clock.end() if clock and moment else found.end()
    rest = text[: found.start()] + text[end:]
    return Moment(*moment, rest) if moment else (Moment(date, "", rest) if _is_date(date) else None)


def _is_date(text: str) -> bool:
    try:
        return bool(datetime.strptime(text, "%Y-%m-%d").replace(tzinfo=UTC))
    except ValueError:
        return False


def _in_utc(date: str, clock: re.Match[str]) -> tuple[str, str] | None:
    """Return date and time in UTC, or None where they do not exist; a time without a zone is taken as it is."""
    hour, half = int(clock["hour"]), (clock["half"] or "").lower()
    if half.startswith("a") and hour > _NOON:
        return None
    if half and hour <= _NOON:  # some write 14:30 PM, which can only mean one time
        hour = hour % _NOON + (_NOON if half.startswith("p") else 0)
    zone = (clock["zone"] or "Z").upper().replace("UTC", "Z")
    text = f"{date} {hour:02}:{clock['minute']}:{clock['second'] or '00'}{zone.replace('Z', '+0000')}"
    try:
        moment = datetime.strptime(text, "%Y-%m-%d %H:%M:%S%z").astimezone(UTC)
    except ValueError:
        return None
    return moment.strftime("%Y-%m-%d"), moment.strftime("%H:%M:%S")
