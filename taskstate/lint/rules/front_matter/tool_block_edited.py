"""tool-block-edited: a block of the front matter that only the tool writes was changed by hand.

## What

`audit.seal` is a hash of the blocks that only the tool writes: `context`, `baseline`, `coordination`, `delta`,
`evidence`, `handoffs`, `output`, `acks` and `audit.events`, as far as they are present. It no longer matches them. Keys
that people write (`title`, `status`, `depends_on` and so on) may be changed freely. A file without a seal was made by
hand and gives no finding; nor does one in which such a block breaks its schema (TS101), until that is fixed. Where
another rule says what is wrong in that line, it alone does.

## Why

These blocks record what was checked: which role is done, what the tests showed, which findings were waived and by whom.
If they could be edited by hand unnoticed, they could not be relied on. Commands that write refuse such a file, because
their new seal would make the change look like one of the tool's.

## Example

```yaml
coordination:
  reviewer: {status: done}   # was: blocked, with two findings
```

## Instead

Revert the change, for example with `git restore -p`, and use the command for it. If the file is right as it is, accept
it; an event then records who accepted it, and why:

```console
$ taskstate doctor --reseal 101 --note "merged by hand, compared with both sides"
```
"""

from __future__ import annotations

from taskstate.lint.diagnostics import FRONT_MATTER, Diagnostics, Rule
from taskstate.lint.facts.wording import first_change, shown_by
from taskstate.model.canonical_json import SEALED_KEYS
from taskstate.syntax.spans import Span
from taskstate.typed import TYPE_CHECKING

if TYPE_CHECKING:
    from taskstate.lint.facts.file_facts import Facts

RULE = Rule.of(
    "TS606",
    __name__,
    "a tool-written block does not match `audit.seal`; says which commands fix it",
    reads=FRONT_MATTER,
)


_EVENTS = ("audit", "events")


def check(facts: Facts) -> Diagnostics:
    """Yield at most one finding, where an earlier version shows what changed, or at the seal."""
    faulty = {*facts.renamed_keys, *(fault.path[0] for fault in facts.front_matter_faults if fault.path)}
    if faulty & {*SEALED_KEYS, "audit"}:
        return
    if facts.blocks.edited:
        sealed = _sealed(facts)
        edited = _edited(facts, sealed)
        yield RULE.at(
            _place(facts, sealed, edited) if sealed and edited else facts.value_span("audit", "seal"),
            f"{_subject(edited)} was changed or removed by hand: it does not match `audit.seal`",
            help=f"undo the change{shown_by(facts.queries, changed=facts.changed)}, or accept it with "
            f'`taskstate doctor --reseal {facts.shown_id} --note "why it is right"`',
        )


def _sealed(facts: Facts) -> Facts | None:
    """Return an earlier version that has the same seal."""
    seal = facts.blocks.audit.values.get("seal")
    return next((then for then in facts.past or () if then.blocks.audit.values.get("seal") == seal), None)


def _edited(facts: Facts, sealed: Facts | None) -> list[tuple[str, ...]]:
    """Return the paths of the blocks that were edited: those that may have been, where no earlier version shows it."""
    events = facts.blocks.audit.values.get("events")
    if sealed is None:
        present: list[tuple[str, ...]] = [(key,) for key in SEALED_KEYS if key in facts.values]
        return [*present, _EVENTS] if "events" in facts.blocks.audit.values else present
    edited: list[tuple[str, ...]] = [(key,) for key in SEALED_KEYS if facts.values.get(key) != sealed.values.get(key)]
    return [*edited, _EVENTS] if events != sealed.blocks.audit.values.get("events") else edited


def _place(facts: Facts, sealed: Facts, edited: list[tuple[str, ...]]) -> Span:
    """Return the first line that differs in a block, or the key behind the place of one that was taken out."""
    path = next((each for each in edited if facts.front_matter and facts.front_matter.get(*each)), None)
    entry, then = (facts.entry(path), sealed.entry(path)) if path else (None, None)
    if entry and then:
        spans = [Span(each.key.span.start, each.value.span.end) for each in (entry, then)]
        return first_change(facts.document, spans[0], spans[1].of(sealed.document.text))
    keys = [*sealed.typed]
    behind = [key for key in keys[keys.index(edited[0][0]) + 1 :] if key in facts.typed] if edited[0][0] in keys else []
    entry = entry or facts.entry((behind[0],) if behind else ("audit", "seal"))
    return entry.key.span if entry else facts.first_line


def _subject(edited: list[tuple[str, ...]]) -> str:
    names = [f"`{'.'.join(each)}`" for each in edited]
    if len(names) == 1:
        return names[0]
    return f"one of {', '.join(names)}" if names else "a block that only the tool writes"
