"""citation-stale: the cited lines now hash otherwise, or the file or heading is gone.

## What

A citation under Standards names a file, the slug of a heading, and a hash of that section as it was when the context
was sealed. The section now says something else, its heading has another text, or the file is not there or cannot be
read.
A section that has only moved within its file is not stale (TS603 brings its span up to date). Nothing is said of
citations that were never captured, which have no `content_sha`, nor of complete tasks.

## Why

A citation is there so that nobody has to paste the standard. When the standard moves on, those who read it now and
those who read it last week hold the work to different rules, and neither notices.

## Example

```json
{"content_sha": "485962dcf84e06ae", "file": "standards/backend.md", "line_span": "L5-L13", …}
```

while `standards/backend.md` has a new limit in that section.

## Instead

Read what changed, see whether the work still fits, and capture the citation anew:

```console
$ taskstate context check 101
$ taskstate context rebuild 101
```

Where the heading was renamed, correct the slug where it is named: in the configuration, the task file, or section 1.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from taskstate.context.citations import citation_status
from taskstate.lint.diagnostics import Diagnostic, Rule
from taskstate.lint.facts.citations import captured_citations, citations_value, is_complete
from taskstate.lint.facts.wording import shown

if TYPE_CHECKING:
    from collections.abc import Iterator

    from taskstate.context.citations import Standard
    from taskstate.lint.facts.citations import CapturedCitation
    from taskstate.lint.facts.file_facts import Facts
    from taskstate.syntax.document import Document

RULE = Rule(
    code="TS602",
    name="citation-stale",
    summary="the cited lines now hash otherwise, or the file or heading is gone",
)


def check(document: Document, facts: Facts) -> Iterator[Diagnostic]:
    """Yield each stale citation, at the value that no longer holds."""
    value = citations_value(document, facts)
    if value is None or is_complete(facts):
        return
    for cited in captured_citations(value):
        found = facts.queries.standard(cited.values["file"])
        if found is not None:
            yield from _stale(cited, found[0] if found else None, facts)


def _stale(cited: CapturedCitation, standard: Standard | None, facts: Facts) -> Iterator[Diagnostic]:
    stands = citation_status(cited.values, standard)
    file, section = cited.values["file"], cited.values["section"]
    if stands.fault == "file":
        what = f"the cited file {shown(file)} is not there, or cannot be read"
        yield RULE.at(
            cited.at("file").span, what, help=f"correct the citation where it comes from, then {_anew(facts)}"
        )
    elif stands.fault == "section" and standard:
        near = standard.nearest(section)
        what = f"{shown(file)} has no heading with the slug {shown(section)}"
        meant = f"did you mean {shown(near)}? " if near else ""
        help_ = f"{meant}correct the citation where it comes from, then {_anew(facts)}"
        yield RULE.at(cited.at("section").span, what, help=help_)
    elif stands.fault:
        what = f"the section {shown(section)} of {shown(file)} says something else than when it was cited"
        help_ = f"`taskstate context check {facts.shown_id}` shows what; {_anew(facts)}"
        yield RULE.at(cited.at("content_sha").span, what, help=help_)


def _anew(facts: Facts) -> str:
    return f"capture it anew with `taskstate context rebuild {facts.shown_id}`"
