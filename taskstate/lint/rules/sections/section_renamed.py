"""section-renamed: a required section has another title.

## What

A section that the kind of task requires is missing, and one that it does not declare is probably it: its title is
similar (`## 3. Feature Check`), or it holds what belongs to the missing one, such as a json fence with features
(`## 3. Features`) or sessions (`## 4. Work Log`).

## Why

A section is looked for by its title. Under another one the features are not counted, the sessions are not listed, and a
second, empty section beside it would hide both.

## Example

```markdown
## 3. Features

## 4. Work Log
```

## Instead

```markdown
## 3. Feature Checklist

## 4. Progress Log
```

`--fix --unsafe-fixes` renames the heading. That is unsafe, since it is a guess; the text below stays as it is. If the
section really is another one, put it under `## Notes` with a heading of level 3; TS201 asks for the missing one then.
"""

from __future__ import annotations

from taskstate.lint.diagnostics import Diagnostics, Fix, Rule
from taskstate.lint.facts.wording import first_line_of, shown
from taskstate.syntax.edits import Edit
from taskstate.typed import TYPE_CHECKING

if TYPE_CHECKING:
    from taskstate.lint.facts.file_facts import Facts

RULE = Rule.of("TS209", __name__, "a required section has another title", fixable=True)


def check(facts: Facts) -> Diagnostics:
    """Yield a finding for each section that is probably a missing one, at its heading."""
    for spec in facts.outline.absent:
        section = facts.outline.renamed.get(spec.key)
        if section:
            edit = Edit(section.heading.start, section.heading.end, spec.heading)
            yield RULE.at(
                first_line_of(facts.document, section.heading),
                f"the section {spec.heading!r} is missing, and {shown(section.title)} is probably it",
                help=f"write it as `{spec.heading}`; `--fix --unsafe-fixes` does",
                fix=Fix(edits=(edit,), safe=False),
            )
