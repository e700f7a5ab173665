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
    from taskstate.model.document_kinds import SubsectionSpec
    from taskstate.syntax.document import Document, Section

RULE = Rule.of("TS208", __name__, "a required subsection is absent or empty")


def check(facts: Facts) -> Diagnostics:
    """Yield a finding for each required subsection: at its own heading, or at what may be meant, or its section's."""
    absent = [each for each in facts.outline.unfilled if not (each.section or each.hidden or each.near)]
    together = absent if len(absent) > 1 else []
    if together:
        names = [each.spec.name for each in together]
        yield RULE.at(
            together[0].parent.heading,
            f"the section {shown(together[0].parent.title)} has no subsections {' and '.join(map(repr, names))}",
            help=f"add {' and '.join(f'`### {name}`' for name in names)}, and what belongs under them",
        )
    for each in facts.outline.unfilled:
        name = each.spec.name
        if each.section:
            yield RULE.at(each.section.heading, f"the subsection {name!r} is empty", help=_to_fill(facts, each.spec))
        elif each.hidden is None and each not in together:
            message = f"the section {shown(each.parent.title)} has no subsection {name!r}"
            yield RULE.at((each.near or each.parent).heading, message, help=_help(facts.document, name, each.near))


def _to_fill(facts: Facts, spec: SubsectionSpec) -> str:
    """Return what to do about an empty subsection."""
    if any(all(each.spec != spec for each in then.outline.unfilled) for then in comparable(facts)):
        return f"put back what was committed{shown_by(facts.queries, changed=facts.changed)}"
    is_late = facts.values.get("status") in spec.must_be_filled
    return "write it" if is_late else f"write it, or put `{facts.kind.placeholder}` there until it is known"


def _help(document: Document, name: str, near: Section | None) -> str:
    if near is None:
        return f"add `### {name}` and what belongs under it"
    line = line_of(document, near.span)
    if near.level == SUBSECTION:
        return f"is {shown(near.title)} in line {line} meant? write it as `### {name}`, in this section"
    return f"the heading {shown(near.title)} in line {line} has level {near.level}; write it as `### {name}`"
