"""title-mismatch: the title line does not agree with `task_id` and `title`.

## What

Below the front matter there is one heading of level 1, made from the front matter: `# Task #101: JWT service - State`,
or `# [PERMANENT] Login platform - State` for a permanent task. Here it is missing, differs, or there is another heading
of level 1 further down (more are allowed only under Notes and below). Not checked is a file whose `task_id` or `title`
is missing or wrong.

## Why

People recognise a file by its title line and tools by its front matter; where they differ, one of them is out of date.
A second heading of level 1 also ends its section, and separates the sessions below from the log.

## Example

```markdown
---
task_id: "101"
title: JWT service
---

# Task #100: JWT service - State
```

## Instead

The front matter is authoritative. `--fix` adds or rewrites the line; to rename a task, `taskstate edit 101 --title T`
writes both. A heading that is no title line but has words of its own is replaced by `--unsafe-fixes` only, and nothing
is fixed where `title` has control characters (TS006). Give another heading of level 1 the level that it has in its
section.
"""

from __future__ import annotations

import re
from shlex import quote

from taskstate.lint.diagnostics import Diagnostic, Diagnostics, Fix, Rule
from taskstate.lint.facts.outline import body_start, headings, insertion_edit, verified_edits
from taskstate.lint.facts.wording import cut, shown
from taskstate.model.document_kinds import TASK
from taskstate.model.statuses import CLOSED
from taskstate.syntax.edits import Edit
from taskstate.syntax.spans import CONTROLS, Span
from taskstate.typed import TYPE_CHECKING

if TYPE_CHECKING:
    from taskstate.lint.facts.file_facts import Facts
    from taskstate.model.document_kinds import Kind
    from taskstate.syntax.document import Document, Section

RULE = Rule.of("TS206", __name__, "the title line does not agree with `task_id` and `title`", fixable=True)

_TITLE = 1
_WORD = r"\w+"


def check(facts: Facts) -> Diagnostics:
    """Yield a finding for a missing or wrong title line, and for each further heading of level 1."""
    titles = facts.wrong_titles
    if titles is None:
        return
    expected_line, line = titles.expected, titles.line
    wrong = _missing(facts.document, expected_line) if line is None else None
    if line and titles.is_wrong:
        wrong = _wrong(line, expected_line, facts)
    if wrong:
        yield wrong._replace(fix=None, help=facts.outline.doubt) if facts.outline.doubt else wrong
    for other in titles.others:
        if facts.outline.repeated and line and other.title == line.title:
            continue  # the whole body stands twice: TS203 says so
        yield RULE.at(
            other.heading,
            f"another heading of level 1, {shown(other.title)}, ends the section that it is in",
            help="delete this copy"
            if line and other.title == line.title
            else "give it the level that it has in its section, or move it under Notes",
        )


def _missing(document: Document, expected_line: str) -> Diagnostic:
    start = body_start(document)
    first = document.sections[0].heading if document.sections else Span(start, start)
    expected = [(_TITLE, expected_line.removeprefix("# ")), *headings(document.sections)]
    edits = (
        ()
        if re.search(CONTROLS, expected_line)
        else verified_edits(document, (insertion_edit(document, start, (expected_line,)),), expected)
    )
    return RULE.at(
        first,
        "the title line is missing",
        help=f"add `{cut(expected_line)}` below the front matter",
        fix=Fix(edits=edits) if edits else None,
    )


def _wrong(line: Section, expected_line: str, facts: Facts) -> Diagnostic:
    same = [then for then in facts.past or () if line.title in {each.title for each in then.document.sections[:1]}]
    key = any(then.values.get("title") != facts.values.get("title") for then in same)  # the front matter was edited
    return RULE.at(
        facts.value_span("title") if key else line.heading,
        f"the title line is {shown(line.title)}, which does not agree with the front matter",
        help=_cure(line, expected_line, facts),
        fix=None
        if re.search(CONTROLS, expected_line)
        else Fix(
            edits=(Edit(*line.heading, expected_line),),
            safe=_is_derived(line.title, expected_line, facts.kind),
        ),
    )


def _form(kind: Kind) -> str:
    """Return the pattern of the title line of a kind; its group is the title."""
    return re.escape(kind.title.removeprefix("# ")).replace(r"\{task_id\}", ".*?").replace(r"\{title\}", "(.*)")


def _cure(line: Section, expected_line: str, facts: Facts) -> str:
    """Return how the title line and the front matter come to agree: by a command where one may change the task."""
    form = _form(facts.kind)
    match = re.fullmatch(form, line.title, re.IGNORECASE)
    title = (match[1] if match else line.title).strip()
    is_plain = title.isprintable() and "`" not in title and cut(title) == title != ""
    if facts.kind.name != TASK or facts.values.get("status") in CLOSED or not is_plain:
        return f"write `{cut(expected_line)}`, or change `task_id` or `title` in the front matter"
    return (
        f"`taskstate edit {facts.shown_id} --title {quote(title)}` keeps this title, `--fix` that of the front matter"
    )


def _is_derived(title: str, expected_line: str, kind: Kind) -> bool:
    """Return whether a title line has the form of its kind, or at least no words that a rewrite would lose."""
    form = _form(kind)
    lost = set(re.compile(_WORD).findall(title.casefold())) - set(re.compile(_WORD).findall(expected_line.casefold()))
    return bool(re.fullmatch(form, title, re.IGNORECASE)) or not lost
