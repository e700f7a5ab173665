"""criterion-malformed: an item among the acceptance criteria is no criterion.

## What

A criterion is an item of a list with `[ ]` or `[x]` at its beginning and a space behind it. Here one has other brackets
(`- [] two`, `- [-] two`, `- [ ]two`), none at all (`- two`), or is no item (`-[ ] two`, `[ ] two`). Items of a list
within a criterion are part of it and may be anything.

## Why

What is no criterion is neither open nor met: nobody can check it, `brief` does not show it, and the task would count as
complete without it. So `taskstate complete` refuses as long as there is one.

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
anything, so that fix is unsafe. A sealed section 1 is never changed by a fix: correct it by hand, and seal it anew with
`taskstate context rebuild`.
"""

from __future__ import annotations

from taskstate.lint.diagnostics import Diagnostic, Fix, Rule
from taskstate.lint.facts.wording import shown
from taskstate.model.malformed_criteria import mended_text
from taskstate.model.static_context import context_seal
from taskstate.model.statuses import COMPLETE
from taskstate.typed import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from taskstate.lint.facts.file_facts import Facts
    from taskstate.syntax.document import Document

RULE = Rule(
    code="TS310",
    name="criterion-malformed",
    summary="an item among the acceptance criteria is no criterion",
    fixable=True,
)


def check(document: Document, facts: Facts) -> Iterator[Diagnostic]:
    """Yield a finding for each line among the acceptance criteria that is read as none."""
    # In a complete task each criterion must be met, which no fix can know.
    is_open = facts.values.get("status") != COMPLETE
    found = facts.malformed_criteria
    sealed_help = _sealed_help(facts) if found else ""
    for each in found:
        is_fixed = is_open or "x" in each.edit.new
        unsafe = "; `--fix --unsafe-fixes` leaves it open" if is_fixed and not each.is_clear else ""
        yield RULE.at(
            each.span,
            f"{shown(each.span.of(document.text))} is no criterion: it begins with neither `- [ ]` nor `- [x]`",
            help="write `- [ ]` where it is open, `- [x]` where it is met" + unsafe + sealed_help,
            fix=Fix(edits=(each.edit,), safe=each.is_clear) if is_fixed else None,
        )


def _sealed_help(facts: Facts) -> str:
    """Return what else is to be done where section 1 is sealed: nothing, if it was sealed with sound criteria."""
    if not facts.sealed:
        return ""
    sealed_sound = (
        context_seal(facts.document.with_text(mended_text(facts.state)), facts.values) == facts.blocks.context.seal
    )
    return "" if sealed_sound else f", then seal it anew with `taskstate context rebuild {facts.shown_id}`"
