"""section-missing: a required section is absent.

## What

The kind of task (`kind` in the front matter) declares which sections a file must have. An ordinary task has Static
Context, Chain Inputs, Feature Checklist, Progress Log and Chain Output. A section is recognised by its title, at level
2; its number, its case and a remark in brackets behind it do not matter. The finding is at the heading before which the
section belongs, or at the last one where it belongs at the end; where another heading may be a misspelling of it, it is
at that one. A file that is the beginning of what was committed, without its last sections, was cut off: that is one
finding, at its last line.

## Why

Whoever reads or writes a section looks for it by its title. A missing one is not read at all, and no session or feature
can be recorded in it.

## Example

```markdown
## 2. Chain Inputs

## 4. Progress Log
```

## Instead

Where the section is gone with its content, `--fix` adds an empty one in its place: with the placeholder under its
required headings, the Feature Checklist without features. Where only the heading is gone, and the features or sessions
below it are part of the section above, the finding is at the first of them, and `--fix --unsafe-fixes` writes the
heading above it. Nothing is added where the heading has another level, where the task's status requires more than a
placeholder, or while a heading of level 1 splits a section. Where `kind` names no kind, or the file has the sections of
another one, the kind is to be fixed first. A section that has another title is TS209.
"""

from __future__ import annotations

from taskstate.lint.diagnostics import BODY, WHOLE, Diagnostic, Diagnostics, Fix, Rule
from taskstate.lint.facts.outline import (
    SECTION,
    SUBSECTION,
    body_start,
    end_of,
    headings,
    insertion_edit,
    start_of,
    verified_edits,
)
from taskstate.lint.facts.session_history import comparable
from taskstate.lint.facts.wording import first_line_of, shown, shown_by, taken_back
from taskstate.model.static_context import is_sealed
from taskstate.syntax.edits import Edit
from taskstate.syntax.spans import Span, line_start
from taskstate.typed import TYPE_CHECKING

if TYPE_CHECKING:
    from taskstate.lint.facts.file_facts import Facts
    from taskstate.model.document_kinds import SectionSpec
    from taskstate.model.lost_headings import LostContent
    from taskstate.syntax.document import Document, Section

RULE = Rule.of("TS201", __name__, "a required section is absent", reads=WHOLE, fixable=True)

EMPTY_FENCES = {"checklist": ("```json", "{", '  "features": [],', '  "overall_progress": "0%"', "}", "```")}
_LET_GO = ", `taskstate doctor --let-go"  # of no use here: the section would still be missing
SEALED = "Static Context"  # `context.seal` is a hash of its text, so no fix may change it


def check(facts: Facts) -> Diagnostics:
    """Yield a finding for each required section that the text lacks and that is not hidden."""
    document = facts.document
    if facts.cut_off and not facts.newer:
        names = [spec.name for spec in facts.outline.absent]
        span = first_line_of(document, Span(line_start(document.text, len(document.text.rstrip())), len(document.text)))
        revision, _, path = next(iter(facts.queries.earlier_names() or ()), "").partition(":")
        message = f"the file is cut off here; gone since the commit: {', '.join(names)}"
        yield RULE.at(span, message, help=taken_back(revision, path))
        return
    yield from (each for each in _absent(facts) if facts.is_read(BODY, each.span))


def _absent(facts: Facts) -> Diagnostics:
    together: dict[str, list[SectionSpec]] = {}
    for spec in facts.outline.absent:
        if spec.key in facts.outline.hidden or spec.key in facts.outline.renamed:
            continue  # TS207, TS209
        if misplaced := _elsewhere(facts, spec):
            yield misplaced
        elif way := _way_back(facts, spec):
            together.setdefault(way, []).append(spec)
        else:
            yield _to_add(facts, spec)
    for way, specs in together.items():
        names = " and ".join(repr(spec.heading) for spec in specs)
        yield RULE.at(
            _span(facts.document, *facts.outline.neighbours(specs[0])),
            f"the section{'s' * (len(specs) > 1)} {names} {'are' if len(specs) > 1 else 'is'} missing",
            help=way,
        )


def _elsewhere(facts: Facts, spec: SectionSpec) -> Diagnostic | None:
    """Return the finding about a section that is there under a heading of another level, or under none."""
    near, lost = facts.outline.near.get(spec.key), facts.outline.lost.get(spec.key)
    if near and (lost is None or lost.section.span.start <= near.span.start <= lost.at):
        return _at_another_level(facts.document, spec, near)
    return _without_heading(facts.document, spec, lost) if lost else None


def _way_back(facts: Facts, spec: SectionSpec) -> str:
    """Return what to do where no empty section is added: its content can be brought back, or it is of another file."""
    is_gone = (spec.closed or spec.fence) and any(then.outline.section(spec) for then in comparable(facts))
    put_back = f"put back what was committed{shown_by(facts.queries, changed=facts.changed)}" if is_gone else ""
    way = (facts.queries.damage() or facts.outline.doubt or put_back).partition(_LET_GO)[0]
    if "--let-go" not in way:
        return way
    steps = f"taskstate doctor --let-go {facts.shown_id} && taskstate lint --fix"
    return f"`{steps}` accepts the loss, and adds the section"


def _to_add(facts: Facts, spec: SectionSpec) -> Diagnostic:
    """Return the finding about a section that is added empty."""
    before, behind = facts.outline.neighbours(spec)
    return RULE.at(
        _span(facts.document, before, behind),
        f"the section {spec.heading!r} is missing",
        help=f"add `{spec.heading}` {f'before {shown(behind.title)}' if behind else 'at the end'}",
        fix=_fix(facts.document, facts, spec),
    )


def _at_another_level(document: Document, spec: SectionSpec, near: Section) -> Diagnostic:
    """Return the finding about a section whose heading has another level than 2."""
    return RULE.at(
        first_line_of(document, near.heading),
        f"the section {spec.heading!r} is missing, and the heading {shown(near.title)} has level {near.level}",
        help=f"write it as `{spec.heading}`; `--fix --unsafe-fixes` does",
        fix=Fix(edits=(Edit(near.heading.start, near.heading.end, spec.heading),), safe=False),
    )


def _without_heading(document: Document, spec: SectionSpec, lost: LostContent) -> Diagnostic:
    """Return the finding about a section of which only the heading is gone, at its content."""
    edits = (insertion_edit(document, lost.at, [spec.heading]),)
    span = first_line_of(document, Span(lost.at, len(document.text)))
    return RULE.at(
        span,
        f"the heading {spec.heading!r} is missing: its content begins here, as a part of {shown(lost.section.title)}",
        help=f"write `{spec.heading}` above this line; `--fix --unsafe-fixes` does",
        fix=Fix(edits=edits, safe=False),
    )


def _span(document: Document, before: Section | None, behind: Section | None) -> Span:
    title = document.sections[0] if document.sections else None
    if before and behind is None:
        end = len(document.text[: end_of(document, before)].rstrip())  # it belongs behind this line
        return Span(max(before.span.start, document.text.rfind("\n", 0, end) + 1), end)
    nearest = behind or title
    start = body_start(document)
    return nearest.heading if nearest else Span(start, start)


def _fix(document: Document, facts: Facts, spec: SectionSpec) -> Fix | None:
    """Return the fix that adds the section empty; None where that would be a fault too."""
    if (
        facts.outline.is_cut
        or _must_be_filled(spec, facts.values.get("status"))
        or (spec.name == SEALED and is_sealed(facts.front_matter))
    ):
        return None
    before, behind = facts.outline.neighbours(spec)
    at = start_of(document, behind) if behind else end_of(document, before) if before else len(document.text)
    required = [each.name for each in spec.subsections if each.required]
    lines = [spec.heading]
    if spec.must_be_filled or (spec.fence and spec.fence.required):
        lines += ["", *EMPTY_FENCES.get(spec.fence.schema if spec.fence else "", (facts.kind.placeholder,))]
    for name in required:
        lines += ["", f"### {name}", "", facts.kind.placeholder]
    above = [each for each in document.sections if each.span.start < at]
    new = [(SECTION, spec.heading.removeprefix("## ")), *((SUBSECTION, name) for name in required)]
    expected = [*headings(above), *new, *headings(document.sections[len(above) :])]
    edits = verified_edits(document, (insertion_edit(document, at, lines),), expected)
    return Fix(edits=edits) if edits else None


def _must_be_filled(spec: SectionSpec, status: object) -> bool:
    """Return whether this status, or for an unknown one any, requires a part of the section to be written."""
    required_in = [spec.must_be_filled, *(each.must_be_filled for each in spec.subsections)]
    required_in += [spec.some_filled.statuses] if spec.some_filled else []
    return any(status in statuses or (status is None and statuses) for statuses in required_in)
