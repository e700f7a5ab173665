"""version-not-raised: the content was edited by hand without a new version.

## What

A section of the permanent task (User Intent, Codebase Impact Map, Architecture Decisions, Phase Status, Constraints)
has other content than its version had when a command gave it; blanks, bullets and the layout of JSON do not count.
Without a `version_seal` in the front matter the file is compared with the compared revision instead. A version that is
lower than that of the compared revision is a finding too, and so are a section that was emptied and a constraint that
is there twice: these are fixed, not given a version. A file with the Impact Map that was edited is told in that file.

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

What was taken out by mistake is put back: the finding names what is gone.
"""

from __future__ import annotations

from collections import Counter

from taskstate.lint.diagnostics import Diagnostic, Diagnostics, Rule
from taskstate.lint.facts.session_history import comparable
from taskstate.lint.facts.wording import first_change, shown, shown_by
from taskstate.messages import first_of, typed_path
from taskstate.model.impact_map import digest_of_file
from taskstate.model.permanent import (
    CONSTRAINTS,
    CONTENT,
    IMPACT_MAP,
    VERSION_SEAL,
    changed_sections,
    content_of,
    edited_sections,
    labelled,
    version_of,
)
from taskstate.syntax.spans import Span, filled_lines, first_line
from taskstate.typed import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from taskstate.lint.facts.file_facts import Facts
    from taskstate.model.task_state import TaskState

RULE = Rule.of("TSP07", __name__, "the content was edited by hand without a new version")

_HELP = "`taskstate permanent update` gives the change its version and tells the agents"
_QUOTED = 300  # characters of a text that was emptied, which the cure repeats
_MOST_NAMED = 2


def check(facts: Facts) -> Diagnostics:
    """Yield a finding for each section that changed without a new version, or one for a version that fell."""
    if facts.is_json:
        yield from _map_file(facts)
        return
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
        yield _edited(name, facts, same)


def _edited(name: str, facts: Facts, same: Sequence[TaskState]) -> Diagnostic:
    """Return the finding for a section that says something else than a state of the `same` version."""
    section = facts.state.section(name)
    then = next((each for each in same if each.section(name) and name in changed_sections(each, facts.state)), None)
    old, now = content_of(then, name) if then else "", content_of(facts.state, name)
    if section and not now.strip():
        return _emptied(name, section.heading, " ".join(old.split()), facts)
    twice = _twice(facts, section.body, old) if section and name == CONSTRAINTS else None
    if twice:
        message = f"the constraint {shown(twice[1])} is there twice, with different texts"
        help_ = f"put back the old text{shown_by(facts.queries)}, or join the two into one"
        return RULE.at(twice[0], message, help=help_)
    before = then.section(name) if then else None
    span = section.heading if section else facts.value_span("version")
    if section and then and before:
        span = first_change(facts.document, section.body, before.body.of(then.document.text))
    said = " ".join(now.split())
    gone = [line.strip() for line in old.splitlines() if " ".join(line.split()) not in said and line.strip()]
    what = f"; gone: {first_of([shown(each) for each in gone], _MOST_NAMED)}" if gone else ""
    help_ = f"if that is meant, {_HELP}; else put back what is gone{shown_by(facts.queries)}" if gone else _HELP
    return RULE.at(span, f"{name}: edited, and the version is still {version_of(facts.state)}{what}", help=help_)


def _emptied(name: str, heading: Span, words: str, facts: Facts) -> Diagnostic:
    """Return the finding for a section that has nothing left of the `words` that were committed."""
    message = f"{name} was emptied" + (f"; committed was {shown(words)}" if words else "")
    back = f"write it again: `{words}`" if 0 < len(words) <= _QUOTED else f"put it back{shown_by(facts.queries)}"
    return RULE.at(heading, message, help=back)


def _twice(facts: Facts, body: Span, old: str) -> tuple[Span, str] | None:
    """Return the line of a constraint that stands twice since the compared revision, and its name."""
    text, committed = facts.document.text, [line for _, line in filled_lines(old, Span(0, len(old)))]
    lines, known = filled_lines(text, body), Counter(map(_label, committed))
    counts = Counter(_label(line) for _, line in lines)
    for at, line in lines if committed else ():
        label = _label(line)
        if label and line not in committed and counts[label] > max(1, known[label]):
            return first_line(text, Span(at, body.end)), label.capitalize()
    return None


def _label(line: str) -> str:
    return next(iter(labelled(line)), "")


def _map_file(facts: Facts) -> Diagnostics:
    """Yield a finding where a file with an Impact Map is not the one that the task gave a version."""
    digest = facts.queries.map_digest()
    if digest and digest != digest_of_file(facts.document.text.encode()):
        text = facts.document.text
        past = [each for then in facts.past or () if (each := then.document.text) != text]
        span = first_change(facts.document, Span(0, len(text)), past[0]) if past else facts.first_line
        path = f"{facts.folder}/{facts.name}".lstrip("/")
        command = f'taskstate permanent update {facts.shown_id} --section "{IMPACT_MAP}" --from {typed_path(path)}'
        help_ = f"undo the change{shown_by(facts.queries)}, or make it the next version: `{command}`"
        yield RULE.at(span, "the map was edited, and has no version: the task gives another SHA-256", help=help_)


def _changed(state: TaskState, past: list[TaskState]) -> list[str]:
    """Return the sections that differ from their version; without a seal, from the compared ones of that version."""
    if state.text(VERSION_SEAL):
        return list(edited_sections(state))
    return [name for name in CONTENT if any(name in changed_sections(each, state) for each in past)]
