"""output-incomplete: a task is complete, and something that completion asks for is not there.

## What

The task's `status` is `complete`, but a feature of its checklist does not pass, an acceptance criterion is not checked,
the Summary of its Chain Output is missing or empty, or none of the other parts of the Chain Output is written. Each is
one finding, at its place; so is an `output` that is gone since the compared revision, or names a new file in vain.
Where no command has completed the task (there is no `output`), what `taskstate complete` asks is asked here, but for
what only a run can know; several things are one finding, at the status. A feature with `moved_to` does not count.
Placeholders in the Chain Output are reported by TS906, missing sections by TS201. Not reported is what an event
`waived` of `audit.events` lists, unless the task was reopened since; gaps that came later are reported. An event
without a list was written by hand, and waives everything if `audit.seal` matches or is absent.

## Why

Other tasks begin when this one is complete, and use its Chain Output. A gap is then found by somebody who cannot close
it, while every list shows the task as done.

## Example

```markdown
---
status: complete
---

### Acceptance Criteria

- [x] A token is issued on login
- [ ] Protected routes validate the token
```

## Instead

Finish it, move the feature to another task (`moved_to`), or take the task back to work until it is done, with
`taskstate reopen 101 --note WHY`:

```markdown
- [x] A token is issued on login
- [x] Protected routes validate the token
```

`taskstate complete` lists all gaps at once. Gaps that must be waived are recorded with the reason, so that they can be
found again: `taskstate complete 101 --force --note "validation follows in 102"` writes

```yaml
audit:
  events:
    - at: "2026-01-31T12:00:00Z"
      actor: ann
      event: waived
      note: "validation follows in 102"
      waived: ["criterion:2"]
      missing: ["criterion 2 is not checked: Protected routes validate the token"]
```
"""

from __future__ import annotations

from taskstate.lint.diagnostics import WARNING, Diagnostics, Rule
from taskstate.lint.facts.outline import is_empty, subsection
from taskstate.lint.facts.waivers import read_waivers
from taskstate.lint.facts.wording import cut, shown, shown_by
from taskstate.messages import first_of
from taskstate.model.statuses import COMPLETE
from taskstate.typed import TYPE_CHECKING

if TYPE_CHECKING:
    from taskstate.lint.facts.file_facts import Facts
    from taskstate.lint.facts.outline import Placed
    from taskstate.lint.facts.waivers import Waivers
    from taskstate.syntax.document import Document

RULE = Rule.of(
    "TS901", __name__, "`status: complete` without a complete Chain Output, with failing features or unchecked criteria"
)

_BEGINNING = "the task is complete, and "
_HELP = "finish it; if it is not finished, `taskstate reopen {} --note WHY` puts it in progress again"
_OUTPUT = "output"  # the key that the command leaves which completes a task
_SEVERAL, _SHOWN = 2, 3


def check(facts: Facts) -> Diagnostics:
    """Yield a finding for each gap in a complete task, at its place.

    Where no command completed the task, several gaps are one finding, at the status: that is what is wrong.
    """
    document = facts.document
    if not facts.is_complete:
        return
    yield from _unmatched(facts)
    yield from _handed_down(facts)
    gaps = list(_gaps(document, facts))
    asked = _asked(document, facts)
    if _OUTPUT in document.front_matter or (len(gaps) < _SEVERAL and len(asked) <= len(gaps)):
        yield from gaps
        return
    what = first_of(asked or [each.message.removeprefix(_BEGINNING) for each in gaps], _SHOWN)
    task = facts.shown_id
    help_ = (
        f"`taskstate reopen {task} --note WHY` puts it in progress again; `taskstate complete {task}` closes it then"
    )
    yield RULE.at(facts.value_span("status"), f"the status was set to complete by hand: {what}", help=help_)


def _unmatched(facts: Facts) -> Diagnostics:
    """Yield a warning for each Repository Path that covers nothing, where path or completion is new."""
    was_complete = any(then.is_complete for then in facts.past or ())
    for path in facts.repository_paths if facts.past else ():
        told = was_complete and facts.was_there(path.path)
        if not told and "!" not in path.span.of(facts.document.text) and facts.queries.matches(path.path) is False:
            message = f"{_BEGINNING}no file matches its Repository Path {shown(path.path)}"
            yield RULE.at(path.span, message, help="name the files that were made", severity=WARNING)


def _handed_down(facts: Facts) -> Diagnostics:
    """Yield a finding where the record of the output is gone since a compared revision, or names a new file in vain."""
    block = facts.document.front_matter.get(_OUTPUT)
    if block is None and not facts.blocks.edited and any(then.values.get(_OUTPUT) for then in facts.past or ()):
        message = f"{_BEGINNING}`{_OUTPUT}`, the record of its output, is gone"
        help_ = f"undo the change{shown_by(facts.queries, changed=facts.changed)}"
        yield RULE.at(facts.value_span("status"), message, help=help_)
    files = block.get("files") if isinstance(block, dict) and facts.past else None
    for index, each in enumerate(files if isinstance(files, list) else ()):
        path = each.get("path") if isinstance(each, dict) else None
        if isinstance(path, str) and not facts.was_there(path) and facts.queries.exists(path) is False:
            message = f"{_BEGINNING}{shown(path)}, which its output names, is not there"
            yield RULE.at(
                facts.value_span(_OUTPUT, "files", index, "path"), message, help="name the file that was made"
            )


def _asked(document: Document, facts: Facts) -> list[str]:
    """Return what completing would ask for, where no command has completed the task."""
    if _OUTPUT in document.front_matter or facts.kind.section("Chain Output") is None:
        return []
    waivers = read_waivers(facts)
    return [words for key, words in facts.queries.completion_gaps() or () if not waivers.covers(key)]


def _gaps(document: Document, facts: Facts) -> Diagnostics:
    waivers = read_waivers(facts)
    help_ = _HELP.format(facts.shown_id)
    for criterion in facts.state.criteria:
        if not criterion.checked and not waivers.covers(f"criterion:{criterion.number}"):
            yield RULE.at(criterion.mark, f"{_BEGINNING}criterion {criterion.number} is not checked", help=help_)
    for feature in facts.checklist.counted if facts.checklist else ():
        passes = feature.node.get("passes")
        if passes and passes.value() is False and not waivers.covers(f"feature:{feature.id}"):
            help_moved = f"{help_}; a feature that another task takes over has `moved_to`"
            yield RULE.at(passes.span, f"{_BEGINNING}feature {cut(feature.id)} does not pass", help=help_moved)
    for placed in facts.outline.present:
        if placed.spec.some_filled and COMPLETE in placed.spec.some_filled.statuses:
            yield from _output(document, placed, waivers)


def _output(document: Document, placed: Placed, waivers: Waivers) -> Diagnostics:
    """Yield a finding for each empty part of an output, and one at its heading for all absent parts."""
    missing = []
    group = placed.spec.some_filled.of if placed.spec.some_filled else ()
    written = []
    for spec in placed.spec.subsections:
        section = subsection(document, placed.section, spec)
        empty = section is None or is_empty(section.body.of(document.text))
        needed = COMPLETE in spec.must_be_filled and not waivers.covers(f"part:{spec.name}")
        if needed and section is None:
            missing.append(f"{spec.name!r} is missing")
        elif needed and section and empty:
            yield RULE.at(section.heading, f"{_BEGINNING}{spec.name!r} is empty", help="write what the task achieved")
        if spec.name in group and not empty:
            written.append(spec.name)
    if group and not written and not waivers.covers("output"):
        missing.append(f"none of {', '.join(map(repr, group))} is written")
    if missing:
        yield RULE.at(
            placed.section.heading,
            f"{_BEGINNING}in {placed.spec.name!r} {' and '.join(missing)}",
            help="write what the tasks that depend on this one need",
        )
