"""static-part-changed: section 1 does not match its seal.

## What

`context.seal` is a hash of title, priority, area and the text of section 1. It no longer matches them. Check marks of
the acceptance criteria do not count, nor do trailing blanks, blank lines around the section, or its heading. A file
without a seal gives no finding; nor does one in which a block of the tool was edited by hand (TS606), since the seal
itself may be false then.

## Why

Everybody who works on a task is referred to its static part instead of getting a copy. That works only if all of them
read the same there: if the scope grows or a criterion is relaxed halfway, work is judged by rules that it was not done
by.

## Example

```markdown
### Acceptance Criteria

- [x] Keys rotate every 180 days    (sealed as: every 90 days)
```

## Instead

See what differs, then revert it, for example with git. If the change is right, make it at the source of the section
(the task file, or section 1 itself if there is none), and seal it again:

```console
$ taskstate context check 101
$ taskstate context rebuild 101
```
"""

from __future__ import annotations

from taskstate.lint.diagnostics import Diagnostics, Rule
from taskstate.lint.facts.wording import cut, first_change, shown_by
from taskstate.model.canonical_json import SEALED_KEYS
from taskstate.model.criteria import mended_text
from taskstate.model.static_context import SEALED_VALUES, context_seal, static_section
from taskstate.typed import TYPE_CHECKING

if TYPE_CHECKING:
    from taskstate.lint.facts.file_facts import Facts
    from taskstate.syntax.document import Section
    from taskstate.syntax.spans import Span

RULE = Rule.of("TS601", __name__, "section 1 does not match its seal")


def check(facts: Facts) -> Diagnostics:
    """Yield at most one finding, where an earlier version shows what changed, or at the heading of section 1."""
    document = facts.document
    seal = facts.blocks.context.seal
    section = static_section(document) if seal else None
    if section is None or _is_doubtful(facts) or context_seal(document, facts.values, facts.state) == seal:
        return
    mended = mended_text(facts.document)
    if mended != document.text and context_seal(document.with_text(mended), facts.values) == seal:
        return  # only the form of a criterion changed: TS310
    what, place = _change(facts, section)
    yield RULE.at(
        place,
        f"{what} was changed after it was sealed",
        help=f"undo the change{shown_by(facts.queries, changed=facts.changed)}; {_accepted(facts)}",
    )


def _change(facts: Facts, section: Section) -> tuple[str, Span]:
    """Return in words what changed, with its place: known where an earlier version has the same seal."""
    seal = facts.blocks.context.seal
    for then in facts.past or ():
        before = static_section(then.document)
        if before is None or context_seal(then.document, then.values, then.state) != seal:
            continue
        key = next((key for key in SEALED_VALUES if facts.values.get(key) != then.values.get(key)), "")
        if key:
            return f"`{key}`", facts.value_span(key)
        return "this section", first_change(facts.document, section.body, before.body.of(then.document.text))
    return f"this section, or {' or '.join(SEALED_VALUES)},", section.heading


def _accepted(facts: Facts) -> str:
    """Return how to seal what stands there; a recorded task file would overwrite it."""
    rebuild = f'`taskstate context rebuild {facts.shown_id} --note "WHY"`'
    task_file = facts.blocks.context.task_file
    if not task_file:
        return f"or {rebuild} seals what is here now"
    return f"or write it into {cut(task_file)} as well, whose words {rebuild} takes and seals"


def _is_doubtful(facts: Facts) -> bool:
    """Return whether sealed values, or the seal itself, are faulty, which other rules report."""
    faulty = {fault.path[0] for fault in facts.front_matter_faults if fault.path}
    return bool(faulty & {*SEALED_VALUES, *SEALED_KEYS, "audit"}) or facts.blocks.edited
