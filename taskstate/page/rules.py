"""The rules of the linter, and the page of each, as `taskstate rule` prints it."""

from __future__ import annotations

from taskstate.operations.rule import Rule, rule
from taskstate.page.markdown import rendered
from taskstate.typed import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from taskstate.page.reading import Reading


def listed(reading: Reading) -> Mapping[str, object]:
    """Return what the template of all rules shows."""
    return {"title": "Rules", "rules": rule(reading.call, Rule(None)).data}


def values(reading: Reading, code: str) -> Mapping[str, object]:
    """Return what the template of a rule shows.

    Raises:
        TaskstateError: code "not-found": there is no such rule.
    """
    heading, _, text = rule(reading.call, Rule(code)).text.partition("\n")
    return {"title": heading.removeprefix("# "), "text": rendered(text, depth=0)}
