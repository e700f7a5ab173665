"""The texts of a session, as a table: what a session says, under which label, and how a door asks for it.

Whatever writes, reads, merges, migrates or asks for a session takes its texts from here: to add one, add a row.
"""

from __future__ import annotations

import re

from taskstate.typed import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence


class SessionText(NamedTuple):
    """A text of a session: the key of its values in data, the label in the file, and the flag of the command line.

    `help` says what to give. A text that is not `repeated` has one value. One that is `required` must be given.
    `placeholder` is written where there is no value; without one, nothing is. `what` names one value in messages, and
    `example` stands for one in a usage line. Values that are `commits` are written in backticks. `also` are other
    labels that are read as the same text, in lower case.
    """

    key: str
    label: str
    flag: str
    help: str
    what: str
    repeated: bool = True
    required: bool = False
    placeholder: str = ""
    example: str = "TEXT"
    commits: bool = False
    also: tuple[str, ...] = ()

    @property
    def field(self) -> str:
        """The name of its part among `Session.fields`."""
        return self.label.lower()


# A row that some part of the product means by itself has a name.
BY = SessionText(
    "agent", "By", "agent", "name of the agent", "the agent's name", repeated=False, example="NAME", also=("agent",)
)
DID = SessionText("did", "What I did", "did", "work done", "what was done", required=True)
ISSUES = SessionText(
    "issues", "Issues encountered", "issue", "issue encountered", "an issue", placeholder="None", also=("issues",)
)
STATE = SessionText(
    "state", "Current state", "state", "current state of the work", "the current state", repeated=False, required=True
)
NEXT = SessionText("next", "Next steps", "next", "next step", "a next step", required=True)
COMMITS = SessionText(
    "commits",
    "Commits",
    "commit",
    "commit made, which must exist here; recorded by its full id",
    "a commit",
    example="SHA",
    commits=True,
)
VERIFICATION = SessionText("verification", "Verification", "verified", "what was verified, and how", "the verification")
# In the order of the file.
SESSION_TEXTS = (BY, DID, ISSUES, STATE, NEXT, COMMITS, VERIFICATION)

_IN_EVERY_SESSION = tuple(text for text in SESSION_TEXTS if text.required or text.placeholder)
REQUIRED_LABELS = tuple(text.label for text in _IN_EVERY_SESSION)
# Matches one of these labels, in any form that is read; where it stands and what encloses it, the pattern around says.
REQUIRED_PATTERN = "|".join(name for text in _IN_EVERY_SESSION for name in (text.field, *text.also))


# What stands in the Progress Log of a new file, for who writes into it by hand; the first session takes its place.
ENTRY_FORM = f"""<!-- By hand, the newest last: a heading "Session 1 - 2026-01-31 14:05" (UTC) of level 3, and below it,
     each with a text: {" ".join(f"**{label}:**" for label in REQUIRED_LABELS)} -->"""


TOOK_OVER = "took over from"
_BY = rf"(.*?)(?: \(([\w.-]+)\))?(?:, {TOOK_OVER} .*)?"


class By(NamedTuple):
    """Who a session is by: the agent's name, and its role in the turn; empty where the session does not say."""

    name: str
    role: str


def by_text(name: str, role: str) -> str:
    """Return the text that says who a session is by: `ann (reviewer)`, or `ann` where there is no role."""
    return f"{name} ({role})" if role and not by_of(name).role else name


def by_of(text: str) -> By:
    """Return name and role of a text that says who a session is by, without a remark on a handoff."""
    match = re.compile(_BY, re.DOTALL).fullmatch(text.strip())
    return By(match[1], match[2] or "") if match else By(text, "")


def agent_last(texts: Sequence[SessionText]) -> list[SessionText]:
    """Return the texts in the order in which doors ask for them and data has them."""
    return sorted(texts, key=lambda text: text.key == BY.key)
