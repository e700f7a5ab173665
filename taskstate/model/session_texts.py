"""The texts of a session, as a table: what a session says, under which label, and how a door asks for it.

Whatever writes, reads, merges, migrates or asks for a session takes its texts from here: to add one, add a row.
"""

from __future__ import annotations

import re

from taskstate.syntax.patterns import compiled
from taskstate.typed import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence


class SessionText(NamedTuple):
    """A text of a session: the key of its values in data, the label in the file, and the flag of the command line.

    `help` says what to give. A text that is not `repeated` has one value. One that is `required` must be given. `what`
    names one value in messages, and `example` stands for one in a usage line. Values that are `commits` begin with the
    id of one, which is written in backticks. `also` are other labels that are read as the same text, in lower case.
    Several short values stand on one line where `parted` matches between two of them.
    What `finish` knows of a turn is `of_turn`: it adds values to those that were given, and no door asks for a text
    without a flag.
    """

    key: str
    label: str
    flag: str
    help: str
    what: str
    repeated: bool = True
    required: bool = False
    example: str = "TEXT"
    commits: bool = False
    of_turn: bool = False
    also: tuple[str, ...] = ()
    parted: str = ""

    @property
    def field(self) -> str:
        """The name of its part among `Session.fields`."""
        return self.label.lower()

    def values_in(self, line: str) -> tuple[str, ...]:
        """Return the values on one line."""
        return tuple(re.split(self.parted, line)) if self.parted else (line,)


# A row that some part of the product means by itself has a name.
BY = SessionText(
    "agent",
    "By",
    "agent",
    "name of the agent",
    "the agent's name",
    repeated=False,
    example="NAME",
    of_turn=True,
    also=("agent",),
)
DID = SessionText("did", "What I did", "did", "work done", "what was done", required=True)
ISSUES = SessionText("issues", "Issues encountered", "issue", "issue encountered", "an issue", also=("issues",))
STATE = SessionText(
    "state", "Current state", "state", "current state of the work", "the current state", repeated=False, required=True
)
NEXT = SessionText("next", "Next steps", "next", "next step", "a next step", required=True)
COMMITS = SessionText(
    "commits",
    "Commits",
    "commit",
    "commit made, which must exist here",
    "a commit",
    example="SHA",
    commits=True,
    of_turn=True,
    parted=r"; (?=`[0-9a-f]{4,64}`)",
)
VERIFICATION = SessionText(
    "verification", "Verification", "verified", "what was verified, and how", "the verification", of_turn=True
)
_FINDING = r"; (?=(?:raised|answered|not settled|cleared) \d{1,9}(?:: | \())"
FINDINGS = SessionText("findings", "Findings", "", "", "a finding", of_turn=True, parted=_FINDING)
OUTCOME = SessionText("outcome", "Outcome", "", "", "the outcome", of_turn=True)
# In the order of the file.
SESSION_TEXTS = (BY, DID, ISSUES, STATE, NEXT, COMMITS, VERIFICATION, FINDINGS, OUTCOME)

REQUIRED_LABELS = tuple(text.label for text in SESSION_TEXTS if text.required)
# What a session by hand is to say; without issues it may leave them out.
_BY_HAND = (DID, ISSUES, STATE, NEXT)
ASKED_LABELS = tuple(text.label for text in _BY_HAND)
# Matches one of these labels, in any form that is read; where it stands and what encloses it, the pattern around says.
ASKED_PATTERN = "|".join(name for text in _BY_HAND for name in (text.field, *text.also))


# What stands in the Progress Log of a new file, for who writes into it by hand; the first session takes its place.
ENTRY_FORM = f"""<!-- By hand, the newest last: a heading "Session 1 - 2026-01-31 14:05" (UTC) of level 3, and below it,
     each with a text: {" ".join(f"**{label}:**" for label in ASKED_LABELS)} -->"""


# What a turn did about a finding, before its number.
FINDING_VERBS = ("raised", "answered", "not settled", "cleared")

AUTOSAVED = "autosaved"  # in the place of the role: no agent says it, it was put together from what a session did
TOOK_OVER, HANDED_OVER = "took over from", "handed over"
_WHO = rf"(?s)(.*?)(?: \(([\w.-]+)\))?(?:, {TOOK_OVER} .*)?"


class By(NamedTuple):
    """Who a session is by: the agent's name, and its role in the turn; empty where the session does not say."""

    name: str
    role: str


def by_text(name: str, role: str) -> str:
    """Return the text that says who a session is by: `ann (reviewer)`, or `ann` where there is no role.

    A name that ends in that role is not given it twice; one that ends in other parentheses is.
    """
    return f"{name} ({role})" if role and by_of(name).role != role else name


def by_of(text: str) -> By:
    """Return name and role of a text that says who a session is by, without a remark on a handoff."""
    match = compiled(_WHO).fullmatch(text.strip())
    return By(match[1], match[2] or "") if match else By(text, "")


_OF_TURN = "|".join(re.escape(name) for text in SESSION_TEXTS if text.of_turn for name in (text.label, *text.also))
_PARTED = "|".join(text.parted for text in SESSION_TEXTS if text.parted)
_TOLD = rf"(?msi)^\*\*(?:{_OF_TURN}):\*\*(.*?)(?=^\*\*[^*\n]+:\*\*|\Z)"


def without_turn(entry: str) -> str:
    """Return an entry without the texts that the end of its turn may add to."""
    return compiled(_TOLD).sub("", entry)


def tells_more(new: str, old: str) -> bool:
    """Return whether a session says all that an older form of it says, and besides only what its turn adds.

    Both have LF line ends. Blank lines and spaces at the ends of lines do not count.
    """
    rests = [[line.rstrip() for line in without_turn(each).split("\n") if line.strip()] for each in (new, old)]
    return rests[0] == rests[1] and _told(old) <= _told(new)


def _told(text: str) -> set[str]:
    """Return what a session's turn adds, part by part."""
    lines = (line.strip().removeprefix("- ") for part in compiled(_TOLD).findall(text) for line in part.split("\n"))
    return {each for line in lines for each in re.split(_PARTED, line)}


def agent_last(texts: Sequence[SessionText]) -> list[SessionText]:
    """Return the texts in the order in which doors ask for them and data has them."""
    return sorted(texts, key=lambda text: text.key == BY.key)
