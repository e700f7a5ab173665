"""heading-style: number, case or form of a known heading is off.

## What

A section is recognised by its title alone; its number, its case, extra blanks, closing `#`s, a remark in brackets, or
an underline instead of leading `#`s do not matter for that. Here one of these is not as the format has it, in the
heading of a section, of a subsection, or of a session. Not checked are headings that the format does not know, those in
Notes and in a sealed static context, and headings with words that have no place in the canonical form.

## Why

People, scripts and agents search for `## 4. Progress Log` as it is written in all other files. And a remark that was
meant for the author of a section is still there long after the section was written.

## Example

```markdown
## 3. progress log (Updated by agent each session) ##

### Session 7: 2026-01-31 12:00
```

## Instead

```markdown
## 4. Progress Log

### Session 7 - 2026-01-31 12:00
```

A heading of a part that need not be there (`### Validation`, `## Git History`) that was committed, and is now a line
without its `#`s or with another number of them, is an error: what the part holds is nobody's then.

A session's number that begins with 0, and a time with seconds, are told, too, and left to you.

`taskstate lint --fix` and `taskstate fmt` write the canonical form.
"""

from __future__ import annotations

from taskstate.lint.diagnostics import ERROR, WARNING, Diagnostics, Fix, Rule
from taskstate.lint.facts.wording import cut, shown
from taskstate.syntax.edits import Edit
from taskstate.typed import TYPE_CHECKING

if TYPE_CHECKING:
    from taskstate.lint.facts.file_facts import Facts

RULE = Rule.of("TS205", __name__, "number, case or form of a known heading is off", severity=WARNING, fixable=True)


def check(facts: Facts) -> Diagnostics:
    """Yield a finding for each known heading that is not in its canonical form."""
    for part in facts.unusual_headings:
        heading = part.section.heading
        yield RULE.at(
            heading,
            f"the heading {shown(heading.of(facts.document.text))} is not in the usual form",
            help=f"write `{cut(part.heading)}`",
            fix=Fix(edits=(Edit(*heading, part.heading),)),
        )
    for span, line in facts.unmarked:
        message = f"{shown(span.of(facts.document.text))} is no longer a heading: it was {shown(line)}"
        fix = Fix(edits=(Edit(*span, line),))
        yield RULE.at(span, message, help=f"write `{cut(line)}` again", fix=fix, severity=ERROR)
    if not facts.loosely_headed:
        return
    from taskstate.lint.facts.session_history import newly_headed

    mended = {part.section.heading for part in facts.unusual_headings}
    for session in newly_headed(facts, facts.loosely_headed):
        heading = session.section.heading
        if heading not in mended:
            yield RULE.at(
                heading,
                f"the heading {shown(heading.of(facts.document.text))} is not in the usual form",
                help=f"write `### Session {session.number} - {session.time or 'YYYY-MM-DD HH:MM'}`",
            )
