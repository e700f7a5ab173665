"""What an export for a role consists of, and what of it the usual roles do without: data that a project may override.

Who implements does without the results of the others; who reviews, without results that would be taken for proof; who
validates, without the story.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from taskstate.config import Config

EXPORT_FIELDS = (  # besides what identifies the task
    "description",
    "scope",
    "criteria",
    "standards",
    "commands",
    "paths",
    "baseline",
    "inputs",
    "evidence",
    "coordination",
    "qa",
    "delta",
)
EXPORT_DROPS: Mapping[str, tuple[str, ...]] = {
    "implementer": ("qa",),
    "reviewer": ("baseline",),
    "validator": ("description", "inputs"),
}


def export_drop(config: Config, role: str) -> tuple[str, ...]:
    """Return the fields that a role's export leaves out: what the configuration says, else what is usual."""
    configured = config.export.get(role)
    return configured.drop if configured else EXPORT_DROPS.get(role, ())
