"""tool-block-edited: a block of the front matter that only the tool writes was changed by hand.

## What

`audit.seal` is a hash of the blocks that only the tool writes: `context`, `baseline`, `coordination`, `delta`,
`evidence`, `handoffs`, `output`, `acks` and `audit.events`, as far as they are present. It no longer matches them. Keys
that people write (`title`, `status`, `depends_on` and so on) may be changed freely. A file without a seal was made by
hand and gives no finding; nor does one in which such a block breaks its schema (TS101), until that is fixed.

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
from taskstate.model.canonical_json import SEALED_KEYS
from taskstate.typed import TYPE_CHECKING

if TYPE_CHECKING:
    from taskstate.lint.facts.file_facts import Facts

RULE = Rule.of(
    "TS606",
    __name__,
    "a tool-written block does not match `audit.seal`; says which commands mend it",
    reads=FRONT_MATTER,
)


def check(facts: Facts) -> Diagnostics:
    """Yield at most one finding, at the seal."""
    if any(fault.path and fault.path[0] in {*SEALED_KEYS, "audit"} for fault in facts.front_matter_faults):
        return
    if facts.blocks.edited:
        yield RULE.at(
            facts.value_span("audit", "seal"),
            f"{_subject(facts)} was changed by hand, or taken out: `audit.seal` does not agree with it",
            help=f"take the change back{_shown_by(facts)}, or accept it with "
            f'`taskstate doctor --reseal {facts.shown_id} --note "why it is right"`',
        )


def _shown_by(facts: Facts) -> str:
    import shlex

    revision, _, path = (facts.queries.earlier_names() or ("",))[0].partition(":")
    return f" (`git diff {shlex.quote(revision)} -- {shlex.quote(path)}` shows it)" if revision else ""


def _subject(facts: Facts) -> str:
    """Return in words which block was edited: known where an earlier version has the same seal."""
    seal = facts.blocks.audit.values.get("seal")
    sealed = next((then for then in facts.past or () if then.blocks.audit.values.get("seal") == seal), None)
    if sealed:
        edited = [f"`{key}`" for key in SEALED_KEYS if facts.values.get(key) != sealed.values.get(key)]
        if facts.blocks.audit.values.get("events") != sealed.blocks.audit.values.get("events"):
            edited.append("`audit.events`")
    else:
        edited = [f"`{key}`" for key in SEALED_KEYS if key in facts.values]
        edited += ["`audit.events`"] if "events" in facts.blocks.audit.values else []
    if len(edited) == 1:
        return edited[0]
    return f"one of {', '.join(edited)}" if edited else "a block that only the tool writes"
