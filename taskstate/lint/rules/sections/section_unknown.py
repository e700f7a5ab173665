"""section-unknown: a section that the kind of task does not declare.

## What

A heading of level 2 is none of the sections that the kind of task (`kind` in the front matter) declares: an ordinary
task has Static Context, Chain Inputs, Feature Checklist, Progress Log, Git History, Chain Output and Notes. A heading
of a part, such as `## Summary`, is an error: it ends the section that it belongs to. One that TS201, TS208 or TS209
take for a missing one is not reported here.

## Why

Nothing looks for it: no command reads it, `brief` does not pass it on, and archiving leaves it in the file for good. In
the middle of the others it also separates text from the section above that it belongs to.

## Example

```markdown
## 7. Ideas

Rotate keys by the hour?

## 2. Chain Inputs
```

## Instead

Put it under `## Notes`, which is yours and never changed by the tool, with a heading of level 3:

```markdown
## Notes

### Ideas

Rotate keys by the hour?
```

Where the section is meant to be there, silence the finding in the line above it:
`<!-- taskstate: ignore TS204 the auditors ask for it -->`.
"""

from __future__ import annotations

from taskstate.lint.diagnostics import ERROR, WARNING, Diagnostics, Rule
from taskstate.lint.facts.wording import shown
from taskstate.syntax.spans import is_within
from taskstate.typed import TYPE_CHECKING

if TYPE_CHECKING:
    from taskstate.lint.facts.file_facts import Facts
    from taskstate.syntax.document import Document, Section

RULE = Rule.of("TS204", __name__, "a section that the kind does not declare", severity=WARNING)


def check(facts: Facts) -> Diagnostics:
    """Yield a finding for each unknown section heading, but for those that TS208 asks about."""
    second = [facts.second_front_matter] if facts.second_front_matter else []
    undeclared = (each for each in facts.outline.undeclared if not is_within(second, each.span.start))
    unknown = [section for section in undeclared if not _is_front_matter(facts.document, section)]
    asked = {each.near.span.start for each in facts.outline.unfilled if each.near} if unknown else set()
    for section in unknown:
        owner = next((each for each in facts.kind.sections if each.subsection(section.title)), None)
        if owner and not facts.outline.doubt and section.span.start not in asked:
            message = f"{shown(section.title)} is a section here, but belongs under {owner.name!r}"
            yield RULE.at(section.heading, message, help=f"write `### {section.title}`", severity=ERROR)
        elif section.span.start not in asked:
            yield RULE.at(
                section.heading,
                f"{shown(section.title)} is not a section of the kind `{facts.kind.name}`",
                help=facts.outline.doubt
                or "put it under `## Notes` with a heading of level 3, or under the section that it belongs to",
            )


def _is_front_matter(document: Document, section: Section) -> bool:
    """Return whether a heading is really front matter that does not begin at the first byte.

    Markdown reads its lines of keys and the `---` below as one heading, underlined, of several lines.
    """
    return document.front_matter.span is None and not {"\n", "\r"}.isdisjoint(section.heading.of(document.text).strip())
