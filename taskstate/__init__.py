"""taskstate keeps one Markdown state file per task: read it, edit it without losing a byte, lint it, archive it.

This is the public API. Each name is imported when it is first used, so that `import taskstate` itself stays fast.
"""

from __future__ import annotations

from taskstate.typed import TYPE_CHECKING
from taskstate.version import VERSION

if TYPE_CHECKING:
    from taskstate.api import Repository, open_repository
    from taskstate.errors import SeveralReasons, TaskstateError
    from taskstate.model.task_state import TaskState, read_state
    from taskstate.permanent.create import NewPermanent
    from taskstate.permanent.decide import Choice
    from taskstate.permanent.update import Update
    from taskstate.roles.role_rules import RoleChange
    from taskstate.syntax.document import Document, parse
    from taskstate.syntax.edits import Edit, apply
    from taskstate.tasks.create import NewTask
    from taskstate.tasks.new_session import NewSession
    from taskstate.turn.ending import FinishRequest
    from taskstate.turn.start import StartRequest

__version__ = VERSION

_MODULES = {
    "Choice": "permanent.decide",
    "Document": "syntax.document",
    "Edit": "syntax.edits",
    "FinishRequest": "turn.ending",
    "NewPermanent": "permanent.create",
    "NewSession": "tasks.new_session",
    "NewTask": "tasks.create",
    "Repository": "api",
    "RoleChange": "roles.role_rules",
    "SeveralReasons": "errors",
    "StartRequest": "turn.start",
    "TaskState": "model.task_state",
    "TaskstateError": "errors",
    "Update": "permanent.update",
    "apply": "syntax.edits",
    "open_repository": "api",
    "parse": "syntax.document",
    "read_state": "model.task_state",
}

__all__ = [
    "Choice",
    "Document",
    "Edit",
    "FinishRequest",
    "NewPermanent",
    "NewSession",
    "NewTask",
    "Repository",
    "RoleChange",
    "SeveralReasons",
    "StartRequest",
    "TaskState",
    "TaskstateError",
    "Update",
    "__version__",
    "apply",
    "open_repository",
    "parse",
    "read_state",
]


def __getattr__(name: str) -> object:
    """Import a public name from its module on first use."""
    if name not in _MODULES:
        raise AttributeError(f"module 'taskstate' has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(f"taskstate.{_MODULES[name]}"), name)


def __dir__() -> list[str]:
    """Return the public names, those that are not imported yet among them."""
    return sorted(__all__)
