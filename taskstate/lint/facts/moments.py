"""Tells which times of a file are in the future, for the rules that compare times."""

from __future__ import annotations

from taskstate.typed import TYPE_CHECKING

if TYPE_CHECKING:
    from taskstate.lint.queries.interface import Queries

_SECONDS = ":00Z"


def moment_of(time: str | None) -> str | None:
    """Return the time of a session's heading (`YYYY-MM-DD HH:MM`) as a timestamp; None where it does not exist."""
    from datetime import datetime

    try:
        return f"{datetime.fromisoformat(time or ''):%Y-%m-%dT%H:%M}{_SECONDS}"
    except ValueError:
        return None


def in_future(time: str | None, queries: Queries) -> bool:
    """Return whether the time of a session's heading is known to be in the future."""
    moment = moment_of(time)
    return moment is not None and bool(queries.is_future(moment))
