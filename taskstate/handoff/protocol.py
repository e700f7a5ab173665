"""Fills in the working protocol for an agent, by task and role, and its short form for a brief.

The short form is no template: filling one takes longer than all else in a brief.
"""

from __future__ import annotations

from taskstate.errors import TaskstateError
from taskstate.model import roles
from taskstate.syntax.spans import printable
from taskstate.typed import TYPE_CHECKING, NamedTuple
from taskstate.workspace import templates

if TYPE_CHECKING:
    from taskstate.workspace.workspace import Workspace


TEMPLATE = "protocol.md.j2"
AGENTS = ("claude", "codex", "cursor", "generic")
LEAD = "lead"  # not a configured role: the agent that starts the others, or works alone
PERMANENT = "permanent"
_ANY_TASK = "ID"
_SHORT = """\
One feature at a time; open a file before you change it; what you cannot verify does not pass. Steps: `{protocol}`
End with `taskstate finish {id} --did T --state T --next T` and `--pass FID`{back}; `--pause` at 80 % of context."""
_SHORT_PERMANENT = """\
Open a file before you speak of it; what a decision here rules out is not done. Steps: `{protocol}`
What became wrong here gets a version: `taskstate permanent update --section S --from FILE`, `permanent decide`."""


class Subject(NamedTuple):
    """What a protocol is for: the id and the kind of a task, or by default any task that is not permanent."""

    id: str = _ANY_TASK
    kind: str = "task"


def text(workspace: Workspace, subject: Subject, *, role: str = "", agent: str = "") -> str:
    """Return the session protocol as Markdown.

    Raises:
        TaskstateError: there is no such role or agent, or the project's own template is wrong.
    """
    configured = workspace.config.roles
    validated_role = _validated(workspace, role)
    if agent and agent not in AGENTS:
        raise TaskstateError(f"there is no agent {agent!r}", help=f"choose from {', '.join(AGENTS)}", code="usage")
    values = {
        **subject._asdict(),
        "role": validated_role,
        "previous": _previous(workspace, validated_role),
        "last": bool(validated_role) and configured[-1] == validated_role,
        "agent": agent,
    }
    return printable(templates.fill(workspace, TEMPLATE, values)).strip("\n") + "\n"


def short(workspace: Workspace, subject: Subject, *, role: str = "") -> str:
    """Return the short form, with which every brief begins: how a turn ends, and the command for all steps.

    Raises:
        TaskstateError: there is no such role.
    """
    validated_role = _validated(workspace, role)
    previous = _previous(workspace, validated_role)
    return (_SHORT_PERMANENT if subject.kind == PERMANENT else _SHORT).format(
        id=subject.id,
        back=f", or `--send-back {previous} --finding T`" if previous else "",
        protocol=f"taskstate protocol {subject.id}{f' --role {validated_role}' if validated_role else ''}",
    )


def _validated(workspace: Workspace, role: str) -> str:
    return "" if role in {"", LEAD} else roles.require_role(role, workspace.config.roles)


def _previous(workspace: Workspace, role: str) -> str:
    return (roles.previous_role(role, workspace.config.roles) or "") if role else ""
