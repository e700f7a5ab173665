"""version-not-raised: the content was edited by hand without a new version.

## What

A section of the permanent task (User Intent, Codebase Impact Map, Architecture Decisions, Phase Status, Constraints)
has other content than its version had when a command gave it; blanks, bullets and the layout of JSON do not count.
Without a `version_seal` in the front matter the file is compared with the compared revision instead. A version that is
lower than that of the compared revision is a finding too.

## Why

Agents confirm a version, and are told what changed when a new one comes. A change without a new version reaches nobody:
some work by the old text and some by the new, and all of them have confirmed the same number.

## Example

`version: 7` was committed with `- **Latency:** 200 ms`; now it is still 7, and the line says `100 ms`.

## Instead

Give the change its version, with its line in the Change Log:

```console
$ taskstate permanent update
```
"""

from __future__ import annotations

from taskstate.lint.diagnostics import Diagnostics, Rule
from taskstate.lint.facts.session_history import comparable
from taskstate.lint.facts.wording import first_change
from taskstate.model.permanent import CONTENT, VERSION_SEAL, changed_sections, edited_sections, version_of
from taskstate.typed import TYPE_CHECKING

if TYPE_CHECKING:
    from taskstate.lint.facts.file_facts import Facts
    from taskstate.model.task_state import TaskState

RULE = Rule.of("TSP07", __name__, "the content was edited by hand without a new version")

_HELP = "`taskstate permanent update` gives the change its version and tells the agents"


def check(facts: Facts) -> Diagnostics:
    """Yield a finding for each section that changed without a new version, or one for a version that fell."""
    if not facts.is_permanent or "version" not in facts.values:
        return
    version = version_of(facts.state)
    past = [each.state for each in comparable(facts) if "version" in each.values]
    highest = max(map(version_of, past), default=version)
    if version < highest:
        message = f"`version` is {version}, and was {highest} before"
        help_ = f"write `version: {highest}` again, with its line in the Change Log: `git diff` shows what is gone"
        yield RULE.at(facts.value_span("version"), message, help=help_)
        return
    same = [each for each in past if version_of(each) == version]
    for name in _changed(facts.state, same):
        section = facts.state.section(name)
        span = section.heading if section else facts.value_span("version")
        then = next((each for each in same if each.section(name) and name in changed_sections(each, facts.state)), None)
        before = then.section(name) if then else None
        if section and then and before and section.body.of(facts.document.text).strip():
            span = first_change(facts.document, section.body, before.body.of(then.document.text))
        yield RULE.at(span, f"{name}: edited, and the version is still {version}", help=_HELP)


def _changed(state: TaskState, past: list[TaskState]) -> list[str]:
    """Return the sections that differ from their version; without a seal, from the compared ones of that version."""
    if state.text(VERSION_SEAL):
        return list(edited_sections(state))
    return [name for name in CONTENT if any(name in changed_sections(each, state) for each in past)]
