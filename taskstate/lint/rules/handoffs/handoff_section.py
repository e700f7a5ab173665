"""handoff-section: a section of a handoff document is missing, empty or out of order.

## What

A handoff document has six sections of level 2, in this order: Immediate Next Action, Current State, Key Decisions Made,
What NOT to Try, Critical Context, References. Case, a number and a remark in brackets do not matter. The last four may
say `None.`; a placeholder such as `*To be completed.*` counts as empty everywhere. Current State is a list with `-
File:`, `- Location:` and `- Goal state:`. In a document of another tool, without our front matter, all missing sections
together are one warning; in the folder of a task's open handoffs they are an error. A complete one there needs no front
matter: it is an open handoff by its name and place.

In ours three more are warnings: while it is open, a title line that is not `# Phase <P> Handoff - <time>` with the
phase and the time of the document; a second title; and a section that is none of the six.

## Why

A successor reads this page and nothing else. What is missing there it looks for in the history, which costs the context
that the handoff was to save, or it goes on without, and repeats what has failed.

## Example

```markdown
## Immediate Next Action

*To be completed.*

## Critical Context
```

## Instead

Write each section, or `None.` where there is nothing to say:

```markdown
## Immediate Next Action

Write the failing test for an expired token in `src/auth/jwt.test.ts`.

## Critical Context

None.
```
"""

from __future__ import annotations

import re

from taskstate.handoff.document import LABELS, MAY_BE_NONE, OPEN, STATE
from taskstate.lint.diagnostics import WARNING, WHOLE, Diagnostics, Rule
from taskstate.lint.facts.handoffs import handoff_facts
from taskstate.lint.facts.moments import is_exact
from taskstate.lint.facts.outline import SECTION, body_start
from taskstate.lint.facts.wording import line_of, shown, taken_back
from taskstate.model.document_kinds import HANDOFF, built_in
from taskstate.syntax.spans import Span
from taskstate.typed import TYPE_CHECKING

if TYPE_CHECKING:
    from taskstate.lint.facts.file_facts import Facts
    from taskstate.lint.facts.handoffs import HandoffFacts
    from taskstate.model.document_kinds import SectionSpec
    from taskstate.syntax.document import Section

RULE = Rule.of("TS801", __name__, "a handoff section is missing, empty or out of order", reads=WHOLE)


_TITLE = r"(?i)phase\s+(?P<phase>\S+)\s+handoff(?:\W+(?P<time>\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ)|\W.*)?"


def check(facts: Facts) -> Diagnostics:
    """Yield a finding for each section that is missing, repeated, out of order or empty."""
    handoff = handoff_facts(facts)
    if handoff is None:
        if facts.foreign:
            named = next(iter(facts.queries.earlier_names() or ()), "").partition(":")
            is_lost = any(then.document.text.strip() for then in facts.past or ())
            help_ = taken_back(named[0], named[2]) if is_lost else "write it, or delete it"
            yield RULE.at(facts.first_line, "the handoff document is empty", help=help_)
        return
    if handoff.is_ours:
        for spec in handoff.outline.absent:
            yield from handoff.at(RULE, _span(handoff, spec), _absent(handoff, spec), help=_help(handoff, spec))
        yield from _misplaced(handoff)
        yield from (each._replace(severity=WARNING) for each in (*_title(handoff, facts), *_unknown(handoff)))
    elif handoff.outline.absent:
        names = ", ".join(spec.name for spec in handoff.outline.absent)
        span = _span(handoff, handoff.outline.absent[0])
        yield from handoff.at(RULE, span, f"the handoff has no section {names}", help="add what is missing, or `None.`")
    yield from _incomplete(handoff)


def _span(handoff: HandoffFacts, spec: SectionSpec) -> Span:
    """Return the span to report a missing section at: its hidden heading, or a heading next to its place."""
    hidden = handoff.outline.hidden.get(spec.key)
    if hidden:
        return hidden.span
    before, behind = handoff.outline.neighbours(spec)
    nearest: Section | None = (
        handoff.outline.near.get(spec.key) or behind or before or next(iter(handoff.facts.document.sections), None)
    )
    start = body_start(handoff.facts.document)
    return nearest.heading if nearest else Span(start, start)


def _absent(handoff: HandoffFacts, spec: SectionSpec) -> str:
    hidden = handoff.outline.hidden.get(spec.key)
    where = f": it stands in {hidden.within}, where it is not a heading" if hidden else ""
    return f"the section {spec.heading!r} is missing{where}"


def _help(handoff: HandoffFacts, spec: SectionSpec) -> str:
    near = handoff.outline.near.get(spec.key)
    if near is None:
        empty = ", with `None.` where there is nothing to say" if spec.name in MAY_BE_NONE else ""
        return f"add `{spec.heading}`{empty}"
    line = line_of(handoff.facts.document, near.span)
    if near.level != SECTION:
        return f"the heading {shown(near.title)} in line {line} has level {near.level}; write it as `{spec.heading}`"
    return f"is {shown(near.title)} in line {line} meant? write it as `{spec.heading}`"


def _misplaced(handoff: HandoffFacts) -> Diagnostics:
    for placed in handoff.outline.repeated:
        message = f"the section {placed.spec.heading!r} is there twice"
        yield from handoff.at(RULE, placed.section.heading, message, help="put both into one")
    for placed in handoff.outline.displaced:
        before, behind = handoff.outline.neighbours(placed.spec)
        position = f"before {shown(behind.title)}" if behind else f"after {shown(before.title)}" if before else "first"
        message = f"the section {placed.spec.heading!r} is out of order"
        yield from handoff.at(RULE, placed.section.heading, message, help=f"move it {position}")


def _title(handoff: HandoffFacts, facts: Facts) -> Diagnostics:
    """Yield a finding where no title line says the phase and the time of the document."""
    phase, time = facts.values.get("phase"), facts.values.get("created_at")
    if phase is None or not is_exact(time) or facts.misnamed_keys or facts.values.get("status") != OPEN:
        return
    title = next((each for each in facts.document.sections if each.level < SECTION), None)
    match = re.fullmatch(_TITLE, title.title.strip()) if title else None
    if match is None or match["phase"].casefold() != str(phase).casefold() or match["time"] not in {None, time}:
        span = title.heading if title else Span(body_start(facts.document), body_start(facts.document))
        line = built_in(HANDOFF).title_line(task_id=str(phase), title=str(time))
        message = "the title line does not say the phase and the time" if title else "the title line is missing"
        yield from handoff.at(RULE, span, message, help=f"write `{line}`")
    for other in [each for each in facts.document.sections if each.level < SECTION][1:]:
        help_ = "remove it, or write it as a heading of level 3"
        yield from handoff.at(
            RULE, other.heading, f"a second title, {shown(other.title)}, ends the section", help=help_
        )


def _unknown(handoff: HandoffFacts) -> Diagnostics:
    """Yield a finding for each section that handoffs do not have, and that is not meant as one of theirs."""
    meant = {each.span.start for each in handoff.outline.near.values()}
    for section in (each for each in handoff.outline.undeclared if each.span.start not in meant):
        message = f"{shown(section.title)} is not a section of a handoff: nobody looks for it"
        yield from handoff.at(RULE, section.heading, message, help="put it under one of the six")


def _incomplete(handoff: HandoffFacts) -> Diagnostics:
    """Yield a finding for each empty section, and for missing items of Current State."""
    reading = handoff.reading
    for placed in handoff.outline.present:
        name, heading = placed.spec.name, placed.section.heading
        if reading.is_empty(name):
            text = placed.section.body.of(handoff.facts.document.text).strip()
            problem = "is still to be completed" if text and not text.startswith("<!--") else "is empty"
            allowed = " or `None.`" if name in MAY_BE_NONE else ""
            yield from handoff.at(RULE, heading, f"the section {name!r} {problem}", help=f"write it{allowed}")
        elif name not in MAY_BE_NONE and reading.says_none(name):
            help_ = "write the next step; without one there is nothing to hand over"
            yield from handoff.at(RULE, heading, f"the section {name!r} says that there is none", help=help_)
        elif name == STATE and (handoff.is_ours or handoff.is_stray):
            missing = ", ".join(f"`- {label}:`" for label in LABELS if label.lower() not in reading.labelled)
            if missing:
                yield from handoff.at(RULE, heading, f"{name!r} has no {missing}", help=f"add {missing} to its list")
