"""One living Markdown file per task, kept safe: read it, change it by spans, lint it, archive it."""

from __future__ import annotations

from taskstate.version import VERSION

__version__ = VERSION

__all__ = ["__version__"]
