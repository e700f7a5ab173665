"""The texts of a session, as a table: what a session says, under which label, and how a door asks for it.

Whatever writes, reads, merges, migrates or asks for a session takes its texts from here: to add one, add a row.
"""

from __future__ import annotations

from taskstate.typed import NamedTuple


class SessionText(NamedTuple):
    """A text of a session: the key of its values in data, the label in the file, and the flag of the command line.

    `help` says what to give. A text that is not `repeated` has one value. One that is `required` stands in every
    session. `placeholder` is written where there is no value; without one, nothing is. `what` names one value in
    messages, and `example` stands for one in a usage line. Values that are `commits` are written in backticks.
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


# In the order of the file.
AGENT = SessionText("agent", "Agent", "agent", "name of the agent", "the agent's name", repeated=False, example="NAME")
SESSION_TEXTS = (
    AGENT,
    SessionText("did", "What I did", "did", "work done", "what was done", required=True),
    SessionText("issues", "Issues encountered", "issue", "issue encountered", "an issue", placeholder="None"),
    SessionText(
        "state",
        "Current state",
        "state",
        "current state of the work",
        "the current state",
        repeated=False,
        required=True,
    ),
    SessionText("next", "Next steps", "next", "next step", "a next step", required=True),
    SessionText(
        "commits",
        "Commits",
        "commit",
        "commit made, which must exist here; recorded by its full id",
        "a commit",
        example="SHA",
        commits=True,
    ),
    SessionText("verification", "Verification", "verified", "what was verified, and how", "the verification"),
)
