"""taskstate keeps one Markdown state file per task: read it, edit it without losing a byte, lint it, archive it.

This is the public API. Each name is imported when it is first used, so that `import taskstate` itself stays fast.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from taskstate.version import VERSION

if TYPE_CHECKING:
    from taskstate.errors import TaskstateError as TaskstateError
    from taskstate.model.task_state import TaskState, read_state
    from taskstate.syntax.document import Document, parse
    from taskstate.syntax.edits import Edit, apply

__version__ = VERSION

_MODULES = {
    "Document": "syntax.document",
    "Edit": "syntax.edits",
    "TaskState": "model.task_state",
    "TaskstateError": "errors",
    "apply": "syntax.edits",
    "parse": "syntax.document",
    "read_state": "model.task_state",
}

__all__ = ["Document", "Edit", "TaskState", "TaskstateError", "__version__", "apply", "parse", "read_state"]


def __getattr__(name: str) -> object:
    """Import a public name from its module on first use."""
    if name not in _MODULES:
        raise AttributeError(f"module 'taskstate' has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(f"taskstate.{_MODULES[name]}"), name)
