"""session-heading: a level-3 heading of the Progress Log is neither a session nor the summary.

## What

Under Progress Log the headings of level 3 are `### Session <number> - <YYYY-MM-DD HH:MM>` and, at most once, `###
Archived Summary (Sessions 1-7)`. Here there is another one: without the word Session, without a number, with one
that is not whole or has more than nine digits, or a second summary. Other dashes, `#3` and a remark behind the time
are allowed. A line that is only meant as the heading of a session is reported too: `###Session 4 - 2026-01-31 15:30`,
one in bold, and, with what the session did below it, one in a quote, a list or a comment, indented, or the words alone.
So is what a session did, above the first heading of the log: there its heading is gone.

## Why

Text under such a heading belongs to no session. It has no number, so it is never shown, counted or archived, and the
log grows past its limit with text that no command can move away.

## Example

```markdown
### Session 3 - 2026-01-31 12:00

### Details of the migration

### Session - 2026-01-31 15:30
```

## Instead

A heading within a session has level 4; a session has the next free number:

```markdown
### Session 3 - 2026-01-31 12:00

#### Details of the migration

### Session 4 - 2026-01-31 15:30
```

`taskstate session add` writes the heading for you, and `taskstate lint --fix` makes headings of lines that are meant as
such. Text under a wrong heading is not checked further.
"""

from __future__ import annotations

import re

from taskstate.lint.diagnostics import Diagnostic, Diagnostics, Fix, Rule
from taskstate.lint.facts.wording import shown
from taskstate.model.progress_log import is_summary
from taskstate.syntax.edits import Edit
from taskstate.syntax.patterns import compiled
from taskstate.typed import TYPE_CHECKING

if TYPE_CHECKING:
    from taskstate.lint.facts.file_facts import Facts
    from taskstate.model.document_kinds import SectionSpec
    from taskstate.syntax.spans import Span

RULE = Rule.of(
    "TS401", __name__, "a level-3 heading of the Progress Log is neither a session nor the summary", fixable=True
)

_DATE = r"\d{4}-\d{2}-\d{2}"
_SESSION = r"(?i)\W*sessions?\b"


def check(facts: Facts) -> Diagnostics:
    """Yield a finding for each heading of level 3 that its section does not declare, and for lines meant as such."""
    for spec, section in facts.strays:
        yield _finding(section.heading, section.title, spec)
    if facts.headless:
        number, span = facts.headless
        past = (each.time for then in facts.past or () for each in then.sessions if each.number == number)
        heading = f"### Session {number} - {next(past, None) or '<time>'}"
        fix = None if "<" in heading else Fix(edits=(Edit(span.start, span.start, f"{heading}\n\n"),))
        yield RULE.at(span, "a session without its heading begins here", help=f"write `{heading}` above it", fix=fix)
    for line in facts.session_lines:
        said = shown(line.span.of(facts.document.text))
        is_dated = re.search(_DATE, line.title) is not None
        yield RULE.at(
            line.span,
            f"{said} is not a heading for Markdown: this session is a part of the one above",
            help=f"write `### {line.title}`; `--fix` does" if is_dated else f"write `### {line.title} - <time>`",
            fix=Fix(edits=(Edit(*line.span, f"### {line.title}"),)) if is_dated else None,
        )


def _finding(span: Span, title: str, spec: SectionSpec) -> Diagnostic:
    if is_summary(title) and spec.subsection(title):
        message = "a second Archived Summary: only the first is read"
        return RULE.at(span, message, help="put what it says into the first one, and delete it")
    if compiled(_SESSION).match(title):
        message = f"the heading {shown(title)} has no whole session number"
        return RULE.at(span, message, help=f"write {_forms(spec, 'Session')}, with the next number that is free")
    return RULE.at(
        span,
        f"the heading {shown(title)} is neither a session nor the summary",
        help=f"give it level 4 if it belongs to the session above it; headings at level 3 are {_forms(spec)}",
    )


def _forms(spec: SectionSpec, name: str = "") -> str:
    """Return in words the forms of a section's subheadings, or of the one with that name."""
    forms = [each.form or each.name for each in spec.subsections if not name or each.name == name]
    return " or ".join(f"`### {form}`" for form in forms).replace("{", "<").replace("}", ">")
