"""handoff-open: what a state file says of its open handoff, and the handoff documents, disagree.

## What

`handoffs.open` in the front matter names the handoff document that nobody has accepted yet, as a path from the state
folder, or null. It is a finding when it names a document that is not there or was accepted, or something else than a
handoff document of this task; when it is null and a document of the task is open; and when a second document is open.
Only documents of our kind count, those with `kind: handoff` in their front matter, in `handoffs/task-<id>/`.

## Why

One task has one successor at a time. A handoff that nobody sees is work that is done twice; one that was accepted long
ago, or is gone, blocks the next one and the completion of the task.

## Example

```yaml
handoffs: {count: 2, open: null}
```

while `handoffs/task-101/phase-3-handoff-20260131T120000Z.md` says `status: open`. A merge of two branches that both
handed over leaves it so.

## Instead

`taskstate handoff accept 101` accepts the one that is named, or else the oldest open one, and archives it; called again
it takes the next. A document that is gone can be put back with git; where that is not possible,
`taskstate handoff new 101 --force …` writes another in its place, which is also the way out where something else is
named. One that was deleted on purpose is taken out of the state file by hand, and
`taskstate doctor --reseal 101 --note "…"` accepts that.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from taskstate.handoff.document import ACCEPTED, OPEN, WrittenHandoff
from taskstate.handoff.paths import is_handoff_path
from taskstate.lint.diagnostics import FRONT_MATTER, Diagnostic, Rule
from taskstate.lint.facts.wording import shown
from taskstate.model.names import own_file
from taskstate.validation.paths import escape_reason

if TYPE_CHECKING:
    from collections.abc import Iterator

    from taskstate.lint.facts.file_facts import Facts
    from taskstate.syntax.document import Document

RULE = Rule(
    code="TS807",
    name="handoff-open",
    summary="`handoffs.open` and the documents disagree: none, another, or two open",
    reads=FRONT_MATTER,
)

_KEY = "handoffs"
_ANOTHER = "write another in its place with `taskstate handoff new {} --force …`"
_ACCEPT = "`taskstate handoff accept {}` puts it right, one document at a time"


def check(document: Document, facts: Facts) -> Iterator[Diagnostic]:
    """Yield at most one finding, at what the front matter says."""
    if facts.front_matter is None or (_KEY in document.front_matter and _KEY not in facts.values):
        return
    named = facts.blocks.handoffs.open
    found = facts.queries.handoffs()
    if found is None or (named and escape_reason(named)):
        return
    place = facts.value_span(_KEY, "open") if facts.values.get(_KEY) else facts.first_line
    other = _other_thing(facts, named, found) if named else ""
    if other:
        yield RULE.at(place, other, help=_ANOTHER.format(facts.shown_id))
    elif named and _is_lost(facts, named, found):
        yield RULE.at(
            place,
            f"the open handoff {shown(named)} is not there",
            help=f"put it back with git, or {_ANOTHER.format(facts.shown_id)}",
        )
    elif wrong := _disagreement(named or "", found):
        yield RULE.at(place, wrong, help=_ACCEPT.format(facts.shown_id))


def _is_lost(facts: Facts, named: str, found: tuple[WrittenHandoff, ...]) -> bool:
    """Return whether the document that the state file names is nowhere, accepted ones included."""
    if any(each.path == named or (each.status == ACCEPTED and _name(each.path) == _name(named)) for each in found):
        return False
    return facts.queries.exists(f"{facts.config.root}/{named}") is False


def _other_thing(facts: Facts, named: str, found: tuple[WrittenHandoff, ...]) -> str:
    """Return in words what the state file names instead of a document of its task, or nothing."""
    own = own_file(facts.name)
    if own is None or not own.id:
        return ""
    if not is_handoff_path(named, own.id):
        return f"the open handoff {shown(named)} is no handoff document of task {own.id}"
    task_id = next((each.task_id for each in found if each.path == named), "")
    return f"the open handoff {shown(named)} is one of task {shown(task_id)}" if task_id not in {"", own.id} else ""


def _disagreement(named: str, found: tuple[WrittenHandoff, ...]) -> str:
    """Return in words how the state file and the documents disagree, or nothing."""
    still = sorted(each.path for each in found if each.status == OPEN and each.path != named)
    is_open = any(each.path == named and each.status == OPEN for each in found)
    if named and not is_open and any(each.status == ACCEPTED and _name(each.path) == _name(named) for each in found):
        return f"the open handoff {shown(named)} was accepted"
    if named and still:
        return f"a second handoff is open: {', '.join(map(shown, still))}"
    if len(still) > 1:
        return f"{len(still)} handoffs are open, and the file names none: {', '.join(map(shown, still))}"
    return f"the handoff {shown(still[0])} is open, and the file does not say so" if still else ""


def _name(path: str) -> str:
    return path.rpartition("/")[2]
