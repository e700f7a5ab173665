"""checklist-schema: the Feature Checklist does not meet its schema.

## What

The section has one json fence: a map with `features` and `overall_progress`. A feature has `id`, `description`,
`passes` and `tested_at`, and may have `evidence`, `notes` and `moved_to`; keys of your own begin with `x-`. There is
one finding for each value that breaks the schema, at its own line, with its path such as `features[3].passes` (counted
from 0). An id with a blank in it is a warning while no commit has it. A section without a json fence, or with a second
one, is a finding too; a placeholder in its place is allowed. `--fix` writes the line that opens the fence where it is
missing.

## Why

Only what meets the schema is read: a feature with `"passes": "yes"` is not counted, and a misspelt key has no effect.

## Example

```json
{
  "features": [
    {"id": "jwt-1", "description": "makes a valid JWT", "passes": "no", "test_at": null}
  ],
  "overall_progress": "0%"
}
```

## Instead

```json
{
  "features": [
    {"id": "jwt-1", "description": "makes a valid JWT", "passes": false, "tested_at": null}
  ],
  "overall_progress": "0%"
}
```

`taskstate feature add`, `pass` and `fail` write it for you. The schema itself is `schemas/checklist.schema.json`.
"""

from __future__ import annotations

from taskstate.lint.diagnostics import WARNING, Diagnostic, Diagnostics, Fix, Rule
from taskstate.lint.facts.bare_json import line_of_edit, opening_of_bare_json
from taskstate.lint.facts.session_history import comparable
from taskstate.lint.facts.wording import first_line_of, shown, shown_by
from taskstate.typed import TYPE_CHECKING

if TYPE_CHECKING:
    from taskstate.lint.facts.file_facts import Facts
    from taskstate.syntax.document import Document, Section

RULE = Rule.of("TS301", __name__, "the Feature Checklist does not meet its schema", fixable=True)

_FORM = 'it holds `features`, a list, and `overall_progress`, such as "40%"'


def check(facts: Facts) -> Diagnostics:
    """Yield a finding for each value that breaks the schema, for a second fence, and for a missing fence."""
    document = facts.document
    for section, json_fences in facts.misfenced_checklists:
        opening = None if json_fences else opening_of_bare_json(facts)
        if opening:
            yield RULE.at(
                line_of_edit(facts, opening),
                "this JSON is not in a code fence: the line that opens it is missing",
                help="write ```json above this line; `--fix` does",
                fix=Fix(edits=(opening,)),
            )
        elif not json_fences and not facts.kind.is_placeholder(section.own.of(document.text)):
            yield _no_fence(document, section, facts)
        for fence in json_fences[1:]:
            yield RULE.at(
                first_line_of(document, fence.span),
                "a second json fence in the Feature Checklist: only the first is read",
                help="put all features into the first one, or put this fence below a heading of level 3",
            )
    if facts.checklist_value:
        past = [then.checklist_value for then in comparable(facts) if then.checklist_value]
        yield from facts.checklist_value.schema_findings(document, RULE, past)
    for feature in facts.sound_features("id", among=facts.spaced_features):
        name = feature.values["id"]
        if not facts.was_there(f'"{name}"'):
            message = f"the id {shown(name)} contains a space, and commands take one word"
            yield RULE.at(feature.span("id"), message, help=f"write {shown('-'.join(name.split()))}", severity=WARNING)


def _no_fence(document: Document, section: Section, facts: Facts) -> Diagnostic:
    fences = document.blocks_in(section.own, "fence")
    unmarked = next((fence for fence in fences if fence.content.of(document.text).lstrip().startswith("{")), None)
    if unmarked:
        message = "the code fence of the Feature Checklist is not marked as `json`"
        return RULE.at(first_line_of(document, unmarked.span), message, help="write `json` after its opening marks")
    message = "the Feature Checklist has no json fence"
    if any(then.checklist_value for then in comparable(facts)):
        return RULE.at(
            section.heading,
            message,
            help=f"put back the one that was committed{shown_by(facts.queries, changed=facts.changed)}",
        )
    return RULE.at(section.heading, message, help=f"add a fence marked `json`: {_FORM}")
