"""The statuses of tasks, roles and objectives, as the files spell them."""

from __future__ import annotations

from taskstate.messages import one_line

CREATED, IN_PROGRESS, BLOCKED, COMPLETE = "created", "in_progress", "blocked", "complete"
DROPPED = "dropped"  # given up
PENDING, NOT_STARTED, DONE = "pending", "not_started", "done"
RECORDED = "recorded"  # a baseline

OF_TASKS = (CREATED, IN_PROGRESS, BLOCKED, COMPLETE, DROPPED)
CLOSED = (COMPLETE, DROPPED)  # nobody works on such a task until it is reopened
OF_ROLES = (PENDING, IN_PROGRESS, DONE, BLOCKED)
OF_OBJECTIVES = (NOT_STARTED, IN_PROGRESS, DONE, BLOCKED)


def unknown(status: str) -> str:
    """Return in words that a task has a status that there is not; empty where there is."""
    if status in OF_TASKS:
        return ""
    return f"`status` is {one_line(status, 40)!r}; it must be one of {', '.join(OF_TASKS)}"
