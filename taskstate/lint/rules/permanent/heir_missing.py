"""heir-missing: a superseded decision and its heir do not name each other.

## What

An Architecture Decision is superseded without saying by which one (`**Status:** superseded by AD-7`), by one that is
not there, or by itself; its heir does not name it (`**Supersedes:** AD-3`); or a decision says that it supersedes one
whose status does not say so.

## Why

Who comes upon the old decision must find the one that counts instead, and who reads the new one must learn what it
replaced. Two decisions that are both in force contradict each other.

## Example

```markdown
### AD-3: Sessions live in the database

**Status:** superseded
```

## Instead

```markdown
### AD-3: Sessions live in the database

**Status:** superseded by AD-7
```

and under AD-7 `**Supersedes:** AD-3`. `taskstate permanent decide` writes both.
"""

from __future__ import annotations

import re

from taskstate.lint.diagnostics import Diagnostics, Rule
from taskstate.model.permanent import SUPERSEDED, Decision, decisions, labelled
from taskstate.typed import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from taskstate.lint.facts.file_facts import Facts
    from taskstate.syntax.document import Document

RULE = Rule.of("TSP04", __name__, "a superseded decision and its heir do not name each other")

_NAMED = r"\bAD-(\d{1,9})\b"


def check(facts: Facts) -> Diagnostics:
    """Yield a finding for each superseded decision without its heir, and each ancestor that does not say so."""
    document = facts.document
    if not facts.is_permanent:
        return
    found = {each.number: each for each in decisions(facts.state)}
    named = {each.number: _numbers(each.section.body.of(document.text)) for each in found.values()}
    ancestors = {each.number: _numbers(_supersedes(each, document)) for each in found.values()}
    for each in found.values():
        if each.status == SUPERSEDED:
            yield from _faults_of_heir(each, named, ancestors)
        for number in ancestors[each.number]:
            ancestor = found.get(number)
            if ancestor is None or ancestor.status != SUPERSEDED:
                state = "is not there" if ancestor is None else "is not marked as superseded"
                write = f"write `**Status:** superseded by AD-{each.number}` under AD-{number}"
                help_ = "name the decision that is meant, or take the line out" if ancestor is None else write
                message = f"AD-{each.number} supersedes AD-{number}, which {state}"
                yield RULE.at(each.section.heading, message, help=help_)


def _supersedes(decision: Decision, document: Document) -> str:
    return labelled(decision.section.body.of(document.text)).get("supersedes", "")


def _numbers(text: str) -> list[int]:
    return [int(number) for number in re.compile(_NAMED).findall(text)]


def _faults_of_heir(
    decision: Decision, named: Mapping[int, list[int]], ancestors: Mapping[int, list[int]]
) -> Diagnostics:
    """Yield a finding where a superseded decision names no heir, or one that does not name it.

    `named` are the decisions that each one names, `ancestors` those that it says it supersedes.
    """
    number, heir, place = decision.number, decision.heir, decision.section.heading
    claimed = next((each for each, its in ancestors.items() if number in its), None)
    form = f"write `**Status:** superseded by AD-{claimed or 'N'}`"
    what = "" if claimed else ", with the number of the decision that counts instead"
    if heir is None:
        yield RULE.at(place, f"AD-{number} is superseded, and does not say by which decision", help=form + what)
    elif heir == number:
        yield RULE.at(place, f"AD-{number} is superseded by itself", help=form + what)
    elif heir not in named:
        help_ = f"{form}{what}" if claimed else f"add AD-{heir}, or {form}{what}"
        yield RULE.at(place, f"AD-{number} is superseded by AD-{heir}, which is not there", help=help_)
    elif number not in named[heir]:
        message = f"AD-{number} is superseded by AD-{heir}, which does not name it"
        yield RULE.at(place, message, help=f"write `**Supersedes:** AD-{number}` under AD-{heir}")
