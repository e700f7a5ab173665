"""criterion-malformed: an item among the acceptance criteria is not a criterion.

## What

A criterion is an item of a list with `[ ]` or `[x]` at its beginning and a text behind it. Here one has other brackets
or a sign (`- [] two`, `- [-] two`, `☑ two`), none at all (`- two`), no text (`- [ ]`), or is no item (`-[ ] two`, the
row of a table, a quote); or the section has words and no criterion. Items of a list within a criterion are part of it
and may be anything. Paragraphs beside criteria are shown with them, nothing more.

## Why

What is not a criterion is neither open nor met: nobody can check it, and the task would count as complete without it.
So `taskstate complete` refuses as long as there is one. It has a number, as it has for who reads the list.

## Example

```markdown
- [ ] Tokens expire
- [] Tokens verify
- Tokens are signed
```

## Instead

```markdown
- [ ] Tokens expire
- [ ] Tokens verify
- [ ] Tokens are signed
```

`--fix` does, and writes `[x]` only where an `x` stands already. Another mark, such as `[-]` or a check mark, may mean
anything, so that fix is unsafe. What has no text, and the row of a table, it leaves to you. A sealed section 1 is never
changed by a fix: correct it by hand, and seal it again with `taskstate context rebuild`.
"""

from __future__ import annotations

from taskstate.lint.diagnostics import Diagnostics, Fix, Rule
from taskstate.lint.facts.waivers import Waivers, read_waivers
from taskstate.lint.facts.wording import shown
from taskstate.model.criteria import mended_text
from taskstate.model.static_context import context_seal
from taskstate.model.statuses import COMPLETE
from taskstate.syntax.spans import first_line, trimmed
from taskstate.typed import TYPE_CHECKING

if TYPE_CHECKING:
    from taskstate.lint.facts.file_facts import Facts

RULE = Rule.of("TS310", __name__, "an item among the acceptance criteria is not a criterion", fixable=True)


def check(facts: Facts) -> Diagnostics:
    """Yield a finding for each line among the acceptance criteria that is read as none."""
    document = facts.document
    # In a complete task each criterion must be met, which no fix can know.
    is_open = facts.values.get("status") != COMPLETE
    found = facts.malformed_criteria
    sealed_help = _sealed_help(facts) if found else ""
    waivers = Waivers() if is_open else read_waivers(facts)
    for number, each in enumerate(found, start=1):
        if waivers.covers(f"criterion-form:{number}"):
            continue
        is_fixed = each.edit and (is_open or "x" in each.edit.new)
        unsafe = "; `--fix --unsafe-fixes` leaves it open" if is_fixed and not each.is_clear else ""
        line = trimmed(document.text, first_line(document.text, each.span))
        yield RULE.at(
            line,
            f"{shown(line.of(document.text))} is not a criterion: {each.flaw.reason}",
            help=each.flaw.cure + unsafe + sealed_help,
            fix=Fix(edits=(each.edit,), safe=each.is_clear) if each.edit and is_fixed else None,
        )


def _sealed_help(facts: Facts) -> str:
    """Return what else is to be done where section 1 is sealed: nothing, if it was sealed with sound criteria."""
    if not facts.sealed:
        return ""
    sealed_sound = (
        context_seal(facts.document.with_text(mended_text(facts.document)), facts.values) == facts.blocks.context.seal
    )
    return "" if sealed_sound else f", then seal it again with `taskstate context rebuild {facts.shown_id}`"
