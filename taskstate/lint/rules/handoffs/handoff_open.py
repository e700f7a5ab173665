"""handoff-open: what a state file says of its open handoff, and the handoff documents, disagree.

## What

`handoffs.open` in the front matter is the path (from the state folder) of the handoff document that nobody has accepted
yet, or null. There is a finding if it names a document that does not exist or was accepted, or anything else than a
handoff document of this task; if it is null and a document of the task is open; and if a second document is open. Only
documents of our kind count, those with `kind: handoff` in their front matter, in `handoffs/task-<id>/`. What was open
when a task was dropped stays as it is.

## Why

A task has one successor at a time. An unnoticed handoff means that work is done twice; one that was accepted long ago,
or does not exist, blocks the next one and the completion of the task.

## Example

```yaml
handoffs: {count: 2, open: null}
```

while `handoffs/task-101/phase-3-handoff-20260131T120000Z.md` says `status: open`, as after a merge of two branches that
both handed over.

## Instead

`taskstate handoff accept 101` accepts the named one, or else the oldest open one, and archives it; call it again for
the next. A missing document can be restored with git; if that is not possible, or if something else is named,
`taskstate handoff new 101 --force --draft` writes another one in its place. If the document was deleted on purpose,
remove it from the state file by hand, and accept that with `taskstate doctor --reseal 101 --note "…"`.
"""

from __future__ import annotations

from taskstate.handoff.document import ACCEPTED, OPEN, WrittenHandoff
from taskstate.handoff.paths import is_handoff_path
from taskstate.lint.diagnostics import FRONT_MATTER, Diagnostics, Rule
from taskstate.lint.facts.wording import put_back, shown
from taskstate.model.names import own_file
from taskstate.model.statuses import DROPPED
from taskstate.typed import TYPE_CHECKING
from taskstate.validation.paths import escape_reason

if TYPE_CHECKING:
    from taskstate.lint.facts.file_facts import Facts

RULE = Rule.of(
    "TS807", __name__, "`handoffs.open` and the documents disagree: none, another, or two open", reads=FRONT_MATTER
)

_KEY = "handoffs"
_ANOTHER = "`taskstate handoff new {} --force --draft` writes another in its place, or shows what it needs"
_ACCEPT = "`taskstate handoff accept {}` puts it right, one document at a time"


def check(facts: Facts) -> Diagnostics:
    """Yield at most one finding, at `handoffs.open`."""
    if facts.front_matter is None or (_KEY in facts.document.front_matter and _KEY not in facts.values):
        return
    named = facts.blocks.handoffs.open
    if facts.values.get("status") == DROPPED and not named:
        return  # what was open when the task was dropped stays as a document
    documents = facts.queries.handoffs()
    if documents is None or (named and escape_reason(named)):
        return
    span = facts.value_span(_KEY, "open") if facts.values.get(_KEY) else facts.first_line
    other = _wrong_target(facts, named) if named else ""
    if other:
        yield RULE.at(span, other, help=_ANOTHER.format(facts.shown_id))
    elif named and _is_missing(facts, named, documents):
        yield RULE.at(
            span,
            f"the open handoff {shown(named)} is not there",
            help=f"{put_back(facts.queries, f'{facts.config.root}/{named}')}, or {_ANOTHER.format(facts.shown_id)}",
        )
    elif wrong := _disagreement(named or "", documents):
        yield RULE.at(span, wrong, help=_ACCEPT.format(facts.shown_id))


def _is_missing(facts: Facts, named: str, documents: tuple[WrittenHandoff, ...]) -> bool:
    """Return whether the document that the state file names does not exist, not even as an accepted one."""
    if any(each.path == named or (each.status == ACCEPTED and _name(each.path) == _name(named)) for each in documents):
        return False
    return facts.queries.exists(f"{facts.config.root}/{named}") is False


def _wrong_target(facts: Facts, named: str) -> str:
    """Return the message for a state file that names no document of its task; empty where it does.

    That a document in the task's folder says it is of another task is said there (TS008).
    """
    own = own_file(facts.name)
    if own is None or not own.id or is_handoff_path(named, own.id):
        return ""
    return f"the open handoff {shown(named)} is no handoff document of task {own.id}"


def _disagreement(named: str, documents: tuple[WrittenHandoff, ...]) -> str:
    """Return the message for a state file that disagrees with the documents; empty where they agree."""
    others = sorted(each.path for each in documents if each.status == OPEN and each.path != named)
    is_open = any(each.path == named and each.status == OPEN for each in documents)
    if (
        named
        and not is_open
        and any(each.status == ACCEPTED and _name(each.path) == _name(named) for each in documents)
    ):
        return f"the open handoff {shown(named)} was accepted"
    if named and others:
        return f"a second handoff is open: {', '.join(map(shown, others))}"
    if len(others) > 1:
        return f"{len(others)} handoffs are open, and the file names none: {', '.join(map(shown, others))}"
    return f"the handoff {shown(others[0])} is open, and the file does not say so" if others else ""


def _name(path: str) -> str:
    return path.rpartition("/")[2]
