"""archive-foreign-text: an archive file has text outside of any batch.

## What

An archive file holds sessions and the summaries that they replaced, in batches with closing lines, and between the
batches the lists that were moved out of the state file (`## Git History`, `## Events`, `## Change Log`, `## Document`).
Here it has another text: above the sessions, between the batches, behind the last one, behind the link that ends a
summary, or under a heading of its own; or somebody wrote into a summary after it was archived, and the batch is larger
than its closing lines say. Comments and `---` do not count. The finding is in archives only that have the title of
ours, or closing lines.

## Why

Nobody reads an archive file as a whole: commands show its sessions, and nothing else of it. A remark there is not seen
by the person whom it is for.

## Example

```markdown
# Task #101 Archive - Full Session History

Kim: session 2 is about the old API.

## Session 1 - 2026-01-31 12:00
```

## Instead

Move it into the Notes of the state file. Until then it stays where it is: also `taskstate archive restore --all`
leaves it in the archive file. A summary into which somebody wrote goes with its batch, and is kept:
`taskstate doctor kept list`.
"""

from __future__ import annotations

from taskstate.archive.integrity import MOVE_OUT, ArchiveContents
from taskstate.lint.diagnostics import WARNING, Diagnostics, Rule
from taskstate.lint.facts.wording import first_line_of
from taskstate.syntax.spans import Span
from taskstate.typed import TYPE_CHECKING

if TYPE_CHECKING:
    from taskstate.lint.facts.file_facts import Facts

RULE = Rule.of("TS413", __name__, "an archive file has text outside of any batch", severity=WARNING)


def check(facts: Facts) -> Diagnostics:
    """Yield a finding for each text of an archive file that belongs to no batch."""
    document = facts.document
    if facts.file_type == "archive":
        archive = ArchiveContents(document.text)
        past = [then.document.text for then in facts.past or ()] if len(archive.outside) == 1 else []
        for each in archive.outside:
            at = archive.edited_at(past, each.at)
            yield RULE.at(first_line_of(document, Span(at, len(document.text))), each.message, help=MOVE_OUT)
