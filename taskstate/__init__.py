"""One living Markdown file per task, kept safe: read it, change it by spans, lint it, archive it.

The public API. What stands here is loaded when it is first asked for: `import taskstate` itself costs nothing.
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

_ROOMS = {
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
    """Return a public name from the room that it lives in."""
    if name not in _ROOMS:
        raise AttributeError(f"module 'taskstate' has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(f"taskstate.{_ROOMS[name]}"), name)
