"""Shows the roles of a task as text: a table, and below it each finding with what was said about it since."""

from __future__ import annotations

import re

from taskstate.model import roles
from taskstate.model.write_metadata import blocks_of
from taskstate.typed import TYPE_CHECKING
from taskstate.views.history import FINDING, of_task, short
from taskstate.views.layout import EMPTY, table

if TYPE_CHECKING:
    from taskstate.model.tool_blocks import Role
    from taskstate.views.history import Entry
    from taskstate.views.layout import Screen
    from taskstate.workspace.workspace import Loaded, Workspace

_COLUMNS = ("ROLE", "STATUS", "COMPLETED", "SNAPSHOT", "DIFF", "FINDINGS", "DRIFT")
_ANSWERED = r"(?:answered )?\d+ (?:answered|\(.*?\)): "  # as a session says it, or an event


def role_table(workspace: Workspace, loaded: Loaded, screen: Screen) -> str:
    """Return the status of a task's roles as a table, with their numbered findings below it."""
    pipeline = roles.pipeline(blocks_of(loaded.document), workspace.config.roles)
    lines = table([_COLUMNS, *(_row(each, screen) for each in pipeline)], screen.columns)
    is_wanted = any(role.findings for role in pipeline)
    said = [each for each in of_task(workspace, loaded) if each.kind == FINDING] if is_wanted else []
    for role in pipeline:
        lines += ["", f"findings of {role.name}:"] if role.findings else []
        for finding in role.findings:
            own = [each for each in said if each.number == finding.number]
            lines += [f"  {finding}", *(f"    {screen.age(each.at)}  {each.by}  {_words(each)}" for each in own)]
    return "\n".join(lines)


def _words(entry: Entry) -> str:
    """Return what was done about a finding, without the text of the finding itself."""
    answer = re.match(_ANSWERED, entry.text)
    done = entry.event.removeprefix("finding-").replace("-", " ")
    return f"{done}: {entry.text[answer.end() :]}" if answer else done


def _row(role: Role, screen: Screen) -> tuple[str, ...]:
    snapshot = role.snapshot
    return (
        role.name,
        role.status.replace("_", " "),
        screen.age(role.completed_at or EMPTY),
        screen.age((snapshot and snapshot.snapshot_time) or EMPTY),
        short((snapshot and snapshot.diff_stat) or EMPTY),
        str(len(role.findings) or EMPTY),
        str(role.budget or EMPTY),
    )
