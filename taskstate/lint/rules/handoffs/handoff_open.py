"""handoff-open: what a state file says of its open handoff, and the handoff documents, disagree.

## What

`handoffs.open` in the front matter is the path (from the state folder) of the handoff document that nobody has
accepted yet, or null. There is a finding if it names a document that does not exist or was accepted, or anything else
than a handoff document of this task; if it is null and a document of the task is open; and if `count` fell since the
compared revision, or rose without a new handoff. In a document there is one if an older one is open, too, and if its
status, its place and `accepted_by` do not say the same of whether it was accepted. (That an accepted document is gone
is told by `taskstate doctor`: nobody waits for it any more.) Only documents of our kind count, those with `kind:
handoff` in their front matter, in `handoffs/task-<id>/`. What was open when a task was dropped stays as it is.

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
from taskstate.model.names import ACCEPTED_FOLDER, own_file, time_in
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
_BY = "accepted_by"
_ACCEPT = "`taskstate handoff accept {}` puts it right, one document at a time"


def check(facts: Facts) -> Diagnostics:
    """Yield at most one finding, at `handoffs.open`."""
    if facts.file_type == "handoff":
        yield from _of_document(facts)
    elif facts.front_matter is not None and (_KEY in facts.values or _KEY not in facts.document.front_matter):
        yield from _of_state_file(facts, facts.blocks.handoffs.open or "")


def _of_state_file(facts: Facts, named: str) -> Diagnostics:
    """Yield a finding in a state file whose open handoff is `named`."""
    if facts.values.get("status") == DROPPED and not named:
        return  # what was open when the task was dropped stays as a document
    documents = facts.queries.handoffs()
    if documents is None or (named and escape_reason(named)):
        return
    span = facts.value_span(_KEY, "open") if facts.values.get(_KEY) else facts.first_line
    another = _ANOTHER.format(facts.shown_id)
    if other := _wrong_target(facts, named):
        yield RULE.at(span, other, help=another)
    elif named and _is_missing(facts, named, documents):
        back = put_back(facts.queries, f"{facts.config.root}/{named}")
        yield RULE.at(span, f"the open handoff {shown(named)} is not there", help=f"{back}, or {another}")
    elif wrong := _disagreement(named, documents):
        yield RULE.at(span, wrong, help=_ACCEPT.format(facts.shown_id))
    else:
        yield from _miscounted(facts, named)


def _miscounted(facts: Facts, named: str) -> Diagnostics:
    """Yield a finding for a count of handoffs that fell, or rose without a new handoff, since a compared revision."""
    count = facts.blocks.handoffs.number
    for then in facts.past or ():
        before = then.blocks.handoffs
        if before.number and (count < before.number or (count > before.number and named and named == before.open)):
            message = f"`count` is {count}, and was {before.number} when this handoff was open already"
            span = facts.value_span(_KEY, "count") if facts.values.get(_KEY) else facts.first_line
            yield RULE.at(span, message, help=f"write `count: {before.number}` again")
            return


def _of_document(facts: Facts) -> Diagnostics:
    """Yield a finding in a document among the open ones that says it was accepted, or where an older one is open."""
    own = f"{facts.folder}/{facts.name}".removeprefix(f"{facts.config.root}/")
    others = [each.path for each in _open(facts.queries.handoffs() or ()) if time_in(each.path) < time_in(own)]
    status = facts.values.get("status")
    if facts.folder.endswith(f"/{ACCEPTED_FOLDER}"):
        return
    if status == ACCEPTED:
        message = "the handoff is accepted, and lies among the open ones"
        help_ = f"write `status: open`; `taskstate handoff accept {facts.shown_id}` accepts it, and moves it"
        help_ = f"move the file into `{ACCEPTED_FOLDER}/` beside it" if facts.values.get(_BY) else help_
        yield RULE.at(facts.value_span("status"), message, help=help_)
    elif status == OPEN and others:
        message = f"a second handoff is open: {shown(others[-1])} is, too"
        help_ = f"delete this file if it is a copy of that; else {_ACCEPT.format(facts.shown_id)}"
        yield RULE.at(facts.value_span("status"), message, help=help_)
    elif status == OPEN and facts.values.get(_BY):
        message = f"the handoff is open, and `{_BY}` says who accepted it"
        help_ = f"write `{_BY}: null`; `taskstate handoff accept {facts.shown_id}` writes who did"
        yield RULE.at(facts.value_span(_BY), message, help=help_)


def _open(documents: tuple[WrittenHandoff, ...]) -> list[WrittenHandoff]:
    """Return the documents that are open by their words and by their place, the oldest first."""
    found = [each for each in documents if each.status == OPEN and f"/{ACCEPTED_FOLDER}/" not in each.path]
    return sorted(found, key=lambda each: time_in(each.path))


def _is_missing(facts: Facts, named: str, documents: tuple[WrittenHandoff, ...]) -> bool:
    """Return whether the document that the state file names does not exist, not even as an accepted one."""
    if any(each.path == named or (each.status == ACCEPTED and _name(each.path) == _name(named)) for each in documents):
        return False
    return facts.queries.exists(f"{facts.config.root}/{named}") is False


def _wrong_target(facts: Facts, named: str) -> str:
    """Return the message for a state file that names no document of its task; empty where it does, or names none.

    That a document in the task's folder says it is of another task is said there (TS008).
    """
    own = own_file(facts.name)
    if not named or own is None or not own.id or is_handoff_path(named, own.id):
        return ""
    return f"the open handoff {shown(named)} is not a handoff document of task {own.id}"


def _disagreement(named: str, documents: tuple[WrittenHandoff, ...]) -> str:
    """Return the message for a state file that disagrees with the documents; empty where they agree."""
    others = [each.path for each in _open(documents) if each.path != named]
    is_open = any(each.path == named and each.status == OPEN for each in documents)
    accepted = [each.path for each in documents if each.status == ACCEPTED and each.path != named]
    if named and not is_open and _name(named) in map(_name, accepted):
        return f"the open handoff {shown(named)} was accepted"
    if named or len(others) > 1:  # a second one is told in its document
        return ""
    return f"the handoff {shown(others[0])} is open, and the file does not say so" if others else ""


def _name(path: str) -> str:
    return path.rpartition("/")[2]
