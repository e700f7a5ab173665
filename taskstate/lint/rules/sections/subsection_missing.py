"""subsection-missing: a required subsection is absent or empty.

## What

Some sections must have certain headings of level 3 with content. In an ordinary task, Static Context has Task
Description and Acceptance Criteria. A subsection is empty where there is nothing under its heading but blank lines and
comments; a placeholder such as `*To be completed.*` counts as content (the rule placeholder checks until when it may
stay).

## Why

Nobody else can take up a task without a description, and without acceptance criteria nobody can say when it is done.

## Example

```markdown
## 1. Static Context

### Task Description

### Acceptance Criteria

- [ ] A token is issued on successful login
```

## Instead

Write the subsection, or put the placeholder there until it is written:

```markdown
### Task Description

*To be completed.*
```
"""

from __future__ import annotations

from taskstate.lint.diagnostics import Diagnostics, Rule
from taskstate.lint.facts.outline import SUBSECTION
from taskstate.lint.facts.session_history import comparable
from taskstate.lint.facts.wording import line_of, shown, shown_by
from taskstate.typed import TYPE_CHECKING

if TYPE_CHECKING:
    from taskstate.lint.facts.file_facts import Facts
    from taskstate.syntax.document import Document, Section

RULE = Rule.of("TS208", __name__, "a required subsection is absent or empty")


def check(facts: Facts) -> Diagnostics:
    """Yield a finding for each required subsection: at its own heading, or at what may be meant, or its section's."""
    absent = [each for each in facts.outline.unfilled if not (each.section or each.hidden or each.near)]
    if len(absent) > 1:
        names = [each.spec.name for each in absent]
        yield RULE.at(
            absent[0].parent.heading,
            f"the section {shown(absent[0].parent.title)} has no subsections {' and '.join(map(repr, names))}",
            help=f"add {' and '.join(f'`### {name}`' for name in names)}, and what belongs under them",
        )
    for unfilled in facts.outline.unfilled:
        name, parent = unfilled.spec.name, unfilled.parent
        late = facts.values.get("status") in unfilled.spec.must_be_filled
        if unfilled.section:
            help_ = "write it" + ("" if late else f", or put `{facts.kind.placeholder}` there until it is known")
            if any(all(each.spec != unfilled.spec for each in then.outline.unfilled) for then in comparable(facts)):
                help_ = f"put back what was committed{shown_by(facts.queries, changed=facts.changed)}"
            yield RULE.at(unfilled.section.heading, f"the subsection {name!r} is empty", help=help_)
        elif unfilled.hidden is None and not (unfilled in absent and len(absent) > 1):
            yield RULE.at(
                (unfilled.near or parent).heading,
                f"the section {shown(parent.title)} has no subsection {name!r}",
                help=_help(facts.document, name, unfilled.near),
            )


def _help(document: Document, name: str, near: Section | None) -> str:
    if near is None:
        return f"add `### {name}` and what belongs under it"
    line = line_of(document, near.span)
    if near.level == SUBSECTION:
        return f"is {shown(near.title)} in line {line} meant? write it as `### {name}`, in this section"
    return f"the heading {shown(near.title)} in line {line} has level {near.level}; write it as `### {name}`"
