"""criterion-rewritten: a committed acceptance criterion was reworded or removed.

## What

A criterion of the compared revision (HEAD, or `--against REV`) is none of those that there are now. One that was
indented under another is a part of that; one that stands in a fence or a comment is told there, and several on one line
are told once. Check marks, order and blanks do not count, and criteria may be added at any time. Where section 1 is
sealed, TS601 tells it instead.

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

import re

from taskstate.lint.diagnostics import WARNING, Diagnostics, Rule
from taskstate.lint.facts.session_history import comparable
from taskstate.lint.facts.wording import cut, shown
from taskstate.syntax.spans import Span, first_line
from taskstate.typed import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from taskstate.lint.diagnostics import Diagnostic
    from taskstate.lint.facts.file_facts import Facts
    from taskstate.model.criteria import Criterion

RULE = Rule.of("TS312", __name__, "a committed acceptance criterion was reworded or removed", severity=WARNING)


def check(facts: Facts) -> Diagnostics:
    """Yield a finding for each committed criterion that is gone: where another one came instead, or at the heading."""
    past = comparable(facts)
    part = facts.state.subsection("Static Context", "Acceptance Criteria")
    if part is None or not past or facts.blocks.context.seal or any(then.blocks.context.seal for then in past):
        return
    committed = {each.text for then in past for each in then.state.criteria}
    new = [each for each in facts.state.criteria if each.text not in committed]
    told, text = set(), facts.document.text
    for finding, explained in _swallowed(facts, new):
        told |= explained
        yield finding
    for gone in (each for each in facts.lost_criteria if each not in told):
        other = next((each for each in new if each.number == gone.number), None)
        still = text.find(gone.text, *part.body)  # as in a fence, or in a comment
        place = other.span if other else part.heading if still < 0 else first_line(text, Span(still, part.body.end))
        yield RULE.at(
            place,
            f"criterion {gone.number} was {'reworded' if other else 'removed'}; committed was {shown(gone.text)}",
            help=f"write `- [{'x' if gone.checked else ' '}] {cut(gone.text)}` again; if that is agreed, commit this",
        )


def _swallowed(facts: Facts, new: list[Criterion]) -> Iterator[tuple[Diagnostic, set[Criterion]]]:
    """Yield a finding for each criterion that became a part of another one, with those that it explains."""
    for host in new:
        nested, held = False, [gone for gone in facts.lost_criteria if gone.text in host.text]
        for gone in facts.lost_criteria:
            item = rf"(?m)^[ \t]+[-*+] \[[ xX]\][ \t]+{re.escape(gone.text.partition(chr(10))[0])}[ \t]*$"
            if line := re.compile(item).search(facts.document.text, *host.span):
                message = f"criterion {gone.number} is indented under another, and so a part of that"
                help_ = f"start `- [{'x' if gone.checked else ' '}] {cut(gone.text)}` at the left margin"
                hosts = (each for each in facts.lost_criteria if host.text.startswith(each.text))
                nested = True
                yield RULE.at(Span(*line.span()), message, help=help_), {gone, *hosts}
        if len(held) > 1 and not nested:
            message = f"{len(held)} criteria are now in one item: {', '.join(shown(gone.text) for gone in held)}"
            yield RULE.at(host.span, message, help="start each on a line of its own with `- [ ]`"), {*held}
