"""criterion-rewritten: a committed acceptance criterion was reworded or removed.

## What

A criterion of the compared revision (HEAD, or `--against REV`) is none of those that there are now. Check marks, order
and blanks do not count, and criteria may be added at any time. Where section 1 is sealed, TS601 tells it instead.

## Why

The criteria are the definition of done. Whoever may change them while the work goes on can make any work complete, and
nobody sees that something was given up.

## Example

`- [ ] An expired token is refused` was committed; now it says

```markdown
- [x] A token is checked
```

## Instead

Write the criterion again, and what is wanted besides as another one: `taskstate criterion add 101 "A token is
checked"`. A change that was agreed on may stay: the finding is gone with the commit.

```markdown
- [ ] An expired token is refused
- [x] A token is checked
```
"""

from __future__ import annotations

from taskstate.lint.diagnostics import WARNING, Diagnostics, Rule
from taskstate.lint.facts.session_history import comparable
from taskstate.lint.facts.wording import cut, shown
from taskstate.typed import TYPE_CHECKING

if TYPE_CHECKING:
    from taskstate.lint.facts.file_facts import Facts

RULE = Rule.of("TS312", __name__, "a committed acceptance criterion was reworded or removed", severity=WARNING)


def check(facts: Facts) -> Diagnostics:
    """Yield a finding for each committed criterion that is gone: where another one came instead, or at the heading."""
    past = comparable(facts)
    part = facts.state.subsection("Static Context", "Acceptance Criteria")
    if part is None or not past or facts.blocks.context.seal or any(then.blocks.context.seal for then in past):
        return
    committed = {each.text for then in past for each in then.state.criteria}
    new = [each for each in facts.state.criteria if each.text not in committed]
    for gone in facts.lost_criteria:
        other = next((each for each in new if each.number == gone.number), None)
        yield RULE.at(
            other.span if other else part.heading,
            f"criterion {gone.number} was {'reworded' if other else 'removed'}; committed was {shown(gone.text)}",
            help=f"write `- [{'x' if gone.checked else ' '}] {cut(gone.text)}` again; if that was agreed on, commit it",
        )
