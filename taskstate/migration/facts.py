"""Reads the facts of a task from an older document: its title, its Metadata fence, and lines such as `**PRD:** a.md`.

A fact becomes a key of the front matter. What cannot be one stays where it is.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta

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
_DAY = r"(\d{4}[-/]\d{2}[-/]\d{2})"
_MONTHS = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"]
_MONTH, _ENDING = rf"({'|'.join(_MONTHS)})[a-z]*\.?,?\s+", r"(?:st|nd|rd|th)?,?\s+"
_WORDS = re.compile(rf"(?i)\b(?:{_MONTH}(\d{{1,2}}){_ENDING}|(\d{{1,2}}){_ENDING}{_MONTH})(\d{{4}})\b")
_CLOCK = re.compile(
    r"(?i)(?:\s*\bat\s+|\s*[T,@|\u2013\u2014-]\s*|\s+)?(?<!\d)(?P<hour>\d{1,2}):(?P<minute>\d{2})"
    r"(?::(?P<second>\d{2})(?:\.\d+)?)?(?:\s*(?P<half>[ap]\.?m\b\.?))?"
)
# Hours ahead of UTC of the zones whose names mean one thing everywhere.
_HOURS = {"": 0, "Z": 0, "UTC": 0, "GMT": 0, "WET": 0, "CET": 1, "MEZ": 1, "CEST": 2, "MESZ": 2, "EET": 2, "EEST": 3}
_HOURS |= {"MSK": 3, "JST": 9, "AEST": 10, "AEDT": 11, "EST": -5, "EDT": -4, "CDT": -5, "MDT": -6, "PST": -8, "PDT": -7}
_NAMES = "|".join(name for name in _HOURS if name[1:])
_ZONE = re.compile(
    rf"\s*(?P<open>\()?(?P<name>(?i:Z|UTC|GMT)|{_NAMES})?"
    r"(?:\s?(?P<sign>[+-])(?P<hours>\d{1,2})(?::?(?P<minutes>[0-5]\d))?)?(?(open)\))(?![\w:])"
)
# Names of zones that mean several, or that change over the year: what time that was in UTC only a person knows.
_UNCERTAIN = re.compile(r"\s*\(?(?:[ABCIMSW]ST\b|[PMCE]T\b|[A-Z][a-z]+/[A-Z]|(?:local|[A-Z][a-z]+) time\b)")
# What is looked at whole: code, links and addresses. A date or number in it is not that of the text.
_OPAQUE = re.compile(r"`+[^`]*`+|!?\[[^\[\]]*\](?:\((?:[^()]|\([^()]*\))*+\)|\[[^\[\]]*\])|<[^<>]*>|(?<!\w)\w++://\S+")
CUT = "\0"  # stands where something was taken out of a text
_NOON = 12
_FARTHEST = timedelta(hours=14)  # from UTC, of any zone


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
    """A time that was found in a text (`YYYY-MM-DD HH:MM:SS`, in UTC where the text names a zone), and the rest.

    In the rest `CUT` stands in the place of the time.
    """

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
    if found is None or not found.time or found.rest.strip(f" \t()[],.-{CUT}"):
        return None
    return f"{found.date}T{found.time}Z"


def without_opaque(text: str) -> str:
    """Return a text of the same length without what is looked at whole: code, links and addresses."""
    return _OPAQUE.sub(lambda match: "\x01" * len(match[0]), text)


def find_moment(text: str) -> Moment | None:
    """Return the date in a text, the time behind it ("" where there is none), and the text without them."""
    bare = without_opaque(text)
    found = re.search(_DAY, bare) or _WORDS.search(bare)
    if found is None:
        return None
    parts = sorted(filter(None, found.groups()), key=len)  # all of it, or date, month and year
    months = [_MONTHS.index(part.casefold()) + 1 for part in parts if part.isalpha()]
    date = f"{parts[2]}-{months[0]:02}-{int(parts[0]):02}" if months else parts[0].replace("/", "-")
    clock = _CLOCK.match(bare, found.end())
    zone = _zone(bare, clock) if clock else None
    moment = _in_utc(date, clock, zone[0]) if clock and zone else None
    end = zone[1] if zone and moment else found.end()
    rest = f"{text[: found.start()]}{CUT}{text[end:]}"
    return Moment(*moment, rest) if moment else (Moment(date, "", rest) if _is_date(date) else None)


def _is_date(text: str) -> bool:
    try:
        return bool(datetime.strptime(text, "%Y-%m-%d").replace(tzinfo=UTC))
    except ValueError:
        return False


def _zone(text: str, clock: re.Match[str]) -> tuple[timedelta, int] | None:
    """Return how far the zone behind a time is ahead of UTC, and where it ends; None where nobody can tell."""
    zone = _ZONE.match(text, clock.end())
    name, hours, minutes = (zone["name"] or "", zone["hours"] or "", zone["minutes"] or "") if zone else ("", "", "")
    spoken = not (name or clock["second"] or "T" in clock[0])  # 14:30-16:00 is from when to when
    is_range = spoken and f"-{hours}:{minutes}" > f"-{clock['hour']:0>2}:{clock['minute']}"
    if not zone or not (name or hours) or (is_range and zone["sign"] == "-"):
        return None if _UNCERTAIN.match(text, clock.end()) else (timedelta(), clock.end())
    ahead = timedelta(hours=int(hours or 0), minutes=int(minutes or 0)) * (-1 if zone["sign"] == "-" else 1)
    is_known = abs(ahead) <= _FARTHEST and (name or hours[1:]) and not (hours and _HOURS[name.upper()])
    return (timedelta(hours=_HOURS[name.upper()]) + ahead, zone.end()) if is_known else None


def _in_utc(date: str, clock: re.Match[str], ahead: timedelta) -> tuple[str, str] | None:
    """Return date and time in UTC, or None where they do not exist; a time without a zone is taken as it is."""
    hour, half = int(clock["hour"]), (clock["half"] or "").lower()
    if half.startswith("a") and hour > _NOON:
        return None
    if half and hour <= _NOON:  # some write 14:30 PM, which can only mean one time
        hour = hour % _NOON + (_NOON if half.startswith("p") else 0)
    try:
        text = f"{date} {hour:02}:{clock['minute']}:{clock['second'] or '00'}"
        moment = datetime.strptime(text, "%Y-%m-%d %H:%M:%S").replace(tzinfo=UTC) - ahead
    except (ValueError, OverflowError):
        return None
    return moment.strftime("%Y-%m-%d"), moment.strftime("%H:%M:%S")
