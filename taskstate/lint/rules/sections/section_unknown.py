"""section-unknown: a section that the kind of task does not declare.

## What

A heading of level 2 is none of the sections that the kind of task (`kind` in the front matter) declares: an ordinary
task has Static Context, Chain Inputs, Feature Checklist, Progress Log, Git History, Chain Output and Notes. Nothing is
said of a heading for which TS201 or TS208 ask whether a missing one was meant.

## Why

Nobody looks for it: no command reads it, `brief` does not hand it to whoever goes on, and archiving leaves it in the
file for good. In the midst of the others it also cuts off what belongs to the section above.

## Example

```markdown
## 7. Ideas

Rotate keys by the hour?

## 2. Chain Inputs
```

## Instead

Put it under `## Notes`, which is yours and is never touched, with a heading of level 3:

```markdown
## Notes

### Ideas

Rotate keys by the hour?
```

Where the section is meant to stand there, say so in the line above it:
`<!-- taskstate: ignore TS204 the auditors ask for it -->`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from taskstate.lint.diagnostics import WARNING, Diagnostic, Rule
from taskstate.lint.facts.outline import SECTION
from taskstate.lint.facts.wording import shown

if TYPE_CHECKING:
    from collections.abc import Iterator

    from taskstate.lint.facts.file_facts import Facts
    from taskstate.syntax.document import Document, Section

RULE = Rule(
    code="TS204",
    name="section-unknown",
    severity=WARNING,
    summary="a section that the kind does not declare",
)


def check(document: Document, facts: Facts) -> Iterator[Diagnostic]:
    """Yield the heading of each section that is not known, and for which no other rule has an explanation."""
    unknown = [
        section
        for section in document.sections
        if section.level == SECTION
        and facts.kind.section(section.title) is None
        and not _is_front_matter(document, section)
    ]
    if not unknown:
        return
    outline = facts.outline
    explained = {section.span.start for section in outline.near.values()}
    explained |= {each.near.span.start for each in outline.unfilled if each.near}
    for section in unknown:
        if section.span.start not in explained:
            yield RULE.at(
                section.heading,
                f"{shown(section.title)} is no section that the kind `{facts.kind.name}` declares",
                help="put it under `## Notes` with a heading of level 3, or under the section that it belongs to",
            )


def _is_front_matter(document: Document, section: Section) -> bool:
    """Return whether a heading is a front matter that stands at the wrong place: lines of keys above a `---`."""
    return document.front_matter.span is None and not {"\n", "\r"}.isdisjoint(section.heading.of(document.text).strip())
