"""citation-stale: the cited lines now hash otherwise, or the file or heading is gone.

## What

A citation under Standards names a file, the slug of a heading, and a hash of that section as it was when the context
was sealed. Now the section has another content, its heading has another text, or the file does not exist or cannot be
read. A section that has only moved within its file is not stale (TS603 updates its span). Not checked are citations
that were never captured, which have no `content_sha`, and tasks that are complete or dropped.

## Why

A citation makes it unnecessary to paste the standard. If the standard changes, people who read it now and people who
read it last week judge the work by different rules, and neither notices.

## Example

```json
{"content_sha": "485962dcf84e06ae", "file": "standards/backend.md", "line_span": "L5-L13", …}
```

while that section of `standards/backend.md` has a new limit.

## Instead

Read what changed, check whether the work still fits, and capture the citation again:

```console
$ taskstate context check 101
$ taskstate context rebuild 101
```

If the heading was renamed, correct the slug at its source: in the configuration, the task file, or section 1.
"""

from __future__ import annotations

from taskstate.lint.diagnostics import Diagnostics, Rule
from taskstate.lint.facts.citations import captured_citations, capturing, is_closed
from taskstate.lint.facts.wording import shown
from taskstate.messages import MOST_GUESSED
from taskstate.typed import TYPE_CHECKING

if TYPE_CHECKING:
    from taskstate.context.citations import Standard
    from taskstate.lint.facts.citations import CapturedCitation
    from taskstate.lint.facts.file_facts import Facts

RULE = Rule.of("TS602", __name__, "the cited lines now hash otherwise, or the file or heading is gone")


def check(facts: Facts) -> Diagnostics:
    """Yield a finding for each stale citation, at the value that is no longer right."""
    value = facts.citations
    if value is None or is_closed(facts):
        return
    for number, cited in enumerate(captured_citations(value)):
        standards = facts.queries.standard(cited.values["file"])
        if standards is not None:
            yield from _stale(cited, standards[0] if standards else None, facts, guess=number < MOST_GUESSED)


def _stale(cited: CapturedCitation, standard: Standard | None, facts: Facts, *, guess: bool) -> Diagnostics:
    from taskstate.context.citations import citation_status

    status = citation_status(cited.values, standard)
    file, section = cited.values["file"], cited.values["section"]
    if status.fault == "file":
        message = f"the cited file {shown(file)} is not there, or cannot be read"
        yield RULE.at(
            cited.at("file").span, message, help=f"correct the citation where it comes from, then {_recapture(facts)}"
        )
    elif status.fault == "section" and standard:
        near = standard.nearest(section) if guess else ""
        message = f"{shown(file)} has no heading with the slug {shown(section)}"
        meant = f"did you mean {shown(near)}? " if near else ""
        help_ = f"{meant}correct the citation where it comes from, then {_recapture(facts)}"
        yield RULE.at(cited.at("section").span, message, help=help_)
    elif status.fault:
        message = f"the section {shown(section)} of {shown(file)} has changed since it was cited"
        help_ = f"`taskstate context check {facts.shown_id}` shows what; {_recapture(facts)}"
        yield RULE.at(cited.at("content_sha").span, message, help=help_)


def _recapture(facts: Facts) -> str:
    return f"capture it again with `{capturing(facts)}`"
