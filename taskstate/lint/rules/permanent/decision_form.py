"""decision-form: an Architecture Decision cannot be known by its number, or does not say what was decided.

## What

Two decisions have one number; a decision has another number than at the compared revision; a number is missing between
two decisions (an error where one was taken out since its version was given, else a warning); a heading is meant as that
of a decision and has another form, or lost its marks; **Status:** is missing, or is none of proposed, accepted and
superseded; or **Decision:** is missing or empty, or another label that was committed is (in what was edited since its
version was given).

## Why

Decisions are named by their numbers, in code, in tasks and in each other. A number that means two decisions, or another
one than yesterday, sends readers to the wrong one; and one without a status binds nobody.

## Example

```markdown
### AD-2: Postgres

**Status:** agreed
```

## Instead

```markdown
### AD-2: Postgres

**Status:** accepted

**Decision:** The tables live in Postgres
```

`taskstate permanent decide` gives the next number and writes all labels. A decision that no longer counts stays, and is
superseded.
"""

from __future__ import annotations

from itertools import pairwise

from taskstate.lint.diagnostics import ERROR, WARNING, Diagnostics, Rule
from taskstate.lint.facts.session_history import comparable
from taskstate.lint.facts.wording import shown, shown_by
from taskstate.messages import first_of
from taskstate.model.permanent import (
    DECISIONS,
    PROPOSED,
    VERSION_SEAL,
    decisions,
    edited_sections,
    labelled,
    line_of_label,
    text_below,
)
from taskstate.model.task_state import PART_LEVEL
from taskstate.syntax.patterns import compiled
from taskstate.syntax.spans import Span, with_newlines
from taskstate.typed import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from taskstate.lint.facts.file_facts import Facts
    from taskstate.model.permanent import Decision
    from taskstate.syntax.document import Document, Section

RULE = Rule.of("TSP09", __name__, "an Architecture Decision is not known by its number, or does not say what it is")

_MEANT = r"(?i)\W*(?:ADR?|(?:architecture )?decision)\W*(\d{1,9})\b\W*(.*)"
_WITHOUT_MARKS = r"(?m)^AD-(\d{1,9}): +([^\r\n]+)"
_MOST_NAMED = 5
_LACKS, _WRITE = "does not say what was decided", "write it below, as `**Decision:** …`"
_STATUSES = "proposed, accepted or superseded by AD-N"


def check(facts: Facts) -> Diagnostics:
    """Yield a finding for each heading that is meant as a decision's, each wrong number, and each wrong label."""
    section = facts.state.section(DECISIONS)
    if not facts.is_permanent or section is None:
        return
    found, meant = decisions(facts.state), set[int]()
    declared = {each.section for each in found}
    for child in facts.document.children(section):
        match = compiled(_MEANT).fullmatch(child.title)
        if match and child not in declared and child.level <= PART_LEVEL + 1:
            meant.add(int(match[1]))
            form = f"write `### AD-{int(match[1])}: {match[2]}`"
            yield RULE.at(child.heading, f"{shown(child.title)} is not a heading of a decision", help=form)
    known = {*meant, *(each.number for each in found)}
    for line in compiled(_WITHOUT_MARKS).finditer(facts.document.text, *section.body):
        if int(line[1]) not in known:
            meant.add(int(line[1]))
            form = f"write `### AD-{int(line[1])}: {line[2].strip()}`"
            yield RULE.at(Span(*line.span()), f"{shown(line[0])} is not a heading of a decision", help=form)
    yield from _numbers(section, found, meant, facts)
    for each in found:
        yield from _labels(each, facts)


def _numbers(section: Section, found: Sequence[Decision], meant: set[int], facts: Facts) -> Diagnostics:
    """Yield a finding for each number that was changed, is there twice, or is missing."""
    past = [(_said(each, then.document), each.number) for then in comparable(facts) for each in decisions(then.state)]
    committed, present = dict(past), {each.number for each in found}
    known = {*present, *committed.values(), *meant}
    seen = set(meant)
    for each in found:
        then = committed.get(_said(each, facts.document), each.number)
        is_renumbered = then != each.number and not (then in seen or (then in present and each.number not in seen))
        if is_renumbered:
            message = f"AD-{each.number} was AD-{then} when it was committed, and a decision keeps its number"
            yield RULE.at(each.section.heading, message, help=f"write `### AD-{then}: {each.title}`")
        elif each.number in seen:
            form = f"write `### AD-{max(known) + 1}: {each.title}`, the next number that is free"
            yield RULE.at(each.section.heading, f"there is another AD-{each.number}", help=form)
        seen.add(then if is_renumbered else each.number)
    taken_out = {*committed.values()} - seen
    is_edited = bool(taken_out) or DECISIONS in edited_sections(facts.state)
    missing: dict[Span, list[str]] = {}
    for number in sorted((taken_out | {*range(min(seen, default=0), max(seen, default=0))}) - seen):
        behind = next((each.section for each in found if each.number > number), section)
        missing.setdefault(behind.heading, []).append(f"AD-{number}")
    for place, names in missing.items():
        verb = "is" if len(names) == 1 else "are"
        yield RULE.at(
            place,
            f"{first_of(names, _MOST_NAMED)} {verb} missing",
            help=f"put back what is gone{shown_by(facts.queries, changed=facts.changed)}",
            severity=ERROR if is_edited else WARNING,
        )


def _said(decision: Decision, document: Document) -> tuple[str, str]:
    return decision.title, " ".join(decision.section.body.of(document.text).split())


def _labels(decision: Decision, facts: Facts) -> Diagnostics:
    """Yield a finding for a status that is none, and for each label that is missing or empty."""
    section, text, past = decision.section, facts.document.text, _earlier(decision, facts)
    body, is_published = section.body.of(text), _is_published(facts)
    said = labelled(body)
    lost = dict(_lost(body, past[0][1])) if past and not is_published else {}
    is_empty = not is_published and _says_nothing(body)
    place = line_of_label(text, section, "status")
    if not said.get("status"):
        more = (f", and {_LACKS}", f"; then {lost.get('decision', _WRITE)}") if is_empty else ("", "")
        message = f"AD-{decision.number} has no **Status:**{more[0]}"
        yield RULE.at(place, message, help=f"below the heading, {_status_form(past)}{more[1]}")
        return
    if not decision.status:
        message = f"AD-{decision.number} has the status {shown(said['status'])}"
        yield RULE.at(place, message, help=_status_form(past))
    renamed = next((label for label in said if past and label not in labelled(past[0][1])), "")
    for label, help_ in (lost or ({"decision": _WRITE} if is_empty else {})).items():
        is_there = label in said or not renamed
        what = _LACKS if label == "decision" else f"has lost its **{label.capitalize()}:**"
        way = help_ if is_there else help_.rpartition(" again")[0] or help_
        place = line_of_label(text, section, label if is_there else renamed)
        yield RULE.at(place, f"AD-{decision.number} {what}", help=way)


def _earlier(decision: Decision, facts: Facts) -> list[tuple[Decision, str]]:
    """Return the decisions of this number at the compared revisions, with what each says."""
    return [
        (each, each.section.body.of(then.document.text))
        for then in comparable(facts)
        for each in decisions(then.state)
        if each.number == decision.number
    ]


def _status_form(past: Sequence[tuple[Decision, str]]) -> str:
    """Return how a status is written, with the one that was committed."""
    status = next((f"{each.status} by AD-{each.heir}" if each.heir else each.status for each, _ in past), "")
    return f"write `**Status:** {status or PROPOSED}`: it is {_STATUSES}"


def _says_nothing(body: str) -> bool:
    """Return whether a decision does not say what was decided, neither behind its label nor in words of its own."""
    return not text_below(body, "decision") and ("decision" in labelled(body) or not _is_free(body))


def _lost(body: str, committed: str) -> Iterator[tuple[str, str]]:
    """Yield the labels with text of a committed decision that are gone or empty, each with what to write."""
    for before, label in pairwise(["", *labelled(committed)]):
        if label not in {"status", "supersedes"} and not text_below(body, label):
            below = f" below its **{before.capitalize()}:**" if before else ""
            text = " ".join(text_below(committed, label).split())
            if text:
                yield label, f"write `**{label.capitalize()}:** {text}` again{below}"


def _is_published(facts: Facts) -> bool:
    """Return whether the decisions are as a command gave them a version: an import takes those without words, too."""
    return bool(facts.state.text(VERSION_SEAL)) and DECISIONS not in edited_sections(facts.state)


def _is_free(body: str) -> bool:
    """Return whether a decision says in words of its own what an imported one says without labels."""
    paragraphs = (each.strip() for each in with_newlines(body, "\n").split("\n\n"))
    return any(each and not labelled(each) for each in paragraphs)
