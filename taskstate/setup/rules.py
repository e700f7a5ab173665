"""Says which of our commands an agent may be given leave for, in the form of each client."""

from __future__ import annotations

from taskstate.setup.clients import CLIENTS

# What a turn takes, each with its subcommand. Left out is what gives leave to run commands or says what is called
# (`trust`, `init`), takes such a command itself (`feature pass --run`, `archive --summarizer`, `new --validation`),
# writes to any file (`lint`, `phase export`, `context export`), and what takes work away, puts other work in its place,
# or passes over what is missing (`purge`, `impact remove`, `session restore`, `permanent close`, `complete --force`).
# `start` and `finish` run the checks that a person has trusted, and no others.
COMMANDS = (
    *("start", "finish", "brief", "next", "list", "show", "status", "search", "protocol"),
    *("session add", "session list", "session show", "feature add", "feature fail", "criterion"),
    *("phase add", "phase set", "phase extend", "phase tried", "phase show"),
    *("handoff", "role", "chain", "evidence", "context show", "context check"),
    *("permanent update", "permanent decide", "permanent notify", "permanent ack", "permanent status"),
    *("permanent recover", "impact add", "impact show", "impact check", "impact confirm", "impact challenge"),
    "impact scan",
)
# Cures that our own texts name to an agent: with these words and no others.
CURES = ("lint", "lint --fix", "doctor --fix")


def rules(client: str) -> tuple[str, ...]:
    """Return what a client's list holds when our commands and our server may run without a person."""
    leave = CLIENTS[client].leave
    if leave is None:
        return ()
    commands = [f"{each}{leave.more}" for each in COMMANDS] + [*CURES] if leave.command else []
    return (*map(leave.command.format, commands), leave.server)
